#include "test.h"

#include "harness/build.h"
#include "harness/progress.h"
#include "shell.h"

/* A candidate whose build is a script of its own repository: make.sh SOURCE BUILD. */
static const char CANDIDATE[] = "candidate: toy\n"
                                "repository: source\n"
                                "build:\n"
                                "  steps: [[sh, -e, '{source}/make.sh', '{source}', '{build}']]\n"
                                "  artifacts: [out/result.txt]\n"
                                "driver: miir\n"
                                "library: out/result.txt\n";

#define COPIES "mkdir -p \"$2/out\"; cp \"$1/input\" \"$2/out/result.txt\"\n"

struct site {
    struct folder *folder;
    struct arena *arena;
    struct workspace *workspace;
    struct candidate candidate;
    struct builder *builder;
};

static int setup(void **state)
{
    struct folder *f;
    if (folder_setup((void **)&f) != 0 || workspace_init(f->path) < 0)
        return -1;
    struct site *s = ARENA_NEW(&f->arena, struct site);
    s->folder = f;
    s->arena = &f->arena;
    *state = s;
    return workspace_open(&s->workspace, f->path, true);
}

static int teardown(void **state)
{
    struct site *s = *state;
    void *folder = s->folder;
    builder_close(s->builder);
    workspace_close(s->workspace);
    return folder_teardown(&folder);
}

/* (Again) with this candidate file. */
static void open_builder(struct site *s, const char *yaml)
{
    builder_close(s->builder);
    s->builder = NULL;
    assert_ok(
        config_candidate(&s->candidate, s->arena, folder_file(s->folder, "candidate.yaml", yaml)));
    assert_ok(builder_open(&s->builder, s->workspace, &s->candidate, true));
}

/* A commit with this make.sh and this input. */
static const char *commit(struct site *s, const char *script, const char *input)
{
    folder_file(s->folder, "source/make.sh", script);
    folder_file(s->folder, "source/input", input);
    return commit_all(s->folder, input);
}

static struct artifact build(struct site *s, const char *sha, unsigned flags)
{
    struct artifact artifact;
    assert_ok(build_commit(&artifact, s->arena, s->builder, sha, flags));
    return artifact;
}

static const char *content(struct site *s, const struct artifact *artifact)
{
    struct buf text;
    buf_init(&text, BUF_MAX_FILE);
    assert_ok(fs_read(&text, fs_join(s->arena, artifact->folder, "out/result.txt")));
    char *copy = arena_strdup(s->arena, text.data);
    buf_release(&text);
    return copy;
}

static void build__finds_an_artifact_again(void **state)
{
    struct site *s = *state;
    const char *one = commit(s, COPIES, "one"), *two = commit(s, COPIES, "two");
    open_builder(s, CANDIDATE);
    struct artifact first = build(s, one, 0), second = build(s, two, 0);
    assert_int_equal(first.outcome, OUTCOME_OK);
    assert_true(first.fresh && second.fresh);
    assert_string_not_equal(first.id, second.id);
    assert_string_equal(content(s, &first), "one"); /* the second did not touch it */
    assert_string_equal(content(s, &second), "two");
    open_builder(s, CANDIDATE);
    struct artifact again = build(s, one, 0);
    assert_false(again.fresh);
    assert_string_equal(again.id, first.id);
    assert_string_equal(again.commit, one);
    assert_ok(fs_remove_tree(first.folder)); /* as gc does */
    again = build(s, one, 0);
    assert_true(again.fresh);
    assert_string_equal(content(s, &again), "one");
}

static void build__finds_the_old_artifact_after_a_revert(void **state)
{
    struct site *s = *state;
    const char *one = commit(s, COPIES, "one");
    commit(s, COPIES, "two");
    const char *three = commit(s, COPIES, "one");
    open_builder(s, CANDIDATE);
    struct artifact first = build(s, one, 0), third = build(s, three, 0);
    assert_string_not_equal(one, three);
    assert_string_equal(first.id, third.id);
    assert_false(third.fresh);
    assert_string_equal(third.commit, three);
}

