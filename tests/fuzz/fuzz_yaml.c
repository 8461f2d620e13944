/* Any text, read as YAML and bound by a table that has a key of every type. A tree must keep its bounds when each alias is written
 * out, a refusal must name a place, and what was bound must hold what the table promises. */
#include "src/yaml.h"

#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const words[] = {"both", "correctness", "timing", NULL};

struct inner {
    const char *name;
    int64_t count;
    struct yaml_texts tags;
};
struct outer {
    const char *text, *word;
    int64_t number, duration_ns, bytes;
    double real;
    bool flag;
    struct yaml_texts texts;
    struct yaml_argvs argvs;
    struct inner one;
    struct yaml_structs many;
    const struct yaml_node *node;
};

static const struct yaml_key inner_keys[] = {
    {.name = "name", .type = YAML_TEXT, .offset = offsetof(struct inner, name), .required = true, .help = "a name"},
    {.name = "count", .type = YAML_INT, .offset = offsetof(struct inner, count), .min = 1, .max = 9, .fallback = "1"},
    {.name = "tags", .type = YAML_TEXTS, .offset = offsetof(struct inner, tags)},
    {0},
};
static const struct yaml_key outer_keys[] = {
    {.name = "text", .type = YAML_TEXT, .offset = offsetof(struct outer, text), .fallback = ""},
    {.name = "word", .type = YAML_WORD, .offset = offsetof(struct outer, word), .words = words, .fallback = "both"},
    {.name = "number", .type = YAML_INT, .offset = offsetof(struct outer, number), .min = -10, .max = 10},
    {.name = "real", .type = YAML_REAL, .offset = offsetof(struct outer, real), .min = -1, .max = 1},
    {.name = "flag", .type = YAML_BOOL, .offset = offsetof(struct outer, flag), .fallback = "no"},
    {.name = "duration", .type = YAML_DURATION, .offset = offsetof(struct outer, duration_ns), .fallback = "1s"},
    {.name = "bytes", .type = YAML_BYTES, .offset = offsetof(struct outer, bytes), .fallback = "4k"},
    {.name = "texts", .type = YAML_TEXTS, .offset = offsetof(struct outer, texts)},
    {.name = "argvs", .type = YAML_ARGVS, .offset = offsetof(struct outer, argvs)},
    {.name = "one", .type = YAML_STRUCT, .offset = offsetof(struct outer, one), .table = inner_keys},
    {.name = "many", .type = YAML_STRUCTS, .offset = offsetof(struct outer, many), .table = inner_keys, .size = sizeof(struct inner)},
    {.name = "node", .type = YAML_NODE, .offset = offsetof(struct outer, node)},
    {0},
};

/* Walks the tree with aliases written out, as a reader of YAML_NODE would. */
static size_t count_nodes(const struct yaml_node *node, int level)
{
    if (level > 64 || node->line < 1 || node->column < 1)
        bug("level %d, place %d:%d", level, node->line, node->column);
    if (node->kind == YAML_SCALAR)
        return strlen(node->text) < (16 << 20) ? 1 : 0;
    size_t count = 1;
    for (size_t i = 0; i < node->count; i++) {
        count += count_nodes(node->items[i], level + 1);
        if (node->kind == YAML_MAP)
            count += count_nodes(node->keys[i], level + 1);
    }
    return count;
}

static void check_inner(const struct inner *v)
{
    if (!v->name || v->count < 1 || v->count > 9)
        bug("an element without a name, or %lld times", (long long)v->count);
}

static void check_bound(const struct outer *v, const struct yaml_node *root)
{
    if (!v->text || !v->word || v->number < -10 || v->number > 10 || !(fabs(v->real) <= 1) || v->duration_ns < 0 || v->bytes < 0)
        bug("a value out of its range");
    for (size_t i = 0; i < v->texts.count; i++) {
        if (!v->texts.items[i] || !v->texts.nodes[i])
            bug("text %zu has no place", i);
    }
    for (size_t i = 0; i < v->argvs.count; i++) {
        if (!v->argvs.items[i][0])
            bug("command %zu is empty", i);
    }
    if (yaml_get(root, "one"))
        check_inner(&v->one);
    const struct inner *many = v->many.items;
    for (size_t i = 0; i < v->many.count; i++)
        check_inner(&many[i]);
}

static void bind_and_check(struct arena *a, struct yaml_faults *f, const struct yaml_node *root)
{
    struct outer v = {0};
    if (count_nodes(root, 0) > 2000000)
        bug("more nodes than promised");
    size_t before = f->count;
    yaml_bind(&v, a, f, root, "", outer_keys);
    if (f->count == before)
        check_bound(&v, root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct yaml_faults f;
    struct yaml_node *root;
    yaml_faults_init(&f, "fuzz.yaml");
    yaml_parse(&root, &a, &f, (const char *)data, size);
    if (root)
        bind_and_check(&a, &f, root);
    else if (f.count == 0)
        bug("no tree and no fault");
    if (yaml_faults_check(&f) < 0 && strncmp(err_message(), "fuzz.yaml:", 10) != 0)
        bug("a fault without a place: %s", err_message());
    err_clear();
    yaml_faults_release(&f);
    arena_release(&a);
    return 0;
}
