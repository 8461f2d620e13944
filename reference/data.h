/* data: what the operands of a problem hold. Every value depends on (kind, seed, operand, logical position) alone, so that two layouts of one problem hold
 * the same numbers; but for those of other tools, which go by the order in memory.
 *
 * integer       whole numbers in a range where every order of summation is exact (tensor_exact_range): equality is demanded
 * real          uniform in [-1, 1), rounded to the type
 * one-hot       each lane has a single 1 (backward data: one a phase of the stride) in the operand that is summed over (the filter; dy for backward weight), the other operand whole numbers as
 *               large as the types hold: every result is a copy of one element, so whatever is taken from a wrong place shows, in any accumulator.
 *               Equality is demanded
 * denormal      real, one operand scaled below the smallest normal number of its type: what flushes to zero shows
 * cancellation  real in pairs along the sum that nearly cancel: what is rounded too early shows
 * special       real, with NaN and both infinities strewn into the operand that is not the filter (one channel of x for backward weight): they must come
 *               out where they belong and nowhere else
 * miopen        what MIOpenDriver verifies with; rocmlir-fixed, rocmlir-int, rocmlir-float: what rocmlir-gen does (data_tools.h)
 */
#ifndef ASSAY_DATA_H
#define ASSAY_DATA_H

#include "reference/tensor.h"

const char *data_kind_name(enum data_kind k);
bool data_kind_parse(enum data_kind *out, const char *word);
/* NULL-terminated, in the order of the enum. */
extern const char *const data_kind_words[];
/* Must a right result be exactly right? */
bool data_kind_is_exact(enum data_kind k);

/* Does the kind say something about the problem? Integers need a range, all others but one-hot numbers with fractions, cancellation a sum that pairs
 * fit in. accumulator_bits as in tensor_exact_range. */
bool data_suits(const struct problem *p, enum data_kind kind, int accumulator_bits);

/* Fill an operand. Only for kinds that suit the problem. */
void data_fill(struct tensor *t, const struct problem *p, enum operand which, enum data_kind kind, uint64_t seed, int accumulator_bits);

#endif
