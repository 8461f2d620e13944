#include "src/proc.h"

#include "src/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int64_t SECOND_NS = 1000000000;
static const int64_t GRACE_NS = 2000000000;      /* between TERM and KILL */
static const int64_t MEMORY_EVERY_NS = 100000000; /* how often resident memory is looked at */

enum pipe_name { PIPE_OUT, PIPE_ERR, PIPE_CHANNEL, PIPE_STATUS, PIPE_IN, PIPE_COUNT };

/* What a failed start sends over the status pipe. */
struct start_failure {
    int number; /* errno */
    char call[24];
};

struct proc {
    struct proc *next;
    pid_t pid;
    int pipes[PIPE_COUNT]; /* our ends; -1: closed */
    int log;
    char *input;
    size_t input_bytes, input_written;
    int64_t started_ns, wall_limit_ns, memory_limit_bytes, output_limit_bytes;
    int64_t memory_looked_ns, killed_ns; /* killed_ns: when TERM was sent, 0 if not */
    bool killed_hard, reaped, merge_output;
    int wait_status;
    enum proc_end reason; /* why we kill, when we do */
    bool we_kill;
    size_t line_start; /* in result.out: where the line in hand begins */
    void (*on_line)(const char *line, void *payload);
    void *payload;
    struct start_failure failure;
    struct proc_result result;
};

static struct proc *running;
static int signal_pipe[2] = {-1, -1};
static volatile sig_atomic_t interrupted;

int64_t proc_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * SECOND_NS + t.tv_nsec;
}

int64_t proc_wall_clock_s(void)
{
    return (int64_t)time(NULL);
}

bool proc_interrupted(void)
{
    return interrupted;
}

static void wake(int signal_number)
{
    int saved = errno;
    if (signal_number != SIGCHLD)
        interrupted = 1;
    if (write(signal_pipe[1], "", 1) < 0)
        errno = saved; /* the pipe is full: the loop will wake anyway */
    errno = saved;
}

static void install(int signal_number)
{
    struct sigaction action = {.sa_handler = wake, .sa_flags = SA_RESTART | SA_NOCLDSTOP};
    sigemptyset(&action.sa_mask);
    sigaction(signal_number, &action, NULL);
}

