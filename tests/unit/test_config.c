#include "test.h"

#include "folder.h"
#include "harness/config.h"

static const char GOOD[] =
    "candidate: pebble\n"
    "repository: repo.git\n"
    "build:\n"
    "  steps: [[cmake, -S, '{source}', -B, '{build}'], [ninja, -C, '{build}']]\n"
    "  artifacts: [lib/libpebble.so]\n"
    "driver: miir\n"
    "library: lib/libpebble.so\n";

static void config__reads_a_candidate(void **state)
{
    struct folder *f = *state;
    struct candidate c;
    assert_ok(config_candidate(&c, &f->arena, folder_file(f, "c.yaml", GOOD)));
    assert_string_equal(c.name, "pebble");
    assert_int_equal(c.build.steps.count, 2);
    assert_string_equal(c.build.steps.items[1][0], "ninja");
    assert_true(strstr(c.repository, f->path) == c.repository); /* relative to the file */
    assert_false(c.asymmetric_pads);
    assert_int_equal(c.limits.compile_ns, 20000000000);
    assert_int_equal(candidate_accumulator(&c, DTYPE_F32), ACCUMULATOR_F32_FMA);
    assert_int_equal(candidate_accumulator(&c, DTYPE_I8), ACCUMULATOR_I32);
}

static void config__leaves_urls_alone(void **state)
{
    struct folder *f = *state;
    static const char *const urls[] = {"https://example.org/a/b.git", "ssh://git@example.org/x",
                                       "git@example.org:a/b.git"};
    for (size_t i = 0; i < COUNT_OF(urls); i++) {
        struct candidate c;
        char *text = arena_printf(&f->arena,
                                  "candidate: x\nrepository: \"%s\"\nbuild: {steps: [[make]], "
                                  "artifacts: [a.so]}\ndriver: miir\nlibrary: a.so\n",
                                  urls[i]);
        assert_ok(config_candidate(&c, &f->arena, folder_file(f, "c.yaml", text)));
        assert_string_equal(c.repository, urls[i]);
    }
}

