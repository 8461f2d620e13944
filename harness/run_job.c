#include "harness/run_internal.h"

#include "harness/worker.h"
#include "reference/conv.h"
#include "src/fs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct proc_spec run_worker_spec(struct runner *r, const char *job, int64_t wall_ns)
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

void run_read_end(struct result_row *row, struct arena *a, const struct proc_result *p,
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

bool run_answered(const struct proc_result *p)
{
    size_t length = p->channel.length;
    return length >= 5 && strcmp(p->channel.data + length - 5, "done\n") == 0;
}

void run_read_verdict(struct result_row *row, struct arena *a, const char *answer)
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

int64_t run_read_int(const char *answer, const char *key)
{
    char value[64];
    return worker_value(value, sizeof value, answer, key) ? strtoll(value, NULL, 10) : 0;
}

void run_read_compile(struct result_row *row, struct arena *a, const char *answer)
{
    char value[64];
    if (worker_value(value, sizeof value, answer, "code"))
        row->code = arena_strdup(a, value);
    row->kernels = run_read_int(answer, "kernels");
    row->workspace_bytes = run_read_int(answer, "workspace_bytes");
    row->code_bytes = run_read_int(answer, "code_bytes");
    row->compile_ns = run_read_int(answer, "compile_ns");
}

/* Elements beyond a tolerance of others are counted by the worker, so another one is another job.
 */
static void add_tolerances(struct buf *text, const struct gate *g, enum data_kind kind)
{
    if (!data_kind_is_exact(kind) && (g->correctness.atol > 0 || g->correctness.rtol > 0))
        buf_printf(text, "atol %.9g\nrtol %.9g\n", g->correctness.atol, g->correctness.rtol);
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
    add_tolerances(&text, r->gate, j->data);
    int status = repo_blob_id(out, text.data, text.length);
    buf_release(&text);
    return status;
}

int run_bundle_path(char **out, const struct runner *r, const struct artifact *artifact,
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

const char *run_compile_text(struct arena *a, const struct runner *r,
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

const char *run_execute_text(struct arena *a, const struct runner *r, const struct job *j,
                             const char *bundle)
{
    struct problem p;
    if (problem_parse(&p, j->problem) < 0)
        bug("job with a malformed problem: %s", err_message());
    struct buf text;
    buf_init(&text, BUF_MAX_LINE);
    buf_printf(&text,
               "task execute\nbundle %s\nhip %s\ndevice %" PRId64 "\ndata %s\nseed %" PRId64
               "\naccumulator %s\n",
               bundle, r->machine->hip, r->machine->device, data_kind_name(j->data), j->seed,
               accumulator_name(candidate_accumulator(r->candidate, p.dtype[OPERAND_INPUT])));
    add_tolerances(&text, r->gate, j->data);
    buf_add_text(&text, "end\n");
    const char *job = arena_strdup(a, text.data);
    buf_release(&text);
    return job;
}

void run_begin_row(struct result_row *row, const struct runner *r, const struct job *j)
{
    *row = (struct result_row){.job = "",
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

int run_keep_compile(struct arena *a, const char *bundle, const char *answer)
{
    return fs_write_text(arena_printf(a, "%s.answer", bundle), answer);
}

bool run_find_compile(struct result_row *row, struct arena *a, const char *bundle)
{
    struct buf answer;
    buf_init(&answer, BUF_MAX_LINE);
    const char *path = arena_printf(a, "%s.answer", bundle);
    bool found = fs_read(&answer, path) == 0;
    err_clear();
    if (found) {
        run_read_verdict(row, a, answer.data);
        run_read_compile(row, a, answer.data);
        found = row->outcome != OUTCOME_OK || fs_exists(bundle);
        fs_touch(bundle);
        fs_touch(path);
    }
    buf_release(&answer);
    return found;
}
