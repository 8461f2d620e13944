#include "test.h"

#include "folder.h"
#include "src/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Children are shell scripts. main makes this process the reaper of orphans, so that a test can
 * wait for a grandchild and see from what it died, instead of looking again and again whether it is
 * gone. */

static const int64_t SECOND = 1000000000;
static const char *script_argv[] = {"sh", "-c", NULL, NULL};

static struct proc_spec shell(const char *script)
{
    script_argv[2] = script;
    return (struct proc_spec){.argv = script_argv, .wall_limit_ns = 60 * SECOND, .cpu = -1};
}

static struct proc_result run_spec(struct proc_spec spec)
{
    struct proc_result r;
    assert_ok(proc_run(&r, &spec));
    return r;
}

static struct proc_result run_script(const char *script)
{
    return run_spec(shell(script));
}

static void assert_exit(const struct proc_result *r, int code)
{
    char text[256];
    if (r->end != PROC_EXITED || r->code != code)
        fail_msg("%s; stderr: %s", proc_describe(text, sizeof text, r, "sh"), r->err.data);
}

static void assert_described(const struct proc_result *r, const char *words)
{
    char text[256];
    assert_string_equal(proc_describe(text, sizeof text, r, "sh"), words);
}

/* The script must exit with 0; its output. */
static void assert_output(struct proc_spec spec, const char *wanted)
{
    struct proc_result r = run_spec(spec);
    assert_exit(&r, 0);
    assert_string_equal(r.out.data, wanted);
    proc_result_release(&r);
}

/* An orphan is dead, and by which signal. While its own parent still dies it is nobody's child to
 * us; and that parent may have collected it, so that it is gone without a trace: then `usual`
 * stands for the signal that nobody saw. The test's time limit ends the wait for one that lives. */
static int death_of(pid_t pid, int usual)
{
    int status;
    while (waitpid(pid, &status, 0) != pid) {
        if (kill(pid, 0) != 0 && errno == ESRCH)
            return usual;
        sched_yield();
    }
    assert_true(WIFSIGNALED(status));
    return WTERMSIG(status);
}

static void exit_code_and_output(void **state)
{
    (void)state;
    struct proc_result r = run_script("echo out; echo err >&2; exit 3");
    assert_exit(&r, 3);
    assert_described(&r, "exit 3");
    assert_string_equal(r.out.data, "out\n");
    assert_string_equal(r.err.data, "err\n");
    assert_string_equal(r.channel.data, "");
    assert_true(r.wall_ns > 0);
    assert_true(r.peak_bytes > 0);
    proc_result_release(&r);
    assert_int_equal(proc_running(), 0);
}

static void death_by_signal(void **state)
{
    (void)state;
    struct proc_result r = run_script("kill -SEGV $$");
    assert_int_equal(r.end, PROC_SIGNALED);
    assert_int_equal(r.code, SIGSEGV);
    assert_described(&r, "killed by SIGSEGV");
    proc_result_release(&r);
    r = run_script("kill -KILL $$");
    assert_described(&r, "killed by SIGKILL");
    proc_result_release(&r);
}

static void cpu_time_is_the_childs(void **state)
{
    (void)state;
    struct proc_result r = run_script("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done");
    assert_exit(&r, 0);
    assert_true(r.user_ns + r.system_ns > 0);
    proc_result_release(&r);
}

static void merged_output_keeps_order(void **state)
{
    (void)state;
    struct proc_spec spec = shell("echo 1; echo 2 >&2; echo 3; echo 4 >&2");
    spec.merge_output = true;
    assert_output(spec, "1\n2\n3\n4\n");
}

static void large_output_is_whole(void **state)
{
    (void)state;
    struct proc_result r = run_script("head -c 3000000 /dev/zero; head -c 2000000 /dev/zero >&2");
    assert_exit(&r, 0);
    assert_int_equal(r.out.length, 3000000);
    assert_int_equal(r.err.length, 2000000);
    proc_result_release(&r);
}

static void input_is_given(void **state)
{
    (void)state;
    struct proc_spec spec = shell("cat; echo end");
    spec.input = "one\ntwo\n";
    spec.input_bytes = strlen(spec.input);
    assert_output(spec, "one\ntwo\nend\n");
    assert_output(shell("cat; echo end"), "end\n");
}

