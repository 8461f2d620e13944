/* show: everything about one row, or the list of all that was tested. */
#include "harness/commands/cmd.h"

#include "harness/tested.h"
#include "src/fs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

struct show_options {
    struct setting setting;
    bool tested, with_outcome;
    const char *as, *rev, *outcome;
};

static const char *const outcome_words[] = {
#define OUTCOME(id, word, meaning, sentence) word,
#include "harness/outcome.def"
#undef OUTCOME
    NULL,
};

/* One configuration as a line. What the tool cannot say is a comment with its reason. */
static const char *spell(struct show_options *o, const struct tested *t)
{
    struct arena *a = &o->setting.arena;
    struct problem problem;
    enum spelling as;
    struct buf line;
    if (problem_parse(&problem, t->problem) < 0)
        bug("a stored problem is malformed: %s", err_message());
    if (!cmd_spelling(&as, o->as))
        bug("--as %s passed the option table", o->as);
    buf_init(&line, BUF_MAX_LINE);
    const char *front = o->with_outcome ? arena_printf(a, "%-14s ", outcome_word(t->outcome)) : "";
    const char *tuning = *t->variant ? arena_printf(a, "  # tuning %s", t->variant) : "";
    const char *text;
    if (spelling_print(&line, as, &problem, o->setting.candidate.asymmetric_pads) < 0)
        text = arena_printf(a, "# %s%s%s: %s", front, t->problem, tuning, err_message());
    else
        text = arena_printf(a, "%s%s%s", front, line.data, tuning);
    err_clear();
    buf_release(&line);
    return text;
}

/* Two layouts of the same memory may be one line of a tool: the second stays as a comment. */
static void mark_repeats(const char **lines, const struct tested *list, size_t count,
                         struct arena *a)
{
    CLEANUP(mem_free_ptr) size_t *first = mem_first_places(lines, count);
    for (size_t i = 0; i < count; i++) {
        if (first[i] != i)
            lines[i] = arena_printf(a, "# %s: its line stands above already", list[i].problem);
    }
}

/* "# 73 configurations of pebble at 0123456789, as miopen lines: 70 ok, 3 mismatch" */
static void print_head(const struct show_options *o, const char *sha, const struct tested *list,
                       size_t count)
{
    size_t counts[OUTCOME_COUNT] = {0};
    char number[60], short_sha[11];
    for (size_t i = 0; i < count; i++)
        counts[list[i].outcome]++;
    printf("# %s", report_number_of(number, sizeof number, count, "configuration"));
    if (o->setting.candidate.name)
        printf(" of %s", o->setting.candidate.name);
    if (sha)
        printf(" at %s", report_short_sha(short_sha, sha));
    printf(", as %s lines", o->as);
    const char *before = ": ";
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        if (counts[i] > 0) {
            printf("%s%zu %s", before, counts[i], outcome_word((enum outcome)i));
            before = ", ";
        }
    }
    printf("\n");
}

static int print_tested(struct show_options *o, const char *sha)
{
    struct setting *s = &o->setting;
    struct tested *list;
    size_t count, kept = 0;
    const struct tested_filter filter = {.candidate = s->candidate.name, .commit = sha};
    int status = tested_list(&list, &count, &s->arena, s->workspace->store, &s->gate, &filter);
    if (status < 0)
        return status;
    for (size_t i = 0; i < count; i++) {
        if (!o->outcome || strcmp(outcome_word(list[i].outcome), o->outcome) == 0)
            list[kept++] = list[i];
    }
    const char **lines = ARENA_ARRAY(&s->arena, kept, const char *);
    for (size_t i = 0; i < kept; i++)
        lines[i] = spell(o, &list[i]);
    mark_repeats(lines, list, kept, &s->arena);
    print_head(o, sha, list, kept);
    for (size_t i = 0; i < kept; i++)
        printf("%s\n", lines[i]);
    return 0;
}

