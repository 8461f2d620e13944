/* err.c: one message, its code, its causes. */
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void set_keeps_code_and_message(void **state)
{
    (void)state;
    assert_int_equal(err_set(ERR_NOTFOUND, "no commit %s in %d", "abc", 7), ERR_NOTFOUND);
    assert_int_equal(err_code(), ERR_NOTFOUND);
    assert_string_equal(err_message(), "no commit abc in 7");
    err_clear();
    assert_int_equal(err_code(), 0);
    assert_string_equal(err_message(), "");
}

static void trailing_colon_appends_errno(void **state)
{
    (void)state;
    errno = ENOSPC;
    err_set(ERR_IO, "writing %s:", "x");
    assert_string_equal(err_message(), "writing x: No space left on device");
    errno = ENOSPC;
    err_set(ERR_IO, "%s", "a value that ends in a colon:");
    assert_string_equal(err_message(), "a value that ends in a colon:");
}

static void wrap_puts_the_place_before_the_cause(void **state)
{
    (void)state;
    err_set(ERR_LIMIT, "too large");
    assert_int_equal(err_wrap("file %s", "b"), ERR_LIMIT);
    assert_int_equal(err_wrap("sweep %s", "a"), ERR_LIMIT);
    assert_string_equal(err_message(), "sweep a: file b: too large");
}

static void a_message_may_quote_the_last_one(void **state)
{
    (void)state;
    err_set(ERR_IO, "inner");
    err_set(ERR_FOREIGN, "outer (%s)", err_message());
    assert_string_equal(err_message(), "outer (inner)");
}

static void what_is_too_long_is_cut(void **state)
{
    (void)state;
    size_t size = 200000;
    char *text = malloc(size);
    memset(text, 'x', size - 1);
    text[size - 1] = '\0';
    err_set(ERR_INVALID, "%s", text);
    size_t longest = strlen(err_message());
    assert_in_range(longest, 60000, 65535);
    assert_int_equal(err_wrap("place"), ERR_INVALID);
    assert_memory_equal(err_message(), "place: xxx", 10);
    assert_in_range(strlen(err_message()), 60000, 65535);
    assert_int_equal(err_wrap("%s", text), ERR_INVALID);
    assert_in_range(strlen(err_message()), 60000, 65535);
    errno = EACCES;
    char *format = malloc(size);
    snprintf(format, size, "%.*s%%s:", 1000, text);
    err_set(ERR_IO, format, text);
    assert_non_null(strstr(err_message(), "Permission denied"));
    free(format);
    free(text);
}

/* The end of a child that calls `action`; what it said goes to `said`. */
static int end_of_child(void (*action)(void), char *said, size_t size)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        action();
        _exit(0);
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got; used < size - 1 && (got = read(ends[0], said + used, size - 1 - used)) > 0;)
        used += (size_t)got;
    said[used] = '\0';
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void call_die(void)
{
    die("no %s left", "memory");
}

static void call_bug(void)
{
    bug("seven is %d", 8);
}

static void die_ends_with_128_and_bug_aborts(void **state)
{
    (void)state;
    char said[512];
    int status = end_of_child(call_die, said, sizeof said);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 128);
    assert_string_equal(said, "assay: no memory left\n");
    status = end_of_child(call_bug, said, sizeof said);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    assert_non_null(strstr(said, "test_err.c:"));
    assert_non_null(strstr(said, "seven is 8"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_keeps_code_and_message),
        cmocka_unit_test(trailing_colon_appends_errno),
        cmocka_unit_test(wrap_puts_the_place_before_the_cause),
        cmocka_unit_test(a_message_may_quote_the_last_one),
        cmocka_unit_test(what_is_too_long_is_cut),
        cmocka_unit_test(die_ends_with_128_and_bug_aborts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
