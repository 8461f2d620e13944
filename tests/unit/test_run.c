/* run, plan, compare and hunt together on a candidate that the tests build. The program is its own
 * worker, as assay is. */
#include "test.h"

#include "harness/compare.h"
#include "harness/hunt.h"
#include "harness/plan.h"
#include "harness/progress.h"
#include "harness/worker.h"
#include "toy.h"

#include <unistd.h>

struct campaign {
    struct folder *folder;
    struct arena *arena;
    struct workspace *workspace;
    struct candidate candidate;
    struct machine machine;
    struct gate gate;
    struct builder *builder;
    struct runner *runner;
    const char *log; /* a line each time that the toy lowers a kernel */
};

static int setup(void **state)
{
    struct folder *f;
    if (folder_setup((void **)&f) != 0 || workspace_init(f->path) < 0)
        return -1;
    struct campaign *c = ARENA_NEW(&f->arena, struct campaign);
    c->folder = f;
    c->arena = &f->arena;
    c->log = fs_join(&f->arena, f->path, "toy.log");
    setenv("TOY_LOG", c->log, 1);
    *state = c;
    if (config_machine(&c->machine, c->arena, NULL) < 0 ||
        config_gate(&c->gate, c->arena, NULL) < 0)
        return -1;
    c->gate.bisect.confirm_runs = 2;
    return workspace_open(&c->workspace, f->path, true);
}

static int teardown(void **state)
{
    struct campaign *c = *state;
    void *folder = c->folder;
    runner_close(c->runner);
    builder_close(c->builder);
    workspace_close(c->workspace);
    unsetenv("TOY_LOG");
    return folder_teardown(&folder);
}

static void open_campaign(struct campaign *c, const char *yaml)
{
    assert_ok(
        config_candidate(&c->candidate, c->arena, folder_file(c->folder, "candidate.yaml", yaml)));
    assert_ok(builder_open(&c->builder, c->workspace, &c->candidate, true));
    assert_ok(runner_open(&c->runner, c->workspace, &c->candidate, &c->machine, &c->gate));
}

/* The toy with one right kernel and several others, which a variant names. */
static const char PREBUILT[] =
    "candidate: toy\n"
    "build:\n"
    "  steps: [[make]]\n"
    "  artifacts: [libtoy.so, kernel.so, off.so, wild.so, spin.so, text.so]\n"
    "limits: {compile: 60s, execute: 60s}\n"
    "driver: miir\n"
    "library: libtoy.so\n";

static struct artifact prebuilt(struct campaign *c, const char *kernel_flags)
{
    struct artifact artifact;
    toy_write(c->folder);
    toy_compile(c->folder, "toy.c", "libtoy.so", "");
    toy_compile(c->folder, "kernel.c", "kernel.so", kernel_flags);
    toy_compile(c->folder, "kernel.c", "off.so", "'-DFAULT=y[3] += 100'");
    toy_compile(c->folder, "kernel.c", "wild.so", "'-DFAULT=y[K * P + 1024] = 0'");
    toy_compile(c->folder, "kernel.c", "spin.so", "'-DFAULT=for (;;) __asm__ volatile(\"\")'");
    folder_file(c->folder, "toy/text.so",
                "no code object, but longer than the header of one: "
                "........................................");
    assert_ok(
        build_prebuilt(&artifact, c->arena, c->builder, fs_join(c->arena, c->folder->path, "toy")));
    return artifact;
}

static struct job job_of(const struct artifact *artifact, const char *variant)
{
    return (struct job){
        .artifact = artifact, .problem = TOY_PROBLEM, .variant = variant, .seed = 1};
}

static int64_t lines_of(const char *path)
{
    struct buf text;
    int64_t lines = 0;
    buf_init(&text, BUF_MAX_FILE);
    if (fs_read(&text, path) < 0)
        err_clear();
    for (size_t i = 0; i < text.length; i++)
        lines += text.data[i] == '\n';
    buf_release(&text);
    return lines;
}

static void runner_open__asks_the_device(void **state)
{
    struct campaign *c = *state;
    open_campaign(c, PREBUILT);
    assert_non_null(strstr(c->runner->arch, "x86-64-v"));
    assert_non_null(strstr(c->runner->epoch_text, c->runner->arch));
    struct runner *again, *lost;
    assert_ok(runner_open(&again, c->workspace, &c->candidate, &c->machine, &c->gate));
    assert_int_equal(again->epoch, c->runner->epoch);
    runner_close(again);
    c->machine.hip = "/nowhere/libhip.so";
    assert_fails(runner_open(&lost, c->workspace, &c->candidate, &c->machine, &c->gate),
                 ERR_NOTFOUND, "/nowhere/libhip.so");
    assert_non_null(strstr(err_message(), c->machine.name));
}

/* Every end of a job that needs no limit; all fly together, and each row stands at its job. */
static void run_jobs__gives_each_job_its_end(void **state)
{
    struct campaign *c = *state;
    static const struct {
        const char *variant, *stage, *outcome, *detail;
    } cases[] = {
        {"", "verify", "ok", ""},
        {"off.so", "verify", "mismatch", "1 of 128 off"},
        {"decline", "compile", "not-applicable", "no handle"},
        {"lower", "compile", "compile-error", "miirLowerBin"},
        {"abort", "compile", "crash", "the compiler: killed by SIGABRT"},
        {"exit", "compile", "no-verdict", "the compiler: exit 3"},
        {"wild.so", "execute", "crash", "the kernel's process: killed by SIGSEGV"},
        {"text.so", "load", "compile-error", "hipModuleLoadData"},
        {"dead", "compile", "infra", "even for a small 1x1"},
    };
    open_campaign(c, PREBUILT);
    struct artifact artifact = prebuilt(c, "");
    struct job jobs[COUNT_OF(cases)];
    struct result_row rows[COUNT_OF(cases)], again[COUNT_OF(cases)];
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        jobs[i] = job_of(&artifact, cases[i].variant);
    assert_ok(run_jobs(rows, c->arena, c->runner, jobs, COUNT_OF(cases)));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        if (strcmp(outcome_word(rows[i].outcome), cases[i].outcome) != 0 ||
            strcmp(stage_word(rows[i].stage), cases[i].stage) != 0 ||
            !strstr(rows[i].detail, cases[i].detail))
            fail_msg("variant `%s`: %s %s: %s", cases[i].variant, stage_word(rows[i].stage),
                     outcome_word(rows[i].outcome), rows[i].detail);
        assert_string_equal(rows[i].variant, cases[i].variant);
    }
    assert_int_equal(c->runner->jobs_run, COUNT_OF(cases));
    assert_ok(run_jobs(again, c->arena, c->runner, jobs, COUNT_OF(cases)));
    assert_int_equal(c->runner->jobs_run, COUNT_OF(cases)); /* nothing ran again */
    assert_int_equal(c->runner->jobs_found, COUNT_OF(cases));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(again[i].row, rows[i].row);
        assert_int_equal(again[i].outcome, rows[i].outcome);
        assert_string_equal(again[i].detail, rows[i].detail);
        assert_string_equal(again[i].stats, rows[i].stats);
    }
}

