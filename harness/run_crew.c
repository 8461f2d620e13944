#include "harness/run_internal.h"

#include "harness/progress.h"
#include "src/fs.h"

#include <stdio.h>
#include <string.h>

/* Problems that one warm worker serves at most: enough that its start does not count, few enough
 * that a death costs little. */
enum { WARM_PROBLEMS = 16 };

/* One problem at one build and round: compiled once, executed for each kind of data, or for none.
 */
struct errand {
    struct errand *next; /* in the queue */
    const struct job *what;
    const struct job **jobs;
    size_t *indices; /* of their rows */
    size_t count;
    size_t settled; /* jobs from the first on that have their row */
    char *bundle;
    bool compile;               /* no earlier compilation is known */
    bool alone;                 /* not with others in one worker */
    struct result_row compiled; /* what its jobs' rows share */
};

/* One worker with the errands that it was given. */
struct flight {
    struct crew *crew;
    struct proc *child; /* NULL: free */
    struct errand **errands;
    size_t count, at; /* at: the one being served */
    bool compiling;   /* its compilation is awaited, else its executions */
    bool spoiled;     /* it failed among others: its further answers do not count */
    size_t part;      /* the job being executed */
    struct buf answer;
    struct result_row
        *held; /* rows of an errand alone, until its worker has ended: they want its log */
    size_t held_count;
    int status; /* our own trouble while it answered */
};

struct crew {
    struct runner *runner;
    struct arena *arena;
    struct result_row *rows;
    struct errand *first, *last; /* waiting */
    size_t waiting, room, flying;
    struct flight *flights;
};

static void queue_last(struct crew *c, struct errand *e)
{
    e->next = NULL;
    if (c->last)
        c->last->next = e;
    else
        c->first = e;
    c->last = e;
    c->waiting++;
}

static struct errand *take_first(struct crew *c)
{
    struct errand *e = c->first;
    c->first = e->next;
    if (!c->first)
        c->last = NULL;
    c->waiting--;
    return e;
}

static int store_row(struct crew *c, const struct job *job, size_t index, struct result_row row)
{
    char id[REPO_SHA_SIZE];
    int status = run_job_id(id, c->runner, job);
    row.job = arena_strdup(c->arena, id);
    row.data = data_kind_name(job->data);
    row.seed = job->seed;
    if (status == 0)
        status = store_add_result(c->runner->workspace->store, &row);
    c->rows[index] = row;
    c->runner->jobs_run++;
    progress_done();
    return status;
}

/* The next job of the errand has this row. */
static int settle(struct crew *c, struct errand *e, const struct result_row *row)
{
    size_t i = e->settled++;
    return store_row(c, e->jobs[i], e->indices[i], *row);
}

static bool is_warm(const struct flight *f)
{
    return f->count > 1;
}

/* What comes of the job being served: stored at once among others; alone it waits for the worker's
 * log. */
static int take_row(struct flight *f, struct errand *e, const struct result_row *row)
{
    if (is_warm(f))
        return settle(f->crew, e, row);
    f->held[f->held_count++] = *row;
    return 0;
}

static int64_t limit_of(const struct flight *f)
{
    const struct candidate_limits *limits = &f->crew->runner->candidate->limits;
    return f->compiling ? limits->compile_ns : limits->execute_ns;
}

/* The compilation's answer. What a candidate does not do is believed of a warm worker too: its
 * canary was asked. */
static int take_compilation(struct flight *f, struct errand *e)
{
    struct crew *c = f->crew;
    run_begin_row(&e->compiled, c->runner, e->what);
    run_read_verdict(&e->compiled, c->arena, f->answer.data);
    run_read_compile(&e->compiled, c->arena, f->answer.data);
    enum outcome outcome = e->compiled.outcome;
    f->spoiled = is_warm(f) && outcome != OUTCOME_OK && outcome != OUTCOME_NOT_APPLICABLE;
    if (f->spoiled || outcome == OUTCOME_INFRA)
        return 0;
    e->compile = false;
    return run_keep_compile(c->arena, e->bundle, f->answer.data);
}

