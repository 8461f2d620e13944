#include "test.h"

#include "reference/conv.h"

#include <math.h>

static uint64_t random_state = 88172645463325252u;

static int64_t pick(int64_t low, int64_t high)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return low + (int64_t)((random_state >> 20) % (uint64_t)(high - low + 1));
}

static void shuffle(char *letters)
{
    for (int i = (int)strlen(letters) - 1; i > 0; i--) {
        int j = (int)pick(0, i);
        char kept = letters[i];
        letters[i] = letters[j];
        letters[j] = kept;
    }
}

static void set_types(struct problem *p)
{
    static const enum dtype types[] = {DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_I8};
    enum dtype t = types[pick(0, 3)];
    p->dtype[0] = p->dtype[1] = t;
    p->dtype[2] = t == DTYPE_I8 ? DTYPE_I32 : t;
}

/* Small problems of every shape: an odd stride, a pad beyond the filter and a filter larger than
 * the input are all wanted. */
static void random_problem(struct problem *p)
{
    do {
        memset(p, 0, sizeof *p);
        p->dims = (int)pick(1, 3);
        p->g = pick(1, 3);
        p->n = pick(1, 3);
        p->c = p->g * pick(1, 3);
        p->k = p->g * pick(1, 3);
        int64_t most = p->dims == 3 ? 4 : 6;
        for (int i = 0; i < p->dims; i++) {
            p->in[i] = pick(1, most);
            p->fil[i] = pick(1, 4);
            p->str[i] = pick(1, 3);
            p->dil[i] = pick(1, 3);
            p->pad_lo[i] = pick(0, 3);
            p->pad_hi[i] = pick(0, 3);
        }
        problem_default_layouts(p);
        for (int o = 0; o < 3; o++)
            shuffle(p->layout[o]);
        set_types(p);
        err_clear();
    } while (problem_check(p) != 0);
}

static void fill_all(struct tensor t[3], const struct problem *p, uint64_t seed)
{
    for (enum operand o = OPERAND_INPUT; o <= OPERAND_OUTPUT; o++) {
        tensor_init(&t[o], p, o);
        tensor_fill(&t[o], DATA_INTEGER, seed, o, 9);
    }
}

static void release_all(struct tensor t[3])
{
    for (int o = 0; o < 3; o++)
        tensor_release(&t[o]);
}

static void solve(struct conv_answer *out, struct problem *p, enum direction d,
                  const struct tensor t[3])
{
    p->direction = d;
    assert_ok(conv_direct(out, p, t));
}

static void parse(struct problem *p, const char *line)
{
    assert_ok(problem_parse(p, line));
}

/* ---- a second opinion: integers, addressed by the letters of the layouts, without ever naming a
 * filter position ---- */

struct place {
    int64_t n, g, c, k, in[3], fil[3], out[3];
};

static int64_t digit_of(const struct problem *p, char letter, int64_t *size, const struct place *at,
                        enum operand o)
{
    const char *spatial = "dhwzyx";
    switch (letter) {
    case 'n': *size = p->n; return at->n;
    case 'g': *size = p->g; return at->g;
    case 'c': *size = p->c / p->g; return at->c;
    case 'k': *size = p->k / p->g; return at->k;
    }
    int dim = (int)(strchr(spatial, letter) - spatial) % 3 - (3 - p->dims);
    switch (o) {
    case OPERAND_INPUT: *size = p->in[dim]; return at->in[dim];
    case OPERAND_FILTER: *size = p->fil[dim]; return at->fil[dim];
    case OPERAND_OUTPUT: break;
    }
    *size = (p->in[dim] + p->pad_lo[dim] + p->pad_hi[dim] - (p->fil[dim] - 1) * p->dil[dim] - 1) /
                p->str[dim] +
            1;
    return at->out[dim];
}

static int64_t address(const struct problem *p, enum operand o, const struct place *at)
{
    int64_t offset = 0;
    for (const char *letter = p->layout[o]; *letter; letter++) {
        int64_t size, digit = digit_of(p, *letter, &size, at, o);
        offset = offset * size + digit;
    }
    return offset;
}

