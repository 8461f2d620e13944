/* What verify's bound needs beside the sums. The squared norms of the two factors of each sum are
 * products of small things: of the patch of the source, which all lanes share, and of the filter's
 * taps that lie inside, which all images share. So no second convolution is needed. */
#include "reference/conv_internal.h"

#include "src/err.h"
#include "src/mem.h"

#include <string.h>

static int64_t volume(const int64_t size[3])
{
    return size[0] * size[1] * size[2];
}

/* Rows that lie one behind the other are one. */
static void join_rows(struct conv_view *v)
{
    for (int i = 1; i >= 0; i--) {
        if (v->size[i] > 1 && v->by[i] != v->size[2] * v->by[2])
            return;
        v->size[2] *= v->size[i];
        v->size[i] = 1;
    }
}

static void add_row(double *sums, double *row, const struct conv_view *v,
                    const struct conv_kernels *k, int64_t offset)
{
    int64_t count = v->size[2];
    k->widen(row, &(struct conv_run){.data = (const char *)v->tensor->data +
                                             offset * (int64_t)dtype_bytes(v->tensor->dtype),
                                     .dtype = v->tensor->dtype,
                                     .stride = v->by[2],
                                     .count = count});
    for (int64_t i = 0; i < count; i++)
        sums[i] += row[i] * row[i];
}

/* Neighbouring channels of one position, each added to its slot's. */
static void add_position(double *sums, int64_t size, double *row, const struct conv_view *v,
                         const struct conv_kernels *k, int64_t offset, int64_t first, int64_t each)
{
    k->widen(row, &(struct conv_run){.data = (const char *)v->tensor->data +
                                             offset * (int64_t)dtype_bytes(v->tensor->dtype),
                                     .dtype = v->tensor->dtype,
                                     .stride = 1,
                                     .count = v->channels});
    for (int64_t c = 0; c < v->channels;) {
        int64_t slot = (first + c) / each, end = (slot + 1) * each - first;
        double sum = 0;
        for (end = end < v->channels ? end : v->channels; c < end; c++)
            sum += row[c] * row[c];
        sums[slot * size] += sum;
    }
}

/* sums[slot][position] += the squares of one image; `each` channels share a slot. */
static void add_squares(double *sums, const struct conv_view *v, const struct conv_kernels *k,
                        int64_t image, int64_t each)
{
    int64_t size = volume(v->size), longest = v->channels > v->size[2] ? v->channels : v->size[2];
    double *row = xcalloc((size_t)longest, sizeof *row);
    for (int64_t g = 0; g < v->groups; g++) {
        int64_t group = image * v->by_n + g * v->by_group;
        bool beside = v->by_channel == 1 && v->channels > 1;
        for (int64_t c = 0; c < (beside ? 1 : v->channels); c++) {
            double *to = beside ? sums : sums + (g * v->channels + c) / each * size;
            for (int64_t at = 0; at < v->size[0] * v->size[1]; at++, to += v->size[2]) {
                int64_t offset = group + c * v->by_channel + at / v->size[1] * v->by[0] +
                                 at % v->size[1] * v->by[1];
                if (!beside)
                    add_row(to, row, v, k, offset);
                for (int64_t w = 0; beside && w < v->size[2]; w++)
                    add_position(to + w, size, row, v, k, offset + w * v->by[2], g * v->channels,
                                 each);
            }
        }
    }
    free(row);
}

/* The taps [first, last) of a dim that lie inside the source, by result of the phase. */
struct inside {
    int64_t *first, *last;
};

static void inside_init(struct inside *in, const struct conv_dim *d, int64_t size)
{
    in->first = xcalloc((size_t)d->count + 1, sizeof *in->first);
    in->last = xcalloc((size_t)d->count + 1, sizeof *in->last);
    for (int64_t j = 0; j < d->count; j++) {
        int64_t first = 0;
        while (first < d->taps && j * d->stride + d->offset[first] < 0)
            first++;
        int64_t last = first;
        while (last < d->taps && j * d->stride + d->offset[last] < size)
            last++;
        in->first[j] = first;
        in->last[j] = last;
    }
}

/* Sums over the taps of one dim, which becomes the phase's results: `outer` runs of `size`
 * positions of `inner` values each. */
