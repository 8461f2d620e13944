/* spelling_mlir: rocmlir-gen and what it grew from: mlir-miopen-driver, miopen-gen, rock-gen.
 *
 * One table for all eras: an option that a build does not know is that build's complaint, the
 * problem it describes is the same. Where the same line means different problems in different
 * builds it is refused.
 */
#include "reference/spelling_internal.h"

#include "src/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct flag flags[] = {
    {.name = "operation", .slot = SLOT_OPERATION},
    {.name = "t", .slot = SLOT_DTYPE},
    {.name = "dtype", .slot = SLOT_DTYPE},
    {.name = "fil_dtype", .slot = SLOT_FIL_DTYPE},
    {.name = "a_dtype", .slot = SLOT_FIL_DTYPE},
    {.name = "tf", .slot = SLOT_FIL_DTYPE},
    {.name = "ta", .slot = SLOT_FIL_DTYPE},
    {.name = "in_dtype", .slot = SLOT_IN_DTYPE},
    {.name = "b_dtype", .slot = SLOT_IN_DTYPE},
    {.name = "ti", .slot = SLOT_IN_DTYPE},
    {.name = "tb", .slot = SLOT_IN_DTYPE},
    {.name = "out_dtype", .slot = SLOT_OUT_DTYPE},
    {.name = "c_dtype", .slot = SLOT_OUT_DTYPE},
    {.name = "out_datatype", .slot = SLOT_OUT_DTYPE},
    {.name = "to", .slot = SLOT_OUT_DTYPE},
    {.name = "tc", .slot = SLOT_OUT_DTYPE},
    {.name = "in_layout", .slot = SLOT_IN_LAYOUT},
    {.name = "fil_layout", .slot = SLOT_FIL_LAYOUT},
    {.name = "out_layout", .slot = SLOT_OUT_LAYOUT},
    {.name = "groupsize", .slot = SLOT_G},
    {.name = "g", .slot = SLOT_G},
    {.name = "batchsize", .slot = SLOT_N},
    {.name = "in_channels", .slot = SLOT_C},
    {.name = "out_channels", .slot = SLOT_K},
    {.name = "in_d", .slot = SLOT_IN},
    {.name = "in_h", .slot = SLOT_IN + 1},
    {.name = "in_w", .slot = SLOT_IN + 2},
    {.name = "fil_d", .slot = SLOT_FIL},
    {.name = "fil_h", .slot = SLOT_FIL + 1},
    {.name = "fil_w", .slot = SLOT_FIL + 2},
    {.name = "out_d", .slot = SLOT_OUT},
    {.name = "out_h", .slot = SLOT_OUT + 1},
    {.name = "out_w", .slot = SLOT_OUT + 2},
    {.name = "dilation_d", .slot = SLOT_DIL},
    {.name = "dilation_h", .slot = SLOT_DIL + 1},
    {.name = "dilation_w", .slot = SLOT_DIL + 2},
    {.name = "conv_stride_d", .slot = SLOT_STR},
    {.name = "conv_stride_h", .slot = SLOT_STR + 1},
    {.name = "conv_stride_w", .slot = SLOT_STR + 2},
    {.name = "padding_d", .slot = SLOT_PAD},
    {.name = "padding_h", .slot = SLOT_PAD + 1},
    {.name = "padding_w", .slot = SLOT_PAD + 2},
    {.name = "padding_d_l", .slot = SLOT_PAD_LO},
    {.name = "padding_h_l", .slot = SLOT_PAD_LO + 1},
    {.name = "padding_w_l", .slot = SLOT_PAD_LO + 2},
    {.name = "padding_d_r", .slot = SLOT_PAD_HI},
    {.name = "padding_h_r", .slot = SLOT_PAD_HI + 1},
    {.name = "padding_w_r", .slot = SLOT_PAD_HI + 2},
    {.name = "conv-config", .slot = SLOT_CONV_CONFIG},
    {.name = "p", .slot = SLOT_DEMO, .is_switch = true},
    {.name = "x2", .slot = SLOT_XDLOPS, .is_switch = true},
    {.name = "xdlopsV2", .slot = SLOT_XDLOPS, .is_switch = true},
    {.name = "mfma", .slot = SLOT_MFMA},
    /* The machine and the variant. */
    {.name = "arch", .slot = SLOT_ARCH},
    {.name = "force-f8-types", .slot = SLOT_F8_FAMILY},
    {.name = "num_cu"},
    {.name = "num_chiplets"},
    {.name = "perf_config"},
    {.name = "wmma"},
    {.name = "dot"},
    {.name = "atomic_add"},
    {.name = "atomic_fmax_f32"},
    {.name = "store-method"},
    {.name = "kernel_id"},
    {.name = "v4r1"},
    {.name = "block_size"},
    {.name = "grid_size"},
    {.name = "target"},
    {.name = "entry-point"},
    {.name = "emit-tuning-space"},
    {.name = "emit-tuning-key", .is_switch = true},
    {.name = "emit-split-k-selection-likelihood", .is_switch = true},
    {.name = "disable-split-k-for-tuning", .is_switch = true},
    /* Host code, data and verification. */
    {.name = "o"},
    {.name = "fut"},
    {.name = "func-under-test"},
    {.name = "host", .is_switch = true},
    {.name = "host-harness", .is_switch = true},
    {.name = "ph", .is_switch = true},
    {.name = "c", .is_switch = true},
    {.name = "clone-harness", .is_switch = true},
    {.name = "pv", .is_switch = true},
    {.name = "pv_with_mlir", .is_switch = true},
    {.name = "pv_with_cpp", .is_switch = true},
    {.name = "pv_with_gpu", .is_switch = true},
    {.name = "pv-strict", .is_switch = true},
    {.name = "pv-f64", .is_switch = true},
    {.name = "verifier"},
    {.name = "prc", .is_switch = true},
    {.name = "cpu-kernels", .is_switch = true},
    {.name = "pr", .is_switch = true},
    {.name = "print-results", .is_switch = true},
    {.name = "pi", .is_switch = true},
    {.name = "print-inputs", .is_switch = true},
    {.name = "pvr", .is_switch = true},
    {.name = "print-validation-results", .is_switch = true},
    {.name = "rand"},
    {.name = "rand_type"},
    {.name = "rand_type_int_for_inputs"},
    {.name = "rand_side"},
    {.name = "rand_min"},
    {.name = "rand_max"},
    {.name = "rand_min_int"},
    {.name = "rand_max_int"},
    {.name = "RMS_threshold"},
    {.name = "absDiff_threshold"},
    {.name = "relDiff_threshold"},
    {.name = "comparator"},
    {.name = "atol"},
    {.name = "rtol"},
    {.name = "print-verify-results"},
    {.name = "p_verify"},
    {.name = "kernel-repeats"},
    {.name = "device"},
    {.name = "dev"},
    {.name = "cpu-timers", .is_switch = true},
};

