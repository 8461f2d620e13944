#include "harness/worker.h"

#include "harness/drivers/driver.h"
#include "harness/dump.h"
#include "harness/result.h"
#include "reference/verify.h"
#include "src/gpu.h"
#include "src/proc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A job with what it needs while it runs: all of it is gone when the answer is written. */
struct work {
    const char *job; /* lines `key value` */
    struct buf *answer;
    struct arena arena;
    struct gpu *gpu;
    enum stage stage; /* how far it came */
};

/* A bundle, and what the device holds of it once it is loaded. */
struct code {
    struct bundle bundle;
    struct gpu_module *modules[BUNDLE_MAX_KERNELS];
    struct gpu_kernel *kernels[BUNDLE_MAX_KERNELS];
};

bool worker_value(char *value, size_t size, const char *lines, const char *key)
{
    size_t length = strlen(key);
    for (const char *line = lines; *line;) {
        const char *end = strchrnul(line, '\n');
        if ((size_t)(end - line) > length && strncmp(line, key, length) == 0 &&
            line[length] == ' ') {
            snprintf(value, size, "%.*s", (int)(end - line - (ptrdiff_t)length - 1),
                     line + length + 1);
            return true;
        }
        line = *end ? end + 1 : end;
    }
    return false;
}

/* The value of a key that a job must have. */
static int want(const char **out, struct work *w, const char *key)
{
    char value[4096];
    if (!worker_value(value, sizeof value, w->job, key))
        return err_set(ERR_INVALID, "job without `%s`", key);
    *out = arena_strdup(&w->arena, value);
    return 0;
}

static int want_int(int64_t *out, struct work *w, const char *key)
{
    const char *text;
    int status = want(&text, w, key);
    if (status < 0)
        return status;
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    if (errno || end == text || *end)
        return err_set(ERR_INVALID, "job: `%s %s` is no number", key, text);
    return 0;
}

/* One line: whatever stands in the text stays on it. */
static void say(struct work *w, const char *key, const char *format, ...) PRINTF_LIKE(3, 4);
static void say(struct work *w, const char *key, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = arena_vprintf(&w->arena, format, args);
    va_end(args);
    for (char *c = text; *c; c++) {
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    }
    buf_printf(w->answer, "%s %s\n", key, text);
}

static void conclude(struct work *w, enum outcome outcome, const char *detail)
{
    say(w, "stage", "%s", stage_word(w->stage));
    say(w, "outcome", "%s", outcome_word(outcome));
    if (*detail)
        say(w, "detail", "%s", detail);
}

static int do_compile(struct work *w)
{
    struct driver_request request = {0};
    const char *name = NULL, *problem = NULL, *pads = NULL, *path = NULL;
    int status = want(&name, w, "driver");
    if (status == 0)
        status = want(&request.library, w, "library");
    if (status == 0)
        status = want(&problem, w, "problem");
    if (status == 0)
        status = problem_parse(&request.problem, problem);
    if (status == 0)
        status = want(&request.arch, w, "arch");
    if (status == 0)
        status = want(&pads, w, "asymmetric_pads");
    if (status == 0)
        status = want(&path, w, "bundle");
    if (status < 0)
        return status;
    char variant[1024] = "";
    worker_value(variant, sizeof variant, w->job, "variant");
    request.variant = variant;
    request.asymmetric_pads = strcmp(pads, "yes") == 0;
    const struct driver *driver = driver_find(name);
    if (!driver)
        return err_set(ERR_INVALID, "job: there is no driver `%s`", name);

    struct driver_answer answer;
    w->stage = STAGE_COMPILE;
    int64_t started = proc_now_ns();
    status = driver->compile(&answer, &w->arena, &request);
    int64_t compile_ns = proc_now_ns() - started;
    if (status == 0 && answer.outcome == OUTCOME_OK)
        status = bundle_write(&answer.bundle, path);
    if (status < 0)
        return status;
    conclude(w, answer.outcome, answer.detail);
    say(w, "compile_ns", "%" PRId64, compile_ns);
    if (answer.outcome == OUTCOME_OK) {
        say(w, "code", "%s", answer.bundle.code_id);
        say(w, "kernels", "%zu", answer.bundle.count);
        say(w, "workspace_bytes", "%" PRId64, answer.bundle.workspace_bytes);
        say(w, "code_bytes", "%" PRId64, answer.bundle.code_bytes);
    }
    return 0;
}

