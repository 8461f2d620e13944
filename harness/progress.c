#include "harness/progress.h"

#include "src/proc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const int64_t SECOND_NS = 1000000000;

/* One display a process, as there is one standard error. */
static struct {
    bool quiet, active, drawn;
    char what[64], step[256];
    int64_t done, total, started_ns, shown_ns;
} state;

static bool on_terminal(void)
{
    return isatty(STDERR_FILENO);
}

static int terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

static void erase_line(void)
{
    if (state.drawn)
        fputs("\r\033[K", stderr);
    state.drawn = false;
}

/* "12/80, about 40 s left": the estimate is the mean of the work done so far, given once a
 * twentieth is done. */
static void describe_count(char *text, size_t size)
{
    if (state.total <= 0) {
        text[0] = '\0';
        if (state.done > 0)
            snprintf(text, size, "%lld", (long long)state.done);
        return;
    }
    int64_t spent = proc_now_ns() - state.started_ns;
    if (state.done * 20 < state.total || state.done == 0 || spent < 2 * SECOND_NS) {
        snprintf(text, size, "%lld/%lld", (long long)state.done, (long long)state.total);
        return;
    }
    double left = (double)spent / (double)state.done * (double)(state.total - state.done) / 1e9;
    snprintf(text, size, "%lld/%lld, about %.0f s left", (long long)state.done,
             (long long)state.total, left);
}

static void show(bool force)
{
    int64_t now = proc_now_ns();
    int64_t every = on_terminal() ? SECOND_NS / 10 : SECOND_NS;
    if (state.quiet || !state.active || (!force && now - state.shown_ns < every))
        return;
    state.shown_ns = now;
    char count[96], line[512];
    describe_count(count, sizeof count);
    snprintf(line, sizeof line, "%s%s%s%s%s", state.what, count[0] ? " " : "", count,
             state.step[0] ? ": " : "", state.step);
    if (on_terminal()) {
        erase_line();
        fprintf(stderr, "%.*s", terminal_width() - 1, line);
        state.drawn = true;
    } else {
        fprintf(stderr, "%s\n", line);
    }
    fflush(stderr);
}

void progress_quiet(bool quiet)
{
    state.quiet = quiet;
}

void progress_begin(const char *what, int64_t total)
{
    progress_end();
    snprintf(state.what, sizeof state.what, "%s", what);
    state.step[0] = '\0';
    state.done = 0;
    state.total = total;
    state.started_ns = proc_now_ns();
    state.shown_ns = 0;
    state.active = true;
}

void progress_step(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(state.step, sizeof state.step, format, args);
    va_end(args);
    show(false);
}

void progress_done(void)
{
    state.done++;
    show(false);
}

void progress_end(void)
{
    erase_line();
    fflush(stderr);
    state.active = false;
}

void progress_note(const char *format, ...)
{
    if (state.quiet)
        return;
    erase_line();
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    show(true);
}
