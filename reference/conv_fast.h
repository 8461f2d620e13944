/* conv_fast: one run of the fast convolution, and its two halves: spread (forward, backward data) and gather (backward weight). */
#ifndef ASSAY_CONV_FAST_H
#define ASSAY_CONV_FAST_H

#include "reference/conv_internal.h"

struct conv_fast {
    struct conv_shape shape;
    enum direction direction;
    enum operand result;
    const struct tensor *tensors;
    const struct conv_kernels *kernels;
    int64_t threads;
    int first_dim;   /* index of the problem's first spatial dim among three */
    int64_t taps;    /* of the filter */
    double *filter;  /* widened: [g][k][c][tap]; NULL for backward weight */
    double *value;   /* the answer's */
};

/* Channels of a group when the channel kernels take the problem, else 0: groups of one size on both sides that fit a vector. */
int64_t conv_fast_channel_group(const struct conv_fast *fast);
/* From one position of a slab to the next: powers of two would let its rows fall on the same lines of the cache. */
int64_t conv_fast_pitch(int64_t channels);

void conv_spread(struct conv_fast *fast);
void conv_gather(struct conv_fast *fast);
/* Bytes that they take beside tensors and answer. */
int64_t conv_spread_bytes(struct conv_fast *fast);
int64_t conv_gather_bytes(struct conv_fast *fast);

#endif
