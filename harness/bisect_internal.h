/* bisect_internal: what the three files of bisect share: the graph, the problems, and small questions about them.
 *
 * bisect.c            the graph, the answers, the state of a problem
 * bisect_choice.c     which commit is asked next
 * bisect_posterior.c  how sure the answers make it
 *
 * Sets of commits are arrays of one byte a commit: they are intersected as a stream, and N is at most some ten thousand.
 * A problem's suspects are convex: a commit that lies between two suspects is one itself.
 */
#ifndef ASSAY_BISECT_INTERNAL_H
#define ASSAY_BISECT_INTERNAL_H

#include "harness/bisect.h"
#include "src/mem.h"

/* What a problem knows of a commit; one byte each. */
enum bisect_mark { MARK_UNKNOWN, MARK_GOOD, MARK_BAD, MARK_SKIPPED };

/* Everything that was told of one commit for one problem. */
struct bisect_tally {
    size_t commit;
    unsigned good, bad; /* answers of unknown reliability */
    double log_odds;    /* sum of ln(P(answer | bad) / P(answer | good)) of answers of known reliability */
    int votes;          /* bad less good answers of both kinds */
    bool skipped;
};

struct bisect_problem {
    struct bisect_tally *tallies; /* by ascending commit */
    size_t tally_count, tally_capacity;
    unsigned char *marks;    /* enum bisect_mark of each commit */
    unsigned char *suspects; /* 1 for each suspect */
    size_t suspect_count;
    enum bisect_state state;
};

struct bisect {
    struct arena memory; /* everything but the two arrays that grow */
    size_t count;
    size_t *parent_start; /* parents of i: parents[parent_start[i] .. parent_start[i + 1]) */
    size_t *parents;
    double *costs;
    unsigned char *skipped;   /* commits that no problem can be asked about */
    unsigned char *reachable; /* commits that the bad end reaches */
    struct bisect_problem *problems;
    size_t problem_count, problem_capacity;

    size_t ancestors_of; /* the commit whose ancestors `ancestors` holds: one commit is told for many problems in a row */
    unsigned char *ancestors;

    unsigned char *visited; /* scratch of the choice */
    size_t *weights;
    size_t *list;
    double *gains;
    unsigned char *offers;
};

/* Set marks[i] = 1 for `commit` and each of its ancestors and 0 for all others. O(N). */
void bisect__mark_ancestors(unsigned char *marks, const struct bisect *b, size_t commit);
/* weights[i] = how many suspects of p commit i reaches, itself included. O(N) for a line, O(N * merges) at worst. */
void bisect__weigh(size_t *weights, unsigned char *scratch, const struct bisect *b, const struct bisect_problem *p);
/* The youngest suspect; there must be one. */
size_t bisect__head(const struct bisect *b, const struct bisect_problem *p);

#endif
