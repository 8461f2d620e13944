/* proc_guard: a process beside us that kills the groups of our children when we are killed by KILL. Only proc includes it.
 *
 * PR_SET_PDEATHSIG reaches the leaders alone: what they started would go on, write into a build folder that the next assay already
 * uses, and so give one commit's object files to another. Each child tells its group before it becomes its program, the parent
 * tells when the group has ended; the end of the connection says that we are gone.
 * The guard has a session of its own, holds nothing of ours open, and is met by no wait() for just any child.
 */
#ifndef ASSAY_PROC_GUARD_H
#define ASSAY_PROC_GUARD_H

#include "src/err.h"

#include <sys/types.h>

/* Once a process; later calls do nothing. */
int proc_guard_start(void) MUST_USE;
/* In the child, between fork and exec: it leads a group. */
void proc_guard_began(pid_t group);
/* In the parent, before the leader is reaped: nothing of the group is left. */
void proc_guard_ended(pid_t group);
/* On our own way out: it goes first, so that it stays nobody's zombie. */
void proc_guard_leave(void);

#endif
