#include "test.h"

#include "reference/verify.h"

#include <math.h>

/* A problem with its operands, its answer and a right device result, to plant errors in. */
struct bench {
    struct problem p;
    struct tensor t[3];
    struct conv_answer answer;
    struct tensor *result;
    enum data_kind kind;
    enum accumulator accumulator;
};

static void set_up(struct bench *b, const char *line, enum data_kind kind)
{
    assert_ok(problem_parse(&b->p, line));
    b->kind = kind;
    b->accumulator = b->p.dtype[0] == DTYPE_I8 ? ACCUMULATOR_I32 : ACCUMULATOR_F32_FMA;
    int64_t range = tensor_exact_range(&b->p, accumulator_bits(b->accumulator));
    for (enum operand o = OPERAND_INPUT; o <= OPERAND_OUTPUT; o++) {
        tensor_init(&b->t[o], &b->p, o);
        tensor_fill(&b->t[o], kind, 11, o, range);
    }
    assert_ok(conv_direct(&b->answer, &b->p, b->t));
    b->result = &b->t[problem_result(&b->p)];
    tensor_poison(b->result, 0);
}

static void write_right_result(struct bench *b)
{
    for (int64_t i = 0; i < b->result->elements; i++)
        tensor_set(b->result, i, b->answer.value[i]);
}

static void tear_down(struct bench *b)
{
    for (int o = 0; o < 3; o++)
        tensor_release(&b->t[o]);
    conv_answer_release(&b->answer);
}

static void measure(struct verify_stats *s, const struct bench *b)
{
    verify_measure(s, &b->p, b->result, &b->answer, b->kind, b->accumulator, 0);
}

static void assert_signature(const struct bench *b, const char *right)
{
    struct verify_stats s;
    char text[100];
    measure(&s, b);
    assert_string_equal(verify_signature(text, sizeof text, &b->p, &s), right);
}

static const char *const type_lines[] = {
    "conv fwd f32 n2 c8 k20 g2 in9x8 fil3x3 str2x1 dil1x1 pad1:1x1:1 nhwgc gkcyx nhwgk",
    "conv fwd f16 n2 c8 k20 g2 in9x8 fil3x3 str2x1 dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw",
    "conv fwd bf16 n2 c8 k20 g2 in9x8 fil3x3 str2x1 dil1x1 pad1:1x1:1 ngchw kyxgc ngkhw",
    "conv fwd i8 n2 c8 k20 g2 in9x8 fil3x3 str2x1 dil1x1 pad1:1x1:1 ngchw gkcyx nhwgk",
    "conv bwd_data f32 n2 c40 k8 g2 in9x8 fil3x3 str2x2 dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw",
    "conv fwd f8e4m3fn:f8e5m2:f32 n2 c8 k20 g2 in9x8 fil3x3 str2x1 dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw",
    "conv fwd f8e4m3fnuz:f8e4m3fnuz:f16 n2 c8 k20 g2 in9x8 fil3x3 str2x1 dil1x1 pad1:1x1:1 nhwgc gkcyx ngkhw",
    "conv bwd_weight bf16 n2 c8 k40 g2 in9x8 fil3x3 str1x1 dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw",
};

enum { TYPE_LINES = sizeof type_lines / sizeof type_lines[0] };

/* Every test below runs over all types and both data kinds. */
static void for_all(void (*test)(struct bench *b))
{
    for (int line = 0; line < TYPE_LINES; line++) {
        for (int kind = DATA_INTEGER; kind <= DATA_REAL; kind++) {
            struct bench b;
            set_up(&b, type_lines[line], (enum data_kind)kind);
            write_right_result(&b);
            test(&b);
            tear_down(&b);
        }
    }
}

static void check_right(struct bench *b)
{
    struct verify_stats s;
    measure(&s, b);
    assert_int_equal(s.mismatches, 0);
    assert_int_equal(s.elements, b->result->elements);
    assert_int_equal(s.nans + s.infs + s.unwritten + s.guard_low + s.guard_high, 0);
    assert_true(s.worst_ratio >= 0 && s.worst_ratio <= 1);
    assert_int_equal(s.by_group_first, -1);
    assert_int_equal(s.channel_last, -1);
    int64_t in_histogram = 0;
    for (int i = 0; i < VERIFY_BUCKETS; i++)
        in_histogram += s.histogram[i];
    assert_int_equal(in_histogram, s.elements);
    assert_int_equal(s.histogram[5] + s.histogram[6] + s.histogram[7], 0);
    assert_signature(b, "");
}

static void a_right_result_is_right(void **state)
{
    (void)state;
    for_all(check_right);
}

/* The tolerance that the header states, computed here once more. */
static double bound(const struct bench *b, int64_t i)
{
    double y = b->answer.value[i], k = b->answer.terms[i], q = b->answer.squares[i];
    double t = 8 * 0x1p-24 * sqrt(k * q / 6 + k * y * y / 9);
    switch (b->result->dtype) {
    case DTYPE_F16:
        return t + 0x1p-11 * (fabs(y) + t) + 0x1p-25;
    case DTYPE_BF16:
        return t + 0x1p-8 * (fabs(y) + t) + 0x1p-134;
    default:
        return t + 0x1p-150;
    }
}

static void check_bound(struct bench *b)
{
    struct verify_stats s;
    double largest = 0;
    bool exact = b->kind == DATA_INTEGER || b->accumulator == ACCUMULATOR_I32;
    for (int64_t i = 0; !exact && i < b->result->elements; i++)
        largest = fmax(largest, bound(b, i));
    measure(&s, b);
    assert_true(fabs(s.max_tolerance - largest) <= 1e-12 * largest);
}

