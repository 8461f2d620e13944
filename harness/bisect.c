#include "harness/bisect.h"

#include "harness/bisect_internal.h"
#include "src/err.h"
#include "src/mem.h"

#include <math.h>
#include <string.h>

void bisect__mark_ancestors(unsigned char *marks, const struct bisect *b, size_t commit)
{
    memset(marks, 0, b->count);
    marks[commit] = 1;
    for (size_t i = commit + 1; i-- > 0;) {
        if (!marks[i])
            continue;
        for (size_t k = b->parent_start[i]; k < b->parent_start[i + 1]; k++)
            marks[b->parents[k]] = 1;
    }
}

/* The same as a count of the suspects of p among them; `lowest` is the oldest suspect, below which
 * nothing can count. */
static size_t count_reached(unsigned char *visited, const struct bisect *b,
                            const struct bisect_problem *p, size_t commit, size_t lowest)
{
    size_t reached = 0;
    memset(visited + lowest, 0, commit + 1 - lowest);
    visited[commit] = 1;
    for (size_t i = commit + 1; i-- > lowest;) {
        if (!visited[i])
            continue;
        reached += p->suspects[i];
        for (size_t k = b->parent_start[i]; k < b->parent_start[i + 1]; k++) {
            if (b->parents[k] >= lowest)
                visited[b->parents[k]] = 1;
        }
    }
    return reached;
}

void bisect__weigh(size_t *weights, unsigned char *scratch, const struct bisect *b,
                   const struct bisect_problem *p)
{
    size_t lowest = 0;
    while (lowest < b->count && !p->suspects[lowest])
        weights[lowest++] = 0;
    for (size_t i = lowest; i < b->count; i++) {
        size_t heavy = 0, weight = 0;
        for (size_t k = b->parent_start[i]; k < b->parent_start[i + 1]; k++) {
            heavy += weights[b->parents[k]] > 0;
            weight += weights[b->parents[k]];
        }
        /* Two parents may reach the same suspects, which a sum would count twice. */
        weights[i] = heavy > 1 ? count_reached(scratch, b, p, i, lowest) : weight + p->suspects[i];
    }
}

size_t bisect__head(const struct bisect *b, const struct bisect_problem *p)
{
    for (size_t i = b->count; i-- > 0;) {
        if (p->suspects[i])
            return i;
    }
    bug("no suspect is left");
}

static int check_graph(const struct bisect_node *commits, size_t count)
{
    if (count < 2)
        return err_set(ERR_INVALID, "a range to bisect has at least two commits, not %zu", count);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < commits[i].parent_count; k++) {
            if (commits[i].parents[k] >= i)
                return err_set(ERR_INVALID, "parent %zu of commit %zu does not stand before it",
                               commits[i].parents[k], i);
        }
    }
    return 0;
}

static void copy_graph(struct bisect *b, const struct bisect_node *commits, bool first_parent_only)
{
    size_t total = 0;
    for (size_t i = 0; i < b->count; i++)
        total += commits[i].parent_count;
    b->parent_start = ARENA_ARRAY(&b->memory, b->count + 1, size_t);
    b->parents = ARENA_ARRAY(&b->memory, total + 1, size_t);
    size_t used = 0;
    for (size_t i = 0; i < b->count; i++) {
        size_t kept =
            first_parent_only && commits[i].parent_count > 1 ? 1 : commits[i].parent_count;
        for (size_t k = 0; k < kept; k++)
            b->parents[used++] = commits[i].parents[k];
        b->parent_start[i + 1] = used;
    }
}

static void allocate(struct bisect *b)
{
    b->costs = ARENA_ARRAY(&b->memory, b->count, double);
    b->skipped = ARENA_ARRAY(&b->memory, b->count, unsigned char);
    b->reachable = ARENA_ARRAY(&b->memory, b->count, unsigned char);
    b->ancestors = ARENA_ARRAY(&b->memory, b->count, unsigned char);
    b->visited = ARENA_ARRAY(&b->memory, b->count, unsigned char);
    b->weights = ARENA_ARRAY(&b->memory, b->count, size_t);
    b->list = ARENA_ARRAY(&b->memory, b->count, size_t);
    b->gains = ARENA_ARRAY(&b->memory, b->count, double);
    b->offers = ARENA_ARRAY(&b->memory, b->count, unsigned char);
    for (size_t i = 0; i < b->count; i++)
        b->costs[i] = 1;
    b->ancestors_of = SIZE_MAX;
}