static void unread_input_is_no_trouble(void **state)
{
    (void)state;
    size_t size = 4 << 20;
    char *input = xcalloc(1, size);
    struct proc_spec spec = shell("echo not reading");
    spec.input = input;
    spec.input_bytes = size;
    assert_output(spec, "not reading\n");
    spec = shell("wc -c");
    spec.input = input;
    spec.input_bytes = size;
    assert_output(spec, "4194304\n");
    free(input);
}

static void environment_changes(void **state)
{
    (void)state;
    setenv("ASSAY_TEST_KEPT", "kept", 1);
    setenv("ASSAY_TEST_GONE", "here", 1);
    setenv("ASSAY_TEST_NEW", "old", 1);
    static const char *const changes[] = {"ASSAY_TEST_GONE", "ASSAY_TEST_NEW=1",
                                          "ASSAY_TEST_NEW=a=b", "ASSAY_TEST_NE=x", NULL};
    struct proc_spec spec =
        shell("echo $ASSAY_TEST_KEPT ${ASSAY_TEST_GONE-unset} $ASSAY_TEST_NEW $ASSAY_TEST_NE");
    spec.environment = changes;
    assert_output(spec, "kept unset a=b x\n");
    assert_string_equal(getenv("ASSAY_TEST_NEW"), "old");
    spec = shell("env | grep -c ^ASSAY_TEST_NEW=");
    spec.environment = changes;
    assert_output(spec, "1\n");
}

static void program_is_looked_up_in_the_childs_path(void **state)
{
    struct folder *f = *state;
    char *program = folder_file(f, "bin/assay-test-program", "#!/bin/sh\necho found\n");
    assert_int_equal(chmod(program, 0755), 0);
    const char *path = arena_printf(&f->arena, "PATH=%s/bin", f->path);
    const char *const changes[] = {path, NULL};
    static const char *const argv[] = {"assay-test-program", NULL};
    assert_output((struct proc_spec){.argv = argv, .environment = changes, .cpu = -1}, "found\n");
}

static void working_folder(void **state)
{
    struct folder *f = *state;
    struct proc_spec spec = shell("pwd -P");
    spec.folder = f->path;
    assert_output(spec, arena_printf(&f->arena, "%s\n", f->path));
}

static void channel_is_descriptor_3(void **state)
{
    (void)state;
    struct proc_spec spec = shell("echo noise; echo 'key value' >&3; echo done >&3; exit 2");
    spec.channel = true;
    struct proc_result r = run_spec(spec);
    assert_exit(&r, 2);
    assert_string_equal(r.channel.data, "key value\ndone\n");
    assert_string_equal(r.out.data, "noise\n");
    proc_result_release(&r);
}

struct server {
    struct proc *p;
    struct buf told;
};

static void extend_at_each_line(const char *line, void *payload)
{
    struct server *s = payload;
    buf_printf(&s->told, "[%s]", line);
    proc_extend(s->p, 2 * SECOND);
}

/* Longer than its first limit in all, but never between two answers; then it hangs. */
static void an_answer_renews_the_limit(void **state)
{
    (void)state;
    struct server s = {0};
    struct proc_spec spec = shell(
        "for n in 1 2; do sleep 1.2; echo $n; echo task $n >&3; done; exec sleep 1000");
    buf_init(&s.told, BUF_MAX_LINE);
    spec.channel = true;
    spec.wall_limit_ns = 2 * SECOND;
    spec.on_channel_line = extend_at_each_line;
    spec.payload = &s;
    assert_ok(proc_start(&s.p, &spec));
    struct proc *ended;
    struct proc_result r;
    assert_ok(proc_wait_any(&ended, &r, -1));
    assert_ptr_equal(ended, s.p);
    assert_int_equal(r.end, PROC_TIMED_OUT);
    assert_string_equal(s.told.data, "[task 1][task 2]");
    assert_string_equal(r.out.data, "1\n2\n");
    proc_result_release(&r);
    buf_release(&s.told);
}

static void no_other_descriptor_is_inherited(void **state)
{
    struct folder *f = *state;
    int leaky = fcntl(STDIN_FILENO, F_DUPFD, 50);
    assert_true(leaky >= 50);
    static const char list[] =
        "for n in 0 1 2 3 4 5 6 7 8 9 %d; do if [ -e /proc/$$/fd/$n ]; then echo $n; fi; done";
    struct proc_spec spec = shell(arena_printf(&f->arena, list, leaky));
    assert_output(spec, "0\n1\n2\n");
    spec.channel = true;
    assert_output(spec, "0\n1\n2\n3\n");
    close(leaky);
}