static void sum_taps(double *out, const double *in, const struct conv_dim *d,
                     const struct inside *inside, int64_t outer, int64_t size, int64_t inner)
{
    memset(out, 0, (size_t)(outer * d->count * inner) * sizeof *out);
    for (int64_t o = 0; o < outer; o++) {
        for (int64_t j = 0; j < d->count; j++) {
            double *sum = out + (o * d->count + j) * inner;
            for (int64_t t = inside->first[j]; t < inside->last[j]; t++) {
                const double *term = in + (o * size + j * d->stride + d->offset[t]) * inner;
                for (int64_t i = 0; i < inner; i++)
                    sum[i] += term[i];
            }
        }
    }
}

/* One phase of a forward or backward data problem. */
struct patch {
    const struct conv_phase *phase;
    struct inside inside[3];
    double *taps;  /* [group][lane][prefix sums over taps of each dim], one longer than the taps */
    int64_t table; /* doubles a lane */
    double *sums, *spare;
};

/* Squares of the filter's taps in the phase's order, summed from the first tap on in each dim: any
 * box of taps takes eight of them. */
static void make_tables(struct patch *patch, const struct conv_shape *s, const double *squares,
                        bool forward)
{
    const struct conv_dim *d = patch->phase->dim;
    int64_t n0 = d[0].taps + 1, n1 = d[1].taps + 1, n2 = d[2].taps + 1,
            lanes = forward ? s->k : s->c;
    patch->table = n0 * n1 * n2;
    patch->taps = xcalloc((size_t)(s->g * lanes * patch->table), sizeof *patch->taps);
    int64_t filter = volume(s->fil);
    for (int64_t lane = 0; lane < s->g * lanes; lane++) {
        double *table = patch->taps + lane * patch->table;
        for (int64_t a = 1; a < n0; a++) {
            for (int64_t b = 1; b < n1; b++) {
                for (int64_t c = 1; c < n2; c++) {
                    int64_t tap = (d[0].tap[a - 1] * s->fil[1] + d[1].tap[b - 1]) * s->fil[2] +
                                  d[2].tap[c - 1];
                    double row = table[(a * n1 + b) * n2 + c - 1] -
                                 table[(a * n1 + b - 1) * n2 + c - 1] -
                                 table[((a - 1) * n1 + b) * n2 + c - 1] +
                                 table[((a - 1) * n1 + b - 1) * n2 + c - 1];
                    table[(a * n1 + b) * n2 + c] =
                        squares[lane * filter + tap] + row + table[(a * n1 + b - 1) * n2 + c] +
                        table[((a - 1) * n1 + b) * n2 + c] - table[((a - 1) * n1 + b - 1) * n2 + c];
                }
            }
        }
    }
}

static double box(const struct patch *patch, const double *table, int64_t x, int64_t y, int64_t z)
{
    const struct conv_dim *d = patch->phase->dim;
    int64_t n1 = d[1].taps + 1, n2 = d[2].taps + 1;
    const struct inside *in = patch->inside;
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        int64_t a = i & 2 ? in[0].first[x] : in[0].last[x],
                b = i & 1 ? in[1].first[y] : in[1].last[y];
        const double *row = table + (a * n1 + b) * n2;
        double part = row[in[2].last[z]] - row[in[2].first[z]];
        sum += i == 0 || i == 3 ? part : -part;
    }
    return sum > 0 ? sum : 0;
}

static void patch_init(struct patch *patch, const struct conv_phase *phase,
                       const struct conv_shape *s, const double *squares, const int64_t source[3],
                       bool forward)
{
    *patch = (struct patch){.phase = phase};
    int64_t most = volume(source);
    for (int i = 0; i < 3; i++) {
        inside_init(&patch->inside[i], &phase->dim[i], source[i]);
        most *= phase->dim[i].count > source[i] ? phase->dim[i].count : source[i];
        most /= source[i];
    }
    patch->sums = xcalloc((size_t)most + 1, sizeof *patch->sums);
    patch->spare = xcalloc((size_t)most + 1, sizeof *patch->spare);
    make_tables(patch, s, squares, forward);
}

static void patch_release(struct patch *patch)
{
    for (int i = 0; i < 3; i++) {
        free(patch->inside[i].first);
        free(patch->inside[i].last);
    }
    free(patch->taps);
    free(patch->sums);
    free(patch->spare);
}

/* One row of results of a phase: what all its lanes share. */
struct row {
    double *ratio;  /* squared norm of the patch by the number of products */
    int32_t *terms; /* products */
    int64_t *kind; /* results whose taps inside are the same share a kind, numbered along the row */
    int64_t kinds, count;
    double *weights; /* [kind][lane]: squared norm of the taps inside */
};

