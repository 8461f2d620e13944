#include "src/repo.h"

#include "src/fs.h"
#include "src/opt.h"
#include "src/proc.h"

#include <git2.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct repo {
    git_repository *git;
};

static const int64_t GIT_LIMIT_NS = 3600000000000; /* a fetch of a large compiler over a slow line */

#define HANDLE(type, function)                     \
    static void function##_ptr(type **handle)      \
    {                                              \
        function(*handle);                         \
    }
HANDLE(git_object, git_object_free)
HANDLE(git_commit, git_commit_free)
HANDLE(git_tree, git_tree_free)
HANDLE(git_tree_entry, git_tree_entry_free)
HANDLE(git_blob, git_blob_free)
HANDLE(git_revwalk, git_revwalk_free)
HANDLE(git_diff, git_diff_free)
HANDLE(git_index, git_index_free)
HANDLE(git_reference_iterator, git_reference_iterator_free)

static void start_library(void)
{
    static bool started;
    if (!started && git_libgit2_init() < 0)
        die("libgit2 does not start");
    started = true;
}

static int fail(const char *what)
{
    const git_error *e = git_error_last();
    return err_set(ERR_FOREIGN, "%s: %s", what, e ? e->message : "libgit2 gives no reason");
}

int repo_open(struct repo **out, const char *path)
{
    start_library();
    git_repository *git = NULL;
    if (git_repository_open_ext(&git, path, 0, NULL) < 0) {
        const git_error *e = git_error_last();
        return err_set(ERR_NOTFOUND, "%s is no Git repository: %s", path, e ? e->message : "");
    }
    *out = xmalloc(sizeof **out);
    (*out)->git = git;
    return 0;
}

void repo_close(struct repo *r)
{
    if (!r)
        return;
    git_repository_free(r->git);
    free(r);
}

void repo_close_ptr(struct repo **r)
{
    repo_close(*r);
}

const char *repo_path(const struct repo *r)
{
    return git_repository_path(r->git);
}

/* The line of git's complaints that says most: the first "fatal:" or "error:", else the first. */
static const char *first_complaint(struct arena *a, const char *text)
{
    const char *found = text;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "fatal:", 6) == 0 || strncmp(line, "error:", 6) == 0) {
            found = line;
            break;
        }
    }
    return arena_strndup(a, found, strcspn(found, "\n"));
}

/* Run git with `argv`; its output, trimmed, into `out` (may be NULL). `code` is what a failure is called. */
static int run_git(struct buf *out, const char *const *argv, const char *const *environment, int code, const char *what)
{
    struct proc_spec spec = {.argv = argv, .environment = environment, .wall_limit_ns = GIT_LIMIT_NS, .cpu = -1};
    struct proc_result r;
    int status = proc_run(&r, &spec);
    if (status == 0 && (r.end != PROC_EXITED || r.code != 0)) {
        struct arena a = {0};
        char why[256];
        if (r.end == PROC_EXITED && r.err.length > 0)
            status = err_set(code, "%s: %s", what, first_complaint(&a, r.err.data));
        else
            status = err_set(r.end == PROC_NOT_STARTED ? ERR_NOTFOUND : code, "%s: %s", what, proc_describe(why, sizeof why, &r, "git"));
        arena_release(&a);
    }
    if (status == 0 && out)
        buf_add(out, r.out.data, strcspn(r.out.data, "\n"));
    proc_result_release(&r);
    return status;
}

static const char *const ask_nobody[] = {"GIT_TERMINAL_PROMPT=0", NULL};

static int fetch_into(const char *folder, const char *url)
{
    const char *const argv[] = {"git",      "--git-dir", folder,  "fetch",         "--quiet", "--prune",
                                "--no-tags", "--force",   "--end-of-options", url, "+refs/*:refs/*", NULL};
    return run_git(NULL, argv, ask_nobody, ERR_NOTFOUND, url);
}

