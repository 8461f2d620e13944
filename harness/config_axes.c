#include "harness/config_axes.h"

#include "harness/where.h"
#include "src/opt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_COMBINATIONS = 20000000, /* some ten seconds of checks */
    MAX_VALUES = 100000,         /* of one axis */
};

/* One value of an axis: up to three numbers, or for pads two threes, or a word. */
struct value {
    int64_t lo[PROBLEM_MAX_DIMS], hi[PROBLEM_MAX_DIMS];
    const char *word;
    int index; /* of the word in its axis's list */
};

struct axis {
    struct value *values;
    size_t count;
};

enum axis_id { DIRECTION, DTYPE, LAYOUT, CHANNELS, GROUPS, IN, FIL, PAD, STRIDE, DILATION, AXES };

struct axes {
    struct axis axis[AXES];
    int dims;
    int64_t count;
};

/* The file's side. */

#define AXIS_KEY(key, ...)                                                                         \
    {                                                                                              \
        .name = #key, .type = YAML_NODE, .offset = offsetof(struct sweep_axes, key), __VA_ARGS__   \
    }

const struct yaml_key axes_keys[] = {
    AXIS_KEY(direction, .help = "list of fwd, bwd_data, bwd_weight (default: fwd)"),
    AXIS_KEY(dtype,
             .help = "list of f32, f16, bf16, f8e4m3fn, f8e5m2, f8e4m3fnuz, f8e5m2fnuz, i8, which "
                     "sums in i32 (default: f32)"),
    AXIS_KEY(layout, .help = "list of nchw, nhwc; ncw, nwc with one dim, ncdhw, ndhwc with three "
                             "(default: channels first)"),
    AXIS_KEY(channels, .required = true, .help = "list of N for n = c = k = N, or [n, c, k]"),
    AXIS_KEY(groups, .help = "list of numbers (default: 1)"),
    AXIS_KEY(in, .required = true, .help = "list of sizes such as 14x14, all of as many dims"),
    AXIS_KEY(fil, .required = true, .help = "list of sizes; one number is the same in each dim"),
    AXIS_KEY(pad, .help = "list of 1, 1x0 or lo:hi parts such as 1:0x1:1; or {each_dim: LIST} or "
                          "{each_side: LIST}, every combination (default: 0)"),
    AXIS_KEY(stride, .help = "list of sizes, or {each_dim: LIST} (default: 1)"),
    AXIS_KEY(dilation, .help = "list of sizes, or {each_dim: LIST} (default: 1)"),
    {0},
};

static const char *const direction_words[] = {"fwd", "bwd_data", "bwd_weight", NULL};
static const char *const dtype_words[] = {"f32",        "f16",        "bf16", "f8e4m3fn", "f8e5m2",
                                          "f8e4m3fnuz", "f8e5m2fnuz", "i8",   NULL};
static const char *const layout_words[] = {"nchw", "nhwc", "ncw", "nwc", "ncdhw", "ndhwc", NULL};
static const char *const spread_words[] = {"each_dim", "each_side", NULL};

struct reader {
    struct arena *arena;
    struct yaml_faults *faults;
    const char *path; /* of the axis in messages */
    int dims;         /* 0 until `in` was read */
};

static void fault(struct reader *r, const struct yaml_node *n, const char *format, ...)
    PRINTF_LIKE(3, 4);
static void fault(struct reader *r, const struct yaml_node *n, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *why = arena_vprintf(r->arena, format, args);
    va_end(args);
    yaml_fault(r->faults, n->line, n->column, r->path, "%s", why);
}

/* The elements of a list; a scalar alone is a list of one. */
static size_t elements(const struct yaml_node ***out, struct reader *r, const struct yaml_node *n)
{
    size_t count = n->kind == YAML_LIST ? n->count : 1;
    *out = ARENA_ARRAY(r->arena, count, const struct yaml_node *);
    for (size_t i = 0; i < count; i++)
        (*out)[i] = n->kind == YAML_LIST ? n->items[i] : n;
    if (count == 0)
        fault(r, n, "the list is empty");
    return count;
}

