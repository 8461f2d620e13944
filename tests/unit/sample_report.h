/* sample_report: a report as a gate on a pull request would fill it, shared by the tests of the
 * printers: three blames (a wrong border, PROVEN; a slow loop, CONFIRMED; a RANGE behind commits
 * that do not build), 2 models and 10 problems timed, 40 problems checked. Also: the comparison
 * with the golden files in tests/data/reports. After a wanted change: ASSAY_BLESS=1 meson test,
 * then read the diff.
 */
#ifndef ASSAY_SAMPLE_REPORT_H
#define ASSAY_SAMPLE_REPORT_H

#include "test.h"

#include "reports/report.h"
#include "src/mem.h"

#define SAMPLE_AGAIN "assay again --candidate pebble --head 3e5d1f7a90 --problem '"

/* "conv <direction> f32 n32 c<c> k<c> g1 in14x14 fil3x3 ..." */
static inline const char *sample_problem(struct arena *a, size_t i)
{
    static const char *const directions[] = {"fwd", "bwd_data", "bwd_weight"};
    static const char *const layouts[] = {"ngchw gkcyx ngkhw", "nhwgc gkyxc nhwgk"};
    return arena_printf(
        a, "conv %s %s n32 c%zu k%zu g1 in14x14 fil3x3 str%zux1 dil1x1 pad1:%zux1:1 %s",
        directions[i % 3], i % 5 == 4 ? "f16" : "f32", 16 + 16 * (i % 7), 16 + 8 * (i % 11),
        1 + i % 2, i % 3, layouts[i % 2]);
}

static inline const char *sample_again(struct arena *a, const char *problem)
{
    return arena_printf(a, SAMPLE_AGAIN "%s'", problem);
}

static inline const char **sample_problems(struct arena *a, size_t from, size_t count)
{
    const char **problems = arena_array(a, count, sizeof *problems);
    for (size_t i = 0; i < count; i++)
        problems[i] = sample_problem(a, from + i);
    return problems;
}

static const struct report_commit sample_commits[] = {
    {"41d0c9e2f35b8a7160e4d2c3b9a8f7e6d5c4b3a2", "tune: larger tiles for layers with few channels",
     "Noor Haddad", "2025-02-17"},
    {"5a7be01c93d2f4e6a8b0c1d2e3f405162738495a", "ir: name the values of a kernel after the axes",
     "Jonas Lind", "2025-02-19"},
    {"7c31f0aa4be59d2c6f8e7a1b0c9d8e7f6a5b4c3d", "lower: one loop nest for all layouts",
     "Mei Tanaka", "2025-02-21"},
    {"8f94d2b7e1a3c5096b8d7f2e4c1a0b9d8e7f6c5b", "driver: say which option string was refused",
     "Noor Haddad", "2025-02-24"},
    {"6b1f0c9a2e8d7c5b4a39281706f5e4d3c2b1a098",
     "lower: share the border predicate between rows and columns", "Ada Okafor", "2025-02-25"},
    {"c2d58e07f16a9b3c4d5e6f708192a3b4c5d6e7f8",
     "lower: hoist address arithmetic out of the reduction", "Jonas Lind", "2025-02-27"},
    {"d9e0a45b7c821f3e6d5c4b3a29180f7e6d5c4b3a", "opt: run the vectoriser after unrolling",
     "Mei Tanaka", "2025-03-01"},
    {"e4b7c6d5a09f8e1d2c3b4a5968778695a4b3c2d1", "opt: new pass manager, same passes", "Ada Okafor",
     "2025-03-02"},
    {"3e5d1f7a90b2c4d6e8f0a1b2c3d4e5f60718293a", "api: report the workspace size in bytes",
     "Noor Haddad", "2025-03-04"},
};

