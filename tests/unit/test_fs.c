/* fs.c: paths, whole files, folders, locks. */
#include "test.h"

#include "folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *at(struct folder *f, const char *name)
{
    return fs_join(&f->arena, f->path, name);
}

static void joins_and_splits_paths(void **state)
{
    struct arena *a = &((struct folder *)*state)->arena;
    assert_string_equal(fs_join(a, "a", "b"), "a/b");
    assert_string_equal(fs_join(a, "a/", "b"), "a/b");
    assert_string_equal(fs_join(a, "/", "b"), "/b");
    assert_string_equal(fs_join(a, "a", "/b"), "/b");
    assert_string_equal(fs_dirname(a, "a/b/c"), "a/b");
    assert_string_equal(fs_dirname(a, "a//c"), "a");
    assert_string_equal(fs_dirname(a, "a/b/"), "a");
    assert_string_equal(fs_dirname(a, "/c"), "/");
    assert_string_equal(fs_dirname(a, "/"), "/");
    assert_string_equal(fs_dirname(a, "c"), ".");
    assert_string_equal(fs_basename("a/b/c"), "c");
    assert_string_equal(fs_basename("c"), "c");
}

static void absolute_resolves_links(void **state)
{
    struct folder *f = *state;
    char *real;
    folder_file(f, "d/file", "x");
    assert_int_equal(symlink("d", at(f, "link")), 0);
    assert_ok(fs_absolute(&real, &f->arena, at(f, "link/../d/./file")));
    assert_string_equal(real, at(f, "d/file"));
    assert_fails(fs_absolute(&real, &f->arena, at(f, "absent")), ERR_NOTFOUND,
                 "absent: No such file");
}

static void writes_and_reads_whole_files(void **state)
{
    struct folder *f = *state;
    struct buf b;
    buf_init(&b, BUF_MAX_FILE);
    size_t length = 200001;
    char *bytes = xmalloc(length);
    for (size_t i = 0; i < length; i++)
        bytes[i] = (char)(i * 7);
    assert_ok(fs_write(at(f, "bin"), bytes, length));
    buf_add_text(&b, "before");
    assert_ok(fs_read(&b, at(f, "bin")));
    assert_int_equal(b.length, length + 6);
    assert_memory_equal(b.data + 6, bytes, length);
    assert_ok(fs_write_text(at(f, "bin"), ""));
    buf_clear(&b);
    assert_ok(fs_read(&b, at(f, "bin")));
    assert_int_equal(b.length, 0);
    free(bytes);
    buf_release(&b);
}

static void reading_has_a_maximum_and_names_the_file(void **state)
{
    struct folder *f = *state;
    struct buf b;
    buf_init(&b, 4);
    char *path = folder_file(f, "five", "12345");
    assert_fails(fs_read(&b, path), ERR_LIMIT, "five is larger than 4 bytes");
    buf_clear(&b);
    assert_ok(fs_read(&b, folder_file(f, "four", "1234")));
    assert_fails(fs_read(&b, at(f, "none")), ERR_NOTFOUND, "none: No such file");
    assert_fails(fs_read(&b, at(f, "four/below")), ERR_NOTFOUND, "below: Not a directory");
    assert_fails(fs_read(&b, f->path), ERR_IO, "Is a directory");
    buf_release(&b);
}

static void a_failed_write_leaves_nothing(void **state)
{
    struct folder *f = *state;
    char **names;
    size_t count;
    assert_fails(fs_write_text(at(f, "no/such"), "x"), ERR_IO, "writing");
    assert_ok(fs_make_folders(at(f, "taken/inside")));
    assert_fails(fs_write_text(at(f, "taken"), "x"), ERR_IO, "renaming to");
    assert_ok(fs_list(&names, &count, &f->arena, f->path));
    assert_int_equal(count, 1);
    assert_string_equal(names[0], "taken");
}

