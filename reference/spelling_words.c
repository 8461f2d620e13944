/* spelling_words: from a line to words, from words to flags, from flags to numbers. */
#include "reference/spelling_internal.h"

#include "src/mem.h"
#include "src/opt.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

char words_operator[] = "|";

/* How many bytes a shell operator has that begins here; 0 when none does. Within a word only a pipe
 * ends it: MIOpenDriver has flags such as -& and values may hold the other signs. */
static size_t operator_length(const char *s, bool at_start)
{
    if (*s == '|')
        return strspn(s, "|&");
    if (!at_start)
        return 0;
    if (*s == '>' || *s == '<' || *s == ';')
        return strspn(s, "><;&");
    if (s[0] == '&' && s[1] == '&')
        return 2;
    return (s[0] == '2' && s[1] == '>') ? 2 : 0;
}

/* Copies one word to *to and moves both past it. */
static int take_word(const char **from, char **to)
{
    const char *s = *from;
    char *out = *to, quote = 0;
    for (; *s && (quote || !isspace((unsigned char)*s)); s++) {
        if (!quote && operator_length(s, false))
            break;
        if (quote ? *s == quote : (*s == '\'' || *s == '"'))
            quote = quote ? 0 : *s;
        else if (*s == '\\' && quote != '\'' && s[1] && !isalnum((unsigned char)s[1]))
            *out++ = *++s;
        else
            *out++ = *s;
    }
    if (quote)
        return err_set(ERR_INVALID, "a quote %c is not closed", quote);
    *out++ = '\0';
    *from = s;
    *to = out;
    return 0;
}

int words_split(struct words *w, const char *line)
{
    w->count = 0;
    if (strlen(line) >= SPELLING_MAX_LINE)
        return err_set(ERR_LIMIT, "the line is longer than %d bytes", SPELLING_MAX_LINE - 1);
    char *to = w->text;
    for (;;) {
        while (isspace((unsigned char)*line))
            line++;
        if (!*line)
            return 0;
        if (w->count == SPELLING_MAX_WORDS)
            return err_set(ERR_LIMIT, "the line has more than %d words", SPELLING_MAX_WORDS);
        size_t skip = operator_length(line, true);
        w->at[w->count++] = skip ? words_operator : to;
        line += skip;
        if (!skip && take_word(&line, &to))
            return err_code();
    }
}

static bool word_runs(const char *word, const char *tool)
{
    for (const char *s = word; *s; s++)
        if (*s == '/' || *s == '\\')
            word = s + 1;
    size_t length = strlen(tool);
    if (strncmp(word, tool, length))
        return false;
    const char *rest = word + length;
    return !*rest || !strcmp(rest, ".exe") || !strcmp(rest, ":");
}

int words_find_tool(const struct words *w, const char *tool)
{
    for (int i = 0; i < w->count; i++)
        if (w->at[i] != words_operator && word_runs(w->at[i], tool))
            return i;
    return -1;
}

int words_find_conv(const struct words *w)
{
    for (int i = 0; i + 1 < w->count; i++)
        if (!strncmp(w->at[i], "conv", 4) && w->at[i + 1][0] == '-' &&
            (i == 0 || w->at[i - 1][0] != '-'))
            return i;
    return -1;
}

int words_end(const struct words *w, int from)
{
    while (from < w->count && w->at[from] != words_operator)
        from++;
    return from;
}

const struct flag *given_flag_named(const struct given *g, const char *name)
{
    for (size_t i = 0; i < g->flag_count; i++)
        if (!strcmp(g->flags[i].name, name))
            return &g->flags[i];
    return NULL;
}

const char *given_hint(char hint[64], const struct given *g, const char *dashes, const char *name)
{
    enum { MAX_FLAGS = 160 };
    const char *names[MAX_FLAGS + 1];
    if (g->flag_count > MAX_FLAGS)
        bug("%s has %zu flags", g->tool, g->flag_count);
    for (size_t i = 0; i < g->flag_count; i++)
        names[i] = g->flags[i].name;
    names[g->flag_count] = NULL;
    const char *nearest = opt_nearest(name, names);
    hint[0] = '\0';
    if (nearest)
        snprintf(hint, 64, ", did you mean %s%s?", dashes, nearest);
    return hint;
}

