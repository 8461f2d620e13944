#include "harness/hunt_internal.h"

#include "harness/progress.h"

#include <inttypes.h>
#include <math.h>

static int build_to_confirm(struct artifact *out, struct chase *c, size_t commit)
{
    unsigned flags = c->runner->gate->bisect.clean ? BUILD_CLEAN : 0;
    return build_commit(out, c->arena, c->hunt->builder, c->range.commits[commit].sha, flags);
}

/* True when every fresh compile answers as wanted. Each run is told to the bisection, for the
 * posterior. */
static int repeat_checks(bool *all, struct chase *c, struct quarry *q,
                         const struct artifact *artifact, size_t commit, enum bisect_answer wanted)
{
    int64_t runs = c->runner->gate->bisect.confirm_runs;
    int64_t first = HUNT_MAX_ROUND * (c->hunt->round + 1) + 1;
    struct plan *plans = ARENA_ARRAY(c->arena, (size_t)runs, struct plan);
    int status = 0;
    *all = artifact->outcome == OUTCOME_OK;
    for (int64_t i = 0; i < runs && status == 0 && *all; i++)
        status = hunt_plan_checks(&plans[i], c, artifact, q, first + i);
    if (status == 0 && *all)
        status = hunt_run_together(c, plans, (size_t)runs);
    for (int64_t i = 0; i < runs && status == 0 && *all; i++) {
        struct check_verdict v;
        status = hunt_check_at(&v, c, artifact, q, first + i);
        if (status < 0)
            return status;
        enum bisect_answer answer = hunt_answer_of(q, &v);
        bisect_tell(c->bisect, q->index, commit, answer);
        q->runs++;
        *all = answer == wanted;
    }
    return status;
}

static int confirm_correctness(struct confirmation *out, struct chase *c, struct quarry *q,
                               const struct artifact *parent_build,
                               const struct artifact *culprit_build, size_t parent, size_t culprit)
{
    int status = repeat_checks(&out->parent_good, c, q, parent_build, parent, BISECT_GOOD);
    return status < 0 ? status
                      : repeat_checks(&out->culprit_bad, c, q, culprit_build, culprit, BISECT_BAD);
}

/* Culprit against parent directly, in fresh pairs: at least half the effect between the ends must
 * lie between these two. */
static int confirm_speed(struct confirmation *out, struct chase *c, struct quarry *q,
                         const struct artifact *parent_build, const struct artifact *culprit_build,
                         size_t culprit)
{
    const struct gate *g = c->runner->gate;
    struct timing_request t = {.session = arena_printf(c->arena, "%s/confirm", q->session),
                               .anchor = parent_build,
                               .artifact = culprit_build,
                               .problem = q->what->problem,
                               .variant = q->what->variant,
                               .pairs = g->speed.confirm_pairs};
    struct stats_effect e;
    enum outcome outcome;
    const char *detail;
    double least = log1p(g->speed.minimum_effect) / 2;
    int status = hunt_measure(&e, &outcome, &detail, c, t, least);
    if (status < 0 || outcome != OUTCOME_OK)
        return status;
    q->runs++;
    out->parent_good = out->culprit_bad = e.low > least;
    if (out->culprit_bad) {
        q->effect = e.mean;
        double error = stats_t_tail((e.mean - least) / e.error, e.freedom);
        bisect_tell_odds(c->bisect, q->index, culprit, BISECT_BAD, error);
    }
    out->note = hunt_describe_effect(c->arena, &e);
    return 0;
}

