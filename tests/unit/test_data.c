#include "test.h"

#include "reference/verify.h"
#include "src/mem.h"

#include <math.h>

// clang-format off
static const char *const lines[] = {
    "conv fwd f32 n2 c6 k8 g2 in6x5 fil3x2 str1x2 dil1x1 pad1:1x0:1 ngchw gkcyx ngkhw",
    "conv bwd_data f32 n2 c6 k8 g2 in6x5 fil3x2 str2x1 dil1x2 pad1:1x0:1 ngchw gkcyx ngkhw",
    "conv bwd_weight f32 n3 c6 k8 g2 in6x5 fil3x2 str1x1 dil1x1 pad1:1x0:1 ngchw gkcyx ngkhw",
    "conv fwd f16 n2 c5 k3 g1 in9 fil3 str1 dil1 pad1:1 ngcw gkcx ngkw",
    "conv bwd_data bf16 n2 c5 k4 g1 in5x4x3 fil2x2x2 str1x1x1 dil1x1x1 pad0:0x0:0x0:0 ngcdhw gkczyx ngkdhw",
};
// clang-format on

struct bench {
    struct problem p;
    struct tensor t[3];
    struct conv_answer plain, fast;
};

static void set_up(struct bench *b, const char *line, enum data_kind kind, int bits)
{
    assert_ok(problem_parse(&b->p, line));
    for (enum operand o = OPERAND_INPUT; o <= OPERAND_OUTPUT; o++) {
        tensor_init(&b->t[o], &b->p, o);
        if (o != problem_result(&b->p))
            data_fill(&b->t[o], &b->p, o, kind, 5, bits);
    }
    assert_ok(conv_direct(&b->plain, &b->p, b->t));
    assert_ok(conv_reference(&b->fast, &b->p, b->t, NULL));
}

static void tear_down(struct bench *b)
{
    for (int o = 0; o < 3; o++)
        tensor_release(&b->t[o]);
    conv_answer_release(&b->plain);
    conv_answer_release(&b->fast);
}

static enum operand carrier_of(const struct problem *p)
{
    return p->direction == DIRECTION_BWD_DATA ? OPERAND_OUTPUT : OPERAND_INPUT;
}

static void kinds__have_names(void **state)
{
    (void)state;
    enum data_kind k;
    for (int i = 0; i < DATA_KINDS; i++) {
        assert_true(data_kind_parse(&k, data_kind_name((enum data_kind)i)));
        assert_int_equal(k, i);
    }
    assert_false(data_kind_parse(&k, "reel"));
    assert_true(data_kind_is_exact(DATA_INTEGER) && data_kind_is_exact(DATA_ONE_HOT));
    assert_false(data_kind_is_exact(DATA_REAL) || data_kind_is_exact(DATA_SPECIAL));
}

static void kinds__suit_what_they_say_something_about(void **state)
{
    (void)state;
    struct problem p, whole, lonely;
    assert_ok(problem_parse(&p, lines[0]));
    assert_ok(problem_parse(
        &whole, "conv fwd i8:i8:i32 n1 c2 k1 g1 in2 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw"));
    assert_ok(problem_parse(&lonely,
                            "conv fwd f32 n1 c3 k3 g3 in2 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw"));
    for (int i = 0; i < DATA_MIOPEN; i++) { /* those of other tools are test_data_tools' */
        assert_true(data_suits(&p, (enum data_kind)i, 24));
        assert_int_equal(data_suits(&whole, (enum data_kind)i, 31),
                         data_kind_is_exact((enum data_kind)i));
        assert_int_equal(data_suits(&lonely, (enum data_kind)i, 24), i != DATA_CANCELLATION);
    }
    assert_false(data_suits(&p, DATA_INTEGER, 1));
    assert_true(data_suits(&p, DATA_ONE_HOT, 1));
}

/* The numbers are the positions', not the memory's. */
static void fill__is_the_same_in_any_layout(void **state)
{
    (void)state;
    for (int kind = 0; kind < DATA_MIOPEN; kind++) {
        struct problem p, other;
        assert_ok(problem_parse(&p, lines[0]));
        assert_ok(problem_parse(
            &other,
            "conv fwd f32 n2 c6 k8 g2 in6x5 fil3x2 str1x2 dil1x1 pad1:1x0:1 nhwgc gkyxc nhwgk"));
        for (enum operand o = OPERAND_INPUT; o <= OPERAND_FILTER; o++) {
            struct tensor a, b;
            int64_t index[TENSOR_MAX_RANK] = {0};
            tensor_init(&a, &p, o);
            tensor_init(&b, &other, o);
            data_fill(&a, &p, o, (enum data_kind)kind, 5, 24);
            data_fill(&b, &other, o, (enum data_kind)kind, 5, 24);
            for (int64_t at = 0; at >= 0; at = tensor_next(&a, index, at)) {
                double x = tensor_get(&a, at), y = tensor_get(&b, tensor_offset(&b, index));
                assert_true(x == y || (isnan(x) && isnan(y)));
            }
            data_fill(&b, &other, o, (enum data_kind)kind, 6, 24);
            bool differs = false;
            for (int64_t at = 0; at < b.elements; at++)
                differs = differs || tensor_get(&b, at) != tensor_get(&a, at);
            assert_true(differs);
            tensor_release(&a);
            tensor_release(&b);
        }
    }
}

/* Every result is 0 or an element of the carrier; nothing is summed, so an accumulator of few bits
 * is exact as well. */
