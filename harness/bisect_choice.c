#include "harness/bisect_internal.h"

#include <math.h>
#include <string.h>

enum offer { OFFERED = 1, ASKABLE = 2 };

/* Where to look for the next commit, in this order; the first place with a commit that can be asked
 * is taken. */
enum place {
    FIRST_PARENTS, /* the main line below the youngest known bad commit */
    OTHER_PARENTS, /* into the merge that is bad while its first parent is good */
    ALL_SUSPECTS,  /* what the two leave, when commits on them are skipped */
    ELSEWHERE,     /* no suspects, but descendants of some and not of others */
    PLACES
};

/* Append the first-parent line of suspects that begins at `from`, up to where it joins one that is
 * listed already. */
static size_t add_line(size_t count, const struct bisect *b, const struct bisect_problem *p,
                       size_t from)
{
    for (size_t commit = from; p->suspects[commit] && !b->visited[commit];) {
        b->list[count++] = commit;
        b->visited[commit] = 1;
        if (b->parent_start[commit] < b->parent_start[commit + 1])
            commit = b->parents[b->parent_start[commit]];
    }
    return count;
}

static size_t list_parent_lines(const struct bisect *b, const struct bisect_problem *p, size_t head,
                                bool first)
{
    size_t start = b->parent_start[head], end = b->parent_start[head + 1], count = 0;
    memset(b->visited, 0, b->count);
    for (size_t k = start; k < end; k++) {
        if ((k == start) == first)
            count = add_line(count, b, p, b->parents[k]);
    }
    return count;
}

static size_t list_everywhere(const struct bisect *b, const struct bisect_problem *p,
                              size_t confirmed_head, bool suspects)
{
    size_t count = 0;
    for (size_t i = 0; i < b->count; i++) {
        if (suspects && p->suspects[i] && i != confirmed_head)
            b->list[count++] = i;
        if (!suspects && b->reachable[i] && !p->suspects[i] && b->weights[i] > 0 &&
            b->weights[i] < p->suspect_count)
            b->list[count++] = i;
    }
    return count;
}

static size_t list_place(const struct bisect *b, const struct bisect_problem *p, enum place place)
{
    size_t head = bisect__head(b, p);
    /* If not, bad answers on separate branches were taken for one culprit in their common past,
     * which must be confirmed. */
    bool confirmed = p->marks[head] == MARK_BAD;
    if (place == FIRST_PARENTS || place == OTHER_PARENTS)
        return confirmed ? list_parent_lines(b, p, head, place == FIRST_PARENTS) : 0;
    return list_everywhere(b, p, confirmed ? head : SIZE_MAX, place == ALL_SUSPECTS);
}

static bool any_unknown(const struct bisect *b, const struct bisect_problem *p, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (p->marks[b->list[i]] == MARK_UNKNOWN)
            return true;
    }
    return false;
}

/* Bits that a yes or no tells when `part` of `whole` equal suspects say yes. From the smaller part,
 * so that mirrored splits tie. */
static double split_bits(size_t part, size_t whole)
{
    if (part > whole - part)
        part = whole - part;
    double share = (double)part / (double)whole;
    return share > 0 ? -share * log2(share) - (1 - share) * log2(1 - share) : 0;
}

/* Add what the answer at each listed commit would tell about p. */
static void offer_list(struct bisect *b, const struct bisect_problem *p, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t commit = b->list[i];
        b->gains[commit] += split_bits(b->weights[commit], p->suspect_count);
        b->offers[commit] |= OFFERED;
        if (p->marks[commit] == MARK_UNKNOWN)
            b->offers[commit] |= ASKABLE;
    }
}

static void offer_commits(struct bisect *b, const struct bisect_problem *p)
{
    bisect__weigh(b->weights, b->visited, b, p);
    for (enum place place = FIRST_PARENTS; place < PLACES; place++) {
        size_t count = list_place(b, p, place);
        if (any_unknown(b, p, count)) {
            offer_list(b, p, count);
            return;
        }
    }
    bug("an open problem has nothing to ask");
}

