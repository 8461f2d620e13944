#include "src/yaml.h"

#include "src/fs.h"
#include "src/opt.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

enum { MAX_TEXT_BYTES = 16 << 20, MAX_LEVELS = 64, MAX_NODES = 2000000, MAX_FAULTS = 50, MAX_ANCHORS = 512 };

void yaml_faults_init(struct yaml_faults *f, const char *file)
{
    *f = (struct yaml_faults){.file = file};
    buf_init(&f->text, BUF_MAX_LINE);
}

void yaml_faults_release(struct yaml_faults *f)
{
    buf_release(&f->text);
}

void yaml_fault(struct yaml_faults *f, int line, int column, const char *path, const char *format, ...)
{
    if (f->count++ >= MAX_FAULTS)
        return;
    buf_printf(&f->text, "%s%s:%d:%d: %s%s", f->count > 1 ? "\n" : "", f->file, line, column, path, *path ? ": " : "");
    va_list args;
    va_start(args, format);
    buf_vprintf(&f->text, format, args);
    va_end(args);
}

int yaml_faults_check(const struct yaml_faults *f)
{
    if (f->count == 0)
        return 0;
    if (f->count > MAX_FAULTS)
        return err_set(ERR_INVALID, "%s\nand %zu more", f->text.data, f->count - MAX_FAULTS);
    return err_set(ERR_INVALID, "%s", f->text.data);
}

/* One parse: libyaml's events, and what guards against hostile files. */
struct reader {
    yaml_parser_t parser;
    yaml_event_t event;
    const char *text;
    struct arena *arena;
    struct yaml_faults *faults;
    size_t nodes;
    int deepest; /* level reached since the innermost anchor began */
    struct anchor {
        const char *name;
        struct yaml_node *node; /* NULL while its own tree is read */
        size_t nodes;           /* of its whole tree: what an alias to it adds */
        int levels;             /* of its tree below itself */
    } anchors[MAX_ANCHORS];
    size_t anchor_count;
    bool failed;
};

static int line_of(const yaml_mark_t *m)
{
    return (int)m->line + 1;
}

static int column_of(const yaml_mark_t *m)
{
    return (int)m->column + 1;
}

static void fail(struct reader *r, const yaml_mark_t *mark, const char *what)
{
    if (!r->failed)
        yaml_fault(r->faults, line_of(mark), column_of(mark), "", "%s", what);
    r->failed = true;
}

/* libyaml names the place of a byte that is no UTF-8 or no text by its offset alone. */
static yaml_mark_t mark_of_offset(const char *text, size_t offset)
{
    yaml_mark_t mark = {0};
    for (size_t i = 0; i < offset; i++) {
        mark.line += text[i] == '\n';
        mark.column = text[i] == '\n' ? 0 : mark.column + 1;
    }
    return mark;
}

static void fail_syntax(struct reader *r)
{
    const yaml_parser_t *p = &r->parser;
    if (p->error == YAML_MEMORY_ERROR)
        die("out of memory (libyaml)");
    yaml_mark_t mark = p->error == YAML_READER_ERROR ? mark_of_offset(r->text, p->problem_offset) : p->problem_mark;
    if (p->context)
        fail(r, &mark, arena_printf(r->arena, "%s, %s", p->problem, p->context));
    else
        fail(r, &mark, p->problem);
}

/* The next event in r->event; false when the text is broken. */
static bool next_event(struct reader *r)
{
    yaml_event_delete(&r->event);
    if (r->failed)
        return false;
    if (yaml_parser_parse(&r->parser, &r->event))
        return true;
    fail_syntax(r);
    return false;
}

static bool count_nodes(struct reader *r, size_t more, const yaml_mark_t *mark)
{
    r->nodes += more;
    if (r->nodes <= MAX_NODES)
        return true;
    fail(r, mark, "more nodes than a configuration file can want (aliases counted)");
    return false;
}

static struct yaml_node *new_node(struct reader *r, enum yaml_kind kind)
{
    const yaml_mark_t *mark = &r->event.start_mark;
    if (!count_nodes(r, 1, mark))
        return NULL;
    struct yaml_node *node = ARENA_NEW(r->arena, struct yaml_node);
    *node = (struct yaml_node){.kind = kind, .line = line_of(mark), .column = column_of(mark)};
    return node;
}