/* How many processes lowered something. */
static size_t count_compilers(struct campaign *c)
{
    struct buf text;
    buf_init(&text, BUF_MAX_FILE);
    assert_ok(fs_read(&text, c->log));
    size_t count = 0;
    for (char *line = text.data; *line; line = strchr(line, '\n') + 1) {
        size_t length = strcspn(line, "\n") + 1;
        char *first = memmem(text.data, text.length, line, length);
        count += first == line;
    }
    buf_release(&text);
    return count;
}

/* A worker serves many problems; what happens to one of them does not change what is said of the
 * others. */
static void run_jobs__warm_workers_do_not_mix_problems(void **state)
{
    struct campaign *c = *state;
    enum { COUNT = 40 };
    open_campaign(c, PREBUILT);
    struct artifact artifact = prebuilt(c, "");
    struct job jobs[COUNT];
    struct result_row rows[COUNT];
    static const char *const odd[] = {"off.so", "abort", "wild.so", "dead", "lower", "decline"};
    for (size_t i = 0; i < COUNT; i++)
        jobs[i] = job_of(&artifact, i % 7 == 3 ? odd[i / 7] : arena_printf(c->arena, "word%zu", i));
    assert_ok(run_jobs(rows, c->arena, c->runner, jobs, COUNT));
    static const enum outcome wanted[] = {OUTCOME_MISMATCH,      OUTCOME_CRASH,
                                          OUTCOME_CRASH,         OUTCOME_INFRA,
                                          OUTCOME_COMPILE_ERROR, OUTCOME_NOT_APPLICABLE};
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(rows[i].outcome, i % 7 == 3 ? wanted[i / 7] : OUTCOME_OK);
        assert_string_equal(rows[i].variant, jobs[i].variant);
    }
    assert_int_equal(c->runner->jobs_run, COUNT); /* each has one row, however often it was tried */
    if (proc_cpu_count() <= 4)
        assert_true(count_compilers(c) < COUNT / 2);
    /* Rounds above the first have fresh workers. */
    for (size_t i = 0; i < COUNT; i++)
        jobs[i] = (struct job){.artifact = &artifact,
                               .problem = TOY_PROBLEM,
                               .variant = "",
                               .seed = 1,
                               .round = 1 + (int64_t)i};
    size_t before = count_compilers(c);
    assert_ok(run_jobs(rows, c->arena, c->runner, jobs, 10));
    assert_int_equal(count_compilers(c), before + 10);
}

static void run_jobs__keeps_what_the_children_printed(void **state)
{
    struct campaign *c = *state;
    open_campaign(c, PREBUILT);
    struct artifact artifact = prebuilt(c, "");
    struct job job = job_of(&artifact, "abort");
    struct result_row row;
    struct buf log;
    assert_ok(run_jobs(&row, c->arena, c->runner, &job, 1));
    buf_init(&log, BUF_MAX_FILE);
    assert_ok(fs_read(&log, row.log));
    assert_non_null(strstr(log.data, "toy: "));
    assert_non_null(strstr(log.data, "--perf_config abort"));
    buf_release(&log);
}

/* A compiler that hangs and a kernel that spins end at their limits, and say so. */
static void run_jobs__ends_what_takes_too_long(void **state)
{
    struct campaign *c = *state;
    open_campaign(c, PREBUILT);
    struct artifact artifact = prebuilt(c, "");
    struct result_row row;
    c->candidate.limits.compile_ns = 1000000000;
    struct job job = job_of(&artifact, "hang");
    assert_ok(run_jobs(&row, c->arena, c->runner, &job, 1));
    assert_int_equal(row.outcome, OUTCOME_TIMEOUT);
    assert_int_equal(row.stage, STAGE_COMPILE);
    assert_non_null(strstr(row.detail, "the compiler: timed out after"));
    assert_string_equal(row.signature, "the compiler: timed out"); /* the same whenever it is */
    c->candidate.limits.compile_ns = 60000000000;
    c->candidate.limits.execute_ns = 1000000000;
    job = job_of(&artifact, "spin.so");
    assert_ok(run_jobs(&row, c->arena, c->runner, &job, 1));
    assert_int_equal(row.outcome, OUTCOME_TIMEOUT);
    assert_int_equal(row.stage, STAGE_EXECUTE);
}

/* Data kinds share a compilation; a round above the first has its own. */
static void run_jobs__compiles_once_a_round(void **state)
{
    struct campaign *c = *state;
    open_campaign(c, PREBUILT);
    struct artifact artifact = prebuilt(c, "");
    struct job job = job_of(&artifact, "");
    struct result_row first, second, fresh;
    assert_ok(run_jobs(&first, c->arena, c->runner, &job, 1));
    job.data = DATA_REAL;
    assert_ok(run_jobs(&second, c->arena, c->runner, &job, 1));
    assert_int_equal(lines_of(c->log), 1);
    assert_string_equal(first.code, second.code);
    assert_int_equal(second.kernels, 1);
    job.round = 1;
    assert_ok(run_jobs(&fresh, c->arena, c->runner, &job, 1));
    assert_int_equal(lines_of(c->log), 2);
    assert_int_equal(fresh.outcome, OUTCOME_OK);
    assert_int_not_equal(fresh.row, second.row);
    assert_string_equal(fresh.code, second.code);
    job.data = DATA_INTEGER;
    assert_ok(run_jobs(&fresh, c->arena, c->runner, &job, 1));
    assert_int_equal(lines_of(c->log), 2);
    job.round = 2;
    assert_ok(run_jobs(&fresh, c->arena, c->runner, &job, 1));
    assert_int_equal(lines_of(c->log), 3);
    /* Code alone: remembered where a round has it, compiled where not, never executed. */
    struct job jobs[] = {job, job, job_of(&artifact, "off.so"), job_of(&artifact, "abort"),
                         job_of(&artifact, "decline")};
    jobs[1].round = 3;
    const char *codes[COUNT_OF(jobs)];
    int64_t ran = c->runner->jobs_run;
    assert_ok(run_codes(codes, c->arena, c->runner, jobs, COUNT_OF(jobs)));
    assert_int_equal(lines_of(c->log), 5);
    assert_string_equal(codes[0], fresh.code);
    assert_string_equal(codes[1], fresh.code);
    assert_string_not_equal(codes[2], fresh.code);
    assert_int_equal(strlen(codes[2]), REPO_SHA_SIZE - 1);
    assert_string_equal(codes[3], "");
    assert_string_equal(codes[4], "");
    assert_int_equal(c->runner->jobs_run, ran);
}

