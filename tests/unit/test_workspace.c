#include "test.h"

#include "folder.h"
#include "harness/workspace.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void workspace_init__makes_it_once(void **state)
{
    struct folder *f = *state;
    struct workspace *w;
    int64_t epoch, again;
    assert_ok(workspace_init(f->path));
    assert_ok(workspace_open(&w, f->path, true));
    assert_string_equal(w->folder, fs_join(&f->arena, f->path, ".assay"));
    assert_ok(store_epoch(&epoch, w->store, "e"));
    workspace_close(w);
    assert_ok(workspace_init(f->path)); /* what is stored stays */
    assert_ok(workspace_open(&w, f->path, false));
    assert_ok(store_epoch(&again, w->store, "e"));
    assert_int_equal(again, epoch);
    workspace_close(w);
    workspace_close(NULL);
    assert_int_equal(workspace_init("/proc/nowhere"), ERR_IO);
}

/* By name a folder that has .assay, or .assay itself; nothing above it. */
static void workspace_open__takes_the_folder_named(void **state)
{
    struct folder *f = *state;
    struct workspace *w;
    assert_ok(workspace_init(f->path));
    assert_ok(workspace_open(&w, fs_join(&f->arena, f->path, ".assay"), false));
    workspace_close(w);
    char *below = fs_join(&f->arena, f->path, "below");
    assert_ok(fs_make_folders(below));
    assert_fails(workspace_open(&w, below, false), ERR_NOTFOUND, "assay init");
    assert_fails(workspace_open(&w, "/nowhere/at/all", false), ERR_NOTFOUND, "/nowhere/at/all");
}

static void workspace_open__searches_upwards_from_here(void **state)
{
    struct folder *f = *state;
    struct workspace *w;
    char *back, *below = fs_join(&f->arena, f->path, "a/b/c");
    assert_ok(fs_absolute(&back, &f->arena, "."));
    assert_ok(fs_make_folders(below));
    assert_int_equal(chdir(below), 0);
    assert_fails(workspace_open(&w, NULL, false), ERR_NOTFOUND, "or above");
    assert_ok(workspace_init(f->path));
    assert_ok(workspace_open(&w, NULL, false));
    assert_string_equal(w->folder, fs_join(&f->arena, f->path, ".assay"));
    workspace_close(w);
    assert_ok(workspace_init(fs_join(&f->arena, f->path, "a/b"))); /* a nearer one */
    assert_ok(workspace_open(&w, NULL, false));
    assert_string_equal(w->folder, fs_join(&f->arena, f->path, "a/b/.assay"));
    workspace_close(w);
    assert_int_equal(chdir(back), 0);
}

static void workspace_open__obeys_the_environment(void **state)
{
    struct folder *f = *state;
    struct workspace *w;
    char *named = fs_join(&f->arena, f->path, "named"), *bare = fs_join(&f->arena, named, "bare");
    assert_ok(workspace_init(named));
    assert_ok(workspace_init(f->path));
    assert_ok(fs_make_folders(bare));
    setenv("ASSAY_WORKSPACE", named, 1);
    assert_ok(workspace_open(&w, NULL, false));
    assert_string_equal(w->folder, fs_join(&f->arena, named, ".assay"));
    workspace_close(w);
    assert_ok(workspace_open(&w, f->path, false)); /* what is typed counts more */
    assert_string_equal(w->folder, fs_join(&f->arena, f->path, ".assay"));
    workspace_close(w);
    setenv("ASSAY_WORKSPACE", bare, 1);
    assert_fails(workspace_open(&w, NULL, false), ERR_NOTFOUND, "bare: make one");
    unsetenv("ASSAY_WORKSPACE");
}

static void workspace_path__makes_the_way_there(void **state)
{
    struct folder *f = *state;
    struct workspace *w;
    char *path;
    assert_ok(workspace_init(f->path));
    assert_ok(workspace_open(&w, f->path, false));
    assert_ok(workspace_path(&path, w, "slots/%s/%d", "pebble", 7));
    assert_string_equal(path, fs_join(&f->arena, f->path, ".assay/slots/pebble/7"));
    assert_true(fs_is_folder(fs_join(&f->arena, f->path, ".assay/slots/pebble")));
    assert_false(fs_exists(path));
    workspace_close(w);
}

/* A second process with two pipes: it begins when `go` has a byte, and what it writes to its
 * standard error is read from `said`. */
struct second {
    pid_t pid;
    int go, said;
};

/* Opens for writing, says "open", and stays until it is killed or `go` is closed. */
static void start_second(struct second *s, const char *folder)
{
    int go[2], said[2];
    char byte;
    assert_int_equal(pipe(go), 0);
    assert_int_equal(pipe(said), 0);
    s->pid = fork();
    assert_true(s->pid >= 0);
    if (s->pid == 0) {
        struct workspace *w;
        close(go[1]);
        dup2(said[1], STDERR_FILENO);
        if (read(go[0], &byte, 1) != 1 || workspace_open(&w, folder, true) < 0)
            _exit(1);
        fprintf(stderr, "open\n");
        ssize_t end = read(go[0], &byte, 1);
        workspace_close(w);
        _exit(end == 0 ? 0 : 2);
    }
    close(go[0]);
    close(said[1]);
    s->go = go[1];
    s->said = said[0];
}

static void let_go(struct second *s)
{
    assert_int_equal(write(s->go, "g", 1), 1);
}

/* Read until a line has this text. */
static void hear(const struct second *s, const char *text)
{
    char line[1024];
    size_t length = 0;
    while (length < sizeof line - 1 && read(s->said, line + length, 1) == 1) {
        line[++length] = '\0';
        if (line[length - 1] != '\n')
            continue;
        if (strstr(line, text))
            return;
        length = 0;
    }
    fail_msg("the second process never said \"%s\"", text);
}

static void workspace_open__waits_for_another_writer_in_words(void **state)
{
    struct folder *f = *state;
    struct second s;
    struct workspace *w, *reader;
    char wanted[64];
    assert_ok(workspace_init(f->path));
    start_second(&s, f->path);
    assert_ok(workspace_open(&w, f->path, true));
    assert_ok(workspace_open(&reader, f->path, false)); /* reading waits for nobody */
    workspace_close(reader);
    let_go(&s);
    snprintf(wanted, sizeof wanted, "waiting for process %d", (int)getpid());
    hear(&s, wanted);
    workspace_close(w);
    hear(&s, "open");
    close(s.go);
    int status;
    assert_int_equal(waitpid(s.pid, &status, 0), s.pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(s.said);
}

static void workspace_open__is_free_after_a_kill(void **state)
{
    struct folder *f = *state;
    struct second s;
    struct workspace *w;
    assert_ok(workspace_init(f->path));
    start_second(&s, f->path);
    let_go(&s);
    hear(&s, "open");
    kill(s.pid, SIGKILL);
    assert_int_equal(waitpid(s.pid, NULL, 0), s.pid);
    assert_ok(workspace_open(&w, f->path, true));
    workspace_close(w);
    close(s.go);
    close(s.said);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_setup, folder_teardown)

int main(void)
{
    unsetenv("ASSAY_WORKSPACE");
    const struct CMUnitTest tests[] = {
        TEST(workspace_init__makes_it_once),
        TEST(workspace_open__takes_the_folder_named),
        TEST(workspace_open__searches_upwards_from_here),
        TEST(workspace_open__obeys_the_environment),
        TEST(workspace_path__makes_the_way_there),
        TEST(workspace_open__waits_for_another_writer_in_words),
        TEST(workspace_open__is_free_after_a_kill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