/* What lit replaces in RUN lines of rocMLIR's tests; none of them touches the problem. */
static bool is_lit_word(const char *word)
{
    static const char *const known[] = {"%pv", "%random_data", "%rocmlir_gen_flags", "%s"};
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (!strcmp(word, known[i]))
            return true;
    return false;
}

/* One option at place *i; moves *i to its last word. Splits "--name=value" where it stands. */
static int take_option(struct given *g, struct words *w, int *i, int end)
{
    char *word = w->at[*i], hint[64];
    size_t dashes = strspn(word, "-");
    if (dashes == 0 || !word[dashes])
        return err_set(ERR_INVALID, "%s: an input file, but the problem must be in the options",
                       word);
    char *value = strchr(word, '=');
    if (value)
        *value++ = '\0';
    const struct flag *flag = dashes > 2 ? NULL : given_flag_named(g, word + dashes);
    if (!flag)
        return err_set(ERR_INVALID, "%s: %s has no such option%s", word, g->tool,
                       given_hint(hint, g, "--", word + dashes));
    if (!value && !flag->is_switch) {
        if (*i + 1 >= end)
            return err_set(ERR_INVALID, "%s has no value", word);
        value = w->at[++*i];
    }
    if (flag->slot != SLOT_IGNORED && g->flag[flag->slot])
        return err_set(ERR_INVALID, "%s stands twice, which %s refuses", word, g->tool);
    g->flag[flag->slot] = word;
    g->value[flag->slot] = value;
    g->place[flag->slot] = *i;
    return 0;
}