/* What a job is named by: everything that could change its row. */
static void run_job_id__sees_every_part(void **state)
{
    struct campaign *c = *state;
    open_campaign(c, PREBUILT);
    struct artifact one = {.id = "a"}, other = {.id = "b"};
    struct job base = job_of(&one, ""), jobs[7];
    char ids[8][REPO_SHA_SIZE];
    for (size_t i = 0; i < COUNT_OF(jobs); i++)
        jobs[i] = base;
    jobs[1].artifact = &other;
    jobs[2].problem = TOY_PROBLEM_2;
    jobs[3].variant = "v";
    jobs[4].data = DATA_REAL;
    jobs[5].seed = 2;
    jobs[6].round = 1;
    for (size_t i = 0; i < COUNT_OF(jobs); i++)
        assert_ok(run_job_id(ids[i], c->runner, &jobs[i]));
    c->machine.name = "another";
    assert_ok(run_job_id(ids[7], c->runner, &base));
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(ids[i], ids[k]);
    }
}

static void plan__lists_each_job_once_with_its_because(void **state)
{
    struct campaign *c = *state;
    open_campaign(c, PREBUILT);
    struct artifact artifact = prebuilt(c, "");
    struct sweep_problem problems[3] = {
        {.text = TOY_PROBLEM}, {.text = TOY_PROBLEM_2}, {.text = TOY_PROBLEM}};
    for (size_t i = 0; i < COUNT_OF(problems); i++)
        assert_ok(problem_parse(&problems[i].problem, problems[i].text));
    struct plan plan;
    assert_ok(plan_correctness(&plan, c->arena, c->runner, &artifact, 1, problems, 3, 0));
    assert_int_equal(plan.count, 4); /* two problems, two kinds of data */
    assert_int_equal(plan.stored, 0);
    struct result_row rows[4];
    assert_ok(run_jobs(rows, c->arena, c->runner, plan.jobs, 1));
    assert_ok(plan_correctness(&plan, c->arena, c->runner, &artifact, 1, problems, 3, 0));
    assert_int_equal(plan.stored, 1);
    assert_true(plan.is_stored[0] && !plan.is_stored[1]);
    assert_non_null(strstr(plan.jobs[0].because, "stored as row"));
    assert_non_null(strstr(plan.jobs[1].because, "no row"));
    assert_ok(plan_correctness(&plan, c->arena, c->runner, &artifact, 1, problems, 3, 1));
    assert_non_null(strstr(plan.jobs[0].because, "fresh compile"));
    assert_int_equal(plan.stored, 0);
}

/* i8 has one kind of data only: its sums are exact whatever they are. */
static void plan__asks_only_what_says_something(void **state)
{
    struct campaign *c = *state;
    open_campaign(c, PREBUILT);
    struct artifact artifact = {.id = "a"};
    struct sweep_problem p = {.text = "conv fwd i8:i8:i32 n1 c8 k8 g1 in4x4 fil1x1 str1x1 dil1x1 "
                                      "pad0:0x0:0 ngchw gkcyx ngkhw"};
    assert_ok(problem_parse(&p.problem, p.text));
    struct plan plan;
    assert_ok(plan_correctness(&plan, c->arena, c->runner, &artifact, 1, &p, 1, 0));
    assert_int_equal(plan.count, 1);
    assert_int_equal(plan.jobs[0].data, DATA_INTEGER);
}

static void run_pairs__goes_on_where_a_session_stopped(void **state)
{
    struct campaign *c = *state;
    open_campaign(c, PREBUILT);
    struct artifact anchor = prebuilt(c, ""), other = prebuilt(c, "-DFAULT=y[0]+=0");
    assert_string_not_equal(anchor.id, other.id);
    struct timing_request q = {.session = "s",
                               .anchor = &anchor,
                               .artifact = &other,
                               .problem = TOY_PROBLEM,
                               .variant = "",
                               .pairs = 3};
    struct pair_row *pairs;
    size_t count;
    enum outcome outcome;
    const char *detail;
    for (int look = 0; look < 3; look++) {
        q.pairs = look < 2 ? 3 : 5;
        assert_ok(run_pairs(&pairs, &count, &outcome, &detail, c->arena, c->runner, &q));
        assert_int_equal(outcome, OUTCOME_OK);
        assert_int_equal(count, q.pairs);
        assert_int_equal(c->runner->pairs_run, q.pairs); /* none is taken twice */
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(pairs[i].position, i);
            assert_int_equal(pairs[i].anchor_first, i % 2 == 0); /* ABBA */
            assert_string_equal(pairs[i].anchor, anchor.id);
            assert_string_equal(pairs[i].artifact, other.id);
            assert_true(pairs[i].anchor_ns > 0 && pairs[i].candidate_ns > 0);
            assert_non_null(strchr(pairs[i].candidate_samples, ' '));
        }
    }
    assert_int_equal(lines_of(c->log), 2); /* one compilation a build */
    q.session = "another";                 /* samples belong to one session */
    q.pairs = 1;
    assert_ok(run_pairs(&pairs, &count, &outcome, &detail, c->arena, c->runner, &q));
    assert_int_equal(c->runner->pairs_run, 6);
}

/* The kernels themselves tell in which order they ran: a warm-up of each, then turns, and the
 * next pair begins with the other. */
