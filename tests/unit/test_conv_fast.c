#include "random_problem.h"
#include "test.h"

#include "reference/conv_kernels.h"
#include "reference/conv.h"
#include "src/mem.h"

#include <math.h>

static void fill_all(struct tensor t[3], const struct problem *p, enum data_kind kind)
{
    for (enum operand o = OPERAND_INPUT; o <= OPERAND_OUTPUT; o++) {
        tensor_init(&t[o], p, o);
        tensor_fill(&t[o], kind, 7, o, 9);
    }
}

static void release_all(struct tensor t[3])
{
    for (int o = 0; o < 3; o++)
        tensor_release(&t[o]);
}

static void fail_at(const struct problem *p, const char *kernels, int64_t at, double fast,
                    double plain)
{
    char text[PROBLEM_MAX_TEXT];
    fail_msg("%s with %s: element %lld is %.17g where the plain loops give %.17g",
             problem_print(text, p), kernels, (long long)at, fast, plain);
}

static const char *const names[] = {"v4", "v3", "base"};

static void solve(struct conv_answer *out, const struct problem *p, const struct tensor t[3],
                  const struct conv_kernels *k, int64_t threads)
{
    struct conv_options o = {.threads = threads, .kernels = k};
    assert_ok(conv_reference(out, p, t, &o));
}

/* Thousands of problems of all directions, types and layouts, by each set of kernels that runs
 * here. */
static void reference__is_the_plain_loops_bit_for_bit_on_integers(void **state)
{
    (void)state;
    for (int i = 0; i < 1500; i++) {
        struct problem p;
        struct tensor t[3];
        struct conv_answer plain, fast;
        random_problem(&p);
        fill_all(t, &p, DATA_INTEGER);
        assert_ok(conv_direct(&plain, &p, t));
        for (size_t n = 0; n < COUNT_OF(names); n++) {
            const struct conv_kernels *k = conv_kernels_named(names[n]);
            if (!k)
                continue;
            solve(&fast, &p, t, k, 1 + i % 3);
            for (int64_t e = 0; e < plain.elements; e++) {
                if (fast.value[e] != plain.value[e])
                    fail_at(&p, names[n], e, fast.value[e], plain.value[e]);
                if (fast.terms[e] != plain.terms[e])
                    fail_at(&p, "terms", e, fast.terms[e], plain.terms[e]);
            }
            conv_answer_release(&fast);
        }
        conv_answer_release(&plain);
        release_all(t);
    }
}

/* No sum of K products is further off than K roundings of their absolute values, of which |x| |w|
 * is a bound. */
static void reference__rounds_as_double_does_on_real_data(void **state)
{
    (void)state;
    for (int i = 0; i < 300; i++) {
        struct problem p;
        struct tensor t[3];
        struct conv_answer plain, fast;
        do
            random_problem(&p);
        while (p.dtype[0] == DTYPE_I8);
        fill_all(t, &p, DATA_REAL);
        assert_ok(conv_direct(&plain, &p, t));
        solve(&fast, &p, t, NULL, 1);
        for (int64_t e = 0; e < plain.elements; e++) {
            double norm = sqrt(fast.squares[e] * fast.terms[e]);
            if (fabs(fast.value[e] - plain.value[e]) > 0x1p-52 * fast.terms[e] * norm)
                fail_at(&p, "real data", e, fast.value[e], plain.value[e]);
        }
        conv_answer_release(&plain);
        conv_answer_release(&fast);
        release_all(t);
    }
}