static void build__keeps_a_failure_with_its_first_error(void **state)
{
    struct site *s = *state;
    const char *sha = commit(s,
                             "echo compiling\necho 'a.c:1:2: error: no semicolon' >&2\n"
                             "echo 'b.c:3:4: error: a later one'\nexit 7\n",
                             "x");
    open_builder(s, CANDIDATE);
    struct artifact artifact = build(s, sha, 0);
    assert_int_equal(artifact.outcome, OUTCOME_BUILD_ERROR);
    assert_string_equal(artifact.detail, "a.c:1:2: error: no semicolon (sh: exit 7)");
    assert_false(fs_exists(artifact.folder));
    struct buf log;
    buf_init(&log, BUF_MAX_FILE);
    assert_ok(fs_read(&log, artifact.log));
    assert_non_null(strstr(log.data, "a later one"));
    buf_release(&log);
    struct build_row row;
    bool found;
    assert_ok(store_find_build(&row, &found, s->arena, s->workspace->store, artifact.id));
    assert_true(found);
    assert_int_equal(row.outcome, OUTCOME_BUILD_ERROR);
    assert_string_equal(row.detail, artifact.detail);
    assert_string_equal(row.commit, sha);
    struct artifact again = build(s, sha, 0);
    assert_int_equal(again.outcome, OUTCOME_BUILD_ERROR);
    assert_string_equal(again.detail, artifact.detail);
    assert_false(again.fresh); /* it is not tried again */
}

/* The second commit builds, but not in what the first one left behind. */
static void build__convicts_nobody_for_a_stale_folder(void **state)
{
    struct site *s = *state;
    const char *one = commit(s, COPIES "touch \"$2/stale\"\n", "one");
    const char *two =
        commit(s, "if [ -e \"$2/stale\" ]; then echo error: stale; exit 1; fi\n" COPIES, "two");
    open_builder(s, CANDIDATE);
    build(s, one, 0);
    struct artifact second = build(s, two, 0);
    assert_int_equal(second.outcome, OUTCOME_OK);
    assert_string_equal(second.detail, "");
    assert_string_equal(content(s, &second), "two");
}

/* Nor acquits it: an artifact that an earlier commit left is not this one's. */
static void build__misses_what_a_commit_does_not_make(void **state)
{
    struct site *s = *state;
    const char *one = commit(s, COPIES, "one"), *two = commit(s, "echo done\n", "two");
    open_builder(s, CANDIDATE);
    assert_int_equal(build(s, one, 0).outcome, OUTCOME_OK);
    struct artifact second = build(s, two, 0);
    assert_int_equal(second.outcome, OUTCOME_BUILD_ERROR);
    assert_string_equal(second.detail, "the build left no out/result.txt");
    assert_false(fs_exists(second.folder));
}

/* A build that makes its artifact only in an empty folder is built there in the end. */
static void build__tries_a_missing_artifact_from_nothing(void **state)
{
    struct site *s = *state;
    static const char once[] = "[ -e \"$2/stamp\" ] && exit 0\ntouch \"$2/stamp\"\n" COPIES;
    const char *one = commit(s, once, "one"), *two = commit(s, once, "two");
    open_builder(s, CANDIDATE);
    assert_int_equal(build(s, one, 0).outcome, OUTCOME_OK);
    struct artifact second = build(s, two, 0);
    assert_int_equal(second.outcome, OUTCOME_OK);
    assert_string_equal(content(s, &second), "two");
}

static void build__is_incremental_unless_clean(void **state)
{
    struct site *s = *state;
    static const char counts[] = "echo . >> \"$2/count\"; mkdir -p \"$2/out\"\n"
                                 "(cat \"$2/count\"; echo \"${CCACHE_DISABLE-on}\") | tr -d '\\n' "
                                 "> \"$2/out/result.txt\"\n";
    const char *one = commit(s, counts, "one"), *two = commit(s, counts, "two");
    open_builder(s, CANDIDATE);
    struct artifact first = build(s, one, 0), second = build(s, two, 0);
    struct artifact clean = build(s, two, BUILD_CLEAN), clean_one = build(s, one, BUILD_CLEAN);
    assert_string_equal(content(s, &first), ".on");
    assert_string_equal(content(s, &second), "..on");
    assert_string_equal(content(s, &clean), ".1");
    assert_string_equal(content(s, &clean_one), ".1");
    assert_string_not_equal(clean.id, second.id);
    assert_false(build(s, two, BUILD_CLEAN).fresh);
    assert_false(build(s, two, 0).fresh);
}

