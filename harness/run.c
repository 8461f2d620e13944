#include "harness/run_internal.h"

#include "harness/progress.h"
#include "harness/worker.h"
#include "reference/conv.h"
#include "src/fs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const int64_t FACTS_LIMIT_NS = 60000000000;

void run_read_file_line(char *value, size_t size, const char *path, const char *key)
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
    struct proc_spec spec = run_worker_spec(r, job, FACTS_LIMIT_NS);
    struct proc_result p;
    int status = proc_run(&p, &spec);
    char value[1024], why[256];
    if (status == 0 && !run_answered(&p))
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
    run_read_file_line(cpu, sizeof cpu, "/proc/cpuinfo", "model name");
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

int run_jobs(struct result_row *rows, struct arena *a, struct runner *r, const struct job *jobs,
             size_t count)
{
    size_t *todo = ARENA_ARRAY(a, count, size_t), todo_count = 0;
    for (size_t i = 0; i < count; i++) {
        char id[REPO_SHA_SIZE];
        bool found;
        int status = run_job_id(id, r, &jobs[i]);
        if (status == 0)
            status = store_find_result(&rows[i], &found, a, r->workspace->store, id);
        if (status < 0)
            return status;
        if (!found)
            todo[todo_count++] = i;
    }
    r->jobs_found += (int64_t)(count - todo_count);
    if (todo_count == 0)
        return 0;
    progress_begin("checking", (int64_t)todo_count);
    int status = run_crew(rows, a, r, jobs, todo, todo_count);
    progress_end();
    return status;
}
