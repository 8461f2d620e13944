/* gpu: the device, through one table of HIP entry points taken with dlopen from a provider.
 *
 * A provider is a shared library that exports HIP's C entry points: AMD's libamdhip64.so, or one of ours (hip-cpu: kernels run on the
 * CPU; see src/hip-cpu/README.md). No caller knows which it is. Only worker children open a provider.
 * Every function returns 0 or ERR_FOREIGN with "hipMalloc: hipErrorOutOfMemory (2)"; gpu_failed_call() then gives the call's name alone and
 * gpu_failed_code() HIP's number, for the row.
 * hipDeviceProp_t changed its layout at ROCm 6: only attributes are asked, and the versioned entry point for the arch name.
 */
#ifndef ASSAY_GPU_H
#define ASSAY_GPU_H

#include "src/err.h"

#include <stddef.h>
#include <stdint.h>

struct gpu;
struct gpu_module;
struct gpu_kernel;
struct gpu_event;

/* "hip-cpu" is the library that comes with assay (beside the executable, or in ASSAY_LIBDIR); anything else is a path or a
 * soname for dlopen. Calls hipInit and takes device `index`. ERR_NOTFOUND when the library is not there, lacks an entry point
 * (named), or has no such device. */
int gpu_open(struct gpu **out, const char *provider, int index) MUST_USE;
void gpu_close(struct gpu *g); /* NULL is fine */

struct gpu_facts {
    char arch[64];          /* "gfx90a:sramecc+:xnack-", "x86-64-v3" */
    char name[128];
    int runtime_version;    /* hipRuntimeGetVersion */
    int driver_version;
    int compute_units;
    int clock_khz;
    int64_t memory_bytes;
};
int gpu_facts(struct gpu_facts *out, struct gpu *g) MUST_USE;

/* Device memory, in bytes. */
int gpu_malloc(void **out, struct gpu *g, size_t bytes) MUST_USE;
int gpu_free(struct gpu *g, void *pointer) MUST_USE; /* NULL is fine */
int gpu_copy_in(struct gpu *g, void *device, const void *host, size_t bytes) MUST_USE;
int gpu_copy_out(struct gpu *g, void *host, const void *device, size_t bytes) MUST_USE;
int gpu_memset(struct gpu *g, void *device, int byte, size_t bytes) MUST_USE;

/* A code object from memory. The bytes must stay until gpu_module_unload. */
int gpu_module_load(struct gpu_module **out, struct gpu *g, const void *image) MUST_USE;
int gpu_module_unload(struct gpu *g, struct gpu_module *m) MUST_USE;
/* Owned by the module. */
int gpu_module_kernel(struct gpu_kernel **out, struct gpu *g, struct gpu_module *m, const char *name) MUST_USE;

struct gpu_dims {
    uint32_t x, y, z;
};
/* Queue one launch on assay's stream: `grid` counts workgroups, `block` work-items of one; params as hipModuleLaunchKernel's kernelParams. */
int gpu_launch(struct gpu *g, struct gpu_kernel *k, struct gpu_dims grid, struct gpu_dims block, uint32_t shared_bytes, void **params) MUST_USE;
int gpu_synchronize(struct gpu *g) MUST_USE;

int gpu_event_create(struct gpu_event **out, struct gpu *g) MUST_USE;
int gpu_event_destroy(struct gpu *g, struct gpu_event *e) MUST_USE;
int gpu_event_record(struct gpu *g, struct gpu_event *e) MUST_USE;
/* Wait for `stop` and give the time between two recorded events, in ns. */
int gpu_event_elapsed(int64_t *out_ns, struct gpu *g, struct gpu_event *start, struct gpu_event *stop) MUST_USE;

/* Of the last call that failed: "" and 0 if none did. */
const char *gpu_failed_call(void);
int gpu_failed_code(void);

#endif