static bool is_scalar(struct reader *r, const struct yaml_node *n)
{
    if (n->kind != YAML_SCALAR)
        fault(r, n, "a single value is wanted here");
    return n->kind == YAML_SCALAR;
}

/* A number at *at, which moves behind it. */
static bool take_number(int64_t *out, const char **at, int64_t least)
{
    if (**at < '0' || **at > '9')
        return false;
    char *end;
    *out = strtoll(*at, &end, 10);
    *at = end;
    return *out >= least && *out <= PROBLEM_MAX_SIZE;
}

static bool read_number(int64_t *out, struct reader *r, const struct yaml_node *n, int64_t least)
{
    const char *at = n->kind == YAML_SCALAR ? n->text : "";
    if (is_scalar(r, n) && take_number(out, &at, least) && !*at)
        return true;
    if (n->kind == YAML_SCALAR)
        fault(r, n, "`%s` is no number of at least %" PRId64, n->text, least);
    return false;
}

/* "3", "3x1", and with sides "1:0x1:1": the parts, and how many. 0 with a fault. */
static int read_parts(struct value *out, struct reader *r, const struct yaml_node *n, int64_t least,
                      bool sides)
{
    int parts = 0;
    if (!is_scalar(r, n))
        return 0;
    for (const char *at = n->text; parts < PROBLEM_MAX_DIMS; at++) {
        if (!take_number(&out->lo[parts], &at, least))
            break;
        out->hi[parts] = out->lo[parts];
        if (sides && *at == ':' && (at++, !take_number(&out->hi[parts], &at, least)))
            break;
        parts++;
        if (!*at)
            return parts;
        if (*at != 'x')
            break;
    }
    fault(r, n, "`%s` is no size such as %s", n->text, sides ? "1, 1x0 or 1:0x1:1" : "3 or 3x1");
    return 0;
}

/* A size of the sweep's dims; one part stands for all of them. */
static bool read_size(struct value *out, struct reader *r, const struct yaml_node *n, int64_t least,
                      bool sides)
{
    int parts = read_parts(out, r, n, least, sides);
    if (parts > 1 && parts != r->dims)
        fault(r, n, "`%s` has %d dims where `in` has %d", n->text, parts, r->dims);
    for (int d = 1; parts == 1 && d < r->dims; d++) {
        out->lo[d] = out->lo[0];
        out->hi[d] = out->hi[0];
    }
    return parts == 1 || parts == r->dims;
}

static void add_value(struct axis *axis, const struct value *v)
{
    axis->values[axis->count++] = *v;
}

static void read_words(struct axis *axis, struct reader *r, const struct yaml_node *n,
                       const char *const *words)
{
    const struct yaml_node **items;
    size_t count = elements(&items, r, n);
    axis->values = ARENA_ARRAY(r->arena, count, struct value);
    for (size_t i = 0; i < count; i++) {
        struct value v = {0};
        if (!is_scalar(r, items[i]))
            continue;
        while (words[v.index] && strcmp(words[v.index], items[i]->text) != 0)
            v.index++;
        v.word = words[v.index];
        const char *nearest = v.word ? NULL : opt_nearest(items[i]->text, words);
        if (v.word)
            add_value(axis, &v);
        else if (nearest)
            fault(r, items[i], "`%s` is not known (did you mean `%s`?)", items[i]->text, nearest);
        else
            fault(r, items[i], "`%s` is not known", items[i]->text);
    }
}

static void read_numbers(struct axis *axis, struct reader *r, const struct yaml_node *n)
{
    const struct yaml_node **items;
    size_t count = elements(&items, r, n);
    axis->values = ARENA_ARRAY(r->arena, count, struct value);
    for (size_t i = 0; i < count; i++) {
        struct value v = {0};
        if (read_number(&v.lo[0], r, items[i], 1))
            add_value(axis, &v);
    }
}

/* N, or [n, c, k]. */
static void read_channels(struct axis *axis, struct reader *r, const struct yaml_node *n)
{
    const struct yaml_node **items;
    size_t count = elements(&items, r, n);
    axis->values = ARENA_ARRAY(r->arena, count, struct value);
    for (size_t i = 0; i < count; i++) {
        struct value v = {0};
        bool three = items[i]->kind == YAML_LIST && items[i]->count == 3, well = true;
        if (items[i]->kind != YAML_SCALAR && !three) {
            fault(r, items[i], "a number or [n, c, k] is wanted");
            continue;
        }
        for (int part = 0; part < 3 && well; part++)
            well = read_number(&v.lo[part], r, three ? items[i]->items[part] : items[i], 1);
        if (well)
            add_value(axis, &v);
    }
}

