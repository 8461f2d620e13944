#include "test.h"

#include "harness/judge.h"
#include "src/mem.h"

#include <math.h>

static int setup(void **state)
{
    *state = xcalloc(1, sizeof(struct arena));
    return 0;
}

static int teardown(void **state)
{
    arena_release(*state);
    free(*state);
    return 0;
}

static struct gate gate(struct arena *a)
{
    struct gate g;
    assert_ok(config_gate(&g, a, NULL));
    return g;
}

static struct result_row row(const char *data, enum outcome outcome, const char *stats)
{
    return (struct result_row){.row = 1,
                               .problem = "p",
                               .variant = "",
                               .data = data,
                               .seed = 1,
                               .stage = STAGE_VERIFY,
                               .outcome = outcome,
                               .detail = "",
                               .signature = "",
                               .code = "c",
                               .stats = stats};
}

static enum outcome judged(struct arena *a, const struct gate *g, const struct result_row *rows,
                           size_t count)
{
    struct check_verdict v;
    judge_check(&v, a, g, rows, count);
    return v.outcome;
}

static void judge_check__takes_the_worst(void **state)
{
    struct gate g = gate(*state);
    static const struct {
        enum outcome first, second, wanted;
    } cases[] = {
        {OUTCOME_OK, OUTCOME_OK, OUTCOME_OK},
        {OUTCOME_OK, OUTCOME_CRASH, OUTCOME_CRASH},
        {OUTCOME_INFRA, OUTCOME_OK, OUTCOME_INFRA},
        {OUTCOME_INFRA, OUTCOME_MISMATCH, OUTCOME_MISMATCH},
        {OUTCOME_TIMEOUT, OUTCOME_OK, OUTCOME_TIMEOUT},
        {OUTCOME_NOT_APPLICABLE, OUTCOME_OK, OUTCOME_NOT_APPLICABLE},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct result_row rows[2] = {row("integer", cases[i].first, "elements 4\n"),
                                     row("integer", cases[i].second, "elements 4\n")};
        assert_int_equal(judged(*state, &g, rows, 2), cases[i].wanted);
    }
    assert_int_equal(judged(*state, &g, NULL, 0), OUTCOME_MISSING);
}

static void judge_check__holds_real_data_against_the_gate(void **state)
{
    struct gate g = gate(*state);
    struct result_row r =
        row("real", OUTCOME_MISMATCH, "elements 100\nmismatches 3\nworst_ratio 2.5\n");
    assert_int_equal(judged(*state, &g, &r, 1), OUTCOME_MISMATCH);
    g.correctness.ratio = 3; /* a looser gate judges the same row anew */
    assert_int_equal(judged(*state, &g, &r, 1), OUTCOME_OK);
    g.correctness.ratio = 1;
    r = row("real", OUTCOME_OK, "elements 100\nmismatches 0\nworst_ratio 0.6\n");
    assert_int_equal(judged(*state, &g, &r, 1), OUTCOME_OK);
    g.correctness.ratio = 0.5;
    assert_int_equal(judged(*state, &g, &r, 1), OUTCOME_MISMATCH);
    struct check_verdict v;
    judge_check(&v, *state, &g, &r, 1); /* the row has no words of its own: it passed when it ran */
    assert_string_equal(v.detail,
                        "real data: worst 0.6 times the tolerance where the gate allows 0.5");
}

/* Whether one element or a million: the gate's ratio holds; without any measurement it does not. */
static void judge_check__needs_elements_to_forgive(void **state)
{
    struct gate g = gate(*state);
    g.correctness.ratio = 3;
    struct result_row one = row("real", OUTCOME_MISMATCH, "elements 1\nworst_ratio 2\n"),
                      none = row("real", OUTCOME_MISMATCH, "");
    assert_int_equal(judged(*state, &g, &one, 1), OUTCOME_OK);
    assert_int_equal(judged(*state, &g, &none, 1), OUTCOME_MISMATCH);
}

