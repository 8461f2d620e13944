#include "test.h"

#include "folder.h"
#include "harness/worker.h"

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
    refuses("task time\nseed 1\nwarmups 1\n", "without `repeats`");
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_setup, folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worker_value__finds_whole_keys),
        cmocka_unit_test(worker_job__says_what_a_job_lacks),
        cmocka_unit_test(worker_job__calls_a_missing_library_infra),
        TEST(worker_serve__answers_each_job_and_ends_it_with_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