static void row_init(struct row *row, const struct patch *patch, int64_t lanes)
{
    const struct inside *in = &patch->inside[2];
    *row = (struct row){.count = patch->phase->dim[2].count};
    row->ratio = xcalloc((size_t)row->count + 1, sizeof *row->ratio);
    row->terms = xcalloc((size_t)row->count + 1, sizeof *row->terms);
    row->kind = xcalloc((size_t)row->count + 1, sizeof *row->kind);
    for (int64_t z = 0; z < row->count; z++) {
        bool same = z > 0 && in->first[z] == in->first[z - 1] && in->last[z] == in->last[z - 1];
        row->kinds += !same;
        row->kind[z] = row->kinds - 1;
    }
    row->weights = xcalloc((size_t)(row->kinds * lanes) + 1, sizeof *row->weights);
}

static void row_release(struct row *row)
{
    free(row->ratio);
    free(row->terms);
    free(row->kind);
    free(row->weights);
}

static void row_set(struct row *row, const struct patch *patch, int64_t x, int64_t y, int64_t inner,
                    const double *sums)
{
    const struct inside *in = patch->inside;
    int64_t taps = inner * (in[0].last[x] - in[0].first[x]) * (in[1].last[y] - in[1].first[y]);
    for (int64_t z = 0; z < row->count; z++) {
        row->terms[z] = (int32_t)(taps * (in[2].last[z] - in[2].first[z]));
        row->ratio[z] = row->terms[z] ? sums[z] / row->terms[z] : 0;
    }
}

/* Rows whose taps inside are those of the row before keep its weights. */
static void row_weigh(struct row *row, const struct patch *patch, int64_t group, int64_t lanes,
                      int64_t x, int64_t y)
{
    for (int64_t z = 0; z < row->count; z++) {
        if (z > 0 && row->kind[z] == row->kind[z - 1])
            continue;
        for (int64_t lane = 0; lane < lanes; lane++)
            row->weights[row->kind[z] * lanes + lane] =
                box(patch, patch->taps + (group * lanes + lane) * patch->table, x, y, z);
    }
}

static void row_store(struct conv_answer *out, const struct row *row, int64_t lanes, int64_t at,
                      int64_t by_lane, int64_t by_result)
{
    if (by_lane == 1) {
        for (int64_t z = 0; z < row->count; z++, at += by_result) {
            const double *weights = row->weights + row->kind[z] * lanes;
            for (int64_t lane = 0; lane < lanes; lane++) {
                out->terms[at + lane] = row->terms[z];
                out->squares[at + lane] = row->ratio[z] * weights[lane];
            }
        }
        return;
    }
    for (int64_t lane = 0; lane < lanes; lane++, at += by_lane) {
        for (int64_t z = 0; z < row->count;) {
            int64_t kind = row->kind[z];
            double weight = row->weights[kind * lanes + lane];
            for (; z < row->count && row->kind[z] == kind; z++) {
                out->terms[at + z * by_result] = row->terms[z];
                out->squares[at + z * by_result] = row->ratio[z] * weight;
            }
        }
    }
}

/* The norms of all results of a phase in one group of one image; source: squares summed over the
 * group's channels. */
static void spread_norms(struct conv_answer *out, struct patch *patch,
                         const struct conv_view *result, const struct conv_shape *s,
                         const double *source, const int64_t size[3], int64_t image, int64_t group,
                         bool forward)
{
    const struct conv_dim *d = patch->phase->dim;
    const struct inside *in = patch->inside;
    int64_t lanes = forward ? s->k : s->c, inner = forward ? s->c : s->k;
    sum_taps(patch->sums, source, &d[0], &in[0], 1, size[0], size[1] * size[2]);
    sum_taps(patch->spare, patch->sums, &d[1], &in[1], d[0].count, size[1], size[2]);
    sum_taps(patch->sums, patch->spare, &d[2], &in[2], d[0].count * d[1].count, size[2], 1);
    const struct tensor *t = result->tensor;
    int64_t corner = image * t->stride[0] + group * t->stride[1] + d[2].first * result->by[2];
    struct row row;
    row_init(&row, patch, lanes);
    for (int64_t x = 0; x < d[0].count; x++) {
        for (int64_t y = 0; y < d[1].count; y++) {
            bool same =
                y > 0 && in[1].first[y] == in[1].first[y - 1] && in[1].last[y] == in[1].last[y - 1];
            row_set(&row, patch, x, y, inner, patch->sums + (x * d[1].count + y) * d[2].count);
            if (!same)
                row_weigh(&row, patch, group, lanes, x, y);
            row_store(out, &row, lanes,
                      corner + (d[0].first + x * d[0].step) * result->by[0] +
                          (d[1].first + y * d[1].step) * result->by[1],
                      t->stride[2], d[2].step * result->by[2]);
        }
    }
    row_release(&row);
}

