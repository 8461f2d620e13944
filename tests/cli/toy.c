/* toy: a library with the Miir interface for the command-line tests, quick to build: it lowers nothing itself, but hands out a code object that
 * lies beside it. REFUSES is a part of option strings that it refuses; THREE gives problems over 4x4 pixels first.so, over 2x8 second.so and over
 * 1x16 steady.so in the place of kernel.so. Each lowering is noted in the file $TOY_LOG. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef REFUSES
#define REFUSES "nothing of the kind"
#endif

struct handle {
    const char *file;
    char code[1 << 20];
    size_t bytes;
};

void *miirCreateHandle(const char *options)
{
    struct handle *h = strstr(options, REFUSES) ? NULL : calloc(1, sizeof *h);
    if (!h)
        return NULL;
    h->file = "kernel.so";
#ifdef THREE
    h->file = strstr(options, "--in_h 4") ? "first.so" : strstr(options, "--in_h 2") ? "second.so" : "steady.so";
#endif
    return h;
}

int miirDestroyHandle(void *handle)
{
    free(handle);
    return 0;
}

int miirGetKernelCount(void *handle)
{
    return handle ? 1 : 0;
}

int miirGetWorkspaceSize(void *handle)
{
    (void)handle;
    return 0;
}

int miirLowerBin(void *handle)
{
    struct handle *h = handle;
    char path[PATH_MAX];
    const char *log = getenv("TOY_LOG");
    Dl_info info;
    FILE *f = log ? fopen(log, "a") : NULL;
    if (f) {
        fputs("lowered\n", f);
        fclose(f);
    }
    if (!dladdr((void *)miirLowerBin, &info))
        return 3;
    snprintf(path, sizeof path - 16, "%s", info.dli_fname);
    strcpy(strrchr(path, '/') + 1, h->file);
    f = fopen(path, "rb");
    if (!f)
        return 2;
    h->bytes = fread(h->code, 1, sizeof h->code, f);
    fclose(f);
    return 0;
}

int miirBufferGet(void *handle, char *buffer, size_t *size)
{
    struct handle *h = handle;
    *size = h->bytes;
    if (buffer)
        memcpy(buffer, h->code, h->bytes);
    return 0;
}

int miirGetExecutionDims(void *handle, size_t *global, size_t *local)
{
    (void)handle;
    *global = *local = 1;
    return 0;
}