static const struct report_step sample_border_steps[] = {
    {.answer = "good", .tone = TONE_GOOD, .detail = "exact"},
    {.answer = "good", .tone = TONE_GOOD, .detail = "exact"},
    {.answer = "good", .tone = TONE_GOOD, .detail = "exact, 2 fresh builds"},
    {.answer = "bad",
     .tone = TONE_BAD,
     .detail = "mismatch: border, 1,024 of 65,536 off; 2 fresh builds"},
    {.answer = "bad", .tone = TONE_BAD, .detail = "mismatch: border, 1,024 of 65,536 off"},
    {.answer = "bad", .tone = TONE_BAD, .detail = "mismatch: border, 1,024 of 65,536 off"},
};
static const struct report_step sample_slow_steps[] = {
    {.answer = "good", .tone = TONE_GOOD, .detail = "ratio 1.00 [0.99, 1.01], 6 pairs"},
    {.answer = "good", .tone = TONE_GOOD, .detail = "ratio 1.00 [0.99, 1.02], 12 pairs"},
    {.answer = "bad", .tone = TONE_BAD, .detail = "ratio 3.08 [3.01, 3.15], 12 pairs"},
    {.answer = "bad", .tone = TONE_BAD, .detail = "ratio 3.11 [3.04, 3.19], 6 pairs"},
};
static const struct report_step sample_range_steps[] = {
    {.answer = "good", .tone = TONE_GOOD, .detail = "exact"},
    {.answer = "skip: build-error: opt/vectorise.c:212: too few arguments to function 'loop_split'",
     .tone = TONE_DOUBT},
    {.answer = "skip: build-error: opt/vectorise.c:212: too few arguments to function 'loop_split'",
     .tone = TONE_DOUBT},
    {.answer = "bad", .tone = TONE_BAD, .detail = "crash: SIGSEGV in kernel 0"},
};

static inline void sample_steps(struct arena *a, struct report_blame *blame,
                                const struct report_step *steps, size_t count,
                                const size_t *commits)
{
    blame->steps = ARENA_ARRAY(a, count, struct report_step);
    for (size_t i = 0; i < count; i++) {
        blame->steps[i] = steps[i];
        blame->steps[i].commit = sample_commits[commits[i]];
    }
    blame->step_count = count;
}

static inline void sample_blames(struct arena *a, struct report *r)
{
    struct report_blame *blames = ARENA_ARRAY(a, 3, struct report_blame);
    blames[0] = (struct report_blame){
        .what = "mismatch (border)",
        .level = "PROVEN",
        .tone = TONE_BAD,
        .culprit = sample_commits[4],
        .error_probability = 1.2e-6,
        .because = "Its parent 8f94d2b7e1 is good and it is bad in fresh builds; head with this "
                   "commit reverted is good again.",
        .problems = sample_problems(a, 0, 9),
        .problem_count = 9,
        .builds = 7,
        .runs = 63,
        .theirs = "pebble-driver --operation conv2d --padding_h_l 1 --padding_h_r 0 --arch "
                  "x86-64-v3 --verify",
    };
    sample_steps(a, &blames[0], sample_border_steps, COUNT_OF(sample_border_steps),
                 (const size_t[]){0, 2, 3, 4, 6, 8});
    blames[1] = (struct report_blame){
        .what = "slower by 3.1x",
        .level = "CONFIRMED",
        .tone = TONE_BAD,
        .culprit = sample_commits[5],
        .error_probability = 0.0004,
        .because = "Its parent is as fast as the base and it is 3.1 times slower in fresh builds. "
                   "A revert at head conflicts in "
                   "lower_fwd.c.",
        .problems = sample_problems(a, 20, 2),
        .problem_count = 2,
        .builds = 4,
        .runs = 72,
    };
    sample_steps(a, &blames[1], sample_slow_steps, COUNT_OF(sample_slow_steps),
                 (const size_t[]){0, 4, 5, 8});
    blames[2] = (struct report_blame){
        .what = "crash (SIGSEGV)",
        .level = "RANGE",
        .tone = TONE_DOUBT,
        .error_probability = 0.011,
        .because = "Two commits between the last good and the first bad one do not build.",
        .problems = sample_problems(a, 12, 1),
        .problem_count = 1,
        .builds = 4,
        .runs = 12,
        .suspect_count = 3,
    };
    blames[2].suspects = ARENA_ARRAY(a, 3, struct report_commit);
    memcpy(blames[2].suspects, &sample_commits[6], 3 * sizeof *blames[2].suspects);
    sample_steps(a, &blames[2], sample_range_steps, COUNT_OF(sample_range_steps),
                 (const size_t[]){5, 6, 7, 8});
    for (size_t i = 0; i < 3; i++)
        blames[i].again = arena_printf(
            a, "assay bisect --candidate pebble --good 41d0c9e2f3 --bad 3e5d1f7a90 --problem '%s'",
            blames[i].problems[0]);
    r->blames = blames;
    r->blame_count = 3;
}