int bisect_new(struct bisect **out, const struct bisect_node *commits, size_t count,
               bool first_parent_only)
{
    int status = check_graph(commits, count);
    if (status < 0)
        return status;
    struct bisect *b = xcalloc(1, sizeof *b);
    b->count = count;
    allocate(b);
    copy_graph(b, commits, false);
    bisect__mark_ancestors(b->reachable, b, count - 1);
    if (!b->reachable[0]) {
        bisect_free(b);
        return err_set(ERR_INVALID, "the good end is no ancestor of the bad end");
    }
    if (first_parent_only) {
        copy_graph(b, commits, true);
        bisect__mark_ancestors(b->reachable, b, count - 1);
    }
    *out = b;
    return 0;
}

void bisect_free(struct bisect *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->problem_count; i++)
        free(b->problems[i].tallies);
    free(b->problems);
    arena_release(&b->memory);
    free(b);
}

static struct bisect_problem *problem_at(const struct bisect *b, size_t problem)
{
    if (problem >= b->problem_count)
        bug("problem %zu of %zu", problem, b->problem_count);
    return &b->problems[problem];
}

static void check_commit(const struct bisect *b, size_t commit)
{
    if (commit >= b->count)
        bug("commit %zu of %zu", commit, b->count);
}

/* Everything that the bad end reaches but the good end, whatever was told. */
static void suspect_all(const struct bisect *b, struct bisect_problem *p)
{
    memcpy(p->suspects, b->reachable, b->count);
    p->suspects[0] = 0;
    p->suspect_count = 0;
    for (size_t i = 0; i < b->count; i++)
        p->suspect_count += p->suspects[i];
}

static void clear_ancestors(const struct bisect *b, struct bisect_problem *p,
                            const unsigned char *ancestors)
{
    p->suspect_count = 0;
    for (size_t i = 0; i < b->count; i++) {
        p->suspects[i] &= !ancestors[i];
        p->suspect_count += p->suspects[i];
    }
}

/* Keeps the suspects as they are, and returns false, when none is an ancestor. */
static bool keep_ancestors(const struct bisect *b, struct bisect_problem *p,
                           const unsigned char *ancestors)
{
    size_t kept = 0;
    for (size_t i = 0; i < b->count; i++)
        kept += p->suspects[i] & ancestors[i];
    if (kept == 0)
        return false;
    for (size_t i = 0; i < b->count; i++)
        p->suspects[i] &= ancestors[i];
    p->suspect_count = kept;
    return true;
}

static const unsigned char *ancestors_of(struct bisect *b, size_t commit)
{
    if (b->ancestors_of != commit)
        bisect__mark_ancestors(b->ancestors, b, commit);
    b->ancestors_of = commit;
    return b->ancestors;
}

/* The suspects from all answers, independent of the order in which they were told. Good answers
 * come first, since what they exclude is sure: a culprit makes all its descendants bad. Bad answers
 * then share one culprit where they can; those that cannot are left to another culprit, the older
 * one being searched. */
static void recompute(struct bisect *b, struct bisect_problem *p)
{
    suspect_all(b, p);
    for (size_t i = 0; i < p->tally_count; i++) {
        size_t commit = p->tallies[i].commit;
        if (p->marks[commit] == MARK_GOOD && b->reachable[commit])
            clear_ancestors(b, p, ancestors_of(b, commit));
    }
    for (size_t i = 0; i < p->tally_count; i++) {
        size_t commit = p->tallies[i].commit;
        if (p->marks[commit] == MARK_BAD && b->reachable[commit])
            keep_ancestors(b, p, ancestors_of(b, commit));
    }
}