/* The three tensors of a problem here and there. */
struct device_problem {
    struct tensor host[3]; /* inputs as filled, result poisoned */
    struct tensor back[3]; /* what the device holds after a run */
    void *device[3];       /* start of the low guard */
    void *arguments[3];    /* start of the elements: filter, input, output, in the order of the
                              kernels' parameters */
};

/* The bundle whose path the job gives under `key`, not yet on the device. */
static int read_code(struct code *out, struct work *w, const char *key)
{
    const char *path = NULL;
    *out = (struct code){0};
    int status = want(&path, w, key);
    return status < 0 ? status : bundle_read(&out->bundle, &w->arena, path);
}

static int open_device(struct work *w)
{
    const char *provider = NULL;
    int64_t device;
    int status = want(&provider, w, "hip");
    if (status == 0)
        status = want_int(&device, w, "device");
    return status < 0 ? status : gpu_open(&w->gpu, provider, (int)device);
}

static void fill_tensors(struct device_problem *d, const struct problem *p, enum data_kind kind,
                         uint64_t seed, int bits)
{
    enum operand result = problem_result(p);
    for (int i = 0; i < 3; i++) {
        tensor_init(&d->host[i], p, (enum operand)i);
        if ((enum operand)i == result)
            tensor_poison(&d->host[i], 0);
        else
            data_fill(&d->host[i], p, (enum operand)i, kind, seed, bits);
    }
}

static void release_tensors(struct device_problem *d)
{
    for (int i = 0; i < 3; i++) {
        tensor_release(&d->host[i]);
        tensor_release(&d->back[i]);
    }
}

static int load_kernels(struct code *c, struct work *w)
{
    for (size_t i = 0; i < c->bundle.count; i++) {
        const struct bundle_kernel *k = &c->bundle.kernels[i];
        int status = gpu_module_load(&c->modules[i], w->gpu, k->code);
        if (status == 0)
            status = gpu_module_kernel(&c->kernels[i], w->gpu, c->modules[i], k->name);
        if (status < 0)
            return status;
    }
    return 0;
}

static int upload(struct device_problem *d, struct work *w)
{
    static const enum operand order[3] = {OPERAND_FILTER, OPERAND_INPUT, OPERAND_OUTPUT};
    for (int i = 0; i < 3; i++) {
        struct tensor *t = &d->host[i];
        int status = gpu_malloc(&d->device[i], w->gpu, t->total_bytes);
        if (status == 0)
            status = gpu_copy_in(w->gpu, d->device[i], t->memory, t->total_bytes);
        if (status < 0)
            return status;
    }
    for (int i = 0; i < 3; i++)
        d->arguments[i] = (char *)d->device[order[i]] + TENSOR_GUARD_BYTES;
    return 0;
}

static int launch_kernels(const struct code *c, struct device_problem *d, struct work *w)
{
    void *parameters[3] = {&d->arguments[0], &d->arguments[1], &d->arguments[2]};
    for (size_t i = 0; i < c->bundle.count; i++) {
        const struct bundle_kernel *k = &c->bundle.kernels[i];
        int status = gpu_launch(w->gpu, c->kernels[i], k->grid, k->block, 0, parameters);
        if (status < 0)
            return status;
    }
    return 0;
}

static int download(struct device_problem *d, const struct problem *p, struct work *w)
{
    for (int i = 0; i < 3; i++) {
        tensor_init(&d->back[i], p, (enum operand)i);
        int status = gpu_copy_out(w->gpu, d->back[i].memory, d->device[i], d->back[i].total_bytes);
        if (status < 0)
            return status;
    }
    return 0;
}

static int unload_kernels(struct code *c, struct work *w)
{
    int status = 0;
    for (size_t i = 0; i < c->bundle.count; i++) {
        if (c->modules[i] && gpu_module_unload(w->gpu, c->modules[i]) < 0)
            status = ERR_FOREIGN;
        c->modules[i] = NULL;
    }
    return status;
}

static int free_device(struct device_problem *d, struct work *w)
{
    int status = 0;
    for (int i = 0; i < 3; i++) {
        if (d->device[i] && gpu_free(w->gpu, d->device[i]) < 0)
            status = ERR_FOREIGN;
        d->device[i] = NULL;
    }
    return status;
}

/* What a failed HIP call says of the candidate: a code object that the device refuses for a reason
 * is the compiler's, a launch that fails is a crash of its kernel, anything else happened around
 * it. */
