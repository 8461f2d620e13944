#include "harness/bundle.h"

#include "src/fs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_kernel(struct buf *out, const struct bundle_kernel *k)
{
    buf_printf(out, "kernel %s %u %u %u %u %u %u %zu\n", k->name, k->grid.x, k->grid.y, k->grid.z,
               k->block.x, k->block.y, k->block.z, k->code_bytes);
}

int bundle_seal(struct bundle *b)
{
    struct buf bytes;
    buf_init(&bytes, BUF_MAX_CODE);
    b->code_bytes = 0;
    for (size_t i = 0; i < b->count; i++) {
        print_kernel(&bytes, &b->kernels[i]);
        buf_add(&bytes, b->kernels[i].code, b->kernels[i].code_bytes);
        b->code_bytes += (int64_t)b->kernels[i].code_bytes;
    }
    int status = buf_check(&bytes, "the code objects of one problem");
    if (status == 0)
        status = repo_blob_id(b->code_id, bytes.data, bytes.length);
    buf_release(&bytes);
    return status;
}

int bundle_write(const struct bundle *b, const char *path)
{
    char problem[PROBLEM_MAX_TEXT];
    struct buf out;
    buf_init(&out, BUF_MAX_CODE);
    buf_printf(&out, "assay-bundle 1\nproblem %s\narch %s\nworkspace %" PRId64 "\ncode %s\n",
               problem_print(problem, &b->problem), b->arch, b->workspace_bytes, b->code_id);
    for (size_t i = 0; i < b->count; i++)
        print_kernel(&out, &b->kernels[i]);
    buf_add_text(&out, "end\n");
    for (size_t i = 0; i < b->count; i++)
        buf_add(&out, b->kernels[i].code, b->kernels[i].code_bytes);
    int status = buf_check(&out, path);
    if (status == 0)
        status = fs_write(path, out.data, out.length);
    buf_release(&out);
    return status;
}

/* The head, line by line; `at` moves behind it. */
struct reader {
    const char *path, *at, *end;
    struct arena *arena;
};

static int broken(const struct reader *r, const char *what)
{
    return err_set(ERR_INVALID, "%s is no bundle: %s", r->path, what);
}

/* The next line, copied without its newline; NULL at the end. */
static char *read_line(struct reader *r)
{
    const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    if (!newline)
        return NULL;
    char *line = arena_strndup(r->arena, r->at, (size_t)(newline - r->at));
    r->at = newline + 1;
    return line;
}

static int read_kernel(struct bundle *b, const struct reader *r, const char *line)
{
    if (b->count == BUNDLE_MAX_KERNELS)
        return broken(r, "too many kernels");
    struct bundle_kernel *k = &b->kernels[b->count++];
    char name[256];
    if (sscanf(line, "kernel %255s %u %u %u %u %u %u %zu", name, &k->grid.x, &k->grid.y, &k->grid.z,
               &k->block.x, &k->block.y, &k->block.z, &k->code_bytes) != 8)
        return broken(r, line);
    k->name = arena_strdup(r->arena, name);
    return 0;
}

static int read_head(struct bundle *b, struct reader *r)
{
    bool have_problem = false;
    char *line = read_line(r);
    if (!line || strcmp(line, "assay-bundle 1") != 0)
        return broken(r, "it does not begin with \"assay-bundle 1\"");
    while ((line = read_line(r)) && strcmp(line, "end") != 0) {
        int status = 0;
        if (strncmp(line, "problem ", 8) == 0) {
            status = problem_parse(&b->problem, line + 8);
            have_problem = status == 0;
        } else if (strncmp(line, "arch ", 5) == 0) {
            b->arch = line + 5;
        } else if (strncmp(line, "workspace ", 10) == 0) {
            b->workspace_bytes = strtoll(line + 10, NULL, 10);
        } else if (strncmp(line, "code ", 5) == 0) {
            snprintf(b->code_id, sizeof b->code_id, "%s", line + 5);
        } else if (strncmp(line, "kernel ", 7) == 0) {
            status = read_kernel(b, r, line);
        } else {
            status = broken(r, line);
        }
        if (status < 0)
            return status;
    }
    if (!line || !have_problem || b->count == 0 || !b->arch || b->workspace_bytes < 0)
        return broken(r, "its head is not whole");
    return 0;
}

int bundle_read(struct bundle *out, struct arena *a, const char *path)
{
    *out = (struct bundle){.kernels = ARENA_ARRAY(a, BUNDLE_MAX_KERNELS, struct bundle_kernel)};
    struct buf bytes;
    buf_init(&bytes, BUF_MAX_CODE);
    struct reader r = {.path = path, .arena = a};
    int status = fs_read(&bytes, path);
    if (status == 0) {
        r.at = bytes.data;
        r.end = bytes.data + bytes.length;
        status = read_head(out, &r);
    }
    for (size_t i = 0; i < out->count && status == 0; i++) {
        struct bundle_kernel *k = &out->kernels[i];
        if (k->code_bytes > (size_t)(r.end - r.at)) {
            status = broken(&r, "it ends before its code objects do");
            break;
        }
        void *code = arena_alloc(a, k->code_bytes + 1);
        memcpy(code, r.at, k->code_bytes);
        k->code = code;
        out->code_bytes += (int64_t)k->code_bytes;
        r.at += k->code_bytes;
    }
    buf_release(&bytes);
    return status;
}
