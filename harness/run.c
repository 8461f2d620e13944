#include "harness/run.h"

#include "harness/progress.h"
#include "harness/stats.h"
#include "harness/worker.h"
#include "reference/conv.h"
#include "src/fs.h"
#include "src/proc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What a timing process does: enough launches for a median that one late interrupt does not move
 * (facts/bisection.md 4(b)2). */
enum { TIME_WARMUPS = 1, TIME_REPEATS = 5, TIME_MINIMUM_NS = 20000000 };

static const int64_t FACTS_LIMIT_NS = 60000000000;

static struct proc_spec worker_spec(struct runner *r, const char *job, int64_t wall_ns)
{
    const char **argv = ARENA_ARRAY(&r->arena, 3, const char *);
    argv[0] = r->self;
    argv[1] = "worker";
    return (struct proc_spec){.argv = argv,
                              .input = job,
                              .input_bytes = strlen(job),
                              .wall_limit_ns = wall_ns,
                              .memory_limit_bytes = r->candidate->limits.memory_bytes,
                              .output_limit_bytes = r->candidate->limits.output_bytes,
                              .channel = true,
                              .cpu = -1};
}

/* What a worker's end means when it did not answer. */
static enum outcome outcome_of_end(const struct proc_result *p)
{
    switch (p->end) {
    case PROC_SIGNALED:
        return OUTCOME_CRASH;
    case PROC_TIMED_OUT:
    case PROC_OVER_MEMORY:
    case PROC_OVER_OUTPUT:
        return OUTCOME_TIMEOUT;
    default:
        return OUTCOME_NO_VERDICT;
    }
}

/* A child that did not answer: which, and how it ended. The signature leaves out what is measured
 * anew each time, so that rows of one cause share it. */
static void read_end(struct result_row *row, struct arena *a, const struct proc_result *p,
                     const char *who)
{
    char how[256];
    proc_describe(how, sizeof how, p, who);
    row->outcome = outcome_of_end(p);
    row->detail = arena_printf(a, "%s: %s", who, how);
    if (p->end == PROC_TIMED_OUT)
        row->signature = arena_printf(a, "%s: timed out", who);
    else if (p->end == PROC_OVER_MEMORY)
        row->signature = arena_printf(a, "%s: killed at its memory limit", who);
    else
        row->signature = row->detail;
}

static bool answered(const struct proc_result *p)
{
    size_t length = p->channel.length;
    return length >= 5 && strcmp(p->channel.data + length - 5, "done\n") == 0;
}

/* Outcome, stage and detail of an answer; what is missing keeps its place. */
static void read_verdict(struct result_row *row, struct arena *a, const char *answer)
{
    char value[4096];
    if (!worker_value(value, sizeof value, answer, "outcome") ||
        !outcome_parse(&row->outcome, value))
        row->outcome = OUTCOME_NO_VERDICT;
    if (worker_value(value, sizeof value, answer, "stage"))
        stage_parse(&row->stage, value);
    if (worker_value(value, sizeof value, answer, "detail"))
        row->detail = arena_strdup(a, value);
    if (worker_value(value, sizeof value, answer, "signature"))
        row->signature = arena_strdup(a, value);
}

static int64_t read_int(const char *answer, const char *key)
{
    char value[64];
    return worker_value(value, sizeof value, answer, key) ? strtoll(value, NULL, 10) : 0;
}

static void read_compile(struct result_row *row, struct arena *a, const char *answer)
{
    char value[64];
    if (worker_value(value, sizeof value, answer, "code"))
        row->code = arena_strdup(a, value);
    row->kernels = read_int(answer, "kernels");
    row->workspace_bytes = read_int(answer, "workspace_bytes");
    row->code_bytes = read_int(answer, "code_bytes");
    row->compile_ns = read_int(answer, "compile_ns");
}

static void read_file_line(char *value, size_t size, const char *path, const char *key)
{
    value[0] = '\0';
    FILE *f = fopen(path, "re");
    char line[512];
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, key, strlen(key)) == 0 && colon) {
            snprintf(value, size, "%s", colon + 2);
            value[strcspn(value, "\n")] = '\0';
            break;
        }
    }
    if (f)
        fclose(f);
}

