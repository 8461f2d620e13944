#include "harness/bisect_internal.h"

#include <math.h>

/* Share of searches whose range holds no culprit at all (facts: 0.1 to 0.4 by the history of a
 * repository): the low end, since both ends have been seen to differ before anyone asks. */
static const double NULL_PRIOR = 0.1;

static double log_beta(double a, double b)
{
    return lgamma(a) + lgamma(b) - lgamma(a + b);
}

/* Marginal likelihood of `bad` of `total` answers at an unknown rate, with Jeffreys' prior; 0
 * without answers. */
static double log_evidence(double bad, double total)
{
    return log_beta(0.5 + bad, 0.5 + total - bad) - log_beta(0.5, 0.5);
}

/* What was told at a commit and its descendants. */
struct evidence {
    double bad, total, log_odds;
};

/* Fills at[i] for each commit i and returns the sum of all. One sweep for each commit that was
 * told. */
static struct evidence gather(struct evidence *at, unsigned char *ancestors, const struct bisect *b,
                              const struct bisect_problem *p)
{
    struct evidence all = {0};
    for (size_t k = 0; k < p->tally_count; k++) {
        const struct bisect_tally *tally = &p->tallies[k];
        struct evidence told = {tally->bad, tally->bad + tally->good, tally->log_odds};
        if (!b->reachable[tally->commit])
            continue;
        bisect__mark_ancestors(ancestors, b, tally->commit);
        for (size_t i = 0; i <= tally->commit; i++) {
            at[i].bad += ancestors[i] ? told.bad : 0;
            at[i].total += ancestors[i] ? told.total : 0;
            at[i].log_odds += ancestors[i] ? told.log_odds : 0;
        }
        all.bad += told.bad;
        all.total += told.total;
        all.log_odds += told.log_odds;
    }
    return all;
}

/* Log likelihood of the culprit that has `after` behind it. Odds are relative to "good everywhere".
 */
static double log_likelihood(struct evidence after, struct evidence all)
{
    return log_evidence(after.bad, after.total) +
           log_evidence(all.bad - after.bad, all.total - after.total) + after.log_odds;
}

struct posterior {
    double suspects, others, none; /* unnormalised */
};

/* Log weight of each hypothesis into weights[i]; weights[0], the good end, is the null hypothesis.
 * Returns the largest. */
static double weigh_hypotheses(double *weights, const struct evidence *at, struct evidence all,
                               const struct bisect *b)
{
    size_t candidates = 0;
    for (size_t i = 1; i < b->count; i++)
        candidates += b->reachable[i];
    double log_prior = log((1 - NULL_PRIOR) / (double)candidates);
    weights[0] = log(NULL_PRIOR) + log_evidence(all.bad, all.total);
    double largest = weights[0];
    for (size_t i = 1; i < b->count; i++) {
        weights[i] = b->reachable[i] ? log_prior + log_likelihood(at[i], all) : -INFINITY;
        largest = fmax(largest, weights[i]);
    }
    return largest;
}

static struct posterior find_posterior(const struct bisect *b, const struct bisect_problem *p)
{
    struct arena memory = {0};
    struct evidence *at = ARENA_ARRAY(&memory, b->count, struct evidence);
    unsigned char *ancestors = ARENA_ARRAY(&memory, b->count, unsigned char);
    double *weights = ARENA_ARRAY(&memory, b->count, double);
    struct evidence all = gather(at, ancestors, b, p);
    double largest = weigh_hypotheses(weights, at, all, b);
    struct posterior sum = {.none = exp(weights[0] - largest)};
    for (size_t i = 1; i < b->count; i++)
        *(p->suspects[i] ? &sum.suspects : &sum.others) += exp(weights[i] - largest);
    arena_release(&memory);
    return sum;
}

static struct posterior posterior_of(const struct bisect *b, size_t problem)
{
    if (problem >= b->problem_count)
        bug("problem %zu of %zu", problem, b->problem_count);
    return find_posterior(b, &b->problems[problem]);
}

double bisect_error_probability(const struct bisect *b, size_t problem)
{
    struct posterior sum = posterior_of(b, problem);
    return (sum.others + sum.none) / (sum.suspects + sum.others + sum.none);
}

double bisect_null_probability(const struct bisect *b, size_t problem)
{
    struct posterior sum = posterior_of(b, problem);
    return sum.none / (sum.suspects + sum.others + sum.none);
}
