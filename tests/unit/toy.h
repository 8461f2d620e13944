/* toy: a candidate in two small C files, built by the tests: a library with the Miir interface, and
 * a kernel that it takes from the file beside it. The library misbehaves by the word of
 * --perf_config, and with TURNS it takes another kernel each third time; the kernel by the macros that it is compiled with: ROWS of the result that it
 * writes, FAULT that it ends with, NOTE that note() appends to the file $TOY_ORDER. */
#ifndef ASSAY_TEST_TOY_H
#define ASSAY_TEST_TOY_H

#include "shell.h"

/* 8 channels to 8 in a 1x1 filter over 16 pixels: what the kernel does. */
#define TOY_PROBLEM                                                                                \
    "conv fwd f32 n1 c8 k8 g1 in4x4 fil1x1 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw"
#define TOY_PROBLEM_2                                                                              \
    "conv fwd f32 n1 c8 k8 g1 in2x8 fil1x1 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw"

static const char toy_kernel_source[] =
    "#include <stdint.h>\n"
    "#ifndef ROWS\n#define ROWS K\n#endif\n"
    "#ifndef FAULT\n#define FAULT\n#endif\n"
    "#ifdef NOTE\n#include <stdio.h>\n#include <stdlib.h>\n"
    "static void note(void)\n"
    "{\n"
    "    FILE *f = fopen(getenv(\"TOY_ORDER\"), \"a\");\n"
    "    fputs(NOTE, f);\n"
    "    fclose(f);\n"
    "}\n#endif\n"
    "enum { C = 8, K = 8, P = 16 };\n"
    "void assay_conv_0(void **params, const uint32_t workgroup[3]);\n"
    "void assay_conv_0(void **params, const uint32_t workgroup[3])\n"
    "{\n"
    "    float *w = *(float **)params[0], *x = *(float **)params[1], *y = *(float **)params[2];\n"
    "    (void)workgroup;\n"
    "    for (int k = 0; k < ROWS; k++)\n"
    "        for (int p = 0; p < P; p++) {\n"
    "            float sum = 0;\n"
    "            for (int c = 0; c < C; c++)\n"
    "                sum += w[k * C + c] * x[c * P + p];\n"
    "            y[k * P + p] = sum;\n"
    "        }\n"
    "    FAULT;\n"
    "}\n";

static const char toy_library_source[] =
    "#define _GNU_SOURCE\n"
    "#include <dlfcn.h>\n#include <limits.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
    "#include <string.h>\n#include <unistd.h>\n"
    "struct handle { char word[64]; int kernel; char code[1 << 20]; size_t bytes; };\n"
    "static int is(struct handle *h, const char *word) { return strcmp(h->word, word) == 0; }\n"
    "void *miirCreateHandle(const char *options)\n"
    "{\n"
    "    static int dead;\n"
    "    struct handle *h = calloc(1, sizeof *h);\n"
    "    const char *word = strstr(options, \"--perf_config \");\n"
    "    const char *kernel = strstr(options, \"--kernel_id \");\n"
    "    if (word)\n"
    "        sscanf(word, \"--perf_config %63s\", h->word);\n"
    "    h->kernel = kernel ? atoi(kernel + 12) : 0;\n"
    "    fprintf(stderr, \"toy: %s\\n\", options);\n"
    "    if (is(h, \"abort\"))\n"
    "        abort();\n"
    "    if (is(h, \"exit\"))\n"
    "        _exit(3);\n"
    "    while (is(h, \"hang\"))\n"
    "        pause();\n"
    "    dead |= is(h, \"dead\");\n"
    "    if (dead || is(h, \"decline\") || (is(h, \"count3\") && h->kernel == 2)) {\n"
    "        free(h);\n"
    "        return NULL;\n"
    "    }\n"
    "    return h;\n"
    "}\n"
    "int miirDestroyHandle(void *handle) { free(handle); return 0; }\n"
    "int miirGetKernelCount(void *handle)\n"
    "{\n"
    "    return is(handle, \"count3\") ? 3 : is(handle, \"count0\") ? 0 : 1;\n"
    "}\n"
    "int miirGetWorkspaceSize(void *handle) { return is(handle, \"workspace\") ? 64 : 0; }\n"
    "int miirLowerBin(void *handle)\n"
    "{\n"
    "    struct handle *h = handle;\n"
    "    char path[PATH_MAX];\n"
    "    Dl_info info;\n"
    "    const char *log = getenv(\"TOY_LOG\");\n"
    "    FILE *f = log ? fopen(log, \"a\") : NULL;\n"
    "    if (f) {\n"
    "        fprintf(f, \"lowered by %d\\n\", (int)getpid());\n"
    "        fclose(f);\n"
    "    }\n"
    "    if (is(h, \"lower\") || !dladdr((void *)miirLowerBin, &info))\n"
    "        return 3;\n"
    "    if (is(h, \"empty\"))\n"
    "        return 0;\n"
    "#ifdef TURNS\n"
    "    int turn = 0;\n"
    "    f = fopen(log, \"r\");\n"
    "    for (int c; (c = fgetc(f)) != EOF;)\n"
    "        turn += c == '\\n';\n"
    "    fclose(f);\n"
    "    if (turn % 3 == 0)\n"
    "        strcpy(h->word, \"off.so\");\n"
    "#endif\n"
    "    snprintf(path, sizeof path, \"%s\", info.dli_fname);\n"
    "    strcpy(strrchr(path, '/') + 1, strstr(h->word, \".so\") ? h->word : \"kernel.so\");\n"
    "    f = fopen(path, \"rb\");\n"
    "    if (!f)\n"
    "        return 2;\n"
    "    h->bytes = fread(h->code, 1, sizeof h->code, f);\n"
    "    fclose(f);\n"
    "    if (is(h, \"garbage\"))\n"
    "        memset(h->code, 'x', h->bytes);\n"
    "    return 0;\n"
    "}\n"
    "int miirBufferGet(void *handle, char *buffer, size_t *size)\n"
    "{\n"
    "    struct handle *h = handle;\n"
    "    *size = h->bytes;\n"
    "    if (buffer)\n"
    "        memcpy(buffer, h->code, h->bytes);\n"
    "    return 0;\n"
    "}\n"
    "#ifndef NO_DIMS\n"
    "int miirGetExecutionDims(void *handle, size_t *global, size_t *local)\n"
    "{\n"
    "    *global = is(handle, \"dims\") ? 5 : 1;\n"
    "    *local = is(handle, \"dims\") ? 2 : 1;\n"
    "    return 0;\n"
    "}\n"
    "#endif\n";

/* The two sources as toy.c and kernel.c in `source`. */
static inline void toy_write(struct folder *f)
{
    folder_file(f, "source/toy.c", toy_library_source);
    folder_file(f, "source/kernel.c", toy_kernel_source);
}

/* Compile source/FILE to toy/OUT with these flags. */
static inline void toy_compile(struct folder *f, const char *file, const char *out,
                               const char *flags)
{
    shell(f,
          arena_printf(&f->arena, "mkdir -p toy; cc -shared -fPIC -O1 %s -o toy/%s source/%s -ldl",
                       flags, out, file));
}

/* Of a test program in out/X/tests/unit, beside which the provider is found. */
static inline void toy_quiet_environment(void)
{
    unsetenv("ASSAY_LIBDIR");
    unsetenv("ASSAY_HIP_CPU_FAIL");
    unsetenv("ASSAY_HIP_CPU_MEMORY");
    unsetenv("ASSAY_HIP_CPU_ARCH");
    unsetenv("ASSAY_HIP_CPU_THREADS");
    unsetenv("TOY_LOG");
}

#endif
