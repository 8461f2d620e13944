/* judge: rows to verdicts with reasons, by the gate. Measures nothing; a changed gate judges old rows anew.
 */
#ifndef ASSAY_JUDGE_H
#define ASSAY_JUDGE_H

#include "harness/config.h"
#include "harness/stats.h"
#include "harness/store.h"

/* What a problem's code takes beside its time: how many kernels, bytes, bytes, ns. */
enum figure { FIGURE_KERNELS, FIGURE_WORKSPACE, FIGURE_CODE, FIGURE_COMPILE_TIME, FIGURE_COUNT };

/* What the rows of one problem at one build (its data kinds, its rounds) say together. */
struct check_verdict {
    enum outcome outcome; /* the worst; UNSTEADY when rounds disagree; MISSING without rows */
    enum stage stage;
    const char *detail;   /* one sentence */
    const char *signature;
    const char *code;     /* id of the generated code, "" if none or if rounds differ */
    int64_t row;          /* the row that says so, for `assay show` */
    bool compiled;        /* the figures are there: the first round that made code says them */
    int64_t figures[FIGURE_COUNT];
};
void judge_check(struct check_verdict *out, struct arena *a, const struct gate *g, const struct result_row *rows, size_t count);

/* "mismatch: 9 of 128 off ...". */
const char *judge_describe(struct arena *a, const struct check_verdict *v);

enum check_change { CHECK_PASSES, CHECK_NEWLY_FAILING, CHECK_FIXED, CHECK_STILL_FAILING, CHECK_FAILS_OTHERWISE, CHECK_NOT_APPLICABLE,
                    CHECK_NEWLY_NOT_APPLICABLE, CHECK_NEWLY_APPLICABLE, CHECK_MISSING };
enum check_change judge_change(const struct check_verdict *base, const struct check_verdict *head);
const char *check_change_words(enum check_change c);
/* What the gate makes of a finding: nothing, never green, or it blocks. */
enum gate_answer { GATE_PASSES, GATE_DOUBTS, GATE_BLOCKS };
/* Newly failing and failing otherwise block; of newly not applicable and missing the gate says. */
enum gate_answer check_change_answer(const struct gate *g, enum check_change c);
bool check_change_blocks(const struct gate *g, enum check_change c);
/* Newly not applicable, newly applicable or missing: a change of what can be done, not of what is right. */
bool check_change_is_coverage(enum check_change c);
/* Worth a search for its commit: newly failing, failing otherwise, newly not applicable, whatever the gate says. */
bool check_change_is_worse(enum check_change c);

/* One problem at both builds. */
struct judge_sides {
    const struct check_verdict *base, *head;
};
/* What each build makes of the problems. The share of not-applicable changed when their number did: both builds are asked the same. */
struct coverage_judgement {
    int64_t problems;
    struct coverage_side {
        int64_t passes, fails, not_applicable, missing;
    } base, head;
    bool share_changed;
    enum gate_answer share_answer; /* to the changed share: PASSES when it did not change */
};
void judge_coverage(struct coverage_judgement *out, const struct gate *g, const struct judge_sides *sides, size_t count);
/* One figure over all problems that both builds compiled. */
struct figure_judgement {
    int64_t compared;
    int64_t base, head; /* totals */
    size_t *grew;       /* indices into sides of those beyond the gate's threshold, the worst first */
    size_t grew_count, shrank_count;
    bool blocks;
};
void judge_figure(struct figure_judgement *out, struct arena *a, const struct gate *g, enum figure which, const struct judge_sides *sides,
                  size_t count);
const struct gate_figure *gate_figure_of(const struct gate *g, enum figure which);

enum speed_verdict { SPEED_REGRESSED, SPEED_IMPROVED, SPEED_EQUIVALENT, SPEED_INCONCLUSIVE, SPEED_IDENTICAL_CODE, SPEED_MISSING };
struct speed_judgement {
    enum speed_verdict verdict;
    struct stats_effect effect; /* log ratio t_head / t_base */
    double base_ns, head_ns;    /* medians over pairs */
    bool blocks;                /* REGRESSED by at least gate.speed.regression */
    const char *reason;
};
/* One problem's pairs. REGRESSED when the whole interval lies above ln(1 + minimum_effect), IMPROVED when it lies below its negative,
 * EQUIVALENT when it lies between the two, else INCONCLUSIVE. */
void judge_speed(struct speed_judgement *out, struct arena *a, const struct gate *g, const struct pair_row *pairs, size_t count);
/* Could the truth be a slow-down that the gate blocks? Not when one has a one-sided p below 0.05: until then noise may hide it. */
bool judge_may_block(const struct gate *g, const struct speed_judgement *j);
/* Is it worth `confirm_pairs` fresh pairs? When an effect beyond minimum_effect has a one-sided p below 0.2 (facts/bisection.md 4(c)2); the verdict is then
 * taken from the fresh pairs alone, since the screen picked its own extremes. */
bool judge_wants_more(const struct gate *g, const struct speed_judgement *screen);
/* Is an effect so far beyond the gate's regression, slower or faster, that the rest of `confirm_pairs` can be saved? One-sided p below 1e-5, so that looking
 * several times does no harm. */
bool judge_is_beyond_doubt(const struct gate *g, const struct speed_judgement *j);
const char *speed_verdict_words(enum speed_verdict v);
/* A model's: the sum over layers of count * time. Its error is that of independent layers: the share of each in the time, times its own error, added in
 * squares. Layers with identical code have the same time on both sides. MISSING when a layer is. */
struct judge_layer {
    int64_t count;
    const struct speed_judgement *judgement;
};
void judge_model(struct speed_judgement *out, struct arena *a, const struct gate *g, const struct judge_layer *layers, size_t count);

#endif
