#include "src/repo_internal.h"

#include "src/fs.h"
#include "src/opt.h"
#include "src/proc.h"

#include <errno.h>
#include <git2/sys/repository.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ABBREVIATIONS_TOLD = 4 };
static const int64_t FETCH_LIMIT_NS = 4 * 3600 * INT64_C(1000000000);
static const int64_t PATCH_LIMIT_NS = 600 * INT64_C(1000000000);

/* libgit2's objects, for CLEANUP. */

static void free_object(git_object **o)
{
    git_object_free(*o);
}

void repo__free_tree(git_tree **t)
{
    git_tree_free(*t);
}

static void free_commit(git_commit **c)
{
    git_commit_free(*c);
}

void repo__free_index(git_index **i)
{
    git_index_free(*i);
}

static void free_walk(git_revwalk **w)
{
    git_revwalk_free(*w);
}

static void free_diff(git_diff **d)
{
    git_diff_free(*d);
}

void repo__free_entry(git_tree_entry **e)
{
    git_tree_entry_free(*e);
}

static void free_odb(git_odb **o)
{
    git_odb_free(*o);
}

static void free_references(git_reference_iterator **i)
{
    git_reference_iterator_free(*i);
}

/* Start libgit2, once. What a person's own configuration says about line ends or filters is not to
 * change the files that a candidate is built from. Nor is the owner of a repository asked for:
 * libgit2 runs no command that a repository names. */
static void start_library(void)
{
    static bool started;
    if (started)
        return;
    if (git_libgit2_init() < 0)
        die("libgit2 does not start");
    const int levels[] = {GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL,
                          GIT_CONFIG_LEVEL_PROGRAMDATA};
    for (size_t i = 0; i < COUNT_OF(levels); i++)
        git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "");
    git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
    started = true;
}

const char *repo__library_message(void)
{
    const git_error *e = git_error_last();
    return e && e->message ? e->message : "libgit2 gives no reason";
}

int repo__foreign(const struct repo *r, const char *doing)
{
    return err_set(ERR_FOREIGN, "%s: %s: %s", r->path, doing, repo__library_message());
}

static void put_sha(char out[REPO_SHA_SIZE], const git_oid *id)
{
    git_oid_tostr(out, REPO_SHA_SIZE, id);
}

/* Opening. */

int repo_open(struct repo **out, const char *path)
{
    start_library();
    *out = NULL;
    git_repository *git = NULL;
    int code = git_repository_open_ext(&git, path, 0, NULL);
    if (code == GIT_ENOTFOUND)
        return err_set(ERR_NOTFOUND, "%s is no Git repository, nor a folder in one", path);
    if (code < 0)
        return err_set(ERR_FOREIGN, "opening %s: %s", path, repo__library_message());
    struct repo *r = xcalloc(1, sizeof *r);
    r->git = git;
    r->path = xstrdup(git_repository_path(git));
    size_t length = strlen(r->path);
    if (length > 1 && r->path[length - 1] == '/')
        r->path[length - 1] = '\0';
    *out = r;
    return 0;
}

void repo_close(struct repo *r)
{
    if (!r)
        return;
    git_repository_free(r->git);
    free(r->path);
    free(r);
}

void repo_close_ptr(struct repo **r)
{
    repo_close(*r);
}

const char *repo_path(const struct repo *r)
{
    return r->path;
}

/* git as a child. */

/* We may be the child of a git hook or of `git bisect run`, whose repository is not the one that we
 * mean. */
#define FORGET_OUTER_GIT                                                                           \
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",                          \
        "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX",       \
        "LC_ALL=C", "GIT_TERMINAL_PROMPT=0"

/* git's first complaint without its prefix; failing that, its first line. */
static void first_complaint(char *out, size_t size, const char *text)
{
    const char *found = text;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "fatal: ", 7) == 0 || strncmp(line, "error: ", 7) == 0) {
            found = line + 7;
            break;
        }
    }
    snprintf(out, size, "%.*s", (int)strcspn(found, "\n"), found);
}

