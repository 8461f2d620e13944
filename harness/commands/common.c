#include "harness/commands/cmd.h"

#include "harness/budget.h"
#include "harness/progress.h"
#include "src/fs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int cmd_fail(void)
{
    progress_end();
    fprintf(stderr, "assay: %s\n", err_message());
    return EXIT_TROUBLE;
}

int cmd_width(void)
{
    static const int streams[] = {STDOUT_FILENO,
                                  STDERR_FILENO}; /* piped through a pager, the other still knows */
    for (size_t i = 0; i < COUNT_OF(streams); i++) {
        struct winsize size;
        if (ioctl(streams[i], TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
            return size.ws_col;
    }
    return 100;
}

bool cmd_colour(void)
{
    return isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
}

bool cmd_parse(int *exit_code, const struct opt_command *command, const struct opt *table, int argc,
               char **argv, struct arena *a, struct opt_list *operands)
{
    bool help = false;
    if (opt_parse(table, argc, argv, a, operands, &help) < 0) {
        fprintf(stderr, "assay %s: %s\nTry `assay %s --help`.\n", command->name, err_message(),
                command->name);
        *exit_code = EXIT_USAGE;
        return false;
    }
    if (help) {
        struct buf text;
        buf_init(&text, BUF_MAX_LINE);
        opt_print_help(&text, "assay", command, table, cmd_width());
        fputs(text.data, stdout);
        buf_release(&text);
        *exit_code = EXIT_GOOD;
        return false;
    }
    if (operands->count > 0 && !*command->usage) {
        fprintf(stderr, "assay %s: `%s` is no option, and it takes no other words\n", command->name,
                operands->items[0]);
        *exit_code = EXIT_USAGE;
        return false;
    }
    return true;
}

static int read_files(struct setting *s)
{
    const char *candidate = s->candidate_file ? s->candidate_file : getenv("ASSAY_CANDIDATE");
    if (!candidate || !*candidate)
        return err_set(ERR_INVALID, "no candidate: give --candidate FILE or set ASSAY_CANDIDATE");
    int status = config_candidate(&s->candidate, &s->arena, candidate);
    if (status == 0)
        status = config_machine(&s->machine, &s->arena, s->machine_file);
    if (status == 0)
        status = config_gate(&s->gate, &s->arena, s->gate_file);
    return status;
}

static int keep_budget(struct setting *s)
{
    int64_t freed;
    size_t count;
    int status = budget_enforce(&freed, &count, s->workspace, &s->machine.disk);
    if (status == 0 && count > 0)
        progress_note("disk: %zu pieces beyond the budget of machine %s went, %.1f MiB; rows stay",
                      count, s->machine.name, (double)freed / 1048576);
    return status;
}

int setting_open(struct setting *s, bool refresh)
{
    progress_quiet(s->quiet);
    int status = read_files(s);
    if (status == 0)
        status = workspace_open(&s->workspace, s->workspace_folder, true);
    if (status == 0)
        status = keep_budget(s);
    if (status == 0)
        status = builder_open(&s->builder, s->workspace, &s->candidate, refresh);
    return status;
}

int setting_open_runner(struct setting *s)
{
    return runner_open(&s->runner, s->workspace, &s->candidate, &s->machine, &s->gate);
}

void setting_close(struct setting *s)
{
    progress_end();
    runner_close(s->runner);
    builder_close(s->builder);
    workspace_close(s->workspace);
    arena_release(&s->arena);
}

/* The SHA that `rev` has in the working directory's repository, if there is one and the mirror has
 * that commit too. */
static bool resolve_here(char sha[REPO_SHA_SIZE], struct setting *s, const char *rev)
{
    struct repo *here = NULL;
    char tree[REPO_SHA_SIZE];
    bool found = repo_open(&here, ".") == 0 && repo_resolve(sha, here, rev) == 0 &&
                 repo_tree_of(tree, builder_repo(s->builder), sha) == 0;
    err_clear();
    repo_close(here);
    return found;
}

int setting_resolve(char sha[REPO_SHA_SIZE], struct setting *s, const char *rev)
{
    struct repo *mirror = builder_repo(s->builder);
    if (!mirror)
        return err_set(ERR_INVALID, "candidate %s has no repository: give --prebuilt DIR",
                       s->candidate.name);
    if (resolve_here(sha, s, rev))
        return 0;
    if (repo_resolve(sha, mirror, rev) == 0)
        return 0;
    if (err_code() != ERR_NOTFOUND)
        return err_code();
    /* The commit may be younger than the mirror. */
    int status = repo_fetch(mirror);
    return status < 0 ? status : repo_resolve(sha, mirror, rev);
}

const char *const cmd_spelling_words[] = {"assay",       "miopen", "rocmlir",
                                          "mlir-miopen", "miir",   NULL};

bool cmd_spelling(enum spelling *out, const char *word)
{
    for (int i = 0; cmd_spelling_words[i]; i++) {
        if (strcmp(cmd_spelling_words[i], word) == 0) {
            *out = (enum spelling)i;
            return true;
        }
    }
    return false;
}

static int add_problem(struct sweep *sweep, struct arena *a, const char *line)
{
    enum spelling spelling;
    struct problem problems[3];
    size_t count;
    if (!spelling_guess(&spelling, line))
        return err_set(ERR_INVALID,
                       "--problem: `%.80s` is no problem in any spelling that assay knows", line);
    if (spelling_parse(problems, &count, spelling, line) < 0)
        return err_wrap("--problem");
    for (size_t i = 0; i < count; i++) {
        char text[PROBLEM_MAX_TEXT];
        bool seen = false;
        problem_print(text, &problems[i]);
        for (size_t k = 0; k < sweep->count && !seen; k++)
            seen = strcmp(sweep->problems[k].text, text) == 0;
        if (!seen)
            sweep->problems[sweep->count++] = (struct sweep_problem){
                .problem = problems[i], .text = arena_strdup(a, text), .origin = "--problem"};
    }
    return 0;
}

int selection_load(struct selection *s, struct arena *a)
{
    size_t given = s->problem_texts.count;
    s->sweeps = ARENA_ARRAY(a, s->sweep_files.count + 1, struct sweep);
    s->models = ARENA_ARRAY(a, s->model_files.count, struct model);
    int status = 0;
    for (size_t i = 0; i < s->sweep_files.count && status == 0; i++)
        status = config_sweep(&s->sweeps[s->sweep_count++], a, s->sweep_files.items[i]);
    for (size_t i = 0; i < s->model_files.count && status == 0; i++)
        status = config_model(&s->models[s->model_count++], a, s->model_files.items[i]);
    if (status == 0 && given > 0) {
        struct sweep *typed = &s->sweeps[s->sweep_count++];
        *typed = (struct sweep){.file = "",
                                .name = "command line",
                                .purpose = "both",
                                .problems = ARENA_ARRAY(a, 3 * given, struct sweep_problem)};
        for (size_t i = 0; i < given && status == 0; i++)
            status = add_problem(typed, a, s->problem_texts.items[i]);
    }
    if (status == 0 && s->sweep_count + s->model_count == 0)
        status = err_set(
            ERR_INVALID,
            "nothing to do: name problems with --sweep FILE, --model FILE or --problem TEXT");
    return status;
}

void selection_problems(struct sweep_problem **out, size_t *count, const struct selection *s,
                        struct arena *a)
{
    size_t all = 0;
    for (size_t i = 0; i < s->sweep_count; i++)
        all += s->sweeps[i].count;
    for (size_t i = 0; i < s->model_count; i++)
        all += s->models[i].count;
    struct sweep_problem *list = ARENA_ARRAY(a, all, struct sweep_problem);
    size_t used = 0;
    for (size_t i = 0; i < s->sweep_count; i++) {
        for (size_t n = 0; n < s->sweeps[i].count; n++)
            list[used++] = s->sweeps[i].problems[n];
    }
    for (size_t i = 0; i < s->model_count; i++) {
        for (size_t n = 0; n < s->models[i].count; n++)
            list[used++] = (struct sweep_problem){.problem = s->models[i].layers[n].problem,
                                                  .text = s->models[i].layers[n].text,
                                                  .origin = s->models[i].file};
    }
    CLEANUP(mem_free_ptr) size_t *first = sweep_first_places(list, all);
    *count = 0;
    for (size_t i = 0; i < all; i++) {
        if (first[i] == i)
            list[(*count)++] = list[i];
    }
    *out = list;
}

static bool is_plain_word(const char *word)
{
    return *word &&
           strspn(word,
                  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./:,+@%^~") ==
               strlen(word);
}

const char *cmd_typed(struct arena *a, int argc, char **argv)
{
    struct buf text;
    buf_init(&text, BUF_MAX_LINE);
    buf_add_text(&text, "assay");
    for (int i = 0; i < argc; i++) {
        if (is_plain_word(argv[i])) {
            buf_printf(&text, " %s", argv[i]);
            continue;
        }
        buf_add_text(&text, " '");
        for (const char *c = argv[i]; *c; c++)
            *c == '\'' ? buf_add_text(&text, "'\\''") : buf_add_char(&text, *c);
        buf_add_char(&text, '\'');
    }
    const char *typed = arena_strdup(a, text.data);
    buf_release(&text);
    return typed;
}

const char *cmd_duration(char *text, size_t size, int64_t ns)
{
    if (ns >= 1000000000)
        snprintf(text, size, "%.1f s", (double)ns / 1e9);
    else if (ns >= 1000000)
        snprintf(text, size, "%.1f ms", (double)ns / 1e6);
    else
        snprintf(text, size, "%.1f us", (double)ns / 1e3);
    return text;
}

void cmd_print_work(const struct setting *s)
{
    const struct runner *r = s->runner;
    int64_t builds = builder_count(s->builder);
    if (builds == 0 && r->jobs_run == 0 && r->pairs_run == 0)
        printf("Nothing was built or measured: everything was in the store (%" PRId64
               " results, %" PRId64 " pairs).\n",
               r->jobs_found, r->pairs_found);
    else
        printf("Built %" PRId64 ", ran %" PRId64 " checks and %" PRId64
               " timing pairs; found %" PRId64 " and %" PRId64 " in the store.\n",
               builds, r->jobs_run, r->pairs_run, r->jobs_found, r->pairs_found);
}

static int write_report(const char *path, void (*print)(struct buf *, const struct report *),
                        const struct report *r)
{
    struct buf text;
    buf_init(&text, BUF_MAX_REPORT);
    print(&text, r);
    int status = buf_check(&text, path);
    if (status == 0)
        status = fs_write(path, text.data, text.length);
    buf_release(&text);
    return status;
}

static int write_reports(struct setting *s, const struct report *r, const char *prefix)
{
    static const struct {
        const char *ending;
        void (*print)(struct buf *, const struct report *);
    } forms[] = {{"html", report_html}, {"md", report_markdown}, {"json", report_json}};
    int status = fs_make_folders(fs_dirname(&s->arena, prefix));
    for (size_t i = 0; i < COUNT_OF(forms) && status == 0; i++) {
        const char *path = arena_printf(&s->arena, "%s.%s", prefix, forms[i].ending);
        status = write_report(path, forms[i].print, r);
        if (status == 0)
            printf("%s%s", i ? ", " : "Reports: ", path);
    }
    if (status == 0)
        printf("\n");
    return status;
}

/* The options that a command needs to find the same workspace, candidate, machine and gate. */
static const char *typed_options(struct setting *s)
{
    const char *given[][2] = {{"--workspace", s->workspace_folder},
                              {"--candidate", s->candidate.file},
                              {"--machine", s->machine_file},
                              {"--gate", s->gate_file}};
    struct buf text;
    buf_init(&text, BUF_MAX_LINE);
    for (size_t i = 0; i < COUNT_OF(given); i++) {
        if (given[i][1])
            buf_printf(&text, "%s%s %s", text.length ? " " : "", given[i][0], given[i][1]);
    }
    const char *options = arena_strdup(&s->arena, text.data);
    buf_release(&text);
    return options;
}

int cmd_report_comparison(struct setting *s, const struct comparison *c, const char *prefix,
                          int *exit_code)
{
    struct report r;
    struct collect_request q = {.store = s->workspace->store,
                                .repo = builder_repo(s->builder),
                                .candidate = &s->candidate,
                                .gate = &s->gate,
                                .comparison = c,
                                .options = typed_options(s)};
    int status = collect_report(&r, &s->arena, &q);
    if (status < 0)
        return status;
    struct buf text;
    buf_init(&text, BUF_MAX_REPORT);
    report_text(&text, &r, cmd_width(), cmd_colour());
    fputs(text.data, stdout);
    buf_release(&text);
    if (prefix)
        status = write_reports(s, &r, prefix);
    *exit_code = r.tone == TONE_GOOD ? EXIT_GOOD : r.tone == TONE_BAD ? EXIT_BAD : EXIT_CANNOT_TELL;
    return status;
}
