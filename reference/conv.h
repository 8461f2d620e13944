/* conv: direct convolution on the CPU, the yardstick for every candidate. It shares no code with
 * any of them.
 *
 * Forward     y[n,g,k,o] = sum over c, r of x[n,g,c, o*str + r*dil - lo] * w[g,k,c,r]
 * Data        dx[n,g,c,i] = sum over k, r, o with o*str + r*dil - lo = i
 *             of dy[n,g,k,o] * w[g,k,c,r]
 * Weight      dw[g,k,c,r] = sum over n, o of x[n,g,c, o*str + r*dil - lo] * dy[n,g,k,o]
 * (cross-correlation, as every deep-learning library means it; out-of-range positions of x count as
 * zero.)
 * Numbers     operands widened to double, products and sums in double (int64 for integer inputs);
 *             nothing is rounded here. The order of a sum is the same whatever the layouts.
 * Cost        of the plain loops: problem_flops() / 2 multiply-adds at about 1 GFLOP/s, one thread:
 *             a layer of ResNet-50 at batch 1 takes 0.1 to 0.7 s. 8 bytes an element of each
 *             operand, 28 more of the result.
 * Errors      problem_check's; tensors that are not the problem's are a bug().
 */
#ifndef ASSAY_CONV_H
#define ASSAY_CONV_H

#include "reference/tensor.h"

/* Grows whenever an answer could change: part of every cache key and epoch. */
enum { CONV_VERSION = 2 };

/* One answer per result element, indexed by the result tensor's memory offset. */
struct conv_answer {
    int64_t elements;
    double *value;   /* exact sum as far as double goes */
    double *squares; /* sum of the squared products, or its estimate: what the error bound of verify needs */
    int32_t *terms;  /* products that were summed (taps inside the input) */
};

/* The yardstick: plain loops that nobody can get wrong twice in the same way. `tensors` by enum operand; the one that the direction computes is
 * only looked at for its layout. The answer is owned by the caller. */
int conv_direct(struct conv_answer *out, const struct problem *p, const struct tensor tensors[3]) MUST_USE;
void conv_answer_release(struct conv_answer *answer);

struct conv_kernels;
/* All zero: the calling thread alone, the machine's memory, the best kernels. */
struct conv_options {
    int64_t threads;
    int64_t memory_bytes; /* beside the tensors */
    bool values_only;     /* squares and terms stay NULL: integer data need neither */
    const struct conv_kernels *kernels;
};

/* The same answer, fast: `value` bit for bit that of conv_direct where all partial sums are exact (integer data, i8), else within a few roundings
 * of double; the same bits for any number of threads. squares holds |x|^2 |w|^2 / terms over the factors x, w that meet, which is the mean of the sum of
 * squared products over all ways to pair them.
 * Numbers     double throughout: a sum of i8 products stays below 2^14 * 2^31, far from 2^53.
 * Cost        `make bench NAME=reference` measures shares of the peak of fused multiply-adds.
 * Errors      problem_check's; ERR_INVALID with both numbers when it would take more memory than there is. */
int conv_reference(struct conv_answer *out, const struct problem *p, const struct tensor tensors[3],
                   const struct conv_options *options) MUST_USE;

#endif
