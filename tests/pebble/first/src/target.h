/* target: what an arch name means, and from a module to a binary for it. */
#ifndef PEBBLE_TARGET_H
#define PEBBLE_TARGET_H

#include "conv.h"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

enum target_kind {
    HOST,   /* an x86-64 shared object whose kernels are void f(void **params, const uint32_t workgroup[3]) */
    AMDGCN, /* a linked AMD code object */
    NVPTX,  /* PTX text */
};

struct target {
    enum target_kind kind;
    const char *triple;
    char cpu[32];
    int lanes; /* of 32 bits that a vector has; 1 on GPUs, where work-items are the lanes */
    int local; /* work-items of a workgroup */
    bool has_f16;
};

/* False for an arch that is none of x86-64-v2 to -v4, gfx... and sm_...: LLVM itself would end the process. */
bool target_find(struct target *out, const char *arch);

/* Give the module its triple and layout. The machine is the caller's to dispose of; NULL when LLVM has no such target. */
LLVMTargetMachineRef target_prepare(const struct target *t, LLVMModuleRef module);

/* Optimise and emit. *binary is malloc'ed. False when anything fails. */
bool target_emit(char **binary, size_t *size, const struct target *t, LLVMTargetMachineRef machine, LLVMModuleRef module);

#endif
