#include "reference/tensor.h"

#include "src/err.h"
#include "src/mem.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Guards hold quiet NaNs, with payloads that poison never has: an operand's guard copied into a
 * result must not look unwritten. */
static const uint8_t guard_pattern[][4] = {
    [DTYPE_F32] = {0x5a, 0x5a, 0xca, 0x7f},  /* 0x7fca5a5a */
    [DTYPE_F16] = {0x5a, 0x7e, 0x5a, 0x7e},  /* 0x7e5a */
    [DTYPE_BF16] = {0xda, 0x7f, 0xda, 0x7f}, /* 0x7fda */
    [DTYPE_F8E4M3FN] = {0xff, 0xff, 0xff, 0xff},   [DTYPE_F8E5M2] = {0xff, 0xff, 0xff, 0xff},
    [DTYPE_F8E4M3FNUZ] = {0x80, 0x80, 0x80, 0x80}, [DTYPE_F8E5M2FNUZ] = {0x80, 0x80, 0x80, 0x80},
    [DTYPE_I8] = {0x5a, 0x5a, 0x5a, 0x5a},         [DTYPE_I32] = {0x5a, 0x5a, 0x5a, 0x5a},
};

/* Sizes by the letters of the layouts: c and k per group. */
static int64_t size_of_letter(const struct problem *p, enum operand which, char letter)
{
    const char *spatial = which == OPERAND_FILTER ? "zyx" : "dhw";
    const char *found = strchr(spatial, letter);
    switch (letter) {
    case 'n':
        return p->n;
    case 'g':
        return p->g;
    case 'c':
        return p->c / p->g;
    case 'k':
        return p->k / p->g;
    }
    if (!found)
        bug("layout letter '%c'", letter);
    int dim = (int)(found - spatial) - (PROBLEM_MAX_DIMS - p->dims);
    if (which == OPERAND_OUTPUT)
        return problem_out(p, dim);
    return which == OPERAND_INPUT ? p->in[dim] : p->fil[dim];
}

/* The default layouts are the logical order of the axes. */
static void set_axes(struct tensor *t, const struct problem *p, enum operand which)
{
    struct problem logical = *p;
    problem_default_layouts(&logical);
    t->rank = p->dims + 3;
    t->elements = 1;
    for (int i = t->rank - 1; i >= 0; i--) {
        char letter = p->layout[which][i];
        int axis = (int)(strchr(logical.layout[which], letter) - logical.layout[which]);
        t->size[axis] = size_of_letter(p, which, letter);
        t->stride[axis] = t->elements;
        t->elements *= t->size[axis];
    }
}

static void write_guards(struct tensor *t)
{
    uint8_t *low = t->memory, *high = (uint8_t *)t->data + t->bytes;
    for (int i = 0; i < TENSOR_GUARD_BYTES; i++)
        low[i] = high[i] = guard_pattern[t->dtype][i % 4];
}

void tensor_init(struct tensor *t, const struct problem *p, enum operand which)
{
    memset(t, 0, sizeof *t);
    t->dtype = p->dtype[which];
    set_axes(t, p, which);
    t->bytes = (size_t)t->elements * dtype_bytes(t->dtype);
    t->total_bytes = t->bytes + 2 * TENSOR_GUARD_BYTES;
    /* Page-aligned, and so is the data behind one guard. */
    if (posix_memalign(&t->memory, TENSOR_GUARD_BYTES, t->total_bytes) != 0)
        die("no memory for a tensor of %zu bytes", t->total_bytes);
    t->data = (uint8_t *)t->memory + TENSOR_GUARD_BYTES;
    write_guards(t);
    tensor_poison(t, 0);
}

void tensor_release(struct tensor *t)
{
    free(t->memory);
    memset(t, 0, sizeof *t);
}

int64_t tensor_offset(const struct tensor *t, const int64_t index[TENSOR_MAX_RANK])
{
    int64_t offset = 0;
    for (int i = 0; i < t->rank; i++)
        offset += index[i] * t->stride[i];
    return offset;
}

