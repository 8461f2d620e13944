#include "harness/dump.h"

#include "src/buf.h"
#include "src/err.h"
#include "src/mem.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_AXES = 16, MOST_HEADER = 1 << 16 };

/* The elements of a file. */
enum element {
    ELEMENT_F16,
    ELEMENT_BF16,
    ELEMENT_F32,
    ELEMENT_F64,
    ELEMENT_I8,
    ELEMENT_I32,
    ELEMENT_I64,
    ELEMENT_F8 /* of the tensor's own kind */
};

static const struct {
    const char *descr; /* NumPy's, without quotes */
    enum element element;
} descrs[] = {
    {"<f2", ELEMENT_F16},  {"<f4", ELEMENT_F32},  {"<f8", ELEMENT_F64},       {"|i1", ELEMENT_I8},
    {"<i1", ELEMENT_I8},   {"<i4", ELEMENT_I32},  {"<i8", ELEMENT_I64},       {"|V2", ELEMENT_BF16},
    {"<V2", ELEMENT_BF16}, {"<u2", ELEMENT_BF16}, {"bfloat16", ELEMENT_BF16}, {"|V1", ELEMENT_F8},
    {"<V1", ELEMENT_F8},   {"|u1", ELEMENT_F8},
};

static const int64_t element_bytes[] = {2, 2, 4, 8, 1, 4, 8, 1};
static const enum element own_element[] = {
    [DTYPE_F32] = ELEMENT_F32,       [DTYPE_F16] = ELEMENT_F16,   [DTYPE_BF16] = ELEMENT_BF16,
    [DTYPE_F8E4M3FN] = ELEMENT_F8,   [DTYPE_F8E5M2] = ELEMENT_F8, [DTYPE_F8E4M3FNUZ] = ELEMENT_F8,
    [DTYPE_F8E5M2FNUZ] = ELEMENT_F8, [DTYPE_I8] = ELEMENT_I8,     [DTYPE_I32] = ELEMENT_I32,
};

static double element_value(enum element e, enum dtype own, const unsigned char *at)
{
    union {
        uint16_t u16;
        float f32;
        double f64;
        int8_t i8;
        uint8_t u8;
        int32_t i32;
        int64_t i64;
    } v = {0};
    memcpy(&v, at, (size_t)element_bytes[e]);
    switch (e) {
    case ELEMENT_F16:
        return tensor_f16_to(v.u16);
    case ELEMENT_BF16:
        return tensor_bf16_to(v.u16);
    case ELEMENT_F32:
        return (double)v.f32;
    case ELEMENT_F64:
        return v.f64;
    case ELEMENT_F8:
        return tensor_f8_to(own, v.u8);
    case ELEMENT_I8:
        return v.i8;
    case ELEMENT_I32:
        return v.i32;
    case ELEMENT_I64:
        return (double)v.i64;
    }
    bug("element %d", (int)e);
}

struct reading {
    const char *path;
    FILE *file;
    int64_t bytes; /* of the file */
    enum element element;
};

/* Where the value of a key begins in the header's dictionary. */
static const char *header_value(const char *header, const char *key)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s'", key);
    const char *at = strstr(header, quoted);
    if (!at)
        return NULL;
    at += strlen(quoted);
    at += strspn(at, " ");
    return *at == ':' ? at + 1 + strspn(at + 1, " ") : NULL;
}

static int read_descr(struct reading *r, const char *header)
{
    const char *value = header_value(header, "descr");
    if (!value || (*value != '\'' && *value != '"'))
        return err_set(ERR_INVALID, "%s: its header has no simple `descr`", r->path);
    size_t length = strcspn(value + 1, "'\"");
    for (size_t i = 0; i < COUNT_OF(descrs); i++) {
        if (strlen(descrs[i].descr) == length && strncmp(descrs[i].descr, value + 1, length) == 0) {
            r->element = descrs[i].element;
            return 0;
        }
    }
    return err_set(ERR_INVALID,
                   "%s: elements of type '%.*s', where <f2 <f4 <f8 |i1 <i4 <i8, |V2 for bf16 or "
                   "|V1 for 8-bit floats, are known",
                   r->path, (int)(length < 30 ? length : 30), value + 1);
}

static int read_shape(int64_t *shape, int *axes, const struct reading *r, const char *header)
{
    const char *at = header_value(header, "shape");
    *axes = 0;
    if (!at || *at != '(')
        return err_set(ERR_INVALID, "%s: its header has no `shape`", r->path);
    for (at++;;) {
        at += strspn(at, " ,");
        if (*at == ')')
            return 0;
        char *end;
        errno = 0;
        int64_t size = strtoll(at, &end, 10);
        if (end == at || errno || size < 0 || *axes == MOST_AXES)
            return err_set(ERR_INVALID, "%s: its header has no `shape` that assay reads", r->path);
        shape[(*axes)++] = size;
        at = end + (*end == 'L');
    }
}

