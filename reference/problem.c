#include "reference/problem.h"

#include "src/err.h"
#include "src/mem.h"
#include "src/opt.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The words of a line, in their order. A line is canonical, so the order is fixed and every word
 * has one spelling. */
enum word {
    WORD_CONV,
    WORD_DIRECTION,
    WORD_TYPE,
    WORD_N,
    WORD_C,
    WORD_K,
    WORD_G,
    WORD_IN,
    WORD_FIL,
    WORD_STR,
    WORD_DIL,
    WORD_PAD,
    WORD_INPUT,
    WORD_FILTER,
    WORD_OUTPUT,
    WORD_COUNT
};

static const struct {
    const char *prefix;  /* what a word with numbers starts with */
    const char *subject; /* how messages call it */
    const char *example;
} words[WORD_COUNT] = {
    [WORD_CONV] = {"conv", "the word conv", "conv"},
    [WORD_DIRECTION] = {"", "the direction", "fwd"},
    [WORD_TYPE] = {"", "the type", "f32"},
    [WORD_N] = {"n", "the batch size", "n32"},
    [WORD_C] = {"c", "the input channels", "c32"},
    [WORD_K] = {"k", "the output channels", "k32"},
    [WORD_G] = {"g", "the groups", "g1"},
    [WORD_IN] = {"in", "the input size", "in14x14"},
    [WORD_FIL] = {"fil", "the filter size", "fil3x3"},
    [WORD_STR] = {"str", "the strides", "str1x1"},
    [WORD_DIL] = {"dil", "the dilations", "dil1x1"},
    [WORD_PAD] = {"pad", "the pads (low:high per dim)", "pad1:1x1:1"},
    [WORD_INPUT] = {"", "the input's layout", "ngchw"},
    [WORD_FILTER] = {"", "the filter's layout", "gkcyx"},
    [WORD_OUTPUT] = {"", "the output's layout", "ngkhw"},
};

static const char *const direction_words[] = {"fwd", "bwd_data", "bwd_weight", NULL};
static const char *const dtype_words[] = {"f32",        "f16",        "bf16", "f8e4m3fn", "f8e5m2",
                                          "f8e4m3fnuz", "f8e5m2fnuz", "i8",   "i32",      NULL};
static const size_t dtype_sizes[] = {4, 2, 2, 1, 1, 1, 1, 1, 4};

enum { DIRECTIONS = COUNT_OF(direction_words) - 1, DTYPES = COUNT_OF(dtype_words) - 1 };

/* By dims - 1 and operand: the usual orders, the default first. Any permutation is right; these are
 * what a misspelt one is compared with. */
static const char *const layout_words[PROBLEM_MAX_DIMS][3][4] = {
    {{"ngcw", "nwgc", "ngwc"}, {"gkcx", "gkxc", "kxgc"}, {"ngkw", "nwgk", "ngwk"}},
    {{"ngchw", "nhwgc", "nghwc"}, {"gkcyx", "gkyxc", "kyxgc"}, {"ngkhw", "nhwgk", "nghwk"}},
    {{"ngcdhw", "ndhwgc", "ngdhwc"},
     {"gkczyx", "gkzyxc", "kzyxgc"},
     {"ngkdhw", "ndhwgk", "ngdhwk"}},
};

const char *direction_name(enum direction d)
{
    if ((unsigned)d >= DIRECTIONS)
        bug("direction %d", (int)d);
    return direction_words[d];
}

const char *dtype_name(enum dtype t)
{
    if ((unsigned)t >= DTYPES)
        bug("dtype %d", (int)t);
    return dtype_words[t];
}

size_t dtype_bytes(enum dtype t)
{
    if ((unsigned)t >= DTYPES)
        bug("dtype %d", (int)t);
    return dtype_sizes[t];
}

bool dtype_is_float(enum dtype t)
{
    return t < DTYPE_I8;
}

bool dtype_is_f8(enum dtype t)
{
    return t >= DTYPE_F8E4M3FN && t <= DTYPE_F8E5M2FNUZ;
}

static bool is_integer(enum dtype t)
{
    return !dtype_is_float(t);
}

/* The words of the text that is being parsed. */
struct line {
    const char *text;
    const char *start[WORD_COUNT];
    size_t length[WORD_COUNT];
    const char *end; /* behind the last word */
};