static void run_pairs__takes_turns(void **state)
{
    struct campaign *c = *state;
    struct buf order;
    buf_init(&order, BUF_MAX_FILE);
    char *path = fs_join(c->arena, c->folder->path, "order");
    setenv("TOY_ORDER", path, 1);
    open_campaign(c, PREBUILT);
    struct artifact anchor = prebuilt(c, "'-DNOTE=\"a\"' '-DFAULT=note()'"),
                    other = prebuilt(c, "'-DNOTE=\"b\"' '-DFAULT=note()'");
    struct timing_request q = {.session = "s",
                               .anchor = &anchor,
                               .artifact = &other,
                               .problem = TOY_PROBLEM,
                               .variant = "",
                               .pairs = 2};
    struct pair_row *pairs;
    size_t count;
    enum outcome outcome;
    const char *detail;
    assert_ok(run_pairs(&pairs, &count, &outcome, &detail, c->arena, c->runner, &q));
    unsetenv("TOY_ORDER");
    assert_int_equal(count, 2);
    assert_ok(fs_read(&order, path));
    size_t each = 0;
    for (const char *at = pairs[0].anchor_samples; at; at = strchr(at + 1, ' '))
        each += 2;
    assert_true(order.length > 2 + each + 8);
    assert_memory_equal(order.data, "ab" "abbaabba", 10);
    assert_memory_equal(order.data + 2 + each, "ba" "baabbaab", 10);
    buf_release(&order);
}