/* Squares of the filter by [group][lane][tap], summed over the inner channels. */
static double *filter_squares(const struct conv_shape *s, const struct tensor *t,
                              const struct conv_kernels *kernels, bool forward)
{
    struct conv_view v;
    conv_view_of(&v, t, s, OPERAND_FILTER);
    int64_t lanes = forward ? s->k : s->c, filter = volume(s->fil);
    double *squares = xcalloc((size_t)(s->g * lanes * filter), sizeof *squares),
           *row = xcalloc((size_t)s->fil[2], sizeof *row);
    for (int64_t g = 0; g < s->g; g++) {
        for (int64_t k = 0; k < s->k; k++) {
            for (int64_t c = 0; c < s->c; c++) {
                double *sums = squares + (g * lanes + (forward ? k : c)) * filter;
                for (int64_t at = 0; at < s->fil[0] * s->fil[1]; at++)
                    add_row(sums + at * s->fil[2], row, &v, kernels,
                            g * t->stride[0] + k * t->stride[1] + c * t->stride[2] +
                                at / s->fil[1] * v.by[0] + at % s->fil[1] * v.by[1]);
            }
        }
    }
    free(row);
    return squares;
}

static void spread_bounds(struct conv_answer *out, const struct conv_shape *s,
                          const struct problem *p, const struct tensor tensors[3],
                          const struct conv_kernels *kernels)
{
    bool forward = p->direction == DIRECTION_FWD;
    enum operand from = forward ? OPERAND_INPUT : OPERAND_OUTPUT, to = problem_result(p);
    struct conv_view source, result;
    conv_view_of(&source, &tensors[from], s, from);
    conv_view_of(&result, &tensors[to], s, to);
    struct conv_view rows = source;
    join_rows(&rows);
    struct conv_phases phases;
    conv_phases_init(&phases, s, p->direction);
    double *filter = filter_squares(s, &tensors[OPERAND_FILTER], kernels, forward);
    struct patch *patches = xcalloc((size_t)phases.count, sizeof *patches);
    for (int64_t i = 0; i < phases.count; i++)
        patch_init(&patches[i], &phases.phases[i], s, filter, source.size, forward);
    int64_t size = volume(source.size);
    double *squares = xcalloc((size_t)(s->g * size), sizeof *squares);
    for (int64_t n = 0; n < s->n; n++) {
        memset(squares, 0, (size_t)(s->g * size) * sizeof *squares);
        add_squares(squares, &rows, kernels, n, forward ? s->c : s->k);
        for (int64_t g = 0; g < s->g; g++) {
            for (int64_t i = 0; i < phases.count; i++)
                spread_norms(out, &patches[i], &result, s, squares + g * size, source.size, n, g,
                             forward);
        }
    }
    for (int64_t i = 0; i < phases.count; i++)
        patch_release(&patches[i]);
    free(patches);
    free(filter);
    free(squares);
    conv_phases_release(&phases);
}

/* sums[position][channel of all groups] += the squares of one image. */
static void add_channel_squares(double *sums, const struct conv_view *v,
                                const struct conv_kernels *k, int64_t image)
{
    int64_t channels = v->groups * v->channels, count = v->size[2] * channels;
    double *row = xcalloc((size_t)count, sizeof *row);
    for (int64_t at = 0; at < v->size[0] * v->size[1]; at++, sums += count) {
        struct conv_slab slab = {.images = 1,
                                 .low = {at / v->size[1], at % v->size[1], 0},
                                 .size = {1, 1, v->size[2]},
                                 .step = {1, 1, 1},
                                 .pitch = channels};
        conv_slab_fill_all(row, &slab, v, k, image);
        for (int64_t i = 0; i < count; i++)
            sums[i] += row[i] * row[i];
    }
    free(row);
}