static int read_options(struct given *g, struct words *w, int from)
{
    int end = words_end(w, from);
    for (int i = from; i < end; i++)
        if (!is_lit_word(w->at[i]) && take_option(g, w, &i, end))
            return err_code();
    return 0;
}

/* fp8 and bf8 mean the OCP formats on gfx950 and gfx12, the FNUZ ones on all others, unless told.
 */
static bool is_ocp(const struct given *g)
{
    const char *family = g->value[SLOT_F8_FAMILY], *arch = g->value[SLOT_ARCH];
    if (family && strcmp(family, "arch") != 0)
        return strcmp(family, "ocp") == 0;
    return arch && (strstr(arch, "gfx950") || strstr(arch, "gfx12"));
}

static int read_dtype(enum dtype *out, const struct given *g, const char *flag, const char *word)
{
    if (strcmp(word, "fp8") == 0)
        *out = is_ocp(g) ? DTYPE_F8E4M3FN : DTYPE_F8E4M3FNUZ;
    else if (strcmp(word, "bf8") == 0)
        *out = is_ocp(g) ? DTYPE_F8E5M2 : DTYPE_F8E5M2FNUZ;
    else
        return spelling_dtype(out, flag, word);
    return 0;
}

/* -t sets filter and input, as does "-t filter_input"; their own flags win when they stand later.
 * The output follows from -t alone (i8 gives i32, 8-bit floats f32), and is f32 without it. */
static int read_dtypes(struct problem *p, const struct given *g)
{
    char both[32] = "f32";
    const char *filter = both, *input = both, *t = g->value[SLOT_DTYPE];
    if (t && snprintf(both, sizeof both, "%s", t) >= (int)sizeof both)
        return err_set(ERR_INVALID, "%s %s: not a type", g->flag[SLOT_DTYPE], t);
    char *second = t ? strchr(both, '_') : NULL;
    if (second) {
        *second++ = '\0';
        input = second;
    }
    if (g->place[SLOT_FIL_DTYPE] > g->place[SLOT_DTYPE] || (!t && g->flag[SLOT_FIL_DTYPE]))
        filter = g->value[SLOT_FIL_DTYPE];
    if (g->place[SLOT_IN_DTYPE] > g->place[SLOT_DTYPE] || (!t && g->flag[SLOT_IN_DTYPE]))
        input = g->value[SLOT_IN_DTYPE];
    const char *flag = t ? g->flag[SLOT_DTYPE] : "type";
    if (read_dtype(&p->dtype[OPERAND_FILTER], g, flag, filter) ||
        read_dtype(&p->dtype[OPERAND_INPUT], g, flag, input))
        return err_code();
    if (g->flag[SLOT_OUT_DTYPE])
        return read_dtype(&p->dtype[OPERAND_OUTPUT], g, g->flag[SLOT_OUT_DTYPE],
                          g->value[SLOT_OUT_DTYPE]);
    p->dtype[OPERAND_OUTPUT] = DTYPE_F32;
    if (dtype_is_f8(p->dtype[OPERAND_FILTER]) && dtype_is_f8(p->dtype[OPERAND_INPUT]))
        return 0;
    if (second || (!t && strcmp(filter, input)))
        return err_set(ERR_INVALID,
                       "filter %s, input %s: %s has no output type for them, add --out_dtype",
                       filter, input, g->tool);
    return spelling_dtype(&p->dtype[OPERAND_OUTPUT], flag,
                          !t                 ? "f32"
                          : !strcmp(t, "i8") ? "i32"
                                             : t);
}

/* Layouts without a g: builds of 2023 and 2026 put it in different places, which is the same memory
 * with one group only. The conv2d names tell the older ones. */