static int ask_facts(struct buf *facts, struct runner *r)
{
    const struct machine *m = r->machine;
    const char *job =
        arena_printf(&r->arena, "task facts\nhip %s\ndevice %" PRId64 "\nend\n", m->hip, m->device);
    struct proc_spec spec = worker_spec(r, job, FACTS_LIMIT_NS);
    struct proc_result p;
    int status = proc_run(&p, &spec);
    char value[1024], why[256];
    if (status == 0 && !answered(&p))
        status = err_set(ERR_NOTFOUND, "machine %s: the worker that asks %s: %s", m->name, m->hip,
                         proc_describe(why, sizeof why, &p, "assay worker"));
    if (status == 0 && (!worker_value(value, sizeof value, p.channel.data, "outcome") ||
                        strcmp(value, "ok") != 0)) {
        if (!worker_value(value, sizeof value, p.channel.data, "detail"))
            snprintf(value, sizeof value, "no reason given");
        status = err_set(ERR_NOTFOUND, "machine %s: %s", m->name, value);
    }
    if (status == 0)
        buf_add(facts, p.channel.data, p.channel.length);
    proc_result_release(&p);
    return status;
}

/* The circumstances that rows of this machine share; see store_epoch. */
static int make_epoch(struct runner *r, const char *facts)
{
    char arch[128], name[256], runtime[64], driver[64], cpu[256];
    if (!worker_value(arch, sizeof arch, facts, "arch") ||
        !worker_value(name, sizeof name, facts, "name"))
        return err_set(ERR_NOTFOUND, "machine %s: the device does not say what it is",
                       r->machine->name);
    if (!worker_value(runtime, sizeof runtime, facts, "runtime_version"))
        runtime[0] = '\0';
    if (!worker_value(driver, sizeof driver, facts, "driver_version"))
        driver[0] = '\0';
    read_file_line(cpu, sizeof cpu, "/proc/cpuinfo", "model name");
    bool automatic = !*r->machine->arch || strcmp(r->machine->arch, "auto") == 0;
    r->arch = automatic ? arena_strdup(&r->arena, arch) : r->machine->arch;
    r->epoch_text = arena_printf(
        &r->arena,
        "assay %s, reference %d\narch %s\ndevice %s (%s), runtime %s, driver %s\ncpu %s, %d usable",
        ASSAY_VERSION, CONV_VERSION, r->arch, name, r->machine->hip, runtime, driver, cpu,
        proc_cpu_count());
    return store_epoch(&r->epoch, r->workspace->store, r->epoch_text);
}

int runner_open(struct runner **out, struct workspace *w, const struct candidate *c,
                const struct machine *m, const struct gate *g)
{
    CLEANUP(runner_close_ptr) struct runner *r = xcalloc(1, sizeof *r);
    r->workspace = w;
    r->candidate = c;
    r->machine = m;
    r->gate = g;
    char *self;
    int status = fs_self(&self, &r->arena);
    if (status < 0)
        return status;
    r->self = self;
    struct buf facts;
    buf_init(&facts, BUF_MAX_LINE);
    status = ask_facts(&facts, r);
    if (status == 0)
        status = make_epoch(r, facts.data);
    buf_release(&facts);
    if (status < 0)
        return status;
    *out = TAKE(r);
    return 0;
}

void runner_close(struct runner *r)
{
    if (!r)
        return;
    arena_release(&r->arena);
    free(r);
}

void runner_close_ptr(struct runner **r)
{
    runner_close(*r);
}

int run_job_id(char out[REPO_SHA_SIZE], const struct runner *r, const struct job *j)
{
    struct buf text;
    buf_init(&text, BUF_MAX_LINE);
    buf_printf(&text,
               "assay-job 1\nartifact %s\nproblem %s\nvariant %s\ndata %s %" PRId64
               "\nround %" PRId64 "\nmachine %s\n%s\n",
               j->artifact->id, j->problem, j->variant, data_kind_name(j->data), j->seed, j->round,
               r->machine->name, r->epoch_text);
    int status = repo_blob_id(out, text.data, text.length);
    buf_release(&text);
    return status;
}

/* Where the bundle of (artifact, problem, variant, arch) lies; a round above the first has its own.
 */
static int bundle_path(char **out, const struct runner *r, const struct artifact *artifact,
                       const char *problem, const char *variant, int64_t round)
{
    char id[REPO_SHA_SIZE];
    struct buf text;
    buf_init(&text, BUF_MAX_LINE);
    buf_printf(&text,
               "assay-bundle-of 1\nartifact %s\nproblem %s\nvariant %s\narch %s\nround %" PRId64
               "\n",
               artifact->id, problem, variant, r->arch, round);
    int status = repo_blob_id(id, text.data, text.length);
    buf_release(&text);
    return status < 0 ? status : workspace_path(out, r->workspace, "bundles/%.2s/%s", id, id + 2);
}