/* Run git; its output in `out` (may be NULL). A complaint of git is `code`. */
static int run_git(struct buf *out, const char *const *argv, const char *const *environment,
                   const char *folder, int64_t limit_ns, int code)
{
    struct proc_spec spec = {.argv = argv,
                             .environment = environment,
                             .folder = folder,
                             .wall_limit_ns = limit_ns,
                             .cpu = -1};
    struct proc_result p;
    char why[1024];
    int status = proc_run(&p, &spec);
    if (status == 0 && p.end == PROC_EXITED && p.code == 0) {
        if (out)
            buf_add(out, p.out.data, p.out.length);
    } else if (status == 0 && p.end == PROC_EXITED && p.err.length > 0) {
        first_complaint(why, sizeof why, p.err.data);
        status = err_set(code, "git %s: %s", argv[1], why);
    } else if (status == 0) {
        int is_missing = p.end == PROC_NOT_STARTED ? ERR_NOTFOUND : ERR_IO;
        status =
            err_set(is_missing, "git %s: %s", argv[1], proc_describe(why, sizeof why, &p, "git"));
    }
    proc_result_release(&p);
    return status;
}

static const char *const fetch_environment[] = {FORGET_OUTER_GIT, NULL};

int repo_fetch(struct repo *r)
{
    /* One transaction, and nothing is thrown away: slots and rows name commits that a force-push
     * made unreachable. */
    const char *const argv[] = {
        "git",     "--git-dir=.",           "fetch",  "--quiet",        "--atomic",
        "--prune", "--no-auto-maintenance", "origin", "+refs/*:refs/*", NULL};
    int status = run_git(NULL, argv, fetch_environment, r->path, FETCH_LIMIT_NS, ERR_IO);
    if (status < 0)
        return err_wrap("fetching into %s", r->path);
    /* libgit2 looks for new packs only when it misses an object, which an abbreviation may hide. */
    CLEANUP(free_odb) git_odb *odb = NULL;
    if (git_repository_odb(&odb, r->git) < 0 || git_odb_refresh(odb) < 0)
        return repo__foreign(r, "looking for what was fetched");
    return 0;
}

/* Remove a folder of ours after trouble or success; the message in flight stays. */
static void tidy_up(const char *folder)
{
    struct arena a = {0};
    int code = err_code();
    char *message = arena_strdup(&a, err_message());
    if (fs_remove_tree(folder) < 0 && code == 0)
        err_clear();
    if (code < 0)
        err_set(code, "%s", message);
    arena_release(&a);
}

static int clone_mirror(struct arena *a, const char *url, const char *mirror)
{
    const char *half = arena_printf(a, "%s.%d.half", mirror, (int)getpid());
    const char *const argv[] = {"git",       "clone", "--mirror", "--quiet", "--template=", "-c",
                                "gc.auto=0", "--",    url,        half,      NULL};
    int status = fs_make_folders(fs_dirname(a, mirror));
    if (status == 0)
        status = fs_remove_tree(half);
    if (status == 0)
        status = run_git(NULL, argv, fetch_environment, NULL, FETCH_LIMIT_NS, ERR_IO);
    if (status < 0)
        err_wrap("fetching %s", url);
    else if (rename(half, mirror) != 0)
        status = err_set(ERR_IO, "renaming %s to %s: %s", half, mirror, strerror(errno));
    if (status < 0)
        tidy_up(half);
    return status;
}

int repo_mirror(struct repo **out, const char *url, const char *mirror, bool refresh)
{
    struct arena a = {0};
    *out = NULL;
    bool is_new = !fs_exists(mirror);
    int status = 0;
    char *absolute = NULL;
    if (is_new && fs_exists(url))
        status = fs_absolute(&absolute, &a, url);
    if (status == 0 && is_new)
        status = clone_mirror(&a, absolute ? absolute : url, mirror);
    if (status == 0)
        status = repo_open(out, mirror);
    if (status == 0 && refresh && !is_new)
        status = repo_fetch(*out);
    if (status < 0) {
        repo_close(*out);
        *out = NULL;
    }
    arena_release(&a);
    return status;
}