/* Problems with the same suspects want the same questions. */
static bool has_older_twin(const struct bisect *b, const struct bisect_problem *p,
                           const size_t *firsts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct bisect_problem *first = &b->problems[firsts[i]];
        if (p->suspect_count == first->suspect_count &&
            memcmp(p->suspects, first->suspects, b->count) == 0)
            return true;
    }
    return false;
}

/* `firsts` has room for all problems. */
static void offer_all(struct bisect *b, size_t *firsts)
{
    size_t count = 0;
    memset(b->offers, 0, b->count);
    memset(b->gains, 0, b->count * sizeof *b->gains);
    for (size_t i = 0; i < b->problem_count; i++) {
        if (b->problems[i].state != BISECT_OPEN ||
            has_older_twin(b, &b->problems[i], firsts, count))
            continue;
        firsts[count++] = i;
        offer_commits(b, &b->problems[i]);
    }
}

static size_t best_offer(const struct bisect *b, unsigned char wanted, bool by_cost)
{
    size_t best = SIZE_MAX;
    double best_score = -1;
    for (size_t i = 0; i < b->count; i++) {
        double score = by_cost ? b->gains[i] / b->costs[i] : b->gains[i];
        if ((b->offers[i] & wanted) && score > best_score) {
            best = i;
            best_score = score;
        }
    }
    return best;
}

/* Broken commits come in blocks: leave one by steps that double, older side first. SIZE_MAX when
 * nothing is there to ask. */
static size_t gallop_from(const struct bisect *b, size_t skipped)
{
    size_t count = 0, at = 0;
    for (size_t i = 0; i < b->count; i++) {
        if (i == skipped)
            at = count;
        if (b->offers[i])
            b->list[count++] = i;
    }
    for (size_t step = 1; step < count; step *= 2) {
        if (step <= at && (b->offers[b->list[at - step]] & ASKABLE))
            return b->list[at - step];
        if (at + step < count && (b->offers[b->list[at + step]] & ASKABLE))
            return b->list[at + step];
    }
    return SIZE_MAX;
}

static size_t choose(const struct bisect *b)
{
    size_t ideal = best_offer(b, OFFERED, false);
    if (!(b->offers[ideal] & ASKABLE)) {
        size_t escape = gallop_from(b, ideal);
        if (escape != SIZE_MAX)
            return escape;
    }
    return best_offer(b, ASKABLE, true);
}

/* The open problems whose suspects the answer divides, or whose only way forward is to hear of this
 * commit itself. */
static size_t list_divided(size_t *problems, const struct bisect *b, size_t commit)
{
    size_t count = 0;
    bisect__mark_ancestors(b->visited, b, commit);
    for (size_t i = 0; i < b->problem_count; i++) {
        const struct bisect_problem *p = &b->problems[i];
        if (p->state != BISECT_OPEN || p->marks[commit] != MARK_UNKNOWN)
            continue;
        size_t weight = 0;
        for (size_t k = 0; k <= commit; k++)
            weight += p->suspects[k] & b->visited[k];
        if (weight > 0 && (weight < p->suspect_count || p->suspects[commit]))
            problems[count++] = i;
    }
    return count;
}

static size_t list_unknown(size_t *problems, const struct bisect *b, size_t commit)
{
    size_t count = 0;
    for (size_t i = 0; i < b->problem_count; i++) {
        if (b->problems[i].state == BISECT_OPEN && b->problems[i].marks[commit] == MARK_UNKNOWN)
            problems[count++] = i;
    }
    return count;
}

static bool any_open(const struct bisect *b)
{
    for (size_t i = 0; i < b->problem_count; i++) {
        if (b->problems[i].state == BISECT_OPEN)
            return true;
    }
    return false;
}

bool bisect_ask(size_t *commit, size_t *problems, size_t *problem_count, struct bisect *b)
{
    *problem_count = 0;
    if (!any_open(b))
        return false;
    const size_t ends[] = {b->count - 1, 0};
    for (size_t i = 0; i < COUNT_OF(ends) && *problem_count == 0; i++) {
        *commit = ends[i];
        *problem_count = list_unknown(problems, b, ends[i]);
    }
    if (*problem_count > 0)
        return true;
    offer_all(b, problems);
    *commit = choose(b);
    *problem_count = list_divided(problems, b, *commit);
    return true;
}
