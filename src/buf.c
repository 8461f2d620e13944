#include "src/buf.h"

#include "src/mem.h"

#include <stdio.h>
#include <string.h>

enum { FIRST_BYTES = 64 };

void buf_init(struct buf *b, size_t max_bytes)
{
    *b = (struct buf){.data = xmalloc(FIRST_BYTES), .capacity = FIRST_BYTES, .max_bytes = max_bytes};
    b->data[0] = '\0';
}

void buf_release(struct buf *b)
{
    free(b->data);
    *b = (struct buf){0};
}

void buf_clear(struct buf *b)
{
    b->length = 0;
    b->overflowed = false;
    b->data[0] = '\0';
}

/* Room for `length` more bytes and the NUL, doubling so that adding n bytes one by one costs O(n). */
static void grow(struct buf *b, size_t length)
{
    size_t needed = b->length + length + 1;
    if (needed <= b->capacity)
        return;
    size_t capacity = b->capacity;
    while (capacity < needed)
        capacity *= 2;
    b->data = xrealloc(b->data, capacity);
    b->capacity = capacity;
}

void buf_add(struct buf *b, const void *bytes, size_t length)
{
    size_t room = b->max_bytes - b->length;
    if (length > room) {
        length = room;
        b->overflowed = true;
    }
    if (length == 0)
        return;
    grow(b, length);
    memcpy(b->data + b->length, bytes, length);
    b->length += length;
    b->data[b->length] = '\0';
}

void buf_add_text(struct buf *b, const char *text)
{
    buf_add(b, text, strlen(text));
}

void buf_add_char(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

void buf_vprintf(struct buf *b, const char *format, va_list args)
{
    char small[512];
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(small, sizeof small, format, args);
    if (length < 0)
        bug("a format that cannot be printed: %s", format);
    if ((size_t)length < sizeof small) {
        buf_add(b, small, (size_t)length);
    } else {
        char *large = xmalloc((size_t)length + 1);
        vsnprintf(large, (size_t)length + 1, format, again);
        buf_add(b, large, (size_t)length);
        free(large);
    }
    va_end(again);
}

void buf_printf(struct buf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_vprintf(b, format, args);
    va_end(args);
}

void buf_consume(struct buf *b, size_t length)
{
    if (length > b->length)
        bug("%zu bytes taken of %zu", length, b->length);
    memmove(b->data, b->data + length, b->length - length + 1);
    b->length -= length;
}

int buf_check(const struct buf *b, const char *what)
{
    if (!b->overflowed)
        return 0;
    return err_set(ERR_LIMIT, "%s is larger than %zu bytes", what, b->max_bytes);
}