/* Naming commits. */

/* Look an object up by its full SHA and peel it to `type`. */
static int look_up(git_object **out, const struct repo *r, const char *sha, git_object_t type)
{
    git_oid id;
    CLEANUP(free_object) git_object *object = NULL;
    *out = NULL;
    if (strlen(sha) != GIT_OID_HEXSZ || git_oid_fromstr(&id, sha) < 0)
        return err_set(ERR_INVALID, "`%s` is no full SHA", sha);
    int code = git_object_lookup(&object, r->git, &id, GIT_OBJECT_ANY);
    if (code == GIT_ENOTFOUND)
        return err_set(ERR_NOTFOUND, "%s has no object %s", r->path, sha);
    if (code < 0)
        return repo__foreign(r, sha);
    code = git_object_peel(out, object, type);
    if (code == GIT_EPEEL || code == GIT_EINVALIDSPEC || code == GIT_ENOTFOUND)
        return err_set(ERR_INVALID, "%s is a %s, not a %s", sha,
                       git_object_type2string(git_object_type(object)),
                       git_object_type2string(type));
    return code < 0 ? repo__foreign(r, sha) : 0;
}

static int look_up_commit(git_commit **out, const struct repo *r, const char *sha)
{
    return look_up((git_object **)out, r, sha, GIT_OBJECT_COMMIT);
}

int repo__look_up_tree(git_tree **out, const struct repo *r, const char *sha)
{
    return look_up((git_object **)out, r, sha, GIT_OBJECT_TREE);
}

static int parse_oid(git_oid *out, const char *sha)
{
    if (strlen(sha) != GIT_OID_HEXSZ || git_oid_fromstr(out, sha) < 0)
        return err_set(ERR_INVALID, "`%s` is no full SHA", sha);
    return 0;
}

static const char *short_name(const char *reference)
{
    static const char *const prefixes[] = {"refs/heads/", "refs/tags/", "refs/remotes/"};
    for (size_t i = 0; i < COUNT_OF(prefixes); i++)
        if (strncmp(reference, prefixes[i], strlen(prefixes[i])) == 0)
            return reference + strlen(prefixes[i]);
    return NULL;
}

/* The branch or tag whose name is nearest to `rev`; NULL when none is near. */
static const char *nearest_name(struct arena *a, const struct repo *r, const char *rev)
{
    CLEANUP(free_references) git_reference_iterator *references = NULL;
    if (git_reference_iterator_new(&references, r->git) < 0)
        return NULL;
    const char *best = NULL, *name;
    while (git_reference_next_name(&name, references) == 0) {
        const char *candidate = short_name(name);
        if (!candidate)
            continue;
        /* The winner so far stands first: a later name must be nearer to replace it. */
        const char *const words[] = {best ? best : candidate, candidate, NULL};
        const char *nearer = opt_nearest(rev, words);
        if (nearer && nearer != best)
            best = arena_strdup(a, nearer);
    }
    return best;
}

struct abbreviation {
    git_odb *odb;
    const char *digits;
    size_t count; /* commits seen */
    char shas[ABBREVIATIONS_TOLD][REPO_SHA_SIZE];
};

static int note_commit(const git_oid *id, void *payload)
{
    struct abbreviation *a = payload;
    char sha[REPO_SHA_SIZE];
    size_t size;
    git_object_t type;
    put_sha(sha, id);
    if (strncasecmp(sha, a->digits, strlen(a->digits)) != 0)
        return 0;
    if (git_odb_read_header(&size, &type, a->odb, id) < 0 || type != GIT_OBJECT_COMMIT)
        return 0;
    bool is_new = true;
    for (size_t i = 0; i < a->count && i < ABBREVIATIONS_TOLD; i++)
        is_new = is_new && strcmp(a->shas[i], sha) != 0;
    if (is_new && a->count < ABBREVIATIONS_TOLD)
        memcpy(a->shas[a->count], sha, sizeof sha);
    a->count += is_new;
    return 0;
}

