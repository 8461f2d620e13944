#include "test.h"

#include "reference/problem.h"

static const char line_2d[] = "conv bwd_data f32 n32 c32 k32 g1 in14x14 fil3x3 str1x1 dil1x1 "
                              "pad1:1x1:1 ngchw gkcyx ngkhw";

static void assert_round_trip(const char *line)
{
    struct problem p, again;
    char text[PROBLEM_MAX_TEXT];
    assert_ok(problem_parse(&p, line));
    assert_string_equal(problem_print(text, &p), line);
    assert_ok(problem_check(&p));
    assert_ok(problem_parse(&again, text));
    assert_true(problem_equal(&p, &again));
}

static void canonical_lines_keep_their_bytes(void **state)
{
    (void)state;
    assert_round_trip(line_2d);
    assert_round_trip("conv fwd f16 n1 c4 k6 g2 in9 fil3 str2 dil1 pad0:2 nwgc kxgc ngkw");
    assert_round_trip("conv bwd_weight bf16 n2 c3 k5 g1 in5x6x7 fil1x2x3 str1x2x3 dil3x2x1 "
                      "pad0:1x2:3x4:5 ndhwgc gkczyx wgknhd");
    assert_round_trip("conv fwd i8:i8:i32 n1 c8 k8 g8 in7x7 fil7x7 str1x1 dil1x1 pad0:0x0:0 "
                      "nhwgc kyxgc nhwgk");
    assert_round_trip("conv fwd i8:i8:i8 n1 c1 k1 g1 in1 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw");
    assert_round_trip("conv fwd i8:i8:f32 n1 c1 k1 g1 in1 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw");
    assert_round_trip("conv fwd f16:f16:f32 n1 c1 k1 g1 in1 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw");
}

static void every_field_arrives(void **state)
{
    (void)state;
    struct problem p;
    assert_ok(problem_parse(&p, "conv bwd_weight f16:bf16:f32 n2 c6 k9 g3 in10x11 fil3x2 str2x1 "
                                "dil1x4 pad0:1x2:3 nhwgc gkyxc ngkhw"));
    assert_int_equal(p.direction, DIRECTION_BWD_WEIGHT);
    assert_int_equal(p.dtype[OPERAND_INPUT], DTYPE_F16);
    assert_int_equal(p.dtype[OPERAND_FILTER], DTYPE_BF16);
    assert_int_equal(p.dtype[OPERAND_OUTPUT], DTYPE_F32);
    assert_int_equal(p.dims, 2);
    const int64_t counts[] = {p.n, p.c, p.k, p.g, p.in[0], p.in[1], p.fil[0], p.fil[1]};
    const int64_t right_counts[] = {2, 6, 9, 3, 10, 11, 3, 2};
    assert_memory_equal(counts, right_counts, sizeof counts);
    const int64_t rest[] = {p.str[0],    p.str[1],    p.dil[0],    p.dil[1],
                            p.pad_lo[0], p.pad_hi[0], p.pad_lo[1], p.pad_hi[1]};
    const int64_t right_rest[] = {2, 1, 1, 4, 0, 1, 2, 3};
    assert_memory_equal(rest, right_rest, sizeof rest);
    assert_string_equal(p.layout[OPERAND_INPUT], "nhwgc");
    assert_string_equal(p.layout[OPERAND_FILTER], "gkyxc");
    assert_string_equal(p.layout[OPERAND_OUTPUT], "ngkhw");
}

static void i8_alone_sums_in_i32(void **state)
{
    (void)state;
    struct problem p;
    char text[PROBLEM_MAX_TEXT];
    assert_ok(
        problem_parse(&p, "conv fwd i8 n1 c1 k1 g1 in1 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw"));
    assert_int_equal(p.dtype[OPERAND_OUTPUT], DTYPE_I32);
    assert_non_null(strstr(problem_print(text, &p), " i8:i8:i32 "));
}

