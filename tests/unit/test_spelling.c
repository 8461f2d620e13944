/* The words of other tools: every flag, what they would silently change, and the way back. */
#include "test.h"

#include "reference/spelling.h"
#include "src/mem.h"

#define SIZES "--batchsize 2 --in_channels 4 --out_channels 8 --in_h 6 --in_w 5 --fil_h 3 --fil_w 2"
#define MIIR_SIZES                                                                                                    \
    "--groupsize 1 --batchsize 2 --in_channels 4 --out_channels 8 --in_h 6 --in_w 5 --out_h 4 --out_w 4 "            \
    "--fil_h 3 --fil_w 2"
#define MIIR_TENSORS                                                                                                  \
    "--fil_layout GNCHW --in_layout NGCHW --out_layout NGCHW --fil_type fp32 --in_type fp32 --out_type fp32 "

static void assert_same(const struct problem *p, const char *line, const char *wanted)
{
    char text[PROBLEM_MAX_TEXT];
    if (strcmp(problem_print(text, p), wanted))
        fail_msg("%s\n gives  %s\n wanted %s", line, text, wanted);
}

/* The line gives this one problem. */
static void reads(enum spelling s, const char *line, const char *wanted)
{
    struct problem p[3];
    size_t count;
    err_clear();
    if (spelling_parse(p, &count, s, line))
        fail_msg("%s: %s", line, err_message());
    assert_int_equal(count, 1);
    assert_same(&p[0], line, wanted);
}

static void refuses(enum spelling s, const char *line, const char *part)
{
    struct problem p[3];
    size_t count;
    assert_fails(spelling_parse(p, &count, s, line), ERR_INVALID, part);
}

static void guesses(const char *line, enum spelling wanted)
{
    enum spelling s;
    if (!spelling_guess(&s, line))
        fail_msg("no guess for %s", line);
    assert_string_equal(spelling_name(s), spelling_name(wanted));
}

static void prints(enum spelling s, const char *problem, bool by_side, const char *wanted)
{
    struct problem p;
    struct buf b;
    buf_init(&b, BUF_MAX_LINE);
    assert_ok(problem_parse(&p, problem));
    assert_ok(spelling_print(&b, s, &p, by_side));
    assert_string_equal(b.data, wanted);
    buf_release(&b);
}

static void cannot_print(enum spelling s, const char *problem, const char *part)
{
    struct problem p;
    struct buf b;
    buf_init(&b, BUF_MAX_LINE);
    assert_ok(problem_parse(&p, problem));
    assert_fails(spelling_print(&b, s, &p, false), ERR_INVALID, part);
    assert_int_equal(b.length, 0);
    buf_release(&b);
}

static void spelling_guess__knows_each_tool(void **state)
{
    (void)state;
    guesses("conv fwd f32 n1 c3 k4 g1 in8x8 fil3x3 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw", SPELLING_ASSAY);
    guesses("./bin/MIOpenDriver conv -n 1", SPELLING_MIOPEN);
    guesses("C:\\rocm\\bin\\MIOpenDriver.exe convfp16 -n 1", SPELLING_MIOPEN);
    guesses("MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver conv -n 1", SPELLING_MIOPEN);
    guesses("conv -F 1 -f GNC01 -I NGC01", SPELLING_MIOPEN);
    guesses("-n 256 -c 64 -H 7 -W 7 -k 64", SPELLING_MIOPEN);
    guesses("build/bin/rocmlir-gen --operation conv -p", SPELLING_ROCMLIR);
    guesses("// RUN: rock-gen -p | rocmlir-driver -c", SPELLING_ROCMLIR);
    guesses("--operation conv2d --arch gfx90a -t f32", SPELLING_ROCMLIR);
    guesses("miopen-gen -p | mlir-miopen-driver -c", SPELLING_MLIR_MIOPEN);
    guesses("mlir-miopen-driver -p=false", SPELLING_MLIR_MIOPEN);
    guesses(" --x2 1 --operation conv2d --in_type fp32", SPELLING_MIIR);
}

static void spelling_guess__knows_when_it_is_none(void **state)
{
    (void)state;
    static const char *const others[] = {"", "  ", "# comment", "hello", "conv", "--verbose", "clang -c conv.c", "'open"};
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        enum spelling s;
        if (spelling_guess(&s, others[i]))
            fail_msg("%s taken for %s", others[i], spelling_name(s));
        assert_int_equal(err_code(), 0);
    }
}

static void spelling_parse__takes_our_own_line(void **state)
{
    (void)state;
    const char *line = "conv bwd_data f32 n32 c32 k32 g1 in14x14 fil3x3 str1x1 dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw";
    reads(SPELLING_ASSAY, line, line);
    refuses(SPELLING_ASSAY, "conv sideways", "sideways");
}

/* Short and long names of every flag that counts, each with a value of its own. */
static void miopen__short_and_long_names(void **state)
{
    (void)state;
    const char *wanted = "conv bwd_data f16 n2 c6 k4 g2 in30x31 fil5x7 str2x3 dil4x1 pad8:8x9:9 ngchw gkcyx ngkhw";
    reads(SPELLING_MIOPEN,
          "MIOpenDriver convfp16 -n 2 -c 6 -H 30 -W 31 -k 4 -y 5 -x 7 -p 8 -q 9 -u 2 -v 3 -l 4 -j 1 -m conv -g 2 -F 2", wanted);
    reads(SPELLING_MIOPEN,
          "MIOpenDriver convfp16 --batchsize 2 --in_channels 6 --in_h 30 --in_w 31 --out_channels 4 --fil_h 5 --fil_w 7 "
          "--pad_h 8 --pad_w 9 --conv_stride_h 2 --conv_stride_w 3 --dilation_h 4 --dilation_w 1 --mode conv "
          "--group_count 2 --forw 2 --spatial_dim 2 --pad_mode default",
          wanted);
}

