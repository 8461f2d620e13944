/* verify: a result tensor of any tool beside the reference. */
#include "harness/commands/cmd.h"

#include "harness/worker.h"
#include "reference/data.h"
#include "src/fs.h"
#include "src/proc.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const accumulator_choices[] = {
    "fma", "f32", "truncating", "tf32", "split-f16", "f16", "split-bf16", "bf16", "i32", NULL};

struct request {
    struct arena arena;
    const char *problem, *accumulator, *data, *input, *filter, *output, *write;
    const char *rms, *atol, *rtol;
    int64_t seed;
    char text[PROBLEM_MAX_TEXT];
    struct problem parsed;
    double rms_limit;
};

static int read_problem(struct request *q)
{
    enum spelling spelling;
    struct problem problems[3];
    size_t count = 0;
    if (!q->problem)
        return err_set(ERR_INVALID, "name the problem with --problem");
    if (!spelling_guess(&spelling, q->problem))
        return err_set(ERR_INVALID,
                       "--problem: `%.80s` is no problem in any spelling that assay knows",
                       q->problem);
    if (spelling_parse(problems, &count, spelling, q->problem) < 0)
        return err_wrap("--problem");
    if (count != 1)
        return err_set(ERR_INVALID,
                       "--problem: it stands for %zu directions; name one, as `assay import` "
                       "prints them",
                       count);
    q->parsed = problems[0];
    problem_print(q->text, &q->parsed);
    return 0;
}

static int check_number(double *out, const char *option, const char *text)
{
    char *end;
    *out = text ? strtod(text, &end) : 0;
    if (text && (end == text || *end || !(*out >= 0) || isinf(*out)))
        return err_set(ERR_INVALID, "--%s: `%s` is no number from 0 on", option, text);
    return 0;
}

/* A file for the tensor that is computed would be ignored. */
static int check_operands(const struct request *q)
{
    const char *const files[3] = {q->input, q->filter, q->output};
    static const char *const names[3] = {"input", "filter", "output"};
    enum operand result = problem_result(&q->parsed);
    if (files[result])
        return err_set(ERR_INVALID, "--%s: %s computes it; name that tensor without an option",
                       names[result], direction_name(q->parsed.direction));
    return 0;
}

static int check_request(struct request *q)
{
    double unused;
    int status = read_problem(q);
    if (status == 0)
        status = check_operands(q);
    if (status == 0)
        status = check_number(&q->rms_limit, "rms", q->rms);
    if (status == 0)
        status = check_number(&unused, "atol", q->atol);
    if (status == 0)
        status = check_number(&unused, "rtol", q->rtol);
    if (status == 0 && q->write)
        status = fs_make_folders(q->write);
    return status;
}

static void add_line(struct buf *job, const char *key, const char *value)
{
    if (value)
        buf_printf(job, "%s %s\n", key, value);
}

/* One worker a file: what another tool wrote is read by a child. */
static int ask_worker(struct proc_result *out, struct request *q, const char *file, bool write)
{
    char *self;
    struct buf job;
    int status = fs_self(&self, &q->arena);
    if (status < 0)
        return status;
    buf_init(&job, BUF_MAX_LINE);
    buf_printf(&job, "task verify\nproblem %s\naccumulator %s\ndata %s\nseed %" PRId64 "\n",
               q->text, q->accumulator, q->data, q->seed);
    add_line(&job, "input", q->input);
    add_line(&job, "filter", q->filter);
    add_line(&job, "output", q->output);
    add_line(&job, "atol", q->atol);
    add_line(&job, "rtol", q->rtol);
    add_line(&job, "write", write ? q->write : NULL);
    add_line(&job, "result", file);
    buf_add_text(&job, "end\n");
    const char *const argv[] = {self, "worker", NULL};
    const struct proc_spec spec = {
        .argv = argv, .input = job.data, .input_bytes = job.length, .channel = true, .cpu = -1};
    status = buf_check(&job, "the job");
    if (status == 0)
        status = proc_run(out, &spec);
    buf_release(&job);
    return status;
}

static double number(const char *answer, const char *key)
{
    char value[64];
    return worker_value(value, sizeof value, answer, key) ? strtod(value, NULL) : NAN;
}

static void print_others(const struct request *q, const char *answer)
{
    double rms = number(answer, "rms"), beyond = number(answer, "beyond");
    if (q->rms)
        printf("  by --rms %s: %s, %.4g\n", q->rms, rms <= q->rms_limit ? "passes" : "fails", rms);
    if (q->atol || q->rtol)
        printf("  by --atol %s --rtol %s: %s, %.0f of %.0f elements beyond\n",
               q->atol ? q->atol : "0", q->rtol ? q->rtol : "0", beyond == 0 ? "passes" : "fails",
               beyond, number(answer, "elements"));
}

static void print_place(const char *answer)
{
    char index[200], signature[300];
    if (worker_value(index, sizeof index, answer, "worst_index"))
        printf("  worst at %s (n g channel, then space; the filter: g k c)\n", index);
    if (worker_value(signature, sizeof signature, answer, "signature"))
        printf("  signature: %s\n", signature);
}