static void signals_are_as_new(void **state)
{
    (void)state;
    sigset_t set, before;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, &before);
    void (*handler)(int) = signal(SIGPIPE, SIG_IGN);
    /* Signals 32 and 33 are the C library's own: no program can reset them, and some runners of
     * tests hand them on ignored. */
    static const char *const argv[] = {
        "sed", "-nE", "/^Sig(Blk|Ign)/s/[01][08]0000000$/000000000/;/^Sig(Blk|Ign)/p",
        "/proc/self/status", NULL};
    assert_output((struct proc_spec){.argv = argv, .cpu = -1},
                  "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
    signal(SIGPIPE, handler);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static void note_line(const char *line, void *payload)
{
    buf_printf(payload, "[%s]", line);
}

static void lines_are_told(void **state)
{
    (void)state;
    struct buf told;
    buf_init(&told, BUF_MAX_LINE);
    struct proc_spec spec =
        shell("printf 'a\\nb'; printf 'c\\n\\n'; echo no >&2; printf unfinished");
    spec.on_line = note_line;
    spec.payload = &told;
    struct proc_result r = run_spec(spec);
    assert_string_equal(told.data, "[a][bc][]");
    assert_string_equal(r.out.data, "a\nbc\n\nunfinished");
    proc_result_release(&r);
    buf_release(&told);
}

static void assert_not_started(struct proc_spec spec, int code, const char *call)
{
    struct proc_result r = run_spec(spec);
    assert_int_equal(r.end, PROC_NOT_STARTED);
    assert_int_equal(r.code, code);
    assert_string_equal(r.failed_call, call);
    proc_result_release(&r);
}

static void failed_starts_name_the_call(void **state)
{
    struct folder *f = *state;
    static const char *const missing[] = {"assay-no-such-program", NULL};
    assert_not_started((struct proc_spec){.argv = missing, .cpu = -1}, ENOENT, "execvp");
    const char *const plain[] = {folder_file(f, "plain", "text"), NULL};
    assert_not_started((struct proc_spec){.argv = plain, .cpu = -1}, EACCES, "execvp");
    struct proc_spec spec = shell("true");
    spec.folder = "/assay/no/such/folder";
    assert_not_started(spec, ENOENT, "chdir");
    spec = shell("true");
    spec.cpu = 1 << 20;
    assert_not_started(spec, EINVAL, "sched_setaffinity");
}

static void failed_starts_are_described(void **state)
{
    (void)state;
    struct proc_result r = {.end = PROC_NOT_STARTED, .code = ENOENT, .failed_call = "execvp"};
    assert_described(&r, "cannot start sh: No such file or directory");
    r.failed_call = "chdir";
    assert_described(&r, "cannot start sh: chdir: No such file or directory");
}

static void exit_127_is_no_failed_start(void **state)
{
    (void)state;
    struct proc_result r = run_script("assay-no-such-program");
    assert_exit(&r, 127);
    proc_result_release(&r);
}

static void timeout_kills_a_grandchild_that_ignores_term(void **state)
{
    (void)state;
    struct proc_spec spec = shell("trap '' TERM; sleep 1000 & echo $!; wait; wait");
    spec.wall_limit_ns = SECOND;
    struct proc_result r = run_spec(spec);
    assert_int_equal(r.end, PROC_TIMED_OUT);
    char text[64];
    assert_non_null(strstr(proc_describe(text, sizeof text, &r, "sh"), "timed out after "));
    assert_int_equal(death_of(atoi(r.out.data), SIGKILL), SIGKILL);
    proc_result_release(&r);
}

static void count_line(const char *line, void *payload)
{
    (void)line;
    ++*(int *)payload;
}

static void a_polite_end_after_term_is_no_exit(void **state)
{
    (void)state;
    int lines = 0;
    struct proc_spec spec =
        shell("trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.05; done");
    spec.on_line = count_line;
    spec.payload = &lines;
    struct proc *p, *ended = NULL;
    struct proc_result r;
    assert_ok(proc_start(&p, &spec));
    while (lines == 0)
        assert_ok(proc_wait_any(&ended, &r, SECOND));
    proc_cancel(p);
    assert_ok(proc_wait_any(&ended, &r, -1));
    assert_int_equal(r.end, PROC_CANCELLED);
    assert_string_equal(r.out.data, "ready\nbye\n");
    proc_result_release(&r);
}

static void a_stopped_child_can_be_terminated(void **state)
{
    (void)state;
    struct proc_spec spec = shell("kill -STOP $$");
    spec.wall_limit_ns = SECOND / 10;
    struct proc_result r = run_spec(spec);
    assert_int_equal(r.end, PROC_TIMED_OUT);
    proc_result_release(&r);
}

static void leftovers_of_the_group_are_killed(void **state)
{
    (void)state;
    struct proc_result r = run_script("sleep 1000 & echo $!; exit 5");
    assert_exit(&r, 5);
    assert_int_equal(death_of(atoi(r.out.data), SIGKILL), SIGKILL);
    proc_result_release(&r);
}

static void a_process_that_left_the_group_does_not_hang_us(void **state)
{
    struct folder *f = *state;
    struct proc_spec spec = shell("mkfifo gate; setsid sh -c 'echo $$; echo > gate; exec sleep "
                                  "1000' & read x < gate; exit 4");
    spec.folder = f->path;
    struct proc_result r = run_spec(spec);
    assert_exit(&r, 4);
    pid_t escaped = atoi(r.out.data);
    assert_int_equal(kill(escaped, SIGTERM), 0);
    assert_int_equal(death_of(escaped, SIGTERM), SIGTERM);
    proc_result_release(&r);
}

static void memory_of_the_whole_group_is_limited(void **state)
{
    (void)state;
    const char *two =
        "f() { x=$(head -c 40000000 /dev/zero | tr '\\0' a); sleep 1000; }; f & f & wait";
    struct proc_spec spec = shell(two);
    spec.memory_limit_bytes = 60 << 20;
    struct proc_result r = run_spec(spec);
    assert_int_equal(r.end, PROC_OVER_MEMORY);
    assert_true(r.peak_bytes > 60 << 20);
    char text[64];
    assert_non_null(strstr(proc_describe(text, sizeof text, &r, "sh"), "memory limit"));
    proc_result_release(&r);
}

static void a_child_below_its_memory_limit_is_left_alone(void **state)
{
    (void)state;
    struct proc_spec spec = shell("sleep 0.3; echo fine");
    spec.memory_limit_bytes = 64 << 20;
    assert_output(spec, "fine\n");
}

static void output_is_limited(void **state)
{
    (void)state;
    struct proc_spec spec = shell("exec yes");
    spec.output_limit_bytes = 100001;
    struct proc_result r = run_spec(spec);
    assert_int_equal(r.end, PROC_OVER_OUTPUT);
    assert_int_equal(r.out.length, 100001);
    proc_result_release(&r);
}

static void output_limit_counts_every_stream(void **state)
{
    (void)state;
    const char *thirty = "printf 0123456789; printf 0123456789 >&2; printf 0123456789 >&3";
    struct proc_spec spec = shell(thirty);
    spec.channel = true;
    spec.output_limit_bytes = 30;
    struct proc_result r = run_spec(spec);
    assert_exit(&r, 0);
    proc_result_release(&r);
    spec.output_limit_bytes = 29;
    r = run_spec(spec);
    assert_int_equal(r.end, PROC_OVER_OUTPUT);
    assert_described(&r, "killed at its output limit");
    assert_int_equal(r.out.length + r.err.length + r.channel.length, 29);
    proc_result_release(&r);
}

static void log_is_appended(void **state)
{
    struct folder *f = *state;
    struct proc_spec spec = shell("echo out; echo channel >&3; sleep 0; echo err >&2");
    spec.channel = true;
    spec.log_path = folder_file(f, "log", "before\n");
    struct proc_result r = run_spec(spec);
    proc_result_release(&r);
    spec.merge_output = true;
    r = run_spec(spec);
    proc_result_release(&r);
    struct buf text;
    buf_init(&text, BUF_MAX_FILE);
    assert_ok(fs_read(&text, spec.log_path));
    assert_memory_equal(text.data, "before\n", 7);
    assert_int_equal(text.length, strlen("before\nout\nerr\nout\nerr\n"));
    assert_string_equal(text.data + text.length - 8, "out\nerr\n");
    buf_release(&text);
}

static void a_log_that_cannot_be_written_is_our_trouble(void **state)
{
    (void)state;
    struct proc_spec spec = shell("echo text; exec sleep 1000");
    struct proc_result r;
    spec.log_path = "/assay/no/such/log";
    assert_fails(proc_run(&r, &spec), ERR_IO, "/assay/no/such/log");
    proc_result_release(&r);
    spec.log_path = "/dev/full";
    assert_fails(proc_run(&r, &spec), ERR_IO, "No space left");
    proc_result_release(&r);
    struct proc *p, *ended;
    assert_ok(proc_start(&p, &spec));
    assert_fails(proc_wait_any(&ended, &r, -1), ERR_IO, "No space left");
    assert_null(ended);
    proc_cancel(p);
}

static struct proc *start(const char *script, const char *folder)
{
    struct proc_spec spec = shell(script);
    spec.folder = folder;
    struct proc *p;
    assert_ok(proc_start(&p, &spec));
    return p;
}

static void several_at_once_end_in_any_order(void **state)
{
    struct folder *f = *state;
    struct proc_result r;
    struct proc *ended;
    char *gate = fs_join(&f->arena, f->path, "gate");
    assert_int_equal(mkfifo(gate, 0600), 0);
    struct proc *late = start("read x < gate; echo $x; exit 1", f->path);
    struct proc *soon = start("exit 2", f->path);
    assert_int_equal(proc_running(), 2);
    assert_ok(proc_wait_any(&ended, &r, -1));
    assert_ptr_equal(ended, soon);
    assert_exit(&r, 2);
    proc_result_release(&r);
    assert_ok(proc_wait_any(&ended, &r, 0));
    assert_null(ended);
    int fd = open(gate, O_WRONLY);
    assert_int_equal(write(fd, "go\n", 3), 3);
    close(fd);
    assert_ok(proc_wait_any(&ended, &r, -1));
    assert_ptr_equal(ended, late);
    assert_exit(&r, 1);
    assert_string_equal(r.out.data, "go\n");
    proc_result_release(&r);
    assert_int_equal(proc_running(), 0);
}

static void a_run_between_leaves_the_others_to_be_waited_for(void **state)
{
    (void)state;
    struct proc_result r;
    struct proc *ended, *p = start("exit 9", NULL);
    assert_output(shell("echo between"), "between\n");
    assert_ok(proc_wait_any(&ended, &r, -1));
    assert_ptr_equal(ended, p);
    assert_exit(&r, 9);
    proc_result_release(&r);
}

static void many_children(void **state)
{
    (void)state;
    bool seen[20] = {false};
    for (int i = 0; i < 20; i++) {
        char script[32];
        snprintf(script, sizeof script, "exit %d", i);
        start(script, NULL);
    }
    for (int i = 0; i < 20; i++) {
        struct proc_result r;
        struct proc *ended;
        assert_ok(proc_wait_any(&ended, &r, -1));
        assert_int_equal(r.end, PROC_EXITED);
        assert_false(seen[r.code]);
        seen[r.code] = true;
        proc_result_release(&r);
    }
}

static void cancelling_one(void **state)
{
    (void)state;
    struct proc_result r;
    struct proc *ended, *p = start("exec sleep 1000", NULL);
    proc_cancel(p);
    proc_cancel(p);
    assert_ok(proc_wait_any(&ended, &r, -1));
    assert_ptr_equal(ended, p);
    assert_int_equal(r.end, PROC_CANCELLED);
    assert_described(&r, "cancelled");
    proc_result_release(&r);
}

static void pinned_to_a_cpu(void **state)
{
    struct folder *f = *state;
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    int cpu = CPU_SETSIZE - 1;
    while (!CPU_ISSET(cpu, &set))
        cpu--;
    static const char *const argv[] = {"grep", "Cpus_allowed_list", "/proc/self/status", NULL};
    const char *wanted = arena_printf(&f->arena, "Cpus_allowed_list:\t%d\n", cpu);
    assert_output((struct proc_spec){.argv = argv, .cpu = cpu}, wanted);
}

/* Below, the process that is interrupted or killed is a fork of ours; it answers with the pids of
 * its descendants. */

struct victim {
    int answer; /* where to write pids */
    int lines;
    int at_line; /* which line brings the signal */
    int number;
};

static void tell_and_raise(const char *line, void *payload)
{
    struct victim *v = payload;
    pid_t pid = atoi(line);
    if (write(v->answer, &pid, sizeof pid) != sizeof pid)
        _exit(99);
    if (++v->lines == v->at_line)
        raise(v->number);
}

static pid_t read_pid(int fd)
{
    pid_t pid;
    assert_int_equal(read(fd, &pid, sizeof pid), sizeof pid);
    return pid;
}

/* In the fork: 0 when all is as the header says. */
static int be_interrupted(struct victim *v)
{
    proc_catch_signals();
    struct proc_spec spec = shell("sleep 1000 & echo $!; sleep 1000 & echo $!; wait");
    spec.on_line = tell_and_raise;
    spec.payload = v;
    struct proc_result r;
    if (proc_interrupted() || proc_run(&r, &spec) != ERR_INTERRUPTED || !proc_interrupted())
        return 1;
    if (r.end != PROC_CANCELLED || r.out.length == 0)
        return 2;
    struct proc *p;
    if (proc_start(&p, &spec) != ERR_INTERRUPTED || proc_running() != 0)
        return 3;
    struct proc *ended;
    return proc_wait_any(&ended, &r, 0) == ERR_INTERRUPTED && !ended ? 0 : 4;
}

static void interruption_leaves_no_child(void **state)
{
    (void)state;
    static const int numbers[] = {SIGINT, SIGTERM};
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        int ends[2], status;
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        struct victim v = {.answer = ends[1], .at_line = 2, .number = numbers[i]};
        pid_t victim = fork();
        if (victim == 0)
            _exit(be_interrupted(&v));
        close(ends[1]);
        pid_t first = read_pid(ends[0]), second = read_pid(ends[0]);
        assert_int_equal(waitpid(victim, &status, 0), victim);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        death_of(first, SIGKILL);
        death_of(second, SIGKILL);
        close(ends[0]);
    }
}

