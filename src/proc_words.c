#include "src/proc_internal.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void describe_signal(char *text, size_t size, int number)
{
    const char *name = sigabbrev_np(number);
    if (name)
        snprintf(text, size, "killed by SIG%s", name);
    else
        snprintf(text, size, "killed by signal %d", number);
}

static void describe_start(char *text, size_t size, const struct proc_result *r,
                           const char *program)
{
    bool exec = strcmp(r->failed_call, proc__call_name(CALL_EXEC)) == 0;
    snprintf(text, size, "cannot start %s: %s%s%s", program, exec ? "" : r->failed_call,
             exec ? "" : ": ", strerror(r->code));
}

const char *proc_describe(char *text, size_t size, const struct proc_result *r, const char *program)
{
    switch (r->end) {
    case PROC_EXITED:
        snprintf(text, size, "exit %d", r->code);
        break;
    case PROC_SIGNALED:
        describe_signal(text, size, r->code);
        break;
    case PROC_TIMED_OUT:
        snprintf(text, size, "timed out after %.1f s", (double)r->wall_ns / 1e9);
        break;
    case PROC_OVER_MEMORY:
        snprintf(text, size, "killed at its memory limit (peak %.0f MiB)",
                 (double)r->peak_bytes / (1 << 20));
        break;
    case PROC_OVER_OUTPUT:
        snprintf(text, size, "killed at its output limit");
        break;
    case PROC_NOT_STARTED:
        describe_start(text, size, r, program);
        break;
    case PROC_CANCELLED:
        snprintf(text, size, "cancelled");
        break;
    }
    return text;
}

static bool is_program(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

bool proc_have_program(const char *name)
{
    const char *folder = getenv("PATH");
    if (strchr(name, '/') || !folder)
        return is_program(name);
    for (;; folder++) {
        int length = (int)strcspn(folder, ":");
        char path[4096];
        snprintf(path, sizeof path, "%.*s/%s", length > 0 ? length : 1, length > 0 ? folder : ".",
                 name);
        if (is_program(path))
            return true;
        folder += length;
        if (*folder == '\0')
            return false;
    }
}

int proc_cpu_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}