static const char *compile_text(struct arena *a, const struct runner *r,
                                const struct artifact *artifact, const char *problem,
                                const char *variant, const char *bundle)
{
    const struct candidate *c = r->candidate;
    const char *variant_line = *variant ? arena_printf(a, "variant %s\n", variant) : "";
    return arena_printf(a,
                        "task compile\ndriver %s\nlibrary %s/%s\nproblem %s\narch "
                        "%s\n%sasymmetric_pads %s\nbundle %s\nend\n",
                        c->driver, artifact->folder, c->library, problem, r->arch, variant_line,
                        c->asymmetric_pads ? "yes" : "no", bundle);
}

static const char *execute_text(struct arena *a, const struct runner *r, const struct job *j,
                                const char *bundle)
{
    struct problem p;
    if (problem_parse(&p, j->problem) < 0)
        bug("job with a malformed problem: %s", err_message());
    return arena_printf(
        a,
        "task execute\nbundle %s\nhip %s\ndevice %" PRId64 "\ndata %s\nseed %" PRId64
        "\naccumulator %s\nend\n",
        bundle, r->machine->hip, r->machine->device, data_kind_name(j->data), j->seed,
        accumulator_name(candidate_accumulator(r->candidate, p.dtype[OPERAND_INPUT])));
}

/* One job in the air: compiled by one child, executed by the next. */
struct flight {
    const struct job *job;
    size_t index;
    struct proc *child;
    bool executing;
    char *bundle;
    char id[REPO_SHA_SIZE];
    struct result_row row;
    struct buf log;
};

/* Remember what a compilation said beside its bundle, so that both are found together. Crashes and
 * time-outs are tried again next time. */
static int keep_compile_answer(const struct flight *f, struct arena *a, const char *answer)
{
    return fs_write_text(arena_printf(a, "%s.answer", f->bundle), answer);
}

/* The remembered answer of an earlier compilation, or false. */
static bool find_compile_answer(struct flight *f, struct arena *a)
{
    struct buf answer;
    buf_init(&answer, BUF_MAX_LINE);
    bool found = fs_read(&answer, arena_printf(a, "%s.answer", f->bundle)) == 0;
    err_clear();
    if (found) {
        read_verdict(&f->row, a, answer.data);
        read_compile(&f->row, a, answer.data);
        found = f->row.outcome != OUTCOME_OK || fs_exists(f->bundle);
    }
    buf_release(&answer);
    return found;
}

static int start_compile(struct flight *f, struct arena *a, struct runner *r)
{
    const struct job *j = f->job;
    f->executing = false;
    f->row.stage = STAGE_COMPILE;
    struct proc_spec spec =
        worker_spec(r, compile_text(a, r, j->artifact, j->problem, j->variant, f->bundle),
                    r->candidate->limits.compile_ns);
    return proc_start(&f->child, &spec);
}

static int start_execute(struct flight *f, struct arena *a, struct runner *r)
{
    f->executing = true;
    f->row.stage = STAGE_EXECUTE;
    struct proc_spec spec =
        worker_spec(r, execute_text(a, r, f->job, f->bundle), r->candidate->limits.execute_ns);
    return proc_start(&f->child, &spec);
}

static void begin_row(struct flight *f, const struct runner *r)
{
    const struct job *j = f->job;
    f->row = (struct result_row){.job = f->id,
                                 .artifact = j->artifact->id,
                                 .candidate = r->candidate->name,
                                 .commit = j->artifact->commit,
                                 .problem = j->problem,
                                 .variant = j->variant,
                                 .machine = r->machine->name,
                                 .data = data_kind_name(j->data),
                                 .seed = j->seed,
                                 .round = j->round,
                                 .purpose = PURPOSE_CORRECTNESS,
                                 .stage = STAGE_COMPILE,
                                 .outcome = OUTCOME_MISSING,
                                 .detail = "",
                                 .signature = "",
                                 .code = "",
                                 .stats = "",
                                 .log = "",
                                 .epoch = r->epoch};
}

