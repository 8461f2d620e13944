#include "test.h"

#include "folder.h"
#include "src/proc.h"
#include "src/repo.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The history, written by `git fast-import` with fixed names and dates, so that its SHAs are the
 * same everywhere:
 *
 *    A --- B --- C --------- M --- E    main; HEAD, refs/pull/1/head = C; annotated tag v1 = B
 *           \               /
 *            D1 ---- D2 ---'            side = D2
 *
 *    X                                  other, with no history in common
 *
 * `numbers` has one number a line. B puts three lines before the first, C changes line 20, E
 * changes it again; D1 and D2 touch other files only. */
enum commit { A, B, C, D1, D2, M, E, X, COMMITS };

#define LINES_1_19 "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n"
#define NUMBERS_A LINES_1_19 "20\n"
#define NUMBERS_B "top\ntop\ntop\n" LINES_1_19 "20\n"
#define NUMBERS_C "top\ntop\ntop\n" LINES_1_19 "twenty\n"
#define NUMBERS_E "top\ntop\ntop\n" LINES_1_19 "zwanzig\n"

struct history {
    struct folder *folder;
    struct arena *arena;
    char *git; /* bare */
    struct repo *repo;
    struct buf stream;
    char sha[COMMITS][REPO_SHA_SIZE];
    char tree[COMMITS][REPO_SHA_SIZE];
};

/* Run a shell script with the paths given as $1, $2, $3; its output in the history's arena. */
static char *shell(struct history *h, const char *script, const char *first, const char *second,
                   const char *third)
{
    const char *const argv[] = {"sh", "-ec", script, "sh", first, second, third, NULL};
    const struct proc_spec spec = {
        .argv = argv, .input = h->stream.data, .input_bytes = h->stream.length, .cpu = -1};
    struct proc_result r;
    assert_ok(proc_run(&r, &spec));
    if (r.end != PROC_EXITED || r.code != 0)
        fail_msg("%s: %s%s", script, r.out.data, r.err.data);
    char *out = arena_strdup(h->arena, r.out.data);
    proc_result_release(&r);
    buf_clear(&h->stream);
    return out;
}

static void add_commit(struct history *h, const char *branch, int mark, int from, int merge)
{
    buf_printf(&h->stream, "commit refs/heads/%s\nmark :%d\n", branch, mark + 1);
    buf_printf(&h->stream, "author Ann Author <ann@example.com> %d +0100\n", 1700000000 + mark);
    buf_printf(&h->stream, "committer Carl Committer <carl@example.com> %d +0000\n",
               1700001000 + mark);
    buf_printf(&h->stream, "data <<.\nsubject %d\n\nbody\n.\n", mark);
    if (from >= 0)
        buf_printf(&h->stream, "from :%d\n", from + 1);
    if (merge >= 0)
        buf_printf(&h->stream, "merge :%d\n", merge + 1);
}

static void add_file(struct history *h, const char *mode, const char *path, const char *text)
{
    buf_printf(&h->stream, "M %s inline %s\ndata %zu\n%s\n", mode, path, strlen(text), text);
}

static void describe_history(struct history *h)
{
    add_commit(h, "main", A, -1, -1);
    add_file(h, "100644", "numbers", NUMBERS_A);
    add_file(h, "100644", "src/deep/a.c", "int a;\n");
    add_file(h, "100755", "run.sh", "#!/bin/sh\n");
    add_file(h, "120000", "link", "src/deep/a.c");
    add_file(h, "100644", "gone/one", "1\n");
    add_file(h, "100644", "gone/two", "2\n");
    buf_add_text(&h->stream, "M 160000 0123456789012345678901234567890123456789 submodule\n");
    add_commit(h, "main", B, A, -1);
    add_file(h, "100644", "numbers", NUMBERS_B);
    add_commit(h, "side", D1, B, -1);
    add_file(h, "100644", "src/d.c", "int d;\n");
    add_commit(h, "side", D2, D1, -1);
    add_file(h, "100644", "src/d.c", "int d2;\n");
    add_file(h, "100644", "src/deep/a.c", "int a2;\n");
    add_commit(h, "main", C, B, -1);
    add_file(h, "100644", "numbers", NUMBERS_C);
    buf_add_text(&h->stream, "D gone\n");
    add_commit(h, "main", M, C, D2);
    add_file(h, "100644", "src/d.c", "int d2;\n");
    add_file(h, "100644", "src/deep/a.c", "int a2;\n");
    add_commit(h, "main", E, M, -1);
    add_file(h, "100644", "numbers", NUMBERS_E);
    add_commit(h, "other", X, -1, -1);
    add_file(h, "100644", "alone", "alone\n");
    buf_printf(&h->stream, "reset refs/pull/1/head\nfrom :%d\n\n", C + 1);
    buf_printf(&h->stream,
               "tag v1\nfrom :%d\ntagger T <t@example.com> 1700000000 +0000\ndata 3\nv1\n\n",
               B + 1);
}

static int history_setup(void **state)
{
    struct folder *f;
    if (folder_setup((void **)&f) != 0)
        return -1;
    struct history *h = xcalloc(1, sizeof *h);
    *h = (struct history){
        .folder = f, .arena = &f->arena, .git = fs_join(&f->arena, f->path, "source.git")};
    *state = h;
    buf_init(&h->stream, BUF_MAX_FILE);
    describe_history(h);
    const char *script = "git init -q --bare -b main \"$1\"; cd \"$1\"; git fast-import --quiet "
                         "--export-marks=\"$2\"; "
                         "sort -t: -k2n \"$2\" | cut -d' ' -f2";
    char *shas = shell(h, script, h->git, fs_join(h->arena, f->path, "marks"), NULL);
    assert_ok(repo_open(&h->repo, h->git));
    for (int i = 0; i < COMMITS; i++) {
        memcpy(h->sha[i], shas + i * REPO_SHA_SIZE, REPO_SHA_SIZE - 1);
        assert_ok(repo_tree_of(h->tree[i], h->repo, h->sha[i]));
    }
    return 0;
}

