/* buf: growing bytes with a declared maximum, and the building of text.
 *
 * data is always NUL-terminated and never NULL after buf_init, so that it can be used as a C string at once.
 * Going over the maximum is sticky: the excess is dropped, `overflowed` is set, and the caller asks once, at the end.
 */
#ifndef ASSAY_BUF_H
#define ASSAY_BUF_H

#include "src/err.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *data;    /* length bytes and a NUL */
    size_t length; /* bytes in use, without the NUL */
    size_t capacity;
    size_t max_bytes;
    bool overflowed;
};

/* Maxima by purpose, in one place, so that the worst case of each buffer is known. */
enum {
    BUF_MAX_LINE = 1 << 20,     /* one line of a protocol or a message */
    BUF_MAX_FILE = 64 << 20,    /* a text file that we read whole */
    BUF_MAX_REPORT = 256 << 20, /* a report that we write */
    BUF_MAX_CODE = 256 << 20,   /* the code objects of one problem */
};

void buf_init(struct buf *b, size_t max_bytes);
void buf_release(struct buf *b); /* NULL-safe fields; the struct is empty afterwards and needs buf_init again */
void buf_clear(struct buf *b);   /* keeps the memory and the maximum */
void buf_add(struct buf *b, const void *bytes, size_t length);
void buf_add_text(struct buf *b, const char *text);
void buf_add_char(struct buf *b, char c);
void buf_printf(struct buf *b, const char *format, ...) PRINTF_LIKE(2, 3);
void buf_vprintf(struct buf *b, const char *format, va_list args) PRINTF_LIKE(2, 0);
/* Drop `length` bytes from the front. */
void buf_consume(struct buf *b, size_t length);
/* 0, or ERR_LIMIT naming `what` if anything was dropped. */
int buf_check(const struct buf *b, const char *what) MUST_USE;

#endif
