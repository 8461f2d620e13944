#include "reference/conv_internal.h"

#include "src/err.h"
#include "src/mem.h"

#include <string.h>

void conv_shape_of(struct conv_shape *s, const struct problem *p)
{
    *s = (struct conv_shape){.n = p->n, .g = p->g, .c = p->c / p->g, .k = p->k / p->g};
    for (int i = 0; i < 3; i++) {
        int dim = i - (3 - p->dims);
        bool there = dim >= 0;
        s->in[i] = there ? p->in[dim] : 1;
        s->fil[i] = there ? p->fil[dim] : 1;
        s->out[i] = there ? problem_out(p, dim) : 1;
        s->str[i] = there ? p->str[dim] : 1;
        s->dil[i] = there ? p->dil[dim] : 1;
        s->lo[i] = there ? p->pad_lo[dim] : 0;
    }
}

void conv_reach(int64_t *first, int64_t *last, const struct conv_shape *s, int dim, int64_t r)
{
    int64_t at = r * s->dil[dim] - s->lo[dim],
            str = s->str[dim];      /* input position that output 0 meets */
    int64_t room = s->in[dim] - at; /* inside while o * str < room */
    *first = at < 0 ? (-at + str - 1) / str : 0;
    *last = room <= 0 ? 0 : (room + str - 1) / str;
    if (*last > s->out[dim])
        *last = s->out[dim];
}

/* A tap that some result of the dim meets inside the source of this size. */
static void add_tap(struct conv_dim *d, int64_t tap, int64_t offset, int64_t size)
{
    int64_t last = (d->count - 1) * d->stride + offset;
    /* With gaps between the positions it may still meet none: then it adds zeros. */
    if (d->count == 0 || last < 0 || offset >= size)
        return;
    d->tap[d->taps] = tap;
    d->offset[d->taps++] = offset;
}

static void init_dim(struct conv_dim *d, const struct conv_shape *s, int dim)
{
    *d = (struct conv_dim){.step = 1, .count = s->out[dim], .stride = s->str[dim]};
    d->tap = xcalloc((size_t)s->fil[dim], sizeof *d->tap);
    d->offset = xcalloc((size_t)s->fil[dim], sizeof *d->offset);
    for (int64_t r = 0; r < s->fil[dim]; r++)
        add_tap(d, r, r * s->dil[dim] - s->lo[dim], s->in[dim]);
}

/* The inputs i with (i + lo) mod str = residue: output o meets i by tap r when o * str + r * dil =
 * i + lo, so a tap has a part in the phase when str divides residue - r * dil. With j counting the
 * phase's inputs from q * str + residue = first + lo on, o = j + q + (residue - r * dil) / str. */
static void init_backward_dim(struct conv_dim *d, const struct conv_shape *s, int dim,
                              int64_t residue)
{
    int64_t str = s->str[dim], lo = s->lo[dim];
    int64_t first = residue - lo % str;
    if (first < 0)
        first += str;
    int64_t q = (first + lo) / str;
    *d = (struct conv_dim){.first = first, .step = str, .stride = 1};
    d->count = first < s->in[dim] ? (s->in[dim] - first + str - 1) / str : 0;
    d->tap = xcalloc((size_t)s->fil[dim], sizeof *d->tap);
    d->offset = xcalloc((size_t)s->fil[dim], sizeof *d->offset);
    for (int64_t r = s->fil[dim] - 1; r >= 0; r--) {
        if ((residue - r * s->dil[dim]) % str == 0)
            add_tap(d, r, q + (residue - r * s->dil[dim]) / str, s->out[dim]);
    }
}

/* What one slab must hold for all phases. */
static void widen_phases(struct conv_phases *out, const struct conv_dim *d, int dim, bool *any)
{
    if (d->count > out->results[dim])
        out->results[dim] = d->count;
    for (int64_t t = 0; t < d->taps; t++) {
        if (!*any || d->offset[t] < out->low[dim])
            out->low[dim] = d->offset[t];
        if (!*any || d->offset[t] > out->high[dim])
            out->high[dim] = d->offset[t];
        *any = true;
    }
}

void conv_phases_init(struct conv_phases *out, const struct conv_shape *s, enum direction direction)
{
    bool backward = direction == DIRECTION_BWD_DATA;
    int64_t residues[3];
    *out = (struct conv_phases){.count = 1};
    for (int i = 0; i < 3; i++) {
        residues[i] = backward ? s->str[i] : 1;
        out->count *= residues[i];
        out->stride[i] = backward ? 1 : s->str[i];
    }
    out->phases = xcalloc((size_t)out->count, sizeof *out->phases);
    bool any[3] = {false};
    for (int64_t p = 0; p < out->count; p++) {
        int64_t residue[3] = {p / (residues[1] * residues[2]), p / residues[2] % residues[1],
                              p % residues[2]};
        for (int i = 0; i < 3; i++) {
            struct conv_dim *d = &out->phases[p].dim[i];
            if (backward)
                init_backward_dim(d, s, i, residue[i]);
            else
                init_dim(d, s, i);
            widen_phases(out, d, i, &any[i]);
        }
    }
}

void conv_phases_release(struct conv_phases *phases)
{
    for (int64_t p = 0; p < phases->count; p++) {
        for (int i = 0; i < 3; i++) {
            free(phases->phases[p].dim[i].tap);
            free(phases->phases[p].dim[i].offset);
        }
    }
    free(phases->phases);
    *phases = (struct conv_phases){0};
}
