/* Backward weight: rows are taps and channels of the input, lanes channels of the output, the sum
 * walks over pixels. A unit is a run of output rows of an image, or a run of images. Units are
 * shared out to a number of partial sums that does not depend on the threads, and those are added
 * in order, so that the same bits come out for any number of threads. */
#include "reference/conv_fast.h"

#include "src/err.h"
#include "src/mem.h"

#include <string.h>

enum {
    SLAB_BYTES = 768 << 10,
    PIXELS = 192, /* of a block, so that a panel of it stays in the first-level cache */
    MANY_SUMS =
        512
        << 10, /* of these a block is twice as long, since each block reads and writes them all */
    ENOUGH_PIXELS = 384,
    PARTIALS = 8,
    PARTIAL_BYTES = 512 << 20, /* of all partial sums together, unless one alone is larger */
    ROOM = 64,
};

struct gather {
    struct conv_fast *fast;
    struct conv_view input, output, result;
    struct conv_phases phases;
    struct conv_slab slab, other; /* of x and dy in a full unit */
    int64_t q, pitch;
    int64_t rows_sum; /* taps * channels of a group */
    int64_t *row_at;  /* slab offset of each */
    int64_t *tap, taps, *tap_number;
    int64_t sums; /* doubles of a partial sum */
    int64_t rows, row_units, images, units, partials;
    double **partial, **slabs, **others; /* by partial, by thread, by thread */
    int64_t **starts, **firsts;          /* by thread: segments in the slab and in dy */
};

static int64_t panel_vectors(const struct gather *s, int64_t lane)
{
    return s->fast->shape.k - lane > s->fast->kernels->lanes ? 2 : 1;
}

static void list_taps(struct gather *s)
{
    const struct conv_phase *p = &s->phases.phases[0];
    const struct conv_shape *h = &s->fast->shape;
    int64_t row = s->slab.size[2] * s->slab.pitch, plane = s->slab.size[1] * row, n = 0;
    s->taps = p->dim[0].taps * p->dim[1].taps * p->dim[2].taps;
    s->rows_sum = s->taps * h->c;
    s->tap = xcalloc((size_t)s->taps + 1, sizeof *s->tap);
    s->tap_number = xcalloc((size_t)s->taps + 1, sizeof *s->tap_number);
    s->row_at = xcalloc((size_t)s->rows_sum + 1, sizeof *s->row_at);
    for (int64_t a = 0; a < p->dim[0].taps; a++) {
        for (int64_t b = 0; b < p->dim[1].taps; b++) {
            for (int64_t c = 0; c < p->dim[2].taps; c++, n++) {
                s->tap_number[n] = (p->dim[0].tap[a] * h->fil[1] + p->dim[1].tap[b]) * h->fil[2] +
                                   p->dim[2].tap[c];
                s->tap[n] =
                    (p->dim[0].offset[a] - s->phases.low[0]) / s->slab.step[0] * plane +
                    (p->dim[1].offset[b] - s->phases.low[1]) / s->slab.step[1] * row +
                    (p->dim[2].offset[c] - s->phases.low[2]) / s->slab.step[2] * s->slab.pitch;
            }
        }
    }
    for (int64_t t = 0; t < s->taps; t++) {
        for (int64_t c = 0; c < h->c; c++)
            s->row_at[t * h->c + c] = s->tap[t] + c;
    }
}

static int64_t unit_rows_of(const struct gather *s, int64_t first)
{
    int64_t left = s->phases.results[s->fast->first_dim] - first;
    return left < s->rows ? left : s->rows;
}

/* The output rows of a unit: where they start in the slab of x, and which pixel of the unit begins
 * them. */
static int64_t list_rows(const struct gather *s, int64_t *start, int64_t *first, int64_t images,
                         int64_t rows)
{
    int64_t row = s->slab.size[2] * s->slab.pitch, plane = s->slab.size[1] * row, n = 0;
    int64_t count[2] = {s->phases.results[0], s->phases.results[1]};
    if (s->fast->first_dim < 2)
        count[s->fast->first_dim] = rows;
    int64_t width = s->fast->first_dim == 2 ? rows : s->phases.results[2];
    for (int64_t b = 0; b < images; b++) {
        for (int64_t x = 0; x < count[0]; x++) {
            for (int64_t y = 0; y < count[1]; y++, n++) {
                start[n] = b * s->slab.size[0] * plane +
                           x * (s->phases.stride[0] / s->slab.step[0]) * plane +
                           y * (s->phases.stride[1] / s->slab.step[1]) * row;
                first[n] = n * width;
            }
        }
    }
    return n;
}

