/* compare: head against base: right or wrong, faster or slower, and, asked, which commit did it. */
#include "harness/commands/cmd.h"

#include "harness/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct compare_options {
    struct setting setting;
    struct selection selection;
    const char *base, *head, *base_prebuilt, *head_prebuilt, *patch, *prefix;
    int64_t round;
    bool bisect, no_timing, first_parent, every_commit;
    const char *command;
};

static int build_side(struct artifact *out, struct compare_options *o, const char *rev,
                      const char *prebuilt, const char *side)
{
    struct setting *s = &o->setting;
    if (!rev == !prebuilt)
        return err_set(ERR_INVALID, "give either --%s REV or --%s-prebuilt DIR", side, side);
    if (prebuilt)
        return build_prebuilt(out, &s->arena, s->builder, prebuilt);
    char sha[REPO_SHA_SIZE];
    int status = setting_resolve(sha, s, rev);
    if (status == 0)
        status = build_commit(out, &s->arena, s->builder, sha, 0);
    return status;
}

/* What fails now, as it is or otherwise than before; a failure that is no news ends as NEVER-GOOD.
 * What fails in some compiles only would lead a search that asks each commit once to a wrong one.
 */
static bool is_hunted(const struct compared *c)
{
    if (c->head.outcome == OUTCOME_UNSTEADY)
        return false;
    return check_change_is_worse(c->change) || c->change == CHECK_STILL_FAILING;
}

/* What got worse, as problems to hunt. A culprit of a slower model is found by its layers. */
static size_t list_worse(struct hunt_problem *out, const struct comparison *c)
{
    size_t count = 0;
    for (size_t i = 0; i < c->once_count; i++) {
        const struct compared *item = c->once[i];
        bool checked = item->item.check || check_change_is_coverage(item->change);
        if (checked && is_hunted(item))
            out[count++] = (struct hunt_problem){.problem = item->item.problem,
                                                 .variant = item->item.variant,
                                                 .label = outcome_word(item->head.outcome)};
        if (item->item.time && item->speed.blocks)
            out[count++] = (struct hunt_problem){
                .problem = item->item.problem, .variant = item->item.variant, .slower = true};
    }
    return count;
}

static int hunt_worse(struct compare_options *o, const struct comparison *c)
{
    struct setting *s = &o->setting;
    struct hunt_problem *worse = ARENA_ARRAY(&s->arena, 2 * c->count, struct hunt_problem);
    size_t count = list_worse(worse, c);
    if (count == 0)
        return 0;
    struct hunt h = {.runner = s->runner,
                     .builder = s->builder,
                     .problems = worse,
                     .count = count,
                     .first_parent = o->first_parent};
    snprintf(h.good, sizeof h.good, "%s", c->row.base_commit);
    snprintf(h.bad, sizeof h.bad, "%s", c->row.head_commit);
    progress_note("bisecting %zu problems that got worse", count);
    progress_begin("bisecting", 0);
    struct blame_row *blames = ARENA_ARRAY(&s->arena, count, struct blame_row);
    return hunt_run(blames, &s->arena, &h);
}

/* Build the whole range, so that each commit that does not build is known and named. */
static int build_range(struct compare_options *o, const struct comparison *c)
{
    struct setting *s = &o->setting;
    struct repo_range range;
    int status = repo_range(&range, &s->arena, builder_repo(s->builder), c->row.base_commit,
                            c->row.head_commit);
    if (status < 0)
        return status;
    progress_begin("building every commit", (int64_t)range.count);
    for (size_t i = 0; i < range.count && status == 0; i++) {
        struct artifact artifact;
        status = build_commit(&artifact, &s->arena, s->builder, range.commits[i].sha, 0);
        progress_done();
    }
    progress_end();
    return status;
}

static int open_all(struct compare_options *o)
{
    struct setting *s = &o->setting;
    int status = selection_load(&o->selection, &s->arena);
    if (status == 0 && (o->bisect || o->every_commit) && (o->base_prebuilt || o->head_prebuilt))
        status = err_set(
            ERR_INVALID,
            "--bisect and --every-commit need two commits: a prebuilt folder has no history");
    if (status == 0)
        status = setting_open(s, true);
    if (status == 0)
        builder_set_patch(s->builder, o->patch);
    return status < 0 ? status : setting_open_runner(s);
}

