/* bisect: from two commits and problems to a culprit. */
#include "harness/commands/cmd.h"

#include "harness/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct bisect_options {
    struct setting setting;
    struct selection selection;
    const char *good, *bad, *patch;
    int64_t round;
    bool slower, first_parent;
};

static void print_steps(struct setting *s, const struct blame_row *b)
{
    struct step_row *steps;
    size_t count;
    if (store_list_steps(&steps, &count, &s->arena, s->workspace->store, b->hunt, b->problem) < 0) {
        err_clear();
        return;
    }
    for (size_t i = 0; i < count; i++)
        printf("    %.10s %-4s %s\n", steps[i].commit, steps[i].answer, steps[i].detail);
}

static void print_blame(struct setting *s, const struct blame_row *b)
{
    printf("%s\n  %s", b->problem, b->level);
    struct repo_commit c;
    if (*b->culprit && repo_commit(&c, &s->arena, builder_repo(s->builder), b->culprit) == 0)
        printf(": %s is the first bad commit (%s; chance of error %.2g)\n  %s, %s", b->culprit,
               b->label, b->error_probability, c.subject, c.author);
    printf("\n  %s\n", b->because);
    if (strcmp(b->level, "RANGE") == 0)
        printf("  suspects: %s\n", b->suspects);
    print_steps(s, b);
}

/* All found: 0. All culprits known is what a person wants; anything else cannot be told. */
static int exit_code_of(const struct blame_row *blames, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!*blames[i].culprit)
            return EXIT_CANNOT_TELL;
    }
    return EXIT_GOOD;
}

static int hunt_problems(int *code, struct bisect_options *o)
{
    struct setting *s = &o->setting;
    struct sweep_problem *problems;
    size_t count;
    selection_problems(&problems, &count, &o->selection, &s->arena);
    struct hunt_problem *list = ARENA_ARRAY(&s->arena, count, struct hunt_problem);
    for (size_t i = 0; i < count; i++)
        list[i] = (struct hunt_problem){
            .problem = problems[i].text, .variant = s->candidate.variant, .slower = o->slower};
    struct hunt h = {.runner = s->runner,
                     .builder = s->builder,
                     .problems = list,
                     .count = count,
                     .first_parent = o->first_parent,
                     .round = o->round};
    int status = setting_resolve(h.good, s, o->good);
    if (status == 0)
        status = setting_resolve(h.bad, s, o->bad);
    struct blame_row *blames = ARENA_ARRAY(&s->arena, count, struct blame_row);
    progress_begin("bisecting", 0);
    if (status == 0)
        status = hunt_run(blames, &s->arena, &h);
    progress_end();
    if (status < 0)
        return status;
    for (size_t i = 0; i < count; i++)
        print_blame(s, &blames[i]);
    cmd_print_work(s);
    *code = exit_code_of(blames, count);
    return 0;
}

static int bisect_range(int *code, struct bisect_options *o)
{
    struct setting *s = &o->setting;
    int status = selection_load(&o->selection, &s->arena);
    if (status == 0 && (!o->good || !o->bad))
        status = err_set(ERR_INVALID, "give both ends: --good REV and --bad REV");
    if (status == 0)
        status = setting_open(s, true);
    if (status == 0)
        builder_set_patch(s->builder, o->patch);
    if (status == 0)
        status = setting_open_runner(s);
    return status < 0 ? status : hunt_problems(code, o);
}

static int run(int argc, char **argv)
{
    struct bisect_options o = {0};
    struct opt_list operands;
    const struct opt table[] = {
        {.name = "good",
         .kind = OPT_TEXT,
         .value = &o.good,
         .argument = "REV",
         .help = "a commit that is right"},
        {.name = "bad",
         .kind = OPT_TEXT,
         .value = &o.bad,
         .argument = "REV",
         .help = "a commit that is wrong"},
        SELECTION_OPTIONS(&o.selection),
        MODEL_OPTION(&o.selection),
        {.name = "slower",
         .kind = OPT_FLAG,
         .value = &o.slower,
         .help = "hunt a slow-down instead of a wrong result"},
        {.name = "first-parent",
         .kind = OPT_FLAG,
         .value = &o.first_parent,
         .help = "blame merges, do not enter them"},
        PATCH_OPTION(&o.patch),
        ROUND_OPTION(&o.round, "above 0: a fresh search beside the stored one"),
        SETTING_OPTIONS(&o.setting),
        {0},
    };
    int code = EXIT_GOOD;
    if (cmd_parse(&code, &cmd_bisect, table, argc, argv, &o.setting.arena, &operands) &&
        bisect_range(&code, &o) < 0)
        code = cmd_fail();
    setting_close(&o.setting);
    return code;
}

const struct opt_command cmd_bisect = {
    .name = "bisect",
    .summary = "find the commit that broke problems, or made them slower",
    .usage = "",
    .text = "Both ends are tested first. All problems share every build. A culprit is confirmed on "
            "clean builds of it and its\n"
            "parent, and by undoing it at the bad end. Exit code 0 when every problem has a "
            "culprit, else 125.\n\n"
            "  assay bisect --candidate pebble.yaml --good v1 --bad main --problem 'conv bwd_data "
            "f32 n32 c32 k32 ...'\n"
            "  assay bisect --candidate pebble.yaml --good v1 --bad main --slower --problem '...'",
    .run = run,
};