/* However loose the gate: these are no rounding. */
static void judge_check__never_forgives_damage(void **state)
{
    struct gate g = gate(*state);
    g.correctness.ratio = 1e6;
    static const char *const damage[] = {"nans 1\n", "infs 1\n", "unwritten 1\n", "guard_low 1\n",
                                         "guard_high 1\n"};
    for (size_t i = 0; i < COUNT_OF(damage); i++) {
        struct result_row r =
            row("real", OUTCOME_MISMATCH,
                arena_printf(*state, "elements 100\nworst_ratio 2\n%s", damage[i]));
        assert_int_equal(judged(*state, &g, &r, 1), OUTCOME_MISMATCH);
    }
    struct result_row input = row("real", OUTCOME_MISMATCH, "elements 100\nworst_ratio 0\n");
    input.signature = "writes its filter";
    assert_int_equal(judged(*state, &g, &input, 1), OUTCOME_MISMATCH);
    struct result_row integer = row("integer", OUTCOME_MISMATCH, "elements 100\nworst_ratio 2\n");
    assert_int_equal(judged(*state, &g, &integer, 1), OUTCOME_MISMATCH);
}

/* Of several alike the first speaks, in its own words. */
static void judge_check__keeps_the_words_of_the_row(void **state)
{
    struct gate g = gate(*state);
    struct check_verdict v;
    struct result_row rows[2] = {row("integer", OUTCOME_CRASH, ""),
                                 row("integer", OUTCOME_TIMEOUT, "")};
    rows[0].detail = "killed by SIGSEGV";
    rows[1].row = 2;
    judge_check(&v, *state, &g, rows, 2);
    assert_int_equal(v.row, 1);
    assert_int_equal(v.stage, STAGE_VERIFY);
    assert_string_equal(v.detail, "killed by SIGSEGV");
    rows[0].outcome = OUTCOME_NO_VERDICT;
    rows[0].stage = STAGE_EXECUTE;
    rows[0].detail = "exit 3";
    judge_check(&v, *state, &g, rows, 1);
    assert_string_equal(v.detail, "exit 3");
    assert_string_equal(v.code, "c");
    struct result_row wrong = row("integer", OUTCOME_MISMATCH, "elements 9\nmismatches 3\n");
    wrong.detail = "3 of 9 off";
    judge_check(&v, *state, &g, &wrong, 1);
    assert_string_equal(v.detail, "integer data: 3 of 9 off");
    rows[1].code = "d";
    judge_check(&v, *state, &g, rows, 2);
    assert_string_equal(v.code, ""); /* two codes are none */
}

static void judge_check__mistrusts_zeros(void **state)
{
    struct gate g = gate(*state);
    struct result_row r = row("integer", OUTCOME_OK, "elements 100\nzeros 60\n");
    assert_int_equal(judged(*state, &g, &r, 1), OUTCOME_OK);
    g.correctness.zero_share = 0.5;
    assert_int_equal(judged(*state, &g, &r, 1), OUTCOME_NO_VERDICT);
}

static void judge_check__sees_unsteadiness_over_rounds(void **state)
{
    struct gate g = gate(*state);
    struct result_row rows[3] = {row("integer", OUTCOME_OK, ""),
                                 row("integer", OUTCOME_MISMATCH, ""), row("real", OUTCOME_OK, "")};
    assert_int_equal(judged(*state, &g, rows, 3),
                     OUTCOME_MISMATCH); /* one round: not known to be unsteady */
    rows[1].round = 1;
    assert_int_equal(judged(*state, &g, rows, 3), OUTCOME_UNSTEADY);
    const struct result_row failed_first[2] = {rows[1], rows[0]};
    assert_int_equal(judged(*state, &g, failed_first, 2), OUTCOME_UNSTEADY);
    struct result_row doubt[2] = {rows[0], rows[1]};
    doubt[0].outcome = OUTCOME_INFRA; /* that one run told nothing makes the other no less wrong */
    assert_int_equal(judged(*state, &g, doubt, 2), OUTCOME_MISMATCH);
    doubt[0] = rows[1];
    doubt[1] = rows[0];
    doubt[1].outcome = OUTCOME_INFRA;
    assert_int_equal(judged(*state, &g, doubt, 2), OUTCOME_MISMATCH);
    rows[0].outcome = OUTCOME_MISMATCH;
    assert_int_equal(judged(*state, &g, rows, 3), OUTCOME_MISMATCH);
}

