#include "reference/tensor.h"

#include "src/mem.h"

#include <math.h>
#include <string.h>

static const char *const logical_axes[3] = {"ngcdhw", "gkczyx", "ngkdhw"};

const char *data_kind_name(enum data_kind k)
{
    return k == DATA_REAL ? "real" : "integer";
}

/* The spatial letters that a problem of `dims` dims uses are the last `dims` of the logical string: "hw" of "dhw". */
static void logical_letters(char letters[8], const struct problem *p, enum operand which)
{
    memcpy(letters, logical_axes[which], 3);
    memcpy(letters + 3, logical_axes[which] + 3 + PROBLEM_MAX_DIMS - p->dims, (size_t)p->dims + 1);
    if (p->dims == 1)
        letters[3] = which == OPERAND_FILTER ? 'x' : 'w';
}

static void logical_sizes(int64_t size[TENSOR_MAX_RANK], const struct problem *p, enum operand which)
{
    int64_t c = p->c / p->g, k = p->k / p->g;
    const int64_t lead[3][3] = {{p->n, p->g, c}, {p->g, k, c}, {p->n, p->g, k}};
    memcpy(size, lead[which], sizeof lead[which]);
    for (int d = 0; d < p->dims; d++)
        size[3 + d] = which == OPERAND_INPUT ? p->in[d] : which == OPERAND_FILTER ? p->fil[d] : problem_out(p, d);
}

static void fill_guards(struct tensor *t);

void tensor_init(struct tensor *t, const struct problem *p, enum operand which)
{
    char letters[8];
    *t = (struct tensor){.dtype = p->dtype[which], .rank = 3 + p->dims};
    logical_letters(letters, p, which);
    logical_sizes(t->size, p, which);
    int64_t stride = 1;
    for (int i = t->rank - 1; i >= 0; i--) {
        const char *at = strchr(letters, p->layout[which][i]);
        if (!at)
            bug("layout %s passed problem_check", p->layout[which]);
        t->stride[at - letters] = stride;
        stride *= t->size[at - letters];
    }
    t->elements = stride;
    t->bytes = (size_t)stride * dtype_bytes(t->dtype);
    t->total_bytes = t->bytes + 2 * (size_t)TENSOR_GUARD_BYTES;
    t->memory = xmalloc(t->total_bytes);
    t->data = (char *)t->memory + TENSOR_GUARD_BYTES;
    fill_guards(t);
    tensor_poison(t, 0);
}

void tensor_release(struct tensor *t)
{
    free(t->memory);
    *t = (struct tensor){0};
}

int64_t tensor_offset(const struct tensor *t, const int64_t index[TENSOR_MAX_RANK])
{
    int64_t offset = 0;
    for (int i = 0; i < t->rank; i++)
        offset += index[i] * t->stride[i];
    return offset;
}

void tensor_coordinates(int64_t index[TENSOR_MAX_RANK], const struct tensor *t, int64_t offset)
{
    memset(index, 0, TENSOR_MAX_RANK * sizeof *index);
    for (int i = 0; i < t->rank; i++)
        index[i] = offset / t->stride[i] % t->size[i];
}

/* Round to `bits` of significand with the smallest normal exponent given: through the grid of the value's own binade. */
static double round_to(double value, int bits, int smallest_exponent)
{
    if (value == 0 || !isfinite(value))
        return value;
    int exponent;
    frexp(value, &exponent);
    exponent = exponent - 1 < smallest_exponent ? smallest_exponent : exponent - 1;
    double step = ldexp(1, exponent - (bits - 1));
    return rint(value / step) * step;
}

uint16_t tensor_f16_from(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    if (isnan(value))
        return sign | 0x7e00;
    double magnitude = fabs(round_to(value, 11, -14));
    if (magnitude > 65504)
        return sign | 0x7c00;
    if (magnitude < ldexp(1, -14))
        return (uint16_t)(sign | (unsigned)ldexp(magnitude, 24));
    int exponent;
    double fraction = frexp(magnitude, &exponent); /* in [0.5, 1) */
    return (uint16_t)(sign | (unsigned)(exponent + 14) << 10 | ((unsigned)ldexp(fraction, 11) & 0x3ff));
}

double tensor_f16_to(uint16_t bits)
{
    int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
    double magnitude = exponent == 0    ? ldexp(fraction, -24)
                       : exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
                                        : ldexp(1024 + fraction, exponent - 25);
    return bits & 0x8000 ? -magnitude : magnitude;
}

static uint32_t bits_of_float(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

uint16_t tensor_bf16_from(double value)
{
    if (isnan(value))
        return signbit(value) ? 0xffc0 : 0x7fc0;
    /* Eight bits of significand and float's exponents: the rounded value is a float exactly, or overflows as one does. */
    return (uint16_t)(bits_of_float((float)round_to(value, 8, -126)) >> 16);
}

double tensor_bf16_to(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float f;
    memcpy(&f, &wide, sizeof f);
    return f;
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
    case DTYPE_I8:
        return ((const int8_t *)t->data)[offset];
    case DTYPE_I32:
        return ((const int32_t *)t->data)[offset];
    }
    bug("no such type: %d", t->dtype);
}

static double clamp(double value, double low, double high)
{
    value = rint(value);
    return value < low ? low : value > high ? high : value;
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
    case DTYPE_I8:
        ((int8_t *)t->data)[offset] = (int8_t)clamp(value, INT8_MIN, INT8_MAX);
        return;
    case DTYPE_I32:
        ((int32_t *)t->data)[offset] = (int32_t)clamp(value, INT32_MIN, INT32_MAX);
        return;
    }
    bug("no such type: %d", t->dtype);
}