static void folders_are_made_listed_and_removed(void **state)
{
    struct folder *f = *state;
    char **names;
    size_t count;
    assert_ok(fs_make_folders(at(f, "a/b/c")));
    assert_ok(fs_make_folders(at(f, "a/b/c/")));
    assert_true(fs_is_folder(at(f, "a/b/c")));
    folder_file(f, "a/file", "123");
    assert_false(fs_is_folder(at(f, "a/file")));
    assert_true(fs_exists(at(f, "a/file")));
    assert_fails(fs_make_folders(at(f, "a/file/x")), ERR_IO, "a/file");
    assert_fails(fs_make_folders(""), ERR_IO, "folder");
    assert_ok(fs_list(&names, &count, &f->arena, at(f, "a/b/c")));
    assert_int_equal(count, 0);
    for (int i = 39; i >= 0; i--)
        folder_file(f, arena_printf(&f->arena, "a/b/%02d", i), "");
    assert_ok(fs_list(&names, &count, &f->arena, at(f, "a/b")));
    assert_int_equal(count, 41);
    for (size_t i = 1; i < count; i++)
        assert_true(strcmp(names[i - 1], names[i]) < 0);
    assert_fails(fs_list(&names, &count, &f->arena, at(f, "none")), ERR_NOTFOUND, "none");
    assert_fails(fs_list(&names, &count, &f->arena, at(f, "a/file")), ERR_IO, "a/file");
    assert_ok(fs_remove_tree(at(f, "a")));
    assert_false(fs_exists(at(f, "a")));
    assert_ok(fs_remove_tree(at(f, "a")));
}

static void removal_does_not_follow_links(void **state)
{
    struct folder *f = *state;
    folder_file(f, "keep/file", "x");
    assert_ok(fs_make_folders(at(f, "gone")));
    assert_int_equal(symlink(at(f, "keep"), at(f, "gone/link")), 0);
    assert_int_equal(symlink(at(f, "keep"), at(f, "link")), 0);
    assert_ok(fs_remove_tree(at(f, "gone")));
    assert_ok(fs_remove_tree(at(f, "link")));
    assert_false(fs_exists(at(f, "gone")));
    assert_true(fs_exists(at(f, "keep/file")));
}

static void tree_bytes_counts_regular_files(void **state)
{
    struct folder *f = *state;
    folder_file(f, "t/one", "12345");
    folder_file(f, "t/d/e/two", "123");
    assert_int_equal(symlink("one", at(f, "t/link")), 0);
    assert_int_equal(fs_tree_bytes(at(f, "t")), 8);
    assert_int_equal(fs_tree_bytes(at(f, "t/one")), 5);
    assert_int_equal(fs_tree_bytes(at(f, "none")), 0);
    assert_int_equal(err_code(), 0);
}

static void copies_keep_their_mode(void **state)
{
    struct folder *f = *state;
    struct stat s;
    struct buf b;
    char *from = folder_file(f, "from", "#!/bin/sh\n");
    assert_int_equal(chmod(from, 0775), 0);
    mode_t mask = umask(077);
    int status = fs_copy_file(from, at(f, "to"));
    umask(mask);
    assert_ok(status);
    assert_int_equal(stat(at(f, "to"), &s), 0);
    assert_int_equal(s.st_mode & 07777, 0775);
    buf_init(&b, BUF_MAX_LINE);
    assert_ok(fs_read(&b, at(f, "to")));
    assert_string_equal(b.data, "#!/bin/sh\n");
    buf_release(&b);
    assert_fails(fs_copy_file(at(f, "none"), at(f, "x")), ERR_NOTFOUND, "none");
    assert_fails(fs_copy_file(f->path, at(f, "x")), ERR_INVALID, "no regular file");
}

/* A child that holds the lock until its pipe is closed. */
static pid_t hold_lock(const char *path, int *release)
{
    int ready[2], end[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(end), 0);
    pid_t child = fork();
    if (child == 0) {
        int lock;
        close(end[1]);
        if (fs_lock(&lock, path, false, NULL, NULL) < 0 || write(ready[1], "x", 1) != 1)
            _exit(1);
        _exit(read(end[0], &byte, 1) != 0);
    }
    close(end[0]);
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    *release = end[1];
    return child;
}