static enum outcome outcome_of_call(const struct work *w)
{
    enum { HIP_OUT_OF_MEMORY = 2, HIP_UNKNOWN = 999 };
    if (gpu_failed_code() == HIP_OUT_OF_MEMORY)
        return OUTCOME_INFRA;
    if (w->stage == STAGE_LOAD)
        return gpu_failed_code() == HIP_UNKNOWN ? OUTCOME_INFRA : OUTCOME_COMPILE_ERROR;
    const char *call = gpu_failed_call();
    if (strcmp(call, "hipModuleLaunchKernel") == 0 || strstr(call, "Synchronize"))
        return OUTCOME_CRASH;
    return OUTCOME_INFRA;
}

/* A stage that failed on the device becomes the job's outcome; an error of ours stays one. */
static int conclude_failure(struct work *w, int status)
{
    if (status != ERR_FOREIGN && status != ERR_NOTFOUND)
        return status;
    conclude(w, w->gpu && gpu_failed_code() ? outcome_of_call(w) : OUTCOME_INFRA, err_message());
    err_clear();
    return 0;
}

static void say_stats(struct work *w, const struct verify_stats *s)
{
    say(w, "elements", "%" PRId64, s->elements);
    say(w, "mismatches", "%" PRId64, s->mismatches);
    say(w, "nans", "%" PRId64, s->nans);
    say(w, "infs", "%" PRId64, s->infs);
    say(w, "unwritten", "%" PRId64, s->unwritten);
    say(w, "guard_low", "%" PRId64, s->guard_low);
    say(w, "guard_high", "%" PRId64, s->guard_high);
    say(w, "zeros", "%" PRId64, s->zeros);
    say(w, "worst_ratio", "%.6g", s->worst_ratio);
    say(w, "worst_error", "%.9g", s->worst_error);
    say(w, "worst_expected", "%.9g", s->worst_expected);
    say(w, "worst_actual", "%.9g", s->worst_actual);
    say(w, "worst_index", "%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64,
        s->worst_index[0], s->worst_index[1], s->worst_index[2], s->worst_index[3],
        s->worst_index[4], s->worst_index[5]);
    say(w, "max_tolerance", "%.6g", s->max_tolerance);
    say(w, "histogram",
        "%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
        " %" PRId64,
        s->histogram[0], s->histogram[1], s->histogram[2], s->histogram[3], s->histogram[4],
        s->histogram[5], s->histogram[6], s->histogram[7]);
    say(w, "at_border", "%" PRId64, s->at_border);
    say(w, "in_tail", "%" PRId64, s->in_tail);
    say(w, "groups", "%" PRId64 " %" PRId64, s->by_group_first, s->by_group_last);
    say(w, "channels", "%" PRId64 " %" PRId64, s->channel_first, s->channel_last);
}

/* The tolerances of others that the job may give. */
static void take_tolerances(struct verify_others *others, const struct work *w)
{
    char atol[64] = "0", rtol[64] = "0";
    worker_value(atol, sizeof atol, w->job, "atol");
    worker_value(rtol, sizeof rtol, w->job, "rtol");
    *others = (struct verify_others){.atol = strtod(atol, NULL), .rtol = strtod(rtol, NULL)};
}

static void say_others(struct work *w, const struct verify_others *others)
{
    say(w, "rms", "%.9g", others->rms);
    say(w, "beyond", "%" PRId64, others->beyond);
}

/* Which of the inputs, if any, the kernels wrote to. */
static const char *changed_input(const struct device_problem *d, const struct problem *p)
{
    static const char *const names[3] = {"input", "filter", "output"};
    for (int i = 0; i < 3; i++) {
        if ((enum operand)i != problem_result(p) &&
            memcmp(d->host[i].data, d->back[i].data, d->host[i].bytes) != 0)
            return names[i];
    }
    return NULL;
}

/* The guards of the result are in the statistics already; those of the inputs count as well. */
static void add_input_guards(struct verify_stats *s, const struct device_problem *d,
                             const struct problem *p)
{
    for (int i = 0; i < 3; i++) {
        int64_t low, high;
        if ((enum operand)i == problem_result(p))
            continue;
        tensor_guard_damage(&low, &high, &d->back[i]);
        s->guard_low += low;
        s->guard_high += high;
    }
}

