#include "reference/conv.h"

#include "src/mem.h"

#include <string.h>

/* A problem with its dims filled up to three (leading ones of size 1), and its operands widened to double in logical order. */
struct loops {
    int64_t n, g, c, k; /* c, k per group */
    int64_t in[3], fil[3], out[3], str[3], dil[3], lo[3];
    double *input, *filter, *output; /* the two operands; the third is NULL */
};

static double *widen(const struct tensor *t)
{
    double *wide = xmalloc((size_t)t->elements * sizeof *wide);
    for (int64_t offset = 0; offset < t->elements; offset++) {
        int64_t index[TENSOR_MAX_RANK], position = 0;
        tensor_coordinates(index, t, offset);
        for (int i = 0; i < t->rank; i++)
            position = position * t->size[i] + index[i];
        wide[position] = tensor_get(t, offset);
    }
    return wide;
}

static void set_loops(struct loops *l, const struct problem *p, const struct tensor tensors[3])
{
    *l = (struct loops){.n = p->n, .g = p->g, .c = p->c / p->g, .k = p->k / p->g};
    for (int i = 0; i < 3; i++) {
        int d = i - (3 - p->dims);
        bool filler = d < 0;
        l->in[i] = filler ? 1 : p->in[d];
        l->fil[i] = filler ? 1 : p->fil[d];
        l->out[i] = filler ? 1 : problem_out(p, d);
        l->str[i] = filler ? 1 : p->str[d];
        l->dil[i] = filler ? 1 : p->dil[d];
        l->lo[i] = filler ? 0 : p->pad_lo[d];
    }
    enum operand result = problem_result(p);
    l->input = result == OPERAND_INPUT ? NULL : widen(&tensors[OPERAND_INPUT]);
    l->filter = result == OPERAND_FILTER ? NULL : widen(&tensors[OPERAND_FILTER]);
    l->output = result == OPERAND_OUTPUT ? NULL : widen(&tensors[OPERAND_OUTPUT]);
}

static void release_loops(struct loops *l)
{
    free(l->input);
    free(l->filter);
    free(l->output);
}

/* The input position that output position o and tap r meet at, in dim i; it may lie in the padding. */
static int64_t meet(const struct loops *l, int i, int64_t o, int64_t r)
{
    return o * l->str[i] + r * l->dil[i] - l->lo[i];
}

static bool inside(const struct loops *l, int i, int64_t position)
{
    return position >= 0 && position < l->in[i];
}

/* The outputs [first, end) of the innermost dim whose tap r lies inside the input. */
static void inner_range(int64_t *first, int64_t *end, const struct loops *l, int64_t r)
{
    int64_t start = meet(l, 2, 0, r), str = l->str[2];
    *first = start >= 0 ? 0 : (-start + str - 1) / str;
    *end = start >= l->in[2] ? 0 : (l->in[2] - 1 - start) / str + 1;
    *end = *end < l->out[2] ? *end : l->out[2];
}

static const double *input_row(const struct loops *l, int64_t n, int64_t g, int64_t c, int64_t d, int64_t h)
{
    return l->input + ((((n * l->g + g) * l->c + c) * l->in[0] + d) * l->in[1] + h) * l->in[2];
}

static const double *output_row(const struct loops *l, int64_t n, int64_t g, int64_t k, int64_t d, int64_t h)
{
    return l->output + ((((n * l->g + g) * l->k + k) * l->out[0] + d) * l->out[1] + h) * l->out[2];
}

static double filter_at(const struct loops *l, int64_t g, int64_t k, int64_t c, int64_t z, int64_t y, int64_t x)
{
    return l->filter[((((g * l->k + k) * l->c + c) * l->fil[0] + z) * l->fil[1] + y) * l->fil[2] + x];
}

/* Sums of one row of results. */
struct row {
    double *value, *squares;
    int32_t *terms;
};

static void add_product(struct row *r, int64_t at, double product)
{
    r->value[at] += product;
    r->squares[at] += product * product;
    r->terms[at]++;
}

/* All products that one row of outputs takes from one row of inputs. */
static void forward_taps(struct row *r, const struct loops *l, const double *x, int64_t g, int64_t k, int64_t c, int64_t z, int64_t y)
{
    for (int64_t tap = 0; tap < l->fil[2]; tap++) {
        int64_t first, end;
        double w = filter_at(l, g, k, c, z, y, tap);
        inner_range(&first, &end, l, tap);
        const double *from = x + meet(l, 2, 0, tap);
        for (int64_t o = first; o < end; o++)
            add_product(r, o, from[o * l->str[2]] * w);
    }
}

static void forward_row(struct row *r, const struct loops *l, int64_t n, int64_t g, int64_t k, int64_t d, int64_t h)
{
    for (int64_t c = 0; c < l->c; c++) {
        for (int64_t z = 0; z < l->fil[0]; z++) {
            int64_t id = meet(l, 0, d, z);
            for (int64_t y = 0; inside(l, 0, id) && y < l->fil[1]; y++) {
                int64_t ih = meet(l, 1, h, y);
                if (inside(l, 1, ih))
                    forward_taps(r, l, input_row(l, n, g, c, id, ih), g, k, c, z, y);
            }
        }
    }
}

/* Rows of results, one after the other in logical order. */
static void next_row(struct row *r, int64_t length)
{
    r->value += length;
    r->squares += length;
    r->terms += length;
}

static void forward(struct row r, const struct loops *l)
{
    for (int64_t n = 0; n < l->n; n++)
        for (int64_t g = 0; g < l->g; g++)
            for (int64_t k = 0; k < l->k; k++)
                for (int64_t d = 0; d < l->out[0]; d++)
                    for (int64_t h = 0; h < l->out[1]; h++, next_row(&r, l->out[2]))
                        forward_row(&r, l, n, g, k, d, h);
}

