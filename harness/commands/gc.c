/* gc: give disk back; rows are never touched. */
#include "harness/commands/cmd.h"

#include "src/fs.h"

#include <stdio.h>

struct gc_options {
    const char *folder;
    bool slots, artifacts, dry;
};

static int remove_part(int64_t *freed, struct workspace *w, const char *part, bool dry)
{
    char *path = fs_join(&w->arena, w->folder, part);
    int64_t bytes = fs_tree_bytes(path);
    *freed += bytes;
    printf("%s %.1f MiB %s\n", dry ? "would free" : "freed", (double)bytes / 1048576, part);
    if (dry)
        return 0;
    int status = fs_remove_tree(path);
    return status < 0 ? status : fs_make_folders(path);
}

static int collect(struct workspace *w, const struct gc_options *o)
{
    int64_t freed = 0;
    int status = remove_part(&freed, w, "bundles", o->dry);
    if (status == 0)
        status = remove_part(&freed, w, "logs", o->dry);
    if (status == 0 && o->slots)
        status = remove_part(&freed, w, "slots", o->dry);
    if (status == 0 && o->artifacts)
        status = remove_part(&freed, w, "artifacts", o->dry);
    if (status == 0)
        printf("%.1f MiB in all; every row is kept\n", (double)freed / 1048576);
    return status;
}

static int run(int argc, char **argv)
{
    struct arena a = {0};
    struct gc_options o = {0};
    struct workspace *w = NULL;
    struct opt_list operands;
    const struct opt table[] = {
        {.name = "slots",
         .kind = OPT_FLAG,
         .value = &o.slots,
         .help = "also the checked-out trees and build folders"},
        {.name = "artifacts",
         .kind = OPT_FLAG,
         .value = &o.artifacts,
         .help = "also what builds left: it is built again when needed"},
        {.name = "dry-run",
         .letter = 'n',
         .kind = OPT_FLAG,
         .value = &o.dry,
         .help = "say what would go"},
        {.name = "workspace",
         .kind = OPT_TEXT,
         .value = &o.folder,
         .argument = "DIR",
         .help = "folder with .assay (default: $ASSAY_WORKSPACE, else upwards from here)"},
        {0},
    };
    int code = EXIT_GOOD;
    if (cmd_parse(&code, &cmd_gc, table, argc, argv, &a, &operands)) {
        int status = workspace_open(&w, o.folder, true);
        if (status == 0)
            status = collect(w, &o);
        if (status < 0)
            code = cmd_fail();
    }
    workspace_close(w);
    arena_release(&a);
    return code;
}

const struct opt_command cmd_gc = {
    .name = "gc",
    .summary = "give back disk: bundles and logs, on request slots and artifacts; never rows",
    .usage = "",
    .text = "  assay gc -n --slots --artifacts",
    .run = run,
};
