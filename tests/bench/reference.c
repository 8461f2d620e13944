/* reference: the fast convolution against the machine's limit and against the plain loops. Each
 * figure is a ratio of two times of one round; a round measures the peak of fused multiply-adds
 * before and after, so a slow moment of the machine slows both. One thread unless said.
 * bench_reference OUT [SHAPE [KERNELS]]: writes OUT/reference.json. */
#include "reference/conv.h"
#include "reference/conv_kernels.h"
#include "src/fs.h"
#include "src/proc.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 7, CHAINS = 24 };

typedef double wide __attribute__((vector_size(64)));
typedef double half_wide __attribute__((vector_size(32)));

/* Independent chains hide the latency; the values converge, so nothing overflows. */
#define PEAK(name, type, isa)                                                                      \
    static __attribute__((target(isa), noinline)) double name(int64_t steps)                       \
    {                                                                                              \
        type chain[CHAINS], by = (type){0} + 0.5, add = (type){0} + 1;                             \
        for (int i = 0; i < CHAINS; i++)                                                           \
            chain[i] = (type){0} + i;                                                              \
        for (int64_t s = 0; s < steps; s++) {                                                      \
            _Pragma("GCC unroll 24") for (int i = 0; i < CHAINS; i++) chain[i] =                   \
                chain[i] * by + add;                                                               \
        }                                                                                          \
        double sum = 0;                                                                            \
        for (int i = 0; i < CHAINS; i++)                                                           \
            sum += chain[i][0];                                                                    \
        return sum;                                                                                \
    }
PEAK(peak_v4, wide, "avx512f")
#undef CHAINS
#define CHAINS 12
PEAK(peak_v3, half_wide, "avx2,fma")

static volatile double sink;

/* GFLOP/s of fused multiply-adds in registers. */
static double peak(const struct conv_kernels *k)
{
    bool v4 = strcmp(k->name, "v4") == 0;
    int64_t steps = 400000;
    int64_t started = proc_now_ns();
    sink = v4 ? peak_v4(steps) : peak_v3(steps);
    double ns = (double)(proc_now_ns() - started);
    return (double)steps * 2 * (v4 ? 24 * 8 : 12 * 4) / ns;
}

static const struct {
    const char *name, *sizes;
    double goal[3], stretch;
    double plain; /* times the plain loops: goal */
} shapes[] = {
    {"3x3-c64", "n32 c64 k64 g1 in56x56 fil3x3 str1x1 dil1x1 pad1:1x1:1", {84, 85, 77}, 85, 75},
    {"1x1-c256", "n32 c256 k64 g1 in56x56 fil1x1 str1x1 dil1x1 pad0:0x0:0", {57, 60, 61}, 75, 75},
    {"3x3s2-c128",
     "n32 c128 k128 g1 in56x56 fil3x3 str2x2 dil1x1 pad1:1x1:1",
     {82, 81, 74},
     82,
     75},
    {"stem-7x7s2", "n32 c3 k64 g1 in224x224 fil7x7 str2x2 dil1x1 pad3:3x3:3", {78, 25, 71}, 75, 75},
    {"3x3-c512", "n32 c512 k512 g1 in7x7 fil3x3 str1x1 dil1x1 pad1:1x1:1", {72, 74, 54}, 75, 75},
    {"groups-of-4",
     "n32 c128 k128 g32 in56x56 fil3x3 str1x1 dil1x1 pad1:1x1:1",
     {33, 33, 40},
     60,
     45},
    {"depthwise", "n32 c96 k96 g96 in56x56 fil3x3 str1x1 dil1x1 pad1:1x1:1", {14, 14, 9}, 0, 10},
};
static const char *const directions[] = {"fwd", "bwd_data", "bwd_weight"};

static void fill(struct tensor t[3], const struct problem *p)
{
    for (enum operand o = OPERAND_INPUT; o <= OPERAND_OUTPUT; o++) {
        tensor_init(&t[o], p, o);
        tensor_fill(&t[o], DATA_REAL, 1, o, 1);
    }
}