static int add_group(struct problem *p, const struct given *g, enum operand which, bool is_old)
{
    char newer[8];
    char *layout = p->layout[which];
    memcpy(newer, layout, sizeof newer);
    layout_group_2023(layout, which);
    layout_group_2026(newer, which);
    if (p->dims == 2 && (is_old || p->g == 1 || !strcmp(layout, newer)))
        return 0;
    if (p->dims == 2)
        return err_set(ERR_INVALID,
                       "%s %s: with %" PRId64
                       " groups builds read this as %s or as %s: write the g",
                       g->flag[SLOT_IN_LAYOUT + (int)which], g->value[SLOT_IN_LAYOUT + (int)which],
                       p->g, layout, newer);
    memcpy(layout, newer, sizeof newer);
    return 0;
}

static int read_layouts(struct problem *p, const struct given *g, bool is_old)
{
    problem_default_layouts(p);
    for (int i = 0; i < 3; i++) {
        int slot = SLOT_IN_LAYOUT + i;
        if (!g->flag[slot] && p->dims == 2)
            continue;
        if (!g->flag[slot])
            return err_set(ERR_INVALID, "--%s is missing: the default has no depth",
                           given_name(g, slot));
        if (layout_read(p->layout[i], g->flag[slot], g->value[slot], LETTERS_MLIR, (enum operand)i,
                        p->dims) ||
            add_group(p, g, (enum operand)i, is_old))
            return err_code();
    }
    return 0;
}

/* Builds before mid-2025 end with "disjointed yx" or "disjointed hw". */
static int refuse_disjoint(const struct problem *p, const char *tool)
{
    const char *filter = p->layout[OPERAND_FILTER], *input = p->layout[OPERAND_INPUT];
    if (!strstr(filter, "yx") && !strstr(filter, "xy"))
        return err_set(ERR_INVALID, "filter layout %s: %s wants y and x side by side", filter,
                       tool);
    if (!strstr(input, "hw") && !strstr(input, "wh"))
        return err_set(ERR_INVALID, "input layout %s: %s wants h and w side by side", input, tool);
    return 0;
}

/* -p fills in sizes over those that were given; a line with both does not run what it says. */
static int read_demo(struct problem *p, const struct given *g)
{
    for (int slot = SLOT_N; slot < SLOT_COUNT; slot++)
        if (g->flag[slot])
            return err_set(ERR_INVALID, "%s would be overwritten by the demo sizes of %s",
                           g->flag[slot], g->flag[SLOT_DEMO]);
    bool xdlops;
    if (given_bool(&xdlops, g, SLOT_XDLOPS))
        return err_code();
    bool is_large = xdlops || (g->flag[SLOT_MFMA] && !strcmp(g->value[SLOT_MFMA], "on"));
    p->dims = 2;
    p->n = 128;
    p->c = is_large ? 1024 : 8;
    p->k = is_large ? 1024 : 128;
    p->g = 1;
    for (int d = 0; d < 2; d++) {
        p->in[d] = is_large ? 14 : 32;
        p->fil[d] = is_large ? 1 : 3;
        p->str[d] = p->dil[d] = 1;
    }
    return 0;
}

static int read_sizes(struct problem *p, const struct given *g)
{
    bool is_3d = g->flag[SLOT_IN] || g->flag[SLOT_FIL];
    p->dims = is_3d ? 3 : 2;
    if (given_number(&p->n, g, SLOT_N, -1) || given_number(&p->c, g, SLOT_C, -1) ||
        given_number(&p->k, g, SLOT_K, -1) || given_number(&p->g, g, SLOT_G, 1))
        return err_code();
    if (given_each(p->in, g, p->dims, SLOT_IN, -1) ||
        given_each(p->fil, g, p->dims, SLOT_FIL, -1) ||
        given_each(p->str, g, p->dims, SLOT_STR, 1) || given_each(p->dil, g, p->dims, SLOT_DIL, 1))
        return err_code();
    for (int slot = SLOT_STR; !is_3d && slot < SLOT_COUNT; slot += 3)
        if (g->flag[slot])
            return err_set(ERR_INVALID, "%s needs --in_d and --fil_d", g->flag[slot]);
    return given_pads(p, g);
}

