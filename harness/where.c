#include "harness/where.h"

#include "src/opt.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Neither nesting nor length of a text can exhaust the stack. */
enum { MAX_DEPTH = 100, MAX_LENGTH = 4000 };

enum kind { NUMBER, WORD, TRUTH };

enum operation {
    CONSTANT, /* a number */
    LITERAL,  /* a word */
    FIELD,
    NEGATE,
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    REMAINDER,
    EQUAL,
    DIFFERENT,
    LESS,
    LESS_EQUAL,
    GREATER,
    GREATER_EQUAL,
    NOT,
    AND,
    OR
};

struct where {
    enum operation operation;
    enum kind kind; /* of its value */
    int64_t number;
    const char *word;
    const struct field *field;
    const struct where *left, *right;
};

/* Fields. `part` is which of a field's numbers: the dim from the innermost (w 0, h 1, d 2). */

struct field {
    const char *name;
    int64_t (*number)(const struct problem *p, int part);
    const char *(*word)(const struct problem *p);
    int part;
};

/* Index of the dim that is `part` from the innermost; negative when the problem has none. */
static int dim_of(const struct problem *p, int part)
{
    return p->dims - 1 - part;
}

#define OF_DIM(name, value, missing)                                                               \
    static int64_t name(const struct problem *p, int part)                                         \
    {                                                                                              \
        int d = dim_of(p, part);                                                                   \
        return d < 0 ? (missing) : (value);                                                        \
    }
OF_DIM(in_of, p->in[d], 1)
OF_DIM(fil_of, p->fil[d], 1)
OF_DIM(out_of, problem_out(p, d), 1)
OF_DIM(stride_of, p->str[d], 1)
OF_DIM(dilation_of, p->dil[d], 1)
OF_DIM(pad_lo_of, p->pad_lo[d], 0)
OF_DIM(pad_hi_of, p->pad_hi[d], 0)
#undef OF_DIM

#define OF_PROBLEM(name, value)                                                                    \
    static int64_t name(const struct problem *p, int part)                                         \
    {                                                                                              \
        (void)part;                                                                                \
        return (value);                                                                            \
    }
OF_PROBLEM(n_of, p->n)
OF_PROBLEM(c_of, p->c)
OF_PROBLEM(k_of, p->k)
OF_PROBLEM(g_of, p->g)
OF_PROBLEM(dims_of, p->dims)
OF_PROBLEM(reduction_of, problem_reduction(p))
OF_PROBLEM(flops_of, problem_flops(p))
OF_PROBLEM(bytes_of, problem_bytes(p))
#undef OF_PROBLEM

static const char *direction_of(const struct problem *p)
{
    return direction_name(p->direction);
}

static const char *dtype_of(const struct problem *p)
{
    return dtype_name(p->dtype[OPERAND_INPUT]);
}

#define THREE(name, function)                                                                      \
    {name "_w", function, NULL, 0}, {name "_h", function, NULL, 1},                                \
    {                                                                                              \
        name "_d", function, NULL, 2                                                               \
    }

static const struct field fields[] = {
    {"n", n_of, NULL, 0},
    {"c", c_of, NULL, 0},
    {"k", k_of, NULL, 0},
    {"g", g_of, NULL, 0},
    {"dims", dims_of, NULL, 0},
    {"reduction", reduction_of, NULL, 0},
    {"flops", flops_of, NULL, 0},
    {"bytes", bytes_of, NULL, 0},
    THREE("in", in_of),
    THREE("fil", fil_of),
    THREE("out", out_of),
    THREE("stride", stride_of),
    THREE("dilation", dilation_of),
    {"pad_w_lo", pad_lo_of, NULL, 0},
    {"pad_h_lo", pad_lo_of, NULL, 1},
    {"pad_d_lo", pad_lo_of, NULL, 2},
    {"pad_w_hi", pad_hi_of, NULL, 0},
    {"pad_h_hi", pad_hi_of, NULL, 1},
    {"pad_d_hi", pad_hi_of, NULL, 2},
    {"direction", NULL, direction_of, 0},
    {"dtype", NULL, dtype_of, 0},
    {"layout", NULL, where_layout, 0},
};

/* Words that stand for themselves. */
static const char *const literals[] = {"fwd",  "bwd_data", "bwd_weight", "f32",        "f16",
                                       "bf16", "f8e4m3fn", "f8e5m2",     "f8e4m3fnuz", "f8e5m2fnuz",
                                       "i8",   "i32",      "ncw",        "nwc",        "nchw",
                                       "nhwc", "ncdhw",    "ndhwc",      "other"};

/* Layouts. */

