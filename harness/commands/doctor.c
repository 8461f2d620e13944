/* doctor: what is here and what is missing. */
#include "harness/commands/cmd.h"

#include "harness/drivers/driver.h"
#include "src/proc.h"

#include <stdio.h>
#include <string.h>

static void line(bool *well, bool good, const char *what, const char *detail)
{
    printf("%-7s %s%s%s\n", good ? "ok" : "MISSING", what, detail && *detail ? ": " : "",
           detail ? detail : "");
    *well = *well && good;
}

static void check_programs(bool *well, const struct candidate *c)
{
    line(well, proc_have_program("git"), "git", "fetches repositories");
    for (size_t i = 0; c && i < c->build.steps.count; i++)
        line(well, proc_have_program(c->build.steps.items[i][0]), c->build.steps.items[i][0],
             "a build step");
    for (size_t i = 0; c && i < c->build.toolchain.count; i++)
        line(well, proc_have_program(c->build.toolchain.items[i][0]),
             c->build.toolchain.items[i][0], "part of the toolchain");
}

/* Each in turn; the first that fails is what to mend first. */
static void check_setting(bool *well, struct setting *s)
{
    if (setting_open(s, false) < 0) {
        line(well, false, "workspace and candidate", err_message());
        return;
    }
    line(well, true, "workspace", s->workspace->folder);
    if (builder_repo(s->builder))
        line(well, true, "mirror", repo_path(builder_repo(s->builder)));
    if (setting_open_runner(s) < 0)
        line(well, false, "device", err_message());
    else
        line(well, true, "device", s->runner->epoch_text);
}

static int print_keys(const char *kind)
{
    const struct yaml_key *keys = config_keys(kind);
    struct buf text;
    buf_init(&text, BUF_MAX_LINE);
    yaml_print_keys(&text, keys);
    fputs(text.data, stdout);
    buf_release(&text);
    return EXIT_GOOD;
}

static int examine(struct setting *s)
{
    bool well = true;
    struct candidate candidate;
    const char *file = s->candidate_file ? s->candidate_file : getenv("ASSAY_CANDIDATE");
    if (!file || !*file) {
        check_programs(&well, NULL);
        printf("Give --candidate FILE to check its tools, its repository and the device.\n");
    } else if (config_candidate(&candidate, &s->arena, file) < 0) {
        line(&well, false, "candidate", err_message());
    } else {
        line(&well, true, "candidate", file);
        check_programs(&well, &candidate);
        check_setting(&well, s);
    }
    for (size_t i = 0; drivers[i]; i++)
        printf("driver  %s: %s\n", drivers[i]->name, drivers[i]->summary);
    return well ? EXIT_GOOD : EXIT_TROUBLE;
}

static int run(int argc, char **argv)
{
    struct setting s = {0};
    const char *kind = NULL;
    struct opt_list operands;
    const struct opt table[] = {
        {.name = "keys",
         .kind = OPT_WORD,
         .value = &kind,
         .argument = "KIND",
         .words = config_kinds,
         .help = "print what a file of this kind may say: candidate, sweep, model, machine, gate"},
        SETTING_OPTIONS(&s),
        {0},
    };
    int code;
    if (cmd_parse(&code, &cmd_doctor, table, argc, argv, &s.arena, &operands))
        code = kind ? print_keys(kind) : examine(&s);
    setting_close(&s);
    return code;
}

const struct opt_command cmd_doctor = {
    .name = "doctor",
    .summary = "say what is here and what is missing: tools, workspace, device",
    .usage = "",
    .text = "Exit code 0 when all that was asked about is there.\n\n"
            "  assay doctor --candidate configs/candidates/pebble.yaml\n"
            "  assay doctor --keys candidate",
    .run = run,
};
