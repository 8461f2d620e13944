#include "harness/config_internal.h"

#include "reference/spelling.h"
#include "src/fs.h"
#include "src/opt.h"

#include <string.h>

/* The key tables: what a file of each kind may say. They are the truth that the documentation is
 * printed from. */

static const struct yaml_key build_keys[] = {
    {.name = "steps",
     .type = YAML_ARGVS,
     .offset = offsetof(struct candidate_build, steps),
     .required = true,
     .help = "commands, each a list of words; {source}, {build} and {jobs} are replaced"},
    {.name = "artifacts",
     .type = YAML_TEXTS,
     .offset = offsetof(struct candidate_build, artifacts),
     .required = true,
     .help = "files to keep, relative to the build folder"},
    {.name = "toolchain",
     .type = YAML_ARGVS,
     .offset = offsetof(struct candidate_build, toolchain),
     .help = "commands whose output is part of the recipe, such as [cc, --version]"},
    {0},
};

static const struct yaml_key limit_keys[] = {
    {.name = "build",
     .type = YAML_DURATION,
     .offset = offsetof(struct candidate_limits, build_ns),
     .fallback = "30m",
     .help = "wall time of one build step"},
    {.name = "compile",
     .type = YAML_DURATION,
     .offset = offsetof(struct candidate_limits, compile_ns),
     .fallback = "20s",
     .help = "wall time of the compilation of one problem"},
    {.name = "execute",
     .type = YAML_DURATION,
     .offset = offsetof(struct candidate_limits, execute_ns),
     .fallback = "60s",
     .help = "wall time of one execution with its verification"},
    {.name = "memory",
     .type = YAML_BYTES,
     .offset = offsetof(struct candidate_limits, memory_bytes),
     .fallback = "4G",
     .help = "resident memory of a child and its descendants"},
    {.name = "output",
     .type = YAML_BYTES,
     .offset = offsetof(struct candidate_limits, output_bytes),
     .fallback = "16M",
     .help = "what a child may print"},
    {0},
};

static const char *const accumulator_words_known[] = {
    "fma", "f32", "truncating", "tf32", "split-f16", "f16", "split-bf16", "bf16", "i32", NULL};

static const struct yaml_key accumulator_keys[] = {
    {.name = "f32",
     .type = YAML_WORD,
     .words = accumulator_words_known,
     .fallback = "fma",
     .offset = offsetof(struct candidate_accumulator, f32),
     .help = "how f32 problems are summed"},
    {.name = "f16",
     .type = YAML_WORD,
     .words = accumulator_words_known,
     .fallback = "f32",
     .offset = offsetof(struct candidate_accumulator, f16),
     .help = "how f16 problems are summed"},
    {.name = "bf16",
     .type = YAML_WORD,
     .words = accumulator_words_known,
     .fallback = "f32",
     .offset = offsetof(struct candidate_accumulator, bf16),
     .help = "how bf16 problems are summed"},
    {.name = "f8",
     .type = YAML_WORD,
     .words = accumulator_words_known,
     .fallback = "f32",
     .offset = offsetof(struct candidate_accumulator, f8),
     .help = "how problems of 8-bit floats are summed"},
    {.name = "i8",
     .type = YAML_WORD,
     .words = accumulator_words_known,
     .fallback = "i32",
     .offset = offsetof(struct candidate_accumulator, i8),
     .help = "how i8 problems are summed"},
    {0},
};

static const char *const driver_words[] = {"miir", NULL};

static const struct yaml_key candidate_keys[] = {
    {.name = "candidate",
     .type = YAML_TEXT,
     .offset = offsetof(struct candidate, name),
     .required = true,
     .help = "its name"},
    {.name = "repository",
     .type = YAML_TEXT,
     .offset = offsetof(struct candidate, repository),
     .help = "path or URL of the Git repository; without it only --prebuilt works"},
    {.name = "build",
     .type = YAML_STRUCT,
     .offset = offsetof(struct candidate, build),
     .table = build_keys,
     .required = true,
     .help = "how a checked-out tree becomes an artifact"},
    {.name = "limits",
     .type = YAML_STRUCT,
     .offset = offsetof(struct candidate, limits),
     .table = limit_keys,
     .help = "what its processes may use"},
    {.name = "driver",
     .type = YAML_WORD,
     .offset = offsetof(struct candidate, driver),
     .required = true,
     .words = driver_words,
     .help = "how assay talks to it"},
    {.name = "library",
     .type = YAML_TEXT,
     .offset = offsetof(struct candidate, library),
     .help = "driver miir: which of the artifacts to load"},
    {.name = "asymmetric_pads",
     .type = YAML_BOOL,
     .offset = offsetof(struct candidate, asymmetric_pads),
     .fallback = "no",
     .help = "can be asked for pads that differ by side"},
    {.name = "accumulator",
     .type = YAML_STRUCT,
     .offset = offsetof(struct candidate, accumulator),
     .table = accumulator_keys,
     .help = "how sums are formed, by input type: fma, f32, f16, i32"},
    {.name = "variant",
     .type = YAML_TEXT,
     .offset = offsetof(struct candidate, variant),
     .fallback = "",
     .help = "tuning string handed to the candidate with each problem"},
    {0},
};