static int take_execution(struct flight *f, struct errand *e)
{
    struct result_row row = e->compiled;
    if (row.outcome == OUTCOME_OK && !f->spoiled) {
        run_read_verdict(&row, f->crew->arena, f->answer.data);
        row.execute_ns = run_read_int(f->answer.data, "execute_ns");
        row.stats = arena_strdup(f->crew->arena, f->answer.data);
        f->spoiled = is_warm(f) && row.outcome != OUTCOME_OK;
    }
    return f->spoiled ? 0 : take_row(f, e, &row);
}

/* All of the errand was answered: the next one's turn. */
static void turn_to_next(struct flight *f)
{
    struct errand *e = f->errands[f->at];
    if (f->spoiled) {
        e->alone = true;
        queue_last(f->crew, e);
    }
    if (e->count == 0)
        progress_done();
    f->at++;
    f->spoiled = false;
    if (f->at < f->count) {
        f->part = f->errands[f->at]->settled;
        f->compiling = f->errands[f->at]->compile;
    }
}

static void take_line(const char *line, void *payload)
{
    struct flight *f = payload;
    if (strcmp(line, "done") != 0) {
        buf_printf(&f->answer, "%s\n", line);
        return;
    }
    if (f->at >= f->count || f->status < 0)
        return;
    struct errand *e = f->errands[f->at];
    if (f->compiling) {
        f->status = take_compilation(f, e);
        f->compiling = false;
    } else {
        f->status = take_execution(f, e);
        f->part++;
    }
    buf_clear(&f->answer);
    if (f->part >= e->count)
        turn_to_next(f);
    if (f->status < 0)
        proc_cancel(f->child);
    else
        proc_extend(f->child, limit_of(f));
}

static const char *errand_text(struct crew *c, const struct errand *e)
{
    const struct job *j = e->what;
    const char *text = e->compile ? run_compile_text(c->arena, c->runner, j->artifact, j->problem,
                                                     j->variant, e->bundle)
                                  : "";
    for (size_t i = e->settled; i < e->count; i++)
        text = arena_printf(c->arena, "%s%s", text,
                            run_execute_text(c->arena, c->runner, e->jobs[i], e->bundle));
    return text;
}

static int start(struct flight *f)
{
    struct crew *c = f->crew;
    struct buf text;
    buf_init(&text, BUF_MAX_FILE);
    for (size_t i = 0; i < f->count; i++)
        buf_add_text(&text, errand_text(c, f->errands[i]));
    f->compiling = f->errands[0]->compile;
    f->part = f->errands[0]->settled;
    f->held = ARENA_ARRAY(c->arena, f->errands[0]->count, struct result_row);
    buf_init(&f->answer, BUF_MAX_FILE);
    struct proc_spec spec = run_worker_spec(c->runner, text.data, limit_of(f));
    spec.on_channel_line = take_line;
    spec.payload = f;
    int status = proc_start(&f->child, &spec);
    buf_release(&text);
    if (status < 0)
        buf_release(&f->answer);
    return status;
}

/* How many of those that wait share the next worker: so many that every CPU has some. */
static size_t batch_size(const struct crew *c)
{
    size_t share = c->waiting / (2 * c->room);
    size_t most = share < 1 ? 1 : share > WARM_PROBLEMS ? WARM_PROBLEMS : share;
    size_t count = 0;
    for (const struct errand *e = c->first; e && !e->alone && count < most; e = e->next)
        count++;
    return count < 1 ? 1 : count;
}

static int launch(struct crew *c)
{
    struct flight *f = c->flights;
    while (f->child)
        f++;
    size_t count = batch_size(c);
    *f = (struct flight){
        .crew = c, .count = count, .errands = ARENA_ARRAY(c->arena, count, struct errand *)};
    for (size_t i = 0; i < count; i++)
        f->errands[i] = take_first(c);
    const struct job *j = f->errands[0]->what;
    progress_step("%.10s %s", j->artifact->commit, j->problem);
    int status = start(f);
    c->flying += status == 0;
    return status;
}

