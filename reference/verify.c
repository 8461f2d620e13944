#include "reference/verify.h"

#include "reference/conv_kernels.h"

#include "src/buf.h"
#include "src/err.h"
#include "src/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Standard deviations of the modelled error that a right result may be away: with 8, less than one
 * false alarm in 10^14 elements if the model holds. */
#define LAMBDA 8.0

enum { TAIL_BLOCK = 16 }; /* the block whose partial remainder is a tail: the smallest usual tile */

static const struct {
    const char *name;
    const char *words;     /* a result that fits it looks like ... */
    int bits;              /* of significand that integer data may use */
    double roundoff;       /* half an ulp at 1 */
    bool rounded_products; /* multiply, round, add, round */
    bool truncates;        /* adds towards zero */
    bool partials;         /* only a few partial sums are rounded, and added in f32 */
    double input_roundoff; /* of the operands before they are multiplied */
} accumulators[] = {
    [ACCUMULATOR_F32_FMA] = {.name = "fma",
                             .words = "fused sums in f32",
                             .bits = 24,
                             .roundoff = 0x1p-24},
    [ACCUMULATOR_F32] = {.name = "f32",
                         .words = "sums in f32",
                         .bits = 24,
                         .roundoff = 0x1p-24,
                         .rounded_products = true},
    [ACCUMULATOR_TRUNCATING] = {.name = "truncating",
                                .words = "truncating sums in f32",
                                .bits = 24,
                                .roundoff = 0x1p-24,
                                .rounded_products = true,
                                .truncates = true},
    [ACCUMULATOR_TF32] = {.name = "tf32",
                          .words = "operands cut to tf32",
                          .bits = 22,
                          .roundoff = 0x1p-24,
                          .input_roundoff = 0x1p-11},
    [ACCUMULATOR_SPLIT_F16] = {.name = "split-f16",
                               .words = "partial sums kept in f16",
                               .bits = 11,
                               .roundoff = 0x1p-11,
                               .partials = true},
    [ACCUMULATOR_F16] = {.name = "f16",
                         .words = "sums in f16",
                         .bits = 11,
                         .roundoff = 0x1p-11,
                         .rounded_products = true},
    [ACCUMULATOR_SPLIT_BF16] = {.name = "split-bf16",
                                .words = "partial sums kept in bf16",
                                .bits = 8,
                                .roundoff = 0x1p-8,
                                .partials = true},
    [ACCUMULATOR_BF16] = {.name = "bf16",
                          .words = "sums in bf16",
                          .bits = 8,
                          .roundoff = 0x1p-8,
                          .rounded_products = true},
    [ACCUMULATOR_I32] = {.name = "i32", .words = "sums in i32", .bits = 31, .roundoff = 0},
};

bool accumulator_parse(enum accumulator *out, const char *word)
{
    for (size_t i = 0; i < COUNT_OF(accumulators); i++) {
        if (strcmp(accumulators[i].name, word) == 0) {
            *out = (enum accumulator)i;
            return true;
        }
    }
    return false;
}

const char *accumulator_words(enum accumulator a)
{
    if ((unsigned)a >= COUNT_OF(accumulators))
        bug("accumulator %d", (int)a);
    return accumulators[a].words;
}

const char *accumulator_name(enum accumulator a)
{
    if ((unsigned)a >= COUNT_OF(accumulators))
        bug("accumulator %d", (int)a);
    return accumulators[a].name;
}

int accumulator_bits(enum accumulator a)
{
    if ((unsigned)a >= COUNT_OF(accumulators))
        bug("accumulator %d", (int)a);
    return accumulators[a].bits;
}

/* By dtype; integers have neither. */
static const double roundoffs[] = {
    [DTYPE_F32] = 0x1p-24,       [DTYPE_F16] = 0x1p-11,   [DTYPE_BF16] = 0x1p-8,
    [DTYPE_F8E4M3FN] = 0x1p-4,   [DTYPE_F8E5M2] = 0x1p-3, [DTYPE_F8E4M3FNUZ] = 0x1p-4,
    [DTYPE_F8E5M2FNUZ] = 0x1p-3, [DTYPE_I32] = 0};