static const struct yaml_key layer_keys[] = {
    {.name = "problem",
     .type = YAML_TEXT,
     .offset = offsetof(struct model_layer, text),
     .required = true,
     .help = "the convolution, at the model's batch"},
    {.name = "count",
     .type = YAML_INT,
     .offset = offsetof(struct model_layer, count),
     .min = 1,
     .max = 1e6,
     .fallback = "1",
     .help = "how often it stands in the network"},
    {.name = "name",
     .type = YAML_TEXT,
     .offset = offsetof(struct model_layer, name),
     .fallback = "",
     .help = "the layer's name"},
    {0},
};

static const struct yaml_key model_keys[] = {
    {.name = "model",
     .type = YAML_TEXT,
     .offset = offsetof(struct model, name),
     .required = true,
     .help = "its name"},
    {.name = "batch",
     .type = YAML_INT,
     .offset = offsetof(struct model, batch),
     .required = true,
     .min = 1,
     .max = 1e6,
     .help = "images a pass: the n of every layer"},
    {.name = "layers",
     .type = YAML_STRUCTS,
     .offset = offsetof(struct model, layer_list),
     .table = layer_keys,
     .size = sizeof(struct model_layer),
     .required = true,
     .help = "the weighted problems that stand for the network"},
    {0},
};

static const struct yaml_key disk_keys[] = {
    {.name = "artifacts",
     .type = YAML_BYTES,
     .offset = offsetof(struct machine_disk, artifacts_bytes),
     .fallback = "20G",
     .help = "what builds left"},
    {.name = "bundles",
     .type = YAML_BYTES,
     .offset = offsetof(struct machine_disk, bundles_bytes),
     .fallback = "4G",
     .help = "code objects of problems"},
    {.name = "logs",
     .type = YAML_BYTES,
     .offset = offsetof(struct machine_disk, logs_bytes),
     .fallback = "1G",
     .help = "what builds and children printed"},
    {.name = "slots",
     .type = YAML_BYTES,
     .offset = offsetof(struct machine_disk, slots_bytes),
     .fallback = "40G",
     .help = "checked-out trees with their build folders"},
    {0},
};

static const struct yaml_key machine_keys[] = {
    {.name = "machine",
     .type = YAML_TEXT,
     .offset = offsetof(struct machine, name),
     .required = true,
     .help = "its name"},
    {.name = "hip",
     .type = YAML_TEXT,
     .offset = offsetof(struct machine, hip),
     .fallback = "hip-cpu",
     .help = "HIP provider: hip-cpu, or the library to load"},
    {.name = "arch",
     .type = YAML_TEXT,
     .offset = offsetof(struct machine, arch),
     .fallback = "auto",
     .help = "what compilers are asked for; auto takes what the device says"},
    {.name = "device",
     .type = YAML_INT,
     .offset = offsetof(struct machine, device),
     .min = 0,
     .max = 255,
     .fallback = "0",
     .help = "index of the device"},
    {.name = "cpu",
     .type = YAML_INT,
     .offset = offsetof(struct machine, cpu),
     .min = -1,
     .max = 4095,
     .fallback = "-1",
     .help = "CPU that timing processes are pinned to; -1 leaves them free"},
    {.name = "disk",
     .type = YAML_STRUCT,
     .offset = offsetof(struct machine, disk),
     .table = disk_keys,
     .help = "what the parts of a workspace may take; the least recently used goes first"},
    {0},
};

