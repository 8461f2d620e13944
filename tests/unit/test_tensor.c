#include "test.h"

#include "reference/tensor.h"

#include <math.h>

static void parse(struct problem *p, const char *line)
{
    assert_ok(problem_parse(p, line));
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t random_state = 1;

static uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static float float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static void all_patterns_of_f16_come_back(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        uint16_t pattern = (uint16_t)bits;
        double value = tensor_f16_to(pattern);
        _Float16 half;
        memcpy(&half, &pattern, sizeof half);
        if (isnan(value)) {
            assert_true((pattern & 0x7c00) == 0x7c00 && (pattern & 0x3ff));
            assert_true(isnan(tensor_f16_to(tensor_f16_from(value))));
        } else {
            assert_int_equal(bits_of(value), bits_of((double)half));
            assert_int_equal(tensor_f16_from(value), pattern);
        }
    }
}

static void all_patterns_of_bf16_come_back(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        double value = tensor_bf16_to((uint16_t)bits);
        float wide = float_of(bits << 16);
        if (isnan(wide)) {
            assert_true(isnan(value) && isnan(tensor_bf16_to(tensor_bf16_from(value))));
        } else {
            assert_int_equal(bits_of(value), bits_of((double)wide));
            assert_int_equal(tensor_bf16_from(value), bits);
        }
    }
}

/* The neighbours a < b: everything below the midpoint goes to a, above to b, and the midpoint
 * itself to the even one. */
static void assert_midpoint(uint16_t low, uint16_t high, double a, double b,
                            uint16_t (*from)(double))
{
    double middle = (a + b) / 2; /* exact: both have few bits */
    uint16_t even = low % 2 == 0 ? low : high;
    assert_int_equal(from(middle), even);
    assert_int_equal(from(-middle), even | 0x8000);
    assert_int_equal(from(nextafter(middle, -INFINITY)), low);
    assert_int_equal(from(nextafter(middle, INFINITY)), high);
    assert_int_equal(from(nextafter(b, -INFINITY)), high);
    assert_int_equal(from(nextafter(a, INFINITY)), low);
}

static void every_midpoint_rounds_to_even(void **state)
{
    (void)state;
    for (uint16_t i = 0; i < 0x7bff; i++)
        assert_midpoint(i, i + 1, tensor_f16_to(i), tensor_f16_to(i + 1), tensor_f16_from);
    for (uint16_t i = 0; i < 0x7f7f; i++)
        assert_midpoint(i, i + 1, tensor_bf16_to(i), tensor_bf16_to(i + 1), tensor_bf16_from);
}

static void beyond_the_largest_is_infinite(void **state)
{
    (void)state;
    assert_int_equal(tensor_f16_from(65504), 0x7bff);
    assert_int_equal(tensor_f16_from(nextafter(65520, 0)), 0x7bff);
    assert_int_equal(tensor_f16_from(65520), 0x7c00);
    assert_int_equal(tensor_f16_from(-1e300), 0xfc00);
    assert_int_equal(tensor_f16_from(-INFINITY), 0xfc00);
    assert_int_equal(tensor_bf16_from(0x1.ffp127), 0x7f80);
    assert_int_equal(tensor_bf16_from(nextafter(0x1.ffp127, 0)), 0x7f7f);
    assert_int_equal(tensor_bf16_from(INFINITY), 0x7f80);
    assert_int_equal(tensor_f16_from(0x1p-25), 0);
    assert_int_equal(tensor_f16_from(nextafter(0x1p-25, 1)), 1);
    assert_int_equal(tensor_f16_from(-5e-324), 0x8000);
    assert_int_equal(tensor_bf16_from(5e-324), 0);
}

/* By the definition: sign, exponent, mantissa. NAN where the format has no number. */
static double f8_by_definition(enum dtype t, unsigned code)
{
    bool e4m3 = t == DTYPE_F8E4M3FN || t == DTYPE_F8E4M3FNUZ,
         fnuz = t == DTYPE_F8E4M3FNUZ || t == DTYPE_F8E5M2FNUZ;
    int stored = e4m3 ? 3 : 2, bias = (e4m3 ? 7 : 15) + fnuz;
    unsigned exponent = (code & 0x7f) >> stored, mantissa = code & ((1u << stored) - 1);
    if (fnuz ? code == 0x80 : t == DTYPE_F8E4M3FN ? (code & 0x7f) == 0x7f : (code & 0x7f) > 0x7c)
        return NAN;
    double value = exponent == 0
                       ? ldexp(mantissa, 1 - bias - stored)
                       : ldexp((1 << stored) + (int)mantissa, (int)exponent - bias - stored);
    if (t == DTYPE_F8E5M2 && (code & 0x7f) == 0x7c)
        value = INFINITY;
    return code & 0x80 ? -value : value;
}