static void one_hot__copies(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct bench b;
        set_up(&b, lines[i], DATA_ONE_HOT, 8);
        const struct tensor *carrier = &b.t[carrier_of(&b.p)];
        int64_t copies = 0;
        for (int64_t e = 0; e < b.plain.elements; e++) {
            double value = b.plain.value[e];
            assert_true(value == b.fast.value[e]);
            bool found = value == 0;
            for (int64_t x = 0; x < carrier->elements && !found; x++)
                found = tensor_get(carrier, x) == value;
            assert_true(found);
            copies += value != 0;
        }
        if (4 * copies < b.plain.elements) /* the rest lies in the padding */
            fail_msg("%s: %lld of %lld", lines[i], (long long)copies, (long long)b.plain.elements);
        tear_down(&b);
    }
}

/* Two elements exchanged anywhere in the result are seen. */
static void one_hot__tells_places_apart(void **state)
{
    (void)state;
    struct bench b;
    int64_t same = 0, pairs = 0;
    set_up(&b, lines[0], DATA_ONE_HOT, 24);
    for (int64_t i = 0; i + 7 < b.plain.elements; i++) {
        same += b.plain.value[i] == b.plain.value[i + 7] && b.plain.value[i] != 0;
        pairs += b.plain.value[i] != 0;
    }
    assert_true(pairs > 50 && 50 * same < pairs);
    tear_down(&b);
}

/* A device that sums in double and rounds once; flush: numbers below the normal ones become zero.
 */
static void run_device(struct bench *b, bool flush)
{
    struct tensor *result = &b->t[problem_result(&b->p)];
    double normal = result->dtype == DTYPE_F16 ? 0x1p-14 : 0x1p-126;
    tensor_poison(result, 0);
    for (int64_t e = 0; e < result->elements; e++) {
        double value = b->plain.value[e];
        tensor_set(result, e, flush && fabs(value) < normal ? 0 : value);
    }
}

static int64_t mismatches(const struct bench *b, enum data_kind kind)
{
    struct verify_stats s;
    verify_measure(&s, &b->p, &b->t[problem_result(&b->p)], &b->fast, kind, ACCUMULATOR_F32_FMA, 0);
    return s.mismatches;
}

static void denormal__sees_what_is_flushed(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct bench b;
        set_up(&b, lines[i], DATA_DENORMAL, 24);
        const struct tensor *carrier = &b.t[carrier_of(&b.p)];
        int64_t there = 0;
        for (int64_t x = 0; x < carrier->elements; x++) {
            double value = tensor_get(carrier, x);
            assert_true(fabs(value) <= (carrier->dtype == DTYPE_F16 ? 0x1p-14 : 0x1p-126));
            there += value != 0;
        }
        assert_true(there > carrier->elements / 2);
        run_device(&b, false);
        assert_int_equal(mismatches(&b, DATA_DENORMAL), 0);
        run_device(&b, true);
        if (b.p.dtype[0] != DTYPE_BF16) /* few of its denormals are left to see anything by */
            assert_true(mismatches(&b, DATA_DENORMAL) > 0);
        tear_down(&b);
    }
}

static void cancellation__cancels(void **state)
{
    (void)state;
    static const char *const even[] = {
        "conv fwd f32 n2 c8 k8 g1 in6 fil3 str1 dil1 pad0:0 ngcw gkcx ngkw",
        "conv bwd_data f32 n2 c8 k8 g1 in6 fil3 str1 dil1 pad0:0 ngcw gkcx ngkw",
        "conv bwd_weight f32 n4 c8 k8 g1 in6 fil3 str1 dil1 pad0:0 ngcw gkcx ngkw",
        "conv fwd f32 n2 c9 k8 g1 in6 fil3 str1 dil1 pad0:0 ngcw gkcx ngkw"};
    for (size_t i = 0; i < COUNT_OF(even); i++) {
        struct bench b;
        set_up(&b, even[i], DATA_CANCELLATION, 24);
        double sums = 0, norms = 0;
        for (int64_t e = 0; e < b.plain.elements; e++) {
            sums += fabs(b.plain.value[e]);
            norms += sqrt(b.plain.squares[e]);
        }
        assert_true(sums > 0 && sums < 0.05 * norms);
        run_device(&b, false);
        assert_int_equal(mismatches(&b, DATA_CANCELLATION), 0);
        tear_down(&b);
    }
}

/* NaN and the infinities come out where they belong, by both references; a device that loses one is
 * off, and one that did not write a NaN is as well. */
static void special__comes_out_where_it_belongs(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct bench b;
        set_up(&b, lines[i], DATA_SPECIAL, 24);
        struct tensor *result = &b.t[problem_result(&b.p)];
        int64_t odd = 0, first = -1;
        for (int64_t e = 0; e < b.plain.elements; e++) {
            double x = b.plain.value[e], y = b.fast.value[e];
            assert_int_equal(isnan(x), isnan(y));
            assert_int_equal(isinf(x) ? x > 0 ? 1 : -1 : 0, isinf(y) ? y > 0 ? 1 : -1 : 0);
            if (!isfinite(x) && first < 0)
                first = e;
            odd += !isfinite(x);
        }
        assert_true(odd > 0 && odd < b.plain.elements);
        run_device(&b, false);
        assert_int_equal(mismatches(&b, DATA_SPECIAL), 0);
        tensor_set(result, first, 1);
        assert_int_equal(mismatches(&b, DATA_SPECIAL), 1);
        tensor_poison(result, 0);
        assert_int_equal(mismatches(&b, DATA_SPECIAL), b.plain.elements);
        tear_down(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds__have_names),
        cmocka_unit_test(kinds__suit_what_they_say_something_about),
        cmocka_unit_test(fill__is_the_same_in_any_layout),
        cmocka_unit_test(one_hot__copies),
        cmocka_unit_test(one_hot__tells_places_apart),
        cmocka_unit_test(denormal__sees_what_is_flushed),
        cmocka_unit_test(cancellation__cancels),
        cmocka_unit_test(special__comes_out_where_it_belongs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