/* u is half an ulp at 1, so this is the ulp at the smallest normal number. */
static double smallest_subnormal(enum dtype t)
{
    return dtype_is_float(t) ? 2 * roundoffs[t] * tensor_smallest_normal(t) : 0;
}

/* Half the smallest number of an accumulator with this roundoff: what a sum or a product below its
 * normal numbers is off by. */
static double half_subnormal(double u)
{
    return u == 0x1p-24 ? 0x1p-150 : u == 0x1p-11 ? 0x1p-25 : u == 0x1p-8 ? 0x1p-134 : 0;
}

/* The bound in verify.h. Converting to the accumulator's own type or a wider one rounds nothing. */
static struct conv_bound bound_of(enum accumulator a, enum dtype out)
{
    double u = accumulators[a].roundoff, u_in = accumulators[a].input_roundoff;
    double lu = LAMBDA * LAMBDA * u * u, lu_in = LAMBDA * LAMBDA * u_in * u_in;
    struct conv_bound b = {.q = lu_in * 2 / 3,
                           .y = 2 * u_in,
                           .k = 2 * half_subnormal(u),
                           .out = roundoffs[out] > u ? roundoffs[out] : 0,
                           .least = smallest_subnormal(out) / 2};
    if (accumulators[a].partials) {
        b.q += lu / 3;
        b.yy = lu / 3;
    } else {
        b.kq = lu / 6;
        b.kyy = lu / 9;
        b.q += accumulators[a].rounded_products ? lu / 3 : 0;
    }
    if (accumulators[a].truncates) {
        b.kr = 2 * u * 1.5;
        b.ky = 2 * u * 0.5;
    }
    return b;
}

static double tolerance(double y, double squares, double terms, const struct conv_bound *b)
{
    y = fabs(y);
    double sum = sqrt(terms * (b->kq * squares + b->kyy * y * y) + b->q * squares + b->yy * y * y);
    sum += b->y * y + terms * (b->kr * sqrt(squares) + b->ky * y + b->k);
    return sum + b->out * (y + sum) + b->least;
}

/* One element beside its answer. The ratio is error by tolerance: above 1 (or NaN's infinity) is
 * off. */
struct reading {
    double expected, actual, error, tolerance, ratio;
};

static double ratio_of(const struct reading *r)
{
    if (!isfinite(r->expected))
        return r->actual == r->expected || (isnan(r->actual) && isnan(r->expected)) ? 0 : INFINITY;
    if (isnan(r->actual))
        return INFINITY;
    if (r->error == 0)
        return 0;
    return r->tolerance > 0 ? r->error / r->tolerance : INFINITY;
}

/* An overflow that the type forces on the right value is right: infinity where the answer rounds to
 * it. */
static double error_of(double expected, double actual, double target)
{
    if (isinf(actual) && actual == target)
        return 0;
    return fabs(actual - expected);
}

/* Converting to 8 bits either saturates or not, as the OCP specification has it: where the answer
 * rounds beyond the largest number that one is right, and so is infinity, or NaN in types without.
 */
static bool is_forced(enum dtype t, double answer, double actual)
{
    if (!dtype_is_f8(t) || isnan(answer))
        return false;
    double largest = tensor_largest(t),
           half_ulp =
               largest * (t == DTYPE_F8E4M3FN || t == DTYPE_F8E4M3FNUZ ? 1.0 / 28 : 1.0 / 14);
    if (!(fabs(answer) > largest + half_ulp))
        return false;
    if (isnan(actual))
        return !tensor_has_infinity(t);
    return fabs(actual) >= largest && signbit(actual) == signbit(answer);
}

