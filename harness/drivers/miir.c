/* miir: candidates with rocMLIR's client C interface, version 6 (facts:
 * mlir/tools/rocmlir-lib/Miir.h of ROCm/rocMLIR), loaded with dlopen.
 *
 * A problem becomes an option string. Its kernels are asked for by kernel id 0..n-1, a handle each,
 * and launched in that order; their arguments are bare pointers in the order filter, input, output.
 * A handle that is NULL means "not applicable" or "malformed", and no text says which: so a canary
 * problem, which every convolution compiler does, is asked before "not applicable" is believed.
 */
#include "harness/drivers/driver.h"

#include "reference/spelling.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef void *miir_handle;

struct miir {
    void *library;
    miir_handle (*create)(const char *options);
    int (*destroy)(miir_handle);
    int (*kernel_count)(miir_handle);
    int (*workspace_size)(miir_handle);
    int (*lower)(miir_handle);
    int (*buffer)(miir_handle, char *buffer, size_t *size);
    int (*dims)(miir_handle, size_t *global, size_t *local);
};

static const char *const status_words[] = {"success", "invalid parameter", "invalid module",
                                           "build failure"};

static const char *status_word(int status)
{
    return status >= 0 && (size_t)status < COUNT_OF(status_words) ? status_words[status]
                                                                  : "unknown status";
}

static void answer(struct driver_answer *out, enum outcome outcome, const char *format, ...)
    PRINTF_LIKE(3, 4);
static void answer(struct driver_answer *out, enum outcome outcome, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    out->outcome = outcome;
    vsnprintf(out->detail, sizeof out->detail, format, args);
    va_end(args);
}