static void interruption_ends_every_child(void **state)
{
    (void)state;
    int ends[2], status;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t victim = fork();
    if (victim == 0) {
        struct victim v = {.answer = ends[1], .at_line = 1, .number = SIGINT};
        proc_catch_signals();
        struct proc *other, *loud, *ended;
        struct proc_result r;
        struct proc_spec quiet = shell("exec sleep 1000");
        if (proc_start(&other, &quiet) < 0)
            _exit(1);
        struct proc_spec spec = shell("echo $$; exec sleep 1000");
        spec.on_line = tell_and_raise;
        spec.payload = &v;
        if (proc_start(&loud, &spec) < 0 || proc_wait_any(&ended, &r, -1) != ERR_INTERRUPTED)
            _exit(2);
        /* The tickets stay valid, and no child is left to wait for. */
        proc_cancel(other);
        proc_cancel(loud);
        _exit(waitpid(-1, &status, 0) < 0 && errno == ECHILD ? 0 : 3);
    }
    assert_int_equal(waitpid(victim, &status, 0), victim);
    assert_int_equal(status, 0);
    close(ends[0]);
    close(ends[1]);
}

static void killing_us_kills_the_child(void **state)
{
    (void)state;
    int ends[2], status;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    struct victim v = {.answer = ends[1]};
    pid_t victim = fork();
    if (victim == 0) {
        struct proc_spec spec = shell("echo $$; exec sleep 1000");
        spec.on_line = tell_and_raise;
        spec.payload = &v;
        struct proc_result r;
        _exit(proc_run(&r, &spec));
    }
    pid_t child = read_pid(ends[0]);
    kill(victim, SIGKILL);
    assert_int_equal(waitpid(victim, &status, 0), victim);
    assert_int_equal(death_of(child, SIGKILL), SIGKILL);
    close(ends[0]);
    close(ends[1]);
}

