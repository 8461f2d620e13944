/* fs: paths, whole files, locks, folders.
 *
 * Files are written beside their place and renamed, so that a reader or a kill never sees half of one. All
 * descriptors are close-on-exec from birth.
 */
#ifndef ASSAY_FS_H
#define ASSAY_FS_H

#include "src/buf.h"
#include "src/mem.h"

#include <stdbool.h>
#include <stdint.h>

/* "<folder>/<name>", or name itself when it is absolute. */
char *fs_join(struct arena *a, const char *folder, const char *name) MUST_USE;
/* The absolute, symlink-free form of an existing path; ERR_NOTFOUND otherwise. */
int fs_absolute(char **out, struct arena *a, const char *path) MUST_USE;
/* The folder part ("." when there is none) and the last part of a path. */
char *fs_dirname(struct arena *a, const char *path) MUST_USE;
const char *fs_basename(const char *path);

bool fs_exists(const char *path);
bool fs_is_folder(const char *path);
/* mkdir -p. */
int fs_make_folders(const char *path) MUST_USE;
/* rm -r; a path that is not there is fine. Does not follow links. */
int fs_remove_tree(const char *path) MUST_USE;
/* Sum of the sizes of the regular files below `path`, in bytes; 0 if it is not there. */
int64_t fs_tree_bytes(const char *path);
/* When it was last written or fs_touch'ed, in ns since the epoch; 0 if it is not there. */
int64_t fs_modified_ns(const char *path);
/* Now is when it was last used. What cannot be touched keeps its time. */
void fs_touch(const char *path);
/* Copy one regular file with its mode bits, through write-then-rename. */
int fs_copy_file(const char *from, const char *to) MUST_USE;

/* Append the whole file to `out` (up to its maximum: ERR_LIMIT beyond). */
int fs_read(struct buf *out, const char *path) MUST_USE;
/* Write-then-rename, with fsync of the file. */
int fs_write(const char *path, const void *bytes, size_t length) MUST_USE;
int fs_write_text(const char *path, const char *text) MUST_USE;

/* Names of the entries of a folder, sorted, without "." and ".."; *count may be 0. */
int fs_list(char ***out, size_t *count, struct arena *a, const char *folder) MUST_USE;

/* An advisory lock (flock) on a file that is made when missing; released by fs_unlock or by the death of the process.
 * Without `wait`, ERR_BUSY when another holds it. With `wait`, `told` (may be NULL) is called once, before waiting,
 * with the holder in words ("process 123"; "another process" while its pid is not in the file yet), so that a person is told what is waited for. */
int fs_lock(int *out_fd, const char *path, bool wait, void (*told)(const char *holder, void *payload), void *payload) MUST_USE;
void fs_unlock(int fd);

/* The path of this executable (from /proc/self/exe). */
int fs_self(char **out, struct arena *a) MUST_USE;


#endif