static int build_problem(struct problem *p, const struct given *g, enum spelling s)
{
    bool is_old = s == SPELLING_MLIR_MIOPEN, is_demo;
    const char *operation = g->flag[SLOT_OPERATION];
    if (operation &&
        spelling_operation(&p->direction, &is_old, operation, g->value[SLOT_OPERATION]))
        return err_code();
    if (given_bool(&is_demo, g, SLOT_DEMO) || (is_demo ? read_demo(p, g) : read_sizes(p, g)))
        return err_code();
    if (read_dtypes(p, g) || read_layouts(p, g, is_old || s == SPELLING_MLIR_MIOPEN))
        return err_code();
    if (s == SPELLING_MLIR_MIOPEN && p->dims == 3)
        return err_set(ERR_INVALID, "--in_d: %s knows 2-D convolutions only", g->tool);
    if (s == SPELLING_MLIR_MIOPEN && refuse_disjoint(p, g->tool))
        return err_code();
    if (spelling_refuse_added_pads(p, g->tool) || problem_check(p))
        return err_code();
    return given_out_sizes(p, g);
}

/* Sweeps print bare argument lists, so the tool's name may be missing. */
static int options_start(struct given *g, const struct words *w, enum spelling s)
{
    static const char *const tools[][2] = {{"rocmlir-gen", "rock-gen"},
                                           {"miopen-gen", "mlir-miopen-driver"}};
    for (int i = 0; i < 2; i++) {
        g->tool = tools[s == SPELLING_MLIR_MIOPEN][i];
        int place = words_find_tool(w, g->tool);
        if (place >= 0)
            return place + 1;
    }
    g->tool = tools[s == SPELLING_MLIR_MIOPEN][0];
    return 0;
}

int spelling_parse_mlir(struct problem out[3], size_t *count, enum spelling s, const char *line)
{
    struct words w;
    struct given g = {.flags = flags, .flag_count = COUNT_OF(flags)};
    struct problem p = {.direction = DIRECTION_FWD};
    if (words_split(&w, line) || read_options(&g, &w, options_start(&g, &w, s)))
        return err_code();
    if (g.flag[SLOT_CONV_CONFIG]) {
        /* The string wins over all other options. */
        if (spelling_parse_miir(&p, g.value[SLOT_CONV_CONFIG]))
            return err_wrap("%s", g.flag[SLOT_CONV_CONFIG]);
    } else if (build_problem(&p, &g, s)) {
        return err_code();
    }
    out[0] = p;
    *count = 1;
    return 0;
}

static bool is_int8(const struct problem *p)
{
    return p->dtype[0] == DTYPE_I8 && p->dtype[1] == DTYPE_I8 && p->dtype[2] == DTYPE_I32;
}

/* -t alone says one type for all three, but for i8, whose output it makes i32. */
static bool is_plain_type(const struct problem *p)
{
    bool is_uniform = p->dtype[0] == p->dtype[1] && p->dtype[1] == p->dtype[2];
    bool is_tiny = p->dtype[0] == p->dtype[1] && dtype_is_f8(p->dtype[0]);
    if (is_tiny)
        return p->dtype[OPERAND_OUTPUT] == DTYPE_F32;
    return is_int8(p) || (is_uniform && p->dtype[0] != DTYPE_I8);
}

static const char *type_name(enum dtype t)
{
    if (!dtype_is_f8(t))
        return dtype_name(t);
    return t == DTYPE_F8E4M3FN || t == DTYPE_F8E4M3FNUZ ? "fp8" : "bf8";
}

/* "ocp", "fnuz", "" without 8-bit floats; NULL when both are there, which has no words. */
static const char *f8_family(const struct problem *p)
{
    const char *family = "";
    for (int i = 0; i < 3; i++) {
        bool ocp = p->dtype[i] == DTYPE_F8E4M3FN || p->dtype[i] == DTYPE_F8E5M2;
        const char *here = ocp ? "ocp" : "fnuz";
        if (!dtype_is_f8(p->dtype[i]))
            continue;
        if (*family && strcmp(family, here) != 0)
            return NULL;
        family = here;
    }
    return family;
}

