#include "reference/exact.h"

#include "reference/conv_internal.h"
#include "src/err.h"
#include "src/mem.h"

#include <string.h>

#define PRIME INT64_C(0x7fffffff)

/* Beyond this nothing is projected. */
#define LARGEST (INT64_C(1) << 25)

enum { TIMES = 2, PRODUCTS = 64 /* that a sum has room for, see conv_kernels.h */ };

/* 2^31 = 1 in the field, so the upper bits count like the lower ones: from 63 bits to 33. */
static int64_t fold(int64_t x)
{
    return (x & PRIME) + (x >> 31);
}

/* In [0, PRIME). */
static uint32_t residue(int64_t x)
{
    x = fold(fold(x));
    if (x < 0)
        x += PRIME;
    return (uint32_t)(x >= PRIME ? x - PRIME : x);
}

static uint32_t times(uint32_t a, uint32_t b)
{
    return residue((int64_t)a * (int64_t)b);
}

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

/* Uniform in the field but for one part in 2^33. */
static uint32_t *draw(int64_t count, uint64_t seed)
{
    uint32_t *values = xcalloc((size_t)count, sizeof *values);
    for (int64_t i = 0; i < count; i++)
        values[i] = (uint32_t)(mix(seed + (uint64_t)i) % (uint64_t)PRIME);
    return values;
}

static int64_t volume(const int64_t size[3])
{
    return size[0] * size[1] * size[2];
}

/* One check: twice everything that is random. */
struct check {
    struct conv_shape shape;
    const struct problem *p;
    const struct tensor *tensors;
    const struct conv_kernels *kernels;
    struct conv_view view[3];
    uint32_t *images[TIMES]; /* u */
    uint32_t *inputs[TIMES]; /* by channel of all groups */
    uint32_t *outputs[TIMES];
    int64_t zeros; /* of what was projected last */
};

static struct conv_run run_at(const struct conv_view *v, int64_t offset, int64_t stride,
                              int64_t count)
{
    return (struct conv_run){.data = (const char *)v->tensor->data +
                                     offset * (int64_t)dtype_bytes(v->tensor->dtype),
                             .dtype = v->tensor->dtype,
                             .stride = stride,
                             .count = count};
}

static void fold_all(int64_t *const sums[TIMES], int64_t count)
{
    for (int r = 0; r < TIMES; r++) {
        for (int64_t i = 0; i < count; i++)
            sums[r][i] = fold(sums[r][i]);
    }
}

/* Sums over the channels of one position, 64 at a time. */
static bool dot_channels(int64_t sums[TIMES], struct check *c, const struct conv_view *v,
                         int64_t offset, int64_t count, const uint32_t *const by[TIMES])
{
    bool good = true;
    sums[0] = sums[1] = 0;
    for (int64_t at = 0; at < count; at += PRODUCTS) {
        int64_t part = count - at < PRODUCTS ? count - at : PRODUCTS;
        const uint32_t *const here[TIMES] = {by[0] + at, by[1] + at};
        struct conv_run run = run_at(v, offset + at, 1, part);
        good &= c->kernels->dot(sums, &c->zeros, &run, here);
        sums[0] = fold(sums[0]);
        sums[1] = fold(sums[1]);
    }
    return good;
}

/* What is projected at once, so that its sums stay in the first-level cache. */
enum { STRETCH = 1024 };

/* Rows of a plane, all in one where they lie one behind the other. */
struct rows {
    int64_t count, length;
};

static struct rows rows_of(const struct conv_view *v)
{
    int64_t row = v->size[2];
    bool flat = (v->size[1] == 1 || v->by[1] == row * v->by[2]) &&
                (v->size[0] == 1 || v->by[0] == v->size[1] * row * v->by[2]);
    return flat ? (struct rows){1, volume(v->size)} : (struct rows){v->size[0] * v->size[1], row};
}

static int64_t position_offset(const struct conv_view *v, int64_t at)
{
    return at / (v->size[1] * v->size[2]) * v->by[0] + at / v->size[2] % v->size[1] * v->by[1] +
           at % v->size[2] * v->by[2];
}

