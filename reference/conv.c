#include "reference/conv_internal.h"

#include "src/err.h"
#include "src/mem.h"

#include <stdlib.h>
#include <string.h>

/* Operands in logical order (tensor.h), the result starting at zero. Integer problems use `whole`,
 * all others `real`, by enum operand. */
struct work {
    struct conv_shape s;
    double *real[3];
    int64_t *whole[3];
    double *squares;
};

/* Adds the products of one filter element with one run of `count` neighbouring outputs: y, y + 1,
 * ... meet x, x + str, ... and w, which index the arrays. All bounds were tested before. */
typedef void add_run(struct work *job, int64_t x, int64_t w, int64_t y, int64_t count);

static void run_fwd(struct work *job, int64_t x, int64_t w, int64_t y, int64_t count)
{
    const double *in = job->real[OPERAND_INPUT] + x;
    double fil = job->real[OPERAND_FILTER][w];
    double *sum = job->real[OPERAND_OUTPUT] + y, *squares = job->squares + y;
    int64_t str = job->s.str[2];
    for (int64_t i = 0; i < count; i++) {
        double product = in[i * str] * fil;
        sum[i] += product;
        squares[i] += product * product;
    }
}

static void run_bwd_data(struct work *job, int64_t x, int64_t w, int64_t y, int64_t count)
{
    const double *out = job->real[OPERAND_OUTPUT] + y;
    double fil = job->real[OPERAND_FILTER][w];
    double *sum = job->real[OPERAND_INPUT] + x, *squares = job->squares + x;
    int64_t str = job->s.str[2];
    for (int64_t i = 0; i < count; i++) {
        double product = out[i] * fil;
        sum[i * str] += product;
        squares[i * str] += product * product;
    }
}

static void run_bwd_weight(struct work *job, int64_t x, int64_t w, int64_t y, int64_t count)
{
    const double *in = job->real[OPERAND_INPUT] + x, *out = job->real[OPERAND_OUTPUT] + y;
    double sum = job->real[OPERAND_FILTER][w], squares = job->squares[w];
    int64_t str = job->s.str[2];
    for (int64_t i = 0; i < count; i++) {
        double product = in[i * str] * out[i];
        sum += product;
        squares += product * product;
    }
    job->real[OPERAND_FILTER][w] = sum;
    job->squares[w] = squares;
}

static void run_fwd_whole(struct work *job, int64_t x, int64_t w, int64_t y, int64_t count)
{
    const int64_t *in = job->whole[OPERAND_INPUT] + x;
    int64_t fil = job->whole[OPERAND_FILTER][w];
    int64_t *sum = job->whole[OPERAND_OUTPUT] + y;
    double *squares = job->squares + y;
    int64_t str = job->s.str[2];
    for (int64_t i = 0; i < count; i++) {
        int64_t product = in[i * str] * fil;
        sum[i] += product;
        squares[i] += (double)product * (double)product;
    }
}

static void run_bwd_data_whole(struct work *job, int64_t x, int64_t w, int64_t y, int64_t count)
{
    const int64_t *out = job->whole[OPERAND_OUTPUT] + y;
    int64_t fil = job->whole[OPERAND_FILTER][w];
    int64_t *sum = job->whole[OPERAND_INPUT] + x;
    double *squares = job->squares + x;
    int64_t str = job->s.str[2];
    for (int64_t i = 0; i < count; i++) {
        int64_t product = out[i] * fil;
        sum[i * str] += product;
        squares[i * str] += (double)product * (double)product;
    }
}

static void run_bwd_weight_whole(struct work *job, int64_t x, int64_t w, int64_t y, int64_t count)
{
    const int64_t *in = job->whole[OPERAND_INPUT] + x, *out = job->whole[OPERAND_OUTPUT] + y;
    int64_t str = job->s.str[2];
    for (int64_t i = 0; i < count; i++) {
        int64_t product = in[i * str] * out[i];
        job->whole[OPERAND_FILTER][w] += product;
        job->squares[w] += (double)product * (double)product;
    }
}

static add_run *const runs[][2] = {
    [DIRECTION_FWD] = {run_fwd, run_fwd_whole},
    [DIRECTION_BWD_DATA] = {run_bwd_data, run_bwd_data_whole},
    [DIRECTION_BWD_WEIGHT] = {run_bwd_weight, run_bwd_weight_whole},
};

/* One filter element over the planes of one input and one output channel that start at x and y. */
static void add_tap(struct work *job, add_run *run, int64_t x, int64_t w, int64_t y,
                    const int64_t r[3])
{
    const struct conv_shape *s = &job->s;
    int64_t first[3], last[3];
    for (int i = 0; i < 3; i++)
        conv_reach(&first[i], &last[i], s, i, r[i]);
    if (first[2] >= last[2])
        return;
    int64_t column = first[2] * s->str[2] + r[2] * s->dil[2] - s->lo[2];
    for (int64_t d = first[0]; d < last[0]; d++) {
        int64_t in_d = d * s->str[0] + r[0] * s->dil[0] - s->lo[0];
        for (int64_t h = first[1]; h < last[1]; h++) {
            int64_t in_h = h * s->str[1] + r[1] * s->dil[1] - s->lo[1];
            run(job, x + (in_d * s->in[1] + in_h) * s->in[2] + column, w,
                y + (d * s->out[1] + h) * s->out[2] + first[2], last[2] - first[2]);
        }
    }
}

