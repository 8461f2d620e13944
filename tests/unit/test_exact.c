#include "random_problem.h"
#include "test.h"

#include "reference/exact.h"
#include "reference/verify.h"
#include "src/mem.h"

#include <math.h>

/* A problem with whole numbers and its right result. */
struct bench {
    struct problem p;
    struct tensor t[3], *result;
    enum data_kind kind;
    int bits;
};

static bool set_up(struct bench *b, enum data_kind kind)
{
    b->kind = kind;
    b->bits = b->p.dtype[0] == DTYPE_I8 ? 31 : 24;
    if (!data_suits(&b->p, kind, b->bits))
        return false;
    struct conv_answer answer;
    struct conv_options o = {.values_only = true};
    for (enum operand which = OPERAND_INPUT; which <= OPERAND_OUTPUT; which++) {
        tensor_init(&b->t[which], &b->p, which);
        if (which != problem_result(&b->p))
            data_fill(&b->t[which], &b->p, which, kind, 3, b->bits);
    }
    b->result = &b->t[problem_result(&b->p)];
    assert_ok(conv_reference(&answer, &b->p, b->t, &o));
    for (int64_t e = 0; e < b->result->elements; e++)
        tensor_set(b->result, e, answer.value[e]);
    conv_answer_release(&answer);
    return true;
}

static void tear_down(struct bench *b)
{
    for (int o = 0; o < 3; o++)
        tensor_release(&b->t[o]);
}

static enum exact_answer ask(const struct bench *b, uint64_t seed)
{
    int64_t zeros;
    return exact_check(&zeros, &b->p, b->t, b->kind, b->bits, seed);
}

/* Another whole number in the place of an element. */
static bool spoil_one(struct bench *b)
{
    int64_t at = pick(0, b->result->elements - 1);
    double value = tensor_get(b->result, at), other = value + (double)pick(1, 3);
    tensor_set(b->result, at, other);
    return tensor_get(b->result, at) != value;
}

/* Two errors that cancel in any plain sum. */
static bool spoil_two(struct bench *b)
{
    int64_t at = pick(0, b->result->elements - 1), to = pick(0, b->result->elements - 1);
    double first = tensor_get(b->result, at), second = tensor_get(b->result, to);
    tensor_set(b->result, at, first + 1);
    tensor_set(b->result, to, second - 1);
    return at != to && tensor_get(b->result, at) != first;
}

static bool exchange(struct bench *b)
{
    int64_t at = pick(0, b->result->elements - 1), to = pick(0, b->result->elements - 1);
    double first = tensor_get(b->result, at), second = tensor_get(b->result, to);
    tensor_set(b->result, at, second);
    tensor_set(b->result, to, first);
    return first != second;
}

/* A block of neighbours in memory is zero, or was written over by what lies behind it. */
static bool lose_block(struct bench *b)
{
    int64_t at = pick(0, b->result->elements - 1);
    bool changed = false;
    for (int64_t i = at; i < at + 16 && i < b->result->elements; i++) {
        changed = changed || tensor_get(b->result, i) != 0;
        tensor_set(b->result, i, 0);
    }
    return changed;
}

static bool shift(struct bench *b)
{
    bool changed = false;
    for (int64_t i = 0; i + 1 < b->result->elements; i++) {
        double next = tensor_get(b->result, i + 1);
        changed = changed || next != tensor_get(b->result, i);
        tensor_set(b->result, i, next);
    }
    return changed;
}

static bool break_one(struct bench *b)
{
    static const double odd[] = {0.5, 1e9, NAN, INFINITY};
    int64_t at = pick(0, b->result->elements - 1);
    double value = tensor_get(b->result, at);
    tensor_set(b->result, at, odd[pick(0, 3)]);
    return tensor_get(b->result, at) != value;
}