int64_t tensor_next(const struct tensor *t, int64_t index[TENSOR_MAX_RANK], int64_t offset)
{
    for (int i = t->rank - 1; i >= 0; i--) {
        offset += t->stride[i];
        if (++index[i] < t->size[i])
            return offset;
        offset -= t->size[i] * t->stride[i];
        index[i] = 0;
    }
    return -1;
}

/* Layouts are packed, so each axis is a digit of the offset. */
void tensor_coordinates(int64_t index[TENSOR_MAX_RANK], const struct tensor *t, int64_t offset)
{
    memset(index, 0, TENSOR_MAX_RANK * sizeof *index);
    for (int i = 0; i < t->rank; i++)
        index[i] = offset / t->stride[i] % t->size[i];
}

/* The formats of at most 16 bits: sign, exponent, `mantissa` stored bits. */
struct small_float {
    int mantissa, bias;
    unsigned width;    /* bits without the sign */
    unsigned largest;  /* code of the largest finite number */
    unsigned infinity; /* 0 when there is none: a number that is too large becomes the largest */
    unsigned nan; /* what a conversion gives; with `width` bits all other codes above are NaN */
    bool unsigned_zero; /* the code of -0 is the only NaN */
};

/* IEEE 754; bf16: Intel's white paper of 2018; OCP 8-bit Floating Point Specification 1.0; FNUZ:
 * Noune and others 2022. */
static const struct small_float small_floats[] = {
    [DTYPE_F16] = {10, 15, 15, 0x7bff, 0x7c00, 0x7e00, false},
    [DTYPE_BF16] = {7, 127, 15, 0x7f7f, 0x7f80, 0x7fc0, false},
    [DTYPE_F8E4M3FN] = {3, 7, 7, 0x7e, 0, 0x7f, false},
    [DTYPE_F8E5M2] = {2, 15, 7, 0x7b, 0x7c, 0x7e, false},
    [DTYPE_F8E4M3FNUZ] = {3, 8, 7, 0x7f, 0, 0x80, true},
    [DTYPE_F8E5M2FNUZ] = {2, 16, 7, 0x7f, 0, 0x80, true},
};

/* Round the magnitude of a finite double to nearest even, straight from its bits: a detour over
 * float would round twice. Subnormals shift further; a carry out of the mantissa is right as it
 * falls. Too large a number gives a code beyond all others. */
static uint64_t magnitude_code(double value, const struct small_float *f)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023, shift = 52 - f->mantissa;
    if (exponent < 1 - f->bias) {
        shift += 1 - f->bias - exponent;
        exponent = 1 - f->bias;
    }
    if (shift > 54)
        return 0;
    uint64_t significand = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    uint64_t kept = significand >> shift, half = UINT64_C(1) << (shift - 1);
    uint64_t rest = significand & (2 * half - 1);
    kept += rest > half || (rest == half && kept % 2 == 1);
    return ((uint64_t)(exponent + f->bias - 1) << f->mantissa) + kept;
}

static uint16_t narrow(double value, const struct small_float *f)
{
    unsigned sign = signbit(value) ? 1u << f->width : 0;
    if (isnan(value) || (isinf(value) && f->infinity == 0))
        return (uint16_t)(f->unsigned_zero ? f->nan : sign | f->nan);
    uint64_t code = isinf(value) ? UINT64_MAX : magnitude_code(value, f);
    if (code > f->largest)
        code = f->infinity != 0 ? f->infinity : f->largest;
    return (uint16_t)(code == 0 && f->unsigned_zero ? 0 : sign | code);
}

/* The bits moved to the top of a double have the right digits and an exponent that is too small by
 * a constant; true for subnormals too. */
static double widen(uint16_t bits, const struct small_float *f)
{
    unsigned code = bits & ((1u << f->width) - 1);
    bool negative = bits >> f->width & 1;
    if (code > f->largest || (f->unsigned_zero && bits == f->nan))
        return code != f->infinity || f->infinity == 0 ? NAN : negative ? -INFINITY : INFINITY;
    uint64_t magnitude = (uint64_t)code << (52 - f->mantissa);
    double value;
    memcpy(&value, &magnitude, sizeof value);
    value *= ldexp(1, 1023 - f->bias);
    return negative ? -value : value;
}