/* The output position whose tap r meets input position i in dim `dim`; false when there is none. */
static bool meets(int64_t *o, const struct loops *l, int dim, int64_t i, int64_t r)
{
    int64_t distance = i + l->lo[dim] - r * l->dil[dim];
    *o = distance / l->str[dim];
    return distance >= 0 && distance % l->str[dim] == 0 && *o < l->out[dim];
}

static void data_taps(struct row *r, const struct loops *l, const double *dy, int64_t g, int64_t k, int64_t c, int64_t z, int64_t y)
{
    for (int64_t tap = 0; tap < l->fil[2]; tap++) {
        int64_t first, end;
        double w = filter_at(l, g, k, c, z, y, tap);
        inner_range(&first, &end, l, tap);
        for (int64_t o = first; o < end; o++)
            add_product(r, meet(l, 2, o, tap), dy[o] * w);
    }
}

static void data_row(struct row *r, const struct loops *l, int64_t n, int64_t g, int64_t c, int64_t d, int64_t h)
{
    for (int64_t k = 0; k < l->k; k++) {
        for (int64_t z = 0; z < l->fil[0]; z++) {
            for (int64_t y = 0; y < l->fil[1]; y++) {
                int64_t od, oh;
                if (meets(&od, l, 0, d, z) && meets(&oh, l, 1, h, y))
                    data_taps(r, l, output_row(l, n, g, k, od, oh), g, k, c, z, y);
            }
        }
    }
}

static void backward_data(struct row r, const struct loops *l)
{
    for (int64_t n = 0; n < l->n; n++)
        for (int64_t g = 0; g < l->g; g++)
            for (int64_t c = 0; c < l->c; c++)
                for (int64_t d = 0; d < l->in[0]; d++)
                    for (int64_t h = 0; h < l->in[1]; h++, next_row(&r, l->in[2]))
                        data_row(&r, l, n, g, c, d, h);
}

/* One row of taps: everything that two rows of input and output give to it. */
static void weight_taps(struct row *r, const struct loops *l, const double *x, const double *dy)
{
    for (int64_t tap = 0; tap < l->fil[2]; tap++) {
        int64_t first, end;
        inner_range(&first, &end, l, tap);
        const double *from = x + meet(l, 2, 0, tap);
        for (int64_t o = first; o < end; o++)
            add_product(r, tap, from[o * l->str[2]] * dy[o]);
    }
}

static void weight_row(struct row *r, const struct loops *l, int64_t g, int64_t k, int64_t c, int64_t z, int64_t y)
{
    for (int64_t n = 0; n < l->n; n++) {
        for (int64_t d = 0; d < l->out[0]; d++) {
            int64_t id = meet(l, 0, d, z);
            for (int64_t h = 0; inside(l, 0, id) && h < l->out[1]; h++) {
                int64_t ih = meet(l, 1, h, y);
                if (inside(l, 1, ih))
                    weight_taps(r, l, input_row(l, n, g, c, id, ih), output_row(l, n, g, k, d, h));
            }
        }
    }
}

static void backward_weight(struct row r, const struct loops *l)
{
    for (int64_t g = 0; g < l->g; g++)
        for (int64_t k = 0; k < l->k; k++)
            for (int64_t c = 0; c < l->c; c++)
                for (int64_t z = 0; z < l->fil[0]; z++)
                    for (int64_t y = 0; y < l->fil[1]; y++, next_row(&r, l->fil[2]))
                        weight_row(&r, l, g, k, c, z, y);
}

/* From logical order to the order of the result tensor's memory. */
static void scatter(struct conv_answer *out, const struct conv_answer *logical, const struct tensor *t)
{
    for (int64_t offset = 0; offset < t->elements; offset++) {
        int64_t index[TENSOR_MAX_RANK], position = 0;
        tensor_coordinates(index, t, offset);
        for (int i = 0; i < t->rank; i++)
            position = position * t->size[i] + index[i];
        out->value[offset] = logical->value[position];
        out->squares[offset] = logical->squares[position];
        out->terms[offset] = logical->terms[position];
    }
}

static void allocate(struct conv_answer *a, int64_t elements)
{
    size_t count = (size_t)elements;
    *a = (struct conv_answer){.elements = elements, .value = xcalloc(count, sizeof *a->value), .squares = xcalloc(count, sizeof *a->squares),
                              .terms = xcalloc(count, sizeof *a->terms)};
}

void conv_answer_release(struct conv_answer *answer)
{
    free(answer->value);
    free(answer->squares);
    free(answer->terms);
    *answer = (struct conv_answer){0};
}

int conv_direct(struct conv_answer *out, const struct problem *p, const struct tensor tensors[3])
{
    struct loops l;
    struct conv_answer logical;
    const struct tensor *result = &tensors[problem_result(p)];
    int status = problem_check(p);
    if (status < 0)
        return status;
    set_loops(&l, p, tensors);
    allocate(&logical, result->elements);
    struct row first = {.value = logical.value, .squares = logical.squares, .terms = logical.terms};
    switch (p->direction) {
    case DIRECTION_FWD:
        forward(first, &l);
        break;
    case DIRECTION_BWD_DATA:
        backward_data(first, &l);
        break;
    case DIRECTION_BWD_WEIGHT:
        backward_weight(first, &l);
        break;
    }
    release_loops(&l);
    allocate(out, result->elements);
    scatter(out, &logical, result);
    conv_answer_release(&logical);
    return 0;
}
