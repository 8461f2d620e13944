/* toy: a library with the Miir interface for the command-line tests, quick to build: it hands out the code object beside it, and refuses what
 * its commit defines: REFUSES is a part of the option string. */
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
    char code[1 << 20];
    size_t bytes;
};

void *miirCreateHandle(const char *options)
{
    return strstr(options, REFUSES) ? NULL : calloc(1, sizeof(struct handle));
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
    Dl_info info;
    if (!dladdr((void *)miirLowerBin, &info))
        return 3;
    snprintf(path, sizeof path - 16, "%s", info.dli_fname);
    strcpy(strrchr(path, '/') + 1, "kernel.so");
    FILE *f = fopen(path, "rb");
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
