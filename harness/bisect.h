/* bisect: the pure search on a commit graph. It is told answers and asks for the next commit; it never builds, runs or waits.
 *
 * Range    commits[0] is the good end, the last is the bad end; parents stand before children (as repo_range gives them). A problem is good
 *          at the good end and bad at the bad end; its culprit is a commit that is bad and whose parents (in the range) are all good.
 * Many     problems share every asked commit: a commit is asked once, for all problems that are still open there. Each problem keeps its own suspects.
 * Order    the two ends first (bad end, then good end), for all problems: bad end not bad: NOT-REPRODUCED; good end not good: NEVER-GOOD.
 *          Then first-parent steps first, then into the blamed merge: a merge that is bad while its first parent is good is entered by its
 *          other parents; if those are good too, the merge itself is the culprit. With `first_parent_only` side branches are never entered,
 *          and the merge that brought the fault is blamed.
 * Choice   the commit that splits the suspects of the open problems best: sum over distinct open suspect sets of the binary entropy of the
 *          split, divided by the cost of asking there (bisect_set_cost: cached builds are cheap). Ties go to the older commit. A commit counts for
 *          as many suspects as it reaches. A line of N suspects takes at most ceil(log2 N) questions beyond the two ends.
 * Truth    a culprit makes all its descendants bad. A commit is blamed when it was told bad and each parent in the range is good or an
 *          ancestor of a good one; so with several culprits the one that is named is still one of them. One exception: a commit that cannot be
 *          asked is blamed when all its parents are good and separate children of it are bad.
 * Skip     an unanswerable commit stays a suspect and is never asked again; the search walks 1, 2, 4, 8 ... away from it. When only skipped
 *          commits separate good from bad the problem ends as a RANGE: the set of suspects. It is minimal: commits outside the set that would
 *          divide it are asked first.
 * Surety   every answer counts (repeats too): Beta-Bernoulli marginal likelihood per suspect with Jeffreys' prior and a null hypothesis "none"
 *          (facts/bisection.md 4(a)7): L_b = ln B(1/2+Y_ge, 1/2+N_ge-Y_ge) + ln B(1/2+Y_lt, 1/2+N_lt-Y_lt), Y bad of N answers at the
 *          descendants of b (ge) and elsewhere (lt). Speed answers come with their own likelihoods instead (bisect_tell_odds).
 * Cost     O(N) a question for a linear range, O(N * merges) at worst for a DAG, each for every distinct suspect set, N commits; memory O(N)
 *          a problem. 1,000 commits and 300 problems take milliseconds a question.
 */
#ifndef ASSAY_BISECT_H
#define ASSAY_BISECT_H

#include "src/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bisect;

struct bisect_node {
    const size_t *parents; /* indices, all smaller than the node's own */
    size_t parent_count;
};

enum bisect_answer { BISECT_GOOD, BISECT_BAD, BISECT_SKIP };

enum bisect_state {
    BISECT_OPEN,
    BISECT_FOUND,          /* one culprit */
    BISECT_RANGE,          /* a set of suspects that skipped commits hide */
    BISECT_NOT_REPRODUCED, /* the bad end is not bad */
    BISECT_NEVER_GOOD,     /* the good end is not good */
    BISECT_UNTESTABLE,     /* an end cannot be answered */
};

/* Copies the graph. ERR_INVALID when a parent does not stand before its child, the range has fewer than two commits, or the last commit does not
 * reach the first. */
int bisect_new(struct bisect **out, const struct bisect_node *commits, size_t count, bool first_parent_only) MUST_USE;
void bisect_free(struct bisect *b);

/* A problem to search for; returns its number, from 0. */
size_t bisect_add_problem(struct bisect *b);
/* Relative cost of asking at a commit (1 when never set; > 0). */
void bisect_set_cost(struct bisect *b, size_t commit, double cost);

/* The next commit to ask about, or false when every problem has ended. `problems` (room for as many as were added) lists the open problems whose suspects the
 * answer can divide; the caller may tell answers for others too. */
bool bisect_ask(size_t *commit, size_t *problems, size_t *problem_count, struct bisect *b);
/* May be told in any order, for any commit, repeatedly. A contradiction (an ancestor of a good one bad, beyond what bisect expects) is kept for the
 * posterior; the state follows the majority at each commit, in whatever order the answers came. As many good as bad answers at
 * a commit are none: it is asked once more. A skip does not outweigh an answer. */
void bisect_tell(struct bisect *b, size_t problem, size_t commit, enum bisect_answer answer);
/* The same for an answer with a known probability of being wrong (a speed measurement). */
void bisect_tell_odds(struct bisect *b, size_t problem, size_t commit, enum bisect_answer answer, double error_probability);
/* A commit that cannot be answered for any problem (it does not build). */
void bisect_skip(struct bisect *b, size_t commit);

enum bisect_state bisect_state(const struct bisect *b, size_t problem);
/* BISECT_FOUND: the culprit. */
size_t bisect_culprit(const struct bisect *b, size_t problem);
/* The suspects left, ascending, none once NOT_REPRODUCED or NEVER_GOOD; `suspects` has room for every commit. */
size_t bisect_suspects(size_t *suspects, const struct bisect *b, size_t problem);
/* Posterior probability that the culprit stated (FOUND) or the set (RANGE) is wrong; while OPEN, that the suspects are. O(N) a commit told. */
double bisect_error_probability(const struct bisect *b, size_t problem);
/* Posterior probability that there is no culprit: the answers are noise of one rate everywhere. */
double bisect_null_probability(const struct bisect *b, size_t problem);
/* How many questions are still to be expected (log2 of the largest suspect set, rounded up). */
int bisect_steps_left(const struct bisect *b);

#endif