static int history_teardown(void **state)
{
    struct history *h = *state;
    void *folder = h->folder;
    repo_close(h->repo);
    buf_release(&h->stream);
    free(h);
    return folder_teardown(&folder);
}

static char *in_folder(struct history *h, const char *name)
{
    return fs_join(h->arena, h->folder->path, name);
}

/* Opening and naming. */

static void opening(void **state)
{
    struct history *h = *state;
    struct repo *r;
    assert_string_equal(repo_path(h->repo), h->git);
    char *work = in_folder(h, "work");
    shell(h, "git clone -q \"$1\" \"$2\"", h->git, work, NULL);
    assert_ok(repo_open(&r, fs_join(h->arena, work, "src/deep")));
    assert_string_equal(repo_path(r), fs_join(h->arena, work, ".git"));
    repo_close_ptr(&r);
    assert_fails(repo_open(&r, h->folder->path), ERR_NOTFOUND, "is no Git repository");
    assert_null(r);
    assert_fails(repo_open(&r, in_folder(h, "missing")), ERR_NOTFOUND, "missing");
    repo_close(NULL);
}

static void assert_resolves(struct history *h, const char *rev, enum commit wanted)
{
    char sha[REPO_SHA_SIZE];
    assert_ok(repo_resolve(sha, h->repo, rev));
    assert_string_equal(sha, h->sha[wanted]);
}

static void resolving(void **state)
{
    struct history *h = *state;
    assert_resolves(h, "main", E);
    assert_resolves(h, "HEAD", E);
    assert_resolves(h, "HEAD~1", M);
    assert_resolves(h, "main~1^2", D2);
    assert_resolves(h, "side", D2);
    assert_resolves(h, "v1", B);
    assert_resolves(h, "refs/pull/1/head", C);
    assert_resolves(h, h->sha[D1], D1);
    assert_resolves(h, arena_strndup(h->arena, h->sha[A], 12), A);
}

static void what_does_not_resolve(void **state)
{
    struct history *h = *state;
    char sha[REPO_SHA_SIZE];
    assert_fails(repo_resolve(sha, h->repo, "mian"), ERR_NOTFOUND, "did you mean `main`?");
    assert_fails(repo_resolve(sha, h->repo, "sied"), ERR_NOTFOUND, "did you mean `side`?");
    assert_fails(repo_resolve(sha, h->repo, "v2"), ERR_NOTFOUND, "did you mean `v1`?");
    assert_fails(repo_resolve(sha, h->repo, "release/5.7"), ERR_NOTFOUND, h->git);
    assert_null(strstr(err_message(), "did you mean"));
    assert_fails(repo_resolve(sha, h->repo, "0000000000000000000000000000000000000000"),
                 ERR_NOTFOUND, "00000");
    assert_fails(repo_resolve(sha, h->repo, "main:numbers"), ERR_INVALID,
                 "names a blob, not a commit");
    assert_fails(repo_resolve(sha, h->repo, "main..side"), ERR_INVALID, "does not name one commit");
    assert_fails(repo_resolve(sha, h->repo, ""), ERR_INVALID, "");
    assert_string_equal(sha, "");
}

enum { MANY = 1000, DIGITS = 4 };

static int by_sha(const void *left, const void *right)
{
    return strcmp(left, right);
}

/* A thousand commits, so many that some share their first four digits; their sorted SHAs. */
static char (*many_commits(struct history *h))[REPO_SHA_SIZE]
{
    for (int i = 0; i < MANY; i++)
        add_commit(h, "many", COMMITS + i, i == 0 ? -1 : COMMITS + i - 1, -1);
    char *text =
        shell(h, "cd \"$1\"; git fast-import --quiet; git rev-list many", h->git, NULL, NULL);
    char(*shas)[REPO_SHA_SIZE] = arena_array(h->arena, MANY, REPO_SHA_SIZE);
    for (int i = 0; i < MANY; i++)
        memcpy(shas[i], text + i * REPO_SHA_SIZE, REPO_SHA_SIZE - 1);
    qsort(shas, MANY, REPO_SHA_SIZE, by_sha);
    repo_close(h->repo); /* its handle does not know the new pack */
    assert_ok(repo_open(&h->repo, h->git));
    return shas;
}

static bool share_digits(const char *left, const char *right)
{
    return strncmp(left, right, DIGITS) == 0;
}

static void ambiguous_abbreviations(void **state)
{
    struct history *h = *state;
    char(*shas)[REPO_SHA_SIZE] = many_commits(h);
    int i = 1;
    while (i < MANY && !share_digits(shas[i - 1], shas[i]))
        i++;
    assert_true(i < MANY);
    char sha[REPO_SHA_SIZE], *digits = arena_strndup(h->arena, shas[i], DIGITS);
    assert_fails(repo_resolve(sha, h->repo, digits), ERR_NOTFOUND, "is ambiguous");
    assert_non_null(strstr(err_message(), arena_strndup(h->arena, shas[i - 1], 12)));
    assert_non_null(strstr(err_message(), arena_strndup(h->arena, shas[i], 12)));
    assert_string_equal(sha, "");
}