static inline void sample_speeds(struct arena *a, struct report *r)
{
    static const struct report_speed rows[] = {
        {.test = "resnet50",
         .batch = 64,
         .unit = "images/s",
         .rate_new = 101.24,
         .rate_old = 123.01,
         .change = -0.177,
         .change_low = -0.189,
         .change_high = -0.165,
         .compare = "regressed",
         .tone = TONE_BAD,
         .pairs = 12,
         .model = true,
         .reason = "The interval lies below -3 %.",
         .again = "assay compare --candidate sling --model resnet50",
         .theirs = "sling-driver perf resnet50 --batch 64"},
        {.test = "densenet121",
         .batch = 32,
         .unit = "images/s",
         .rate_new = 211.8,
         .rate_old = 210.5,
         .change = 0.006,
         .change_low = -0.004,
         .change_high = 0.016,
         .compare = "equivalent",
         .tone = TONE_GOOD,
         .pairs = 12,
         .model = true,
         .reason = "The interval lies within 3 %.",
         .again = "assay compare --candidate sling --model densenet121"},
        {.rate_new = 8.012,
         .rate_old = 24.91,
         .change = -0.678,
         .change_low = -0.686,
         .change_high = -0.669,
         .compare = "regressed",
         .tone = TONE_BAD,
         .pairs = 12,
         .reason = "The interval lies below -3 %."},
        {.rate_new = 8.533,
         .rate_old = 24.12,
         .change = -0.646,
         .change_low = -0.659,
         .change_high = -0.632,
         .compare = "regressed",
         .tone = TONE_BAD,
         .pairs = 12,
         .reason = "The interval lies below -3 %."},
        {.rate_new = 0,
         .rate_old = 19.5,
         .compare = "missing",
         .tone = TONE_BAD,
         .reason = "The new build crashed: SIGSEGV in kernel 0."},
        {.rate_new = 21.9,
         .rate_old = 22.4,
         .change = -0.022,
         .change_low = -0.061,
         .change_high = 0.019,
         .compare = "inconclusive",
         .tone = TONE_DOUBT,
         .pairs = 40,
         .reason = "The interval reaches across -3 % after all 40 pairs."},
        {.rate_new = 31.07,
         .rate_old = 22.7,
         .change = 0.369,
         .change_low = 0.351,
         .change_high = 0.387,
         .compare = "improved",
         .tone = TONE_GOOD,
         .pairs = 12,
         .reason = "The interval lies above +3 %."},
        {.rate_new = 26.1,
         .rate_old = 26.04,
         .change = 0.002,
         .change_low = -0.006,
         .change_high = 0.011,
         .compare = "equivalent",
         .tone = TONE_GOOD,
         .pairs = 12,
         .reason = "The interval lies within 3 %."},
        {.rate_new = 26.4,
         .rate_old = 26.5,
         .change = -0.004,
         .change_low = -0.012,
         .change_high = 0.005,
         .compare = "equivalent",
         .tone = TONE_GOOD,
         .pairs = 12,
         .reason = "The interval lies within 3 %."},
        {.rate_new = 24.02,
         .rate_old = 24.02,
         .change = 0,
         .change_low = 0,
         .change_high = 0,
         .compare = "identical code",
         .tone = TONE_GOOD,
         .reason = "Both commits made the same code object."},
    };
    r->speed_count = COUNT_OF(rows);
    r->speeds = ARENA_ARRAY(a, COUNT_OF(rows), struct report_speed);
    memcpy(r->speeds, rows, sizeof rows);
    for (size_t i = 2; i < r->speed_count; i++) {
        r->speeds[i].test = sample_problem(a, 18 + i);
        r->speeds[i].batch = 32;
        r->speeds[i].unit = "GFLOP/s";
        r->speeds[i].again = sample_again(a, r->speeds[i].test);
    }
}

static inline void sample_checks(struct arena *a, struct report *r)
{
    r->check_count = 40;
    r->checks = ARENA_ARRAY(a, r->check_count, struct report_check);
    for (size_t i = 0; i < r->check_count; i++) {
        struct report_check *check = &r->checks[i];
        check->problem = sample_problem(a, i);
        check->again = sample_again(a, check->problem);
        check->change = i < 37 ? "passes" : "not applicable";
        check->tone = i < 37 ? TONE_GOOD : TONE_PLAIN;
        check->base = check->head = i < 37 ? "ok" : "not-applicable";
        if (i < 9) {
            check->change = "newly failing";
            check->tone = TONE_BAD;
            check->head = "mismatch: border, 1,024 of 65,536 off, worst 35.2x tolerance";
            check->signature = "mismatch/border/row 0";
            check->theirs =
                "pebble-driver --operation conv2d --padding_h_l 1 --padding_h_r 0 --verify";
        } else if (i == 9) {
            check->change = "newly not applicable";
            check->tone = TONE_BAD;
            check->head = "not-applicable: no handle, though the canary problem has one";
        } else if (i == 10) {
            check->change = "fixed";
            check->base = "mismatch: tile tail, 96 of 65,536 off, worst 4.1x tolerance";
        } else if (i == 11) {
            check->change = "newly applicable";
            check->base = "not-applicable";
        } else if (i == 12) {
            check->change = "newly failing";
            check->tone = TONE_BAD;
            check->head = "crash: SIGSEGV in kernel 0";
            check->signature = "crash/SIGSEGV";
        }
    }
}

