/* compare: two builds of a candidate on the same problems in the same session: runs what is missing and leaves a comparison in the store. */
#ifndef ASSAY_COMPARE_H
#define ASSAY_COMPARE_H

#include "harness/judge.h"
#include "harness/run.h"

/* One problem of a comparison with what both builds say. */
struct compared {
    struct comparison_item item;
    struct check_verdict base, head;
    enum check_change change;
    bool timed;
    struct speed_judgement speed;
    struct pair_row *pairs;
    size_t pair_count;
};
struct comparison {
    struct comparison_row row;
    struct compared *items; /* sweeps' problems, then layers of models */
    size_t count;
    const struct compared **once; /* the items without a model's layers that stand in a sweep too */
    size_t once_count;
    struct coverage_judgement coverage; /* these, and the figures' indices, are over `once` */
    struct figure_judgement figures[FIGURE_COUNT];
};

/* What to compare. */
struct compare_request {
    const struct sweep *sweeps;
    size_t sweep_count;
    const struct model *models;
    size_t model_count;
    const char *variant;
    const struct artifact *base, *head;
    const char *command;
    int64_t round;      /* above 0: a new session beside the stored one */
    bool no_timing;
};
int compare_run(struct comparison *out, struct arena *a, struct runner *r, const struct compare_request *request) MUST_USE;
/* The same comparison from rows alone, judged by `g`. */
int compare_load(struct comparison *out, struct arena *a, struct store *s, const struct gate *g, const char *id) MUST_USE;

#endif