static void miopen__three_dims(void **state)
{
    (void)state;
    const char *wanted =
        "conv bwd_weight f32 n1 c2 k3 g1 in12x10x11 fil2x3x4 str2x1x3 dil3x2x1 pad1:1x2:2x3:3 ngcdhw gkczyx ngkdhw";
    reads(SPELLING_MIOPEN,
          "MIOpenDriver conv -n 1 -c 2 --in_d 12 -H 10 -W 11 -k 3 --fil_d 2 -y 3 -x 4 --pad_d 1 -p 2 -q 3 --conv_stride_d 2 "
          "-u 1 -v 3 --dilation_d 3 -l 2 -j 1 --spatial_dim 3 -m conv -g 1 -F 4 -t 1",
          wanted);
    reads(SPELLING_MIOPEN,
          "MIOpenDriver conv -n 1 -c 2 '-!' 12 -H 10 -W 11 -k 3 -@ 2 -y 3 -x 4 -\\$ 1 -p 2 -q 3 '-#' 2 -u 1 -v 3 -^ 3 "
          "-l 2 -j 1 -_ 3 -F 4 '-%' 0 -Y 0 -X 0",
          wanted);
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv -! 8", "-! has no effect without --spatial_dim 3");
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv -_ 1", "2-D and 3-D");
}

static void miopen__defaults_are_the_drivers(void **state)
{
    (void)state;
    reads(SPELLING_MIOPEN, "MIOpenDriver conv -F 1",
          "conv fwd f32 n100 c3 k32 g1 in32x32 fil3x3 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw");
    reads(SPELLING_MIOPEN, "MIOpenDriver convfp32 -F 1 -g 0 -_ 3",
          "conv fwd f32 n100 c3 k32 g1 in32x32x32 fil3x3x3 str1x1x1 dil1x1x1 pad0:0x0:0x0:0 ngcdhw gkczyx ngkdhw");
}

static void miopen__last_of_two_holds(void **state)
{
    (void)state;
    reads(SPELLING_MIOPEN, "MIOpenDriver conv -n 5 -F 1 -V 1 --batchsize 7 -V 0",
          "conv fwd f32 n7 c3 k32 g1 in32x32 fil3x3 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw");
}

static void miopen__direction_is_a_mask(void **state)
{
    (void)state;
    static const char *const directions[] = {"fwd", "bwd_data", "bwd_weight"};
    for (int mask = 0; mask <= 7; mask++) {
        char line[64];
        struct problem p[3];
        size_t count, at = 0;
        snprintf(line, sizeof line, "MIOpenDriver convbfp16 -F %d", mask);
        assert_ok(spelling_parse(p, &count, SPELLING_MIOPEN, line));
        for (int bit = 0; bit < 3; bit++)
            if (!mask || (mask & (1 << bit)))
                assert_string_equal(direction_name(p[at++].direction), directions[bit]);
        assert_int_equal(count, at);
    }
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv -F 8", "-F 8");
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv -F fwd", "-F fwd: not a whole number");
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv -_ three", "-_ three: not a whole number");
    struct problem p[3];
    size_t count;
    assert_ok(spelling_parse(p, &count, SPELLING_MIOPEN, "MIOpenDriver conv"));
    assert_int_equal(count, 3);
}

static void miopen__types(void **state)
{
    (void)state;
    reads(SPELLING_MIOPEN, "MIOpenDriver convint8 -F 1",
          "conv fwd i8:i8:i32 n100 c3 k32 g1 in32x32 fil3x3 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw");
    reads(SPELLING_MIOPEN, "MIOpenDriver convbfp8 -F 1",
          "conv fwd f8e5m2fnuz n100 c3 k32 g1 in32x32 fil3x3 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw");
    refuses(SPELLING_MIOPEN, "MIOpenDriver convint8 -F 2", "int8 forward only");
    refuses(SPELLING_MIOPEN, "MIOpenDriver convint8", "write -F 1");
    refuses(SPELLING_MIOPEN, "convfp8_bf8 -F 1 -n 2", "fp8_bf8 is not yet a type of assay");
    refuses(SPELLING_MIOPEN, "MIOpenDriver bnorm -n 1", "bnorm: wants conv");
    refuses(SPELLING_MIOPEN, "-n 256 -c 64 -k 64", "no type");
    refuses(SPELLING_MIOPEN, "MIOpenDriver", "no type");
}

static void miopen__layouts(void **state)
{
    (void)state;
    reads(SPELLING_MIOPEN, "MIOpenDriver conv -c 4 -g 2 -F 1 --in_layout nhwc --fil_layout NHWC --out_layout NHWC",
          "conv fwd f32 n100 c4 k32 g2 in32x32 fil3x3 str1x1 dil1x1 pad0:0x0:0 nhwgc gkyxc nhwgk");
    reads(SPELLING_MIOPEN, "MIOpenDriver conv -F 1 -I CHWN -f CHWN -O NHWC",
          "conv fwd f32 n100 c3 k32 g1 in32x32 fil3x3 str1x1 dil1x1 pad0:0x0:0 gchwn cyxgk nhwgk");
    reads(SPELLING_MIOPEN, "MIOpenDriver conv -_ 3 -F 1 -I NDHWC -f NDHWC -O NDHWC",
          "conv fwd f32 n100 c3 k32 g1 in32x32x32 fil3x3x3 str1x1x1 dil1x1x1 pad0:0x0:0x0:0 ndhwgc gkzyxc ndhwgk");
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv -I nchw", "-I nchw: 'n' is no axis");
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv -I NCDHW", "a 2-D input has 4 axes");
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv -f NCHH", "'H' stands twice");
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv --out_layout NCHX", "'X' is no axis of a 2-D output");
}

static void miopen__config_file_lines(void **state)
{
    (void)state;
    reads(SPELLING_MIOPEN,
          "conv -F 1 -f N01GC -I 01NGC -O NGC01 -n 1 -c 3 -H 224 -W 224 -k 64 -y 7 -x 7 -p 3 -q 3 -u 2 -v 2 -l 1 -j 1 -g 1 "
          "-m conv -t 1 -perf_priority 2",
          "conv fwd f32 n1 c3 k64 g1 in224x224 fil7x7 str2x2 dil1x1 pad3:3x3:3 hwngc kyxgc ngkhw");
    reads(SPELLING_MIOPEN, "gfx90a:sramecc+:xnack-\t104\tconvfp16 -F 4 -f GNC01 -I NGC01 -O NGC01 -n 2 -c 8 -k 8 -g 2\tv2:64,64,8",
          "conv bwd_weight f16 n2 c8 k8 g2 in32x32 fil3x3 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw");
}

