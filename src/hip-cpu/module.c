#include "src/hip-cpu/provider.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <fenv.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* HIP's handles are pointers to these; hipModuleGetFunction's live until their module goes. */
struct ihipModuleSymbol_t {
    struct ihipModuleSymbol_t *next;
    kernel_function run;
};
struct ihipModule_t {
    struct ihipModule_t *next;
    void *library;
    int fd;
    struct ihipModuleSymbol_t *functions;
};
static struct ihipModule_t *modules;

static void path_of(char out[32], int fd)
{
    snprintf(out, 32, "/proc/self/fd/%d", fd);
}

/* The loader knows libraries by path: one that is still loaded under this path would be taken for
 * ours. That cannot be a module of ours, whose descriptor is open, but one that refuses to be
 * unloaded (NODELETE, unique symbols). Then another number is taken. */
static hipError_t take_fresh_path(int *fd)
{
    for (;;) {
        char path[32];
        path_of(path, *fd);
        void *other = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
        if (!other)
            return hipSuccess;
        dlclose(other);
        int next = fcntl(*fd, F_DUPFD_CLOEXEC, *fd + 1);
        if (next < 0)
            return hipErrorOperatingSystem;
        close(*fd);
        *fd = next;
    }
}

/* RTLD_NOW, since a symbol that is missed later ends the process without a word. The floating-point
 * environment is put back because objects linked with -ffast-math turn denormals off for the whole
 * thread when they are loaded. */
static hipError_t open_library(struct ihipModule_t *m)
{
    char path[32];
    path_of(path, m->fd);
    fenv_t environment;
    fegetenv(&environment);
    m->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    fesetenv(&environment);
    if (m->library)
        return hipSuccess;
    const char *reason = dlerror();
    complain("code object refused: %s", reason);
    return strstr(reason, "undefined symbol") ? hipErrorSharedObjectSymbolNotFound
                                              : hipErrorSharedObjectInitFailed;
}

static hipError_t load(hipModule_t *out, const void *image)
{
    int fd;
    if (!out)
        return hipErrorInvalidValue;
    hipError_t error = image_copy(&fd, image);
    if (error != hipSuccess)
        return error;
    struct ihipModule_t *m = calloc(1, sizeof *m);
    error = m ? take_fresh_path(&fd) : hipErrorOutOfMemory;
    if (error == hipSuccess) {
        m->fd = fd;
        error = open_library(m);
    }
    if (error != hipSuccess) {
        close(fd);
        free(m);
        return error;
    }
    m->next = modules;
    modules = m;
    *out = m;
    return hipSuccess;
}

hipError_t hipModuleLoadData(hipModule_t *out, const void *image)
{
    return HIP_CALL(load(out, image));
}

static hipError_t unload(hipModule_t module)
{
    struct ihipModule_t **link = &modules;
    while (*link && *link != module)
        link = &(*link)->next;
    if (!*link)
        return hipErrorInvalidHandle;
    *link = module->next;
    while (module->functions) {
        struct ihipModuleSymbol_t *f = module->functions;
        module->functions = f->next;
        free(f);
    }
    dlclose(module->library);
    close(module->fd);
    free(module);
    return hipSuccess;
}

hipError_t hipModuleUnload(hipModule_t module)
{
    return HIP_CALL(unload(module));
}

/* dlsym also finds the symbols of libraries that the object needs, and data: neither is a kernel.
 */
static kernel_function find_kernel(void *library, const char *name)
{
    void *address = dlsym(library, name);
    struct link_map *map = NULL, *owner = NULL;
    Elf64_Sym *symbol = NULL;
    Dl_info info;
    if (!address || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 ||
        !dladdr1(address, &info, (void **)&owner, RTLD_DL_LINKMAP) || owner != map ||
        !dladdr1(address, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol ||
        ELF64_ST_TYPE(symbol->st_info) != STT_FUNC)
        return NULL;
    return (kernel_function)address;
}

static bool module_is_alive(hipModule_t module)
{
    struct ihipModule_t *m = modules;
    while (m && m != module)
        m = m->next;
    return m != NULL;
}

static hipError_t get_function(hipFunction_t *out, hipModule_t module, const char *name)
{
    if (!out || !name)
        return hipErrorInvalidValue;
    if (!module_is_alive(module))
        return hipErrorInvalidHandle;
    kernel_function run = find_kernel(module->library, name);
    if (!run)
        return hipErrorNotFound;
    struct ihipModuleSymbol_t *f = calloc(1, sizeof *f);
    if (!f)
        return hipErrorOutOfMemory;
    f->run = run;
    f->next = module->functions;
    module->functions = f;
    *out = f;
    return hipSuccess;
}

hipError_t hipModuleGetFunction(hipFunction_t *out, hipModule_t module, const char *name)
{
    return HIP_CALL(get_function(out, module, name));
}

kernel_function module_kernel(hipFunction_t handle)
{
    for (struct ihipModule_t *m = modules; m; m = m->next) {
        for (struct ihipModuleSymbol_t *f = m->functions; f; f = f->next) {
            if (f == handle)
                return f->run;
        }
    }
    return NULL;
}