static const struct yaml_key gate_correctness_keys[] = {
    {.name = "ratio",
     .type = YAML_REAL,
     .offset = offsetof(struct gate_correctness, ratio),
     .min = 0.01,
     .max = 1e6,
     .fallback = "1",
     .help = "largest error, in derived tolerances, that passes on real data"},
    {.name = "zero_share",
     .type = YAML_REAL,
     .offset = offsetof(struct gate_correctness, zero_share),
     .min = 0,
     .max = 1,
     .fallback = "1",
     .help = "a result with a larger share of zeros proves too little to pass"},
    {.name = "seed",
     .type = YAML_INT,
     .offset = offsetof(struct gate_correctness, seed),
     .min = 0,
     .max = 1e15,
     .fallback = "1",
     .help = "seed of the data"},
    {.name = "rms",
     .type = YAML_REAL,
     .offset = offsetof(struct gate_correctness, rms),
     .min = 0,
     .max = 10,
     .fallback = "0",
     .help =
         "show beside ours the verdict of MIOpen and rocMLIR on real data: normalised RMS up to "
         "this; 0 does not"},
    {.name = "atol",
     .type = YAML_REAL,
     .offset = offsetof(struct gate_correctness, atol),
     .min = 0,
     .max = 1e9,
     .fallback = "0",
     .help = "show the verdict of allclose too: |d| <= atol + rtol |answer|; both 0 do not"},
    {.name = "rtol",
     .type = YAML_REAL,
     .offset = offsetof(struct gate_correctness, rtol),
     .min = 0,
     .max = 1e9,
     .fallback = "0",
     .help = "see atol"},
    {.name = "data",
     .type = YAML_TEXTS,
     .offset = offsetof(struct gate_correctness, data),
     .help = "kinds of data, default [integer, real]: integer real one-hot denormal cancellation "
             "special miopen rocmlir-fixed rocmlir-int rocmlir-float"},
    {.name = "compiles",
     .type = YAML_INT,
     .offset = offsetof(struct gate_correctness, compiles),
     .min = 1,
     .max = 1000,
     .fallback = "5",
     .help = "fresh compiles of each problem of the new build: where their code differs, or the "
             "result got worse, all are run"},
    {0},
};

static const struct yaml_key gate_speed_keys[] = {
    {.name = "minimum_effect",
     .type = YAML_REAL,
     .offset = offsetof(struct gate_speed, minimum_effect),
     .min = 0.0001,
     .max = 10,
     .fallback = "0.02",
     .help = "effects below this fraction are nobody's business"},
    {.name = "regression",
     .type = YAML_REAL,
     .offset = offsetof(struct gate_speed, regression),
     .min = 0.0001,
     .max = 10,
     .fallback = "0.05",
     .help = "slower by this fraction blocks"},
    {.name = "screen_pairs",
     .type = YAML_INT,
     .offset = offsetof(struct gate_speed, screen_pairs),
     .min = 2,
     .max = 1000,
     .fallback = "6",
     .help = "interleaved pairs that every problem gets, and gets more of while noise hides a "
             "regression"},
    {.name = "confirm_pairs",
     .type = YAML_INT,
     .offset = offsetof(struct gate_speed, confirm_pairs),
     .min = 4,
     .max = 10000,
     .fallback = "24",
     .help = "fresh pairs for a problem that the screen leaves in doubt"},
    {.name = "most_pairs",
     .type = YAML_INT,
     .offset = offsetof(struct gate_speed, most_pairs),
     .min = 4,
     .max = 10000,
     .fallback = "96",
     .help = "most pairs that a question gets where noise leaves it open"},
    {.name = "confidence",
     .type = YAML_REAL,
     .offset = offsetof(struct gate_speed, confidence),
     .min = 0.5,
     .max = 0.9999,
     .fallback = "0.95",
     .help = "of the intervals"},
    {.name = "noise_floor",
     .type = YAML_REAL,
     .offset = offsetof(struct gate_speed, noise_floor),
     .min = 0,
     .max = 1,
     .fallback = "0.015",
     .help = "standard deviation of a pair's log ratio, from runs of one build against itself"},
    {0},
};

static const char *const coverage_words[] = {"block", "doubt", NULL};