/* Right results are never called wrong, and nothing that changed is called right. */
static void exact__knows_right_from_wrong(void **state)
{
    (void)state;
    static bool (*const faults[])(struct bench * b) = {spoil_one,  spoil_two, exchange,
                                                       lose_block, shift,     break_one};
    int64_t right = 0, wrong = 0, asked = 0;
    for (int i = 0; i < 2000; i++) {
        struct bench b;
        random_problem(&b.p);
        if (!set_up(&b, i % 3 ? DATA_INTEGER : DATA_ONE_HOT))
            continue;
        enum exact_answer answer = ask(&b, (uint64_t)i);
        char text[PROBLEM_MAX_TEXT];
        if (answer == EXACT_WRONG)
            fail_msg("%s: a right result is called wrong", problem_print(text, &b.p));
        right += answer == EXACT_RIGHT;
        asked++;
        bool changed = faults[i % 6](&b);
        answer = ask(&b, (uint64_t)i);
        if (changed && answer == EXACT_RIGHT)
            fail_msg("%s: fault %d is called right", problem_print(text, &b.p), i % 6);
        wrong += answer == EXACT_WRONG;
        tear_down(&b);
    }
    /* Many of these layouts, types and groups it leaves to the reference. */
    if (right < asked / 3 || wrong < asked / 4)
        fail_msg("of %lld only %lld told right, %lld wrong", (long long)asked, (long long)right,
                 (long long)wrong);
}

/* The layers that it is for are answered, in both layouts and all directions. */
static void exact__answers_for_layers(void **state)
{
    (void)state;
    static const char *const directions[] = {"fwd", "bwd_data", "bwd_weight"};
    static const char *const layouts[] = {"ngchw gkcyx ngkhw", "nhwgc gkyxc nhwgk"};
    static const char *const sizes[] = {
        "n3 c70 k66 g1 in9x9 fil3x3 str1x1 dil1x1 pad1:1x1:1",
        "n70 c4 k6 g1 in7x8 fil3x3 str2x2 dil1x1 pad1:1x0:1",
        "n2 c24 k24 g3 in7x8 fil1x1 str1x1 dil1x1 pad0:0x0:0",
    };
    for (size_t i = 0; i < 18; i++) {
        struct bench b;
        char text[PROBLEM_MAX_TEXT];
        snprintf(text, sizeof text, "conv %s f32 %s %s", directions[i % 3], sizes[i / 6],
                 layouts[i / 3 % 2]);
        assert_ok(problem_parse(&b.p, text));
        assert_true(set_up(&b, DATA_INTEGER));
        if (ask(&b, 9) != EXACT_RIGHT)
            fail_msg("%s", text);
        assert_true(spoil_one(&b));
        assert_int_equal(ask(&b, 9), EXACT_WRONG);
        tear_down(&b);
    }
}

static void exact__counts_zeros(void **state)
{
    (void)state;
    struct bench b;
    int64_t zeros, counted = 0;
    assert_ok(
        problem_parse(&b.p, "conv fwd f32 n2 c3 k3 g1 in6 fil3 str1 dil1 pad3:3 ngcw gkcx ngkw"));
    assert_true(set_up(&b, DATA_INTEGER));
    for (int64_t e = 0; e < b.result->elements; e++)
        counted += tensor_get(b.result, e) == 0;
    assert_int_equal(exact_check(&zeros, &b.p, b.t, b.kind, b.bits, 1), EXACT_RIGHT);
    assert_true(counted > 0);
    assert_int_equal(zeros, counted);
    tear_down(&b);
}

/* Sums that bf16 need not hold, a depthwise gradient, images that do not lie apart. */
static void exact__says_where_it_cannot_tell(void **state)
{
    (void)state;
    // clang-format off
    static const char *const lines[] = {
        "conv fwd bf16 n1 c64 k4 g1 in8 fil3 str1 dil1 pad1:1 ngcw gkcx ngkw",
        "conv bwd_weight f32 n2 c6 k6 g6 in8 fil3 str1 dil1 pad1:1 ngcw gkcx ngkw",
        "conv fwd f32 n2 c6 k6 g1 in8 fil3 str1 dil1 pad1:1 gncw gkcx ngkw",
        "conv fwd f32 n2 c6 k6 g1 in8 fil3 str1 dil1 pad1:1 gcnw gkcx ngkw",
    };
    // clang-format on
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct bench b;
        assert_ok(problem_parse(&b.p, lines[i]));
        assert_true(set_up(&b, DATA_INTEGER));
        enum exact_answer answer = ask(&b, 1);
        if (answer !=
            (i == 2 ? EXACT_RIGHT : EXACT_UNSURE)) /* one group: n lies outermost after all */
            fail_msg("%s: %d", lines[i], (int)answer);
        tear_down(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact__knows_right_from_wrong),
        cmocka_unit_test(exact__answers_for_layers),
        cmocka_unit_test(exact__counts_zeros),
        cmocka_unit_test(exact__says_where_it_cannot_tell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