/* Images and channels of an operand that are summed into planes. */
struct part {
    int64_t image, images, group, groups, channel, channels; /* as the view counts them */
    const uint32_t *by_image[TIMES], *by_channel[TIMES];     /* of the first of each */
};

/* planes[r][position] += sum over images and channels of by_image[r] * by_channel[r] * t: position
 * by position where channels lie side by side. */
static bool add_positions(int64_t *const planes[TIMES], struct check *c, const struct conv_view *v,
                          const struct part *p)
{
    int64_t size = volume(v->size);
    bool good = true;
    for (int64_t n = 0; n < p->images && good; n++) {
        for (int64_t g = 0; g < p->groups && good; g++) {
            const uint32_t *const by[TIMES] = {p->by_channel[0] + g * p->channels,
                                               p->by_channel[1] + g * p->channels};
            int64_t corner = (p->image + n) * v->by_n + (p->group + g) * v->by_group + p->channel;
            for (int64_t at = 0; at < size && good; at++) {
                int64_t sums[TIMES];
                good = dot_channels(sums, c, v, corner + position_offset(v, at), p->channels, by);
                for (int r = 0; r < TIMES; r++)
                    planes[r][at] =
                        fold(planes[r][at]) + times(residue(sums[r]), p->by_image[r][n]);
            }
        }
    }
    return good;
}

/* The same, stretch by stretch of a row: at + [0, length) of the plane. */
static bool add_stretch(int64_t *const planes[TIMES], struct check *c, const struct conv_view *v,
                        const struct part *p, int64_t at, int64_t length)
{
    int64_t *const here[TIMES] = {planes[0] + at, planes[1] + at};
    int64_t start = position_offset(v, at), products = 0;
    bool good = true;
    for (int64_t n = 0; n < p->images && good; n++) {
        for (int64_t ch = 0; ch < p->groups * p->channels && good; ch++) {
            const uint32_t by[TIMES] = {times(p->by_image[0][n], p->by_channel[0][ch]),
                                        times(p->by_image[1][n], p->by_channel[1][ch])};
            int64_t offset = (p->image + n) * v->by_n +
                             (p->group + ch / p->channels) * v->by_group +
                             (p->channel + ch % p->channels) * v->by_channel + start;
            struct conv_run run = run_at(v, offset, v->by[2], length);
            good = c->kernels->project(here, &c->zeros, &run, by);
            if (++products == PRODUCTS - 1) {
                fold_all(here, length);
                products = 0;
            }
        }
    }
    fold_all(here, length);
    return good;
}

static bool add_part(int64_t *const planes[TIMES], struct check *c, const struct conv_view *v,
                     const struct part *p)
{
    if (v->by_channel == 1 && p->channels > 1)
        return add_positions(planes, c, v, p);
    struct rows rows = rows_of(v);
    bool good = true;
    for (int64_t row = 0; row < rows.count && good; row++) {
        for (int64_t at = 0; at < rows.length && good; at += STRETCH) {
            int64_t length = rows.length - at < STRETCH ? rows.length - at : STRETCH;
            good = add_stretch(planes, c, v, p, row * rows.length + at, length);
        }
    }
    return good;
}

/* All images and channels of an operand. */
static bool collapse(int64_t *const planes[TIMES], struct check *c, enum operand which,
                     uint32_t *const by_channel[TIMES])
{
    const struct conv_view *v = &c->view[which];
    struct part all = {.images = v->n,
                       .groups = v->groups,
                       .channels = v->channels,
                       .by_image = {c->images[0], c->images[1]},
                       .by_channel = {by_channel[0], by_channel[1]}};
    c->zeros = 0;
    return add_part(planes, c, v, &all);
}

/* sum_n u_n t[n] of an operand whose images lie one behind the other, as [channel of all
 * groups][position]. */
