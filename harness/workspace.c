#include "harness/workspace.h"

#include "src/fs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char FOLDER_NAME[] = ".assay";

int workspace_init(const char *parent_folder)
{
    struct arena a = {0};
    const char *folder = fs_join(&a, parent_folder, FOLDER_NAME);
    static const char *const parts[] = {"mirrors", "slots", "artifacts", "bundles", "logs"};
    int status = 0;
    for (size_t i = 0; i < COUNT_OF(parts) && status == 0; i++)
        status = fs_make_folders(fs_join(&a, folder, parts[i]));
    CLEANUP(store_close_ptr) struct store *store = NULL;
    if (status == 0)
        status = store_open(&store, fs_join(&a, folder, "store.db"));
    arena_release(&a);
    return status;
}

/* The .assay of `start` or of the nearest folder above it; NULL when there is none. */
static const char *search_upwards(struct arena *a, const char *start)
{
    const char *folder = start;
    for (;;) {
        const char *here = fs_join(a, folder, FOLDER_NAME);
        if (fs_is_folder(here))
            return here;
        if (strcmp(folder, "/") == 0)
            return NULL;
        folder = fs_dirname(a, folder);
    }
}

static int find_folder(char **out, struct arena *a, const char *where)
{
    const char *environment = getenv("ASSAY_WORKSPACE");
    bool named = where || (environment && *environment);
    const char *start = where ? where : named ? environment : ".";
    char *absolute;
    int status = fs_absolute(&absolute, a, start);
    if (status < 0)
        return err_wrap("workspace");
    const char *found = NULL;
    if (strcmp(fs_basename(absolute), FOLDER_NAME) == 0)
        found = absolute;
    else if (!named)
        found = search_upwards(a, absolute);
    else if (fs_is_folder(fs_join(a, absolute, FOLDER_NAME)))
        found = fs_join(a, absolute, FOLDER_NAME);
    if (!found)
        return err_set(ERR_NOTFOUND, "no workspace in %s%s: make one with `assay init`", absolute,
                       named ? "" : " or above");
    *out = arena_strdup(a, found);
    return 0;
}

static void tell_waiting(const char *holder, void *folder)
{
    fprintf(stderr, "assay: waiting for %s, which works in %s\n", holder, (const char *)folder);
}

int workspace_open(struct workspace **out, const char *where, bool writer)
{
    CLEANUP(workspace_close_ptr) struct workspace *w = xcalloc(1, sizeof *w);
    w->lock = -1;
    char *folder = NULL;
    int status = find_folder(&folder, &w->arena, where);
    if (status < 0)
        return status;
    w->folder = folder;
    if (writer) {
        status = fs_lock(&w->lock, fs_join(&w->arena, folder, "lock"), true, tell_waiting, folder);
        if (status < 0)
            return status;
    }
    status = store_open(&w->store, fs_join(&w->arena, folder, "store.db"));
    if (status < 0)
        return status;
    *out = TAKE(w);
    return 0;
}

void workspace_close(struct workspace *w)
{
    if (!w)
        return;
    store_close(w->store);
    if (w->lock >= 0)
        fs_unlock(w->lock);
    arena_release(&w->arena);
    free(w);
}

void workspace_close_ptr(struct workspace **w)
{
    workspace_close(*w);
}

int workspace_path(char **out, struct workspace *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *name = arena_vprintf(&w->arena, format, args);
    va_end(args);
    char *path = fs_join(&w->arena, w->folder, name);
    int status = fs_make_folders(fs_dirname(&w->arena, path));
    if (status < 0)
        return status;
    *out = path;
    return 0;
}