struct opinion {
    int64_t *value, *squares, *terms;
};

/* An input and an output position meet at the tap (i + lo - o str) / dil, if that is one. */
static bool find_taps(struct place *at, const struct problem *p)
{
    for (int i = 0; i < p->dims; i++) {
        int64_t way = at->in[i] + p->pad_lo[i] - at->out[i] * p->str[i];
        if (way < 0 || way % p->dil[i] != 0 || way / p->dil[i] >= p->fil[i])
            return false;
        at->fil[i] = way / p->dil[i];
    }
    return true;
}

static void add_pair(struct opinion *o, const struct problem *p, const struct tensor t[3],
                     struct place *at)
{
    if (!find_taps(at, p))
        return;
    enum operand result = problem_result(p);
    int64_t offset[3], product = 1;
    for (int i = 0; i < 3; i++) {
        offset[i] = address(p, (enum operand)i, at);
        if ((enum operand)i != result)
            product *= (int64_t)tensor_get(&t[i], offset[i]);
    }
    o->value[offset[result]] += product;
    o->squares[offset[result]] += product * product;
    o->terms[offset[result]]++;
}

/* All spatial positions of `size`, one number each. */
static void unfold(int64_t position[3], const int64_t *size, int dims, int64_t number)
{
    for (int i = dims - 1; i >= 0; i--) {
        position[i] = number % size[i];
        number /= size[i];
    }
}

static void brute_force(struct opinion *o, const struct problem *p, const struct tensor t[3])
{
    int64_t inputs = 1, outputs = 1, out[3];
    for (int i = 0; i < p->dims; i++) {
        out[i] = problem_out(p, i);
        inputs *= p->in[i];
        outputs *= out[i];
    }
    for (int64_t image = 0; image < p->n * p->g; image++)
        for (int64_t pair = 0; pair < (p->c / p->g) * (p->k / p->g); pair++)
            for (int64_t to = 0; to < outputs; to++)
                for (int64_t from = 0; from < inputs; from++) {
                    struct place at = {.n = image % p->n,
                                       .g = image / p->n,
                                       .c = pair / (p->k / p->g),
                                       .k = pair % (p->k / p->g)};
                    unfold(at.in, p->in, p->dims, from);
                    unfold(at.out, out, p->dims, to);
                    add_pair(o, p, t, &at);
                }
}

static void assert_equals_brute_force(const struct problem *p, const struct tensor t[3],
                                      const struct conv_answer *a)
{
    size_t count = (size_t)a->elements;
    struct opinion o = {calloc(count, sizeof(int64_t)), calloc(count, sizeof(int64_t)),
                        calloc(count, sizeof(int64_t))};
    brute_force(&o, p, t);
    for (int64_t i = 0; i < a->elements; i++) {
        if (a->value[i] != (double)o.value[i] || a->squares[i] != (double)o.squares[i] ||
            a->terms[i] != o.terms[i]) {
            char text[PROBLEM_MAX_TEXT];
            fail_msg("%s: element %lld: %g %g %d, not %lld %lld %lld", problem_print(text, p),
                     (long long)i, a->value[i], a->squares[i], a->terms[i], (long long)o.value[i],
                     (long long)o.squares[i], (long long)o.terms[i]);
        }
    }
    free(o.value);
    free(o.squares);
    free(o.terms);
}

static void equals_an_independent_brute_force(void **state)
{
    (void)state;
    for (int i = 0; i < 400; i++) {
        struct problem p;
        struct tensor t[3];
        random_problem(&p);
        fill_all(t, &p, (uint64_t)i);
        for (enum direction d = DIRECTION_FWD; d <= DIRECTION_BWD_WEIGHT; d++) {
            struct conv_answer a;
            solve(&a, &p, d, t);
            assert_int_equal(a.elements, problem_elements(&p, problem_result(&p)));
            assert_equals_brute_force(&p, t, &a);
            conv_answer_release(&a);
        }
        release_all(t);
    }
}