static int print_verdict(const struct request *q, const char *file, const char *answer)
{
    char outcome[64] = "no verdict", detail[4096] = "", exact[8] = "no";
    worker_value(outcome, sizeof outcome, answer, "outcome");
    worker_value(detail, sizeof detail, answer, "detail");
    worker_value(exact, sizeof exact, answer, "exact");
    bool whole = strcmp(exact, "yes") == 0;
    if (strcmp(outcome, "ok") == 0) {
        printf("ok %s: %.0f elements, ", file, number(answer, "elements"));
        if (whole)
            printf("each exactly right\n");
        else
            printf("worst %.3g times the tolerance\n", number(answer, "worst_ratio"));
        print_others(q, answer);
        return EXIT_GOOD;
    }
    if (strcmp(outcome, "mismatch") != 0) {
        fprintf(stderr, "assay: %s\n", detail);
        return EXIT_TROUBLE;
    }
    printf("mismatch %s: %s\n", file, detail);
    print_place(answer);
    print_others(q, answer);
    return EXIT_BAD;
}

static int verify_file(struct request *q, const char *file, bool write)
{
    struct proc_result p;
    if (ask_worker(&p, q, file, write) < 0)
        return cmd_fail();
    int code = EXIT_TROUBLE;
    char outcome[64] = "", detail[4096] = "";
    worker_value(outcome, sizeof outcome, p.channel.data, "outcome");
    worker_value(detail, sizeof detail, p.channel.data, "detail");
    if (p.end != PROC_EXITED || !*outcome) {
        char how[256];
        proc_describe(how, sizeof how, &p, "the worker");
        fprintf(stderr, "assay: %s%sthe worker: %s\n", file ? file : "", file ? ": " : "", how);
    } else if (file) {
        code = print_verdict(q, file, p.channel.data);
    } else if (strcmp(outcome, "ok") != 0) {
        fprintf(stderr, "assay: %s\n", detail);
    } else {
        code = EXIT_GOOD;
    }
    if (write && code != EXIT_TROUBLE)
        printf("wrote input.npy, filter.npy and output.npy to %s\n", q->write);
    proc_result_release(&p);
    return code;
}

static int verify_all(struct request *q, const struct opt_list *files)
{
    if (check_request(q) < 0)
        return cmd_fail();
    if (files->count == 0 && !q->write) {
        fprintf(stderr, "assay: name the tensors to check, or --write a folder\n");
        return EXIT_USAGE;
    }
    int worst = EXIT_GOOD;
    if (files->count == 0)
        return verify_file(q, NULL, true);
    for (size_t i = 0; i < files->count; i++) {
        int code = verify_file(q, files->items[i], q->write && i == 0);
        worst = code > worst ? code : worst;
    }
    return worst;
}

static int run(int argc, char **argv)
{
    struct request q = {.accumulator = "fma", .data = "real", .seed = 1};
    struct opt_list files = {0};
    const struct opt table[] = {
        {.name = "problem",
         .kind = OPT_TEXT,
         .value = &q.problem,
         .argument = "TEXT",
         .help = "the problem, in any spelling `assay import` knows"},
        {.name = "input",
         .kind = OPT_TEXT,
         .value = &q.input,
         .argument = "FILE",
         .help = "x, raw or .npy; an operand without a file is filled by --data and --seed"},
        {.name = "filter",
         .kind = OPT_TEXT,
         .value = &q.filter,
         .argument = "FILE",
         .help = "w, likewise"},
        {.name = "output",
         .kind = OPT_TEXT,
         .value = &q.output,
         .argument = "FILE",
         .help = "dy, likewise, for bwd_data and bwd_weight"},
        {.name = "data",
         .kind = OPT_WORD,
         .value = &q.data,
         .argument = "KIND",
         .words = data_kind_words,
         .help = "of operands without a file: real (default), integer, one-hot, miopen, rocmlir-int, ..."},
        {.name = "seed",
         .kind = OPT_INT,
         .value = &q.seed,
         .argument = "N",
         .max = INT64_MAX,
         .help = "of the same (default 1)"},
        {.name = "accumulator",
         .kind = OPT_WORD,
         .value = &q.accumulator,
         .argument = "WORD",
         .words = accumulator_choices,
         .help = "how the tool sums: fma (default) and the words of configs/README.md"},
        {.name = "rms",
         .kind = OPT_TEXT,
         .value = &q.rms,
         .argument = "X",
         .help = "show MIOpen's and rocMLIR's verdict too: normalised RMS up to X passes"},
        {.name = "atol",
         .kind = OPT_TEXT,
         .value = &q.atol,
         .argument = "X",
         .help = "show allclose's verdict too: |d| <= atol + rtol |answer|"},
        {.name = "rtol", .kind = OPT_TEXT, .value = &q.rtol, .argument = "X", .help = "see --atol"},
        {.name = "write",
         .kind = OPT_TEXT,
         .value = &q.write,
         .argument = "DIR",
         .help = "write the operands and the right answer as .npy, for the other tool"},
        {0},
    };
    int code;
    if (cmd_parse(&code, &cmd_verify, table, argc, argv, &q.arena, &files))
        code = verify_all(&q, &files);
    arena_release(&q.arena);
    return code;
}

const struct opt_command cmd_verify = {
    .name = "verify",
    .summary = "check result tensors that another tool wrote",
    .usage = "FILE...",
    .text =
        "Each FILE is the tensor that the direction computes, as raw elements in the order of its\n"
        "layout or as .npy. Whole numbers whose sums are exact in any order must be exactly\n"
        "right; other data are held to a bound that follows from types, accumulator and length\n"
        "of the sum. Exit code 1 when a file is off.\n\n"
        "  assay verify --problem 'conv fwd f32 n1 c64 k64 g1 in56x56 fil3x3 str1x1 dil1x1 "
        "pad1:1x1:1 ngchw gkcyx ngkhw' \\\n"
        "      --input x.npy --filter w.npy y.npy\n"
        "  assay verify --problem TEXT --data integer --write here",
    .run = run,
};
