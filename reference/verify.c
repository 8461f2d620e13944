#include "reference/verify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Standard deviations of the modelled rounding error that a right result may be away: about 1e-15 an element (facts/reference.md 2.6). */
static const double LAMBDA = 8;

static const struct {
    const char *name;
    int bits;              /* of significand */
    double roundoff;       /* u: half an ulp at 1 */
    bool rounded_products; /* multiply, round, then add */
} accumulators[] = {
    [ACCUMULATOR_F32_FMA] = {"fma", 24, 0x1p-24, false},
    [ACCUMULATOR_F32] = {"f32", 24, 0x1p-24, true},
    [ACCUMULATOR_F16] = {"f16", 11, 0x1p-11, true},
    [ACCUMULATOR_I32] = {"i32", 31, 0, false},
};

bool accumulator_parse(enum accumulator *out, const char *word)
{
    for (size_t i = 0; i < sizeof accumulators / sizeof accumulators[0]; i++) {
        if (strcmp(accumulators[i].name, word) == 0) {
            *out = (enum accumulator)i;
            return true;
        }
    }
    return false;
}

const char *accumulator_name(enum accumulator a)
{
    return accumulators[a].name;
}

int accumulator_bits(enum accumulator a)
{
    return accumulators[a].bits;
}

/* Unit roundoff and smallest subnormal of an output type; integers have neither. */
static double roundoff_of(enum dtype t)
{
    return t == DTYPE_F32 ? 0x1p-24 : t == DTYPE_F16 ? 0x1p-11 : t == DTYPE_BF16 ? 0x1p-8 : 0;
}

static double subnormal_of(enum dtype t)
{
    return t == DTYPE_F32 ? 0x1p-149 : t == DTYPE_F16 ? 0x1p-24 : t == DTYPE_BF16 ? 0x1p-133 : 0;
}

/* The bound of verify.h for one element. */
static double tolerance(double y, double squares, double terms, enum accumulator a, enum dtype result)
{
    double u = accumulators[a].roundoff, u_out = roundoff_of(result);
    double variance = terms * squares / 6 + terms * y * y / 9;
    if (accumulators[a].rounded_products)
        variance += squares / 3;
    double sum = LAMBDA * u * sqrt(variance);
    if (u_out <= u)
        u_out = 0;
    return sum + u_out * (fabs(y) + sum) * 1.0001 + subnormal_of(result) / 2;
}

/* The value rounded once to the type of the result. */
static double rounded(double value, enum dtype t)
{
    switch (t) {
    case DTYPE_F32:
        return (float)value;
    case DTYPE_F16:
        return tensor_f16_to(tensor_f16_from(value));
    case DTYPE_BF16:
        return tensor_bf16_to(tensor_bf16_from(value));
    case DTYPE_I8:
    case DTYPE_I32:
        return value;
    }
    bug("no such type: %d", t);
}

/* Error in tolerances: at most 1 is right. On integer data equal is 0 and anything else infinity. */
static double judge_element(double *error, double *tol, double expected, double actual, const struct conv_answer *answer, int64_t offset,
                            enum data_kind kind, enum accumulator a, enum dtype result)
{
    double target = rounded(expected, result);
    *error = fabs(actual - (kind == DATA_INTEGER ? target : expected));
    *tol = kind == DATA_INTEGER ? 0 : tolerance(expected, answer->squares[offset], answer->terms[offset], a, result);
    if (isnan(actual))
        return INFINITY;
    if (actual == target)
        return kind == DATA_INTEGER || *tol == 0 || !isfinite(target) ? 0 : *error / *tol;
    if (kind == DATA_INTEGER || !isfinite(actual) || *tol == 0)
        return INFINITY;
    return *error / *tol;
}

static int bucket_of(double ratio)
{
    static const double edges[VERIFY_BUCKETS - 1] = {0, 0.125, 0.25, 0.5, 1, 2, 16};
    int bucket = 0;
    while (bucket < VERIFY_BUCKETS - 1 && !(ratio <= edges[bucket]))
        bucket++;
    return bucket;
}

/* Does a tap of this forward output lie in the padding? */
static bool output_at_border(const struct problem *p, const int64_t *spatial)
{
    for (int d = 0; d < p->dims; d++) {
        int64_t first = spatial[d] * p->str[d] - p->pad_lo[d];
        if (first < 0 || first + (p->fil[d] - 1) * p->dil[d] >= p->in[d])
            return true;
    }
    return false;
}

/* Would a tap meet this input position from an output that does not exist? */
static bool input_at_border(const struct problem *p, const int64_t *spatial)
{
    for (int d = 0; d < p->dims; d++) {
        int64_t highest = spatial[d] + p->pad_lo[d], lowest = highest - (p->fil[d] - 1) * p->dil[d];
        if (lowest < 0 || highest > (problem_out(p, d) - 1) * p->str[d])
            return true;
    }
    return false;
}

static bool tap_off_centre(const struct problem *p, const int64_t *spatial)
{
    for (int d = 0; d < p->dims; d++) {
        if (spatial[d] != p->fil[d] / 2)
            return true;
    }
    return false;
}

static bool at_border(const struct problem *p, const int64_t *spatial)
{
    switch (p->direction) {
    case DIRECTION_FWD:
        return output_at_border(p, spatial);
    case DIRECTION_BWD_DATA:
        return input_at_border(p, spatial);
    case DIRECTION_BWD_WEIGHT:
        return tap_off_centre(p, spatial);
    }
    bug("no such direction: %d", p->direction);
}