/* The first child of a job, or none when an earlier compilation already ended it. */
static int launch(struct flight *f, struct arena *a, struct runner *r)
{
    const struct job *j = f->job;
    begin_row(f, r);
    buf_init(&f->log, BUF_MAX_FILE);
    int status = bundle_path(&f->bundle, r, j->artifact, j->problem, j->variant, j->round);
    if (status < 0)
        return status;
    if (j->round > 0 || !find_compile_answer(f, a))
        return start_compile(f, a, r);
    return f->row.outcome == OUTCOME_OK ? start_execute(f, a, r) : 0;
}

/* Everything that the children printed, kept when it matters. */
static int keep_log(struct flight *f, struct arena *a, struct runner *r)
{
    if (f->log.length == 0)
        return 0;
    char *path;
    int status = workspace_path(&path, r->workspace, "logs/job-%.12s.log", f->id);
    if (status == 0)
        status = fs_write(path, f->log.data, f->log.length);
    if (status == 0)
        f->row.log = arena_strdup(a, path);
    return status;
}

static int finish(struct flight *f, struct result_row *rows, struct arena *a, struct runner *r)
{
    int status = keep_log(f, a, r);
    if (status == 0)
        status = store_add_result(r->workspace->store, &f->row);
    f->row.job = arena_strdup(a, f->id);
    rows[f->index] = f->row;
    buf_release(&f->log);
    f->job = NULL;
    r->jobs_run++;
    progress_done();
    return status;
}

/* A child of the flight has ended: read what it said, and go on to execution or to the row. */
static int advance(struct flight *f, const struct proc_result *p, struct arena *a, struct runner *r)
{
    f->child = NULL;
    buf_add(&f->log, p->out.data, p->out.length);
    buf_add(&f->log, p->err.data, p->err.length);
    if (p->end == PROC_NOT_STARTED)
        return err_set(ERR_IO, "cannot start a worker: %s", p->failed_call);
    if (!answered(p)) {
        read_end(&f->row, a, p, f->executing ? "the kernel's process" : "the compiler");
        return 0;
    }
    read_verdict(&f->row, a, p->channel.data);
    if (f->executing) {
        f->row.execute_ns = read_int(p->channel.data, "execute_ns");
        f->row.stats = arena_strdup(a, p->channel.data);
        return 0;
    }
    read_compile(&f->row, a, p->channel.data);
    int status = f->row.outcome == OUTCOME_INFRA ? 0 : keep_compile_answer(f, a, p->channel.data);
    if (status == 0 && f->row.outcome == OUTCOME_OK)
        status = start_execute(f, a, r);
    return status;
}

/* Jobs that the store does not hold, as many flights as there are CPUs. */
struct fleet {
    struct flight *flights;
    size_t room, flying;
    const struct job *jobs;
    const size_t *todo; /* indices into jobs */
    size_t todo_count, next;
};

static int fill_fleet(struct fleet *fleet, struct result_row *rows, struct arena *a,
                      struct runner *r)
{
    while (fleet->flying < fleet->room && fleet->next < fleet->todo_count) {
        struct flight *f = fleet->flights;
        while (f->job)
            f++;
        size_t index = fleet->todo[fleet->next++];
        *f = (struct flight){.job = &fleet->jobs[index], .index = index};
        progress_step("%.10s %s, %s", f->job->artifact->commit, data_kind_name(f->job->data),
                      f->job->problem);
        int status = run_job_id(f->id, r, f->job);
        if (status == 0)
            status = launch(f, a, r);
        if (status == 0 && !f->child) {
            status = finish(f, rows, a, r);
            continue;
        }
        if (status < 0)
            return status;
        fleet->flying++;
    }
    return 0;
}

static int land_one(struct fleet *fleet, struct result_row *rows, struct arena *a, struct runner *r)
{
    struct proc *ended;
    struct proc_result p;
    int status = proc_wait_any(&ended, &p, -1);
    if (status < 0)
        return status;
    struct flight *f = fleet->flights;
    while (f < fleet->flights + fleet->room && !(f->job && f->child == ended))
        f++;
    if (f == fleet->flights + fleet->room)
        bug("a child ended that no job waits for");
    status = advance(f, &p, a, r);
    proc_result_release(&p);
    if (status == 0 && !f->child) {
        fleet->flying--;
        status = finish(f, rows, a, r);
    }
    return status;
}

/* After an error: no child of ours outlives it. */
static void ground(struct fleet *fleet)
{
    for (size_t i = 0; i < fleet->room; i++) {
        struct flight *f = &fleet->flights[i];
        if (!f->job)
            continue;
        if (f->child)
            proc_cancel(f->child);
        buf_release(&f->log);
    }
}