static void all_patterns_of_f8_are_as_defined(void **state)
{
    (void)state;
    for (int t = DTYPE_F8E4M3FN; t <= DTYPE_F8E5M2FNUZ; t++) {
        for (unsigned code = 0; code < 256; code++) {
            double value = f8_by_definition((enum dtype)t, code),
                   read = tensor_f8_to((enum dtype)t, (uint8_t)code);
            if (isnan(value)) {
                assert_true(isnan(read));
                assert_true(isnan(tensor_round((enum dtype)t, value)));
                continue;
            }
            assert_true(read == value && signbit(read) == signbit(value));
            assert_int_equal(tensor_f8_from((enum dtype)t, value), code);
        }
    }
}

static void f8_rounds_to_nearest_even(void **state)
{
    (void)state;
    for (int i = DTYPE_F8E4M3FN; i <= DTYPE_F8E5M2FNUZ; i++) {
        enum dtype t = (enum dtype)i;
        unsigned codes = tensor_f8_from(t, tensor_largest(t));
        for (unsigned low = 0; low < codes; low++) {
            double a = tensor_f8_to(t, (uint8_t)low), b = tensor_f8_to(t, (uint8_t)(low + 1));
            double even = low % 2 == 0 ? a : b, middle = (a + b) / 2;
            assert_true(tensor_round(t, middle) == even);
            assert_true(tensor_round(t, -middle) == -even);
            assert_true(tensor_round(t, nextafter(middle, 0)) == a);
            assert_true(tensor_round(t, nextafter(middle, INFINITY)) == b);
        }
    }
}

static void f8_has_its_limits(void **state)
{
    (void)state;
    static const double largest[] = {448, 57344, 240, 57344}, normal[] = {0x1p-6, 0x1p-14, 0x1p-7, 0x1p-15};
    for (int i = 0; i < 4; i++) {
        enum dtype t = (enum dtype)(DTYPE_F8E4M3FN + i);
        assert_true(tensor_largest(t) == largest[i]);
        assert_true(tensor_smallest_normal(t) == normal[i]);
        int64_t exact = tensor_largest_exact(t);
        for (int64_t whole = 0; whole <= exact; whole++)
            assert_true(tensor_round(t, (double)whole) == (double)whole);
        assert_true(tensor_round(t, (double)(exact + 1)) != (double)(exact + 1));
        bool infinite = t == DTYPE_F8E5M2;
        assert_int_equal(tensor_has_infinity(t), infinite);
        assert_true(tensor_round(t, -1e9) == (infinite ? -INFINITY : -largest[i]));
        double infinity = tensor_round(t, INFINITY);
        assert_true(infinite ? infinity == INFINITY : isnan(infinity));
    }
    assert_int_equal(tensor_f8_from(DTYPE_F8E4M3FN, 464), 0x7e);
    assert_int_equal(tensor_f8_from(DTYPE_F8E4M3FNUZ, -0.0), 0);
    assert_int_equal(tensor_f8_from(DTYPE_F8E5M2FNUZ, -1e-9), 0);
    assert_int_equal(tensor_f8_from(DTYPE_F8E4M3FN, -1e-9), 0x80);
}

/* The compiler's own conversion as a second opinion, over all magnitudes of doubles. */
static void f16_agrees_with_the_compiler(void **state)
{
    (void)state;
    for (int i = 0; i < 1000000; i++) {
        double value =
            ldexp((double)(int64_t)random_bits(), -63) * ldexp(1, (int)(random_bits() % 48) - 28);
        _Float16 half = (_Float16)value;
        uint16_t bits;
        memcpy(&bits, &half, sizeof bits);
        assert_int_equal(tensor_f16_from(value), bits);
    }
}

/* Double rounding: just above a midpoint, by less than float can see. */
static void rounding_takes_no_detour_over_float(void **state)
{
    (void)state;
    double value = 1 + 0x1p-11 + 0x1p-40;
    assert_int_equal(tensor_f16_from((float)value), 0x3c00);
    assert_int_equal(tensor_f16_from(value), 0x3c01);
    value = 1 + 0x1p-8 + 0x1p-40;
    assert_int_equal(tensor_bf16_from((float)value), 0x3f80);
    assert_int_equal(tensor_bf16_from(value), 0x3f81);
}