static void miopen__log_lines_and_prompts(void **state)
{
    (void)state;
    const char *wanted = "conv fwd f32 n4 c3 k32 g1 in32x32 fil3x3 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw";
    static const char *const lines[] = {
        "MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver conv -n 4 -m conv -F 1 -t 1 -S 105",
        "1234 MIOpen(OpenCL)[   0.123]: Command [LogCmdFindConvolution] ./bin/MIOpenDriver.exe conv -n 4 -F 1 -t 1",
        "MIOpenDriver: conv -n 4 -F 1",
        "$MIO conv -n 4 -m conv -F 1",
        "PS C:\\opt> .\\bin\\MIOpenDriver.exe conv -n 4 -F 1 -S -1",
        "MIOpenDriver conv -n 4 -F 1 > out.txt",
        "MIOpenDriver conv -n 4 -F 1 ; echo done",
        "cd build && MIOPEN_FIND_MODE=1 ./bin/MIOpenDriver conv -n 4 -F 1 2>&1 | tee log",
    };
    for (size_t i = 0; i < COUNT_OF(lines); i++)
        reads(SPELLING_MIOPEN, lines[i], wanted);
    refuses(SPELLING_MIOPEN, "MIOpen(HIP): Command [LogCmdFusion] ./bin/MIOpenDriver CBAInfer -F 4 -n 8", "CBAInfer is a fusion");
}

static void miopen__run_flags_are_skipped(void **state)
{
    (void)state;
    reads(SPELLING_MIOPEN,
          "MIOpenDriver conv -F 1 -i 5 -V 0 -C /cache -t 1 -w 1 -s 1 -P 0 -o 0 -d in.bin -e wei.bin -a b.bin -D d.bin -b 0 "
          "-S ConvMlirIgemmFwd -G 0 -N 0 '-&' 0 -M 1 -r 0 -Z 0 -L 1 -U -1 -T -1 -R -1 --gpubuffer_check 0 --use_hip_graph 0",
          "conv fwd f32 n100 c3 k32 g1 in32x32 fil3x3 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw");
}

static void miopen__pad_modes(void **state)
{
    (void)state;
    reads(SPELLING_MIOPEN, "MIOpenDriver conv -F 1 -z same -H 7 -W 8 -y 5 -x 4 -u 2 -v 2 -p 9",
          "conv fwd f32 n100 c3 k32 g1 in7x8 fil5x4 str2x2 dil1x1 pad2:2x1:1 ngchw gkcyx ngkhw");
    /* 4 - 1 is odd: MIOpen halves it and loses one. */
    reads(SPELLING_MIOPEN, "MIOpenDriver conv -F 1 -z same -H 8 -W 8 -y 4 -x 1",
          "conv fwd f32 n100 c3 k32 g1 in8x8 fil4x1 str1x1 dil1x1 pad1:1x0:0 ngchw gkcyx ngkhw");
    reads(SPELLING_MIOPEN, "MIOpenDriver conv -F 1 -z valid -p 1 -q 1",
          "conv fwd f32 n100 c3 k32 g1 in32x32 fil3x3 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw");
    reads(SPELLING_MIOPEN, "MIOpenDriver conv -F 1 -z same -l 2 -p 4",
          "conv fwd f32 n100 c3 k32 g1 in32x32 fil3x3 str1x1 dil2x1 pad4:4x0:0 ngchw gkcyx ngkhw");
    reads(SPELLING_MIOPEN, "MIOpenDriver conv -F 1 -z valid -l 2 -p 4 -y 1 -x 1",
          "conv fwd f32 n100 c3 k32 g1 in32x32 fil1x1 str1x1 dil2x1 pad0:0x0:0 ngchw gkcyx ngkhw");
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv -z full", "-z full: wants default, same or valid");
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv -z same -u 0", "");
}

static void miopen__refuses_what_is_another_problem(void **state)
{
    (void)state;
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv -m trans", "-m trans: only plain convolutions");
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv --bias 1", "--bias 1: a bias");
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv -r 1", "-r 1: assay pads with zeros");
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv -Z 1 -L 4", "-Z 1: vectorised");
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv -U fp8", "-U fp8: casts");
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv -c 3 -g 2", "");
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv -H 2 -F 1", "");
}

static void miopen__names_the_flag_at_fault(void **state)
{
    (void)state;
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv -n32 -c 3", "-n32: MIOpenDriver takes the value as the next word: write -n 32");
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv --batchsize=32", "--batchsize=32: MIOpenDriver takes the value as the next word");
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv --batchsise 32", "--batchsise: MIOpenDriver has no such flag, did you mean --batchsize?");
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv -batchsize 32", "did you mean --batchsize?");
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv -E 3", "-E: MIOpenDriver has no such flag");
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv 32", "32: MIOpenDriver wants a flag here");
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv -n", "-n has no value");
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv -n -c 3", "-n has no value");
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv -H 3.5", "-H 3.5: not a whole number");
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv -H 0x10", "-H 0x10");
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv -H 99999999", "-H 99999999");
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv -H 99999999999999999999", "not a whole number up to");
    refuses(SPELLING_MIOPEN, "MIOpenDriver conv -H 'open", "a quote ' is not closed");
}

static void rocmlir__dashes_and_equals(void **state)
{
    (void)state;
    const char *wanted = "conv bwd_data f16 n2 c4 k8 g2 in6x5 fil3x2 str1x2 dil2x1 pad1:0x2:2 ngchw gkcyx ngkhw";
    reads(SPELLING_ROCMLIR,
          "rocmlir-gen --operation conv_bwd_data -t f16 --arch gfx90a:sramecc+:xnack- --num_cu 104 --groupsize 2 " SIZES
          " --dilation_h 2 --dilation_w 1 --conv_stride_h 1 --conv_stride_w 2 --padding_h_l 1 --padding_h_r 0 --padding_w 2 -pv",
          wanted);
    reads(SPELLING_ROCMLIR,
          "build/bin/rocmlir-gen -operation=conv2d_bwd_data -dtype=f16 -g=2 -batchsize=2 -in_channels=4 -out_channels=8 -in_h=6 "
          "-in_w=5 -fil_h=3 -fil_w=2 -dilation_h=2 -conv_stride_w=2 --padding_h_l=1 --padding_w_l=2 --padding_w_r=2 -pv=true"
          "|rocmlir-driver -c --unknown|mlir-runner -O2",
          wanted);
}