static const struct {
    const char *word;
    int dims;
    bool last; /* channels last */
} layouts[] = {{"ncw", 1, false}, {"nwc", 1, true},    {"nchw", 2, false},
               {"nhwc", 2, true}, {"ncdhw", 3, false}, {"ndhwc", 3, true}};

/* The default layouts, or those with the channels behind the dims: "nhwgc" "gkyxc" "nhwgk". */
static void put_layouts(struct problem *p, bool last)
{
    problem_default_layouts(p);
    if (!last)
        return;
    char dims[PROBLEM_MAX_DIMS + 1], taps[PROBLEM_MAX_DIMS + 1];
    snprintf(dims, sizeof dims, "%s", p->layout[OPERAND_INPUT] + 3);
    snprintf(taps, sizeof taps, "%s", p->layout[OPERAND_FILTER] + 3);
    snprintf(p->layout[OPERAND_INPUT], sizeof p->layout[0], "n%sgc", dims);
    snprintf(p->layout[OPERAND_FILTER], sizeof p->layout[0], "gk%sc", taps);
    snprintf(p->layout[OPERAND_OUTPUT], sizeof p->layout[0], "n%sgk", dims);
}

bool where_set_layout(struct problem *p, const char *word)
{
    for (size_t i = 0; i < COUNT_OF(layouts); i++) {
        if (layouts[i].dims == p->dims && strcmp(layouts[i].word, word) == 0) {
            put_layouts(p, layouts[i].last);
            return true;
        }
    }
    return false;
}

const char *where_layout(const struct problem *p)
{
    for (size_t i = 0; i < COUNT_OF(layouts); i++) {
        struct problem other = {.dims = p->dims};
        if (layouts[i].dims != p->dims)
            continue;
        put_layouts(&other, layouts[i].last);
        if (memcmp(other.layout, p->layout, sizeof other.layout) == 0)
            return layouts[i].word;
    }
    return "other";
}

/* Parsing. */

struct parser {
    struct arena *arena;
    const char *text, *at;
    size_t fault; /* column of the first fault, from 1; 0: none */
    int depth;
};

static const struct where *parse_or(struct parser *p);

static void *fail(struct parser *p, const char *at, const char *format, ...) PRINTF_LIKE(3, 4);
static void *fail(struct parser *p, const char *at, const char *format, ...)
{
    if (p->fault)
        return NULL;
    va_list args;
    va_start(args, format);
    const char *why = arena_vprintf(p->arena, format, args);
    va_end(args);
    p->fault = (size_t)(at - p->text) + 1;
    err_set(ERR_INVALID, "%s", why);
    return NULL;
}

static void skip_blanks(struct parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

static size_t word_length(const char *at)
{
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_')
        length++;
    return length;
}

/* Takes `sign` if it comes next: a word as a whole, other signs by their characters. */
static bool take(struct parser *p, const char *sign)
{
    skip_blanks(p);
    size_t length = strlen(sign);
    if (strncmp(p->at, sign, length) != 0)
        return false;
    if (isalpha((unsigned char)*sign) && word_length(p->at) != length)
        return false;
    p->at += length;
    return true;
}

static const struct where *node(struct parser *p, enum operation operation, enum kind kind,
                                const struct where *left, const struct where *right)
{
    struct where *w = ARENA_NEW(p->arena, struct where);
    *w = (struct where){.operation = operation, .kind = kind, .left = left, .right = right};
    return w;
}

static const char *kind_name(enum kind k)
{
    static const char *const names[] = {
        [NUMBER] = "a number", [WORD] = "a word", [TRUTH] = "a condition"};
    return names[k];
}

/* Both sides are of the kind that the sign at `at` takes. */
static bool fits(struct parser *p, const char *at, int length, enum kind wanted,
                 const struct where *left, const struct where *right)
{
    const struct where *wrong = left->kind != wanted ? left : right->kind != wanted ? right : NULL;
    if (wrong)
        fail(p, at, "`%.*s` takes %s on %s side, this is %s", length, at, kind_name(wanted),
             wrong == left ? "its left" : "its right", kind_name(wrong->kind));
    return !wrong;
}

static const struct where *parse_number(struct parser *p)
{
    const char *start = p->at;
    int64_t value = 0;
    for (; isdigit((unsigned char)*p->at); p->at++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *p->at - '0', &value))
            return fail(p, start, "the number is too large");
    }
    if (word_length(p->at) > 0)
        return fail(p, start, "`%.*s` is no number", (int)word_length(start), start);
    struct where *w = ARENA_NEW(p->arena, struct where);
    *w = (struct where){.operation = CONSTANT, .kind = NUMBER, .number = value};
    return w;
}