static inline void sample_states(struct arena *a, struct report *r)
{
    static struct report_state states[] = {
        {"passes", 35, 26},
        {"fails", 1, 10},
        {"not applicable", 4, 4},
        {"no result", 0, 0},
    };
    static const struct report_figure figures[] = {
        {.name = "kernels", .unit = "", .base = 41, .head = 41, .compared = 36,
         .tone = TONE_PLAIN},
        {.name = "workspace", .unit = "bytes", .head = 1572864, .compared = 36},
        {.name = "code", .unit = "bytes", .base = 421888, .head = 409600, .compared = 36,
         .beyond = 0.1, .shrank_count = 2, .tone = TONE_PLAIN},
        {.name = "compile time", .unit = "ns", .base = 12310000000, .head = 14020000000,
         .compared = 36, .beyond = 0.5, .shrank_count = 1,
         .note = "one sample a problem, so it only informs"},
    };
    r->states = states;
    r->state_count = COUNT_OF(states);
    r->coverage = "The share of not-applicable is the same at base and at head: 4 of 40 (10.0 %).";
    r->coverage_tone = TONE_PLAIN;
    r->figure_count = COUNT_OF(figures);
    r->figures = ARENA_ARRAY(a, COUNT_OF(figures), struct report_figure);
    memcpy(r->figures, figures, sizeof figures);
    struct report_figure *workspace = &r->figures[1], *compile = &r->figures[3];
    workspace->grew = ARENA_ARRAY(a, 1, struct report_growth);
    workspace->grew_count = 1;
    workspace->grew[0] = (struct report_growth){sample_problem(a, 20), 0, 1572864};
    compile->grew = ARENA_ARRAY(a, 5, struct report_growth);
    compile->grew_count = 5;
    for (size_t i = 0; i < 5; i++)
        compile->grew[i] = (struct report_growth){sample_problem(a, 20 + i), 120000000,
                                                  700000000 - (int64_t)i * 100000000};
    workspace->tone = compile->tone = TONE_DOUBT;
}

static inline void sample_facts(struct report *r)
{
    static struct report_fact counts[] = {
        {"newly failing", "10"}, {"newly not applicable", "1"},
        {"newly applicable", "1"}, {"fixed", "1"}, {"passes", "24"},
        {"not applicable", "3"}, {"regressed", "3"},
        {"improved", "1"},       {"inconclusive", "1"},
        {"equivalent", "3"},     {"identical code", "1"},
        {"missing", "1"},
    };
    static struct report_fact facts[] = {
        {"candidate", "pebble (driver miir), Release"},
        {"machine", "cpu: x86-64-v3, hip-cpu 6.0, 16 cores, pinned to core 3"},
        {"toolchain", "cc 12.2.0, LLVM 22.1.0"},
        {"data", "integer and real, seed 1"},
        {"gate", "configs/gates/default.yaml: 3 % for models, 5 % for problems"},
        {"false alarms", "0 of 200 comparisons of a build with itself"},
        {"took", "14 min 20 s: 11 builds, 147 runs"},
    };
    r->facts = facts;
    r->fact_count = COUNT_OF(facts);
    r->counts = counts;
    r->count_count = COUNT_OF(counts);
}

/* Memory of `a`, but for what is constant. */
static inline struct report sample_report(struct arena *a)
{
    struct report r = {
        .title = "pebble: 3e5d1f7a90 against 41d0c9e2f3",
        .verdict = "REGRESSED: 10 of 40 problems newly fail, 3 of 10 rates fell: action needed",
        .tone = TONE_BAD,
        .recommendation = "This build is not recommended to merge: 6b1f0c9a2e breaks the border of "
                          "9 problems, c2d58e07f1 makes 2 problems "
                          "3.1 times slower, and one crash is not yet pinned to a commit.",
        .base = sample_commits[0],
        .head = sample_commits[8],
        .command = "assay report --base 41d0c9e2f3 --head 3e5d1f7a90 --html report.html",
    };
    sample_facts(&r);
    sample_blames(a, &r);
    sample_speeds(a, &r);
    sample_checks(a, &r);
    sample_states(a, &r);
    r.configuration_count = r.check_count;
    r.configurations = sample_problems(a, 0, r.configuration_count);
    return r;
}