static void rocmlir__defaults(void **state)
{
    (void)state;
    reads(SPELLING_ROCMLIR, "rocmlir-gen " SIZES,
          "conv fwd f32 n2 c4 k8 g1 in6x5 fil3x2 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw");
    reads(SPELLING_ROCMLIR, "--operation conv2d_bwd_weight " SIZES,
          "conv bwd_weight f32 n2 c4 k8 g1 in6x5 fil3x2 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw");
}

static void rocmlir__every_other_option_is_skipped(void **state)
{
    (void)state;
    reads(SPELLING_ROCMLIR,
          "// RUN: rocmlir-gen --arch %arch " SIZES
          " --num_cu=64 --num_chiplets 1 --perf_config=v2:64,64,8,32,32,4,1,1,1 --mfma=on --wmma=off --dot=infer --atomic_add=on "
          "--atomic_fmax_f32=on --store-method set --kernel_id 0 -v4r1 0 --emit-tuning-key -ph -pv_with_cpp -pv_with_gpu "
          "-pv_with_mlir -pv-strict -pv-f64 --verifier=mlir -prc -pr -pi -pvr -rand 1 -rand_type float -rand_side filter "
          "-rand_min 0 -rand_max=1 -rand_min_int -5 -rand_max_int 5 -RMS_threshold 0.01 -absDiff_threshold=1 "
          "-relDiff_threshold 1e-6 --comparator=allclose --atol 1 --rtol 1 -p_verify=always --kernel-repeats 5 --device 0 "
          "--cpu-timers -o out.mlir -fut f --clone-harness -x2 %pv %random_data %rocmlir_gen_flags %s | rocmlir-driver -c",
          "conv fwd f32 n2 c4 k8 g1 in6x5 fil3x2 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw");
}

static void rocmlir__types(void **state)
{
    (void)state;
    static const char *const types[][2] = {
        {"-t i8", "i8:i8:i32"},
        {"-t bf16", "bf16"},
        {"-t i8 --out_dtype i8", "i8:i8:i8"},
        {"--out_dtype f32 -t f16", "f16:f16:f32"},
        {"-t f16_f32 -to f32", "f32:f16:f32"},
        {"-tf f16 -ti f16", "f16:f16:f32"},
        {"-t f32 -tf f16", "f32:f16:f32"},
        {"-tf f16 -t f32", "f32"},
        {"-t f16 -c_dtype=f32 -b_dtype=bf16", "bf16:f16:f32"},
        {"-t=f16", "f16"},
        {"-t fp8", "f8e4m3fnuz:f8e4m3fnuz:f32"},
        {"-t fp8 --arch gfx950", "f8e4m3fn:f8e4m3fn:f32"},
        {"-t fp8_bf8 --force-f8-types=ocp", "f8e5m2:f8e4m3fn:f32"},
        {"-t bf8 --arch gfx1201 --force-f8-types fnuz -to bf8", "f8e5m2fnuz"},
        {"-t f8E4M3FN", "f8e4m3fn:f8e4m3fn:f32"},
    };
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        char line[512], wanted[PROBLEM_MAX_TEXT];
        snprintf(line, sizeof line, "rocmlir-gen %s " SIZES, types[i][0]);
        snprintf(wanted, sizeof wanted,
                 "conv fwd %s n2 c4 k8 g1 in6x5 fil3x2 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw", types[i][1]);
        reads(SPELLING_ROCMLIR, line, wanted);
    }
    refuses(SPELLING_ROCMLIR, "rocmlir-gen -t fp4 " SIZES, "fp4 is not yet a type of assay");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen -t f33 " SIZES, "-t: f33 is not a type");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen -t f16_f32 " SIZES, "add --out_dtype");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen -tf f16 " SIZES, "add --out_dtype");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen -t aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa " SIZES, "not a type");
}

static void rocmlir__layouts(void **state)
{
    (void)state;
    static const char *const layouts[][2] = {
        {"--fil_layout kcyx --in_layout nchw --out_layout nkhw -g 2", "g2 - ngchw gkcyx ngkhw"},
        {"--fil_layout kyxc --in_layout nhwc --out_layout nhwk", "g1 - nhwgc gkyxc nhwgk"},
        {"--operation conv2d --fil_layout kyxc --in_layout nhwc --out_layout nhwk -g 4", "g4 - nhwgc gkyxc nhwgk"},
        {"--operation conv2d --in_layout hwnc -g 2", "g2 - ghwnc gkcyx ngkhw"},
        {"--fil_layout gk01c --in_layout 01ngc --out_layout n01gk -g 2", "g2 - hwngc gkyxc nhwgk"},
        {"--fil_layout gcxyk --in_layout gcwhn", "g1 - gcwhn gcxyk ngkhw"},
    };
    for (size_t i = 0; i < COUNT_OF(layouts); i++) {
        char line[512], wanted[PROBLEM_MAX_TEXT];
        snprintf(line, sizeof line, "rocmlir-gen %s " SIZES, layouts[i][0]);
        snprintf(wanted, sizeof wanted, "conv fwd f32 n2 c4 k8 %.2s in6x5 fil3x2 str1x1 dil1x1 pad0:0x0:0 %s",
                 layouts[i][1], layouts[i][1] + 5);
        reads(SPELLING_ROCMLIR, line, wanted);
    }
    refuses(SPELLING_ROCMLIR, "rocmlir-gen --operation conv --in_layout nhwc -g 2 " SIZES, "builds read this as nhwgc or as nghwc");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen --in_layout ngchww " SIZES, "a 2-D input has 4 axes, or 5 with the group");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen --fil_layout gkchw " SIZES, "'h' is no axis of a 2-D filter");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen --fil_layout gkcyz " SIZES, "'z' is no axis of a 2-D filter");
}

/* rocmlir-gen packs sizes as h, w, d: its digit 2 is the depth. */
static void rocmlir__three_dims(void **state)
{
    (void)state;
    reads(SPELLING_ROCMLIR,
          "rocmlir-gen --operation=conv_bwd_data --fil_layout=gkc012 --in_layout=ngc201 --out_layout=ngk012 --in_d=4 --fil_d=2 "
          "--dilation_d=1 --conv_stride_d=2 --padding_d_l=1 --padding_d_r=0 --padding_h 1 --out_d=2 --out_h=6 " SIZES,
          "conv bwd_data f32 n2 c4 k8 g1 in4x6x5 fil2x3x2 str2x1x1 dil1x1x1 pad1:0x1:1x0:0 ngcdhw gkcyxz ngkhwd");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen --in_d 4 " SIZES, "--fil_d is missing");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen --in_d 4 --fil_d 2 " SIZES, "--in_layout is missing: the default has no depth");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen --dilation_d 2 " SIZES, "--dilation_d needs --in_d and --fil_d");
}

