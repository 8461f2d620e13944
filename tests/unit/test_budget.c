#include "test.h"

#include "folder.h"
#include "harness/budget.h"
#include "src/fs.h"

#include <fcntl.h>
#include <sys/stat.h>

static const struct machine_disk ROOMY = {.artifacts_bytes = 1 << 20,
                                          .bundles_bytes = 1 << 20,
                                          .logs_bytes = 1 << 20,
                                          .slots_bytes = 1 << 20};

static struct workspace *open_in(struct folder *f)
{
    struct workspace *w;
    assert_ok(workspace_init(f->path));
    assert_ok(workspace_open(&w, f->path, true));
    return w;
}

/* A file of 100 bytes in the workspace, used at this second. */
static void put(struct folder *f, const char *path, int64_t second)
{
    char bytes[100] = {0};
    const char *full = fs_join(&f->arena, f->path, arena_printf(&f->arena, ".assay/%s", path));
    assert_ok(fs_make_folders(fs_dirname(&f->arena, full)));
    assert_ok(fs_write(full, bytes, sizeof bytes));
    const struct timespec times[2] = {{.tv_sec = second}, {.tv_sec = second}};
    assert_int_equal(utimensat(AT_FDCWD, full, times, 0), 0);
    assert_int_equal(utimensat(AT_FDCWD, fs_dirname(&f->arena, full), times, 0), 0);
}

static bool has(struct folder *f, const char *path)
{
    return fs_exists(fs_join(&f->arena, f->path, arena_printf(&f->arena, ".assay/%s", path)));
}

static void enough_room_touches_nothing(void **state)
{
    struct folder *f = *state;
    struct workspace *w = open_in(f);
    int64_t freed;
    size_t count;
    put(f, "artifacts/a/lib.so", 1);
    put(f, "logs/x.log", 1);
    assert_ok(budget_enforce(&freed, &count, w, &ROOMY));
    assert_int_equal(count, 0);
    assert_int_equal(freed, 0);
    assert_true(has(f, "artifacts/a/lib.so") && has(f, "logs/x.log"));
    workspace_close(w);
}

static void the_least_recently_used_goes_first(void **state)
{
    struct folder *f = *state;
    struct workspace *w = open_in(f);
    int64_t freed;
    size_t count;
    put(f, "artifacts/old/lib.so", 100);
    put(f, "artifacts/new/lib.so", 300);
    put(f, "artifacts/middle/lib.so", 200);
    put(f, "bundles/ab/one", 100);
    put(f, "bundles/cd/two", 200);
    put(f, "slots/toy/0/file", 100);
    struct machine_disk disk = ROOMY;
    disk.artifacts_bytes = 150;
    disk.bundles_bytes = 100;
    fs_touch(fs_join(&f->arena, f->path, ".assay/artifacts/old")); /* used just now */
    assert_ok(budget_enforce(&freed, &count, w, &disk));
    assert_int_equal(count, 3);
    assert_int_equal(freed, 300);
    assert_true(has(f, "artifacts/old/lib.so"));
    assert_false(has(f, "artifacts/middle"));
    assert_false(has(f, "artifacts/new"));
    assert_false(has(f, "bundles/ab/one"));
    assert_true(has(f, "bundles/cd/two"));
    assert_true(has(f, "slots/toy/0/file"));
    assert_true(has(f, "store.db"));
    workspace_close(w);
}

static void no_room_at_all_is_a_budget_too(void **state)
{
    struct folder *f = *state;
    struct workspace *w = open_in(f);
    int64_t freed;
    size_t count;
    put(f, "slots/toy/0/file", 1);
    put(f, "slots/other/0/file", 1);
    assert_ok(budget_enforce(&freed, &count, w, &(struct machine_disk){0}));
    assert_int_equal(count, 2);
    assert_false(has(f, "slots/toy") || has(f, "slots/other"));
    workspace_close(w);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_setup, folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(enough_room_touches_nothing),
        TEST(the_least_recently_used_goes_first),
        TEST(no_room_at_all_is_a_budget_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
