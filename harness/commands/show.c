/* show: everything about one row. */
#include "harness/commands/cmd.h"

#include "src/fs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void field(const char *name, const char *value)
{
    if (value && *value)
        printf("%-11s %s\n", name, value);
}

static void print_log(const char *path)
{
    struct buf text;
    buf_init(&text, BUF_MAX_FILE);
    if (*path && fs_read(&text, path) == 0)
        printf("log (%s):\n%s", path, text.data);
    err_clear();
    buf_release(&text);
}

static int print_row(struct workspace *w, int64_t number)
{
    struct result_row r;
    bool found;
    const char *epoch;
    char duration[32];
    int status = store_get_result(&r, &found, &w->arena, w->store, number);
    if (status == 0 && !found)
        status = err_set(ERR_NOTFOUND, "there is no row %" PRId64, number);
    if (status == 0)
        status = store_epoch_text(&epoch, &w->arena, w->store, r.epoch);
    if (status < 0)
        return status;
    printf("row         %" PRId64 "\n", r.row);
    field("problem", r.problem);
    field("variant", r.variant);
    printf("data        %s, seed %" PRId64 ", round %" PRId64 "\n", r.data, r.seed, r.round);
    printf("outcome     %s at %s: %s\n", outcome_word(r.outcome), stage_word(r.stage),
           outcome_sentence(r.outcome));
    field("detail", r.detail);
    field("signature", r.signature);
    printf("candidate   %s %s\n", r.candidate, *r.commit ? r.commit : "(prebuilt)");
    field("artifact", r.artifact);
    field("code", r.code);
    printf("kernels     %" PRId64 ", %" PRId64 " bytes of code, workspace %" PRId64 " bytes\n",
           r.kernels, r.code_bytes, r.workspace_bytes);
    printf("compile     %s\n", cmd_duration(duration, sizeof duration, r.compile_ns));
    printf("execute     %s\n", cmd_duration(duration, sizeof duration, r.execute_ns));
    field("machine", r.machine);
    printf("epoch\n%s\n", epoch);
    if (*r.stats)
        printf("measured\n%s", r.stats);
    printf("again       assay again %" PRId64 " --candidate FILE\n", r.row);
    print_log(r.log);
    return 0;
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
    if (cmd_parse(&code, &cmd_show, table, argc, argv, &a, &operands)) {
        char *end = NULL;
        int64_t number = operands.count == 1 ? strtoll(operands.items[0], &end, 10) : 0;
        int status = 0;
        if (operands.count != 1 || *end || number < 1)
            status = err_set(ERR_INVALID, "show takes the number of one row");
        if (status == 0)
            status = workspace_open(&w, folder, false);
        if (status == 0)
            status = print_row(w, number);
        if (status < 0)
            code = cmd_fail();
    }
    workspace_close(w);
    arena_release(&a);
    return code;
}

const struct opt_command cmd_show = {
    .name = "show",
    .summary = "everything about one row: outcome, numbers, environment, log",
    .usage = "ROW",
    .text = "Row numbers stand in the output of `assay run` and in reports.",
    .run = run,
};
