/* verify: measures a device result against the answer. It has no opinion beyond "this element is
 * off": judging is for harness/judge.
 *
 * Integer data: the device value must equal the exact value rounded once to the output type.
 * Real data: |device - answer| <= tol, element by element, with
 *     T   = lambda * sqrt(u^2 (K * Q / 6 + K * y^2 / 9 [+ Q / 3]) + u_in^2 * 2 Q / 3) + 2 u_in |y| [+ 2 u K (1.5 sqrt(Q) + |y| / 2)]
 *     tol = T + u_out * (|y| + T) + half the smallest subnormal of the output type
 *   where lambda = 8, K = terms, Q = sum of squared products (or its mean, see conv.h), y the answer, u the unit roundoff of the accumulator,
 *   u_out of the output type (0 when the accumulator's numbers fit it), u_in of the operands where they are cut before they are multiplied.
 *   Source   the rounding of partial sum s_i is modelled as uniform in u |s_i|, so its variance is u^2/3 sum s_i^2; sum s_i^2 ~ K Q / 2 for a
 *            random walk and K y^2 / 3 for a drift (after Higham and Mary 2019). Where only partial sums are rounded, the squares of all of them
 *            are about Q and at most y^2: u^2 (Q / 3 + y^2 / 3).
 *   Below the accumulator's normal numbers each product and sum is off by half its smallest number, which is added 2 K times.
 *   [ ]      Q / 3 when products are rounded before they are added; the last term for adds that cut: each loses u |s_i|
 *            in one direction, and |s_i| is below 1.5 sqrt(Q) + |y| / 2 on the whole (facts/reference.md 1.4, T3 with L = 1).
 */
#ifndef ASSAY_VERIFY_H
#define ASSAY_VERIFY_H

#include "reference/conv.h"
#include "reference/data.h"
#include "reference/exact.h"

/* How a candidate sums, from the tightest bound to the loosest; "fma" "f32" "truncating" "tf32" "split-f16" "f16" "split-bf16" "bf16" "i32". */
enum accumulator {
    ACCUMULATOR_F32_FMA,    /* fused multiply-adds in f32, in any order; matrix units that round to nearest */
    ACCUMULATOR_F32,        /* products rounded to f32 before they are added */
    ACCUMULATOR_TRUNCATING, /* adds that cut instead of rounding, as some matrix units do */
    ACCUMULATOR_TF32,       /* operands cut to 11 bits first */
    ACCUMULATOR_SPLIT_F16,  /* partial sums kept in f16, added in f32 */
    ACCUMULATOR_F16,
    ACCUMULATOR_SPLIT_BF16,
    ACCUMULATOR_BF16,
    ACCUMULATOR_I32,
};
/* False for another word. */
bool accumulator_parse(enum accumulator *out, const char *word);
const char *accumulator_name(enum accumulator a);
/* "sums in f16" */
const char *accumulator_words(enum accumulator a);
/* Significand bits for tensor_exact_range. */
int accumulator_bits(enum accumulator a);

/* err/tol: 0, <=1/8, <=1/4, <=1/2, <=1, <=2, <=16, more (integer data: equal or more) */
enum { VERIFY_BUCKETS = 8 };

struct verify_stats {
    int64_t elements;
    int64_t mismatches; /* elements off, NaN and unwritten ones included */
    int64_t nans, infs; /* where the answer is finite; those still poisoned are not counted here */
    int64_t unwritten;  /* mismatches that are still poisoned */
    /* Damaged guard bytes of the result; the caller adds those of the operands. */
    int64_t guard_low, guard_high;
    int64_t zeros;      /* of the device result: a result that is all zeros proves little */
    double worst_ratio; /* largest err/tol; infinity for NaN, and for integer data that are off */
    double worst_error, worst_expected, worst_actual;
    int64_t worst_index[TENSOR_MAX_RANK]; /* logical coordinates */
    double max_tolerance;
    /* Real data that are off widely: the words of the tightest profile that every element fits, NULL without one. */
    const char *looks_like;
    int64_t histogram[VERIFY_BUCKETS];
    /* Where the mismatches are. Each is a count of mismatching elements that share the property. */
    /* A tap lies in the padding (fwd), an output that a tap comes from is not there (bwd_data), the
     * tap is not the centre's (bwd_weight). */
    int64_t at_border;
    /* Spatial position (bwd_data: + low pad) modulo stride, d*4 + h*2 + w with each capped at 1: 0
     * is "all phases zero". */
    int64_t by_phase[8];
    /* Channel of the group, or last spatial index, in the partial block of 16 behind full ones. */
    int64_t in_tail;
    int64_t by_group_first, by_group_last; /* groups with a mismatch, -1 if none */
    int64_t channel_first, channel_last;   /* channels (k, c, or k) of a group likewise */
};

/* `result` is the tensor read back, in the layout that the answer was made for; `poison_round` that
 * of the poison it held before. Problems summed in i32 are exact whatever `kind` says. */
void verify_measure(struct verify_stats *out, const struct problem *p, const struct tensor *result,
                    const struct conv_answer *answer, enum data_kind kind,
                    enum accumulator accumulator, int poison_round);

/* The measures of other tools, for whoever compares with them; NaN in the result makes them NaN.
 *     rms     sqrt(sum d^2) / (sqrt(n) max(max |answer|, max |result|)): MIOpen, rocMLIR (facts/reference.md 1.1)
 *     beyond  elements with |d| > atol + rtol |answer|: allclose of NumPy, PyTorch and MIGraphX; NaN counts */
struct verify_others {
    double atol, rtol; /* given */
    double rms;
    int64_t beyond;
};
void verify_as_others(struct verify_others *others, const struct tensor *result, const struct conv_answer *answer);

/* The whole of it: data of an exact kind by projection (exact.h), and where that finds a fault or cannot tell, and for all other data, by
 * conv_reference and verify_measure. others: measured besides, unless NULL or the kind is exact. tensors: the operands as they were filled, the result as it was read back. An error is conv_reference's, or
 * ERR_FOREIGN when projection and reference contradict each other. */
int verify_result(struct verify_stats *out, struct verify_others *others, const struct problem *p, const struct tensor tensors[3], enum data_kind kind,
                  enum accumulator accumulator, uint64_t seed, int poison_round) MUST_USE;

/* Is every order of summation exact in this accumulator? When all operands are whole numbers and sum |x w| <= |x| |w| <= 2^bits for every result
 * (Cauchy and Schwarz; the proof stands with tensor_exact_range). The answer needs its squares. */
bool verify_is_exact(const struct problem *p, const struct tensor tensors[3], const struct conv_answer *answer, enum accumulator accumulator);

/* A short normalised shape of the failure, equal for failures of one cause as far as that can be
 * seen from here:
 *     [unwritten | nan | inf | all zero] [phase N | phase>0] [border] [tail]
 *     [last group | group>0] [guard low] [guard high]
 *   where a kind holds for most mismatches and a place for all of them, if that is no chance (share
 *   of such elements ^ mismatches < 1%). Without a place "everywhere" (left out behind a kind), "in
 *   part" or "one element". "" when nothing is off. Returns `text`. */
const char *verify_signature(char *text, size_t size, const struct problem *p,
                             const struct verify_stats *s);

#endif