static bool is_core_tag(const yaml_char_t *tag)
{
    static const char *const names[] = {YAML_NULL_TAG, YAML_BOOL_TAG, YAML_STR_TAG, YAML_INT_TAG, YAML_FLOAT_TAG, YAML_SEQ_TAG, YAML_MAP_TAG};
    for (size_t i = 0; tag && i < COUNT_OF(names); i++) {
        if (strcmp((const char *)tag, names[i]) == 0)
            return true;
    }
    return !tag;
}

/* In quotes, in a block, or called a text by its tag. */
static bool is_surely_text(const yaml_event_t *e)
{
    const yaml_char_t *tag = e->data.scalar.tag;
    return e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE || (tag && strcmp((const char *)tag, YAML_STR_TAG) == 0);
}

static const yaml_char_t *tag_of(const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_SCALAR_EVENT:
        return e->data.scalar.tag;
    case YAML_SEQUENCE_START_EVENT:
        return e->data.sequence_start.tag;
    case YAML_MAPPING_START_EVENT:
        return e->data.mapping_start.tag;
    default:
        return NULL;
    }
}

static const yaml_char_t *anchor_of(const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_SCALAR_EVENT:
        return e->data.scalar.anchor;
    case YAML_SEQUENCE_START_EVENT:
        return e->data.sequence_start.anchor;
    case YAML_MAPPING_START_EVENT:
        return e->data.mapping_start.anchor;
    default:
        return NULL;
    }
}

static void append(struct arena *a, struct yaml_node ***list, size_t count, struct yaml_node *node)
{
    /* Doubles at each power of two. */
    if ((count & (count - 1)) == 0) {
        struct yaml_node **larger = ARENA_ARRAY(a, count ? 2 * count : 1, struct yaml_node *);
        if (count > 0)
            memcpy(larger, *list, count * sizeof *larger);
        *list = larger;
    }
    (*list)[count] = node;
}

static struct yaml_node *read_node(struct reader *r, int level);

static struct yaml_node *read_scalar(struct reader *r)
{
    struct yaml_node *node = new_node(r, YAML_SCALAR);
    if (!node)
        return NULL;
    const char *text = (const char *)r->event.data.scalar.value;
    if (memchr(text, '\0', r->event.data.scalar.length)) {
        fail(r, &r->event.start_mark, "a NUL byte inside a text");
        return NULL;
    }
    node->text = arena_strndup(r->arena, text, r->event.data.scalar.length);
    node->quoted = is_surely_text(&r->event);
    return node;
}

static struct yaml_node *read_list(struct reader *r, int level)
{
    struct yaml_node *node = new_node(r, YAML_LIST);
    while (node && next_event(r) && r->event.type != YAML_SEQUENCE_END_EVENT) {
        struct yaml_node *item = read_node(r, level + 1);
        if (item)
            append(r->arena, &node->items, node->count++, item);
    }
    return r->failed ? NULL : node;
}

static int by_text_then_place(const void *left, const void *right)
{
    const struct yaml_node *a = *(struct yaml_node *const *)left, *b = *(struct yaml_node *const *)right;
    int order = strcmp(a->text, b->text);
    if (order == 0)
        order = a->line != b->line ? a->line - b->line : a->column - b->column;
    return order;
}

/* Sorts a copy: comparing each key with each would take minutes on the largest map that fits the bounds. */
static void check_repeats(struct reader *r, const struct yaml_node *map)
{
    if (map->count < 2)
        return;
    CLEANUP(mem_free_ptr) struct yaml_node **keys = xcalloc(map->count, sizeof *keys);
    memcpy(keys, map->keys, map->count * sizeof *keys);
    qsort(keys, map->count, sizeof *keys, by_text_then_place);
    for (size_t i = 1, first = 0; i < map->count; i++) {
        if (strcmp(keys[first]->text, keys[i]->text) != 0)
            first = i;
        else
            yaml_fault(r->faults, keys[i]->line, keys[i]->column, keys[i]->text, "given twice, first in line %d", keys[first]->line);
    }
}

static struct yaml_node *read_map(struct reader *r, int level)
{
    struct yaml_node *node = new_node(r, YAML_MAP);
    while (node && next_event(r) && r->event.type != YAML_MAPPING_END_EVENT) {
        struct yaml_node *key = read_node(r, level + 1);
        if (key && key->kind != YAML_SCALAR) {
            fail(r, &r->event.start_mark, "a key must be a word");
            return NULL;
        }
        if (!key || !next_event(r))
            return NULL;
        struct yaml_node *value = read_node(r, level + 1);
        if (!value)
            return NULL;
        append(r->arena, &node->keys, node->count, key);
        append(r->arena, &node->items, node->count++, value);
    }
    if (r->failed || !node)
        return NULL;
    check_repeats(r, node);
    return node;
}

