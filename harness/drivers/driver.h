/* driver: our adapter to one kind of candidate: (library or tools, problem, variant, arch) -> bundle of code objects. Runs in a worker child only.
 *
 * One file a driver, behind the table `drivers`. A driver answers with a value; what it prints to its standard error is kept in the job's log.
 */
#ifndef ASSAY_DRIVER_H
#define ASSAY_DRIVER_H

#include "harness/result.h"
#include "reference/problem.h"
#include "src/gpu.h"

enum { BUNDLE_MAX_KERNELS = 256 };

struct bundle_kernel {
    const char *name;
    struct gpu_dims grid, block;
    const void *code; /* code_bytes, NULL-free ELF or PTX (PTX with its NUL) */
    size_t code_bytes;
};

/* Code objects + launch geometry + problem: what execution needs, movable to another machine. Kernels run in this order. */
struct bundle {
    struct problem problem;
    const char *arch;
    int64_t workspace_bytes;
    struct bundle_kernel *kernels;
    size_t count;
    char code_id[REPO_SHA_SIZE]; /* blob id of code and geometry: equal ids, equal machine code */
    int64_t code_bytes;
};
/* One file: a text head ("assay-bundle 1", lines, "end"), then the code objects. Reading checks everything against the file's size. */
int bundle_write(const struct bundle *b, const char *path) MUST_USE;
int bundle_read(struct bundle *out, struct arena *a, const char *path) MUST_USE;

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
