#include "harness/hunt.h"

#include "harness/bisect.h"
#include "harness/plan.h"
#include "harness/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A cached build costs about what a run costs; an incremental build of a compiler some ten times
 * that. */
static const double CACHED_COST = 0.1;

/* A speed answer is taken at this confidence, and looked for every so many pairs. */
static const double ANSWER_CONFIDENCE = 0.99, EARLY_CONFIDENCE = 0.9999;
enum { PAIRS_A_LOOK = 6 };

/* Equal code has equal speed; what is left is a collision of its hash. */
static const double SAME_CODE_ERROR = 1e-9;

/* Confirmation: what the culprit and its parent do in fresh compiles, on clean builds when the gate
 * wants them. */
struct confirmation {
    bool parent_good, culprit_bad;
    bool tried_revert, revert_repairs;
    const char *note;    /* why something could not be tried, or what was measured */
    const char *problem; /* the problem that it was done on */
};

/* What is known of one commit of the range. */
struct site {
    struct artifact artifact;
    bool asked; /* built or found in this hunt */
};

/* One problem on its way to a blame. */
struct quarry {
    const struct hunt_problem *what;
    size_t index; /* in the bisection */
    struct problem problem;
    char id[REPO_SHA_SIZE]; /* of the hunt, this label's */
    const char *label;      /* correctness: the outcome hunted */
    enum stage stage;       /* where it shows at the bad end, once that was seen (staged) */
    bool staged;
    const char *good_code, *bad_code;
    double effect;                  /* speed: log ratio between the ends */
    bool unchanged;                 /* speed: both ends have the same code */
    bool stored;                    /* an earlier hunt has concluded */
    struct confirmation *confirmed; /* culprit and parent run again for this problem; NULL: not */
    double error_probability;
    struct step_row *steps; /* by commit of the range; answer NULL: not asked */
    int64_t runs;
};

struct chase {
    const struct hunt *hunt;
    struct runner *runner;
    struct arena *arena;
    struct bisect *bisect;
    struct repo_range range;
    struct site *sites;
    struct quarry *quarries;
    size_t count;
    size_t *open; /* room for bisect_ask */
    char good[REPO_SHA_SIZE];
};

/* What one look at one commit says for one problem. */
struct answer {
    enum bisect_answer answer;
    double error_probability; /* negative: an answer without odds */
    const char *detail;
};

static int hunt_id(char id[REPO_SHA_SIZE], const struct chase *c, const struct hunt_problem *p)
{
    struct buf text;
    buf_init(&text, BUF_MAX_LINE);
    buf_printf(&text,
               "assay-hunt 1\ncandidate %s\ngood %s\nbad %s\nkind %s\nvariant %s\nmachine "
               "%s\n%s\nround %" PRId64 "\n",
               c->runner->candidate->name, c->good, c->hunt->bad,
               p->slower  ? "slower"
               : p->label ? p->label
                          : "wrong",
               p->variant, c->runner->machine->name, c->runner->epoch_text, c->hunt->round);
    int status = repo_blob_id(id, text.data, text.length);
    buf_release(&text);
    return status;
}

static size_t last(const struct chase *c)
{
    return c->range.count - 1;
}

static int build_site(struct site *site, struct chase *c, size_t commit)
{
    if (site->asked)
        return 0;
    site->asked = true;
    return build_commit(&site->artifact, c->arena, c->hunt->builder, c->range.commits[commit].sha,
                        0);
}

/* The jobs of a problem at a build: both its kinds of data. */
static int plan_checks(struct plan *out, struct chase *c, const struct artifact *artifact,
                       const struct quarry *q, int64_t round)
{
    struct sweep_problem one = {.problem = q->problem, .text = q->what->problem};
    int status = plan_correctness(out, c->arena, c->runner, artifact, 1, &one, 1, round);
    for (size_t i = 0; status == 0 && i < out->count; i++)
        out->jobs[i].variant = q->what->variant;
    return status;
}