static const struct yaml_key gate_coverage_keys[] = {
    {.name = "newly_not_applicable",
     .type = YAML_WORD,
     .offset = offsetof(struct gate_coverage, newly_not_applicable),
     .words = coverage_words,
     .fallback = "block",
     .help = "the candidate refuses what it took before: block, or doubt (never green)"},
    {.name = "missing",
     .type = YAML_WORD,
     .offset = offsetof(struct gate_coverage, missing),
     .words = coverage_words,
     .fallback = "block",
     .help = "a problem that one side has no result of: block, or doubt (never green)"},
    {.name = "changed_share",
     .type = YAML_WORD,
     .offset = offsetof(struct gate_coverage, changed_share),
     .words = coverage_words,
     .fallback = "doubt",
     .help = "another share of not-applicable than before: block, or doubt (never green)"},
    {0},
};

static const char *const figure_words[] = {"never", "total", "problem", NULL};

#define BEYOND_KEY(value, text)                                                                    \
    {                                                                                              \
        .name = "beyond", .type = YAML_REAL, .offset = offsetof(struct gate_figure, beyond),       \
        .min = 0, .max = 1000, .fallback = (value), .help = (text)                                 \
    }
#define BLOCKS_KEY                                                                                 \
    {                                                                                              \
        .name = "blocks", .type = YAML_WORD, .offset = offsetof(struct gate_figure, blocks),       \
        .words = figure_words, .fallback = "never",                                                \
        .help = "what blocks when it grows beyond: never, the total, or any one problem"           \
    }

static const struct yaml_key gate_kernels_keys[] = {
    BEYOND_KEY("0", "a problem whose kernels grow in number by more than this fraction is listed"),
    BLOCKS_KEY,
    {0},
};

static const struct yaml_key gate_workspace_keys[] = {
    BEYOND_KEY("0", "a problem whose workspace grows by more than this fraction is listed"),
    BLOCKS_KEY,
    {0},
};

static const struct yaml_key gate_code_keys[] = {
    BEYOND_KEY("0.1", "a problem whose code grows by more than this fraction is listed"),
    BLOCKS_KEY,
    {0},
};

static const struct yaml_key gate_compile_time_keys[] = {
    BEYOND_KEY("1", "a problem that takes longer to compile by more than this fraction is listed"),
    {.name = "least",
     .type = YAML_DURATION,
     .offset = offsetof(struct gate_figure, least),
     .fallback = "100ms",
     .help = "and by at least this much"},
    BLOCKS_KEY,
    {0},
};

static const struct yaml_key gate_figures_keys[] = {
    {.name = "kernels",
     .type = YAML_STRUCT,
     .offset = offsetof(struct gate_figures, kernels),
     .table = gate_kernels_keys,
     .help = "kernels that a problem needs"},
    {.name = "workspace",
     .type = YAML_STRUCT,
     .offset = offsetof(struct gate_figures, workspace),
     .table = gate_workspace_keys,
     .help = "bytes of device memory that a problem needs beside its tensors"},
    {.name = "code",
     .type = YAML_STRUCT,
     .offset = offsetof(struct gate_figures, code),
     .table = gate_code_keys,
     .help = "bytes of a problem's code objects"},
    {.name = "compile_time",
     .type = YAML_STRUCT,
     .offset = offsetof(struct gate_figures, compile_time),
     .table = gate_compile_time_keys,
     .help = "wall time of a problem's compilation, one sample each"},
    {0},
};

static const struct yaml_key gate_bisect_keys[] = {
    {.name = "confirm_runs",
     .type = YAML_INT,
     .offset = offsetof(struct gate_bisect, confirm_runs),
     .min = 1,
     .max = 100,
     .fallback = "5",
     .help = "fresh compiles of culprit and parent each"},
    {.name = "revert",
     .type = YAML_BOOL,
     .offset = offsetof(struct gate_bisect, revert),
     .fallback = "yes",
     .help = "undo the culprit on top of the bad end and run that"},
    {.name = "clean",
     .type = YAML_BOOL,
     .offset = offsetof(struct gate_bisect, clean),
     .fallback = "yes",
     .help = "confirm on builds made from nothing"},
    {0},
};