static void run_pairs__says_why_there_is_nothing_to_time(void **state)
{
    struct campaign *c = *state;
    open_campaign(c, PREBUILT);
    struct artifact artifact = prebuilt(c, "");
    static const struct {
        const char *variant;
        enum outcome outcome;
        const char *detail;
    } cases[] = {
        {"decline", OUTCOME_NOT_APPLICABLE, "no handle"},
        {"abort", OUTCOME_CRASH, "SIGABRT"},
        {"wild.so", OUTCOME_CRASH, "the timing process: killed by SIGSEGV"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct timing_request q = {.session = "s",
                                   .anchor = &artifact,
                                   .artifact = &artifact,
                                   .problem = TOY_PROBLEM,
                                   .variant = cases[i].variant,
                                   .pairs = 2};
        struct pair_row *pairs;
        size_t count;
        enum outcome outcome;
        const char *detail;
        assert_ok(run_pairs(&pairs, &count, &outcome, &detail, c->arena, c->runner, &q));
        assert_int_equal(outcome, cases[i].outcome);
        assert_int_equal(count, 0);
        assert_non_null(strstr(detail, cases[i].detail));
    }
}

/* A sweep of two problems and a model of one of them. */
static struct compare_request request(struct campaign *c, const struct artifact *base,
                                      const struct artifact *head)
{
    struct sweep *sweep = ARENA_NEW(c->arena, struct sweep);
    struct model *model = ARENA_NEW(c->arena, struct model);
    assert_ok(config_sweep(sweep, c->arena,
                           folder_file(c->folder, "s.yaml",
                                       "sweep: s\nproblems: ['" TOY_PROBLEM "', '" TOY_PROBLEM_2
                                       "']\n")));
    assert_ok(config_model(model, c->arena,
                           folder_file(c->folder, "m.yaml",
                                       "model: net\nbatch: 1\nlayers: [{problem: '" TOY_PROBLEM
                                       "', count: 3}]\n")));
    return (struct compare_request){.sweeps = sweep,
                                    .sweep_count = 1,
                                    .models = model,
                                    .model_count = 1,
                                    .variant = "",
                                    .base = base,
                                    .head = head,
                                    .command = "assay compare",
                                    .no_timing = true};
}

static void compare__finds_a_new_failure_and_stays_as_stored(void **state)
{
    struct campaign *c = *state;
    open_campaign(c, PREBUILT);
    struct artifact base = prebuilt(c, ""), head = prebuilt(c, "-DROWS=7");
    struct compare_request q = request(c, &base, &head);
    struct comparison first, again, loaded;
    c->gate.correctness.compiles = 3;
    assert_ok(compare_run(&first, c->arena, c->runner, &q));
    assert_int_equal(first.count, 3);
    /* Problems and kinds of data at two builds, and what is new at head twice more. */
    assert_int_equal(c->runner->jobs_run, 2 * 2 * (2 + 2));
    for (size_t i = 0; i < first.count; i++) {
        assert_int_equal(first.items[i].base.outcome, OUTCOME_OK);
        assert_int_equal(first.items[i].head.outcome, OUTCOME_MISMATCH);
        assert_int_equal(first.items[i].change, CHECK_NEWLY_FAILING);
        assert_non_null(strstr(first.items[i].head.signature, "unwritten"));
        assert_false(first.items[i].timed);
    }
    assert_string_equal(first.items[2].item.model, "net");
    assert_ok(compare_run(&again, c->arena, c->runner, &q));
    assert_string_equal(again.row.id, first.row.id);
    assert_int_equal(c->runner->jobs_run, 16);
    assert_ok(compare_load(&loaded, c->arena, c->workspace->store, &c->gate, "latest"));
    assert_string_equal(loaded.row.id, first.row.id);
    assert_int_equal(loaded.items[0].change, CHECK_NEWLY_FAILING);
    assert_fails(compare_load(&loaded, c->arena, c->workspace->store, &c->gate, "nothing"),
                 ERR_NOTFOUND, "there is no comparison `nothing`");
    struct compare_request back = request(c, &head, &base);
    assert_ok(compare_run(&again, c->arena, c->runner, &back));
    assert_string_not_equal(again.row.id, first.row.id);
    assert_int_equal(again.items[0].change, CHECK_FIXED);
    assert_int_equal(c->runner->jobs_run, 16);
}

/* A row that was measured under other circumstances says nothing here. */
static void compare__keeps_epochs_apart(void **state)
{
    struct campaign *c = *state;
    open_campaign(c, PREBUILT);
    struct artifact base = prebuilt(c, ""), head = prebuilt(c, "-DFAULT=y[0]+=0");
    struct compare_request q = request(c, &base, &head);
    struct comparison out;
    assert_ok(compare_run(&out, c->arena, c->runner, &q));
    struct result_row row = {.job = "j",
                             .artifact = head.id,
                             .problem = TOY_PROBLEM,
                             .data = "integer",
                             .stage = STAGE_EXECUTE,
                             .outcome = OUTCOME_CRASH};
    assert_ok(store_epoch(&row.epoch, c->workspace->store, "another device"));
    assert_ok(store_add_result(c->workspace->store, &row));
    assert_ok(compare_load(&out, c->arena, c->workspace->store, &c->gate, "latest"));
    assert_int_equal(out.items[0].change, CHECK_PASSES);
    row.epoch = c->runner->epoch;
    assert_ok(store_add_result(c->workspace->store, &row));
    assert_ok(compare_load(&out, c->arena, c->workspace->store, &c->gate, "latest"));
    assert_int_equal(out.items[0].change, CHECK_NEWLY_FAILING);
}

/* One sweep times it, another checks it: neither purpose is lost. */
static void compare__asks_a_problem_of_two_sweeps_for_both(void **state)
{
    struct campaign *c = *state;
    open_campaign(c, PREBUILT);
    struct artifact base = prebuilt(c, ""), head = prebuilt(c, "-DFAULT=y[0]+=0");
    struct sweep sweeps[2];
    static const char *const texts[] = {
        "sweep: t\npurpose: timing\nproblems: ['" TOY_PROBLEM "']\n",
        "sweep: c\npurpose: correctness\nproblems: ['" TOY_PROBLEM_2 "', '" TOY_PROBLEM "']\n"};
    for (size_t i = 0; i < COUNT_OF(sweeps); i++)
        assert_ok(config_sweep(&sweeps[i], c->arena, folder_file(c->folder, "s.yaml", texts[i])));
    struct compare_request q = request(c, &base, &head);
    q.sweeps = sweeps;
    q.sweep_count = COUNT_OF(sweeps);
    q.model_count = 0;
    q.no_timing = false;
    struct comparison out;
    assert_ok(compare_run(&out, c->arena, c->runner, &q));
    assert_int_equal(out.count, 2);
    assert_string_equal(out.items[0].item.problem, TOY_PROBLEM);
    assert_true(out.items[0].item.check && out.items[0].item.time);
    assert_true(out.items[1].item.check && !out.items[1].item.time);
}

/* Two pairs seldom exclude anything; the screen ends with them only when they did. */
static void compare__screens_until_a_regression_is_excluded(void **state)
{
    struct campaign *c = *state;
    c->gate.speed.screen_pairs = 2;
    c->gate.speed.confirm_pairs = 8;
    open_campaign(c, PREBUILT);
    struct artifact base = prebuilt(c, ""), head = prebuilt(c, "-DFAULT=y[0]+=0");
    struct compare_request q = request(c, &base, &head);
    q.no_timing = false;
    struct comparison out;
    assert_ok(compare_run(&out, c->arena, c->runner, &q));
    for (size_t i = 0; i < out.count; i++) {
        const struct speed_judgement *j = &out.items[i].speed;
        assert_true(out.items[i].pair_count >= 8 || !judge_may_block(&c->gate, j) ||
                    judge_is_beyond_doubt(&c->gate, j));
    }
}

/* A compiler that goes wrong each third time: seen by code that differs between fresh compiles, and
 * never told as a steady failure. */
static void compare__finds_what_is_unsteady(void **state)
{
    struct campaign *c = *state;
    open_campaign(c, PREBUILT);
    struct artifact base = prebuilt(c, "");
    toy_compile(c->folder, "toy.c", "libtoy.so", "-DTURNS");
    struct artifact head;
    assert_ok(
        build_prebuilt(&head, c->arena, c->builder, fs_join(c->arena, c->folder->path, "toy")));
    struct compare_request q = request(c, &base, &head);
    struct comparison out;
    assert_ok(compare_run(&out, c->arena, c->runner, &q));
    size_t unsteady = 0;
    for (size_t i = 0; i < out.count; i++) {
        assert_int_equal(out.items[i].base.outcome, OUTCOME_OK);
        assert_int_not_equal(out.items[i].head.outcome, OUTCOME_MISMATCH);
        if (out.items[i].head.outcome != OUTCOME_UNSTEADY)
            continue;
        unsteady++;
        assert_int_equal(out.items[i].change, CHECK_NEWLY_FAILING);
        assert_string_equal(out.items[i].head.code, "");
        assert_non_null(strstr(out.items[i].head.detail, " of 5 compiles; mismatch: "));
    }
    assert_true(unsteady > 0);
    int64_t ran = c->runner->jobs_run, lowered = lines_of(c->log);
    assert_ok(compare_run(&out, c->arena, c->runner, &q));
    assert_int_equal(c->runner->jobs_run, ran); /* all of it is remembered */
    assert_int_equal(lines_of(c->log), lowered);
}

/* The same code on both sides: timed for the model's rate alone, and never a change of speed. */
static void compare__knows_code_that_did_not_change(void **state)
{
    struct campaign *c = *state;
    open_campaign(c, PREBUILT);
    struct artifact base = prebuilt(c, "");
    folder_file(c->folder, "toy/text.so", "an artifact that no kernel comes from");
    struct artifact head;
    assert_ok(
        build_prebuilt(&head, c->arena, c->builder, fs_join(c->arena, c->folder->path, "toy")));
    assert_string_not_equal(base.id, head.id);
    struct compare_request q = request(c, &base, &head);
    q.no_timing = false;
    struct comparison out;
    assert_ok(compare_run(&out, c->arena, c->runner, &q));
    assert_int_equal(c->runner->pairs_run, 2);
    for (size_t i = 0; i < out.count; i++) {
        assert_int_equal(out.items[i].change, CHECK_PASSES);
        assert_int_equal(out.items[i].speed.verdict, SPEED_IDENTICAL_CODE);
        assert_false(out.items[i].speed.blocks);
        assert_true(out.items[i].timed);
    }
    assert_true(out.items[2].speed.base_ns > 0);
    assert_true(out.items[2].speed.base_ns == out.items[2].speed.head_ns);
}

/* The toy built from its own repository. */
static const char FROM_SOURCE[] =
    "candidate: toy\n"
    "repository: source\n"
    "build:\n"
    "  steps:\n"
    "    - [cc, -shared, -fPIC, -O1, '{source}/toy.c', -o, '{build}/libtoy.so', -ldl]\n"
    "    - [cc, -shared, -fPIC, -O1, '{source}/kernel.c', -o, '{build}/kernel.so']\n"
    "    - [cc, -shared, -fPIC, -O1, '-DFAULT=y[3] += 100', '{source}/kernel.c', -o, "
    "'{build}/off.so']\n"
    "  artifacts: [libtoy.so, kernel.so, off.so]\n"
    "driver: miir\n"
    "library: libtoy.so\n";

/* The history:
 *
 *   START - UNBUILDABLE - MENDED - QUIET - CULPRIT - LATER - END
 *                             \
 *                              SIDE
 */
enum place { START, UNBUILDABLE, MENDED, QUIET, CULPRIT, LATER, END, SIDE, PLACES };

static const char *commit_change(struct campaign *c, const char *script, const char *subject)
{
    shell(c->folder, arena_printf(c->arena, "cd source; %s", script));
    return commit_all(c->folder, subject);
}

static void make_history(const char *sha[PLACES], struct campaign *c)
{
    toy_write(c->folder);
    sha[START] = commit_change(c, "true", "start");
    sha[UNBUILDABLE] = commit_change(c, "echo '#error half' >> toy.c", "half of a change");
    sha[MENDED] = commit_change(c, "sed -i '/#error/d' toy.c", "the other half");
    sha[QUIET] = commit_change(c, "echo words > README", "words");
    sha[CULPRIT] = commit_change(c, "sed -i 's/c < C;/c < C - 1;/' kernel.c", "faster sums");
    sha[LATER] = commit_change(c, "echo more >> README", "more words");
    sha[END] = commit_change(c, "echo '/* end */' >> kernel.c", "the end");
    shell(c->folder, arena_printf(c->arena, "cd source; git checkout -q -b side %s", sha[MENDED]));
    sha[SIDE] = commit_change(c, "echo side > SIDE", "beside");
    shell(c->folder, "cd source; git checkout -q main");
}

static struct hunt hunt_of(struct campaign *c, const char *good, const char *bad,
                           const struct hunt_problem *problems, size_t count)
{
    struct hunt h = {
        .runner = c->runner, .builder = c->builder, .problems = problems, .count = count};
    snprintf(h.good, sizeof h.good, "%s", good);
    snprintf(h.bad, sizeof h.bad, "%s", bad);
    return h;
}

static void hunt__proves_the_culprit_by_a_revert(void **state)
{
    struct campaign *c = *state;
    const char *sha[PLACES];
    make_history(sha, c);
    open_campaign(c, FROM_SOURCE);
    static const struct hunt_problem problems[] = {
        {.problem = TOY_PROBLEM, .variant = ""},
        {.problem = TOY_PROBLEM_2, .variant = ""},
        {.problem = TOY_PROBLEM, .variant = "off.so"},
    };
    struct hunt h = hunt_of(c, sha[START], sha[END], problems, COUNT_OF(problems));
    struct blame_row blames[COUNT_OF(problems)], again[COUNT_OF(problems)];
    assert_ok(hunt_run(blames, c->arena, &h));
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(blames[i].level, "PROVEN");
        assert_string_equal(blames[i].culprit, sha[CULPRIT]);
        assert_string_equal(blames[i].parent, sha[QUIET]);
        assert_string_equal(blames[i].label, "mismatch");
        assert_non_null(strstr(blames[i].because, "repairs it"));
        assert_true(blames[i].error_probability < 0.5);
    }
    assert_non_null(strstr(blames[1].because, "(seen on " TOY_PROBLEM ")"));
    assert_string_equal(blames[2].level, "NEVER-GOOD");
    assert_string_equal(blames[2].culprit, "");
    int64_t ran = c->runner->jobs_run;
    assert_ok(hunt_run(again, c->arena, &h)); /* told from what is stored */
    assert_int_equal(c->runner->jobs_run, ran);
    assert_string_equal(again[0].culprit, sha[CULPRIT]);
    assert_true(again[0].row > 0);
    struct step_row *steps;
    size_t count;
    assert_ok(store_list_steps(&steps, &count, c->arena, c->workspace->store, again[0].hunt,
                               TOY_PROBLEM));
    assert_true(count >= 4); /* both ends, the culprit and its parent at least */
    assert_string_equal(steps[0].commit, sha[START]);
    assert_string_equal(steps[0].answer, "good");
    assert_string_equal(steps[count - 1].answer, "bad");
}

