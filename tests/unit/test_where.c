#include "test.h"

#include "harness/where.h"

static const char *const TWO_DIMS =
    "conv bwd_data f16 n2 c8 k12 g2 in9x10 fil3x2 str1x2 dil2x1 pad0:1x2:3 nhwgc gkyxc nhwgk";
static const char *const ONE_DIM =
    "conv fwd i8:i8:i32 n1 c4 k4 g1 in7 fil3 str1 dil1 pad1:1 ngcw gkcx ngkw";
static const char *const THREE_DIMS = "conv fwd f32 n1 c4 k4 g1 in5x6x7 fil1x2x3 str1x1x1 dil1x1x1 "
                                      "pad0:1x0:0x2:0 ngcdhw gkczyx ngkdhw";

static bool holds(const char *condition, const char *line)
{
    struct arena a = {0};
    struct where *w;
    struct problem p;
    size_t column;
    assert_ok(problem_parse(&p, line));
    assert_ok(where_parse(&w, &column, &a, condition));
    bool answer = where_holds(w, &p);
    arena_release(&a);
    return answer;
}

static void fields_are_the_problems(void **state)
{
    (void)state;
    static const char *const right[] = {
        "n == 2 and c == 8 and k == 12 and g == 2 and dims == 2",
        "in_h == 9 and in_w == 10 and fil_h == 3 and fil_w == 2",
        "stride_h == 1 and stride_w == 2 and dilation_h == 2 and dilation_w == 1",
        "pad_h_lo == 0 and pad_h_hi == 1 and pad_w_lo == 2 and pad_w_hi == 3",
        "out_h == 6 and out_w == 7",
        "direction == bwd_data and dtype == f16 and layout == nhwc",
        "in_d == 1 and fil_d == 1 and out_d == 1 and stride_d == 1 and dilation_d == 1",
        "pad_d_lo == 0 and pad_d_hi == 0",
        "reduction == 36 and bytes > 0 and flops > 0",
    };
    for (size_t i = 0; i < COUNT_OF(right); i++) {
        if (!holds(right[i], TWO_DIMS))
            fail_msg("does not hold: %s", right[i]);
    }
    assert_true(holds("in_w == 7 and in_h == 1 and dtype == i8 and layout == ncw", ONE_DIM));
    assert_true(
        holds("in_d == 5 and fil_w == 3 and pad_d_hi == 1 and pad_w_lo == 2 and layout == ncdhw",
              THREE_DIMS));
}