/* The sizes of an operand as they lie in memory; with g merged into c or k where it stands right
 * before. */
static int layout_shape(int64_t *shape, const struct tensor *t, const struct problem *p,
                        enum operand which, bool merged)
{
    struct problem logical = *p;
    problem_default_layouts(&logical);
    int axes = 0;
    int64_t group = 1;
    for (int i = 0; i < t->rank; i++) {
        char letter = p->layout[which][i], next = p->layout[which][i + 1];
        int64_t size = t->size[strchr(logical.layout[which], letter) - logical.layout[which]];
        if (merged && letter == 'g' && (next == 'c' || next == 'k')) {
            group = size;
            continue;
        }
        shape[axes++] = size * group;
        group = 1;
    }
    return axes;
}

/* Sizes of 1 say nothing about where an element lies. */
static bool shapes_agree(const int64_t *a, int axes_a, const int64_t *b, int axes_b)
{
    int i = 0, j = 0;
    for (;;) {
        while (i < axes_a && a[i] == 1)
            i++;
        while (j < axes_b && b[j] == 1)
            j++;
        if (i == axes_a || j == axes_b)
            return i == axes_a && j == axes_b;
        if (a[i++] != b[j++])
            return false;
    }
}

static void print_shape(struct buf *out, const int64_t *shape, int axes)
{
    buf_add_text(out, "(");
    for (int i = 0; i < axes; i++)
        buf_printf(out, "%s%" PRId64, i ? ", " : "", shape[i]);
    buf_add_text(out, axes == 1 ? ",)" : ")");
}

static int check_shape(const struct reading *r, const int64_t *shape, int axes,
                       const struct tensor *t, const struct problem *p, enum operand which)
{
    int64_t full[MOST_AXES], merged[MOST_AXES];
    int full_axes = layout_shape(full, t, p, which, false),
        merged_axes = layout_shape(merged, t, p, which, true);
    if (axes == 1 && shape[0] == t->elements)
        return 0;
    if (shapes_agree(shape, axes, full, full_axes) ||
        shapes_agree(shape, axes, merged, merged_axes))
        return 0;
    struct buf text;
    buf_init(&text, BUF_MAX_LINE);
    print_shape(&text, shape, axes);
    buf_printf(&text, ", where %s has ", p->layout[which]);
    print_shape(&text, full, full_axes);
    int status = err_set(ERR_INVALID, "%s: shape %s", r->path, text.data);
    buf_release(&text);
    return status;
}

/* Behind the magic: major, minor, the header's length (2 bytes, 4 from version 2 on), the header.
 */
static int read_npy_header(struct reading *r, const struct tensor *t, const struct problem *p,
                           enum operand which)
{
    unsigned char version[2], length[4] = {0};
    char header[MOST_HEADER + 1];
    bool there = fread(version, 1, 2, r->file) == 2 && version[0] >= 1 && version[0] <= 3;
    size_t field = there && version[0] > 1 ? 4 : 2;
    there = there && fread(length, 1, field, r->file) == field;
    size_t bytes =
        length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16 | (size_t)length[3] << 24;
    there = there && bytes <= MOST_HEADER && fread(header, 1, bytes, r->file) == bytes;
    if (!there)
        return err_set(ERR_INVALID, "%s: its .npy header is cut short or of an unknown version",
                       r->path);
    header[bytes] = '\0';
    int64_t shape[MOST_AXES];
    int axes;
    int status = read_descr(r, header);
    const char *order = header_value(header, "fortran_order");
    if (status == 0 && (!order || strncmp(order, "False", 5) != 0))
        status =
            err_set(ERR_INVALID, "%s: Fortran order; save it in C order (numpy.ascontiguousarray)",
                    r->path);
    if (status == 0 && r->element == ELEMENT_F8 && !dtype_is_f8(t->dtype))
        status = err_set(ERR_INVALID,
                         "%s: elements of one byte without a type, where the problem has %s",
                         r->path, dtype_name(t->dtype));
    if (status == 0)
        status = read_shape(shape, &axes, r, header);
    if (status == 0)
        status = check_shape(r, shape, axes, t, p, which);
    int64_t behind = status < 0 ? 0 : r->bytes - ftell(r->file),
            expected = t->elements * element_bytes[r->element];
    if (status == 0 && behind != expected)
        status = err_set(ERR_INVALID,
                         "%s: %" PRId64 " bytes of elements, where its header promises %" PRId64,
                         r->path, behind, expected);
    return status;
}

