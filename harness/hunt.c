#include "harness/hunt_internal.h"

#include "harness/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A cached build costs about what a run costs; an incremental build of a compiler some ten times
 * that. */
static const double CACHED_COST = 0.1;

/* How often a culprit whose confirmation does not hold is searched for. */
enum { MOST_ATTEMPTS = 3 };

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
    int status =
        q->what->slower ? hunt_ask_speed(&a, c, q, commit) : hunt_ask_correctness(&a, c, q, commit);
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
            status = hunt_plan_checks(&plans[count++], c, artifact, q, c->hunt->round);
    }
    return status < 0 ? status : hunt_run_together(c, plans, count);
}

/* One commit for all problems that are open there. */
static int visit(struct chase *c, size_t commit, size_t open_count)
{
    struct site *site = &c->sites[commit];
    int status = hunt_build_site(site, c, commit);
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
        if (alike && hunt_is_confirmed(e->confirmed) &&
            bisect_culprit(c->bisect, e->index) == culprit)
            return e;
    }
    return NULL;
}

/* A confirmation that does not hold says that one of the two answers beside the culprit came from
 * noise. Both are measured afresh; where they now say something else the search goes on. */
static int reconsider(struct chase *c, struct quarry *q, size_t culprit)
{
    q->attempt++;
    q->session = arena_printf(c->arena, "%s/attempt %" PRId64, q->id, q->attempt + 1);
    progress_note("bisect: %.10s does not hold for %s; measured again",
                  c->range.commits[culprit].sha, q->what->problem);
    int status = 0;
    c->open[0] = q->index;
    if (c->range.commits[culprit].parent_count > 0)
        status = visit(c, c->range.commits[culprit].parents[0], 1);
    if (status == 0)
        status = visit(c, culprit, 1);
    return status < 0 ? status : search(c);
}

/* Many problems with one culprit are one story: it is confirmed on the first of them. */
static int confirm_found(struct chase *c, struct quarry *q)
{
    while (bisect_state(c->bisect, q->index) == BISECT_FOUND) {
        size_t culprit = bisect_culprit(c->bisect, q->index);
        q->told_by = find_confirmed(c, q, culprit);
        if (q->told_by) {
            q->confirmed = q->told_by->confirmed;
            q->error_probability = q->told_by->error_probability;
            return 0;
        }
        q->confirmed = ARENA_NEW(c->arena, struct confirmation);
        int status = hunt_confirm(q->confirmed, c, q, culprit);
        q->error_probability = bisect_error_probability(c->bisect, q->index);
        bool settled = hunt_is_confirmed(q->confirmed) || !q->what->slower;
        if (status < 0 || settled || q->attempt + 1 == MOST_ATTEMPTS)
            return status;
        status = reconsider(c, q, culprit);
        if (status < 0)
            return status;
    }
    return 0;
}

static void conclude_found(struct blame_row *b, struct chase *c, const struct quarry *q)
{
    const struct repo_commit *commit = &c->range.commits[bisect_culprit(c->bisect, q->index)];
    b->culprit = commit->sha;
    b->parent = commit->parent_count > 0 ? c->range.commits[commit->parents[0]].sha : "";
    b->level = hunt_level_of(q->confirmed);
    b->because = hunt_because_of(c->arena, c, q, q->confirmed, b->parent);
    if (q->told_by)
        b->because = arena_printf(c->arena, "%s (seen on %s)", b->because, q->confirmed->problem);
}

static void conclude_state(struct blame_row *b, struct chase *c, const struct quarry *q)
{
    switch (bisect_state(c->bisect, q->index)) {
    case BISECT_FOUND:
        conclude_found(b, c, q);
        return;
    case BISECT_RANGE:
        b->level = "RANGE";
        b->because =
            "only commits that cannot be tested lie between the last good and the first bad one";
        return;
    case BISECT_NEVER_GOOD:
        b->level = "NEVER-GOOD";
        b->because = arena_printf(c->arena, "it is bad at the good end %.10s already", c->good);
        return;
    case BISECT_UNTESTABLE:
        b->level = "RANGE";
        b->because = "an end of the range cannot be tested";
        return;
    case BISECT_NOT_REPRODUCED:
        b->level = q->unchanged ? "UNCHANGED-CODE" : "NOT-REPRODUCED";
        b->because =
            q->unchanged
                ? "both ends generate the same code: the compiler did not change the speed"
                : arena_printf(c->arena, "it does not show at the bad end %.10s", c->hunt->bad);
        return;
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
    int status = confirm_found(c, q);
    if (status < 0)
        return status;
    conclude_state(out, c, q);
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
        q->session = q->id;
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