static const struct where *parse_name(struct parser *p)
{
    const char *start = p->at;
    int length = (int)word_length(start);
    const char *name = arena_strndup(p->arena, start, (size_t)length);
    const char *known[COUNT_OF(fields) + COUNT_OF(literals) + 1] = {NULL};
    struct where *w = ARENA_NEW(p->arena, struct where);
    p->at += length;
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        known[i] = fields[i].name;
        *w = (struct where){
            .operation = FIELD, .kind = fields[i].word ? WORD : NUMBER, .field = &fields[i]};
        if (strcmp(name, fields[i].name) == 0)
            return w;
    }
    for (size_t i = 0; i < COUNT_OF(literals); i++) {
        known[COUNT_OF(fields) + i] = literals[i];
        *w = (struct where){.operation = LITERAL, .kind = WORD, .word = literals[i]};
        if (strcmp(name, literals[i]) == 0)
            return w;
    }
    const char *nearest = opt_nearest(name, known);
    return nearest ? fail(p, start, "a problem has no `%s` (did you mean `%s`?)", name, nearest)
                   : fail(p, start, "a problem has no `%s`", name);
}

static const struct where *parse_unary(struct parser *p)
{
    const struct where *w = NULL;
    skip_blanks(p);
    const char *start = p->at;
    if (p->depth >= MAX_DEPTH)
        return fail(p, start, "the condition nests too deeply");
    p->depth++;
    if (take(p, "-")) {
        w = parse_unary(p);
        if (w && w->kind != NUMBER)
            w = fail(p, start, "`-` takes a number, this is %s", kind_name(w->kind));
        w = w ? node(p, NEGATE, NUMBER, w, NULL) : NULL;
    } else if (take(p, "(")) {
        w = parse_or(p);
        if (w && !take(p, ")"))
            w = fail(p, p->at, "`)` is missing");
    } else if (isdigit((unsigned char)*p->at)) {
        w = parse_number(p);
    } else if (word_length(p->at) > 0) {
        w = parse_name(p);
    } else if (*p->at) {
        w = fail(p, p->at, "a number, a field or `(` is wanted here, not `%.1s`", p->at);
    } else {
        w = fail(p, p->at, "something is missing at the end");
    }
    p->depth--;
    return w;
}

struct sign {
    const char *text;
    enum operation operation;
};

/* One of the signs (ended by NULL), longer ones before those that they begin with. */
static const struct sign *take_one(struct parser *p, const char **at, const struct sign *signs)
{
    skip_blanks(p);
    *at = p->at;
    for (; signs->text; signs++) {
        if (take(p, signs->text))
            return signs;
    }
    return NULL;
}

static const struct where *parse_chain(struct parser *p, const struct sign *signs, enum kind kind,
                                       const struct where *(*parse_part)(struct parser *p))
{
    const struct sign *sign;
    const char *at;
    const struct where *left = parse_part(p);
    while (left && (sign = take_one(p, &at, signs))) {
        const struct where *right = parse_part(p);
        if (!right || !fits(p, at, (int)strlen(sign->text), kind, left, right))
            return NULL;
        left = node(p, sign->operation, kind, left, right);
    }
    return left;
}

static const struct where *parse_product(struct parser *p)
{
    static const struct sign signs[] = {
        {"*", MULTIPLY}, {"/", DIVIDE}, {"%", REMAINDER}, {NULL, CONSTANT}};
    return parse_chain(p, signs, NUMBER, parse_unary);
}

static const struct where *parse_sum(struct parser *p)
{
    static const struct sign signs[] = {{"+", ADD}, {"-", SUBTRACT}, {NULL, CONSTANT}};
    return parse_chain(p, signs, NUMBER, parse_product);
}

static const struct where *parse_comparison(struct parser *p)
{
    static const struct sign signs[] = {{"==", EQUAL},   {"!=", DIFFERENT},     {"<=", LESS_EQUAL},
                                        {"<", LESS},     {">=", GREATER_EQUAL}, {">", GREATER},
                                        {NULL, CONSTANT}};
    const char *at;
    const struct where *left = parse_sum(p);
    const struct sign *sign = left ? take_one(p, &at, signs) : NULL;
    if (left && !sign && take(p, "="))
        return fail(p, at, "`=` compares nothing (did you mean `==`?)");
    if (!sign)
        return left;
    const struct where *right = parse_sum(p);
    bool words = right && left->kind == WORD && right->kind == WORD &&
                 (sign->operation == EQUAL || sign->operation == DIFFERENT);
    if (!right || (!words && !fits(p, at, (int)strlen(sign->text), NUMBER, left, right)))
        return NULL;
    return node(p, sign->operation, TRUTH, left, right);
}