/* Everything that the children printed, kept when there is something. */
static int keep_log(const char **out, struct crew *c, const struct job *j,
                    const struct proc_result *p)
{
    *out = "";
    if (p->out.length + p->err.length == 0)
        return 0;
    char id[REPO_SHA_SIZE], *path;
    struct buf log;
    buf_init(&log, BUF_MAX_FILE);
    buf_add(&log, p->out.data, p->out.length);
    buf_add(&log, p->err.data, p->err.length);
    int status = run_job_id(id, c->runner, j);
    if (status == 0)
        status = workspace_path(&path, c->runner->workspace, "logs/job-%.12s.log", id);
    if (status == 0)
        status = fs_write(path, log.data, log.length);
    buf_release(&log);
    *out = status == 0 ? path : "";
    return status;
}

/* An errand alone whose worker has ended: how it ended is the answer of the job that it was at, and
 * of all jobs when it was still compiling. */
static int land_alone(struct flight *f, const struct proc_result *p)
{
    struct crew *c = f->crew;
    struct errand *e = f->errands[0];
    bool died = f->at < f->count;
    const char *log = "";
    int status = e->count > 0 ? keep_log(&log, c, e->jobs[e->settled], p) : 0;
    for (size_t i = 0; i < f->held_count && status == 0; i++) {
        f->held[i].log = log;
        status = settle(c, e, &f->held[i]);
    }
    if (!died || status < 0)
        return status;
    if (e->count == 0)
        progress_done();
    struct result_row row = e->compiled;
    row.log = log;
    row.stage = f->compiling ? STAGE_COMPILE : STAGE_EXECUTE;
    run_read_end(&row, c->arena, p, f->compiling ? "the compiler" : "the kernel's process");
    size_t answered = f->compiling ? e->count : e->settled + 1;
    while (e->settled < answered && status == 0)
        status = settle(c, e, &row);
    if (status == 0 && e->settled < e->count)
        queue_last(c, e);
    return status;
}

/* Of a worker with several errands that died, the one that it was at is repeated alone, and those
 * that it had not come to wait again. */
static void requeue(struct flight *f)
{
    if (f->at >= f->count)
        return;
    f->errands[f->at]->alone = true;
    for (size_t i = f->at; i < f->count; i++)
        queue_last(f->crew, f->errands[i]);
}

static int land(struct crew *c)
{
    struct proc *ended;
    struct proc_result p;
    int status = proc_wait_any(&ended, &p, -1);
    if (status < 0)
        return status;
    struct flight *f = c->flights;
    while (f < c->flights + c->room && f->child != ended)
        f++;
    if (f == c->flights + c->room)
        bug("a child ended that no job waits for");
    f->child = NULL;
    c->flying--;
    status = f->status;
    if (status == 0 && p.end == PROC_NOT_STARTED)
        status = err_set(ERR_IO, "cannot start a worker: %s", p.failed_call);
    if (status == 0 && is_warm(f))
        requeue(f);
    else if (status == 0)
        status = land_alone(f, &p);
    buf_release(&f->answer);
    proc_result_release(&p);
    return status;
}

/* After an error: no child of ours outlives it. */
static void ground(struct crew *c)
{
    for (struct flight *f = c->flights; f < c->flights + c->room; f++) {
        if (!f->child)
            continue;
        proc_cancel(f->child);
        buf_release(&f->answer);
    }
}

/* Jobs of one build, problem, variant and round compare equal. */
static int compare_errands(const struct job *l, const struct job *r)
{
    int order = strcmp(l->artifact->id, r->artifact->id);
    if (order == 0)
        order = strcmp(l->problem, r->problem);
    if (order == 0)
        order = strcmp(l->variant, r->variant);
    return order ? order : (l->round > r->round) - (l->round < r->round);
}

struct sorted {
    const struct job *job;
    size_t index;
};

static int by_errand(const void *left, const void *right)
{
    const struct sorted *l = left, *r = right;
    int order = compare_errands(l->job, r->job);
    return order ? order : (l->index > r->index) - (l->index < r->index);
}

static int by_first_index(const void *left, const void *right)
{
    const struct errand *l = left, *r = right;
    return (l->indices[0] > r->indices[0]) - (l->indices[0] < r->indices[0]);
}