/* libgit2 calls an abbreviation ambiguous when a file shares it; git asks which of them are
 * commits. So do we. */
static int resolve_ambiguous(char out[REPO_SHA_SIZE], const struct repo *r, const char *rev)
{
    CLEANUP(free_odb) git_odb *odb = NULL;
    struct abbreviation found = {.digits = rev};
    if (git_repository_odb(&odb, r->git) < 0)
        return repo__foreign(r, rev);
    found.odb = odb;
    if (git_odb_foreach(odb, note_commit, &found) < 0)
        return repo__foreign(r, rev);
    if (found.count == 1) {
        memcpy(out, found.shas[0], REPO_SHA_SIZE);
        return 0;
    }
    if (found.count == 0)
        return err_set(ERR_NOTFOUND, "%s: `%s` is ambiguous", r->path, rev);
    return err_set(ERR_NOTFOUND, "%s: `%s` is ambiguous: %.12s, %.12s%s", r->path, rev,
                   found.shas[0], found.shas[1], found.count > 2 ? " and more" : "");
}

static int tell_unknown(const struct repo *r, const char *rev)
{
    struct arena a = {0};
    const char *nearest = nearest_name(&a, r, rev);
    int status = nearest ? err_set(ERR_NOTFOUND, "%s has no commit `%s`; did you mean `%s`?",
                                   r->path, rev, nearest)
                         : err_set(ERR_NOTFOUND, "%s has no commit `%s`", r->path, rev);
    arena_release(&a);
    return status;
}

int repo_resolve(char out[REPO_SHA_SIZE], struct repo *r, const char *rev)
{
    CLEANUP(free_object) git_object *object = NULL;
    CLEANUP(free_object) git_object *commit = NULL;
    out[0] = '\0';
    int code = git_revparse_single(&object, r->git, rev);
    if (code == GIT_EAMBIGUOUS)
        return resolve_ambiguous(out, r, rev);
    if (code == GIT_ENOTFOUND)
        return tell_unknown(r, rev);
    if (code == GIT_EINVALIDSPEC)
        return err_set(ERR_INVALID, "`%s` does not name one commit", rev);
    if (code < 0)
        return repo__foreign(r, rev);
    if (git_object_peel(&commit, object, GIT_OBJECT_COMMIT) < 0)
        return err_set(ERR_INVALID, "`%s` names a %s, not a commit", rev,
                       git_object_type2string(git_object_type(object)));
    put_sha(out, git_object_id(commit));
    return 0;
}

/* Trees. */

int repo_tree_of(char out[REPO_SHA_SIZE], struct repo *r, const char *commit_sha)
{
    CLEANUP(repo__free_tree) git_tree *tree = NULL;
    out[0] = '\0';
    int status = repo__look_up_tree(&tree, r, commit_sha);
    if (status == 0)
        put_sha(out, git_tree_id(tree));
    return status;
}

