/* spelling_miopen: MIOpenDriver's convolutions, also as MIOpen logs them and as rocMLIR keeps them
 * in configuration files.
 *
 * Its argument parser (driver/InputFlags.cpp) reads pairs: a dash and one letter, or two dashes and
 * the long name, and then the next word as the value, whatever it is. "-n32" would be -n with the
 * next flag as its number, and "--batchsize=32" an unknown flag that ends the program with status
 * 0: both are refused here. Of a flag given twice the last holds.
 */
#include "reference/spelling_internal.h"

#include "src/mem.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct flag flags[] = {
    {"in_layout", SLOT_IN_LAYOUT, 'I', false},
    {"fil_layout", SLOT_FIL_LAYOUT, 'f', false},
    {"out_layout", SLOT_OUT_LAYOUT, 'O', false},
    {"spatial_dim", SLOT_SPATIAL_DIMS, '_', false},
    {"forw", SLOT_DIRECTIONS, 'F', false},
    {"batchsize", SLOT_N, 'n', false},
    {"in_channels", SLOT_C, 'c', false},
    {"in_d", SLOT_IN, '!', false},
    {"in_h", SLOT_IN + 1, 'H', false},
    {"in_w", SLOT_IN + 2, 'W', false},
    {"out_channels", SLOT_K, 'k', false},
    {"fil_d", SLOT_FIL, '@', false},
    {"fil_h", SLOT_FIL + 1, 'y', false},
    {"fil_w", SLOT_FIL + 2, 'x', false},
    {"conv_stride_d", SLOT_STR, '#', false},
    {"conv_stride_h", SLOT_STR + 1, 'u', false},
    {"conv_stride_w", SLOT_STR + 2, 'v', false},
    {"pad_d", SLOT_PAD, '$', false},
    {"pad_h", SLOT_PAD + 1, 'p', false},
    {"pad_w", SLOT_PAD + 2, 'q', false},
    {"dilation_d", SLOT_DIL, '^', false},
    {"dilation_h", SLOT_DIL + 1, 'l', false},
    {"dilation_w", SLOT_DIL + 2, 'j', false},
    {"group_count", SLOT_G, 'g', false},
    {"mode", SLOT_MODE, 'm', false},
    {"pad_mode", SLOT_PAD_MODE, 'z', false},
    {"pad_val", SLOT_PAD_VALUE, 'r', false},
    {"bias", SLOT_BIAS, 'b', false},
    {"tensor_vect", SLOT_VECTOR, 'Z', false},
    {"vector_length", SLOT_VECTOR_LENGTH, 'L', false},
    {"in_cast_type", SLOT_IN_CAST, 'U', false},
    {"wei_cast_type", SLOT_FIL_CAST, 'R', false},
    {"out_cast_type", SLOT_OUT_CAST, 'T', false},
    /* Padding of a transposed convolution's output: without effect in the mode that we take. */
    {"trans_output_pad_d", SLOT_IGNORED, '%', false},
    {"trans_output_pad_h", SLOT_IGNORED, 'Y', false},
    {"trans_output_pad_w", SLOT_IGNORED, 'X', false},
    /* How it is run, checked and timed. */
    {"iter", SLOT_IGNORED, 'i', false},
    {"verify", SLOT_IGNORED, 'V', false},
    {"verification_cache", SLOT_IGNORED, 'C', false},
    {"time", SLOT_IGNORED, 't', false},
    {"wall", SLOT_IGNORED, 'w', false},
    {"search", SLOT_IGNORED, 's', false},
    {"printconv", SLOT_IGNORED, 'P', false},
    {"dump_output", SLOT_IGNORED, 'o', false},
    {"in_data", SLOT_IGNORED, 'd', false},
    {"weights", SLOT_IGNORED, 'e', false},
    {"in_bias", SLOT_IGNORED, 'a', false},
    {"dout_data", SLOT_IGNORED, 'D', false},
    {"solution", SLOT_IGNORED, 'S', false},
    {"gpualloc", SLOT_IGNORED, 'G', false},
    {"init_output_nan", SLOT_IGNORED, 'N', false},
    {"tuning_policy", SLOT_IGNORED, '&', false},
    {"math_type", SLOT_IGNORED, 'M', false},
    {"gpubuffer_check", SLOT_IGNORED, 0, false},
    {"use_hip_graph", SLOT_IGNORED, 0, false},
};