uint16_t tensor_f16_from(double value)
{
    return narrow(value, &small_floats[DTYPE_F16]);
}

double tensor_f16_to(uint16_t bits)
{
    return widen(bits, &small_floats[DTYPE_F16]);
}

uint16_t tensor_bf16_from(double value)
{
    return narrow(value, &small_floats[DTYPE_BF16]);
}

double tensor_bf16_to(uint16_t bits)
{
    return widen(bits, &small_floats[DTYPE_BF16]);
}

uint8_t tensor_f8_from(enum dtype dtype, double value)
{
    if (!dtype_is_f8(dtype))
        bug("dtype %d", (int)dtype);
    return (uint8_t)narrow(value, &small_floats[dtype]);
}

double tensor_f8_to(enum dtype dtype, uint8_t bits)
{
    if (!dtype_is_f8(dtype))
        bug("dtype %d", (int)dtype);
    return widen(bits, &small_floats[dtype]);
}

double tensor_largest(enum dtype dtype)
{
    if (dtype == DTYPE_F32)
        return FLT_MAX;
    if (!dtype_is_float(dtype))
        return dtype == DTYPE_I8 ? INT8_MAX : INT32_MAX;
    return widen((uint16_t)small_floats[dtype].largest, &small_floats[dtype]);
}

double tensor_smallest_normal(enum dtype dtype)
{
    if (!dtype_is_float(dtype))
        return 1;
    return dtype == DTYPE_F32 ? FLT_MIN : ldexp(1, 1 - small_floats[dtype].bias);
}

bool tensor_has_infinity(enum dtype dtype)
{
    return dtype == DTYPE_F32 || (dtype_is_float(dtype) && small_floats[dtype].infinity != 0);
}

/* To nearest even; NaN gives 0, as no integer stands for it. */
static int32_t saturate(double value, int32_t lowest, int32_t highest)
{
    if (isnan(value))
        return 0;
    if (value <= lowest)
        return lowest;
    return value >= highest ? highest : (int32_t)rint(value);
}

double tensor_get(const struct tensor *t, int64_t offset)
{
    switch (t->dtype) {
    case DTYPE_F32:
        return ((const float *)t->data)[offset];
    case DTYPE_F16:
        return tensor_f16_to(((const uint16_t *)t->data)[offset]);
    case DTYPE_BF16:
        return tensor_bf16_to(((const uint16_t *)t->data)[offset]);
    case DTYPE_F8E4M3FN:
    case DTYPE_F8E5M2:
    case DTYPE_F8E4M3FNUZ:
    case DTYPE_F8E5M2FNUZ:
        return tensor_f8_to(t->dtype, ((const uint8_t *)t->data)[offset]);
    case DTYPE_I8:
        return ((const int8_t *)t->data)[offset];
    case DTYPE_I32:
        return ((const int32_t *)t->data)[offset];
    }
    bug("dtype %d", (int)t->dtype);
}

void tensor_set(struct tensor *t, int64_t offset, double value)
{
    switch (t->dtype) {
    case DTYPE_F32:
        ((float *)t->data)[offset] = (float)value;
        return;
    case DTYPE_F16:
        ((uint16_t *)t->data)[offset] = tensor_f16_from(value);
        return;
    case DTYPE_BF16:
        ((uint16_t *)t->data)[offset] = tensor_bf16_from(value);
        return;
    case DTYPE_F8E4M3FN:
    case DTYPE_F8E5M2:
    case DTYPE_F8E4M3FNUZ:
    case DTYPE_F8E5M2FNUZ:
        ((uint8_t *)t->data)[offset] = tensor_f8_from(t->dtype, value);
        return;
    case DTYPE_I8:
        ((int8_t *)t->data)[offset] = (int8_t)saturate(value, INT8_MIN, INT8_MAX);
        return;
    case DTYPE_I32:
        ((int32_t *)t->data)[offset] = saturate(value, INT32_MIN, INT32_MAX);
        return;
    }
    bug("dtype %d", (int)t->dtype);
}