static void rocmlir__refuses_silent_changes(void **state)
{
    (void)state;
    refuses(SPELLING_ROCMLIR, "rocmlir-gen --conv_stride_h 2 --dilation_h 4 " SIZES,
            "the filter spans 9 in h but the padded input has 6: rocmlir-gen would add the pads");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen --padding_h 1 --padding_h_l 2 " SIZES, "--padding_h 1 contradicts its _l and _r (2 and 0)");
    reads(SPELLING_ROCMLIR, "rocmlir-gen --padding_h 1 --padding_h_l 1 --padding_h_r=1 " SIZES,
          "conv fwd f32 n2 c4 k8 g1 in6x5 fil3x2 str1x1 dil1x1 pad1:1x0:0 ngchw gkcyx ngkhw");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen --out_h x " SIZES, "--out_h x: not a whole number");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen --out_h 5 " SIZES, "--out_h 5: the other sizes give 4");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen -p --batchsize 3", "--batchsize would be overwritten by the demo sizes of -p");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen -p -g 2", "-g would be overwritten");
}

static void rocmlir__demo_sizes(void **state)
{
    (void)state;
    reads(SPELLING_ROCMLIR, "rocmlir-gen -p -t f16 --operation conv_bwd_weight --fil_layout gkyxc",
          "conv bwd_weight f16 n128 c8 k128 g1 in32x32 fil3x3 str1x1 dil1x1 pad0:0x0:0 ngchw gkyxc ngkhw");
    reads(SPELLING_ROCMLIR, "rocmlir-gen -p -mfma=on",
          "conv fwd f32 n128 c1024 k1024 g1 in14x14 fil1x1 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw");
    reads(SPELLING_MLIR_MIOPEN, "miopen-gen -p -x2 | mlir-miopen-driver -c",
          "conv fwd f32 n128 c1024 k1024 g1 in14x14 fil1x1 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw");
    reads(SPELLING_ROCMLIR, "rocmlir-gen -p=true -x2=0",
          "conv fwd f32 n128 c8 k128 g1 in32x32 fil3x3 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen -p -x2=2", "-x2=2: wants true or false");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen -p=maybe", "-p=maybe: wants true or false");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen -p false", "false: an input file");
}

static void rocmlir__conv_config_wins(void **state)
{
    (void)state;
    reads(SPELLING_ROCMLIR, "rocmlir-gen --in_h 99 --conv-config '--operation conv2d --arch gfx906 " MIIR_TENSORS MIIR_SIZES "' -pv",
          "conv fwd f32 n2 c4 k8 g1 in6x5 fil3x2 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen --conv-config \"--operation conv2d\"", "--conv-config: --in_layout is missing");
}

static void rocmlir__names_the_option_at_fault(void **state)
{
    (void)state;
    refuses(SPELLING_ROCMLIR, "rocmlir-gen --operation conv", "--batchsize is missing: rocmlir-gen needs it");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen --in_hh 4", "--in_hh: rocmlir-gen has no such option, did you mean --in_h?");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen ---in_h 4", "---in_h");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen --in_h", "--in_h has no value");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen --batchsize=", "--batchsize : not a whole number");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen --batchsize -pv", "--batchsize -pv: not a whole number");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen --in_h -4 " SIZES, "stands twice");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen -g 1 --groupsize 1", "--groupsize stands twice");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen input.mlir", "input.mlir: an input file");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen -", "-: an input file");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen --operation gemm", "--operation gemm: not a convolution alone");
    refuses(SPELLING_ROCMLIR, "rocmlir-gen --operation conv2d_bwd_dta " SIZES, "did you mean conv2d_bwd_data?");
}

static void mlir_miopen__both_generations(void **state)
{
    (void)state;
    const char *wanted = "conv bwd_data f32 n32 c32 k32 g1 in7x7 fil3x3 str2x2 dil1x1 pad1:0x1:0 nhwgc gkyxc nhwgk";
    reads(SPELLING_MLIR_MIOPEN,
          "mlir-miopen-driver -p=false -fil_layout=gkyxc -in_layout=nhwgc -out_layout=nhwgk -batchsize=32 -in_channels=32 "
          "-out_channels=32 -in_h=7 -in_w=7 -fil_h=3 -fil_w=3 --dilation_h=1 --dilation_w=1 --padding_h_l=1 --padding_w_l=1 "
          "--conv_stride_h=2 --conv_stride_w=2 --operation=conv2d_bwd_data -c -rand 1 -pv | mlir-rocm-runner -x",
          wanted);
    reads(SPELLING_MLIR_MIOPEN,
          "miopen-gen -fil_layout=kyxc -in_layout=nhwc -out_layout=nhwk -batchsize=32 -in_channels=32 -out_channels=32 -in_h=7 "
          "-in_w=7 -fil_h=3 -fil_w=3 --padding_h_l=1 --padding_w_l=1 --conv_stride_h=2 --conv_stride_w=2 -x2 -ph "
          "--operation=conv2d_bwd_data -target gpu -host -block_size 64 -grid_size=4 --entry-point main",
          wanted);
    refuses(SPELLING_MLIR_MIOPEN, "mlir-miopen-driver -c", "--batchsize is missing");
    refuses(SPELLING_MLIR_MIOPEN, "miopen-gen -in_layout=hnwgc " SIZES, "wants h and w side by side");
    refuses(SPELLING_MLIR_MIOPEN, "miopen-gen -fil_layout=gykxc " SIZES, "wants y and x side by side");
    refuses(SPELLING_MLIR_MIOPEN,
            "miopen-gen --in_d 4 --fil_d 2 --in_layout ngc201 --fil_layout gkc201 --out_layout ngk201 " SIZES, "2-D convolutions only");
}

