#include "src/gpu.h"

#include "src/mem.h"

#include <hip/hip_runtime_api.h>

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The entry points that every provider must have. The type of each is that of its declaration in
 * HIP's header. */
#define ENTRY_POINTS(X)                                                                            \
    X(hipInit)                                                                                     \
    X(hipGetErrorName)                                                                             \
    X(hipRuntimeGetVersion)                                                                        \
    X(hipDriverGetVersion)                                                                         \
    X(hipGetDeviceCount)                                                                           \
    X(hipSetDevice)                                                                                \
    X(hipDeviceGetName)                                                                            \
    X(hipDeviceGetAttribute)                                                                       \
    X(hipDeviceTotalMem)                                                                           \
    X(hipMalloc)                                                                                   \
    X(hipFree)                                                                                     \
    X(hipMemcpyAsync)                                                                              \
    X(hipMemsetAsync)                                                                              \
    X(hipModuleLoadData)                                                                           \
    X(hipModuleUnload)                                                                             \
    X(hipModuleGetFunction)                                                                        \
    X(hipModuleLaunchKernel)                                                                       \
    X(hipStreamCreate)                                                                             \
    X(hipStreamDestroy)                                                                            \
    X(hipStreamSynchronize)                                                                        \
    X(hipEventCreate)                                                                              \
    X(hipEventDestroy)                                                                             \
    X(hipEventRecord)                                                                              \
    X(hipEventSynchronize)                                                                         \
    X(hipEventElapsedTime)

struct hip {
#define MEMBER(name) __typeof__(name) *name;
    ENTRY_POINTS(MEMBER)
#undef MEMBER
    /* Of the two layouts of hipDeviceProp_t. At least one must be there; the caller's struct is
     * opaque bytes. */
    hipError_t (*properties_r0600)(void *properties, int device);
    hipError_t (*properties_r0000)(void *properties, int device);
};

/* Where the arch name stands in the two layouts, from the field order of HIP's public header
 * (5.2; 6.0, which LLVM's profile runtime reads at the same place). The header at hand is checked.
 * The struct is 792 or 1472 bytes: the room allows for growth. */
enum {
    R0000_ARCH_OFFSET = 396,
    R0600_ARCH_OFFSET = 1160,
    ARCH_BYTES = 256,
    PROPERTIES_ROOM = 8192
};
_Static_assert(offsetof(hipDeviceProp_t, gcnArchName) ==
                   (HIP_VERSION_MAJOR < 6 ? (int)R0000_ARCH_OFFSET : (int)R0600_ARCH_OFFSET),
               "the arch name moved within hipDeviceProp_t");

struct gpu {
    void *library;
    struct hip hip;
    int index;
    hipStream_t stream; /* takes all work, so that order never depends on HIP's default stream */
};

static const char *failed_call = "";
static int failed_code;

const char *gpu_failed_call(void)
{
    return failed_call;
}

int gpu_failed_code(void)
{
    return failed_code;
}

static int check(const struct gpu *g, const char *call, hipError_t code)
{
    if (code == hipSuccess)
        return 0;
    failed_call = call;
    failed_code = (int)code;
    const char *name = g->hip.hipGetErrorName(code);
    return err_set(ERR_FOREIGN, "%s: %s (%d)", call, name ? name : "unknown error", (int)code);
}

/* Call an entry point: 0 or ERR_FOREIGN with its name. */
#define CALL(g, name, ...) check((g), #name, (g)->hip.name(__VA_ARGS__))

/* ---- finding a provider ---- */

#define HIP_CPU_FILE "libassay-hip-cpu.so"

/* Where our own provider lies, from the folder of the executable: installed beside it, in a build
 * tree, under a prefix. */
static const char *const hip_cpu_folders[] = {
    "",
    "/src/hip-cpu",
    "/../src/hip-cpu",
    "/../../src/hip-cpu",
    "/../lib/assay",
    "/../lib64/assay",
    "/../lib/x86_64-linux-gnu/assay",
};