/* out[channel] = the squares at outputs [first, last) of each dim, moved by the stride and the
 * tap's offset. */
static void sum_moved(double *out, int64_t channels, const double *squares, const int64_t size[3],
                      const int64_t first[3], const int64_t last[3], const int64_t stride[3],
                      const int64_t offset[3])
{
    memset(out, 0, (size_t)channels * sizeof *out);
    for (int64_t x = first[0]; x < last[0]; x++) {
        for (int64_t y = first[1]; y < last[1]; y++) {
            int64_t row =
                ((x * stride[0] + offset[0]) * size[1] + y * stride[1] + offset[1]) * size[2] +
                offset[2];
            for (int64_t z = first[2]; z < last[2]; z++) {
                const double *at = squares + (row + z * stride[2]) * channels;
                for (int64_t c = 0; c < channels; c++)
                    out[c] += at[c];
            }
        }
    }
}

/* The norms of one tap: of each input channel where the tap meets it, and of each output channel.
 */
static void gather_tap(struct conv_answer *out, const struct conv_shape *s, const struct tensor *t,
                       int64_t at, int64_t terms, const double *by_c, const double *by_k)
{
    for (int64_t g = 0; g < s->g; g++) {
        for (int64_t k = 0; k < s->k; k++) {
            for (int64_t c = 0; c < s->c; c++) {
                int64_t to = at + g * t->stride[0] + k * t->stride[1] + c * t->stride[2];
                out->terms[to] = (int32_t)terms;
                out->squares[to] =
                    terms ? by_c[g * s->c + c] * by_k[g * s->k + k] / (double)terms : 0;
            }
        }
    }
}

static void gather_bounds(struct conv_answer *out, const struct conv_shape *s,
                          const struct tensor tensors[3], const struct conv_kernels *kernels)
{
    struct conv_view x, y, w;
    conv_view_of(&x, &tensors[OPERAND_INPUT], s, OPERAND_INPUT);
    conv_view_of(&y, &tensors[OPERAND_OUTPUT], s, OPERAND_OUTPUT);
    conv_view_of(&w, &tensors[OPERAND_FILTER], s, OPERAND_FILTER);
    int64_t inputs = s->g * s->c, outputs = s->g * s->k;
    double *from_x = xcalloc((size_t)(inputs * volume(s->in)), sizeof *from_x),
           *from_y = xcalloc((size_t)(outputs * volume(s->out)), sizeof *from_y),
           *by_c = xcalloc((size_t)inputs, sizeof *by_c),
           *by_k = xcalloc((size_t)outputs, sizeof *by_k);
    for (int64_t n = 0; n < s->n; n++) {
        add_channel_squares(from_x, &x, kernels, n);
        add_channel_squares(from_y, &y, kernels, n);
    }
    static const int64_t stay[3] = {1, 1, 1}, nowhere[3] = {0, 0, 0};
    for (int64_t tap = 0; tap < volume(s->fil); tap++) {
        int64_t r[3] = {tap / (s->fil[1] * s->fil[2]), tap / s->fil[2] % s->fil[1],
                        tap % s->fil[2]};
        int64_t first[3], last[3], offset[3], terms = s->n, at = 0;
        for (int i = 0; i < 3; i++) {
            conv_reach(&first[i], &last[i], s, i, r[i]);
            terms *= last[i] > first[i] ? last[i] - first[i] : 0;
            offset[i] = r[i] * s->dil[i] - s->lo[i];
            at += r[i] * w.by[i];
        }
        if (terms) {
            sum_moved(by_c, inputs, from_x, s->in, first, last, s->str, offset);
            sum_moved(by_k, outputs, from_y, s->out, first, last, stay, nowhere);
        }
        gather_tap(out, s, w.tensor, at, terms, by_c, by_k);
    }
    free(from_x);
    free(from_y);
    free(by_c);
    free(by_k);
}

void conv_bounds(struct conv_answer *out, const struct conv_shape *s, const struct problem *p,
                 const struct tensor tensors[3])
{
    const struct conv_kernels *kernels = conv_kernels_best();
    out->squares = conv_array(out->elements, sizeof *out->squares);
    out->terms = conv_array(out->elements, sizeof *out->terms);
    if (p->direction == DIRECTION_BWD_WEIGHT)
        gather_bounds(out, s, tensors, kernels);
    else
        spread_bounds(out, s, p, tensors, kernels);
}
