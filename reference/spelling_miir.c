/* spelling_miir: the option string of rocMLIR's client library, as MIOpen writes it. "--key value"
 * pairs, 2-D only.
 *
 * The library reads one number a pad and uses it for both sides; the --padding_h_l keys are an
 * extension that only candidates with `asymmetric_pads: yes` know.
 */
#include "reference/spelling_internal.h"

#include "src/mem.h"

#include <inttypes.h>
#include <string.h>

static const struct flag flags[] = {
    {.name = "operation", .slot = SLOT_OPERATION},
    {.name = "groupsize", .slot = SLOT_G},
    {.name = "fil_layout", .slot = SLOT_FIL_LAYOUT},
    {.name = "fil_type", .slot = SLOT_FIL_DTYPE},
    {.name = "in_layout", .slot = SLOT_IN_LAYOUT},
    {.name = "out_layout", .slot = SLOT_OUT_LAYOUT},
    {.name = "in_type", .slot = SLOT_IN_DTYPE},
    {.name = "out_type", .slot = SLOT_OUT_DTYPE},
    {.name = "batchsize", .slot = SLOT_N},
    {.name = "in_channels", .slot = SLOT_C},
    {.name = "out_channels", .slot = SLOT_K},
    {.name = "in_h", .slot = SLOT_IN + 1},
    {.name = "in_w", .slot = SLOT_IN + 2},
    {.name = "out_h", .slot = SLOT_OUT + 1},
    {.name = "out_w", .slot = SLOT_OUT + 2},
    {.name = "fil_h", .slot = SLOT_FIL + 1},
    {.name = "fil_w", .slot = SLOT_FIL + 2},
    {.name = "dilation_h", .slot = SLOT_DIL + 1},
    {.name = "dilation_w", .slot = SLOT_DIL + 2},
    {.name = "conv_stride_h", .slot = SLOT_STR + 1},
    {.name = "conv_stride_w", .slot = SLOT_STR + 2},
    {.name = "padding_h", .slot = SLOT_PAD + 1},
    {.name = "padding_w", .slot = SLOT_PAD + 2},
    {.name = "padding_h_l", .slot = SLOT_PAD_LO + 1},
    {.name = "padding_h_r", .slot = SLOT_PAD_HI + 1},
    {.name = "padding_w_l", .slot = SLOT_PAD_LO + 2},
    {.name = "padding_w_r", .slot = SLOT_PAD_HI + 2},
    {.name = "arch", .slot = SLOT_IGNORED},
    {.name = "num_cu", .slot = SLOT_IGNORED},
    {.name = "x2", .slot = SLOT_IGNORED},
    {.name = "kernel_id", .slot = SLOT_IGNORED},
    {.name = "kernel_name", .slot = SLOT_IGNORED},
    {.name = "perf_config", .slot = SLOT_IGNORED},
};

/* The keys without which miirCreateHandle gives no handle. The sizes among them are checked as they
 * are read. */
static const int needed[] = {SLOT_OPERATION,  SLOT_IN_LAYOUT, SLOT_FIL_LAYOUT,
                             SLOT_OUT_LAYOUT, SLOT_IN_DTYPE,  SLOT_FIL_DTYPE,
                             SLOT_OUT_DTYPE,  SLOT_OUT + 1,   SLOT_OUT + 2};

static int read_pairs(struct given *g, const struct words *w)
{
    int end = words_end(w, 0);
    for (int i = 0; i < end; i += 2) {
        const char *word = w->at[i];
        char hint[64];
        const struct flag *flag = strncmp(word, "--", 2) ? NULL : given_flag_named(g, word + 2);
        if (!flag)
            return err_set(ERR_INVALID, "%s: the option string has no such key%s", word,
                           given_hint(hint, g, "--", word + strspn(word, "-")));
        if (i + 1 == end)
            return err_set(ERR_INVALID, "%s has no value", word);
        if (flag->slot != SLOT_IGNORED && g->flag[flag->slot])
            return err_set(ERR_INVALID, "%s stands twice", word);
        g->flag[flag->slot] = word;
        g->value[flag->slot] = w->at[i + 1];
    }
    for (size_t i = 0; i < COUNT_OF(needed); i++)
        if (!g->flag[needed[i]])
            return err_set(ERR_INVALID, "--%s is missing: the option string needs it",
                           given_name(g, needed[i]));
    return 0;
}

