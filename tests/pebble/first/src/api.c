/* api: the Miir functions over options, lowering and target. */
#include "lower.h"
#include "miir.h"
#include "options.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct handle {
    struct conv conv;
    struct target target;
    char *binary; /* NULL until lowered */
    size_t size;
    bool has_dims; /* lowered, or at least asked for its tuning parameters */
};

/* Miir.h promises one mutex for all calls. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void choose_tiles(struct conv *c, const struct target *t)
{
    int64_t channels = (c->direction == BWD_DATA ? c->c : c->k) / c->g;
    if (c->tiles.channels == 0)
        c->tiles.channels = t->kind == HOST ? 8 : 4;
    if (c->tiles.channels > channels)
        c->tiles.channels = (int)channels;
    if (c->tiles.pixels == 0 || t->lanes == 1)
        c->tiles.pixels = t->lanes;
}

/* A masked load that is wider than a register would have to be split, and LLVM 22 may then read half of it without its mask. */
static bool tiles_fit_registers(const struct conv *c, const struct target *t)
{
    return c->tiles.pixels <= t->lanes;
}

/* Lane offsets are 32-bit numbers. */
static bool fits_lanes(const struct conv *c)
{
    int64_t largest = (int64_t)1 << 31;
    return c->n * c->c * c->in[0] * c->in[1] < largest && c->n * c->k * c->out[0] * c->out[1] < largest;
}

MiirHandle miirCreateHandle(const char *options)
{
    struct handle *h = calloc(1, sizeof *h);
    pthread_mutex_lock(&mutex);
    bool well = h && options_parse(&h->conv, options) && target_find(&h->target, h->conv.arch) && fits_lanes(&h->conv);
    if (well && h->conv.type[INPUT] == F16 && !h->target.has_f16)
        well = false;
    if (well)
        choose_tiles(&h->conv, &h->target);
    well = well && tiles_fit_registers(&h->conv, &h->target);
    pthread_mutex_unlock(&mutex);
    if (!well) {
        free(h);
        return NULL;
    }
    return h;
}

enum MiirStatus miirDestroyHandle(MiirHandle handle)
{
    struct handle *h = handle;
    if (!h)
        return MIIR_INVALID_PARAM;
    free(h->binary);
    free(h);
    return MIIR_SUCCESS;
}

int miirGetKernelCount(MiirHandle handle)
{
    const struct handle *h = handle;
    if (!h)
        return -1;
    return h->conv.kernel_id > 0 ? 1 : conv_kernel_count(&h->conv);
}

int miirGetWorkspaceSize(MiirHandle handle)
{
    return 0;
}

enum MiirStatus miirLowerTuningParams(MiirHandle handle)
{
    struct handle *h = handle;
    if (!h)
        return MIIR_INVALID_PARAM;
    h->has_dims = true;
    return MIIR_SUCCESS;
}

static const struct {
    void (*lower)(struct ir *ir, const struct conv *c);
    int64_t (*tiles)(const struct conv *c);
} directions[] = {
    [FWD] = {lower_fwd, tiles_fwd},
    [BWD_DATA] = {lower_bwd_data, tiles_bwd_data},
    [BWD_WEIGHT] = {lower_bwd_weight, tiles_bwd_weight},
};

static bool compile(struct handle *h)
{
    struct ir ir = {.context = LLVMContextCreate(), .target = &h->target, .lanes = h->conv.tiles.pixels};
    ir.module = LLVMModuleCreateWithNameInContext("pebble", ir.context);
    ir.builder = LLVMCreateBuilderInContext(ir.context);
    ir.i32 = LLVMInt32TypeInContext(ir.context);
    ir.i64 = LLVMInt64TypeInContext(ir.context);
    ir.f32 = LLVMFloatTypeInContext(ir.context);
    LLVMTargetMachineRef machine = target_prepare(&h->target, ir.module);
    bool well = machine != NULL;
    if (well) {
        directions[h->conv.direction].lower(&ir, &h->conv);
        well = target_emit(&h->binary, &h->size, &h->target, machine, ir.module);
        LLVMDisposeTargetMachine(machine);
    }
    LLVMDisposeBuilder(ir.builder);
    LLVMDisposeModule(ir.module);
    LLVMContextDispose(ir.context);
    return well;
}

enum MiirStatus miirLowerBin(MiirHandle handle)
{
    struct handle *h = handle;
    if (!h)
        return MIIR_INVALID_PARAM;
    pthread_mutex_lock(&mutex);
    bool well = h->binary || compile(h);
    h->has_dims = h->has_dims || well;
    pthread_mutex_unlock(&mutex);
    return well ? MIIR_SUCCESS : MIIR_BUILD_FAILURE;
}

enum MiirStatus miirBufferGet(MiirHandle handle, char *buffer, size_t *size)
{
    const struct handle *h = handle;
    if (!h || !size)
        return MIIR_INVALID_PARAM;
    if (!h->binary)
        return MIIR_INVALID_MODULE;
    if (buffer)
        memcpy(buffer, h->binary, h->size);
    *size = h->size;
    return MIIR_SUCCESS;
}

enum MiirStatus miirGetExecutionDims(MiirHandle handle, size_t *global, size_t *local)
{
    const struct handle *h = handle;
    if (!h || !global || !local)
        return MIIR_INVALID_PARAM;
    if (!h->has_dims)
        return MIIR_INVALID_MODULE;
    size_t tiles = (size_t)directions[h->conv.direction].tiles(&h->conv);
    size_t groups = (tiles + (size_t)h->target.local - 1) / (size_t)h->target.local;
    *local = (size_t)h->target.local;
    *global = (groups ? groups : 1) * *local;
    return MIIR_SUCCESS;
}
