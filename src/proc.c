#include "src/proc.h"

#include "src/fs.h"
#include "src/proc_guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum stream_id { STREAM_OUT, STREAM_ERR, STREAM_CHANNEL, STREAM_STATUS, STREAM_COUNT };

struct proc {
    struct proc *next;
    pid_t pid; /* also the id of its group; a zombie until note_end has killed the group, so that it
                  is never reused before */
    int streams[STREAM_COUNT]; /* our ends of the pipes; -1 when closed */
    int log;                   /* -1: none */
    int log_errno; /* the log could not be written: our trouble, told when the child has ended */
    int64_t started_ns;
    int64_t deadline_ns; /* INT64_MAX: no limit */
    int64_t kill_at_ns;  /* when TERM turns into KILL; INT64_MAX: not under way */
    int64_t memory_limit_bytes, seen_bytes;
    size_t output_room; /* bytes it may still print */
    struct line_feed {
        size_t start; /* where in the buffer the next line begins */
        void (*tell)(const char *line, void *payload);
    } out_lines, channel_lines;
    void *payload;
    bool killed;  /* by us; result.end says why */
    bool flooded; /* it printed more than it may */
    bool ended;
    struct buf status; /* a struct start_failure when it could not become the program */
    struct proc_result result;
};

static const int64_t SECOND_NS = 1000000000;
static const int64_t GRACE_NS = 2000000000;
static const int64_t WATCH_NS = 100000000;
enum { FIRST_HIGH_FD = 10, CHANNEL_FD = 3, READ_BYTES = 65536 };

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

/* The child's side, between fork and exec. */

enum call { CALL_SETSID, CALL_PRCTL, CALL_CHDIR, CALL_AFFINITY, CALL_DUP2, CALL_EXEC };
static const char *const call_names[] = {"setsid", "prctl", "chdir", "sched_setaffinity",
                                         "dup2",   "execvp"};

struct start_failure {
    enum call call;
    int error;
};

struct child_ends {
    int in, out, err, channel, status;
};

_Noreturn static void give_up(int status_fd, enum call call)
{
    struct start_failure failure = {.call = call, .error = errno};
    ssize_t written = write(status_fd, &failure, sizeof failure);
    _exit(written == sizeof failure ? 127 : 126);
}

