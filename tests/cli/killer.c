/* killer: a library for LD_PRELOAD that kills its process by KILL at a chosen call. It is a tool of kill.sh, no part of assay.
 *
 * Counted are the calls that change files below $ASSAY_KILL_UNDER (whose path contains $ASSAY_KILL_PATH, when that is set), and, without
 * that restriction, each wait for children (poll). The $ASSAY_KILL_AT-th dies: a write after half of its bytes, anything else before it
 * does anything. Each counted call is a line of the file $ASSAY_KILL_TRACE. Children are left alone: they do not inherit the library. */
#undef _FILE_OFFSET_BITS /* both names of a call are wanted, each as itself */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    char under[PATH_MAX], path[256];
    long at, seen;
    int trace;
} plan = {.trace = -1};

__attribute__((constructor)) static void read_plan(void)
{
    const char *under = getenv("ASSAY_KILL_UNDER"), *at = getenv("ASSAY_KILL_AT"), *path = getenv("ASSAY_KILL_PATH"),
               *trace = getenv("ASSAY_KILL_TRACE");
    snprintf(plan.under, sizeof plan.under, "%s", under ? under : "");
    snprintf(plan.path, sizeof plan.path, "%s", path ? path : "");
    plan.at = at ? strtol(at, NULL, 10) : 0;
    if (trace)
        plan.trace = open(trace, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    unsetenv("LD_PRELOAD");
}

static void tell(const char *call, const char *path)
{
    char line[PATH_MAX + 64];
    int length = snprintf(line, sizeof line, "%ld %s %s\n", plan.seen, call, path);
    if (plan.trace >= 0)
        (void)!syscall(SYS_write, plan.trace, line, (size_t)length);
}

static void die(void)
{
    kill(getpid(), SIGKILL);
}

/* Is this the call that dies? */
static bool strikes(const char *call, const char *path)
{
    bool waits = !path;
    if (waits ? *plan.path : !*plan.under || strncmp(path, plan.under, strlen(plan.under)) != 0 || !strstr(path, plan.path))
        return false;
    plan.seen++;
    tell(call, waits ? "for children" : path);
    return plan.seen == plan.at;
}

static bool strikes_file(const char *call, int fd)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return false;
    path[length] = '\0';
    return strikes(call, path);
}

#define NEXT(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *bytes, size_t size)
{
    if (fd > 2 && strikes_file("write", fd)) {
        (void)!NEXT(write)(fd, bytes, size / 2);
        die();
    }
    return NEXT(write)(fd, bytes, size);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at)
{
    if (strikes_file("pwrite", fd)) {
        (void)!NEXT(pwrite)(fd, bytes, size / 2, at);
        die();
    }
    return NEXT(pwrite)(fd, bytes, size, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at)
{
    if (strikes_file("pwrite", fd)) {
        (void)!NEXT(pwrite64)(fd, bytes, size / 2, at);
        die();
    }
    return NEXT(pwrite64)(fd, bytes, size, at);
}

int fsync(int fd)
{
    if (strikes_file("fsync", fd))
        die();
    return NEXT(fsync)(fd);
}

int fdatasync(int fd)
{
    if (strikes_file("fdatasync", fd))
        die();
    return NEXT(fdatasync)(fd);
}

int ftruncate(int fd, off_t size)
{
    if (strikes_file("ftruncate", fd))
        die();
    return NEXT(ftruncate)(fd, size);
}

int ftruncate64(int fd, off64_t size)
{
    if (strikes_file("ftruncate", fd))
        die();
    return NEXT(ftruncate64)(fd, size);
}

int rename(const char *from, const char *to)
{
    if (strikes("rename", to))
        die();
    return NEXT(rename)(from, to);
}

int unlink(const char *path)
{
    if (strikes("unlink", path))
        die();
    return NEXT(unlink)(path);
}

int mkdir(const char *path, mode_t mode)
{
    if (strikes("mkdir", path))
        die();
    return NEXT(mkdir)(path, mode);
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
    if (strikes("poll", NULL))
        die();
    return NEXT(poll)(fds, count, timeout);
}