/* A new mirror appears whole or not at all. */
static int make_mirror(const char *url, const char *mirror)
{
    struct arena a = {0};
    const char *half = arena_printf(&a, "%s.half", mirror);
    const char *const init[] = {"git", "init", "--quiet", "--bare", half, NULL};
    const char *const remember[] = {"git", "--git-dir", half, "config", "assay.url", url, NULL};
    int status = fs_remove_tree(half);
    if (status == 0)
        status = fs_make_folders(fs_dirname(&a, mirror));
    if (status == 0)
        status = run_git(NULL, init, ask_nobody, ERR_IO, "git init");
    if (status == 0)
        status = run_git(NULL, remember, ask_nobody, ERR_IO, "git config");
    if (status == 0)
        status = fetch_into(half, url);
    if (status == 0 && rename(half, mirror) != 0)
        status = err_set(ERR_IO, "renaming %s:", half);
    if (status < 0) {
        struct buf cause;
        int code = err_code();
        buf_init(&cause, BUF_MAX_LINE);
        buf_add_text(&cause, err_message());
        if (fs_remove_tree(half) < 0)
            err_clear();
        status = err_set(code, "%s", cause.data);
        buf_release(&cause);
    }
    arena_release(&a);
    return status;
}

int repo_mirror(struct repo **out, const char *url, const char *mirror, bool refresh)
{
    bool there = fs_is_folder(mirror);
    int status = there ? 0 : make_mirror(url, mirror);
    if (status == 0 && there && refresh)
        status = fetch_into(mirror, url);
    return status < 0 ? status : repo_open(out, mirror);
}

int repo_fetch(struct repo *r)
{
    git_config *config = NULL;
    git_buf url = {0};
    int status = 0;
    if (git_repository_config_snapshot(&config, r->git) < 0 || git_config_get_string_buf(&url, config, "assay.url") < 0)
        status = fail("the mirror does not say where it came from");
    git_config_free(config);
    if (status == 0)
        status = fetch_into(repo_path(r), url.ptr);
    git_buf_dispose(&url);
    return status;
}

/* Branches and tags by their short names, NULL-terminated. */
static const char *nearest_ref(struct arena *a, struct repo *r, const char *rev)
{
    CLEANUP(git_reference_iterator_free_ptr) git_reference_iterator *iterator = NULL;
    const char *names[4097];
    size_t count = 0;
    const char *name;
    if (git_reference_iterator_new(&iterator, r->git) < 0)
        return NULL;
    while (count < COUNT_OF(names) - 1 && git_reference_next_name(&name, iterator) == 0) {
        const char *slash = strncmp(name, "refs/", 5) == 0 ? strchr(name + 5, '/') : NULL;
        if (slash)
            names[count++] = arena_strdup(a, slash + 1);
    }
    names[count] = NULL;
    return opt_nearest(rev, names);
}

static int explain_unresolved(struct repo *r, const char *rev, int code)
{
    if (code == GIT_EAMBIGUOUS)
        return err_set(ERR_NOTFOUND, "`%s` is ambiguous in %s: give more digits", rev, repo_path(r));
    struct arena a = {0};
    const char *nearest = nearest_ref(&a, r, rev);
    int status = nearest ? err_set(ERR_NOTFOUND, "there is no commit `%s` in %s; did you mean `%s`?", rev, repo_path(r), nearest)
                         : err_set(ERR_NOTFOUND, "there is no commit `%s` in %s", rev, repo_path(r));
    arena_release(&a);
    return status;
}

int repo_resolve(char out[REPO_SHA_SIZE], struct repo *r, const char *rev)
{
    CLEANUP(git_object_free_ptr) git_object *object = NULL;
    CLEANUP(git_object_free_ptr) git_object *commit = NULL;
    int code = git_revparse_single(&object, r->git, rev);
    if (code < 0)
        return explain_unresolved(r, rev, code);
    if (git_object_peel(&commit, object, GIT_OBJECT_COMMIT) < 0)
        return err_set(ERR_NOTFOUND, "`%s` in %s is no commit", rev, repo_path(r));
    git_oid_tostr(out, REPO_SHA_SIZE, git_object_id(commit));
    return 0;
}

static int look_up_commit(git_commit **out, struct repo *r, const char *sha)
{
    git_oid id;
    if (git_oid_fromstr(&id, sha) < 0)
        return err_set(ERR_INVALID, "`%s` is no SHA", sha);
    if (git_commit_lookup(out, r->git, &id) < 0)
        return err_set(ERR_NOTFOUND, "there is no commit %s in %s", sha, repo_path(r));
    return 0;
}

