#include "test.h"

#include "folder.h"
#include "harness/config.h"

#include <unistd.h>

static struct sweep load(struct folder *f, const char *text)
{
    struct sweep s;
    assert_ok(config_sweep(&s, &f->arena, folder_file(f, "s.yaml", text)));
    return s;
}

static void refuses(struct folder *f, const char *text, const char *message)
{
    struct sweep s;
    assert_fails(config_sweep(&s, &f->arena, folder_file(f, "s.yaml", text)), ERR_INVALID, message);
}

static bool has(const struct sweep *s, const char *line)
{
    for (size_t i = 0; i < s->count; i++) {
        if (strcmp(s->problems[i].text, line) == 0)
            return true;
    }
    return false;
}

static const char SMALL[] = "sweep: s\n"
                            "axes:\n"
                            "  channels: [8, [1, 4, 6]]\n"
                            "  in: [5x6]\n"
                            "  fil: [3, 1x2]\n";

static void axes_multiply_and_have_defaults(void **state)
{
    struct sweep s = load(*state, SMALL);
    assert_int_equal(s.count, 4);
    assert_int_equal(s.counts.combinations, 4);
    assert_string_equal(s.problems[0].text, "conv fwd f32 n8 c8 k8 g1 in5x6 fil3x3 str1x1 dil1x1 "
                                            "pad0:0x0:0 ngchw gkcyx ngkhw");
    assert_string_equal(s.problems[3].text, "conv fwd f32 n1 c4 k6 g1 in5x6 fil1x2 str1x1 dil1x1 "
                                            "pad0:0x0:0 ngchw gkcyx ngkhw");
    assert_non_null(strstr(s.problems[0].origin, "s.yaml:4"));
}

static void every_axis_reaches_the_problem(void **state)
{
    struct sweep s = load(
        *state,
        "sweep: s\n"
        "axes: {direction: [bwd_weight], dtype: [bf16], layout: [nhwc], channels: [[2, 4, 6]], "
        "groups: [2], in: [9x8], fil: [3x2], pad: ['1:2x0:1'], stride: [2x1], dilation: [1x3]}\n");
    assert_int_equal(s.count, 1);
    assert_string_equal(s.problems[0].text,
                        "conv bwd_weight bf16 n2 c4 k6 g2 in9x8 fil3x2 str2x1 dil1x3 "
                        "pad1:2x0:1 nhwgc gkyxc nhwgk");
    s = load(
        *state,
        "sweep: s\naxes: {dtype: i8, channels: 4, in: 4x4x4, fil: 2, layout: [ndhwc, ncdhw]}\n");
    assert_int_equal(s.count, 2);
    assert_true(
        has(&s, "conv fwd i8:i8:i32 n4 c4 k4 g1 in4x4x4 fil2x2x2 str1x1x1 dil1x1x1 pad0:0x0:0x0:0 "
                "ngcdhw gkczyx ngkdhw"));
    s = load(*state, "sweep: s\naxes: {channels: 4, in: [7, 9], fil: 3}\n");
    assert_true(has(&s, "conv fwd f32 n4 c4 k4 g1 in9 fil3 str1 dil1 pad0:0 ngcw gkcx ngkw"));
}

static void numbers_spread_over_dims_and_sides(void **state)
{
    struct sweep s = load(
        *state, "sweep: s\naxes: {channels: 4, in: 5x5, fil: 3, pad: {each_side: [0, 1]}, stride: "
                "{each_dim: [1, 2]}}\n");
    assert_int_equal(s.counts.combinations, 16 * 4);
    assert_int_equal(s.count, 64);
    assert_true(has(
        &s, "conv fwd f32 n4 c4 k4 g1 in5x5 fil3x3 str2x1 dil1x1 pad0:1x1:0 ngchw gkcyx ngkhw"));
    s = load(*state, "sweep: s\naxes: {channels: 4, in: 5x5, fil: 3, pad: {each_dim: [0, 1]}}\n");
    assert_int_equal(s.count, 4);
    for (size_t i = 0; i < s.count; i++)
        assert_true(problem_symmetric_pads(&s.problems[i].problem));
    s = load(*state, "sweep: s\naxes: {channels: 4, in: 5x5, fil: 3, pad: [0, 1x0, '0:1x1:0']}\n");
    assert_int_equal(s.count, 3);
    assert_true(has(
        &s, "conv fwd f32 n4 c4 k4 g1 in5x5 fil3x3 str1x1 dil1x1 pad1:1x0:0 ngchw gkcyx ngkhw"));
}

static void what_is_no_convolution_is_counted(void **state)
{
    struct sweep s = load(
        *state, "sweep: s\naxes: {channels: [4, 6], groups: [1, 4], in: [4x4], fil: [3, 5]}\n");
    /* fil 5 does not fit, and 6 channels have no 4 groups. */
    assert_int_equal(s.counts.combinations, 8);
    assert_int_equal(s.counts.unfit, 5);
    assert_int_equal(s.count, 3);
}