/* Ignored signals and the mask would survive exec. */
static void reset_signals(void)
{
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void pin(const struct child_ends *ends, int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (cpu < CPU_SETSIZE)
        CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        give_up(ends->status, CALL_AFFINITY);
}

static void place(const struct child_ends *ends, int from, int to)
{
    if (dup2(from, to) < 0)
        give_up(ends->status, CALL_DUP2);
}

_Noreturn static void become_child(const struct proc_spec *spec, char **environment,
                                   const struct child_ends *ends, pid_t parent)
{
    reset_signals();
    /* A session of its own, and so a group of its own; without a terminal, ssh and the like fail
     * instead of stopping at a password prompt that nobody sees. */
    if (setsid() < 0)
        give_up(ends->status, CALL_SETSID);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        give_up(ends->status, CALL_PRCTL);
    if (getppid() != parent)
        _exit(127);
    proc_guard_began(getpid());
    if (spec->folder && chdir(spec->folder) != 0)
        give_up(ends->status, CALL_CHDIR);
    if (spec->cpu >= 0)
        pin(ends, spec->cpu);
    place(ends, ends->in, 0);
    place(ends, ends->out, 1);
    place(ends, ends->err, 2);
    if (spec->channel)
        place(ends, ends->channel, CHANNEL_FD);
    /* Descriptors that we inherited ourselves, or a library opened, may lack close-on-exec. */
    close_range(spec->channel ? CHANNEL_FD + 1 : CHANNEL_FD, ~0U, CLOSE_RANGE_CLOEXEC);
    environ = environment;
    execvp(spec->argv[0], (char *const *)spec->argv);
    give_up(ends->status, CALL_EXEC);
}

/* The parent's side of a start. */

static bool same_name(const char *left, const char *right)
{
    size_t length = strcspn(left, "=");
    return length == strcspn(right, "=") && strncmp(left, right, length) == 0;
}

static bool is_changed(const char *entry, const char *const *changes)
{
    for (; *changes; changes++)
        if (same_name(entry, *changes))
            return true;
    return false;
}

/* Our environment with the changes made; the texts are borrowed. */
static char **make_environment(const char *const *changes)
{
    static const char *const none[] = {NULL};
    if (!changes)
        changes = none;
    size_t count = 0, used = 0;
    for (char **e = environ; *e; e++)
        count++;
    for (const char *const *c = changes; *c; c++)
        count++;
    char **made = xcalloc(count + 1, sizeof *made);
    for (char **e = environ; *e; e++)
        if (!is_changed(*e, changes))
            made[used++] = *e;
    for (const char *const *c = changes; *c; c++)
        if (strchr(*c, '=') && !is_changed(*c, c + 1))
            made[used++] = (char *)*c;
    return made;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Out of the way of 0-3, which the child fills with dup2. */
static int move_high(int *fd)
{
    if (*fd >= FIRST_HIGH_FD)
        return 0;
    int high = fcntl(*fd, F_DUPFD_CLOEXEC, FIRST_HIGH_FD);
    if (high < 0)
        return err_set(ERR_IO, "moving a descriptor:");
    close(*fd);
    *fd = high;
    return 0;
}

static int make_pipe(int *ours, int *theirs)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_set(ERR_IO, "making a pipe for a child:");
    *ours = ends[0];
    *theirs = ends[1];
    int status = move_high(ours);
    if (status == 0)
        status = move_high(theirs);
    if (status == 0 && fcntl(*ours, F_SETFL, O_NONBLOCK) != 0)
        status = err_set(ERR_IO, "making a pipe for a child:");
    return status;
}

/* The input is a file in memory: nothing to feed in the loop, no SIGPIPE when the child does not
 * read it. */
static int make_input(int *fd, const struct proc_spec *spec)
{
    *fd =
        spec->input ? memfd_create("input", MFD_CLOEXEC) : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (*fd < 0)
        return err_set(ERR_IO, "making the input of a child:");
    for (size_t done = 0; spec->input && done < spec->input_bytes;) {
        ssize_t written = write(*fd, spec->input + done, spec->input_bytes - done);
        if (written < 0 && errno != EINTR)
            return err_set(ERR_IO, "making the input of a child:");
        done += written > 0 ? (size_t)written : 0;
    }
    if (spec->input && lseek(*fd, 0, SEEK_SET) != 0)
        return err_set(ERR_IO, "making the input of a child:");
    return move_high(fd);
}

static int make_ends(struct proc *p, struct child_ends *ends, const struct proc_spec *spec)
{
    int status = make_input(&ends->in, spec);
    if (status == 0)
        status = make_pipe(&p->streams[STREAM_OUT], &ends->out);
    if (status == 0 && spec->merge_output)
        ends->err = ends->out;
    else if (status == 0)
        status = make_pipe(&p->streams[STREAM_ERR], &ends->err);
    if (status == 0 && spec->channel)
        status = make_pipe(&p->streams[STREAM_CHANNEL], &ends->channel);
    if (status == 0)
        status = make_pipe(&p->streams[STREAM_STATUS], &ends->status);
    if (status == 0 && spec->log_path) {
        p->log = open(spec->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (p->log < 0)
            status = err_set(ERR_IO, "%s: %s", spec->log_path, strerror(errno));
    }
    return status;
}

static void close_ends(struct child_ends *ends)
{
    if (ends->err == ends->out)
        ends->err = -1;
    close_fd(&ends->in);
    close_fd(&ends->out);
    close_fd(&ends->err);
    close_fd(&ends->channel);
    close_fd(&ends->status);
}

/* Signals wait while there are two of us: a TERM for the child must not reach our handler in its
 * copy of us. */
static void fork_child(struct proc *p, const struct proc_spec *spec, const struct child_ends *ends)
{
    char **environment = make_environment(spec->environment);
    pid_t parent = getpid();
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    p->started_ns = proc_now_ns();
    p->pid = fork();
    if (p->pid == 0)
        become_child(spec, environment, ends, parent);
    int fork_errno = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    free(environment);
    if (p->pid < 0) {
        p->result.end = PROC_NOT_STARTED;
        p->result.code = fork_errno;
        p->result.failed_call = "fork";
        p->ended = true;
    }
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
        close_fd(&p->streams[id]);
    close_fd(&p->log);
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
        status = make_ends(p, &ends, spec);
    if (status == 0)
        fork_child(p, spec, &ends);
    close_ends(&ends);
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
            close_fd(&p->log);
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
        close_fd(&p->streams[id]);
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
        r->failed_call = call_names[failure.call];
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

/* Words and small questions. */

static void describe_signal(char *text, size_t size, int number)
{
    const char *name = sigabbrev_np(number);
    if (name)
        snprintf(text, size, "killed by SIG%s", name);
    else
        snprintf(text, size, "killed by signal %d", number);
}

static void describe_start(char *text, size_t size, const struct proc_result *r,
                           const char *program)
{
    bool exec = strcmp(r->failed_call, call_names[CALL_EXEC]) == 0;
    snprintf(text, size, "cannot start %s: %s%s%s", program, exec ? "" : r->failed_call,
             exec ? "" : ": ", strerror(r->code));
}

const char *proc_describe(char *text, size_t size, const struct proc_result *r, const char *program)
{
    switch (r->end) {
    case PROC_EXITED:
        snprintf(text, size, "exit %d", r->code);
        break;
    case PROC_SIGNALED:
        describe_signal(text, size, r->code);
        break;
    case PROC_TIMED_OUT:
        snprintf(text, size, "timed out after %.1f s", (double)r->wall_ns / 1e9);
        break;
    case PROC_OVER_MEMORY:
        snprintf(text, size, "killed at its memory limit (peak %.0f MiB)",
                 (double)r->peak_bytes / (1 << 20));
        break;
    case PROC_OVER_OUTPUT:
        snprintf(text, size, "killed at its output limit");
        break;
    case PROC_NOT_STARTED:
        describe_start(text, size, r, program);
        break;
    case PROC_CANCELLED:
        snprintf(text, size, "cancelled");
        break;
    }
    return text;
}

static bool is_program(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

bool proc_have_program(const char *name)
{
    const char *folder = getenv("PATH");
    if (strchr(name, '/') || !folder)
        return is_program(name);
    for (;; folder++) {
        int length = (int)strcspn(folder, ":");
        char path[4096];
        snprintf(path, sizeof path, "%.*s/%s", length > 0 ? length : 1, length > 0 ? folder : ".",
                 name);
        if (is_program(path))
            return true;
        folder += length;
        if (*folder == '\0')
            return false;
    }
}

int proc_cpu_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}