/* The tree that a commit's or a tree's SHA names. */
static int look_up_tree(git_tree **out, struct repo *r, const char *sha)
{
    CLEANUP(git_object_free_ptr) git_object *object = NULL;
    git_oid id;
    if (git_oid_fromstr(&id, sha) < 0)
        return err_set(ERR_INVALID, "`%s` is no SHA", sha);
    if (git_object_lookup(&object, r->git, &id, GIT_OBJECT_ANY) < 0 || git_object_peel((git_object **)out, object, GIT_OBJECT_TREE) < 0)
        return err_set(ERR_NOTFOUND, "there is no tree %s in %s", sha, repo_path(r));
    return 0;
}

int repo_tree_of(char out[REPO_SHA_SIZE], struct repo *r, const char *commit_sha)
{
    CLEANUP(git_commit_free_ptr) git_commit *commit = NULL;
    int status = look_up_commit(&commit, r, commit_sha);
    if (status == 0)
        git_oid_tostr(out, REPO_SHA_SIZE, git_commit_tree_id(commit));
    return status;
}

/* git apply knows offsets, which libgit2's does not: it works on an index of its own, so that no tree on disk is touched. */
static int apply_in_index(char out[REPO_SHA_SIZE], struct repo *r, const char *commit_sha, const char *patch, const char *index)
{
    struct arena a = {0};
    const char *const environment[] = {arena_printf(&a, "GIT_DIR=%s", repo_path(r)),
                                       arena_printf(&a, "GIT_INDEX_FILE=%s", index),
                                       "GIT_CONFIG_GLOBAL=/dev/null",
                                       "GIT_CONFIG_NOSYSTEM=1",
                                       NULL};
    const char *const read_tree[] = {"git", "read-tree", commit_sha, NULL};
    const char *const apply[] = {"git", "apply", "--cached", "--whitespace=nowarn", patch, NULL};
    const char *const write_tree[] = {"git", "write-tree", NULL};
    struct buf sha;
    buf_init(&sha, BUF_MAX_LINE);
    int status = run_git(NULL, read_tree, environment, ERR_FOREIGN, "git read-tree");
    if (status == 0)
        status = run_git(NULL, apply, environment, ERR_INVALID, arena_printf(&a, "patch %s on %.12s", patch, commit_sha));
    if (status == 0)
        status = run_git(&sha, write_tree, environment, ERR_FOREIGN, "git write-tree");
    if (status == 0)
        snprintf(out, REPO_SHA_SIZE, "%s", sha.data);
    buf_release(&sha);
    arena_release(&a);
    return status;
}

int repo_patched_tree(char out[REPO_SHA_SIZE], struct repo *r, const char *commit_sha, const char *patch_file)
{
    struct arena a = {0};
    char *patch;
    char folder[] = "/tmp/assay-index-XXXXXX";
    int status = fs_absolute(&patch, &a, patch_file);
    if (status == 0 && !mkdtemp(folder))
        status = err_set(ERR_IO, "temporary folder:");
    if (status == 0) {
        status = apply_in_index(out, r, commit_sha, patch, fs_join(&a, folder, "index"));
        unlink(fs_join(&a, folder, "index"));
        rmdir(folder);
    }
    arena_release(&a);
    return status;
}

int repo_reverted_tree(char out[REPO_SHA_SIZE], bool *applies, struct repo *r, const char *sha, const char *onto_sha)
{
    CLEANUP(git_commit_free_ptr) git_commit *commit = NULL;
    CLEANUP(git_commit_free_ptr) git_commit *onto = NULL;
    CLEANUP(git_index_free_ptr) git_index *index = NULL;
    out[0] = '\0';
    *applies = false;
    int status = look_up_commit(&commit, r, sha);
    if (status == 0)
        status = look_up_commit(&onto, r, onto_sha);
    if (status < 0)
        return status;
    unsigned mainline = git_commit_parentcount(commit) > 1 ? 1 : 0;
    if (git_commit_parentcount(commit) == 0)
        return 0;
    if (git_revert_commit(&index, r->git, commit, onto, mainline, NULL) < 0)
        return fail("revert");
    if (git_index_has_conflicts(index))
        return 0;
    git_oid tree;
    if (git_index_write_tree_to(&tree, index, r->git) < 0)
        return fail("the tree of a revert");
    git_oid_tostr(out, REPO_SHA_SIZE, &tree);
    *applies = true;
    return 0;
}

