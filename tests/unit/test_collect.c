/* compare_load and collect on rows put into a store by hand: no candidate runs here. */
#include "test.h"

#include "folder.h"
#include "harness/collect.h"
#include "harness/workspace.h"

struct shelf {
    struct folder *folder;
    struct arena *arena;
    struct workspace *workspace;
    struct candidate candidate;
    struct gate gate;
    int64_t epoch;
    struct comparison_item items[8];
    size_t count;
    struct comparison comparison;
    struct report report;
};

static int setup(void **state)
{
    struct folder *f;
    if (folder_setup((void **)&f) != 0 || workspace_init(f->path) < 0)
        return -1;
    struct shelf *s = ARENA_NEW(&f->arena, struct shelf);
    s->folder = f;
    s->arena = &f->arena;
    s->candidate = (struct candidate){.file = "toy.yaml", .name = "toy", .driver = "miir"};
    *state = s;
    if (config_gate(&s->gate, s->arena, NULL) < 0 ||
        workspace_open(&s->workspace, f->path, true) < 0)
        return -1;
    return store_epoch(&s->epoch, s->workspace->store, "assay test\narch none");
}

static int teardown(void **state)
{
    struct shelf *s = *state;
    void *folder = s->folder;
    workspace_close(s->workspace);
    return folder_teardown(&folder);
}

/* What one build makes of a problem; a figure of the code for each unit of size. */
struct end {
    enum outcome outcome; /* MISSING: no row at all */
    int64_t size;
};

static void add_row(struct shelf *s, const char *problem, const char *artifact, struct end end)
{
    if (end.outcome == OUTCOME_MISSING)
        return;
    bool compiled = end.outcome == OUTCOME_OK || end.outcome == OUTCOME_MISMATCH;
    struct result_row row = {.job = arena_printf(s->arena, "%s %s", artifact, problem),
                             .artifact = artifact,
                             .candidate = "toy",
                             .commit = artifact,
                             .problem = problem,
                             .variant = "",
                             .machine = "m",
                             .data = "integer",
                             .seed = 1,
                             .stage = compiled ? STAGE_VERIFY : STAGE_COMPILE,
                             .outcome = end.outcome,
                             .detail = "",
                             .signature = "",
                             .code = compiled ? artifact : "",
                             .kernels = end.size,
                             .workspace_bytes = 1024 * end.size,
                             .code_bytes = 100 * end.size,
                             .compile_ns = 100000000 * end.size,
                             .stats = "",
                             .log = "",
                             .epoch = s->epoch};
    assert_ok(store_add_result(s->workspace->store, &row));
}

static const char *problem_of(struct shelf *s, size_t i)
{
    return arena_printf(s->arena,
                        "conv fwd f32 n1 c8 k%zu g1 in8x8 fil3x3 str1x1 dil1x1 pad1:1x1:1 ngchw "
                        "gkcyx ngkhw",
                        8 * (i + 1));
}

static void add_problem(struct shelf *s, struct end base, struct end head)
{
    const char *problem = problem_of(s, s->count);
    add_row(s, problem, "base", base);
    add_row(s, problem, "head", head);
    s->items[s->count++] = (struct comparison_item){
        .problem = problem, .variant = "", .model = "", .batch = 1, .count = 1, .check = true};
}

/* Everything that was put in, compared, judged and collected. */
static const struct report *collect(struct shelf *s)
{
    struct comparison_row row = {.id = "c1",
                                 .candidate_file = "toy.yaml",
                                 .candidate = "toy",
                                 .machine_file = "",
                                 .gate_file = "",
                                 .base_commit = "base",
                                 .head_commit = "head",
                                 .base_artifact = "base",
                                 .head_artifact = "head",
                                 .command = "",
                                 .epoch = s->epoch};
    bool known;
    struct comparison_row stored;
    struct store *store = s->workspace->store;
    assert_ok(store_find_comparison(&stored, &known, s->arena, store, "c1"));
    if (!known)
        assert_ok(store_add_comparison(store, &row, s->items, s->count));
    assert_ok(compare_load(&s->comparison, s->arena, store, &s->gate, "c1"));
    struct collect_request q = {.store = store,
                                .candidate = &s->candidate,
                                .gate = &s->gate,
                                .comparison = &s->comparison,
                                .options = "--candidate toy.yaml"};
    assert_ok(collect_report(&s->report, s->arena, &q));
    return &s->report;
}

static const struct end fine = {OUTCOME_OK, 1}, refused = {OUTCOME_NOT_APPLICABLE, 0},
                        wrong = {OUTCOME_MISMATCH, 1}, lost = {OUTCOME_MISSING, 0};

static void assert_says(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" lacks \"%s\"", text, part);
}

static void nothing_changed_is_green(void **state)
{
    struct shelf *s = *state;
    add_problem(s, fine, fine);
    add_problem(s, refused, refused);
    const struct report *r = collect(s);
    assert_int_equal(r->tone, TONE_GOOD);
    assert_says(r->verdict, "PASS: nothing got worse in 2 configurations");
    assert_says(r->coverage, "the same at base and at head: 1 of 2 (50.0 %)");
    assert_int_equal(r->coverage_tone, TONE_PLAIN);
    assert_int_equal(r->figure_count, FIGURE_COUNT);
    assert_int_equal(r->figures[FIGURE_CODE].compared, 1);
}