static int fly(struct fleet *fleet, struct result_row *rows, struct arena *a, struct runner *r)
{
    int status = 0;
    while (status == 0) {
        status = fill_fleet(fleet, rows, a, r);
        if (status < 0 || fleet->flying == 0)
            break;
        status = land_one(fleet, rows, a, r);
    }
    if (status < 0)
        ground(fleet);
    return status;
}

int run_jobs(struct result_row *rows, struct arena *a, struct runner *r, const struct job *jobs,
             size_t count)
{
    size_t *todo = ARENA_ARRAY(a, count, size_t);
    struct fleet fleet = {.room = (size_t)proc_cpu_count(), .jobs = jobs, .todo = todo};
    for (size_t i = 0; i < count; i++) {
        char id[REPO_SHA_SIZE];
        bool found;
        int status = run_job_id(id, r, &jobs[i]);
        if (status == 0)
            status = store_find_result(&rows[i], &found, a, r->workspace->store, id);
        if (status < 0)
            return status;
        if (!found)
            todo[fleet.todo_count++] = i;
    }
    r->jobs_found += (int64_t)(count - fleet.todo_count);
    if (fleet.todo_count == 0)
        return 0;
    fleet.flights = ARENA_ARRAY(a, fleet.room, struct flight);
    progress_begin("checking", (int64_t)fleet.todo_count);
    int status = fly(&fleet, rows, a, r);
    progress_end();
    return status;
}

/* The bundle of one build for timing: found, or compiled now. */
static int ready_bundle(char **out, enum outcome *outcome, const char **detail, struct arena *a,
                        struct runner *r, const struct artifact *artifact,
                        const struct timing_request *q)
{
    struct job job = {.artifact = artifact, .problem = q->problem, .variant = q->variant};
    struct flight f = {.job = &job};
    begin_row(&f, r);
    int status = bundle_path(&f.bundle, r, artifact, q->problem, q->variant, 0);
    if (status == 0 && !find_compile_answer(&f, a)) {
        struct proc_spec spec =
            worker_spec(r, compile_text(a, r, artifact, q->problem, q->variant, f.bundle),
                        r->candidate->limits.compile_ns);
        struct proc_result p;
        status = proc_run(&p, &spec);
        if (status == 0 && answered(&p)) {
            read_verdict(&f.row, a, p.channel.data);
            if (f.row.outcome != OUTCOME_INFRA)
                status = keep_compile_answer(&f, a, p.channel.data);
        } else if (status == 0) {
            read_end(&f.row, a, &p, "the compiler");
        }
        proc_result_release(&p);
    }
    *out = f.bundle;
    *outcome = f.row.outcome;
    *detail = f.row.detail;
    return status;
}

/* The samples of one timing process, and their median. */
struct timed {
    enum outcome outcome;
    const char *detail;
    const char *samples;
    int64_t median_ns;
};

static void read_samples(struct timed *t, struct arena *a, const char *answer)
{
    struct buf text;
    buf_init(&text, BUF_MAX_LINE);
    int64_t values[20 * TIME_REPEATS];
    size_t count = 0;
    for (const char *line = answer; line && count < COUNT_OF(values); line = strchr(line, '\n')) {
        line += *line == '\n';
        if (sscanf(line, "sample %" SCNd64, &values[count]) == 1)
            buf_printf(&text, "%s%" PRId64, count ? " " : "", values[count]), count++;
    }
    t->samples = arena_strdup(a, text.data);
    buf_release(&text);
    if (count > 0)
        t->median_ns = stats_median_ns(values, count);
}

static int time_once(struct timed *out, struct arena *a, struct runner *r, const char *bundle)
{
    const char *job =
        arena_printf(a,
                     "task time\nbundle %s\nhip %s\ndevice %" PRId64 "\nseed %" PRId64
                     "\nwarmups %d\nrepeats %d\nminimum_ns %d\nend\n",
                     bundle, r->machine->hip, r->machine->device, r->gate->correctness.seed,
                     TIME_WARMUPS, TIME_REPEATS, TIME_MINIMUM_NS);
    struct proc_spec spec = worker_spec(r, job, r->candidate->limits.execute_ns);
    spec.cpu = (int)r->machine->cpu;
    struct proc_result p;
    *out = (struct timed){.detail = "", .samples = ""};
    int status = proc_run(&p, &spec);
    if (status < 0)
        return status;
    struct result_row row = {.detail = ""};
    if (answered(&p)) {
        read_verdict(&row, a, p.channel.data);
        read_samples(out, a, p.channel.data);
    } else {
        read_end(&row, a, &p, "the timing process");
    }
    out->outcome =
        row.outcome == OUTCOME_OK && out->median_ns <= 0 ? OUTCOME_NO_VERDICT : row.outcome;
    out->detail = row.detail;
    proc_result_release(&p);
    return 0;
}