static const struct anchor *find_anchor(const struct reader *r, const char *name)
{
    for (size_t i = r->anchor_count; i-- > 0;) {
        if (strcmp(r->anchors[i].name, name) == 0)
            return &r->anchors[i];
    }
    return NULL;
}

/* The node of an alias is the anchor's own: shared, but counted as if it stood here. */
static struct yaml_node *read_alias(struct reader *r, int level)
{
    const char *name = (const char *)r->event.data.alias.anchor;
    const yaml_mark_t *mark = &r->event.start_mark;
    const struct anchor *anchor = find_anchor(r, name);
    if (!anchor)
        fail(r, mark, arena_printf(r->arena, "there is no anchor `%s`", name));
    else if (!anchor->node)
        fail(r, mark, "an alias inside its own anchor");
    else if (level + anchor->levels > MAX_LEVELS)
        fail(r, mark, "nested too deeply");
    if (r->failed || !count_nodes(r, anchor->nodes, mark))
        return NULL;
    if (level + anchor->levels > r->deepest)
        r->deepest = level + anchor->levels;
    return anchor->node;
}

static struct anchor *open_anchor(struct reader *r)
{
    const yaml_char_t *name = anchor_of(&r->event);
    if (!name)
        return NULL;
    if (r->anchor_count == MAX_ANCHORS) {
        fail(r, &r->event.start_mark, "too many anchors");
        return NULL;
    }
    struct anchor *anchor = &r->anchors[r->anchor_count++];
    *anchor = (struct anchor){.name = arena_strdup(r->arena, (const char *)name)};
    return anchor;
}

static struct yaml_node *read_content(struct reader *r, int level)
{
    switch (r->event.type) {
    case YAML_SCALAR_EVENT:
        return read_scalar(r);
    case YAML_SEQUENCE_START_EVENT:
        return read_list(r, level);
    case YAML_MAPPING_START_EVENT:
        return read_map(r, level);
    default:
        fail(r, &r->event.start_mark, "a value is missing");
        return NULL;
    }
}

static struct yaml_node *read_anchored(struct reader *r, struct anchor *anchor, int level)
{
    size_t nodes = r->nodes;
    int deepest = r->deepest;
    r->deepest = level;
    anchor->node = read_content(r, level);
    anchor->nodes = r->nodes - nodes;
    anchor->levels = r->deepest - level;
    if (deepest > r->deepest)
        r->deepest = deepest;
    return anchor->node;
}

static struct yaml_node *read_node(struct reader *r, int level)
{
    if (r->event.type == YAML_ALIAS_EVENT)
        return read_alias(r, level);
    const char *tag = (const char *)tag_of(&r->event);
    if (level > MAX_LEVELS)
        fail(r, &r->event.start_mark, "nested too deeply");
    else if (!is_core_tag(tag_of(&r->event)))
        fail(r, &r->event.start_mark, arena_printf(r->arena, "the tag %s is not known here", tag));
    struct anchor *anchor = open_anchor(r);
    if (r->failed)
        return NULL;
    if (level > r->deepest)
        r->deepest = level;
    return anchor ? read_anchored(r, anchor, level) : read_content(r, level);
}

static struct yaml_node *read_document(struct reader *r)
{
    if (!next_event(r) || !next_event(r))
        return NULL;
    if (r->event.type == YAML_STREAM_END_EVENT) {
        fail(r, &r->event.start_mark, "the file is empty");
        return NULL;
    }
    if (!next_event(r))
        return NULL;
    struct yaml_node *root = read_node(r, 0);
    if (!root || !next_event(r) || !next_event(r))
        return NULL;
    if (r->event.type != YAML_STREAM_END_EVENT)
        fail(r, &r->event.start_mark, "a second document in one file");
    return r->failed ? NULL : root;
}

void yaml_parse(struct yaml_node **out, struct arena *a, struct yaml_faults *f, const char *text, size_t length)
{
    *out = NULL;
    if (length > MAX_TEXT_BYTES) {
        yaml_fault(f, 1, 1, "", "larger than %d MiB", MAX_TEXT_BYTES >> 20);
        return;
    }
    struct reader *r = xcalloc(1, sizeof *r);
    r->text = text;
    r->arena = a;
    r->faults = f;
    if (!yaml_parser_initialize(&r->parser))
        die("out of memory (libyaml)");
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)text, length);
    *out = read_document(r);
    yaml_event_delete(&r->event);
    yaml_parser_delete(&r->parser);
    free(r);
}