static int read_operands(struct problem *p, const struct given *g)
{
    for (int i = 0; i < 3; i++) {
        int layout = SLOT_IN_LAYOUT + i, type = SLOT_IN_DTYPE + i;
        if (layout_read(p->layout[i], g->flag[layout], g->value[layout], LETTERS_MIOPEN,
                        (enum operand)i, p->dims) ||
            spelling_dtype(&p->dtype[i], g->flag[type], g->value[type]))
            return err_code();
        if (!layout_has_group(p->layout[i]))
            return err_set(ERR_INVALID, "%s %s: the option string wants five letters, with G",
                           g->flag[layout], g->value[layout]);
    }
    return 0;
}

static int read_sizes(struct problem *p, const struct given *g)
{
    if (given_number(&p->n, g, SLOT_N, -1) || given_number(&p->c, g, SLOT_C, -1) ||
        given_number(&p->k, g, SLOT_K, -1) || given_number(&p->g, g, SLOT_G, -1))
        return err_code();
    if (given_each(p->in, g, p->dims, SLOT_IN, -1) ||
        given_each(p->fil, g, p->dims, SLOT_FIL, -1) ||
        given_each(p->str, g, p->dims, SLOT_STR, 1) || given_each(p->dil, g, p->dims, SLOT_DIL, 1))
        return err_code();
    return given_pads(p, g);
}

int spelling_parse_miir(struct problem *out, const char *line)
{
    struct words w;
    struct given g = {.tool = "the option string", .flags = flags, .flag_count = COUNT_OF(flags)};
    struct problem p = {.dims = 2};
    bool is_old;
    if (words_split(&w, line) || read_pairs(&g, &w))
        return err_code();
    if (spelling_operation(&p.direction, &is_old, g.flag[SLOT_OPERATION], g.value[SLOT_OPERATION]))
        return err_code();
    if (read_operands(&p, &g) || read_sizes(&p, &g) ||
        spelling_refuse_added_pads(&p, "the library"))
        return err_code();
    if (problem_check(&p) || given_out_sizes(&p, &g))
        return err_code();
    *out = p;
    return 0;
}

static const char *type_name(enum dtype t)
{
    return t == DTYPE_F32 ? "fp32" : t == DTYPE_F16 ? "fp16" : spelling_dtype_name(t);
}

static int refuse_unsayable(const struct problem *p, bool pads_by_side)
{
    if (p->dims != 2)
        return err_set(ERR_INVALID,
                       "the option string knows 2-D convolutions only, this one is %d-D", p->dims);
    if (!pads_by_side && !problem_symmetric_pads(p))
        return err_set(
            ERR_INVALID,
            "the option string has one number for the pads of both sides, here they differ");
    return 0;
}

/* MIOpen's order, so that a string can be compared with a logged one. */
int spelling_print_miir(struct buf *out, const struct problem *p, bool pads_by_side)
{
    if (refuse_unsayable(p, pads_by_side))
        return err_code();
    char layout[3][8];
    for (int i = 0; i < 3; i++)
        layout_to_miopen(layout[i], p->layout[i], (enum operand)i);
    buf_printf(out, "--operation %s --groupsize %" PRId64,
               spelling_operation_name(p->direction, true), p->g);
    buf_printf(out, " --fil_layout %s --fil_type %s --in_layout %s --out_layout %s",
               layout[OPERAND_FILTER], type_name(p->dtype[OPERAND_FILTER]), layout[OPERAND_INPUT],
               layout[OPERAND_OUTPUT]);
    buf_printf(out, " --in_type %s --out_type %s", type_name(p->dtype[OPERAND_INPUT]),
               type_name(p->dtype[OPERAND_OUTPUT]));
    buf_printf(out, " --batchsize %" PRId64 " --in_channels %" PRId64 " --out_channels %" PRId64,
               p->n, p->c, p->k);
    const int64_t sizes[] = {problem_out(p, 0), problem_out(p, 1)};
    spelling_print_each(out, p, " --in_", " ", p->in);
    spelling_print_each(out, p, " --out_", " ", sizes);
    spelling_print_each(out, p, " --fil_", " ", p->fil);
    spelling_print_each(out, p, " --dilation_", " ", p->dil);
    spelling_print_each(out, p, " --conv_stride_", " ", p->str);
    for (int d = 0; d < p->dims; d++) {
        if (p->pad_lo[d] == p->pad_hi[d])
            buf_printf(out, " --padding_%c %" PRId64, "hw"[d], p -> pad_lo[d]);
        else
            buf_printf(out, " --padding_%c_l %" PRId64 " --padding_%c_r %" PRId64, "hw"[d],
                       p -> pad_lo[d], "hw"[d], p -> pad_hi[d]);
    }
    return 0;
}
