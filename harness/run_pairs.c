#include "harness/run_internal.h"

#include "harness/progress.h"
#include "harness/stats.h"
#include "src/fs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What a timing process does. The launches of both builds take turns in it: on a machine with
 * neighbours whose speed moved by 17 % from sample to sample, ten turns gave a ratio within 4 %,
 * and ten samples of one build after ten of the other, or in another process, one within 11 %. */
enum { TIME_WARMUPS = 1, TIME_REPEATS = 10, TIME_MINIMUM_NS = 20000000 };

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

/* The samples of one build in the answer of a timing process, in the order taken, and their median
 * (0 without any). */
static int64_t read_samples(const char **samples, struct arena *a, const char *answer,
                            const char *key)
{
    struct buf text;
    buf_init(&text, BUF_MAX_LINE);
    int64_t values[20 * TIME_REPEATS];
    size_t count = 0, length = strlen(key);
    for (const char *line = answer; line && count < COUNT_OF(values); line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) == 0 &&
            sscanf(line + length, " %" SCNd64, &values[count]) == 1)
            buf_printf(&text, "%s%" PRId64, count ? " " : "", values[count]), count++;
    }
    *samples = arena_strdup(a, text.data);
    buf_release(&text);
    return count > 0 ? stats_median_ns(values, count) : 0;
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

/* One pair: a fresh process in which both take turns. Who begins changes with its position. */
static int run_pair(struct pair_row *out, enum outcome *outcome, const char **detail,
                    struct arena *a, struct runner *r, const struct timing_request *q,
                    char *const bundles[2], int64_t position)
{
    *out = (struct pair_row){.session = q->session,
                             .problem = q->problem,
                             .variant = q->variant,
                             .anchor = q->anchor->id,
                             .artifact = q->artifact->id,
                             .position = position,
                             .anchor_first = position % 2 == 0,
                             .note = describe_machine(a),
                             .epoch = r->epoch};
    const char *job = arena_printf(
        a,
        "task time\nanchor %s\nbundle %s\nfirst %s\nhip %s\ndevice %" PRId64 "\nseed %" PRId64
        "\nwarmups %d\nrepeats %d\nminimum_ns %d\nend\n",
        bundles[0], bundles[1], out->anchor_first ? "anchor" : "bundle", r->machine->hip,
        r->machine->device, r->gate->correctness.seed, TIME_WARMUPS, TIME_REPEATS, TIME_MINIMUM_NS);
    struct proc_spec spec = run_worker_spec(r, job, r->candidate->limits.execute_ns);
    spec.cpu = (int)r->machine->cpu;
    struct proc_result p;
    int status = proc_run(&p, &spec);
    if (status < 0)
        return status;
    struct result_row row = {.detail = ""};
    if (run_answered(&p)) {
        run_read_verdict(&row, a, p.channel.data);
        out->anchor_ns = read_samples(&out->anchor_samples, a, p.channel.data, "anchor_sample");
        out->candidate_ns = read_samples(&out->candidate_samples, a, p.channel.data, "sample");
    } else {
        run_read_end(&row, a, &p, "the timing process");
    }
    proc_result_release(&p);
    bool timed = out->anchor_ns > 0 && out->candidate_ns > 0;
    *outcome = row.outcome == OUTCOME_OK && !timed ? OUTCOME_NO_VERDICT : row.outcome;
    *detail = row.detail;
    return *outcome == OUTCOME_OK ? store_add_pair(r->workspace->store, out) : 0;
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