static void read_element(struct reading *r, const struct tensor *t,
                         const struct conv_answer *answer, int64_t at, bool exact,
                         const struct conv_bound *bound)
{
    double target = tensor_round(t->dtype, answer->value[at]);
    r->actual = tensor_get(t, at);
    r->expected = exact ? target : answer->value[at];
    r->error = error_of(r->expected, r->actual, target);
    r->tolerance = 0;
    if (!exact)
        r->tolerance = tolerance(r->expected, answer->squares[at], answer->terms[at], bound);
    bool forced = is_forced(t->dtype, answer->value[at], r->actual);
    if (forced)
        r->error = 0;
    r->ratio = forced ? 0 : ratio_of(r);
}

static const double bucket_edges[VERIFY_BUCKETS - 1] = {0, 0.125, 0.25, 0.5, 1, 2, 16};

static int bucket_of(double ratio)
{
    int bucket = 0;
    while (bucket < VERIFY_BUCKETS - 1 && ratio > bucket_edges[bucket])
        bucket++;
    return bucket;
}

static int group_axis(const struct problem *p)
{
    return p->direction == DIRECTION_BWD_WEIGHT ? 0 : 1;
}

static int channel_axis(const struct problem *p)
{
    return group_axis(p) + 1;
}

/* Channels of the result within a group, and its spatial sizes. */
static int64_t result_channels(const struct problem *p)
{
    return (p->direction == DIRECTION_BWD_DATA ? p->c : p->k) / p->g;
}

static int64_t result_size(const struct problem *p, int dim)
{
    switch (p->direction) {
    case DIRECTION_FWD:
        return problem_out(p, dim);
    case DIRECTION_BWD_DATA:
        return p->in[dim];
    case DIRECTION_BWD_WEIGHT:
        return p->fil[dim];
    }
    bug("direction %d", (int)p->direction);
}

/* Would a tap meet this input position from an output that is not there? */
static bool lacks_output(const struct problem *p, int dim, int64_t position)
{
    for (int64_t r = 0; r < p->fil[dim]; r++) {
        int64_t distance = position + p->pad_lo[dim] - r * p->dil[dim];
        if (distance % p->str[dim] != 0)
            continue;
        if (distance < 0 || distance / p->str[dim] >= problem_out(p, dim))
            return true;
    }
    return false;
}

static bool at_border(const struct problem *p, int dim, int64_t position)
{
    int64_t first = position * p->str[dim] - p->pad_lo[dim];
    switch (p->direction) {
    case DIRECTION_FWD:
        return first < 0 || first + (p->fil[dim] - 1) * p->dil[dim] >= p->in[dim];
    case DIRECTION_BWD_DATA:
        return lacks_output(p, dim, position);
    case DIRECTION_BWD_WEIGHT:
        return position != p->fil[dim] / 2;
    }
    bug("direction %d", (int)p->direction);
}

/* Not at the start of a stride: the sub-kernels of a strided backward data start at the padding. */
static bool off_phase(const struct problem *p, int dim, int64_t position)
{
    int64_t shift = p->direction == DIRECTION_BWD_DATA ? p->pad_lo[dim] : 0;
    return (position + shift) % p->str[dim] != 0;
}

/* An axis without one full block has no tail: there a tail would be everything. */
static bool in_tail(int64_t index, int64_t size)
{
    return size >= TAIL_BLOCK && index >= size - size % TAIL_BLOCK;
}

static void extend(int64_t *first, int64_t *last, int64_t index)
{
    if (*first < 0 || index < *first)
        *first = index;
    if (index > *last)
        *last = index;
}

static void note_place(struct verify_stats *s, const struct problem *p, const struct tensor *t,
                       int64_t offset)
{
    int64_t index[TENSOR_MAX_RANK];
    int phase = 0, last = t->rank - 1, channel = channel_axis(p);
    bool border = false;
    tensor_coordinates(index, t, offset);
    for (int i = 0; i < p->dims; i++) {
        border = border || at_border(p, i, index[3 + i]);
        phase = 2 * phase + off_phase(p, i, index[3 + i]);
    }
    s->at_border += border;
    s->by_phase[phase]++;
    s->in_tail += in_tail(index[channel], t->size[channel]) || in_tail(index[last], t->size[last]);
    extend(&s->by_group_first, &s->by_group_last, index[group_axis(p)]);
    extend(&s->channel_first, &s->channel_last, index[channel]);
}

