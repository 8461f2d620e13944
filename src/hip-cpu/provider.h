/* provider: what the files of hip-cpu share. README.md in this folder says what the provider
 * promises.
 *
 * Every entry point has one shape: `return HIP_CALL(work(...));`. HIP_CALL brings the device up if
 * need be, asks fault.c whether this call is to fail, and keeps the error for hipGetLastError. The
 * work itself is a static function that knows nothing of this. Threads: HIP calls come from one
 * thread; only kernels run on others (launch.c).
 */
#ifndef ASSAY_HIP_CPU_PROVIDER_H
#define ASSAY_HIP_CPU_PROVIDER_H

#include <hip/hip_runtime_api.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* call.c */
#define HIP_CALL(work) HIP_CALL_AS(__func__, work)
#define HIP_CALL_AS(name, work) (call_begin(name) == hipSuccess ? call_end(work) : call_last())
hipError_t call_begin(const char *name);
hipError_t call_end(hipError_t result);
hipError_t call_last(void);
/* One line on stderr, "hip-cpu: ...": HIP's numbers cannot carry a reason, and the worker's log
 * keeps this one. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* fault.c: which call fails on request. */
hipError_t fault_reset(void); /* read ASSAY_HIP_CPU_FAIL and count from 1 again;
                                 hipErrorInvalidValue if it makes no sense */
bool fault_strikes(const char *name);

/* knob.c: an environment variable that holds a number; `fallback` where it is unset or empty, false
 * (and a complaint) where it is no number in lowest..highest. */
bool knob_number(uint64_t *out, const char *name, uint64_t fallback, uint64_t lowest,
                 uint64_t highest);

/* device.c: the one device. */
struct device {
    char arch[32];  /* "x86-64-v3" */
    char name[128]; /* the CPU's model name */
    uint64_t memory_bytes;
    int threads; /* that share the workgroups of one launch */
    int clock_khz;
};
enum {
    MAX_THREADS = 1024,
    MAX_BLOCK = 1024,           /* work-items of a workgroup, as on AMD's devices */
    MAX_GRID = 0x7fffffff,      /* workgroups per dimension */
    MAX_SHARED_BYTES = 1 << 16, /* LDS of one workgroup */
};
hipError_t device_reset(void);         /* hipInit: read the knobs */
hipError_t device_ready(void);         /* device_reset on the first call only */
const struct device *device_get(void); /* only after device_ready */
bool device_exists(int index);

/* image.c: a validated copy of the code object in a memory file. HIP gives no size: it is read from
 * the ELF headers. */
hipError_t image_copy(int *out_fd, const void *image);

/* module.c */
typedef void (*kernel_function)(void **params, const uint32_t workgroup[3]);
kernel_function module_kernel(hipFunction_t handle); /* NULL for a handle that is not alive */

/* stream.c */
bool stream_is_alive(hipStream_t stream); /* true for NULL, the default stream */

#endif