static void read_in(struct axis *axis, struct reader *r, const struct yaml_node *n)
{
    const struct yaml_node **items;
    size_t count = elements(&items, r, n);
    axis->values = ARENA_ARRAY(r->arena, count, struct value);
    for (size_t i = 0; i < count; i++) {
        struct value v = {0};
        int parts = read_parts(&v, r, items[i], 1, false);
        if (parts == 0)
            continue;
        if (r->dims == 0)
            r->dims = parts;
        if (parts != r->dims)
            fault(r, items[i], "`%s` has %d dims where another element has %d", items[i]->text,
                  parts, r->dims);
        else
            add_value(axis, &v);
    }
}

/* Every combination of the numbers over all dims, or over all sides of all dims. */
static void spread(struct axis *axis, struct reader *r, const struct yaml_node *n,
                   const struct axis *numbers, bool by_side)
{
    int places = by_side ? 2 * r->dims : r->dims;
    size_t total = 1;
    for (int i = 0; i < places; i++) {
        total *= numbers->count;
        if (total > MAX_VALUES) {
            fault(r, n, "more than %d combinations", MAX_VALUES);
            return;
        }
    }
    axis->values = ARENA_ARRAY(r->arena, total, struct value);
    for (size_t i = 0; i < total; i++) {
        struct value v = {0};
        size_t rest = i;
        for (int place = places - 1; place >= 0; place--, rest /= numbers->count) {
            int64_t number = numbers->values[rest % numbers->count].lo[0];
            int d = by_side ? place / 2 : place;
            if (!by_side || place % 2 == 0)
                v.lo[d] = number;
            if (!by_side || place % 2 == 1)
                v.hi[d] = number;
        }
        add_value(axis, &v);
    }
}

static void read_spread(struct axis *axis, struct reader *r, const struct yaml_node *n,
                        int64_t least, bool sides)
{
    const char *word = n->count == 1 ? n->keys[0]->text : "";
    bool by_side = sides && strcmp(word, "each_side") == 0;
    if (!by_side && strcmp(word, "each_dim") != 0) {
        const char *nearest = opt_nearest(word, spread_words);
        fault(r, n, "`{each_dim: LIST}`%s is wanted%s%s%s", sides ? " or `{each_side: LIST}`" : "",
              nearest ? " (did you mean `" : "", nearest ? nearest : "", nearest ? "`?)" : "");
        return;
    }
    const struct yaml_node **items;
    size_t count = elements(&items, r, n->items[0]);
    struct axis numbers = {.values = ARENA_ARRAY(r->arena, count, struct value)};
    for (size_t i = 0; i < count; i++) {
        struct value v = {0};
        if (read_number(&v.lo[0], r, items[i], least))
            add_value(&numbers, &v);
    }
    if (numbers.count > 0)
        spread(axis, r, n, &numbers, by_side);
}

/* Sizes, or a spread of numbers. */
static void read_sizes(struct axis *axis, struct reader *r, const struct yaml_node *n,
                       int64_t least, bool sides)
{
    if (n->kind == YAML_MAP) {
        read_spread(axis, r, n, least, sides);
        return;
    }
    const struct yaml_node **items;
    size_t count = elements(&items, r, n);
    axis->values = ARENA_ARRAY(r->arena, count, struct value);
    for (size_t i = 0; i < count; i++) {
        struct value v = {0};
        if (read_size(&v, r, items[i], least, sides))
            add_value(axis, &v);
    }
}

static void fill_default(struct axis *axis, struct arena *a, enum axis_id id, int dims)
{
    static const char *const first_layout[] = {"", "ncw", "nchw", "ncdhw"};
    struct value v = {.word = id == LAYOUT ? first_layout[dims] : NULL};
    for (int d = 0; d < PROBLEM_MAX_DIMS; d++)
        v.lo[d] = v.hi[d] = id == PAD ? 0 : 1;
    axis->values = ARENA_ARRAY(a, 1, struct value);
    add_value(axis, &v);
}