int yaml_load(struct yaml_node **out, struct arena *a, struct yaml_faults *f, const char *path)
{
    struct buf text;
    buf_init(&text, MAX_TEXT_BYTES + 1);
    *out = NULL;
    int status = fs_read(&text, path);
    if (status == ERR_LIMIT) {
        /* The text is then one byte too long, and yaml_parse says so. */
        err_clear();
        status = 0;
    }
    if (status == 0)
        yaml_parse(out, a, f, text.data, text.length);
    buf_release(&text);
    return status;
}

const struct yaml_node *yaml_get(const struct yaml_node *map, const char *key)
{
    for (size_t i = 0; map->kind == YAML_MAP && i < map->count; i++) {
        if (strcmp(map->keys[i]->text, key) == 0)
            return map->items[i];
    }
    return NULL;
}

/* Where a value goes, and how to speak of it. */
struct binder {
    struct arena *arena;
    struct yaml_faults *faults;
};

static bool is_empty(const struct yaml_node *node)
{
    return node->kind == YAML_SCALAR && !node->quoted && (!*node->text || strcmp(node->text, "~") == 0);
}

static const char *kind_words(enum yaml_kind k)
{
    return k == YAML_SCALAR ? "a single value" : k == YAML_LIST ? "a list" : "a map";
}

static void wrong(const struct binder *b, const struct yaml_node *node, const char *path, const char *wanted)
{
    if (node->kind == YAML_SCALAR)
        yaml_fault(b->faults, node->line, node->column, path, "`%.80s` is not %s", node->text, wanted);
    else
        yaml_fault(b->faults, node->line, node->column, path, "%s stands where %s is wanted", kind_words(node->kind), wanted);
}

static void no_value(const struct binder *b, const struct yaml_node *node, const char *path)
{
    yaml_fault(b->faults, node->line, node->column, path, "has no value");
}

static void bind_word(const struct binder *b, void *target, const struct yaml_node *node, const char *path, const struct yaml_key *key)
{
    for (size_t i = 0; key->words[i]; i++) {
        if (strcmp(key->words[i], node->text) == 0) {
            *(const char **)target = key->words[i];
            return;
        }
    }
    struct buf words;
    buf_init(&words, BUF_MAX_LINE);
    for (size_t i = 0; key->words[i]; i++)
        buf_printf(&words, "%s%s", i ? ", " : "", key->words[i]);
    const char *nearest = opt_nearest(node->text, key->words);
    if (nearest)
        yaml_fault(b->faults, node->line, node->column, path, "`%.80s` is not one of %s (did you mean `%s`?)", node->text, words.data,
                   nearest);
    else
        yaml_fault(b->faults, node->line, node->column, path, "`%.80s` is not one of %s", node->text, words.data);
    buf_release(&words);
}

static bool in_bounds(const struct binder *b, double value, const struct yaml_node *node, const char *path, const struct yaml_key *key)
{
    bool bounded = key->min != 0 || key->max != 0;
    if (!bounded || (value >= key->min && value <= key->max))
        return true;
    yaml_fault(b->faults, node->line, node->column, path, "%.80s is not between %.15g and %.15g", node->text, key->min, key->max);
    return false;
}

static void bind_int(const struct binder *b, void *target, const struct yaml_node *node, const char *path, const struct yaml_key *key)
{
    char *end;
    errno = 0;
    long long value = strtoll(node->text, &end, 10);
    if (errno || end == node->text || *end || node->quoted)
        wrong(b, node, path, "a whole number");
    else if (in_bounds(b, (double)value, node, path, key))
        *(int64_t *)target = value;
}

static void bind_real(const struct binder *b, void *target, const struct yaml_node *node, const char *path, const struct yaml_key *key)
{
    char *end;
    double value = strtod(node->text, &end);
    if (end == node->text || *end || node->quoted || !isfinite(value))
        wrong(b, node, path, "a number");
    else if (in_bounds(b, value, node, path, key))
        *(double *)target = value;
}

static void bind_bool(const struct binder *b, void *target, const struct yaml_node *node, const char *path)
{
    if (node->quoted)
        wrong(b, node, path, "yes or no without quotes");
    else if (strcmp(node->text, "yes") == 0 || strcmp(node->text, "true") == 0)
        *(bool *)target = true;
    else if (strcmp(node->text, "no") == 0 || strcmp(node->text, "false") == 0)
        *(bool *)target = false;
    else
        wrong(b, node, path, "yes or no");
}

