/* opt: options and commands from tables; help, completion and manual page are printed from the same tables.
 *
 * Long options only, `--name value` or `--name=value`; single letters only for -h, -n, -v, -q. `--` ends them. An unknown option is
 * answered with the nearest right one. Operands are the words that remain.
 */
#ifndef ASSAY_OPT_H
#define ASSAY_OPT_H

#include "src/buf.h"
#include "src/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum opt_kind {
    OPT_FLAG,  /* bool * */
    OPT_TEXT,  /* const char ** */
    OPT_LIST,  /* struct opt_list *: may be given several times */
    OPT_INT,   /* int64_t *, within [min, max] */
    OPT_WORD,  /* const char **, one of `words` */
};

struct opt_list {
    const char **items; /* memory of the arena given to opt_parse */
    size_t count;
};

struct opt {
    const char *name; /* without dashes; a row with NULL ends the table */
    char letter;      /* 0: none */
    enum opt_kind kind;
    void *value;
    const char *argument; /* how help calls the value: "SHA" */
    const char *help;     /* one sentence, lower case, no full stop */
    int64_t min, max;     /* OPT_INT */
    const char *const *words; /* OPT_WORD, NULL-terminated */
};

struct opt_command {
    const char *name;
    const char *summary;   /* one sentence, in lists of commands */
    const char *usage;     /* operands: "SHA..." */
    const char *text;      /* paragraphs for --help, with examples */
    int (*run)(int argc, char **argv);
};

/* Parse argv[1..]; operands (in order) to `operands`. `help` is set when -h or --help was seen; then nothing else is checked.
 * ERR_INVALID with one message on the first fault. */
int opt_parse(const struct opt *table, int argc, char **argv, struct arena *a, struct opt_list *operands, bool *help) MUST_USE;
/* usage line, text, then the options in columns that fit `width` characters. */
void opt_print_help(struct buf *out, const char *program, const struct opt_command *command, const struct opt *table, int width);
/* An int with an optional unit: "30s", "2m", "1h" to ns (opt_parse_duration); "2G", "16M", "4k" to bytes (opt_parse_bytes, powers of 1024). */
int opt_parse_duration(int64_t *out_ns, const char *text) MUST_USE;
int opt_parse_bytes(int64_t *out_bytes, const char *text) MUST_USE;
/* The nearest of `words` (NULL-terminated) to `word` by edit distance with transpositions; NULL when none is near enough to be meant. */
const char *opt_nearest(const char *word, const char *const *words);

#endif
