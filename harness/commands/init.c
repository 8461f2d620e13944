/* init: make a workspace. */
#include "harness/commands/cmd.h"

#include <stdio.h>

static int run(int argc, char **argv)
{
    struct arena a = {0};
    struct opt_list operands;
    const struct opt table[] = {{0}};
    int code;
    if (cmd_parse(&code, &cmd_init, table, argc, argv, &a, &operands)) {
        const char *folder = operands.count > 0 ? operands.items[0] : ".";
        if (operands.count > 1) {
            fprintf(stderr, "assay init: one folder at most\n");
            code = EXIT_USAGE;
        } else if (workspace_init(folder) < 0) {
            code = cmd_fail();
        } else {
            printf("Workspace ready: %s/.assay\n", folder);
            code = EXIT_GOOD;
        }
    }
    arena_release(&a);
    return code;
}

const struct opt_command cmd_init = {
    .name = "init",
    .summary = "make a workspace: the folder .assay with store, mirrors, slots and artifacts",
    .usage = "[DIR]",
    .text =
        "Makes DIR/.assay (here without DIR). A workspace that is there already is left as it is.",
    .run = run,
};