static const char *describe_mismatch(struct work *w, const struct verify_stats *s,
                                     enum data_kind kind)
{
    if (s->guard_low + s->guard_high > 0)
        return arena_printf(&w->arena, "%" PRId64 " bytes outside the tensors were written",
                            s->guard_low + s->guard_high);
    if (data_kind_is_exact(kind))
        return arena_printf(
            &w->arena, "%" PRId64 " of %" PRId64 " off, such as %.9g where exactly %.9g is right",
            s->mismatches, s->elements, s->worst_actual, s->worst_expected);
    return arena_printf(
        &w->arena,
        "%" PRId64 " of %" PRId64 " off, worst %.4g times the tolerance (%.9g for %.9g)%s%s",
        s->mismatches, s->elements, s->worst_ratio, s->worst_actual, s->worst_expected,
        s->looks_like ? "; looks like " : "", s->looks_like ? s->looks_like : "");
}

static int check_result(struct work *w, const struct device_problem *d, const struct problem *p,
                        enum data_kind kind, enum accumulator accumulator, uint64_t seed)
{
    struct verify_stats stats;
    enum operand result = problem_result(p);
    struct tensor tensors[3] = {d->host[0], d->host[1], d->host[2]};
    tensors[result] = d->back[result];
    struct verify_others others = {0};
    take_tolerances(&others, w);
    int status = verify_result(&stats, &others, p, tensors, kind, accumulator, seed, 0);
    if (status < 0)
        return status;
    add_input_guards(&stats, d, p);
    w->stage = STAGE_VERIFY;
    char signature[256] = "";
    const char *input = changed_input(d, p);
    bool off = stats.mismatches > 0 || stats.guard_low + stats.guard_high > 0;
    if (off)
        conclude(w, OUTCOME_MISMATCH, describe_mismatch(w, &stats, kind));
    else if (input)
        conclude(w, OUTCOME_MISMATCH,
                 arena_printf(&w->arena, "the kernels changed their %s", input));
    else
        conclude(w, OUTCOME_OK, "");
    if (off)
        verify_signature(signature, sizeof signature, p, &stats);
    else if (input)
        snprintf(signature, sizeof signature, "writes its %s", input);
    if (*signature)
        say(w, "signature", "%s", signature);
    if (!data_kind_is_exact(kind))
        say_others(w, &others);
    say_stats(w, &stats);
    return 0;
}

/* Load, run once between two events, read everything back. */
static int run_once(int64_t *execute_ns, struct device_problem *d, struct code *c, struct work *w)
{
    struct gpu_event *start = NULL, *stop = NULL;
    w->stage = STAGE_EXECUTE;
    int status = upload(d, w);
    if (status == 0) {
        w->stage = STAGE_LOAD;
        status = load_kernels(c, w);
    }
    if (status == 0) {
        w->stage = STAGE_EXECUTE;
        status = gpu_event_create(&start, w->gpu);
    }
    if (status == 0)
        status = gpu_event_create(&stop, w->gpu);
    if (status == 0)
        status = gpu_event_record(w->gpu, start);
    if (status == 0)
        status = launch_kernels(c, d, w);
    if (status == 0)
        status = gpu_event_record(w->gpu, stop);
    if (status == 0)
        status = gpu_synchronize(w->gpu);
    if (status == 0)
        status = gpu_event_elapsed(execute_ns, w->gpu, start, stop);
    if (status == 0)
        status = download(d, &c->bundle.problem, w);
    if (start && gpu_event_destroy(w->gpu, start) < 0 && status == 0)
        status = ERR_FOREIGN;
    if (stop && gpu_event_destroy(w->gpu, stop) < 0 && status == 0)
        status = ERR_FOREIGN;
    return status;
}