static enum check_change change(enum outcome base, enum outcome head)
{
    struct check_verdict b = {.outcome = base}, h = {.outcome = head};
    return judge_change(&b, &h);
}

static void judge_change__names_every_step(void **state)
{
    (void)state;
    assert_int_equal(change(OUTCOME_OK, OUTCOME_OK), CHECK_PASSES);
    assert_int_equal(change(OUTCOME_OK, OUTCOME_MISMATCH), CHECK_NEWLY_FAILING);
    assert_int_equal(change(OUTCOME_OK, OUTCOME_NOT_APPLICABLE), CHECK_NEWLY_NOT_APPLICABLE);
    assert_int_equal(change(OUTCOME_CRASH, OUTCOME_OK), CHECK_FIXED);
    assert_int_equal(change(OUTCOME_CRASH, OUTCOME_CRASH), CHECK_STILL_FAILING);
    assert_int_equal(change(OUTCOME_CRASH, OUTCOME_TIMEOUT), CHECK_FAILS_OTHERWISE);
    assert_int_equal(change(OUTCOME_CRASH, OUTCOME_NOT_APPLICABLE), CHECK_NEWLY_NOT_APPLICABLE);
    assert_int_equal(change(OUTCOME_NOT_APPLICABLE, OUTCOME_OK), CHECK_NEWLY_APPLICABLE);
    assert_int_equal(change(OUTCOME_NOT_APPLICABLE, OUTCOME_MISMATCH), CHECK_NEWLY_FAILING);
    assert_int_equal(change(OUTCOME_NOT_APPLICABLE, OUTCOME_NOT_APPLICABLE), CHECK_NOT_APPLICABLE);
    assert_int_equal(change(OUTCOME_OK, OUTCOME_MISSING), CHECK_MISSING);
    assert_int_equal(change(OUTCOME_INFRA, OUTCOME_OK), CHECK_MISSING);
}

static void check_change__blocks_by_the_gate(void **state)
{
    struct gate g = gate(*state);
    static const enum check_change blocking[] = {CHECK_NEWLY_FAILING, CHECK_FAILS_OTHERWISE,
                                                 CHECK_NEWLY_NOT_APPLICABLE, CHECK_MISSING},
                                   free[] = {CHECK_STILL_FAILING, CHECK_FIXED, CHECK_PASSES,
                                             CHECK_NOT_APPLICABLE, CHECK_NEWLY_APPLICABLE};
    for (size_t i = 0; i < COUNT_OF(blocking); i++)
        assert_true(check_change_blocks(&g, blocking[i]));
    for (size_t i = 0; i < COUNT_OF(free); i++)
        assert_int_equal(check_change_answer(&g, free[i]), GATE_PASSES);
    g.coverage.newly_not_applicable = "doubt";
    assert_int_equal(check_change_answer(&g, CHECK_NEWLY_NOT_APPLICABLE), GATE_DOUBTS);
    assert_true(check_change_blocks(&g, CHECK_MISSING));
    g.coverage.missing = "doubt";
    assert_int_equal(check_change_answer(&g, CHECK_MISSING), GATE_DOUBTS);
    /* A search is worth it whatever the gate says; for a missing row there is nothing to search. */
    assert_true(check_change_is_worse(CHECK_NEWLY_NOT_APPLICABLE));
    assert_false(check_change_is_worse(CHECK_MISSING));
    assert_true(check_change_is_coverage(CHECK_NEWLY_APPLICABLE));
    assert_false(check_change_is_coverage(CHECK_NOT_APPLICABLE));
}

/* Every pair of outcomes, by four rules: what cannot be told is missing; what does not apply at the
 * head is so newly or not; a failure is new unless the base failed; a pass is news unless the base
 * passed. */