/* One message for both ways in: with column and word when there is a line, with the subject when
 * the struct was made by hand. */
static int PRINTF_LIKE(3, 4) fault(const struct line *l, enum word w, const char *format, ...)
{
    char reason[256];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    if (!l)
        return err_set(ERR_INVALID, "%s: %s", words[w].subject, reason);
    int shown = l->length[w] < 64 ? (int)l->length[w] : 64;
    return err_set(ERR_INVALID, "column %d: \"%.*s\": %s", (int)(l->start[w] - l->text) + 1, shown,
                   l->start[w], reason);
}

/* A missing word has length 0, so that faults before it are told first. */
static void split(struct line *l, const char *text)
{
    const char *at = text;
    l->text = text;
    for (int w = 0; w < WORD_COUNT; w++) {
        l->start[w] = at;
        l->length[w] = strcspn(at, " ");
        at += l->length[w];
        if (*at && w < WORD_COUNT - 1)
            at++;
    }
    l->end = at;
}

static int missing(const struct line *l, enum word w)
{
    return err_set(ERR_INVALID, "column %d: %s %s should stand, as in \"%s\"",
                   (int)(l->start[w] - l->text) + 1,
                   *l->start[w] ? "a blank too many where" : "the line ends where",
                   words[w].subject, words[w].example);
}

/* The index of a word of exactly this spelling, or -1. */
static int find(const char *const *list, const char *start, size_t length)
{
    for (int i = 0; list[i]; i++)
        if (strlen(list[i]) == length && memcmp(list[i], start, length) == 0)
            return i;
    return -1;
}

/* A fault that offers the nearest of `list`, or all of them when none is near. */
static int unknown(const struct line *l, enum word w, const char *start, size_t length,
                   const char *const *list)
{
    const char *noun = w == WORD_TYPE ? "type" : "direction";
    char word[64], all[128] = "";
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1),
             start);
    const char *near = opt_nearest(word, list);
    if (near)
        return fault(l, w, "no %s is called \"%s\"; did you mean \"%s\"?", noun, word, near);
    for (int i = 0; list[i]; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "", list[i]);
    return fault(l, w, "no %s is called \"%s\"; there are %s", noun, word, all);
}

static int parse_conv(const struct line *l)
{
    if (l->length[WORD_CONV] != 4 || memcmp(l->text, "conv", 4) != 0)
        return fault(l, WORD_CONV, "a problem starts with \"conv\"");
    return 0;
}

static int parse_direction(struct problem *p, const struct line *l)
{
    int found = find(direction_words, l->start[WORD_DIRECTION], l->length[WORD_DIRECTION]);
    if (found < 0)
        return unknown(l, WORD_DIRECTION, l->start[WORD_DIRECTION], l->length[WORD_DIRECTION],
                       direction_words);
    p->direction = (enum direction)found;
    return 0;
}

/* "f16", "i8" (which sums in i32), or three names with colons. */
static int parse_types(struct problem *p, const struct line *l)
{
    const char *at = l->start[WORD_TYPE], *end = at + l->length[WORD_TYPE];
    int count = 0;
    for (; count < 3; count++) {
        const char *colon = memchr(at, ':', (size_t)(end - at));
        size_t length = (size_t)((colon ? colon : end) - at);
        int found = find(dtype_words, at, length);
        if (found < 0)
            return unknown(l, WORD_TYPE, at, length, dtype_words);
        p->dtype[count] = (enum dtype)found;
        if (!colon)
            break;
        at = colon + 1;
    }
    if (count != 0 && count != 2)
        return fault(l, WORD_TYPE, "one type, or three as input:filter:output");
    if (count == 2 && p->dtype[0] == p->dtype[1] && p->dtype[1] == p->dtype[2] &&
        p->dtype[0] != DTYPE_I8)
        return fault(l, WORD_TYPE, "three equal types are written \"%s\"", dtype_name(p->dtype[0]));
    if (count == 0) {
        p->dtype[OPERAND_FILTER] = p->dtype[OPERAND_INPUT];
        p->dtype[OPERAND_OUTPUT] =
            p->dtype[OPERAND_INPUT] == DTYPE_I8 ? DTYPE_I32 : p->dtype[OPERAND_INPUT];
    }
    return 0;
}

