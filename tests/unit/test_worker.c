#include "test.h"

#include "harness/bundle.h"
#include "harness/worker.h"
#include "toy.h"

#include <fcntl.h>
#include <unistd.h>

static void worker_value__finds_whole_keys(void **state)
{
    (void)state;
    char value[32];
    static const char lines[] = "stage compile\noutcome ok\ndetail a b c\nempty \nlast x";
    assert_true(worker_value(value, sizeof value, lines, "detail"));
    assert_string_equal(value, "a b c");
    assert_true(worker_value(value, sizeof value, lines, "last"));
    assert_string_equal(value, "x");
    assert_false(worker_value(value, sizeof value, lines, "out"));
    assert_false(worker_value(value, sizeof value, lines, "compile"));
    char small[4];
    assert_true(worker_value(small, sizeof small, lines, "stage"));
    assert_string_equal(small, "com");
}

static void refuses(const char *job, const char *says)
{
    struct buf answer;
    buf_init(&answer, BUF_MAX_LINE);
    assert_fails(worker_job(&answer, job, strlen(job)), ERR_INVALID, says);
    buf_release(&answer);
}

static void worker_job__says_what_a_job_lacks(void **state)
{
    (void)state;
    refuses("", "without `task`");
    refuses("task dance\n", "no task `dance`");
    refuses("task compile\n", "without `driver`");
    refuses("task compile\ndriver nobody\nlibrary x\nproblem conv fwd f32 n1 c8 k8 g1 in8x8 fil3x3 "
            "str1x1 dil1x1 pad1:1x1:1 ngchw gkcyx "
            "ngkhw\narch x\nasymmetric_pads no\nbundle b\n",
            "no driver `nobody`");
    refuses("task execute\ndata integer\nseed x\n", "is no number");
    refuses("task execute\ndata integer\nseed 1\naccumulator f7\n", "no accumulator `f7`");
    refuses("task time\nseed 1\nfirst anchor\nwarmups 1\n", "without `repeats`");
}

/* A library that cannot be loaded is trouble around the candidate, an answer and not an error. */
static void worker_job__calls_a_missing_library_infra(void **state)
{
    (void)state;
    struct buf answer;
    static const char job[] = "task compile\ndriver miir\nlibrary /nowhere/lib.so\nproblem conv "
                              "fwd f32 n1 c8 k8 g1 in8x8 fil3x3 str1x1 "
                              "dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw\narch "
                              "x86-64-v3\nasymmetric_pads no\nbundle /nowhere/b\n";
    char value[512];
    buf_init(&answer, BUF_MAX_LINE);
    assert_ok(worker_job(&answer, job, sizeof job - 1));
    assert_true(worker_value(value, sizeof value, answer.data, "outcome"));
    assert_string_equal(value, "infra");
    assert_true(worker_value(value, sizeof value, answer.data, "detail"));
    assert_non_null(strstr(value, "/nowhere/lib.so"));
    buf_release(&answer);
}

/* What a worker that is given `input` writes to its channel. */
static int serve(struct folder *f, struct buf *channel, const char *input)
{
    char *in = folder_file(f, "in", input), *out = folder_file(f, "out", "");
    int from = open(in, O_RDONLY), to = open(out, O_WRONLY);
    int status = worker_serve(from, to);
    close(from);
    close(to);
    int read = fs_read(channel, out);
    return status < 0 ? status : read;
}

static void worker_serve__answers_each_job_and_ends_it_with_done(void **state)
{
    struct folder *f = *state;
    struct buf channel;
    buf_init(&channel, BUF_MAX_LINE);
    assert_ok(serve(f, &channel, "task dance\nend\ntask sing\nend\n"));
    assert_string_equal(channel.data,
                        "stage load\noutcome infra\ndetail job: there is no task `dance`\ndone\n"
                        "stage load\noutcome infra\ndetail job: there is no task `sing`\ndone\n");
    buf_clear(&channel);
    assert_ok(serve(f, &channel, ""));
    assert_string_equal(channel.data, "");
    assert_fails(serve(f, &channel, "task dance\n"), ERR_INVALID, "`end` is missing");
    assert_string_equal(channel.data, "");
    buf_release(&channel);
}

/* The answer to a job. */
static const char *ask(struct folder *f, const char *job)
{
    struct buf answer;
    buf_init(&answer, BUF_MAX_LINE);
    assert_ok(worker_job(&answer, job, strlen(job)));
    const char *copy = arena_strdup(&f->arena, answer.data);
    buf_release(&answer);
    return copy;
}

