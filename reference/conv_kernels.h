/* conv_kernels: the inner loops of the fast convolution, compiled once for each instruction set from one source and chosen at run time.
 *
 * Numbers  doubles everywhere. What is summed in which order depends on the instruction set alone, never on threads.
 * Tile     `rows` sums of `2 * lanes` neighbours stay in registers: 12 x 16 with AVX-512, 6 x 8 with AVX2, 6 x 4 else.
 */
#ifndef ASSAY_CONV_KERNELS_H
#define ASSAY_CONV_KERNELS_H

#include "reference/problem.h"

/* Where a sum walks: segment s takes `length` terms, term t of it source[at + a[s] + t * step] times b[(b[s] + t) * width ...]. */
struct conv_walk {
    const int64_t *a, *b;
    int64_t segments, length, step;
};

/* A run of elements in memory. */
struct conv_run {
    const void *data; /* first element */
    enum dtype dtype;
    int64_t stride;   /* between neighbours */
    int64_t count;
};

/* The coefficients of verify's bound, K = terms, Q = squares:
 *     T = sqrt(kq K Q + kyy K y^2 + q Q + yy y^2) + y |y| + kr K sqrt(Q) + ky K |y| + k K,  tolerance = T + out (|y| + T) + least */
struct conv_bound {
    double kq, kyy, q, yy, y, kr, ky, k, out, least;
};

enum { CONV_EDGES = 7 };
/* Elements beside their answers. */
struct conv_beside {
    const double *actual, *answer, *squares;
    const int32_t *terms;
    int64_t count;
};
/* Of ratio = |actual - answer| / tolerance. A NaN among them makes largest_ratio NaN. */
struct conv_ratios {
    double largest_ratio, largest_tolerance;
    int64_t zeros, above[CONV_EDGES]; /* ratios beyond each edge */
};

struct conv_kernels {
    const char *name;
    int64_t lanes, rows;
    /* out[r * width + l] = (add ? itself : 0) + sum over the walk of source[at[r] + ...] * b[...], for r < count, l < width = vectors * lanes.
     * vectors is 1 or 2. */
    void (*sweep)(double *out, const double *source, const int64_t *at, int64_t count, const double *b, int64_t vectors,
                  const struct conv_walk *walk, bool add);
    /* Lanes are channels, in groups of q = 1, 2, 4 or 8 (at most `lanes`) that see each other alone: out[m * pitch + l] = sum over taps t, i < q of
     * source[at[m] + tap[t] + l / q * q + i] * weight[(t * q + i) * pitch + l], for l < channels. Reads and writes whole vectors: pitch and the
     * pixels of source have room behind the last channel. */
    void (*channels)(double *out, int64_t pitch, const double *source, const int64_t *at, int64_t count, const double *weight,
                     const int64_t *tap, int64_t taps, int64_t q, int64_t channels);
    /* The gradient of such weights: sums[(t * q + i) * pitch + l] += sum over pixels m < count of source[m * step + tap[t] + l / q * q + i] *
     * other[m * other_step + l]. */
    void (*channel_gradients)(double *sums, int64_t pitch, const double *source, int64_t step, const double *other, int64_t other_step,
                              int64_t count, const int64_t *tap, int64_t taps, int64_t q, int64_t channels);
    /* out[i] = run[i]; i8 and the float types are exact in double. */
    void (*widen)(double *out, const struct conv_run *run);
    /* sums[r][i] += by[r] * run[i] for r < 2; counts the zeros. False when an element is no whole number of at most 2^25 (then sums are of no use).
     * by < 2^31, so a sum has room for 64 such products. */
    bool (*project)(int64_t *const sums[2], int64_t *zeros, const struct conv_run *run, const uint32_t by[2]);
    /* sums[r] += by[r][i] * run[i] over i, likewise; at most 64 elements. */
    bool (*dot)(int64_t sums[2], int64_t *zeros, const struct conv_run *run, const uint32_t *const by[2]);
    void (*ratios)(struct conv_ratios *out, const struct conv_beside *elements, const struct conv_bound *bound, const double edges[CONV_EDGES]);
    /* out[j * pitch + i] = rows[i * row_pitch + j], for i < height, j < width. Rows have room for eight more. */
    void (*transpose)(double *out, int64_t pitch, const double *rows, int64_t row_pitch, int64_t height, int64_t width);
};

/* The best that this machine runs; `name` "v4", "v3" or "base" asks for one, NULL when it does not run here or there is none of that name. */
const struct conv_kernels *conv_kernels_best(void);
const struct conv_kernels *conv_kernels_named(const char *name);

#endif
