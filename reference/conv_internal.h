/* conv_internal: what the plain and the fast convolution share: the shape, which source elements a result element meets (phases and their
 * dims), and slabs: parts of a tensor widened to double, channels last, with the zeros of the padding around them.
 *
 * Roles    fwd: result y, source x, lanes k, inner c. bwd_data: result dx, source dy, lanes c, inner k.
 *          bwd_weight: result dw (rows c and taps, lanes k), sources x and dy; walks as fwd does.
 */
#ifndef ASSAY_CONV_INTERNAL_H
#define ASSAY_CONV_INTERNAL_H

#include "reference/conv.h"
#include "reference/conv_kernels.h"

/* The problem with three spatial dims, whatever it had: leading dims of size 1 change nothing. c
 * and k are per group. */
struct conv_shape {
    int64_t n, g, c, k;
    int64_t in[3], fil[3], out[3], str[3], dil[3], lo[3];
};
void conv_shape_of(struct conv_shape *s, const struct problem *p);
/* Outputs [first, last) of one dim whose tap r lies inside the input. */
void conv_reach(int64_t *first, int64_t *last, const struct conv_shape *s, int dim, int64_t r);

/* One dim of a phase: the results first + j * step, j < count, each the sum over its taps of the source at j * stride + offset. Taps that
 * never meet the source are left out; offsets ascend. */
struct conv_dim {
    int64_t first, step, count, stride;
    int64_t taps, *tap, *offset;
};

/* bwd_data has a phase for each residue of the stride in each dim, all others have one. A phase may have no taps, and then its results are zero. */
struct conv_phase {
    struct conv_dim dim[3];
};
struct conv_phases {
    struct conv_phase *phases;
    int64_t count;
    /* Over all phases: smallest and largest offset in each dim (0 without taps), and the largest count. */
    int64_t low[3], high[3], results[3];
    int64_t stride[3];
};
void conv_phases_init(struct conv_phases *out, const struct conv_shape *s, enum direction d);
void conv_phases_release(struct conv_phases *phases);

/* A tensor seen as n x g x channel x three spatial dims. */
struct conv_view {
    const struct tensor *tensor;
    int64_t n, groups, channels; /* groups that lie as one run of channels count as one group */
    int64_t size[3];
    int64_t by_n, by_group, by_channel, by[3]; /* strides in elements */
};
void conv_view_of(struct conv_view *v, const struct tensor *t, const struct conv_shape *s, enum operand which);

/* Source positions low + i * step, i < size, of each dim, for `images` images: channels last. */
struct conv_slab {
    int64_t images, low[3], size[3], step[3];
    int64_t pitch; /* from a position to the next */
};
/* Channels [first, first + count) of a group, of the images from `image` on; positions outside the tensor are zero. */
void conv_slab_fill(double *out, const struct conv_slab *slab, const struct conv_view *v, const struct conv_kernels *k, int64_t image,
                    int64_t group, int64_t first, int64_t count);
/* All channels of all groups, group by group. */
void conv_slab_fill_all(double *out, const struct conv_slab *slab, const struct conv_view *v, const struct conv_kernels *k, int64_t image);

/* squares and terms of the answer, from the norms of what is multiplied: squares = |x|^2 |w|^2 / terms over the factors that meet. */
void conv_bounds(struct conv_answer *out, const struct conv_shape *s, const struct problem *p, const struct tensor tensors[3]);

/* Elements for free(), not zeroed: large ones come as huge pages where the system has them, since a page fault for each 4 KiB costs as much as
 * storing a result. */
void *conv_array(int64_t count, size_t size) MUST_USE;

/* Calls work(context, i) for each i < count, in `threads` threads of which this is one; in no order. */
void conv_parallel(void (*work)(void *context, int64_t i, int64_t thread), void *context, int64_t count, int64_t threads);

#endif