/* Decimal digits without a leading zero, at most PROBLEM_MAX_SIZE. Gives their end, or NULL. */
static const char *number(int64_t *out, const char *at)
{
    const char *start = at;
    int64_t value = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        value = value * 10 + (*at - '0');
        if (value > PROBLEM_MAX_SIZE)
            return NULL;
    }
    if (at == start || (*start == '0' && at - start > 1))
        return NULL;
    *out = value;
    return at;
}

static int bad_number(const struct line *l, enum word w)
{
    return fault(
        l, w,
        "%s should stand here, as in \"%s\", numbers decimal, without leading zeros, at most %d",
        words[w].subject, words[w].example, PROBLEM_MAX_SIZE);
}

/* Behind the prefix of a word, or NULL when it starts otherwise. */
static const char *behind_prefix(const struct line *l, enum word w)
{
    size_t length = strlen(words[w].prefix);
    return strncmp(l->start[w], words[w].prefix, length) == 0 ? l->start[w] + length : NULL;
}

static int parse_count(int64_t *out, const struct line *l, enum word w)
{
    const char *at = behind_prefix(l, w);
    if (at)
        at = number(out, at);
    if (at != l->start[w] + l->length[w])
        return bad_number(l, w);
    return 0;
}

/* Sizes joined by x, or with `high` pairs of low:high. The input's word sets the dims; all others
 * must agree with it. */
static int parse_sizes(int64_t *low, int64_t *high, struct problem *p, const struct line *l,
                       enum word w)
{
    const char *at = behind_prefix(l, w), *end = l->start[w] + l->length[w];
    int count = 0;
    while (at) {
        if (count == PROBLEM_MAX_DIMS)
            return fault(l, w, "more than %d spatial dims", PROBLEM_MAX_DIMS);
        at = number(&low[count], at);
        if (at && high)
            at = *at == ':' ? number(&high[count], at + 1) : NULL;
        count++;
        if (!at || at == end)
            break;
        at = *at == 'x' ? at + 1 : NULL;
    }
    if (!at)
        return bad_number(l, w);
    if (w == WORD_IN)
        p->dims = count;
    if (count != p->dims)
        return fault(l, w, "%d spatial dim%s, but the input has %d", count, count == 1 ? "" : "s",
                     p->dims);
    return 0;
}

static int parse_layout(char layout[8], const struct problem *p, const struct line *l, enum word w)
{
    if (l->length[w] >= 8)
        return fault(l, w, "%s is a permutation of \"%s\"", words[w].subject,
                     layout_words[p->dims - 1][w - WORD_INPUT][0]);
    memset(layout, 0, 8);
    memcpy(layout, l->start[w], l->length[w]);
    return 0;
}

static int parse_word(struct problem *p, const struct line *l, enum word w)
{
    switch (w) {
    case WORD_CONV:
        return parse_conv(l);
    case WORD_DIRECTION:
        return parse_direction(p, l);
    case WORD_TYPE:
        return parse_types(p, l);
    case WORD_N:
        return parse_count(&p->n, l, w);
    case WORD_C:
        return parse_count(&p->c, l, w);
    case WORD_K:
        return parse_count(&p->k, l, w);
    case WORD_G:
        return parse_count(&p->g, l, w);
    case WORD_IN:
        return parse_sizes(p->in, NULL, p, l, w);
    case WORD_FIL:
        return parse_sizes(p->fil, NULL, p, l, w);
    case WORD_STR:
        return parse_sizes(p->str, NULL, p, l, w);
    case WORD_DIL:
        return parse_sizes(p->dil, NULL, p, l, w);
    case WORD_PAD:
        return parse_sizes(p->pad_lo, p->pad_hi, p, l, w);
    case WORD_INPUT:
    case WORD_FILTER:
    case WORD_OUTPUT:
        return parse_layout(p->layout[w - WORD_INPUT], p, l, w);
    case WORD_COUNT:
        break;
    }
    bug("word %d", (int)w);
}

/* The product, or INT64_MAX when it does not fit: counts are compared with limits before anybody
 * trusts them. */
static int64_t product(const int64_t *factors, int count)
{
    int64_t result = 1;
    for (int i = 0; i < count; i++)
        if (__builtin_mul_overflow(result, factors[i], &result))
            return INT64_MAX;
    return result;
}

static int64_t taps(const struct problem *p)
{
    return product(p->fil, p->dims);
}