/* git's own rule: where a commit is asked for, a file with the same first digits does not count. */
static void a_file_does_not_make_a_commit_ambiguous(void **state)
{
    struct history *h = *state;
    char(*shas)[REPO_SHA_SIZE] = many_commits(h);
    char blob[REPO_SHA_SIZE], sha[REPO_SHA_SIZE];
    int alone = -1;
    for (int n = 0; alone < 0; n++) {
        buf_clear(&h->stream);
        buf_printf(&h->stream, "%d", n);
        assert_ok(repo_blob_id(blob, h->stream.data, h->stream.length));
        for (int i = 1; i < MANY - 1; i++)
            if (share_digits(blob, shas[i]) && !share_digits(shas[i - 1], shas[i]) &&
                !share_digits(shas[i + 1], shas[i]))
                alone = i;
    }
    char *written = shell(h, "cd \"$1\"; git hash-object -w --stdin", h->git, NULL, NULL);
    assert_memory_equal(written, blob, REPO_SHA_SIZE - 1);
    assert_ok(repo_resolve(sha, h->repo, arena_strndup(h->arena, blob, DIGITS)));
    assert_string_equal(sha, shas[alone]);
}

/* History. */

static void one_commit(void **state)
{
    struct history *h = *state;
    struct repo_commit c;
    assert_ok(repo_commit(&c, h->arena, h->repo, h->sha[C]));
    assert_string_equal(c.sha, h->sha[C]);
    assert_string_equal(c.subject, "subject 2");
    assert_string_equal(c.author, "Ann Author <ann@example.com>");
    assert_int_equal(c.date_s, 1700000000 + C);
    assert_int_equal(c.parent_count, 0);
    assert_fails(repo_commit(&c, h->arena, h->repo, h->tree[C]), ERR_INVALID,
                 "is a tree, not a commit");
    assert_fails(repo_commit(&c, h->arena, h->repo, "abc"), ERR_INVALID, "no full SHA");
    assert_fails(repo_commit(&c, h->arena, h->repo, "1111111111111111111111111111111111111111"),
                 ERR_NOTFOUND, "111111");
}

/* Where a commit stands; the range's length if it is not there. */
static size_t place_of(const struct repo_range *range, const char *sha)
{
    size_t i = 0;
    while (i < range->count && strcmp(range->commits[i].sha, sha) != 0)
        i++;
    return i;
}

static void assert_parents_first(const struct repo_range *range)
{
    for (size_t i = 0; i < range->count; i++)
        for (size_t p = 0; p < range->commits[i].parent_count; p++)
            assert_true(range->commits[i].parents[p] < i);
}

static void assert_parent(struct history *h, const struct repo_range *range, enum commit child,
                          size_t which, enum commit parent)
{
    const struct repo_commit *c = &range->commits[place_of(range, h->sha[child])];
    assert_true(which < c->parent_count);
    assert_string_equal(range->commits[c->parents[which]].sha, h->sha[parent]);
}

static void a_range_with_a_merge(void **state)
{
    struct history *h = *state;
    struct repo_range range;
    assert_ok(repo_range(&range, h->arena, h->repo, h->sha[B], h->sha[E]));
    assert_int_equal(range.count, 6);
    assert_string_equal(range.commits[0].sha, h->sha[B]);
    assert_string_equal(range.commits[5].sha, h->sha[E]);
    assert_string_equal(range.commits[5].subject, "subject 6");
    assert_int_equal(range.commits[0].parent_count, 0);
    assert_parents_first(&range);
    assert_parent(h, &range, C, 0, B);
    assert_parent(h, &range, D1, 0, B);
    assert_parent(h, &range, D2, 0, D1);
    assert_parent(h, &range, M, 0, C);
    assert_parent(h, &range, M, 1, D2);
    assert_parent(h, &range, E, 0, M);
    assert_int_equal(place_of(&range, h->sha[A]), range.count);
}

/* From C, the side branch came before good: its commits belong to the range, their origin does not.
 */
static void a_range_with_a_parent_outside(void **state)
{
    struct history *h = *state;
    struct repo_range range;
    assert_ok(repo_range(&range, h->arena, h->repo, h->sha[C], h->sha[E]));
    assert_int_equal(range.count, 5);
    assert_string_equal(range.commits[0].sha, h->sha[C]);
    assert_parents_first(&range);
    assert_int_equal(range.commits[place_of(&range, h->sha[D1])].parent_count, 0);
    assert_int_equal(range.commits[place_of(&range, h->sha[M])].parent_count, 2);
}

static void ranges_at_the_edge(void **state)
{
    struct history *h = *state;
    struct repo_range range;
    assert_ok(repo_range(&range, h->arena, h->repo, h->sha[E], h->sha[E]));
    assert_int_equal(range.count, 1);
    assert_string_equal(range.commits[0].sha, h->sha[E]);
    assert_fails(repo_range(&range, h->arena, h->repo, h->sha[E], h->sha[B]), ERR_INVALID,
                 "is no ancestor of");
    assert_fails(repo_range(&range, h->arena, h->repo, h->sha[C], h->sha[D2]), ERR_INVALID,
                 "is no ancestor of");
    assert_fails(repo_range(&range, h->arena, h->repo, h->sha[X], h->sha[E]), ERR_INVALID,
                 "is no ancestor of");
    assert_int_equal(range.count, 0);
}

static void a_long_range(void **state)
{
    struct history *h = *state;
    char sha[REPO_SHA_SIZE], first[REPO_SHA_SIZE];
    many_commits(h);
    assert_ok(repo_resolve(sha, h->repo, "many"));
    assert_ok(repo_resolve(first, h->repo, "many~999"));
    struct repo_range range;
    assert_ok(repo_range(&range, h->arena, h->repo, first, sha));
    assert_int_equal(range.count, MANY);
    for (size_t i = 1; i < range.count; i++) {
        assert_int_equal(range.commits[i].parent_count, 1);
        assert_int_equal(range.commits[i].parents[0], i - 1);
    }
}

static void assert_ancestor(struct history *h, enum commit ancestor, enum commit descendant,
                            bool wanted)
{
    bool answer;
    assert_ok(repo_is_ancestor(&answer, h->repo, h->sha[ancestor], h->sha[descendant]));
    assert_int_equal(answer, wanted);
}

