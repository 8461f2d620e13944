/* hunt_internal: what the parts of hunt share: one search (chase) for several problems (quarries), a look at one commit (hunt_look), and the
 * confirmation of what was found (hunt_confirm).
 */
#ifndef ASSAY_HUNT_INTERNAL_H
#define ASSAY_HUNT_INTERNAL_H

#include "harness/bisect.h"
#include "harness/hunt.h"
#include "harness/plan.h"

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
    int64_t attempt;                /* speed: how often a confirmation has failed so far */
    const char *session;            /* of this attempt's pairs */
    bool unchanged;                 /* speed: both ends have the same code */
    bool stored;                    /* an earlier hunt has concluded */
    struct confirmation *confirmed; /* culprit and parent run again; NULL: not */
    const struct quarry *told_by;   /* whose confirmation that is; NULL: its own */
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

/* The index of the bad end; the good end is 0. */
size_t hunt_last(const struct chase *c);
/* Build the commit, or find it, once a hunt. */
int hunt_build_site(struct site *site, struct chase *c, size_t commit) MUST_USE;

/* The jobs of a problem at a build: both its kinds of data. */
int hunt_plan_checks(struct plan *out, struct chase *c, const struct artifact *artifact, const struct quarry *q, int64_t round) MUST_USE;
/* Several plans as one, so that their jobs share workers and CPUs. Each is found in the store afterwards. */
int hunt_run_together(struct chase *c, const struct plan *plans, size_t count) MUST_USE;
/* All kinds of data of a problem at a build, judged together. */
int hunt_check_at(struct check_verdict *out, struct chase *c, const struct artifact *artifact, const struct quarry *q, int64_t round) MUST_USE;
/* Bad when it fails as at the bad end. Good when it passes, and also when it came further than the stage of that failure: a mismatch shows that the
 * compiler no longer crashes, but a crash hides whether the result would be right. */
enum bisect_answer hunt_answer_of(const struct quarry *q, const struct check_verdict *v);

struct timing_request hunt_request_pairs(const struct chase *c, const struct quarry *q, const struct artifact *anchor,
                                         const struct artifact *artifact, int64_t pairs);
/* Pairs until the interval lies on one side of `middle`, or as many as the gate spends on one commit: a noisy machine needs more of them for the
 * same answer. A look before the number that was asked for ends it only when nothing is left to doubt. */
int hunt_measure(struct stats_effect *out, enum outcome *outcome, const char **detail, struct chase *c, struct timing_request t,
                 double middle) MUST_USE;
bool hunt_lies_beside(const struct stats_effect *e, double middle);
const char *hunt_describe_effect(struct arena *a, const struct stats_effect *e);

int hunt_ask_correctness(struct answer *out, struct chase *c, struct quarry *q, size_t commit) MUST_USE;
int hunt_ask_speed(struct answer *out, struct chase *c, struct quarry *q, size_t commit) MUST_USE;

/* Culprit and parent once more on builds of their own, and the bad end without the culprit. */
int hunt_confirm(struct confirmation *out, struct chase *c, struct quarry *q, size_t culprit) MUST_USE;
/* Did they do as the search says? */
bool hunt_is_confirmed(const struct confirmation *k);
const char *hunt_level_of(const struct confirmation *k);
const char *hunt_because_of(struct arena *a, const struct chase *c, const struct quarry *q, const struct confirmation *k, const char *parent);

#endif