static int do_execute(struct work *w)
{
    const char *data = NULL, *word = NULL;
    int64_t seed;
    enum accumulator accumulator;
    int status = want(&data, w, "data");
    if (status == 0)
        status = want_int(&seed, w, "seed");
    if (status == 0)
        status = want(&word, w, "accumulator");
    if (status == 0 && !accumulator_parse(&accumulator, word))
        status = err_set(ERR_INVALID, "job: there is no accumulator `%s`", word);
    enum data_kind kind;
    if (status == 0 && !data_kind_parse(&kind, data))
        status = err_set(ERR_INVALID, "job: there is no kind of data `%s`", data);
    if (status < 0)
        return status;
    w->stage = STAGE_LOAD;
    struct code code;
    status = read_code(&code, w, "bundle");
    if (status == 0)
        status = open_device(w);
    if (status < 0)
        return conclude_failure(w, status);
    const struct problem *p = &code.bundle.problem;
    int bits = accumulator_bits(accumulator);
    if (!data_suits(p, kind, bits))
        return err_set(ERR_INVALID, "job: %s data say nothing about this problem", data);

    struct device_problem d = {0};
    int64_t execute_ns = 0;
    fill_tensors(&d, p, kind, (uint64_t)seed, bits);
    status = run_once(&execute_ns, &d, &code, w);
    if (status == 0) {
        status = check_result(w, &d, p, kind, accumulator, (uint64_t)seed);
        say(w, "execute_ns", "%" PRId64, execute_ns);
    } else {
        status = conclude_failure(w, status);
    }
    /* The verdict stands; what fails while tidying up is in the log. */
    if (unload_kernels(&code, w) < 0 || free_device(&d, w) < 0) {
        fprintf(stderr, "%s\n", err_message());
        err_clear();
    }
    release_tensors(&d);
    return status;
}

struct timing {
    int64_t warmups, repeats, minimum_ns;
};

/* Two builds' code for one problem, and the events around each launch. */
struct duel {
    struct code codes[2]; /* anchor, candidate */
    struct device_problem device;
    struct gpu_event *start, *stop;
};

static int take_sample(int64_t *ns, struct duel *d, int which, struct work *w)
{
    int status = gpu_event_record(w->gpu, d->start);
    if (status == 0)
        status = launch_kernels(&d->codes[which], &d->device, w);
    if (status == 0)
        status = gpu_event_record(w->gpu, d->stop);
    return status < 0 ? status : gpu_event_elapsed(ns, w->gpu, d->start, d->stop);
}

/* One sample of each, in turns of ABBA: what else the machine does meets both alike. */
static int take_turn(int64_t *total, struct duel *d, int first, bool counts, struct work *w)
{
    static const char *const keys[2] = {"anchor_sample", "sample"};
    int status = 0;
    for (int i = 0; i < 2 && status == 0; i++) {
        int which = i ? 1 - first : first;
        int64_t ns = 0;
        status = take_sample(&ns, d, which, w);
        if (status < 0 || !counts)
            continue;
        say(w, keys[which], "%" PRId64, ns);
        *total += ns;
    }
    return status;
}

/* Turns until there are `repeats` and together they last `minimum_ns`, at most twenty times
 * `repeats`. */
static int take_samples(struct work *w, struct duel *d, const struct timing *t, int first)
{
    int64_t total = 0;
    int status = gpu_event_create(&d->start, w->gpu);
    if (status == 0)
        status = gpu_event_create(&d->stop, w->gpu);
    for (int64_t i = 0; i < t->warmups && status == 0; i++)
        status = take_turn(&total, d, first, false, w);
    for (int64_t i = 0; status == 0 && i < 20 * t->repeats; i++) {
        if (i >= t->repeats && total >= t->minimum_ns)
            break;
        status = take_turn(&total, d, i % 2 ? 1 - first : first, true, w);
    }
    if (d->start && gpu_event_destroy(w->gpu, d->start) < 0 && status == 0)
        status = ERR_FOREIGN;
    if (d->stop && gpu_event_destroy(w->gpu, d->stop) < 0 && status == 0)
        status = ERR_FOREIGN;
    return status;
}

static int read_both(struct duel *d, struct work *w)
{
    int status = read_code(&d->codes[0], w, "anchor");
    if (status == 0)
        status = read_code(&d->codes[1], w, "bundle");
    if (status < 0)
        return status;
    char problems[2][PROBLEM_MAX_TEXT];
    for (int i = 0; i < 2; i++)
        problem_print(problems[i], &d->codes[i].bundle.problem);
    if (strcmp(problems[0], problems[1]) != 0)
        return err_set(ERR_INVALID, "job: anchor and bundle solve different problems");
    return open_device(w);
}