static void run_panels(const struct gather *s, double *sums, const double *slab, double *other,
                       const struct conv_slab *dy, int64_t image, const int64_t *start,
                       const int64_t *first, int64_t rows, int64_t width)
{
    const struct conv_kernels *k = s->fast->kernels;
    const struct conv_shape *h = &s->fast->shape;
    int64_t step = s->phases.stride[2] / s->slab.step[2] * s->slab.pitch;
    int64_t block = (s->rows_sum * h->k > MANY_SUMS ? 2 : 1) * PIXELS / width;
    if (block < 1)
        block = 1;
    /* dy by panels: [panel][pixel][lane], each panel as wide as its vectors. */
    int64_t panels = 0;
    for (int64_t g = 0; g < h->g; g++) {
        for (int64_t lane = 0; lane < h->k;
             panels += rows * width * panel_vectors(s, lane) * k->lanes,
                     lane += panel_vectors(s, lane) * k->lanes) {
            struct conv_slab panel = *dy;
            panel.pitch = panel_vectors(s, lane) * k->lanes;
            int64_t there = h->k - lane < panel.pitch ? h->k - lane : panel.pitch;
            int64_t merged = s->output.groups == 1 ? g * h->k + lane : lane;
            conv_slab_fill(other + panels, &panel, &s->output, k, image,
                           s->output.groups == 1 ? 0 : g, merged, there);
        }
    }
    for (int64_t r = 0; r < rows; r += block) {
        struct conv_walk walk = {.a = start + r,
                                 .b = first + r,
                                 .segments = rows - r < block ? rows - r : block,
                                 .length = width,
                                 .step = step};
        double *out = sums;
        const double *right = other;
        for (int64_t g = 0; g < h->g; g++) {
            for (int64_t lane = 0; lane < h->k;) {
                int64_t vectors = panel_vectors(s, lane);
                k->sweep(out, slab + g * h->c, s->row_at, s->rows_sum, right, vectors, &walk, true);
                out += s->rows_sum * vectors * k->lanes;
                right += rows * width * vectors * k->lanes;
                lane += vectors * k->lanes;
            }
        }
    }
}

static void run_unit(struct gather *s, double *sums, int64_t unit, int64_t thread)
{
    int64_t image = unit / s->row_units * s->images, first = unit % s->row_units * s->rows;
    int64_t images = s->fast->shape.n - image < s->images ? s->fast->shape.n - image : s->images;
    int64_t unit_rows = unit_rows_of(s, first);
    int dim = s->fast->first_dim;
    struct conv_slab slab = s->slab, dy = s->other;
    slab.images = dy.images = images;
    slab.low[dim] += first * s->phases.stride[dim];
    dy.low[dim] = first;
    dy.size[dim] = unit_rows;
    conv_slab_fill_all(s->slabs[thread], &slab, &s->input, s->fast->kernels, image);
    int64_t rows = list_rows(s, s->starts[thread], s->firsts[thread], images, unit_rows);
    int64_t width = dy.size[2];
    if (!s->q) {
        run_panels(s, sums, s->slabs[thread], s->others[thread], &dy, image, s->starts[thread],
                   s->firsts[thread], rows, width);
        return;
    }
    conv_slab_fill_all(s->others[thread], &dy, &s->output, s->fast->kernels, image);
    for (int64_t r = 0; r < rows; r++)
        s->fast->kernels->channel_gradients(sums, s->pitch, s->slabs[thread] + s->starts[thread][r],
                                            s->phases.stride[2] / s->slab.step[2] * s->slab.pitch,
                                            s->others[thread] + s->firsts[thread][r] * dy.pitch,
                                            dy.pitch, width, s->tap, s->taps, s->q,
                                            s->q * s->fast->shape.g);
}