/* Does the bad end work again with the culprit's change undone? */
static int try_revert(struct confirmation *out, struct chase *c, struct quarry *q, size_t culprit)
{
    char tree[REPO_SHA_SIZE];
    bool applies;
    const char *sha = c->range.commits[culprit].sha;
    int status =
        repo_reverted_tree(tree, &applies, builder_repo(c->hunt->builder), sha, c->hunt->bad);
    if (status < 0 || !applies)
        return status;
    struct artifact reverted;
    status = build_tree(&reverted, c->arena, c->hunt->builder, tree,
                        arena_printf(c->arena, "%.10s-without-%.10s", c->hunt->bad, sha), 0);
    if (status < 0 || reverted.outcome != OUTCOME_OK)
        return status;
    q->runs++;
    if (!q->what->slower) {
        struct check_verdict v;
        status = hunt_check_at(&v, c, &reverted, q, c->hunt->round);
        if (status < 0)
            return status;
        out->tried_revert = hunt_answer_of(q, &v) != BISECT_SKIP;
        out->revert_repairs = hunt_answer_of(q, &v) == BISECT_GOOD;
        return 0;
    }
    struct timing_request t = hunt_request_pairs(c, q, &c->sites[0].artifact, &reverted,
                                                 c->runner->gate->speed.confirm_pairs);
    struct stats_effect e;
    enum outcome outcome;
    const char *detail;
    status = hunt_measure(&e, &outcome, &detail, c, t, q->effect / 2);
    if (status < 0)
        return status;
    /* Neither repaired nor not: the measurement does not tell, and the level must not claim it. */
    out->tried_revert = outcome == OUTCOME_OK && hunt_lies_beside(&e, q->effect / 2);
    out->revert_repairs = out->tried_revert && e.high < q->effect / 2;
    return 0;
}

int hunt_confirm(struct confirmation *out, struct chase *c, struct quarry *q, size_t culprit)
{
    *out = (struct confirmation){.note = "", .problem = q->what->problem};
    const struct repo_commit *commit = &c->range.commits[culprit];
    if (commit->parent_count == 0) {
        out->note = "its parent lies outside the range";
        return 0;
    }
    size_t parent = commit->parents[0];
    struct artifact parent_build, culprit_build;
    progress_step("confirming %.10s for %s", commit->sha, q->what->problem);
    int status = build_to_confirm(&parent_build, c, parent);
    if (status == 0)
        status = build_to_confirm(&culprit_build, c, culprit);
    if (status < 0)
        return status;
    if (parent_build.outcome != OUTCOME_OK || culprit_build.outcome != OUTCOME_OK) {
        out->note = "a clean build of it or of its parent fails";
        return 0;
    }
    status = q->what->slower
                 ? confirm_speed(out, c, q, &parent_build, &culprit_build, culprit)
                 : confirm_correctness(out, c, q, &parent_build, &culprit_build, parent, culprit);
    if (status == 0 && out->parent_good && out->culprit_bad && c->runner->gate->bisect.revert)
        status = try_revert(out, c, q, culprit);
    return status;
}

bool hunt_is_confirmed(const struct confirmation *k)
{
    return k->parent_good && k->culprit_bad;
}

const char *hunt_level_of(const struct confirmation *k)
{
    if (!hunt_is_confirmed(k))
        return "LIKELY";
    return k->tried_revert && k->revert_repairs ? "PROVEN" : "CONFIRMED";
}

const char *hunt_because_of(struct arena *a, const struct chase *c, const struct quarry *q,
                            const struct confirmation *k, const char *parent)
{
    if (!hunt_is_confirmed(k))
        return arena_printf(a,
                            "the search ends here, but fresh builds of it and its parent %.10s do "
                            "not repeat it%s%s",
                            parent, *k->note ? ": " : "", k->note);
    const char *clean = c->runner->gate->bisect.clean ? "clean builds" : "fresh compiles";
    const char *first = q->what->slower
                            ? arena_printf(a, "in %s it is slower than its parent %.10s: %s", clean,
                                           parent, k->note)
                            : arena_printf(a,
                                           "in %s its parent %.10s passes and it fails, %" PRId64
                                           " of %" PRId64 " times each",
                                           clean, parent, c->runner->gate->bisect.confirm_runs,
                                           c->runner->gate->bisect.confirm_runs);
    if (!k->tried_revert)
        return arena_printf(a, "%s; what undoing it at %.10s does could not be told", first,
                            c->hunt->bad);
    return arena_printf(a, "%s; undoing it at %.10s %s", first, c->hunt->bad,
                        k->revert_repairs ? "repairs it"
                                          : "does not repair it: a later commit has a part in it");
}