static void note_mismatch(struct verify_stats *s, const struct reading *r, bool unwritten)
{
    s->mismatches++;
    s->unwritten += unwritten;
    s->nans += isnan(r->actual) && isfinite(r->expected) && !unwritten;
    s->infs += isinf(r->actual) && isfinite(r->expected);
}

/* The worst is the largest ratio; where exactness leaves only infinity, the largest error. */
static void note_worst(struct verify_stats *s, const struct reading *r, const struct tensor *t,
                       int64_t offset)
{
    if (r->ratio < s->worst_ratio)
        return;
    if (r->ratio == s->worst_ratio && !(r->error > s->worst_error))
        return;
    s->worst_ratio = r->ratio;
    s->worst_error = r->error;
    s->worst_expected = r->expected;
    s->worst_actual = r->actual;
    tensor_coordinates(s->worst_index, t, offset);
}

/* The largest ratio under another profile; more than 1 as soon as one element is. */
static double worst_under(const struct tensor *result, const struct conv_answer *answer,
                          enum accumulator a)
{
    double worst = 0;
    struct conv_bound bound = bound_of(a, result->dtype);
    for (int64_t i = 0; i < result->elements && worst <= 1; i++) {
        struct reading r;
        read_element(&r, result, answer, i, false, &bound);
        worst = fmax(worst, r.ratio);
    }
    return worst;
}

/* Could a device with these operands have the profile? Operands of 16 bits lose nothing in tf32. */
static bool is_possible(enum accumulator a, const struct problem *p)
{
    enum operand operand = problem_result(p) == OPERAND_INPUT ? OPERAND_FILTER : OPERAND_INPUT;
    return a != ACCUMULATOR_TF32 || p->dtype[operand] == DTYPE_F32;
}

/* A rounding that the profile does not have touches elements everywhere, while a lost product or a
 * wrong place touches some: only what is off widely is asked for its looks. The largest of n errors
 * lies about sqrt(2 ln n) deviations out, and the bound LAMBDA: of the profiles that all elements
 * fit, the one whose worst ratio is nearest to that. Devices of every profile had 0.6 to 1 times
 * it (test_verify: less_precision_is_flagged_and_named). */
static void find_looks(struct verify_stats *s, const struct problem *p, const struct tensor *result,
                       const struct conv_answer *answer, enum accumulator own)
{
    if (20 * s->mismatches < s->elements || s->nans + s->infs + s->unwritten > 0)
        return;
    double usual = 0.8 * sqrt(2 * log((double)s->elements + 1)) / LAMBDA;
    double nearest = 3; /* further off than e^3 even a profile that fits explains nothing */
    for (enum accumulator a = ACCUMULATOR_F32_FMA; a < ACCUMULATOR_I32; a++) {
        if (a == own || !is_possible(a, p))
            continue;
        double worst = worst_under(result, answer, a), distance = fabs(log(worst / usual));
        if (worst <= 1 && distance < nearest) {
            nearest = distance;
            s->looks_like = accumulators[a].words;
        }
    }
}

/* What measuring an element takes. */
struct measuring {
    struct verify_stats *out;
    const struct problem *p;
    const struct tensor *result;
    const struct conv_answer *answer;
    const struct conv_kernels *kernels;
    struct conv_bound bound;
    bool exact;
    int poison_round;
};

static void measure_element(const struct measuring *m, int64_t i)
{
    struct reading r;
    struct verify_stats *out = m->out;
    read_element(&r, m->result, m->answer, i, m->exact, &m->bound);
    bool unwritten =
        (r.ratio > 1 || isnan(r.expected)) && tensor_is_poison(m->result, i, m->poison_round);
    bool telling = !dtype_is_f8(m->result->dtype); /* those have no NaN to spare */
    if (isnan(r.expected) && unwritten && telling) /* poison is NaN as well */
        r.ratio = INFINITY;
    out->zeros += r.actual == 0;
    out->histogram[bucket_of(r.ratio)]++;
    out->max_tolerance = fmax(out->max_tolerance, r.tolerance);
    note_worst(out, &r, m->result, i);
    if (r.ratio > 1) {
        note_mismatch(out, &r, unwritten);
        note_place(out, m->p, m->result, i);
    }
}

