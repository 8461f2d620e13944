#include "harness/config_axes.h"
#include "harness/config_internal.h"

#include "harness/where.h"
#include "reference/spelling.h"
#include "src/fs.h"
#include "src/repo.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Without a sample a sweep keeps no more: nobody runs them, and memory is bounded. */
enum { MAX_PROBLEMS = 1000000 };

static const char *const purpose_words[] = {"both", "correctness", "timing", NULL};

static const struct yaml_key sample_keys[] = {
    {.name = "count",
     .type = YAML_INT,
     .offset = offsetof(struct sweep_sample, count),
     .required = true,
     .min = 1,
     .max = MAX_PROBLEMS,
     .help = "how many problems to keep"},
    {.name = "seed",
     .type = YAML_INT,
     .offset = offsetof(struct sweep_sample, seed),
     .min = 0,
     .max = 1e15,
     .fallback = "1",
     .help = "another seed, another sample"},
    {0},
};

const struct yaml_key config_sweep_keys[] = {
    {.name = "sweep",
     .type = YAML_TEXT,
     .offset = offsetof(struct sweep, name),
     .required = true,
     .help = "its name"},
    {.name = "purpose",
     .type = YAML_WORD,
     .offset = offsetof(struct sweep, purpose),
     .words = purpose_words,
     .fallback = "both",
     .help = "what to do with the problems: both, correctness, timing"},
    {.name = "include",
     .type = YAML_TEXTS,
     .offset = offsetof(struct sweep, includes),
     .help = "problem lists, and other sweeps (.yaml), relative to this file"},
    {.name = "import",
     .type = YAML_TEXTS,
     .offset = offsetof(struct sweep, imports),
     .help = "scripts and logs of other tools: lines that are no convolution are passed over"},
    {.name = "problems",
     .type = YAML_TEXTS,
     .offset = offsetof(struct sweep, problem_lines),
     .help = "problems, one line each, in any spelling that `assay import` knows"},
    {.name = "axes",
     .type = YAML_STRUCT,
     .offset = offsetof(struct sweep, axes),
     .table = axes_keys,
     .help = "every combination of the values of these"},
    {.name = "where",
     .type = YAML_NODE,
     .offset = offsetof(struct sweep, where),
     .help = "a condition that a problem has to meet, such as out_h > 0 and pad_h_lo != pad_w_hi"},
    {.name = "sample",
     .type = YAML_STRUCT,
     .offset = offsetof(struct sweep, sample),
     .table = sample_keys,
     .help = "keep as many, chosen by a hash of each problem"},
    {0},
};

/* A problem on its way into the sweep. */
struct kept {
    struct problem problem;
    const char *origin;
    char hash[REPO_SHA_SIZE]; /* of seed and text; "" without a sample */
    size_t order;
};

/* The sweeps that are being read, from the innermost outwards. */
struct reading {
    const struct reading *outer;
    const char *path; /* absolute */
};

struct gathering {
    struct sweep *sweep;
    struct arena *arena;
    struct yaml_faults *faults;
    const struct where *where;
    const struct reading *reading;
    struct kept *items;
    size_t count, room, order;
};

static int by_hash(const void *left, const void *right)
{
    const struct kept *l = left, *r = right;
    int order = strcmp(l->hash, r->hash);
    return order ? order : (l->order > r->order) - (l->order < r->order);
}

static int by_order(const void *left, const void *right)
{
    const struct kept *l = left, *r = right;
    return (l->order > r->order) - (l->order < r->order);
}

/* Keep the sample's problems of those seen so far. Equal problems have equal hashes. */
static void cut(struct gathering *g)
{
    if (g->count > 0)
        qsort(g->items, g->count, sizeof *g->items, by_hash);
    size_t kept = 0, wanted = (size_t)g->sweep->sample.count;
    for (size_t i = 0; i < g->count && kept < wanted; i++) {
        if (i == 0 || strcmp(g->items[i].hash, g->items[kept - 1].hash) != 0)
            g->items[kept++] = g->items[i];
    }
    g->count = kept;
}

static int hash_problem(char hash[REPO_SHA_SIZE], const struct sweep *s, const struct problem *p)
{
    char line[PROBLEM_MAX_TEXT], text[PROBLEM_MAX_TEXT + 32];
    int length =
        snprintf(text, sizeof text, "%" PRId64 " %s", s->sample.seed, problem_print(line, p));
    return repo_blob_id(hash, text, (size_t)length);
}