static void judge_change__holds_for_every_pair(void **state)
{
    (void)state;
    for (int b = 0; b < OUTCOME_COUNT; b++) {
        for (int h = 0; h < OUTCOME_COUNT; h++) {
            enum outcome base = (enum outcome)b, head = (enum outcome)h;
            enum outcome_meaning was = outcome_meaning(base), is = outcome_meaning(head);
            bool declined = base == OUTCOME_NOT_APPLICABLE,
                 declines = head == OUTCOME_NOT_APPLICABLE;
            enum check_change wanted;
            if ((was == OUTCOME_MEANS_UNKNOWN && !declined) ||
                (is == OUTCOME_MEANS_UNKNOWN && !declines))
                wanted = CHECK_MISSING;
            else if (declines)
                wanted = declined ? CHECK_NOT_APPLICABLE : CHECK_NEWLY_NOT_APPLICABLE;
            else if (is == OUTCOME_MEANS_BAD)
                wanted = was != OUTCOME_MEANS_BAD ? CHECK_NEWLY_FAILING
                         : base == head           ? CHECK_STILL_FAILING
                                                  : CHECK_FAILS_OTHERWISE;
            else
                wanted = declined                   ? CHECK_NEWLY_APPLICABLE
                         : was == OUTCOME_MEANS_BAD ? CHECK_FIXED
                                                    : CHECK_PASSES;
            assert_int_equal(change(base, head), wanted);
        }
    }
    for (int c = 0; c <= CHECK_MISSING; c++)
        assert_true(strlen(check_change_words((enum check_change)c)) > 0);
}

static struct coverage_judgement coverage(const struct gate *g, const enum outcome (*ends)[2],
                                          size_t count)
{
    struct check_verdict base[8], head[8];
    struct judge_sides sides[8];
    for (size_t i = 0; i < count; i++) {
        base[i] = (struct check_verdict){.outcome = ends[i][0]};
        head[i] = (struct check_verdict){.outcome = ends[i][1]};
        sides[i] = (struct judge_sides){&base[i], &head[i]};
    }
    struct coverage_judgement j;
    judge_coverage(&j, g, sides, count);
    return j;
}

static void judge_coverage__counts_both_ends(void **state)
{
    struct gate g = gate(*state);
    static const enum outcome ends[][2] = {
        {OUTCOME_OK, OUTCOME_OK},
        {OUTCOME_OK, OUTCOME_NOT_APPLICABLE},
        {OUTCOME_CRASH, OUTCOME_MISMATCH},
        {OUTCOME_NO_VERDICT, OUTCOME_MISSING},
        {OUTCOME_NOT_APPLICABLE, OUTCOME_INFRA},
    };
    struct coverage_judgement j = coverage(&g, ends, 4);
    assert_int_equal(j.problems, 4);
    assert_int_equal(j.base.passes, 2);
    assert_int_equal(j.base.fails, 2);
    assert_int_equal(j.head.passes, 1);
    assert_int_equal(j.head.not_applicable, 1);
    assert_int_equal(j.head.missing, 1);
    assert_true(j.share_changed);
    assert_int_equal(j.share_answer, GATE_DOUBTS);
    g.coverage.changed_share = "block";
    assert_int_equal(coverage(&g, ends, 4).share_answer, GATE_BLOCKS);
    j = coverage(&g, ends, 5); /* one came and one went */
    assert_false(j.share_changed);
    assert_int_equal(j.share_answer, GATE_PASSES);
    assert_int_equal(coverage(&g, ends, 0).problems, 0);
}

