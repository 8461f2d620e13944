/* judge: rows to verdicts with reasons, by the gate. Measures nothing; a changed gate judges old rows anew.
 */
#ifndef ASSAY_JUDGE_H
#define ASSAY_JUDGE_H

#include "harness/config.h"
#include "harness/stats.h"
#include "harness/store.h"

/* What the rows of one problem at one build (its data kinds, its rounds) say together. */
struct check_verdict {
    enum outcome outcome; /* the worst; UNSTEADY when rounds disagree; MISSING without rows */
    enum stage stage;
    const char *detail;   /* one sentence */
    const char *signature;
    const char *code;     /* id of the generated code, "" if none or if rounds differ */
    int64_t row;          /* the row that says so, for `assay show` */
};
void judge_check(struct check_verdict *out, struct arena *a, const struct gate *g, const struct result_row *rows, size_t count);

enum check_change { CHECK_PASSES, CHECK_NEWLY_FAILING, CHECK_FIXED, CHECK_STILL_FAILING, CHECK_FAILS_OTHERWISE, CHECK_NOT_APPLICABLE,
                    CHECK_NEWLY_NOT_APPLICABLE, CHECK_NEWLY_APPLICABLE, CHECK_MISSING };
enum check_change judge_change(const struct check_verdict *base, const struct check_verdict *head);
const char *check_change_words(enum check_change c);
/* Does this change block? Newly failing, failing otherwise, newly not applicable and missing do. */
bool check_change_blocks(enum check_change c);

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