static void miir__as_miopen_writes_it(void **state)
{
    (void)state;
    reads(SPELLING_MIIR,
          " --x2 1 --operation conv2d_bwd_weight --kernel_id 0 --num_cu 120 --arch amdgcn-amd-amdhsa:gfx908 --groupsize 2 "
          "--fil_layout GNHWC --fil_type fp16 --in_layout NHWGC --out_layout NHWGC --in_type fp16 --out_type fp16 --batchsize 2 "
          "--in_channels 4 --out_channels 8 --in_h 6 --in_w 5 --out_h 4 --out_w 6 --fil_h 3 --fil_w 2 --dilation_h 2 "
          "--dilation_w 1 --conv_stride_h 1 --conv_stride_w 1 --padding_h 1 --padding_w 1 --kernel_name mlir_gen_igemm_conv2d_v4r4_wrw0 "
          "--perf_config 1,2,3",
          "conv bwd_weight f16 n2 c4 k8 g2 in6x5 fil3x2 str1x1 dil2x1 pad1:1x1:1 nhwgc gkyxc nhwgk");
    reads(SPELLING_MIIR,
          "--operation conv2d --fil_layout GNCHW --in_layout NGCHW --out_layout NGCHW --fil_type i8 --in_type i8 --out_type i32 " MIIR_SIZES,
          "conv fwd i8:i8:i32 n2 c4 k8 g1 in6x5 fil3x2 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw");
}

static void miir__names_the_key_at_fault(void **state)
{
    (void)state;
    refuses(SPELLING_MIIR, "", "--operation is missing");
    refuses(SPELLING_MIIR, MIIR_TENSORS MIIR_SIZES, "--operation is missing: the option string needs it");
    refuses(SPELLING_MIIR, "--operation conv2d " MIIR_TENSORS "--batchsize 2 --out_h 1 --out_w 1", "--in_channels is missing");
    refuses(SPELLING_MIIR, "--operation conv2d --fil_type fp8", "is missing");
    refuses(SPELLING_MIIR, "--opration conv2d", "--opration: the option string has no such key, did you mean --operation?");
    refuses(SPELLING_MIIR, "-operation conv2d", "-operation: the option string has no such key");
    refuses(SPELLING_MIIR, "--operation", "--operation has no value");
    refuses(SPELLING_MIIR, "--operation conv2d --operation conv2d", "stands twice");
    refuses(SPELLING_MIIR, "--operation conv2d " MIIR_TENSORS MIIR_SIZES " --padding_h 1", "--out_h 4: the other sizes give 6");
    refuses(SPELLING_MIIR,
            "--operation conv2d --fil_layout NCHW --in_layout NGCHW --out_layout NGCHW --fil_type f32 --in_type f32 --out_type f32 " MIIR_SIZES,
            "wants five letters, with G");
}

static void miir__pads_by_side(void **state)
{
    (void)state;
    reads(SPELLING_MIIR,
          "--operation conv2d " MIIR_TENSORS "--groupsize 1 --batchsize 2 --in_channels 4 --out_channels 8 --in_h 6 --in_w 5 "
          "--out_h 5 --out_w 6 --fil_h 3 --fil_w 2 --padding_h_l 1 --padding_h_r 0 --padding_w 1",
          "conv fwd f32 n2 c4 k8 g1 in6x5 fil3x2 str1x1 dil1x1 pad1:0x1:1 ngchw gkcyx ngkhw");
}

static void spelling_parse__bounds_the_line(void **state)
{
    (void)state;
    struct problem p[3];
    size_t count;
    char *line = xmalloc(20000);
    memset(line, 'x', 19999);
    line[19999] = '\0';
    assert_fails(spelling_parse(p, &count, SPELLING_ROCMLIR, line), ERR_LIMIT, "longer than 8191 bytes");
    assert_fails(spelling_parse(p, &count, SPELLING_MIOPEN, line), ERR_LIMIT, "longer than 8191 bytes");
    for (int i = 0; i < 8000; i += 2)
        memcpy(line + i, "x ", 2);
    line[8000] = '\0';
    assert_fails(spelling_parse(p, &count, SPELLING_MIIR, line), ERR_LIMIT, "more than 512 words");
    free(line);
}

#define PROBLEM "conv bwd_data f16 n256 c64 k32 g2 in56x55 fil3x1 str2x1 dil1x2 "
#define PROBLEM_3D "conv fwd f32 n1 c2 k3 g1 in12x10x11 fil2x3x4 str2x1x3 dil3x2x1 pad1:1x2:2x3:3 "

static void spelling_print__miopen(void **state)
{
    (void)state;
    prints(SPELLING_MIOPEN, PROBLEM "pad1:1x0:0 ngchw gkcyx ngkhw", false,
           "MIOpenDriver convfp16 -n 256 -c 64 -H 56 -W 55 -k 32 -y 3 -x 1 -p 1 -q 0 -u 2 -v 1 -l 1 -j 2 -m conv -g 2 -F 2 -V 1 -t 1");
    prints(SPELLING_MIOPEN, PROBLEM "pad1:1x0:0 nhwgc gkcyx ngkhw", false,
           "MIOpenDriver convfp16 -n 256 -c 64 -H 56 -W 55 -k 32 -y 3 -x 1 -p 1 -q 0 -u 2 -v 1 -l 1 -j 2 "
           "--in_layout NHWC --fil_layout NCHW --out_layout NCHW -m conv -g 2 -F 2 -V 1 -t 1");
    prints(SPELLING_MIOPEN, PROBLEM_3D "ngcdhw gkczyx ngkdhw", false,
           "MIOpenDriver conv -n 1 -c 2 --in_d 12 -H 10 -W 11 -k 3 --fil_d 2 -y 3 -x 4 --pad_d 1 -p 2 -q 3 --conv_stride_d 2 "
           "-u 1 -v 3 --dilation_d 3 -l 2 -j 1 --spatial_dim 3 -m conv -g 1 -F 1 -V 1 -t 1");
    cannot_print(SPELLING_MIOPEN, PROBLEM "pad1:0x0:0 ngchw gkcyx ngkhw", "one number for the pads of both sides");
    cannot_print(SPELLING_MIOPEN, PROBLEM "pad1:1x0:0 nghwc gkcyx ngkhw", "cannot say input layout nghwc");
    cannot_print(SPELLING_MIOPEN, PROBLEM "pad1:1x0:0 ngchw gkcxy ngkhw", "cannot say filter layout gkcxy");
    cannot_print(SPELLING_MIOPEN, "conv fwd f16:f16:f32 n1 c1 k1 g1 in4x4 fil1x1 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw",
                 "no types f16:f16:f32");
    cannot_print(SPELLING_MIOPEN, "conv bwd_data i8:i8:i32 n1 c1 k1 g1 in4x4 fil1x1 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw",
                 "int8 forward only");
    cannot_print(SPELLING_MIOPEN, "conv fwd f32 n1 c1 k1 g1 in4 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw", "no 1-D");
}