static void run_partial(void *context, int64_t partial, int64_t thread)
{
    struct gather *s = context;
    s->partial[partial] = xcalloc((size_t)(s->sums + ROOM), sizeof(double));
    int64_t begin = partial * s->units / s->partials, end = (partial + 1) * s->units / s->partials;
    for (int64_t unit = begin; unit < end; unit++)
        run_unit(s, s->partial[partial], unit, thread);
}

static double *element(const struct gather *s, int64_t g, int64_t k, int64_t c, int64_t tap)
{
    const struct conv_shape *h = &s->fast->shape;
    const struct tensor *t = s->result.tensor;
    int64_t at[3] = {tap / (h->fil[1] * h->fil[2]), tap / h->fil[2] % h->fil[1], tap % h->fil[2]};
    int64_t offset = g * t->stride[0] + k * t->stride[1] + c * t->stride[2];
    for (int i = 0; i < 3; i++)
        offset += at[i] * s->result.by[i];
    return s->fast->value + offset;
}

static void store_panels(const struct gather *s, const double *sums)
{
    const struct conv_shape *h = &s->fast->shape;
    for (int64_t g = 0; g < h->g; g++) {
        for (int64_t lane = 0; lane < h->k;) {
            int64_t width = panel_vectors(s, lane) * s->fast->kernels->lanes;
            for (int64_t k = lane; k < h->k && k < lane + width; k++) {
                for (int64_t c = 0; c < h->c; c++) {
                    for (int64_t t = 0; t < s->taps; t++)
                        *element(s, g, k, c, s->tap_number[t]) =
                            sums[(t * h->c + c) * width + k - lane];
                }
            }
            sums += s->rows_sum * width;
            lane += width;
        }
    }
}

static void store_channels(const struct gather *s, const double *sums)
{
    for (int64_t t = 0; t < s->taps; t++) {
        for (int64_t i = 0; i < s->q; i++) {
            for (int64_t l = 0; l < s->q * s->fast->shape.g; l++)
                *element(s, l / s->q, l % s->q, i, s->tap_number[t]) =
                    sums[(t * s->q + i) * s->pitch + l];
        }
    }
}

static int64_t extent(const struct gather *s, int dim, int64_t results)
{
    int64_t reach =
        (results - 1) * s->phases.stride[dim] + s->phases.high[dim] - s->phases.low[dim];
    return reach / s->slab.step[dim] + 1;
}

static void size_units(struct gather *s)
{
    const struct conv_shape *h = &s->fast->shape;
    int dim = s->fast->first_dim;
    int64_t others = 1, pixels = 1;
    for (int i = 0; i < 3; i++) {
        s->slab.low[i] = s->phases.low[i];
        s->slab.step[i] = s->phases.low[i] == s->phases.high[i] ? s->phases.stride[i] : 1;
        s->other.step[i] = 1;
        s->other.size[i] = h->out[i];
        if (i == dim)
            continue;
        s->slab.size[i] = extent(s, i, h->out[i]);
        others *= s->slab.size[i];
        pixels *= h->out[i];
    }
    int64_t room = SLAB_BYTES / (others * s->slab.pitch * (int64_t)sizeof(double));
    s->rows = h->out[dim];
    while (s->rows > 1 && extent(s, dim, s->rows) > room && s->rows * pixels > ENOUGH_PIXELS)
        s->rows = (s->rows + 1) / 2;
    s->row_units = (h->out[dim] + s->rows - 1) / s->rows;
    s->slab.size[dim] = extent(s, dim, s->rows);
    s->other.size[dim] = s->rows;
    s->images = 1;
    while (s->row_units == 1 && s->images < h->n && s->images * s->rows * pixels < ENOUGH_PIXELS &&
           (s->images + 1) * s->slab.size[dim] <= room)
        s->images++;
    s->units = (h->n + s->images - 1) / s->images * s->row_units;
}

static int64_t volume(const int64_t size[3])
{
    return size[0] * size[1] * size[2];
}

static int64_t slab_doubles(const struct gather *s)
{
    return s->images * volume(s->slab.size) * s->slab.pitch;
}