static void the_tolerance_is_the_published_bound(void **state)
{
    (void)state;
    for_all(check_bound);
}

/* The next number of the type above the present one. */
static double next_above(const struct tensor *t, int64_t i)
{
    double value = tensor_get(t, i);
    if (t->dtype == DTYPE_I8 || t->dtype == DTYPE_I32)
        return value + 1;
    double step = fabs(value) * 0x1p-26 + 0x1p-149;
    while (tensor_round(t->dtype, value + step) == value)
        step *= 1.5;
    return tensor_round(t->dtype, value + step);
}

/* Walk an element up one number of its type at a time: it must turn off exactly when it leaves the
 * bound. */
static void check_one_ulp_over(struct bench *b)
{
    bool exact = b->kind == DATA_INTEGER || b->accumulator == ACCUMULATOR_I32;
    for (int64_t i = 0; i < b->result->elements; i += 97) {
        double kept = tensor_get(b->result, i), tol = exact ? 0 : bound(b, i);
        double expected = exact ? kept : b->answer.value[i];
        struct verify_stats s;
        bool over = false;
        for (int step = 0; step < 200 && !over; step++) {
            tensor_set(b->result, i, next_above(b->result, i));
            double error = tensor_get(b->result, i) - expected;
            over = error > tol;
            measure(&s, b);
            assert_int_equal(s.mismatches, over);
        }
        assert_true(over);
        int64_t index[TENSOR_MAX_RANK];
        tensor_coordinates(index, b->result, i);
        assert_memory_equal(s.worst_index, index, sizeof index);
        assert_true(s.worst_actual == tensor_get(b->result, i) && s.worst_expected == expected);
        assert_true(s.worst_error == fabs(s.worst_actual - expected));
        assert_true(exact ? isinf(s.worst_ratio) : s.worst_ratio > 1 && s.worst_ratio < 4);
        tensor_set(b->result, i, kept);
    }
}

static void one_number_over_the_tolerance_is_off(void **state)
{
    (void)state;
    for_all(check_one_ulp_over);
}

static void check_one_element(struct bench *b)
{
    struct verify_stats s;
    int64_t at = b->result->elements / 2 + 3, index[TENSOR_MAX_RANK];
    tensor_set(b->result, at, b->answer.value[at] + 100000);
    tensor_coordinates(index, b->result, at);
    bool weight = b->p.direction == DIRECTION_BWD_WEIGHT;
    measure(&s, b);
    if (tensor_get(b->result, at) == tensor_round(b->result->dtype, b->answer.value[at]))
        return; /* an f16 beyond its largest would be the same infinity */
    assert_int_equal(s.mismatches, 1);
    assert_int_equal(s.histogram[7], 1);
    assert_memory_equal(s.worst_index, index, sizeof index);
    assert_int_equal(s.by_group_first, index[weight ? 0 : 1]);
    assert_int_equal(s.by_group_last, s.by_group_first);
    assert_int_equal(s.channel_first, index[weight ? 1 : 2]);
    assert_int_equal(s.channel_last, s.channel_first);
    int64_t phases = 0;
    for (int i = 0; i < 8; i++)
        phases += s.by_phase[i];
    assert_int_equal(phases, 1);
    char text[100];
    verify_signature(text, sizeof text, &b->p, &s);
    assert_true(*text != '\0' && !strstr(text, "everywhere"));
}

static void one_wrong_element_is_located(void **state)
{
    (void)state;
    for_all(check_one_element);
    struct bench b;
    set_up(&b, "conv fwd f32 n2 c8 k16 g1 in9x16 fil3x3 str1x1 dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw",
           DATA_INTEGER);
    write_right_result(&b);
    int64_t at = tensor_offset(b.result, (int64_t[TENSOR_MAX_RANK]){1, 0, 7, 4, 5});
    tensor_set(b.result, at, b.answer.value[at] - 1);
    assert_signature(&b, "one element");
    tear_down(&b);
}

/* Where only equality is right, all wrong elements are infinitely off: the largest error is the
 * worst, wherever it stands. */
static void of_exact_data_the_largest_error_is_the_worst(void **state)
{
    (void)state;
    struct bench b;
    struct verify_stats s;
    set_up(&b, "conv fwd f32 n1 c2 k2 g1 in1x8 fil1x1 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw",
           DATA_INTEGER);
    write_right_result(&b);
    measure(&s, &b);
    assert_true(s.worst_ratio == 0 && b.answer.value[0] != 0);
    assert_true(s.worst_expected == b.answer.value[0]); /* of equals the first */
    for (int64_t largest = 0; largest < 3; largest++) {
        write_right_result(&b);
        for (int64_t i = 0; i < 3; i++)
            tensor_set(b.result, i, b.answer.value[i] + (i == largest ? 9 : 1));
        measure(&s, &b);
        assert_int_equal(s.mismatches, 3);
        assert_true(s.worst_error == 9);
        assert_int_equal(s.worst_index[4], largest);
    }
    tear_down(&b);
}

