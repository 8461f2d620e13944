/* dump: a tensor in a file of another tool: raw elements, or NumPy's .npy (format 1.0 to 3.0, little endian, C order).
 *
 * Raw    as many bytes as the tensor's type needs, in the order of its layout; four times as many elements' worth in f32 is taken as well where the type
 *        has 16 bits.
 * .npy   known by its first bytes, whatever the file is called. The shape is the layout's, with or without g and sizes of 1, c and k merged with g, or flat.
 *        Elements may be of a wider type as long as each is a number of the tensor's. bf16 is void2, uint16 or bfloat16.
 * Errors ERR_IO, ERR_INVALID with the file, what it holds and what was expected.
 */
#ifndef ASSAY_DUMP_H
#define ASSAY_DUMP_H

#include "reference/tensor.h"

/* Into an initialised tensor, the operand `which` of the problem. */
int dump_read(struct tensor *t, const struct problem *p, enum operand which, const char *path) MUST_USE;
/* As .npy, in the layout's shape. */
int dump_write(const char *path, const struct tensor *t, const struct problem *p, enum operand which) MUST_USE;

#endif