static const struct {
    const char *name;
    enum dtype in, out;
} bases[] = {
    {"conv", DTYPE_F32, DTYPE_F32},
    {"convfp32", DTYPE_F32, DTYPE_F32},
    {"convfp16", DTYPE_F16, DTYPE_F16},
    {"convbfp16", DTYPE_BF16, DTYPE_BF16},
    {"convint8", DTYPE_I8, DTYPE_I32},
    {"convfp8", DTYPE_F8E4M3FNUZ, DTYPE_F8E4M3FNUZ},
    {"convbfp8", DTYPE_F8E5M2FNUZ, DTYPE_F8E5M2FNUZ}, /* the formats of gfx94x */
};

static int read_base(struct problem *p, const char *base)
{
    for (size_t i = 0; i < COUNT_OF(bases); i++)
        if (!strcmp(base, bases[i].name)) {
            p->dtype[OPERAND_INPUT] = p->dtype[OPERAND_FILTER] = bases[i].in;
            p->dtype[OPERAND_OUTPUT] = bases[i].out;
            return 0;
        }
    if (!strncmp(base, "conv", 4))
        return err_set(ERR_INVALID,
                       "%s: %s is not yet a type of assay (it has conv, convfp16, convbfp16, "
                       "convfp8, convbfp8, convint8)",
                       base, base + 4);
    if (strstr(base, "Infer"))
        return err_set(ERR_INVALID,
                       "%s is a fusion, not a convolution alone (its -F is no direction)", base);
    return err_set(ERR_INVALID, "%s: wants conv, convfp16, convbfp16 or convint8 before the flags",
                   base);
}

static const struct flag *flag_of_word(const struct given *g, const char *word)
{
    if (!strncmp(word, "--", 2))
        return given_flag_named(g, word + 2);
    bool is_short = word[0] == '-' && word[1] && !word[2];
    for (size_t i = 0; is_short && i < g->flag_count; i++)
        if (g->flags[i].letter == word[1])
            return &g->flags[i];
    return NULL;
}

static int refuse_flag(const struct given *g, const char *word)
{
    char hint[64];
    if (word[0] != '-')
        return err_set(ERR_INVALID, "%s: MIOpenDriver wants a flag here", word);
    size_t dashes = strspn(word, "-");
    const char short_form[3] = {'-', word[1], '\0'};
    if (dashes == 1 && isdigit((unsigned char)word[2]) && flag_of_word(g, short_form))
        return err_set(ERR_INVALID,
                       "%s: MIOpenDriver takes the value as the next word: write %s %s", word,
                       short_form, word + 2);
    const char *equals = strchr(word, '=');
    if (equals)
        return err_set(ERR_INVALID,
                       "%s: MIOpenDriver takes the value as the next word, without '='", word);
    return err_set(ERR_INVALID, "%s: MIOpenDriver has no such flag%s", word,
                   given_hint(hint, g, "--", word + dashes));
}

static int read_flags(struct given *g, const struct words *w, int from, int end)
{
    for (int i = from; i < end; i += 2) {
        const char *word = w->at[i];
        /* rocMLIR's configuration files carry this one; MIOpenDriver itself would take it for -p.
         */
        bool is_priority = !strcmp(word, "-perf_priority");
        const struct flag *flag = is_priority ? NULL : flag_of_word(g, word);
        if (!flag && !is_priority)
            return refuse_flag(g, word);
        if (i + 1 == end || flag_of_word(g, w->at[i + 1]))
            return err_set(ERR_INVALID, "%s has no value", word);
        if (flag) {
            g->flag[flag->slot] = word;
            g->value[flag->slot] = w->at[i + 1];
        }
    }
    return 0;
}