static void describe(struct repo_commit *out, struct arena *a, git_commit *commit)
{
    const git_signature *author = git_commit_author(commit);
    const char *summary = git_commit_summary(commit);
    *out = (struct repo_commit){.subject = arena_strdup(a, summary ? summary : ""),
                                .author = arena_printf(a, "%s <%s>", author->name, author->email),
                                .date_s = author->when.time};
    git_oid_tostr(out->sha, sizeof out->sha, git_commit_id(commit));
}

int repo_commit(struct repo_commit *out, struct arena *a, struct repo *r, const char *sha)
{
    CLEANUP(git_commit_free_ptr) git_commit *commit = NULL;
    int status = look_up_commit(&commit, r, sha);
    if (status == 0)
        describe(out, a, commit);
    return status;
}

struct by_sha {
    char sha[REPO_SHA_SIZE];
    size_t index;
};

static int compare_sha(const void *left, const void *right)
{
    return strcmp(((const struct by_sha *)left)->sha, ((const struct by_sha *)right)->sha);
}

/* Parents as indices into the range; those outside are left out. */
static int link_parents(struct repo_range *range, struct arena *a, struct repo *r)
{
    struct by_sha *table = ARENA_ARRAY(a, range->count, struct by_sha);
    for (size_t i = 0; i < range->count; i++) {
        memcpy(table[i].sha, range->commits[i].sha, REPO_SHA_SIZE);
        table[i].index = i;
    }
    qsort(table, range->count, sizeof *table, compare_sha);
    for (size_t i = 1; i < range->count; i++) {
        CLEANUP(git_commit_free_ptr) git_commit *commit = NULL;
        struct repo_commit *c = &range->commits[i];
        int status = look_up_commit(&commit, r, c->sha);
        if (status < 0)
            return status;
        unsigned count = git_commit_parentcount(commit);
        c->parents = ARENA_ARRAY(a, count, size_t);
        for (unsigned p = 0; p < count; p++) {
            struct by_sha key;
            git_oid_tostr(key.sha, sizeof key.sha, git_commit_parent_id(commit, p));
            const struct by_sha *found = bsearch(&key, table, range->count, sizeof *table, compare_sha);
            if (found)
                c->parents[c->parent_count++] = found->index;
        }
    }
    return 0;
}

static int walk_range(struct repo_range *out, struct arena *a, struct repo *r, const git_oid *good, const git_oid *bad)
{
    CLEANUP(git_revwalk_free_ptr) git_revwalk *walk = NULL;
    if (git_revwalk_new(&walk, r->git) < 0 ||
        git_revwalk_sorting(walk, GIT_SORT_TOPOLOGICAL | GIT_SORT_TIME | GIT_SORT_REVERSE) < 0 || git_revwalk_push(walk, bad) < 0 ||
        git_revwalk_hide(walk, good) < 0)
        return fail("walking the range");
    size_t room = 256;
    git_oid id = *good;
    out->commits = ARENA_ARRAY(a, room, struct repo_commit);
    out->count = 0;
    do {
        CLEANUP(git_commit_free_ptr) git_commit *commit = NULL;
        if (git_commit_lookup(&commit, r->git, &id) < 0)
            return fail("a commit of the range");
        if (out->count == room) {
            struct repo_commit *larger = ARENA_ARRAY(a, 2 * room, struct repo_commit);
            memcpy(larger, out->commits, room * sizeof *larger);
            out->commits = larger;
            room *= 2;
        }
        describe(&out->commits[out->count++], a, commit);
    } while (git_revwalk_next(&id, walk) == 0);
    return 0;
}

int repo_range(struct repo_range *out, struct arena *a, struct repo *r, const char *good_sha, const char *bad_sha)
{
    git_oid good, bad;
    bool ancestor;
    int status = repo_is_ancestor(&ancestor, r, good_sha, bad_sha);
    if (status < 0)
        return status;
    if (!ancestor)
        return err_set(ERR_INVALID, "%.12s is no ancestor of %.12s", good_sha, bad_sha);
    git_oid_fromstr(&good, good_sha);
    git_oid_fromstr(&bad, bad_sha);
    status = walk_range(out, a, r, &good, &bad);
    return status < 0 ? status : link_parents(out, a, r);
}