static void ancestry(void **state)
{
    struct history *h = *state;
    assert_ancestor(h, A, E, true);
    assert_ancestor(h, D1, E, true);
    assert_ancestor(h, E, E, true);
    assert_ancestor(h, E, A, false);
    assert_ancestor(h, C, D2, false);
    assert_ancestor(h, X, E, false);
    bool answer;
    assert_fails(repo_is_ancestor(&answer, h->repo, h->sha[A], "xyz"), ERR_INVALID, "xyz");
}

static void merge_bases(void **state)
{
    struct history *h = *state;
    char base[REPO_SHA_SIZE];
    assert_ok(repo_merge_base(base, h->repo, h->sha[C], h->sha[D2]));
    assert_string_equal(base, h->sha[B]);
    assert_ok(repo_merge_base(base, h->repo, h->sha[A], h->sha[E]));
    assert_string_equal(base, h->sha[A]);
    assert_fails(repo_merge_base(base, h->repo, h->sha[X], h->sha[E]), ERR_NOTFOUND,
                 "no common history");
    assert_string_equal(base, "");
    assert_fails(repo_merge_base(base, h->repo, "main", h->sha[E]), ERR_INVALID, "main");
}

static void changed_paths(void **state)
{
    struct history *h = *state;
    char **paths;
    size_t count;
    assert_ok(repo_changed_paths(&paths, &count, h->arena, h->repo, h->sha[A], h->tree[M]));
    static const char *const wanted[] = {"gone/one", "gone/two", "numbers", "src/d.c",
                                         "src/deep/a.c"};
    assert_int_equal(count, COUNT_OF(wanted));
    for (size_t i = 0; i < count; i++)
        assert_string_equal(paths[i], wanted[i]);
    assert_ok(repo_changed_paths(&paths, &count, h->arena, h->repo, h->sha[A], h->sha[A]));
    assert_int_equal(count, 0);
}

static void reading_a_file(void **state)
{
    struct history *h = *state;
    struct buf text;
    buf_init(&text, BUF_MAX_FILE);
    assert_ok(repo_read_file(&text, h->repo, h->sha[A], "src/deep/a.c"));
    assert_ok(repo_read_file(&text, h->repo, h->sha[M], "src/deep/a.c"));
    assert_string_equal(text.data, "int a;\nint a2;\n");
    assert_fails(repo_read_file(&text, h->repo, h->sha[A], "src/d.c"), ERR_NOTFOUND,
                 "has no file src/d.c");
    assert_fails(repo_read_file(&text, h->repo, h->sha[A], "src"), ERR_INVALID, "is no file");
    assert_fails(repo_read_file(&text, h->repo, h->sha[A], "submodule"), ERR_INVALID, "is no file");
    buf_release(&text);
    buf_init(&text, 3);
    assert_fails(repo_read_file(&text, h->repo, h->sha[A], "src/deep/a.c"), ERR_LIMIT,
                 "src/deep/a.c");
    buf_release(&text);
}

static void blob_ids_are_gits(void **state)
{
    struct history *h = *state;
    static const char bytes[] = "one\0two\n";
    static const size_t lengths[] = {0, 3, 8};
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        char ours[REPO_SHA_SIZE];
        assert_ok(repo_blob_id(ours, bytes, lengths[i]));
        buf_add(&h->stream, bytes, lengths[i]);
        char *theirs = shell(h, "git hash-object --stdin", NULL, NULL, NULL);
        assert_string_equal(theirs, arena_printf(h->arena, "%s\n", ours));
    }
}

/* Trees. */

static void trees(void **state)
{
    struct history *h = *state;
    char tree[REPO_SHA_SIZE];
    char *wanted = shell(h, "cd \"$1\"; git rev-parse main^{tree}", h->git, NULL, NULL);
    assert_memory_equal(h->tree[E], wanted, REPO_SHA_SIZE - 1);
    assert_ok(repo_tree_of(tree, h->repo, h->tree[E]));
    assert_string_equal(tree, h->tree[E]);
    assert_fails(repo_tree_of(tree, h->repo, "2222222222222222222222222222222222222222"),
                 ERR_NOTFOUND, "2222");
    assert_string_equal(tree, "");
}

static void assert_tree_file(struct history *h, const char *tree, const char *path,
                             const char *wanted)
{
    struct buf text;
    buf_init(&text, BUF_MAX_FILE);
    assert_ok(repo_read_file(&text, h->repo, tree, path));
    assert_string_equal(text.data, wanted);
    buf_release(&text);
}

/* Made against A; in B the lines stand three further down. */
static const char tenth_line[] =
    "diff --git a/numbers b/numbers\n--- a/numbers\n+++ b/numbers\n@@ -9,3 +9,3 @@\n "
    "9\n-10\n+ten\n 11\n"
    "diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+new\n";

static size_t entries_of(struct history *h, const char *folder)
{
    char **names;
    size_t count;
    assert_ok(fs_list(&names, &count, h->arena, folder));
    return count;
}

static void a_patch_with_an_offset_applies(void **state)
{
    struct history *h = *state;
    char *patch = folder_file(h->folder, "fix.patch", tenth_line);
    char tree[REPO_SHA_SIZE], again[REPO_SHA_SIZE];
    char *refs = shell(h, "cd \"$1\"; git for-each-ref", h->git, NULL, NULL);
    size_t entries = entries_of(h, h->git);
    assert_ok(repo_patched_tree(tree, h->repo, h->sha[B], patch));
    assert_tree_file(
        h, tree, "numbers",
        "top\ntop\ntop\n1\n2\n3\n4\n5\n6\n7\n8\n9\nten\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n");
    assert_tree_file(h, tree, "new", "new\n");
    char **paths;
    size_t count;
    assert_ok(repo_changed_paths(&paths, &count, h->arena, h->repo, h->sha[B], tree));
    assert_int_equal(count, 2);
    assert_ok(repo_patched_tree(again, h->repo, h->sha[B], patch));
    assert_string_equal(again, tree);
    assert_string_equal(shell(h, "cd \"$1\"; git for-each-ref", h->git, NULL, NULL), refs);
    assert_int_equal(entries_of(h, h->git), entries);
}