/* A line with one fault, and what the message must hold. */
static const struct {
    const char *line, *message;
} faults[] = {
    {"", "column 1: the line ends where the word conv should stand"},
    {"convolution fwd", "column 1: \"convolution\": a problem starts with \"conv\""},
    {"conv", "column 5: the line ends where the direction should stand, as in \"fwd\""},
    {"conv ", "column 6: the line ends where the direction"},
    {"conv  fwd", "column 6: a blank too many where the direction"},
    {"conv bwddata f32", "column 6: \"bwddata\": no direction is called \"bwddata\"; "
                         "did you mean \"bwd_data\"?"},
    {"conv sideways f32", "there are fwd, bwd_data, bwd_weight"},
    {"conv fwd bf17 n1", "column 10: \"bf17\": no type is called \"bf17\"; did you mean \"bf16\"?"},
    {"conv fwd f16:f61:f32 n1", "column 10: \"f16:f61:f32\": no type is called \"f61\""},
    {"conv fwd f16:f16 n1", "one type, or three as input:filter:output"},
    {"conv fwd f16:f16:f16:f16 n1", "one type, or three as input:filter:output"},
    {"conv fwd f32:f32:f32 n1", "three equal types are written \"f32\""},
    {"conv fwd f32 c1", "column 14: \"c1\": the batch size should stand here, as in \"n32\""},
    {"conv fwd f32 n", "column 14: \"n\": the batch size"},
    {"conv fwd f32 n01", "without leading zeros"},
    {"conv fwd f32 n-1", "the batch size should stand here"},
    {"conv fwd f32 n16777217", "at most 16777216"},
    {"conv fwd f32 n99999999999999999999999", "at most 16777216"},
    {"conv fwd f32 n1x", "column 14: \"n1x\""},
    {"conv fwd f32 n1 c1 k1 g1 in fil1", "column 26: \"in\": the input size should stand here"},
    {"conv fwd f32 n1 c1 k1 g1 in1x fil1", "column 26: \"in1x\""},
    {"conv fwd f32 n1 c1 k1 g1 in1x1x1x1 fil1",
     "column 26: \"in1x1x1x1\": more than 3 spatial dims"},
    {"conv fwd f32 n1 c1 k1 g1 in4 fil3x3",
     "column 30: \"fil3x3\": 2 spatial dims, but the input has 1"},
    {"conv fwd f32 n1 c1 k1 g1 in4x4 fil3",
     "column 32: \"fil3\": 1 spatial dim, but the input has 2"},
    {"conv fwd f32 n1 c1 k1 g1 in4 fil1 str1 dil1 pad1",
     "column 45: \"pad1\": the pads (low:high per dim)"},
    {"conv fwd f32 n1 c1 k1 g1 in4 fil1 str1 dil1 pad1:", "column 45: \"pad1:\""},
    {"conv fwd f32 n1 c1 k1 g1 in4 fil1 str1 dil1 pad1:1",
     "column 51: the line ends where the input's layout"},
};

static void faults_of_spelling_name_word_and_column(void **state)
{
    (void)state;
    struct problem p;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        assert_fails(problem_parse(&p, faults[i].line), ERR_INVALID, faults[i].message);
}

