#include "src/proc_guard.h"

#include "src/mem.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct message {
    pid_t group;
    int ended; /* no padding: it is sent as it lies in memory */
};

static pid_t owner; /* a fork of ours (a test) has none yet */
static pid_t guard_pid;
static int connection = -1;

/* Nobody waits for the guard's answer, and a guard that was killed itself must not stop us. */
static void tell(struct message m)
{
    if (connection >= 0)
        (void)!send(connection, &m, sizeof m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void proc_guard_began(pid_t group)
{
    tell((struct message){.group = group});
}

void proc_guard_ended(pid_t group)
{
    tell((struct message){.group = group, .ended = 1});
}

/* The guard's side. */

struct groups {
    pid_t *ids;
    size_t count, room;
};

static void note(struct groups *g, struct message m)
{
    if (!m.ended) {
        if (g->count == g->room) {
            g->room = g->room ? 2 * g->room : 16;
            g->ids = xrealloc(g->ids, g->room * sizeof *g->ids);
        }
        g->ids[g->count++] = m.group;
        return;
    }
    for (size_t i = 0; i < g->count; i++) {
        if (g->ids[i] == m.group)
            g->ids[i] = g->ids[--g->count];
    }
}

/* Descriptors of ours would hold locks and pipes beyond our end. */
static void hold_only(int fd)
{
    if (fd > 0)
        close_range(0, (unsigned)fd - 1, 0);
    close_range((unsigned)fd + 1, ~0U, 0);
}

_Noreturn static void guard(int fd)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    hold_only(fd);
    (void)setsid();
    (void)!chdir("/");
    (void)prctl(PR_SET_NAME, "assay-guard");
    struct groups groups = {0};
    for (;;) {
        struct message m;
        ssize_t got = recv(fd, &m, sizeof m, 0);
        if (got == sizeof m)
            note(&groups, m);
        else if (got >= 0 || errno != EINTR)
            break;
    }
    for (size_t i = 0; i < groups.count; i++)
        kill(-groups.ids[i], SIGKILL);
    _exit(0);
}

/* A child without a signal for its end: wait() for any child never meets it, and no SIGCHLD tells
 * of it. */
static pid_t fork_guard(int theirs)
{
    pid_t pid = (pid_t)syscall(SYS_clone, 0UL, NULL, NULL, NULL, 0UL);
    if (pid == 0)
        guard(theirs);
    return pid;
}

int proc_guard_start(void)
{
    if (owner == getpid())
        return 0;
    if (connection >= 0)
        close(connection);
    connection = -1;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return err_set(ERR_IO, "connecting to the guard of the children:");
    guard_pid = fork_guard(ends[1]);
    close(ends[1]);
    if (guard_pid < 0) {
        close(ends[0]);
        return err_set(ERR_IO, "starting the guard of the children:");
    }
    connection = ends[0];
    owner = getpid();
    return 0;
}

void proc_guard_leave(void)
{
    if (owner != getpid())
        return;
    close(connection);
    connection = -1;
    while (waitpid(guard_pid, NULL, __WCLONE) < 0 && errno == EINTR)
        continue;
}
