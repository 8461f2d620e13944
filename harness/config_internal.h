/* config_internal: what the readers of the file kinds share.
 */
#ifndef ASSAY_CONFIG_INTERNAL_H
#define ASSAY_CONFIG_INTERNAL_H

#include "harness/config.h"

extern const struct yaml_key config_sweep_keys[];

/* Read, check and bind a file (NULL: the default of its kind); the faults of the caller's own checks may follow. */
int config_bind_file(void *target, struct arena *a, struct yaml_faults *f, const char *path, const char *kind) MUST_USE;
/* The faults as the error, unless there was another; they are released. */
int config_finish(struct yaml_faults *f, int status) MUST_USE;
/* The problems of one line in any spelling, at most three; 0 with a fault when it is none. */
size_t config_read_line(struct problem out[3], struct yaml_faults *f, const char *line, int row, int column, const char *path);

#endif
