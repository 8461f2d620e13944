/* yaml: text to a tree of nodes that know line and column, and from there into structs by key tables (libyaml).
 *
 * A file kind is one table of struct yaml_key. yaml_bind reports every fault of a file, not just the first: a wrong key (with the
 * nearest right one), a wrong type, a value out of range, a missing key, a key given twice; each as
 *     file:line:column: path.to[2].key: what is wrong (did you mean `x`?)
 * Nothing of the target is to be used when there was a fault.
 * Bounds: 16 MiB of text, 64 levels, 2 million nodes, both as if each alias were written out, 512 anchors; what exceeds them is a fault.
 * An alias shares its anchor's node. Merge keys (<<) are keys like any other. Tags other than the core ones (!!str makes a text
 * of what looks like a number) and several documents in one file are refused.
 * A key with nothing behind it (or ~) is a fault, unless its type is YAML_NODE; "" in quotes is a text.
 */
#ifndef ASSAY_YAML_H
#define ASSAY_YAML_H

#include "src/buf.h"
#include "src/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml_node {
    enum yaml_kind kind;
    int line, column;          /* from 1 */
    const char *text;          /* scalars */
    bool quoted;               /* scalars: in quotes, so never a number or a bool */
    struct yaml_node **items;  /* lists; values of maps, in file order */
    struct yaml_node **keys;   /* maps: scalar nodes, as many as items */
    size_t count;
};

/* All faults found so far, in one message. Zero-initialise, set `file`, and end with yaml_faults_check. */
struct yaml_faults {
    const char *file;
    struct buf text; /* one line a fault, the first 50 */
    size_t count;
};
void yaml_faults_init(struct yaml_faults *f, const char *file);
void yaml_faults_release(struct yaml_faults *f);
void yaml_fault(struct yaml_faults *f, int line, int column, const char *path, const char *format, ...) PRINTF_LIKE(5, 6);
/* 0, or ERR_INVALID with all faults as the message. */
int yaml_faults_check(const struct yaml_faults *f) MUST_USE;

/* Parse text; syntax errors are faults. *out is NULL when there was one. An empty file is a fault. */
void yaml_parse(struct yaml_node **out, struct arena *a, struct yaml_faults *f, const char *text, size_t length);
/* Read and parse a file; ERR_NOTFOUND when it is not there, ERR_IO when it cannot be read. Faults do not make this fail: ask yaml_faults_check. */
int yaml_load(struct yaml_node **out, struct arena *a, struct yaml_faults *f, const char *path) MUST_USE;

enum yaml_type {
    YAML_TEXT,      /* const char * */
    YAML_WORD,      /* const char *, one of words */
    YAML_INT,       /* int64_t within [min, max] */
    YAML_REAL,      /* double within [min, max] */
    YAML_BOOL,      /* bool: yes no true false */
    YAML_DURATION,  /* int64_t ns: 20s 30m 1h 500ms */
    YAML_BYTES,     /* int64_t: 2G 16M 4k */
    YAML_TEXTS,     /* struct yaml_texts: a list of scalars (one scalar alone is a list of one) */
    YAML_ARGVS,     /* struct yaml_argvs: a list of lists of scalars */
    YAML_STRUCT,    /* a map bound by `table` into the struct at offset */
    YAML_STRUCTS,   /* struct yaml_structs: a list of maps, each bound by `table` into an element of `size` bytes */
    YAML_NODE,      /* struct yaml_node *: whatever stands there, for the caller to read */
};

struct yaml_texts {
    const char **items;
    const struct yaml_node **nodes; /* for places of faults found later */
    size_t count;
};
struct yaml_argvs {
    const char ***items; /* each NULL-terminated */
    size_t count;
};
struct yaml_structs {
    void *items; /* count elements of yaml_key.size bytes */
    const struct yaml_node **nodes;
    size_t count;
};

struct yaml_key {
    const char *name; /* a row with NULL ends the table */
    enum yaml_type type;
    size_t offset; /* of the target in the struct */
    bool required;
    double min, max;               /* YAML_INT, YAML_REAL; both 0: no bounds */
    const char *const *words;      /* YAML_WORD, NULL-terminated */
    const struct yaml_key *table;  /* YAML_STRUCT, YAML_STRUCTS */
    size_t size;                   /* YAML_STRUCTS: bytes of an element */
    const char *fallback;          /* text used when the key is missing; NULL: the target stays as it is (YAML_STRUCT: its
                                      table's fallbacks are used) */
    const char *help;              /* one sentence, for the documentation printed from the table */
};

/* Bind a map node. `path` is the prefix of the keys in messages ("" at the top). */
void yaml_bind(void *target, struct arena *a, struct yaml_faults *f, const struct yaml_node *node, const char *path, const struct yaml_key *table);
/* The value of `key` in a map node, or NULL. */
const struct yaml_node *yaml_get(const struct yaml_node *map, const char *key);
/* One line a key: name, type, whether required, default, help; sub-tables indented. */
void yaml_print_keys(struct buf *out, const struct yaml_key *table);

#endif
