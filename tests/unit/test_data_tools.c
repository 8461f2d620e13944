#include "test.h"

#include "reference/data.h"

#include <math.h>
#include <stdlib.h>

/* y has 3 elements, x 4, w 2. */
#define LINE " n1 c1 k1 g1 in4 fil2 str1 dil1 pad0:0 ngcw gkcx ngkw"

static void assert_filled(const char *line, enum operand which, enum data_kind kind, uint64_t seed,
                          const double *expected)
{
    struct problem p;
    struct tensor t;
    assert_ok(problem_parse(&p, line));
    assert_true(data_suits(&p, kind, 24));
    tensor_init(&t, &p, which);
    data_fill(&t, &p, which, kind, seed, 24);
    for (int64_t i = 0; i < t.elements; i++)
        assert_true(tensor_get(&t, i) == expected[i]);
    tensor_release(&t);
}

/* Numbers of a C++ program with std::linear_congruential_engine and float arithmetic. */
static void miopen__draws_what_the_driver_draws(void **state)
{
    (void)state;
    static const double dy[] = {0x1.675902p-8, 0x1.6698c8p-9, 0x1.14847cp-11},
                        x[] = {0x1.66735ep-9, 0x1.43a808p-13, 0x1.08d528p-7, 0x1.0fa1acp-8},
                        w[] = {-0x1.e66d98p-9, 0x1.125e1ap-9}, x8[] = {65, 39, 122, 63},
                        w8[] = {-127, -127};
    assert_filled("conv bwd_weight f32" LINE, OPERAND_OUTPUT, DATA_MIOPEN, 1, dy);
    assert_filled("conv bwd_weight f32" LINE, OPERAND_INPUT, DATA_MIOPEN, 1, x);
    assert_filled("conv fwd f32" LINE, OPERAND_FILTER, DATA_MIOPEN, 1, w);
    assert_filled("conv fwd i8:i8:i32" LINE, OPERAND_INPUT, DATA_MIOPEN, 1, x8);
    assert_filled("conv fwd i8:i8:i32" LINE, OPERAND_FILTER, DATA_MIOPEN, 1, w8);
}

static double cut_to_f16(double value)
{
    double near = tensor_round(DTYPE_F16, value);
    return fabs(near) > fabs(value) ? tensor_f16_to((uint16_t)(tensor_f16_from(value) - 1)) : near;
}

/* The driver's expressions once more, written out for each type. */
static void miopen__rounds_as_its_types_do(void **state)
{
    (void)state;
    uint32_t s = 12345678;
    double half[7], brain[7], half_w[2], brain_w[2];
    for (int i = 0; i < 9; i++) {
        s = (uint32_t)((UINT64_C(1103515245) * s + 12345) % (UINT64_C(1) << 31));
        float u = (float)s / 2147483648.0f;
        if (i < 7) {
            half[i] = cut_to_f16((double)(u * (float)cut_to_f16((double)0.01f)));
            brain[i] = tensor_round(DTYPE_BF16,
                                    (double)(u * (float)tensor_round(DTYPE_BF16, (double)0.01f)));
            continue;
        }
        float low = (float)cut_to_f16((double)(-1.0f / 3.0f));
        float weight = (float)cut_to_f16((double)(u * (0.5f - low) + low));
        half_w[i - 7] = cut_to_f16((double)((float)cut_to_f16((double)0.01f) * weight));
        weight = (float)tensor_round(DTYPE_BF16, (double)u) - 0.5f;
        weight = (float)tensor_round(DTYPE_BF16, (double)weight);
        brain_w[i - 7] = tensor_round(
            DTYPE_BF16, (double)((float)tensor_round(DTYPE_BF16, (double)0.01f) * weight));
    }
    assert_filled("conv bwd_weight f16" LINE, OPERAND_OUTPUT, DATA_MIOPEN, 1, half);
    assert_filled("conv fwd f16" LINE, OPERAND_INPUT, DATA_MIOPEN, 1, half + 3);
    assert_filled("conv fwd f16" LINE, OPERAND_FILTER, DATA_MIOPEN, 1, half_w);
    assert_filled("conv fwd bf16" LINE, OPERAND_INPUT, DATA_MIOPEN, 1, brain + 3);
    assert_filled("conv fwd bf16" LINE, OPERAND_FILTER, DATA_MIOPEN, 1, brain_w);
}

static void rocmlir__draws_what_the_c_library_draws(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 2; seed++) {
        double whole[9], real[9];
        srand(seed);
        for (int i = 0; i < 9; i++) {
            int drawn = rand();
            whole[i] = drawn % 10 - 5;
            real[i] = (double)(float)((double)drawn / RAND_MAX);
        }
        assert_filled("conv fwd f32" LINE, OPERAND_FILTER, DATA_ROCMLIR_INT, seed, whole);
        assert_filled("conv fwd i8:i8:i32" LINE, OPERAND_INPUT, DATA_ROCMLIR_INT, seed, whole + 2);
        assert_filled("conv bwd_data f16" LINE, OPERAND_OUTPUT, DATA_ROCMLIR_INT, seed, whole + 6);
        assert_filled("conv fwd f32" LINE, OPERAND_INPUT, DATA_ROCMLIR_FLOAT, seed, real + 2);
    }
}

static void rocmlir__repeats_its_pattern(void **state)
{
    (void)state;
    static const double real[] = {0.5, -1, 0.75, 0.5}, whole[] = {1, -1, 2, 1};
    assert_filled("conv fwd f8e4m3fn" LINE, OPERAND_INPUT, DATA_ROCMLIR_FIXED, 1, real);
    assert_filled("conv fwd i8:i8:i32" LINE, OPERAND_INPUT, DATA_ROCMLIR_FIXED, 1, whole);
}

/* The layout decides, since these tools fill memory and not positions. */
static void tools__fill_memory(void **state)
{
    (void)state;
    struct problem p;
    struct tensor t;
    int64_t index[TENSOR_MAX_RANK] = {0, 0, 1, 0};
    assert_ok(
        problem_parse(&p, "conv fwd f32 n1 c2 k1 g1 in4 fil2 str1 dil1 pad0:0 nwgc gkcx ngkw"));
    tensor_init(&t, &p, OPERAND_INPUT);
    data_fill(&t, &p, OPERAND_INPUT, DATA_ROCMLIR_FIXED, 1, 24);
    assert_true(tensor_get(&t, tensor_offset(&t, index)) == -1);
    tensor_release(&t);
}

static void tools__suit_their_types(void **state)
{
    (void)state;
    struct problem p;
    assert_ok(problem_parse(&p, "conv fwd f8e5m2" LINE));
    assert_false(data_suits(&p, DATA_MIOPEN, 24));
    assert_true(data_suits(&p, DATA_ROCMLIR_FLOAT, 24));
    assert_ok(problem_parse(&p, "conv fwd i8:i8:i32" LINE));
    assert_false(data_suits(&p, DATA_ROCMLIR_FLOAT, 31));
    assert_true(data_suits(&p, DATA_MIOPEN, 31));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(miopen__draws_what_the_driver_draws),
        cmocka_unit_test(miopen__rounds_as_its_types_do),
        cmocka_unit_test(rocmlir__draws_what_the_c_library_draws),
        cmocka_unit_test(rocmlir__repeats_its_pattern),
        cmocka_unit_test(tools__fill_memory),
        cmocka_unit_test(tools__suit_their_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
