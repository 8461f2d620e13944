/* tested: every configuration that the store has rows of, with what came of it. Reads rows, runs nothing. */
#ifndef ASSAY_TESTED_H
#define ASSAY_TESTED_H

#include "harness/judge.h"

/* A problem with its tuning string. */
struct tested {
    const char *problem, *variant;
    enum outcome outcome; /* of the build that was tested last, all data kinds and rounds together */
};
/* Which rows count; NULL: all. */
struct tested_filter {
    const char *candidate, *commit;
};
/* Once each, in the order of problem and variant. */
int tested_list(struct tested **out, size_t *count, struct arena *a, struct store *s, const struct gate *g, const struct tested_filter *filter) MUST_USE;

#endif
