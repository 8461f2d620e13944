/* conv: the convolution to compile, as the options say it. */
#ifndef PEBBLE_CONV_H
#define PEBBLE_CONV_H

#include <stdbool.h>
#include <stdint.h>

enum direction { FWD, BWD_DATA, BWD_WEIGHT };
enum type { F32, F16, BF16, I8, I32 };
enum operand { FILTER, INPUT, OUTPUT }; /* in the order of the kernel's arguments */

struct tiles {
    int channels; /* result channels that one tile computes */
    int pixels;   /* lanes of its vectors */
};

struct conv {
    enum direction direction;
    enum type type[3];
    char layout[3][8];
    int64_t n, c, k, g;
    int64_t in[2], fil[2], out[2];     /* h, w; y, x; h, w */
    int64_t stride[2], dilation[2], pad_lo[2], pad_hi[2];
    char arch[64];
    char kernel_name[128];
    int kernel_id;
    struct tiles tiles; /* 0: pebble chooses */
};

/* False when the sizes, types or layouts make no convolution that pebble knows. */
bool conv_is_valid(const struct conv *c);

/* Distance in elements between neighbours along the axis that `letter` names (n g c k h w y x) in an operand. */
int64_t conv_stride(const struct conv *c, enum operand which, char letter);

/* Kernels that the problem takes: one, but for backward data one a stride phase. */
int conv_kernel_count(const struct conv *c);

int type_bytes(enum type t);

#endif
