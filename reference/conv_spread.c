/* Forward and backward data: every result element is a sum over taps and inner channels. A unit is
 * a run of rows of an image, or a run of whole images: its source becomes a slab, its results come
 * off tile by tile. */
#include "reference/conv_fast.h"

#include "src/err.h"
#include "src/mem.h"

#include <string.h>

enum {
    SLAB_BYTES = 768 << 10,   /* so that a slab and a block of weights share a second-level cache
                                 of 1.25 MiB or more */
    WEIGHT_BYTES = 256 << 10, /* of a panel, read again for each tile */
    TILES = 16,               /* whose sums stay in the first-level cache until they are stored */
    ENOUGH_PIXELS = 384,      /* fewer in a unit would leave many tiles half empty */
    ROOM = 64,                /* doubles behind a buffer that whole vectors may touch */
};

/* One phase, ready to run: where each segment starts in the slab, and the weights of every group
 * and panel. */
struct ready {
    int64_t *segment, *weight_start;
    int64_t segments, length; /* of a walk; in terms */
    double *weights;
    int64_t group_weights; /* doubles a group */
    int64_t *taps;         /* slab offset of each tap, for the channel kernels */
    int64_t tap_count;
};

struct spread {
    struct conv_fast *fast;
    struct conv_view source, result;
    struct conv_phases phases;
    struct ready *ready;
    struct conv_slab slab;   /* of a full unit */
    int64_t inner, lanes, q; /* channels of a group; q > 0: groups that the channel kernels take */
    int64_t inner_total, lanes_total;
    int64_t pitch; /* of a channel kernel's sums */
    int slab_dim;  /* the first spatial dim of the problem */
    int64_t rows, row_units, images, units;
    double **slabs, **sums; /* by thread */
    int64_t **at, **to;
};

static int64_t panel_vectors(const struct spread *s, int64_t lane)
{
    return s->lanes - lane > s->fast->kernels->lanes ? 2 : 1;
}

/* The weight that inner channel i and lane l of a group meet at a tap. */
static double weight_of(const struct spread *s, int64_t g, int64_t i, int64_t l, int64_t tap)
{
    const struct conv_shape *h = &s->fast->shape;
    int64_t k = s->fast->direction == DIRECTION_FWD ? l : i,
            c = s->fast->direction == DIRECTION_FWD ? i : l;
    return s->fast->filter[((g * h->k + k) * h->c + c) * s->fast->taps + tap];
}

static int64_t tap_number(const struct conv_shape *h, const struct conv_phase *p, int64_t t0,
                          int64_t t1, int64_t t2)
{
    return (p->dim[0].tap[t0] * h->fil[1] + p->dim[1].tap[t1]) * h->fil[2] + p->dim[2].tap[t2];
}

/* Panels of lanes, one behind the other: [term of the walk][lanes of the panel], a term being a tap
 * and an inner channel. */
static void pack_panels(struct spread *s, struct ready *r, const int64_t *taps)
{
    for (int64_t g = 0; g < s->fast->shape.g; g++) {
        double *out = r->weights + g * r->group_weights;
        for (int64_t l = 0; l < s->lanes;) {
            int64_t width = panel_vectors(s, l) * s->fast->kernels->lanes;
            int64_t there = s->lanes - l < width ? s->lanes - l : width;
            for (int64_t i = 0; i < s->inner; i++) {
                for (int64_t t = 0; t < r->tap_count; t++) {
                    double *term = out + (t * s->inner + i) * width;
                    for (int64_t j = 0; j < there; j++)
                        term[j] = weight_of(s, g, i, l + j, taps[t]);
                }
            }
            out += r->tap_count * s->inner * width;
            l += width;
        }
    }
}

