/* budget: how much disk the parts of a workspace may take. What was used least recently goes first.
 *
 * Enforced when a command opens the workspace to work in it, before it looks anything up, so that nothing in use goes; a campaign may pass its
 * budget until the next one starts. Whatever goes is made again when it is wanted. Rows, mirrors and the store are never touched.
 */
#ifndef ASSAY_BUDGET_H
#define ASSAY_BUDGET_H

#include "harness/config.h"
#include "harness/workspace.h"

/* Cost: one walk over the parts. *freed_bytes is what went, *count in how many pieces. */
int budget_enforce(int64_t *freed_bytes, size_t *count, struct workspace *w, const struct machine_disk *disk) MUST_USE;

#endif
