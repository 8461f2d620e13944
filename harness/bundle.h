/* bundle: code objects + launch geometry + problem, as one file: what execution needs, movable to another machine.
 *
 * File  "assay-bundle 1", lines `key value`, one line `kernel NAME GX GY GZ BX BY BZ BYTES` each, "end", then the code objects one after
 *       another. Reading checks everything against the file's size; bundles are made by worker children and read by worker children.
 */
#ifndef ASSAY_BUNDLE_H
#define ASSAY_BUNDLE_H

#include "reference/problem.h"
#include "src/gpu.h"
#include "src/mem.h"
#include "src/repo.h"

enum { BUNDLE_MAX_KERNELS = 256 };

struct bundle_kernel {
    const char *name;
    struct gpu_dims grid, block;
    const void *code; /* code_bytes, NULL-free ELF or PTX (PTX with its NUL) */
    size_t code_bytes;
};

/* Kernels run in this order. */
struct bundle {
    struct problem problem;
    const char *arch;
    int64_t workspace_bytes;
    struct bundle_kernel *kernels;
    size_t count;
    char code_id[REPO_SHA_SIZE]; /* blob id of code and geometry: equal ids, equal machine code */
    int64_t code_bytes;
};
/* Fill code_id and code_bytes from the kernels. */
int bundle_seal(struct bundle *b) MUST_USE;
int bundle_write(const struct bundle *b, const char *path) MUST_USE;
int bundle_read(struct bundle *out, struct arena *a, const char *path) MUST_USE;

#endif
