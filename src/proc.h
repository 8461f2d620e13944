/* proc: children, their limits, and the one poll loop.
 *
 * The parent has one thread. Each child is the leader of its own session and process group, inherits no descriptor but
 * 0-2 (and 3 when a channel is asked for), and is killed with its whole group: TERM, a grace of two seconds, KILL. A failed
 * exec comes back over a close-on-exec pipe as NOT_STARTED with the call's name and errno; it is never an exit code.
 * A child has ended when its leader has: what is left of the group then is killed at once, and pipes that a process outside
 * the group still holds are not waited for.
 * SIGINT and SIGTERM of ours are caught by the loop: all children are killed first (a second signal ends their grace),
 * proc_interrupted() turns true, and proc_start, proc_run and proc_wait_any return ERR_INTERRUPTED from then on. When we are
 * killed ourselves by KILL, the kernel kills each leader, and a guard beside us (proc_guard) what is left of the groups.
 * Memory is watched (resident set of the whole group from /proc, ten times a second), not limited by RLIMIT_AS, which breaks
 * sanitizers and GPU runtimes (facts/probes.md).
 */
#ifndef ASSAY_PROC_H
#define ASSAY_PROC_H

#include "src/buf.h"
#include "src/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum proc_end {
    PROC_EXITED,      /* code is the exit status */
    PROC_SIGNALED,    /* code is the signal, by somebody other than us */
    PROC_TIMED_OUT,   /* killed by us at wall_limit_ns */
    PROC_OVER_MEMORY, /* killed by us at memory_limit_bytes */
    PROC_OVER_OUTPUT, /* killed by us at output_limit_bytes */
    PROC_NOT_STARTED, /* exec or fork failed: code is errno, `failed_call` says which call */
    PROC_CANCELLED,   /* killed by us on proc_cancel or Ctrl-C */
};

struct proc_spec {
    const char *const *argv;        /* NULL-terminated; argv[0] is looked up in PATH */
    const char *const *environment; /* NULL-terminated "NAME=value" changes to ours ("NAME" alone removes); NULL: none */
    const char *folder;             /* working directory, NULL: ours */
    const char *input;              /* text for standard input, NULL: /dev/null */
    size_t input_bytes;
    int64_t wall_limit_ns;     /* 0: none */
    int64_t memory_limit_bytes; /* 0: none */
    int64_t output_limit_bytes; /* of stdout, stderr and channel together; 0: BUF_MAX_FILE */
    const char *log_path;      /* when set, stdout and stderr are also appended to this file as they come */
    bool merge_output;         /* stderr goes into `out` too, in order */
    bool channel;              /* give the child descriptor 3; what it writes there lands in `channel` */
    int cpu;                   /* pin to this CPU; -1: do not (remember to set it) */
    /* Called for each complete line (without newline) of stdout as it arrives; may be NULL. */
    void (*on_line)(const char *line, void *payload);
    void (*on_channel_line)(const char *line, void *payload); /* the same for the channel */
    void *payload;
};

struct proc_result {
    enum proc_end end;
    int code;
    const char *failed_call; /* static text, for NOT_STARTED */
    int64_t wall_ns; /* since the start, or since the last proc_extend */
    int64_t user_ns, system_ns;
    int64_t peak_bytes; /* of the group's resident memory as watched (only with a limit), or ru_maxrss if larger; Linux counts
                         * in the latter our own size at the fork */
    struct buf out, err, channel;
};

void proc_result_release(struct proc_result *r);

/* Words for people: "exit 3", "killed by SIGSEGV", "timed out after 2.0 s", "cannot start ninja: No such file..." */
const char *proc_describe(char *text, size_t size, const struct proc_result *r, const char *program);

/* Run one child to its end. An error is ours only (pipe, fork resources, Ctrl-C): whatever the child did is in `out`. */
int proc_run(struct proc_result *out, const struct proc_spec *spec) MUST_USE;

/* Several children at once. proc_start copies what it needs of the spec except argv memory used during exec; the ticket is owned by the loop. */
struct proc;
int proc_start(struct proc **out, const struct proc_spec *spec) MUST_USE;
/* Wait until any started child ends or `timeout_ns` has passed (negative: for ever). *ended is NULL on time-out. Its result is moved
 * to `result` and the ticket is gone. The order of ends is the order in which they are noticed. After an error nothing is moved and
 * all tickets stay valid: cancel them or leave. It is a bug to wait for ever when nothing was started. */
int proc_wait_any(struct proc **ended, struct proc_result *result, int64_t timeout_ns) MUST_USE;
/* Kill it, without waiting: it ends as CANCELLED and is to be waited for like any other; no line of it is told any more. Whatever still runs when we exit is
 * killed then. */
void proc_cancel(struct proc *p);
/* A child that serves one task after another gets a new wall limit for the next, from now on (0: none). For on_line and on_channel_line. */
void proc_extend(struct proc *p, int64_t wall_limit_ns);
/* Tickets that are not gone yet. */
size_t proc_running(void);

/* True once SIGINT or SIGTERM was seen. proc_catch_signals installs the handlers (main does, once). */
void proc_catch_signals(void);
bool proc_interrupted(void);

/* CLOCK_MONOTONIC in ns. */
int64_t proc_now_ns(void);
/* Seconds since the epoch, for rows and file names. */
int64_t proc_wall_clock_s(void);
/* Is `name` an executable in PATH? */
bool proc_have_program(const char *name);
/* CPUs that this process may use. */
int proc_cpu_count(void);

#endif