static int keep(struct gathering *g, const struct problem *p, const char *origin)
{
    if (g->where && !where_holds(g->where, p)) {
        g->sweep->counts.left_out++;
        return 0;
    }
    bool sampled = g->sweep->sample.count > 0;
    if (g->count == g->room) {
        g->room = g->room ? 2 * g->room : 64;
        g->items = xrealloc(g->items, g->room * sizeof *g->items);
    }
    struct kept *k = &g->items[g->count++];
    *k = (struct kept){.problem = *p, .origin = origin, .order = g->order++};
    int status = sampled ? hash_problem(k->hash, g->sweep, p) : 0;
    if (sampled && g->count > 2 * (size_t)g->sweep->sample.count + 4096)
        cut(g);
    if (status == 0 && !sampled && g->count > MAX_PROBLEMS)
        status = err_set(ERR_LIMIT, "%s: more than %d problems: give it a `sample`", g->sweep->file,
                         MAX_PROBLEMS);
    return status;
}

static int keep_line(struct gathering *g, struct yaml_faults *f, const char *line, int row,
                     int column, const char *path)
{
    struct problem problems[3];
    size_t count = config_read_line(problems, f, line, row, column, path);
    const char *origin = count > 0 ? arena_printf(g->arena, "%s:%d", f->file, row) : "";
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++)
        status = keep(g, &problems[i], origin);
    return status;
}

static char *trim(char *line)
{
    char *comment = strchr(line, '#');
    if (comment && (comment == line || comment[-1] == ' ' || comment[-1] == '\t'))
        *comment = '\0';
    while (*line == ' ' || *line == '\t')
        line++;
    size_t length = strlen(line);
    while (length > 0 && strchr(" \t\r", line[length - 1]))
        line[--length] = '\0';
    return line;
}

/* The problems of a list, or of another tool's lines, where those that are no convolution count as
 * foreign. */
static int keep_list(struct gathering *g, struct yaml_faults *f, const char *path, bool foreign)
{
    enum spelling spelling;
    struct buf text;
    buf_init(&text, BUF_MAX_FILE);
    int status = fs_read(&text, path);
    char *rest = text.data;
    for (int row = 1; status == 0 && rest; row++) {
        char *line = strsep(&rest, "\n");
        char *problem = trim(line);
        if (*problem && foreign && !spelling_guess(&spelling, problem))
            g->sweep->counts.foreign++;
        else if (*problem)
            status = keep_line(g, f, problem, row, (int)(problem - line) + 1, "");
    }
    buf_release(&text);
    return status;
}

static int load(struct sweep *out, struct arena *a, const char *path, const struct reading *outer);

static int keep_sweep(struct gathering *g, const char *path)
{
    struct sweep inner;
    int status = load(&inner, g->arena, path, g->reading);
    for (size_t i = 0; status == 0 && i < inner.count; i++)
        status = keep(g, &inner.problems[i].problem, inner.problems[i].origin);
    return status;
}

static bool is_being_read(const struct reading *r, struct arena *a, const char *path)
{
    char *absolute;
    if (fs_absolute(&absolute, a, path) < 0) {
        err_clear();
        return false;
    }
    while (r && strcmp(r->path, absolute) != 0)
        r = r->outer;
    return r != NULL;
}

static bool is_sweep(const char *path)
{
    size_t length = strlen(path);
    return (length > 5 && strcmp(path + length - 5, ".yaml") == 0) ||
           (length > 4 && strcmp(path + length - 4, ".yml") == 0);
}

/* The files that a key lists. */
static int keep_files(struct gathering *g, const struct yaml_texts *files, const char *key)
{
    bool foreign = strcmp(key, "import") == 0;
    int status = 0;
    for (size_t i = 0; i < files->count && status == 0; i++) {
        const char *path = fs_join(g->arena, fs_dirname(g->arena, g->sweep->file), files->items[i]);
        const struct yaml_node *node = files->nodes[i];
        if (!fs_exists(path)) {
            yaml_fault(g->faults, node->line, node->column, key, "there is no file %s", path);
        } else if (!foreign && is_sweep(path) && is_being_read(g->reading, g->arena, path)) {
            yaml_fault(g->faults, node->line, node->column, key, "%s includes itself", path);
        } else if (!foreign && is_sweep(path)) {
            status = keep_sweep(g, path);
        } else {
            struct yaml_faults inner = {0};
            yaml_faults_init(&inner, path);
            status = config_finish(&inner, keep_list(g, &inner, path, foreign));
        }
    }
    return status;
}