int64_t problem_out(const struct problem *p, int dim)
{
    int64_t room =
        p->in[dim] + p->pad_lo[dim] + p->pad_hi[dim] - (p->fil[dim] - 1) * p->dil[dim] - 1;
    return room < 0 ? 0 : room / p->str[dim] + 1;
}

static int64_t out_pixels(const struct problem *p)
{
    int64_t sizes[PROBLEM_MAX_DIMS];
    for (int i = 0; i < p->dims; i++)
        sizes[i] = problem_out(p, i);
    return product(sizes, p->dims);
}

enum operand problem_result(const struct problem *p)
{
    switch (p->direction) {
    case DIRECTION_FWD:
        return OPERAND_OUTPUT;
    case DIRECTION_BWD_DATA:
        return OPERAND_INPUT;
    case DIRECTION_BWD_WEIGHT:
        return OPERAND_FILTER;
    }
    bug("direction %d", (int)p->direction);
}

int64_t problem_elements(const struct problem *p, enum operand which)
{
    switch (which) {
    case OPERAND_INPUT:
        return product((int64_t[]){p->n, p->c, product(p->in, p->dims)}, 3);
    case OPERAND_FILTER:
        return product((int64_t[]){p->k, p->c / p->g, taps(p)}, 3);
    case OPERAND_OUTPUT:
        return product((int64_t[]){p->n, p->k, out_pixels(p)}, 3);
    }
    bug("operand %d", (int)which);
}

int64_t problem_reduction(const struct problem *p)
{
    switch (p->direction) {
    case DIRECTION_FWD:
        return product((int64_t[]){p->c / p->g, taps(p)}, 2);
    case DIRECTION_BWD_DATA:
        return product((int64_t[]){p->k / p->g, taps(p)}, 2);
    case DIRECTION_BWD_WEIGHT:
        return product((int64_t[]){p->n, out_pixels(p)}, 2);
    }
    bug("direction %d", (int)p->direction);
}

int64_t problem_flops(const struct problem *p)
{
    return product((int64_t[]){2, problem_elements(p, OPERAND_OUTPUT), p->c / p->g, taps(p)}, 4);
}

int64_t problem_bytes(const struct problem *p)
{
    int64_t bytes = 0;
    for (enum operand o = OPERAND_INPUT; o <= OPERAND_OUTPUT; o++)
        bytes += problem_elements(p, o) * (int64_t)dtype_bytes(p->dtype[o]);
    return bytes;
}

static int check_range(const struct line *l, enum word w, const int64_t *values, int count,
                       int minimum)
{
    for (int i = 0; i < count; i++)
        if (values[i] < minimum || values[i] > PROBLEM_MAX_SIZE)
            return fault(l, w, "%s must be %d to %d, not %lld", words[w].subject, minimum,
                         PROBLEM_MAX_SIZE, (long long)values[i]);
    return 0;
}

static int check_numbers(const struct problem *p, const struct line *l)
{
    int rc = check_range(l, WORD_N, &p->n, 1, 1);
    if (rc == 0)
        rc = check_range(l, WORD_C, &p->c, 1, 1);
    if (rc == 0)
        rc = check_range(l, WORD_K, &p->k, 1, 1);
    if (rc == 0)
        rc = check_range(l, WORD_G, &p->g, 1, 1);
    if (rc == 0)
        rc = check_range(l, WORD_IN, p->in, p->dims, 1);
    if (rc == 0)
        rc = check_range(l, WORD_FIL, p->fil, p->dims, 1);
    if (rc == 0)
        rc = check_range(l, WORD_STR, p->str, p->dims, 1);
    if (rc == 0)
        rc = check_range(l, WORD_DIL, p->dil, p->dims, 1);
    if (rc == 0)
        rc = check_range(l, WORD_PAD, p->pad_lo, p->dims, 0);
    if (rc == 0)
        rc = check_range(l, WORD_PAD, p->pad_hi, p->dims, 0);
    return rc;
}

/* What is multiplied is all integer or all floating, and a floating sum has no integer result. i32
 * only holds sums. */