static void hunt__confirms_where_the_gate_wants_no_revert(void **state)
{
    struct campaign *c = *state;
    const char *sha[PLACES];
    make_history(sha, c);
    c->gate.bisect.revert = c->gate.bisect.clean = false;
    open_campaign(c, FROM_SOURCE);
    static const struct hunt_problem problem = {.problem = TOY_PROBLEM, .variant = ""};
    struct hunt h = hunt_of(c, sha[QUIET], sha[CULPRIT], &problem, 1);
    struct blame_row blame;
    assert_ok(hunt_run(&blame, c->arena, &h));
    assert_string_equal(blame.level, "CONFIRMED");
    assert_string_equal(blame.culprit, sha[CULPRIT]);
    assert_non_null(strstr(blame.because, "could not be told"));
    /* Two kinds of data: at both ends, then twice more in fresh compiles at both. */
    assert_int_equal(c->runner->jobs_run, 2 * 2 + 2 * 2 * 2);
    /* A hunt of another round is fresh through and through: no row of the first one's confirmation
     * serves it. */
    h.round = 1;
    assert_ok(hunt_run(&blame, c->arena, &h));
    assert_string_equal(blame.culprit, sha[CULPRIT]);
    assert_int_equal(c->runner->jobs_run, 2 * (2 * 2 + 2 * 2 * 2));
}

/* Wrong in the slot that earlier commits were built in, right in a clean build. */
#define BUILT_BY_SCRIPT                                                                            \
    "candidate: toy\n"                                                                             \
    "repository: source\n"                                                                         \
    "build:\n"                                                                                     \
    "  steps:\n"                                                                                   \
    "    - [cc, -shared, -fPIC, '{source}/toy.c', -o, '{build}/libtoy.so', -ldl]\n"                \
    "    - [sh, -e, '{source}/make.sh', '{source}', '{build}']\n"                                  \
    "  artifacts: [libtoy.so, kernel.so]\n"                                                        \
    "driver: miir\n"                                                                               \
    "library: libtoy.so\n"

