#include "target.h"

#include <fcntl.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char *const gfx_names[] = {"gfx900",  "gfx906",  "gfx908",  "gfx90a",  "gfx942",  "gfx950",
                                        "gfx1030", "gfx1100", "gfx1101", "gfx1102", "gfx1200", "gfx1201"};
static const char *const sm_names[] = {"sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90"};

static bool is_one_of(const char *name, size_t length, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(names[i]) == length && strncmp(names[i], name, length) == 0)
            return true;
    }
    return false;
}

/* What may follow a gfx name: :sramecc and :xnack, on or off. pebble leaves both at their defaults. */
static bool are_features(const char *text)
{
    static const char *const features[] = {":sramecc+", ":sramecc-", ":xnack+", ":xnack-"};
    while (*text) {
        size_t i = 0, count = sizeof features / sizeof features[0];
        while (i < count && strncmp(text, features[i], strlen(features[i])) != 0)
            i++;
        if (i == count)
            return false;
        text += strlen(features[i]);
    }
    return true;
}

bool target_find(struct target *out, const char *arch)
{
    static const char prefix[] = "amdgcn-amd-amdhsa:";
    static const struct {
        const char *name;
        int lanes;
        bool has_f16;
    } levels[] = {{"x86-64-v2", 4, false}, {"x86-64-v3", 8, true}, {"x86-64-v4", 16, true}};
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        if (strcmp(levels[i].name, arch) == 0) {
            *out = (struct target){.kind = HOST, .triple = "x86_64-unknown-linux-gnu", .lanes = levels[i].lanes, .local = 1,
                                   .has_f16 = levels[i].has_f16};
            snprintf(out->cpu, sizeof out->cpu, "%s", arch);
            return true;
        }
    }
    bool prefixed = strncmp(arch, prefix, sizeof prefix - 1) == 0;
    arch += prefixed ? sizeof prefix - 1 : 0;
    size_t length = strcspn(arch, ":");
    bool amd = is_one_of(arch, length, gfx_names, sizeof gfx_names / sizeof gfx_names[0]) && are_features(arch + length);
    if (!amd && (prefixed || !is_one_of(arch, strlen(arch), sm_names, sizeof sm_names / sizeof sm_names[0])))
        return false;
    *out = (struct target){.kind = amd ? AMDGCN : NVPTX, .triple = amd ? "amdgcn-amd-amdhsa" : "nvptx64-nvidia-cuda", .lanes = 1,
                           .local = 256, .has_f16 = true};
    snprintf(out->cpu, sizeof out->cpu, "%.*s", (int)length, arch);
    return true;
}

static void start_llvm(void)
{
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
}

LLVMTargetMachineRef target_prepare(const struct target *t, LLVMModuleRef module)
{
    static bool started;
    LLVMTargetRef target;
    char *message = NULL;
    if (!started)
        start_llvm();
    started = true;
    if (LLVMGetTargetFromTriple(t->triple, &target, &message)) {
        LLVMDisposeMessage(message);
        return NULL;
    }
    LLVMTargetMachineRef machine = LLVMCreateTargetMachine(target, t->triple, t->cpu, "", LLVMCodeGenLevelAggressive, LLVMRelocPIC,
                                                           LLVMCodeModelDefault);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetTarget(module, t->triple);
    LLVMSetModuleDataLayout(module, layout);
    LLVMDisposeTargetData(layout);
    return machine;
}

static bool run(const char *const argv[])
{
    pid_t child;
    int status;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    bool well = posix_spawnp(&child, argv[0], &actions, NULL, (char *const *)argv, environ) == 0 && waitpid(child, &status, 0) == child &&
                WIFEXITED(status) && WEXITSTATUS(status) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return well;
}

static bool write_file(const char *path, const char *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    bool well = f && fwrite(bytes, 1, size, f) == size;
    return f && fclose(f) == 0 && well;
}

static bool read_file(char **bytes, size_t *size, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return false;
    fseek(f, 0, SEEK_END);
    long length = ftell(f);
    rewind(f);
    *bytes = malloc(length > 0 ? (size_t)length : 1);
    *size = length > 0 ? (size_t)length : 0;
    bool well = *bytes && fread(*bytes, 1, *size, f) == *size && length > 0;
    fclose(f);
    return well;
}

/* Object to shared object. GNU ld starts three times faster than lld, but knows no AMD code objects. */
static bool link_object(char **binary, size_t *size, const struct target *t, const char *object, size_t object_size)
{
    char folder[] = "/tmp/pebble-XXXXXX", in[64], out[64];
    if (!mkdtemp(folder))
        return false;
    snprintf(in, sizeof in, "%s/kernel.o", folder);
    snprintf(out, sizeof out, "%s/kernel.so", folder);
    const char *const host[] = {"ld", "-shared", "--hash-style=sysv", "-o", out, in, NULL};
    const char *const amd[] = {"ld.lld-22", "-shared", "-o", out, in, NULL};
    bool well = write_file(in, object, object_size) && run(t->kind == HOST ? host : amd) && read_file(binary, size, out);
    unlink(in);
    unlink(out);
    rmdir(folder);
    return well;
}

static bool optimise(LLVMTargetMachineRef machine, LLVMModuleRef module)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(module, "default<O3>", machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (error)
        LLVMConsumeError(error);
    return !error;
}

bool target_emit(char **binary, size_t *size, const struct target *t, LLVMTargetMachineRef machine, LLVMModuleRef module)
{
    char *message = NULL;
    LLVMMemoryBufferRef emitted = NULL;
    LLVMCodeGenFileType form = t->kind == NVPTX ? LLVMAssemblyFile : LLVMObjectFile;
    bool broken = LLVMVerifyModule(module, LLVMReturnStatusAction, &message);
    LLVMDisposeMessage(message);
    message = NULL;
    if (broken || !optimise(machine, module))
        return false;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, form, &message, &emitted)) {
        LLVMDisposeMessage(message);
        return false;
    }
    const char *bytes = LLVMGetBufferStart(emitted);
    size_t length = LLVMGetBufferSize(emitted);
    bool well = true;
    if (t->kind == NVPTX) {
        *binary = malloc(length + 1);
        *size = length + 1; /* PTX is text: the loader wants its NUL */
        memcpy(*binary, bytes, length);
        (*binary)[length] = '\0';
    } else {
        well = link_object(binary, size, t, bytes, length);
    }
    LLVMDisposeMemoryBuffer(emitted);
    return well;
}