static void signs_bind_as_in_c(void **state)
{
    (void)state;
    static const struct {
        const char *condition;
        bool holds;
    } cases[] = {
        {"1 + 2 * 3 == 7", true},
        {"(1 + 2) * 3 == 9", true},
        {"10 - 3 - 2 == 5", true},
        {"100 / 10 / 2 == 5", true},
        {"7 % 4 == 3 and -7 % 4 == -3", true},
        {"- 2 * - 3 == 6", true},
        {"--1 == 1", true},
        {"1 == 2 or 2 == 2 and 1 == 1", true},
        {"(1 == 2 or 2 == 2) and 1 == 2", false},
        {"not 1 == 2", true},
        {"not 1 == 1 or 1 == 1", true},
        {"not (1 == 1 or 1 == 1)", false},
        {"not not 1 == 1", true},
        {"1 < 2 and 2 <= 2 and 3 > 2 and 3 >= 3 and 1 != 2", true},
        {"2 < 2", false},
        {"2 > 2", false},
        {"3 <= 2", false},
        {"2 >= 3", false},
        {"1 != 1", false},
        {"direction != fwd", true},
        {"direction != bwd_data", false},
        {"dtype == f32", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        if (holds(cases[i].condition, TWO_DIMS) != cases[i].holds)
            fail_msg("%s", cases[i].condition);
    }
}

static void what_has_no_value_does_not_hold(void **state)
{
    (void)state;
    assert_false(holds("1 / 0 == 0", TWO_DIMS));
    assert_false(holds("not 1 % 0 == 1", TWO_DIMS));
    assert_false(holds("9223372036854775807 + 1 < 0 or 1 == 1", TWO_DIMS));
    assert_false(holds("(-9223372036854775807 - 1) / -1 > 0 or 1 == 1", TWO_DIMS));
    /* What is not looked at has no say. */
    assert_true(holds("1 == 1 or 1 / 0 == 0", TWO_DIMS));
}

static void faults_say_where_and_what(void **state)
{
    (void)state;
    static const struct {
        const char *condition;
        size_t column;
        const char *message;
    } cases[] = {
        {"outh > 0", 1, "no `outh` (did you mean `out_h`?)"},
        {"n == 1 and zzzzzzz > 0", 12, "no `zzzzzzz`"},
        {"n = 1", 3, "did you mean `==`?"},
        {"n", 1, "a condition is wanted, this is a number"},
        {"dtype", 1, "a condition is wanted, this is a word"},
        {"n + dtype > 1", 3, "`+` takes a number on its right side, this is a word"},
        {"dtype < f16", 7, "`<` takes a number on its left side, this is a word"},
        {"dtype == 1", 7, "`==` takes a number on its left side"},
        {"n and 1 == 1", 3, "`and` takes a condition on its left side"},
        {"not n", 1, "`not` takes a condition"},
        {"-dtype == 1", 1, "`-` takes a number"},
        {"(n == 1", 8, "`)` is missing"},
        {"n == ", 6, "something is missing at the end"},
        {"", 1, "something is missing"},
        {"n == 1 )", 8, "`)` is too much"},
        {"n == 1 k == 2", 8, "`k == 2` is too much"},
        {"n == 12345678901234567890", 6, "too large"},
        {"n == 12ab", 6, "`12ab` is no number"},
        {"n == $", 6, "not `$`"},
        {"nothing == 1", 1, "no `nothing`"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena a = {0};
        struct where *w;
        size_t column = 0;
        assert_fails(where_parse(&w, &column, &a, cases[i].condition), ERR_INVALID,
                     cases[i].message);
        if (column != cases[i].column)
            fail_msg("%s: column %zu", cases[i].condition, column);
        arena_release(&a);
    }
}

/* No text exhausts the stack. */
static void depth_and_length_are_bounded(void **state)
{
    (void)state;
    struct arena a = {0};
    struct where *w;
    size_t column;
    char *deep = arena_alloc(&a, 5001);
    memset(deep, '(', 3000);
    deep[3000] = '\0';
    assert_fails(where_parse(&w, &column, &a, deep), ERR_INVALID, "nests too deeply");
    for (int i = 0; i < 3000; i += 4)
        memcpy(deep + i, "not ", 4);
    assert_fails(where_parse(&w, &column, &a, deep), ERR_INVALID, "nests too deeply");
    memset(deep, '-', 3000);
    assert_fails(where_parse(&w, &column, &a, deep), ERR_INVALID, "nests too deeply");
    memset(deep, ' ', 5000);
    deep[5000] = '\0';
    assert_fails(where_parse(&w, &column, &a, deep), ERR_INVALID, "longer than");
    arena_release(&a);
}

static void layouts_have_words(void **state)
{
    (void)state;
    struct problem p;
    assert_ok(problem_parse(&p, TWO_DIMS));
    assert_true(where_set_layout(&p, "nchw"));
    assert_string_equal(p.layout[OPERAND_INPUT], "ngchw");
    assert_string_equal(where_layout(&p), "nchw");
    assert_true(where_set_layout(&p, "nhwc"));
    assert_string_equal(p.layout[OPERAND_INPUT], "nhwgc");
    assert_string_equal(p.layout[OPERAND_FILTER], "gkyxc");
    assert_string_equal(p.layout[OPERAND_OUTPUT], "nhwgk");
    assert_string_equal(where_layout(&p), "nhwc");
    assert_false(where_set_layout(&p, "ncdhw"));
    memcpy(p.layout[OPERAND_OUTPUT], "ngkhw", 6);
    assert_string_equal(where_layout(&p), "other");
    assert_ok(problem_parse(&p, THREE_DIMS));
    assert_true(where_set_layout(&p, "ndhwc"));
    assert_string_equal(p.layout[OPERAND_FILTER], "gkzyxc");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_the_problems),
        cmocka_unit_test(signs_bind_as_in_c),
        cmocka_unit_test(what_has_no_value_does_not_hold),
        cmocka_unit_test(faults_say_where_and_what),
        cmocka_unit_test(depth_and_length_are_bounded),
        cmocka_unit_test(layouts_have_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