static int check_types(const struct problem *p, const struct line *l)
{
    if (p->dtype[OPERAND_INPUT] == DTYPE_I32 || p->dtype[OPERAND_FILTER] == DTYPE_I32)
        return fault(l, WORD_TYPE, "i32 is a type of outputs only, as in \"i8:i8:i32\"");
    enum operand result = problem_result(p);
    enum dtype left = p->dtype[result == OPERAND_INPUT ? OPERAND_FILTER : OPERAND_INPUT];
    enum dtype right = p->dtype[result == OPERAND_OUTPUT ? OPERAND_FILTER : OPERAND_OUTPUT];
    if (is_integer(left) != is_integer(right))
        return fault(l, WORD_TYPE, "%s and %s cannot be multiplied", dtype_name(left),
                     dtype_name(right));
    if (!is_integer(left) && is_integer(p->dtype[result]))
        return fault(l, WORD_TYPE, "%s sums have no %s result", dtype_name(left),
                     dtype_name(p->dtype[result]));
    return 0;
}

static int check_groups(const struct problem *p, const struct line *l)
{
    if (p->c % p->g != 0)
        return fault(l, WORD_G, "%lld groups do not divide c%lld", (long long)p->g,
                     (long long)p->c);
    if (p->k % p->g != 0)
        return fault(l, WORD_G, "%lld groups do not divide k%lld", (long long)p->g,
                     (long long)p->k);
    return 0;
}

static int check_output(const struct problem *p, const struct line *l)
{
    for (int i = 0; i < p->dims; i++) {
        if (problem_out(p, i) < 1)
            return fault(l, WORD_FIL,
                         "in dim %d the filter spans %lld, but the padded input only %lld", i + 1,
                         (long long)((p->fil[i] - 1) * p->dil[i] + 1),
                         (long long)(p->in[i] + p->pad_lo[i] + p->pad_hi[i]));
    }
    return 0;
}

static int check_counts(const struct problem *p, const struct line *l)
{
    static const enum word size_word[] = {WORD_IN, WORD_FIL, WORD_PAD};
    static const char *const names[] = {"input", "filter", "output"};
    for (enum operand o = OPERAND_INPUT; o <= OPERAND_OUTPUT; o++)
        if (problem_elements(p, o) >= INT64_C(1) << 40)
            return fault(l, size_word[o], "the %s has 2^40 elements or more", names[o]);
    if (problem_reduction(p) > INT32_MAX)
        return fault(l, WORD_FIL, "a result element sums 2^31 products or more");
    return 0;
}

/* Exactly the letters of the default layout, each once. */
static int check_layout(const struct problem *p, const struct line *l, enum operand o)
{
    const char *const *usual = layout_words[p->dims - 1][o];
    const char *layout = p->layout[o];
    enum word w = (enum word)(WORD_INPUT + (int)o);
    size_t length = strnlen(layout, sizeof p->layout[o]);
    bool right = length == strlen(usual[0]);
    for (size_t i = 0; right && usual[0][i]; i++)
        right = memchr(layout, usual[0][i], length) != NULL;
    if (right)
        return 0;
    char word[sizeof p->layout[o] + 1];
    snprintf(word, sizeof word, "%.*s", (int)length, layout);
    const char *near = opt_nearest(word, usual);
    return fault(l, w, "%s is a permutation of \"%s\"; did you mean \"%s\"?", words[w].subject,
                 usual[0], near ? near : usual[0]);
}

static int check(const struct problem *p, const struct line *l)
{
    int rc = check_numbers(p, l);
    if (rc == 0)
        rc = check_types(p, l);
    if (rc == 0)
        rc = check_groups(p, l);
    if (rc == 0)
        rc = check_output(p, l);
    if (rc == 0)
        rc = check_counts(p, l);
    for (enum operand o = OPERAND_INPUT; rc == 0 && o <= OPERAND_OUTPUT; o++)
        rc = check_layout(p, l, o);
    return rc;
}

int problem_check(const struct problem *p)
{
    if ((unsigned)p->direction >= DIRECTIONS)
        return err_set(ERR_INVALID, "the direction: %d is none", (int)p->direction);
    for (int o = 0; o < 3; o++)
        if ((unsigned)p->dtype[o] >= DTYPES)
            return err_set(ERR_INVALID, "the type: %d is none", (int)p->dtype[o]);
    if (p->dims < 1 || p->dims > PROBLEM_MAX_DIMS)
        return err_set(ERR_INVALID, "the spatial dims: %d is not 1 to %d", p->dims,
                       PROBLEM_MAX_DIMS);
    return check(p, NULL);
}