static int executable_folder(char out[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", out, PATH_MAX - 1);
    if (length < 0)
        return err_set(ERR_IO, "/proc/self/exe:");
    out[length] = '\0';
    char *slash = strrchr(out, '/');
    if (slash)
        *slash = '\0';
    return 0;
}

/* false also when the path would be too long to exist. */
static bool is_file(char out[PATH_MAX], const char *folder, const char *inner)
{
    int length = snprintf(out, PATH_MAX, "%s%s/%s", folder, inner, HIP_CPU_FILE);
    return length < PATH_MAX && access(out, R_OK) == 0;
}

static int find_hip_cpu(char out[PATH_MAX])
{
    const char *chosen = getenv("ASSAY_LIBDIR");
    if (chosen && *chosen && is_file(out, chosen, ""))
        return 0;
    char folder[PATH_MAX];
    int status = executable_folder(folder);
    if (status < 0)
        return status;
    for (size_t i = 0; i < COUNT_OF(hip_cpu_folders); i++) {
        if (is_file(out, folder, hip_cpu_folders[i]))
            return 0;
    }
    return err_set(ERR_NOTFOUND, HIP_CPU_FILE " is neither in ASSAY_LIBDIR (%s) nor near %s",
                   chosen && *chosen ? chosen : "not set", folder);
}

static int load_table(struct gpu *g, const char *provider)
{
#define LOAD(name)                                                                                 \
    g->hip.name = (__typeof__(name) *)dlsym(g->library, #name);                                    \
    if (!g->hip.name)                                                                              \
        return err_set(ERR_NOTFOUND, "%s lacks the entry point %s", provider, #name);
    ENTRY_POINTS(LOAD)
#undef LOAD
    g->hip.properties_r0600 =
        (hipError_t(*)(void *, int))dlsym(g->library, "hipGetDevicePropertiesR0600");
    g->hip.properties_r0000 =
        (hipError_t(*)(void *, int))dlsym(g->library, "hipGetDeviceProperties");
    if (!g->hip.properties_r0600 && !g->hip.properties_r0000)
        return err_set(ERR_NOTFOUND, "%s lacks the entry point hipGetDeviceProperties", provider);
    return 0;
}

/* NODELETE: AMD's runtime has threads and exit handlers that do not survive dlclose. */
static int open_library(struct gpu *g, const char *provider)
{
    char path[PATH_MAX];
    const char *file = provider;
    if (strcmp(provider, "hip-cpu") == 0) {
        int status = find_hip_cpu(path);
        if (status < 0)
            return status;
        file = path;
    }
    g->library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!g->library)
        return err_set(ERR_NOTFOUND, "provider %s: %s", provider, dlerror());
    return load_table(g, provider);
}

/* A machine without a GPU is told by an error, not by a count of 0: AMD's runtime gives 100 or 101.
 */
static bool says_no_device(void)
{
    return failed_code == hipErrorNoDevice || failed_code == hipErrorInvalidDevice;
}

static int take_device(struct gpu *g, const char *provider)
{
    int count = 0;
    int status = CALL(g, hipInit, 0);
    if (status == 0)
        status = CALL(g, hipGetDeviceCount, &count);
    if (status < 0 && says_no_device())
        return err_set(ERR_NOTFOUND, "%s: %s finds no device", err_message(), provider);
    if (status < 0)
        return status;
    if (g->index < 0 || g->index >= count)
        return err_set(ERR_NOTFOUND, "%s has %d device(s), none with index %d", provider, count,
                       g->index);
    status = CALL(g, hipSetDevice, g->index);
    return status < 0 ? status : CALL(g, hipStreamCreate, &g->stream);
}

int gpu_open(struct gpu **out, const char *provider, int index)
{
    struct gpu *g = xcalloc(1, sizeof *g);
    g->index = index;
    int status = open_library(g, provider);
    if (status == 0)
        status = take_device(g, provider);
    if (status < 0) {
        gpu_close(g);
        return status;
    }
    *out = g;
    return 0;
}

void gpu_close(struct gpu *g)
{
    if (!g)
        return;
    /* Nobody can act on a stream that does not go: the process is about to end. */
    if (g->stream)
        (void)g->hip.hipStreamDestroy(g->stream);
    if (g->library)
        dlclose(g->library);
    free(g);
}

/* ---- facts ---- */

static int read_arch(char *out, size_t size, struct gpu *g)
{
    _Alignas(16) char properties[PROPERTIES_ROOM] = {0};
    bool is_new = g->hip.properties_r0600 != NULL;
    int status =
        is_new
            ? check(g, "hipGetDevicePropertiesR0600", g->hip.properties_r0600(properties, g->index))
            : check(g, "hipGetDeviceProperties", g->hip.properties_r0000(properties, g->index));
    const char *arch = properties + (is_new ? R0600_ARCH_OFFSET : R0000_ARCH_OFFSET);
    if (status == 0)
        snprintf(out, size, "%.*s", (int)strnlen(arch, ARCH_BYTES), arch);
    return status;
}

static int read_attribute(int *out, struct gpu *g, hipDeviceAttribute_t attribute)
{
    return CALL(g, hipDeviceGetAttribute, out, attribute, g->index);
}

int gpu_facts(struct gpu_facts *out, struct gpu *g)
{
    memset(out, 0, sizeof *out);
    size_t memory_bytes = 0;
    int status;
    if ((status = read_arch(out->arch, sizeof out->arch, g)) < 0 ||
        (status = CALL(g, hipDeviceGetName, out->name, (int)sizeof out->name, g->index)) < 0 ||
        (status = CALL(g, hipRuntimeGetVersion, &out->runtime_version)) < 0 ||
        (status = CALL(g, hipDriverGetVersion, &out->driver_version)) < 0 ||
        (status = read_attribute(&out->compute_units, g, hipDeviceAttributeMultiprocessorCount)) <
            0 ||
        (status = read_attribute(&out->clock_khz, g, hipDeviceAttributeClockRate)) < 0 ||
        (status = CALL(g, hipDeviceTotalMem, &memory_bytes, g->index)) < 0)
        return status;
    out->memory_bytes = (int64_t)memory_bytes;
    return 0;
}

/* ---- memory ---- */

int gpu_malloc(void **out, struct gpu *g, size_t bytes)
{
    return CALL(g, hipMalloc, out, bytes);
}

int gpu_free(struct gpu *g, void *pointer)
{
    return pointer ? CALL(g, hipFree, pointer) : 0;
}

/* Copies are queued behind what the stream holds and waited for, so an error of an earlier launch
 * may come out here. */
static int copy_and_wait(struct gpu *g, void *to, const void *from, size_t bytes,
                         hipMemcpyKind kind)
{
    int status = CALL(g, hipMemcpyAsync, to, from, bytes, kind, g->stream);
    return status < 0 ? status : gpu_synchronize(g);
}

int gpu_copy_in(struct gpu *g, void *device, const void *host, size_t bytes)
{
    return copy_and_wait(g, device, host, bytes, hipMemcpyHostToDevice);
}

int gpu_copy_out(struct gpu *g, void *host, const void *device, size_t bytes)
{
    return copy_and_wait(g, host, device, bytes, hipMemcpyDeviceToHost);
}

int gpu_memset(struct gpu *g, void *device, int byte, size_t bytes)
{
    return CALL(g, hipMemsetAsync, device, byte, bytes, g->stream);
}

/* ---- code: our handles are HIP's own, under a type that callers may name ---- */

int gpu_module_load(struct gpu_module **out, struct gpu *g, const void *image)
{
    return CALL(g, hipModuleLoadData, (hipModule_t *)out, image);
}

int gpu_module_unload(struct gpu *g, struct gpu_module *m)
{
    return CALL(g, hipModuleUnload, (hipModule_t)m);
}

int gpu_module_kernel(struct gpu_kernel **out, struct gpu *g, struct gpu_module *m,
                      const char *name)
{
    int status = CALL(g, hipModuleGetFunction, (hipFunction_t *)out, (hipModule_t)m, name);
    return status < 0 ? err_wrap("kernel %s", name) : 0;
}

int gpu_launch(struct gpu *g, struct gpu_kernel *k, struct gpu_dims grid, struct gpu_dims block,
               uint32_t shared_bytes, void **params)
{
    return CALL(g, hipModuleLaunchKernel, (hipFunction_t)k, grid.x, grid.y, grid.z, block.x,
                block.y, block.z, shared_bytes, g->stream, params, NULL);
}

int gpu_synchronize(struct gpu *g)
{
    return CALL(g, hipStreamSynchronize, g->stream);
}

/* ---- events ---- */

int gpu_event_create(struct gpu_event **out, struct gpu *g)
{
    return CALL(g, hipEventCreate, (hipEvent_t *)out);
}

int gpu_event_destroy(struct gpu *g, struct gpu_event *e)
{
    return CALL(g, hipEventDestroy, (hipEvent_t)e);
}

int gpu_event_record(struct gpu *g, struct gpu_event *e)
{
    return CALL(g, hipEventRecord, (hipEvent_t)e, g->stream);
}

int gpu_event_elapsed(int64_t *out_ns, struct gpu *g, struct gpu_event *start,
                      struct gpu_event *stop)
{
    float ms = 0;
    int status = CALL(g, hipEventSynchronize, (hipEvent_t)stop);
    if (status == 0)
        status = CALL(g, hipEventElapsedTime, &ms, (hipEvent_t)start, (hipEvent_t)stop);
    if (status == 0)
        *out_ns = llround((double)ms * 1e6);
    return status;
}
