/* workspace: the folder .assay that holds store, mirrors, slots, artifacts and bundles, and the lock on it.
 *
 *   store.db  mirrors/<name>-<id>.git  slots/<name>/<n>/  slots/<name>/<n>.build/  artifacts/<id>/  bundles/<id>  logs/
 * Found as git finds .git: --workspace, ASSAY_WORKSPACE, else upwards from the working directory. Two assays on one workspace wait for each
 * other, and say so.
 */
#ifndef ASSAY_WORKSPACE_H
#define ASSAY_WORKSPACE_H

#include "harness/store.h"

struct workspace {
    const char *folder; /* absolute, the .assay itself */
    struct store *store;
    struct arena arena; /* lives as long as the workspace */
    int lock;           /* -1: opened for reading */
};

/* Make DIR/.assay; fine when it is there already. */
int workspace_init(const char *parent_folder) MUST_USE;
/* `where` is a folder that has (or is) .assay, or NULL to search. With `writer` the lock is taken. */
int workspace_open(struct workspace **out, const char *where, bool writer) MUST_USE;
void workspace_close(struct workspace *w); /* NULL is fine */
void workspace_close_ptr(struct workspace **w);
/* "<folder>/<name>" in memory of the workspace; the folder part exists afterwards. */
int workspace_path(char **out, struct workspace *w, const char *format, ...) MUST_USE PRINTF_LIKE(3, 4);

#endif