static void assert_value(const char *answer, const char *key, const char *wanted)
{
    char value[1024] = "(none)";
    if (!worker_value(value, sizeof value, answer, key) || strcmp(value, wanted) != 0)
        fail_msg("%s: got `%s`, wanted `%s` in\n%s", key, value, wanted, answer);
}

static void assert_says(const char *answer, const char *key, const char *part)
{
    char value[1024] = "(none)";
    if (!worker_value(value, sizeof value, answer, key) || !strstr(value, part))
        fail_msg("%s: `%s` lacks `%s` in\n%s", key, value, part, answer);
}

static const char *compile(struct folder *f, const char *library, const char *variant)
{
    return ask(f, arena_printf(&f->arena,
                               "task compile\ndriver miir\nlibrary %s/toy/%s\nproblem %s\n"
                               "arch x86-64-v3\nvariant %s\nasymmetric_pads no\nbundle %s/b\n",
                               f->path, library, TOY_PROBLEM, variant, f->path));
}

static void compile__makes_a_bundle(void **state)
{
    struct folder *f = *state;
    struct bundle b;
    toy_write(f);
    toy_compile(f, "toy.c", "libtoy.so", "");
    toy_compile(f, "kernel.c", "kernel.so", "");
    const char *answer = compile(f, "libtoy.so", "x");
    assert_value(answer, "stage", "compile");
    assert_value(answer, "outcome", "ok");
    assert_value(answer, "kernels", "1");
    assert_value(answer, "workspace_bytes", "0");
    assert_ok(bundle_read(&b, &f->arena, fs_join(&f->arena, f->path, "b")));
    assert_value(answer, "code", b.code_id);
    assert_string_equal(b.kernels[0].name, "assay_conv_0");
    assert_string_equal(b.arch, "x86-64-v3");
}

/* Each way in which a candidate can fail to give its kernels, and what it is taken for. */
static void compile__tells_failures_apart(void **state)
{
    struct folder *f = *state;
    static const struct {
        const char *variant, *outcome, *says;
    } cases[] = {
        {"decline", "not-applicable", "no handle for this problem"},
        {"count3", "compile-error", "counts 3 kernels, but gives no handle for kernel 2"},
        {"count0", "compile-error", "miirGetKernelCount says 0"},
        {"lower", "compile-error", "miirLowerBin of kernel 0: build failure"},
        {"empty", "compile-error", "0 bytes"},
        {"dims", "compile-error", "global size 5, local size 2"},
        {"workspace", "not-applicable", "a workspace of 64 bytes"},
        {"lost.so", "compile-error", "invalid module"},
        /* The library declines everything from here on. */
        {"dead", "infra", "even for a small 1x1 convolution on x86-64-v3"},
    };
    toy_write(f);
    toy_compile(f, "toy.c", "libtoy.so", "");
    toy_compile(f, "kernel.c", "kernel.so", "");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *answer = compile(f, "libtoy.so", cases[i].variant);
        assert_value(answer, "stage", "compile");
        assert_value(answer, "outcome", cases[i].outcome);
        assert_says(answer, "detail", cases[i].says);
        assert_false(fs_exists(fs_join(&f->arena, f->path, "b")));
    }
}

static void compile__names_what_a_library_lacks(void **state)
{
    struct folder *f = *state;
    toy_write(f);
    toy_compile(f, "toy.c", "libold.so", "-DNO_DIMS");
    const char *answer = compile(f, "libold.so", "x");
    assert_value(answer, "outcome", "infra");
    assert_says(answer, "detail", "no miirGetExecutionDims");
    folder_file(f, "toy/text.so", "no library");
    assert_value(compile(f, "text.so", "x"), "outcome", "infra");
}

/* A problem that the option string cannot say. */
static void compile__is_not_applicable_where_no_words_are(void **state)
{
    struct folder *f = *state;
    const char *answer =
        ask(f, "task compile\ndriver miir\nlibrary /nowhere.so\nproblem conv fwd f32 n1 c8 k8 g1 "
               "in8x8 fil3x3 str1x1 dil1x1 pad1:0x0:1 ngchw gkcyx ngkhw\narch x86-64-v3\n"
               "asymmetric_pads no\nbundle /nowhere/b\n");
    assert_value(answer, "outcome", "not-applicable");
}