static void read_axis(struct axes *axes, struct reader *r, enum axis_id id,
                      const struct yaml_node *n)
{
    struct axis *axis = &axes->axis[id];
    r->path = arena_printf(r->arena, "axes.%s", axes_keys[id].name);
    switch (id) {
    case DIRECTION:
        read_words(axis, r, n, direction_words);
        break;
    case DTYPE:
        read_words(axis, r, n, dtype_words);
        break;
    case LAYOUT:
        read_words(axis, r, n, layout_words);
        break;
    case CHANNELS:
        read_channels(axis, r, n);
        break;
    case GROUPS:
        read_numbers(axis, r, n);
        break;
    case IN:
        read_in(axis, r, n);
        break;
    case PAD:
        read_sizes(axis, r, n, 0, true);
        break;
    default:
        read_sizes(axis, r, n, 1, false);
    }
}

void axes_read(struct axes **out, struct arena *a, struct yaml_faults *f,
               const struct sweep_axes *written)
{
    /* In the order of axis_id; `in` comes first, for its dims. */
    const struct yaml_node *const nodes[AXES] = {
        written->direction, written->dtype, written->layout, written->channels, written->groups,
        written->in,        written->fil,   written->pad,    written->stride,   written->dilation};
    struct reader r = {.arena = a, .faults = f};
    size_t before = f->count;
    *out = NULL;
    if (!written->in)
        return;
    struct axes *axes = ARENA_NEW(a, struct axes);
    *axes = (struct axes){.count = 1};
    read_axis(axes, &r, IN, written->in);
    if (f->count > before)
        return;
    axes->dims = r.dims;
    for (int id = 0; id < AXES; id++) {
        if (id != IN && nodes[id])
            read_axis(axes, &r, (enum axis_id)id, nodes[id]);
        else if (id != IN)
            fill_default(&axes->axis[id], a, (enum axis_id)id, r.dims);
        axes->count *= (int64_t)axes->axis[id].count;
        if (axes->count > MAX_COMBINATIONS) {
            yaml_fault(f, written->in->line, written->in->column, "axes",
                       "more than %d combinations", MAX_COMBINATIONS);
            return;
        }
    }
    if (f->count == before)
        *out = axes;
}

int64_t axes_count(const struct axes *axes)
{
    return axes->count;
}

/* The chosen value of each axis, put into the problem. */
static bool put_values(struct problem *p, const struct value *const v[AXES])
{
    enum dtype type = (enum dtype)v[DTYPE]->index; /* the words are in the order of the types */
    p->direction = (enum direction)v[DIRECTION]->index;
    for (int i = 0; i < 3; i++)
        p->dtype[i] = type;
    if (type == DTYPE_I8)
        p->dtype[OPERAND_OUTPUT] = DTYPE_I32;
    p->n = v[CHANNELS]->lo[0];
    p->c = v[CHANNELS]->lo[1];
    p->k = v[CHANNELS]->lo[2];
    p->g = v[GROUPS]->lo[0];
    for (int d = 0; d < p->dims; d++) {
        p->in[d] = v[IN]->lo[d];
        p->fil[d] = v[FIL]->lo[d];
        p->pad_lo[d] = v[PAD]->lo[d];
        p->pad_hi[d] = v[PAD]->hi[d];
        p->str[d] = v[STRIDE]->lo[d];
        p->dil[d] = v[DILATION]->lo[d];
    }
    return where_set_layout(p, v[LAYOUT]->word);
}

bool axes_problem(struct problem *out, const struct axes *axes, int64_t index)
{
    const struct value *chosen[AXES];
    for (int id = AXES - 1; id >= 0; id--) {
        int64_t count = (int64_t)axes->axis[id].count;
        chosen[id] = &axes->axis[id].values[index % count];
        index /= count;
    }
    *out = (struct problem){.dims = axes->dims};
    bool fits = put_values(out, chosen) && problem_check(out) == 0;
    err_clear();
    return fits;
}