static bool collapse_images(uint32_t *const out[TIMES], struct check *c, enum operand which)
{
    const struct conv_view *v = &c->view[which];
    int64_t channels = v->groups * v->channels, size = volume(v->size), image = channels * size;
    int64_t *sums[TIMES] = {xcalloc((size_t)image, sizeof **sums),
                            xcalloc((size_t)image, sizeof **sums)};
    bool good = true;
    for (int64_t at = 0; at < image && good; at += STRETCH) {
        int64_t length = image - at < STRETCH ? image - at : STRETCH;
        int64_t *const here[TIMES] = {sums[0] + at, sums[1] + at};
        for (int64_t n = 0; n < v->n && good; n++) {
            const uint32_t by[TIMES] = {c->images[0][n], c->images[1][n]};
            struct conv_run run = run_at(v, n * v->by_n + at, 1, length);
            good = c->kernels->project(here, &c->zeros, &run, by);
            if (n % (PRODUCTS - 1) == PRODUCTS - 2)
                fold_all(here, length);
        }
    }
    for (int64_t ch = 0; ch < channels && good; ch++) {
        int64_t corner = ch / v->channels * v->by_group + ch % v->channels * v->by_channel;
        for (int64_t at = 0; at < size; at++) {
            int64_t offset = corner + position_offset(v, at);
            for (int r = 0; r < TIMES; r++)
                out[r][ch * size + at] = residue(sums[r][offset]);
        }
    }
    for (int r = 0; r < TIMES; r++)
        free(sums[r]);
    return good;
}

/* The filter summed over its lanes (fwd: k, backward data: c): [inner channel of all groups][tap].
 */
static bool collapse_filter(uint32_t *const out[TIMES], struct check *c,
                            uint32_t *const by_lane[TIMES])
{
    const struct conv_shape *s = &c->shape;
    const struct tensor *t = &c->tensors[OPERAND_FILTER];
    const struct conv_view *v = &c->view[OPERAND_FILTER];
    bool forward = c->p->direction == DIRECTION_FWD, good = true;
    int64_t taps = volume(s->fil), lanes = forward ? s->k : s->c, inner = forward ? s->c : s->k,
            unused = 0;
    int64_t *sums[TIMES] = {xcalloc((size_t)taps, sizeof **sums),
                            xcalloc((size_t)taps, sizeof **sums)};
    for (int64_t i = 0; i < s->g * inner; i++) {
        int64_t g = i / inner;
        for (int r = 0; r < TIMES; r++)
            memset(sums[r], 0, (size_t)taps * sizeof **sums);
        for (int64_t l = 0; l < lanes; l++) {
            int64_t k = forward ? l : i % inner, ch = forward ? i % inner : l;
            const uint32_t by[TIMES] = {by_lane[0][g * lanes + l], by_lane[1][g * lanes + l]};
            for (int64_t row = 0; row < s->fil[0] * s->fil[1]; row++) {
                int64_t offset = g * t->stride[0] + k * t->stride[1] + ch * t->stride[2] +
                                 row / s->fil[1] * v->by[0] + row % s->fil[1] * v->by[1];
                struct conv_run run = run_at(v, offset, v->by[2], s->fil[2]);
                int64_t *const here[TIMES] = {sums[0] + row * s->fil[2], sums[1] + row * s->fil[2]};
                good &= c->kernels->project(here, &unused, &run, by);
            }
            if (l % (PRODUCTS - 1) == PRODUCTS - 2)
                fold_all(sums, taps);
        }
        for (int64_t tap = 0; tap < taps; tap++) {
            for (int r = 0; r < TIMES; r++)
                out[r][i * taps + tap] = residue(sums[r][tap]);
        }
    }
    for (int r = 0; r < TIMES; r++)
        free(sums[r]);
    return good;
}

/* One row of outputs and the inputs that a tap takes them to. */
struct row {
    int64_t output, input, count; /* first positions; inputs are a stride apart */
};

/* Calls work for each row of outputs whose tap lies inside. */
static void each_row(const struct conv_shape *s, int64_t tap,
                     void (*work)(void *context, struct row row), void *context)
{
    int64_t r[3] = {tap / (s->fil[1] * s->fil[2]), tap / s->fil[2] % s->fil[1], tap % s->fil[2]};
    int64_t first[3], last[3], at[3];
    for (int i = 0; i < 3; i++) {
        conv_reach(&first[i], &last[i], s, i, r[i]);
        at[i] = r[i] * s->dil[i] - s->lo[i];
    }
    if (last[2] <= first[2])
        return;
    for (int64_t x = first[0]; x < last[0]; x++) {
        for (int64_t y = first[1]; y < last[1]; y++) {
            int64_t in = ((x * s->str[0] + at[0]) * s->in[1] + y * s->str[1] + at[1]) * s->in[2];
            work(context, (struct row){.output = (x * s->out[1] + y) * s->out[2] + first[2],
                                       .input = in + first[2] * s->str[2] + at[2],
                                       .count = last[2] - first[2]});
        }
    }
}