int repo_is_ancestor(bool *out, struct repo *r, const char *ancestor_sha, const char *descendant_sha)
{
    CLEANUP(git_commit_free_ptr) git_commit *ancestor = NULL;
    CLEANUP(git_commit_free_ptr) git_commit *descendant = NULL;
    int status = look_up_commit(&ancestor, r, ancestor_sha);
    if (status == 0)
        status = look_up_commit(&descendant, r, descendant_sha);
    if (status < 0)
        return status;
    *out = true;
    if (git_oid_equal(git_commit_id(ancestor), git_commit_id(descendant)))
        return 0;
    int code = git_graph_descendant_of(r->git, git_commit_id(descendant), git_commit_id(ancestor));
    if (code < 0)
        return fail("ancestry");
    *out = code == 1;
    return 0;
}

int repo_merge_base(char out[REPO_SHA_SIZE], struct repo *r, const char *a_sha, const char *b_sha)
{
    git_oid a, b, base;
    if (git_oid_fromstr(&a, a_sha) < 0 || git_oid_fromstr(&b, b_sha) < 0)
        return err_set(ERR_INVALID, "`%s` or `%s` is no SHA", a_sha, b_sha);
    int code = git_merge_base(&base, r->git, &a, &b);
    if (code == GIT_ENOTFOUND)
        return err_set(ERR_NOTFOUND, "%.12s and %.12s have no common history", a_sha, b_sha);
    if (code < 0)
        return fail("merge base");
    git_oid_tostr(out, REPO_SHA_SIZE, &base);
    return 0;
}

int repo_changed_paths(char ***out, size_t *count, struct arena *a, struct repo *r, const char *from_sha, const char *to_sha)
{
    CLEANUP(git_tree_free_ptr) git_tree *from = NULL;
    CLEANUP(git_tree_free_ptr) git_tree *to = NULL;
    CLEANUP(git_diff_free_ptr) git_diff *diff = NULL;
    int status = look_up_tree(&from, r, from_sha);
    if (status == 0)
        status = look_up_tree(&to, r, to_sha);
    if (status < 0)
        return status;
    if (git_diff_tree_to_tree(&diff, r->git, from, to, NULL) < 0)
        return fail("difference of two trees");
    size_t deltas = git_diff_num_deltas(diff);
    *out = ARENA_ARRAY(a, deltas, char *);
    *count = deltas;
    for (size_t i = 0; i < deltas; i++) {
        const git_diff_delta *delta = git_diff_get_delta(diff, i);
        (*out)[i] = arena_strdup(a, delta->new_file.path ? delta->new_file.path : delta->old_file.path);
    }
    return 0;
}

int repo_read_file(struct buf *out, struct repo *r, const char *commit_sha, const char *path)
{
    CLEANUP(git_tree_free_ptr) git_tree *tree = NULL;
    CLEANUP(git_tree_entry_free_ptr) git_tree_entry *entry = NULL;
    CLEANUP(git_blob_free_ptr) git_blob *blob = NULL;
    int status = look_up_tree(&tree, r, commit_sha);
    if (status < 0)
        return status;
    if (git_tree_entry_bypath(&entry, tree, path) < 0 || git_blob_lookup(&blob, r->git, git_tree_entry_id(entry)) < 0)
        return err_set(ERR_NOTFOUND, "there is no file %s in %.12s", path, commit_sha);
    buf_add(out, git_blob_rawcontent(blob), (size_t)git_blob_rawsize(blob));
    return buf_check(out, path);
}

/* A slot's state file: "at TREE", or "from TREE to TREE" while a change is under way. */
struct slot_state {
    char from[REPO_SHA_SIZE], to[REPO_SHA_SIZE]; /* to "": nothing under way */
};

static const char *state_path(struct arena *a, const char *slot)
{
    return arena_printf(a, "%s.state", slot);
}

static int read_state(struct slot_state *out, const char *slot)
{
    struct arena a = {0};
    struct buf text;
    buf_init(&text, BUF_MAX_LINE);
    *out = (struct slot_state){0};
    const char *path = state_path(&a, slot);
    int status = fs_exists(path) ? fs_read(&text, path) : 0;
    if (status == 0 && text.length > 0 && sscanf(text.data, "at %40[0-9a-f]", out->from) != 1 &&
        sscanf(text.data, "from %40[0-9a-f-] to %40[0-9a-f]", out->from, out->to) != 2)
        status = err_set(ERR_INVALID, "%s is damaged: remove it and the folder beside it", path);
    if (out->from[0] == '-')
        out->from[0] = '\0';
    buf_release(&text);
    arena_release(&a);
    return status;
}