static void bind_unit(const struct binder *b, void *target, const struct yaml_node *node, const char *path, const struct yaml_key *key)
{
    int status = key->type == YAML_DURATION ? opt_parse_duration(target, node->text) : opt_parse_bytes(target, node->text);
    if (status < 0) {
        yaml_fault(b->faults, node->line, node->column, path, "%s", err_message());
        err_clear();
    }
}

static void bind_texts(const struct binder *b, struct yaml_texts *out, const struct yaml_node *node, const char *path)
{
    bool list = node->kind == YAML_LIST;
    size_t count = list ? node->count : 1;
    out->items = ARENA_ARRAY(b->arena, count, const char *);
    out->nodes = ARENA_ARRAY(b->arena, count, const struct yaml_node *);
    for (size_t i = 0; i < count; i++) {
        const struct yaml_node *item = list ? node->items[i] : node;
        const char *place = list ? arena_printf(b->arena, "%s[%zu]", path, i) : path;
        if (item->kind != YAML_SCALAR) {
            wrong(b, item, place, "a single value");
            continue;
        }
        if (list && is_empty(item)) {
            no_value(b, item, place);
            continue;
        }
        out->nodes[out->count] = item;
        out->items[out->count++] = item->text;
    }
}

static void bind_argvs(const struct binder *b, struct yaml_argvs *out, const struct yaml_node *node, const char *path)
{
    if (node->kind != YAML_LIST) {
        wrong(b, node, path, "a list of commands, each a list of words");
        return;
    }
    out->items = ARENA_ARRAY(b->arena, node->count, const char **);
    for (size_t i = 0; i < node->count; i++) {
        const char *inner = arena_printf(b->arena, "%s[%zu]", path, i);
        if (node->items[i]->kind != YAML_LIST || node->items[i]->count == 0) {
            wrong(b, node->items[i], inner, "a list of words: the command and its arguments");
            continue;
        }
        struct yaml_texts words = {0};
        bind_texts(b, &words, node->items[i], inner);
        const char **argv = ARENA_ARRAY(b->arena, words.count + 1, const char *);
        memcpy(argv, words.items, words.count * sizeof *argv);
        out->items[out->count++] = argv;
    }
}

static void bind_structs(const struct binder *b, struct yaml_structs *out, const struct yaml_node *node, const char *path,
                         const struct yaml_key *key)
{
    if (node->kind != YAML_LIST) {
        wrong(b, node, path, "a list of maps");
        return;
    }
    char *items = arena_array(b->arena, node->count, key->size);
    out->nodes = ARENA_ARRAY(b->arena, node->count, const struct yaml_node *);
    out->items = items;
    out->count = node->count;
    for (size_t i = 0; i < node->count; i++) {
        out->nodes[i] = node->items[i];
        yaml_bind(items + i * key->size, b->arena, b->faults, node->items[i], arena_printf(b->arena, "%s[%zu]", path, i), key->table);
    }
}

static void bind_scalar(const struct binder *b, void *target, const struct yaml_node *node, const char *path, const struct yaml_key *key)
{
    if (node->kind != YAML_SCALAR) {
        wrong(b, node, path, "a single value");
        return;
    }
    switch (key->type) {
    case YAML_TEXT:
        *(const char **)target = node->text;
        break;
    case YAML_WORD:
        bind_word(b, target, node, path, key);
        break;
    case YAML_INT:
        bind_int(b, target, node, path, key);
        break;
    case YAML_REAL:
        bind_real(b, target, node, path, key);
        break;
    case YAML_BOOL:
        bind_bool(b, target, node, path);
        break;
    default:
        bind_unit(b, target, node, path, key);
        break;
    }
}

static void bind_value(const struct binder *b, void *target, const struct yaml_node *node, const char *path, const struct yaml_key *key)
{
    switch (key->type) {
    case YAML_TEXTS:
        bind_texts(b, target, node, path);
        break;
    case YAML_ARGVS:
        bind_argvs(b, target, node, path);
        break;
    case YAML_STRUCT:
        yaml_bind(target, b->arena, b->faults, node, path, key->table);
        break;
    case YAML_STRUCTS:
        bind_structs(b, target, node, path, key);
        break;
    case YAML_NODE:
        *(const struct yaml_node **)target = node;
        break;
    default:
        bind_scalar(b, target, node, path, key);
        break;
    }
}

static const struct yaml_key *find_key(const struct yaml_key *table, const char *name)
{
    for (; table->name; table++) {
        if (strcmp(table->name, name) == 0)
            return table;
    }
    return NULL;
}