/* The three steps on an index of their own, in the folder `work`. */
static int patch_in_index(char out[REPO_SHA_SIZE], struct arena *a, const struct repo *r,
                          const char *sha, const char *patch, const char *work)
{
    const char *const environment[] = {FORGET_OUTER_GIT,
                                       "GIT_CONFIG_GLOBAL=/dev/null",
                                       "GIT_CONFIG_NOSYSTEM=1",
                                       arena_printf(a, "GIT_DIR=%s", r->path),
                                       arena_printf(a, "GIT_INDEX_FILE=%s/index", work),
                                       NULL};
    const char *const read_tree[] = {"git", "read-tree", sha, NULL};
    const char *const apply[] = {"git", "apply", "--cached", "--whitespace=nowarn",
                                 "--",  patch,   NULL};
    const char *const write_tree[] = {"git", "write-tree", NULL};
    struct buf tree;
    buf_init(&tree, BUF_MAX_LINE);
    int status = run_git(NULL, read_tree, environment, work, PATCH_LIMIT_NS, ERR_FOREIGN);
    if (status == 0)
        status = run_git(NULL, apply, environment, work, PATCH_LIMIT_NS, ERR_INVALID);
    if (status == 0)
        status = run_git(&tree, write_tree, environment, work, PATCH_LIMIT_NS, ERR_FOREIGN);
    if (status == 0)
        snprintf(out, REPO_SHA_SIZE, "%s", tree.data);
    buf_release(&tree);
    return status;
}

int repo_patched_tree(char out[REPO_SHA_SIZE], struct repo *r, const char *commit_sha,
                      const char *patch_file)
{
    struct arena a = {0};
    char *patch = NULL, *work = arena_printf(&a, "%s/assay-XXXXXX", r->path);
    char tree[REPO_SHA_SIZE];
    out[0] = '\0';
    int status = fs_absolute(&patch, &a, patch_file);
    if (status == 0)
        status = repo_tree_of(tree, r, commit_sha);
    if (status == 0 && !mkdtemp(work))
        status = err_set(ERR_IO, "making %s: %s", work, strerror(errno));
    else if (status == 0) {
        status = patch_in_index(out, &a, r, tree, patch, work);
        if (status < 0)
            err_wrap("%s on %.12s", patch_file, commit_sha);
        tidy_up(work);
    }
    arena_release(&a);
    return status;
}

int repo_reverted_tree(char out[REPO_SHA_SIZE], bool *applies, struct repo *r, const char *sha,
                       const char *onto_sha)
{
    CLEANUP(free_commit) git_commit *commit = NULL;
    CLEANUP(free_commit) git_commit *onto = NULL;
    CLEANUP(repo__free_index) git_index *index = NULL;
    git_oid tree;
    out[0] = '\0';
    *applies = false;
    int status = look_up_commit(&commit, r, sha);
    if (status == 0)
        status = look_up_commit(&onto, r, onto_sha);
    if (status < 0)
        return status;
    unsigned mainline = git_commit_parentcount(commit) > 1 ? 1 : 0;
    if (git_revert_commit(&index, r->git, commit, onto, mainline, NULL) < 0)
        return repo__foreign(r, "reverting");
    if (git_index_has_conflicts(index))
        return 0;
    if (git_index_write_tree_to(&tree, index, r->git) < 0)
        return repo__foreign(r, "reverting");
    put_sha(out, &tree);
    *applies = true;
    return 0;
}

/* History. */

static int read_commit(struct repo_commit *out, struct arena *a, const struct repo *r,
                       const git_oid *id)
{
    CLEANUP(free_commit) git_commit *commit = NULL;
    *out = (struct repo_commit){0};
    put_sha(out->sha, id);
    if (git_commit_lookup(&commit, r->git, id) < 0)
        return repo__foreign(r, out->sha);
    const char *summary = git_commit_summary(commit);
    const git_signature *author = git_commit_author(commit);
    out->subject = arena_strdup(a, summary ? summary : "");
    out->author = arena_printf(a, "%s <%s>", author->name, author->email);
    out->date_s = author->when.time;
    return 0;
}

int repo_commit(struct repo_commit *out, struct arena *a, struct repo *r, const char *sha)
{
    CLEANUP(free_commit) git_commit *commit = NULL;
    int status = look_up_commit(&commit, r, sha);
    return status < 0 ? status : read_commit(out, a, r, git_commit_id(commit));
}