/* Compiled at both ends, with these compile times in ms. */
static struct figure_judgement compile_times(struct arena *a, const struct gate *g,
                                             const int64_t (*ms)[2], size_t count)
{
    struct check_verdict base[8], head[8];
    struct judge_sides sides[8];
    for (size_t i = 0; i < count; i++) {
        base[i] = (struct check_verdict){.compiled = ms[i][0] >= 0};
        head[i] = (struct check_verdict){.compiled = ms[i][1] >= 0};
        base[i].figures[FIGURE_COMPILE_TIME] = ms[i][0] * 1000000;
        head[i].figures[FIGURE_COMPILE_TIME] = ms[i][1] * 1000000;
        sides[i] = (struct judge_sides){&base[i], &head[i]};
    }
    struct figure_judgement j;
    judge_figure(&j, a, g, FIGURE_COMPILE_TIME, sides, count);
    return j;
}

static void judge_figure__lists_what_grew_beyond_the_gate(void **state)
{
    struct gate g = gate(*state);
    g.figures.compile_time.beyond = 0.5;
    g.figures.compile_time.least = 50000000;
    static const int64_t ms[][2] = {
        {100, 149}, /* below half more */
        {100, 300}, /* beyond */
        {10, 40},   /* fourfold, but less than 50 ms */
        {400, 100}, /* shrank */
        {100, 500}, /* the worst */
        {-1, 1000}, /* one side made no code */
    };
    struct figure_judgement j = compile_times(*state, &g, ms, 6);
    assert_int_equal(j.compared, 5);
    assert_int_equal(j.base, 710000000);
    assert_int_equal(j.head, 1089000000);
    assert_int_equal(j.grew_count, 2);
    assert_int_equal(j.grew[0], 4);
    assert_int_equal(j.grew[1], 1);
    assert_int_equal(j.shrank_count, 1);
    assert_false(j.blocks);
    g.figures.compile_time.blocks = "problem";
    assert_true(compile_times(*state, &g, ms, 6).blocks);
    assert_false(compile_times(*state, &g, ms, 1).blocks);
    g.figures.compile_time.blocks = "total";
    assert_true(compile_times(*state, &g, ms, 6).blocks); /* 1089 is more than 1.5 x 710 */
    g.figures.compile_time.beyond = 0.6;
    assert_false(compile_times(*state, &g, ms, 6).blocks);
}

static void judge_figure__sees_what_comes_from_nothing(void **state)
{
    struct gate g = gate(*state);
    struct check_verdict base = {.compiled = true}, head = {.compiled = true};
    struct judge_sides sides = {&base, &head};
    struct figure_judgement j;
    judge_figure(&j, *state, &g, FIGURE_WORKSPACE, &sides, 1);
    assert_int_equal(j.grew_count, 0);
    head.figures[FIGURE_WORKSPACE] = 1;
    judge_figure(&j, *state, &g, FIGURE_WORKSPACE, &sides, 1);
    assert_int_equal(j.grew_count, 1);
    base.figures[FIGURE_KERNELS] = 1;
    head.figures[FIGURE_KERNELS] = 2;
    judge_figure(&j, *state, &g, FIGURE_KERNELS, &sides, 1);
    assert_int_equal(j.grew_count, 1);
    assert_int_equal(j.base, 1);
}

/* Figures come from the first round: later rounds and rows without code say none. */
static void judge_check__takes_figures_of_the_first_round(void **state)
{
    struct gate g = gate(*state);
    struct result_row rows[3] = {row("integer", OUTCOME_OK, ""), row("integer", OUTCOME_OK, ""),
                                 row("real", OUTCOME_CRASH, "")};
    rows[0].round = 1;
    rows[0].compile_ns = 7;
    rows[1].kernels = 2;
    rows[1].workspace_bytes = 3;
    rows[1].code_bytes = 4;
    rows[1].compile_ns = 5;
    rows[2].code = "";
    struct check_verdict v;
    judge_check(&v, *state, &g, rows, 3);
    assert_true(v.compiled);
    assert_int_equal(v.figures[FIGURE_KERNELS], 2);
    assert_int_equal(v.figures[FIGURE_WORKSPACE], 3);
    assert_int_equal(v.figures[FIGURE_CODE], 4);
    assert_int_equal(v.figures[FIGURE_COMPILE_TIME], 5);
    judge_check(&v, *state, &g, rows + 2, 1);
    assert_false(v.compiled);
    judge_check(&v, *state, &g, NULL, 0);
    assert_false(v.compiled);
}

