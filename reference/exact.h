/* exact: is a result of whole numbers exactly right? Answered by random projection, at about the cost of reading the tensors.
 *
 * Idea     all three directions are linear in each operand. With random u over images and v over channels, sum u_n v_k y[n,k,o] over the device's result
 *          must be, at each position o, the convolution of sum_n u_n x[n,c] with sum_k v_k w[k,c]: one plane instead of n * k (Freivalds 1979). Backward
 *          weight is projected over k and c, leaving one number a tap.
 * Field    modulo the prime 2^31 - 1, twice with independent u and v.
 * Misses   let the result be wrong, all its elements whole and at most 2^25. At some position the errors E[n,k] are not all 0, nor 0 modulo the
 *          prime, as |E| < 2^26. sum u_n v_k E[n,k] is a polynomial of degree 2 in uniform values of the field, so it vanishes with probability at
 *          most 2 / (2^31 - 1) (Schwartz 1980, Zippel 1979), and both times with less than 2^-59.
 * Limits   EXACT_UNSURE where it cannot tell or does not pay, and the full reference has to: sums that the result's type need not hold, elements that are
 *          not whole or beyond 2^25, layouts with an axis outside n, backward weight of groups with fewer than 16 products of channels.
 * Cost     reading x, w and y once, and a convolution of one image with one channel on each side.
 */
#ifndef ASSAY_EXACT_H
#define ASSAY_EXACT_H

#include "reference/conv.h"
#include "reference/data.h"

enum exact_answer { EXACT_RIGHT, EXACT_WRONG, EXACT_UNSURE };

/* tensors: all three, the result as read back. `kind` is exact (data_kind_is_exact) and filled for an accumulator of so many bits. `zeros`: of the
 * result, when the answer is EXACT_RIGHT. EXACT_WRONG is certain. */
enum exact_answer exact_check(int64_t *zeros, const struct problem *p, const struct tensor tensors[3], enum data_kind kind, int accumulator_bits,
                              uint64_t seed);

#endif
