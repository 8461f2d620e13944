/* spelling: which tool's words a line is in, and what the tools have in common. */
#include "reference/spelling_internal.h"

#include "src/mem.h"
#include "src/opt.h"

#include <inttypes.h>
#include <string.h>

const char *spelling_name(enum spelling s)
{
    static const char *const names[] = {"assay", "miopen", "rocmlir", "mlir-miopen", "miir"};
    return names[s];
}

static bool has_word(const struct words *w, const char *wanted)
{
    for (int i = 0; i < w->count; i++) {
        size_t length = strcspn(w->at[i], "=");
        if (strlen(wanted) == length && !memcmp(w->at[i], wanted, length))
            return true;
    }
    return false;
}

/* Our line has a direction where all others have a flag. */
static bool is_assay(const struct words *w)
{
    return w->count >= 2 && !strcmp(w->at[0], "conv") && w->at[1][0] != '-';
}

static bool guess_by_tool(enum spelling *out, const struct words *w)
{
    static const struct {
        const char *tool;
        enum spelling spelling;
    } tools[] = {
        {"MIOpenDriver", SPELLING_MIOPEN},
        {"rocmlir-gen", SPELLING_ROCMLIR},
        {"rock-gen", SPELLING_ROCMLIR},
        {"miopen-gen", SPELLING_MLIR_MIOPEN},
        {"mlir-miopen-driver", SPELLING_MLIR_MIOPEN},
    };
    for (size_t i = 0; i < COUNT_OF(tools); i++)
        if (words_find_tool(w, tools[i].tool) >= 0) {
            *out = tools[i].spelling;
            return true;
        }
    return false;
}

/* Lines without a tool: configuration files, argument lists of sweeps, option strings. */
static bool guess_by_flags(enum spelling *out, const struct words *w)
{
    if (words_find_conv(w) >= 0) {
        *out = SPELLING_MIOPEN;
        return true;
    }
    if (w->count == 0 || w->at[0][0] != '-')
        return false;
    if (has_word(w, "--in_type") || has_word(w, "--fil_type"))
        *out = SPELLING_MIIR;
    else if (has_word(w, "--operation") || has_word(w, "-operation") || has_word(w, "--batchsize"))
        *out = SPELLING_ROCMLIR;
    else if (has_word(w, "-n") && has_word(w, "-k"))
        *out = SPELLING_MIOPEN;
    else
        return false;
    return true;
}

bool spelling_guess(enum spelling *out, const char *line)
{
    struct words w;
    if (words_split(&w, line)) {
        err_clear();
        return false;
    }
    if (is_assay(&w)) {
        *out = SPELLING_ASSAY;
        return true;
    }
    return guess_by_tool(out, &w) || guess_by_flags(out, &w);
}

int spelling_parse(struct problem out[3], size_t *count, enum spelling s, const char *line)
{
    *count = 1;
    switch (s) {
    case SPELLING_ASSAY:
        return problem_parse(out, line);
    case SPELLING_MIOPEN:
        return spelling_parse_miopen(out, count, line);
    case SPELLING_ROCMLIR:
    case SPELLING_MLIR_MIOPEN:
        return spelling_parse_mlir(out, count, s, line);
    case SPELLING_MIIR:
        return spelling_parse_miir(out, line);
    }
    bug("spelling %d", (int)s);
}

int spelling_print(struct buf *out, enum spelling s, const struct problem *p, bool pads_by_side)
{
    char text[PROBLEM_MAX_TEXT];
    if (problem_check(p))
        return err_code();
    switch (s) {
    case SPELLING_ASSAY:
        buf_add_text(out, problem_print(text, p));
        return 0;
    case SPELLING_MIOPEN:
        return spelling_print_miopen(out, p);
    case SPELLING_ROCMLIR:
    case SPELLING_MLIR_MIOPEN:
        return spelling_print_mlir(out, s, p);
    case SPELLING_MIIR:
        return spelling_print_miir(out, p, pads_by_side);
    }
    bug("spelling %d", (int)s);
}