/* The threads share the work, never a sum. */
static void reference__gives_the_same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "conv fwd f32 n5 c20 k37 g1 in30x31 fil3x3 str1x1 dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw",
        "conv bwd_data f32 n5 c20 k37 g1 in30x31 fil3x3 str2x2 dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw",
        "conv bwd_weight f32 n13 c20 k37 g1 in30x31 fil3x3 str1x1 dil1x1 pad1:1x1:1 ngchw gkcyx "
        "ngkhw",
        "conv bwd_weight f32 n13 c24 k24 g6 in30x31 fil3x3 str1x1 dil1x1 pad1:1x1:1 ngchw gkcyx "
        "ngkhw",
    };
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct problem p;
        struct tensor t[3];
        struct conv_answer one, many;
        assert_ok(problem_parse(&p, lines[i]));
        fill_all(t, &p, DATA_REAL);
        solve(&one, &p, t, NULL, 1);
        for (int64_t threads = 2; threads <= 5; threads++) {
            solve(&many, &p, t, NULL, threads);
            assert_memory_equal(many.value, one.value, (size_t)one.elements * sizeof *one.value);
            conv_answer_release(&many);
        }
        conv_answer_release(&one);
        release_all(t);
    }
}

/* One product at a time: the norms are those of the two factors. */
static void reference__squares_are_the_norms_of_what_meets(void **state)
{
    (void)state;
    for (int i = 0; i < 300; i++) {
        struct problem p;
        struct tensor t[3], ones[3], squared[3];
        struct conv_answer fast, left, right;
        random_problem(&p);
        p.dtype[0] = p.dtype[1] = p.dtype[2] = DTYPE_F32;
        fill_all(t, &p, DATA_INTEGER);
        /* |x|^2 of what meets an element is a convolution of x^2 with ones. */
        enum operand factor[2], result = problem_result(&p);
        int n = 0;
        for (enum operand o = OPERAND_INPUT; o <= OPERAND_OUTPUT; o++) {
            if (o != result)
                factor[n++] = o;
            tensor_init(&ones[o], &p, o);
            tensor_init(&squared[o], &p, o);
            for (int64_t e = 0; e < t[o].elements; e++) {
                tensor_set(&ones[o], e, 1);
                tensor_set(&squared[o], e, tensor_get(&t[o], e) * tensor_get(&t[o], e));
            }
        }
        struct tensor first[3] = {ones[0], ones[1], ones[2]},
                      second[3] = {ones[0], ones[1], ones[2]};
        first[factor[0]] = squared[factor[0]];
        second[factor[1]] = squared[factor[1]];
        solve(&fast, &p, t, NULL, 1);
        assert_ok(conv_direct(&left, &p, first));
        assert_ok(conv_direct(&right, &p, second));
        for (int64_t e = 0; e < fast.elements; e++) {
            double expected = fast.terms[e] ? left.value[e] * right.value[e] / fast.terms[e] : 0;
            if (fabs(fast.squares[e] - expected) > 0x1p-50 * expected)
                fail_at(&p, "squares", e, fast.squares[e], expected);
        }
        conv_answer_release(&fast);
        conv_answer_release(&left);
        conv_answer_release(&right);
        release_all(t);
        release_all(ones);
        release_all(squared);
    }
}

static void reference__refuses_what_memory_does_not_hold(void **state)
{
    (void)state;
    struct problem p;
    struct tensor t[3];
    struct conv_answer out;
    assert_ok(problem_parse(
        &p,
        "conv fwd f32 n1 c64 k64 g1 in56x56 fil3x3 str1x1 dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw"));
    fill_all(t, &p, DATA_INTEGER);
    struct conv_options o = {.memory_bytes = 1 << 20};
    assert_fails(conv_reference(&out, &p, t, &o), ERR_INVALID,
                 " MiB of memory, and 1 MiB are there");
    release_all(t);
}

static void kernels__are_known_by_name(void **state)
{
    (void)state;
    assert_non_null(conv_kernels_named("base"));
    assert_null(conv_kernels_named("v5"));
    assert_ptr_equal(conv_kernels_named(conv_kernels_best()->name), conv_kernels_best());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference__is_the_plain_loops_bit_for_bit_on_integers),
        cmocka_unit_test(reference__rounds_as_double_does_on_real_data),
        cmocka_unit_test(reference__gives_the_same_bits_for_any_number_of_threads),
        cmocka_unit_test(reference__squares_are_the_norms_of_what_meets),
        cmocka_unit_test(reference__refuses_what_memory_does_not_hold),
        cmocka_unit_test(kernels__are_known_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
