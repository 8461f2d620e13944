#include "harness/budget.h"

#include "src/fs.h"

#include <string.h>

/* Something that goes as a whole. */
struct piece {
    const char *path;
    int64_t bytes, used_ns;
};

struct part {
    const char *name;
    int depth; /* of its pieces below the workspace: 1 "logs/x", 2 "bundles/ab/x" */
    int64_t most_bytes;
};

struct pieces {
    struct piece *all;
    size_t count, room;
};

static void add_piece(struct pieces *p, const char *path)
{
    if (p->count == p->room) {
        p->room = p->room ? 2 * p->room : 64;
        p->all = xrealloc(p->all, p->room * sizeof *p->all);
    }
    p->all[p->count++] =
        (struct piece){.path = path, .bytes = fs_tree_bytes(path), .used_ns = fs_modified_ns(path)};
}

static int list_pieces(struct pieces *out, struct arena *a, const char *folder, int depth)
{
    char **names;
    size_t count;
    int status = fs_is_folder(folder) ? fs_list(&names, &count, a, folder) : 0;
    if (status < 0 || !fs_is_folder(folder))
        return status;
    for (size_t i = 0; i < count && status == 0; i++) {
        const char *path = fs_join(a, folder, names[i]);
        if (depth == 1)
            add_piece(out, path);
        else
            status = list_pieces(out, a, path, depth - 1);
    }
    return status;
}

/* The least recently used first. */
static int by_use(const void *left, const void *right)
{
    const struct piece *l = left, *r = right;
    int order = (l->used_ns > r->used_ns) - (l->used_ns < r->used_ns);
    return order ? order : strcmp(l->path, r->path);
}

static int trim(int64_t *freed_bytes, size_t *count, struct arena *a, struct workspace *w,
                const struct part *part)
{
    struct pieces p = {0};
    int64_t total = 0;
    int status = list_pieces(&p, a, fs_join(a, w->folder, part->name), part->depth);
    if (status == 0 && p.count > 0)
        qsort(p.all, p.count, sizeof *p.all, by_use);
    for (size_t i = 0; i < p.count; i++)
        total += p.all[i].bytes;
    for (size_t i = 0; i < p.count && status == 0 && total > part->most_bytes; i++) {
        status = fs_remove_tree(p.all[i].path);
        total -= p.all[i].bytes;
        *freed_bytes += p.all[i].bytes;
        ++*count;
    }
    free(p.all);
    return status;
}

int budget_enforce(int64_t *freed_bytes, size_t *count, struct workspace *w,
                   const struct machine_disk *disk)
{
    const struct part parts[] = {
        {"artifacts", 1, disk->artifacts_bytes},
        {"bundles", 2, disk->bundles_bytes},
        {"logs", 1, disk->logs_bytes},
        {"slots", 1, disk->slots_bytes},
    };
    struct arena a = {0};
    int status = 0;
    *freed_bytes = 0;
    *count = 0;
    for (size_t i = 0; i < COUNT_OF(parts) && status == 0; i++)
        status = trim(freed_bytes, count, &a, w, &parts[i]);
    arena_release(&a);
    return status;
}