/* For the channel kernels: [tap][channel of the group][all channels]. */
static void pack_channels(struct spread *s, struct ready *r, const int64_t *taps)
{
    for (int64_t t = 0; t < r->tap_count; t++) {
        for (int64_t i = 0; i < s->q; i++) {
            for (int64_t l = 0; l < s->lanes_total; l++)
                r->weights[(t * s->q + i) * s->pitch + l] =
                    weight_of(s, l / s->q, i, l % s->q, taps[t]);
        }
    }
}

/* Taps that are neighbours in the slab are one segment where nothing lies between their channels.
 */
static void make_segments(struct spread *s, struct ready *r, const struct conv_phase *p)
{
    int64_t row = p->dim[2].taps;
    bool merge = s->slab.pitch == s->inner && row > 1;
    for (int64_t t = 1; t < row && merge; t++)
        merge = p->dim[2].offset[t] == p->dim[2].offset[t - 1] + 1;
    int64_t each = merge ? row : 1;
    r->length = each * s->inner;
    r->segments = r->tap_count / each;
    for (int64_t i = 0; i < r->segments; i++) {
        r->segment[i] = r->taps[i * each];
        r->weight_start[i] = i * r->length;
    }
}

static void make_ready(struct spread *s, struct ready *r, const struct conv_phase *p)
{
    int64_t row = s->slab.size[2] * s->slab.pitch, plane = s->slab.size[1] * row;
    int64_t most = p->dim[0].taps * p->dim[1].taps * p->dim[2].taps;
    *r = (struct ready){.tap_count = most};
    if (most == 0)
        return;
    int64_t *numbers = xcalloc((size_t)most, sizeof *numbers);
    r->taps = xcalloc((size_t)most, sizeof *r->taps);
    r->segment = xcalloc((size_t)most, sizeof *r->segment);
    r->weight_start = xcalloc((size_t)most, sizeof *r->weight_start);
    int64_t n = 0;
    for (int64_t a = 0; a < p->dim[0].taps; a++) {
        for (int64_t b = 0; b < p->dim[1].taps; b++) {
            for (int64_t c = 0; c < p->dim[2].taps; c++, n++) {
                numbers[n] = tap_number(&s->fast->shape, p, a, b, c);
                r->taps[n] =
                    (p->dim[0].offset[a] - s->phases.low[0]) / s->slab.step[0] * plane +
                    (p->dim[1].offset[b] - s->phases.low[1]) / s->slab.step[1] * row +
                    (p->dim[2].offset[c] - s->phases.low[2]) / s->slab.step[2] * s->slab.pitch;
            }
        }
    }
    int64_t lanes = (s->lanes + s->fast->kernels->lanes - 1) / s->fast->kernels->lanes *
                    s->fast->kernels->lanes;
    r->group_weights = most * s->inner * lanes;
    int64_t doubles = s->q ? most * s->q * s->pitch : r->group_weights * s->fast->shape.g;
    r->weights = xcalloc((size_t)(doubles + ROOM), sizeof *r->weights);
    if (s->q)
        pack_channels(s, r, numbers);
    else
        pack_panels(s, r, numbers);
    make_segments(s, r, p);
    free(numbers);
}

/* Where the phase's results of a unit are: `at` in the slab, `to` in the answer, without their
 * channel. */
static int64_t list_pixels(int64_t *at, int64_t *to, const struct spread *s,
                           const struct conv_phase *p, int64_t image, int64_t images, int64_t first,
                           int64_t rows)
{
    int64_t row = s->slab.size[2] * s->slab.pitch, plane = s->slab.size[1] * row;
    int64_t low[3] = {0}, high[3], n = 0;
    for (int i = 0; i < 3; i++)
        high[i] = p->dim[i].count;
    low[s->slab_dim] = first;
    if (high[s->slab_dim] > first + rows)
        high[s->slab_dim] = first + rows;
    int64_t moves[3] = {plane, row, s->slab.pitch}, by[3];
    for (int i = 0; i < 3; i++)
        by[i] = p->dim[i].stride / s->slab.step[i] * moves[i];
    int64_t whole_image = s->slab.size[0] * plane;
    for (int64_t b = 0; b < images; b++) {
        for (int64_t x = low[0]; x < high[0]; x++) {
            for (int64_t y = low[1]; y < high[1]; y++) {
                int64_t source = b * whole_image + (x - low[0]) * by[0] + (y - low[1]) * by[1];
                int64_t result = (image + b) * s->result.by_n +
                                 (p->dim[0].first + x * p->dim[0].step) * s->result.by[0] +
                                 (p->dim[1].first + y * p->dim[1].step) * s->result.by[1];
                for (int64_t z = low[2]; z < high[2]; z++, n++) {
                    at[n] = source + (z - low[2]) * by[2];
                    to[n] = result + (p->dim[2].first + z * p->dim[2].step) * s->result.by[2];
                }
            }
        }
    }
    return n;
}

