/* tensor: numbers in memory, in any layout, with guards around them.
 *
 * Axes    logical, in this order: input n g c s..., filter g k c s..., output n g k s...; c and k
 *         are per group here, s are the 1 to 3 spatial dims. The layout string of the problem says
 *         how they lie in memory (last letter fastest, always packed).
 * Memory  [guard band | elements | guard band]: the guards are filled with a pattern (NaN of the
 *         type, 0x5a for integers) and checked after a run.
 * Units   sizes and strides in elements, guard and totals in bytes.
 */
#ifndef ASSAY_TENSOR_H
#define ASSAY_TENSOR_H

#include "reference/problem.h"

enum { TENSOR_MAX_RANK = 6, TENSOR_GUARD_BYTES = 4096 };

struct tensor {
    enum dtype dtype;
    int rank;
    int64_t size[TENSOR_MAX_RANK];   /* logical order */
    int64_t stride[TENSOR_MAX_RANK]; /* in elements */
    int64_t elements;
    size_t bytes;       /* of the elements */
    size_t total_bytes; /* with both guards */
    void *memory;       /* total_bytes, owned */
    void *data;         /* memory + TENSOR_GUARD_BYTES */
};

/* The operand of a problem; guards are written, elements are poisoned. */
void tensor_init(struct tensor *t, const struct problem *p, enum operand which);
void tensor_release(struct tensor *t);
int64_t tensor_offset(const struct tensor *t, const int64_t index[TENSOR_MAX_RANK]);
/* The next position in logical order, last axis fastest: moves `index` on from the element at
 * `offset` and gives the new offset, or -1 behind the last element. The walk starts with all zeros,
 * whose offset is 0. */
int64_t tensor_next(const struct tensor *t, int64_t index[TENSOR_MAX_RANK], int64_t offset);
/* Logical coordinates of the element at this offset in memory. */
void tensor_coordinates(int64_t index[TENSOR_MAX_RANK], const struct tensor *t, int64_t offset);

/* Widened, exact for every type. */
double tensor_get(const struct tensor *t, int64_t offset);
/* Rounded to the type, to nearest even; integers saturate, and NaN becomes 0 in them. Floats without an infinity saturate too, but for infinities, which
 * become NaN. */
void tensor_set(struct tensor *t, int64_t offset, double value);

/* What tensor_set then tensor_get would give. */
double tensor_round(enum dtype dtype, double value);

/* Write a pattern that no right answer has (a quiet NaN with a payload; for integers a seeded
 * pattern that another round changes), so that unwritten elements show. `round` chooses the
 * pattern. */
void tensor_poison(struct tensor *t, int round);
/* Is the element still the poison of that round, bit for bit? */
bool tensor_is_poison(const struct tensor *t, int64_t offset, int round);
/* Bytes of the low and high guard that were changed. */
void tensor_guard_damage(int64_t *low, int64_t *high, const struct tensor *t);

/* Data kinds. "integer": uniform integers in [-range, range] with 0 made rarer than a fault can
 * hide behind; "real": uniform in [-1, 1) rounded to the type. The value depends on (seed, operand,
 * logical position) only, never on layout or order, so that two layouts of one problem hold the
 * same numbers. `range` is at least 1 and only looked at for integer data. */
enum data_kind {
    DATA_INTEGER,
    DATA_REAL,
    DATA_ONE_HOT, /* from here on data.h's */
    DATA_DENORMAL,
    DATA_CANCELLATION,
    DATA_SPECIAL,
    DATA_MIOPEN, /* from here on data_tools.h's */
    DATA_ROCMLIR_FIXED,
    DATA_ROCMLIR_INT,
    DATA_ROCMLIR_FLOAT,
};
enum { DATA_KINDS = DATA_ROCMLIR_FLOAT + 1 };
void tensor_fill(struct tensor *t, enum data_kind kind, uint64_t seed, enum operand which,
                 int64_t range);

/* The largest range R such that every partial sum in any order is exact in an accumulator with
 * `accumulator_bits` of significand (24 for f32, 11 for f16, 31 for i32) and inputs of the
 * problem's types hold the integers: reduction * R^2 <= 2^bits. 0 when there is none. Smaller, but
 * at least 1, where results would often leave a narrow output type: f16 overflows and i8
 * saturates, and faults would hide there. The proof stands at the definition. */
int64_t tensor_exact_range(const struct problem *p, int accumulator_bits);

/* Rounding to and from the small types, to nearest even, for whoever needs it. */
uint16_t tensor_f16_from(double value);
double tensor_f16_to(uint16_t bits);
uint16_t tensor_bf16_from(double value);
double tensor_bf16_to(uint16_t bits);
uint8_t tensor_f8_from(enum dtype dtype, double value);
double tensor_f8_to(enum dtype dtype, uint8_t bits);

/* Limits of a type. Integers up to and including `largest_exact` are exact in it. */
int64_t tensor_largest_exact(enum dtype dtype);
double tensor_largest(enum dtype dtype);
double tensor_smallest_normal(enum dtype dtype); /* 1 for integers */
bool tensor_has_infinity(enum dtype dtype);

#endif
