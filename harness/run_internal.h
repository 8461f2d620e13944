/* run_internal: what the parts of run share: the job texts that workers read, where bundles lie, and a worker's answer read into a row.
 */
#ifndef ASSAY_RUN_INTERNAL_H
#define ASSAY_RUN_INTERNAL_H

#include "harness/run.h"
#include "src/proc.h"

/* A worker that reads `job` (one text or several after each other), with the candidate's limits of memory and output. */
struct proc_spec run_worker_spec(struct runner *r, const char *job, int64_t wall_ns);
const char *run_compile_text(struct arena *a, const struct runner *r, const struct artifact *artifact, const char *problem, const char *variant,
                             const char *bundle);
const char *run_execute_text(struct arena *a, const struct runner *r, const struct job *j, const char *bundle);
/* Where the bundle of (artifact, problem, variant, arch) lies; a round above the first has its own. */
int run_bundle_path(char **out, const struct runner *r, const struct artifact *artifact, const char *problem, const char *variant,
                    int64_t round) MUST_USE;

/* A row with what the job says, and nothing measured yet (outcome MISSING, stage compile). */
void run_begin_row(struct result_row *row, const struct runner *r, const struct job *j);
/* Did the child end its last answer? */
bool run_answered(const struct proc_result *p);
/* Outcome, stage, detail and signature of an answer; what is missing keeps its place. */
void run_read_verdict(struct result_row *row, struct arena *a, const char *answer);
/* Code id, kernels, sizes and time of a compilation. */
void run_read_compile(struct result_row *row, struct arena *a, const char *answer);
int64_t run_read_int(const char *answer, const char *key); /* 0 when there is none */
/* A child that did not answer: which, and how it ended. The signature leaves out what is measured anew each time, so that rows of one cause
 * share it. */
void run_read_end(struct result_row *row, struct arena *a, const struct proc_result *p, const char *who);
/* The first line of a file that begins with `key`, behind its colon; "" when there is none. */
void run_read_file_line(char *value, size_t size, const char *path, const char *key);

/* What a compilation said is remembered beside its bundle, so that both are found together. Crashes and time-outs are tried again next time. */
int run_keep_compile(struct arena *a, const char *bundle, const char *answer) MUST_USE;
bool run_find_compile(struct result_row *row, struct arena *a, const char *bundle);

/* Run the jobs at `todo` (indices), as many workers at once as there are CPUs. First compilations of several problems share a warm worker; whatever does
 * not pass there, and whatever was in a worker that died, is repeated in a worker of its own before it is believed. A round above 0 has a fresh
 * worker for each problem. */
int run_crew(struct result_row *rows, struct arena *a, struct runner *r, const struct job *jobs, const size_t *todo, size_t count) MUST_USE;

#endif