void spelling_print_each(struct buf *out, const struct problem *p, const char *before,
                         const char *after, const int64_t values[])
{
    for (int d = 0; d < p->dims; d++)
        buf_printf(out, "%s%c%s%" PRId64, before, "dhw"[PROBLEM_MAX_DIMS - p->dims + d], after,
                   values[d]);
}

/* The tools compute the output size by a division that rounds towards zero, so that a filter which
 * does not fit still gets one output, and then widen the right pad until it does. */
int spelling_refuse_added_pads(const struct problem *p, const char *tool)
{
    for (int d = 0; d < p->dims; d++) {
        int64_t span = (p->fil[d] - 1) * p->dil[d] + 1,
                room = p->in[d] + p->pad_lo[d] + p->pad_hi[d];
        if (span > room)
            return err_set(ERR_INVALID,
                           "the filter spans %" PRId64 " in %c but the padded input has %" PRId64
                           ": %s would add the pads that are missing, which is another problem",
                           span, "dhw"[PROBLEM_MAX_DIMS - p->dims + d], room, tool);
    }
    return 0;
}

static const char *const operations[2][4] = {
    {"conv", "conv_bwd_data", "conv_bwd_weight", NULL},
    {"conv2d", "conv2d_bwd_data", "conv2d_bwd_weight", NULL},
};

const char *spelling_operation_name(enum direction d, bool is_old)
{
    return operations[is_old][d];
}

int spelling_operation(enum direction *out, bool *is_old, const char *flag, const char *word)
{
    static const char *const others[] = {"gemm", "attention", "gemm_gemm", "conv_gemm", NULL};
    for (int era = 0; era < 2; era++)
        for (int d = 0; d < 3; d++)
            if (!strcmp(word, operations[era][d])) {
                *out = (enum direction)d;
                *is_old = era == 1;
                return 0;
            }
    for (int i = 0; others[i]; i++)
        if (!strcmp(word, others[i]))
            return err_set(ERR_INVALID, "%s %s: not a convolution alone", flag, word);
    const char *nearest = opt_nearest(word, operations[strstr(word, "2d") != NULL]);
    return err_set(ERR_INVALID, "%s %s: not an operation, did you mean %s?", flag, word,
                   nearest ? nearest : "conv");
}

const char *spelling_dtype_name(enum dtype t)
{
    switch (t) {
    case DTYPE_F8E4M3FN:
        return "f8E4M3FN";
    case DTYPE_F8E5M2:
        return "f8E5M2";
    case DTYPE_F8E4M3FNUZ:
        return "f8E4M3FNUZ";
    case DTYPE_F8E5M2FNUZ:
        return "f8E5M2FNUZ";
    default:
        return dtype_name(t);
    }
}

int spelling_dtype(enum dtype *out, const char *flag, const char *word)
{
    static const struct {
        const char *name;
        enum dtype type;
    } types[] = {{"f32", DTYPE_F32},
                 {"fp32", DTYPE_F32},
                 {"f16", DTYPE_F16},
                 {"fp16", DTYPE_F16},
                 {"bf16", DTYPE_BF16},
                 {"i8", DTYPE_I8},
                 {"i32", DTYPE_I32},
                 {"f8E4M3FN", DTYPE_F8E4M3FN},
                 {"f8E5M2", DTYPE_F8E5M2},
                 {"f8E4M3FNUZ", DTYPE_F8E4M3FNUZ},
                 {"f8E5M2FNUZ", DTYPE_F8E5M2FNUZ}};
    static const char *const later[] = {"fp4", "f4", "fp64", "f64", "i4", "i16"};
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (!strcmp(word, types[i].name)) {
            *out = types[i].type;
            return 0;
        }
    for (size_t i = 0; i < COUNT_OF(later); i++)
        if (!strncmp(word, later[i], strlen(later[i])))
            return err_set(ERR_INVALID,
                           "%s: %s is not yet a type of assay (it has f32, f16, bf16, MLIR's f8 "
                           "types, i8, i32)",
                           flag, word);
    return err_set(ERR_INVALID, "%s: %s is not a type: wants f32, f16, bf16, i8 or i32", flag,
                   word);
}
