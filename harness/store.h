/* store: every row ever measured (SQLite; nobody else knows SQL). Append-only, WAL, one transaction a job: a kill at any point loses at
 * most the job in flight. Rows are found by the id of their job, which is the git blob id of the job's text, so that a rerun repeats nothing.
 *
 * Schema version in PRAGMA user_version with migrations in order; a newer schema than ours is refused in words.
 * Row structs are plain data; texts of rows that are read belong to the arena given, NULL columns come back as "".
 */
#ifndef ASSAY_STORE_H
#define ASSAY_STORE_H

#include "harness/result.h"
#include "src/mem.h"

#include <stdbool.h>

struct store;
int store_open(struct store **out, const char *path) MUST_USE;
void store_close(struct store *s); /* NULL is fine */
void store_close_ptr(struct store **s);

/* The circumstances that results may not be compared across: arch, device stack, CPU, reference version, assay version. Returns the id of the
 * (possibly new) epoch with this text. */
int store_epoch(int64_t *out, struct store *s, const char *text) MUST_USE;
int store_epoch_text(const char **out, struct arena *a, struct store *s, int64_t epoch) MUST_USE;

struct build_row {
    int64_t row;
    const char *artifact; /* recipe id */
    const char *candidate, *commit, *tree, *recipe;
    enum outcome outcome; /* OK or BUILD_ERROR, INFRA */
    const char *detail;   /* first error of the log */
    const char *log;      /* path */
    int64_t wall_ns, files_written, edges;
    bool clean;
    int64_t created_s;
};
int store_add_build(struct store *s, const struct build_row *r) MUST_USE;
/* The newest row of the artifact. */
int store_find_build(struct build_row *out, bool *found, struct arena *a, struct store *s, const char *artifact) MUST_USE;

/* The newest row of a commit's ordinary (not clean, not patched) build. */
int store_find_commit_build(struct build_row *out, bool *found, struct arena *a, struct store *s, const char *candidate, const char *commit) MUST_USE;

struct result_row {
    int64_t row;
    const char *job;       /* id */
    const char *artifact, *candidate, *commit, *problem, *variant, *machine, *data;
    int64_t seed, round;
    enum purpose purpose;
    enum stage stage;      /* the last stage reached */
    enum outcome outcome;
    const char *detail;    /* one line for people */
    const char *signature; /* of a failure */
    const char *code;      /* id of the code objects, "" when none came to be */
    int64_t kernels, workspace_bytes, code_bytes;
    int64_t compile_ns, execute_ns;
    const char *stats;     /* the worker's key-value lines */
    const char *log;       /* what the children printed, path or "" */
    int64_t epoch, created_s;
};
/* r->row is set. */
int store_add_result(struct store *s, struct result_row *r) MUST_USE;
int store_find_result(struct result_row *out, bool *found, struct arena *a, struct store *s, const char *job) MUST_USE;
int store_get_result(struct result_row *out, bool *found, struct arena *a, struct store *s, int64_t row) MUST_USE;
/* For qsort: by problem, then variant, then age. */
int store_by_configuration(const void *left, const void *right);
/* All rows of an artifact (all when NULL), oldest first. */
int store_list_results(struct result_row **out, size_t *count, struct arena *a, struct store *s, const char *artifact) MUST_USE;

/* Two fresh timing processes next to each other. */
struct pair_row {
    int64_t row;
    const char *session;   /* timing session: pairs are never reused by another */
    const char *problem, *variant;
    const char *anchor, *artifact; /* recipe ids: baseline and candidate */
    int64_t position;      /* from 0 in the session */
    bool anchor_first;
    int64_t anchor_ns, candidate_ns; /* medians */
    const char *anchor_samples, *candidate_samples; /* "1234 1240 ...", ns */
    const char *note;      /* load and clocks at the time */
    int64_t epoch, created_s;
};
int store_add_pair(struct store *s, const struct pair_row *r) MUST_USE;
int store_list_pairs(struct pair_row **out, size_t *count, struct arena *a, struct store *s, const char *session, const char *problem,
                     const char *artifact) MUST_USE;

/* A comparison of two builds: what was compared, so that it can be judged and reported again from rows. */
struct comparison_row {
    int64_t row;
    const char *id;        /* hash of what is compared */
    const char *candidate_file, *candidate, *machine_file, *gate_file;
    const char *base_commit, *head_commit, *base_artifact, *head_artifact;
    const char *command;   /* as typed */
    int64_t epoch, created_s;
};
struct comparison_item {
    const char *problem, *variant;
    const char *model;     /* "" or the model's name */
    int64_t batch, count;  /* of the model */
    bool check, time;      /* correctness wanted, speed wanted */
};
int store_add_comparison(struct store *s, const struct comparison_row *r, const struct comparison_item *items, size_t count) MUST_USE;
/* By id, a unique beginning of it, or "latest". */
int store_find_comparison(struct comparison_row *out, bool *found, struct arena *a, struct store *s, const char *id) MUST_USE;
int store_list_comparison_items(struct comparison_item **out, size_t *count, struct arena *a, struct store *s, const char *id) MUST_USE;
int store_list_comparisons(struct comparison_row **out, size_t *count, struct arena *a, struct store *s) MUST_USE;

/* The end of one search for one problem. */
struct blame_row {
    int64_t row;
    const char *hunt;      /* id: candidate, ends, label */
    const char *candidate, *good_commit, *bad_commit;
    const char *problem, *variant;
    const char *label;     /* "mismatch", "crash", ..., "slower" */
    const char *level;     /* PROVEN ... */
    const char *culprit, *parent;
    double error_probability;
    double effect;         /* slower: ratio t_bad / t_good - 1 */
    const char *because;
    const char *suspects;  /* SHAs, space separated */
    int64_t builds, runs;
    int64_t created_s;
};
/* One commit asked in a hunt for one problem. */
struct step_row {
    const char *hunt, *problem, *commit;
    const char *answer;    /* "good" "bad" "skip" */
    const char *detail;
};
/* The blame with its steps, in one transaction. */
int store_add_blame(struct store *s, const struct blame_row *r, const struct step_row *steps, size_t count) MUST_USE;
int store_find_blame(struct blame_row *out, bool *found, struct arena *a, struct store *s, const char *hunt, const char *problem) MUST_USE;
/* Newest blame of each problem between two commits of a candidate. */
int store_list_blames(struct blame_row **out, size_t *count, struct arena *a, struct store *s, const char *candidate, const char *good, const char *bad) MUST_USE;
int store_list_steps(struct step_row **out, size_t *count, struct arena *a, struct store *s, const char *hunt, const char *problem) MUST_USE;

struct store_counts {
    int64_t builds, builds_failed, results, results_bad, pairs, comparisons, blames, epochs;
};
int store_counts(struct store_counts *out, struct store *s) MUST_USE;

#endif