/* Sums [pixel][width], `count` lanes of them from `base` on, to where the answer wants them: runs
 * of pixels that are neighbours in the answer are turned together. */
static void store_lanes(const struct spread *s, const double *sums, int64_t width,
                        const int64_t *to, int64_t pixels, int64_t base, int64_t count)
{
    double *value = s->fast->value + base;
    int64_t by = s->result.by_channel;
    if (by == 1) {
        for (int64_t m = 0; m < pixels; m++)
            memcpy(value + to[m], sums + m * width, (size_t)count * sizeof *sums);
        return;
    }
    for (int64_t m = 0; m < pixels;) {
        int64_t run = 1;
        while (m + run < pixels && to[m + run] == to[m] + run)
            run++;
        s->fast->kernels->transpose(value + to[m], by, sums + m * width, width, run, count);
        m += run;
    }
}

static void store_zeros(const struct spread *s, const int64_t *to, int64_t pixels)
{
    for (int64_t g = 0; g < s->result.groups; g++) {
        for (int64_t m = 0; m < pixels; m++) {
            for (int64_t c = 0; c < s->result.channels; c++)
                s->fast->value[to[m] + g * s->result.by_group + c * s->result.by_channel] = 0;
        }
    }
}

/* Lanes [first, first + count) of group g, as the answer's view counts groups. */
static int64_t lane_base(const struct spread *s, int64_t g, int64_t lane)
{
    if (s->result.groups == 1)
        return (g * s->lanes + lane) * s->result.by_channel;
    return g * s->result.by_group + lane * s->result.by_channel;
}

static void run_panels(const struct spread *s, const struct ready *r, const double *slab,
                       double *sums, const int64_t *at, const int64_t *to, int64_t pixels)
{
    const struct conv_kernels *k = s->fast->kernels;
    for (int64_t g = 0; g < s->fast->shape.g; g++) {
        const double *weights = r->weights + g * r->group_weights;
        for (int64_t lane = 0; lane < s->lanes;) {
            int64_t vectors = panel_vectors(s, lane), width = vectors * k->lanes;
            int64_t segments = r->segments;
            while (segments > 1 &&
                   segments * r->length * width * (int64_t)sizeof *sums > WEIGHT_BYTES)
                segments = (segments + 1) / 2;
            for (int64_t first = 0; first < r->segments; first += segments) {
                struct conv_walk walk = {
                    .a = r->segment + first,
                    .b = r->weight_start + first,
                    .segments = r->segments - first < segments ? r->segments - first : segments,
                    .length = r->length,
                    .step = 1};
                k->sweep(sums, slab + g * s->inner, at, pixels, weights, vectors, &walk, first > 0);
            }
            int64_t there = s->lanes - lane < width ? s->lanes - lane : width;
            store_lanes(s, sums, width, to, pixels, lane_base(s, g, lane), there);
            weights += r->tap_count * s->inner * width;
            lane += width;
        }
    }
}

