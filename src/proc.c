#include "src/proc_internal.h"

#include "src/proc_guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int64_t SECOND_NS = 1000000000;
static const int64_t GRACE_NS = 2000000000;
static const int64_t WATCH_NS = 100000000;
enum { READ_BYTES = 65536 };

static struct {
    pid_t owner; /* a fork of ours (a test) starts with an empty loop */
    struct proc *first;
    int wake[2]; /* the self-pipe: signal handlers write, poll sees */
    int64_t next_watch_ns;
} loop;

static volatile sig_atomic_t interrupts;

int64_t proc_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * SECOND_NS + t.tv_nsec;
}

int64_t proc_wall_clock_s(void)
{
    return time(NULL);
}

/* Signals of ours. */

static void on_signal(int number)
{
    int saved = errno;
    if (number != SIGCHLD)
        interrupts = interrupts + 1;
    /* The pipe does not block: when it is full, the loop wakes anyway. */
    if (write(loop.wake[1], "", 1) < 0)
        errno = saved;
    errno = saved;
}

static void catch_signal(int number, int flags)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

static void kill_all_at_exit(void)
{
    if (loop.owner != getpid())
        return;
    for (struct proc *p = loop.first; p; p = p->next)
        if (!p->ended)
            kill(-p->pid, SIGKILL);
    proc_guard_leave();
}

static void prepare_loop(void)
{
    if (loop.owner == getpid())
        return;
    if (loop.owner == 0)
        atexit(kill_all_at_exit);
    loop.owner = getpid();
    loop.first = NULL;
    interrupts = 0;
    if (pipe2(loop.wake, O_CLOEXEC | O_NONBLOCK) != 0)
        die("pipe2: %s", strerror(errno));
    catch_signal(SIGCHLD, SA_RESTART | SA_NOCLDSTOP);
}

void proc_catch_signals(void)
{
    prepare_loop();
    /* No SA_RESTART: whoever waits for a lock is to be interrupted. */
    catch_signal(SIGINT, 0);
    catch_signal(SIGTERM, 0);
}

bool proc_interrupted(void)
{
    return interrupts > 0;
}

static struct proc *new_ticket(const struct proc_spec *spec)
{
    struct proc *p = xcalloc(1, sizeof *p);
    size_t limit = spec->output_limit_bytes > 0 ? (size_t)spec->output_limit_bytes : BUF_MAX_FILE;
    *p = (struct proc){.streams = {-1, -1, -1, -1},
                       .log = -1,
                       .deadline_ns = INT64_MAX,
                       .kill_at_ns = INT64_MAX,
                       .memory_limit_bytes = spec->memory_limit_bytes,
                       .output_room = limit,
                       .out_lines.tell = spec->on_line,
                       .channel_lines.tell = spec->on_channel_line,
                       .payload = spec->payload};
    buf_init(&p->status, sizeof(struct start_failure));
    buf_init(&p->result.out, limit);
    buf_init(&p->result.err, limit);
    buf_init(&p->result.channel, limit);
    return p;
}

static void close_streams(struct proc *p)
{
    for (int id = 0; id < STREAM_COUNT; id++)
        proc__close_fd(&p->streams[id]);
    proc__close_fd(&p->log);
}

static void free_ticket(struct proc *p)
{
    close_streams(p);
    buf_release(&p->status);
    proc_result_release(&p->result);
    free(p);
}

static struct proc **end_of_list(void)
{
    struct proc **at = &loop.first;
    while (*at)
        at = &(*at)->next;
    return at;
}

static void set_deadline(struct proc *p, int64_t wall_limit_ns)
{
    p->deadline_ns = wall_limit_ns > 0 ? p->started_ns + wall_limit_ns : INT64_MAX;
}

void proc_extend(struct proc *p, int64_t wall_limit_ns)
{
    p->started_ns = proc_now_ns();
    set_deadline(p, wall_limit_ns);
}

