/* report: a stored comparison, judged again and printed. */
#include "harness/commands/cmd.h"

#include <stdio.h>

static int report(int *code, struct setting *s, const char *id, const char *prefix)
{
    struct comparison c;
    int status = setting_open(s, false);
    if (status == 0)
        status = compare_load(&c, &s->arena, s->workspace->store, &s->gate, id);
    return status < 0 ? status : cmd_report_comparison(s, &c, prefix, code);
}

static int run(int argc, char **argv)
{
    struct setting s = {0};
    const char *prefix = NULL;
    struct opt_list operands;
    const struct opt table[] = {
        REPORT_OPTION(&prefix),
        SETTING_OPTIONS(&s),
        {0},
    };
    int code = EXIT_GOOD;
    if (cmd_parse(&code, &cmd_report, table, argc, argv, &s.arena, &operands) &&
        report(&code, &s, operands.count > 0 ? operands.items[0] : "latest", prefix) < 0)
        code = cmd_fail();
    setting_close(&s);
    return code;
}

const struct opt_command cmd_report = {
    .name = "report",
    .summary = "print a stored comparison again, judged by the gate given",
    .usage = "[COMPARISON]",
    .text = "COMPARISON is an id (or its beginning) from `assay status`, the latest without one. "
            "Nothing is built or run.\n\n"
            "  assay report --candidate pebble.yaml --gate strict.yaml --report out/strict",
    .run = run,
};