static void killing_us_kills_the_grandchildren(void **state)
{
    (void)state;
    int ends[2], status;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    struct victim v = {.answer = ends[1]};
    pid_t victim = fork();
    if (victim == 0) {
        struct proc_spec spec = shell("sleep 1000 & echo $!; wait");
        spec.on_line = tell_and_raise;
        spec.payload = &v;
        struct proc_result r;
        _exit(proc_run(&r, &spec));
    }
    pid_t grandchild = read_pid(ends[0]);
    kill(victim, SIGKILL);
    assert_int_equal(waitpid(victim, &status, 0), victim);
    assert_int_equal(death_of(grandchild, SIGKILL), SIGKILL);
    close(ends[0]);
    close(ends[1]);
}

static void leaving_kills_what_still_runs(void **state)
{
    (void)state;
    int ends[2], status;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t victim = fork();
    if (victim == 0) {
        struct victim v = {.answer = ends[1]};
        struct proc_spec spec = shell("trap '' TERM; sleep 1000 & echo $!; wait; wait");
        spec.on_line = tell_and_raise;
        spec.payload = &v;
        struct proc *p, *ended;
        struct proc_result r;
        bool well = proc_start(&p, &spec) == 0;
        while (well && v.lines == 0)
            well = proc_wait_any(&ended, &r, SECOND) == 0;
        exit(well ? 0 : 1);
    }
    pid_t grandchild = read_pid(ends[0]);
    assert_int_equal(waitpid(victim, &status, 0), victim);
    assert_int_equal(death_of(grandchild, SIGKILL), SIGKILL);
    close(ends[0]);
    close(ends[1]);
}