static const struct where *parse_not(struct parser *p)
{
    skip_blanks(p);
    const char *at = p->at;
    if (!take(p, "not"))
        return parse_comparison(p);
    if (p->depth >= MAX_DEPTH)
        return fail(p, at, "the condition nests too deeply");
    p->depth++;
    const struct where *w = parse_not(p);
    p->depth--;
    if (w && w->kind != TRUTH)
        return fail(p, at, "`not` takes a condition, this is %s", kind_name(w->kind));
    return w ? node(p, NOT, TRUTH, w, NULL) : NULL;
}

static const struct where *parse_and(struct parser *p)
{
    static const struct sign signs[] = {{"and", AND}, {NULL, CONSTANT}};
    return parse_chain(p, signs, TRUTH, parse_not);
}

static const struct where *parse_or(struct parser *p)
{
    static const struct sign signs[] = {{"or", OR}, {NULL, CONSTANT}};
    return parse_chain(p, signs, TRUTH, parse_and);
}

int where_parse(struct where **out, size_t *column, struct arena *a, const char *text)
{
    struct parser p = {.arena = a, .text = text, .at = text};
    if (strlen(text) > MAX_LENGTH)
        fail(&p, text, "the condition is longer than %d characters", MAX_LENGTH);
    const struct where *w = p.fault ? NULL : parse_or(&p);
    skip_blanks(&p);
    if (w && *p.at)
        fail(&p, p.at, "`%.20s` is too much", p.at);
    else if (w && w->kind != TRUTH)
        fail(&p, text, "a condition is wanted, this is %s", kind_name(w->kind));
    if (p.fault) {
        *column = p.fault;
        return ERR_INVALID;
    }
    struct where *copy = ARENA_NEW(a, struct where);
    *copy = *w;
    *out = copy;
    return 0;
}

/* Evaluation. */

struct evaluation {
    const struct problem *problem;
    bool undefined; /* a division by zero, or an overflow */
};

static int64_t number_of(struct evaluation *e, const struct where *w);

static int64_t divide(struct evaluation *e, enum operation operation, int64_t l, int64_t r)
{
    if (r == 0 || (l == INT64_MIN && r == -1)) {
        e->undefined = true;
        return 0;
    }
    return operation == DIVIDE ? l / r : l % r;
}

static int64_t calculate(struct evaluation *e, const struct where *w)
{
    int64_t l = number_of(e, w->left), r = w->right ? number_of(e, w->right) : 0, value = 0;
    switch (w->operation) {
    case NEGATE:
        e->undefined |= __builtin_sub_overflow(0, l, &value);
        return value;
    case ADD:
        e->undefined |= __builtin_add_overflow(l, r, &value);
        return value;
    case SUBTRACT:
        e->undefined |= __builtin_sub_overflow(l, r, &value);
        return value;
    case MULTIPLY:
        e->undefined |= __builtin_mul_overflow(l, r, &value);
        return value;
    default:
        return divide(e, w->operation, l, r);
    }
}

static int64_t number_of(struct evaluation *e, const struct where *w)
{
    if (w->operation == CONSTANT)
        return w->number;
    if (w->operation == FIELD)
        return w->field->number(e->problem, w->field->part);
    return calculate(e, w);
}

static const char *word_of(const struct evaluation *e, const struct where *w)
{
    return w->operation == FIELD ? w->field->word(e->problem) : w->word;
}

static bool compare_words(const struct evaluation *e, const struct where *w)
{
    bool same = strcmp(word_of(e, w->left), word_of(e, w->right)) == 0;
    return w->operation == EQUAL ? same : !same;
}

static bool compare_numbers(struct evaluation *e, const struct where *w)
{
    int64_t l = number_of(e, w->left), r = number_of(e, w->right);
    switch (w->operation) {
    case EQUAL:
        return l == r;
    case DIFFERENT:
        return l != r;
    case LESS:
        return l < r;
    case LESS_EQUAL:
        return l <= r;
    case GREATER:
        return l > r;
    default:
        return l >= r;
    }
}

static bool truth_of(struct evaluation *e, const struct where *w)
{
    switch (w->operation) {
    case NOT:
        return !truth_of(e, w->left);
    case AND:
        return truth_of(e, w->left) && truth_of(e, w->right);
    case OR:
        return truth_of(e, w->left) || truth_of(e, w->right);
    default:
        return w->left->kind == WORD ? compare_words(e, w) : compare_numbers(e, w);
    }
}

bool where_holds(const struct where *w, const struct problem *p)
{
    struct evaluation e = {.problem = p};
    return truth_of(&e, w) && !e.undefined;
}