int proc_start(struct proc **out, const struct proc_spec *spec)
{
    prepare_loop();
    *out = NULL;
    if (proc_interrupted())
        return err_set(ERR_INTERRUPTED, "interrupted");
    struct proc *p = new_ticket(spec);
    struct child_ends ends = {-1, -1, -1, -1, -1};
    int status = proc_guard_start();
    if (status == 0)
        status = proc__make_ends(p, &ends, spec);
    if (status == 0)
        proc__fork(p, spec, &ends);
    proc__close_ends(&ends);
    if (status < 0) {
        free_ticket(p);
        return status;
    }
    if (p->ended)
        close_streams(p);
    set_deadline(p, spec->wall_limit_ns);
    *end_of_list() = p;
    *out = p;
    return 0;
}

/* Killing. */

static void signal_group(const struct proc *p, int number)
{
    /* Before its setsid the child has no group yet, and no children either. */
    if (kill(-p->pid, number) != 0 && errno == ESRCH)
        kill(p->pid, number);
}

/* The first reason stands. */
static void kill_group(struct proc *p, enum proc_end reason)
{
    if (p->killed || p->ended)
        return;
    p->killed = true;
    p->result.end = reason;
    p->kill_at_ns = proc_now_ns() + GRACE_NS;
    signal_group(p, SIGTERM);
    signal_group(p, SIGCONT);
}

void proc_cancel(struct proc *p)
{
    p->out_lines.tell = p->channel_lines.tell = NULL;
    kill_group(p, PROC_CANCELLED);
}

/* What it prints. */

static void tell_lines(struct line_feed *feed, struct buf *from, void *payload)
{
    char *newline;
    while (feed->tell &&
           (newline = memchr(from->data + feed->start, '\n', from->length - feed->start))) {
        *newline = '\0';
        feed->tell(from->data + feed->start, payload);
        *newline = '\n';
        feed->start = (size_t)(newline - from->data) + 1;
    }
}

static void append_log(struct proc *p, const char *bytes, size_t length)
{
    while (length > 0 && p->log >= 0) {
        ssize_t written = write(p->log, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            p->log_errno = errno;
            proc__close_fd(&p->log);
            kill_group(p, PROC_CANCELLED);
            return;
        }
        bytes += written;
        length -= (size_t)written;
    }
}

static void take_output(struct proc *p, enum stream_id id, const char *bytes, size_t length)
{
    struct buf *const into[] = {&p->result.out, &p->result.err, &p->result.channel, &p->status};
    if (id == STREAM_STATUS) {
        buf_add(&p->status, bytes, length);
        return;
    }
    size_t kept = length < p->output_room ? length : p->output_room;
    buf_add(into[id], bytes, kept);
    p->output_room -= kept;
    if (id != STREAM_CHANNEL)
        append_log(p, bytes, kept);
    if (kept < length) {
        p->flooded = true;
        kill_group(p, PROC_OVER_OUTPUT);
    }
    if (id == STREAM_OUT)
        tell_lines(&p->out_lines, &p->result.out, p->payload);
    if (id == STREAM_CHANNEL)
        tell_lines(&p->channel_lines, &p->result.channel, p->payload);
}

/* One read; false when there is nothing more for now. */
static bool read_stream(struct proc *p, enum stream_id id)
{
    char bytes[READ_BYTES];
    if (p->streams[id] < 0)
        return false;
    ssize_t got = read(p->streams[id], bytes, sizeof bytes);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return errno == EINTR;
    if (got <= 0) {
        proc__close_fd(&p->streams[id]);
        return false;
    }
    take_output(p, id, bytes, (size_t)got);
    return true;
}

/* Memory. */

/* Group and resident bytes of one process; false when it is gone. See proc(5): fields 5 and 24 of
 * stat. */
static bool read_stat(pid_t *group, int64_t *bytes, int proc_folder, const char *name)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "%.20s/stat", name);
    int fd = openat(proc_folder, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    text[length > 0 ? length : 0] = '\0';
    char *field = strrchr(text, ')'); /* the name before it may hold anything */
    for (int i = 3; field && i <= 24; i++) {
        field = strchr(field + 1, ' ');
        if (field && i == 5)
            *group = (pid_t)strtol(field, NULL, 10);
    }
    if (field)
        *bytes = strtoll(field, NULL, 10) * sysconf(_SC_PAGESIZE);
    return field != NULL;
}

static bool is_watched(const struct proc *p)
{
    /* Until exec it is a copy of us, with our memory. */
    return p->memory_limit_bytes > 0 && !p->ended && p->streams[STREAM_STATUS] < 0;
}