static void a_condition_leaves_out_from_every_source(void **state)
{
    struct folder *f = *state;
    folder_file(
        f, "list.txt",
        "conv fwd f32 n1 c8 k8 g1 in8x8 fil3x3 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw\n"
        "conv fwd f32 n1 c9 k8 g1 in8x8 fil3x3 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw\n");
    struct sweep s =
        load(f, arena_printf(&f->arena,
                             "%sinclude: [list.txt]\nwhere: c %% 2 == 0 and fil_h == 3\n", SMALL));
    assert_int_equal(s.count, 3);
    assert_int_equal(s.counts.left_out, 3);
    refuses(f, arena_printf(&f->arena, "%swhere: c == 5\n", SMALL),
            "`where` leaves out all of them");
    refuses(f, arena_printf(&f->arena, "%swhere: c == 5 and channles > 2\n", SMALL),
            "s.yaml:6:19: where: a problem has no `channles`");
    refuses(f, arena_printf(&f->arena, "%swhere: 'kk > 2'\n", SMALL), "s.yaml:6:9: where");
    refuses(f, arena_printf(&f->arena, "%swhere: [c]\n", SMALL), "a condition is wanted");
}

static const char WIDE[] = "sweep: s\n"
                           "sample: {count: 20%s}\n"
                           "axes:\n"
                           "  in: [%s]\n"
                           "  channels: [%s]\n"
                           "  fil: [1, 3]\n"
                           "  pad: {each_side: [0, 1, 2]}\n";

/* Neither the order of values nor one more of them reshuffles a sample. */
static void a_sample_is_stable(void **state)
{
    struct folder *f = *state;
    struct sweep s = load(f, arena_printf(&f->arena, WIDE, "", "4x4, 5x5", "4, 8"));
    struct sweep turned = load(f, arena_printf(&f->arena, WIDE, "", "5x5, 4x4", "8, 4"));
    struct sweep more = load(f, arena_printf(&f->arena, WIDE, "", "5x5, 4x4", "8, 4, 16"));
    struct sweep other = load(f, arena_printf(&f->arena, WIDE, ", seed: 2", "4x4, 5x5", "4, 8"));
    size_t kept = 0, same = 0;
    assert_int_equal(s.count, 20);
    assert_int_equal(s.counts.matched, 2 * 2 * 2 * 81);
    for (size_t i = 0; i < s.count; i++) {
        assert_true(has(&turned, s.problems[i].text));
        kept += has(&more, s.problems[i].text);
        same += has(&other, s.problems[i].text);
    }
    assert_int_equal(turned.count, 20);
    assert_int_equal(more.count, 20);
    assert_in_range(kept, 8, 19); /* two of three combinations are the old ones */
    assert_in_range(same, 0, 5);
    assert_int_equal(load(f, arena_printf(&f->arena, "%ssample: {count: 100}\n", SMALL)).count, 4);
}

/* A sample of many, with each problem twice: the cut on the way must not lose or double any. */
static void a_sample_of_repeats_has_none(void **state)
{
    struct folder *f = *state;
    static const char axes[] = "sample: {count: 300}\naxes: {channels: [1, 2, 3, 4%s], in: [6x6], "
                               "fil: [1, 2, 3], pad: {each_side: [0, 1, 2]}, stride: "
                               "{each_dim: [1, 2]}}\n";
    struct sweep once =
        load(f, arena_printf(&f->arena, "sweep: s\n%s", arena_printf(&f->arena, axes, "")));
    struct sweep twice =
        load(f, arena_printf(&f->arena, "sweep: s\n%s",
                             arena_printf(&f->arena, axes, ", 4, 3, 2, 1, 1, 2, 3, 4")));
    assert_int_equal(once.count, 300);
    assert_int_equal(twice.count, 300);
    assert_int_equal(twice.counts.matched, 3 * once.counts.matched);
    for (size_t i = 0; i < once.count; i++)
        assert_true(has(&twice, once.problems[i].text));
}

static void imports_pass_over_what_is_no_convolution(void **state)
{
    struct folder *f = *state;
    folder_file(f, "log.txt",
                "# a log\nsome words of a build\n"
                "MIOpenDriver conv -n 1 -c 8 -H 8 -W 8 -k 8 -y 3 -x 3 -p 1 -q 1 -u 1 -v 1 -l 1 -j "
                "1 -g 1 -F 1\n"
                "done in 3 s\n");
    struct sweep s = load(f, "sweep: s\nimport: [log.txt]\n");
    assert_int_equal(s.count, 1);
    assert_int_equal(s.counts.foreign, 2);
    refuses(f, "sweep: s\ninclude: [log.txt]\n",
            "log.txt:2:1: `some words of a build` is no problem");
    folder_file(f, "log.txt", "MIOpenDriver conv -n 1 -c 8 -Q 3\n");
    refuses(f, "sweep: s\nimport: [log.txt]\n", "log.txt:1:1");
    refuses(f, "sweep: s\nimport: [lost.txt]\n", "s.yaml:2:10: import: there is no file");
}