/* Lines that are well spelt and make no sense. */
static const struct {
    const char *line, *message;
} nonsense[] = {
    {"conv fwd f32 n0 c1 k1 g1 in4 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw",
     "column 14: \"n0\": the batch size must be 1 to 16777216, not 0"},
    {"conv fwd f32 n1 c1 k1 g0 in4 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw",
     "column 23: \"g0\": the groups"},
    {"conv fwd f32 n1 c1 k1 g1 in4 fil1 str0 dil1 pad0:0 ngcw gkcx ngkw",
     "column 35: \"str0\": the strides"},
    {"conv fwd f32 n1 c4 k6 g4 in4 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw",
     "column 23: \"g4\": 4 groups do not divide k6"},
    {"conv fwd f32 n1 c6 k4 g4 in4 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw",
     "4 groups do not divide c6"},
    {"conv fwd f32 n1 c1 k1 g1 in4 fil3 str1 dil2 pad0:0 ngcw gkcx ngkw",
     "column 30: \"fil3\": in dim 1 the filter spans 5, but the padded input only 4"},
    {"conv fwd f32 n1 c1 k1 g1 in4x4 fil1x5 str1x1 dil1x1 pad9:9x0:0 ngchw gkcyx ngkhw",
     "in dim 2 the filter spans 5, but the padded input only 4"},
    {"conv fwd f32 n1048576 c1048576 k1 g1 in1 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw",
     "the input has 2^40 elements or more"},
    {"conv fwd f32 n1 c16777216 k16777216 g1 in1 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw",
     "the filter has 2^40 elements or more"},
    {"conv fwd f32 n1048576 c1 k1 g1 in1 fil1 str1 dil1 pad0:1048576 ngcw gkcx ngkw",
     "the output has 2^40 elements or more"},
    {"conv fwd f32 n16777216 c16777216 k16777216 g1 in16777216x16777216x16777216 fil1x1x1 "
     "str1x1x1 dil1x1x1 pad0:0x0:0x0:0 ngcdhw gkczyx ngkdhw",
     "2^40 elements or more"},
    {"conv bwd_weight f32 n65536 c1 k1 g1 in65536 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw",
     "sums 2^31 products or more"},
    {"conv fwd i32 n1 c1 k1 g1 in4 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw",
     "i32 is a type of outputs only"},
    {"conv fwd f32:i8:f32 n1 c1 k1 g1 in4 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw",
     "f32 and i8 cannot be multiplied"},
    {"conv bwd_data i8:i8:f32 n1 c1 k1 g1 in4 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw",
     "i8 and f32 cannot be multiplied"},
    {"conv fwd f32:f32:i8 n1 c1 k1 g1 in4 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw",
     "f32 sums have no i8 result"},
    {"conv fwd f32 n1 c1 k1 g1 in4x4 fil1x1 str1x1 dil1x1 pad0:0x0:0 nchw gkcyx ngkhw",
     "column 64: \"nchw\": the input's layout is a permutation of \"ngchw\"; did you mean "
     "\"ngchw\"?"},
    {"conv fwd f32 n1 c1 k1 g1 in4x4 fil1x1 str1x1 dil1x1 pad0:0x0:0 ngchw kyxc ngkhw",
     "column 70: \"kyxc\": the filter's layout is a permutation of \"gkcyx\""},
    {"conv fwd f32 n1 c1 k1 g1 in4 fil1 str1 dil1 pad0:0 ngcw gkcx ngkk", "did you mean \"ngkw\"?"},
    {"conv fwd f32 n1 c1 k1 g1 in4 fil1 str1 dil1 pad0:0 ngcwngcwngcw gkcx ngkw",
     "a permutation of \"ngcw\""},
    {"conv fwd f32 n1 c1 k1 g1 in4 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw ",
     "column 66: nothing may follow"},
};

static void nonsense_is_refused(void **state)
{
    (void)state;
    struct problem p;
    for (size_t i = 0; i < sizeof nonsense / sizeof nonsense[0]; i++)
        assert_fails(problem_parse(&p, nonsense[i].line), ERR_INVALID, nonsense[i].message);
}

static void failure_leaves_the_struct_alone(void **state)
{
    (void)state;
    struct problem p, before;
    assert_ok(problem_parse(&p, line_2d));
    before = p;
    assert_fails(problem_parse(&p, "conv fwd f32 n7"), ERR_INVALID, "column");
    assert_true(problem_equal(&p, &before));
}