static double inner_product(const struct conv_answer *a, const struct tensor *t)
{
    double sum = 0;
    for (int64_t i = 0; i < a->elements; i++)
        sum += a->value[i] * tensor_get(t, i);
    return sum;
}

/* <y, conv x> = <conv* y, x> = <dw, w>: the three directions are one trilinear form. */
static void the_directions_are_adjoint(void **state)
{
    (void)state;
    for (int i = 0; i < 600; i++) {
        struct problem p;
        struct tensor t[3];
        struct conv_answer y, dx, dw;
        random_problem(&p);
        fill_all(t, &p, 1000 + (uint64_t)i);
        solve(&y, &p, DIRECTION_FWD, t);
        solve(&dx, &p, DIRECTION_BWD_DATA, t);
        solve(&dw, &p, DIRECTION_BWD_WEIGHT, t);
        double form = inner_product(&y, &t[OPERAND_OUTPUT]);
        assert_true(form == inner_product(&dx, &t[OPERAND_INPUT]));
        assert_true(form == inner_product(&dw, &t[OPERAND_FILTER]));
        conv_answer_release(&y);
        conv_answer_release(&dx);
        conv_answer_release(&dw);
        release_all(t);
    }
}

/* The element of a tensor at these logical coordinates. */
static double at6(const struct tensor *t, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e)
{
    return tensor_get(t, tensor_offset(t, (int64_t[TENSOR_MAX_RANK]){a, b, c, d, e}));
}

static double answer_at(const struct conv_answer *a, const struct tensor *t, int64_t n, int64_t g,
                        int64_t c, int64_t h, int64_t w)
{
    return a->value[tensor_offset(t, (int64_t[TENSOR_MAX_RANK]){n, g, c, h, w})];
}

static void a_delta_filter_shifts(void **state)
{
    (void)state;
    struct problem p;
    struct tensor t[3];
    struct conv_answer a;
    parse(&p, "conv fwd f32 n2 c1 k1 g1 in6x7 fil3x3 str1x1 dil1x2 pad1:1x2:2 nghwc gkcyx ngkhw");
    fill_all(t, &p, 1);
    for (int64_t tap = 0; tap < 9; tap++) {
        for (int64_t i = 0; i < 9; i++)
            tensor_set(&t[OPERAND_FILTER], i, i == tap);
        solve(&a, &p, DIRECTION_FWD, t);
        for (int64_t h = 0; h < 6; h++) {
            for (int64_t w = 0; w < 7; w++) {
                int64_t from_h = h + tap / 3 - 1, from_w = w + tap % 3 * 2 - 2;
                bool inside = from_h >= 0 && from_h < 6 && from_w >= 0 && from_w < 7;
                double right = inside ? at6(&t[OPERAND_INPUT], 1, 0, 0, from_h, from_w) : 0;
                assert_true(answer_at(&a, &t[OPERAND_OUTPUT], 1, 0, 0, h, w) == right);
            }
        }
        conv_answer_release(&a);
    }
    release_all(t);
}

static void one_by_one_is_a_matrix_product(void **state)
{
    (void)state;
    struct problem p;
    struct tensor t[3];
    struct conv_answer a;
    parse(&p, "conv fwd f16 n2 c5 k4 g1 in3x4 fil1x1 str1x1 dil1x1 pad0:0x0:0 nhwgc kyxgc nhwgk");
    fill_all(t, &p, 2);
    solve(&a, &p, DIRECTION_FWD, t);
    const double *product = a.value;
    for (int64_t pixel = 0; pixel < 2 * 12; pixel++) {
        for (int64_t k = 0; k < 4; k++) {
            double sum =
                0; /* channels last: input is [pixel][c], filter [k][c], output [pixel][k] */
            for (int64_t c = 0; c < 5; c++)
                sum += tensor_get(&t[OPERAND_INPUT], pixel * 5 + c) *
                       tensor_get(&t[OPERAND_FILTER], k * 5 + c);
            assert_true(product[pixel * 4 + k] == sum);
        }
    }
    conv_answer_release(&a);
    release_all(t);
}