/* `count` pairs around this ratio, with a spread of one percent. */
static void make_pairs(struct pair_row *pairs, size_t count, double ratio)
{
    static const double spread[] = {-0.01, 0.01, 0.004, -0.004, 0.007, -0.007, 0, 0.002};
    for (size_t i = 0; i < count; i++)
        pairs[i] = (struct pair_row){
            .anchor_ns = 1000000,
            .candidate_ns = (int64_t)(1e6 * ratio * exp(spread[i % COUNT_OF(spread)]))};
}

static struct speed_judgement speed(struct arena *a, const struct gate *g, size_t count,
                                    double ratio)
{
    struct pair_row pairs[64];
    struct speed_judgement j;
    make_pairs(pairs, count, ratio);
    judge_speed(&j, a, g, pairs, count);
    return j;
}

static void judge_speed__separates_the_four(void **state)
{
    struct gate g = gate(*state);
    struct speed_judgement j = speed(*state, &g, 24, 1.10);
    assert_int_equal(j.verdict, SPEED_REGRESSED);
    assert_true(j.blocks);
    assert_null(strstr(j.reason, "below"));
    j = speed(*state, &g, 24, 1.035); /* real, but below what blocks */
    assert_int_equal(j.verdict, SPEED_REGRESSED);
    assert_false(j.blocks);
    assert_non_null(strstr(j.reason, "below the gate's"));
    assert_int_equal(speed(*state, &g, 24, 0.90).verdict, SPEED_IMPROVED);
    j = speed(*state, &g, 24, 1.00);
    assert_int_equal(j.verdict, SPEED_EQUIVALENT);
    assert_null(strstr(j.reason, "below"));
    assert_int_equal(speed(*state, &g, 6, 1.02).verdict, SPEED_INCONCLUSIVE);
    assert_int_equal(speed(*state, &g, 1, 3).verdict, SPEED_MISSING);
    assert_int_not_equal(speed(*state, &g, 2, 3).verdict, SPEED_MISSING);
}

static void judge_wants_more__only_where_it_could_matter(void **state)
{
    struct gate g = gate(*state);
    struct speed_judgement slow = speed(*state, &g, 6, 1.06), fast = speed(*state, &g, 6, 0.93),
                           same = speed(*state, &g, 6, 1.0), none = speed(*state, &g, 0, 1.0);
    assert_true(judge_wants_more(&g, &slow));
    assert_true(judge_wants_more(&g, &fast));
    assert_false(judge_wants_more(&g, &same));
    assert_false(judge_wants_more(&g, &none));
    slow.effect.error = 0; /* nothing is known of the spread */
    assert_false(judge_wants_more(&g, &slow));
}

static void judge_may_block__until_it_is_excluded(void **state)
{
    struct gate g = gate(*state);
    struct speed_judgement same = speed(*state, &g, 6, 1.0), slow = speed(*state, &g, 6, 1.06),
                           few = speed(*state, &g, 2, 1.0), none = speed(*state, &g, 0, 1.0);
    assert_false(judge_may_block(&g, &same));
    assert_true(judge_may_block(&g, &slow));
    assert_true(judge_may_block(&g, &few)); /* one degree of freedom excludes little */
    assert_false(judge_may_block(&g, &none));
    same.effect.error = 0.05; /* as on a machine with neighbours */
    assert_true(judge_may_block(&g, &same));
}

static void judge_is_beyond_doubt__never_near_the_gate(void **state)
{
    struct gate g = gate(*state);
    struct speed_judgement thrice = speed(*state, &g, 6, 3.0), half = speed(*state, &g, 6, 0.5),
                           near = speed(*state, &g, 6, 1.08), none = speed(*state, &g, 0, 1.0);
    assert_true(judge_is_beyond_doubt(&g, &thrice));
    assert_true(judge_is_beyond_doubt(&g, &half));
    assert_false(judge_is_beyond_doubt(&g, &near));
    assert_false(judge_is_beyond_doubt(&g, &none));
}

