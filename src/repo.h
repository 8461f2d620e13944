/* repo: Git repositories as a source of trees to build (libgit2; fetching is git as a child, so that a user's credentials and
 * ssh settings work).
 *
 * One bare mirror a repository. A commit's tree (or a patched tree made from it) is checked out into slots: plain
 * folders without .git, in which only the files that differ from the slot's previous tree are rewritten, so that Ninja rebuilds
 * only what changed. A slot's state file beside it holds the tree it has, or (from, to) while a change is under way;
 * a change that was killed half-way is finished first (facts/probes.md: always with the previous tree as baseline).
 */
#ifndef ASSAY_REPO_H
#define ASSAY_REPO_H

#include "src/buf.h"
#include "src/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REPO_SHA_SIZE = 41 }; /* 40 hex digits and a NUL */

struct repo;

/* Open the repository at `path` (bare or not, or a folder inside a work tree). */
int repo_open(struct repo **out, const char *path) MUST_USE;
void repo_close(struct repo *r); /* NULL is fine */
void repo_close_ptr(struct repo **r);
/* The folder of the repository itself (".git" or the bare one). */
const char *repo_path(const struct repo *r);

/* Make `mirror` a bare mirror of `url` (a path or anything that git fetches) and open it. When it exists already it is only fetched
 * if `refresh`. A fetch that fails leaves the mirror as it was. */
int repo_mirror(struct repo **out, const char *url, const char *mirror, bool refresh) MUST_USE;
/* Fetch every ref of the mirror's origin again. */
int repo_fetch(struct repo *r) MUST_USE;

/* The full SHA of the commit that `rev` names (a branch, tag, HEAD~3, an abbreviation). ERR_NOTFOUND names the repository
 * and, when a branch or tag has nearly that name, that name; an ambiguous abbreviation says so. */
int repo_resolve(char out[REPO_SHA_SIZE], struct repo *r, const char *rev) MUST_USE;
/* The tree of a commit. */
int repo_tree_of(char out[REPO_SHA_SIZE], struct repo *r, const char *commit_sha) MUST_USE;
/* The tree of `commit_sha` with the patch file applied to it (git apply, offsets allowed), written into the repository's objects;
 * no ref is made. ERR_INVALID with git's first complaint if it does not apply. */
int repo_patched_tree(char out[REPO_SHA_SIZE], struct repo *r, const char *commit_sha, const char *patch_file) MUST_USE;
/* The tree of `onto_sha` with the change that `sha` made undone; *applies is false when it conflicts (then out is ""). For merges
 * the change against the first parent. */
int repo_reverted_tree(char out[REPO_SHA_SIZE], bool *applies, struct repo *r, const char *sha, const char *onto_sha) MUST_USE;

struct repo_commit {
    char sha[REPO_SHA_SIZE];
    const char *subject;
    const char *author;    /* "Name <mail>" */
    int64_t date_s;        /* author date, seconds since the epoch */
    size_t *parents;       /* indices into the range; parents outside it are left out */
    size_t parent_count;
};

/* A range as a DAG: every commit that `bad` reaches and `good` does not, parents before children, and `good` itself as
 * commits[0]; `bad` is the last. When good is no ancestor of bad, ERR_INVALID (ask repo_merge_base first). */
struct repo_range {
    struct repo_commit *commits;
    size_t count;
};
int repo_range(struct repo_range *out, struct arena *a, struct repo *r, const char *good_sha, const char *bad_sha) MUST_USE;
/* One commit, by itself (parents empty). */
int repo_commit(struct repo_commit *out, struct arena *a, struct repo *r, const char *sha) MUST_USE;
int repo_is_ancestor(bool *out, struct repo *r, const char *ancestor_sha, const char *descendant_sha) MUST_USE;
/* ERR_NOTFOUND when the two have no common history. */
int repo_merge_base(char out[REPO_SHA_SIZE], struct repo *r, const char *a_sha, const char *b_sha) MUST_USE;
/* Paths that differ between two trees or commits, sorted. */
int repo_changed_paths(char ***out, size_t *count, struct arena *a, struct repo *r, const char *from_sha, const char *to_sha) MUST_USE;

/* The bytes of `path` in a commit, appended to out. */
int repo_read_file(struct buf *out, struct repo *r, const char *commit_sha, const char *path) MUST_USE;

/* Bring the folder `slot` to `tree_sha`. The state is kept in the file "<slot>.state". `written` counts the files that were
 * written or removed. `slot` is made absolute; other files in it (a build folder) are left alone. */
int repo_checkout(size_t *written, struct repo *r, const char *tree_sha, const char *slot) MUST_USE;
/* The tree that a slot holds ("" if it is new). A half-finished change reports its goal. */
int repo_slot_tree(char out[REPO_SHA_SIZE], const char *slot) MUST_USE;

/* The id that `git hash-object` gives these bytes: how everything in assay that is named by its content gets its name, so that
 * it can be checked by hand. */
int repo_blob_id(char out[REPO_SHA_SIZE], const void *bytes, size_t length) MUST_USE;

#endif
