/* spelling: problems in the words of other tools, both ways. Pure text; the grammar and its traps are in facts/rocmlir.md
 * (sections 1 to 4) and facts/migraphx_miopen.md B.
 *
 * Import knows
 *   miopen       MIOpenDriver conv|convfp16|convbfp16|convint8 lines, all convolution flags, 2-D and 3-D, also as logged by
 *                MIOPEN_ENABLE_LOGGING_CMD (log prefix, path, ".exe") and as in rocMLIR's config files (-F -f -I -O -m -t -perf_priority ...)
 *   rocmlir      rocmlir-gen command lines (conv and conv2d spellings of --operation, -t, -g, one or two dashes, = or space, what follows | is dropped)
 *   mlir-miopen  mlir-miopen-driver and miopen-gen command lines (the older generation)
 *   miir         the option string of rocMLIR's C API
 *   assay        our own line
 * A line that fuses directions (-F 0 or a sum such as 3) gives several problems.
 * Lines that mean different problems to different builds of a tool, and flags that the tool itself would misread, are refused.
 * Source   ROCm/MIOpen driver/{InputFlags.cpp,conv_driver.hpp}; rocmlir-gen's options and correctConvParameters in ROCm/rocMLIR.
 */
#ifndef ASSAY_SPELLING_H
#define ASSAY_SPELLING_H

#include "reference/problem.h"

enum spelling { SPELLING_ASSAY, SPELLING_MIOPEN, SPELLING_ROCMLIR, SPELLING_MLIR_MIOPEN, SPELLING_MIIR };

/* What tool's line this looks like; false when none. */
bool spelling_guess(enum spelling *out, const char *line);
const char *spelling_name(enum spelling s);

/* At most three problems (one a direction). ERR_LIMIT for an unreasonably long line. ERR_INVALID names the flag
 * and, for an unknown one, the nearest known. What would silently change the problem (a tool that adds padding, see
 * rocmlir.md 1.2) is refused with the reason. Flags that do not describe the problem (-t 1, -pv, -rand) are accepted
 * and skipped only when known. */
int spelling_parse(struct problem out[3], size_t *count, enum spelling s, const char *line) MUST_USE;

/* The command line (or option string) of that tool for this problem, appended; spelling_parse reads it as the same
 * problem. (MIOpenDriver's layouts have no g: with one group it may come back in another place, which is the same memory.)
 * ERR_INVALID with the reason when the tool cannot say it (pads that differ by side in a MIOpenDriver line, 3-D in a Miir
 * string, ...). SPELLING_MIIR writes the symmetric keys, and with `pads_by_side` the --padding_h_l style keys where the
 * sides differ. No kernel_id, arch or tuning keys: those are the driver's. */
int spelling_print(struct buf *out, enum spelling s, const struct problem *p, bool pads_by_side) MUST_USE;

#endif
