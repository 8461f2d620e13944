/* status: what the workspace holds. */
#include "harness/commands/cmd.h"

#include "src/fs.h"

#include <inttypes.h>
#include <stdio.h>

static int print_comparisons(struct workspace *w)
{
    struct comparison_row *rows;
    size_t count;
    int status = store_list_comparisons(&rows, &count, &w->arena, w->store);
    for (size_t i = 0; status == 0 && i < count; i++)
        printf("comparison %.12s  %s %.10s against %.10s\n", rows[i].id, rows[i].candidate,
               rows[i].head_commit, rows[i].base_commit);
    return status;
}

static int print_status(struct workspace *w)
{
    static const char *const parts[] = {"store.db",  "mirrors", "slots",
                                        "artifacts", "bundles", "logs"};
    struct store_counts c;
    int status = store_counts(&c, w->store);
    if (status < 0)
        return status;
    printf("workspace %s\n", w->folder);
    printf("builds %" PRId64 " (%" PRId64 " failed), results %" PRId64 " (%" PRId64
           " not ok), pairs %" PRId64 ", blames %" PRId64 ", epochs %" PRId64 "\n",
           c.builds, c.builds_failed, c.results, c.results_bad, c.pairs, c.blames, c.epochs);
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        char *path = fs_join(&w->arena, w->folder, parts[i]);
        printf("%10.1f MiB %s\n", (double)fs_tree_bytes(path) / 1048576, parts[i]);
    }
    return print_comparisons(w);
}

static int run(int argc, char **argv)
{
    struct arena a = {0};
    const char *folder = NULL;
    struct workspace *w = NULL;
    struct opt_list operands;
    const struct opt table[] = {
        {.name = "workspace",
         .kind = OPT_TEXT,
         .value = &folder,
         .argument = "DIR",
         .help = "folder with .assay (default: $ASSAY_WORKSPACE, else upwards from here)"},
        {0},
    };
    int code = EXIT_GOOD;
    if (cmd_parse(&code, &cmd_status, table, argc, argv, &a, &operands)) {
        int status = workspace_open(&w, folder, false);
        if (status == 0)
            status = print_status(w);
        if (status < 0)
            code = cmd_fail();
    }
    workspace_close(w);
    arena_release(&a);
    return code;
}

const struct opt_command cmd_status = {
    .name = "status",
    .summary = "say what the workspace holds: rows, comparisons, disk",
    .usage = "",
    .text = "Works while another assay is at work in the workspace.",
    .run = run,
};