static void add_taps(struct work *job, add_run *run, int64_t x, int64_t w, int64_t y)
{
    int64_t r[3];
    for (r[0] = 0; r[0] < job->s.fil[0]; r[0]++)
        for (r[1] = 0; r[1] < job->s.fil[1]; r[1]++)
            for (r[2] = 0; r[2] < job->s.fil[2]; r[2]++)
                add_tap(job, run, x, w++, y, r);
}

static int64_t volume(const int64_t size[3])
{
    return size[0] * size[1] * size[2];
}

/* The definition in the header, for all directions: they sum the same products, each into its own
 * operand. */
static void convolve(struct work *job, add_run *run)
{
    const struct conv_shape *s = &job->s;
    int64_t x = volume(s->in), w = volume(s->fil), y = volume(s->out);
    for (int64_t n = 0; n < s->n; n++)
        for (int64_t g = 0; g < s->g; g++)
            for (int64_t k = 0; k < s->k; k++)
                for (int64_t c = 0; c < s->c; c++)
                    add_taps(job, run, ((n * s->g + g) * s->c + c) * x,
                             ((g * s->k + k) * s->c + c) * w, ((n * s->g + g) * s->k + k) * y);
}

static void widen(double *real, int64_t *whole, const struct tensor *t)
{
    int64_t index[TENSOR_MAX_RANK] = {0}, position = 0;
    for (int64_t offset = 0; offset >= 0; offset = tensor_next(t, index, offset), position++) {
        if (whole)
            whole[position] = (int64_t)tensor_get(t, offset);
        else
            real[position] = tensor_get(t, offset);
    }
}

/* How many products one position of the result takes along one dim: counted, since dims are
 * independent of each other. */
static int64_t *count_dim(const struct conv_shape *s, enum operand result, int dim)
{
    const int64_t sizes[] = {s->in[dim], s->fil[dim], s->out[dim]};
    int64_t *count = xcalloc((size_t)sizes[result], sizeof *count);
    for (int64_t r = 0; r < s->fil[dim]; r++) {
        int64_t first, last;
        conv_reach(&first, &last, s, dim, r);
        for (int64_t o = first; o < last; o++) {
            const int64_t at[] = {o * s->str[dim] + r * s->dil[dim] - s->lo[dim], r, o};
            count[at[result]]++;
        }
    }
    return count;
}

/* Sums from logical order to the result's memory order, with the number of products of each. */
static void store(struct conv_answer *out, const struct work *job, const struct tensor *t,
                  enum operand result)
{
    const struct conv_shape *s = &job->s;
    const int64_t channels[] = {s->k, s->n, s->c};
    int64_t *count[3], index[TENSOR_MAX_RANK] = {0}, position = 0;
    for (int i = 0; i < 3; i++)
        count[i] = count_dim(s, result, i);
    for (int64_t offset = 0; offset >= 0; position++) {
        int64_t terms = channels[result];
        for (int i = 0; i < 3; i++)
            terms *= count[i][i < 6 - t->rank ? 0 : index[t->rank - 3 + i]];
        out->terms[offset] = (int32_t)terms;
        out->squares[offset] = job->squares[position];
        out->value[offset] =
            job->whole[result] ? (double)job->whole[result][position] : job->real[result][position];
        offset = tensor_next(t, index, offset);
    }
    for (int i = 0; i < 3; i++)
        free(count[i]);
}

static void answer_init(struct conv_answer *out, int64_t elements)
{
    out->elements = elements;
    out->value = xcalloc((size_t)elements, sizeof *out->value);
    out->squares = xcalloc((size_t)elements, sizeof *out->squares);
    out->terms = xcalloc((size_t)elements, sizeof *out->terms);
}

static bool is_integer(const struct problem *p, enum operand o)
{
    return p->dtype[o] == DTYPE_I8 || p->dtype[o] == DTYPE_I32;
}

int conv_direct(struct conv_answer *out, const struct problem *p, const struct tensor tensors[3])
{
    int rc = problem_check(p);
    if (rc != 0)
        return rc;
    struct work job = {0};
    enum operand result = problem_result(p);
    bool whole = is_integer(p, result == OPERAND_INPUT ? OPERAND_FILTER : OPERAND_INPUT);
    conv_shape_of(&job.s, p);
    for (enum operand o = OPERAND_INPUT; o <= OPERAND_OUTPUT; o++) {
        size_t elements = (size_t)problem_elements(p, o);
        if (tensors[o].elements != (int64_t)elements || tensors[o].rank != p->dims + 3)
            bug("operand %d is not the problem's", (int)o);
        if (whole)
            job.whole[o] = xcalloc(elements, sizeof *job.whole[o]);
        else
            job.real[o] = xcalloc(elements, sizeof *job.real[o]);
        if (o != result)
            widen(job.real[o], job.whole[o], &tensors[o]);
    }
    job.squares = xcalloc((size_t)tensors[result].elements, sizeof *job.squares);
    convolve(&job, runs[p->direction][whole]);
    answer_init(out, tensors[result].elements);
    store(out, &job, &tensors[result], result);
    for (int o = 0; o < 3; o++) {
        free(job.real[o]);
        free(job.whole[o]);
    }
    free(job.squares);
    return 0;
}

void conv_answer_release(struct conv_answer *answer)
{
    free(answer->value);
    free(answer->squares);
    free(answer->terms);
    *answer = (struct conv_answer){0};
}
