#include "harness/hunt_internal.h"

#include <math.h>
#include <string.h>

/* A speed answer is taken at this confidence, and looked for every so many pairs. */
static const double ANSWER_CONFIDENCE = 0.99, EARLY_CONFIDENCE = 0.9999;
enum { PAIRS_A_LOOK = 6 };

/* Equal code has equal speed; what is left is a collision of its hash. */
static const double SAME_CODE_ERROR = 1e-9;

size_t hunt_last(const struct chase *c)
{
    return c->range.count - 1;
}

int hunt_build_site(struct site *site, struct chase *c, size_t commit)
{
    if (site->asked)
        return 0;
    site->asked = true;
    return build_commit(&site->artifact, c->arena, c->hunt->builder, c->range.commits[commit].sha,
                        0);
}

int hunt_plan_checks(struct plan *out, struct chase *c, const struct artifact *artifact,
                     const struct quarry *q, int64_t round)
{
    struct sweep_problem one = {.problem = q->problem, .text = q->what->problem};
    int status = plan_correctness(out, c->arena, c->runner, artifact, 1, &one, 1, round);
    for (size_t i = 0; status == 0 && i < out->count; i++)
        out->jobs[i].variant = q->what->variant;
    return status;
}

int hunt_check_at(struct check_verdict *out, struct chase *c, const struct artifact *artifact,
                  const struct quarry *q, int64_t round)
{
    struct plan plan;
    int status = hunt_plan_checks(&plan, c, artifact, q, round);
    if (status < 0)
        return status;
    struct result_row *rows = ARENA_ARRAY(c->arena, plan.count, struct result_row);
    status = run_jobs(rows, c->arena, c->runner, plan.jobs, plan.count);
    if (status == 0)
        judge_check(out, c->arena, c->runner->gate, rows, plan.count);
    return status;
}

int hunt_run_together(struct chase *c, const struct plan *plans, size_t count)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += plans[i].count;
    struct job *jobs = ARENA_ARRAY(c->arena, total, struct job);
    struct result_row *rows = ARENA_ARRAY(c->arena, total, struct result_row);
    total = 0;
    for (size_t i = 0; i < count; i++) {
        if (plans[i].count > 0)
            memcpy(jobs + total, plans[i].jobs, plans[i].count * sizeof *jobs);
        total += plans[i].count;
    }
    c->runner->jobs_found -= (int64_t)total; /* each is found once more when it is judged */
    return run_jobs(rows, c->arena, c->runner, jobs, total);
}

enum bisect_answer hunt_answer_of(const struct quarry *q, const struct check_verdict *v)
{
    if (v->outcome == OUTCOME_OK)
        return BISECT_GOOD;
    if (!q->label)
        return BISECT_SKIP;
    if (strcmp(outcome_word(v->outcome), q->label) == 0 && (!q->staged || v->stage == q->stage))
        return BISECT_BAD;
    bool told = outcome_meaning(v->outcome) == OUTCOME_MEANS_BAD;
    return told && q->staged && v->stage > q->stage ? BISECT_GOOD : BISECT_SKIP;
}

int hunt_ask_correctness(struct answer *out, struct chase *c, struct quarry *q, size_t commit)
{
    struct check_verdict v;
    int status = hunt_check_at(&v, c, &c->sites[commit].artifact, q, c->hunt->round);
    if (status < 0)
        return status;
    bool hunted =
        outcome_meaning(v.outcome) == OUTCOME_MEANS_BAD || v.outcome == OUTCOME_NOT_APPLICABLE;
    if (commit == hunt_last(c) && !q->label && hunted)
        q->label = outcome_word(v.outcome);
    if (commit == hunt_last(c) && q->label && strcmp(outcome_word(v.outcome), q->label) == 0) {
        q->staged = true;
        q->stage = v.stage;
    }
    *out = (struct answer){.answer = hunt_answer_of(q, &v),
                           .error_probability = -1,
                           .detail = judge_describe(c->arena, &v)};
    return 0;
}

const char *hunt_describe_effect(struct arena *a, const struct stats_effect *e)
{
    return arena_printf(a, "time x%.3f [%.3f, %.3f], %zu pairs", exp(e->mean), exp(e->low),
                        exp(e->high), e->pairs);
}

bool hunt_lies_beside(const struct stats_effect *e, double middle)
{
    return e->low > middle || e->high < middle;
}

int hunt_measure(struct stats_effect *out, enum outcome *outcome, const char **detail,
                 struct chase *c, struct timing_request t, double middle)
{
    const struct gate *g = c->runner->gate;
    int64_t wanted = t.pairs;
    int64_t most = wanted > g->speed.most_pairs ? wanted : g->speed.most_pairs;
    t.pairs = PAIRS_A_LOOK < wanted ? PAIRS_A_LOOK : wanted;
    for (;;) {
        struct pair_row *pairs;
        size_t count;
        int status = run_pairs(&pairs, &count, outcome, detail, c->arena, c->runner, &t);
        if (status < 0 || *outcome != OUTCOME_OK)
            return status;
        double *ratios = ARENA_ARRAY(c->arena, count, double);
        for (size_t i = 0; i < count; i++)
            ratios[i] = log((double)pairs[i].candidate_ns / (double)pairs[i].anchor_ns);
        *out = stats_pairs(ratios, count, EARLY_CONFIDENCE, g->speed.noise_floor);
        if (t.pairs < wanted && hunt_lies_beside(out, middle))
            break;
        *out = stats_pairs(ratios, count, ANSWER_CONFIDENCE, g->speed.noise_floor);
        if (t.pairs >= wanted && (hunt_lies_beside(out, middle) || t.pairs >= most))
            return 0;
        t.pairs = t.pairs + PAIRS_A_LOOK < most ? t.pairs + PAIRS_A_LOOK : most;
    }
    return 0;
}

