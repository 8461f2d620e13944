#include "src/hip-cpu/provider.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Goes up when the way in which kernels run changes, so that old timings are not compared with new
 * ones. */
enum { PROVIDER_VERSION = 1 };

static struct device device;
static bool is_ready;

/* The levels of the x86-64 psABI, best first. A level is named, never "native": a code object's
 * arch must mean the same elsewhere. */
static const char *const levels[] = {"x86-64-v4", "x86-64-v3", "x86-64-v2"};

static bool cpu_runs(const char *level)
{
    __builtin_cpu_init();
    switch (level[strlen(level) - 1]) {
    case '4':
        return __builtin_cpu_supports("x86-64-v4");
    case '3':
        return __builtin_cpu_supports("x86-64-v3");
    default:
        return __builtin_cpu_supports("x86-64-v2");
    }
}

static hipError_t choose_arch(void)
{
    const char *wanted = getenv("ASSAY_HIP_CPU_ARCH");
    bool is_named = wanted && *wanted, is_known = false;
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        bool matches = is_named && strcmp(wanted, levels[i]) == 0;
        is_known |= matches;
        if ((!is_named || matches) && cpu_runs(levels[i])) {
            snprintf(device.arch, sizeof device.arch, "%s", levels[i]);
            return hipSuccess;
        }
    }
    complain("ASSAY_HIP_CPU_ARCH=%s: %s", is_named ? wanted : "",
             is_named && !is_known ? "levels are x86-64-v2, x86-64-v3, x86-64-v4"
                                   : "this CPU does not run that level");
    return is_named && !is_known ? hipErrorInvalidValue : hipErrorNoBinaryForGpu;
}

/* The value of the first "key : value" line of /proc/cpuinfo, "" if there is none. */
static void read_cpuinfo(char *out, size_t size, const char *key)
{
    out[0] = '\0';
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (!file)
        return;
    char line[512];
    while (!out[0] && fgets(line, sizeof line, file)) {
        char *value = strstr(line, ": ");
        if (value && strncmp(line, key, strlen(key)) == 0)
            snprintf(out, size, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
    }
    fclose(file);
}

/* The rated clock where the kernel knows it, else the one that the CPU shows now, as virtual
 * machines do. */
static int read_clock_khz(void)
{
    int khz = 0;
    FILE *file = fopen("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "re");
    if (file) {
        if (fscanf(file, "%d", &khz) != 1)
            khz = 0;
        fclose(file);
    }
    char mhz[32];
    if (khz == 0) {
        read_cpuinfo(mhz, sizeof mhz, "cpu MHz");
        khz = (int)(strtod(mhz, NULL) * 1000);
    }
    return khz;
}

hipError_t device_reset(void)
{
    is_ready = false;
    memset(&device, 0, sizeof device);
    uint64_t installed = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE),
             threads;
    if (!knob_number(&device.memory_bytes, "ASSAY_HIP_CPU_MEMORY", installed, 1, UINT64_MAX) ||
        !knob_number(&threads, "ASSAY_HIP_CPU_THREADS", 1, 1, MAX_THREADS))
        return hipErrorInvalidValue;
    hipError_t error = choose_arch();
    if (error != hipSuccess)
        return error;
    device.threads = (int)threads;
    device.clock_khz = read_clock_khz();
    read_cpuinfo(device.name, sizeof device.name, "model name");
    /* Code objects may call libm without naming it: only what is global by now resolves them. */
    if (!dlopen("libm.so.6", RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE))
        complain("%s", dlerror());
    is_ready = true;
    return hipSuccess;
}

hipError_t device_ready(void)
{
    return is_ready ? hipSuccess : device_reset();
}

const struct device *device_get(void)
{
    return &device;
}

bool device_exists(int index)
{
    return index == 0;
}

hipError_t hipInit(unsigned int flags)
{
    return HIP_CALL(flags == 0 ? device_reset() : hipErrorInvalidValue);
}

static hipError_t give_int(int *out, int value)
{
    if (!out)
        return hipErrorInvalidValue;
    *out = value;
    return hipSuccess;
}

hipError_t hipRuntimeGetVersion(int *out)
{
    return HIP_CALL(give_int(out, HIP_VERSION));
}

hipError_t hipDriverGetVersion(int *out)
{
    return HIP_CALL(give_int(out, PROVIDER_VERSION));
}

hipError_t hipGetDeviceCount(int *out)
{
    return HIP_CALL(give_int(out, 1));
}

hipError_t hipGetDevice(int *out)
{
    return HIP_CALL(give_int(out, 0));
}

hipError_t hipSetDevice(int index)
{
    return HIP_CALL(device_exists(index) ? hipSuccess : hipErrorInvalidDevice);
}

static hipError_t give_name(char *out, int length, hipDevice_t index)
{
    if (!device_exists(index))
        return hipErrorInvalidDevice;
    if (!out || length <= 0)
        return hipErrorInvalidValue;
    snprintf(out, (size_t)length, "%s", device.name);
    return hipSuccess;
}

hipError_t hipDeviceGetName(char *out, int length, hipDevice_t index)
{
    return HIP_CALL(give_name(out, length, index));
}

static hipError_t give_total_memory(size_t *out, hipDevice_t index)
{
    if (!device_exists(index))
        return hipErrorInvalidDevice;
    if (!out)
        return hipErrorInvalidValue;
    *out = device.memory_bytes;
    return hipSuccess;
}

hipError_t hipDeviceTotalMem(size_t *out, hipDevice_t index)
{
    return HIP_CALL(give_total_memory(out, index));
}

static hipError_t give_attribute(int *out, hipDeviceAttribute_t attribute, int index)
{
    if (!device_exists(index))
        return hipErrorInvalidDevice;
    switch (attribute) {
    case hipDeviceAttributeMultiprocessorCount:
        return give_int(out, device.threads);
    case hipDeviceAttributeClockRate:
        return give_int(out, device.clock_khz);
    case hipDeviceAttributeWarpSize: /* work-items are loops inside the kernel: none run in lockstep
                                      */
    case hipDeviceAttributeIntegrated:
        return give_int(out, 1);
    case hipDeviceAttributeMaxThreadsPerBlock:
    case hipDeviceAttributeMaxBlockDimX:
    case hipDeviceAttributeMaxBlockDimY:
    case hipDeviceAttributeMaxBlockDimZ:
        return give_int(out, MAX_BLOCK);
    case hipDeviceAttributeMaxGridDimX:
    case hipDeviceAttributeMaxGridDimY:
    case hipDeviceAttributeMaxGridDimZ:
        return give_int(out, MAX_GRID);
    case hipDeviceAttributeMaxSharedMemoryPerBlock:
        return give_int(out, MAX_SHARED_BYTES);
    default:
        return hipErrorInvalidValue;
    }
}

hipError_t hipDeviceGetAttribute(int *out, hipDeviceAttribute_t attribute, int index)
{
    return HIP_CALL(give_attribute(out, attribute, index));
}

/* Nothing is ever in flight: see stream.c. */
hipError_t hipDeviceSynchronize(void)
{
    return HIP_CALL(hipSuccess);
}
