/* proc_internal: a child's ticket, shared by the loop (proc.c) and the start of a child (proc_start.c).
 */
#ifndef ASSAY_PROC_INTERNAL_H
#define ASSAY_PROC_INTERNAL_H

#include "src/proc.h"

#include <sys/types.h>

enum stream_id { STREAM_OUT, STREAM_ERR, STREAM_CHANNEL, STREAM_STATUS, STREAM_COUNT };

struct proc {
    struct proc *next;
    pid_t pid; /* also the id of its group; a zombie until note_end has killed the group, so that it
                  is never reused before */
    int streams[STREAM_COUNT]; /* our ends of the pipes; -1 when closed */
    int log;                   /* -1: none */
    int log_errno; /* the log could not be written: our trouble, told when the child has ended */
    int64_t started_ns;
    int64_t deadline_ns; /* INT64_MAX: no limit */
    int64_t kill_at_ns;  /* when TERM turns into KILL; INT64_MAX: not under way */
    int64_t memory_limit_bytes, seen_bytes;
    size_t output_room; /* bytes it may still print */
    struct line_feed {
        size_t start; /* where in the buffer the next line begins */
        void (*tell)(const char *line, void *payload);
    } out_lines, channel_lines;
    void *payload;
    bool killed;  /* by us; result.end says why */
    bool flooded; /* it printed more than it may */
    bool ended;
    struct buf status; /* a struct start_failure when it could not become the program */
    struct proc_result result;
};

/* The calls between fork and exec that may fail, and what the child writes into its status pipe then. */
enum call { CALL_SETSID, CALL_PRCTL, CALL_CHDIR, CALL_AFFINITY, CALL_DUP2, CALL_EXEC };
struct start_failure {
    enum call call;
    int error;
};
const char *proc__call_name(enum call call);

/* The child's ends of its pipes; -1 for none. */
struct child_ends {
    int in, out, err, channel, status;
};

/* Pipes, input and log of a child; what was made before an error stays for proc__close_ends and the ticket. */
int proc__make_ends(struct proc *p, struct child_ends *ends, const struct proc_spec *spec) MUST_USE;
void proc__close_ends(struct child_ends *ends);
/* Sets pid and started_ns; a failed fork is an end of the ticket. The child never returns. */
void proc__fork(struct proc *p, const struct proc_spec *spec, const struct child_ends *ends);
void proc__close_fd(int *fd); /* -1 is fine, and what it is afterwards */

#endif
