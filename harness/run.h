/* run: the parent side of jobs: which child with which limits, what its end means, and the row. Correctness jobs run as many at once as there are CPUs;
 * timing runs alone, under the machine's timing lock.
 */
#ifndef ASSAY_RUN_H
#define ASSAY_RUN_H

#include "harness/build.h"
#include "reference/tensor.h"

/* What jobs of one campaign share. */
struct runner {
    struct workspace *workspace;
    const struct candidate *candidate;
    const struct machine *machine;
    const struct gate *gate;
    const char *self;     /* this executable, for worker children */
    const char *arch;     /* resolved */
    int64_t epoch;
    const char *epoch_text;
    int64_t jobs_run, jobs_found; /* counted over the runner's life */
    int64_t pairs_run, pairs_found;
    struct arena arena;
};
/* Asks the device its facts (in a child) and makes the epoch. ERR_NOTFOUND when there is no such device or provider. */
int runner_open(struct runner **out, struct workspace *w, const struct candidate *c, const struct machine *m, const struct gate *g) MUST_USE;
void runner_close(struct runner *r);
void runner_close_ptr(struct runner **r);

struct job {
    const struct artifact *artifact;
    const char *problem;   /* canonical text */
    const char *variant;
    enum data_kind data;
    int64_t seed;
    int64_t round;         /* each has a compile of its own; above 0 in a fresh worker */
    const char *because;   /* why it is to run; filled by plan */
};
/* The id of a job's text. */
int run_job_id(char out[REPO_SHA_SIZE], const struct runner *r, const struct job *j) MUST_USE;
/* Run every job that the store does not hold, and give all rows, in the order of the jobs. rows has room for `count`. */
int run_jobs(struct result_row *rows, struct arena *a, struct runner *r, const struct job *jobs, size_t count) MUST_USE;

/* The id of the code that each job's build makes of its problem in the job's round, "" where it makes none: compiled in a fresh worker (round above 0),
 * or remembered. Nothing is executed or stored. */
int run_codes(const char **codes, struct arena *a, struct runner *r, const struct job *jobs, size_t count) MUST_USE;

/* Pairs of two artifacts on one problem, each a fresh process in which launches of both take turns (ABBA), until the session holds `pairs` of them. *outcome is OK, or what went wrong (then detail). */
struct timing_request {
    const char *session;
    const struct artifact *anchor, *artifact;
    const char *problem, *variant;
    int64_t pairs;
};
int run_pairs(struct pair_row **out, size_t *count, enum outcome *outcome, const char **detail, struct arena *a, struct runner *r,
              const struct timing_request *request) MUST_USE;

#endif