/* POSIX lets dlsym's object pointer be a function pointer; ISO C has no cast for it. */
static bool take_symbol(void *function, const struct miir *m, const char *name)
{
    void *symbol = dlsym(m->library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

/* False when the library cannot be loaded or lacks an entry point; the answer says which. */
static bool load(struct miir *m, struct driver_answer *out, const char *path)
{
    m->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!m->library) {
        answer(out, OUTCOME_INFRA, "cannot load the library: %s", dlerror());
        return false;
    }
    const struct {
        void *function;
        const char *name;
    } symbols[] = {
        {&m->create, "miirCreateHandle"},
        {&m->destroy, "miirDestroyHandle"},
        {&m->kernel_count, "miirGetKernelCount"},
        {&m->lower, "miirLowerBin"},
        {&m->workspace_size, "miirGetWorkspaceSize"},
        {&m->buffer, "miirBufferGet"},
        {&m->dims, "miirGetExecutionDims"},
    };
    for (size_t i = 0; i < COUNT_OF(symbols); i++) {
        if (!take_symbol(symbols[i].function, m, symbols[i].name)) {
            answer(out, OUTCOME_INFRA, "the library has no %s: it does not speak Miir version 6",
                   symbols[i].name);
            return false;
        }
    }
    return true;
}

static int spell(struct buf *out, const struct driver_request *request)
{
    int status = spelling_print(out, SPELLING_MIIR, &request->problem, request->asymmetric_pads);
    if (status < 0)
        return status;
    buf_printf(out, " --arch %s", request->arch);
    if (*request->variant)
        buf_printf(out, " --perf_config %s", request->variant);
    return 0;
}

static miir_handle create_kernel(const struct miir *m, const char *options, int kernel)
{
    struct buf text;
    buf_init(&text, BUF_MAX_LINE);
    buf_printf(&text, "%s --kernel_id %d --kernel_name assay_conv_%d", options, kernel, kernel);
    miir_handle handle = m->create(text.data);
    buf_release(&text);
    return handle;
}

/* Does the candidate do anything at all for this arch? A small 1x1 forward convolution is asked. */
static bool canary_lives(const struct miir *m, const struct driver_request *request)
{
    struct driver_request canary = {.arch = request->arch, .variant = ""};
    struct buf options;
    buf_init(&options, BUF_MAX_LINE);
    bool lives = false;
    if (problem_parse(
            &canary.problem,
            "conv fwd f32 n1 c32 k32 g1 in8x8 fil1x1 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw") <
        0)
        bug("the canary problem is malformed: %s", err_message());
    if (spell(&options, &canary) == 0) {
        miir_handle handle = create_kernel(m, options.data, 0);
        lives = handle != NULL;
        if (handle)
            m->destroy(handle);
    }
    buf_release(&options);
    return lives;
}

/* Code, name and geometry of one lowered handle. False: the answer says what went wrong. */
static bool take_kernel(struct bundle_kernel *k, struct driver_answer *out, struct arena *a,
                        const struct miir *m, miir_handle handle, int id)
{
    int status = m->lower(handle);
    if (status != 0) {
        answer(out, OUTCOME_COMPILE_ERROR, "miirLowerBin of kernel %d: %s", id,
               status_word(status));
        return false;
    }
    status = m->buffer(handle, NULL, &k->code_bytes);
    if (status != 0 || k->code_bytes == 0 || k->code_bytes > BUF_MAX_CODE) {
        answer(out, OUTCOME_COMPILE_ERROR, "miirBufferGet of kernel %d: %s, %zu bytes", id,
               status_word(status), k->code_bytes);
        return false;
    }
    char *code = arena_alloc(a, k->code_bytes + 1);
    status = m->buffer(handle, code, &k->code_bytes);
    size_t global = 0, local = 0;
    if (status == 0)
        status = m->dims(handle, &global, &local);
    if (status != 0 || local == 0 || global == 0 || global % local != 0 ||
        global / local > UINT32_MAX || local > UINT32_MAX) {
        answer(out, OUTCOME_COMPILE_ERROR, "kernel %d: %s, global size %zu, local size %zu", id,
               status_word(status), global, local);
        return false;
    }
    k->code = code;
    k->name = arena_printf(a, "assay_conv_%d", id);
    k->grid = (struct gpu_dims){(uint32_t)(global / local), 1, 1};
    k->block = (struct gpu_dims){(uint32_t)local, 1, 1};
    return true;
}

static bool compile_kernels(struct driver_answer *out, struct arena *a, const struct miir *m,
                            const char *options, int count)
{
    struct bundle *b = &out->bundle;
    b->kernels = ARENA_ARRAY(a, (size_t)count, struct bundle_kernel);
    for (int id = 0; id < count; id++) {
        miir_handle handle = create_kernel(m, options, id);
        if (!handle) {
            answer(out, OUTCOME_COMPILE_ERROR,
                   "the candidate counts %d kernels, but gives no handle for kernel %d", count, id);
            return false;
        }
        bool taken = take_kernel(&b->kernels[b->count++], out, a, m, handle, id);
        m->destroy(handle);
        if (!taken)
            return false;
    }
    return true;
}

static void compile_options(struct driver_answer *out, struct arena *a, const struct miir *m,
                            const struct driver_request *request, const char *options)
{
    miir_handle handle = m->create(options);
    if (!handle) {
        if (canary_lives(m, request))
            answer(out, OUTCOME_NOT_APPLICABLE,
                   "miirCreateHandle gives no handle for this problem");
        else
            answer(out, OUTCOME_INFRA,
                   "miirCreateHandle gives no handle even for a small 1x1 convolution on %s",
                   request->arch);
        return;
    }
    int count = m->kernel_count(handle);
    out->bundle.workspace_bytes = m->workspace_size(handle);
    m->destroy(handle);
    if (count < 1 || count > BUNDLE_MAX_KERNELS) {
        answer(out, OUTCOME_COMPILE_ERROR, "miirGetKernelCount says %d", count);
        return;
    }
    if (out->bundle.workspace_bytes != 0) {
        answer(out, OUTCOME_NOT_APPLICABLE,
               "the kernels want a workspace of %" PRId64 " bytes, which this driver does not pass",
               out->bundle.workspace_bytes);
        return;
    }
    if (compile_kernels(out, a, m, options, count))
        out->outcome = OUTCOME_OK;
}

static int compile(struct driver_answer *out, struct arena *a, const struct driver_request *request)
{
    *out = (struct driver_answer){.outcome = OUTCOME_INFRA};
    out->bundle.problem = request->problem;
    out->bundle.arch = request->arch;
    struct buf options;
    buf_init(&options, BUF_MAX_LINE);
    struct miir m = {0};
    if (spell(&options, request) < 0) {
        answer(out, OUTCOME_NOT_APPLICABLE, "%s", err_message());
        err_clear();
    } else if (load(&m, out, request->library)) {
        compile_options(out, a, &m, request, options.data);
    }
    buf_release(&options);
    return out->outcome == OUTCOME_OK ? bundle_seal(&out->bundle) : 0;
}

const struct driver driver_miir = {
    .name = "miir",
    .summary = "rocMLIR's client C interface (Miir.h version 6), loaded with dlopen",
    .compile = compile,
    .spell = spell,
};