/* A bundle of the kernel compiled with these flags; its path. */
static const char *bundle_for(struct folder *f, const char *name, const char *problem,
                              const char *flags)
{
    struct buf code;
    buf_init(&code, BUF_MAX_CODE);
    toy_write(f);
    toy_compile(f, "kernel.c", "kernel.so", flags);
    assert_ok(fs_read(&code, fs_join(&f->arena, f->path, "toy/kernel.so")));
    struct bundle_kernel k = {.name = "assay_conv_0",
                              .grid = {1, 1, 1},
                              .block = {1, 1, 1},
                              .code = code.data,
                              .code_bytes = code.length};
    struct bundle b = {.arch = "x86-64-v3", .kernels = &k, .count = 1};
    const char *path = fs_join(&f->arena, f->path, name);
    assert_ok(problem_parse(&b.problem, problem));
    assert_ok(bundle_seal(&b));
    assert_ok(bundle_write(&b, path));
    buf_release(&code);
    return path;
}

static const char *bundle_of(struct folder *f, const char *flags)
{
    return bundle_for(f, "b", TOY_PROBLEM, flags);
}

static const char *execute(struct folder *f, const char *bundle, const char *data)
{
    return ask(f, arena_printf(&f->arena,
                               "task execute\nbundle %s\nhip hip-cpu\ndevice 0\ndata %s\n"
                               "seed 1\naccumulator f32\n",
                               bundle, data));
}

static void execute__passes_a_right_kernel(void **state)
{
    struct folder *f = *state;
    static const char *const kinds[] = {"integer", "real"};
    const char *bundle = bundle_of(f, "");
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        const char *answer = execute(f, bundle, kinds[i]);
        assert_value(answer, "stage", "verify");
        assert_value(answer, "outcome", "ok");
        assert_value(answer, "elements", "128");
        assert_value(answer, "mismatches", "0");
        assert_null(strstr(answer, "signature"));
        assert_non_null(strstr(answer, "\nexecute_ns "));
    }
}

/* Kernels that are wrong in one way each, with both kinds of data. */
static void execute__finds_every_fault(void **state)
{
    struct folder *f = *state;
    static const struct {
        const char *flags, *key, *value, *signature;
    } cases[] = {
        {"'-DFAULT=y[3] += 100'", "mismatches", "1", "one element"},
        {"-DROWS=7", "unwritten", "16", "unwritten"},
        {"'-DFAULT=y[5] = __builtin_nanf(\"\")'", "nans", "1", ""},
        {"'-DFAULT=y[-1] = 0'", "guard_low", "4", "guard low"},
        {"'-DFAULT=y[K * P] = 0'", "guard_high", "4", "guard high"},
        {"'-DFAULT=x[-1] = 0'", "guard_low", "4", "guard low"},
        {"'-DFAULT=w[C * K] = 0'", "guard_high", "4", "guard high"},
        {"'-DFAULT=x[0] = 99'", "mismatches", "0", "writes its input"},
        {"'-DFAULT=w[1] = 99'", "mismatches", "0", "writes its filter"},
    };
    static const char *const kinds[] = {"integer", "real"};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *bundle = bundle_of(f, cases[i].flags);
        for (size_t k = 0; k < COUNT_OF(kinds); k++) {
            const char *answer = execute(f, bundle, kinds[k]);
            assert_value(answer, "stage", "verify");
            assert_value(answer, "outcome", "mismatch");
            assert_value(answer, cases[i].key, cases[i].value);
            assert_says(answer, "signature", cases[i].signature);
        }
    }
}

/* Every element is rounded to f16: right on small integers, and by real data known for what it is. */
static void execute__names_less_precision(void **state)
{
    struct folder *f = *state;
    const char *bundle =
        bundle_of(f, "'-DFAULT=for (int i = 0; i < K * P; i++) y[i] = (float)(_Float16)y[i]'");
    const char *answer = execute(f, bundle, "real");
    assert_value(answer, "outcome", "mismatch");
    assert_says(answer, "detail", "times the tolerance");
    assert_says(answer, "detail", "; looks like partial sums kept in f16");
}

