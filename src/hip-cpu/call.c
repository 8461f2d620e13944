#include "src/hip-cpu/provider.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static hipError_t last_error;

hipError_t call_last(void)
{
    return last_error;
}

hipError_t call_end(hipError_t result)
{
    if (result != hipSuccess)
        last_error = result;
    return result;
}

/* The plan is read by the first call and by every hipInit, and asked before the device: a call that
 * is to fail does nothing. */
hipError_t call_begin(const char *name)
{
    static bool plan_is_read;
    bool is_init = strcmp(name, "hipInit") == 0;
    if (is_init || !plan_is_read) {
        hipError_t error = fault_reset();
        plan_is_read = error == hipSuccess;
        if (error != hipSuccess)
            return call_end(error);
    }
    if (fault_strikes(name))
        return call_end(hipErrorUnknown);
    return is_init ? hipSuccess : call_end(device_ready());
}

void complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("hip-cpu: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

/* The two questions about errors are no calls: they are not counted by the fault plan and never
 * fail. */
hipError_t hipGetLastError(void)
{
    hipError_t error = last_error;
    last_error = hipSuccess;
    return error;
}

hipError_t hipPeekAtLastError(void)
{
    return last_error;
}

struct error_text {
    hipError_t code;
    const char *name, *text;
};

/* The errors that this provider returns, and the success. */
static const struct error_text error_texts[] = {
    {hipSuccess, "hipSuccess", "no error"},
    {hipErrorInvalidValue, "hipErrorInvalidValue", "invalid argument"},
    {hipErrorOutOfMemory, "hipErrorOutOfMemory", "out of memory"},
    {hipErrorInvalidConfiguration, "hipErrorInvalidConfiguration", "invalid launch configuration"},
    {hipErrorInvalidDevicePointer, "hipErrorInvalidDevicePointer", "pointer is not device memory"},
    {hipErrorInvalidMemcpyDirection, "hipErrorInvalidMemcpyDirection", "invalid copy direction"},
    {hipErrorInvalidDevice, "hipErrorInvalidDevice", "no device with this index"},
    {hipErrorInvalidImage, "hipErrorInvalidImage", "code object is not valid"},
    {hipErrorNoBinaryForGpu, "hipErrorNoBinaryForGpu", "code object is for another device"},
    {hipErrorSharedObjectSymbolNotFound, "hipErrorSharedObjectSymbolNotFound",
     "code object has an undefined symbol"},
    {hipErrorSharedObjectInitFailed, "hipErrorSharedObjectInitFailed",
     "code object cannot be loaded"},
    {hipErrorOperatingSystem, "hipErrorOperatingSystem", "the operating system refused"},
    {hipErrorInvalidHandle, "hipErrorInvalidHandle", "handle is not alive"},
    {hipErrorNotFound, "hipErrorNotFound", "no such name"},
    {hipErrorNotSupported, "hipErrorNotSupported", "not supported by this provider"},
    {hipErrorUnknown, "hipErrorUnknown", "unknown error"},
};

static const struct error_text *error_text(hipError_t code)
{
    size_t count = sizeof error_texts / sizeof error_texts[0];
    for (size_t i = 0; i < count; i++) {
        if (error_texts[i].code == code)
            return &error_texts[i];
    }
    return &error_texts[count - 1];
}

const char *hipGetErrorName(hipError_t code)
{
    return error_text(code)->name;
}

const char *hipGetErrorString(hipError_t code)
{
    return error_text(code)->text;
}
