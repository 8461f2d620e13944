#include "folder.h"
#include "test.h"

#include "harness/dump.h"
#include "src/fs.h"

#include <math.h>

// clang-format off
static const char *const lines[] = {
    "conv fwd f32 n2 c4 k6 g2 in3x5 fil2x2 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw",
    "conv fwd f16 n2 c4 k6 g2 in3x5 fil2x2 str1x1 dil1x1 pad0:0x0:0 nhwgc gkyxc nhwgk",
    "conv fwd bf16 n2 c4 k6 g1 in3 fil2 str1 dil1 pad0:0 ngcw gkcx ngkw",
    "conv fwd f8e4m3fn:f8e5m2fnuz:f16 n2 c4 k6 g2 in3x5 fil2x2 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw",
    "conv fwd i8:i8:i32 n2 c4 k6 g1 in3x3x3 fil2x2x2 str1x1x1 dil1x1x1 pad0:0x0:0x0:0 ngcdhw gkczyx ngkdhw",
};
// clang-format on

static void dump__reads_what_it_writes(void **state)
{
    struct folder *f = *state;
    const char *path = fs_join(&f->arena, f->path, "t.npy");
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct problem p;
        assert_ok(problem_parse(&p, lines[i]));
        for (enum operand o = OPERAND_INPUT; o <= OPERAND_OUTPUT; o++) {
            struct tensor written, read;
            tensor_init(&written, &p, o);
            tensor_init(&read, &p, o);
            tensor_fill(&written, DATA_INTEGER, 3, o, 5);
            assert_ok(dump_write(path, &written, &p, o));
            assert_ok(dump_read(&read, &p, o, path));
            assert_memory_equal(read.data, written.data, written.bytes);
            tensor_release(&written);
            tensor_release(&read);
        }
    }
}

/* A file as NumPy would write it: header, padding, elements. */
static const char *npy_file(struct folder *f, const char *descr, const char *shape,
                            const void *elements, size_t bytes)
{
    struct buf text;
    const char *path = fs_join(&f->arena, f->path, "n.npy");
    buf_init(&text, BUF_MAX_FILE);
    char *header = arena_printf(
        &f->arena, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n", descr, shape);
    const char start[10] = {(char)0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (char)strlen(header), 0};
    buf_add(&text, start, sizeof start);
    buf_add_text(&text, header);
    buf_add(&text, elements, bytes);
    assert_ok(fs_write(path, text.data, text.length));
    buf_release(&text);
    return path;
}

static int read_as(struct tensor *t, const char *line, const char *path)
{
    struct problem p;
    assert_ok(problem_parse(&p, line));
    tensor_init(t, &p, OPERAND_INPUT);
    return dump_read(t, &p, OPERAND_INPUT, path);
}

#define SIX_F16 "conv fwd f16 n1 c2 k1 g1 in3 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw"

/* Each shape says the same of six elements. */
static void dump__knows_a_shape_in_other_words(void **state)
{
    struct folder *f = *state;
    static const float six[6] = {1, 2, 3, 4, 5, 6.5f};
    static const char *const shapes[] = {"(1, 1, 2, 3)", "(1, 2, 3)", "(2, 3)", "(6,)", "(2L, 3L)"};
    struct tensor t;
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        assert_ok(read_as(&t, SIX_F16, npy_file(f, "<f4", shapes[i], six, sizeof six)));
        assert_true(tensor_get(&t, 5) == 6.5);
        tensor_release(&t);
    }
    assert_fails(read_as(&t, SIX_F16, npy_file(f, "<f4", "(3, 2)", six, sizeof six)), ERR_INVALID,
                 "shape (3, 2), where ngcw has (1, 1, 2, 3)");
    tensor_release(&t);
}

/* With groups c is merged with g, where g stands before it. */
static void dump__merges_groups(void **state)
{
    struct folder *f = *state;
    static const float four[4] = {1, 2, 3, 4};
    struct tensor t;
    assert_ok(read_as(&t, "conv fwd f32 n1 c4 k2 g2 in1 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw",
                      npy_file(f, "<f4", "(1, 4, 1)", four, sizeof four)));
    tensor_release(&t);
    assert_fails(read_as(&t, "conv fwd f32 n1 c4 k2 g2 in1 fil1 str1 dil1 pad0:0 gncw gkcx ngkw",
                         npy_file(f, "<f4", "(4, 1, 1, 1)", four, sizeof four)),
                 ERR_INVALID, "shape (4, 1, 1, 1)");
    tensor_release(&t);
}

static void dump__takes_wider_elements_that_are_exact(void **state)
{
    struct folder *f = *state;
    static const double good[6] = {1, -2, 0.5, 65504, INFINITY, NAN}, bad[6] = {1, 2, 3, 0.1, 5, 6};
    static const int64_t whole[6] = {1, 2, 3, 4, 5, 2048};
    struct tensor t;
    assert_ok(read_as(&t, SIX_F16, npy_file(f, "<f8", "(2, 3)", good, sizeof good)));
    assert_true(tensor_get(&t, 3) == 65504 && isnan(tensor_get(&t, 5)));
    tensor_release(&t);
    assert_ok(read_as(&t, SIX_F16, npy_file(f, "<i8", "(2, 3)", whole, sizeof whole)));
    tensor_release(&t);
    assert_fails(read_as(&t, SIX_F16, npy_file(f, "<f8", "(2, 3)", bad, sizeof bad)), ERR_INVALID,
                 "element 3 is 0.1, which is no f16");
    tensor_release(&t);
}

/* Raw f32 where the type has 16 bits, as tools dump that widen. */
static void dump__tells_raw_files_by_their_size(void **state)
{
    struct folder *f = *state;
    static const float six[6] = {1, 2, 3, 4, 5, 6.5f};
    const char *path = fs_join(&f->arena, f->path, "raw");
    struct tensor t;
    assert_ok(fs_write(path, (const char *)six, sizeof six));
    assert_ok(read_as(&t, SIX_F16, path));
    assert_true(tensor_get(&t, 5) == 6.5);
    tensor_release(&t);
    assert_ok(fs_write(path, (const char *)six, 20));
    assert_fails(read_as(&t, SIX_F16, path), ERR_INVALID,
                 "raw: 20 bytes, where 6 elements of f16 are 12");
    tensor_release(&t);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_setup, folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(dump__reads_what_it_writes),
        TEST(dump__knows_a_shape_in_other_words),
        TEST(dump__merges_groups),
        TEST(dump__takes_wider_elements_that_are_exact),
        TEST(dump__tells_raw_files_by_their_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