/* An errand waits for a worker, unless an earlier compilation says all: its jobs then have their
 * rows. */
static int prepare(struct crew *c, struct errand *e)
{
    const struct job *j = e->what;
    run_begin_row(&e->compiled, c->runner, j);
    int status =
        run_bundle_path(&e->bundle, c->runner, j->artifact, j->problem, j->variant, j->round);
    if (status < 0)
        return status;
    e->alone = j->round > 0;
    e->compile = !run_find_compile(&e->compiled, c->arena, e->bundle);
    if (e->compile || (e->compiled.outcome == OUTCOME_OK && e->count > 0)) {
        queue_last(c, e);
        return 0;
    }
    if (e->count == 0)
        progress_done();
    while (e->settled < e->count && status == 0)
        status = settle(c, e, &e->compiled);
    return status;
}

/* Jobs of one problem, build and round become one errand, in the order of their first jobs. */
static struct errand *gather(size_t *errand_count, struct arena *a, const struct job *jobs,
                             const size_t *todo, size_t count)
{
    struct sorted *sorted = ARENA_ARRAY(a, count, struct sorted);
    struct errand *errands = ARENA_ARRAY(a, count, struct errand);
    *errand_count = 0;
    for (size_t i = 0; i < count; i++)
        sorted[i] = (struct sorted){.job = &jobs[todo[i]], .index = todo[i]};
    qsort(sorted, count, sizeof *sorted, by_errand);
    for (size_t i = 0; i < count;) {
        size_t end = i + 1;
        while (end < count && compare_errands(sorted[i].job, sorted[end].job) == 0)
            end++;
        struct errand *e = &errands[(*errand_count)++];
        e->what = sorted[i].job;
        e->jobs = ARENA_ARRAY(a, end - i, const struct job *);
        e->indices = ARENA_ARRAY(a, end - i, size_t);
        for (; i < end; i++) {
            e->jobs[e->count] = sorted[i].job;
            e->indices[e->count++] = sorted[i].index;
        }
    }
    qsort(errands, *errand_count, sizeof *errands, by_first_index);
    return errands;
}

static int work_off(struct crew *c, struct errand *errands, size_t count)
{
    int status = 0;
    c->room = (size_t)proc_cpu_count();
    c->flights = ARENA_ARRAY(c->arena, c->room, struct flight);
    for (size_t i = 0; i < count && status == 0; i++)
        status = prepare(c, &errands[i]);
    while (status == 0 && (c->waiting > 0 || c->flying > 0)) {
        if (c->waiting > 0 && c->flying < c->room)
            status = launch(c);
        else
            status = land(c);
    }
    if (status < 0)
        ground(c);
    return status;
}

int run_crew(struct result_row *rows, struct arena *a, struct runner *r, const struct job *jobs,
             const size_t *todo, size_t count)
{
    struct crew c = {.runner = r, .arena = a, .rows = rows};
    size_t errand_count;
    struct errand *errands = gather(&errand_count, a, jobs, todo, count);
    return work_off(&c, errands, errand_count);
}

int run_codes(const char **codes, struct arena *a, struct runner *r, const struct job *jobs,
              size_t count)
{
    struct crew c = {.runner = r, .arena = a};
    size_t *all = ARENA_ARRAY(a, count, size_t), errand_count;
    for (size_t i = 0; i < count; i++)
        all[i] = i;
    struct errand *errands = gather(&errand_count, a, jobs, all, count);
    size_t *wanted = ARENA_ARRAY(a, errand_count, size_t);
    for (size_t i = 0; i < errand_count; i++) {
        wanted[i] = errands[i].count;
        errands[i].count = 0; /* compiled, not executed */
    }
    progress_begin("compiling again", (int64_t)errand_count);
    int status = work_off(&c, errands, errand_count);
    progress_end();
    for (size_t i = 0; i < errand_count; i++) {
        for (size_t k = 0; k < wanted[i]; k++)
            codes[errands[i].indices[k]] = errands[i].compiled.code;
    }
    return status;
}