static void judge_model__adds_its_layers(void **state)
{
    struct gate g = gate(*state);
    struct speed_judgement slow = speed(*state, &g, 24, 1.5),
                           same = {.verdict = SPEED_IDENTICAL_CODE, .base_ns = 2e6, .head_ns = 2e6},
                           lost = {.verdict = SPEED_MISSING}, j;
    struct judge_layer layers[2] = {{.count = 2, .judgement = &slow},
                                    {.count = 1, .judgement = &same}};
    judge_model(&j, *state, &g, layers, 2);
    assert_int_equal(j.verdict, SPEED_REGRESSED);
    assert_true(fabs(j.base_ns - 4e6) < 1 && fabs(j.head_ns - 5e6) < 1e4);
    assert_true(fabs(j.effect.mean - log(5.0 / 4.0)) < 0.01);
    assert_true(fabs(j.effect.error - 3.0 / 5.0 * slow.effect.error) < 1e-4); /* by share of time */
    assert_true(j.effect.low < j.effect.mean && j.effect.mean < j.effect.high);
    assert_true(fabs(j.effect.mean - j.effect.low - (j.effect.high - j.effect.mean)) < 1e-12);
    judge_model(&j, *state, &g, layers, 1);
    assert_int_equal(j.verdict, SPEED_REGRESSED);
    struct speed_judgement quick = {.verdict = SPEED_EQUIVALENT, .base_ns = 1, .head_ns = 1};
    struct judge_layer smallest = {.count = 1, .judgement = &quick};
    judge_model(&j, *state, &g, &smallest, 1);
    assert_int_equal(j.verdict, SPEED_EQUIVALENT);
    quick.base_ns = 0;
    judge_model(&j, *state, &g, &smallest, 1);
    assert_int_equal(j.verdict, SPEED_MISSING);
    quick.base_ns = 1;
    quick.head_ns = 0;
    judge_model(&j, *state, &g, &smallest, 1);
    assert_int_equal(j.verdict, SPEED_MISSING);
    struct speed_judgement few = speed(*state, &g, 6, 1.5);
    struct judge_layer unequal[2] = {{.count = 1, .judgement = &few},
                                     {.count = 1, .judgement = &slow}};
    judge_model(&j, *state, &g, unequal, 2); /* as sure as its least sure layer */
    assert_int_equal(j.effect.pairs, 6);
    assert_true(j.effect.freedom == few.effect.freedom);
    judge_model(&j, *state, &g, layers, 0);
    assert_int_equal(j.verdict, SPEED_MISSING);
    layers[0].judgement = &same;
    judge_model(&j, *state, &g, layers, 2);
    assert_int_equal(j.verdict, SPEED_IDENTICAL_CODE);
    layers[1].judgement = &lost;
    judge_model(&j, *state, &g, layers, 2);
    assert_int_equal(j.verdict, SPEED_MISSING);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(judge_check__takes_the_worst),
        TEST(judge_check__holds_real_data_against_the_gate),
        TEST(judge_check__needs_elements_to_forgive),
        TEST(judge_check__never_forgives_damage),
        TEST(judge_check__keeps_the_words_of_the_row),
        TEST(judge_check__mistrusts_zeros),
        TEST(judge_check__sees_unsteadiness_over_rounds),
        TEST(judge_change__names_every_step),
        TEST(judge_change__holds_for_every_pair),
        TEST(check_change__blocks_by_the_gate),
        TEST(judge_coverage__counts_both_ends),
        TEST(judge_figure__lists_what_grew_beyond_the_gate),
        TEST(judge_figure__sees_what_comes_from_nothing),
        TEST(judge_check__takes_figures_of_the_first_round),
        TEST(judge_speed__separates_the_four),
        TEST(judge_wants_more__only_where_it_could_matter),
        TEST(judge_may_block__until_it_is_excluded),
        TEST(judge_is_beyond_doubt__never_near_the_gate),
        TEST(judge_model__adds_its_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