const char *given_name(const struct given *g, int slot)
{
    for (size_t i = 0; i < g->flag_count; i++)
        if (g->flags[i].slot == slot)
            return g->flags[i].name;
    bug("%s has no flag for slot %d", g->tool, slot);
}

int given_number(int64_t *out, const struct given *g, int slot, int64_t fallback)
{
    if (!g->flag[slot]) {
        if (fallback < 0)
            return err_set(ERR_INVALID, "--%s is missing: %s needs it", given_name(g, slot),
                           g->tool);
        *out = fallback;
        return 0;
    }
    const char *text = g->value[slot];
    size_t digits = strspn(text, "0123456789");
    /* Nine digits are less than 2^31 and more than PROBLEM_MAX_SIZE. */
    if (digits == 0 || digits > 9 || text[digits] || atoll(text) > PROBLEM_MAX_SIZE)
        return err_set(ERR_INVALID, "%s %s: not a whole number up to %d", g->flag[slot], text,
                       PROBLEM_MAX_SIZE);
    *out = atoll(text);
    return 0;
}

int given_bool(bool *out, const struct given *g, int slot)
{
    static const char *const yes[] = {"", "true", "TRUE", "True", "1"};
    static const char *const no[] = {"false", "FALSE", "False", "0"};
    const char *value = g->value[slot];
    *out = g->flag[slot] && !value;
    if (!value)
        return 0;
    for (size_t i = 0; i < COUNT_OF(yes); i++)
        if (!strcmp(value, yes[i])) {
            *out = true;
            return 0;
        }
    for (size_t i = 0; i < COUNT_OF(no); i++)
        if (!strcmp(value, no[i]))
            return 0;
    return err_set(ERR_INVALID, "%s=%s: wants true or false", g->flag[slot], value);
}

int given_each(int64_t out[PROBLEM_MAX_DIMS], const struct given *g, int dims, int first_slot,
               int64_t fallback)
{
    for (int d = 0; d < dims; d++)
        if (given_number(&out[d], g, first_slot + PROBLEM_MAX_DIMS - dims + d, fallback))
            return err_code();
    return 0;
}

int given_pads(struct problem *p, const struct given *g)
{
    int64_t both[PROBLEM_MAX_DIMS];
    if (given_each(both, g, p->dims, SLOT_PAD, 0) ||
        given_each(p->pad_lo, g, p->dims, SLOT_PAD_LO, 0) ||
        given_each(p->pad_hi, g, p->dims, SLOT_PAD_HI, 0))
        return err_code();
    for (int d = 0; d < p->dims; d++) {
        if (!both[d] || (p->pad_lo[d] == both[d] && p->pad_hi[d] == both[d]))
            continue;
        const char *name = g->flag[SLOT_PAD + PROBLEM_MAX_DIMS - p->dims + d];
        if (p->pad_lo[d] || p->pad_hi[d])
            return err_set(ERR_INVALID,
                           "%s %" PRId64 " contradicts its _l and _r (%" PRId64 " and %" PRId64 ")",
                           name, both[d], p->pad_lo[d], p->pad_hi[d]);
        p->pad_lo[d] = p->pad_hi[d] = both[d];
    }
    return 0;
}

int given_out_sizes(const struct problem *p, const struct given *g)
{
    for (int d = 0; d < p->dims; d++) {
        int slot = SLOT_OUT + PROBLEM_MAX_DIMS - p->dims + d;
        int64_t size;
        if (given_number(&size, g, slot, problem_out(p, d)))
            return err_code();
        if (size != problem_out(p, d))
            return err_set(ERR_INVALID, "%s %" PRId64 ": the other sizes give %" PRId64,
                           g->flag[slot], size, problem_out(p, d));
    }
    return 0;
}