static void small_questions(void **state)
{
    struct folder *f = *state;
    assert_true(proc_have_program("sh"));
    assert_true(proc_have_program("/bin/sh"));
    assert_false(proc_have_program("assay-no-such-program"));
    assert_false(proc_have_program(f->path));
    assert_false(proc_have_program(folder_file(f, "plain", "no program")));
    assert_true(proc_cpu_count() >= 1);
    int64_t before = proc_now_ns();
    assert_true(proc_now_ns() >= before);
    assert_true(proc_wall_clock_s() > 1600000000);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_code_and_output),
        cmocka_unit_test(death_by_signal),
        cmocka_unit_test(cpu_time_is_the_childs),
        cmocka_unit_test(merged_output_keeps_order),
        cmocka_unit_test(large_output_is_whole),
        cmocka_unit_test(input_is_given),
        cmocka_unit_test(unread_input_is_no_trouble),
        cmocka_unit_test(environment_changes),
        WITH_FOLDER(program_is_looked_up_in_the_childs_path),
        WITH_FOLDER(working_folder),
        cmocka_unit_test(channel_is_descriptor_3),
        cmocka_unit_test(an_answer_renews_the_limit),
        WITH_FOLDER(no_other_descriptor_is_inherited),
        cmocka_unit_test(signals_are_as_new),
        cmocka_unit_test(lines_are_told),
        WITH_FOLDER(failed_starts_name_the_call),
        cmocka_unit_test(failed_starts_are_described),
        cmocka_unit_test(exit_127_is_no_failed_start),
        cmocka_unit_test(timeout_kills_a_grandchild_that_ignores_term),
        cmocka_unit_test(a_polite_end_after_term_is_no_exit),
        cmocka_unit_test(a_stopped_child_can_be_terminated),
        cmocka_unit_test(leftovers_of_the_group_are_killed),
        WITH_FOLDER(a_process_that_left_the_group_does_not_hang_us),
        cmocka_unit_test(memory_of_the_whole_group_is_limited),
        cmocka_unit_test(a_child_below_its_memory_limit_is_left_alone),
        cmocka_unit_test(output_is_limited),
        cmocka_unit_test(output_limit_counts_every_stream),
        WITH_FOLDER(log_is_appended),
        WITH_FOLDER(several_at_once_end_in_any_order),
        cmocka_unit_test(a_run_between_leaves_the_others_to_be_waited_for),
        cmocka_unit_test(many_children),
        cmocka_unit_test(cancelling_one),
        WITH_FOLDER(pinned_to_a_cpu),
        cmocka_unit_test(interruption_leaves_no_child),
        cmocka_unit_test(interruption_ends_every_child),
        cmocka_unit_test(killing_us_kills_the_child),
        cmocka_unit_test(killing_us_kills_the_grandchildren),
        cmocka_unit_test(leaving_kills_what_still_runs),
        WITH_FOLDER(small_questions),
        /* Last: it leaves a ticket behind that nobody can collect. */
        cmocka_unit_test(a_log_that_cannot_be_written_is_our_trouble),
    };
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
