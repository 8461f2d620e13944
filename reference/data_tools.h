/* data_tools: the numbers that other tools verify with, by their rules and seeds, so that what fails there fails here.
 *
 * miopen         MIOpenDriver (MIOpen 2d1fd997a, driver/random.hpp, conv_common.cpp): x <- 1103515245 x + 12345 mod 2^31 from 12345678 on; dy
 *                (not for i8), x and w in this order, whether they are used or not, one step an element of memory. u = x / 2^31 in f32. x and dy
 *                0.01 u; w 0.01 (u - 1/2), f16 0.01 (5/6 u - 1/3); i8 (x >> 4) mod 127 and -127 or 0 by an even or odd x >> 4. Each number is rounded
 *                to the type after each step as the driver's types do it: bf16 to nearest even, f16 towards zero (ROCm/half leaves
 *                HALF_ROUND_STYLE at -1). The 8-bit floats are not covered
 * rocmlir-fixed  rocmlir-gen's default: 0.5 -1 0.75 again and again in memory, 1 -1 2 for integers
 * rocmlir-int    -rand SEED: srand(SEED) of the GNU C library, then w, x, y in this order, rand() % 10 - 5 for each element of memory
 * rocmlir-float  -rand SEED -rand_type float: rand() / RAND_MAX, by default from 0 to 1
 * (rocmlir-gen.cpp and conv-validation-wrappers.cpp; all operands are filled, the result too, so later ones depend on the sizes of earlier ones.)
 *
 * A run's seed is counted from 1: 1 is what the tools do by default (miopen: seed - 1 is added to its start; rocmlir: -rand SEED).
 */
#ifndef ASSAY_DATA_TOOLS_H
#define ASSAY_DATA_TOOLS_H

#include "reference/tensor.h"

bool data_tools_suits(const struct problem *p, enum data_kind kind);
/* kind: DATA_MIOPEN to DATA_ROCMLIR_FLOAT. Cost: a few nanoseconds an element of this and of all earlier operands. */
void data_tools_fill(struct tensor *t, const struct problem *p, enum operand which, enum data_kind kind, uint64_t seed);

#endif
