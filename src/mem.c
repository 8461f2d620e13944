#include "src/mem.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define ONE_MALLOC_EACH 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ONE_MALLOC_EACH 1
#endif
#endif
#ifndef ONE_MALLOC_EACH
#define ONE_MALLOC_EACH 0
#endif

enum { BLOCK_BYTES = 64 * 1024, ALIGNMENT = _Alignof(max_align_t) };

struct arena_block {
    struct arena_block *older;
    size_t used, size; /* bytes of `data` */
    _Alignas(max_align_t) char data[];
};

void *xmalloc(size_t size)
{
    void *p = malloc(size ? size : 1);
    if (!p)
        die("out of memory (%zu bytes)", size);
    return p;
}

void *xcalloc(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size ? size : 1);
    if (!p)
        die("out of memory (%zu times %zu bytes)", count, size);
    return p;
}

void *xrealloc(void *old, size_t size)
{
    void *p = realloc(old, size ? size : 1);
    if (!p)
        die("out of memory (%zu bytes)", size);
    return p;
}

char *xstrdup(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(xmalloc(size), text, size);
}

void mem_free_ptr(void *pointer_to_pointer)
{
    void **pointer = pointer_to_pointer;
    free(*pointer);
    *pointer = NULL;
}

static void add_block(struct arena *a, size_t size)
{
    size_t room = ONE_MALLOC_EACH || size > BLOCK_BYTES ? size : BLOCK_BYTES;
    struct arena_block *block = xcalloc(1, sizeof *block + room);
    block->older = a->blocks;
    block->size = room;
    a->blocks = block;
}

void *arena_alloc(struct arena *a, size_t size)
{
    if (size > SIZE_MAX / 2)
        die("out of memory (%zu bytes)", size);
    size_t rounded =
        ONE_MALLOC_EACH ? size + !size : (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (!a->blocks || ONE_MALLOC_EACH || a->blocks->size - a->blocks->used < rounded)
        add_block(a, rounded);
    void *p = a->blocks->data + a->blocks->used;
    a->blocks->used += rounded;
    return p;
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        die("out of memory (%zu times %zu bytes)", count, size);
    return arena_alloc(a, bytes);
}

char *arena_strndup(struct arena *a, const char *text, size_t length)
{
    char *copy = arena_alloc(a, length + 1);
    memcpy(copy, text, length);
    return copy;
}

char *arena_strdup(struct arena *a, const char *text)
{
    return arena_strndup(a, text, strlen(text));
}

char *arena_vprintf(struct arena *a, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    if (length < 0)
        bug("a format that cannot be printed: %s", format);
    char *text = arena_alloc(a, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *arena_printf(struct arena *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = arena_vprintf(a, format, args);
    va_end(args);
    return text;
}

void arena_release(struct arena *a)
{
    while (a->blocks) {
        struct arena_block *older = a->blocks->older;
        free(a->blocks);
        a->blocks = older;
    }
}

static int by_text(const void *left, const void *right, void *texts)
{
    const char *const *text = texts;
    size_t l = *(const size_t *)left, r = *(const size_t *)right;
    int order = strcmp(text[l], text[r]);
    return order ? order : (l > r) - (l < r);
}

size_t *mem_first_places(const char *const *texts, size_t count)
{
    size_t *sorted = xcalloc(count + 1, sizeof *sorted), *first = xcalloc(count + 1, sizeof *first);
    for (size_t i = 0; i < count; i++)
        sorted[i] = i;
    qsort_r(sorted, count, sizeof *sorted, by_text, (void *)texts);
    for (size_t i = 0; i < count; i++) {
        bool repeat = i > 0 && strcmp(texts[sorted[i]], texts[sorted[i - 1]]) == 0;
        first[sorted[i]] = repeat ? first[sorted[i - 1]] : sorted[i];
    }
    free(sorted);
    return first;
}