static void integers_saturate(void **state)
{
    (void)state;
    struct problem p;
    struct tensor t;
    parse(&p, "conv fwd i8 n1 c4 k4 g1 in4 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw");
    tensor_init(&t, &p, OPERAND_INPUT);
    const double given[] = {127.4, 127.6, 1e30, -128.6, 2.5, 3.5, -2.5, NAN, INFINITY, -INFINITY};
    const double right[] = {127, 127, 127, -128, 2, 4, -2, 0, 127, -128};
    for (int i = 0; i < 10; i++) {
        tensor_set(&t, i, given[i]);
        assert_true(tensor_get(&t, i) == right[i]);
        assert_true(tensor_round(DTYPE_I8, given[i]) == right[i]);
    }
    tensor_release(&t);
    tensor_init(&t, &p, OPERAND_OUTPUT);
    tensor_set(&t, 0, 2147483646.5);
    tensor_set(&t, 1, 1e12);
    tensor_set(&t, 2, -1e12);
    assert_true(tensor_get(&t, 0) == 2147483646.0);
    assert_true(tensor_get(&t, 1) == INT32_MAX && tensor_get(&t, 2) == INT32_MIN);
    tensor_release(&t);
}

static const char *const type_lines[] = {
    "conv fwd f32 n2 c6 k4 g2 in5x7 fil3x2 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw",
    "conv fwd f16 n2 c6 k4 g2 in5x7 fil3x2 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw",
    "conv fwd bf16 n2 c6 k4 g2 in5x7 fil3x2 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw",
    "conv fwd i8 n2 c6 k4 g2 in5x7 fil3x2 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw",
};

static void setting_rounds_as_rounding_says(void **state)
{
    (void)state;
    for (int line = 0; line < 4; line++) {
        struct problem p;
        struct tensor t;
        parse(&p, type_lines[line]);
        for (enum operand o = OPERAND_INPUT; o <= OPERAND_OUTPUT; o++) {
            tensor_init(&t, &p, o);
            for (int i = 0; i < 1000; i++) {
                double value = ldexp((double)(int64_t)random_bits(), -50 - i % 20);
                tensor_set(&t, i % t.elements, value);
                assert_true(tensor_get(&t, i % t.elements) == tensor_round(t.dtype, value));
            }
            tensor_release(&t);
        }
    }
}

static void layouts_say_the_strides(void **state)
{
    (void)state;
    struct problem p;
    struct tensor t;
    parse(&p, "conv fwd f32 n2 c6 k4 g2 in3x5x7 fil1x2x3 str1x1x1 dil1x1x1 pad0:0x0:0x0:0 "
              "ndhwgc kzyxgc ngkdhw");
    tensor_init(&t, &p, OPERAND_INPUT);
    const int64_t in_size[] = {2, 2, 3, 3, 5, 7}, in_stride[] = {630, 3, 1, 210, 42, 6};
    assert_int_equal(t.rank, 6);
    assert_memory_equal(t.size, in_size, sizeof in_size);
    assert_memory_equal(t.stride, in_stride, sizeof in_stride);
    assert_int_equal(t.elements, 1260);
    assert_int_equal(t.bytes, 5040);
    assert_int_equal(t.total_bytes, 5040 + 2 * TENSOR_GUARD_BYTES);
    assert_ptr_equal((char *)t.memory + TENSOR_GUARD_BYTES, t.data);
    tensor_release(&t);
    tensor_init(&t, &p, OPERAND_FILTER);
    const int64_t fil_size[] = {2, 2, 3, 1, 2, 3}, fil_stride[] = {3, 36, 1, 36, 18, 6};
    assert_memory_equal(t.size, fil_size, sizeof fil_size);
    assert_memory_equal(t.stride, fil_stride, sizeof fil_stride);
    tensor_release(&t);
    tensor_init(&t, &p, OPERAND_OUTPUT);
    const int64_t out_size[] = {2, 2, 2, 3, 4, 5}, out_stride[] = {240, 120, 60, 20, 5, 1};
    assert_memory_equal(t.size, out_size, sizeof out_size);
    assert_memory_equal(t.stride, out_stride, sizeof out_stride);
    tensor_release(&t);
}