static void check_nan(struct bench *b)
{
    struct verify_stats s;
    if (b->result->dtype == DTYPE_I32)
        return;
    tensor_set(b->result, 5, NAN);
    tensor_set(b->result, 6, -INFINITY);
    measure(&s, b);
    assert_int_equal(s.mismatches, 2);
    assert_int_equal(s.nans, 1);
    assert_int_equal(s.infs, 1);
    assert_int_equal(s.unwritten, 0);
    assert_int_equal(s.histogram[7], 2);
    assert_true(isinf(s.worst_ratio));
    for (int64_t i = 0; i < b->result->elements; i++)
        tensor_set(b->result, i, NAN);
    assert_signature(b, "nan");
    for (int64_t i = 0; i < b->result->elements; i++)
        tensor_set(b->result, i, INFINITY);
    assert_signature(b, "inf");
}

static void nan_and_infinity_are_off(void **state)
{
    (void)state;
    for_all(check_nan);
}

/* Results of 8 bits, whose conversions may saturate or not. */
static void eight_bit_results_are_held_to_their_type(void **state)
{
    (void)state;
    for (int i = DTYPE_F8E4M3FN; i <= DTYPE_F8E5M2FNUZ; i++) {
        for (int kind = DATA_INTEGER; kind <= DATA_REAL; kind++) {
            struct bench b;
            struct verify_stats s;
            char line[PROBLEM_MAX_TEXT];
            enum dtype t = (enum dtype)i;
            snprintf(line, sizeof line,
                     "conv fwd %s n2 c16 k20 g2 in9x8 fil3x3 str2x1 dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw",
                     dtype_name(t));
            set_up(&b, line, (enum data_kind)kind);
            write_right_result(&b);
            measure(&s, &b);
            assert_int_equal(s.mismatches, 0);
            /* two places off is wrong in both kinds of data */
            uint8_t *bytes = b.result->data;
            bytes[7] = (uint8_t)(bytes[7] + 2);
            measure(&s, &b);
            assert_int_equal(s.mismatches, 1);
            b.answer.value[7] = -1e6;
            const double right[] = {-tensor_largest(t), tensor_has_infinity(t) ? -INFINITY : NAN},
                         wrong[] = {tensor_largest(t), tensor_has_infinity(t) ? NAN : 0};
            for (int j = 0; j < 2; j++) {
                tensor_set(b.result, 7, right[j]);
                measure(&s, &b);
                assert_int_equal(s.mismatches, 0);
                tensor_set(b.result, 7, wrong[j]);
                measure(&s, &b);
                assert_int_equal(s.mismatches, 1);
            }
            tear_down(&b);
        }
    }
}

static void check_unwritten(struct bench *b)
{
    struct verify_stats s;
    bool small = b->result->dtype == DTYPE_I8;
    tensor_poison(b->result, 0);
    measure(&s, b);
    assert_int_equal(s.mismatches, s.unwritten);
    assert_int_equal(s.nans, 0);
    if (!small)
        assert_int_equal(s.unwritten, s.elements);
    assert_signature(b, "unwritten");
    /* another round's poison is not "still there", yet as wrong */
    tensor_poison(b->result, 1);
    measure(&s, b);
    assert_true(s.mismatches == s.elements && s.unwritten == 0);
}

static void unwritten_elements_are_told_apart(void **state)
{
    (void)state;
    for_all(check_unwritten);
}

static void check_zeros(struct bench *b)
{
    struct verify_stats s;
    int64_t nonzero = 0;
    for (int64_t i = 0; i < b->result->elements; i++) {
        nonzero += b->answer.value[i] != 0;
        tensor_set(b->result, i, 0);
    }
    measure(&s, b);
    assert_int_equal(s.zeros, s.elements);
    if (b->kind == DATA_INTEGER || b->accumulator == ACCUMULATOR_I32)
        assert_int_equal(s.mismatches, nonzero);
    else
        assert_true(s.mismatches > s.elements * 99 / 100); /* some answers are nearly zero */
    assert_signature(b, "all zero");
}

static void all_zeros_are_off(void **state)
{
    (void)state;
    for_all(check_zeros);
}

static void check_guards(struct bench *b)
{
    struct verify_stats s;
    uint8_t *below = b->result->memory, *above = (uint8_t *)b->result->data + b->result->bytes;
    below[TENSOR_GUARD_BYTES - 1] ^= 1;
    measure(&s, b);
    assert_true(s.guard_low == 1 && s.guard_high == 0 && s.mismatches == 0);
    assert_signature(b, "guard low");
    below[TENSOR_GUARD_BYTES - 1] ^= 1;
    memset(above, 0, 16);
    measure(&s, b);
    assert_true(s.guard_low == 0 && s.guard_high == 16 && s.mismatches == 0);
    assert_signature(b, "guard high");
    tensor_poison(b->result, 0);
    assert_signature(b, "unwritten guard high");
}

static void damaged_guards_are_counted_by_side(void **state)
{
    (void)state;
    for_all(check_guards);
}

/* Make wrong, or leave unwritten, every element that `here` says. Returns how many. */
static int64_t plant(struct bench *b, bool (*here)(const struct problem *p, const int64_t *index),
                     bool unwritten)
{
    int64_t count = 0;
    write_right_result(b);
    struct tensor poison;
    tensor_init(&poison, &b->p, problem_result(&b->p));
    size_t size = dtype_bytes(poison.dtype);
    for (int64_t i = 0; i < poison.elements; i++) {
        int64_t index[TENSOR_MAX_RANK];
        tensor_coordinates(index, &poison, i);
        if (!here(&b->p, index))
            continue;
        count++;
        if (unwritten)
            memcpy((char *)b->result->data + (size_t)i * size,
                   (char *)poison.data + (size_t)i * size, size);
        else
            tensor_set(b->result, i, b->answer.value[i] < 0 ? 50 : -50);
    }
    tensor_release(&poison);
    return count;
}