static const struct yaml_key gate_keys[] = {
    {.name = "gate",
     .type = YAML_TEXT,
     .offset = offsetof(struct gate, name),
     .required = true,
     .help = "its name"},
    {.name = "correctness",
     .type = YAML_STRUCT,
     .offset = offsetof(struct gate, correctness),
     .table = gate_correctness_keys,
     .help = "when a result is right"},
    {.name = "speed",
     .type = YAML_STRUCT,
     .offset = offsetof(struct gate, speed),
     .table = gate_speed_keys,
     .help = "when a change of speed is one"},
    {.name = "coverage",
     .type = YAML_STRUCT,
     .offset = offsetof(struct gate, coverage),
     .table = gate_coverage_keys,
     .help = "what a change of what the candidate can do means"},
    {.name = "figures",
     .type = YAML_STRUCT,
     .offset = offsetof(struct gate, figures),
     .table = gate_figures_keys,
     .help = "what the generated code takes beside its time"},
    {.name = "bisect",
     .type = YAML_STRUCT,
     .offset = offsetof(struct gate, bisect),
     .table = gate_bisect_keys,
     .help = "how a culprit is confirmed"},
    {0},
};

const char *const config_kinds[] = {"candidate", "sweep", "model", "machine", "gate", NULL};

const struct yaml_key *config_keys(const char *kind)
{
    static const struct yaml_key *const tables[] = {candidate_keys, config_sweep_keys, model_keys,
                                                    machine_keys, gate_keys};
    for (size_t i = 0; config_kinds[i]; i++) {
        if (strcmp(config_kinds[i], kind) == 0)
            return tables[i];
    }
    return NULL;
}

/* The kind of a file is its first key: a sweep given as a candidate is told apart before its keys
 * are called wrong. */
static void check_kind(struct yaml_faults *f, const struct yaml_node *root, const char *kind)
{
    if (root->kind != YAML_MAP || root->count == 0) {
        yaml_fault(f, root->line, root->column, "", "expected a map that begins with `%s: NAME`",
                   kind);
        return;
    }
    const struct yaml_node *first = root->keys[0];
    if (strcmp(first->text, kind) != 0 && config_keys(first->text))
        yaml_fault(f, first->line, first->column, first->text,
                   "this is a %s file, a %s file was wanted", first->text, kind);
}

/* What stands for a machine or a gate that nobody named: every key at its default. */
static const char *const default_files[] = {"machine: cpu\n", "gate: default\n"};

int config_bind_file(void *target, struct arena *a, struct yaml_faults *f, const char *path,
                     const char *kind)
{
    struct yaml_node *root;
    int status = 0;
    if (path)
        status = yaml_load(&root, a, f, path);
    else
        yaml_parse(&root, a, f, default_files[kind[0] == 'g'],
                   strlen(default_files[kind[0] == 'g']));
    if (status < 0 || !root)
        return status;
    check_kind(f, root, kind);
    if (f->count == 0)
        yaml_bind(target, a, f, root, "", config_keys(kind));
    return 0;
}

static bool is_url(const char *text)
{
    const char *colon = strchr(text, ':');
    const char *slash = strchr(text, '/');
    return colon && (!slash || colon < slash || strstr(text, "://"));
}

static void check_candidate(struct candidate *c, struct arena *a, struct yaml_faults *f)
{
    bool listed = false;
    for (size_t i = 0; c->library && i < c->build.artifacts.count; i++)
        listed = listed || strcmp(c->build.artifacts.items[i], c->library) == 0;
    if (strcmp(c->driver, "miir") == 0 && !c->library)
        yaml_fault(f, 1, 1, "library", "driver miir needs the library to load");
    else if (c->library && !listed)
        yaml_fault(f, 1, 1, "library", "`%s` is not one of build.artifacts", c->library);
    if (c->build.steps.count == 0)
        yaml_fault(f, 1, 1, "build.steps", "at least one step is needed");
    if (c->repository && !is_url(c->repository))
        c->repository = fs_join(a, fs_dirname(a, c->file), c->repository);
}

int config_finish(struct yaml_faults *f, int status)
{
    if (status == 0)
        status = yaml_faults_check(f);
    yaml_faults_release(f);
    return status;
}

int config_candidate(struct candidate *out, struct arena *a, const char *path)
{
    *out = (struct candidate){.file = arena_strdup(a, path)};
    struct yaml_faults f = {0};
    yaml_faults_init(&f, out->file);
    int status = config_bind_file(out, a, &f, path, "candidate");
    if (status == 0 && f.count == 0)
        check_candidate(out, a, &f);
    return config_finish(&f, status);
}