static void offsets_and_coordinates_are_inverse_and_the_walk_is_logical(void **state)
{
    (void)state;
    struct problem p;
    struct tensor t;
    parse(&p, "conv fwd f32 n2 c6 k4 g2 in3x4 fil1x1 str1x1 dil1x1 pad0:0x0:0 wgnhc gkcyx ngkhw");
    tensor_init(&t, &p, OPERAND_INPUT);
    for (int64_t offset = 0; offset < t.elements; offset++) {
        int64_t index[TENSOR_MAX_RANK];
        tensor_coordinates(index, &t, offset);
        assert_int_equal(tensor_offset(&t, index), offset);
    }
    int64_t index[TENSOR_MAX_RANK] = {0}, position = 0;
    for (int64_t offset = 0; offset >= 0; offset = tensor_next(&t, index, offset), position++) {
        int64_t logical = 0;
        for (int i = 0; i < t.rank; i++)
            logical = logical * t.size[i] + index[i];
        assert_int_equal(logical, position);
        assert_int_equal(tensor_offset(&t, index), offset);
    }
    assert_int_equal(position, t.elements);
    tensor_release(&t);
}

static void fills_are_the_same_in_every_layout(void **state)
{
    (void)state;
    struct problem p, q;
    parse(&p, "conv fwd f16 n2 c6 k4 g2 in5x7 fil3x2 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw");
    parse(&q, "conv fwd f16 n2 c6 k4 g2 in5x7 fil3x2 str1x1 dil1x1 pad0:0x0:0 whcng yxgck hnwkg");
    for (int kind = DATA_INTEGER; kind <= DATA_REAL; kind++) {
        for (enum operand o = OPERAND_INPUT; o <= OPERAND_OUTPUT; o++) {
            struct tensor a, b;
            tensor_init(&a, &p, o);
            tensor_init(&b, &q, o);
            tensor_fill(&a, (enum data_kind)kind, 7, o, 5);
            tensor_fill(&b, (enum data_kind)kind, 7, o, 5);
            for (int64_t i = 0; i < a.elements; i++) {
                int64_t index[TENSOR_MAX_RANK];
                tensor_coordinates(index, &a, i);
                assert_true(tensor_get(&a, i) == tensor_get(&b, tensor_offset(&b, index)));
            }
            tensor_release(&a);
            tensor_release(&b);
        }
    }
}

/* Elements in which two fills agree. */
static int64_t agreement(const struct problem *p, uint64_t seed_a, enum operand as_a,
                         uint64_t seed_b, enum operand as_b)
{
    struct tensor a, b;
    int64_t equal = 0;
    tensor_init(&a, p, OPERAND_INPUT);
    tensor_init(&b, p, OPERAND_INPUT);
    tensor_fill(&a, DATA_REAL, seed_a, as_a, 0);
    tensor_fill(&b, DATA_REAL, seed_b, as_b, 0);
    for (int64_t i = 0; i < a.elements; i++)
        equal += tensor_get(&a, i) == tensor_get(&b, i);
    tensor_release(&a);
    tensor_release(&b);
    return equal;
}

static void seeds_and_operands_have_numbers_of_their_own(void **state)
{
    (void)state;
    struct problem p;
    parse(&p, type_lines[0]);
    int64_t all = problem_elements(&p, OPERAND_INPUT);
    assert_int_equal(agreement(&p, 1, OPERAND_INPUT, 1, OPERAND_INPUT), all);
    assert_int_equal(agreement(&p, 1, OPERAND_INPUT, 2, OPERAND_INPUT), 0);
    assert_int_equal(agreement(&p, 1, OPERAND_INPUT, 1, OPERAND_FILTER), 0);
    assert_int_equal(agreement(&p, 1, OPERAND_FILTER, 2, OPERAND_OUTPUT), 0);
}

static void integer_fills_are_uniform_but_for_rare_zeros(void **state)
{
    (void)state;
    struct problem p;
    struct tensor t;
    int64_t seen[7] = {0};
    parse(&p, "conv fwd bf16 n1 c100 k1 g1 in1000 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw");
    tensor_init(&t, &p, OPERAND_INPUT);
    tensor_fill(&t, DATA_INTEGER, 3, OPERAND_INPUT, 3);
    for (int64_t i = 0; i < t.elements; i++) {
        double value = tensor_get(&t, i);
        assert_true(value == rint(value) && fabs(value) <= 3);
        seen[(int)value + 3]++;
    }
    for (int i = 0; i < 7; i++) { /* each 16,327 but zeros 2,041; the bounds are 5 sigma */
        int64_t expected = i == 3 ? 2041 : 16327;
        assert_true(llabs(seen[i] - expected) < 5 * sqrt((double)expected));
    }
    tensor_release(&t);
}