static bool on_rim(const struct problem *p, const int64_t *index)
{
    return index[3] == 0 || index[3] == problem_out(p, 0) - 1 || index[4] == 0 ||
           index[4] == problem_out(p, 1) - 1;
}

static bool in_odd_columns(const struct problem *p, const int64_t *index)
{
    return (index[4] + p->pad_lo[1]) % 2 == 1 && (index[3] + p->pad_lo[0]) % 2 == 0;
}

static bool off_phase_zero(const struct problem *p, const int64_t *index)
{
    return (index[4] + p->pad_lo[1]) % 2 == 1 || (index[3] + p->pad_lo[0]) % 2 == 1;
}

static bool in_last_channels(const struct problem *p, const int64_t *index)
{
    (void)p;
    return index[2] >= 16;
}

static bool in_last_columns(const struct problem *p, const int64_t *index)
{
    (void)p;
    return index[4] >= 16;
}

static bool in_last_group(const struct problem *p, const int64_t *index)
{
    return index[1] == p->g - 1;
}

static bool behind_first_group(const struct problem *p, const int64_t *index)
{
    (void)p;
    return index[1] > 0;
}

static bool in_one_image(const struct problem *p, const int64_t *index)
{
    (void)p;
    return index[0] == 1 && index[4] % 2 == 0;
}

static bool in_last_place(const struct problem *p, const int64_t *index)
{
    return index[0] == 0 && index[2] == 0 && index[3] == 0 && index[4] == problem_out(p, 1) - 1;
}

static bool in_even_columns(const struct problem *p, const int64_t *index)
{
    (void)p;
    return index[4] % 2 == 0;
}

static bool in_first_place(const struct problem *p, const int64_t *index)
{
    (void)p;
    return index[0] + index[1] + index[2] + index[3] + index[4] == 0;
}

static bool anywhere(const struct problem *p, const int64_t *index)
{
    (void)p;
    (void)index;
    return true;
}

static bool off_centre(const struct problem *p, const int64_t *index)
{
    (void)p;
    return index[3] != 1 || index[4] != 1;
}

