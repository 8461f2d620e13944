/* repo_slot: the folders that trees are checked out into; see repo.h. */
#include "src/repo_internal.h"

#include "src/fs.h"

#include <stdio.h>
#include <string.h>

/* Slots. The state file says "at TREE", or "from TREE to TREE" while files are being changed; a
 * tree that is not there yet is "nothing". */

struct slot_state {
    char from[REPO_SHA_SIZE]; /* "": an empty folder */
    char to[REPO_SHA_SIZE];   /* "": no change is under way */
};

static const char nothing[] = "nothing";

static char *state_path(struct arena *a, const char *slot)
{
    size_t length = strlen(slot);
    while (length > 1 && slot[length - 1] == '/')
        length--;
    return arena_printf(a, "%.*s.state", (int)length, slot);
}

static bool is_tree_name(const char *word)
{
    return strlen(word) == GIT_OID_HEXSZ && strspn(word, "0123456789abcdef") == GIT_OID_HEXSZ;
}

static int parse_state(struct slot_state *out, const char *text, const char *path)
{
    char from[REPO_SHA_SIZE] = "", to[REPO_SHA_SIZE] = "";
    bool is_at = sscanf(text, "at %40s", from) == 1 && is_tree_name(from);
    bool is_change = !is_at && sscanf(text, "from %40s to %40s", from, to) == 2 &&
                     is_tree_name(to) && (is_tree_name(from) || strcmp(from, nothing) == 0);
    if (!is_at && !is_change)
        return err_set(ERR_INVALID, "%s is damaged: remove it and the folder beside it", path);
    if (strcmp(from, nothing) != 0)
        memcpy(out->from, from, sizeof from);
    memcpy(out->to, to, sizeof to);
    return 0;
}

static int read_state(struct slot_state *out, struct arena *a, const char *slot)
{
    *out = (struct slot_state){0};
    char *path = state_path(a, slot);
    if (!fs_exists(path) || !fs_is_folder(slot))
        return 0;
    struct buf text;
    buf_init(&text, BUF_MAX_LINE);
    int status = fs_read(&text, path);
    if (status == 0)
        status = parse_state(out, text.data, path);
    buf_release(&text);
    return status;
}

int repo_slot_tree(char out[REPO_SHA_SIZE], const char *slot)
{
    struct arena a = {0};
    struct slot_state state;
    out[0] = '\0';
    int status = read_state(&state, &a, slot);
    if (status == 0)
        memcpy(out, *state.to ? state.to : state.from, REPO_SHA_SIZE);
    arena_release(&a);
    return status;
}

struct count {
    size_t written;
    git_tree *from, *to; /* from may be NULL */
};

static bool is_submodule(const git_tree *tree, const char *path)
{
    CLEANUP(repo__free_entry) git_tree_entry *entry = NULL;
    return tree && git_tree_entry_bypath(&entry, tree, path) == 0 &&
           git_tree_entry_type(entry) == GIT_OBJECT_COMMIT;
}

/* libgit2 calls this once with no path, before the first file; and it makes the empty folders of
 * submodules anew each time, which are no files. */
static void count_file(const char *path, size_t completed, size_t total, void *payload)
{
    (void)completed;
    (void)total;
    struct count *c = payload;
    if (path && !is_submodule(c->to, path) && !is_submodule(c->from, path))
        c->written++;
}

/* Without a work tree, submodules stop a checkout from a bare repository. libgit2 1.5 leaks a path
 * when the folder is set that is set already. */
static bool has_workdir(const struct repo *r, const char *folder)
{
    const char *set = git_repository_workdir(r->git);
    size_t length = strlen(folder);
    return set && strncmp(set, folder, length) == 0 && strcmp(set + length, "/") == 0;
}

/* Change the files of `folder` from one tree (NULL: none) to another. */
static int change_files(size_t *written, const struct repo *r, git_tree *from, git_tree *to,
                        const char *folder)
{
    CLEANUP(repo__free_index) git_index *empty = NULL;
    git_checkout_options options;
    if (git_checkout_options_init(&options, GIT_CHECKOUT_OPTIONS_VERSION) < 0)
        return repo__foreign(r, "checkout options");
    options.checkout_strategy =
        GIT_CHECKOUT_FORCE | GIT_CHECKOUT_RECREATE_MISSING | GIT_CHECKOUT_DONT_UPDATE_INDEX;
    options.baseline = from;
    options.target_directory = folder;
    options.progress_cb = count_file;
    struct count count = {.from = from, .to = to};
    options.progress_payload = &count;
    if (git_index_new(&empty) < 0)
        return repo__foreign(r, "making an index");
    if (!from)
        options.baseline_index = empty;
    if (!has_workdir(r, folder) && git_repository_set_workdir(r->git, folder, 0) < 0)
        return repo__foreign(r, folder);
    int code = git_checkout_tree(r->git, (const git_object *)to, &options);
    *written += count.written;
    if (code < 0)
        return err_set(ERR_FOREIGN, "%s: checking out to %s: %s", r->path, folder,
                       repo__library_message());
    return 0;
}

/* One journalled change. Repeating it after a kill heals whatever is mixed. */
static int change_slot(size_t *written, struct arena *a, const struct repo *r, const char *from_sha,
                       const char *to_sha, const char *slot, const char *folder)
{
    CLEANUP(repo__free_tree) git_tree *from = NULL;
    CLEANUP(repo__free_tree) git_tree *to = NULL;
    char *path = state_path(a, slot);
    int status = repo__look_up_tree(&to, r, to_sha);
    if (status == 0 && *from_sha)
        status = repo__look_up_tree(&from, r, from_sha);
    if (status == 0)
        status = fs_write_text(
            path, arena_printf(a, "from %s to %s\n", *from_sha ? from_sha : nothing, to_sha));
    if (status == 0)
        status = change_files(written, r, from, to, folder);
    if (status == 0)
        status = fs_write_text(path, arena_printf(a, "at %s\n", to_sha));
    return status;
}

static bool has_tree(const struct repo *r, const char *sha)
{
    CLEANUP(repo__free_tree) git_tree *tree = NULL;
    bool found = repo__look_up_tree(&tree, r, sha) == 0;
    if (!found)
        err_clear();
    return found;
}

/* A slot whose trees the repository has lost cannot be changed any more, only made anew. */
static int forget_lost_trees(struct slot_state *state, const struct repo *r, const char *slot)
{
    if ((!*state->from || has_tree(r, state->from)) && (!*state->to || has_tree(r, state->to)))
        return 0;
    *state = (struct slot_state){0};
    return fs_remove_tree(slot);
}

int repo_checkout(size_t *written, struct repo *r, const char *tree_sha, const char *slot)
{
    struct arena a = {0};
    struct slot_state state;
    char tree[REPO_SHA_SIZE], *folder = NULL;
    *written = 0;
    int status = repo_tree_of(tree, r, tree_sha);
    if (status == 0)
        status = read_state(&state, &a, slot);
    if (status == 0)
        status = forget_lost_trees(&state, r, slot);
    if (status == 0)
        status = fs_make_folders(slot);
    if (status == 0)
        status = fs_absolute(&folder, &a, slot);
    if (status == 0 && *state.to) {
        status = change_slot(written, &a, r, state.from, state.to, slot, folder);
        memcpy(state.from, state.to, REPO_SHA_SIZE);
    }
    if (status == 0)
        status = change_slot(written, &a, r, state.from, tree, slot, folder);
    arena_release(&a);
    return status;
}