/* Position modulo stride, each dim capped at 1, as d*4 + h*2 + w: the sub-kernel of strided backward data that owns the element. */
static int phase_of(const struct problem *p, const int64_t *spatial)
{
    int phase = 0;
    for (int d = 0; d < p->dims; d++) {
        int64_t rest = (spatial[d] + p->pad_lo[d]) % p->str[d];
        phase = phase * 2 + (rest > 0);
    }
    return phase;
}

/* Is the index inside the last partial block of 16? */
static bool in_partial_block(int64_t index, int64_t size)
{
    return size % 16 != 0 && index >= size / 16 * 16;
}

static void note_place(struct verify_stats *s, const struct problem *p, const struct tensor *t, const int64_t index[TENSOR_MAX_RANK])
{
    bool weight = p->direction == DIRECTION_BWD_WEIGHT;
    const int64_t *spatial = index + 3;
    int64_t group = index[weight ? 0 : 1], channel = index[weight ? 1 : 2];
    s->at_border += at_border(p, spatial);
    s->by_phase[phase_of(p, spatial)]++;
    s->in_tail += in_partial_block(channel, t->size[weight ? 1 : 2]) || in_partial_block(index[t->rank - 1], t->size[t->rank - 1]);
    if (s->by_group_first < 0 || group < s->by_group_first)
        s->by_group_first = group;
    if (group > s->by_group_last)
        s->by_group_last = group;
    if (s->channel_first < 0 || channel < s->channel_first)
        s->channel_first = channel;
    if (channel > s->channel_last)
        s->channel_last = channel;
}

static void note_worst(struct verify_stats *s, const struct tensor *t, int64_t offset, double ratio, double error, double expected, double actual)
{
    bool first = s->worst_ratio == 0 && s->worst_error == 0;
    if (!(ratio > s->worst_ratio) && !(first && ratio >= s->worst_ratio))
        return;
    s->worst_ratio = ratio;
    s->worst_error = error;
    s->worst_expected = expected;
    s->worst_actual = actual;
    tensor_coordinates(s->worst_index, t, offset);
}

void verify_measure(struct verify_stats *out, const struct problem *p, const struct tensor *result, const struct conv_answer *answer,
                    enum data_kind kind, enum accumulator accumulator, int poison_round)
{
    *out = (struct verify_stats){.elements = result->elements, .by_group_first = -1, .by_group_last = -1, .channel_first = -1,
                                 .channel_last = -1};
    for (int64_t offset = 0; offset < result->elements; offset++) {
        double expected = answer->value[offset], actual = tensor_get(result, offset), error, tol;
        double ratio = judge_element(&error, &tol, expected, actual, answer, offset, kind, accumulator, result->dtype);
        bool unwritten = tensor_is_poison(result, offset, poison_round) && ratio > 1;
        out->zeros += actual == 0;
        out->nans += isnan(actual) && !unwritten;
        out->infs += isinf(actual) && isfinite(rounded(expected, result->dtype));
        out->unwritten += unwritten;
        out->histogram[bucket_of(ratio)]++;
        if (tol > out->max_tolerance)
            out->max_tolerance = tol;
        note_worst(out, result, offset, ratio, error, expected, actual);
        if (!(ratio <= 1)) {
            int64_t index[TENSOR_MAX_RANK];
            tensor_coordinates(index, result, offset);
            out->mismatches++;
            note_place(out, p, result, index);
        }
    }
    tensor_guard_damage(&out->guard_low, &out->guard_high, result);
}

/* The only stride phase with mismatches, -1 when there are several. */
static int only_phase(const struct verify_stats *s)
{
    for (int i = 0; i < 8; i++) {
        if (s->by_phase[i] == s->mismatches)
            return i;
    }
    return -1;
}

static bool is_strided(const struct problem *p)
{
    for (int d = 0; d < p->dims; d++) {
        if (p->str[d] > 1)
            return true;
    }
    return false;
}

const char *verify_signature(char *text, size_t size, const struct problem *p, const struct verify_stats *s)
{
    text[0] = '\0';
    int64_t m = s->mismatches;
    if (m == 0 && s->guard_low + s->guard_high == 0)
        return text;
    struct buf words;
    buf_init(&words, BUF_MAX_LINE);
    if (s->guard_low > 0)
        buf_add_text(&words, " guard low");
    if (s->guard_high > 0)
        buf_add_text(&words, " guard high");
    if (m > 0 && s->unwritten == m)
        buf_add_text(&words, " unwritten");
    else if (m > 0 && s->nans == m)
        buf_add_text(&words, " nan");
    else if (s->zeros == s->elements)
        buf_add_text(&words, " all zero");
    if (m > 0 && is_strided(p) && p->direction != DIRECTION_BWD_WEIGHT && only_phase(s) >= 0)
        buf_printf(&words, " phase %d", only_phase(s));
    if (m > 0 && s->at_border == m && m < s->elements)
        buf_add_text(&words, " border");
    if (m > 0 && s->in_tail == m && m < s->elements)
        buf_add_text(&words, " tail");
    if (m > 0 && p->g > 1 && s->by_group_first > 0)
        buf_add_text(&words, " group>0");
    if (m == s->elements)
        buf_add_text(&words, " everywhere");
    if (words.length == 0)
        buf_add_text(&words, m * 2 > s->elements ? " most" : " some");
    snprintf(text, size, "%s", words.data + 1);
    buf_release(&words);
    return text;
}