static void print_modern(struct buf *out, const struct problem *p)
{
    char layout[3][8];
    for (int i = 0; i < 3; i++)
        layout_to_mlir(layout[i], p->layout[i], (enum operand)i, p->dims);
    buf_printf(out, "rocmlir-gen --operation %s", spelling_operation_name(p->direction, false));
    const char *filter = type_name(p->dtype[OPERAND_FILTER]),
               *input = type_name(p->dtype[OPERAND_INPUT]), *family = f8_family(p);
    if (p->dtype[OPERAND_FILTER] == p->dtype[OPERAND_INPUT])
        buf_printf(out, " -t %s", filter);
    else
        buf_printf(out, " -t %s_%s", filter, input);
    if (!is_plain_type(p))
        buf_printf(out, " --out_dtype %s", type_name(p->dtype[OPERAND_OUTPUT]));
    if (family && *family)
        buf_printf(out, " --force-f8-types %s", family);
    buf_printf(out, " --fil_layout %s --in_layout %s --out_layout %s", layout[OPERAND_FILTER],
               layout[OPERAND_INPUT], layout[OPERAND_OUTPUT]);
    buf_printf(out, " --batchsize %" PRId64 " --in_channels %" PRId64 " --out_channels %" PRId64,
               p->n, p->c, p->k);
    spelling_print_each(out, p, " --in_", " ", p->in);
    spelling_print_each(out, p, " --fil_", " ", p->fil);
    spelling_print_each(out, p, " --dilation_", " ", p->dil);
    spelling_print_each(out, p, " --conv_stride_", " ", p->str);
    spelling_print_each(out, p, " --padding_", "_l ", p->pad_lo);
    spelling_print_each(out, p, " --padding_", "_r ", p->pad_hi);
    buf_printf(out, " --groupsize %" PRId64, p->g);
}

static void print_legacy(struct buf *out, const struct problem *p)
{
    buf_printf(out, "mlir-miopen-driver -p=false -fil_layout=%s -in_layout=%s -out_layout=%s",
               p->layout[OPERAND_FILTER], p->layout[OPERAND_INPUT], p->layout[OPERAND_OUTPUT]);
    buf_printf(out, " -batchsize=%" PRId64 " -in_channels=%" PRId64 " -out_channels=%" PRId64, p->n,
               p->c, p->k);
    spelling_print_each(out, p, " -in_", "=", p->in);
    spelling_print_each(out, p, " -fil_", "=", p->fil);
    spelling_print_each(out, p, " --dilation_", "=", p->dil);
    spelling_print_each(out, p, " --conv_stride_", "=", p->str);
    if (problem_symmetric_pads(p)) {
        spelling_print_each(out, p, " --padding_", "=", p->pad_lo);
    } else {
        spelling_print_each(out, p, " --padding_", "_l=", p->pad_lo);
        spelling_print_each(out, p, " --padding_", "_r=", p->pad_hi);
    }
    buf_printf(out, " --groupsize=%" PRId64 " -t %s --operation=%s", p->g,
               dtype_name(p->dtype[OPERAND_INPUT]), spelling_operation_name(p->direction, true));
}

int spelling_print_mlir(struct buf *out, enum spelling s, const struct problem *p)
{
    if (s == SPELLING_ROCMLIR) {
        if (p->dims == 1)
            return err_set(ERR_INVALID, "rocmlir-gen has no 1-D convolutions");
        if (!f8_family(p))
            return err_set(ERR_INVALID, "rocmlir-gen has either OCP or FNUZ types in one problem");
        print_modern(out, p);
        return 0;
    }
    if (p->dims != 2)
        return err_set(ERR_INVALID,
                       "mlir-miopen-driver knows 2-D convolutions only, this one is %d-D", p->dims);
    if (!f8_family(p) || *f8_family(p))
        return err_set(ERR_INVALID, "mlir-miopen-driver has no 8-bit floats");
    if (!is_plain_type(p))
        return err_set(ERR_INVALID,
                       "mlir-miopen-driver has one -t for all tensors, here the types are mixed");
    if (refuse_disjoint(p, "mlir-miopen-driver"))
        return err_code();
    print_legacy(out, p);
    return 0;
}