int problem_parse(struct problem *out, const char *text)
{
    struct line l;
    struct problem p = {0};
    int rc = 0;
    split(&l, text);
    for (enum word w = WORD_CONV; rc == 0 && w < WORD_COUNT; w++)
        rc = l.length[w] ? parse_word(&p, &l, w) : missing(&l, w);
    if (rc == 0 && *l.end)
        rc = err_set(ERR_INVALID, "column %d: nothing may follow the output's layout",
                     (int)(l.end - text) + 1);
    if (rc == 0)
        rc = check(&p, &l);
    if (rc == 0)
        *out = p;
    return rc;
}

/* Printing is by hand: sweeps print each of 100,000 problems several times, and snprintf is ten
 * times slower. */
static char *put_text(char *at, const char *text)
{
    size_t length = strlen(text);
    memcpy(at, text, length);
    return at + length;
}

static char *put_number(char *at, int64_t value)
{
    char digits[24];
    int count = 0;
    do
        digits[count++] = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    while (count > 0)
        *at++ = digits[--count];
    return at;
}

static char *put_word(char *at, enum word w)
{
    *at++ = ' ';
    return put_text(at, words[w].prefix);
}

static char *put_sizes(char *at, enum word w, const struct problem *p, const int64_t *low,
                       const int64_t *high)
{
    at = put_word(at, w);
    for (int i = 0; i < p->dims; i++) {
        if (i > 0)
            *at++ = 'x';
        at = put_number(at, low[i]);
        if (high) {
            *at++ = ':';
            at = put_number(at, high[i]);
        }
    }
    return at;
}

static char *put_types(char *at, const struct problem *p)
{
    const enum dtype *t = p->dtype;
    at = put_text(put_word(at, WORD_TYPE), dtype_name(t[0]));
    if (t[0] == t[1] && t[1] == t[2] && t[0] != DTYPE_I8)
        return at;
    for (int o = 1; o < 3; o++) {
        *at++ = ':';
        at = put_text(at, dtype_name(t[o]));
    }
    return at;
}

const char *problem_print(char text[PROBLEM_MAX_TEXT], const struct problem *p)
{
    const int64_t counts[] = {p->n, p->c, p->k, p->g};
    char *at = put_text(text, words[WORD_CONV].prefix);
    at = put_text(put_word(at, WORD_DIRECTION), direction_name(p->direction));
    at = put_types(at, p);
    for (int i = 0; i < 4; i++)
        at = put_number(put_word(at, (enum word)(WORD_N + i)), counts[i]);
    at = put_sizes(at, WORD_IN, p, p->in, NULL);
    at = put_sizes(at, WORD_FIL, p, p->fil, NULL);
    at = put_sizes(at, WORD_STR, p, p->str, NULL);
    at = put_sizes(at, WORD_DIL, p, p->dil, NULL);
    at = put_sizes(at, WORD_PAD, p, p->pad_lo, p->pad_hi);
    for (int o = 0; o < 3; o++)
        at = put_text(put_word(at, (enum word)(WORD_INPUT + o)), p->layout[o]);
    *at = '\0';
    return text;
}

static bool same(const int64_t *a, const int64_t *b, int count)
{
    return memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

bool problem_equal(const struct problem *a, const struct problem *b)
{
    if (a->direction != b->direction || a->dims != b->dims)
        return false;
    if (a->n != b->n || a->c != b->c || a->k != b->k || a->g != b->g)
        return false;
    for (int o = 0; o < 3; o++)
        if (a->dtype[o] != b->dtype[o] ||
            strncmp(a->layout[o], b->layout[o], sizeof a->layout[o]) != 0)
            return false;
    return same(a->in, b->in, a->dims) && same(a->fil, b->fil, a->dims) &&
           same(a->str, b->str, a->dims) && same(a->dil, b->dil, a->dims) &&
           same(a->pad_lo, b->pad_lo, a->dims) && same(a->pad_hi, b->pad_hi, a->dims);
}

void problem_default_layouts(struct problem *p)
{
    if (p->dims < 1 || p->dims > PROBLEM_MAX_DIMS)
        bug("%d dims", p->dims);
    for (int o = 0; o < 3; o++) {
        memset(p->layout[o], 0, sizeof p->layout[o]);
        memcpy(p->layout[o], layout_words[p->dims - 1][o][0], (size_t)p->dims + 3);
    }
}

bool problem_symmetric_pads(const struct problem *p)
{
    return same(p->pad_lo, p->pad_hi, p->dims);
}