static void the_place_is_counted_and_signed(void **state)
{
    (void)state;
    static const char fwd[] =
        "conv fwd f32 n2 c8 k20 g1 in18x18 fil3x3 str1x1 dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw";
    static const char data[] =
        "conv bwd_data f32 n2 c8 k8 g1 in9x10 fil3x3 str2x2 dil1x1 pad1:1x0:1 ngchw gkcyx ngkhw";
    static const char weight[] =
        "conv bwd_weight f32 n2 c8 k8 g1 in9x10 fil3x3 str1x1 dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw";
    /* A third of the columns is the tail: one element there says nothing. */
    static const char row[] =
        "conv fwd f32 n1 c2 k2 g1 in1x24 fil1x1 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw";
    static const char grouped[] =
        "conv fwd f32 n2 c16 k16 g4 in8x8 fil1x1 str1x1 dil1x1 pad0:0x0:0 nhwgc gkcyx nhwgk";
    static const struct {
        const char *line;
        bool (*here)(const struct problem *p, const int64_t *index);
        const char *wrong, *unwritten;
    } cases[] = {
        {fwd, on_rim, "border", "unwritten border"},
        {fwd, in_last_channels, "tail", "unwritten tail"},
        {fwd, in_last_columns, "tail", "unwritten tail"},
        {fwd, in_one_image, "in part", "unwritten in part"},
        {fwd, anywhere, "everywhere", "unwritten"},
        {fwd, in_first_place, "one element", "unwritten one element"}, /* a corner by chance */
        {row, in_even_columns, "everywhere", "unwritten"},             /* half is no small part */
        {row, in_last_columns, "tail", "unwritten tail"},
        {row, in_last_place, "one element", "unwritten one element"},
        {data, in_odd_columns, "phase 1", "unwritten phase 1"},
        {data, off_phase_zero, "phase>0", "unwritten phase>0"},
        {weight, off_centre, "border", "unwritten border"},
        {grouped, in_last_group, "last group", "unwritten last group"},
        {grouped, behind_first_group, "group>0", "unwritten group>0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bench b;
        struct verify_stats s;
        set_up(&b, cases[i].line, DATA_REAL);
        int64_t planted = plant(&b, cases[i].here, false);
        measure(&s, &b);
        assert_int_equal(s.mismatches, planted);
        assert_signature(&b, cases[i].wrong);
        plant(&b, cases[i].here, true);
        measure(&s, &b);
        assert_int_equal(s.mismatches, planted);
        assert_int_equal(s.unwritten, planted);
        assert_signature(&b, cases[i].unwritten);
        tear_down(&b);
    }
}

static void counts_by_place(void **state)
{
    (void)state;
    struct bench b;
    struct verify_stats s;
    set_up(&b,
           "conv bwd_data f32 n1 c18 k2 g1 in6x5 fil1x1 str2x3 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw",
           DATA_REAL);
    int64_t all = plant(&b, anywhere, false);
    measure(&s, &b);
    assert_int_equal(all, 18 * 30);
    const int64_t phases[8] = {18 * 3 * 2, 18 * 3 * 3, 18 * 3 * 2,
                               18 * 3 * 3}; /* columns 0 and 3 are phase 0 */
    assert_memory_equal(s.by_phase, phases, sizeof phases);
    assert_int_equal(s.in_tail, 2 * 30);
    assert_int_equal(s.at_border, 0);
    assert_int_equal(s.channel_first, 0);
    assert_int_equal(s.channel_last, 17);
    tear_down(&b);
    set_up(&b, "conv fwd f32 n1 c1 k1 g1 in5x6 fil3x3 str1x1 dil1x1 pad1:0x0:2 ngchw gkcyx ngkhw",
           DATA_REAL);
    plant(&b, anywhere, false);
    measure(&s, &b);
    assert_int_equal(s.mismatches, 4 * 6);
    assert_int_equal(s.at_border, 24 - 3 * 4); /* all but rows 1..3 and columns 0..3 */
    tear_down(&b);
}

/* Backward data with stride 2 and outputs 0 and 1: input columns 0, 4 and 5 would meet taps of
 * outputs that are not there. */
static void the_border_of_strided_backward_data(void **state)
{
    (void)state;
    struct bench b;
    struct verify_stats s;
    set_up(&b,
           "conv bwd_data f32 n1 c1 k1 g1 in1x6 fil1x3 str1x2 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw",
           DATA_REAL);
    plant(&b, anywhere, false);
    measure(&s, &b);
    assert_int_equal(s.mismatches, 6);
    assert_int_equal(s.at_border, 3);
    tear_down(&b);
}

/* ---- right devices: none is ever flagged ---- */

static float product_of(const struct bench *b, int64_t n, int64_t k, int64_t c, double *w)
{
    int64_t terms = b->p.c, pixels = b->p.in[0];
    *w = tensor_get(&b->t[OPERAND_FILTER], k * terms + c);
    return (float)tensor_get(&b->t[OPERAND_INPUT], (n / pixels * terms + c) * pixels + n % pixels);
}

static float sum_forward(const float *x, const float *w, int64_t count, bool fma)
{
    float sum = 0;
    for (int64_t i = 0; i < count; i++) {
        volatile float product = x[i] * w[i]; /* rounded: no compiler may contract it */
        sum = fma ? fmaf(x[i], w[i], sum) : sum + product;
    }
    return sum;
}

static float sum_backward(const float *x, const float *w, int64_t count)
{
    float sum = 0;
    for (int64_t i = count - 1; i >= 0; i--)
        sum = fmaf(x[i], w[i], sum);
    return sum;
}

static float sum_tree(const float *x, const float *w, int64_t count)
{
    if (count == 1)
        return x[0] * w[0];
    return sum_tree(x, w, count / 2) + sum_tree(x + count / 2, w + count / 2, count - count / 2);
}

static float sum_split(const float *x, const float *w, int64_t count)
{
    float sum = 0;
    for (int64_t i = 0; i < count; i += 16)
        sum += sum_forward(x + i, w + i, count - i < 16 ? count - i : 16, true);
    return sum;
}

static float sum_interleaved(const float *x, const float *w, int64_t count)
{
    float lanes[4] = {0};
    for (int64_t i = 0; i < count; i++)
        lanes[i % 4] = fmaf(x[i], w[i], lanes[i % 4]);
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

static float sum_half(const float *x, const float *w, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum = tensor_round(DTYPE_F16, sum + tensor_round(DTYPE_F16, (double)x[i] * (double)w[i]));
    return (float)sum;
}

/* Partial sums of 16 products, kept in a smaller type. */
static float sum_kept(const float *x, const float *w, int64_t count, enum dtype kept)
{
    float sum = 0;
    for (int64_t i = 0; i < count; i += 16)
        sum += (float)tensor_round(
            kept, (double)sum_forward(x + i, w + i, count - i < 16 ? count - i : 16, true));
    return sum;
}

/* Towards zero, to 24 bits. */
static float cut(double value)
{
    float rounded = (float)value;
    return fabs((double)rounded) > fabs(value) ? nextafterf(rounded, 0) : rounded;
}

static float sum_truncating(const float *x, const float *w, int64_t count)
{
    float sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum = cut((double)sum + (double)x[i] * (double)w[i]);
    return sum;
}

static float sum_tf32(const float *x, const float *w, int64_t count)
{
    float sum = 0;
    for (int64_t i = 0; i < count; i++) {
        union {
            float value;
            uint32_t bits;
        } a = {x[i]}, b = {w[i]};
        a.bits &= ~UINT32_C(0x1fff);
        b.bits &= ~UINT32_C(0x1fff);
        sum = fmaf(a.value, b.value, sum);
    }
    return sum;
}

static float sum_brain(const float *x, const float *w, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum = tensor_round(DTYPE_BF16, sum + tensor_round(DTYPE_BF16, (double)x[i] * (double)w[i]));
    return (float)sum;
}

enum order {
    FORWARD,
    FORWARD_FMA,
    BACKWARD,
    TREE,
    SPLIT,
    INTERLEAVED,
    HALF,
    BRAIN,
    KEPT_HALF,
    KEPT_BRAIN,
    TRUNCATING,
    CUT_OPERANDS
};

static float sum_in(enum order order, const float *x, const float *w, int64_t count)
{
    switch (order) {
    case FORWARD:
        return sum_forward(x, w, count, false);
    case FORWARD_FMA:
        return sum_forward(x, w, count, true);
    case BACKWARD:
        return sum_backward(x, w, count);
    case TREE:
        return sum_tree(x, w, count);
    case SPLIT:
        return sum_split(x, w, count);
    case INTERLEAVED:
        return sum_interleaved(x, w, count);
    case HALF:
        return sum_half(x, w, count);
    case BRAIN:
        return sum_brain(x, w, count);
    case KEPT_HALF:
        return sum_kept(x, w, count, DTYPE_F16);
    case KEPT_BRAIN:
        return sum_kept(x, w, count, DTYPE_BF16);
    case TRUNCATING:
        return sum_truncating(x, w, count);
    case CUT_OPERANDS:
        return sum_tf32(x, w, count);
    }
    return NAN;
}

/* A device for 1x1 problems in one dim with default layouts. */
static void run_device(struct bench *b, enum order order)
{
    int64_t count = b->p.c, pixels = b->p.in[0];
    float *x = calloc((size_t)count, sizeof *x), *w = calloc((size_t)count, sizeof *w);
    for (int64_t n = 0; n < b->p.n * pixels; n++) {
        for (int64_t k = 0; k < b->p.k; k++) {
            for (int64_t c = 0; c < count; c++) {
                double weight;
                x[c] = product_of(b, n, k, c, &weight);
                w[c] = (float)weight;
            }
            tensor_set(b->result, (n / pixels * b->p.k + k) * pixels + n % pixels,
                       sum_in(order, x, w, count));
        }
    }
    free(x);
    free(w);
}

static const char *const device_lines[] = {
    "conv fwd f32 n4 c64 k32 g1 in512 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw",
    "conv fwd f32 n2 c577 k16 g1 in128 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw",
    "conv fwd f32 n1 c1 k64 g1 in512 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw",
    "conv fwd f32 n1 c3 k64 g1 in512 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw",
    "conv fwd f16 n2 c100 k32 g1 in256 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw",
    "conv fwd bf16 n2 c100 k32 g1 in256 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw",
};

enum { DEVICE_LINES = sizeof device_lines / sizeof device_lines[0] };

/* All data positive: sums drift instead of walking at random. */
static void make_positive(struct bench *b)
{
    for (int o = 0; o < 2; o++)
        for (int64_t i = 0; i < b->t[o].elements; i++)
            tensor_set(&b->t[o], i, fabs(tensor_get(&b->t[o], i)));
    conv_answer_release(&b->answer);
    assert_ok(conv_direct(&b->answer, &b->p, b->t));
}

static void right_accumulation_in_any_order_is_never_flagged(void **state)
{
    (void)state;
    int64_t elements = 0;
    double worst = 0;
    for (int line = 0; line < DEVICE_LINES; line++) {
        for (int positive = 0; positive < 2; positive++) {
            struct bench b;
            set_up(&b, device_lines[line], DATA_REAL);
            if (positive)
                make_positive(&b);
            for (enum order order = FORWARD; order <= INTERLEAVED; order++) {
                struct verify_stats s;
                b.accumulator =
                    order == FORWARD || order == TREE ? ACCUMULATOR_F32 : ACCUMULATOR_F32_FMA;
                run_device(&b, order);
                measure(&s, &b);
                if (s.mismatches)
                    fail_msg("%s, order %d: %lld off, ratio %g", device_lines[line], (int)order,
                             (long long)s.mismatches, s.worst_ratio);
                elements += s.elements;
                if (b.result->dtype == DTYPE_F32 && s.worst_ratio > worst)
                    worst = s.worst_ratio;
            }
            tear_down(&b);
        }
    }
    assert_true(elements > 1000000);
    assert_true(worst > 0.2); /* and the bound is not slack */
}

/* The same devices on integer data give the exact sum, whatever the order. */
static void integer_data_are_exact_in_any_order(void **state)
{
    (void)state;
    for (int line = 0; line < DEVICE_LINES; line += 3) {
        struct bench b;
        set_up(&b, device_lines[line], DATA_INTEGER);
        for (enum order order = FORWARD; order <= INTERLEAVED; order++) {
            struct verify_stats s;
            run_device(&b, order);
            measure(&s, &b);
            assert_int_equal(s.mismatches, 0);
            assert_int_equal(s.histogram[0], s.elements);
            assert_true(s.infs == 0 && s.worst_ratio == 0 && s.max_tolerance == 0);
        }
        tear_down(&b);
    }
}

static void f16_accumulation_is_off_by_the_f32_profile_and_right_by_its_own(void **state)
{
    (void)state;
    struct bench b;
    struct verify_stats s;
    set_up(&b, device_lines[4], DATA_REAL);
    run_device(&b, HALF);
    b.accumulator = ACCUMULATOR_F32;
    measure(&s, &b);
    assert_true(s.mismatches > s.elements / 2);
    b.accumulator = ACCUMULATOR_F16;
    measure(&s, &b);
    assert_int_equal(s.mismatches, 0);
    tear_down(&b);
}

/* Devices that sum with less precision than their profile says: each is off, and named; by a
 * profile of its own it is right. */
static void less_precision_is_flagged_and_named(void **state)
{
    (void)state;
    static const char long_f32[] =
        "conv fwd f32 n2 c577 k16 g1 in128 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw";
    static const char longer_f32[] =
        "conv fwd f32 n1 c9216 k8 g1 in32 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw";
    static const char f16[] =
        "conv fwd f16 n2 c577 k16 g1 in128 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw";
    static const char bf16[] =
        "conv fwd bf16 n2 c577 k16 g1 in128 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw";
    static const struct {
        const char *line;
        enum order order;
        enum accumulator own;
        const char *words;
    } devices[] = {
        {f16, HALF, ACCUMULATOR_F16, "sums in f16"},
        {long_f32, HALF, ACCUMULATOR_F16, "sums in f16"},
        {bf16, BRAIN, ACCUMULATOR_BF16, "sums in bf16"},
        {long_f32, KEPT_HALF, ACCUMULATOR_SPLIT_F16, "partial sums kept in f16"},
        {long_f32, KEPT_BRAIN, ACCUMULATOR_SPLIT_BF16, "partial sums kept in bf16"},
        {longer_f32, TRUNCATING, ACCUMULATOR_TRUNCATING, "truncating sums in f32"},
        {long_f32, CUT_OPERANDS, ACCUMULATOR_TF32, "operands cut to tf32"},
    };
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        struct bench b;
        struct verify_stats s;
        set_up(&b, devices[i].line, DATA_REAL);
        if (devices[i].order == TRUNCATING)
            make_positive(&b);
        run_device(&b, devices[i].order);
        b.accumulator = ACCUMULATOR_F32_FMA;
        measure(&s, &b);
        if (s.mismatches == 0 || !s.looks_like || strcmp(s.looks_like, devices[i].words) != 0)
            fail_msg("device %zu: %lld of %lld off, worst %g, looks like %s", i,
                     (long long)s.mismatches, (long long)s.elements, s.worst_ratio,
                     s.looks_like ? s.looks_like : "nothing");
        b.accumulator = devices[i].own;
        measure(&s, &b);
        if (s.mismatches > 0)
            fail_msg("device %zu: %lld off by its own profile, worst %g", i,
                     (long long)s.mismatches, s.worst_ratio);
        assert_null(s.looks_like);
        tear_down(&b);
    }
}

/* What is off in places has no looks, however small it is. */
static void a_lost_product_looks_like_nothing(void **state)
{
    (void)state;
    struct bench b;
    struct verify_stats s;
    set_up(&b, device_lines[4], DATA_REAL);
    run_device(&b, FORWARD_FMA);
    for (int64_t i = 0; i < b.result->elements / 40; i++)
        tensor_set(b.result, i, tensor_get(b.result, i) * 1.02);
    measure(&s, &b);
    assert_true(s.mismatches > 0);
    assert_null(s.looks_like);
    tear_down(&b);
}

/* A result that rounds to infinity is right when it is infinite, and off when it is the largest
 * number. */
static void a_forced_overflow_is_right(void **state)
{
    (void)state;
    for (int kind = DATA_INTEGER; kind <= DATA_REAL; kind++) {
        struct bench b;
        struct verify_stats s;
        set_up(&b, "conv fwd f16 n1 c2 k1 g1 in2 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw",
               (enum data_kind)kind);
        b.answer.value[0] = 70000;
        b.answer.value[1] = -70000;
        tensor_set(b.result, 0, INFINITY);
        tensor_set(b.result, 1, -INFINITY);
        measure(&s, &b);
        assert_int_equal(s.mismatches, 0);
        assert_int_equal(s.infs, 0);
        tensor_set(b.result, 0, -INFINITY);
        tensor_set(b.result, 1, -65504);
        measure(&s, &b);
        assert_int_equal(s.mismatches, 2);
        tear_down(&b);
    }
}

/* An i8 result saturates: the right value is the clamped one. */
static void a_saturated_integer_is_right(void **state)
{
    (void)state;
    struct bench b;
    struct verify_stats s;
    set_up(&b, "conv fwd i8:i8:i8 n1 c2 k1 g1 in2 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw",
           DATA_INTEGER);
    b.answer.value[0] = 1000;
    b.answer.value[1] = -1000;
    tensor_set(b.result, 0, 127);
    tensor_set(b.result, 1, -128);
    measure(&s, &b);
    assert_int_equal(s.mismatches, 0);
    tensor_set(b.result, 0, 126);
    measure(&s, &b);
    assert_int_equal(s.mismatches, 1);
    assert_true(s.worst_expected == 127 && s.worst_actual == 126);
    tear_down(&b);
}

static void the_histogram_counts_by_ratio(void **state)
{
    (void)state;
    struct bench b;
    struct verify_stats s;
    set_up(&b, "conv fwd f32 n1 c64 k1 g1 in8 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw", DATA_REAL);
    static const double ratios[8] = {0, 0.1, 0.2, 0.4, 0.8, 1.5, 10, 40};
    for (int i = 0; i < 8; i++) {
        double tol = bound(&b, i);
        b.answer.value[i] = 0; /* the bound depends on it, so it is set before the wanted error */
        tol = bound(&b, i);
        tensor_set(b.result, i, ratios[i] * tol);
    }
    measure(&s, &b);
    for (int i = 0; i < 8; i++)
        assert_int_equal(s.histogram[i], 1);
    assert_int_equal(s.mismatches, 3);
    assert_true(fabs(s.worst_ratio - 40) < 0.001);
    tear_down(&b);
}

/* One door to both references: a right result by projection, a wrong one by the reference, with the
 * same words as verify_measure. */
static void a_result_is_judged_by_either_reference(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct bench b;
        struct verify_stats door, measured;
        set_up(&b,
               "conv fwd f32 n2 c8 k8 g1 in9x9 fil3x3 str1x1 dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw",
               i ? DATA_REAL : DATA_INTEGER);
        write_right_result(&b);
        for (int wrong = 0; wrong < 2; wrong++) {
            if (wrong)
                tensor_set(b.result, 77, 12345);
            measure(&measured, &b);
            assert_ok(verify_result(&door, NULL, &b.p, b.t, b.kind, b.accumulator, 1, 0));
            assert_int_equal(door.elements, measured.elements);
            assert_int_equal(door.mismatches, wrong);
            assert_int_equal(measured.mismatches, wrong);
            assert_int_equal(door.zeros, measured.zeros);
            assert_int_equal(door.guard_low + door.guard_high, 0);
            assert_int_equal(door.channel_first, measured.channel_first);
            if (!i)
                assert_memory_equal(door.histogram, measured.histogram, sizeof door.histogram);
        }
        tear_down(&b);
    }
}

