/* folder: a temporary folder for a test, removed afterwards. */
#ifndef ASSAY_TEST_FOLDER_H
#define ASSAY_TEST_FOLDER_H

#include "src/fs.h"

#include <stdio.h>
#include <stdlib.h>

struct folder {
    char path[64];
    struct arena arena;
};

static inline int folder_setup(void **state)
{
    struct folder *f = xcalloc(1, sizeof *f);
    snprintf(f->path, sizeof f->path, "/tmp/assay-test-XXXXXX");
    *state = f;
    return mkdtemp(f->path) ? 0 : -1;
}

static inline int folder_teardown(void **state)
{
    struct folder *f = *state;
    int status = fs_remove_tree(f->path);
    arena_release(&f->arena);
    free(f);
    return status;
}

static inline char *folder_file(struct folder *f, const char *name, const char *text)
{
    char *path = fs_join(&f->arena, f->path, name);
    if (fs_make_folders(fs_dirname(&f->arena, path)) < 0 || fs_write_text(path, text) < 0)
        die("%s", err_message());
    return path;
}

#endif