static int do_time(struct work *w)
{
    int64_t seed;
    struct timing t;
    const char *first = NULL;
    int status = want_int(&seed, w, "seed");
    if (status == 0)
        status = want(&first, w, "first");
    if (status == 0)
        status = want_int(&t.warmups, w, "warmups");
    if (status == 0)
        status = want_int(&t.repeats, w, "repeats");
    if (status == 0)
        status = want_int(&t.minimum_ns, w, "minimum_ns");
    if (status < 0)
        return status;
    w->stage = STAGE_LOAD;
    struct duel d = {0};
    status = read_both(&d, w);
    if (status < 0)
        return conclude_failure(w, status);
    fill_tensors(&d.device, &d.codes[0].bundle.problem, DATA_REAL, (uint64_t)seed, 0);
    w->stage = STAGE_TIME;
    status = upload(&d.device, w);
    for (int i = 0; i < 2 && status == 0; i++)
        status = load_kernels(&d.codes[i], w);
    if (status == 0)
        status = take_samples(w, &d, &t, strcmp(first, "bundle") == 0);
    if (status == 0)
        conclude(w, OUTCOME_OK, "");
    else
        status = conclude_failure(w, status);
    for (int i = 0; i < 2; i++) {
        if (unload_kernels(&d.codes[i], w) < 0)
            err_clear();
    }
    if (free_device(&d.device, w) < 0)
        err_clear();
    release_tensors(&d.device);
    return status;
}

static const char *const operand_keys[3] = {"input", "filter", "output"};

/* An operand from the file that the job names, else filled. */
static int take_operand(struct tensor *t, struct work *w, const struct problem *p,
                        enum operand which, enum data_kind kind, uint64_t seed, int bits)
{
    char path[4096];
    if (worker_value(path, sizeof path, w->job, operand_keys[which]))
        return dump_read(t, p, which, path);
    data_fill(t, p, which, kind, seed, bits);
    return 0;
}

/* What assay computes with, and the right answer, for other tools. */
static int write_all_tensors(struct work *w, struct tensor t[3], const struct problem *p,
                             const struct conv_answer *answer, const char *folder)
{
    enum operand result = problem_result(p);
    for (int64_t i = 0; i < answer->elements; i++)
        tensor_set(&t[result], i, answer->value[i]);
    for (int i = 0; i < 3; i++) {
        int status = dump_write(arena_printf(&w->arena, "%s/%s.npy", folder, operand_keys[i]),
                                &t[i], p, (enum operand)i);
        if (status < 0)
            return status;
    }
    return 0;
}

/* The file's tensor beside the answer. */
static int judge_file(struct work *w, struct tensor t[3], const struct problem *p,
                      const struct conv_answer *answer, enum accumulator accumulator,
                      const char *path)
{
    struct tensor *result = &t[problem_result(p)];
    int status = dump_read(result, p, problem_result(p), path);
    if (status < 0)
        return status;
    bool exact = verify_is_exact(p, t, answer, accumulator);
    enum data_kind kind = exact ? DATA_INTEGER : DATA_REAL;
    struct verify_stats s;
    struct verify_others others;
    char signature[256];
    verify_measure(&s, p, result, answer, kind, accumulator, 0);
    take_tolerances(&others, w);
    verify_as_others(&others, result, answer);
    w->stage = STAGE_VERIFY;
    if (s.mismatches > 0)
        conclude(w, OUTCOME_MISMATCH, describe_mismatch(w, &s, kind));
    else
        conclude(w, OUTCOME_OK, "");
    verify_signature(signature, sizeof signature, p, &s);
    if (*signature)
        say(w, "signature", "%s", signature);
    say(w, "exact", "%s", exact ? "yes" : "no");
    say_others(w, &others);
    say_stats(w, &s);
    return 0;
}

static int do_verify(struct work *w)
{
    const char *text = NULL, *word = NULL, *data = NULL;
    struct problem p;
    enum accumulator accumulator;
    int64_t seed = 0;
    int status = want(&text, w, "problem");
    if (status == 0)
        status = problem_parse(&p, text);
    if (status == 0)
        status = want(&word, w, "accumulator");
    if (status == 0 && !accumulator_parse(&accumulator, word))
        status = err_set(ERR_INVALID, "job: there is no accumulator `%s`", word);
    enum data_kind kind;
    if (status == 0)
        status = want(&data, w, "data");
    if (status == 0 && !data_kind_parse(&kind, data))
        status = err_set(ERR_INVALID, "job: there is no kind of data `%s`", data);
    if (status == 0)
        status = want_int(&seed, w, "seed");
    if (status < 0)
        return status;
    int bits = accumulator_bits(accumulator);
    if (!data_suits(&p, kind, bits))
        return err_set(ERR_INVALID, "%s data say nothing about this problem", data);
    enum operand result = problem_result(&p);
    struct tensor t[3] = {0};
    struct conv_answer answer = {0};
    char folder[4096], path[4096];
    for (int i = 0; i < 3; i++)
        tensor_init(&t[i], &p, (enum operand)i);
    for (enum operand o = OPERAND_INPUT; o <= OPERAND_OUTPUT && status == 0; o++) {
        if (o != result)
            status = take_operand(&t[o], w, &p, o, kind, (uint64_t)seed, bits);
    }
    if (status == 0)
        status = conv_reference(&answer, &p, t, NULL);
    if (status == 0 && worker_value(folder, sizeof folder, w->job, "write"))
        status = write_all_tensors(w, t, &p, &answer, folder);
    if (status == 0 && worker_value(path, sizeof path, w->job, "result"))
        status = judge_file(w, t, &p, &answer, accumulator, path);
    else if (status == 0)
        conclude(w, OUTCOME_OK, "");
    for (int i = 0; i < 3; i++)
        tensor_release(&t[i]);
    conv_answer_release(&answer);
    return status;
}