static void sweeps_include_sweeps(void **state)
{
    struct folder *f = *state;
    folder_file(f, "inner.yaml",
                "sweep: inner\naxes: {channels: [4, 8], in: 5x5, fil: 3}\nwhere: c == 8\n");
    struct sweep s = load(f, "sweep: s\ninclude: [inner.yaml]\n");
    assert_int_equal(s.count, 1);
    assert_non_null(strstr(s.problems[0].origin, "inner.yaml:2"));
    folder_file(f, "inner.yaml", "sweep: inner\ninclude: [s.yaml]\n");
    refuses(f, "sweep: s\ninclude: [inner.yaml]\n", "includes itself");
    folder_file(f, "inner.yaml", "sweep: inner\nincldue: [s.yaml]\n");
    refuses(f, "sweep: s\ninclude: [inner.yaml]\n", "inner.yaml:2:1: incldue");
}

static void faults_of_axes_name_place_and_word(void **state)
{
    static const struct {
        const char *axes, *message;
    } cases[] = {
        {"{in: [4x4], fil: 3}", "axes.channels"},
        {"{channels: 4, fil: 3}", "axes.in"},
        {"{channels: 4, in: [4x4]}", "axes.fil"},
        {"{channels: 4, in: 4x4, fil: 3, layuot: nchw}", "did you mean `layout`?"},
        {"{channels: 4, in: 4x4, fil: 3, direction: [fwd, bwddata]}",
         "axes.direction: `bwddata` is not known (did you mean `bwd_data`?)"},
        {"{channels: 4, in: 4x4, fil: 3, dtype: qqqqqq}", "axes.dtype: `qqqqqq` is not known"},
        {"{channels: 4, in: 4x4, fil: 3, dtype: [[f32]]}", "axes.dtype: a single value is wanted"},
        {"{channels: [[1, 2]], in: 4x4, fil: 3}", "axes.channels: a number or [n, c, k] is wanted"},
        {"{channels: [[1, 2, x]], in: 4x4, fil: 3}", "axes.channels: `x` is no number"},
        {"{channels: 0, in: 4x4, fil: 3}", "no number of at least 1"},
        {"{channels: [], in: 4x4, fil: 3}", "axes.channels: the list is empty"},
        {"{channels: 4, in: [4x4, 4], fil: 3}",
         "axes.in: `4` has 1 dims where another element has 2"},
        {"{channels: 4, in: 4x4x4x4, fil: 3}", "`4x4x4x4` is no size such as 3 or 3x1"},
        {"{channels: 4, in: 4x, fil: 3}", "`4x` is no size"},
        {"{channels: 4, in: 4x4, fil: 3x3x3}", "axes.fil: `3x3x3` has 3 dims where `in` has 2"},
        {"{channels: 4, in: 4x4, fil: 3, pad: '1:'}",
         "axes.pad: `1:` is no size such as 1, 1x0 or 1:0x1:1"},
        {"{channels: 4, in: 4x4, fil: 3, stride: '1:2'}", "axes.stride: `1:2` is no size"},
        {"{channels: 4, in: 4x4, fil: 3, stride: 0}", "axes.stride: `0` is no size"},
        {"{channels: 4, in: 4x4, fil: 3, pad: {each_sied: [0]}}", "did you mean `each_side`?"},
        {"{channels: 4, in: 4x4, fil: 3, stride: {each_side: [1]}}",
         "axes.stride: `{each_dim: LIST}` is wanted"},
        {"{channels: 4, in: 4x4, fil: 3, groups: [99999999999]}", "axes.groups"},
        {"{channels: 4, in: 4x4x4, fil: 3, pad: {each_side: [0, 1, 2, 3, 4, 5, 6]}}",
         "axes.pad: more than 100000 combinations"},
        {"{channels: [1,2,3,4,5,6,7,8], in: 4x4, fil: 3, pad: {each_side: "
         "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]}, stride: "
         "{each_dim: [1,2,3,4,5,6,7,8]}}",
         "more than 20000000 combinations"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        refuses(
            *state,
            arena_printf(&((struct folder *)*state)->arena, "sweep: s\naxes: %s\n", cases[i].axes),
            cases[i].message);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_setup, folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(axes_multiply_and_have_defaults),
        TEST(every_axis_reaches_the_problem),
        TEST(numbers_spread_over_dims_and_sides),
        TEST(what_is_no_convolution_is_counted),
        TEST(a_condition_leaves_out_from_every_source),
        TEST(a_sample_is_stable),
        TEST(a_sample_of_repeats_has_none),
        TEST(imports_pass_over_what_is_no_convolution),
        TEST(sweeps_include_sweeps),
        TEST(faults_of_axes_name_place_and_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