/* One call of HIP fails: whose fault that is depends on which. */
static void execute__tells_failed_calls_apart(void **state)
{
    struct folder *f = *state;
    static const struct {
        const char *call, *stage, *outcome;
    } cases[] = {
        {"hipInit:1", "load", "infra"},
        {"hipMalloc:2", "execute", "infra"},
        {"hipModuleLoadData:1", "load", "infra"},
        {"hipModuleGetFunction:1", "load", "infra"},
        {"hipModuleLaunchKernel:1", "execute", "crash"},
    };
    const char *bundle = bundle_of(f, "");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        setenv("ASSAY_HIP_CPU_FAIL", cases[i].call, 1);
        const char *answer = execute(f, bundle, "integer");
        unsetenv("ASSAY_HIP_CPU_FAIL");
        assert_value(answer, "stage", cases[i].stage);
        assert_value(answer, "outcome", cases[i].outcome);
    }
    setenv("ASSAY_HIP_CPU_MEMORY", "1000", 1);
    const char *answer = execute(f, bundle, "integer");
    unsetenv("ASSAY_HIP_CPU_MEMORY");
    assert_value(answer, "outcome", "infra");
    assert_says(answer, "detail", "hipMalloc");
    setenv("ASSAY_HIP_CPU_FAIL", "hipFree:1", 1); /* after the verdict: it stands */
    answer = execute(f, bundle, "integer");
    unsetenv("ASSAY_HIP_CPU_FAIL");
    assert_value(answer, "outcome", "ok");
    answer = execute(f, bundle_of(f, "-Dassay_conv_0=misnamed"), "integer");
    assert_value(answer, "stage", "load");
    assert_value(answer, "outcome", "compile-error");
    assert_says(answer, "detail", "hipModuleGetFunction");
}

static void execute__needs_its_bundle_and_device(void **state)
{
    struct folder *f = *state;
    const char *bundle = bundle_of(f, "");
    assert_value(execute(f, "/nowhere/b", "integer"), "outcome", "infra");
    const char *answer =
        ask(f, arena_printf(&f->arena,
                            "task execute\nbundle %s\nhip hip-cpu\ndevice 7\ndata integer\n"
                            "seed 1\naccumulator f32\n",
                            bundle));
    assert_value(answer, "outcome", "infra");
    answer = ask(f, arena_printf(&f->arena,
                                 "task execute\nbundle %s\nhip /nowhere/libhip.so\ndevice 0\n"
                                 "data integer\nseed 1\naccumulator f32\n",
                                 bundle));
    assert_value(answer, "outcome", "infra");
    assert_says(answer, "detail", "/nowhere/libhip.so");
}

static const char *duel_job(struct folder *f, const char *anchor, const char *bundle)
{
    return arena_printf(&f->arena,
                        "task time\nanchor %s\nbundle %s\nfirst bundle\nhip hip-cpu\ndevice 0\n"
                        "seed 1\nwarmups 1\nrepeats 4\nminimum_ns 0\n",
                        anchor, bundle);
}

static void time__takes_turns(void **state)
{
    struct folder *f = *state;
    const char *bundle = bundle_of(f, "");
    const char *answer = ask(f, duel_job(f, bundle, bundle));
    char turns[16] = "";
    for (const char *at = answer; (at = strstr(at, "sample ")); at++)
        strcat(turns, at > answer && at[-1] == '_' ? "a" : "b");
    assert_string_equal(turns, "baabbaab");
    assert_value(answer, "stage", "time");
    assert_value(answer, "outcome", "ok");
    refuses(duel_job(f, bundle, bundle_for(f, "other", TOY_PROBLEM_2, "")), "different problems");
}

static void facts__say_what_the_device_is(void **state)
{
    struct folder *f = *state;
    const char *answer = ask(f, "task facts\nhip hip-cpu\ndevice 0\n");
    assert_value(answer, "outcome", "ok");
    assert_says(answer, "arch", "x86-64-v");
    assert_non_null(strstr(answer, "runtime_version "));
    answer = ask(f, "task facts\nhip /nowhere/libhip.so\ndevice 0\n");
    assert_value(answer, "outcome", "infra");
    assert_says(answer, "detail", "/nowhere/libhip.so");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_setup, folder_teardown)

int main(void)
{
    toy_quiet_environment();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worker_value__finds_whole_keys),
        cmocka_unit_test(worker_job__says_what_a_job_lacks),
        cmocka_unit_test(worker_job__calls_a_missing_library_infra),
        TEST(worker_serve__answers_each_job_and_ends_it_with_done),
        TEST(compile__makes_a_bundle),
        TEST(compile__tells_failures_apart),
        TEST(compile__names_what_a_library_lacks),
        TEST(compile__is_not_applicable_where_no_words_are),
        TEST(execute__passes_a_right_kernel),
        TEST(execute__finds_every_fault),
        TEST(execute__names_less_precision),
        TEST(execute__tells_failed_calls_apart),
        TEST(execute__needs_its_bundle_and_device),
        TEST(time__takes_turns),
        TEST(facts__say_what_the_device_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