/* With g outermost each group's part of a tensor is contiguous, and a tensor of its own. */
static void groups_are_problems_side_by_side(void **state)
{
    (void)state;
    struct problem p, part;
    struct tensor t[3], piece[3];
    parse(&p, "conv fwd bf16 n2 c6 k9 g3 in5x4 fil2x3 str2x1 dil1x1 pad1:0x0:2 gnchw gkcyx gnkhw");
    parse(&part,
          "conv fwd bf16 n2 c2 k3 g1 in5x4 fil2x3 str2x1 dil1x1 pad1:0x0:2 gnchw gkcyx gnkhw");
    fill_all(t, &p, 3);
    for (enum direction d = DIRECTION_FWD; d <= DIRECTION_BWD_WEIGHT; d++) {
        struct conv_answer whole, one;
        solve(&whole, &p, d, t);
        for (size_t g = 0; g < 3; g++) {
            for (enum operand o = OPERAND_INPUT; o <= OPERAND_OUTPUT; o++) {
                tensor_init(&piece[o], &part, o);
                memcpy(piece[o].data, (char *)t[o].data + g * piece[o].bytes, piece[o].bytes);
            }
            solve(&one, &part, d, piece);
            assert_memory_equal(one.value, whole.value + g * (size_t)one.elements,
                                (size_t)one.elements * sizeof(double));
            conv_answer_release(&one);
            release_all(piece);
        }
        conv_answer_release(&whole);
    }
    release_all(t);
}

static void it_is_linear_in_the_input(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        struct problem p;
        struct tensor a[3], b[3];
        struct conv_answer of_a, of_b, of_sum;
        random_problem(&p);
        fill_all(a, &p, (uint64_t)i);
        fill_all(b, &p, (uint64_t)i);
        tensor_fill(&b[OPERAND_INPUT], DATA_INTEGER, 99, OPERAND_INPUT, 9);
        solve(&of_a, &p, DIRECTION_FWD, a);
        solve(&of_b, &p, DIRECTION_FWD, b);
        for (int64_t e = 0; e < a[OPERAND_INPUT].elements; e++)
            tensor_set(&a[OPERAND_INPUT], e,
                       tensor_get(&a[OPERAND_INPUT], e) + 3 * tensor_get(&b[OPERAND_INPUT], e));
        solve(&of_sum, &p, DIRECTION_FWD, a);
        for (int64_t e = 0; e < of_sum.elements; e++)
            assert_true(of_sum.value[e] == of_a.value[e] + 3 * of_b.value[e]);
        conv_answer_release(&of_a);
        conv_answer_release(&of_b);
        conv_answer_release(&of_sum);
        release_all(a);
        release_all(b);
    }
}

/* The same numbers in other places. */
static void layouts_only_move_the_answer(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        struct problem p, q;
        struct tensor t[3], u[3];
        random_problem(&p);
        q = p;
        for (int o = 0; o < 3; o++)
            shuffle(q.layout[o]);
        fill_all(t, &p, 5);
        fill_all(u, &q, 5);
        for (enum direction d = DIRECTION_FWD; d <= DIRECTION_BWD_WEIGHT; d++) {
            struct conv_answer a, b;
            solve(&a, &p, d, t);
            solve(&b, &q, d, u);
            enum operand result = problem_result(&p);
            for (int64_t e = 0; e < a.elements; e++) {
                int64_t index[TENSOR_MAX_RANK];
                tensor_coordinates(index, &t[result], e);
                assert_true(a.value[e] == b.value[tensor_offset(&u[result], index)]);
            }
            conv_answer_release(&a);
            conv_answer_release(&b);
        }
        release_all(t);
        release_all(u);
    }
}