static void tell_timing_wait(int holder_pid, void *unused)
{
    (void)unused;
    progress_note("waiting for process %d, which times on this machine", holder_pid);
}

/* What a reader of a strange time would ask first. */
static const char *describe_machine(struct arena *a)
{
    struct buf load;
    buf_init(&load, BUF_MAX_LINE);
    if (fs_read(&load, "/proc/loadavg") < 0)
        err_clear();
    char mhz[64];
    read_file_line(mhz, sizeof mhz, "/proc/cpuinfo", "cpu MHz");
    const char *note =
        arena_printf(a, "load %.*s, %s MHz", (int)strcspn(load.data, " "), load.data, mhz);
    buf_release(&load);
    return note;
}

/* One pair: two fresh processes, in the order that its position in ABBA has. */
static int run_pair(struct pair_row *out, enum outcome *outcome, const char **detail,
                    struct arena *a, struct runner *r, const struct timing_request *q,
                    char *const bundles[2], int64_t position)
{
    bool anchor_first = position % 2 == 0;
    const char *note = describe_machine(a);
    struct timed times[2];
    for (int i = 0; i < 2; i++) {
        int which = anchor_first ? i : 1 - i;
        int status = time_once(&times[which], a, r, bundles[which]);
        if (status < 0)
            return status;
        *outcome = times[which].outcome;
        *detail = times[which].detail;
        if (*outcome != OUTCOME_OK)
            return 0;
    }
    *out = (struct pair_row){.session = q->session,
                             .problem = q->problem,
                             .variant = q->variant,
                             .anchor = q->anchor->id,
                             .artifact = q->artifact->id,
                             .position = position,
                             .anchor_first = anchor_first,
                             .anchor_ns = times[0].median_ns,
                             .candidate_ns = times[1].median_ns,
                             .anchor_samples = times[0].samples,
                             .candidate_samples = times[1].samples,
                             .note = note,
                             .epoch = r->epoch};
    return store_add_pair(r->workspace->store, out);
}

static int add_pairs(struct pair_row *pairs, size_t *count, enum outcome *outcome,
                     const char **detail, struct arena *a, struct runner *r,
                     const struct timing_request *q)
{
    char *bundles[2];
    int status = ready_bundle(&bundles[0], outcome, detail, a, r, q->anchor, q);
    if (status == 0 && *outcome == OUTCOME_OK)
        status = ready_bundle(&bundles[1], outcome, detail, a, r, q->artifact, q);
    int lock = -1;
    if (status == 0 && *outcome == OUTCOME_OK)
        status = fs_lock(&lock, P_tmpdir "/assay-timing.lock", true, tell_timing_wait, NULL);
    while (status == 0 && *outcome == OUTCOME_OK && *count < (size_t)q->pairs) {
        status = run_pair(&pairs[*count], outcome, detail, a, r, q, bundles, (int64_t)*count);
        if (status == 0 && *outcome == OUTCOME_OK) {
            (*count)++;
            r->pairs_run++;
        }
    }
    if (lock >= 0)
        fs_unlock(lock);
    return status;
}

int run_pairs(struct pair_row **out, size_t *count, enum outcome *outcome, const char **detail,
              struct arena *a, struct runner *r, const struct timing_request *q)
{
    struct pair_row *stored;
    int status = store_list_pairs(&stored, count, a, r->workspace->store, q->session, q->problem,
                                  q->artifact->id);
    if (status < 0)
        return status;
    *outcome = OUTCOME_OK;
    *detail = "";
    r->pairs_found += (int64_t)*count;
    *out = stored;
    if (*count >= (size_t)q->pairs)
        return 0;
    struct pair_row *pairs = ARENA_ARRAY(a, (size_t)q->pairs, struct pair_row);
    if (*count > 0)
        memcpy(pairs, stored, *count * sizeof *pairs);
    *out = pairs;
    return add_pairs(pairs, count, outcome, detail, a, r, q);
}