/* All kinds of data of a problem at a build, judged together. */
static int check_at(struct check_verdict *out, struct chase *c, const struct artifact *artifact,
                    const struct quarry *q, int64_t round)
{
    struct plan plan;
    int status = plan_checks(&plan, c, artifact, q, round);
    if (status < 0)
        return status;
    struct result_row *rows = ARENA_ARRAY(c->arena, plan.count, struct result_row);
    status = run_jobs(rows, c->arena, c->runner, plan.jobs, plan.count);
    if (status == 0)
        judge_check(out, c->arena, c->runner->gate, rows, plan.count);
    return status;
}

/* Several plans as one, so that their jobs share workers and CPUs. Each is found in the store
 * afterwards. */
static int run_together(struct chase *c, const struct plan *plans, size_t count)
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

static const char *describe_check(struct arena *a, const struct check_verdict *v)
{
    return *v->detail ? arena_printf(a, "%s: %s", outcome_word(v->outcome), v->detail)
                      : outcome_word(v->outcome);
}

/* Bad when it fails as at the bad end. Good when it passes, and also when it came further than the
 * stage of that failure: a mismatch shows that the compiler no longer crashes, but a crash hides
 * whether the result would be right. */
static enum bisect_answer answer_of(const struct quarry *q, const struct check_verdict *v)
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

static int ask_correctness(struct answer *out, struct chase *c, struct quarry *q, size_t commit)
{
    struct check_verdict v;
    int status = check_at(&v, c, &c->sites[commit].artifact, q, c->hunt->round);
    if (status < 0)
        return status;
    bool hunted =
        outcome_meaning(v.outcome) == OUTCOME_MEANS_BAD || v.outcome == OUTCOME_NOT_APPLICABLE;
    if (commit == last(c) && !q->label && hunted)
        q->label = outcome_word(v.outcome);
    if (commit == last(c) && q->label && strcmp(outcome_word(v.outcome), q->label) == 0) {
        q->staged = true;
        q->stage = v.stage;
    }
    *out = (struct answer){.answer = answer_of(q, &v),
                           .error_probability = -1,
                           .detail = describe_check(c->arena, &v)};
    return 0;
}

static const char *describe_effect(struct arena *a, const struct stats_effect *e)
{
    return arena_printf(a, "time x%.3f [%.3f, %.3f], %zu pairs", exp(e->mean), exp(e->low),
                        exp(e->high), e->pairs);
}

static bool lies_beside(const struct stats_effect *e, double middle)
{
    return e->low > middle || e->high < middle;
}

/* Pairs until the interval lies on one side of `middle`, or as many as the gate spends on one
 * commit: a noisy machine needs more of them for the same answer. A look before the number that was
 * asked for ends it only when nothing is left to doubt. */
static int measure(struct stats_effect *out, enum outcome *outcome, const char **detail,
                   struct chase *c, struct timing_request t, double middle)
{
    const struct gate *g = c->runner->gate;
    int64_t wanted = t.pairs;
    int64_t most = wanted > g->speed.bisect_pairs ? wanted : g->speed.bisect_pairs;
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
        if (t.pairs < wanted && lies_beside(out, middle))
            break;
        *out = stats_pairs(ratios, count, ANSWER_CONFIDENCE, g->speed.noise_floor);
        if (t.pairs >= wanted && (lies_beside(out, middle) || t.pairs >= most))
            return 0;
        t.pairs = t.pairs + PAIRS_A_LOOK < most ? t.pairs + PAIRS_A_LOOK : most;
    }
    return 0;
}

