#include "src/proc_internal.h"

#include "src/proc_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { FIRST_HIGH_FD = 10, CHANNEL_FD = 3 };

const char *proc__call_name(enum call call)
{
    static const char *const names[] = {"setsid", "prctl", "chdir", "sched_setaffinity",
                                        "dup2",   "execvp"};
    return names[call];
}

/* The child's side, between fork and exec. */

_Noreturn static void give_up(int status_fd, enum call call)
{
    struct start_failure failure = {.call = call, .error = errno};
    ssize_t written = write(status_fd, &failure, sizeof failure);
    _exit(written == sizeof failure ? 127 : 126);
}

/* Ignored signals and the mask would survive exec. */
static void reset_signals(void)
{
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void pin(const struct child_ends *ends, int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (cpu < CPU_SETSIZE)
        CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        give_up(ends->status, CALL_AFFINITY);
}

static void place(const struct child_ends *ends, int from, int to)
{
    if (dup2(from, to) < 0)
        give_up(ends->status, CALL_DUP2);
}

_Noreturn static void become_child(const struct proc_spec *spec, char **environment,
                                   const struct child_ends *ends, pid_t parent)
{
    reset_signals();
    /* A session of its own, and so a group of its own; without a terminal, ssh and the like fail
     * instead of stopping at a password prompt that nobody sees. */
    if (setsid() < 0)
        give_up(ends->status, CALL_SETSID);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        give_up(ends->status, CALL_PRCTL);
    if (getppid() != parent)
        _exit(127);
    proc_guard_began(getpid());
    if (spec->folder && chdir(spec->folder) != 0)
        give_up(ends->status, CALL_CHDIR);
    if (spec->cpu >= 0)
        pin(ends, spec->cpu);
    place(ends, ends->in, 0);
    place(ends, ends->out, 1);
    place(ends, ends->err, 2);
    if (spec->channel)
        place(ends, ends->channel, CHANNEL_FD);
    /* Descriptors that we inherited ourselves, or a library opened, may lack close-on-exec. */
    close_range(spec->channel ? CHANNEL_FD + 1 : CHANNEL_FD, ~0U, CLOSE_RANGE_CLOEXEC);
    environ = environment;
    execvp(spec->argv[0], (char *const *)spec->argv);
    give_up(ends->status, CALL_EXEC);
}

/* The parent's side of a start. */

static bool same_name(const char *left, const char *right)
{
    size_t length = strcspn(left, "=");
    return length == strcspn(right, "=") && strncmp(left, right, length) == 0;
}

static bool is_changed(const char *entry, const char *const *changes)
{
    for (; *changes; changes++)
        if (same_name(entry, *changes))
            return true;
    return false;
}

/* Our environment with the changes made; the texts are borrowed. */
static char **make_environment(const char *const *changes)
{
    static const char *const none[] = {NULL};
    if (!changes)
        changes = none;
    size_t count = 0, used = 0;
    for (char **e = environ; *e; e++)
        count++;
    for (const char *const *c = changes; *c; c++)
        count++;
    char **made = xcalloc(count + 1, sizeof *made);
    for (char **e = environ; *e; e++)
        if (!is_changed(*e, changes))
            made[used++] = *e;
    for (const char *const *c = changes; *c; c++)
        if (strchr(*c, '=') && !is_changed(*c, c + 1))
            made[used++] = (char *)*c;
    return made;
}

void proc__close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Out of the way of 0-3, which the child fills with dup2. */
static int move_high(int *fd)
{
    if (*fd >= FIRST_HIGH_FD)
        return 0;
    int high = fcntl(*fd, F_DUPFD_CLOEXEC, FIRST_HIGH_FD);
    if (high < 0)
        return err_set(ERR_IO, "moving a descriptor:");
    close(*fd);
    *fd = high;
    return 0;
}

static int make_pipe(int *ours, int *theirs)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_set(ERR_IO, "making a pipe for a child:");
    *ours = ends[0];
    *theirs = ends[1];
    int status = move_high(ours);
    if (status == 0)
        status = move_high(theirs);
    if (status == 0 && fcntl(*ours, F_SETFL, O_NONBLOCK) != 0)
        status = err_set(ERR_IO, "making a pipe for a child:");
    return status;
}

/* The input is a file in memory: nothing to feed in the loop, no SIGPIPE when the child does not
 * read it. */
static int make_input(int *fd, const struct proc_spec *spec)
{
    *fd =
        spec->input ? memfd_create("input", MFD_CLOEXEC) : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (*fd < 0)
        return err_set(ERR_IO, "making the input of a child:");
    for (size_t done = 0; spec->input && done < spec->input_bytes;) {
        ssize_t written = write(*fd, spec->input + done, spec->input_bytes - done);
        if (written < 0 && errno != EINTR)
            return err_set(ERR_IO, "making the input of a child:");
        done += written > 0 ? (size_t)written : 0;
    }
    if (spec->input && lseek(*fd, 0, SEEK_SET) != 0)
        return err_set(ERR_IO, "making the input of a child:");
    return move_high(fd);
}

int proc__make_ends(struct proc *p, struct child_ends *ends, const struct proc_spec *spec)
{
    int status = make_input(&ends->in, spec);
    if (status == 0)
        status = make_pipe(&p->streams[STREAM_OUT], &ends->out);
    if (status == 0 && spec->merge_output)
        ends->err = ends->out;
    else if (status == 0)
        status = make_pipe(&p->streams[STREAM_ERR], &ends->err);
    if (status == 0 && spec->channel)
        status = make_pipe(&p->streams[STREAM_CHANNEL], &ends->channel);
    if (status == 0)
        status = make_pipe(&p->streams[STREAM_STATUS], &ends->status);
    if (status == 0 && spec->log_path) {
        p->log = open(spec->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (p->log < 0)
            status = err_set(ERR_IO, "%s: %s", spec->log_path, strerror(errno));
    }
    return status;
}

void proc__close_ends(struct child_ends *ends)
{
    if (ends->err == ends->out)
        ends->err = -1;
    proc__close_fd(&ends->in);
    proc__close_fd(&ends->out);
    proc__close_fd(&ends->err);
    proc__close_fd(&ends->channel);
    proc__close_fd(&ends->status);
}

/* Signals wait while there are two of us: a TERM for the child must not reach our handler in its
 * copy of us. */
void proc__fork(struct proc *p, const struct proc_spec *spec, const struct child_ends *ends)
{
    char **environment = make_environment(spec->environment);
    pid_t parent = getpid();
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    p->started_ns = proc_now_ns();
    p->pid = fork();
    if (p->pid == 0)
        become_child(spec, environment, ends, parent);
    int fork_errno = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    free(environment);
    if (p->pid < 0) {
        p->result.end = PROC_NOT_STARTED;
        p->result.code = fork_errno;
        p->result.failed_call = "fork";
        p->ended = true;
    }
}
