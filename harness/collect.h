/* collect: rows and verdicts into a report's model. Reads the store and the repository, runs nothing. */
#ifndef ASSAY_COLLECT_H
#define ASSAY_COLLECT_H

#include "harness/compare.h"
#include "reports/report.h"

struct collect_request {
    struct store *store;
    struct repo *repo;               /* subjects and authors; NULL for prebuilt */
    const struct candidate *candidate;
    const struct gate *gate;
    const struct comparison *comparison;
    const char *options;             /* what the printed commands need: "--workspace DIR --candidate FILE ..." */
};
int collect_report(struct report *out, struct arena *a, const struct collect_request *request) MUST_USE;

#endif