/* Elements that are looked at together: when all are right, which is usual, a few sums say it. */
enum { CHUNK = 512 };

static void note_worst_of(const struct measuring *m, int64_t first, int64_t count, double ratio)
{
    for (int64_t i = first; i < first + count; i++) {
        struct reading r;
        read_element(&r, m->result, m->answer, i, m->exact, &m->bound);
        if (r.ratio >= ratio * (1 - 1e-12)) {
            note_worst(m->out, &r, m->result, i);
            return;
        }
    }
}

/* True when the chunk holds nothing but right elements, and is measured. */
static bool measure_exact_chunk(const struct measuring *m, const double *actual, int64_t first,
                                int64_t count)
{
    const double *answer = m->answer->value + first;
    int64_t equal = 0, zeros = 0;
    for (int64_t i = 0; i < count; i++) {
        equal += actual[i] == answer[i];
        zeros += actual[i] == 0;
    }
    if (equal < count)
        return false;
    if (m->out->worst_ratio < 0)
        note_worst_of(m, first, 1, 0);
    m->out->zeros += zeros;
    m->out->histogram[0] += count;
    return true;
}

static bool measure_real_chunk(const struct measuring *m, const double *actual, int64_t first,
                               int64_t count)
{
    struct verify_stats *out = m->out;
    struct conv_ratios r;
    const struct conv_beside beside = {.actual = actual,
                                       .answer = m->answer->value + first,
                                       .squares = m->answer->squares + first,
                                       .terms = m->answer->terms + first,
                                       .count = count};
    m->kernels->ratios(&r, &beside, &m->bound, bucket_edges);
    if (!(r.largest_ratio < 1))
        return false;
    if (r.largest_ratio > out->worst_ratio)
        note_worst_of(m, first, count, r.largest_ratio);
    out->zeros += r.zeros;
    out->max_tolerance = fmax(out->max_tolerance, r.largest_tolerance);
    out->histogram[0] += count - r.above[0];
    for (int i = 0; i + 1 < CONV_EDGES; i++)
        out->histogram[i + 1] += r.above[i] - r.above[i + 1];
    return true;
}

void verify_measure(struct verify_stats *out, const struct problem *p, const struct tensor *result,
                    const struct conv_answer *answer, enum data_kind kind,
                    enum accumulator accumulator, int poison_round)
{
    if (answer->elements != result->elements)
        bug("%lld answers for %lld elements", (long long)answer->elements,
            (long long)result->elements);
    *out = (struct verify_stats){.elements = result->elements,
                                 .worst_ratio = -1,
                                 .by_group_first = -1,
                                 .by_group_last = -1,
                                 .channel_first = -1,
                                 .channel_last = -1};
    struct measuring m = {.out = out,
                          .p = p,
                          .result = result,
                          .answer = answer,
                          .kernels = conv_kernels_best(),
                          .bound = bound_of(accumulator, result->dtype),
                          .exact = data_kind_is_exact(kind) || accumulator == ACCUMULATOR_I32,
                          .poison_round = poison_round};
    for (int64_t at = 0; at < result->elements; at += CHUNK) {
        double actual[CHUNK];
        int64_t count = result->elements - at < CHUNK ? result->elements - at : CHUNK;
        m.kernels->widen(actual,
                         &(struct conv_run){.data = (const char *)result->data +
                                                    at * (int64_t)dtype_bytes(result->dtype),
                                            .dtype = result->dtype,
                                            .stride = 1,
                                            .count = count});
        bool measured = (m.exact ? measure_exact_chunk : measure_real_chunk)(&m, actual, at, count);
        for (int64_t i = at; i < at + count && !measured; i++)
            measure_element(&m, i);
    }
    tensor_guard_damage(&out->guard_low, &out->guard_high, result);
    if (!m.exact)
        find_looks(out, p, result, answer, accumulator);
}