static void newly_refused_blocks_unless_the_gate_doubts(void **state)
{
    struct shelf *s = *state;
    add_problem(s, fine, fine);
    add_problem(s, fine, refused);
    const struct report *r = collect(s);
    assert_int_equal(r->tone, TONE_BAD);
    assert_string_equal(r->verdict,
                        "REGRESSED: 1 no longer applicable of 2 configurations; action needed");
    assert_int_equal(r->checks[0].tone, TONE_BAD);
    assert_string_equal(r->checks[0].change, "newly not applicable");
    assert_says(r->coverage, "0 of 2 (0.0 %) at base, 1 of 2 (50.0 %) at head");
    s->gate.coverage.newly_not_applicable = "doubt";
    r = collect(s);
    assert_int_equal(r->tone, TONE_DOUBT);
    assert_says(r->verdict, "COVERAGE CHANGED: 1 no longer applicable of 2 configurations, "
                            "not-applicable went from 0 to 1 of 2");
    s->gate.coverage.changed_share = "block";
    assert_int_equal(collect(s)->tone, TONE_BAD);
}

static void newly_taken_is_never_green(void **state)
{
    struct shelf *s = *state;
    add_problem(s, fine, fine);
    add_problem(s, refused, fine);
    const struct report *r = collect(s);
    assert_int_equal(r->tone, TONE_DOUBT);
    assert_says(r->verdict,
                "COVERAGE CHANGED: not-applicable went from 1 to 0 of 2; someone has to look");
    assert_int_equal(r->coverage_tone, TONE_DOUBT);
    assert_string_equal(r->checks[0].problem, problem_of(s, 1));
    assert_string_equal(r->checks[0].change, "newly applicable");
}

static void a_missing_row_blocks_on_either_side(void **state)
{
    struct shelf *s = *state;
    add_problem(s, fine, fine);
    add_problem(s, fine, lost);
    add_problem(s, lost, fine);
    const struct report *r = collect(s);
    assert_int_equal(r->tone, TONE_BAD);
    assert_says(r->verdict, "2 without a result of 3 configurations");
    assert_int_equal(r->states[3].base, 1);
    assert_int_equal(r->states[3].head, 1);
    s->gate.coverage.missing = "doubt";
    assert_int_equal(collect(s)->tone, TONE_DOUBT);
}

static void nothing_that_passes_is_never_green(void **state)
{
    struct shelf *s = *state;
    add_problem(s, refused, refused);
    const struct report *r = collect(s);
    assert_int_equal(r->tone, TONE_DOUBT);
    assert_says(r->verdict, "NOTHING PROVEN: every configuration is refused");
    assert_int_equal(r->figure_count, 0);
}

static void failing_as_before_proves_nothing_either(void **state)
{
    struct shelf *s = *state;
    add_problem(s, wrong, wrong);
    add_problem(s, refused, refused);
    const struct report *r = collect(s);
    assert_int_equal(r->tone, TONE_DOUBT);
    assert_says(r->verdict, "NOTHING PROVEN: no configuration passed at head");
}

/* A problem that is only timed is refused just as much. */
static void a_refusal_among_timings_is_told(void **state)
{
    struct shelf *s = *state;
    add_problem(s, fine, fine);
    add_problem(s, fine, refused);
    for (size_t i = 0; i < s->count; i++) {
        s->items[i].check = false;
        s->items[i].time = true;
    }
    const struct report *r = collect(s);
    assert_int_equal(r->tone, TONE_BAD);
    assert_says(r->verdict, "1 no longer applicable");
    assert_int_equal(r->check_count, 1);
}

static void figures_inform_unless_the_gate_blocks(void **state)
{
    struct shelf *s = *state;
    add_problem(s, fine, fine);
    add_problem(s, (struct end){OUTCOME_OK, 2}, (struct end){OUTCOME_OK, 6});
    add_problem(s, fine, (struct end){OUTCOME_OK, 4});
    const struct report *r = collect(s);
    assert_int_equal(r->tone, TONE_GOOD);
    const struct report_figure *compile = &r->figures[FIGURE_COMPILE_TIME];
    assert_string_equal(compile->name, "compile time");
    assert_int_equal(compile->base, 400000000);
    assert_int_equal(compile->head, 1100000000);
    assert_int_equal(compile->grew_count, 2);
    assert_string_equal(compile->grew[0].problem, problem_of(s, 2)); /* fourfold before threefold */
    assert_int_equal(compile->grew[1].head, 600000000);
    assert_says(compile->note, "only informs");
    s->gate.figures.workspace.blocks = "problem";
    r = collect(s);
    assert_int_equal(r->tone, TONE_BAD);
    assert_string_equal(r->verdict, "REGRESSED: more workspace; action needed");
    assert_int_equal(r->figures[FIGURE_WORKSPACE].tone, TONE_BAD);
    assert_says(r->figures[FIGURE_WORKSPACE].note, "the gate blocks");
}

/* A layer of a model that stands in a sweep too is counted once. */
static void what_stands_twice_counts_once(void **state)
{
    struct shelf *s = *state;
    add_problem(s, fine, refused);
    add_problem(s, fine, fine);
    s->items[s->count] = s->items[0];
    s->items[s->count++].model = "net";
    const struct report *r = collect(s);
    assert_says(r->verdict, "1 no longer applicable of 2 configurations");
    assert_int_equal(s->comparison.coverage.problems, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_changed_is_green),           TEST(newly_refused_blocks_unless_the_gate_doubts),
        TEST(newly_taken_is_never_green),         TEST(a_missing_row_blocks_on_either_side),
        TEST(nothing_that_passes_is_never_green), TEST(failing_as_before_proves_nothing_either),
        TEST(a_refusal_among_timings_is_told),    TEST(figures_inform_unless_the_gate_blocks),
        TEST(what_stands_twice_counts_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