static void a_struct_made_by_hand_is_checked_without_columns(void **state)
{
    (void)state;
    struct problem good, p;
    assert_ok(problem_parse(&good, line_2d));
    p = good, p.g = 5;
    assert_fails(problem_check(&p), ERR_INVALID, "the groups: 5 groups do not divide c32");
    p = good, p.pad_lo[1] = -1;
    assert_fails(problem_check(&p), ERR_INVALID, "the pads (low:high per dim): the pads");
    p = good, p.dims = 4;
    assert_fails(problem_check(&p), ERR_INVALID, "spatial dims: 4");
    p = good, p.direction = (enum direction)3;
    assert_fails(problem_check(&p), ERR_INVALID, "the direction: 3");
    p = good, p.dtype[1] = (enum dtype)9;
    assert_fails(problem_check(&p), ERR_INVALID, "the type: 9");
    p = good, memset(p.layout[0], 'n', sizeof p.layout[0]);
    assert_fails(problem_check(&p), ERR_INVALID, "the input's layout");
}

static void equality_sees_every_field(void **state)
{
    (void)state;
    struct problem a, b;
    assert_ok(problem_parse(&a, line_2d));
    b = a, b.in[2] = 99; /* a dim that this problem does not have */
    assert_true(problem_equal(&a, &b));
    int64_t *const fields[] = {&b.n,         &b.c,         &b.k,         &b.g,
                               &b.in[0],     &b.in[1],     &b.fil[0],    &b.fil[1],
                               &b.str[0],    &b.str[1],    &b.dil[0],    &b.dil[1],
                               &b.pad_lo[0], &b.pad_lo[1], &b.pad_hi[0], &b.pad_hi[1]};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        b = a;
        ++*fields[i];
        assert_false(problem_equal(&a, &b));
    }
    b = a, b.direction = DIRECTION_FWD;
    assert_false(problem_equal(&a, &b));
    b = a, b.dims = 1;
    assert_false(problem_equal(&a, &b));
    for (int o = 0; o < 3; o++) {
        b = a, b.dtype[o] = DTYPE_F16;
        assert_false(problem_equal(&a, &b));
        b = a, b.layout[o][0] = 'h';
        assert_false(problem_equal(&a, &b));
    }
}

static void derived_numbers(void **state)
{
    (void)state;
    struct problem p;
    assert_ok(problem_parse(&p, "conv fwd f16:f16:f32 n2 c6 k9 g3 in10x11 fil3x2 str2x3 dil2x4 "
                                "pad0:1x2:3 ngchw gkcyx ngkhw"));
    assert_int_equal(problem_out(&p, 0), 4); /* (10 + 1 - 4 - 1) / 2 + 1 */
    assert_int_equal(problem_out(&p, 1), 4); /* (11 + 5 - 4 - 1) / 3 + 1, rounded down */
    assert_int_equal(problem_elements(&p, OPERAND_INPUT), 2 * 6 * 110);
    assert_int_equal(problem_elements(&p, OPERAND_FILTER), 9 * 2 * 6);
    assert_int_equal(problem_elements(&p, OPERAND_OUTPUT), 2 * 9 * 16);
    assert_int_equal(problem_bytes(&p), 2 * 1320 + 2 * 108 + 4 * 288);
    assert_int_equal(problem_flops(&p), 2 * 288 * 12);
    assert_int_equal(problem_reduction(&p), 12);
    assert_int_equal(problem_result(&p), OPERAND_OUTPUT);
    p.direction = DIRECTION_BWD_DATA;
    assert_int_equal(problem_reduction(&p), 3 * 6);
    assert_int_equal(problem_result(&p), OPERAND_INPUT);
    p.direction = DIRECTION_BWD_WEIGHT;
    assert_int_equal(problem_reduction(&p), 2 * 16);
    assert_int_equal(problem_result(&p), OPERAND_FILTER);
    assert_int_equal(problem_flops(&p), 2 * 288 * 12);
    assert_false(problem_symmetric_pads(&p));
    p.pad_hi[0] = 0, p.pad_hi[1] = 2;
    assert_true(problem_symmetric_pads(&p));
}