static void a_patch_in_a_work_tree_leaves_it_alone(void **state)
{
    struct history *h = *state;
    char *work = in_folder(h, "work"), *patch = folder_file(h->folder, "fix.patch", tenth_line);
    char tree[REPO_SHA_SIZE], bare[REPO_SHA_SIZE];
    struct repo *r;
    shell(h, "git clone -q \"$1\" \"$2\"", h->git, work, NULL);
    assert_ok(repo_open(&r, work));
    assert_ok(repo_patched_tree(tree, r, h->sha[B], patch));
    repo_close(r);
    assert_ok(repo_patched_tree(bare, h->repo, h->sha[B], patch));
    assert_string_equal(tree, bare);
    assert_string_equal(shell(h, "cd \"$1\"; git status --porcelain", work, NULL, NULL), "");
}

static void a_patch_that_does_not_apply(void **state)
{
    struct history *h = *state;
    char tree[REPO_SHA_SIZE];
    size_t entries = entries_of(h, h->git);
    char *patch = folder_file(h->folder, "bad.patch", tenth_line);
    assert_fails(repo_patched_tree(tree, h->repo, h->sha[X], patch), ERR_INVALID,
                 "numbers: does not exist in index");
    assert_non_null(strstr(err_message(), "bad.patch"));
    assert_string_equal(tree, "");
    patch = folder_file(h->folder, "no.patch", "this is no patch\n");
    assert_fails(repo_patched_tree(tree, h->repo, h->sha[A], patch), ERR_INVALID,
                 "No valid patches");
    assert_fails(repo_patched_tree(tree, h->repo, h->sha[A], in_folder(h, "missing")), ERR_NOTFOUND,
                 "missing");
    assert_fails(
        repo_patched_tree(tree, h->repo, "3333333333333333333333333333333333333333", patch),
        ERR_NOTFOUND, "3333");
    assert_int_equal(entries_of(h, h->git), entries);
}

static void a_revert_that_applies(void **state)
{
    struct history *h = *state;
    char tree[REPO_SHA_SIZE];
    bool applies;
    assert_ok(repo_reverted_tree(tree, &applies, h->repo, h->sha[B], h->sha[E]));
    assert_true(applies);
    assert_tree_file(h, tree, "numbers", LINES_1_19 "zwanzig\n");
    assert_tree_file(h, tree, "src/d.c", "int d2;\n");
    assert_ok(repo_reverted_tree(tree, &applies, h->repo, h->sha[E], h->sha[E]));
    assert_true(applies);
    assert_string_equal(tree, h->tree[M]);
}

static void a_revert_of_a_merge_is_against_its_first_parent(void **state)
{
    struct history *h = *state;
    char tree[REPO_SHA_SIZE];
    bool applies;
    assert_ok(repo_reverted_tree(tree, &applies, h->repo, h->sha[M], h->sha[M]));
    assert_true(applies);
    assert_string_equal(tree, h->tree[C]);
}

static void a_revert_that_conflicts(void **state)
{
    struct history *h = *state;
    char tree[REPO_SHA_SIZE];
    bool applies = true;
    assert_ok(repo_reverted_tree(tree, &applies, h->repo, h->sha[C], h->sha[E]));
    assert_false(applies);
    assert_string_equal(tree, "");
    assert_fails(repo_reverted_tree(tree, &applies, h->repo, "main", h->sha[E]), ERR_INVALID,
                 "main");
}

static void a_revert_of_a_root(void **state)
{
    struct history *h = *state;
    char tree[REPO_SHA_SIZE];
    bool applies;
    assert_ok(repo_reverted_tree(tree, &applies, h->repo, h->sha[A], h->sha[A]));
    assert_true(applies);
    /* The empty tree has the same name in every repository. */
    assert_string_equal(tree, "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
    assert_ok(repo_reverted_tree(tree, &applies, h->repo, h->sha[A], h->sha[E]));
    assert_false(applies);
}

/* Slots. */

/* The slot holds what git itself takes out of that tree, and nothing else but `build`. */
static void assert_slot(struct history *h, const char *slot, const char *tree)
{
    char held[REPO_SHA_SIZE];
    assert_ok(repo_slot_tree(held, slot));
    assert_string_equal(held, tree);
    const char *script = "rm -rf \"$2.wanted\"; mkdir \"$2.wanted\"; git --git-dir=\"$1\" archive "
                         "\"$3\" | tar -x -C \"$2.wanted\"; "
                         "diff -r --no-dereference -x build \"$2.wanted\" \"$2\"";
    shell(h, script, h->git, slot, tree);
}

static void check_out(struct history *h, const char *slot, enum commit commit, size_t wanted)
{
    size_t written;
    assert_ok(repo_checkout(&written, h->repo, h->tree[commit], slot));
    assert_slot(h, slot, h->tree[commit]);
    assert_int_equal(written, wanted);
}

static struct timespec change_time(struct history *h, const char *slot, const char *name)
{
    struct stat s;
    assert_int_equal(lstat(fs_join(h->arena, slot, name), &s), 0);
    return s.st_ctim;
}

static void back_and_forth(void **state)
{
    struct history *h = *state;
    char *slot = in_folder(h, "slots/0"), held[REPO_SHA_SIZE];
    assert_ok(repo_slot_tree(held, slot));
    assert_string_equal(held, "");
    check_out(h, slot, A, 6);
    assert_true(fs_is_folder(fs_join(h->arena, slot, "submodule")));
    struct stat s;
    assert_int_equal(stat(fs_join(h->arena, slot, "run.sh"), &s), 0);
    assert_true(s.st_mode & 0100);
    struct timespec before = change_time(h, slot, "run.sh");
    check_out(h, slot, B, 1);
    check_out(h, slot, M, 5); /* numbers, src/d.c, src/deep/a.c; gone/one and gone/two go */
    assert_false(fs_exists(fs_join(h->arena, slot, "gone")));
    check_out(h, slot, E, 1);
    check_out(h, slot, B, 5);
    check_out(h, slot, A, 1);
    check_out(h, slot, A, 0);
    struct timespec after = change_time(h, slot, "run.sh");
    assert_memory_equal(&before, &after, sizeof before);
    check_out(h, slot, X, 7); /* six go, one comes */
}

static void a_build_folder_is_left_alone(void **state)
{
    struct history *h = *state;
    char *slot = in_folder(h, "slot");
    check_out(h, slot, A, 6);
    char *object = folder_file(h->folder, "slot/build/a.o", "object");
    check_out(h, slot, M, 5);
    assert_true(fs_exists(object));
    check_out(h, slot, A, 5);
    assert_true(fs_exists(object));
}

static void a_relative_slot_and_a_commit(void **state)
{
    struct history *h = *state;
    char *slot = in_folder(h, "slot"), before[4096];
    size_t written;
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(h->folder->path), 0);
    int status = repo_checkout(&written, h->repo, h->sha[E], "slot/");
    assert_int_equal(chdir(before), 0);
    assert_int_equal(status, 0);
    assert_slot(h, slot, h->tree[E]);
    assert_true(fs_exists(in_folder(h, "slot.state")));
}