static void build__only_finds_when_told_so(void **state)
{
    struct site *s = *state;
    const char *one = commit(s, COPIES, "one");
    open_builder(s, CANDIDATE);
    assert_int_equal(build(s, one, BUILD_ONLY_FIND).outcome, OUTCOME_MISSING);
    build(s, one, 0);
    struct artifact found = build(s, one, BUILD_ONLY_FIND);
    assert_int_equal(found.outcome, OUTCOME_OK);
    assert_string_equal(content(s, &found), "one");
}

static void build__puts_a_patch_on_top(void **state)
{
    struct site *s = *state;
    const char *one = commit(s, COPIES, "one\n");
    open_builder(s, CANDIDATE);
    char *patch =
        folder_file(s->folder, "two.patch", "--- a/input\n+++ b/input\n@@ -1 +1 @@\n-one\n+two\n");
    struct artifact plain = build(s, one, 0);
    builder_set_patch(s->builder, patch);
    struct artifact patched = build(s, one, 0);
    assert_string_equal(content(s, &patched), "two\n");
    assert_string_not_equal(patched.id, plain.id);
    builder_set_patch(s->builder, NULL);
    assert_string_equal(build(s, one, 0).id, plain.id);
    builder_set_patch(s->builder, folder_file(s->folder, "off.patch",
                                              "--- a/input\n+++ b/input\n@@ -1 +1 @@\n-x\n+y\n"));
    struct artifact out;
    assert_fails(build_commit(&out, s->arena, s->builder, one, 0), ERR_INVALID, "off.patch");
}

static void build__goes_with_the_toolchain(void **state)
{
    struct site *s = *state;
    folder_file(s->folder, "version", "1");
    const char *yaml =
        arena_printf(s->arena,
                     "candidate: toy\nrepository: source\nbuild:\n"
                     "  steps: [[sh, -e, '{source}/make.sh', '{source}', '{build}']]\n"
                     "  artifacts: [out/result.txt]\n  toolchain: [[cat, '%s/version']]\n"
                     "driver: miir\nlibrary: out/result.txt\n",
                     s->folder->path);
    const char *one = commit(s, COPIES, "one");
    open_builder(s, yaml);
    struct artifact first = build(s, one, 0);
    folder_file(s->folder, "version", "2");
    open_builder(s, yaml);
    struct artifact second = build(s, one, 0);
    assert_true(second.fresh);
    assert_string_not_equal(first.id, second.id);
}

/* What this machine lacks is trouble of ours and convicts no commit. */
static void build__does_not_blame_a_commit_for_a_missing_tool(void **state)
{
    struct site *s = *state;
    struct artifact out;
    struct build_row row;
    bool found;
    const char *one = commit(s, COPIES, "one");
    open_builder(s, "candidate: toy\nrepository: source\nbuild: {steps: [[no-such-tool]], "
                    "artifacts: [a]}\ndriver: miir\nlibrary: a\n");
    assert_fails(build_commit(&out, s->arena, s->builder, one, 0), ERR_NOTFOUND, "no-such-tool");
    assert_ok(store_find_commit_build(&row, &found, s->arena, s->workspace->store, "toy", one));
    assert_false(found);
    open_builder(s, "candidate: toy\nrepository: source\nbuild: {steps: [[touch, a]], artifacts: "
                    "[a], toolchain: [[no-such-tool, --version]]}\ndriver: miir\nlibrary: a\n");
    assert_fails(build_commit(&out, s->arena, s->builder, one, 0), ERR_NOTFOUND, "no-such-tool");
}

/* A script of its own that a commit lacks is the commit's fault. */
static void build__blames_a_commit_for_its_own_script(void **state)
{
    struct site *s = *state;
    const char *one = commit(s, COPIES, "one");
    open_builder(s, "candidate: toy\nrepository: source\nbuild: {steps: [['{source}/configure']], "
                    "artifacts: [a]}\ndriver: miir\nlibrary: a\n");
    struct artifact out = build(s, one, 0);
    assert_int_equal(out.outcome, OUTCOME_BUILD_ERROR);
    assert_non_null(strstr(out.detail, "configure"));
}