static void spelling_print__rocmlir(void **state)
{
    (void)state;
    prints(SPELLING_ROCMLIR, PROBLEM "pad1:0x0:2 ngchw gkcyx ngkhw", false,
           "rocmlir-gen --operation conv_bwd_data -t f16 --fil_layout gkcyx --in_layout ngchw --out_layout ngkhw --batchsize 256 "
           "--in_channels 64 --out_channels 32 --in_h 56 --in_w 55 --fil_h 3 --fil_w 1 --dilation_h 1 --dilation_w 2 "
           "--conv_stride_h 2 --conv_stride_w 1 --padding_h_l 1 --padding_w_l 0 --padding_h_r 0 --padding_w_r 2 --groupsize 2");
    prints(SPELLING_ROCMLIR, PROBLEM_3D "ngcdhw gkczyx ngkhwd", false,
           "rocmlir-gen --operation conv -t f32 --fil_layout gkc201 --in_layout ngc201 --out_layout ngk012 --batchsize 1 "
           "--in_channels 2 --out_channels 3 --in_d 12 --in_h 10 --in_w 11 --fil_d 2 --fil_h 3 --fil_w 4 --dilation_d 3 "
           "--dilation_h 2 --dilation_w 1 --conv_stride_d 2 --conv_stride_h 1 --conv_stride_w 3 --padding_d_l 1 --padding_h_l 2 "
           "--padding_w_l 3 --padding_d_r 1 --padding_h_r 2 --padding_w_r 3 --groupsize 1");
    cannot_print(SPELLING_ROCMLIR, "conv fwd f32 n1 c1 k1 g1 in4 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw", "no 1-D");
}

static void spelling_print__mlir_miopen(void **state)
{
    (void)state;
    prints(SPELLING_MLIR_MIOPEN, PROBLEM "pad1:1x0:0 ngchw gkcyx ngkhw", false,
           "mlir-miopen-driver -p=false -fil_layout=gkcyx -in_layout=ngchw -out_layout=ngkhw -batchsize=256 -in_channels=64 "
           "-out_channels=32 -in_h=56 -in_w=55 -fil_h=3 -fil_w=1 --dilation_h=1 --dilation_w=2 --conv_stride_h=2 --conv_stride_w=1 "
           "--padding_h=1 --padding_w=0 --groupsize=2 -t f16 --operation=conv2d_bwd_data");
    cannot_print(SPELLING_MLIR_MIOPEN, PROBLEM_3D "ngcdhw gkczyx ngkdhw", "2-D convolutions only");
    cannot_print(SPELLING_MLIR_MIOPEN, PROBLEM "pad1:1x0:0 nhgcw gkcyx ngkhw", "h and w side by side");
    cannot_print(SPELLING_MLIR_MIOPEN, "conv fwd f16:f16:f32 n1 c1 k1 g1 in4x4 fil1x1 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw",
                 "types are mixed");
}

static void spelling_print__miir(void **state)
{
    (void)state;
    const char *start = "--operation conv2d_bwd_data --groupsize 2 --fil_layout GNCHW --fil_type fp16 --in_layout NGCHW "
                        "--out_layout NGCHW --in_type fp16 --out_type fp16 --batchsize 256 --in_channels 64 --out_channels 32 ";
    char wanted[1024];
    snprintf(wanted, sizeof wanted, "%s%s", start,
             "--in_h 56 --in_w 55 --out_h 28 --out_w 55 --fil_h 3 --fil_w 1 --dilation_h 1 --dilation_w 2 --conv_stride_h 2 "
             "--conv_stride_w 1 --padding_h 1 --padding_w 0");
    prints(SPELLING_MIIR, PROBLEM "pad1:1x0:0 ngchw gkcyx ngkhw", false, wanted);
    prints(SPELLING_MIIR, PROBLEM "pad1:1x0:0 ngchw gkcyx ngkhw", true, wanted);
    snprintf(wanted, sizeof wanted, "%s%s", start,
             "--in_h 56 --in_w 55 --out_h 28 --out_w 57 --fil_h 3 --fil_w 1 --dilation_h 1 --dilation_w 2 --conv_stride_h 2 "
             "--conv_stride_w 1 --padding_h 1 --padding_w_l 0 --padding_w_r 2");
    prints(SPELLING_MIIR, PROBLEM "pad1:1x0:2 ngchw gkcyx ngkhw", true, wanted);
    cannot_print(SPELLING_MIIR, PROBLEM "pad1:1x0:2 ngchw gkcyx ngkhw", "one number for the pads");
    cannot_print(SPELLING_MIIR, PROBLEM_3D "ngcdhw gkczyx ngkdhw", "2-D convolutions only");
}

static void spelling_print__refuses_a_bad_problem(void **state)
{
    (void)state;
    struct problem p;
    struct buf b;
    buf_init(&b, BUF_MAX_LINE);
    assert_ok(problem_parse(&p, PROBLEM "pad1:1x0:0 ngchw gkcyx ngkhw"));
    p.g = 3;
    for (int s = SPELLING_ASSAY; s <= SPELLING_MIIR; s++)
        assert_fails(spelling_print(&b, (enum spelling)s, &p, true), ERR_INVALID, "divide");
    assert_int_equal(b.length, 0);
    buf_release(&b);
}

/* A small generator of our own, so that the problems are the same everywhere. */
static uint64_t seed = 1;

static int64_t pick(int64_t low, int64_t high)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return low + (int64_t)((seed >> 33) % (uint64_t)(high - low + 1));
}

static void shuffle(char *text)
{
    for (size_t i = strlen(text); i > 1; i--) {
        size_t j = (size_t)pick(0, (int64_t)i - 1);
        char held = text[i - 1];
        text[i - 1] = text[j];
        text[j] = held;
    }
}