static void a_user_repository_keeps_its_index(void **state)
{
    struct history *h = *state;
    char *work = in_folder(h, "work"), *slot = in_folder(h, "slot");
    struct repo *r;
    size_t written;
    shell(h, "git clone -q \"$1\" \"$2\"; cd \"$2\"; echo edited >> numbers; git add numbers",
          h->git, work, NULL);
    char *before =
        shell(h, "cd \"$1\"; git status --porcelain; git diff --cached", work, NULL, NULL);
    assert_ok(repo_open(&r, work));
    static const enum commit steps[] = {A, E, B, M, A};
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        assert_ok(repo_checkout(&written, r, h->tree[steps[i]], slot));
        assert_slot(h, slot, h->tree[steps[i]]);
    }
    repo_close(r);
    assert_string_equal(
        shell(h, "cd \"$1\"; git status --porcelain; git diff --cached", work, NULL, NULL), before);
}

/* Half of a change from A to M by hand: one file new already, one cut short, one gone, one not yet
 * there. */
static void plant_half_change(struct history *h, const char *slot)
{
    check_out(h, slot, A, 6);
    folder_file(h->folder, "slot/src/deep/a.c", "int a2;\n");
    folder_file(h->folder, "slot/numbers", "top\nto");
    assert_int_equal(unlink(in_folder(h, "slot/gone/one")), 0);
    folder_file(h->folder, "slot.state",
                arena_printf(h->arena, "from %s to %s\n", h->tree[A], h->tree[M]));
}

static void a_killed_change_is_finished_first(void **state)
{
    struct history *h = *state;
    static const enum commit goals[] = {M, E, A, B, X};
    for (size_t i = 0; i < COUNT_OF(goals); i++) {
        char *slot = in_folder(h, "slot"), held[REPO_SHA_SIZE];
        size_t written;
        plant_half_change(h, slot);
        assert_ok(repo_slot_tree(held, slot));
        assert_string_equal(held, h->tree[M]);
        assert_ok(repo_checkout(&written, h->repo, h->tree[goals[i]], slot));
        assert_slot(h, slot, h->tree[goals[i]]);
        assert_ok(fs_remove_tree(slot));
    }
}

static void a_killed_first_checkout_is_finished(void **state)
{
    struct history *h = *state;
    char *slot = in_folder(h, "slot");
    folder_file(h->folder, "slot/numbers", "1\n2");
    folder_file(h->folder, "slot/src/deep/a.c", "int a;\n");
    folder_file(h->folder, "slot.state",
                arena_printf(h->arena, "from nothing to %s\n", h->tree[A]));
    size_t written;
    assert_ok(repo_checkout(&written, h->repo, h->tree[M], slot));
    assert_slot(h, slot, h->tree[M]);
}

static void the_journal_stands_when_a_checkout_fails(void **state)
{
    struct history *h = *state;
    char *slot = in_folder(h, "slot");
    check_out(h, slot, A, 6);
    char id[REPO_SHA_SIZE];
    assert_ok(repo_blob_id(id, NUMBERS_E, strlen(NUMBERS_E)));
    struct repo *r;
    char *broken = in_folder(h, "broken.git");
    const char *script = "cp -r \"$1\" \"$2\"; cd \"$2\"; "
                         "rm objects/$(echo $3 | cut -c1-2)/$(echo $3 | cut -c3-)";
    shell(h, script, h->git, broken, id);
    assert_ok(repo_open(&r, broken));
    size_t written;
    assert_fails(repo_checkout(&written, r, h->tree[E], slot), ERR_FOREIGN, "checking out");
    repo_close(r);
    struct buf text;
    buf_init(&text, BUF_MAX_LINE);
    assert_ok(fs_read(&text, in_folder(h, "slot.state")));
    assert_string_equal(text.data,
                        arena_printf(h->arena, "from %s to %s\n", h->tree[A], h->tree[E]));
    buf_release(&text);
    assert_ok(repo_checkout(&written, h->repo, h->tree[A], slot));
    assert_slot(h, slot, h->tree[A]);
}