static void hunt__doubts_what_a_clean_build_does_not_repeat(void **state)
{
    struct campaign *c = *state;
    static const char incremental_only[] =
        "echo 'cc -shared -fPIC -O1 ${CCACHE_DISABLE--DROWS=7} \"$1/kernel.c\" -o "
        "\"$2/kernel.so\"' > make.sh";
    toy_write(c->folder);
    const char *good = commit_change(
        c, "echo 'cc -shared -fPIC -O1 \"$1/kernel.c\" -o \"$2/kernel.so\"' > make.sh", "start");
    const char *bad = commit_change(c, incremental_only, "wrong at times");
    open_campaign(c, BUILT_BY_SCRIPT);
    static const struct hunt_problem problem = {.problem = TOY_PROBLEM, .variant = ""};
    struct hunt h = hunt_of(c, good, bad, &problem, 1);
    struct blame_row blame;
    assert_ok(hunt_run(&blame, c->arena, &h));
    assert_string_equal(blame.level, "LIKELY");
    assert_string_equal(blame.culprit, bad);
    assert_non_null(strstr(blame.because, "do not repeat it"));
}

/* Slow in the slot that earlier commits were built in, fast in a clean build: the search begins
 * anew with fresh pairs before it gives up. */
static void hunt__measures_afresh_what_a_confirmation_does_not_repeat(void **state)
{
    struct campaign *c = *state;
    static const char script[] =
        "echo 'cc -shared -fPIC -O1 %s \"$1/kernel.c\" -o \"$2/kernel.so\"' > make.sh";
    toy_write(c->folder);
    commit_change(c,
                  "sed -i 's/^    for (int k = 0/    for (volatile int n = 0; n < SPIN; n++)\\n    "
                  "for (int k = 0/' kernel.c",
                  "spin");
    const char *good = commit_change(c, arena_printf(c->arena, script, "-DSPIN=100"), "start");
    const char *bad =
        commit_change(c,
                      arena_printf(c->arena, script,
                                   "-DSPIN=100 ${CCACHE_DISABLE--USPIN -DSPIN=1000}"),
                      "slow");
    c->gate.speed.screen_pairs = 2;
    c->gate.speed.confirm_pairs = 8;
    open_campaign(c, BUILT_BY_SCRIPT);
    static const struct hunt_problem problem = {
        .problem = TOY_PROBLEM, .variant = "", .slower = true, .label = "slower"};
    struct hunt h = hunt_of(c, good, bad, &problem, 1);
    struct blame_row blame;
    assert_ok(hunt_run(&blame, c->arena, &h));
    assert_string_equal(blame.level, "LIKELY");
    assert_string_equal(blame.culprit, bad);
    struct artifact slow;
    assert_ok(build_commit(&slow, c->arena, c->builder, bad, BUILD_ONLY_FIND));
    for (int attempt = 1; attempt <= 4; attempt++) {
        struct pair_row *pairs;
        size_t count;
        const char *session =
            attempt == 1 ? blame.hunt
                         : arena_printf(c->arena, "%s/attempt %d", blame.hunt, attempt);
        assert_ok(store_list_pairs(&pairs, &count, c->arena, c->workspace->store, session,
                                   TOY_PROBLEM, slow.id));
        assert_int_equal(count > 0, attempt < 4);
    }
}

/* A revert that does not repair: a later commit has the fault again. */
static void hunt__is_not_proven_when_a_later_commit_repeats_the_fault(void **state)
{
    struct campaign *c = *state;
    toy_write(c->folder);
    const char *good = commit_change(c, "true", "start");
    const char *culprit = commit_change(c, "sed -i 's/c < C;/c < C - 1;/' kernel.c", "first");
    const char *bad = commit_change(c, "sed -i 's/    FAULT;/    y[9] = 77;/' kernel.c", "second");
    open_campaign(c, FROM_SOURCE);
    static const struct hunt_problem problem = {.problem = TOY_PROBLEM, .variant = ""};
    struct hunt h = hunt_of(c, good, bad, &problem, 1);
    struct blame_row blame;
    assert_ok(hunt_run(&blame, c->arena, &h));
    assert_string_equal(blame.culprit, culprit);
    assert_string_equal(blame.level, "CONFIRMED");
    assert_non_null(strstr(blame.because, "does not repair it"));
}

/* A problem that is wrong from one commit on and does not compile from a later one on: the mismatch
 * shows that it compiled. */
static void hunt__tells_failures_of_different_stages_apart(void **state)
{
    struct campaign *c = *state;
    toy_write(c->folder);
    const char *good = commit_change(c, "true", "start");
    const char *wrong = commit_change(c, "sed -i 's/c < C;/c < C - 1;/' kernel.c", "wrong");
    commit_change(c, "echo words > README", "words");
    const char *refuses = commit_change(
        c, "sed -i 's/if (is(h, \"lower\")/if (1 || is(h, \"lower\")/' toy.c", "refuses");
    const char *bad = commit_change(c, "echo more >> README", "more words");
    open_campaign(c, FROM_SOURCE);
    static const struct hunt_problem problem = {.problem = TOY_PROBLEM, .variant = ""};
    struct hunt h = hunt_of(c, good, bad, &problem, 1);
    struct blame_row blame;
    assert_ok(hunt_run(&blame, c->arena, &h));
    assert_string_equal(blame.label, "compile-error");
    assert_string_equal(blame.culprit, refuses);
    assert_string_equal(blame.level,
                        "PROVEN"); /* without it the problem compiles, wrong as it is */
    /* The good end may be wrong as well. */
    h = hunt_of(c, wrong, bad, &problem, 1);
    assert_ok(hunt_run(&blame, c->arena, &h));
    assert_string_equal(blame.culprit, refuses);
    /* What hides the failure hunted is no answer. */
    static const struct hunt_problem mismatch = {
        .problem = TOY_PROBLEM, .variant = "", .label = "mismatch"};
    h = hunt_of(c, good, bad, &mismatch, 1);
    assert_ok(hunt_run(&blame, c->arena, &h));
    assert_string_equal(blame.culprit, "");
}

static void hunt__names_a_range_that_cannot_be_built(void **state)
{
    struct campaign *c = *state;
    toy_write(c->folder);
    const char *good = commit_change(c, "true", "start");
    const char *broken = commit_change(
        c, "sed -i 's/c < C;/c < C - 1;/' kernel.c; echo '#error half' >> toy.c", "half");
    const char *bad = commit_change(c, "sed -i '/#error/d' toy.c", "the other half");
    open_campaign(c, FROM_SOURCE);
    static const struct hunt_problem problem = {.problem = TOY_PROBLEM, .variant = ""};
    struct hunt h = hunt_of(c, good, bad, &problem, 1);
    struct blame_row blame;
    assert_ok(hunt_run(&blame, c->arena, &h));
    assert_string_equal(blame.level, "RANGE");
    assert_string_equal(blame.culprit, "");
    assert_non_null(strstr(blame.suspects, broken));
    assert_non_null(strstr(blame.suspects, bad));
    assert_null(strstr(blame.suspects, good));
    struct step_row *steps;
    size_t count;
    assert_ok(
        store_list_steps(&steps, &count, c->arena, c->workspace->store, blame.hunt, TOY_PROBLEM));
    assert_int_equal(count, 3);
    assert_string_equal(steps[1].answer, "skip");
    assert_non_null(strstr(steps[1].detail, "half"));
}