static void run_channels(const struct spread *s, const struct ready *r, const double *slab,
                         double *sums, const int64_t *at, const int64_t *to, int64_t pixels)
{
    s->fast->kernels->channels(sums, s->pitch, slab, at, pixels, r->weights, r->taps, r->tap_count,
                               s->q, s->lanes_total);
    for (int64_t g = 0; g < s->result.groups; g++)
        store_lanes(s, sums + g * s->result.channels, s->pitch, to, pixels, g * s->result.by_group,
                    s->result.channels);
}

static void run_unit(void *context, int64_t unit, int64_t thread)
{
    struct spread *s = context;
    int64_t image = unit / s->row_units * s->images, first = unit % s->row_units * s->rows;
    int64_t images = s->fast->shape.n - image < s->images ? s->fast->shape.n - image : s->images;
    struct conv_slab slab = s->slab;
    slab.images = images;
    slab.low[s->slab_dim] += first * s->phases.stride[s->slab_dim];
    conv_slab_fill_all(s->slabs[thread], &slab, &s->source, s->fast->kernels, image);
    int64_t block = TILES * s->fast->kernels->rows;
    for (int64_t p = 0; p < s->phases.count; p++) {
        const struct ready *r = &s->ready[p];
        int64_t *at = s->at[thread], *to = s->to[thread];
        int64_t pixels =
            list_pixels(at, to, s, &s->phases.phases[p], image, images, first, s->rows);
        for (int64_t m = 0; m < pixels; m += block) {
            int64_t count = pixels - m < block ? pixels - m : block;
            if (r->tap_count == 0)
                store_zeros(s, to + m, count);
            else if (s->q)
                run_channels(s, r, s->slabs[thread], s->sums[thread], at + m, to + m, count);
            else
                run_panels(s, r, s->slabs[thread], s->sums[thread], at + m, to + m, count);
        }
    }
}

/* Positions of the source that `results` results of a dim need. */
static int64_t extent(const struct spread *s, int dim, int64_t results)
{
    int64_t reach =
        (results - 1) * s->phases.stride[dim] + s->phases.high[dim] - s->phases.low[dim];
    return reach / s->slab.step[dim] + 1;
}

/* How much a unit takes: as many rows as fit the slab, then whole images until there are enough
 * pixels. */
static void size_units(struct spread *s)
{
    const struct conv_shape *h = &s->fast->shape;
    int64_t rows = s->phases.results[s->slab_dim], others = 1, pixels = 1;
    for (int i = 0; i < 3; i++) {
        s->slab.low[i] = s->phases.low[i];
        /* A single tap needs no positions between those that it meets. */
        s->slab.step[i] =
            s->phases.count == 1 && s->phases.low[i] == s->phases.high[i] ? s->phases.stride[i] : 1;
        if (i == s->slab_dim)
            continue;
        s->slab.size[i] = extent(s, i, s->phases.results[i]);
        others *= s->slab.size[i];
        pixels *= s->phases.results[i];
    }
    int64_t room = SLAB_BYTES / (others * s->slab.pitch * (int64_t)sizeof(double));
    s->rows = rows;
    while (s->rows > 1 && extent(s, s->slab_dim, s->rows) > room &&
           s->rows * pixels > ENOUGH_PIXELS)
        s->rows = (s->rows + 1) / 2;
    s->row_units = (rows + s->rows - 1) / s->rows;
    s->slab.size[s->slab_dim] = extent(s, s->slab_dim, s->rows);
    s->images = 1;
    int64_t each = s->rows * pixels;
    while (s->row_units == 1 && s->images < h->n && s->images * each < ENOUGH_PIXELS &&
           (s->images + 1) * s->slab.size[s->slab_dim] <= room)
        s->images++;
    s->units = (h->n + s->images - 1) / s->images * s->row_units;
}

static int64_t slab_doubles(const struct spread *s)
{
    return s->images * s->slab.size[0] * s->slab.size[1] * s->slab.size[2] * s->slab.pitch;
}