/* What verify_measure would say of a result that is exactly right. */
static void measure_right(struct verify_stats *out, const struct tensor *result, int64_t zeros)
{
    *out = (struct verify_stats){.elements = result->elements,
                                 .zeros = zeros,
                                 .histogram = {result->elements},
                                 .by_group_first = -1,
                                 .by_group_last = -1,
                                 .channel_first = -1,
                                 .channel_last = -1};
    tensor_guard_damage(&out->guard_low, &out->guard_high, result);
}

int verify_result(struct verify_stats *out, struct verify_others *others, const struct problem *p,
                  const struct tensor tensors[3], enum data_kind kind, enum accumulator accumulator,
                  uint64_t seed, int poison_round)
{
    const struct tensor *result = &tensors[problem_result(p)];
    enum exact_answer exact = EXACT_UNSURE;
    int64_t zeros;
    if (data_kind_is_exact(kind))
        exact = exact_check(&zeros, p, tensors, kind, accumulator_bits(accumulator), seed);
    if (exact == EXACT_RIGHT) {
        measure_right(out, result, zeros);
        return 0;
    }
    struct conv_answer answer;
    struct conv_options options = {.values_only = data_kind_is_exact(kind)};
    int status = conv_reference(&answer, p, tensors, &options);
    if (status < 0)
        return status;
    verify_measure(out, p, result, &answer, kind, accumulator, poison_round);
    if (others && !data_kind_is_exact(kind))
        verify_as_others(others, result, &answer);
    conv_answer_release(&answer);
    if (exact == EXACT_WRONG && out->mismatches == 0)
        return err_set(ERR_FOREIGN, "projection finds a fault that the reference does not: one of "
                                    "assay's two references is wrong");
    return 0;
}

static bool all_whole(const struct tensor *t)
{
    for (int64_t i = 0; i < t->elements; i++) {
        double value = tensor_get(t, i);
        if (!isfinite(value) || value != trunc(value))
            return false;
    }
    return true;
}

bool verify_is_exact(const struct problem *p, const struct tensor tensors[3],
                     const struct conv_answer *answer, enum accumulator accumulator)
{
    double most = ldexp(1, accumulator_bits(accumulator));
    for (int64_t i = 0; i < answer->elements; i++) {
        double norm = answer->squares[i] * answer->terms[i];
        if (!(norm <= most * most))
            return false;
    }
    for (enum operand o = OPERAND_INPUT; o <= OPERAND_OUTPUT; o++) {
        if (o != problem_result(p) && !all_whole(&tensors[o]))
            return false;
    }
    return true;
}

void verify_as_others(struct verify_others *others, const struct tensor *result,
                      const struct conv_answer *answer)
{
    double squares = 0, largest = 0;
    others->beyond = 0;
    for (int64_t i = 0; i < result->elements; i++) {
        double actual = tensor_get(result, i), expected = answer->value[i];
        double error = error_of(expected, actual, tensor_round(result->dtype, expected));
        if (is_forced(result->dtype, expected, actual))
            continue;
        squares += error * error;
        largest = fmax(largest, fmax(fabs(expected), fabs(actual)));
        others->beyond += !(error <= others->atol + others->rtol * fabs(expected));
    }
    others->rms = squares == 0 ? 0 : sqrt(squares) / (sqrt((double)result->elements) * largest);
}

/* How much of the result has a property: all mismatches having it means little when most elements
 * do. */

static double border_share(const struct problem *p)
{
    double inside = 1;
    for (int dim = 0; dim < p->dims; dim++) {
        int64_t size = result_size(p, dim), border = 0;
        for (int64_t i = 0; i < size; i++)
            border += at_border(p, dim, i);
        inside *= 1 - (double)border / (double)size;
    }
    return 1 - inside;
}