enum accumulator candidate_accumulator(const struct candidate *c, enum dtype input)
{
    const char *word = input == DTYPE_F32    ? c->accumulator.f32
                       : input == DTYPE_F16  ? c->accumulator.f16
                       : input == DTYPE_BF16 ? c->accumulator.bf16
                       : dtype_is_f8(input)  ? c->accumulator.f8
                                             : c->accumulator.i8;
    enum accumulator accumulator;
    if (!accumulator_parse(&accumulator, word))
        bug("accumulator %s passed the key table", word);
    return accumulator;
}

size_t config_read_line(struct problem out[3], struct yaml_faults *f, const char *line, int row,
                        int column, const char *path)
{
    enum spelling spelling;
    size_t count = 0;
    if (!spelling_guess(&spelling, line)) {
        yaml_fault(f, row, column, path, "`%.60s` is no problem in any spelling that assay knows",
                   line);
    } else if (spelling_parse(out, &count, spelling, line) < 0) {
        yaml_fault(f, row, column, path, "%s", err_message());
        err_clear();
        count = 0;
    }
    return count;
}

static void read_layer(struct model *m, struct arena *a, struct yaml_faults *f, size_t i)
{
    struct model_layer *layer = &m->layers[i];
    const struct yaml_node *node = m->layer_list.nodes[i];
    const char *path = arena_printf(a, "layers[%zu].problem", i);
    struct problem problems[3];
    char text[PROBLEM_MAX_TEXT];
    size_t count = config_read_line(problems, f, layer->text, node->line, node->column, path);
    if (count > 1)
        yaml_fault(f, node->line, node->column, path, "one direction is wanted, this line has %zu",
                   count);
    if (count != 1)
        return;
    layer->problem = problems[0];
    layer->text = arena_strdup(a, problem_print(text, &problems[0]));
    if (layer->problem.n != m->batch)
        yaml_fault(f, node->line, node->column, path, "n is %lld, the model's batch is %lld",
                   (long long)layer->problem.n, (long long)m->batch);
}

int config_model(struct model *out, struct arena *a, const char *path)
{
    *out = (struct model){.file = arena_strdup(a, path)};
    struct yaml_faults f = {0};
    yaml_faults_init(&f, out->file);
    int status = config_bind_file(out, a, &f, path, "model");
    out->layers = out->layer_list.items;
    out->count = out->layer_list.count;
    for (size_t i = 0; status == 0 && f.count == 0 && i < out->count; i++)
        read_layer(out, a, &f, i);
    return config_finish(&f, status);
}

int config_machine(struct machine *out, struct arena *a, const char *path)
{
    *out = (struct machine){.file = path ? arena_strdup(a, path) : ""};
    struct yaml_faults f = {0};
    yaml_faults_init(&f, out->file);
    return config_finish(&f, config_bind_file(out, a, &f, path, "machine"));
}

/* Each kind a known one, and once: a kind that stood twice would be run twice for nothing. */
static void check_data(const struct gate *g, struct yaml_faults *f)
{
    const struct yaml_texts *data = &g->correctness.data;
    for (size_t i = 0; i < data->count; i++) {
        enum data_kind kind;
        const struct yaml_node *at = data->nodes[i];
        const char *nearest = opt_nearest(data->items[i], data_kind_words);
        if (!data_kind_parse(&kind, data->items[i]))
            yaml_fault(f, at->line, at->column, "correctness.data", "there is no data `%s`%s%s%s",
                       data->items[i], nearest ? "; did you mean `" : "", nearest ? nearest : "",
                       nearest ? "`?" : "");
        for (size_t k = 0; k < i; k++) {
            if (strcmp(data->items[k], data->items[i]) == 0)
                yaml_fault(f, at->line, at->column, "correctness.data", "`%s` stands twice",
                           data->items[i]);
        }
    }
}

int config_gate(struct gate *out, struct arena *a, const char *path)
{
    *out = (struct gate){.file = path ? arena_strdup(a, path) : ""};
    struct yaml_faults f = {0};
    yaml_faults_init(&f, out->file);
    int status = config_bind_file(out, a, &f, path, "gate");
    if (status == 0 && f.count == 0 && out->speed.regression < out->speed.minimum_effect)
        yaml_fault(&f, 1, 1, "speed.regression", "must not be below speed.minimum_effect");
    if (status == 0)
        check_data(out, &f);
    if (out->correctness.data.count == 0) {
        static const char *usual[] = {"integer", "real"};
        out->correctness.data = (struct yaml_texts){.items = usual, .count = COUNT_OF(usual)};
    }
    return config_finish(&f, status);
}
