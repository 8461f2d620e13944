/* run: problems at one build, checked against the reference. */
#include "harness/commands/cmd.h"

#include "harness/plan.h"
#include "harness/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct run_options {
    struct setting setting;
    struct selection selection;
    const char *rev, *prebuilt, *patch;
    int64_t round;
    bool dry, all;
};

/* One verdict a problem, from its rows. */
struct tally {
    size_t passed, failed, unknown;
};

static int find_build(struct artifact *out, struct run_options *o)
{
    struct setting *s = &o->setting;
    if (o->prebuilt)
        return build_prebuilt(out, &s->arena, s->builder, o->prebuilt);
    char sha[REPO_SHA_SIZE];
    builder_set_patch(s->builder, o->patch);
    int status = setting_resolve(sha, s, o->rev ? o->rev : "HEAD");
    progress_begin("building", 1);
    if (status == 0)
        status = build_commit(out, &s->arena, s->builder, sha, o->dry ? BUILD_ONLY_FIND : 0);
    progress_end();
    return status;
}

static void count_verdict(struct tally *t, enum outcome o)
{
    switch (outcome_meaning(o)) {
    case OUTCOME_MEANS_GOOD:
        t->passed++;
        break;
    case OUTCOME_MEANS_BAD:
        t->failed++;
        break;
    case OUTCOME_MEANS_UNKNOWN:
        t->unknown++;
        break;
    }
}

static void print_verdict(const struct check_verdict *v, const char *problem, bool all)
{
    if (v->outcome == OUTCOME_OK && !all)
        return;
    printf("%-14s %s\n", outcome_word(v->outcome), problem);
    if (*v->detail)
        printf("               %s%s%s%s (row %" PRId64 ")\n", v->detail, *v->signature ? " [" : "",
               v->signature, *v->signature ? "]" : "", v->row);
}

/* Rows stand by data kind, then by problem; a verdict takes the rows of its problem. */
static void judge_rows(struct tally *t, struct run_options *o, const struct result_row *rows,
                       size_t count, const struct sweep_problem *problems, size_t problem_count)
{
    struct arena *a = &o->setting.arena;
    struct result_row *mine = ARENA_ARRAY(a, count, struct result_row);
    size_t next = 0, second = count;
    for (size_t i = 0; i < count && second == count; i++) {
        if (strcmp(rows[i].data, rows[0].data) != 0)
            second = i;
    }
    size_t halves[2] = {0, second}, ends[2] = {second, count};
    for (size_t n = 0; n < problem_count; n++) {
        struct check_verdict v;
        next = 0;
        for (int h = 0; h < 2; h++) {
            if (halves[h] < ends[h] && strcmp(rows[halves[h]].problem, problems[n].text) == 0)
                mine[next++] = rows[halves[h]++];
        }
        judge_check(&v, a, &o->setting.gate, mine, next);
        count_verdict(t, v.outcome);
        print_verdict(&v, problems[n].text, o->all);
    }
}

static int run_problems(int *code, struct run_options *o, const struct artifact *artifact)
{
    struct setting *s = &o->setting;
    struct sweep_problem *problems;
    size_t count;
    struct plan plan;
    selection_problems(&problems, &count, &o->selection, &s->arena);
    int status =
        plan_correctness(&plan, &s->arena, s->runner, artifact, 1, problems, count, o->round);
    if (status < 0)
        return status;
    if (o->dry) {
        for (size_t i = 0; i < plan.count; i++)
            printf("%-6s %-7s %s\n       because %s\n", plan.is_stored[i] ? "stored" : "run",
                   data_kind_name(plan.jobs[i].data), plan.jobs[i].problem, plan.jobs[i].because);
        printf("%zu jobs: %zu to run, %zu in the store\n", plan.count, plan.count - plan.stored,
               plan.stored);
        return 0;
    }
    struct result_row *rows = ARENA_ARRAY(&s->arena, plan.count, struct result_row);
    status = run_jobs(rows, &s->arena, s->runner, plan.jobs, plan.count);
    if (status < 0)
        return status;
    struct tally t = {0};
    judge_rows(&t, o, rows, plan.count, problems, count);
    printf("%zu passed, %zu failed, %zu cannot be told\n", t.passed, t.failed, t.unknown);
    cmd_print_work(s);
    *code = t.failed > 0 ? EXIT_BAD : t.passed == 0 ? EXIT_CANNOT_TELL : EXIT_GOOD;
    return 0;
}

static int run_build(int *code, struct run_options *o)
{
    struct setting *s = &o->setting;
    struct artifact artifact;
    int status = selection_load(&o->selection, &s->arena);
    if (status == 0 && o->prebuilt && (o->rev || o->patch))
        status = err_set(ERR_INVALID,
                         "--prebuilt stands for a build: --rev and --patch do not go with it");
    if (status == 0)
        status = setting_open(s, false);
    if (status == 0)
        status = find_build(&artifact, o);
    if (status == 0 && artifact.outcome == OUTCOME_BUILD_ERROR) {
        printf("build-error    %.10s: %s\n               log: %s\n", artifact.commit,
               artifact.detail, artifact.log);
        *code = EXIT_CANNOT_TELL;
        return 0;
    }
    if (status == 0)
        status = setting_open_runner(s);
    return status < 0 ? status : run_problems(code, o, &artifact);
}

static int run(int argc, char **argv)
{
    struct run_options o = {0};
    struct opt_list operands;
    const struct opt table[] = {
        {.name = "rev",
         .kind = OPT_TEXT,
         .value = &o.rev,
         .argument = "REV",
         .help = "commit to run at (default: HEAD, of the working directory's repository if it is "
                 "the candidate's)"},
        {.name = "prebuilt",
         .kind = OPT_TEXT,
         .value = &o.prebuilt,
         .argument = "DIR",
         .help = "a build folder of your own instead of a commit"},
        PATCH_OPTION(&o.patch),
        SELECTION_OPTIONS(&o.selection),
        MODEL_OPTION(&o.selection),
        ROUND_OPTION(&o.round, "above 0: fresh compiles, beside the stored rows"),
        {.name = "all",
         .kind = OPT_FLAG,
         .value = &o.all,
         .help = "print the problems that pass, too"},
        {.name = "dry-run",
         .letter = 'n',
         .kind = OPT_FLAG,
         .value = &o.dry,
         .help = "print the plan with a because for each job; run nothing"},
        SETTING_OPTIONS(&o.setting),
        {0},
    };
    int code = EXIT_GOOD;
    if (cmd_parse(&code, &cmd_run, table, argc, argv, &o.setting.arena, &operands) &&
        run_build(&code, &o) < 0)
        code = cmd_fail();
    setting_close(&o.setting);
    return code;
}

const struct opt_command cmd_run = {
    .name = "run",
    .summary = "check problems at one commit (or your own build) against the reference",
    .usage = "",
    .text = "Exit code 0 when nothing failed and something passed, 1 when a problem failed, 125 "
            "when nothing can be told (the\n"
            "commit does not build, no problem applies): so it works under git bisect:\n\n"
            "  git bisect run assay run --candidate pebble.yaml --problem 'conv fwd f32 n1 c8 k8 "
            "g1 in8x8 ...'\n"
            "  assay run --candidate pebble.yaml --prebuilt build --sweep "
            "configs/sweeps/backward-data.yaml",
    .run = run,
};