/* splitmix64 (Steele, Lea, Flood 2014): one well-mixed value for one counter. */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

/* The pattern of one element: quiet NaNs whose payload names the round; for integers a value that depends on place and round. */
static uint32_t poison_bits(enum dtype dtype, int64_t offset, int round)
{
    unsigned r = (unsigned)round & 1;
    switch (dtype) {
    case DTYPE_F32:
        return 0x7fc0a55a + r;
    case DTYPE_F16:
        return 0x7e5a + r;
    case DTYPE_BF16:
        return 0x7fda + r;
    case DTYPE_I8:
        return (uint32_t)(mix((uint64_t)offset * 2 + r) & 0xff);
    case DTYPE_I32:
        return (uint32_t)(mix((uint64_t)offset * 2 + r) | 0x40000000) & 0x7fffffff;
    }
    bug("no such type: %d", dtype);
}

void tensor_poison(struct tensor *t, int round)
{
    size_t size = dtype_bytes(t->dtype);
    for (int64_t i = 0; i < t->elements; i++) {
        uint32_t bits = poison_bits(t->dtype, i, round); /* little-endian: the low bytes come first */
        memcpy((char *)t->data + (size_t)i * size, &bits, size);
    }
}

bool tensor_is_poison(const struct tensor *t, int64_t offset, int round)
{
    size_t size = dtype_bytes(t->dtype);
    uint32_t bits = poison_bits(t->dtype, offset, round);
    return memcmp((const char *)t->data + (size_t)offset * size, &bits, size) == 0;
}

/* Guards read as NaN in every float type: 0xff7f repeated is one in f16 and bf16 (0x7fff) and, taken as 0x7fff7fff, in f32. */
static unsigned char guard_byte(enum dtype dtype, size_t i)
{
    if (dtype == DTYPE_I8 || dtype == DTYPE_I32)
        return 0x5a;
    return i % 2 == 0 ? 0xff : 0x7f;
}

static void fill_guards(struct tensor *t)
{
    unsigned char *low = t->memory, *high = (unsigned char *)t->data + t->bytes;
    for (size_t i = 0; i < TENSOR_GUARD_BYTES; i++)
        low[i] = high[i] = guard_byte(t->dtype, i);
}

void tensor_guard_damage(int64_t *low, int64_t *high, const struct tensor *t)
{
    const unsigned char *l = t->memory, *h = (const unsigned char *)t->data + t->bytes;
    *low = *high = 0;
    for (size_t i = 0; i < TENSOR_GUARD_BYTES; i++) {
        *low += l[i] != guard_byte(t->dtype, i);
        *high += h[i] != guard_byte(t->dtype, i);
    }
}

/* A non-zero integer of [-range, range] seven times in eight, else any: zeros hide faults (0 * wrong = 0), but some must be there. */
static double integer_value(uint64_t random, int64_t range)
{
    if (range == 0)
        return 0;
    uint64_t draw = random >> 3;
    if ((random & 7) == 0)
        return (double)((int64_t)(draw % (uint64_t)(2 * range + 1)) - range);
    int64_t value = (int64_t)(draw % (uint64_t)(2 * range)) - range;
    return (double)(value >= 0 ? value + 1 : value);
}

/* Uniform in [-1, 1) on 53 bits, then rounded to the type by tensor_set. */
static double real_value(uint64_t random)
{
    return ldexp((double)(random >> 11), -52) - 1;
}

void tensor_fill(struct tensor *t, enum data_kind kind, uint64_t seed, enum operand which, int64_t range)
{
    uint64_t stream = mix(mix(seed) + (uint64_t)which);
    int64_t limit = t->dtype == DTYPE_I8 && range > INT8_MAX ? INT8_MAX : range;
    for (int64_t offset = 0; offset < t->elements; offset++) {
        int64_t index[TENSOR_MAX_RANK], position = 0;
        tensor_coordinates(index, t, offset);
        for (int i = 0; i < t->rank; i++)
            position = position * t->size[i] + index[i];
        uint64_t random = mix(stream ^ (uint64_t)position);
        tensor_set(t, offset, kind == DATA_REAL ? real_value(random) : integer_value(random, limit));
    }
}

/* Proof: operands are integers of magnitude at most R, so every product is an integer of magnitude at most R^2, and every sum of any m <= K of
 * them, in any order and grouping, is an integer of magnitude at most K R^2 <= 2^bits. All integers up to 2^bits are representable with `bits` of
 * significand, so no partial sum is ever rounded, and the result is one exact integer. The largest R is floor(sqrt(2^bits / K)), bounded by
 * what the input types hold: 2^8 for bf16, 2^11 for f16, 127 for i8; and by 1024, since larger numbers find nothing more. */
int64_t tensor_exact_range(const struct problem *p, int accumulator_bits)
{
    static const int64_t holds[] = {[DTYPE_F32] = 1024, [DTYPE_F16] = 1024, [DTYPE_BF16] = 256, [DTYPE_I8] = 127, [DTYPE_I32] = 1024};
    int64_t limit = ((int64_t)1 << accumulator_bits) / problem_reduction(p);
    int64_t range = (int64_t)sqrt((double)limit);
    while (range > 0 && range * range > limit)
        range--;
    for (int i = 0; i < 3; i++) {
        if ((enum operand)i != problem_result(p) && holds[p->dtype[i]] < range)
            range = holds[p->dtype[i]];
    }
    return range;
}