static int do_facts(struct work *w)
{
    const char *provider = NULL;
    int64_t device;
    struct gpu_facts facts;
    int status = want(&provider, w, "hip");
    if (status == 0)
        status = want_int(&device, w, "device");
    if (status == 0)
        status = gpu_open(&w->gpu, provider, (int)device);
    if (status == 0)
        status = gpu_facts(&facts, w->gpu);
    w->stage = STAGE_LOAD;
    if (status < 0)
        return conclude_failure(w, status);
    conclude(w, OUTCOME_OK, "");
    say(w, "arch", "%s", facts.arch);
    say(w, "name", "%s", facts.name);
    say(w, "runtime_version", "%d", facts.runtime_version);
    say(w, "driver_version", "%d", facts.driver_version);
    say(w, "memory_bytes", "%" PRId64, facts.memory_bytes);
    return 0;
}

static int dispatch(struct work *w)
{
    static const struct {
        const char *task;
        int (*run)(struct work *w);
    } tasks[] = {{"compile", do_compile},
                 {"execute", do_execute},
                 {"time", do_time},
                 {"verify", do_verify},
                 {"facts", do_facts}};
    const char *task = NULL;
    int status = want(&task, w, "task");
    if (status < 0)
        return status;
    for (size_t i = 0; i < COUNT_OF(tasks); i++) {
        if (strcmp(tasks[i].task, task) == 0)
            return tasks[i].run(w);
    }
    return err_set(ERR_INVALID, "job: there is no task `%s`", task);
}

int worker_job(struct buf *answer, const char *job, size_t length)
{
    struct work w = {.answer = answer, .stage = STAGE_CHECKOUT};
    w.job = arena_strndup(&w.arena, job, length);
    int status = dispatch(&w);
    gpu_close(w.gpu);
    arena_release(&w.arena);
    return status;
}

static int write_all(int descriptor, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(descriptor, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return err_set(ERR_IO, "answer channel:");
        bytes += written;
        length -= (size_t)written;
    }
    return 0;
}

/* Answer the job; our own trouble with it is an answer too (outcome infra), so that the parent
 * learns the reason. */
static int serve_one(int channel, const char *job, size_t length)
{
    struct buf answer;
    buf_init(&answer, BUF_MAX_FILE);
    if (worker_job(&answer, job, length) < 0)
        buf_printf(&answer, "stage load\noutcome infra\ndetail %s\n", err_message());
    err_clear();
    buf_add_text(&answer, "done\n");
    int status = write_all(channel, answer.data, answer.length);
    buf_release(&answer);
    return status;
}

int worker_serve(int input, int channel)
{
    FILE *lines = fdopen(dup(input), "r");
    if (!lines)
        return err_set(ERR_IO, "worker input:");
    struct buf job;
    buf_init(&job, BUF_MAX_LINE);
    char *line = NULL;
    size_t room = 0;
    int status = 0;
    while (status == 0 && getline(&line, &room, lines) >= 0) {
        if (strcmp(line, "end\n") != 0) {
            buf_add_text(&job, line);
            continue;
        }
        status = buf_check(&job, "a job");
        if (status == 0)
            status = serve_one(channel, job.data, job.length);
        buf_clear(&job);
    }
    if (status == 0 && job.length > 0)
        status = err_set(ERR_INVALID, "the worker's input ends inside a job: `end` is missing");
    free(line);
    fclose(lines);
    buf_release(&job);
    return status;
}