static double time_fast(const struct problem *p, const struct tensor t[3],
                        const struct conv_options *o)
{
    struct conv_answer a;
    int64_t started = proc_now_ns();
    if (conv_reference(&a, p, t, o) < 0)
        die("%s", err_message());
    double ns = (double)(proc_now_ns() - started);
    conv_answer_release(&a);
    return ns;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_row(json_t *rows, const char *id, double values[ROUNDS], const char *unit,
                      double goal, double stretch)
{
    qsort(values, ROUNDS, sizeof *values, by_size);
    printf("%-34s %8.3g %-14s [%.3g, %.3g]  goal %g\n", id, values[ROUNDS / 2], unit, values[0],
           values[ROUNDS - 1], goal);
    fflush(stdout);
    json_array_append_new(rows, json_pack("{s:s,s:f,s:f,s:f,s:s,s:f,s:f,s:s}", "id", id, "value",
                                          values[ROUNDS / 2], "low", values[0], "high",
                                          values[ROUNDS - 1], "unit", unit, "goal", goal, "stretch",
                                          stretch, "better", "higher"));
}

static void measure(json_t *rows, size_t shape, int direction, const char *layouts,
                    const char *suffix, const struct conv_kernels *k)
{
    char text[PROBLEM_MAX_TEXT], id[64];
    struct problem p;
    struct tensor t[3];
    snprintf(text, sizeof text, "conv %s f32 %s %s", directions[direction], shapes[shape].sizes,
             layouts);
    if (problem_parse(&p, text) < 0)
        die("%s", err_message());
    fill(t, &p);
    struct conv_options one = {.values_only = true, .kernels = k}, bounds = {.kernels = k},
                        two = {.values_only = true, .threads = 2, .kernels = k};
    double share[ROUNDS], threads[ROUNDS], extra[ROUNDS];
    (void)time_fast(&p, t, &one);
    for (int r = 0; r < ROUNDS; r++) {
        double before = peak(k), ns = time_fast(&p, t, &one), after = peak(k);
        share[r] = 100 * (double)problem_flops(&p) / ns / ((before + after) / 2);
        threads[r] = ns / time_fast(&p, t, &two);
        extra[r] = 100 * (time_fast(&p, t, &bounds) / ns - 1);
    }
    snprintf(id, sizeof id, "%s-%s%s", directions[direction], shapes[shape].name, suffix);
    print_row(rows, id, share, "% of peak", shapes[shape].goal[direction], shapes[shape].stretch);
    snprintf(id, sizeof id, "%s-%s%s-2-threads", directions[direction], shapes[shape].name, suffix);
    print_row(rows, id, threads, "x one thread", 1.8, 1.95);
    snprintf(id, sizeof id, "%s-%s%s-bounds", directions[direction], shapes[shape].name, suffix);
    qsort(extra, ROUNDS, sizeof *extra, by_size);
    printf("%-34s %8.3g %% more with bounds\n", id, extra[ROUNDS / 2]);
    for (int o = 0; o < 3; o++)
        tensor_release(&t[o]);
}

/* The plain loops at batch 1, since they are slow. */
static void measure_plain(json_t *rows, size_t shape, int direction)
{
    char text[PROBLEM_MAX_TEXT], id[64];
    struct problem p;
    struct tensor t[3];
    snprintf(text, sizeof text, "conv %s f32 n1 %s ngchw gkcyx ngkhw", directions[direction],
             strchr(shapes[shape].sizes, ' ') + 1);
    if (problem_parse(&p, text) < 0)
        die("%s", err_message());
    fill(t, &p);
    double times[ROUNDS];
    struct conv_options one = {.values_only = true};
    for (int r = 0; r < ROUNDS; r++) {
        struct conv_answer a;
        double fast = time_fast(&p, t, &one);
        int64_t started = proc_now_ns();
        if (conv_direct(&a, &p, t) < 0)
            die("%s", err_message());
        times[r] = (double)(proc_now_ns() - started) / fast;
        conv_answer_release(&a);
    }
    snprintf(id, sizeof id, "%s-%s-plain", directions[direction], shapes[shape].name);
    print_row(rows, id, times, "x plain loops", shapes[shape].plain, shapes[shape].plain);
    for (int o = 0; o < 3; o++)
        tensor_release(&t[o]);
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 4) {
        fprintf(stderr, "usage: bench_reference OUT [SHAPE [KERNELS]]\n");
        return 129;
    }
    const struct conv_kernels *k = argc > 3 ? conv_kernels_named(argv[3]) : conv_kernels_best();
    if (!k || strcmp(k->name, "base") == 0)
        die("these kernels have no fused multiply-adds to compare with, or do not run here");
    json_t *rows = json_array();
    printf("kernels %s, peak %.1f GFLOP/s\n", k->name, peak(k));
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        if (argc > 2 && !strstr(shapes[s].name, argv[2]))
            continue;
        for (int d = 0; d < 3; d++) {
            measure(rows, s, d, "ngchw gkcyx ngkhw", "", k);
            measure(rows, s, d, "nhwgc gkyxc nhwgk", "-nhwc", k);
            measure_plain(rows, s, d);
        }
    }
    struct arena a = {0};
    json_t *all = json_pack("{s:s,s:{s:i,s:s},s:o}", "bench", "reference", "machine", "cpus",
                            proc_cpu_count(), "kernels", k->name, "rows", rows);
    int status = json_dump_file(all, fs_join(&a, argv[1], "reference.json"), JSON_INDENT(2));
    json_decref(all);
    arena_release(&a);
    return status == 0 ? 0 : 1;
}