int repo_is_ancestor(bool *out, struct repo *r, const char *ancestor_sha,
                     const char *descendant_sha)
{
    CLEANUP(free_commit) git_commit *ancestor = NULL;
    CLEANUP(free_commit) git_commit *descendant = NULL;
    *out = false;
    int status = look_up_commit(&ancestor, r, ancestor_sha);
    if (status == 0)
        status = look_up_commit(&descendant, r, descendant_sha);
    if (status < 0)
        return status;
    const git_oid *from = git_commit_id(descendant), *to = git_commit_id(ancestor);
    int answer = git_oid_equal(from, to) ? 1 : git_graph_descendant_of(r->git, from, to);
    if (answer < 0)
        return repo__foreign(r, "walking the history");
    *out = answer == 1;
    return 0;
}

int repo_merge_base(char out[REPO_SHA_SIZE], struct repo *r, const char *a_sha, const char *b_sha)
{
    git_oid a, b, base;
    out[0] = '\0';
    int status = parse_oid(&a, a_sha);
    if (status == 0)
        status = parse_oid(&b, b_sha);
    if (status < 0)
        return status;
    int code = git_merge_base(&base, r->git, &a, &b);
    if (code == GIT_ENOTFOUND)
        return err_set(ERR_NOTFOUND, "%s: %.12s and %.12s have no common history", r->path, a_sha,
                       b_sha);
    if (code < 0)
        return repo__foreign(r, "looking for the merge base");
    put_sha(out, &base);
    return 0;
}

/* Ids of the commits after good up to bad, parents first, good itself in front. */
static int walk_range(git_oid **out, size_t *count, struct arena *a, const struct repo *r,
                      const git_oid *good, const git_oid *bad)
{
    CLEANUP(free_walk) git_revwalk *walk = NULL;
    if (git_revwalk_new(&walk, r->git) < 0 || git_revwalk_push(walk, bad) < 0 ||
        git_revwalk_hide(walk, good) < 0 ||
        git_revwalk_sorting(walk, GIT_SORT_TOPOLOGICAL | GIT_SORT_REVERSE) < 0)
        return repo__foreign(r, "walking the history");
    size_t room = 64, used = 0;
    git_oid *ids = ARENA_ARRAY(a, room, git_oid);
    ids[used++] = *good;
    git_oid id;
    int code;
    while ((code = git_revwalk_next(&id, walk)) == 0) {
        if (used == room) {
            git_oid *larger = ARENA_ARRAY(a, 2 * room, git_oid);
            memcpy(larger, ids, used * sizeof *ids);
            ids = larger;
            room *= 2;
        }
        ids[used++] = id;
    }
    *out = ids;
    *count = used;
    return code == GIT_ITEROVER ? 0 : repo__foreign(r, "walking the history");
}

struct place {
    git_oid id;
    size_t index;
};

static int by_id(const void *left, const void *right)
{
    return git_oid_cmp(&((const struct place *)left)->id, &((const struct place *)right)->id);
}

/* Where each id stands, sorted for bsearch. */
static struct place *make_places(struct arena *a, const git_oid *ids, size_t count)
{
    struct place *places = ARENA_ARRAY(a, count, struct place);
    for (size_t i = 0; i < count; i++)
        places[i] = (struct place){.id = ids[i], .index = i};
    qsort(places, count, sizeof *places, by_id);
    return places;
}

static int link_parents(struct repo_commit *c, struct arena *a, const struct repo *r,
                        const git_oid *id, const struct place *places, size_t count)
{
    CLEANUP(free_commit) git_commit *commit = NULL;
    if (git_commit_lookup(&commit, r->git, id) < 0)
        return repo__foreign(r, c->sha);
    unsigned parents = git_commit_parentcount(commit);
    c->parents = ARENA_ARRAY(a, parents, size_t);
    for (unsigned i = 0; i < parents; i++) {
        struct place key = {.id = *git_commit_parent_id(commit, i)};
        const struct place *found = bsearch(&key, places, count, sizeof *places, by_id);
        if (found)
            c->parents[c->parent_count++] = found->index;
    }
    return 0;
}