static struct timing_request request_pairs(const struct chase *c, const struct quarry *q,
                                           const struct artifact *anchor,
                                           const struct artifact *artifact, int64_t pairs)
{
    return (struct timing_request){.session = q->id,
                                   .anchor = anchor,
                                   .artifact = artifact,
                                   .problem = q->what->problem,
                                   .variant = q->what->variant,
                                   .pairs = pairs < c->runner->gate->speed.bisect_pairs
                                                ? pairs
                                                : c->runner->gate->speed.bisect_pairs};
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
    struct timing_request t = request_pairs(c, q, good, bad, g->speed.confirm_pairs);
    int status = measure(&e, &outcome, &detail, c, t, least);
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
                           .detail = describe_effect(c->arena, &e)};
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
    struct timing_request t = request_pairs(c, q, good, here, PAIRS_A_LOOK);
    int status = measure(&e, &outcome, &detail, c, t, middle);
    *out = (struct answer){.answer = BISECT_SKIP, .error_probability = -1, .detail = detail};
    if (status < 0 || outcome != OUTCOME_OK)
        return status;
    out->detail = describe_effect(c->arena, &e);
    if (!lies_beside(&e, middle))
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
    int status = check_at(&v, c, artifact, q, c->hunt->round);
    *code = status == 0 ? v.code : "";
    return status;
}

static int ask_speed(struct answer *out, struct chase *c, struct quarry *q, size_t commit)
{
    const struct artifact *here = &c->sites[commit].artifact;
    const char *code = "";
    *out = (struct answer){.answer = BISECT_GOOD, .error_probability = SAME_CODE_ERROR};
    if (commit == 0) {
        out->detail = "the build that the others are measured against";
        return 0;
    }
    int status = build_site(&c->sites[0], c, 0);
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
        q->unchanged = q->unchanged || commit == last(c);
    } else if (commit == last(c)) {
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

static void record(struct chase *c, struct quarry *q, size_t commit, const char *answer,
                   const char *detail)
{
    q->steps[commit] = (struct step_row){.hunt = q->id,
                                         .problem = q->what->problem,
                                         .commit = c->range.commits[commit].sha,
                                         .answer = answer,
                                         .detail = detail ? detail : ""};
}

static void tell(struct chase *c, struct quarry *q, size_t commit, const struct answer *a)
{
    static const char *const words[] = {
        [BISECT_GOOD] = "good", [BISECT_BAD] = "bad", [BISECT_SKIP] = "skip"};
    record(c, q, commit, words[a->answer], a->detail);
    if (a->error_probability >= 0)
        bisect_tell_odds(c->bisect, q->index, commit, a->answer, a->error_probability);
    else
        bisect_tell(c->bisect, q->index, commit, a->answer);
}

static int ask(struct chase *c, struct quarry *q, size_t commit)
{
    struct answer a;
    progress_step("%.10s %s", c->range.commits[commit].sha, q->what->problem);
    int status = q->what->slower ? ask_speed(&a, c, q, commit) : ask_correctness(&a, c, q, commit);
    if (status < 0)
        return status;
    q->runs++;
    tell(c, q, commit, &a);
    return 0;
}

static struct quarry *quarry_of(struct chase *c, size_t index)
{
    struct quarry *q = c->quarries;
    while (q->stored || q->index != index)
        q++;
    return q;
}

/* What all open problems want to know of a commit, in one go. */
static int check_open(struct chase *c, const struct artifact *artifact, size_t open_count)
{
    struct plan *plans = ARENA_ARRAY(c->arena, open_count, struct plan);
    size_t count = 0;
    int status = 0;
    for (size_t i = 0; i < open_count && status == 0; i++) {
        const struct quarry *q = quarry_of(c, c->open[i]);
        if (!q->what->slower)
            status = plan_checks(&plans[count++], c, artifact, q, c->hunt->round);
    }
    return status < 0 ? status : run_together(c, plans, count);
}

/* One commit for all problems that are open there. */
static int visit(struct chase *c, size_t commit, size_t open_count)
{
    struct site *site = &c->sites[commit];
    int status = build_site(site, c, commit);
    if (status < 0)
        return status;
    bool built = site->artifact.outcome == OUTCOME_OK;
    if (built)
        bisect_set_cost(c->bisect, commit, CACHED_COST);
    else
        bisect_skip(c->bisect, commit);
    if (built)
        status = check_open(c, &site->artifact, open_count);
    for (size_t i = 0; i < open_count && status == 0; i++) {
        struct quarry *q = quarry_of(c, c->open[i]);
        if (built)
            status = ask(c, q, commit);
        else
            record(c, q, commit, "skip",
                   arena_printf(c->arena, "%s: %s", outcome_word(site->artifact.outcome),
                                site->artifact.detail));
    }
    return status;
}

static int search(struct chase *c)
{
    size_t commit, open_count;
    int status = 0;
    while (status == 0 && bisect_ask(&commit, c->open, &open_count, c->bisect)) {
        progress_note("bisect: %.10s %s (%zu open, about %d steps left)",
                      c->range.commits[commit].sha, c->range.commits[commit].subject, open_count,
                      bisect_steps_left(c->bisect));
        status = visit(c, commit, open_count);
    }
    return status;
}

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
        status = plan_checks(&plans[i], c, artifact, q, first + i);
    if (status == 0 && *all)
        status = run_together(c, plans, (size_t)runs);
    for (int64_t i = 0; i < runs && status == 0 && *all; i++) {
        struct check_verdict v;
        status = check_at(&v, c, artifact, q, first + i);
        if (status < 0)
            return status;
        enum bisect_answer answer = answer_of(q, &v);
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
    struct timing_request t = {.session = arena_printf(c->arena, "%s/confirm", q->id),
                               .anchor = parent_build,
                               .artifact = culprit_build,
                               .problem = q->what->problem,
                               .variant = q->what->variant,
                               .pairs = g->speed.confirm_pairs};
    struct stats_effect e;
    enum outcome outcome;
    const char *detail;
    double least = log1p(g->speed.minimum_effect) / 2;
    int status = measure(&e, &outcome, &detail, c, t, least);
    if (status < 0 || outcome != OUTCOME_OK)
        return status;
    q->runs++;
    out->parent_good = out->culprit_bad = e.low > least;
    if (out->culprit_bad) {
        q->effect = e.mean;
        double error = stats_t_tail((e.mean - least) / e.error, e.freedom);
        bisect_tell_odds(c->bisect, q->index, culprit, BISECT_BAD, error);
    }
    out->note = describe_effect(c->arena, &e);
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
        status = check_at(&v, c, &reverted, q, c->hunt->round);
        if (status < 0)
            return status;
        out->tried_revert = answer_of(q, &v) != BISECT_SKIP;
        out->revert_repairs = answer_of(q, &v) == BISECT_GOOD;
        return 0;
    }
    struct timing_request t =
        request_pairs(c, q, &c->sites[0].artifact, &reverted, c->runner->gate->speed.confirm_pairs);
    struct stats_effect e;
    enum outcome outcome;
    const char *detail;
    status = measure(&e, &outcome, &detail, c, t, q->effect / 2);
    if (status < 0)
        return status;
    /* Neither repaired nor not: the measurement does not tell, and the level must not claim it. */
    out->tried_revert = outcome == OUTCOME_OK && lies_beside(&e, q->effect / 2);
    out->revert_repairs = out->tried_revert && e.high < q->effect / 2;
    return 0;
}

