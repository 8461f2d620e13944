/* plan: what planning a large sweep costs: `assay plan` on 100,000 problems, its time and its
 * memory a problem (the peak beyond that of a plan of ten). bench_plan ASSAY FOLDER OUT: writes
 * OUT/plan.json. */
#include "src/err.h"
#include "src/fs.h"
#include "src/proc.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum { PROBLEMS = 100000 };

/* Seconds and peak bytes of one plan of `count` problems. */
static void plan(double *seconds, double *peak_bytes, const char *assay, const char *folder,
                 int count)
{
    struct arena a = {0};
    const char *sweep = fs_join(&a, folder, "plan.yaml");
    const char *text = arena_printf(
        &a,
        "sweep: plan\nsample: {count: %d}\naxes:\n  direction: [fwd, bwd_data, bwd_weight]\n"
        "  dtype: [f32, f16]\n  layout: [nchw, nhwc]\n  channels: [64, [1, 7, 7]]\n  in: [4x4]\n"
        "  fil: [2x2, 3x1, 1x3]\n  pad: {each_side: [0, 1, 2, 3]}\n  stride: {each_dim: [1, 2]}\n"
        "  dilation: {each_dim: [1, 2]}\n",
        count);
    if (fs_write_text(sweep, text) < 0)
        die("%s", err_message());
    const char *const argv[] = {
        assay,         "plan", "-n",          "--quiet",
        "--workspace", folder, "--candidate", fs_join(&a, folder, "candidate.yaml"),
        "--rev",       "HEAD", "--sweep",     sweep,
        NULL};
    const struct proc_spec spec = {.argv = argv,
                                   .output_limit_bytes = (int64_t)1 << 30,
                                   .memory_limit_bytes = (int64_t)8 << 30,
                                   .cpu = -1};
    struct proc_result r;
    if (proc_run(&r, &spec) < 0)
        die("%s", err_message());
    if (r.end != PROC_EXITED || r.code != 0)
        die("%s", r.err.data);
    *seconds = (double)r.wall_ns / 1e9;
    *peak_bytes = (double)r.peak_bytes;
    proc_result_release(&r);
    arena_release(&a);
}

static void print_row(json_t *rows, const char *id, double value, const char *unit, double goal)
{
    printf("%-24s %10.3g %-16s goal: at most %g\n", id, value, unit, goal);
    json_array_append_new(rows, json_pack("{s:s,s:f,s:s,s:f,s:s}", "id", id, "value", value, "unit",
                                          unit, "goal", goal, "better", "lower"));
}

int main(int argc, char **argv)
{
    double few_seconds, few_bytes, seconds, bytes;
    struct arena a = {0};
    if (argc != 4) {
        fprintf(stderr, "usage: bench_plan ASSAY FOLDER OUT\n");
        return 129;
    }
    plan(&few_seconds, &few_bytes, argv[1], argv[2], 10);
    plan(&seconds, &bytes, argv[1], argv[2], PROBLEMS);
    json_t *rows = json_array();
    print_row(rows, "plan-100000", seconds, "s", 10);
    print_row(rows, "plan-memory", (bytes - few_bytes) / PROBLEMS, "bytes a problem", 1024);
    json_t *all = json_pack("{s:s,s:{s:i},s:o}", "bench", "plan", "machine", "cpus",
                            proc_cpu_count(), "rows", rows);
    int status = json_dump_file(all, fs_join(&a, argv[3], "plan.json"), JSON_INDENT(2));
    json_decref(all);
    arena_release(&a);
    return status == 0 ? 0 : 1;
}