static int build_both(struct artifact *base, struct artifact *head, struct compare_options *o)
{
    progress_begin("building", 2);
    int status = build_side(base, o, o->base, o->base_prebuilt, "base");
    progress_done();
    if (status == 0)
        status = build_side(head, o, o->head, o->head_prebuilt, "head");
    progress_end();
    return status;
}

static int compare_builds(int *code, struct compare_options *o)
{
    struct setting *s = &o->setting;
    struct artifact base, head;
    int status = open_all(o);
    if (status == 0)
        status = build_both(&base, &head, o);
    if (status < 0)
        return status;
    const struct artifact *broken = base.outcome != OUTCOME_OK   ? &base
                                    : head.outcome != OUTCOME_OK ? &head
                                                                 : NULL;
    if (broken) {
        printf("%.10s does not build: %s\n           log: %s\n", broken->commit, broken->detail,
               broken->log);
        *code = broken == &head ? EXIT_BAD : EXIT_CANNOT_TELL;
        return 0;
    }
    struct comparison c;
    struct compare_request q = {.sweeps = o->selection.sweeps,
                                .sweep_count = o->selection.sweep_count,
                                .models = o->selection.models,
                                .model_count = o->selection.model_count,
                                .variant = s->candidate.variant,
                                .base = &base,
                                .head = &head,
                                .command = o->command,
                                .round = o->round,
                                .no_timing = o->no_timing};
    status = compare_run(&c, &s->arena, s->runner, &q);
    if (status == 0 && o->bisect)
        status = hunt_worse(o, &c);
    if (status == 0 && o->every_commit)
        status = build_range(o, &c);
    progress_end();
    if (status == 0)
        status = cmd_report_comparison(s, &c, o->prefix, code);
    if (status == 0)
        cmd_print_work(s);
    return status;
}

static int run(int argc, char **argv)
{
    struct compare_options o = {0};
    struct opt_list operands;
    const struct opt table[] = {
        {.name = "base",
         .kind = OPT_TEXT,
         .value = &o.base,
         .argument = "REV",
         .help = "the commit compared against"},
        {.name = "head",
         .kind = OPT_TEXT,
         .value = &o.head,
         .argument = "REV",
         .help = "the commit in question"},
        {.name = "base-prebuilt",
         .kind = OPT_TEXT,
         .value = &o.base_prebuilt,
         .argument = "DIR",
         .help = "your own build instead of --base"},
        {.name = "head-prebuilt",
         .kind = OPT_TEXT,
         .value = &o.head_prebuilt,
         .argument = "DIR",
         .help = "your own build instead of --head"},
        PATCH_OPTION(&o.patch),
        SELECTION_OPTIONS(&o.selection),
        MODEL_OPTION(&o.selection),
        {.name = "bisect",
         .kind = OPT_FLAG,
         .value = &o.bisect,
         .help = "find the commit behind everything that got worse"},
        {.name = "every-commit",
         .kind = OPT_FLAG,
         .value = &o.every_commit,
         .help = "also build each commit in between, and name those that do not build"},
        {.name = "first-parent",
         .kind = OPT_FLAG,
         .value = &o.first_parent,
         .help = "with --bisect: blame merges, do not enter them"},
        {.name = "no-timing", .kind = OPT_FLAG, .value = &o.no_timing, .help = "correctness only"},
        ROUND_OPTION(&o.round, "above 0: a fresh timing session beside the stored one"),
        REPORT_OPTION(&o.prefix),
        SETTING_OPTIONS(&o.setting),
        {0},
    };
    int code = EXIT_GOOD;
    if (cmd_parse(&code, &cmd_compare, table, argc, argv, &o.setting.arena, &operands)) {
        o.command = cmd_typed(&o.setting.arena, argc, argv);
        if (compare_builds(&code, &o) < 0)
            code = cmd_fail();
    }
    setting_close(&o.setting);
    return code;
}

const struct opt_command cmd_compare = {
    .name = "compare",
    .summary = "compare two builds on the same problems: right or wrong, faster or slower",
    .usage = "",
    .text = "Checks every problem at both commits, times what both do right in interleaved pairs "
            "of fresh processes, prints and\n"
            "reports. What the store holds is not run again. Exit code 0 when nothing got worse, 1 "
            "when something did.\n\n"
            "  assay compare --candidate pebble.yaml --base v1 --head main --sweep s.yaml --model "
            "resnet50.yaml --bisect \\\n"
            "      --report out/report",
    .run = run,
};