/* A commit is resolved as everywhere, for which the candidate's repository is needed; without one
 * the store is enough. */
static int show_tested(struct show_options *o)
{
    struct setting *s = &o->setting;
    char sha[REPO_SHA_SIZE];
    if (o->rev) {
        int status = setting_open(s, false);
        if (status == 0)
            status = setting_resolve(sha, s, o->rev);
        return status < 0 ? status : print_tested(o, sha);
    }
    const char *candidate = s->candidate_file ? s->candidate_file : getenv("ASSAY_CANDIDATE");
    int status = config_gate(&s->gate, &s->arena, s->gate_file);
    if (status == 0 && candidate && *candidate)
        status = config_candidate(&s->candidate, &s->arena, candidate);
    if (status == 0)
        status = workspace_open(&s->workspace, s->workspace_folder, false);
    return status < 0 ? status : print_tested(o, NULL);
}

static int show_row(struct show_options *o, const struct opt_list *operands)
{
    char *end = NULL;
    int64_t number = operands->count == 1 ? strtoll(operands->items[0], &end, 10) : 0;
    if (operands->count != 1 || *end || number < 1)
        return err_set(ERR_INVALID, "show takes the number of one row, or --tested");
    if (o->as || o->rev || o->outcome || o->with_outcome)
        return err_set(
            ERR_INVALID,
            "--as, --rev, --outcome and --with-outcome go with --tested, not with a row");
    int status = workspace_open(&o->setting.workspace, o->setting.workspace_folder, false);
    return status < 0 ? status : print_row(o->setting.workspace, number);
}

static int show(struct show_options *o, const struct opt_list *operands)
{
    if (!o->tested)
        return show_row(o, operands);
    if (operands->count > 0)
        return err_set(ERR_INVALID, "show takes a row or --tested, not both");
    o->as = o->as ? o->as : "assay";
    return show_tested(o);
}

static int run(int argc, char **argv)
{
    struct show_options o = {0};
    struct opt_list operands;
    const struct opt table[] = {
        {.name = "tested",
         .kind = OPT_FLAG,
         .value = &o.tested,
         .help = "list every configuration that was tested, one a line"},
        {.name = "as",
         .kind = OPT_WORD,
         .value = &o.as,
         .argument = "TOOL",
         .words = cmd_spelling_words,
         .help =
             "with --tested: in whose words: assay (default), miopen, rocmlir, mlir-miopen, miir"},
        {.name = "rev",
         .kind = OPT_TEXT,
         .value = &o.rev,
         .argument = "REV",
         .help = "with --tested: at this commit only"},
        {.name = "outcome",
         .kind = OPT_WORD,
         .value = &o.outcome,
         .argument = "WORD",
         .words = outcome_words,
         .help = "with --tested: only with this outcome: ok, mismatch, crash ..."},
        {.name = "with-outcome",
         .kind = OPT_FLAG,
         .value = &o.with_outcome,
         .help = "with --tested: the outcome in front of each line"},
        SETTING_OPTIONS(&o.setting),
        {0},
    };
    int code = EXIT_GOOD;
    if (cmd_parse(&code, &cmd_show, table, argc, argv, &o.setting.arena, &operands) &&
        show(&o, &operands) < 0)
        code = cmd_fail();
    setting_close(&o.setting);
    return code;
}

const struct opt_command cmd_show = {
    .name = "show",
    .summary = "everything about one row; or --tested: every configuration, in any tool's words",
    .usage = "[ROW]",
    .text = "Row numbers stand in the output of `assay run` and in reports.\n\n"
            "--tested lists, once each and in a stable order, every problem that the store has a "
            "result of: of the candidate given,\n"
            "else of all. What a tool's words cannot say stays as a # comment with the reason. A "
            "configuration's outcome is that\n"
            "of the build it was tested on last.\n\n"
            "  assay show 17\n"
            "  assay show --tested --as miopen --rev main --outcome ok > tested.txt",
    .run = run,
};