static int open_signal_pipe(void)
{
    if (signal_pipe[0] >= 0)
        return 0;
    if (pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return err_set(ERR_IO, "signal pipe:");
    install(SIGCHLD);
    return 0;
}

void proc_catch_signals(void)
{
    if (open_signal_pipe() < 0)
        die("%s", err_message());
    install(SIGINT);
    install(SIGTERM);
    signal(SIGPIPE, SIG_IGN);
}

size_t proc_running(void)
{
    size_t count = 0;
    for (struct proc *p = running; p; p = p->next)
        count++;
    return count;
}

void proc_result_release(struct proc_result *r)
{
    buf_release(&r->out);
    buf_release(&r->err);
    buf_release(&r->channel);
}

static void close_pipe(int *descriptor)
{
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

static void free_proc(struct proc *p)
{
    for (int i = 0; i < PIPE_COUNT; i++)
        close_pipe(&p->pipes[i]);
    close_pipe(&p->log);
    proc_result_release(&p->result);
    free(p->input);
    free(p);
}

/* In the child: say over the status pipe which call failed, and leave without running anything of the parent's. */
_Noreturn static void give_up(int status_pipe, const char *call)
{
    struct start_failure failure = {.number = errno};
    snprintf(failure.call, sizeof failure.call, "%s", call);
    if (write(status_pipe, &failure, sizeof failure) < 0)
        _exit(126);
    _exit(127);
}

static void change_environment(const char *const *changes)
{
    for (; changes && *changes; changes++) {
        const char *equals = strchr(*changes, '=');
        char name[256];
        snprintf(name, sizeof name, "%.*s", equals ? (int)(equals - *changes) : (int)strlen(*changes), *changes);
        if (equals)
            setenv(name, equals + 1, 1);
        else
            unsetenv(name);
    }
}

static void reset_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    for (int s = 1; s < NSIG; s++)
        signal(s, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* A descriptor for the child that is above 3, so that dup2 onto 0..3 overwrites none that is still needed. */
static int above(int descriptor)
{
    return fcntl(descriptor, F_DUPFD_CLOEXEC, 10);
}

_Noreturn static void become(const struct proc_spec *spec, int ends[PIPE_COUNT], pid_t parent)
{
    int status = above(ends[PIPE_STATUS]);
    setpgid(0, 0);
    reset_signals();
    /* A parent that dies without a word takes its children along. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        give_up(status, "prctl");
    if (getppid() != parent)
        _exit(127);
    int in = above(ends[PIPE_IN]), out = above(ends[PIPE_OUT]);
    int err = spec->merge_output ? out : above(ends[PIPE_ERR]);
    int channel = spec->channel ? above(ends[PIPE_CHANNEL]) : -1;
    if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0 || (channel >= 0 && dup2(channel, 3) < 0))
        give_up(status, "dup2");
    if (channel < 0)
        close(3);
    if (spec->folder && chdir(spec->folder) != 0)
        give_up(status, "chdir");
    if (spec->cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET((size_t)spec->cpu, &set);
        if (sched_setaffinity(0, sizeof set, &set) != 0)
            give_up(status, "sched_setaffinity");
    }
    change_environment(spec->environment);
    execvp(spec->argv[0], (char *const *)spec->argv);
    give_up(status, "execvp");
}

/* One pipe: ours[name] and theirs[name]. Ours does not block. */
static int make_pipe(int *ours, int *theirs, bool child_reads)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_set(ERR_IO, "pipe:");
    *ours = ends[child_reads];
    *theirs = ends[!child_reads];
    fcntl(*ours, F_SETFL, O_NONBLOCK);
    return 0;
}

static int make_pipes(struct proc *p, int theirs[PIPE_COUNT], const struct proc_spec *spec)
{
    int status = make_pipe(&p->pipes[PIPE_OUT], &theirs[PIPE_OUT], false);
    if (status == 0)
        status = make_pipe(&p->pipes[PIPE_STATUS], &theirs[PIPE_STATUS], false);
    if (status == 0 && !spec->merge_output)
        status = make_pipe(&p->pipes[PIPE_ERR], &theirs[PIPE_ERR], false);
    if (status == 0 && spec->channel)
        status = make_pipe(&p->pipes[PIPE_CHANNEL], &theirs[PIPE_CHANNEL], false);
    if (status == 0 && spec->input)
        status = make_pipe(&p->pipes[PIPE_IN], &theirs[PIPE_IN], true);
    if (status == 0 && !spec->input) {
        theirs[PIPE_IN] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        status = theirs[PIPE_IN] < 0 ? err_set(ERR_IO, "/dev/null:") : 0;
    }
    if (status == 0 && spec->log_path) {
        p->log = open(spec->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        status = p->log < 0 ? err_set(ERR_IO, "log %s: %s", spec->log_path, strerror(errno)) : 0;
    }
    return status;
}

static struct proc *new_proc(const struct proc_spec *spec)
{
    struct proc *p = xcalloc(1, sizeof *p);
    for (int i = 0; i < PIPE_COUNT; i++)
        p->pipes[i] = -1;
    p->log = -1;
    p->wall_limit_ns = spec->wall_limit_ns;
    p->memory_limit_bytes = spec->memory_limit_bytes;
    p->output_limit_bytes = spec->output_limit_bytes ? spec->output_limit_bytes : BUF_MAX_FILE;
    p->merge_output = spec->merge_output;
    p->on_line = spec->on_line;
    p->payload = spec->payload;
    if (spec->input) {
        p->input = xmalloc(spec->input_bytes);
        memcpy(p->input, spec->input, spec->input_bytes);
        p->input_bytes = spec->input_bytes;
    }
    /* One read may take the total a little over the limit. */
    size_t room = (size_t)p->output_limit_bytes + BUF_MAX_LINE;
    buf_init(&p->result.out, room);
    buf_init(&p->result.err, room);
    buf_init(&p->result.channel, room);
    return p;
}

int proc_start(struct proc **out, const struct proc_spec *spec)
{
    int theirs[PIPE_COUNT] = {-1, -1, -1, -1, -1};
    int status = open_signal_pipe();
    if (status < 0)
        return status;
    if (interrupted)
        return err_set(ERR_INTERRUPTED, "interrupted");
    struct proc *p = new_proc(spec);
    status = make_pipes(p, theirs, spec);
    if (status == 0) {
        pid_t parent = getpid();
        p->started_ns = proc_now_ns();
        p->pid = fork();
        if (p->pid == 0)
            become(spec, theirs, parent);
        if (p->pid < 0)
            status = err_set(ERR_IO, "fork:");
        else
            setpgid(p->pid, p->pid); /* both sides do it, so that neither can be too late */
    }
    for (int i = 0; i < PIPE_COUNT; i++)
        close_pipe(&theirs[i]);
    if (status < 0) {
        free_proc(p);
        return status;
    }
    p->next = running;
    running = p;
    *out = p;
    return 0;
}

static void kill_group(struct proc *p, enum proc_end reason)
{
    if (p->we_kill)
        return;
    p->we_kill = true;
    p->reason = reason;
    p->killed_ns = proc_now_ns();
    kill(-p->pid, SIGTERM);
}

void proc_cancel(struct proc *p)
{
    kill_group(p, PROC_CANCELLED);
}

static void call_lines(struct proc *p)
{
    struct buf *out = &p->result.out;
    char *newline;
    while (p->on_line && (newline = memchr(out->data + p->line_start, '\n', out->length - p->line_start))) {
        *newline = '\0';
        p->on_line(out->data + p->line_start, p->payload);
        *newline = '\n';
        p->line_start = (size_t)(newline - out->data) + 1;
    }
}

static void write_log(struct proc *p, const char *bytes, size_t length)
{
    while (p->log >= 0 && length > 0) {
        ssize_t written = write(p->log, bytes, length);
        if (written <= 0)
            return; /* a full disk: the result still holds the text */
        bytes += written;
        length -= (size_t)written;
    }
}

static int64_t output_bytes(const struct proc *p)
{
    return (int64_t)(p->result.out.length + p->result.err.length + p->result.channel.length);
}

/* Everything that is there to read on one pipe. */
static void drain(struct proc *p, enum pipe_name name)
{
    enum { READ_BYTES = 65536 };
    struct buf *into = name == PIPE_OUT ? &p->result.out : name == PIPE_ERR ? &p->result.err : &p->result.channel;
    char bytes[READ_BYTES];
    while (p->pipes[name] >= 0) {
        ssize_t got = read(p->pipes[name], bytes, sizeof bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return;
        if (got <= 0) {
            close_pipe(&p->pipes[name]);
            return;
        }
        if (output_bytes(p) <= p->output_limit_bytes)
            buf_add(into, bytes, (size_t)got);
        if (name != PIPE_CHANNEL)
            write_log(p, bytes, (size_t)got);
        if (name == PIPE_OUT)
            call_lines(p);
        if (output_bytes(p) > p->output_limit_bytes) {
            kill_group(p, PROC_OVER_OUTPUT);
            return;
        }
    }
}

static void read_status(struct proc *p)
{
    ssize_t got = read(p->pipes[PIPE_STATUS], &p->failure, sizeof p->failure);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got != sizeof p->failure)
        p->failure.number = 0;
    close_pipe(&p->pipes[PIPE_STATUS]);
}

static void feed(struct proc *p)
{
    while (p->input_written < p->input_bytes) {
        ssize_t written = write(p->pipes[PIPE_IN], p->input + p->input_written, p->input_bytes - p->input_written);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno == EAGAIN)
            return;
        if (written < 0)
            break; /* the child does not want it */
        p->input_written += (size_t)written;
    }
    close_pipe(&p->pipes[PIPE_IN]);
}

/* Resident bytes of every process of the group, from /proc/PID/stat (fields 5 and 24). */
static int64_t group_memory(pid_t group)
{
    DIR *folder = opendir("/proc");
    int64_t pages = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char path[300], line[1024];
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
            continue;
        snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        FILE *f = fopen(path, "re");
        if (!f)
            continue;
        long long its_group = 0, resident = 0;
        char *behind_name = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
        fclose(f);
        if (behind_name &&
            sscanf(behind_name + 1, " %*c %*d %lld %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %*u %*u %lld", &its_group,
                   &resident) == 2 &&
            its_group == group)
            pages += resident;
    }
    if (folder)
        closedir(folder);
    return pages * sysconf(_SC_PAGESIZE);
}

static void watch_limits(struct proc *p, int64_t now)
{
    if (p->wall_limit_ns > 0 && now - p->started_ns >= p->wall_limit_ns)
        kill_group(p, PROC_TIMED_OUT);
    if (p->memory_limit_bytes > 0 && now - p->memory_looked_ns >= MEMORY_EVERY_NS) {
        p->memory_looked_ns = now;
        int64_t bytes = group_memory(p->pid);
        if (bytes > p->result.peak_bytes)
            p->result.peak_bytes = bytes;
        if (bytes > p->memory_limit_bytes)
            kill_group(p, PROC_OVER_MEMORY);
    }
    if (p->we_kill && !p->killed_hard && now - p->killed_ns >= GRACE_NS) {
        p->killed_hard = true;
        kill(-p->pid, SIGKILL);
    }
}

static int64_t to_ns(struct timeval t)
{
    return (int64_t)t.tv_sec * SECOND_NS + (int64_t)t.tv_usec * 1000;
}

/* The leader has ended: what is left of its group is of no use, and may hold our pipes open. */
static void reap(struct proc *p)
{
    struct rusage usage;
    if (p->reaped || wait4(p->pid, &p->wait_status, WNOHANG, &usage) != p->pid)
        return;
    p->reaped = true;
    p->result.wall_ns = proc_now_ns() - p->started_ns;
    p->result.user_ns = to_ns(usage.ru_utime);
    p->result.system_ns = to_ns(usage.ru_stime);
    int64_t peak = (int64_t)usage.ru_maxrss * 1024;
    if (peak > p->result.peak_bytes)
        p->result.peak_bytes = peak;
    kill(-p->pid, SIGKILL);
}

static void conclude(struct proc *p)
{
    struct proc_result *r = &p->result;
    if (p->failure.number) {
        static char call[sizeof p->failure.call];
        memcpy(call, p->failure.call, sizeof call);
        r->end = PROC_NOT_STARTED;
        r->code = p->failure.number;
        r->failed_call = call;
    } else if (p->we_kill) {
        r->end = p->reason;
        r->code = WIFSIGNALED(p->wait_status) ? WTERMSIG(p->wait_status) : WEXITSTATUS(p->wait_status);
    } else if (WIFSIGNALED(p->wait_status)) {
        r->end = PROC_SIGNALED;
        r->code = WTERMSIG(p->wait_status);
    } else {
        r->end = PROC_EXITED;
        r->code = WEXITSTATUS(p->wait_status);
    }
}

/* Move the result out and forget the ticket. */
static void finish(struct proc *p, struct proc_result *result)
{
    for (int name = PIPE_OUT; name <= PIPE_CHANNEL; name++)
        drain(p, (enum pipe_name)name);
    if (p->pipes[PIPE_STATUS] >= 0)
        read_status(p);
    conclude(p);
    *result = p->result;
    p->result.out = p->result.err = p->result.channel = (struct buf){0};
    struct proc **link = &running;
    while (*link != p)
        link = &(*link)->next;
    *link = p->next;
    free_proc(p);
}

/* The time until the next limit, or `until`. */
static int poll_ms(int64_t now, int64_t until)
{
    int64_t next = until;
    for (struct proc *p = running; p; p = p->next) {
        int64_t at[3] = {INT64_MAX, INT64_MAX, INT64_MAX};
        if (p->wall_limit_ns > 0 && !p->we_kill)
            at[0] = p->started_ns + p->wall_limit_ns;
        if (p->memory_limit_bytes > 0)
            at[1] = p->memory_looked_ns + MEMORY_EVERY_NS;
        if (p->we_kill && !p->killed_hard)
            at[2] = p->killed_ns + GRACE_NS;
        for (int i = 0; i < 3; i++)
            next = at[i] < next ? at[i] : next;
    }
    if (next == INT64_MAX)
        return -1;
    int64_t ms = (next - now + 999999) / 1000000;
    return ms < 0 ? 0 : ms > 60000 ? 60000 : (int)ms;
}

struct polled {
    struct proc *p;
    enum pipe_name name;
};

static size_t list_pipes(struct pollfd *fds, struct polled *whose, size_t room)
{
    size_t count = 0;
    fds[count++] = (struct pollfd){.fd = signal_pipe[0], .events = POLLIN};
    for (struct proc *p = running; p; p = p->next) {
        for (int name = 0; name < PIPE_COUNT && count < room; name++) {
            if (p->pipes[name] < 0)
                continue;
            whose[count] = (struct polled){p, (enum pipe_name)name};
            fds[count++] = (struct pollfd){.fd = p->pipes[name], .events = name == PIPE_IN ? POLLOUT : POLLIN};
        }
    }
    return count;
}

static void serve(const struct polled *w)
{
    if (w->p->pipes[w->name] < 0)
        return;
    if (w->name == PIPE_IN)
        feed(w->p);
    else if (w->name == PIPE_STATUS)
        read_status(w->p);
    else
        drain(w->p, w->name);
}

/* One turn of the loop: wait for something, then serve all that is ready. */
static int turn(int64_t until)
{
    size_t room = 1 + PIPE_COUNT * proc_running();
    struct pollfd *fds = xcalloc(room, sizeof *fds);
    struct polled *whose = xcalloc(room, sizeof *whose);
    size_t count = list_pipes(fds, whose, room);
    int ready = poll(fds, count, poll_ms(proc_now_ns(), until));
    int status = ready < 0 && errno != EINTR ? err_set(ERR_IO, "poll:") : 0;
    char drop[64];
    while (ready > 0 && fds[0].revents && read(signal_pipe[0], drop, sizeof drop) > 0)
        continue;
    for (size_t i = 1; ready > 0 && i < count; i++) {
        if (fds[i].revents)
            serve(&whose[i]);
    }
    free(fds);
    free(whose);
    return status;
}

static struct proc *find_ended(void)
{
    for (struct proc *p = running; p; p = p->next) {
        reap(p);
        if (p->reaped)
            return p;
    }
    return NULL;
}

/* Ctrl-C: no child outlives it. */
static int stop_all(void)
{
    for (struct proc *p = running; p; p = p->next)
        kill_group(p, PROC_CANCELLED);
    int status = 0;
    while (running && status == 0) {
        struct proc *ended = find_ended();
        if (ended) {
            struct proc_result result;
            finish(ended, &result);
            proc_result_release(&result);
            continue;
        }
        int64_t now = proc_now_ns();
        for (struct proc *p = running; p; p = p->next)
            watch_limits(p, now);
        status = turn(INT64_MAX);
    }
    return err_set(ERR_INTERRUPTED, "interrupted");
}

int proc_wait_any(struct proc **ended, struct proc_result *result, int64_t timeout_ns)
{
    int64_t until = timeout_ns < 0 ? INT64_MAX : proc_now_ns() + timeout_ns;
    *ended = NULL;
    for (;;) {
        if (interrupted)
            return stop_all();
        struct proc *p = find_ended();
        if (p) {
            *ended = p;
            finish(p, result);
            return 0;
        }
        int64_t now = proc_now_ns();
        if (!running || now >= until)
            return 0;
        for (p = running; p; p = p->next)
            watch_limits(p, now);
        int status = turn(until);
        if (status < 0)
            return status;
    }
}

int proc_run(struct proc_result *out, const struct proc_spec *spec)
{
    struct proc *p, *ended = NULL;
    *out = (struct proc_result){0};
    buf_init(&out->out, 1);
    buf_init(&out->err, 1);
    buf_init(&out->channel, 1);
    if (running)
        bug("proc_run while other children run");
    int status = proc_start(&p, spec);
    struct proc_result result;
    if (status == 0)
        status = proc_wait_any(&ended, &result, -1);
    if (status < 0)
        return status;
    proc_result_release(out);
    *out = result;
    return 0;
}

static const char *signal_word(int number)
{
    const char *name = sigabbrev_np(number);
    return name ? name : "?";
}

const char *proc_describe(char *text, size_t size, const struct proc_result *r, const char *program)
{
    double seconds = (double)r->wall_ns / 1e9;
    switch (r->end) {
    case PROC_EXITED:
        snprintf(text, size, "%s: exit %d", program, r->code);
        break;
    case PROC_SIGNALED:
        snprintf(text, size, "%s: killed by SIG%s", program, signal_word(r->code));
        break;
    case PROC_TIMED_OUT:
        snprintf(text, size, "%s: timed out after %.1f s", program, seconds);
        break;
    case PROC_OVER_MEMORY:
        snprintf(text, size, "%s: went over its memory limit with %lld MiB", program, (long long)(r->peak_bytes >> 20));
        break;
    case PROC_OVER_OUTPUT:
        snprintf(text, size, "%s: printed more than its limit", program);
        break;
    case PROC_NOT_STARTED:
        snprintf(text, size, "cannot start %s: %s: %s", program, r->failed_call, strerror(r->code));
        break;
    case PROC_CANCELLED:
        snprintf(text, size, "%s: cancelled", program);
        break;
    }
    return text;
}

bool proc_have_program(const char *name)
{
    if (strchr(name, '/'))
        return access(name, X_OK) == 0;
    struct arena a = {0};
    const char *path = getenv("PATH");
    char *rest = arena_strdup(&a, path ? path : "");
    bool found = false;
    for (char *folder; !found && (folder = strsep(&rest, ":"));)
        found = access(fs_join(&a, *folder ? folder : ".", name), X_OK) == 0;
    arena_release(&a);
    return found;
}

int proc_cpu_count(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}