static void add_to_groups(pid_t group, int64_t bytes)
{
    for (struct proc *p = loop.first; p; p = p->next)
        if (p->pid == group && is_watched(p))
            p->seen_bytes += bytes;
}

static void scan_memory(void)
{
    DIR *folder = opendir("/proc");
    if (!folder)
        return;
    for (struct dirent *entry; (entry = readdir(folder));) {
        pid_t group = 0;
        int64_t bytes = 0;
        bool is_process = entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
        if (is_process && read_stat(&group, &bytes, dirfd(folder), entry->d_name))
            add_to_groups(group, bytes);
    }
    closedir(folder);
}

static bool any_watched(void)
{
    for (struct proc *p = loop.first; p; p = p->next)
        if (is_watched(p))
            return true;
    return false;
}

static void watch_memory(int64_t now_ns)
{
    if (now_ns < loop.next_watch_ns || !any_watched())
        return;
    loop.next_watch_ns = now_ns + WATCH_NS;
    for (struct proc *p = loop.first; p; p = p->next)
        p->seen_bytes = 0;
    scan_memory();
    for (struct proc *p = loop.first; p; p = p->next) {
        if (p->seen_bytes > p->result.peak_bytes)
            p->result.peak_bytes = p->seen_bytes;
        if (is_watched(p) && p->seen_bytes > p->memory_limit_bytes)
            kill_group(p, PROC_OVER_MEMORY);
    }
}

/* Ends. */

static int64_t timeval_ns(struct timeval t)
{
    return t.tv_sec * SECOND_NS + t.tv_usec * 1000;
}

static void reap(struct proc *p)
{
    int status = 0;
    struct rusage usage = {0};
    while (wait4(p->pid, &status, 0, &usage) < 0 && errno == EINTR)
        continue;
    struct proc_result *r = &p->result;
    r->wall_ns = proc_now_ns() - p->started_ns;
    r->user_ns = timeval_ns(usage.ru_utime);
    r->system_ns = timeval_ns(usage.ru_stime);
    if (usage.ru_maxrss * 1024L > r->peak_bytes)
        r->peak_bytes = usage.ru_maxrss * 1024L;
    if (p->status.length == sizeof(struct start_failure)) {
        struct start_failure failure;
        memcpy(&failure, p->status.data, sizeof failure);
        r->end = PROC_NOT_STARTED;
        r->code = failure.error;
        r->failed_call = proc__call_name(failure.call);
    } else if (!p->killed) {
        r->end = WIFEXITED(status) ? PROC_EXITED : PROC_SIGNALED;
        r->code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
    }
    p->ended = true;
}

/* When the leader has ended: what is left of its group is killed at once, what they had printed is
 * read, and pipes that a process outside the group keeps open are not waited for. The leader stays
 * a zombie meanwhile, so that its id is its own. */
static void note_end(struct proc *p)
{
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
        return;
    signal_group(p, SIGKILL);
    for (int id = 0; id < STREAM_COUNT; id++)
        while (!p->flooded && read_stream(p, id))
            continue;
    while (read_stream(p, STREAM_STATUS))
        continue;
    close_streams(p);
    proc_guard_ended(p->pid);
    reap(p);
}

static void enforce(struct proc *p, int64_t now_ns)
{
    if (now_ns >= p->deadline_ns)
        kill_group(p, PROC_TIMED_OUT);
    if (interrupts > 0)
        kill_group(p, PROC_CANCELLED);
    /* A second Ctrl-C ends the grace. */
    if (now_ns >= p->kill_at_ns || (p->killed && interrupts > 1)) {
        signal_group(p, SIGKILL);
        p->kill_at_ns = INT64_MAX;
    }
}

/* The loop. */