static void prepare(struct spread *s, struct conv_fast *fast)
{
    const struct conv_shape *h = &fast->shape;
    bool forward = fast->direction == DIRECTION_FWD;
    enum operand source = forward ? OPERAND_INPUT : OPERAND_OUTPUT;
    *s = (struct spread){.fast = fast,
                         .inner = forward ? h->c : h->k,
                         .lanes = forward ? h->k : h->c,
                         .slab_dim = fast->first_dim};
    s->inner_total = s->inner * h->g;
    s->lanes_total = s->lanes * h->g;
    s->q = conv_fast_channel_group(fast);
    s->pitch = s->lanes_total + fast->kernels->lanes;
    conv_view_of(&s->source, &fast->tensors[source], h, source);
    conv_view_of(&s->result, &fast->tensors[fast->result], h, fast->result);
    conv_phases_init(&s->phases, h, fast->direction);
    s->slab.pitch = conv_fast_pitch(s->inner_total);
    s->slab.images = 1;
    size_units(s);
}

int64_t conv_spread_bytes(struct conv_fast *fast)
{
    struct spread s;
    prepare(&s, fast);
    int64_t block = TILES * fast->kernels->rows;
    int64_t weights = 0, pixels = s.images * s.rows;
    for (int64_t p = 0; p < s.phases.count; p++)
        weights += s.phases.phases[p].dim[0].taps * s.phases.phases[p].dim[1].taps *
                   s.phases.phases[p].dim[2].taps;
    for (int i = 0; i < 3; i++)
        pixels *= i == s.slab_dim ? 1 : s.phases.results[i];
    int64_t width = s.q ? s.pitch : 2 * fast->kernels->lanes;
    int64_t doubles = weights * s.inner * (s.lanes + fast->kernels->lanes) * fast->shape.g +
                      fast->threads * (slab_doubles(&s) + block * width + 2 * pixels);
    conv_phases_release(&s.phases);
    return doubles * (int64_t)sizeof(double);
}

void conv_spread(struct conv_fast *fast)
{
    struct spread s;
    prepare(&s, fast);
    s.ready = xcalloc((size_t)s.phases.count, sizeof *s.ready);
    for (int64_t p = 0; p < s.phases.count; p++)
        make_ready(&s, &s.ready[p], &s.phases.phases[p]);
    int64_t block = TILES * fast->kernels->rows, pixels = s.images * s.rows;
    for (int i = 0; i < 3; i++)
        pixels *= i == s.slab_dim ? 1 : s.phases.results[i];
    size_t threads = (size_t)fast->threads;
    s.slabs = xcalloc(threads, sizeof *s.slabs);
    s.sums = xcalloc(threads, sizeof *s.sums);
    s.at = xcalloc(threads, sizeof *s.at);
    s.to = xcalloc(threads, sizeof *s.to);
    int64_t width = s.q ? s.pitch : 2 * fast->kernels->lanes;
    for (size_t t = 0; t < threads; t++) {
        s.slabs[t] = xcalloc((size_t)(slab_doubles(&s) + ROOM), sizeof **s.slabs);
        s.sums[t] = xcalloc((size_t)(block * width + ROOM), sizeof **s.sums);
        s.at[t] = xcalloc((size_t)pixels, sizeof **s.at);
        s.to[t] = xcalloc((size_t)pixels, sizeof **s.to);
    }
    conv_parallel(run_unit, &s, s.units, fast->threads);
    for (size_t t = 0; t < threads; t++) {
        free(s.slabs[t]);
        free(s.sums[t]);
        free(s.at[t]);
        free(s.to[t]);
    }
    free(s.slabs);
    free(s.sums);
    free(s.at);
    free(s.to);
    for (int64_t p = 0; p < s.phases.count; p++) {
        free(s.ready[p].taps);
        free(s.ready[p].segment);
        free(s.ready[p].weight_start);
        free(s.ready[p].weights);
    }
    free(s.ready);
    conv_phases_release(&s.phases);
}
