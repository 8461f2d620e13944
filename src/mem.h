/* mem: memory by lifetime.
 *
 * Arenas hold everything that dies together (a configuration, a plan, a page); nothing in them is freed singly.
 * A function that takes `struct arena *a` first returns memory of that arena. Lack of memory ends the process
 * with die(): rows are committed job by job, so nothing is lost.
 * Built with address sanitizer each arena block is one malloc, so that overruns are seen.
 */
#ifndef ASSAY_MEM_H
#define ASSAY_MEM_H

#include "src/err.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

struct arena_block;
struct arena {
    struct arena_block *blocks; /* newest first; zero-initialised arenas are valid and empty */
};

/* `size` zeroed bytes, aligned for any type; never NULL. */
void *arena_alloc(struct arena *a, size_t size) MUST_USE;
/* `count` zeroed elements; dies when count * size overflows. */
void *arena_array(struct arena *a, size_t count, size_t size) MUST_USE;
char *arena_strdup(struct arena *a, const char *text) MUST_USE;
char *arena_strndup(struct arena *a, const char *text, size_t length) MUST_USE;
char *arena_printf(struct arena *a, const char *format, ...) MUST_USE PRINTF_LIKE(2, 3);
char *arena_vprintf(struct arena *a, const char *format, va_list args) MUST_USE PRINTF_LIKE(2, 0);
/* Free everything; the arena is empty and usable again. */
void arena_release(struct arena *a);

#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, count, type) ((type *)arena_array((a), (count), sizeof(type)))

/* malloc, realloc and strdup that die rather than return NULL. */
void *xmalloc(size_t size) MUST_USE;
void *xcalloc(size_t count, size_t size) MUST_USE;
void *xrealloc(void *old, size_t size) MUST_USE;
char *xstrdup(const char *text) MUST_USE;

/* Where each of the texts stands first: out[i] is the smallest index with the text of i, so i itself for all but repeats. The caller frees it. n log n. */
size_t *mem_first_places(const char *const *texts, size_t count) MUST_USE;

/* Foreign handles and buffers that leave with their scope: declare them NULL at the top of the function.
 *   CLEANUP(mem_free_ptr) char *text = NULL; */
#define CLEANUP(function) __attribute__((cleanup(function)))
void mem_free_ptr(void *pointer_to_pointer);

/* Give a cleaned-up pointer away: `return TAKE(x);` */
#define TAKE(p) __extension__({ __typeof__(p) taken_ = (p); (p) = NULL; taken_; })

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
