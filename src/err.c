#include "src/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Long enough for all faults of a configuration file; what is longer is cut. */
enum { MESSAGE_BYTES = 65536 };

static char message[MESSAGE_BYTES];
static int code;

int err_set(int new_code, const char *format, ...)
{
    int saved = errno;
    char text[MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t length = strlen(format);
    if (length > 0 && format[length - 1] == ':')
        snprintf(message, sizeof message, "%.*s %s", MESSAGE_BYTES / 2, text, strerror(saved));
    else
        memcpy(message, text, sizeof message);
    code = new_code;
    return new_code;
}

int err_wrap(const char *format, ...)
{
    static char cause[MESSAGE_BYTES];
    memcpy(cause, message, sizeof cause);
    va_list args;
    va_start(args, format);
    int used = vsnprintf(message, sizeof message, format, args);
    va_end(args);
    size_t place = used < 0 ? 0 : strnlen(message, MESSAGE_BYTES - 3);
    size_t length = strnlen(cause, MESSAGE_BYTES - 3 - place);
    memcpy(message + place, ": ", 2);
    memcpy(message + place + 2, cause, length);
    message[place + 2 + length] = '\0';
    return code;
}

const char *err_message(void)
{
    return message;
}

int err_code(void)
{
    return code;
}

void err_clear(void)
{
    message[0] = '\0';
    code = 0;
}

void die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("assay: ", stderr);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(128);
}

void err__bug(const char *file, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "assay: broken invariant at %s:%d: ", file, line);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    abort();
}
