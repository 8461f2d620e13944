/* plan: artifacts x problems x data kinds, less what the store holds, as ordered jobs with a because each. */
#ifndef ASSAY_PLAN_H
#define ASSAY_PLAN_H

#include "harness/run.h"

struct plan {
    struct job *jobs;
    size_t count;
    size_t stored;   /* of them, found in the store: they will not run */
    bool *is_stored; /* by job */
};
/* Every problem in both data kinds (integer only where an exact range exists; real for float types). `artifacts` of OK builds only. */
int plan_correctness(struct plan *out, struct arena *a, struct runner *r, const struct artifact *artifacts, size_t artifact_count,
                     const struct sweep_problem *problems, size_t problem_count, int64_t round) MUST_USE;

#endif