static void pick_operands(struct problem *p)
{
    static const enum dtype types[] = {DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_I8, DTYPE_I32, DTYPE_F8E4M3FN, DTYPE_F8E5M2, DTYPE_F8E4M3FNUZ, DTYPE_F8E5M2FNUZ};
    static const char *const last[] = {"nhwgc", "gkyxc", "nhwgk"};
    int64_t style = pick(0, 3), mixed = pick(0, 3);
    enum dtype common = types[(pick(0, 3) + 5 * pick(0, 1)) % 9];
    for (int i = 0; i < 3; i++)
        p->dtype[i] = mixed == 0 ? types[pick(0, 8)] : common;
    if (common == DTYPE_I8 && mixed)
        p->dtype[OPERAND_OUTPUT] = DTYPE_I32;
    problem_default_layouts(p);
    for (int i = 0; i < 3; i++) {
        if (style == 0)
            shuffle(p->layout[i]);
        else if (style == 1 && p->dims == 2)
            strcpy(p->layout[i], last[i]);
    }
}

static struct problem pick_any(void)
{
    struct problem p = {.dims = (int)pick(1, 3), .direction = (enum direction)pick(0, 2), .n = pick(1, 9), .g = pick(1, 4)};
    bool symmetric = pick(0, 1);
    p.c = p.g * pick(1, 5);
    p.k = p.g * pick(1, 5);
    for (int d = 0; d < p.dims; d++) {
        p.fil[d] = pick(1, 5);
        p.dil[d] = pick(1, 3);
        p.str[d] = pick(1, 3);
        p.in[d] = pick(1, 20) + (p.fil[d] - 1) * p.dil[d];
        p.pad_lo[d] = pick(0, 3);
        p.pad_hi[d] = symmetric ? p.pad_lo[d] : pick(0, 3);
    }
    pick_operands(&p);
    return p;
}

/* Types that cannot be multiplied are left out. */
static struct problem pick_problem(void)
{
    struct problem p;
    do
        p = pick_any();
    while (problem_check(&p));
    err_clear();
    return p;
}

/* With one group g may stand anywhere: MIOpen's names put it before the channel. */
static void forget_place_of_group(struct problem *p)
{
    for (int i = 0; i < 3 && p->g == 1; i++) {
        char *g = strchr(p->layout[i], 'g');
        memmove(p->layout[i] + 1, p->layout[i], (size_t)(g - p->layout[i]));
        p->layout[i][0] = 'g';
    }
}

/* What a tool prints it reads as the same problem; what it cannot say it refuses with a reason. */
static void round_trip(enum spelling s, int64_t count, int64_t least_said)
{
    int64_t said = 0;
    struct buf b;
    buf_init(&b, BUF_MAX_LINE);
    for (int64_t i = 0; i < count; i++) {
        struct problem p = pick_problem(), back[3];
        char text[PROBLEM_MAX_TEXT];
        size_t found = 0;
        enum spelling guess;
        buf_clear(&b);
        err_clear();
        if (spelling_print(&b, s, &p, pick(0, 1))) {
            assert_int_equal(err_code(), ERR_INVALID);
            assert_true(strlen(err_message()) > 10);
            continue;
        }
        said++;
        assert_true(spelling_guess(&guess, b.data));
        assert_int_equal(guess, s);
        assert_ok(spelling_parse(back, &found, s, b.data));
        assert_int_equal(found, 1);
        if (s == SPELLING_MIOPEN) {
            forget_place_of_group(&p);
            forget_place_of_group(&back[0]);
        }
        assert_same(&back[0], b.data, problem_print(text, &p));
        assert_true(problem_equal(&p, &back[0]));
    }
    buf_release(&b);
    if (said < least_said)
        fail_msg("%s says only %d of %d problems", spelling_name(s), (int)said, (int)count);
}

static void spelling_print__reads_back(void **state)
{
    (void)state;
    round_trip(SPELLING_ASSAY, 1000, 1000);
    round_trip(SPELLING_MIOPEN, 3000, 300);
    round_trip(SPELLING_ROCMLIR, 3000, 1500);
    round_trip(SPELLING_MLIR_MIOPEN, 3000, 300);
    round_trip(SPELLING_MIIR, 3000, 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spelling_guess__knows_each_tool),
        cmocka_unit_test(spelling_guess__knows_when_it_is_none),
        cmocka_unit_test(spelling_parse__takes_our_own_line),
        cmocka_unit_test(miopen__short_and_long_names),
        cmocka_unit_test(miopen__three_dims),
        cmocka_unit_test(miopen__defaults_are_the_drivers),
        cmocka_unit_test(miopen__last_of_two_holds),
        cmocka_unit_test(miopen__direction_is_a_mask),
        cmocka_unit_test(miopen__types),
        cmocka_unit_test(miopen__layouts),
        cmocka_unit_test(miopen__config_file_lines),
        cmocka_unit_test(miopen__log_lines_and_prompts),
        cmocka_unit_test(miopen__run_flags_are_skipped),
        cmocka_unit_test(miopen__pad_modes),
        cmocka_unit_test(miopen__refuses_what_is_another_problem),
        cmocka_unit_test(miopen__names_the_flag_at_fault),
        cmocka_unit_test(rocmlir__dashes_and_equals),
        cmocka_unit_test(rocmlir__defaults),
        cmocka_unit_test(rocmlir__every_other_option_is_skipped),
        cmocka_unit_test(rocmlir__types),
        cmocka_unit_test(rocmlir__layouts),
        cmocka_unit_test(rocmlir__three_dims),
        cmocka_unit_test(rocmlir__refuses_silent_changes),
        cmocka_unit_test(rocmlir__demo_sizes),
        cmocka_unit_test(rocmlir__conv_config_wins),
        cmocka_unit_test(rocmlir__names_the_option_at_fault),
        cmocka_unit_test(mlir_miopen__both_generations),
        cmocka_unit_test(miir__as_miopen_writes_it),
        cmocka_unit_test(miir__names_the_key_at_fault),
        cmocka_unit_test(miir__pads_by_side),
        cmocka_unit_test(spelling_parse__bounds_the_line),
        cmocka_unit_test(spelling_print__miopen),
        cmocka_unit_test(spelling_print__rocmlir),
        cmocka_unit_test(spelling_print__mlir_miopen),
        cmocka_unit_test(spelling_print__miir),
        cmocka_unit_test(spelling_print__refuses_a_bad_problem),
        cmocka_unit_test(spelling_print__reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