/* Sums beyond 2^24 and products beyond i8: what a float or a narrow integer would lose. */
static void integer_sums_are_exact(void **state)
{
    (void)state;
    struct problem p;
    struct tensor t[3];
    struct conv_answer a;
    parse(&p, "conv fwd i8 n1 c3001 k1 g1 in1 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw");
    fill_all(t, &p, 1);
    for (int64_t i = 0; i < 3001; i++) {
        tensor_set(&t[OPERAND_INPUT], i, -128);
        tensor_set(&t[OPERAND_FILTER], i, i == 0 ? 1 : -128);
    }
    solve(&a, &p, DIRECTION_FWD, t);
    assert_true(a.value[0] == 3000.0 * 16384 - 128);
    assert_int_equal(a.terms[0], 3001);
    conv_answer_release(&a);
    tensor_set(&t[OPERAND_OUTPUT], 0, INT32_MIN);
    solve(&a, &p, DIRECTION_BWD_DATA, t);
    assert_true(a.value[3000] == 128.0 * 2147483648.0);
    conv_answer_release(&a);
    release_all(t);
}

/* Real data: against long double sums, to the last bits of double. */
static void real_sums_are_those_of_double(void **state)
{
    (void)state;
    struct problem p;
    struct tensor t[3];
    struct conv_answer a;
    parse(&p, "conv fwd f32 n1 c1000 k3 g1 in1 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw");
    for (enum operand o = OPERAND_INPUT; o <= OPERAND_OUTPUT; o++) {
        tensor_init(&t[o], &p, o);
        tensor_fill(&t[o], DATA_REAL, 4, o, 0);
    }
    solve(&a, &p, DIRECTION_FWD, t);
    for (int64_t k = 0; k < 3; k++) {
        long double sum = 0, squares = 0;
        for (int64_t c = 0; c < 1000; c++) {
            long double product = (long double)tensor_get(&t[OPERAND_INPUT], c) *
                                  (long double)tensor_get(&t[OPERAND_FILTER], k * 1000 + c);
            sum += product;
            squares += product * product;
        }
        assert_true(fabsl(a.value[k] - sum) < 1e-12L && fabsl(a.squares[k] - squares) < 1e-12L);
    }
    conv_answer_release(&a);
    release_all(t);
}

static void an_element_without_taps_is_zero(void **state)
{
    (void)state;
    struct problem p;
    struct tensor t[3];
    struct conv_answer a;
    parse(&p, "conv fwd f32 n1 c1 k1 g1 in1 fil1 str1 dil1 pad2:2 ngcw gkcx ngkw");
    fill_all(t, &p, 6);
    solve(&a, &p, DIRECTION_FWD, t);
    assert_int_equal(a.elements, 5);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(a.terms[i], i == 2);
        assert_true(i == 2 ? a.value[i] != 0 : a.value[i] == 0 && a.squares[i] == 0);
    }
    conv_answer_release(&a);
    release_all(t);
}

static void a_bad_problem_is_refused(void **state)
{
    (void)state;
    struct problem p;
    struct tensor t[3];
    struct conv_answer a;
    parse(&p, "conv fwd f32 n1 c1 k1 g1 in1 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw");
    fill_all(t, &p, 6);
    p.g = 2;
    assert_fails(conv_direct(&a, &p, t), ERR_INVALID, "groups");
    release_all(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_an_independent_brute_force),
        cmocka_unit_test(the_directions_are_adjoint),
        cmocka_unit_test(a_delta_filter_shifts),
        cmocka_unit_test(one_by_one_is_a_matrix_product),
        cmocka_unit_test(groups_are_problems_side_by_side),
        cmocka_unit_test(it_is_linear_in_the_input),
        cmocka_unit_test(layouts_only_move_the_answer),
        cmocka_unit_test(integer_sums_are_exact),
        cmocka_unit_test(real_sums_are_those_of_double),
        cmocka_unit_test(an_element_without_taps_is_zero),
        cmocka_unit_test(a_bad_problem_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
