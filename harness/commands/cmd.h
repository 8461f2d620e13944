/* cmd: what the commands share. One file a command: its option table, its help, then the engines called in order. Only commands print.
 *
 * Exit codes (git bisect run understands them): 0 pass, 1 regression or bad, 125 cannot tell, 128 our trouble, 129 usage.
 */
#ifndef ASSAY_CMD_H
#define ASSAY_CMD_H

#include "harness/collect.h"
#include "harness/compare.h"
#include "harness/hunt.h"
#include "reference/spelling.h"
#include "src/opt.h"

enum { EXIT_GOOD = 0, EXIT_BAD = 1, EXIT_CANNOT_TELL = 125, EXIT_TROUBLE = 128, EXIT_USAGE = 129 };

extern const struct opt_command cmd_init, cmd_doctor, cmd_import, cmd_plan, cmd_build, cmd_run, cmd_compare, cmd_bisect, cmd_report, cmd_status,
    cmd_show, cmd_again, cmd_verify, cmd_gc, cmd_worker;
/* NULL-terminated, in the order of help; cmd_worker last and hidden. */
extern const struct opt_command *const commands[];

/* The options that nearly every command has, and what they open. */
struct setting {
    const char *workspace_folder, *candidate_file, *machine_file, *gate_file;
    bool quiet;
    struct arena arena;
    struct workspace *workspace;
    struct candidate candidate;
    struct machine machine;
    struct gate gate;
    struct builder *builder;
    struct runner *runner;
};
/* Rows for an option table. */
#define SETTING_OPTIONS(s)                                                                                                             \
    {.name = "candidate", .kind = OPT_TEXT, .value = &(s)->candidate_file, .argument = "FILE",                                         \
     .help = "the compiler under test (default: $ASSAY_CANDIDATE)"},                                                                   \
    {.name = "machine", .kind = OPT_TEXT, .value = &(s)->machine_file, .argument = "FILE",                                             \
     .help = "where to run (default: this machine's CPU)"},                                                                            \
    {.name = "gate", .kind = OPT_TEXT, .value = &(s)->gate_file, .argument = "FILE", .help = "tolerances and thresholds (default: built in)"}, \
    {.name = "workspace", .kind = OPT_TEXT, .value = &(s)->workspace_folder, .argument = "DIR",                                        \
     .help = "folder with .assay (default: $ASSAY_WORKSPACE, else upwards from here)"},                                                \
    {.name = "quiet", .letter = 'q', .kind = OPT_FLAG, .value = &(s)->quiet, .help = "no progress on standard error"}

#define PATCH_OPTION(file)                                                                         \
    {.name = "patch",                                                                              \
     .kind = OPT_TEXT,                                                                             \
     .value = (file),                                                                              \
     .argument = "FILE",                                                                           \
     .help = "applied on top of every commit"}
#define ROUND_OPTION(number, text)                                                                 \
    {.name = "round",                                                                              \
     .kind = OPT_INT,                                                                              \
     .value = (number),                                                                            \
     .argument = "N",                                                                              \
     .min = 0,                                                                                     \
     .max = HUNT_MAX_ROUND,                                                                        \
     .help = (text)}
#define REPORT_OPTION(prefix)                                                                      \
    {.name = "report",                                                                             \
     .kind = OPT_TEXT,                                                                             \
     .value = (prefix),                                                                            \
     .argument = "PREFIX",                                                                         \
     .help = "write PREFIX.html, PREFIX.md and PREFIX.json"}

/* Parse; true: go on. False: the exit code is in *exit_code (help was printed, or usage was wrong). */
bool cmd_parse(int *exit_code, const struct opt_command *command, const struct opt *table, int argc, char **argv, struct arena *a,
               struct opt_list *operands);
/* Read the files; open the workspace (as a writer), and the builder. */
int setting_open(struct setting *s, bool refresh) MUST_USE;
/* The device, asked; after setting_open. */
int setting_open_runner(struct setting *s) MUST_USE;
void setting_close(struct setting *s);

/* Print the error in flight and give the exit code for it. */
int cmd_fail(void);
/* A commit of the candidate: --rev is taken in the working directory's repository when that holds the candidate's commit, else in the mirror. */
int setting_resolve(char sha[REPO_SHA_SIZE], struct setting *s, const char *rev) MUST_USE;

/* Problems named by --sweep FILE and --problem TEXT, without repeats across them. */
struct selection {
    struct opt_list sweep_files, problem_texts, model_files;
    struct sweep *sweeps;
    size_t sweep_count;
    struct model *models;
    size_t model_count;
};
#define SELECTION_OPTIONS(s)                                                                                                    \
    {.name = "sweep", .kind = OPT_LIST, .value = &(s)->sweep_files, .argument = "FILE", .help = "problems of a sweep; repeatable"}, \
    {.name = "problem", .kind = OPT_LIST, .value = &(s)->problem_texts, .argument = "TEXT",                                     \
     .help = "one problem, in any spelling `assay import` knows; repeatable"}
#define MODEL_OPTION(s) \
    {.name = "model", .kind = OPT_LIST, .value = &(s)->model_files, .argument = "FILE", .help = "weighted problems of a network; repeatable"}
/* ERR_INVALID when nothing was named. */
int selection_load(struct selection *s, struct arena *a) MUST_USE;
/* All problems of all sweeps and models, once each. */
void selection_problems(struct sweep_problem **out, size_t *count, const struct selection *s, struct arena *a);

/* The words of --from, --to and --as, NULL-terminated; false for a word that is none. */
extern const char *const cmd_spelling_words[];
bool cmd_spelling(enum spelling *out, const char *word);

/* The command line as it was typed, quoted for a shell. */
const char *cmd_typed(struct arena *a, int argc, char **argv);
/* "12.3 s", "1.2 ms". */
const char *cmd_duration(char *text, size_t size, int64_t ns);
/* Columns of the terminal that standard output or else standard error goes to; 100 when neither goes to one. */
int cmd_width(void);
bool cmd_colour(void);
/* What jobs and builds were run and what was found in the store. */
void cmd_print_work(const struct setting *s);

/* Write the reports of a comparison: PREFIX.html, PREFIX.md and PREFIX.json, and print the summary. Its verdict's exit code. */
int cmd_report_comparison(struct setting *s, const struct comparison *c, const char *prefix, int *exit_code) MUST_USE;

#endif