static bool is_one_of(const char *value, const char *const *words)
{
    for (; *words; words++)
        if (!strcmp(value, *words))
            return true;
    return false;
}

/* Flags that make something else of it than a convolution of assay. */
static int refuse_other_problems(const struct given *g)
{
    static const struct {
        int slot;
        const char *plain[3];
        const char *why;
    } wanted[] = {
        {SLOT_MODE, {"conv"}, "only plain convolutions (-m conv) are problems of assay"},
        {SLOT_BIAS, {"0", ""}, "a bias is no part of a problem of assay"},
        {SLOT_PAD_VALUE, {"0"}, "assay pads with zeros only"},
        {SLOT_VECTOR, {"0"}, "vectorised layouts are not layouts of assay"},
        {SLOT_VECTOR_LENGTH, {"1"}, "vectorised layouts are not layouts of assay"},
        {SLOT_IN_CAST, {"-1"}, "casts are not yet known to assay"},
        {SLOT_FIL_CAST, {"-1"}, "casts are not yet known to assay"},
        {SLOT_OUT_CAST, {"-1"}, "casts are not yet known to assay"},
        {SLOT_PAD_MODE, {"default", "same"}, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(wanted); i++) {
        const char *value = g->value[wanted[i].slot];
        if (!value || is_one_of(value, wanted[i].plain))
            continue;
        if (wanted[i].why)
            return err_set(ERR_INVALID, "%s %s: %s", g->flag[wanted[i].slot], value, wanted[i].why);
        if (strcmp(value, "valid"))
            return err_set(ERR_INVALID, "%s %s: wants default, same or valid",
                           g->flag[wanted[i].slot], value);
    }
    return 0;
}

static int read_sizes(struct problem *p, const struct given *g)
{
    int64_t dims;
    if (given_number(&dims, g, SLOT_SPATIAL_DIMS, 2))
        return err_code();
    if (dims != 2 && dims != 3)
        return err_set(ERR_INVALID, "%s %" PRId64 ": MIOpenDriver has 2-D and 3-D convolutions",
                       g->flag[SLOT_SPATIAL_DIMS], dims);
    p->dims = (int)dims;
    /* MIOpenDriver's defaults; -g 0 counts as one group. */
    if (given_number(&p->n, g, SLOT_N, 100) || given_number(&p->c, g, SLOT_C, 3) ||
        given_number(&p->k, g, SLOT_K, 32) || given_number(&p->g, g, SLOT_G, 1))
        return err_code();
    if (given_each(p->in, g, p->dims, SLOT_IN, 32) || given_each(p->fil, g, p->dims, SLOT_FIL, 3) ||
        given_each(p->str, g, p->dims, SLOT_STR, 1) || given_each(p->dil, g, p->dims, SLOT_DIL, 1))
        return err_code();
    p->g = p->g ? p->g : 1;
    for (int slot = SLOT_IN; dims == 2 && slot <= SLOT_PAD; slot += 3)
        if (g->flag[slot])
            return err_set(ERR_INVALID, "%s has no effect without --spatial_dim 3", g->flag[slot]);
    return given_pads(p, g);
}

static bool all_ones(const int64_t values[], int count)
{
    for (int i = 0; i < count; i++)
        if (values[i] != 1)
            return false;
    return true;
}

/* "same" and "valid" replace the pads, but only where dilations or filter sizes are all 1. An odd
 * sum loses one, so that the output may be smaller than the name says. */
static void apply_pad_mode(struct problem *p, const struct given *g)
{
    const char *mode = g->value[SLOT_PAD_MODE];
    if (!mode || !strcmp(mode, "default") ||
        (!all_ones(p->dil, p->dims) && !all_ones(p->fil, p->dims)))
        return;
    for (int d = 0; d < p->dims && p->str[d]; d++) {
        int64_t over = p->in[d] % p->str[d];
        int64_t sum = p->fil[d] - (over ? over : p->str[d]);
        p->pad_lo[d] = p->pad_hi[d] = !strcmp(mode, "same") && sum > 0 ? sum / 2 : 0;
    }
}

/* MIOpenDriver raises the case of layouts only after the long flags; digits and G are rocMLIR's. */
static int read_layouts(struct problem *p, const struct given *g)
{
    problem_default_layouts(p);
    for (int i = 0; i < 3; i++) {
        const char *flag = g->flag[SLOT_IN_LAYOUT + i], *value = g->value[SLOT_IN_LAYOUT + i];
        if (!flag || !*value)
            continue;
        char upper[16];
        size_t length = 0;
        for (; value[length] && length < sizeof upper - 1; length++)
            upper[length] =
                flag[1] == '-' ? (char)toupper((unsigned char)value[length]) : value[length];
        upper[length] = '\0';
        if (layout_read(p->layout[i], flag, upper, LETTERS_MIOPEN, (enum operand)i, p->dims))
            return err_code();
        layout_group_miopen(p->layout[i], (enum operand)i);
    }
    return 0;
}

/* -F is a mask: 1 forward, 2 backward data, 4 backward weights; 0 is all of them. */
static int read_directions(struct problem out[3], size_t *count, const struct problem *p,
                           const struct given *g)
{
    int64_t mask;
    if (given_number(&mask, g, SLOT_DIRECTIONS, 0))
        return err_code();
    if (mask > 7)
        return err_set(
            ERR_INVALID,
            "%s %" PRId64
            ": wants a sum of 1 (forward), 2 (backward data), 4 (backward weights), or 0",
            g->flag[SLOT_DIRECTIONS], mask);
    if (p->dtype[OPERAND_INPUT] == DTYPE_I8 && mask != 1)
        return err_set(ERR_INVALID, "-F %" PRId64 ": MIOpen has int8 forward only, write -F 1",
                       mask);
    *count = 0;
    for (int bit = 0; bit < 3; bit++)
        if (mask == 0 || (mask & (1 << bit))) {
            out[*count] = *p;
            out[(*count)++].direction = (enum direction)bit;
        }
    return 0;
}

/* The word after the tool; without a tool ("$MIO conv -n ...", configuration files, tuning keys)
 * the conv word that flags follow. */
static int find_base(const struct words *w)
{
    int tool = words_find_tool(w, "MIOpenDriver");
    return tool >= 0 ? tool + 1 : words_find_conv(w);
}

/* Tuning databases keep the line between tabs, with a tuning string behind it: that field, or the
 * line as it is. */
static const char *cut_field(char field[SPELLING_MAX_LINE], const char *line)
{
    const char *start = strstr(line, "\tconv");
    size_t length = start ? strcspn(start + 1, "\t") : 0;
    if (!start || length >= SPELLING_MAX_LINE)
        return line;
    memcpy(field, start + 1, length);
    field[length] = '\0';
    return field;
}

int spelling_parse_miopen(struct problem out[3], size_t *count, const char *line)
{
    struct words w;
    struct given g = {.tool = "MIOpenDriver", .flags = flags, .flag_count = COUNT_OF(flags)};
    struct problem p = {.dims = 2};
    char field[SPELLING_MAX_LINE];
    if (words_split(&w, cut_field(field, line)))
        return err_code();
    int base = find_base(&w);
    if (base < 0 || base >= w.count)
        return err_set(ERR_INVALID,
                       "no type: wants conv, convfp16, convbfp16 or convint8 before the flags");
    if (read_base(&p, w.at[base]) || read_flags(&g, &w, base + 1, words_end(&w, base)) ||
        refuse_other_problems(&g))
        return err_code();
    if (read_sizes(&p, &g) || read_layouts(&p, &g))
        return err_code();
    apply_pad_mode(&p, &g);
    if (problem_check(&p))
        return err_code();
    return read_directions(out, count, &p, &g);
}

static const char *base_name(const struct problem *p)
{
    for (size_t i = 0; i < COUNT_OF(bases); i++)
        if (p->dtype[OPERAND_INPUT] == bases[i].in && p->dtype[OPERAND_FILTER] == bases[i].in &&
            p->dtype[OPERAND_OUTPUT] == bases[i].out)
            return bases[i].name;
    return NULL;
}

/* MIOpen's name of a layout, NULL when it has none. With one group it does not matter where the g
 * stands. */
static const char *layout_name(const struct problem *p, enum operand which)
{
    static const char *const known[] = {"NCHW", "NHWC", "NCDHW", "NDHWC"};
    char bare[8] = "", grouped[8], name[8];
    for (const char *s = p->layout[which]; *s; s++)
        if (*s != 'g')
            bare[strlen(bare)] = *s;
    memcpy(grouped, bare, sizeof grouped);
    layout_group_miopen(grouped, which);
    if (p->g > 1 && strcmp(grouped, p->layout[which]))
        return NULL;
    layout_to_miopen(name, bare, which);
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (!strcmp(name, known[i]))
            return known[i];
    return NULL;
}

static int refuse_unsayable(const struct problem *p)
{
    if (p->dims == 1)
        return err_set(ERR_INVALID, "MIOpenDriver has no 1-D convolutions");
    if (!base_name(p))
        return err_set(ERR_INVALID, "MIOpenDriver has no types %s:%s:%s",
                       dtype_name(p->dtype[OPERAND_INPUT]), dtype_name(p->dtype[OPERAND_FILTER]),
                       dtype_name(p->dtype[OPERAND_OUTPUT]));
    if (p->dtype[OPERAND_INPUT] == DTYPE_I8 && p->direction != DIRECTION_FWD)
        return err_set(ERR_INVALID, "MIOpen has int8 forward only");
    if (!problem_symmetric_pads(p))
        return err_set(ERR_INVALID,
                       "MIOpenDriver has one number for the pads of both sides, here they differ");
    for (int i = 0; i < 3; i++)
        if (!layout_name(p, (enum operand)i))
            return err_set(ERR_INVALID, "MIOpenDriver cannot say %s layout %s",
                           operand_name((enum operand)i), p->layout[i]);
    return 0;
}

/* The depth has long flags only in MIOpen's own logs, since its letters need quotes in a shell. */
static void print_each(struct buf *out, const struct problem *p, const char *depth_flag,
                       const char letters[2], const int64_t values[])
{
    if (p->dims == 3)
        buf_printf(out, " --%s %" PRId64, depth_flag, values[0]);
    for (int d = 0; d < 2; d++)
        buf_printf(out, " -%c %" PRId64, letters[d], values[p->dims - 2 + d]);
}

int spelling_print_miopen(struct buf *out, const struct problem *p)
{
    if (refuse_unsayable(p))
        return err_code();
    const char *input = layout_name(p, OPERAND_INPUT), *filter = layout_name(p, OPERAND_FILTER);
    const char *output = layout_name(p, OPERAND_OUTPUT), *usual = p->dims == 3 ? "NCDHW" : "NCHW";
    buf_printf(out, "MIOpenDriver %s -n %" PRId64 " -c %" PRId64, base_name(p), p->n, p->c);
    print_each(out, p, "in_d", "HW", p->in);
    buf_printf(out, " -k %" PRId64, p->k);
    print_each(out, p, "fil_d", "yx", p->fil);
    print_each(out, p, "pad_d", "pq", p->pad_lo);
    print_each(out, p, "conv_stride_d", "uv", p->str);
    print_each(out, p, "dilation_d", "lj", p->dil);
    if (p->dims == 3)
        buf_add_text(out, " --spatial_dim 3");
    if (strcmp(input, usual) || strcmp(filter, usual) || strcmp(output, usual))
        buf_printf(out, " --in_layout %s --fil_layout %s --out_layout %s", input, filter, output);
    buf_printf(out, " -m conv -g %" PRId64 " -F %d -V 1 -t 1", p->g, 1 << p->direction);
    return 0;
}