static void real_fills_have_mean_0_and_the_variance_of_a_uniform(void **state)
{
    (void)state;
    struct problem p;
    struct tensor t;
    double sum = 0, squares = 0;
    parse(&p, "conv fwd f16 n1 c100 k1 g1 in1000 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw");
    tensor_init(&t, &p, OPERAND_INPUT);
    tensor_fill(&t, DATA_REAL, 3, OPERAND_INPUT, 0);
    for (int64_t i = 0; i < t.elements; i++) {
        double value = tensor_get(&t, i);
        assert_true(fabs(value) <= 1);
        sum += value;
        squares += value * value;
    }
    assert_true(fabs(sum / 1e5) < 5 * sqrt(1.0 / 3 / 1e5));
    assert_true(fabs(squares / 1e5 - 1.0 / 3) < 5 * sqrt(4.0 / 45 / 1e5));
    tensor_release(&t);
}

/* Each guard byte on its own, of every type: seen, and on its side. */
static void every_damaged_guard_byte_is_seen(void **state)
{
    (void)state;
    for (int line = 0; line < 4; line++) {
        struct problem p;
        struct tensor t;
        int64_t low, high;
        parse(&p, type_lines[line]);
        tensor_init(&t, &p, OPERAND_INPUT);
        tensor_fill(&t, DATA_REAL, 1, OPERAND_INPUT, 0);
        tensor_guard_damage(&low, &high, &t);
        assert_true(low == 0 && high == 0);
        uint8_t *below = t.memory, *above = (uint8_t *)t.data + t.bytes;
        for (int i = 0; i < TENSOR_GUARD_BYTES; i += 13) {
            below[i] ^= 0x10;
            tensor_guard_damage(&low, &high, &t);
            assert_true(low == 1 && high == 0);
            below[i] ^= 0x10;
            above[i] ^= 0x01;
            tensor_guard_damage(&low, &high, &t);
            assert_true(low == 0 && high == 1);
            above[i] ^= 0x01;
        }
        tensor_release(&t);
    }
}

static void guards_are_nan_and_no_poison(void **state)
{
    (void)state;
    for (int line = 0; line < 3; line++) {
        struct problem p;
        struct tensor t;
        parse(&p, type_lines[line]);
        tensor_init(&t, &p, OPERAND_INPUT);
        size_t size = dtype_bytes(t.dtype);
        for (int64_t i = -(int64_t)(TENSOR_GUARD_BYTES / size); i < 0; i++)
            assert_true(isnan(tensor_get(&t, i)));
        for (int round = 0; round < 40; round++) {
            memcpy(t.data, t.memory, size);
            assert_false(tensor_is_poison(&t, 0, round));
        }
        tensor_release(&t);
    }
}

static void poison_is_known_by_its_round(void **state)
{
    (void)state;
    for (int line = 0; line < 4; line++) {
        for (enum operand o = OPERAND_INPUT; o <= OPERAND_OUTPUT; o++) {
            struct problem p;
            struct tensor t;
            int64_t wrong_round = 0;
            parse(&p, type_lines[line]);
            tensor_init(&t, &p, o);
            assert_true(tensor_is_poison(&t, t.elements - 1, 0));
            for (int round = 0; round < 5; round++) {
                tensor_poison(&t, round);
                for (int64_t i = 0; i < t.elements; i++) {
                    assert_true(tensor_is_poison(&t, i, round));
                    wrong_round += tensor_is_poison(&t, i, round + 1);
                    if (t.dtype != DTYPE_I8 && t.dtype != DTYPE_I32)
                        assert_true(isnan(tensor_get(&t, i)));
                }
            }
            assert_true(wrong_round * 20 < 5 * t.elements); /* i8: one in 256 by chance */
            tensor_fill(&t, DATA_REAL, 1, o, 0);
            if (t.dtype != DTYPE_I8)
                for (int64_t i = 0; i < t.elements; i++)
                    assert_false(tensor_is_poison(&t, i, 0));
            tensor_release(&t);
        }
    }
}

static int64_t range_of(const char *line, int bits)
{
    struct problem p;
    parse(&p, line);
    return tensor_exact_range(&p, bits);
}

