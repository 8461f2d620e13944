#include "src/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

char *fs_join(struct arena *a, const char *folder, const char *name)
{
    if (name[0] == '/')
        return arena_strdup(a, name);
    size_t length = strlen(folder);
    const char *slash = length > 0 && folder[length - 1] == '/' ? "" : "/";
    return arena_printf(a, "%s%s%s", folder, slash, name);
}

int fs_absolute(char **out, struct arena *a, const char *path)
{
    CLEANUP(mem_free_ptr) char *real = realpath(path, NULL);
    if (!real)
        return err_set(ERR_NOTFOUND, "%s: %s", path, strerror(errno));
    *out = arena_strdup(a, real);
    return 0;
}

char *fs_dirname(struct arena *a, const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    while (length > 0 && path[length - 1] != '/')
        length--;
    while (length > 1 && path[length - 1] == '/')
        length--;
    return length > 0 ? arena_strndup(a, path, length) : arena_strdup(a, ".");
}

const char *fs_basename(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool fs_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool fs_is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static int make_folder(const char *path)
{
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && fs_is_folder(path)))
        return 0;
    return err_set(ERR_IO, "making the folder %s: %s", path, strerror(errno));
}

int fs_make_folders(const char *path)
{
    CLEANUP(mem_free_ptr) char *copy = xstrdup(path);
    for (char *c = copy + 1; *copy && *c; c++) {
        if (*c != '/')
            continue;
        *c = '\0';
        int status = make_folder(copy);
        *c = '/';
        if (status < 0)
            return status;
    }
    return make_folder(copy);
}