/* Adds by * source to the low and high halves of a plane's sums: 31 bits each time, so they have
 * room for 2^32 products. */
struct spreading {
    const struct conv_shape *shape;
    bool forward;
    const uint32_t *source;
    uint64_t by;
    uint64_t *low, *high;
};

static void add_spread(void *context, struct row row)
{
    struct spreading *p = context;
    int64_t str = p->shape->str[2], from = p->forward ? row.input : row.output,
            to = p->forward ? row.output : row.input;
    int64_t step_from = p->forward ? str : 1, step_to = p->forward ? 1 : str;
    const uint32_t *source = p->source + from;
    uint64_t *low = p->low + to, *high = p->high + to;
    if (step_from == 1 && step_to == 1) {
        for (int64_t i = 0; i < row.count; i++) {
            uint64_t product = p->by * source[i];
            low[i] += product & (uint64_t)PRIME;
            high[i] += product >> 31;
        }
        return;
    }
    for (int64_t i = 0; i < row.count; i++) {
        uint64_t product = p->by * source[i * step_from];
        low[i * step_to] += product & (uint64_t)PRIME;
        high[i * step_to] += product >> 31;
    }
}

static bool is_residue(int64_t sum, uint64_t low, uint64_t high)
{
    return residue(sum) == residue((int64_t)(low % (uint64_t)PRIME + high % (uint64_t)PRIME));
}

/* The convolution of what both factors were projected to, beside the projection of the result. */
static enum exact_answer compare_planes(struct check *c, int64_t *const result[TIMES],
                                        uint32_t *const source[TIMES],
                                        uint32_t *const filter[TIMES])
{
    const struct conv_shape *s = &c->shape;
    bool forward = c->p->direction == DIRECTION_FWD;
    int64_t taps = volume(s->fil), inner = s->g * (forward ? s->c : s->k);
    int64_t size = volume(forward ? s->out : s->in), from = volume(forward ? s->in : s->out);
    enum exact_answer answer = EXACT_RIGHT;
    for (int r = 0; r < TIMES && answer == EXACT_RIGHT; r++) {
        uint64_t *low = xcalloc((size_t)size, sizeof *low),
                 *high = xcalloc((size_t)size, sizeof *high);
        for (int64_t i = 0; i < inner; i++) {
            for (int64_t tap = 0; tap < taps; tap++) {
                struct spreading p = {.shape = s,
                                      .forward = forward,
                                      .source = source[r] + i * from,
                                      .by = filter[r][i * taps + tap],
                                      .low = low,
                                      .high = high};
                each_row(s, tap, add_spread, &p);
            }
        }
        for (int64_t i = 0; i < size && answer == EXACT_RIGHT; i++) {
            if (!is_residue(result[r][i], low[i], high[i]))
                answer = EXACT_WRONG;
        }
        free(low);
        free(high);
    }
    return answer;
}

static enum exact_answer check_spread(int64_t *zeros, struct check *c)
{
    const struct conv_shape *s = &c->shape;
    bool forward = c->p->direction == DIRECTION_FWD;
    enum operand result = problem_result(c->p), source = forward ? OPERAND_INPUT : OPERAND_OUTPUT;
    int64_t size = volume(c->view[result].size), from = volume(c->view[source].size),
            inner = s->g * (forward ? s->c : s->k);
    int64_t *planes[TIMES];
    uint32_t *sources[TIMES], *filters[TIMES], *const *lanes = forward ? c->outputs : c->inputs;
    for (int r = 0; r < TIMES; r++) {
        planes[r] = xcalloc((size_t)size, sizeof **planes);
        sources[r] = xcalloc((size_t)(inner * from), sizeof **sources);
        filters[r] = xcalloc((size_t)(inner * volume(s->fil)), sizeof **filters);
    }
    enum exact_answer answer = EXACT_UNSURE;
    bool good = collapse(planes, c, result, lanes);
    *zeros = c->zeros;
    if (good && collapse_images(sources, c, source) && collapse_filter(filters, c, lanes))
        answer = compare_planes(c, planes, sources, filters);
    for (int r = 0; r < TIMES; r++) {
        free(planes[r]);
        free(sources[r]);
        free(filters[r]);
    }
    return answer;
}

