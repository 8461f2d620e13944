/* Compiled once an instruction set: CONV_ISA names it, CONV_BYTES is the size of its vectors and
 * CONV_ROWS the height of a tile. */
#include "reference/conv_kernels.h"

#include "reference/tensor.h"
#include "src/err.h"

#include <string.h>

enum { LANES = CONV_BYTES / (int)sizeof(double), ROWS = CONV_ROWS };

typedef double vec __attribute__((vector_size(CONV_BYTES)));
typedef double vec_anywhere __attribute__((vector_size(CONV_BYTES), aligned(8), may_alias));
typedef int64_t vec_index __attribute__((vector_size(CONV_BYTES)));

static inline vec load(const double *at)
{
    return *(const vec_anywhere *)at;
}

static inline void store(double *at, vec v)
{
    *(vec_anywhere *)at = v;
}

static inline vec everywhere(double x)
{
    return x - (vec){0};
}

/* One tile; `vectors` is a constant where this is called, so that the sums stay in registers. */
static inline __attribute__((always_inline)) void sum_tile(double *const out[ROWS],
                                                           const double *const source[ROWS],
                                                           const double *b, const int vectors,
                                                           const struct conv_walk *walk, bool add)
{
    vec sum[ROWS][2];
#pragma GCC unroll 16
    for (int r = 0; r < ROWS; r++) {
        sum[r][0] = (vec){0};
        sum[r][1] = (vec){0};
    }
    for (int64_t s = 0; s < walk->segments; s++) {
        const double *right = b + walk->b[s] * vectors * LANES;
        const double *left[ROWS];
#pragma GCC unroll 16
        for (int r = 0; r < ROWS; r++)
            left[r] = source[r] + walk->a[s];
        int64_t at = 0;
        for (int64_t t = 0; t < walk->length; t++) {
            vec first = load(right), second = vectors > 1 ? load(right + LANES) : (vec){0};
#pragma GCC unroll 16
            for (int r = 0; r < ROWS; r++) {
                vec x = everywhere(left[r][at]);
                sum[r][0] += x * first;
                if (vectors > 1)
                    sum[r][1] += x * second;
            }
            at += walk->step;
            right += vectors * LANES;
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < ROWS; r++) {
        for (int v = 0; v < vectors; v++)
            store(out[r] + v * LANES, add ? load(out[r] + v * LANES) + sum[r][v] : sum[r][v]);
    }
}

static __attribute__((noinline)) void sum_tile_1(double *const out[ROWS],
                                                 const double *const source[ROWS], const double *b,
                                                 const struct conv_walk *walk, bool add)
{
    sum_tile(out, source, b, 1, walk, add);
}

static __attribute__((noinline)) void sum_tile_2(double *const out[ROWS],
                                                 const double *const source[ROWS], const double *b,
                                                 const struct conv_walk *walk, bool add)
{
    sum_tile(out, source, b, 2, walk, add);
}

/* A tile that is not full computes its last row again, into a place that nobody reads. */
static void sweep(double *out, const double *source, const int64_t *at, int64_t count,
                  const double *b, int64_t vectors, const struct conv_walk *walk, bool add)
{
    double nowhere[2 * LANES];
    memset(nowhere, 0, sizeof nowhere);
    int64_t width = vectors * LANES;
    for (int64_t m = 0; m < count; m += ROWS) {
        const double *left[ROWS];
        double *sums[ROWS];
        for (int r = 0; r < ROWS; r++) {
            bool there = m + r < count;
            left[r] = source + at[there ? m + r : count - 1];
            sums[r] = there ? out + (m + r) * width : nowhere;
        }
        (vectors > 1 ? sum_tile_2 : sum_tile_1)(sums, left, b, walk, add);
    }
}

static inline vec pick(vec x, vec_index which)
{
#ifdef __clang__
    vec picked;
    for (int l = 0; l < LANES; l++)
        picked[l] = x[which[l]];
    return picked;
#else
    return __builtin_shuffle(x, which);
#endif
}

/* Lane l of the result of pick takes the i-th channel of its group. */
static void choose_lanes(vec_index which[8], int64_t q)
{
    for (int64_t i = 0; i < q; i++) {
        for (int l = 0; l < LANES; l++)
            which[i][l] = l / q * q + i;
    }
}

enum { PIXELS = 8 }; /* whose sums stay in registers */

static inline __attribute__((always_inline)) void
channels_of(double *out, int64_t pitch, const double *source, const int64_t *at, int64_t count,
            const double *weight, const int64_t *tap, int64_t taps, const int q, int64_t channels)
{
    vec_index which[8];
    choose_lanes(which, q);
    for (int64_t m = 0; m < count; m += PIXELS) {
        const double *left[PIXELS];
        for (int i = 0; i < PIXELS; i++)
            left[i] = source + at[m + i < count ? m + i : count - 1];
        for (int64_t l = 0; l < channels; l += LANES) {
            vec sum[PIXELS];
#pragma GCC unroll 8
            for (int i = 0; i < PIXELS; i++)
                sum[i] = (vec){0};
            for (int64_t t = 0; t < taps; t++) {
                const double *w = weight + t * q * pitch + l;
                vec x[PIXELS];
#pragma GCC unroll 8
                for (int i = 0; i < PIXELS; i++)
                    x[i] = load(left[i] + tap[t] + l);
#pragma GCC unroll 8
                for (int j = 0; j < q; j++) {
                    vec b = load(w + j * pitch);
#pragma GCC unroll 8
                    for (int i = 0; i < PIXELS; i++)
                        sum[i] += (q == 1 ? x[i] : pick(x[i], which[j])) * b;
                }
            }
            for (int i = 0; i < PIXELS && m + i < count; i++)
                store(out + (m + i) * pitch + l, sum[i]);
        }
    }
}

static void channels(double *out, int64_t pitch, const double *source, const int64_t *at,
                     int64_t count, const double *weight, const int64_t *tap, int64_t taps,
                     int64_t q, int64_t channels_)
{
    if (q == 1)
        channels_of(out, pitch, source, at, count, weight, tap, taps, 1, channels_);
    else if (q == 2)
        channels_of(out, pitch, source, at, count, weight, tap, taps, 2, channels_);
    else if (q == 4 && LANES >= 4)
        channels_of(out, pitch, source, at, count, weight, tap, taps, 4, channels_);
    else if (q == 8 && LANES >= 8)
        channels_of(out, pitch, source, at, count, weight, tap, taps, 8, channels_);
    else
        bug("groups of %d channels in vectors of %d", (int)q, (int)LANES);
}

static inline __attribute__((always_inline)) void
gradients_of(double *sums, int64_t pitch, const double *source, int64_t step, const double *other,
             int64_t other_step, int64_t count, const int64_t *tap, int64_t taps, const int q,
             int64_t channels_)
{
    enum { TAPS = 4 };
    const int each = q > 4 ? 1 : TAPS; /* taps at once: their sums stay in registers */
    vec_index which[8];
    choose_lanes(which, q);
    for (int64_t l = 0; l < channels_; l += LANES) {
        for (int64_t t = 0; t < taps; t += each) {
            const double *left[TAPS];
            vec sum[TAPS][8];
#pragma GCC unroll 4
            for (int i = 0; i < each; i++) {
                left[i] = source + tap[t + i < taps ? t + i : taps - 1] + l;
#pragma GCC unroll 8
                for (int j = 0; j < q; j++)
                    sum[i][j] = (vec){0};
            }
            for (int64_t m = 0; m < count; m++) {
                vec y = load(other + m * other_step + l);
#pragma GCC unroll 4
                for (int i = 0; i < each; i++) {
                    vec x = load(left[i] + m * step);
#pragma GCC unroll 8
                    for (int j = 0; j < q; j++)
                        sum[i][j] += (q == 1 ? x : pick(x, which[j])) * y;
                }
            }
            for (int i = 0; i < each && t + i < taps; i++) {
                for (int j = 0; j < q; j++) {
                    double *at = sums + ((t + i) * q + j) * pitch + l;
                    store(at, load(at) + sum[i][j]);
                }
            }
        }
    }
}

static void channel_gradients(double *sums, int64_t pitch, const double *source, int64_t step,
                              const double *other, int64_t other_step, int64_t count,
                              const int64_t *tap, int64_t taps, int64_t q, int64_t channels_)
{
    if (q == 1)
        gradients_of(sums, pitch, source, step, other, other_step, count, tap, taps, 1, channels_);
    else if (q == 2)
        gradients_of(sums, pitch, source, step, other, other_step, count, tap, taps, 2, channels_);
    else if (q == 4 && LANES >= 4)
        gradients_of(sums, pitch, source, step, other, other_step, count, tap, taps, 4, channels_);
    else if (q == 8 && LANES >= 8)
        gradients_of(sums, pitch, source, step, other, other_step, count, tap, taps, 8, channels_);
    else
        bug("groups of %d channels in vectors of %d", (int)q, (int)LANES);
}

/* f16 without its sign, as f32: shifted into place the exponent is off by 112, which a
 * multiplication repairs, subnormals included. Infinity and NaN keep all exponent bits. */
static inline float half_to_float(uint16_t h)
{
    union {
        uint32_t bits;
        float value;
    } f = {.bits = (uint32_t)(h & 0x7fff) << 13}, sign = {.bits = (uint32_t)(h & 0x8000) << 16};
    bool finite = (h & 0x7c00) != 0x7c00;
    f.value *= 0x1p112f;
    f.bits |= finite ? 0 : 0x7f800000;
    f.bits |= sign.bits;
    return f.value;
}

static inline float brain_to_float(uint16_t b)
{
    union {
        uint32_t bits;
        float value;
    } f = {.bits = (uint32_t)b << 16};
    return f.value;
}

/* The same for 8 bits without infinities; `mantissa` bits are stored, `scale` repairs the exponent.
 */
static inline float tiny_to_float(uint8_t t, int mantissa, float scale, bool nan)
{
    union {
        uint32_t bits;
        float value;
    } f = {.bits = (uint32_t)(t & 0x7f) << (23 - mantissa)};
    f.value *= scale;
    f.bits |= (uint32_t)(t & 0x80) << 24;
    f.bits |= nan ? 0x7fc00000 : 0;
    return f.value;
}

static void widen(double *out, const struct conv_run *run)
{
    int64_t count = run->count, stride = run->stride;
    switch (run->dtype) {
    case DTYPE_F32: {
        const float *in = run->data;
        if (stride == 1) {
            for (int64_t i = 0; i < count; i++)
                out[i] = (double)in[i];
        } else {
            for (int64_t i = 0; i < count; i++)
                out[i] = (double)in[i * stride];
        }
        return;
    }
    case DTYPE_F16: {
        const uint16_t *in = run->data;
        for (int64_t i = 0; i < count; i++)
            out[i] = (double)half_to_float(in[i * stride]);
        return;
    }
    case DTYPE_BF16: {
        const uint16_t *in = run->data;
        for (int64_t i = 0; i < count; i++)
            out[i] = (double)brain_to_float(in[i * stride]);
        return;
    }
    case DTYPE_F8E4M3FN: {
        const uint8_t *in = run->data;
        for (int64_t i = 0; i < count; i++) {
            uint8_t t = in[i * stride];
            out[i] = (double)tiny_to_float(t, 3, 0x1p120f, (t & 0x7f) == 0x7f);
        }
        return;
    }
    case DTYPE_F8E5M2: {
        const uint8_t *in = run->data;
        for (int64_t i = 0; i < count; i++)
            out[i] = (double)half_to_float((uint16_t)(in[i * stride] << 8));
        return;
    }
    case DTYPE_F8E4M3FNUZ: {
        const uint8_t *in = run->data;
        for (int64_t i = 0; i < count; i++) {
            uint8_t t = in[i * stride];
            out[i] = (double)tiny_to_float(t, 3, 0x1p119f, t == 0x80);
        }
        return;
    }
    case DTYPE_F8E5M2FNUZ: {
        const uint8_t *in = run->data;
        for (int64_t i = 0; i < count; i++) {
            uint8_t t = in[i * stride];
            out[i] = (double)tiny_to_float(t, 2, 0x1p111f, t == 0x80);
        }
        return;
    }
    case DTYPE_I8: {
        const int8_t *in = run->data;
        for (int64_t i = 0; i < count; i++)
            out[i] = (double)in[i * stride];
        return;
    }
    case DTYPE_I32: {
        const int32_t *in = run->data;
        for (int64_t i = 0; i < count; i++)
            out[i] = (double)in[i * stride];
        return;
    }
    }
    bug("dtype %d", (int)run->dtype);
}

enum { CHUNK = 256 };
static const double LARGEST = 0x1p25;

/* Adding this leaves no room for a fraction, and its last bits are then the whole number. */
static const double ROUNDER = 0x1.8p52;

static inline int64_t bits_of(double x)
{
    union {
        double value;
        int64_t bits;
    } u = {.value = x};
    return u.bits;
}

/* Whole numbers of a chunk; false when there is one that is none, or too large. */
static bool take_whole(int64_t *out, int64_t *zeros, const double *in, int64_t count)
{
    int64_t right = 0, zero = 0;
    for (int64_t i = 0; i < count; i++) {
        double shifted = in[i] + ROUNDER;
        right += (shifted - ROUNDER == in[i]) & (in[i] <= LARGEST) & (in[i] >= -LARGEST);
        zero += in[i] == 0;
        out[i] = bits_of(shifted) - bits_of(ROUNDER);
    }
    *zeros += zero;
    return right == count;
}

static bool project(int64_t *const sums[2], int64_t *zeros, const struct conv_run *run,
                    const uint32_t by[2])
{
    double wide[CHUNK];
    int64_t whole[CHUNK];
    int64_t first = (int64_t)by[0], second = (int64_t)by[1];
    for (int64_t at = 0; at < run->count; at += CHUNK) {
        struct conv_run part = *run;
        int64_t count = run->count - at < CHUNK ? run->count - at : CHUNK;
        part.data = (const char *)run->data + at * run->stride * (int64_t)dtype_bytes(run->dtype);
        part.count = count;
        widen(wide, &part);
        if (!take_whole(whole, zeros, wide, count))
            return false;
        int64_t *restrict a = sums[0] + at, *restrict b = sums[1] + at;
        for (int64_t i = 0; i < count; i++) {
            a[i] += first * whole[i];
            b[i] += second * whole[i];
        }
    }
    return true;
}

static bool dot(int64_t sums[2], int64_t *zeros, const struct conv_run *run,
                const uint32_t *const by[2])
{
    double wide[64];
    int64_t whole[64];
    if (run->count > 64)
        bug("%lld elements in a dot product", (long long)run->count);
    widen(wide, run);
    if (!take_whole(whole, zeros, wide, run->count))
        return false;
    int64_t first = 0, second = 0;
    for (int64_t i = 0; i < run->count; i++) {
        first += (int64_t)by[0][i] * whole[i];
        second += (int64_t)by[1][i] * whole[i];
    }
    sums[0] += first;
    sums[1] += second;
    return true;
}

/* Several passes over a chunk that stays in the cache, each simple enough to be vectorised. */
static void ratios(struct conv_ratios *out, const struct conv_beside *e, const struct conv_bound *b,
                   const double edges[CONV_EDGES])
{
    double ratio[CHUNK], tolerance[CHUNK];
    *out = (struct conv_ratios){0};
    for (int64_t at = 0; at < e->count; at += CHUNK) {
        int64_t count = e->count - at < CHUNK ? e->count - at : CHUNK;
        const double *actual = e->actual + at, *answer = e->answer + at, *squares = e->squares + at;
        const int32_t *terms = e->terms + at;
        for (int64_t i = 0; i < count; i++) {
            double y = __builtin_fabs(answer[i]), k = (double)terms[i], q = squares[i];
            double sum =
                __builtin_sqrt(k * (b->kq * q + b->kyy * y * y) + b->q * q + b->yy * y * y);
            sum += b->y * y + k * (b->kr * __builtin_sqrt(q) + b->ky * y + b->k);
            tolerance[i] = sum + b->out * (y + sum) + b->least;
            ratio[i] = __builtin_fabs(actual[i] - answer[i]) / tolerance[i];
        }
        double largest = 0, bound = 0, odd = 0;
        int64_t zeros = 0;
        for (int64_t i = 0; i < count; i++) {
            largest = ratio[i] > largest ? ratio[i] : largest;
            bound = tolerance[i] > bound ? tolerance[i] : bound;
            odd += ratio[i] - ratio[i]; /* 0, or NaN and infinity for good */
            zeros += actual[i] == 0;
        }
        out->zeros += zeros;
        out->largest_ratio = largest > out->largest_ratio ? largest : out->largest_ratio;
        out->largest_ratio += odd;
        out->largest_tolerance = bound > out->largest_tolerance ? bound : out->largest_tolerance;
        for (int j = 0; j < CONV_EDGES; j++) {
            int64_t above = 0;
            for (int64_t i = 0; i < count; i++)
                above += ratio[i] > edges[j];
            out->above[j] += above;
        }
    }
}

typedef double eight __attribute__((vector_size(64)));
typedef double eight_anywhere __attribute__((vector_size(64), aligned(8), may_alias));

#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

/* Columns become rows in three rounds: pairs of rows, of pairs, of fours. */
static inline __attribute__((always_inline)) void turn(eight out[8], const eight in[8])
{
    eight p[8], q[8];
#pragma GCC unroll 4
    for (int i = 0; i < 8; i += 2) {
        p[i] = SHUFFLE(in[i], in[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        p[i + 1] = SHUFFLE(in[i], in[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 8; i += 4) {
#pragma GCC unroll 2
        for (int j = 0; j < 2; j++) {
            q[i + j] = SHUFFLE(p[i + j], p[i + 2 + j], 0, 1, 8, 9, 4, 5, 12, 13);
            q[i + 2 + j] = SHUFFLE(p[i + j], p[i + 2 + j], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        out[i] = SHUFFLE(q[i], q[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        out[i + 4] = SHUFFLE(q[i], q[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

static void transpose(double *out, int64_t pitch, const double *rows, int64_t row_pitch,
                      int64_t height, int64_t width)
{
    int64_t i = 0;
    for (; i + 8 <= height; i += 8) {
        for (int64_t j = 0; j < width; j += 8) {
            eight in[8], turned[8];
#pragma GCC unroll 8
            for (int r = 0; r < 8; r++)
                in[r] = *(const eight_anywhere *)(rows + (i + r) * row_pitch + j);
            turn(turned, in);
            if (j + 8 <= width) {
#pragma GCC unroll 8
                for (int r = 0; r < 8; r++)
                    *(eight_anywhere *)(out + (j + r) * pitch + i) = turned[r];
            } else {
                for (int r = 0; r < (int)(width - j); r++)
                    memcpy(out + (j + r) * pitch + i, &turned[r], sizeof turned[r]);
            }
        }
    }
    for (; i < height; i++) {
        for (int64_t j = 0; j < width; j++)
            out[j * pitch + i] = rows[i * row_pitch + j];
    }
}

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

extern const struct conv_kernels JOIN(conv_kernels_, CONV_ISA);
const struct conv_kernels JOIN(conv_kernels_, CONV_ISA) = {
    .name = TEXT(CONV_ISA),
    .lanes = LANES,
    .rows = ROWS,
    .sweep = sweep,
    .channels = channels,
    .channel_gradients = channel_gradients,
    .widen = widen,
    .project = project,
    .dot = dot,
    .ratios = ratios,
    .transpose = transpose,
};
