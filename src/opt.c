#include "src/opt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct opt *find_name(const struct opt *table, const char *name, size_t length)
{
    for (; table->name; table++) {
        if (strlen(table->name) == length && strncmp(table->name, name, length) == 0)
            return table;
    }
    return NULL;
}

static const struct opt *find_letter(const struct opt *table, char letter)
{
    for (; table->name; table++) {
        if (table->letter == letter)
            return table;
    }
    return NULL;
}

static int unknown_option(const struct opt *table, const char *word, size_t length)
{
    size_t count = 0;
    while (table[count].name)
        count++;
    struct arena a = {0};
    const char **names = ARENA_ARRAY(&a, count + 1, const char *);
    for (size_t i = 0; i < count; i++)
        names[i] = table[i].name;
    char *name = arena_strndup(&a, word, length);
    const char *nearest = opt_nearest(name, names);
    int status = nearest ? err_set(ERR_INVALID, "there is no option --%s; did you mean --%s?", name, nearest)
                         : err_set(ERR_INVALID, "there is no option --%s", name);
    arena_release(&a);
    return status;
}

static int set_int(const struct opt *o, const char *text)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end)
        return err_set(ERR_INVALID, "--%s takes a whole number, not `%s`", o->name, text);
    if (value < o->min || value > o->max)
        return err_set(ERR_INVALID, "--%s takes a number from %" PRId64 " to %" PRId64 ", not %s", o->name, o->min, o->max, text);
    *(int64_t *)o->value = value;
    return 0;
}

static int set_word(const struct opt *o, const char *text)
{
    for (size_t i = 0; o->words[i]; i++) {
        if (strcmp(o->words[i], text) == 0) {
            *(const char **)o->value = o->words[i];
            return 0;
        }
    }
    const char *nearest = opt_nearest(text, o->words);
    if (nearest)
        return err_set(ERR_INVALID, "--%s cannot be `%s`; did you mean `%s`?", o->name, text, nearest);
    struct buf words;
    buf_init(&words, BUF_MAX_LINE);
    for (size_t i = 0; o->words[i]; i++)
        buf_printf(&words, "%s%s", i ? ", " : "", o->words[i]);
    int status = err_set(ERR_INVALID, "--%s cannot be `%s`; it takes one of: %s", o->name, text, words.data);
    buf_release(&words);
    return status;
}

/* argv outlives the options, so texts are kept as they are. */
static void add_item(struct opt_list *list, struct arena *a, const char *text)
{
    const char **items = ARENA_ARRAY(a, list->count + 1, const char *);
    if (list->count > 0)
        memcpy(items, list->items, list->count * sizeof *items);
    items[list->count++] = text;
    list->items = items;
}

static int set_value(const struct opt *o, struct arena *a, const char *text)
{
    switch (o->kind) {
    case OPT_TEXT:
        *(const char **)o->value = text;
        return 0;
    case OPT_LIST:
        add_item(o->value, a, text);
        return 0;
    case OPT_INT:
        return set_int(o, text);
    case OPT_WORD:
        return set_word(o, text);
    case OPT_FLAG:
        break;
    }
    bug("option --%s has no value to set", o->name);
}

/* One option at argv[*at]; its value may be the next word. */
static int take_option(const struct opt *o, const char *equals, int argc, char **argv, int *at, struct arena *a)
{
    if (o->kind == OPT_FLAG) {
        if (equals)
            return err_set(ERR_INVALID, "--%s takes no value", o->name);
        *(bool *)o->value = true;
        return 0;
    }
    if (equals)
        return set_value(o, a, equals + 1);
    if (*at + 1 >= argc)
        return err_set(ERR_INVALID, "--%s needs a value: %s", o->name, o->argument);
    return set_value(o, a, argv[++*at]);
}

static int take_long(const struct opt *table, int argc, char **argv, int *at, struct arena *a)
{
    const char *name = argv[*at] + 2;
    const char *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const struct opt *o = find_name(table, name, length);
    return o ? take_option(o, equals, argc, argv, at, a) : unknown_option(table, name, length);
}

static int take_letter(const struct opt *table, int argc, char **argv, int *at, struct arena *a)
{
    const char *word = argv[*at];
    const struct opt *o = find_letter(table, word[1]);
    if (!o || word[2])
        return err_set(ERR_INVALID, "there is no option %s; long options begin with --", word);
    return take_option(o, NULL, argc, argv, at, a);
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    }
    return false;
}

int opt_parse(const struct opt *table, int argc, char **argv, struct arena *a, struct opt_list *operands, bool *help)
{
    *operands = (struct opt_list){0};
    *help = asks_for_help(argc, argv);
    if (*help)
        return 0;
    int status = 0;
    bool options = true;
    for (int i = 1; i < argc && status == 0; i++) {
        const char *word = argv[i];
        if (options && strcmp(word, "--") == 0)
            options = false;
        else if (options && strncmp(word, "--", 2) == 0)
            status = take_long(table, argc, argv, &i, a);
        else if (options && word[0] == '-' && word[1])
            status = take_letter(table, argc, argv, &i, a);
        else
            add_item(operands, a, word);
    }
    return status;
}

