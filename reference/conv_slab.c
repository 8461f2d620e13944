#include "reference/conv_internal.h"

#include "src/err.h"

#include <string.h>

void conv_view_of(struct conv_view *v, const struct tensor *t, const struct conv_shape *s,
                  enum operand which)
{
    /* Axes: input n g c s..., filter g k c s..., output n g k s... */
    bool filter = which == OPERAND_FILTER;
    int first = 6 - t->rank;
    *v = (struct conv_view){.tensor = t, .n = filter ? 1 : s->n, .groups = s->g};
    v->channels = t->size[2];
    v->by_n = filter ? 0 : t->stride[0];
    v->by_group = filter ? t->stride[0] : t->stride[1];
    v->by_channel = t->stride[2];
    for (int i = 0; i < 3; i++) {
        bool there = i >= first;
        v->size[i] = there ? t->size[3 + i - first] : 1;
        v->by[i] = there ? t->stride[3 + i - first] : 0;
    }
    bool alone = v->channels == 1;
    if (!filter && (alone || v->by_group == v->channels * v->by_channel)) {
        v->by_channel = alone ? v->by_group : v->by_channel;
        v->channels *= v->groups;
        v->groups = 1;
    }
}

static const void *element_at(const struct tensor *t, int64_t offset)
{
    return (const char *)t->data + offset * (int64_t)dtype_bytes(t->dtype);
}

/* A row whose channels lie apart: eight channels at a time are widened as they lie, then turned. */
static void fill_planar(double *out, int64_t pitch, const struct conv_view *v,
                        const struct conv_kernels *k, int64_t offset, int64_t step, int64_t width,
                        int64_t count)
{
    enum { HEIGHT = 8, WIDTH = 256, PITCH = WIDTH + 8 };
    double rows[HEIGHT * PITCH + 8];
    memset(rows, 0, sizeof rows);
    for (int64_t c = 0; c < count; c += HEIGHT) {
        int64_t height = count - c < HEIGHT ? count - c : HEIGHT;
        for (int64_t w = 0; w < width; w += WIDTH) {
            int64_t run = width - w < WIDTH ? width - w : WIDTH;
            for (int64_t i = 0; i < height; i++) {
                int64_t at = offset + (c + i) * v->by_channel + w * step;
                k->widen(rows + i * PITCH, &(struct conv_run){.data = element_at(v->tensor, at),
                                                              .dtype = v->tensor->dtype,
                                                              .stride = step,
                                                              .count = run});
            }
            k->transpose(out + w * pitch + c, pitch, rows, PITCH, height, run);
        }
    }
}

static void fill_channels(double *out, int64_t pitch, const struct conv_view *v,
                          const struct conv_kernels *k, int64_t offset, int64_t step, int64_t width,
                          int64_t count)
{
    bool whole = pitch == count && step == count;
    for (int64_t w = 0; w < width; w += whole ? width : 1)
        k->widen(out + w * pitch,
                 &(struct conv_run){.data = element_at(v->tensor, offset + w * step),
                                    .dtype = v->tensor->dtype,
                                    .stride = 1,
                                    .count = whole ? width * count : count});
}

static void zero(double *out, int64_t pitch, int64_t positions, int64_t count)
{
    for (int64_t i = 0; i < positions; i++)
        memset(out + i * pitch, 0, (size_t)count * sizeof *out);
}

/* One row of the last dim, whose first element would be at `offset`. */
static void fill_row(double *out, const struct conv_slab *slab, const struct conv_view *v,
                     const struct conv_kernels *k, int64_t offset, int64_t count)
{
    int64_t low = slab->low[2], step = slab->step[2], size = slab->size[2];
    int64_t before = low < 0 ? (-low + step - 1) / step : 0;
    int64_t room = v->size[2] - low;
    int64_t end = room <= 0 ? 0 : (room + step - 1) / step;
    before = before < size ? before : size;
    end = end < size ? end : size;
    end = end < before ? before : end;
    zero(out, slab->pitch, before, count);
    zero(out + end * slab->pitch, slab->pitch, size - end, count);
    if (end == before)
        return;
    int64_t at = offset + (low + before * step) * v->by[2];
    (v->by_channel == 1 && count > 1 ? fill_channels : fill_planar)(
        out + before * slab->pitch, slab->pitch, v, k, at, step * v->by[2], end - before, count);
}

void conv_slab_fill(double *out, const struct conv_slab *slab, const struct conv_view *v,
                    const struct conv_kernels *k, int64_t image, int64_t group, int64_t first,
                    int64_t count)
{
    int64_t row = slab->size[2] * slab->pitch;
    for (int64_t b = 0; b < slab->images; b++) {
        for (int64_t d = 0; d < slab->size[0]; d++) {
            for (int64_t h = 0; h < slab->size[1]; h++, out += row) {
                int64_t at_d = slab->low[0] + d * slab->step[0],
                        at_h = slab->low[1] + h * slab->step[1];
                bool inside = at_d >= 0 && at_d < v->size[0] && at_h >= 0 && at_h < v->size[1];
                if (!inside) {
                    zero(out, slab->pitch, slab->size[2], count);
                    continue;
                }
                int64_t offset = (image + b) * v->by_n + group * v->by_group +
                                 first * v->by_channel + at_d * v->by[0] + at_h * v->by[1];
                fill_row(out, slab, v, k, offset, count);
            }
        }
    }
}

void conv_slab_fill_all(double *out, const struct conv_slab *slab, const struct conv_view *v,
                        const struct conv_kernels *k, int64_t image)
{
    for (int64_t g = 0; g < v->groups; g++)
        conv_slab_fill(out + g * v->channels, slab, v, k, image, g, 0, v->channels);
}