/* Whole numbers whose norms stay below the accumulator's significand, and nothing else. */
static void exactness_is_proved_by_the_operands(void **state)
{
    (void)state;
    struct bench b;
    static const char line[] = "conv fwd f32 n1 c64 k4 g1 in8 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw";
    set_up(&b, line, DATA_INTEGER);
    assert_true(verify_is_exact(&b.p, b.t, &b.answer, ACCUMULATOR_F32_FMA));
    assert_false(verify_is_exact(&b.p, b.t, &b.answer, ACCUMULATOR_F16));
    tensor_set(&b.t[OPERAND_FILTER], 5, 0.5);
    assert_false(verify_is_exact(&b.p, b.t, &b.answer, ACCUMULATOR_F32_FMA));
    tensor_set(&b.t[OPERAND_FILTER], 5, INFINITY);
    assert_false(verify_is_exact(&b.p, b.t, &b.answer, ACCUMULATOR_F32_FMA));
    tear_down(&b);
}

/* Two elements: 3 for 4 and -4 exactly. */
static void others_measure_as_they_do(void **state)
{
    (void)state;
    struct bench b;
    struct verify_others m;
    set_up(&b, "conv fwd f32 n1 c1 k1 g1 in2 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw", DATA_REAL);
    b.answer.value[0] = 4;
    b.answer.value[1] = -4;
    tensor_set(b.result, 0, 3);
    tensor_set(b.result, 1, -4);
    m = (struct verify_others){.atol = 0.5, .rtol = 0.1};
    verify_as_others(&m, b.result, &b.answer);
    assert_true(fabs(m.rms - 1 / (sqrt(2) * 4)) < 1e-15);
    assert_int_equal(m.beyond, 1);
    m.atol = 0.6;
    verify_as_others(&m, b.result, &b.answer);
    assert_int_equal(m.beyond, 0);
    tensor_set(b.result, 1, NAN);
    m = (struct verify_others){.atol = 1e9};
    verify_as_others(&m, b.result, &b.answer);
    assert_true(isnan(m.rms));
    assert_int_equal(m.beyond, 1);
    tear_down(&b);
}