/* The sum over one row of the products of two planes. */
struct gathering {
    const struct conv_shape *shape;
    const uint32_t *input, *output;
    uint64_t low, high;
};

static void add_gathered(void *context, struct row row)
{
    struct gathering *p = context;
    const uint32_t *x = p->input + row.input, *y = p->output + row.output;
    int64_t str = p->shape->str[2];
    uint64_t low = 0, high = 0;
    for (int64_t i = 0; i < row.count; i++) {
        uint64_t product = (uint64_t)x[i * str] * y[i];
        low += product & (uint64_t)PRIME;
        high += product >> 31;
    }
    p->low += low;
    p->high += high;
}

/* One image and group of x or dy, its channels summed. */
static bool collapse_group(uint32_t *const out[TIMES], int64_t *const sums[TIMES], struct check *c,
                           enum operand which, int64_t image, int64_t group)
{
    static const uint32_t one = 1;
    const struct conv_view *v = &c->view[which];
    int64_t channels = which == OPERAND_INPUT ? c->shape.c : c->shape.k, size = volume(v->size);
    uint32_t *const *by_channel = which == OPERAND_INPUT ? c->inputs : c->outputs;
    bool merged = v->groups == 1;
    struct part p = {
        .image = image,
        .images = 1,
        .group = merged ? 0 : group,
        .groups = 1,
        .channel = merged ? group * channels : 0,
        .channels = channels,
        .by_image = {&one, &one},
        .by_channel = {by_channel[0] + group * channels, by_channel[1] + group * channels}};
    for (int r = 0; r < TIMES; r++)
        memset(sums[r], 0, (size_t)size * sizeof **sums);
    bool good = add_part(sums, c, v, &p);
    for (int r = 0; r < TIMES; r++) {
        for (int64_t i = 0; i < size; i++)
            out[r][i] = residue(sums[r][i]);
    }
    return good;
}

/* sums[r][tap] over groups, k and c. */
static bool collapse_gradient(int64_t *const sums[TIMES], struct check *c)
{
    const struct conv_shape *s = &c->shape;
    const struct conv_view *v = &c->view[OPERAND_FILTER];
    const struct tensor *t = v->tensor;
    bool good = true;
    int64_t products = 0;
    c->zeros = 0;
    for (int64_t i = 0; i < s->g * s->k * s->c; i++) {
        int64_t g = i / (s->k * s->c), k = i / s->c % s->k, ch = i % s->c;
        const uint32_t by[TIMES] = {
            times(c->outputs[0][g * s->k + k], c->inputs[0][g * s->c + ch]),
            times(c->outputs[1][g * s->k + k], c->inputs[1][g * s->c + ch])};
        for (int64_t row = 0; row < s->fil[0] * s->fil[1]; row++) {
            int64_t offset = g * t->stride[0] + k * t->stride[1] + ch * t->stride[2] +
                             row / s->fil[1] * v->by[0] + row % s->fil[1] * v->by[1];
            struct conv_run run = run_at(v, offset, v->by[2], s->fil[2]);
            int64_t *const here[TIMES] = {sums[0] + row * s->fil[2], sums[1] + row * s->fil[2]};
            good &= c->kernels->project(here, &c->zeros, &run, by);
        }
        if (++products == PRODUCTS - 1) {
            fold_all(sums, volume(s->fil));
            products = 0;
        }
    }
    return good;
}

