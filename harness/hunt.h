/* hunt: the ask-build-run-judge-tell loop around bisect, for many problems at once, and the confirmation of what it finds.
 *
 * Answers  correctness: bad when the problem fails at the commit as it fails at the bad end (same outcome, same stage); good when it passes, and when it
 *          came further than that stage (a mismatch shows that it compiled); skip otherwise: an earlier failure hides the one that is hunted.
 *          speed: interleaved pairs against the good end's build until the interval of the log ratio lies on one side of half the effect
 *          measured between the ends, at most gate.speed.most_pairs; code identical to the good (bad) end's is good (bad) without measuring.
 * Confirm  parent and culprit run again: clean builds, fresh compiles, fresh processes (correctness: gate.bisect.confirm_runs each; speed: fresh pairs culprit
 *          against parent). Then the culprit's change is undone on top of the bad end, built and run: if that repairs it the blame is PROVEN, if it
 *          cannot be tried CONFIRMED.
 * Every answer is a row, so that a killed hunt goes on where it was; the steps and the blame are stored at the end.
 */
#ifndef ASSAY_HUNT_H
#define ASSAY_HUNT_H

#include "harness/judge.h"
#include "harness/run.h"

/* A hunt's `round` is at most this; the rounds of its confirmation lie above, apart from every other hunt's. */
enum { HUNT_MAX_ROUND = 1000000 };

struct hunt_problem {
    const char *problem, *variant; /* canonical */
    bool slower;                   /* a speed hunt; else correctness */
    const char *label;             /* correctness: outcome word at the bad end, NULL: whatever is found there; speed: "slower" */
};

struct hunt {
    struct runner *runner;
    struct builder *builder;
    char good[REPO_SHA_SIZE], bad[REPO_SHA_SIZE];
    const struct hunt_problem *problems;
    size_t count;
    bool first_parent;
    int64_t round; /* a fresh hunt instead of the stored one */
};
/* The blame of each problem, in order; all are stored as well. When good is no ancestor of bad the merge base is tested first and
 * becomes the good end if it is good (a note says so). */
int hunt_run(struct blame_row *blames, struct arena *a, const struct hunt *h) MUST_USE;

#endif