static int64_t sooner(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Milliseconds for poll until the next thing that is due; -1: nothing is. */
static int next_timeout_ms(int64_t until_ns)
{
    int64_t due = until_ns;
    for (struct proc *p = loop.first; p; p = p->next)
        if (!p->ended)
            due = sooner(due, sooner(p->kill_at_ns, p->killed ? INT64_MAX : p->deadline_ns));
    if (any_watched())
        due = sooner(due, loop.next_watch_ns);
    if (due == INT64_MAX)
        return -1;
    int64_t left_ms = (due - proc_now_ns() + 999999) / 1000000;
    return left_ms < 0 ? 0 : left_ms > 1000000 ? 1000000 : (int)left_ms;
}

static size_t count_tickets(bool also_ended)
{
    size_t count = 0;
    for (struct proc *p = loop.first; p; p = p->next)
        count += also_ended || !p->ended;
    return count;
}

/* Closed streams have descriptor -1, which poll skips. */
static size_t list_descriptors(struct pollfd *fds)
{
    size_t count = 0;
    fds[count++] = (struct pollfd){.fd = loop.wake[0], .events = POLLIN};
    for (struct proc *p = loop.first; p; p = p->next)
        for (int id = 0; id < STREAM_COUNT; id++)
            fds[count++] = (struct pollfd){.fd = p->streams[id], .events = POLLIN};
    return count;
}

static void read_ready(const struct pollfd *fds)
{
    char bytes[64];
    while (read(loop.wake[0], bytes, sizeof bytes) > 0)
        continue;
    const struct pollfd *fd = fds + 1;
    for (struct proc *p = loop.first; p; p = p->next)
        for (int id = 0; id < STREAM_COUNT; id++, fd++)
            if (fd->fd >= 0 && fd->revents)
                read_stream(p, id);
}

/* Wait for something to happen, at most until `until_ns`, and deal with it. */
static void turn(int64_t until_ns)
{
    CLEANUP(mem_free_ptr)
    struct pollfd *fds = xcalloc(1 + STREAM_COUNT * count_tickets(true), sizeof *fds);
    size_t count = list_descriptors(fds);
    if (poll(fds, count, next_timeout_ms(until_ns)) > 0)
        read_ready(fds);
    watch_memory(proc_now_ns());
    for (struct proc *p = loop.first; p; p = p->next) {
        if (!p->ended)
            note_end(p);
        if (!p->ended)
            enforce(p, proc_now_ns());
    }
}

static int finish_interrupted(void)
{
    while (count_tickets(false) > 0)
        turn(INT64_MAX);
    return err_set(ERR_INTERRUPTED, "interrupted");
}

/* Move the result out and forget the ticket. */
static void take_result(struct proc_result *result, struct proc *p)
{
    struct proc **at = &loop.first;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    *result = p->result;
    p->result = (struct proc_result){0};
    free_ticket(p);
}

static int log_trouble(const struct proc *p)
{
    return p->log_errno ? err_set(ERR_IO, "writing a log: %s", strerror(p->log_errno)) : 0;
}

int proc_run(struct proc_result *out, const struct proc_spec *spec)
{
    *out = (struct proc_result){0};
    struct proc *p;
    int status = proc_start(&p, spec);
    if (status < 0)
        return status;
    while (!p->ended)
        turn(INT64_MAX);
    status = proc_interrupted() ? finish_interrupted() : log_trouble(p);
    take_result(out, p);
    return status;
}

static struct proc *first_ended(void)
{
    struct proc *p = loop.first;
    while (p && !p->ended)
        p = p->next;
    return p;
}

int proc_wait_any(struct proc **ended, struct proc_result *result, int64_t timeout_ns)
{
    prepare_loop();
    *ended = NULL;
    *result = (struct proc_result){0};
    if (timeout_ns < 0 && !loop.first)
        bug("waiting for ever for no child");
    int64_t until_ns = timeout_ns < 0 ? INT64_MAX : proc_now_ns() + timeout_ns;
    for (bool last = false;; turn(until_ns)) {
        if (proc_interrupted())
            return finish_interrupted();
        struct proc *p = first_ended();
        /* On trouble the ticket stays, so that the caller may still name it. */
        if (p && p->log_errno)
            return log_trouble(p);
        if (p) {
            *ended = p;
            take_result(result, p);
            return 0;
        }
        if (last)
            return 0;
        last = proc_now_ns() >= until_ns;
    }
}

size_t proc_running(void)
{
    return loop.owner == getpid() ? count_tickets(true) : 0;
}

void proc_result_release(struct proc_result *r)
{
    buf_release(&r->out);
    buf_release(&r->err);
    buf_release(&r->channel);
}
