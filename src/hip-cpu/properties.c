/* hipDeviceProp_t changed its layout at ROCm 6. The old symbol kept the old layout and a versioned
 * one, R0600, has the new, so both are written here by offset, whichever header is installed. The
 * fields that have a meaning on a CPU are set, the rest is 0. Source: the field order in HIP's
 * public hip_runtime_api.h of 5.2 (792 bytes) and of 6.0 (1472 bytes), x86-64 alignment; the arch
 * name of R0600 at 1160 is also what LLVM's profile runtime reads. The header at hand is checked
 * below. */
#include "src/hip-cpu/provider.h"

#include <string.h>

struct layout {
    size_t size, total_memory, shared_memory, warp_size, max_threads, clock_khz, compute_units,
        arch;
};
#define R0000_ARCH 396
#define R0600_ARCH 1160
static const struct layout r0000 = {792, 256, 264, 276, 280, 308, 336, R0000_ARCH};
static const struct layout r0600 = {1472, 288, 296, 308, 320, 348, 388, R0600_ARCH};

_Static_assert(sizeof(hipDeviceProp_t) == (HIP_VERSION_MAJOR < 6 ? 792 : 1472), "size");
_Static_assert(offsetof(hipDeviceProp_t, totalGlobalMem) == (HIP_VERSION_MAJOR < 6 ? 256 : 288),
               "memory");
_Static_assert(offsetof(hipDeviceProp_t, clockRate) == (HIP_VERSION_MAJOR < 6 ? 308 : 348),
               "clock");
_Static_assert(offsetof(hipDeviceProp_t, multiProcessorCount) ==
                   (HIP_VERSION_MAJOR < 6 ? 336 : 388),
               "units");
_Static_assert(offsetof(hipDeviceProp_t, gcnArchName) ==
                   (HIP_VERSION_MAJOR < 6 ? R0000_ARCH : R0600_ARCH),
               "arch");

static void put_int(char *properties, size_t offset, int value)
{
    memcpy(properties + offset, &value, sizeof value);
}

static void put_size(char *properties, size_t offset, size_t value)
{
    memcpy(properties + offset, &value, sizeof value);
}

static hipError_t give_properties(char *out, int index, const struct layout *at)
{
    if (!device_exists(index))
        return hipErrorInvalidDevice;
    if (!out)
        return hipErrorInvalidValue;
    const struct device *device = device_get();
    memset(out, 0, at->size);
    memcpy(out, device->name, sizeof device->name); /* the name is the first field of both */
    put_size(out, at->total_memory, device->memory_bytes);
    put_size(out, at->shared_memory, MAX_SHARED_BYTES);
    put_int(out, at->warp_size, 1);
    put_int(out, at->max_threads, MAX_BLOCK);
    put_int(out, at->clock_khz, device->clock_khz);
    put_int(out, at->compute_units, device->threads);
    memcpy(out + at->arch, device->arch, sizeof device->arch);
    return hipSuccess;
}

/* The names are given to the assembler alone, since headers of ROCm 6 define hipGetDeviceProperties
 * as a macro. */
#define ENTRY(name) __asm__(name) __attribute__((visibility("default")))
hipError_t properties_r0000(void *out, int index) ENTRY("hipGetDeviceProperties");
hipError_t properties_r0600(void *out, int index) ENTRY("hipGetDevicePropertiesR0600");

hipError_t properties_r0000(void *out, int index)
{
    return HIP_CALL_AS("hipGetDeviceProperties", give_properties(out, index, &r0000));
}

hipError_t properties_r0600(void *out, int index)
{
    return HIP_CALL_AS("hipGetDevicePropertiesR0600", give_properties(out, index, &r0600));
}