/* What recompute would do, for the one answer that is new: while a suspect is left, those answers
 * that were heeded stay so and those that were set aside stay so too. */
static void narrow(struct bisect *b, struct bisect_problem *p, size_t commit)
{
    if (!b->reachable[commit])
        return;
    bool left;
    if (p->marks[commit] == MARK_GOOD) {
        clear_ancestors(b, p, ancestors_of(b, commit));
        left = p->suspect_count > 0;
    } else {
        left = keep_ancestors(b, p, ancestors_of(b, commit));
    }
    if (!left)
        recompute(b, p);
}

/* Whether some commit that can still be asked would divide the suspects. */
static bool can_divide(struct bisect *b, const struct bisect_problem *p)
{
    for (size_t i = 0; i < b->count; i++) {
        if (p->suspects[i] && p->marks[i] == MARK_UNKNOWN)
            return true;
    }
    if (p->suspect_count < 2)
        return false;
    bisect__weigh(b->weights, b->visited, b, p);
    for (size_t i = 0; i < b->count; i++) {
        if (b->reachable[i] && p->marks[i] == MARK_UNKNOWN && b->weights[i] > 0 &&
            b->weights[i] < p->suspect_count)
            return true;
    }
    return false;
}

static enum bisect_state find_state(struct bisect *b, const struct bisect_problem *p)
{
    unsigned char good_end = p->marks[0], bad_end = p->marks[b->count - 1];
    if (bad_end == MARK_GOOD)
        return BISECT_NOT_REPRODUCED;
    if (good_end == MARK_BAD)
        return BISECT_NEVER_GOOD;
    if (good_end == MARK_SKIPPED || bad_end == MARK_SKIPPED)
        return BISECT_UNTESTABLE;
    if (good_end == MARK_UNKNOWN || bad_end == MARK_UNKNOWN || can_divide(b, p))
        return BISECT_OPEN;
    return p->suspect_count == 1 ? BISECT_FOUND : BISECT_RANGE;
}

static bool is_answer(unsigned char mark)
{
    return mark == MARK_GOOD || mark == MARK_BAD;
}

static void set_mark(struct bisect *b, struct bisect_problem *p, size_t commit, unsigned char mark)
{
    unsigned char before = p->marks[commit];
    if (before == mark)
        return;
    p->marks[commit] = mark;
    if (is_answer(before))
        recompute(b, p);
    else if (is_answer(mark))
        narrow(b, p, commit);
    p->state = find_state(b, p);
}

size_t bisect_add_problem(struct bisect *b)
{
    if (b->problem_count == b->problem_capacity) {
        b->problem_capacity = b->problem_capacity ? 2 * b->problem_capacity : 16;
        b->problems = xrealloc(b->problems, b->problem_capacity * sizeof *b->problems);
    }
    struct bisect_problem *p = &b->problems[b->problem_count];
    *p = (struct bisect_problem){
        .marks = ARENA_ARRAY(&b->memory, b->count, unsigned char),
        .suspects = ARENA_ARRAY(&b->memory, b->count, unsigned char),
    };
    for (size_t i = 0; i < b->count; i++)
        p->marks[i] = b->skipped[i] ? MARK_SKIPPED : MARK_UNKNOWN;
    suspect_all(b, p);
    p->state = find_state(b, p);
    return b->problem_count++;
}

void bisect_set_cost(struct bisect *b, size_t commit, double cost)
{
    check_commit(b, commit);
    if (!(cost > 0) || isinf(cost))
        bug("cost %g", cost);
    b->costs[commit] = cost;
}

static struct bisect_tally *tally_of(struct bisect_problem *p, size_t commit)
{
    size_t at = 0;
    while (at < p->tally_count && p->tallies[at].commit < commit)
        at++;
    if (at < p->tally_count && p->tallies[at].commit == commit)
        return &p->tallies[at];
    if (p->tally_count == p->tally_capacity) {
        p->tally_capacity = p->tally_capacity ? 2 * p->tally_capacity : 16;
        p->tallies = xrealloc(p->tallies, p->tally_capacity * sizeof *p->tallies);
    }
    memmove(&p->tallies[at + 1], &p->tallies[at], (p->tally_count - at) * sizeof *p->tallies);
    p->tally_count++;
    p->tallies[at] = (struct bisect_tally){.commit = commit};
    return &p->tallies[at];
}