static enum exact_answer check_gather(int64_t *zeros, struct check *c)
{
    const struct conv_shape *s = &c->shape;
    int64_t taps = volume(s->fil), in = volume(s->in), outs = volume(s->out),
            most = in > outs ? in : outs;
    int64_t *result[TIMES], *sums[TIMES];
    uint32_t *x[TIMES], *y[TIMES];
    uint64_t *low[TIMES], *high[TIMES];
    for (int r = 0; r < TIMES; r++) {
        result[r] = xcalloc((size_t)taps, sizeof **result);
        sums[r] = xcalloc((size_t)most, sizeof **sums);
        x[r] = xcalloc((size_t)in, sizeof **x);
        y[r] = xcalloc((size_t)outs, sizeof **y);
        low[r] = xcalloc((size_t)taps, sizeof **low);
        high[r] = xcalloc((size_t)taps, sizeof **high);
    }
    bool good = collapse_gradient(result, c);
    *zeros = c->zeros;
    for (int64_t i = 0; i < s->n * s->g && good; i++) {
        good = collapse_group(x, sums, c, OPERAND_INPUT, i / s->g, i % s->g) &&
               collapse_group(y, sums, c, OPERAND_OUTPUT, i / s->g, i % s->g);
        for (int r = 0; r < TIMES && good; r++) {
            for (int64_t tap = 0; tap < taps; tap++) {
                struct gathering p = {.shape = s, .input = x[r], .output = y[r]};
                each_row(s, tap, add_gathered, &p);
                low[r][tap] += p.low % (uint64_t)PRIME;
                high[r][tap] += p.high % (uint64_t)PRIME;
            }
        }
    }
    enum exact_answer answer = good ? EXACT_RIGHT : EXACT_UNSURE;
    for (int r = 0; r < TIMES; r++) {
        for (int64_t tap = 0; tap < taps && answer == EXACT_RIGHT; tap++) {
            if (!is_residue(result[r][tap], low[r][tap], high[r][tap]))
                answer = EXACT_WRONG;
        }
        free(result[r]);
        free(sums[r]);
        free(x[r]);
        free(y[r]);
        free(low[r]);
        free(high[r]);
    }
    return answer;
}

/* Does the result's type hold every sum that the data can make? One-hot data only copy. */
static bool holds_sums(const struct problem *p, enum data_kind kind, int accumulator_bits)
{
    if (kind == DATA_ONE_HOT)
        return true;
    int64_t holds = tensor_largest_exact(p->dtype[problem_result(p)]);
    holds = holds < LARGEST ? holds : LARGEST;
    int64_t range = tensor_exact_range(p, accumulator_bits);
    return problem_reduction(p) <= holds / (range * range);
}

/* Images one behind the other, so that all their elements are one run. */
static bool is_by_image(const struct conv_view *v)
{
    return v->by_n * v->n == v->tensor->elements;
}

enum exact_answer exact_check(int64_t *zeros, const struct problem *p,
                              const struct tensor tensors[3], enum data_kind kind,
                              int accumulator_bits, uint64_t seed)
{
    struct check c = {.p = p, .tensors = tensors, .kernels = conv_kernels_best()};
    conv_shape_of(&c.shape, p);
    for (enum operand o = OPERAND_INPUT; o <= OPERAND_OUTPUT; o++)
        conv_view_of(&c.view[o], &tensors[o], &c.shape, o);
    bool gradient = p->direction == DIRECTION_BWD_WEIGHT;
    bool pays =
        gradient
            ? c.shape.c * c.shape.k >= 16
            : is_by_image(&c.view[p->direction == DIRECTION_FWD ? OPERAND_INPUT : OPERAND_OUTPUT]);
    *zeros = 0;
    if (!pays || !holds_sums(p, kind, accumulator_bits))
        return EXACT_UNSURE;
    for (int r = 0; r < TIMES; r++) {
        uint64_t stream = mix(seed + (uint64_t)r * 3);
        c.images[r] = draw(c.shape.n, mix(stream));
        c.inputs[r] = draw(c.shape.g * c.shape.c, mix(stream + 1));
        c.outputs[r] = draw(c.shape.g * c.shape.k, mix(stream + 2));
    }
    enum exact_answer answer = gradient ? check_gather(zeros, &c) : check_spread(zeros, &c);
    for (int r = 0; r < TIMES; r++) {
        free(c.images[r]);
        free(c.inputs[r]);
        free(c.outputs[r]);
    }
    return answer;
}