/* Words of `text` broken into lines of `width`, each after `indent` spaces but for the first, which starts at `column`. */
static void print_wrapped(struct buf *out, const char *text, int column, int indent, int width)
{
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column > indent && column + 1 + length > width) {
            buf_printf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            buf_add_char(out, ' ');
            column++;
        }
        buf_add(out, text, (size_t)length);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    buf_add_char(out, '\n');
}

static int left_column(char *text, size_t size, const struct opt *o)
{
    char letter[4] = "  ";
    if (o->letter)
        snprintf(letter, sizeof letter, "-%c", o->letter);
    return snprintf(text, size, "  %s%s --%s%s%s", letter, o->letter ? "," : " ", o->name, o->kind == OPT_FLAG ? "" : " ",
                    o->kind == OPT_FLAG ? "" : o->argument);
}

void opt_print_help(struct buf *out, const char *program, const struct opt_command *command, const struct opt *table, int width)
{
    int widest = 0;
    char left[128];
    for (const struct opt *o = table; o->name; o++) {
        int length = left_column(left, sizeof left, o);
        widest = length > widest ? length : widest;
    }
    buf_printf(out, "usage: %s %s%s%s%s\n\n", program, command->name, table->name ? " [OPTION...]" : "",
               command->usage && *command->usage ? " " : "", command->usage ? command->usage : "");
    print_wrapped(out, command->summary, 0, 0, width);
    if (command->text)
        buf_printf(out, "\n%s\n", command->text);
    if (table->name)
        buf_add_text(out, "\n");
    int column = widest + 2 <= width / 2 ? widest + 2 : 8;
    for (const struct opt *o = table; o->name; o++) {
        int length = left_column(left, sizeof left, o);
        buf_add_text(out, left);
        if (length + 2 > column) {
            buf_printf(out, "\n%*s", column, "");
            length = column;
        } else {
            buf_printf(out, "%*s", column - length, "");
        }
        print_wrapped(out, o->help, column, column, width);
    }
}

/* A number and a unit of a table. */
struct unit {
    const char *name;
    int64_t factor;
};

static int parse_quantity(int64_t *out, const char *text, const struct unit *units, size_t count, const char *kind)
{
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (errno || end == text || value < 0 || value != value)
        return err_set(ERR_INVALID, "`%s` is no %s: a number with a unit is wanted", text, kind);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(end, units[i].name) != 0)
            continue;
        double product = value * (double)units[i].factor;
        if (product >= 9.2e18)
            return err_set(ERR_INVALID, "`%s` is too large a %s", text, kind);
        *out = (int64_t)product;
        return 0;
    }
    struct buf names;
    buf_init(&names, BUF_MAX_LINE);
    for (size_t i = 0; i < count; i++)
        buf_printf(&names, "%s%s", i ? " " : "", units[i].name);
    int status = err_set(ERR_INVALID, "`%s` is no %s: the units are %s", text, kind, names.data);
    buf_release(&names);
    return status;
}

int opt_parse_duration(int64_t *out_ns, const char *text)
{
    static const struct unit units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {"m", 60000000000}, {"h", 3600000000000}};
    return parse_quantity(out_ns, text, units, COUNT_OF(units), "duration");
}

int opt_parse_bytes(int64_t *out_bytes, const char *text)
{
    static const struct unit units[] = {{"", 1}, {"k", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"T", (int64_t)1 << 40}};
    return parse_quantity(out_bytes, text, units, COUNT_OF(units), "size");
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Damerau and Levenshtein's distance with adjacent transpositions (optimal string alignment), three rows at a time. */
static size_t distance(const char *a, const char *b)
{
    enum { LONGEST = 64 };
    size_t n = strlen(a), m = strlen(b);
    /* Not worth a table: as far as two words can be. */
    if (n > LONGEST || m > LONGEST)
        return n + m;
    size_t rows[3][LONGEST + 1];
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *now = rows[i % 3], *before = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            now[j] = smaller(smaller(before[j] + 1, now[j - 1] + 1), before[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = smaller(now[j], earlier[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

const char *opt_nearest(const char *word, const char *const *words)
{
    const char *nearest = NULL;
    size_t least = SIZE_MAX;
    for (size_t i = 0; words[i]; i++) {
        size_t longer = strlen(word) > strlen(words[i]) ? strlen(word) : strlen(words[i]);
        size_t d = distance(word, words[i]);
        if (d < least && 3 * d <= longer + 1) {
            least = d;
            nearest = words[i];
        }
    }
    return nearest;
}
