/* problem: one convolution to solve, as a struct and as one line of text.
 *
 * Text   conv bwd_data f32 n32 c32 k32 g1 in14x14 fil3x3 str1x1 dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw
 *        direction fwd|bwd_data|bwd_weight; type f32|f16|bf16|i8|i32 or an 8-bit float by MLIR's name,
 *        f8e4m3fn|f8e5m2 (OCP)|f8e4m3fnuz|f8e5m2fnuz, or input:filter:output when they differ ("i8:i8:i32"; "i8" alone is read as that and printed in full); c and k are
 *        totals over the g groups; 1, 2 or 3 spatial dims by the number of parts; pads lo:hi per
 *        dim; layouts of input, filter, output, always in forward's sense, whatever the direction.
 *        It is canonical: printing a parsed line gives the same bytes (one blank between words, no
 *        leading zeros), and the line is the key of the problem everywhere.
 * Dims   index 0 is the outermost: (d,) h, w of the input and output, (z,) y, x of the filter.
 * Output size per dim: floor((in + lo + hi - (fil - 1) * dil - 1) / str) + 1; must be at least 1.
 */
#ifndef ASSAY_PROBLEM_H
#define ASSAY_PROBLEM_H

#include "src/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum direction { DIRECTION_FWD, DIRECTION_BWD_DATA, DIRECTION_BWD_WEIGHT };
enum dtype {
    DTYPE_F32,
    DTYPE_F16,
    DTYPE_BF16,
    DTYPE_F8E4M3FN,   /* no infinities, one NaN and its negative, up to 448 */
    DTYPE_F8E5M2,     /* the upper half of f16 */
    DTYPE_F8E4M3FNUZ, /* one NaN, neither infinities nor -0, up to 240 */
    DTYPE_F8E5M2FNUZ,
    DTYPE_I8,
    DTYPE_I32,
};
enum operand { OPERAND_INPUT, OPERAND_FILTER, OPERAND_OUTPUT };

enum {
    PROBLEM_MAX_DIMS = 3,
    PROBLEM_MAX_TEXT = 512,     /* bytes of the canonical line with its NUL */
    PROBLEM_MAX_SIZE = 1 << 24, /* of any single number in the text */
};

struct problem {
    enum direction direction;
    enum dtype dtype[3];     /* by enum operand */
    int dims;
    int64_t n, c, k, g;
    int64_t in[PROBLEM_MAX_DIMS], fil[PROBLEM_MAX_DIMS];
    int64_t str[PROBLEM_MAX_DIMS], dil[PROBLEM_MAX_DIMS];
    int64_t pad_lo[PROBLEM_MAX_DIMS], pad_hi[PROBLEM_MAX_DIMS];
    char layout[3][8];       /* by enum operand: "ngchw" "gkcyx" "ngkhw" */
};

/* ERR_INVALID names the word, its column (from 1) and what would be right. Every number is bounded,
 * groups must divide c and k, output sizes must be positive, element counts of each tensor must
 * stay below 2^40 and sums below 2^31 products, layouts must be permutations. Types that are
 * multiplied are all floating or all i8 (i32 as the gradient of an output); floating sums have no
 * integer result. On failure `out` is left alone. Cost: half a microsecond. */
int problem_parse(struct problem *out, const char *text) MUST_USE;
/* The checks of problem_parse for a struct made by hand. */
int problem_check(const struct problem *p) MUST_USE;
/* Canonical text; returns `text`. */
const char *problem_print(char text[PROBLEM_MAX_TEXT], const struct problem *p);
bool problem_equal(const struct problem *a, const struct problem *b);

int64_t problem_out(const struct problem *p, int dim);
/* The operand that the direction computes: output, input or filter. */
enum operand problem_result(const struct problem *p);
/* Elements of an operand. */
int64_t problem_elements(const struct problem *p, enum operand which);
/* Longest sum that one result element takes: c/g * taps (fwd), k/g * taps (bwd_data), n * output
 * pixels (bwd_weight). */
int64_t problem_reduction(const struct problem *p);
/* 2 * multiply-adds of the full loops, padding counted as work, group divided out; the same in all
 * directions. INT64_MAX when it does not fit. */
int64_t problem_flops(const struct problem *p);
/* Bytes of the three tensors together. */
int64_t problem_bytes(const struct problem *p);
/* Default layouts ("ngchw" ...) for p->dims. */
void problem_default_layouts(struct problem *p);
bool problem_symmetric_pads(const struct problem *p);

const char *direction_name(enum direction d);
const char *dtype_name(enum dtype t);
size_t dtype_bytes(enum dtype t);
bool dtype_is_float(enum dtype t);
bool dtype_is_f8(enum dtype t);

#endif