static void ranges_are_the_largest_exact_ones(void **state)
{
    (void)state;
    static const char f32_576[] =
        "conv fwd f32 n1 c64 k8 g1 in8x8 fil3x3 str1x1 dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw";
    assert_int_equal(range_of(f32_576, 24), 170); /* 576 * 170^2 <= 2^24 < 576 * 171^2 */
    assert_int_equal(range_of(f32_576, 11), 1);
    assert_int_equal(
        range_of("conv fwd f32 n1 c16 k1 g1 in1 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw", 24), 1024);
    assert_int_equal(
        range_of("conv fwd bf16 n1 c16 k1 g1 in1 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw", 24), 256);
    assert_int_equal(
        range_of("conv fwd f16 n1 c2048 k1 g1 in1 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw", 11), 1);
    assert_int_equal(
        range_of("conv fwd f16 n1 c2049 k1 g1 in1 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw", 11), 0);
    assert_int_equal(
        range_of("conv fwd i8 n1 c64 k1 g1 in1 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw", 31), 127);
    /* 2^31 would be the first sum that i32 cannot hold, and 131072 * 128^2 is that: */
    assert_int_equal(
        range_of("conv fwd f32 n1 c131072 k1 g1 in1 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw", 31),
        127);
    assert_int_equal(
        range_of("conv fwd i8 n1 c8388608 k1 g1 in1 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw", 31), 15);
    /* By direction: c * taps, k * taps, n * pixels. */
    assert_int_equal(
        range_of("conv bwd_data f32 n1 c2 k64 g1 in8 fil9 str1 dil1 pad4:4 ngcw gkcx ngkw", 24),
        170);
    assert_int_equal(
        range_of("conv bwd_weight f32 n9 c2 k2 g1 in64 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw", 24),
        170);
}

static void narrow_results_do_not_overflow(void **state)
{
    (void)state;
    /* 8 sqrt(576) R^2 <= 65504 */
    assert_int_equal(
        range_of("conv fwd f16 n1 c576 k1 g1 in1 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw", 24), 18);
    assert_int_equal(
        range_of("conv fwd i8:i8:i8 n1 c576 k1 g1 in1 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw", 31),
        1);
    assert_int_equal(
        range_of("conv fwd f16:f16:f32 n1 c576 k1 g1 in1 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw", 24),
        170);
}

/* The claim of the proof, put to the test: worst-case data of that range stay exact in a float
 * accumulator. */
static void the_worst_sum_of_the_range_is_exact(void **state)
{
    (void)state;
    for (int64_t terms = 1; terms < 100000; terms = terms * 3 + 1) {
        char line[160];
        snprintf(line, sizeof line,
                 "conv fwd f32 n1 c%lld k1 g1 in1 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw",
                 (long long)terms);
        float range = (float)range_of(line, 24), sum = 0;
        for (int64_t i = 0; i < terms; i++)
            sum += range * range;
        assert_true((double)sum == (double)terms * range * range);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_patterns_of_f16_come_back),
        cmocka_unit_test(all_patterns_of_bf16_come_back),
        cmocka_unit_test(every_midpoint_rounds_to_even),
        cmocka_unit_test(beyond_the_largest_is_infinite),
        cmocka_unit_test(all_patterns_of_f8_are_as_defined),
        cmocka_unit_test(f8_rounds_to_nearest_even),
        cmocka_unit_test(f8_has_its_limits),
        cmocka_unit_test(f16_agrees_with_the_compiler),
        cmocka_unit_test(rounding_takes_no_detour_over_float),
        cmocka_unit_test(integers_saturate),
        cmocka_unit_test(setting_rounds_as_rounding_says),
        cmocka_unit_test(layouts_say_the_strides),
        cmocka_unit_test(offsets_and_coordinates_are_inverse_and_the_walk_is_logical),
        cmocka_unit_test(fills_are_the_same_in_every_layout),
        cmocka_unit_test(seeds_and_operands_have_numbers_of_their_own),
        cmocka_unit_test(integer_fills_are_uniform_but_for_rare_zeros),
        cmocka_unit_test(real_fills_have_mean_0_and_the_variance_of_a_uniform),
        cmocka_unit_test(every_damaged_guard_byte_is_seen),
        cmocka_unit_test(guards_are_nan_and_no_poison),
        cmocka_unit_test(poison_is_known_by_its_round),
        cmocka_unit_test(ranges_are_the_largest_exact_ones),
        cmocka_unit_test(narrow_results_do_not_overflow),
        cmocka_unit_test(the_worst_sum_of_the_range_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