static int keep_product(struct gathering *g)
{
    struct axes *axes;
    struct sweep *s = g->sweep;
    axes_read(&axes, g->arena, g->faults, &s->axes);
    if (!axes)
        return 0;
    const char *origin = arena_printf(g->arena, "%s:%d", s->file, s->axes.in->line);
    s->counts.combinations = axes_count(axes);
    int status = 0;
    for (int64_t i = 0; i < s->counts.combinations && status == 0; i++) {
        struct problem p;
        if (axes_problem(&p, axes, i))
            status = keep(g, &p, origin);
        else
            s->counts.unfit++;
    }
    return status;
}

/* The place of a fault inside the condition: a plain or quoted scalar on one line shows where it
 * is. */
static void read_where(struct gathering *g)
{
    const struct yaml_node *n = g->sweep->where;
    struct where *where;
    size_t column;
    if (!n)
        return;
    if (n->kind != YAML_SCALAR) {
        yaml_fault(g->faults, n->line, n->column, "where", "a condition is wanted");
    } else if (where_parse(&where, &column, g->arena, n->text) < 0) {
        yaml_fault(g->faults, n->line, n->column + (int)column - 1 + n->quoted, "where", "%s",
                   err_message());
        err_clear();
    } else {
        g->where = where;
    }
}

/* What was gathered becomes the sweep's problems; what stands twice stays where it stood first. */
static void conclude(struct gathering *g)
{
    struct sweep *s = g->sweep;
    s->counts.matched = (int64_t)g->order;
    if (s->sample.count > 0)
        cut(g);
    if (g->count > 0)
        qsort(g->items, g->count, sizeof *g->items, by_order);
    CLEANUP(mem_free_ptr) const char **texts = xcalloc(g->count + 1, sizeof *texts);
    for (size_t i = 0; i < g->count; i++) {
        char text[PROBLEM_MAX_TEXT];
        texts[i] = arena_strdup(g->arena, problem_print(text, &g->items[i].problem));
    }
    CLEANUP(mem_free_ptr) size_t *first = mem_first_places(texts, g->count);
    s->problems = ARENA_ARRAY(g->arena, g->count, struct sweep_problem);
    for (size_t i = 0; i < g->count; i++) {
        if (first[i] == i)
            s->problems[s->count++] = (struct sweep_problem){
                .problem = g->items[i].problem, .text = texts[i], .origin = g->items[i].origin};
    }
}

static int gather_all(struct gathering *g)
{
    struct sweep *s = g->sweep;
    read_where(g);
    int status = keep_files(g, &s->includes, "include");
    if (status == 0)
        status = keep_files(g, &s->imports, "import");
    for (size_t i = 0; status == 0 && i < s->problem_lines.count; i++) {
        const struct yaml_node *node = s->problem_lines.nodes[i];
        status = keep_line(g, g->faults, s->problem_lines.items[i], node->line, node->column,
                           "problems");
    }
    return status < 0 ? status : keep_product(g);
}

static int load(struct sweep *out, struct arena *a, const char *path, const struct reading *outer)
{
    *out = (struct sweep){.file = arena_strdup(a, path)};
    struct yaml_faults f = {0};
    struct reading here = {.outer = outer, .path = path};
    struct gathering g = {.sweep = out, .arena = a, .faults = &f, .reading = &here};
    char *absolute;
    if (fs_absolute(&absolute, a, path) == 0)
        here.path = absolute;
    err_clear();
    yaml_faults_init(&f, out->file);
    int status = config_bind_file(out, a, &f, path, "sweep");
    if (status == 0 && f.count == 0)
        status = gather_all(&g);
    if (status == 0 && f.count == 0)
        conclude(&g);
    if (status == 0 && f.count == 0 && out->count == 0)
        yaml_fault(&f, 1, 1, "sweep", "the sweep has no problem%s",
                   out->counts.left_out > 0 ? ": `where` leaves out all of them" : "");
    free(g.items);
    return config_finish(&f, status);
}

size_t *sweep_first_places(const struct sweep_problem *problems, size_t count)
{
    CLEANUP(mem_free_ptr) const char **texts = xcalloc(count + 1, sizeof *texts);
    for (size_t i = 0; i < count; i++)
        texts[i] = problems[i].text;
    return mem_first_places(texts, count);
}

int config_sweep(struct sweep *out, struct arena *a, const char *path)
{
    return load(out, a, path, NULL);
}