double tensor_round(enum dtype dtype, double value)
{
    switch (dtype) {
    case DTYPE_F32:
        return (float)value;
    case DTYPE_F16:
        return tensor_f16_to(tensor_f16_from(value));
    case DTYPE_BF16:
        return tensor_bf16_to(tensor_bf16_from(value));
    case DTYPE_F8E4M3FN:
    case DTYPE_F8E5M2:
    case DTYPE_F8E4M3FNUZ:
    case DTYPE_F8E5M2FNUZ:
        return tensor_f8_to(dtype, tensor_f8_from(dtype, value));
    case DTYPE_I8:
        return saturate(value, INT8_MIN, INT8_MAX);
    case DTYPE_I32:
        return saturate(value, INT32_MIN, INT32_MAX);
    }
    bug("dtype %d", (int)dtype);
}

/* The finaliser of splitmix64 (Steele, Lea and Flood 2014): every input bit reaches every output
 * bit. */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Floats: a quiet NaN whose payload has the bit that guards lack, and the round below it; those of
 * 8 bits have one NaN that is as good as another. i32: high numbers that exact sums stay below by a
 * mile. i8 has no free value, hence the change with offset and round: what was not written is wrong
 * in at least one of two rounds. */
static uint32_t poison_bits(enum dtype dtype, int64_t offset, int round)
{
    uint64_t seeded = mix((uint64_t)offset ^ (uint64_t)(unsigned)round << 48);
    switch (dtype) {
    case DTYPE_F32:
        return 0x7fd00000u | (0x1235u + (unsigned)round) % 0x10000u;
    case DTYPE_F16:
        return 0x7f00u | (0x11u + (unsigned)round) % 0x100u;
    case DTYPE_BF16:
        return 0x7fe0u | (0x11u + (unsigned)round) % 0x20u;
    case DTYPE_F8E4M3FN:
        return 0x7f;
    case DTYPE_F8E5M2:
        return 0x7d;
    case DTYPE_F8E4M3FNUZ:
    case DTYPE_F8E5M2FNUZ:
        return 0x80;
    case DTYPE_I8:
        return (uint8_t)(seeded ^ (unsigned)round);
    case DTYPE_I32:
        return 0x6b000000u | (uint32_t)(seeded >> 40);
    }
    bug("dtype %d", (int)dtype);
}

void tensor_poison(struct tensor *t, int round)
{
    size_t size = dtype_bytes(t->dtype);
    uint8_t *at = t->data;
    /* Floats have one pattern: what is there is copied behind itself until it is everywhere. */
    if (dtype_is_float(t->dtype)) {
        uint32_t bits = poison_bits(t->dtype, 0, round);
        memcpy(at, &bits, size);
        for (size_t done = size; done < t->bytes; done *= 2)
            memcpy(at + done, at, t->bytes - done < done ? t->bytes - done : done);
        return;
    }
    for (int64_t i = 0; i < t->elements; i++, at += size) {
        uint32_t bits = poison_bits(t->dtype, i, round);
        memcpy(at, &bits, size); /* little-endian, like every device we know */
    }
}

bool tensor_is_poison(const struct tensor *t, int64_t offset, int round)
{
    size_t size = dtype_bytes(t->dtype);
    uint32_t bits = poison_bits(t->dtype, offset, round);
    return memcmp((const uint8_t *)t->data + (size_t)offset * size, &bits, size) == 0;
}

void tensor_guard_damage(int64_t *low, int64_t *high, const struct tensor *t)
{
    const uint8_t *below = t->memory, *above = (const uint8_t *)t->data + t->bytes;
    *low = *high = 0;
    for (int i = 0; i < TENSOR_GUARD_BYTES; i++) {
        *low += below[i] != guard_pattern[t->dtype][i % 4];
        *high += above[i] != guard_pattern[t->dtype][i % 4];
    }
}

