#include "harness/run_internal.h"

#include "harness/progress.h"
#include "harness/stats.h"
#include "src/fs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What a timing process does: enough launches for a median that one late interrupt does not move
 * (facts/bisection.md 4(b)2). */
enum { TIME_WARMUPS = 1, TIME_REPEATS = 5, TIME_MINIMUM_NS = 20000000 };

/* The bundle of one build for timing: found, or compiled now. */
static int ready_bundle(char **out, enum outcome *outcome, const char **detail, struct arena *a,
                        struct runner *r, const struct artifact *artifact,
                        const struct timing_request *q)
{
    struct job job = {.artifact = artifact, .problem = q->problem, .variant = q->variant};
    struct result_row row;
    run_begin_row(&row, r, &job);
    int status = run_bundle_path(out, r, artifact, q->problem, q->variant, 0);
    if (status == 0 && !run_find_compile(&row, a, *out)) {
        struct proc_spec spec =
            run_worker_spec(r, run_compile_text(a, r, artifact, q->problem, q->variant, *out),
                            r->candidate->limits.compile_ns);
        struct proc_result p;
        status = proc_run(&p, &spec);
        if (status == 0 && run_answered(&p)) {
            run_read_verdict(&row, a, p.channel.data);
            if (row.outcome != OUTCOME_INFRA)
                status = run_keep_compile(a, *out, p.channel.data);
        } else if (status == 0) {
            run_read_end(&row, a, &p, "the compiler");
        }
        proc_result_release(&p);
    }
    *outcome = row.outcome;
    *detail = row.detail;
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
    struct proc_spec spec = run_worker_spec(r, job, r->candidate->limits.execute_ns);
    spec.cpu = (int)r->machine->cpu;
    struct proc_result p;
    *out = (struct timed){.detail = "", .samples = ""};
    int status = proc_run(&p, &spec);
    if (status < 0)
        return status;
    struct result_row row = {.detail = ""};
    if (run_answered(&p)) {
        run_read_verdict(&row, a, p.channel.data);
        read_samples(out, a, p.channel.data);
    } else {
        run_read_end(&row, a, &p, "the timing process");
    }
    out->outcome =
        row.outcome == OUTCOME_OK && out->median_ns <= 0 ? OUTCOME_NO_VERDICT : row.outcome;
    out->detail = row.detail;
    proc_result_release(&p);
    return 0;
}

static void tell_timing_wait(const char *holder, void *unused)
{
    (void)unused;
    progress_note("waiting for %s, which times on this machine", holder);
}

/* What a reader of a strange time would ask first. */
static const char *describe_machine(struct arena *a)
{
    struct buf load;
    buf_init(&load, BUF_MAX_LINE);
    if (fs_read(&load, "/proc/loadavg") < 0)
        err_clear();
    char mhz[64];
    run_read_file_line(mhz, sizeof mhz, "/proc/cpuinfo", "cpu MHz");
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