static int confirm(struct confirmation *out, struct chase *c, struct quarry *q, size_t culprit)
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

static const char *level_of(const struct confirmation *k)
{
    if (!k->parent_good || !k->culprit_bad)
        return "LIKELY";
    return k->tried_revert && k->revert_repairs ? "PROVEN" : "CONFIRMED";
}

static const char *because_of(struct arena *a, const struct chase *c, const struct quarry *q,
                              const struct confirmation *k, const char *parent)
{
    if (!k->parent_good || !k->culprit_bad)
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

static const char *list_suspects(struct chase *c, const struct quarry *q)
{
    size_t *suspects = ARENA_ARRAY(c->arena, c->range.count, size_t);
    size_t count = bisect_suspects(suspects, c->bisect, q->index);
    struct buf text;
    buf_init(&text, BUF_MAX_LINE);
    for (size_t i = 0; i < count; i++)
        buf_printf(&text, "%s%s", i ? " " : "", c->range.commits[suspects[i]].sha);
    const char *copy = arena_strdup(c->arena, text.data);
    buf_release(&text);
    return copy;
}

/* An earlier problem that fails in the same way from the same commit on, and whose confirmation
 * held. */
static const struct quarry *find_confirmed(const struct chase *c, const struct quarry *q,
                                           size_t culprit)
{
    for (const struct quarry *e = c->quarries; e < q; e++) {
        bool alike = e->confirmed && e->what->slower == q->what->slower &&
                     (q->what->slower || strcmp(e->label, q->label) == 0);
        if (alike && e->confirmed->parent_good && e->confirmed->culprit_bad &&
            bisect_culprit(c->bisect, e->index) == culprit)
            return e;
    }
    return NULL;
}

/* Many problems with one culprit are one story: it is confirmed on the first of them. */
static int conclude_found(struct blame_row *b, struct chase *c, struct quarry *q)
{
    size_t culprit = bisect_culprit(c->bisect, q->index);
    const struct repo_commit *commit = &c->range.commits[culprit];
    const struct quarry *earlier = find_confirmed(c, q, culprit);
    struct confirmation *k = ARENA_NEW(c->arena, struct confirmation);
    int status = 0;
    if (earlier) {
        *k = *earlier->confirmed;
        q->error_probability = earlier->error_probability;
    } else {
        status = confirm(k, c, q, culprit);
        q->confirmed = k;
        q->error_probability = bisect_error_probability(c->bisect, q->index);
    }
    if (status < 0)
        return status;
    b->culprit = commit->sha;
    b->parent = commit->parent_count > 0 ? c->range.commits[commit->parents[0]].sha : "";
    b->level = level_of(k);
    b->because = because_of(c->arena, c, q, k, b->parent);
    if (earlier)
        b->because = arena_printf(c->arena, "%s (seen on %s)", b->because, k->problem);
    return 0;
}

static int conclude_state(struct blame_row *b, struct chase *c, struct quarry *q)
{
    switch (bisect_state(c->bisect, q->index)) {
    case BISECT_FOUND:
        return conclude_found(b, c, q);
    case BISECT_RANGE:
        b->level = "RANGE";
        b->because =
            "only commits that cannot be tested lie between the last good and the first bad one";
        return 0;
    case BISECT_NEVER_GOOD:
        b->level = "NEVER-GOOD";
        b->because = arena_printf(c->arena, "it is bad at the good end %.10s already", c->good);
        return 0;
    case BISECT_UNTESTABLE:
        b->level = "RANGE";
        b->because = "an end of the range cannot be tested";
        return 0;
    case BISECT_NOT_REPRODUCED:
        b->level = q->unchanged ? "UNCHANGED-CODE" : "NOT-REPRODUCED";
        b->because =
            q->unchanged
                ? "both ends generate the same code: the compiler did not change the speed"
                : arena_printf(c->arena, "it does not show at the bad end %.10s", c->hunt->bad);
        return 0;
    case BISECT_OPEN:
        break;
    }
    bug("a search ended with an open problem");
}

/* Steps in the order of the range, without the holes. */
static size_t gather_steps(struct step_row *out, const struct quarry *q, size_t commits)
{
    size_t count = 0;
    for (size_t i = 0; i < commits; i++) {
        if (q->steps[i].answer)
            out[count++] = q->steps[i];
    }
    return count;
}

static int conclude(struct blame_row *out, struct chase *c, struct quarry *q)
{
    *out = (struct blame_row){.hunt = q->id,
                              .candidate = c->runner->candidate->name,
                              .good_commit = c->good,
                              .bad_commit = c->hunt->bad,
                              .problem = q->what->problem,
                              .variant = q->what->variant,
                              .label = q->what->slower ? "slower"
                                       : q->label      ? q->label
                                                       : "",
                              .culprit = "",
                              .parent = ""};
    int status = conclude_state(out, c, q);
    if (status < 0)
        return status;
    struct step_row *steps = ARENA_ARRAY(c->arena, c->range.count, struct step_row);
    size_t count = gather_steps(steps, q, c->range.count);
    out->suspects = list_suspects(c, q);
    out->error_probability =
        *out->culprit ? q->error_probability : bisect_error_probability(c->bisect, q->index);
    out->effect = q->what->slower ? expm1(q->effect) : 0;
    out->builds = (int64_t)count;
    out->runs = q->runs;
    return store_add_blame(c->runner->workspace->store, out, steps, count);
}

/* The good end, or the merge base when good is no ancestor of bad. */
static int choose_good_end(struct chase *c)
{
    struct repo *repo = builder_repo(c->hunt->builder);
    bool ancestor;
    int status = repo_is_ancestor(&ancestor, repo, c->hunt->good, c->hunt->bad);
    if (status < 0)
        return status;
    snprintf(c->good, sizeof c->good, "%s", c->hunt->good);
    if (ancestor)
        return 0;
    status = repo_merge_base(c->good, repo, c->hunt->good, c->hunt->bad);
    if (status == 0)
        progress_note(
            "bisect: %.10s is no ancestor of %.10s; their merge base %.10s is tested in its place",
            c->hunt->good, c->hunt->bad, c->good);
    return status;
}

static int make_bisection(struct chase *c)
{
    struct bisect_node *nodes = ARENA_ARRAY(c->arena, c->range.count, struct bisect_node);
    for (size_t i = 0; i < c->range.count; i++)
        nodes[i] = (struct bisect_node){.parents = c->range.commits[i].parents,
                                        .parent_count = c->range.commits[i].parent_count};
    int status = bisect_new(&c->bisect, nodes, c->range.count, c->hunt->first_parent);
    for (size_t i = 0; i < c->range.count && status == 0; i++) {
        struct artifact known;
        status = build_commit(&known, c->arena, c->hunt->builder, c->range.commits[i].sha,
                              BUILD_ONLY_FIND);
        if (status == 0 && known.outcome == OUTCOME_OK)
            bisect_set_cost(c->bisect, i, CACHED_COST);
    }
    return status;
}

/* Problems that an earlier hunt has not concluded join the bisection. */
static int gather_quarries(struct blame_row *blames, struct chase *c)
{
    int status = 0;
    for (size_t i = 0; i < c->count && status == 0; i++) {
        struct quarry *q = &c->quarries[i];
        *q = (struct quarry){.what = &c->hunt->problems[i], .label = c->hunt->problems[i].label};
        status = problem_parse(&q->problem, q->what->problem);
        if (status == 0)
            status = hunt_id(q->id, c, q->what);
        if (status == 0)
            status = store_find_blame(&blames[i], &q->stored, c->arena, c->runner->workspace->store,
                                      q->id, q->what->problem);
        if (status < 0 || q->stored)
            continue;
        q->index = bisect_add_problem(c->bisect);
        q->steps = ARENA_ARRAY(c->arena, c->range.count, struct step_row);
    }
    return status;
}

static int chase_all(struct blame_row *blames, struct chase *c)
{
    int status = choose_good_end(c);
    if (status == 0)
        status =
            repo_range(&c->range, c->arena, builder_repo(c->hunt->builder), c->good, c->hunt->bad);
    if (status < 0)
        return status;
    c->sites = ARENA_ARRAY(c->arena, c->range.count, struct site);
    c->quarries = ARENA_ARRAY(c->arena, c->count, struct quarry);
    c->open = ARENA_ARRAY(c->arena, c->count, size_t);
    status = make_bisection(c);
    if (status == 0)
        status = gather_quarries(blames, c);
    if (status == 0)
        status = search(c);
    for (size_t i = 0; i < c->count && status == 0; i++) {
        if (!c->quarries[i].stored)
            status = conclude(&blames[i], c, &c->quarries[i]);
    }
    return status;
}

int hunt_run(struct blame_row *blames, struct arena *a, const struct hunt *h)
{
    if (!builder_repo(h->builder))
        return err_set(ERR_INVALID, "candidate %s has no repository: there is nothing to bisect",
                       h->runner->candidate->name);
    struct chase *c = ARENA_NEW(a, struct chase);
    *c = (struct chase){.hunt = h, .runner = h->runner, .arena = a, .count = h->count};
    int status = chase_all(blames, c);
    bisect_free(c->bisect);
    return status;
}