static void close_folder(DIR **folder)
{
    if (*folder)
        closedir(*folder);
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Remove what the folder descriptor (consumed) holds. */
static int empty_folder(int descriptor, const char *path)
{
    CLEANUP(close_folder) DIR *folder = fdopendir(descriptor);
    if (!folder) {
        close(descriptor);
        return err_set(ERR_IO, "reading %s: %s", path, strerror(errno));
    }
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (is_dots(entry->d_name))
            continue;
        if (unlinkat(dirfd(folder), entry->d_name, 0) == 0)
            continue;
        if (errno != EISDIR && errno != EPERM)
            return err_set(ERR_IO, "removing %s/%s: %s", path, entry->d_name, strerror(errno));
        int inner =
            openat(dirfd(folder), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (inner < 0)
            return err_set(ERR_IO, "opening %s/%s: %s", path, entry->d_name, strerror(errno));
        int status = empty_folder(inner, path);
        if (status < 0)
            return status;
        if (unlinkat(dirfd(folder), entry->d_name, AT_REMOVEDIR) != 0)
            return err_set(ERR_IO, "removing %s/%s: %s", path, entry->d_name, strerror(errno));
    }
    return 0;
}

int fs_remove_tree(const char *path)
{
    if (unlink(path) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return err_set(ERR_IO, "removing %s: %s", path, strerror(errno));
    int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0)
        return err_set(ERR_IO, "opening %s: %s", path, strerror(errno));
    int status = empty_folder(descriptor, path);
    if (status == 0 && rmdir(path) != 0)
        status = err_set(ERR_IO, "removing %s: %s", path, strerror(errno));
    return status;
}

int64_t fs_tree_bytes(const char *path)
{
    struct stat s;
    if (lstat(path, &s) != 0)
        return 0;
    if (!S_ISDIR(s.st_mode))
        return S_ISREG(s.st_mode) ? s.st_size : 0;
    struct arena a = {0};
    char **names;
    size_t count;
    int64_t bytes = 0;
    if (fs_list(&names, &count, &a, path) < 0) {
        err_clear();
        count = 0;
    }
    for (size_t i = 0; i < count; i++)
        bytes += fs_tree_bytes(fs_join(&a, path, names[i]));
    arena_release(&a);
    return bytes;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

int fs_list(char ***out, size_t *count, struct arena *a, const char *path)
{
    CLEANUP(close_folder) DIR *folder = opendir(path);
    if (!folder)
        return err_set(errno == ENOENT ? ERR_NOTFOUND : ERR_IO, "reading the folder %s: %s", path,
                       strerror(errno));
    size_t room = 16, used = 0;
    char **names = ARENA_ARRAY(a, room, char *);
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (is_dots(entry->d_name))
            continue;
        if (used == room) {
            char **larger = ARENA_ARRAY(a, 2 * room, char *);
            memcpy(larger, names, used * sizeof *names);
            names = larger;
            room *= 2;
        }
        names[used++] = arena_strdup(a, entry->d_name);
    }
    qsort(names, used, sizeof *names, by_name);
    *out = names;
    *count = used;
    return 0;
}

static void close_descriptor(int *descriptor)
{
    if (*descriptor >= 0)
        close(*descriptor);
}

int fs_read(struct buf *out, const char *path)
{
    CLEANUP(close_descriptor) int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return err_set(errno == ENOENT || errno == ENOTDIR ? ERR_NOTFOUND : ERR_IO, "%s: %s", path,
                       strerror(errno));
    char bytes[65536];
    for (;;) {
        ssize_t got = read(descriptor, bytes, sizeof bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_set(ERR_IO, "%s: %s", path, strerror(errno));
        if (got == 0)
            return buf_check(out, path);
        buf_add(out, bytes, (size_t)got);
        if (out->overflowed)
            return buf_check(out, path);
    }
}

static int write_all(int descriptor, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(descriptor, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -1;
        bytes += written;
        length -= (size_t)written;
    }
    return 0;
}

/* Write-then-rename; what is half written never has the final name. The mode bits are `mode`
 * whatever the umask; 0: as the umask has them. */
static int write_file(const char *path, const void *bytes, size_t length, mode_t mode)
{
    struct arena a = {0};
    char *half = arena_printf(&a, "%s.%d.half", path, (int)getpid());
    int descriptor = open(half, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool well = descriptor >= 0 && write_all(descriptor, bytes, length) == 0 &&
                (!mode || fchmod(descriptor, mode) == 0) && fsync(descriptor) == 0;
    int status = well ? 0 : err_set(ERR_IO, "writing %s: %s", path, strerror(errno));
    if (descriptor >= 0 && close(descriptor) != 0 && status == 0)
        status = err_set(ERR_IO, "writing %s: %s", path, strerror(errno));
    if (status == 0 && rename(half, path) != 0)
        status = err_set(ERR_IO, "renaming to %s: %s", path, strerror(errno));
    if (status < 0 && descriptor >= 0)
        unlink(half);
    arena_release(&a);
    return status;
}

int fs_write(const char *path, const void *bytes, size_t length)
{
    return write_file(path, bytes, length, 0);
}

int fs_write_text(const char *path, const char *text)
{
    return fs_write(path, text, strlen(text));
}

int64_t fs_modified_ns(const char *path)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return 0;
    return (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

void fs_touch(const char *path)
{
    utimensat(AT_FDCWD, path, NULL, 0);
}

int fs_copy_file(const char *from, const char *to)
{
    struct stat s;
    if (stat(from, &s) != 0)
        return err_set(ERR_NOTFOUND, "%s: %s", from, strerror(errno));
    if (!S_ISREG(s.st_mode))
        return err_set(ERR_INVALID, "%s is no regular file", from);
    struct buf bytes;
    buf_init(&bytes, (size_t)s.st_size + 1);
    int status = fs_read(&bytes, from);
    if (status == 0)
        status = write_file(to, bytes.data, bytes.length, s.st_mode & 07777);
    buf_release(&bytes);
    return status;
}

static const char *describe_holder(char *words, size_t size, int descriptor)
{
    char text[32];
    ssize_t length = pread(descriptor, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    int pid = atoi(text);
    if (pid > 0)
        snprintf(words, size, "process %d", pid);
    else
        snprintf(words, size, "another process");
    return words;
}

static void write_holder(int descriptor)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%d\n", (int)getpid());
    /* The pid only serves a sentence for people: the lock holds without it. */
    if (ftruncate(descriptor, 0) == 0 && pwrite(descriptor, text, (size_t)length, 0) < 0)
        errno = 0;
}

int fs_lock(int *out_fd, const char *path, bool wait,
            void (*told)(const char *holder, void *payload), void *payload)
{
    CLEANUP(close_descriptor) int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    /* Another user's file: it locks as well, only our pid cannot be written into it. */
    if (descriptor < 0 && errno == EACCES)
        descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return err_set(ERR_IO, "lock %s: %s", path, strerror(errno));
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK)
            return err_set(ERR_IO, "lock %s: %s", path, strerror(errno));
        char holder[48];
        describe_holder(holder, sizeof holder, descriptor);
        if (!wait)
            return err_set(ERR_BUSY, "%s is held by %s", path, holder);
        if (told)
            told(holder, payload);
        if (flock(descriptor, LOCK_EX) != 0)
            return err_set(errno == EINTR ? ERR_INTERRUPTED : ERR_IO, "lock %s: %s", path,
                           strerror(errno));
    }
    write_holder(descriptor);
    *out_fd = descriptor;
    descriptor = -1;
    return 0;
}

void fs_unlock(int fd)
{
    close(fd);
}

int fs_self(char **out, struct arena *a)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    if (length < 0 || length == sizeof path)
        return err_set(ERR_IO, "reading /proc/self/exe: %s", strerror(errno));
    *out = arena_strndup(a, path, (size_t)length);
    return 0;
}
