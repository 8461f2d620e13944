#include "test.h"

#include "folder.h"
#include "harness/bundle.h"

static const char PROBLEM[] =
    "conv fwd f32 n1 c8 k8 g1 in8x8 fil3x3 str1x1 dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw";

static struct bundle sample(struct folder *f)
{
    struct bundle b = {.arch = "x86-64-v3",
                       .count = 2,
                       .kernels = ARENA_ARRAY(&f->arena, 2, struct bundle_kernel)};
    assert_ok(problem_parse(&b.problem, PROBLEM));
    b.kernels[0] = (struct bundle_kernel){.name = "first",
                                          .grid = {7, 1, 1},
                                          .block = {1, 1, 1},
                                          .code = "\177ELF\0abc",
                                          .code_bytes = 8};
    b.kernels[1] = (struct bundle_kernel){.name = "second",
                                          .grid = {3, 2, 1},
                                          .block = {64, 1, 1},
                                          .code = "end\nxyz",
                                          .code_bytes = 7};
    assert_ok(bundle_seal(&b));
    return b;
}

static void bundle__comes_back_as_it_was(void **state)
{
    struct folder *f = *state;
    struct bundle in = sample(f), out;
    char *path = fs_join(&f->arena, f->path, "b");
    assert_ok(bundle_write(&in, path));
    assert_ok(bundle_read(&out, &f->arena, path));
    assert_true(problem_equal(&in.problem, &out.problem));
    assert_string_equal(out.arch, in.arch);
    assert_string_equal(out.code_id, in.code_id);
    assert_int_equal(out.code_bytes, 15);
    assert_int_equal(out.count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(out.kernels[i].name, in.kernels[i].name);
        assert_memory_equal(&out.kernels[i].grid, &in.kernels[i].grid, sizeof in.kernels[i].grid);
        assert_memory_equal(&out.kernels[i].block, &in.kernels[i].block,
                            sizeof in.kernels[i].block);
        assert_int_equal(out.kernels[i].code_bytes, in.kernels[i].code_bytes);
        assert_memory_equal(out.kernels[i].code, in.kernels[i].code, in.kernels[i].code_bytes);
    }
}

/* Anything that would change what runs changes the id. */
static void bundle_seal__sees_code_and_geometry(void **state)
{
    struct folder *f = *state;
    struct bundle a = sample(f), b = sample(f);
    assert_string_equal(a.code_id, b.code_id);
    b.kernels[0].grid.x = 8;
    assert_ok(bundle_seal(&b));
    assert_string_not_equal(a.code_id, b.code_id);
    b = sample(f);
    b.kernels[1].code = "end\nxyZ";
    assert_ok(bundle_seal(&b));
    assert_string_not_equal(a.code_id, b.code_id);
}

/* Cut anywhere, or lying about its sizes: refused in words, never read beyond its end. */
static void bundle_read__refuses_damage(void **state)
{
    struct folder *f = *state;
    struct bundle in = sample(f), out;
    struct buf bytes;
    char *path = fs_join(&f->arena, f->path, "b");
    assert_ok(bundle_write(&in, path));
    buf_init(&bytes, BUF_MAX_FILE);
    assert_ok(fs_read(&bytes, path));
    for (size_t length = 0; length < bytes.length; length++) {
        assert_ok(fs_write(path, bytes.data, length));
        assert_fails(bundle_read(&out, &f->arena, path), ERR_INVALID, "is no bundle");
    }
    buf_release(&bytes);
    static const char *const lies[] = {
        "assay-bundle 2\nend\n",
        "assay-bundle 1\nend\n",
        "assay-bundle 1\nproblem conv nonsense\nend\n",
        "assay-bundle 1\nwhatever\nend\n",
        "assay-bundle 1\narch x\nkernel only-a-name\nend\n",
        "assay-bundle 1\narch x\nkernel k 1 1 1 1 1 1 18446744073709551615\nend\n",
    };
    for (size_t i = 0; i < COUNT_OF(lies); i++)
        assert_int_equal(bundle_read(&out, &f->arena, folder_file(f, "lie", lies[i])), ERR_INVALID);
    assert_int_equal(bundle_read(&out, &f->arena, "/nowhere/b"), ERR_NOTFOUND);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_setup, folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bundle__comes_back_as_it_was),
        TEST(bundle_seal__sees_code_and_geometry),
        TEST(bundle_read__refuses_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