static struct bisect_tally *vote(struct bisect_problem *p, size_t commit, enum bisect_answer answer)
{
    struct bisect_tally *tally = tally_of(p, commit);
    if (answer == BISECT_SKIP)
        tally->skipped = true;
    else
        tally->votes += answer == BISECT_BAD ? 1 : -1;
    return tally;
}

/* The majority; as many good as bad answers are none, so that the commit is asked once more. */
static void follow_majority(struct bisect *b, struct bisect_problem *p,
                            const struct bisect_tally *tally)
{
    unsigned char mark = tally->skipped || b->skipped[tally->commit] ? MARK_SKIPPED : MARK_UNKNOWN;
    if (tally->votes != 0)
        mark = tally->votes > 0 ? MARK_BAD : MARK_GOOD;
    set_mark(b, p, tally->commit, mark);
}

void bisect_tell(struct bisect *b, size_t problem, size_t commit, enum bisect_answer answer)
{
    struct bisect_problem *p = problem_at(b, problem);
    check_commit(b, commit);
    struct bisect_tally *tally = vote(p, commit, answer);
    tally->good += answer == BISECT_GOOD;
    tally->bad += answer == BISECT_BAD;
    follow_majority(b, p, tally);
}

void bisect_tell_odds(struct bisect *b, size_t problem, size_t commit, enum bisect_answer answer,
                      double error_probability)
{
    struct bisect_problem *p = problem_at(b, problem);
    check_commit(b, commit);
    if (!(error_probability >= 0 && error_probability <= 0.5))
        bug("probability %g of a wrong answer", error_probability);
    struct bisect_tally *tally = vote(p, commit, answer);
    /* No measurement is surer than this: a zero would let one answer outvote any number of others.
     */
    double error = fmax(error_probability, 1e-9);
    double odds = log((1 - error) / error);
    if (answer != BISECT_SKIP)
        tally->log_odds += answer == BISECT_BAD ? odds : -odds;
    follow_majority(b, p, tally);
}

void bisect_skip(struct bisect *b, size_t commit)
{
    check_commit(b, commit);
    b->skipped[commit] = 1;
    for (size_t i = 0; i < b->problem_count; i++) {
        struct bisect_problem *p = &b->problems[i];
        if (p->marks[commit] == MARK_UNKNOWN)
            set_mark(b, p, commit, MARK_SKIPPED);
    }
}

enum bisect_state bisect_state(const struct bisect *b, size_t problem)
{
    return problem_at(b, problem)->state;
}

size_t bisect_culprit(const struct bisect *b, size_t problem)
{
    const struct bisect_problem *p = problem_at(b, problem);
    if (p->state != BISECT_FOUND)
        bug("problem %zu has no culprit", problem);
    return bisect__head(b, p);
}

size_t bisect_suspects(size_t *suspects, const struct bisect *b, size_t problem)
{
    const struct bisect_problem *p = problem_at(b, problem);
    if (p->state == BISECT_NOT_REPRODUCED || p->state == BISECT_NEVER_GOOD)
        return 0;
    size_t count = 0;
    for (size_t i = 0; i < b->count; i++) {
        if (p->suspects[i])
            suspects[count++] = i;
    }
    return count;
}

int bisect_steps_left(const struct bisect *b)
{
    size_t largest = 1;
    for (size_t i = 0; i < b->problem_count; i++) {
        const struct bisect_problem *p = &b->problems[i];
        if (p->state == BISECT_OPEN && p->suspect_count > largest)
            largest = p->suspect_count;
    }
    int steps = 0;
    while (((size_t)1 << steps) < largest)
        steps++;
    return steps;
}