static void removed_and_edited_files_come_back(void **state)
{
    struct history *h = *state;
    char *slot = in_folder(h, "slot");
    check_out(h, slot, A, 6);
    assert_int_equal(unlink(in_folder(h, "slot/run.sh")), 0);
    assert_ok(fs_remove_tree(in_folder(h, "slot/src")));
    check_out(h, slot, A, 2);
    assert_int_equal(unlink(in_folder(h, "slot/run.sh")), 0);
    folder_file(h->folder, "slot/gone/one", "edited");
    check_out(h, slot, B, 3);
    assert_ok(fs_remove_tree(slot));
    check_out(h, slot, B, 6);
}

static void a_slot_whose_tree_is_lost_is_made_anew(void **state)
{
    struct history *h = *state;
    char *slot = in_folder(h, "slot");
    folder_file(h->folder, "slot/stale", "of a tree that nobody has");
    folder_file(h->folder, "slot.state", "at 4444444444444444444444444444444444444444\n");
    check_out(h, slot, A, 6);
}

static void damaged_states_are_told(void **state)
{
    struct history *h = *state;
    static const char *const texts[] = {
        "",
        "at\n",
        "at abc\n",
        "from to\n",
        "at XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX\n",
        "from 4444444444444444444444444444444444444444 to nothing\n"};
    char *slot = in_folder(h, "slot"), held[REPO_SHA_SIZE],
         *kept = folder_file(h->folder, "slot/kept", "kept");
    size_t written;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        folder_file(h->folder, "slot.state", texts[i]);
        assert_fails(repo_slot_tree(held, slot), ERR_INVALID, "slot.state is damaged");
        assert_fails(repo_checkout(&written, h->repo, h->tree[A], slot), ERR_INVALID,
                     "slot.state is damaged");
        assert_true(fs_exists(kept));
    }
}

static void an_unknown_tree_changes_nothing(void **state)
{
    struct history *h = *state;
    char *slot = in_folder(h, "slot");
    size_t written;
    check_out(h, slot, A, 6);
    assert_fails(repo_checkout(&written, h->repo, "5555555555555555555555555555555555555555", slot),
                 ERR_NOTFOUND, "5555");
    assert_slot(h, slot, h->tree[A]);
}

/* Mirrors. */

static void add_to_main(struct history *h, const char *text)
{
    buf_add_text(
        &h->stream,
        "commit refs/heads/main\ncommitter C <c@example.com> 1700009000 +0000\ndata 4\nmore\n");
    buf_printf(&h->stream, "from %s\n", h->sha[E]);
    add_file(h, "100644", "more", text);
    buf_add_text(&h->stream, "reset refs/heads/extra\nfrom refs/heads/main\n\n");
    shell(h, "cd \"$1\"; git fast-import --quiet", h->git, NULL, NULL);
}

static void a_mirror_has_every_ref(void **state)
{
    struct history *h = *state;
    char *mirror = in_folder(h, "mirrors/deep/m.git");
    struct repo *r;
    char sha[REPO_SHA_SIZE];
    assert_ok(repo_mirror(&r, h->git, mirror, false));
    assert_string_equal(repo_path(r), mirror);
    assert_ok(repo_resolve(sha, r, "refs/pull/1/head"));
    assert_string_equal(sha, h->sha[C]);
    assert_ok(repo_resolve(sha, r, "HEAD"));
    assert_string_equal(sha, h->sha[E]);
    repo_close(r);
    const char *compare = "git --git-dir=\"$1\" for-each-ref > \"$3\"; git --git-dir=\"$2\" "
                          "for-each-ref | diff \"$3\" -";
    shell(h, compare, h->git, mirror, in_folder(h, "refs"));
    assert_int_equal(entries_of(h, in_folder(h, "mirrors/deep")), 1);
}

static void refreshing_a_mirror(void **state)
{
    struct history *h = *state;
    char *mirror = in_folder(h, "m.git"), before[REPO_SHA_SIZE], now[REPO_SHA_SIZE];
    struct repo *r;
    assert_ok(repo_mirror(&r, h->git, mirror, true));
    add_to_main(h, "more\n");
    shell(h, "cd \"$1\"; git update-ref -d refs/heads/side", h->git, NULL, NULL);
    repo_close(r);
    assert_ok(repo_mirror(&r, h->git, mirror, false));
    assert_ok(repo_resolve(before, r, "main"));
    assert_string_equal(before, h->sha[E]);
    repo_close(r);
    assert_ok(repo_mirror(&r, h->git, mirror, true));
    assert_ok(repo_resolve(now, r, "extra"));
    assert_ok(repo_resolve(before, r, "main"));
    assert_string_equal(before, now);
    assert_string_not_equal(now, h->sha[E]);
    assert_fails(repo_resolve(now, r, "side"), ERR_NOTFOUND, "side");
    repo_close(r);
}

/* A force-push takes a commit out of every branch; rows and slots still name it. */
static void fetching_follows_a_force_push_and_keeps_old_commits(void **state)
{
    struct history *h = *state;
    struct repo *r;
    char sha[REPO_SHA_SIZE], lost[REPO_SHA_SIZE];
    assert_ok(repo_mirror(&r, h->git, in_folder(h, "m.git"), false));
    add_to_main(h, "first\n");
    assert_ok(repo_fetch(r));
    assert_ok(repo_resolve(lost, r, "main"));
    shell(h, "cd \"$1\"; git update-ref refs/heads/main \"$2\"; git update-ref -d refs/heads/extra",
          h->git, h->sha[C], NULL);
    assert_ok(repo_fetch(r));
    assert_ok(repo_resolve(sha, r, "main"));
    assert_string_equal(sha, h->sha[C]);
    assert_ok(repo_resolve(sha, r, lost));
    repo_close(r);
}