int repo_range(struct repo_range *out, struct arena *a, struct repo *r, const char *good_sha,
               const char *bad_sha)
{
    git_oid good, bad, *ids;
    bool ordered;
    *out = (struct repo_range){0};
    int status = repo_is_ancestor(&ordered, r, good_sha, bad_sha);
    if (status == 0 && !ordered)
        status =
            err_set(ERR_INVALID, "%s: %.12s is no ancestor of %.12s", r->path, good_sha, bad_sha);
    if (status == 0)
        status = parse_oid(&good, good_sha);
    if (status == 0)
        status = parse_oid(&bad, bad_sha);
    size_t count = 0;
    if (status == 0)
        status = walk_range(&ids, &count, a, r, &good, &bad);
    if (status < 0)
        return status;
    struct repo_commit *commits = ARENA_ARRAY(a, count, struct repo_commit);
    const struct place *places = make_places(a, ids, count);
    for (size_t i = 0; i < count && status == 0; i++) {
        status = read_commit(&commits[i], a, r, &ids[i]);
        if (status == 0 && i > 0)
            status = link_parents(&commits[i], a, r, &ids[i], places, count);
    }
    *out = (struct repo_range){.commits = commits, .count = count};
    return status;
}

static int by_text(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

int repo_changed_paths(char ***out, size_t *count, struct arena *a, struct repo *r,
                       const char *from_sha, const char *to_sha)
{
    CLEANUP(repo__free_tree) git_tree *from = NULL;
    CLEANUP(repo__free_tree) git_tree *to = NULL;
    CLEANUP(free_diff) git_diff *diff = NULL;
    *count = 0;
    int status = repo__look_up_tree(&from, r, from_sha);
    if (status == 0)
        status = repo__look_up_tree(&to, r, to_sha);
    if (status < 0)
        return status;
    if (git_diff_tree_to_tree(&diff, r->git, from, to, NULL) < 0)
        return repo__foreign(r, "comparing trees");
    size_t deltas = git_diff_num_deltas(diff);
    *out = ARENA_ARRAY(a, deltas, char *);
    for (size_t i = 0; i < deltas; i++)
        (*out)[i] = arena_strdup(a, git_diff_get_delta(diff, i)->new_file.path);
    qsort(*out, deltas, sizeof **out, by_text);
    *count = deltas;
    return 0;
}

int repo_read_file(struct buf *out, struct repo *r, const char *commit_sha, const char *path)
{
    CLEANUP(repo__free_tree) git_tree *tree = NULL;
    CLEANUP(repo__free_entry) git_tree_entry *entry = NULL;
    CLEANUP(free_object) git_object *object = NULL;
    int status = repo__look_up_tree(&tree, r, commit_sha);
    if (status < 0)
        return status;
    int code = git_tree_entry_bypath(&entry, tree, path);
    if (code == GIT_ENOTFOUND)
        return err_set(ERR_NOTFOUND, "%s: %.12s has no file %s", r->path, commit_sha, path);
    if (code < 0)
        return repo__foreign(r, path);
    if (git_tree_entry_type(entry) != GIT_OBJECT_BLOB)
        return err_set(ERR_INVALID, "%s: %s in %.12s is no file", r->path, path, commit_sha);
    if (git_tree_entry_to_object(&object, r->git, entry) < 0)
        return repo__foreign(r, path);
    const git_blob *blob = (const git_blob *)object;
    buf_add(out, git_blob_rawcontent(blob), (size_t)git_blob_rawsize(blob));
    return buf_check(out, path);
}

int repo_blob_id(char out[REPO_SHA_SIZE], const void *bytes, size_t length)
{
    git_oid id;
    start_library();
    out[0] = '\0';
    if (git_odb_hash(&id, bytes, length, GIT_OBJECT_BLOB) < 0)
        return err_set(ERR_FOREIGN, "hashing: %s", repo__library_message());
    put_sha(out, &id);
    return 0;
}