static void accumulators_have_names(void **state)
{
    (void)state;
    static const char *const names[] = {"fma", "f32",        "truncating", "tf32", "split-f16",
                                        "f16", "split-bf16", "bf16",       "i32"};
    static const int bits[] = {24, 24, 24, 22, 11, 11, 8, 8, 31};
    enum accumulator a;
    for (int i = 0; i < 9; i++) {
        assert_non_null(accumulator_words((enum accumulator)i));
        assert_true(accumulator_parse(&a, names[i]));
        assert_int_equal(a, i);
        assert_string_equal(accumulator_name(a), names[i]);
        assert_int_equal(accumulator_bits(a), bits[i]);
    }
    assert_false(accumulator_parse(&a, "f64"));
    assert_false(accumulator_parse(&a, ""));
}

static void a_short_text_is_cut(void **state)
{
    (void)state;
    struct bench b;
    struct verify_stats s;
    char text[6];
    set_up(&b, type_lines[0], DATA_REAL);
    measure(&s, &b);
    assert_string_equal(verify_signature(text, sizeof text, &b.p, &s), "unwri");
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_right_result_is_right),
        cmocka_unit_test(the_tolerance_is_the_published_bound),
        cmocka_unit_test(one_number_over_the_tolerance_is_off),
        cmocka_unit_test(one_wrong_element_is_located),
        cmocka_unit_test(of_exact_data_the_largest_error_is_the_worst),
        cmocka_unit_test(nan_and_infinity_are_off),
        cmocka_unit_test(eight_bit_results_are_held_to_their_type),
        cmocka_unit_test(unwritten_elements_are_told_apart),
        cmocka_unit_test(all_zeros_are_off),
        cmocka_unit_test(damaged_guards_are_counted_by_side),
        cmocka_unit_test(the_place_is_counted_and_signed),
        cmocka_unit_test(counts_by_place),
        cmocka_unit_test(the_border_of_strided_backward_data),
        cmocka_unit_test(right_accumulation_in_any_order_is_never_flagged),
        cmocka_unit_test(integer_data_are_exact_in_any_order),
        cmocka_unit_test(f16_accumulation_is_off_by_the_f32_profile_and_right_by_its_own),
        cmocka_unit_test(a_forced_overflow_is_right),
        cmocka_unit_test(a_saturated_integer_is_right),
        cmocka_unit_test(the_histogram_counts_by_ratio),
        cmocka_unit_test(less_precision_is_flagged_and_named),
        cmocka_unit_test(a_lost_product_looks_like_nothing),
        cmocka_unit_test(a_result_is_judged_by_either_reference),
        cmocka_unit_test(exactness_is_proved_by_the_operands),
        cmocka_unit_test(others_measure_as_they_do),
        cmocka_unit_test(accumulators_have_names),
        cmocka_unit_test(a_short_text_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