static int64_t other_doubles(const struct gather *s)
{
    return s->images * volume(s->other.size) *
           (s->other.pitch + 2 * s->fast->kernels->lanes * s->fast->shape.g);
}

static void prepare(struct gather *s, struct conv_fast *fast)
{
    const struct conv_shape *h = &fast->shape;
    *s = (struct gather){.fast = fast, .q = conv_fast_channel_group(fast)};
    s->pitch = h->g * h->k + fast->kernels->lanes;
    conv_view_of(&s->input, &fast->tensors[OPERAND_INPUT], h, OPERAND_INPUT);
    conv_view_of(&s->output, &fast->tensors[OPERAND_OUTPUT], h, OPERAND_OUTPUT);
    conv_view_of(&s->result, &fast->tensors[OPERAND_FILTER], h, OPERAND_FILTER);
    conv_phases_init(&s->phases, h, fast->direction);
    s->slab.pitch = conv_fast_pitch(h->g * h->c);
    s->other.pitch = conv_fast_pitch(h->g * h->k);
    s->slab.images = 1;
    size_units(s);
    list_taps(s);
    int64_t lanes = 0;
    for (int64_t lane = 0; lane < h->k; lane += panel_vectors(s, lane) * fast->kernels->lanes)
        lanes += panel_vectors(s, lane) * fast->kernels->lanes;
    s->sums = s->q ? s->taps * s->q * s->pitch : h->g * lanes * s->rows_sum;
    s->partials = s->units < PARTIALS ? s->units : PARTIALS;
    while (s->partials > 1 && s->partials * s->sums * (int64_t)sizeof(double) > PARTIAL_BYTES)
        s->partials--;
}

static void release(struct gather *s)
{
    free(s->tap);
    free(s->tap_number);
    free(s->row_at);
    conv_phases_release(&s->phases);
}

int64_t conv_gather_bytes(struct conv_fast *fast)
{
    struct gather s;
    prepare(&s, fast);
    int64_t doubles = s.partials * s.sums + fast->threads * (slab_doubles(&s) + other_doubles(&s));
    release(&s);
    return doubles * (int64_t)sizeof(double);
}

void conv_gather(struct conv_fast *fast)
{
    struct gather s;
    prepare(&s, fast);
    size_t threads = (size_t)fast->threads,
           rows = (size_t)(s.images * s.other.size[0] * s.other.size[1]);
    s.partial = xcalloc((size_t)s.partials, sizeof *s.partial);
    s.slabs = xcalloc(threads, sizeof *s.slabs);
    s.others = xcalloc(threads, sizeof *s.others);
    s.starts = xcalloc(threads, sizeof *s.starts);
    s.firsts = xcalloc(threads, sizeof *s.firsts);
    for (size_t t = 0; t < threads; t++) {
        s.slabs[t] = xcalloc((size_t)(slab_doubles(&s) + ROOM), sizeof **s.slabs);
        s.others[t] = xcalloc((size_t)(other_doubles(&s) + ROOM), sizeof **s.others);
        s.starts[t] = xcalloc(rows, sizeof **s.starts);
        s.firsts[t] = xcalloc(rows, sizeof **s.firsts);
    }
    conv_parallel(run_partial, &s, s.partials, fast->threads);
    for (int64_t p = 1; p < s.partials; p++) {
        for (int64_t i = 0; i < s.sums; i++)
            s.partial[0][i] += s.partial[p][i];
    }
    if (s.taps < fast->taps) /* taps that meet nothing are not stored */
        memset(fast->value, 0, (size_t)s.result.tensor->elements * sizeof *fast->value);
    if (s.q)
        store_channels(&s, s.partial[0]);
    else
        store_panels(&s, s.partial[0]);
    for (int64_t p = 0; p < s.partials; p++)
        free(s.partial[p]);
    for (size_t t = 0; t < threads; t++) {
        free(s.slabs[t]);
        free(s.others[t]);
        free(s.starts[t]);
        free(s.firsts[t]);
    }
    free(s.partial);
    free(s.slabs);
    free(s.others);
    free(s.starts);
    free(s.firsts);
    release(&s);
}