static int write_state(const char *slot, const struct slot_state *s)
{
    struct arena a = {0};
    const char *text = s->to[0] ? arena_printf(&a, "from %s to %s\n", s->from[0] ? s->from : "-", s->to) : arena_printf(&a, "at %s\n", s->from);
    int status = fs_write_text(state_path(&a, slot), text);
    arena_release(&a);
    return status;
}

static void count_written(const char *path, size_t done, size_t total, void *written)
{
    (void)path;
    (void)done;
    *(size_t *)written = total;
}

/* Rewrite the files of `slot` that differ between the trees; without `from` every file is written into what must be an empty folder. */
static int change_tree(size_t *written, struct repo *r, const char *slot, const char *from, const char *to)
{
    CLEANUP(git_tree_free_ptr) git_tree *target = NULL;
    CLEANUP(git_tree_free_ptr) git_tree *baseline = NULL;
    int status = look_up_tree(&target, r, to);
    if (status == 0 && *from)
        status = look_up_tree(&baseline, r, from);
    if (status < 0)
        return status;
    git_checkout_options options;
    if (git_checkout_options_init(&options, GIT_CHECKOUT_OPTIONS_VERSION) < 0)
        return fail("checkout options");
    options.checkout_strategy = GIT_CHECKOUT_FORCE | GIT_CHECKOUT_DONT_UPDATE_INDEX | GIT_CHECKOUT_RECREATE_MISSING;
    options.target_directory = slot;
    options.baseline = baseline;
    options.progress_cb = count_written;
    options.progress_payload = written;
    /* A bare repository has no work tree, which submodules ask for (facts/probes.md). */
    if (git_repository_set_workdir(r->git, slot, 0) < 0 || git_checkout_tree(r->git, (git_object *)target, &options) < 0)
        return fail("checkout");
    return 0;
}

/* One journalled change. */
static int move_slot(size_t *written, struct repo *r, const char *slot, const char *from, const char *to)
{
    struct slot_state s = {0};
    snprintf(s.from, sizeof s.from, "%s", from);
    snprintf(s.to, sizeof s.to, "%s", to);
    size_t count = 0;
    int status = write_state(slot, &s);
    if (status == 0)
        status = change_tree(&count, r, slot, from, to);
    if (status < 0)
        return status;
    *written += count;
    memcpy(s.from, s.to, sizeof s.from);
    s.to[0] = '\0';
    return write_state(slot, &s);
}

int repo_checkout(size_t *written, struct repo *r, const char *tree_sha, const char *slot)
{
    struct arena a = {0};
    char *absolute = NULL;
    struct slot_state s;
    *written = 0;
    bool lost = !fs_is_folder(slot);
    int status = fs_make_folders(slot);
    if (status == 0)
        status = fs_absolute(&absolute, &a, slot);
    if (status == 0)
        status = read_state(&s, absolute);
    if (status == 0 && (lost || (!s.from[0] && !s.to[0]))) {
        /* Nothing is known of what lies there. */
        s = (struct slot_state){0};
        status = fs_remove_tree(absolute);
        if (status == 0)
            status = fs_make_folders(absolute);
    }
    if (status == 0 && s.to[0]) {
        status = move_slot(written, r, absolute, s.from, s.to);
        memcpy(s.from, s.to, sizeof s.from);
    }
    if (status == 0 && strcmp(s.from, tree_sha) != 0)
        status = move_slot(written, r, absolute, s.from, tree_sha);
    arena_release(&a);
    return status;
}

int repo_slot_tree(char out[REPO_SHA_SIZE], const char *slot)
{
    struct slot_state s;
    int status = read_state(&s, slot);
    if (status == 0)
        memcpy(out, s.to[0] ? s.to : s.from, REPO_SHA_SIZE);
    return status;
}

int repo_blob_id(char out[REPO_SHA_SIZE], const void *bytes, size_t length)
{
    git_oid id;
    start_library();
    if (git_odb_hash(&id, bytes, length, GIT_OBJECT_BLOB) < 0)
        return fail("hashing");
    git_oid_tostr(out, REPO_SHA_SIZE, &id);
    return 0;
}