/* A zero is drawn a second time, so it stays with probability 1 / (2 range + 1)^2: a product with
 * zero hides whatever it multiplies. */
static double draw_integer(uint64_t random, int64_t range)
{
    uint64_t span = 2 * (uint64_t)range + 1;
    int64_t value = (int64_t)((random >> 32) * span >> 32) - range;
    if (value == 0)
        value = (int64_t)((random & 0xffffffff) * span >> 32) - range;
    return (double)value;
}

static double draw_real(uint64_t random)
{
    return (double)(random >> 11) * 0x1p-52 - 1;
}

void tensor_fill(struct tensor *t, enum data_kind kind, uint64_t seed, enum operand which,
                 int64_t range)
{
    if (kind > DATA_REAL)
        bug("data kind %d", (int)kind);
    if (kind == DATA_INTEGER && (range < 1 || range > INT32_MAX / 2))
        bug("range %lld", (long long)range);
    uint64_t stream = mix(seed ^ mix((uint64_t)which + 1)), position = 0;
    int64_t index[TENSOR_MAX_RANK] = {0};
    for (int64_t offset = 0; offset >= 0; offset = tensor_next(t, index, offset)) {
        uint64_t random = mix(stream + position++);
        tensor_set(t, offset,
                   kind == DATA_INTEGER ? draw_integer(random, range) : draw_real(random));
    }
}

int64_t tensor_largest_exact(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_F32:
        return 1 << 24;
    case DTYPE_F16:
        return 1 << 11;
    case DTYPE_BF16:
        return 1 << 8;
    case DTYPE_F8E4M3FN:
    case DTYPE_F8E4M3FNUZ:
        return 1 << 4;
    case DTYPE_F8E5M2:
    case DTYPE_F8E5M2FNUZ:
        return 1 << 3;
    case DTYPE_I8:
        return INT8_MAX;
    case DTYPE_I32:
        return INT32_MAX;
    }
    bug("dtype %d", (int)dtype);
}

static int64_t root(double square)
{
    return (int64_t)floor(sqrt(square));
}

/* Results are sums of K products of mean 0 and magnitude at most R^2, so their standard deviation
 * is below sqrt(K) R^2. Eight of these within the type leave overflow to less than one element in
 * 10^14. A range of 1 is the least that is data at all. */
static int64_t largest_unsaturated(enum dtype result, int64_t reduction)
{
    bool small = result == DTYPE_F16 || dtype_is_f8(result);
    if (!small && result != DTYPE_I8)
        return INT32_MAX / 2;
    double largest = tensor_largest(result);
    int64_t range = root(largest / (8 * sqrt((double)reduction)));
    return range > 1 ? range : 1;
}

/* Proof. Let every operand be an integer in [-R, R] and K the longest sum. Take any order of
 * summation: sequential, tree, split, by fused or separate multiply and add. Whatever the
 * accumulator holds at any moment is a sum of a subset of the at most K products of one result
 * element, or a single product: an integer of magnitude at most K R^2 <= 2^bits. A significand of
 * `bits` bits holds every integer up to and including 2^bits (that one is a power of two), and f32
 * and f16 do not overflow at 2^24 and 2^11. So the infinitely precise result of each operation is
 * representable, no rounding takes place, and the end is the exact sum. An i32 accumulator ends at
 * 2^31 - 1, hence the one less. The operands are exact when R is at most what the significands of
 * their types hold.  */
int64_t tensor_exact_range(const struct problem *p, int accumulator_bits)
{
    enum operand result = problem_result(p);
    int64_t reduction = problem_reduction(p);
    int64_t limit = (INT64_C(1) << accumulator_bits) - (accumulator_bits >= 31);
    int64_t range = root((double)(limit / reduction));
    for (enum operand o = OPERAND_INPUT; o <= OPERAND_OUTPUT; o++) {
        int64_t largest = o == result ? largest_unsaturated(p->dtype[o], reduction)
                                      : tensor_largest_exact(p->dtype[o]);
        range = range < largest ? range : largest;
    }
    return range;
}