static void a_failed_fetch_changes_nothing(void **state)
{
    struct history *h = *state;
    char *mirror = in_folder(h, "mirrors/m.git"), *missing = in_folder(h, "missing.git"),
         sha[REPO_SHA_SIZE];
    struct repo *r;
    assert_fails(repo_mirror(&r, missing, mirror, true), ERR_IO, "missing.git");
    assert_null(r);
    assert_int_equal(entries_of(h, in_folder(h, "mirrors")), 0);
    assert_ok(repo_mirror(&r, h->git, mirror, false));
    assert_int_equal(rename(h->git, missing), 0);
    assert_fails(repo_fetch(r), ERR_IO, "fetching into");
    assert_ok(repo_resolve(sha, r, "main"));
    assert_string_equal(sha, h->sha[E]);
    repo_close(r);
    assert_fails(repo_mirror(&r, h->git, mirror, true), ERR_IO, "m.git");
    assert_null(r);
    assert_ok(repo_mirror(&r, h->git, mirror, false));
    repo_close(r);
}

/* As under `git bisect run` or in a hook: the outer repository's variables are not for us. */
static void outer_git_variables_do_not_matter(void **state)
{
    struct history *h = *state;
    char *patch = folder_file(h->folder, "fix.patch", tenth_line), tree[REPO_SHA_SIZE],
         wanted[REPO_SHA_SIZE];
    assert_ok(repo_patched_tree(wanted, h->repo, h->sha[B], patch));
    setenv("GIT_DIR", in_folder(h, "elsewhere.git"), 1);
    setenv("GIT_INDEX_FILE", in_folder(h, "elsewhere.index"), 1);
    setenv("GIT_WORK_TREE", in_folder(h, "elsewhere"), 1);
    struct repo *r;
    int status = repo_patched_tree(tree, h->repo, h->sha[B], patch);
    int mirrored = repo_mirror(&r, h->git, in_folder(h, "m.git"), false);
    int fetched = mirrored == 0 ? repo_fetch(r) : mirrored;
    unsetenv("GIT_DIR");
    unsetenv("GIT_INDEX_FILE");
    unsetenv("GIT_WORK_TREE");
    assert_int_equal(status, 0);
    assert_string_equal(tree, wanted);
    assert_int_equal(fetched, 0);
    repo_close(r);
    assert_false(fs_exists(in_folder(h, "elsewhere.index")));
}

static void a_relative_path_is_mirrored(void **state)
{
    struct history *h = *state;
    char before[4096];
    struct repo *r = NULL;
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(h->folder->path), 0);
    int status = repo_mirror(&r, "source.git", "m.git", false);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(status, 0);
    assert_ok(repo_fetch(r));
    repo_close(r);
}

/* A neutral git for this process and its children. */
static void set_git_environment(void)
{
    static const char *const outer[] = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE",
                                        "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE"};
    for (size_t i = 0; i < COUNT_OF(outer); i++)
        unsetenv(outer[i]);
    setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
    setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
    setenv("GIT_TERMINAL_PROMPT", "0", 1);
    setenv("LC_ALL", "C", 1);
}

#define WITH_HISTORY(test) cmocka_unit_test_setup_teardown(test, history_setup, history_teardown)

int main(void)
{
    /* These leave the history as it is, so that one serves them all. */
    const struct CMUnitTest readers[] = {
        cmocka_unit_test(resolving),
        cmocka_unit_test(what_does_not_resolve),
        cmocka_unit_test(one_commit),
        cmocka_unit_test(a_range_with_a_merge),
        cmocka_unit_test(a_range_with_a_parent_outside),
        cmocka_unit_test(ranges_at_the_edge),
        cmocka_unit_test(ancestry),
        cmocka_unit_test(merge_bases),
        cmocka_unit_test(changed_paths),
        cmocka_unit_test(reading_a_file),
        cmocka_unit_test(blob_ids_are_gits),
        cmocka_unit_test(trees),
        cmocka_unit_test(a_revert_that_applies),
        cmocka_unit_test(a_revert_of_a_merge_is_against_its_first_parent),
        cmocka_unit_test(a_revert_that_conflicts),
        cmocka_unit_test(a_revert_of_a_root),
    };
    const struct CMUnitTest changers[] = {
        WITH_HISTORY(opening),
        WITH_HISTORY(ambiguous_abbreviations),
        WITH_HISTORY(a_file_does_not_make_a_commit_ambiguous),
        WITH_HISTORY(a_long_range),
        WITH_HISTORY(a_patch_with_an_offset_applies),
        WITH_HISTORY(a_patch_in_a_work_tree_leaves_it_alone),
        WITH_HISTORY(a_patch_that_does_not_apply),
        WITH_HISTORY(back_and_forth),
        WITH_HISTORY(a_build_folder_is_left_alone),
        WITH_HISTORY(a_relative_slot_and_a_commit),
        WITH_HISTORY(a_user_repository_keeps_its_index),
        WITH_HISTORY(a_killed_change_is_finished_first),
        WITH_HISTORY(a_killed_first_checkout_is_finished),
        WITH_HISTORY(the_journal_stands_when_a_checkout_fails),
        WITH_HISTORY(removed_and_edited_files_come_back),
        WITH_HISTORY(a_slot_whose_tree_is_lost_is_made_anew),
        WITH_HISTORY(damaged_states_are_told),
        WITH_HISTORY(an_unknown_tree_changes_nothing),
        WITH_HISTORY(a_mirror_has_every_ref),
        WITH_HISTORY(refreshing_a_mirror),
        WITH_HISTORY(fetching_follows_a_force_push_and_keeps_old_commits),
        WITH_HISTORY(a_failed_fetch_changes_nothing),
        WITH_HISTORY(outer_git_variables_do_not_matter),
        WITH_HISTORY(a_relative_path_is_mirrored),
    };
    set_git_environment();
    int failed = cmocka_run_group_tests(readers, history_setup, history_teardown);
    return failed + cmocka_run_group_tests(changers, NULL, NULL);
}