static int choose_raw(struct reading *r, const struct tensor *t)
{
    int64_t own = t->elements * (int64_t)dtype_bytes(t->dtype);
    rewind(r->file);
    r->element = own_element[t->dtype];
    if (r->bytes == own)
        return 0;
    r->element = ELEMENT_F32;
    bool widened = dtype_is_float(t->dtype) && t->dtype != DTYPE_F32;
    if (widened && r->bytes == 4 * t->elements)
        return 0;
    return err_set(ERR_INVALID,
                   "%s: %" PRId64 " bytes, where %" PRId64 " elements of %s are %" PRId64, r->path,
                   r->bytes, t->elements, dtype_name(t->dtype), own);
}

static int read_elements(struct tensor *t, const struct reading *r)
{
    unsigned char chunk[1 << 14];
    int64_t size = element_bytes[r->element], each = (int64_t)sizeof chunk / size;
    for (int64_t i = 0; i < t->elements; i += each) {
        int64_t count = t->elements - i < each ? t->elements - i : each;
        if (fread(chunk, (size_t)size, (size_t)count, r->file) != (size_t)count)
            return err_set(ERR_IO, "%s:", r->path);
        for (int64_t j = 0; j < count; j++) {
            double value = element_value(r->element, t->dtype, chunk + j * size);
            bool fits =
                isnan(value) ? dtype_is_float(t->dtype) : tensor_round(t->dtype, value) == value;
            if (!fits)
                return err_set(ERR_INVALID, "%s: element %" PRId64 " is %.9g, which is no %s",
                               r->path, i + j, value, dtype_name(t->dtype));
            tensor_set(t, i + j, value);
        }
    }
    return 0;
}

int dump_read(struct tensor *t, const struct problem *p, enum operand which, const char *path)
{
    struct reading r = {.path = path, .file = fopen(path, "rb")};
    struct stat about;
    if (!r.file)
        return err_set(ERR_IO, "%s:", path);
    int status = 0;
    if (fstat(fileno(r.file), &about) < 0)
        status = err_set(ERR_IO, "%s:", path);
    else if (!S_ISREG(about.st_mode))
        status = err_set(ERR_INVALID, "%s: not a file", path);
    r.bytes = about.st_size;
    char magic[6];
    if (status == 0 && fread(magic, 1, sizeof magic, r.file) == sizeof magic &&
        memcmp(magic, "\x93NUMPY", sizeof magic) == 0)
        status = read_npy_header(&r, t, p, which);
    else if (status == 0)
        status = choose_raw(&r, t);
    if (status == 0)
        status = read_elements(t, &r);
    fclose(r.file);
    return status;
}

int dump_write(const char *path, const struct tensor *t, const struct problem *p,
               enum operand which)
{
    static const char *const own_descr[] = {
        [ELEMENT_F32] = "<f4", [ELEMENT_F16] = "<f2", [ELEMENT_BF16] = "|V2",
        [ELEMENT_F8] = "|V1",  [ELEMENT_I8] = "|i1",  [ELEMENT_I32] = "<i4",
    };
    int64_t shape[MOST_AXES];
    struct buf header;
    buf_init(&header, BUF_MAX_LINE);
    buf_printf(&header, "{'descr': '%s', 'fortran_order': False, 'shape': ",
               own_descr[own_element[t->dtype]]);
    print_shape(&header, shape, layout_shape(shape, t, p, which, false));
    buf_add_text(&header, ", }");
    /* Elements begin at a multiple of 64, as NumPy writes them. */
    while ((10 + header.length + 1) % 64 != 0)
        buf_add_text(&header, " ");
    buf_add_text(&header, "\n");
    unsigned char start[10] = {0x93,
                               'N',
                               'U',
                               'M',
                               'P',
                               'Y',
                               1,
                               0,
                               (unsigned char)header.length,
                               (unsigned char)(header.length >> 8)};
    FILE *file = fopen(path, "wb");
    bool written = file && fwrite(start, 1, sizeof start, file) == sizeof start &&
                   fwrite(header.data, 1, header.length, file) == header.length &&
                   fwrite(t->data, 1, t->bytes, file) == t->bytes;
    if (file && fclose(file) != 0)
        written = false;
    buf_release(&header);
    return written ? 0 : err_set(ERR_IO, "%s:", path);
}
