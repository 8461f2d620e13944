/* progress: what long work is doing, on standard error. On a terminal one line that is rewritten, with counts, what is in hand and an estimate from
 * the work done so far; elsewhere a plain line a step, at most one a second. Quiet when told so. */
#ifndef ASSAY_PROGRESS_H
#define ASSAY_PROGRESS_H

#include "src/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void progress_quiet(bool quiet);
/* A stretch of `total` like steps ("check", 120); 0: not known. */
void progress_begin(const char *what, int64_t total);
/* The step in hand. */
void progress_step(const char *format, ...) PRINTF_LIKE(1, 2);
/* One more step is done. */
void progress_done(void);
void progress_end(void);
/* A line that stays. */
void progress_note(const char *format, ...) PRINTF_LIKE(1, 2);

#endif
