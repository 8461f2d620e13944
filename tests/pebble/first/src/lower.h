/* lower: one function a direction, from a convolution to a kernel in the module. */
#ifndef PEBBLE_LOWER_H
#define PEBBLE_LOWER_H

#include "ir.h"

void lower_fwd(struct ir *ir, const struct conv *c);
/* One stride phase: input positions p with p % stride = phase along each axis; kernel_id = phase_h * stride_w + phase_w. */
void lower_bwd_data(struct ir *ir, const struct conv *c);
void lower_bwd_weight(struct ir *ir, const struct conv *c);

/* Tiles of the kernels: one a workgroup on the host, one a work-item on GPUs. */
int64_t tiles_fwd(const struct conv *c);
int64_t tiles_bwd_data(const struct conv *c);
int64_t tiles_bwd_weight(const struct conv *c);

#endif
