#include "src/hip-cpu/provider.h"

#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>

struct launch {
    kernel_function run;
    void **params;
    uint32_t grid_x, grid_y;
    uint64_t count; /* workgroups in all */
    atomic_uint_fast64_t next;
};

/* Take workgroups, x fastest, until none is left. Kernels run in the default floating-point
 * environment and cannot spoil ours. */
static void *run_workgroups(void *context)
{
    struct launch *l = context;
    fenv_t environment;
    fegetenv(&environment);
    fesetenv(FE_DFL_ENV);
    for (;;) {
        uint64_t i = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
        if (i >= l->count)
            break;
        uint64_t row = i / l->grid_x;
        const uint32_t workgroup[3] = {(uint32_t)(i % l->grid_x), (uint32_t)(row % l->grid_y),
                                       (uint32_t)(row / l->grid_y)};
        l->run(l->params, workgroup);
    }
    fesetenv(&environment);
    return NULL;
}

/* Threads live for one launch (tens of microseconds each): no pool can be left behind by a fork.
 * Where fewer start, those do it all. */
static void run_on_threads(struct launch *l, int threads)
{
    pthread_t others[MAX_THREADS];
    int started = 0;
    while (started < threads - 1 && (uint64_t)started + 1 < l->count &&
           pthread_create(&others[started], NULL, run_workgroups, l) == 0)
        started++;
    run_workgroups(l);
    for (int i = 0; i < started; i++)
        pthread_join(others[i], NULL);
}

static bool count_workgroups(uint64_t *out, dim3 grid, dim3 block)
{
    if (grid.x > MAX_GRID || grid.y > MAX_GRID || grid.z > MAX_GRID || block.x > MAX_BLOCK ||
        block.y > MAX_BLOCK || block.z > MAX_BLOCK)
        return false;
    uint64_t items = (uint64_t)block.x * block.y * block.z;
    return items > 0 && items <= MAX_BLOCK &&
           !__builtin_mul_overflow((uint64_t)grid.x * grid.y, (uint64_t)grid.z, out) && *out > 0;
}

static hipError_t launch(hipFunction_t function, dim3 grid, dim3 block, unsigned shared_bytes,
                         hipStream_t stream, void **params, void **extra)
{
    struct launch l = {
        .run = module_kernel(function), .params = params, .grid_x = grid.x, .grid_y = grid.y};
    if (!l.run || !stream_is_alive(stream))
        return hipErrorInvalidHandle;
    if (extra)
        return hipErrorNotSupported;
    if (!params || shared_bytes > MAX_SHARED_BYTES)
        return hipErrorInvalidValue;
    if (!count_workgroups(&l.count, grid, block))
        return hipErrorInvalidConfiguration;
    run_on_threads(&l, device_get()->threads);
    return hipSuccess;
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y,
                                 unsigned grid_z, unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned shared_bytes, hipStream_t stream,
                                 void **params, void **extra)
{
    dim3 grid = {.x = grid_x, .y = grid_y, .z = grid_z},
         block = {.x = block_x, .y = block_y, .z = block_z};
    return HIP_CALL(launch(function, grid, block, shared_bytes, stream, params, extra));
}
