/* config_axes: the product of a sweep's axes, one combination at a time.
 */
#ifndef ASSAY_CONFIG_AXES_H
#define ASSAY_CONFIG_AXES_H

#include "harness/config.h"

struct axes;

/* Read what stands below `axes:`. Faults name the axis and its element; *out is NULL when there are any, or no axes at all. */
void axes_read(struct axes **out, struct arena *a, struct yaml_faults *f, const struct sweep_axes *written);
/* The combinations in all. */
int64_t axes_count(const struct axes *axes);
/* Combination `index`, the last axis changing fastest; false when it is no convolution (no output, groups that do not divide, a layout of other dims). */
bool axes_problem(struct problem *out, const struct axes *axes, int64_t index);

/* The key table of `axes:`. */
extern const struct yaml_key axes_keys[];

#endif
