#include "reference/conv_fast.h"

#include "src/err.h"
#include "src/mem.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern const struct conv_kernels conv_kernels_v4, conv_kernels_v3, conv_kernels_base;

static bool runs_here(const struct conv_kernels *k)
{
    if (k == &conv_kernels_v4)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512cd");
    if (k == &conv_kernels_v3)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
               __builtin_cpu_supports("bmi2");
    return true;
}

static const struct conv_kernels *const all_kernels[] = {&conv_kernels_v4, &conv_kernels_v3,
                                                         &conv_kernels_base};

const struct conv_kernels *conv_kernels_best(void)
{
    size_t i = 0;
    while (!runs_here(all_kernels[i]))
        i++;
    return all_kernels[i];
}

const struct conv_kernels *conv_kernels_named(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(all_kernels); i++) {
        if (strcmp(all_kernels[i]->name, name) == 0)
            return runs_here(all_kernels[i]) ? all_kernels[i] : NULL;
    }
    return NULL;
}

void *conv_array(int64_t count, size_t size)
{
    const size_t huge = (size_t)2 << 20;
    size_t bytes = (size_t)count * size;
    if (bytes < 2 * huge)
        return xmalloc(bytes + 1);
    bytes = (bytes + huge - 1) / huge * huge;
    void *array = aligned_alloc(huge, bytes);
    if (!array)
        die("no memory for %zu bytes", bytes);
    (void)madvise(array, bytes, MADV_HUGEPAGE); /* a wish */
    return array;
}

/* The crowd that shares the numbers below count. */
struct crowd {
    void (*work)(void *context, int64_t i, int64_t thread);
    void *context;
    int64_t count;
    atomic_int_fast64_t next, threads;
};

static void *take_part(void *context)
{
    struct crowd *c = context;
    int64_t thread = atomic_fetch_add(&c->threads, 1);
    for (int64_t i; (i = atomic_fetch_add(&c->next, 1)) < c->count;)
        c->work(c->context, i, thread);
    return NULL;
}

void conv_parallel(void (*work)(void *context, int64_t i, int64_t thread), void *context,
                   int64_t count, int64_t threads)
{
    struct crowd c = {.work = work, .context = context, .count = count};
    pthread_t *others = xcalloc((size_t)threads, sizeof *others);
    int64_t started = 0;
    while (started + 1 < threads && started + 1 < count &&
           pthread_create(&others[started], NULL, take_part, &c) == 0)
        started++;
    take_part(&c);
    for (int64_t i = 0; i < started; i++)
        pthread_join(others[i], NULL);
    free(others);
}

int64_t conv_fast_channel_group(const struct conv_fast *fast)
{
    const struct conv_shape *s = &fast->shape;
    bool fits = s->g > 1 && s->c == s->k && (s->c == 1 || s->c == 2 || s->c == 4 || s->c == 8) &&
                s->c <= fast->kernels->lanes;
    return fits ? s->c : 0;
}

int64_t conv_fast_pitch(int64_t channels)
{
    return channels >= 64 && channels % 64 == 0 ? channels + 8 : channels;
}

/* The filter in logical order, run by run of its last dim. */
static double *widen_filter(const struct conv_fast *fast)
{
    const struct conv_shape *s = &fast->shape;
    const struct tensor *t = &fast->tensors[OPERAND_FILTER];
    struct conv_view v;
    conv_view_of(&v, t, s, OPERAND_FILTER);
    double *filter = xcalloc((size_t)t->elements + 8, sizeof *filter), *out = filter;
    for (int64_t g = 0; g < s->g; g++) {
        for (int64_t k = 0; k < s->k; k++) {
            for (int64_t c = 0; c < s->c; c++) {
                for (int64_t row = 0; row < s->fil[0] * s->fil[1]; row++, out += s->fil[2]) {
                    int64_t at = g * t->stride[0] + k * t->stride[1] + c * t->stride[2] +
                                 row / s->fil[1] * v.by[0] + row % s->fil[1] * v.by[1];
                    fast->kernels->widen(
                        out, &(struct conv_run){.data = (const char *)t->data +
                                                        at * (int64_t)dtype_bytes(t->dtype),
                                                .dtype = t->dtype,
                                                .stride = v.by[2],
                                                .count = s->fil[2]});
                }
            }
        }
    }
    return filter;
}

static int check_memory(struct conv_fast *fast, const struct conv_options *o,
                        const struct problem *p)
{
    int64_t elements = problem_elements(p, fast->result);
    int64_t needed = elements * (int64_t)(2 * sizeof(double) + sizeof(int32_t)) +
                     problem_elements(p, OPERAND_FILTER) * (int64_t)sizeof(double);
    needed +=
        fast->direction == DIRECTION_BWD_WEIGHT ? conv_gather_bytes(fast) : conv_spread_bytes(fast);
    int64_t there = o->memory_bytes;
    if (there == 0)
        there = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    if (needed <= there)
        return 0;
    return err_set(ERR_INVALID,
                   "the reference of this problem takes %" PRId64 " MiB of memory, and %" PRId64
                   " MiB are there",
                   needed >> 20, there >> 20);
}

int conv_reference(struct conv_answer *out, const struct problem *p, const struct tensor tensors[3],
                   const struct conv_options *options)
{
    int status = problem_check(p);
    if (status < 0)
        return status;
    struct conv_options o = options ? *options : (struct conv_options){0};
    struct conv_fast fast = {.direction = p->direction,
                             .result = problem_result(p),
                             .tensors = tensors,
                             .kernels = o.kernels ? o.kernels : conv_kernels_best(),
                             .threads = o.threads > 0 ? o.threads : 1,
                             .first_dim = 3 - p->dims};
    conv_shape_of(&fast.shape, p);
    fast.taps = fast.shape.fil[0] * fast.shape.fil[1] * fast.shape.fil[2];
    for (enum operand which = OPERAND_INPUT; which <= OPERAND_OUTPUT; which++) {
        if (tensors[which].elements != problem_elements(p, which) ||
            tensors[which].rank != p->dims + 3)
            bug("operand %d is not the problem's", (int)which);
    }
    status = check_memory(&fast, &o, p);
    if (status < 0)
        return status;
    *out = (struct conv_answer){.elements = tensors[fast.result].elements};
    out->value = conv_array(out->elements, sizeof *out->value);
    fast.value = out->value;
    if (p->direction == DIRECTION_BWD_WEIGHT) {
        conv_gather(&fast);
    } else {
        fast.filter = widen_filter(&fast);
        conv_spread(&fast);
        free(fast.filter);
    }
    if (!o.values_only)
        conv_bounds(out, &fast.shape, p, tensors);
    return 0;
}
