/* repo_internal: what the files of repo share. Nobody else includes it. */
#ifndef ASSAY_REPO_INTERNAL_H
#define ASSAY_REPO_INTERNAL_H

#include "src/repo.h"

#include <git2.h>

struct repo {
    git_repository *git;
    char *path; /* absolute, no slash at the end */
};

/* libgit2's last complaint, and as an error of ours: "<repository>: <doing>: <complaint>". */
const char *repo__library_message(void);
int repo__foreign(const struct repo *r, const char *doing);

/* The tree that a full SHA names: a tree's own or a commit's. */
int repo__look_up_tree(git_tree **out, const struct repo *r, const char *sha);

/* For CLEANUP. */
void repo__free_tree(git_tree **t);
void repo__free_index(git_index **i);
void repo__free_entry(git_tree_entry **e);

#endif