/* Each wrong file with what its message must say. All faults of a file come at once. */
static void config__names_place_and_nearest_word(void **state)
{
    struct folder *f = *state;
    static const struct {
        const char *text, *says, *and_says;
    } cases[] = {
        {"candidate: p\nbuild: {steps: [[make]], artifacts: [a]}\ndrivr: miir\n",
         "c.yaml:3:1: drivr", "driver"},
        {"candidate: p\nbuild: {steps: [[make]], artifacts: [a]}\ndriver: mir\nlibrary: a\n",
         "c.yaml:3:9: driver", "miir"},
        {"candidate: p\nbuild: {step: [[make]], artifacts: [a]}\ndriver: miir\nlimits: {memry: "
         "2G}\n",
         "build.step", "limits.memry"},
        {"candidate: p\nbuild: {steps: [[make]], artifacts: [a]}\ndriver: miir\nlibrary: b\n",
         "library", "not one of build.artifacts"},
        {"candidate: p\nbuild: {steps: [[make]], artifacts: [a]}\ndriver: miir\n", "library",
         "needs the library"},
        {"candidate: p\nbuild: {steps: [[make]], artifacts: [a]}\ndriver: miir\nlibrary: "
         "a\nlimits: {compile: 20 parsecs}\n",
         "c.yaml:5:", "limits.compile"},
        {"sweep: s\nproblems: []\n", "c.yaml:1:1", "a candidate file was wanted"},
        {"- a\n- b\n", "c.yaml:1:1", "candidate: NAME"},
        {"candidate: [\n", "c.yaml:", ""},
        {"", "c.yaml", ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct candidate c;
        char *path = folder_file(f, "c.yaml", cases[i].text);
        assert_fails(config_candidate(&c, &f->arena, path), ERR_INVALID, cases[i].says);
        assert_non_null(strstr(err_message(), cases[i].and_says));
    }
}

static void config__says_that_a_file_is_not_there(void **state)
{
    struct folder *f = *state;
    struct candidate c;
    assert_fails(config_candidate(&c, &f->arena, "/nowhere/c.yaml"), ERR_NOTFOUND,
                 "/nowhere/c.yaml");
}

#define P1 "conv fwd f32 n1 c8 k8 g1 in8x8 fil3x3 str1x1 dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw"
#define P2 "conv bwd_data f32 n1 c8 k8 g1 in8x8 fil3x3 str1x1 dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw"

static void config__reads_a_sweep_with_its_lists(void **state)
{
    struct folder *f = *state;
    struct sweep s;
    folder_file(f, "list.txt",
                "# two, one of them in another tool's words\n" P1 "  # first\n\n"
                "MIOpenDriver conv -n 1 -c 8 -H 8 -W 8 -k 8 -y 3 -x 3 -p 1 -q 1 -u 1 -v 1 -l 1 -j "
                "1 -g 1 -F 2\n");
    assert_ok(config_sweep(
        &s, &f->arena,
        folder_file(f, "s.yaml", "sweep: s\ninclude: [list.txt]\nproblems: ['" P1 "']\n")));
    assert_int_equal(s.count, 2); /* the repeated one once */
    assert_string_equal(s.problems[0].text, P1);
    assert_string_equal(s.problems[1].text, P2);
    assert_non_null(strstr(s.problems[1].origin, "list.txt:4"));
    assert_string_equal(s.purpose, "both");
}

static void config__names_every_bad_line_of_a_sweep(void **state)
{
    struct folder *f = *state;
    struct sweep s;
    folder_file(f, "list.txt", P1 "\nconv fwd f33 n1\nnonsense\n");
    char *path = folder_file(f, "s.yaml", "sweep: s\ninclude: [list.txt]\n");
    assert_fails(config_sweep(&s, &f->arena, path), ERR_INVALID, "list.txt:2:1");
    assert_non_null(strstr(err_message(), "list.txt:3:1"));
    path = folder_file(f, "s.yaml", "sweep: s\ninclude: [lost.txt]\n");
    assert_fails(config_sweep(&s, &f->arena, path), ERR_INVALID, "s.yaml:2:11: include");
    path = folder_file(f, "s.yaml", "sweep: s\n");
    assert_fails(config_sweep(&s, &f->arena, path), ERR_INVALID, "no problem");
}

static void config__reads_a_model(void **state)
{
    struct folder *f = *state;
    struct model m;
    char *path = folder_file(f, "m.yaml",
                             "model: net\nbatch: 1\nlayers:\n  - {problem: " P1
                             ", count: 3}\n  - {problem: " P2 "}\n");
    assert_ok(config_model(&m, &f->arena, path));
    assert_int_equal(m.count, 2);
    assert_int_equal(m.layers[0].count, 3);
    assert_int_equal(m.layers[1].count, 1);
    path = folder_file(f, "m.yaml", "model: net\nbatch: 2\nlayers: [{problem: " P1 "}]\n");
    assert_fails(config_model(&m, &f->arena, path), ERR_INVALID, "the model's batch is 2");
}

static void config__has_defaults_for_machine_and_gate(void **state)
{
    struct folder *f = *state;
    struct machine m;
    struct gate g;
    assert_ok(config_machine(&m, &f->arena, NULL));
    assert_string_equal(m.hip, "hip-cpu");
    assert_int_equal(m.cpu, -1);
    assert_ok(config_gate(&g, &f->arena, NULL));
    assert_true(g.correctness.ratio == 1);
    assert_int_equal(g.speed.screen_pairs, 6);
    assert_true(g.bisect.revert);
    char *path =
        folder_file(f, "g.yaml", "gate: g\nspeed: {minimum_effect: 0.1, regression: 0.05}\n");
    assert_fails(config_gate(&g, &f->arena, path), ERR_INVALID, "must not be below");
}

static void config__ships_files_that_read(void **state)
{
    struct folder *f = *state;
    struct candidate c;
    struct sweep s;
    struct model m;
    struct machine machine;
    struct gate g;
    assert_ok(config_candidate(&c, &f->arena, SOURCE_ROOT "/configs/candidates/pebble.yaml"));
    assert_ok(config_sweep(&s, &f->arena, SOURCE_ROOT "/configs/sweeps/backward-data.yaml"));
    assert_int_equal(s.count, 12);
    assert_ok(config_sweep(&s, &f->arena, SOURCE_ROOT "/configs/sweeps/resnet50.yaml"));
    assert_int_equal(s.count, 23);
    assert_ok(config_sweep(&s, &f->arena, SOURCE_ROOT "/configs/sweeps/small.yaml"));
    assert_ok(config_model(&m, &f->arena, SOURCE_ROOT "/configs/models/resnet50.yaml"));
    int64_t layers = 0;
    for (size_t i = 0; i < m.count; i++)
        layers += m.layers[i].count;
    assert_int_equal(layers, 53);
    assert_ok(config_machine(&machine, &f->arena, SOURCE_ROOT "/configs/machines/cpu.yaml"));
    assert_ok(config_gate(&g, &f->arena, SOURCE_ROOT "/configs/gates/default.yaml"));
}

static void config__names_a_wrong_word_of_a_gate(void **state)
{
    struct folder *f = *state;
    struct gate g;
    char *path = folder_file(f, "g.yaml", "gate: g\ncoverage: {missing: blok}\n");
    assert_fails(config_gate(&g, &f->arena, path), ERR_INVALID, "g.yaml:2:21: coverage.missing");
    assert_non_null(strstr(err_message(), "did you mean `block`?"));
    path = folder_file(f, "g.yaml",
                       "gate: g\nfigures:\n  compile_time: {beyond: half}\n"
                       "  code: {least: 1}\n");
    assert_fails(config_gate(&g, &f->arena, path), ERR_INVALID, "figures.compile_time.beyond");
    assert_non_null(strstr(err_message(), "g.yaml:4:10: figures.code.least"));
    path = folder_file(f, "g.yaml", "gate: g\nfigures: {compile_time: {least: 2s}}\n");
    assert_ok(config_gate(&g, &f->arena, path));
    assert_int_equal(g.figures.compile_time.least, 2000000000);
    assert_true(g.figures.compile_time.beyond == 1 && g.figures.kernels.least == 0);
    assert_string_equal(g.coverage.newly_not_applicable, "block");
}

/* The built-in gate and the file that explains it say the same. */
static void config__gate_file_is_the_built_in_gate(void **state)
{
    struct folder *f = *state;
    struct gate built_in, file;
    assert_ok(config_gate(&built_in, &f->arena, NULL));
    assert_ok(config_gate(&file, &f->arena, SOURCE_ROOT "/configs/gates/default.yaml"));
    assert_memory_equal(&built_in.correctness, &file.correctness, sizeof file.correctness);
    assert_memory_equal(&built_in.speed, &file.speed, sizeof file.speed);
    assert_string_equal(built_in.coverage.newly_not_applicable, file.coverage.newly_not_applicable);
    assert_string_equal(built_in.coverage.missing, file.coverage.missing);
    assert_string_equal(built_in.coverage.changed_share, file.coverage.changed_share);
    const struct gate_figure *ours = &built_in.figures.kernels, *theirs = &file.figures.kernels;
    for (size_t i = 0; i < sizeof file.figures / sizeof *theirs; i++) {
        assert_true(ours[i].beyond == theirs[i].beyond);
        assert_int_equal(ours[i].least, theirs[i].least);
        assert_string_equal(ours[i].blocks, theirs[i].blocks);
    }
    assert_int_equal(built_in.bisect.confirm_runs, file.bisect.confirm_runs);
    assert_int_equal(built_in.bisect.revert, file.bisect.revert);
    assert_int_equal(built_in.bisect.clean, file.bisect.clean);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(config__reads_a_candidate, folder_setup, folder_teardown),
        cmocka_unit_test_setup_teardown(config__leaves_urls_alone, folder_setup, folder_teardown),
        cmocka_unit_test_setup_teardown(config__names_place_and_nearest_word, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(config__says_that_a_file_is_not_there, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(config__reads_a_sweep_with_its_lists, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(config__names_every_bad_line_of_a_sweep, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(config__reads_a_model, folder_setup, folder_teardown),
        cmocka_unit_test_setup_teardown(config__has_defaults_for_machine_and_gate, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(config__ships_files_that_read, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(config__names_a_wrong_word_of_a_gate, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(config__gate_file_is_the_built_in_gate, folder_setup,
                                        folder_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
