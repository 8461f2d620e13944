/* spelling_internal: what the tools' spellings share. Included by reference/spelling*.c and by
 * nobody else.
 *
 * A command line goes through three steps: words (quotes, shell operators), flags (a table a tool:
 * which words are known, and which number of a convolution each gives), and the building of a
 * problem from what was given.
 */
#ifndef ASSAY_SPELLING_INTERNAL_H
#define ASSAY_SPELLING_INTERNAL_H

#include "reference/spelling.h"

enum {
    SPELLING_MAX_LINE = 8192, /* bytes of a line; longer ones are ERR_LIMIT */
    SPELLING_MAX_WORDS = 512,
};

/* Words as a shell would cut them: blanks, '...', "...", and a backslash before punctuation (before
 * a letter or digit it stays, for the folders of Windows prompts). A pipe, redirection, `;` or `&&`
 * is the word words_operator. */
struct words {
    int count;
    char *at[SPELLING_MAX_WORDS];
    char text[SPELLING_MAX_LINE + SPELLING_MAX_WORDS];
};
extern char words_operator[];
int words_split(struct words *w, const char *line) MUST_USE;
/* The place of a word that runs `tool` (folders, ".exe" and a trailing colon aside), or -1. */
int words_find_tool(const struct words *w, const char *tool);
/* The place of a word such as convfp16 that flags follow and that is no flag's value, or -1. */
int words_find_conv(const struct words *w);
/* Where the command that has word `from` ends: the next operator or the end. */
int words_end(const struct words *w, int from);

/* The things that a flag can give. Those with three places are for d, h, w in this order. */
enum slot {
    SLOT_IGNORED, /* known, but no part of the problem */
    SLOT_OPERATION,
    SLOT_DIRECTIONS,
    SLOT_MODE,
    SLOT_PAD_MODE,
    SLOT_PAD_VALUE,
    SLOT_BIAS,
    SLOT_VECTOR,
    SLOT_VECTOR_LENGTH,
    SLOT_IN_CAST,
    SLOT_FIL_CAST,
    SLOT_OUT_CAST,
    SLOT_DTYPE,
    SLOT_IN_DTYPE,
    SLOT_FIL_DTYPE,
    SLOT_OUT_DTYPE,
    SLOT_F8_FAMILY, /* fnuz or ocp */
    SLOT_ARCH,
    SLOT_IN_LAYOUT,
    SLOT_FIL_LAYOUT,
    SLOT_OUT_LAYOUT,
    SLOT_SPATIAL_DIMS,
    SLOT_DEMO,
    SLOT_XDLOPS,
    SLOT_MFMA,
    SLOT_CONV_CONFIG,
    SLOT_N,
    SLOT_C,
    SLOT_K,
    SLOT_G,
    SLOT_IN,
    SLOT_FIL = SLOT_IN + 3,
    SLOT_STR = SLOT_FIL + 3,
    SLOT_DIL = SLOT_STR + 3,
    SLOT_PAD = SLOT_DIL + 3,
    SLOT_PAD_LO = SLOT_PAD + 3,
    SLOT_PAD_HI = SLOT_PAD_LO + 3,
    SLOT_OUT = SLOT_PAD_HI + 3,
    SLOT_COUNT = SLOT_OUT + 3
};

struct flag {
    const char *name; /* without dashes */
    int slot;
    char letter;    /* MIOpenDriver's short name; 0: none */
    bool is_switch; /* LLVM's bool options: a value only after '=' */
};

/* What one line gave. The texts belong to its words. */
struct given {
    const char *tool;
    const struct flag *flags;
    size_t flag_count;
    const char *flag[SLOT_COUNT];  /* as the user wrote it; NULL: not given */
    const char *value[SLOT_COUNT]; /* NULL for a switch without '=' */
    int place[SLOT_COUNT];         /* the higher, the later in the line */
};

