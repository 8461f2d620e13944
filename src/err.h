/* err: what went wrong with ourselves, in one message.
 *
 * Three channels for trouble, never mixed:
 *   - the outcome of an experiment (a build failed, a result is wrong) is a value in some struct, never an error;
 *   - trouble of our own (a file cannot be read) is a negative int with one message, set here;
 *   - a broken invariant is a bug(): it aborts with file and line.
 *
 * The deepest function sets the message with err_set; callers add the place with err_wrap and never replace the
 * cause. Only harness/main and harness/commands print it. The record is one per process: assay has one thread.
 */
#ifndef ASSAY_ERR_H
#define ASSAY_ERR_H

#define MUST_USE __attribute__((warn_unused_result))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a), nonnull(f)))

enum err_code {
    ERR_INVALID = -1,     /* input that makes no sense: text, YAML, options */
    ERR_NOTFOUND = -2,    /* a file, commit, key or tool that is not there */
    ERR_IO = -3,          /* the system refused: errno is in the message */
    ERR_LIMIT = -4,       /* larger than a declared maximum */
    ERR_FOREIGN = -5,     /* a library (libgit2, SQLite, HIP) failed */
    ERR_BUSY = -6,        /* held by somebody else */
    ERR_INTERRUPTED = -7, /* the user pressed Ctrl-C */
};

/* Set the message and return `code`, so that it reads `return err_set(ERR_NOTFOUND, "no commit %s", sha);`.
 * A format that ends in a colon gets the text of errno appended. */
int err_set(int code, const char *format, ...) PRINTF_LIKE(2, 3);

/* Put "<formatted>: " before the message of the error in flight and return its code. */
int err_wrap(const char *format, ...) PRINTF_LIKE(1, 2);

/* The message of the last error ("" if none); valid until the next err_ call. */
const char *err_message(void);

/* The code of the last error, 0 if none. */
int err_code(void);

/* Forget the error: it was expected and handled. */
void err_clear(void);

/* End the process with exit code 128: only for lack of memory and for start-up in children. */
_Noreturn void die(const char *format, ...) PRINTF_LIKE(1, 2);

/* A broken invariant of ours: prints file and line and aborts. */
#define bug(...) err__bug(__FILE__, __LINE__, __VA_ARGS__)
_Noreturn void err__bug(const char *file, int line, const char *format, ...) PRINTF_LIKE(3, 4);

#endif
