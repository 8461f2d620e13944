/* plan: what would run, and why. */
#include "harness/commands/cmd.h"

#include "harness/plan.h"

#include <inttypes.h>
#include <stdio.h>

struct plan_options {
    struct setting setting;
    struct selection selection;
    struct opt_list revs;
    bool dry;
};

static void print_job(const struct job *j, bool stored)
{
    printf("%-6s %.10s %-7s %s\n       because %s\n", stored ? "stored" : "run",
           j->artifact->commit, data_kind_name(j->data), j->problem, j->because);
}

/* How a sweep came by its problems, where it is not a plain list. */
static void print_sweep(const struct sweep *s)
{
    const struct sweep_counts *c = &s->counts;
    printf("sweep %s: %zu problems", s->name, s->count);
    if (c->combinations > 0)
        printf("; %" PRId64 " combinations of its axes, %" PRId64 " of them no convolution",
               c->combinations, c->unfit);
    if (c->foreign > 0)
        printf("; %" PRId64 " lines of imports passed over", c->foreign);
    if (s->where)
        printf("; where leaves out %" PRId64, c->left_out);
    if (s->sample.count > 0)
        printf("; a sample of %" PRId64 " with seed %" PRId64, c->matched, s->sample.seed);
    printf("\n");
}

static int print_plan(struct plan_options *o, const struct artifact *artifacts, size_t count)
{
    struct sweep_problem *problems;
    size_t problem_count;
    struct plan plan;
    for (size_t i = 0; i < o->selection.sweep_count; i++)
        print_sweep(&o->selection.sweeps[i]);
    selection_problems(&problems, &problem_count, &o->selection, &o->setting.arena);
    int status = plan_correctness(&plan, &o->setting.arena, o->setting.runner, artifacts, count,
                                  problems, problem_count, 0);
    if (status < 0)
        return status;
    for (size_t i = 0; i < plan.count; i++)
        print_job(&plan.jobs[i], plan.is_stored[i]);
    printf("%zu jobs: %zu to run, %zu in the store\n", plan.count, plan.count - plan.stored,
           plan.stored);
    return 0;
}

static int plan_revs(struct plan_options *o)
{
    struct setting *s = &o->setting;
    struct artifact *artifacts = ARENA_ARRAY(&s->arena, o->revs.count + 1, struct artifact);
    int status = selection_load(&o->selection, &s->arena);
    if (status == 0 && o->revs.count == 0)
        status = err_set(ERR_INVALID, "no commit: give --rev REV");
    if (status == 0)
        status = setting_open(s, false);
    if (status == 0)
        status = setting_open_runner(s);
    for (size_t i = 0; i < o->revs.count && status == 0; i++) {
        char sha[REPO_SHA_SIZE];
        status = setting_resolve(sha, s, o->revs.items[i]);
        if (status == 0)
            status = build_commit(&artifacts[i], &s->arena, s->builder, sha, BUILD_ONLY_FIND);
        if (status == 0)
            printf("%.10s %s\n", sha,
                   artifacts[i].outcome == OUTCOME_MISSING
                       ? "is to be built: no artifact for its tree and recipe"
                       : outcome_word(artifacts[i].outcome));
    }
    return status < 0 ? status : print_plan(o, artifacts, o->revs.count);
}

static int run(int argc, char **argv)
{
    struct plan_options o = {0};
    struct opt_list operands;
    const struct opt table[] = {
        {.name = "rev",
         .kind = OPT_LIST,
         .value = &o.revs,
         .argument = "REV",
         .help = "commit to plan for; repeatable"},
        SELECTION_OPTIONS(&o.selection),
        MODEL_OPTION(&o.selection),
        {.name = "dry-run",
         .letter = 'n',
         .kind = OPT_FLAG,
         .value = &o.dry,
         .help = "as `assay run -n`: planning never runs anything"},
        SETTING_OPTIONS(&o.setting),
        {0},
    };
    int code;
    if (cmd_parse(&code, &cmd_plan, table, argc, argv, &o.setting.arena, &operands))
        code = plan_revs(&o) < 0 ? cmd_fail() : EXIT_GOOD;
    setting_close(&o.setting);
    return code;
}

const struct opt_command cmd_plan = {
    .name = "plan",
    .summary = "print every job that would run, each with a because",
    .usage = "",
    .text = "Builds nothing and runs nothing.\n\n"
            "  assay plan --candidate configs/candidates/pebble.yaml --rev main --sweep "
            "configs/sweeps/backward-data.yaml",
    .run = run,
};
