/* config: the files that a user writes, checked into structs by one key table a file kind (src/yaml).
 *
 * The kind of a file is its first key: candidate, sweep, model, machine or gate. Paths in a file are relative to it. Every fault of a file is
 * reported at once with file:line:column; nothing runs before all files are right. `assay doctor --keys KIND` prints the tables.
 */
#ifndef ASSAY_CONFIG_H
#define ASSAY_CONFIG_H

#include "reference/problem.h"
#include "reference/verify.h"
#include "src/yaml.h"

/* A compiler under test. */
struct candidate {
    const char *file;        /* where it was read from */
    const char *name;
    const char *repository;  /* a path (absolute by now) or a URL; NULL for prebuilt-only candidates */
    struct candidate_build {
        struct yaml_argvs steps;     /* {source} {build} {jobs} are replaced */
        struct yaml_texts artifacts; /* files kept, relative to the build folder */
        struct yaml_argvs toolchain; /* commands whose output is part of the recipe */
    } build;
    struct candidate_limits {
        int64_t build_ns, compile_ns, execute_ns;
        int64_t memory_bytes, output_bytes;
    } limits;
    const char *driver;      /* a name of harness/drivers */
    const char *library;     /* driver miir: which artifact to dlopen */
    bool asymmetric_pads;    /* can say pads that differ by side */
    struct candidate_accumulator {
        const char *f32, *f16, *bf16, *f8, *i8;
    } accumulator;
    const char *variant;     /* default tuning string, "" for the candidate's own choice */
};
enum accumulator candidate_accumulator(const struct candidate *c, enum dtype input);

/* One problem of a sweep, with where it was written. */
struct sweep_problem {
    struct problem problem;
    const char *text;   /* canonical */
    const char *origin; /* "configs/problems/x.txt:12" */
};
/* A set of problems: lists, other tools' logs, other sweeps, and the product of axes; of them those for which `where` holds; of these, with a sample, the
 * `count` whose (seed, text) have the smallest hashes (SHA-1 of git's blobs), so that neither the order of axes nor a value added reshuffles them. What stands
 * twice stands once. Expansion streams: memory is that of the problems kept, below 1 KB each; a product may have at most 20 million combinations. */
struct sweep {
    const char *file, *name;
    const char *purpose; /* "both", "correctness", "timing" */
    struct sweep_problem *problems;
    size_t count;
    struct yaml_texts problem_lines, includes, imports; /* as written */
    struct sweep_axes {
        struct yaml_node *direction, *dtype, *layout, *channels, *groups, *in, *fil, *pad, *stride, *dilation;
    } axes;
    struct yaml_node *where;
    struct sweep_sample {
        int64_t count, seed; /* count 0: all */
    } sample;
    struct sweep_counts {
        int64_t combinations; /* of the axes */
        int64_t unfit;        /* of them, that are no convolution: no output, groups that do not divide */
        int64_t foreign;      /* lines of imports that are no convolution */
        int64_t left_out;     /* by where */
        int64_t matched;      /* the rest, that a sample is drawn from; what stands twice counts twice */
    } counts;
};

/* Where each problem's text stands first, see mem_first_places. */
size_t *sweep_first_places(const struct sweep_problem *problems, size_t count) MUST_USE;

/* Weighted problems that stand for a network: rate = batch / sum(count * time). */
struct model_layer {
    const char *text; /* as written; canonical after loading */
    int64_t count;
    const char *name;
    struct problem problem;
};
struct model {
    const char *file, *name;
    int64_t batch;
    struct model_layer *layers;
    size_t count;
    struct yaml_structs layer_list;
};

struct machine {
    const char *file, *name;
    const char *hip;      /* provider: "hip-cpu" or a library */
    const char *arch;     /* asked of compilers; "" or "auto": what the device says */
    int64_t device;
    int64_t cpu;          /* timing children are pinned to this CPU; -1: not pinned */
    struct machine_disk { /* what the parts of a workspace may take, see budget.h */
        int64_t artifacts_bytes, bundles_bytes, logs_bytes, slots_bytes;
    } disk;
};

/* What blocks a change, each figure with a reason in the file. */
struct gate {
    const char *file, *name;
    struct gate_correctness {
        double ratio;         /* largest err/tol of real data that passes: 1 */
        double zero_share;    /* a result with more zeros than this proves too little */
        int64_t seed;
        double rms, atol, rtol; /* what others would say of real data, shown beside; 0: not asked */
        struct yaml_texts data; /* kinds of data (reference/data.h), each once; none: integer and real */
        int64_t compiles;     /* of each problem at head, each in a fresh process: do they agree? */
    } correctness;
    struct gate_speed {
        double minimum_effect; /* delta0: effects below are nobody's business, 0.02 */
        double regression;     /* blocks from here, 0.05 */
        int64_t screen_pairs, confirm_pairs, most_pairs;
        double confidence;     /* of intervals, 0.95 */
        double noise_floor;    /* sd of a pair's log ratio from A/A runs, 0.015 */
    } speed;
    /* What the candidate can do, whether right or wrong: "block" or "doubt" (never green, exit code 125). */
    struct gate_coverage {
        const char *newly_not_applicable, *missing, *changed_share;
    } coverage;
    /* What generated code takes beside its time. */
    struct gate_figures {
        struct gate_figure {
            double beyond;       /* a problem that grows by more than this fraction is listed */
            int64_t least;       /* and by at least this much, in the figure's own unit */
            const char *blocks;  /* "never" "total" "problem" */
        } kernels, workspace, code, compile_time;
    } figures;
    struct gate_bisect {
        int64_t confirm_runs;  /* fresh compiles of culprit and parent each */
        bool revert, clean;    /* try the revert at head; confirm on clean builds */
    } bisect;
};

int config_candidate(struct candidate *out, struct arena *a, const char *path) MUST_USE;
int config_sweep(struct sweep *out, struct arena *a, const char *path) MUST_USE;
int config_model(struct model *out, struct arena *a, const char *path) MUST_USE;
/* Without a path: this machine through hip-cpu, and a gate with every key at its default. */
int config_machine(struct machine *out, struct arena *a, const char *path) MUST_USE;
int config_gate(struct gate *out, struct arena *a, const char *path) MUST_USE;
/* The key table of a kind ("candidate" ...), NULL if there is no such kind; and all kinds, NULL-terminated. */
const struct yaml_key *config_keys(const char *kind);
extern const char *const config_kinds[];

#endif