struct timing_request hunt_request_pairs(const struct chase *c, const struct quarry *q,
                                         const struct artifact *anchor,
                                         const struct artifact *artifact, int64_t pairs)
{
    return (struct timing_request){.session = q->session,
                                   .anchor = anchor,
                                   .artifact = artifact,
                                   .problem = q->what->problem,
                                   .variant = q->what->variant,
                                   .pairs = pairs < c->runner->gate->speed.most_pairs
                                                ? pairs
                                                : c->runner->gate->speed.most_pairs};
}

/* The bad end: is it slower than the good end at all? Its effect sets the level that commits in
 * between are held against. */
static int ask_bad_end(struct answer *out, struct chase *c, struct quarry *q,
                       const struct artifact *good, const struct artifact *bad)
{
    const struct gate *g = c->runner->gate;
    struct stats_effect e;
    enum outcome outcome;
    const char *detail;
    double least = log1p(g->speed.minimum_effect);
    struct timing_request t = hunt_request_pairs(c, q, good, bad, g->speed.confirm_pairs);
    int status = hunt_measure(&e, &outcome, &detail, c, t, least);
    if (status < 0)
        return status;
    if (outcome != OUTCOME_OK) {
        *out = (struct answer){.answer = BISECT_SKIP, .error_probability = -1, .detail = detail};
        return 0;
    }
    q->effect = e.mean;
    double error = stats_t_tail((e.mean - least) / e.error, e.freedom);
    *out = (struct answer){.answer = e.low > least ? BISECT_BAD : BISECT_GOOD,
                           .error_probability = error < 0.5 ? error : 1 - error,
                           .detail = hunt_describe_effect(c->arena, &e)};
    return 0;
}

/* A commit in between: on which side of half the effect does it lie? */
static int ask_between(struct answer *out, struct chase *c, struct quarry *q,
                       const struct artifact *good, const struct artifact *here)
{
    double middle = q->effect / 2;
    struct stats_effect e;
    enum outcome outcome;
    const char *detail;
    struct timing_request t = hunt_request_pairs(c, q, good, here, PAIRS_A_LOOK);
    int status = hunt_measure(&e, &outcome, &detail, c, t, middle);
    *out = (struct answer){.answer = BISECT_SKIP, .error_probability = -1, .detail = detail};
    if (status < 0 || outcome != OUTCOME_OK)
        return status;
    out->detail = hunt_describe_effect(c->arena, &e);
    if (!hunt_lies_beside(&e, middle))
        return 0;
    out->answer = e.low > middle ? BISECT_BAD : BISECT_GOOD;
    out->error_probability = stats_t_tail(fabs(e.mean - middle) / e.error, e.freedom);
    return 0;
}

/* The id of the code that a build makes of the problem; "" when it makes none. */
static int code_at(const char **code, struct chase *c, const struct artifact *artifact,
                   const struct quarry *q)
{
    struct check_verdict v;
    int status = hunt_check_at(&v, c, artifact, q, c->hunt->round);
    *code = status == 0 ? v.code : "";
    return status;
}

int hunt_ask_speed(struct answer *out, struct chase *c, struct quarry *q, size_t commit)
{
    const struct artifact *here = &c->sites[commit].artifact;
    const char *code = "";
    *out = (struct answer){.answer = BISECT_GOOD, .error_probability = SAME_CODE_ERROR};
    if (commit == 0) {
        out->detail = "the build that the others are measured against";
        return 0;
    }
    int status = hunt_build_site(&c->sites[0], c, 0);
    if (status == 0)
        status = code_at(&code, c, here, q);
    if (status == 0 && !q->good_code && c->sites[0].artifact.outcome == OUTCOME_OK)
        status = code_at(&q->good_code, c, &c->sites[0].artifact, q);
    if (status < 0)
        return status;
    if (c->sites[0].artifact.outcome != OUTCOME_OK || !*code) {
        *out = (struct answer){
            .answer = BISECT_SKIP, .error_probability = -1, .detail = "there is no code to time"};
    } else if (strcmp(code, q->good_code) == 0) {
        out->detail = "generated code as at the good end";
        q->unchanged = q->unchanged || commit == hunt_last(c);
    } else if (commit == hunt_last(c)) {
        q->bad_code = code;
        return ask_bad_end(out, c, q, &c->sites[0].artifact, here);
    } else if (q->bad_code && strcmp(code, q->bad_code) == 0) {
        out->answer = BISECT_BAD;
        out->detail = "generated code as at the bad end";
    } else {
        return ask_between(out, c, q, &c->sites[0].artifact, here);
    }
    return 0;
}