static double phase_share(const struct problem *p, int phase)
{
    double share = 1;
    for (int dim = 0; dim < p->dims; dim++) {
        int64_t size = result_size(p, dim), off = 0;
        for (int64_t i = 0; i < size; i++)
            off += off_phase(p, dim, i);
        bool wanted = phase >> (p->dims - 1 - dim) & 1;
        share *= (double)(wanted ? off : size - off) / (double)size;
    }
    return share;
}

static double tail_share(const struct problem *p)
{
    const int64_t sizes[] = {result_channels(p), result_size(p, p->dims - 1)};
    double inside = 1;
    for (int i = 0; i < 2; i++)
        if (sizes[i] >= TAIL_BLOCK)
            inside *= 1 - (double)(sizes[i] % TAIL_BLOCK) / (double)sizes[i];
    return 1 - inside;
}

/* Do all mismatches share a property that so many elements hardly share by chance? */
static bool tells(int64_t with, double share, const struct verify_stats *s)
{
    return with == s->mismatches && pow(share, (double)with) < 0.01;
}

static bool say_phase(struct buf *out, const struct problem *p, const struct verify_stats *s)
{
    if (p->direction == DIRECTION_BWD_WEIGHT)
        return false; /* taps have no phases of their own */
    for (int i = 0; i < 8; i++) {
        if (tells(s->by_phase[i], phase_share(p, i), s)) {
            buf_printf(out, " phase %d", i);
            return true;
        }
    }
    bool off = tells(s->mismatches - s->by_phase[0], 1 - phase_share(p, 0), s);
    if (off)
        buf_add_text(out, " phase>0");
    return off;
}

static bool say_group(struct buf *out, const struct problem *p, const struct verify_stats *s)
{
    double groups = (double)p->g;
    if (p->g < 2 || s->by_group_first == 0)
        return false;
    bool last = p->g > 2 && s->by_group_first == p->g - 1;
    bool told = tells(s->mismatches, last ? 1 / groups : (groups - 1) / groups, s);
    if (told)
        buf_add_text(out, last ? " last group" : " group>0");
    return told;
}

static bool say_property(struct buf *out, const char *word, int64_t with, double share,
                         const struct verify_stats *s)
{
    bool told = tells(with, share, s);
    if (told)
        buf_printf(out, " %s", word);
    return told;
}

/* What most of the wrong elements hold; nothing when they are ordinary numbers. */
static bool say_kind(struct buf *out, const struct verify_stats *s)
{
    const char *kind = NULL;
    if (2 * s->unwritten > s->mismatches)
        kind = " unwritten";
    else if (2 * s->nans > s->mismatches)
        kind = " nan";
    else if (2 * s->infs > s->mismatches)
        kind = " inf";
    else if (s->zeros == s->elements)
        kind = " all zero";
    if (kind)
        buf_add_text(out, kind);
    return kind != NULL;
}

static void say_mismatches(struct buf *out, const struct problem *p, const struct verify_stats *s)
{
    bool kind = say_kind(out, s);
    bool placed = say_phase(out, p, s);
    placed |= say_property(out, "border", s->at_border, border_share(p), s);
    placed |= say_property(out, "tail", s->in_tail, tail_share(p), s);
    placed |= say_group(out, p, s);
    if (placed)
        return;
    if (2 * s->mismatches < s->elements)
        buf_add_text(out, s->mismatches == 1 ? " one element" : " in part");
    else if (!kind)
        buf_add_text(out, " everywhere");
}

const char *verify_signature(char *text, size_t size, const struct problem *p,
                             const struct verify_stats *s)
{
    struct buf words;
    buf_init(&words, BUF_MAX_LINE);
    if (s->mismatches > 0)
        say_mismatches(&words, p, s);
    if (s->guard_low > 0)
        buf_add_text(&words, " guard low");
    if (s->guard_high > 0)
        buf_add_text(&words, " guard high");
    snprintf(text, size, "%s", words.length > 0 ? words.data + 1 : "");
    buf_release(&words);
    return text;
}