/* Text that tries to leave its place in every format. */
#define HOSTILE                                                                                    \
    "<script>alert(\"1\")</script> a|b `tick` ``` **bold** @who #12\n# line\t\x1b[31mred\x1b[0m "  \
    "\xff\xc3\x28 \xe2\x80\xaegnp.exe '&amp;' \\| ✓"

static inline struct report_commit hostile_commit(void)
{
    return (struct report_commit){
        .sha = HOSTILE, .subject = HOSTILE, .author = HOSTILE, .date = HOSTILE};
}

/* Every text of the sample replaced by HOSTILE. */
static inline struct report hostile_report(struct arena *a)
{
    struct report r = sample_report(a);
    static struct report_fact facts[] = {{HOSTILE, HOSTILE}, {HOSTILE, HOSTILE}};
    static const char *lines[] = {HOSTILE, HOSTILE, HOSTILE, HOSTILE};
    r.title = r.verdict = r.recommendation = r.command = HOSTILE;
    r.base = r.head = hostile_commit();
    r.facts = r.counts = facts;
    r.fact_count = r.count_count = 2;
    r.configurations = lines;
    r.configuration_count = 4;
    for (size_t i = 0; i < r.blame_count; i++) {
        struct report_blame *b = &r.blames[i];
        b->what = b->level = b->because = b->again = b->theirs = HOSTILE;
        b->culprit = i < 2 ? hostile_commit() : (struct report_commit){0};
        b->problems = lines;
        b->problem_count = 4;
        for (size_t k = 0; k < b->suspect_count; k++)
            b->suspects[k] = hostile_commit();
        for (size_t k = 0; k < b->step_count; k++)
            b->steps[k] = (struct report_step){hostile_commit(), HOSTILE, TONE_BAD, HOSTILE};
    }
    for (size_t i = 0; i < r.speed_count; i++) {
        struct report_speed *s = &r.speeds[i];
        s->test = s->unit = s->compare = s->reason = s->again = s->theirs = HOSTILE;
    }
    for (size_t i = 0; i < r.check_count; i++) {
        struct report_check *c = &r.checks[i];
        c->problem = c->change = c->base = c->head = c->signature = c->again = c->theirs = HOSTILE;
    }
    for (size_t i = 0; i < r.figure_count; i++) {
        struct report_figure *f = &r.figures[i];
        f->name = f->note = HOSTILE;
        for (size_t k = 0; k < f->grew_count; k++)
            f->grew[k].problem = HOSTILE;
    }
    static struct report_state states[] = {{HOSTILE, 1, 2}, {HOSTILE, 2, 2}};
    r.states = states;
    r.state_count = 2;
    r.coverage = HOSTILE;
    return r;
}

static inline size_t count_of(const char *in, const char *what)
{
    size_t count = 0;
    for (const char *at = strstr(in, what); at; at = strstr(at + strlen(what), what))
        count++;
    return count;
}

static inline void assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("lacks \"%s\"", part);
}

static inline void assert_lacks(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("contains \"%s\"", part);
}

static inline void golden_read(struct buf *out, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("no golden file %s", path);
    char bytes[4096];
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, file)) > 0;)
        buf_add(out, bytes, n);
    fclose(file);
}

/* The text is, byte for byte, the file tests/data/reports/<name>. */
static inline void assert_golden(const char *name, const struct buf *text)
{
    const char *data = getenv("ASSAY_TEST_DATA");
    char path[4096];
    snprintf(path, sizeof path, "%s/reports/%s", data ? data : "tests/data", name);
    if (getenv("ASSAY_BLESS")) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        fwrite(text->data, 1, text->length, file);
        assert_int_equal(fclose(file), 0);
    }
    struct buf golden;
    buf_init(&golden, BUF_MAX_REPORT);
    golden_read(&golden, path);
    size_t same = 0;
    while (same < golden.length && same < text->length && golden.data[same] == text->data[same])
        same++;
    if (golden.length != text->length || same != text->length)
        fail_msg("%s differs at byte %zu: \"%.60s\" instead of \"%.60s\"", path, same,
                 text->data + same, golden.data + same);
    buf_release(&golden);
}

#endif
