/* worker: the child side of a job; the only user of gpu and of drivers. It holds no opinion and knows no store.
 *
 * Protocol  `assay worker` reads jobs as lines `key value` that end with a line `end`, any number of them, until the end of its input. For each it
 *           writes lines `key value` to descriptor 3, `done` last. A job without `done` means that the worker died of it. The text of a job repeats it by hand:
 *           assay worker <job 3>&1
 * compile   task compile | driver, library, problem, arch, variant, asymmetric_pads yes|no, bundle PATH (written when ok)
 *           -> stage, outcome, detail, code, kernels, workspace_bytes, code_bytes, compile_ns
 * execute   task execute | bundle PATH, hip, device, data KIND (data.h), seed, accumulator; atol, rtol (those of others, for real data)
 *           -> stage, outcome, detail, signature, execute_ns, elements, mismatches, worst_ratio, ... (struct verify_stats, one line each)
 * time      task time | anchor PATH, bundle PATH, first anchor|bundle, hip, device, seed, warmups, repeats, minimum_ns
 *           -> stage, outcome, detail, anchor_sample NS and sample NS (one line each, in the order taken)
 * verify    task verify | problem, accumulator, data KIND (data.h), seed; input PATH, filter PATH, output PATH (what is not named is filled);
 *           result PATH (the tensor to check), atol, rtol, write FOLDER (all three tensors as .npy, the result being the answer)
 *           -> stage, outcome, detail, signature, exact yes|no, rms, beyond, elements, ... as execute
 * facts     task facts | hip, device -> arch, name, runtime_version, driver_version, memory_bytes
 */
#ifndef ASSAY_WORKER_H
#define ASSAY_WORKER_H

#include "src/buf.h"

#include <stdbool.h>

enum { WORKER_CHANNEL = 3 };

/* Serve jobs from `input` until its end; answers go to descriptor `channel`. An error when the protocol was broken. */
int worker_serve(int input, int channel) MUST_USE;

/* One job's text to one answer's text (without `done`), for tests and the fuzzer. */
int worker_job(struct buf *answer, const char *job, size_t length) MUST_USE;

/* The value of `key` in lines `key value`: copied to `value`; false when it is not there. */
bool worker_value(char *value, size_t size, const char *lines, const char *key);

#endif
