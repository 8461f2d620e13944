/* fuzz_worker: a job's text from anywhere must end in an answer or a message. Texts that name a
 * task are left to the tests, since a task loads the libraries it is told to. Exercises
 * harness/worker.c: values, tasks, numbers.
 */
#include "harness/worker.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf text, answer;
    char task[64], value[64];
    buf_init(&text, BUF_MAX_LINE);
    buf_init(&answer, BUF_MAX_LINE);
    buf_add(&text, data, size);
    bool loads = worker_value(task, sizeof task, text.data, "task") &&
                 (strcmp(task, "compile") == 0 || strcmp(task, "execute") == 0 ||
                  strcmp(task, "time") == 0 || strcmp(task, "verify") == 0 ||
                  strcmp(task, "facts") == 0);
    if (!loads && worker_job(&answer, text.data, text.length) == 0)
        __builtin_trap(); /* there is no other task */
    if (worker_value(value, sizeof value, text.data, "seed") && strlen(value) >= sizeof value)
        __builtin_trap();
    err_clear();
    buf_release(&text);
    buf_release(&answer);
    return 0;
}