struct told {
    struct arena *arena;
    const char *holder;
    int calls, release;
};

static void note_holder(const char *holder, void *payload)
{
    struct told *t = payload;
    t->holder = arena_strdup(t->arena, holder);
    t->calls++;
    close(t->release);
}

static void a_lock_is_held_by_one(void **state)
{
    struct folder *f = *state;
    char *path = at(f, "lock");
    int lock, release, status;
    pid_t holder = hold_lock(path, &release);
    assert_fails(fs_lock(&lock, path, false, NULL, NULL), ERR_BUSY,
                 arena_printf(&f->arena, "process %d", (int)holder));
    /* The one who waits is told of whom, which here lets the holder end. */
    struct told told = {.release = release, .arena = &f->arena};
    assert_ok(fs_lock(&lock, path, true, note_holder, &told));
    assert_int_equal(told.calls, 1);
    assert_string_equal(told.holder, arena_printf(&f->arena, "process %d", (int)holder));
    assert_int_equal(waitpid(holder, &status, 0), holder);
    assert_int_equal(status, 0);
    fs_unlock(lock);
    assert_ok(fs_lock(&lock, path, true, note_holder, &told));
    assert_int_equal(told.calls, 1);
    fs_unlock(lock);
    assert_fails(fs_lock(&lock, at(f, "no/lock"), false, NULL, NULL), ERR_IO, "no/lock");
}

static void a_lock_ends_with_its_process(void **state)
{
    struct folder *f = *state;
    int lock, release, status;
    pid_t holder = hold_lock(at(f, "lock"), &release);
    assert_int_equal(kill(holder, SIGKILL), 0);
    assert_int_equal(waitpid(holder, &status, 0), holder);
    assert_ok(fs_lock(&lock, at(f, "lock"), false, NULL, NULL));
    fs_unlock(lock);
    close(release);
}

/* Between taking the lock and writing its pid a holder has no name. */
static void a_holder_may_be_unknown(void **state)
{
    struct folder *f = *state;
    int lock, other;
    assert_ok(fs_lock(&lock, at(f, "lock"), false, NULL, NULL));
    assert_int_equal(truncate(at(f, "lock"), 0), 0);
    assert_fails(fs_lock(&other, at(f, "lock"), false, NULL, NULL), ERR_BUSY,
                 "is held by another process");
    fs_unlock(lock);
}

static void self_is_this_program(void **state)
{
    struct folder *f = *state;
    char *self;
    assert_ok(fs_self(&self, &f->arena));
    assert_string_equal(fs_basename(self), "test_fs");
    assert_true(fs_exists(self));
}

static void use_is_known_by_its_time(void **state)
{
    struct folder *f = *state;
    const char *path = folder_file(f, "used", "x");
    const struct timespec long_ago[2] = {{.tv_sec = 5}, {.tv_sec = 5, .tv_nsec = 7}};
    assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
    assert_int_equal(fs_modified_ns(path), 5000000007);
    fs_touch(path);
    assert_true(fs_modified_ns(path) > 1000000000000000000);
    assert_int_equal(fs_modified_ns("/assay/no/such/file"), 0);
    fs_touch("/assay/no/such/file");
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(joins_and_splits_paths),
        IN_FOLDER(absolute_resolves_links),
        IN_FOLDER(writes_and_reads_whole_files),
        IN_FOLDER(reading_has_a_maximum_and_names_the_file),
        IN_FOLDER(a_failed_write_leaves_nothing),
        IN_FOLDER(folders_are_made_listed_and_removed),
        IN_FOLDER(removal_does_not_follow_links),
        IN_FOLDER(tree_bytes_counts_regular_files),
        IN_FOLDER(use_is_known_by_its_time),
        IN_FOLDER(copies_keep_their_mode),
        IN_FOLDER(a_lock_is_held_by_one),
        IN_FOLDER(a_holder_may_be_unknown),
        IN_FOLDER(a_lock_ends_with_its_process),
        IN_FOLDER(self_is_this_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