const struct flag *given_flag_named(const struct given *g, const char *name);
/* ", did you mean --in_h?" or "". `dashes` is what stands before the names. */
const char *given_hint(char hint[64], const struct given *g, const char *dashes, const char *name);
/* A flag's own name for messages about one that is missing. */
const char *given_name(const struct given *g, int slot);
/* A whole number; `fallback` when it was not given, or ERR_INVALID for a fallback below 0. */
int given_number(int64_t *out, const struct given *g, int slot, int64_t fallback) MUST_USE;
int given_bool(bool *out, const struct given *g, int slot) MUST_USE;
/* d, h, w of one kind for p->dims, each with the same fallback. */
int given_each(int64_t out[PROBLEM_MAX_DIMS], const struct given *g, int dims, int first_slot,
               int64_t fallback) MUST_USE;
/* --padding_h and --padding_h_l, _r as rocmlir-gen joins them; contradictions are refused. */
int given_pads(struct problem *p, const struct given *g) MUST_USE;
/* --out_h and the like must be what the sizes give. */
int given_out_sizes(const struct problem *p, const struct given *g) MUST_USE;

/* A filter longer than its padded input: rocMLIR's tools widen the right pad by themselves and
 * solve another problem. */
int spelling_refuse_added_pads(const struct problem *p, const char *tool) MUST_USE;
/* "conv", "conv2d_bwd_data", ... `is_old` tells the conv2d names. */
int spelling_operation(enum direction *out, bool *is_old, const char *flag,
                       const char *word) MUST_USE;
const char *spelling_operation_name(enum direction d, bool is_old);
/* "f32", "f8E4M3FN": MLIR's names. */
const char *spelling_dtype_name(enum dtype t);
/* The types of other tools: also fp32 and fp16; types that assay has not are named in the message.
 */
int spelling_dtype(enum dtype *out, const char *flag, const char *word) MUST_USE;

/* One layout in the letters of another tool to ours and back. */
enum letters {
    LETTERS_MIOPEN, /* upper case, N is k in the filter, C is k in the output; g before the channel that it divides */
    LETTERS_MLIR,   /* ours, also with digits: 0 is h, 1 is w, 2 is d (rocmlir-gen appends the depth last) */
};
/* `out` gets no g when `text` has none. */
int layout_read(char out[8], const char *flag, const char *text, enum letters letters,
                enum operand which, int dims) MUST_USE;
bool layout_has_group(const char *layout);
/* Puts the g where that tool does; layouts with a g stay. */
void layout_group_miopen(char layout[8], enum operand which);
/* 4-letter layouts in rocmlir-gen: by the rule of 2023, or that of 2026, which differ. */
void layout_group_2023(char layout[8], enum operand which);
void layout_group_2026(char layout[8], enum operand which);
/* MIOpen's upper-case letters of ours, with the g. */
void layout_to_miopen(char out[8], const char *layout, enum operand which);
/* Ours, but for 3-D in rocmlir-gen's digits, which has no letter for the depth. */
void layout_to_mlir(char out[8], const char *layout, enum operand which, int dims);
const char *operand_name(enum operand which);

int spelling_parse_miopen(struct problem out[3], size_t *count, const char *line) MUST_USE;
int spelling_parse_mlir(struct problem out[3], size_t *count, enum spelling s,
                        const char *line) MUST_USE;
int spelling_parse_miir(struct problem *out, const char *line) MUST_USE;
int spelling_print_miopen(struct buf *out, const struct problem *p) MUST_USE;
int spelling_print_mlir(struct buf *out, enum spelling s, const struct problem *p) MUST_USE;
int spelling_print_miir(struct buf *out, const struct problem *p, bool pads_by_side) MUST_USE;

/* before, the axis, after, the number, for each dim: " --fil_" and " " give " --fil_h 3 --fil_w 3".
 */
void spelling_print_each(struct buf *out, const struct problem *p, const char *before,
                         const char *after, const int64_t values[]);

#endif