static const char *join_path(struct arena *a, const char *path, const char *name)
{
    return *path ? arena_printf(a, "%s.%s", path, name) : name;
}

static void unknown_key(const struct binder *b, const struct yaml_node *key, const char *path, const struct yaml_key *table)
{
    /* Nobody reads more faults than these: a hostile file may have a million. */
    if (b->faults->count >= MAX_FAULTS) {
        b->faults->count++;
        return;
    }
    size_t count = 0;
    while (table[count].name)
        count++;
    const char **names = ARENA_ARRAY(b->arena, count + 1, const char *);
    for (size_t i = 0; i < count; i++)
        names[i] = table[i].name;
    const char *inner = join_path(b->arena, path, key->text);
    const char *nearest = opt_nearest(key->text, names);
    if (nearest)
        yaml_fault(b->faults, key->line, key->column, inner, "there is no such key (did you mean `%s`?)", nearest);
    else
        yaml_fault(b->faults, key->line, key->column, inner, "there is no such key");
}

/* What a key that is not there leaves: its fallback, or the fallbacks of its whole table. */
static void bind_fallback(const struct binder *b, void *target, const struct yaml_node *map, const char *path, const struct yaml_key *key)
{
    if (key->fallback) {
        struct yaml_node *node = ARENA_NEW(b->arena, struct yaml_node);
        *node = (struct yaml_node){.kind = YAML_SCALAR, .line = map->line, .column = map->column, .text = key->fallback};
        bind_value(b, target, node, path, key);
    } else if (key->type == YAML_STRUCT) {
        for (const struct yaml_key *inner = key->table; inner->name; inner++)
            bind_fallback(b, (char *)target + inner->offset, map, join_path(b->arena, path, inner->name), inner);
    }
}

static void bind_missing(const struct binder *b, void *target, const struct yaml_node *map, const char *path, const struct yaml_key *key)
{
    if (key->required)
        yaml_fault(b->faults, map->line, map->column, path, "is missing: %s", key->help ? key->help : "it is required");
    else
        bind_fallback(b, target, map, path, key);
}

void yaml_bind(void *target, struct arena *a, struct yaml_faults *f, const struct yaml_node *node, const char *path, const struct yaml_key *table)
{
    struct binder b = {.arena = a, .faults = f};
    if (node->kind != YAML_MAP) {
        wrong(&b, node, path, "a map of keys");
        return;
    }
    for (size_t i = 0; i < node->count; i++) {
        const struct yaml_key *key = find_key(table, node->keys[i]->text);
        if (!key)
            unknown_key(&b, node->keys[i], path, table);
        else if (is_empty(node->items[i]) && key->type != YAML_NODE)
            no_value(&b, node->keys[i], join_path(a, path, key->name));
        else
            bind_value(&b, (char *)target + key->offset, node->items[i], join_path(a, path, key->name), key);
    }
    for (const struct yaml_key *key = table; key->name; key++) {
        if (!yaml_get(node, key->name))
            bind_missing(&b, (char *)target + key->offset, node, join_path(a, path, key->name), key);
    }
}

static const char *type_words(enum yaml_type t)
{
    static const char *const words[] = {
        [YAML_TEXT] = "text",   [YAML_WORD] = "word",         [YAML_INT] = "whole number", [YAML_REAL] = "number",
        [YAML_BOOL] = "yes/no", [YAML_DURATION] = "duration", [YAML_BYTES] = "size",       [YAML_TEXTS] = "list of texts",
        [YAML_ARGVS] = "list of commands", [YAML_STRUCT] = "map", [YAML_STRUCTS] = "list of maps", [YAML_NODE] = "anything",
    };
    return words[t];
}

static void print_keys(struct buf *out, const struct yaml_key *table, int indent)
{
    for (const struct yaml_key *key = table; key->name; key++) {
        int used = indent + (int)strlen(key->name);
        buf_printf(out, "%*s%s%*s  %s%s", indent, "", key->name, used < 18 ? 18 - used : 0, "", type_words(key->type),
                   key->required ? ", required" : "");
        if (key->fallback && *key->fallback)
            buf_printf(out, ", default %s", key->fallback);
        buf_printf(out, ": %s\n", key->help ? key->help : "");
        if (key->table)
            print_keys(out, key->table, indent + 2);
    }
}

void yaml_print_keys(struct buf *out, const struct yaml_key *table)
{
    print_keys(out, table, 0);
}
