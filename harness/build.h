/* build: a commit and a recipe become an artifact: the folder artifacts/<id>, named by the hash of the recipe text (tree, steps, artifacts, output of the
 * toolchain commands). The tree of a commit is what is hashed, not the commit: a revert finds the old artifact again.
 *
 * A build happens in a slot (src/repo), incrementally; when that fails it is tried once more from an empty build folder, so that a stale
 * folder convicts nobody. A failed build is a row with its log's first error, never a stop.
 */
#ifndef ASSAY_BUILD_H
#define ASSAY_BUILD_H

#include "harness/config.h"
#include "harness/workspace.h"

struct artifact {
    char id[REPO_SHA_SIZE];
    char commit[REPO_SHA_SIZE]; /* "" for prebuilt */
    const char *folder;         /* absolute; the artifacts below it as they lay in the build folder */
    enum outcome outcome;       /* OK, BUILD_ERROR or INFRA (checkout trouble) */
    const char *detail;         /* why not OK */
    const char *log;
    bool fresh;                 /* built just now, not found */
};

struct builder; /* one candidate in one workspace */
int builder_open(struct builder **out, struct workspace *w, const struct candidate *c, bool refresh) MUST_USE;
void builder_close(struct builder *b); /* NULL is fine */
void builder_close_ptr(struct builder **b);
/* Borrowed; NULL for a candidate without repository. */
struct repo *builder_repo(const struct builder *b);
/* Builds made since it was opened, failed ones included; what was found is not counted. */
int64_t builder_count(const struct builder *b);
/* A patch put on top of every commit from now on; NULL: none. */
void builder_set_patch(struct builder *b, const char *patch_file);

enum build_flags {
    BUILD_CLEAN = 1, /* in an empty build folder, ccache off; an artifact of its own */
    BUILD_ONLY_FIND = 2, /* do not build: outcome MISSING when it is not there */
};
int build_commit(struct artifact *out, struct arena *a, struct builder *b, const char *commit_sha, unsigned flags) MUST_USE;
/* A tree without a commit (a revert); `label` stands where the SHA would in rows. */
int build_tree(struct artifact *out, struct arena *a, struct builder *b, const char *tree_sha, const char *label, unsigned flags) MUST_USE;
/* An engineer's own build folder: the artifacts must be below it; the id is the hash of their bytes. */
int build_prebuilt(struct artifact *out, struct arena *a, struct builder *b, const char *folder) MUST_USE;

#endif
