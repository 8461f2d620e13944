/* driver: our adapter to one kind of candidate: (library or tools, problem, variant, arch) -> bundle of code objects. Runs in a worker child only.
 *
 * One file a driver, behind the table `drivers`. A driver answers with a value; what it prints to its standard error is kept in the job's log.
 */
#ifndef ASSAY_DRIVER_H
#define ASSAY_DRIVER_H

#include "harness/bundle.h"
#include "harness/result.h"

struct driver_request {
    const char *library;     /* absolute path of the artifact */
    struct problem problem;
    const char *arch;
    const char *variant;     /* tuning string, "" for the candidate's choice */
    bool asymmetric_pads;
};
struct driver_answer {
    enum outcome outcome;    /* OK, NOT_APPLICABLE, COMPILE_ERROR or INFRA */
    char detail[512];
    struct bundle bundle;    /* OK only */
};

struct driver {
    const char *name;
    const char *summary; /* for doctor and documentation */
    int (*compile)(struct driver_answer *out, struct arena *a, const struct driver_request *request);
    /* The candidate's own command or option string for the problem, for reports; ERR_INVALID when it has none. */
    int (*spell)(struct buf *out, const struct driver_request *request);
};
extern const struct driver driver_miir;
/* NULL-terminated. */
extern const struct driver *const drivers[];
const struct driver *driver_find(const char *name);

#endif