static void enormous_flops_saturate(void **state)
{
    (void)state;
    struct problem p;
    assert_ok(problem_parse(&p, "conv fwd f32 n1048575 c1048575 k1048575 g1 in1 fil1 str1 dil1 "
                                "pad0:0 ngcw gkcx ngkw"));
    assert_int_equal(problem_flops(&p), 2 * INT64_C(1048575) * 1048575 * 1048575);
    assert_ok(problem_parse(&p, "conv fwd f32 n1000 c1000 k1000 g1 in1000x1000 fil1000x1000 str1x1 "
                                "dil1x1 pad499:500x499:500 ngchw gkcyx ngkhw"));
    assert_true(problem_flops(&p) == INT64_MAX);
}

static void default_layouts_by_dims(void **state)
{
    (void)state;
    static const char *const right[3][3] = {
        {"ngcw", "gkcx", "ngkw"}, {"ngchw", "gkcyx", "ngkhw"}, {"ngcdhw", "gkczyx", "ngkdhw"}};
    for (int dims = 1; dims <= 3; dims++) {
        struct problem p = {.dims = dims};
        problem_default_layouts(&p);
        for (int o = 0; o < 3; o++)
            assert_string_equal(p.layout[o], right[dims - 1][o]);
    }
}

static void the_longest_line_fits(void **state)
{
    (void)state;
    struct problem p = {.direction = DIRECTION_BWD_WEIGHT,
                        .dtype = {DTYPE_BF16, DTYPE_F16, DTYPE_BF16},
                        .dims = 3,
                        .n = INT64_MAX,
                        .c = INT64_MAX,
                        .k = INT64_MAX,
                        .g = INT64_MAX};
    char text[PROBLEM_MAX_TEXT];
    for (int i = 0; i < 3; i++) {
        p.in[i] = p.fil[i] = p.str[i] = p.dil[i] = p.pad_lo[i] = p.pad_hi[i] = PROBLEM_MAX_SIZE;
    }
    problem_default_layouts(&p);
    assert_true(strlen(problem_print(text, &p)) < PROBLEM_MAX_TEXT);
}

/* Whatever one byte is changed to, the parser refuses or round-trips. */
static void one_changed_byte_is_refused_or_round_trips(void **state)
{
    (void)state;
    char line[sizeof line_2d], text[PROBLEM_MAX_TEXT];
    int accepted = 0;
    for (size_t i = 0; i < sizeof line_2d - 1; i++) {
        for (int c = 1; c < 256; c++) {
            struct problem p;
            memcpy(line, line_2d, sizeof line);
            line[i] = (char)c;
            err_clear();
            if (problem_parse(&p, line) == 0) {
                assert_string_equal(problem_print(text, &p), line);
                accepted++;
            } else {
                assert_int_equal(err_code(), ERR_INVALID);
                assert_true(*err_message() != '\0');
            }
        }
    }
    assert_true(accepted > 50); /* digits become other digits */
}

static void names_and_sizes(void **state)
{
    (void)state;
    assert_string_equal(direction_name(DIRECTION_BWD_WEIGHT), "bwd_weight");
    assert_string_equal(dtype_name(DTYPE_BF16), "bf16");
    const size_t bytes[] = {dtype_bytes(DTYPE_F32), dtype_bytes(DTYPE_F16), dtype_bytes(DTYPE_BF16),
                            dtype_bytes(DTYPE_I8), dtype_bytes(DTYPE_I32)};
    const size_t right[] = {4, 2, 2, 1, 4};
    assert_memory_equal(bytes, right, sizeof bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical_lines_keep_their_bytes),
        cmocka_unit_test(every_field_arrives),
        cmocka_unit_test(i8_alone_sums_in_i32),
        cmocka_unit_test(faults_of_spelling_name_word_and_column),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(failure_leaves_the_struct_alone),
        cmocka_unit_test(a_struct_made_by_hand_is_checked_without_columns),
        cmocka_unit_test(equality_sees_every_field),
        cmocka_unit_test(derived_numbers),
        cmocka_unit_test(enormous_flops_saturate),
        cmocka_unit_test(default_layouts_by_dims),
        cmocka_unit_test(the_longest_line_fits),
        cmocka_unit_test(one_changed_byte_is_refused_or_round_trips),
        cmocka_unit_test(names_and_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