static void build__ends_what_takes_too_long(void **state)
{
    struct site *s = *state;
    const char *one = commit(s, "exec tail -f /dev/null\n", "one");
    open_builder(s, "candidate: toy\nrepository: source\nbuild: {steps: [[sh, '{source}/make.sh']],"
                    " artifacts: [a]}\nlimits: {build: 100ms}\ndriver: miir\nlibrary: a\n");
    struct artifact out = build(s, one, 0);
    assert_int_equal(out.outcome, OUTCOME_BUILD_ERROR);
    assert_non_null(strstr(out.detail, "timed out"));
}

static void build__takes_an_engineers_own_folder(void **state)
{
    struct site *s = *state;
    struct artifact first, again, other;
    open_builder(s, "candidate: toy\nbuild: {steps: [[make]], artifacts: [out/result.txt]}\n"
                    "driver: miir\nlibrary: out/result.txt\n");
    char *own = fs_join(s->arena, s->folder->path, "own");
    assert_null(builder_repo(s->builder));
    assert_fails(build_prebuilt(&first, s->arena, s->builder, own), ERR_NOTFOUND, "--prebuilt");
    assert_ok(fs_make_folders(own));
    assert_fails(build_prebuilt(&first, s->arena, s->builder, own), ERR_NOTFOUND, "result.txt");
    folder_file(s->folder, "own/out/result.txt", "mine");
    assert_ok(build_prebuilt(&first, s->arena, s->builder, own));
    assert_int_equal(first.outcome, OUTCOME_OK);
    assert_string_equal(first.commit, "");
    folder_file(s->folder, "own/out/result.txt", "mine, changed");
    assert_string_equal(content(s, &first), "mine"); /* a copy: later edits do not reach it */
    assert_ok(build_prebuilt(&other, s->arena, s->builder, own));
    assert_string_not_equal(first.id, other.id);
    folder_file(s->folder, "own/out/result.txt", "mine");
    assert_ok(build_prebuilt(&again, s->arena, s->builder, own));
    assert_string_equal(first.id, again.id);
    assert_fails(build_commit(&first, s->arena, s->builder, "HEAD", 0), ERR_INVALID,
                 "--prebuilt DIR");
}

/* A name with ".." must not lead out of the workspace. */
static void builder_open__makes_folders_of_any_name(void **state)
{
    struct site *s = *state;
    const char *one = commit(s, COPIES, "one");
    open_builder(s, "candidate: '../../odd name'\nrepository: source\nbuild:\n"
                    "  steps: [[sh, -e, '{source}/make.sh', '{source}', '{build}']]\n"
                    "  artifacts: [out/result.txt]\ndriver: miir\nlibrary: out/result.txt\n");
    assert_int_equal(build(s, one, 0).outcome, OUTCOME_OK);
    assert_true(fs_is_folder(fs_join(s->arena, s->workspace->folder, "slots/-.-..-odd-name")));
}

static void builder_open__says_which_repository_is_not_there(void **state)
{
    struct site *s = *state;
    struct builder *b;
    assert_ok(config_candidate(&s->candidate, s->arena,
                               folder_file(s->folder, "candidate.yaml", CANDIDATE)));
    assert_int_not_equal(builder_open(&b, s->workspace, &s->candidate, true), 0);
    assert_non_null(strstr(err_message(), "candidate toy"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    progress_quiet(true);
    const struct CMUnitTest tests[] = {
        TEST(build__finds_an_artifact_again),
        TEST(build__finds_the_old_artifact_after_a_revert),
        TEST(build__keeps_a_failure_with_its_first_error),
        TEST(build__convicts_nobody_for_a_stale_folder),
        TEST(build__misses_what_a_commit_does_not_make),
        TEST(build__tries_a_missing_artifact_from_nothing),
        TEST(build__is_incremental_unless_clean),
        TEST(build__only_finds_when_told_so),
        TEST(build__puts_a_patch_on_top),
        TEST(build__goes_with_the_toolchain),
        TEST(build__does_not_blame_a_commit_for_a_missing_tool),
        TEST(build__blames_a_commit_for_its_own_script),
        TEST(build__ends_what_takes_too_long),
        TEST(build__takes_an_engineers_own_folder),
        TEST(builder_open__makes_folders_of_any_name),
        TEST(builder_open__says_which_repository_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