static void hunt__says_what_does_not_show(void **state)
{
    struct campaign *c = *state;
    const char *sha[PLACES];
    make_history(sha, c);
    open_campaign(c, FROM_SOURCE);
    static const struct hunt_problem problems[] = {
        {.problem = TOY_PROBLEM, .variant = ""},
        {.problem = TOY_PROBLEM, .variant = "", .slower = true, .label = "slower"},
        {.problem = TOY_PROBLEM_2, .variant = "off.so", .label = "crash"}, /* it is a mismatch */
    };
    struct hunt h = hunt_of(c, sha[START], sha[QUIET], problems, COUNT_OF(problems));
    struct blame_row blames[COUNT_OF(problems)];
    assert_ok(hunt_run(blames, c->arena, &h));
    assert_string_equal(blames[0].level, "NOT-REPRODUCED");
    assert_string_equal(blames[1].level, "UNCHANGED-CODE");
    assert_int_equal(c->runner->pairs_run, 0);
    assert_string_equal(blames[2].level, "RANGE");
    assert_non_null(strstr(blames[2].because, "cannot be tested"));
}

/* Good is no ancestor of bad: what they have in common is taken in its place. */
static void hunt__starts_at_the_merge_base(void **state)
{
    struct campaign *c = *state;
    const char *sha[PLACES];
    make_history(sha, c);
    open_campaign(c, FROM_SOURCE);
    static const struct hunt_problem problem = {.problem = TOY_PROBLEM, .variant = ""};
    struct hunt h = hunt_of(c, sha[SIDE], sha[LATER], &problem, 1);
    struct blame_row blame;
    assert_ok(hunt_run(&blame, c->arena, &h));
    assert_string_equal(blame.good_commit, sha[MENDED]);
    assert_string_equal(blame.culprit, sha[CULPRIT]);
    assert_string_equal(blame.level, "PROVEN");
}

/* Ten times the work: no noise of a machine looks like that. */
static void hunt__finds_what_made_it_slower(void **state)
{
    struct campaign *c = *state;
    toy_write(c->folder);
    static const char slow[] =
        "sed -i 's/^    for (int k = 0/    for (volatile int n = 0; n < %s; n++)\\n    for (int k "
        "= 0/' kernel.c";
    commit_change(c, arena_printf(c->arena, slow, "100"), "start");
    const char *good = commit_change(c, "echo words > README", "words");
    commit_change(c, "echo '/* comment */' >> kernel.c", "comment");
    const char *culprit = commit_change(c, "sed -i 's/n < 100/n < 1000/' kernel.c", "slow");
    const char *bad = commit_change(c, "echo more > README", "more words");
    c->gate.speed.screen_pairs = 2;
    c->gate.speed.confirm_pairs = 8;
    c->gate.speed.most_pairs = 60; /* other tests run beside this one: as many as it takes */
    open_campaign(c, FROM_SOURCE);
    static const struct hunt_problem problem = {
        .problem = TOY_PROBLEM, .variant = "", .slower = true, .label = "slower"};
    struct hunt h = hunt_of(c, good, bad, &problem, 1);
    struct blame_row blame;
    assert_ok(hunt_run(&blame, c->arena, &h));
    assert_string_equal(blame.culprit, culprit);
    assert_string_equal(blame.level, "PROVEN");
    assert_true(blame.effect > 1);
}

static void hunt__needs_a_repository(void **state)
{
    struct campaign *c = *state;
    open_campaign(c, PREBUILT);
    struct hunt h = {.runner = c->runner, .builder = c->builder};
    assert_fails(hunt_run(NULL, c->arena, &h), ERR_INVALID, "nothing to bisect");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return worker_serve(STDIN_FILENO, WORKER_CHANNEL) < 0;
    toy_quiet_environment();
    progress_quiet(true);
    /* A candidate that crashes must look as it does without the sanitizers. */
    setenv("ASAN_OPTIONS", "handle_segv=0:allow_user_segv_handler=1:detect_leaks=0", 1);
    const struct CMUnitTest tests[] = {
        TEST(runner_open__asks_the_device),
        TEST(run_jobs__gives_each_job_its_end),
        TEST(run_jobs__warm_workers_do_not_mix_problems),
        TEST(run_jobs__keeps_what_the_children_printed),
        TEST(run_jobs__ends_what_takes_too_long),
        TEST(run_jobs__compiles_once_a_round),
        TEST(run_job_id__sees_every_part),
        TEST(plan__lists_each_job_once_with_its_because),
        TEST(plan__asks_only_what_says_something),
        TEST(run_pairs__goes_on_where_a_session_stopped),
        TEST(run_pairs__takes_turns),
        TEST(run_pairs__says_why_there_is_nothing_to_time),
        TEST(compare__finds_a_new_failure_and_stays_as_stored),
        TEST(compare__asks_a_problem_of_two_sweeps_for_both),
        TEST(compare__screens_until_a_regression_is_excluded),
        TEST(compare__finds_what_is_unsteady),
        TEST(compare__keeps_epochs_apart),
        TEST(compare__knows_code_that_did_not_change),
        TEST(hunt__proves_the_culprit_by_a_revert),
        TEST(hunt__confirms_where_the_gate_wants_no_revert),
        TEST(hunt__doubts_what_a_clean_build_does_not_repeat),
        TEST(hunt__measures_afresh_what_a_confirmation_does_not_repeat),
        TEST(hunt__is_not_proven_when_a_later_commit_repeats_the_fault),
        TEST(hunt__tells_failures_of_different_stages_apart),
        TEST(hunt__names_a_range_that_cannot_be_built),
        TEST(hunt__says_what_does_not_show),
        TEST(hunt__starts_at_the_merge_base),
        TEST(hunt__finds_what_made_it_slower),
        TEST(hunt__needs_a_repository),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
