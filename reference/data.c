#include "reference/data.h"

#include "reference/data_tools.h"

#include "src/err.h"

#include <math.h>
#include <string.h>

const char *const data_kind_words[] = {"integer",      "real",          "one-hot", "denormal",
                                       "cancellation", "special",       "miopen",  "rocmlir-fixed",
                                       "rocmlir-int",  "rocmlir-float", NULL};

const char *data_kind_name(enum data_kind k)
{
    if ((unsigned)k >= DATA_KINDS)
        bug("data kind %d", (int)k);
    return data_kind_words[k];
}

bool data_kind_parse(enum data_kind *out, const char *word)
{
    for (int i = 0; i < DATA_KINDS; i++) {
        if (strcmp(data_kind_words[i], word) == 0) {
            *out = (enum data_kind)i;
            return true;
        }
    }
    return false;
}

bool data_kind_is_exact(enum data_kind k)
{
    return k == DATA_INTEGER || k == DATA_ONE_HOT;
}

/* How many positions of the paired axis a sum takes: c, k or n. */
static int64_t paired(const struct problem *p)
{
    switch (p->direction) {
    case DIRECTION_FWD:
        return p->c / p->g;
    case DIRECTION_BWD_DATA:
        return p->k / p->g;
    case DIRECTION_BWD_WEIGHT:
        return p->n;
    }
    bug("direction %d", (int)p->direction);
}

bool data_suits(const struct problem *p, enum data_kind kind, int accumulator_bits)
{
    bool whole = p->dtype[OPERAND_INPUT] == DTYPE_I8;
    switch (kind) {
    case DATA_INTEGER:
        return tensor_exact_range(p, accumulator_bits) > 0;
    case DATA_ONE_HOT:
        return true;
    case DATA_CANCELLATION:
        return !whole && paired(p) > 1;
    case DATA_REAL:
    case DATA_DENORMAL:
    case DATA_SPECIAL:
        return !whole;
    case DATA_MIOPEN:
    case DATA_ROCMLIR_FIXED:
    case DATA_ROCMLIR_INT:
    case DATA_ROCMLIR_FLOAT:
        return data_tools_suits(p, kind);
    }
    bug("data kind %d", (int)kind);
}

/* splitmix64's finaliser (Steele, Lea and Flood 2014). */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

/* What an element is drawn by. */
struct place {
    const struct problem *p;
    const struct tensor *t;
    enum operand which;
    const int64_t *index;
    uint64_t stream;
    int bits; /* of the accumulator */
};

/* A number of the element at `index`, the same in every layout. */
static uint64_t draw_at(const struct place *at, const int64_t index[TENSOR_MAX_RANK])
{
    uint64_t position = 0;
    for (int i = 0; i < at->t->rank; i++)
        position = position * (uint64_t)at->t->size[i] + (uint64_t)index[i];
    return mix(at->stream ^ mix(position));
}

static double real(uint64_t random)
{
    return (double)(random >> 11) * 0x1p-52 - 1;
}

/* The operand that is summed over and that the other is spread by: w, and dy for backward weight.
 */
static bool is_selector(const struct problem *p, enum operand which)
{
    return which == (p->direction == DIRECTION_BWD_WEIGHT ? OPERAND_OUTPUT : OPERAND_FILTER);
}

/* Axes of the selector that its lane is named by: the group, and k or (backward data) c. */
static bool names_lane(const struct place *at, int axis)
{
    if (at->which == OPERAND_OUTPUT)
        return axis == 1 || axis == 2;
    return axis == 0 || axis == (at->p->direction == DIRECTION_BWD_DATA ? 2 : 1);
}

/* The taps of one axis that have a part in the same results as this one: all, but for a strided
 * backward data, where taps of other residues meet other results. */
struct kin {
    int64_t residue, count, rank;
};

static struct kin kin_of(const struct place *at, int axis)
{
    struct kin kin = {.count = at->t->size[axis], .rank = at->index[axis]};
    if (at->p->direction != DIRECTION_BWD_DATA || axis < 3)
        return kin;
    int64_t str = at->p->str[axis - 3], dil = at->p->dil[axis - 3];
    kin = (struct kin){.residue = at->index[axis] * dil % str};
    for (int64_t tap = 0; tap < at->t->size[axis]; tap++) {
        bool alike = tap * dil % str == kin.residue;
        kin.count += alike;
        kin.rank += alike && tap < at->index[axis];
    }
    return kin;
}

/* 1 at the one position that the lane's hash chooses along all other axes, once for each phase. */
static double select_one(const struct place *at)
{
    uint64_t lane = at->stream;
    for (int i = 0; i < at->t->rank; i++)
        lane = mix(lane ^ (uint64_t)(names_lane(at, i) ? at->index[i] : kin_of(at, i).residue));
    for (int i = 0; i < at->t->rank; i++) {
        struct kin kin = kin_of(at, i);
        if (names_lane(at, i))
            continue;
        lane = mix(lane + 1);
        if ((uint64_t)kin.rank != lane % (uint64_t)kin.count)
            return 0;
    }
    return 1;
}

/* Whole numbers, never 0, that every type on their way holds. */
static double carry(const struct place *at)
{
    int64_t largest = (INT64_C(1) << (at->bits < 24 ? at->bits : 24)) - 1;
    for (enum operand o = OPERAND_INPUT; o <= OPERAND_OUTPUT; o++) {
        int64_t here = (tensor_largest_exact(at->p->dtype[o]) - 1) | 1; /* odd: below 2^bits */
        largest = here < largest ? here : largest;
    }
    uint64_t random = draw_at(at, at->index);
    double value = (double)(1 + (random >> 1) % (uint64_t)largest);
    return random & 1 ? value : -value;
}

static int pair_axis(const struct place *at)
{
    switch (at->p->direction) {
    case DIRECTION_FWD:
        return 2;
    case DIRECTION_BWD_DATA:
        return at->which == OPERAND_FILTER ? 1 : 2;
    case DIRECTION_BWD_WEIGHT:
        return 0;
    }
    bug("direction %d", (int)at->p->direction);
}

/* Selectors of a pair are opposite; what they meet differs by one part in 128. The last of an odd
 * number has nobody to cancel it. */
static double pair_up(const struct place *at)
{
    int axis = pair_axis(at);
    int64_t first[TENSOR_MAX_RANK];
    memcpy(first, at->index, sizeof first);
    bool second = first[axis] % 2 == 1, selector = is_selector(at->p, at->which);
    if (selector && !second && first[axis] + 1 == at->t->size[axis])
        return 0;
    first[axis] -= second;
    double value = real(draw_at(at, first));
    if (!second)
        return value;
    return selector ? -value : value * (1 + 0x1p-7 * real(draw_at(at, at->index)));
}

/* One in some hundred elements; for backward weight in one channel alone, or nothing would be left
 * that they do not reach. */
static double strew(const struct place *at)
{
    uint64_t random = draw_at(at, at->index);
    bool backward_weight = at->p->direction == DIRECTION_BWD_WEIGHT;
    bool there =
        !backward_weight ||
        (at->index[1] == 0 && at->index[2] == (int64_t)(at->stream % (uint64_t)at->t->size[2]));
    uint64_t rare = backward_weight ? 7 : 997;
    bool first = true; /* a small tensor has at least this one */
    for (int i = 0; i < at->t->rank; i++)
        first = first && (at->index[i] == 0 || (backward_weight && i == 2));
    if (!there || (mix(random) % rare != 0 && !first))
        return real(random);
    static const double specials[] = {NAN, INFINITY, -INFINITY};
    return specials[random % 3];
}

static double value_of(const struct place *at, enum data_kind kind)
{
    bool selector = is_selector(at->p, at->which);
    switch (kind) {
    case DATA_ONE_HOT:
        return selector ? select_one(at) : carry(at);
    case DATA_DENORMAL:
        return real(draw_at(at, at->index)) * (selector ? 1 : tensor_smallest_normal(at->t->dtype));
    case DATA_CANCELLATION:
        return pair_up(at);
    case DATA_SPECIAL:
        return selector ? real(draw_at(at, at->index)) : strew(at);
    default:
        bug("data kind %d", (int)kind);
    }
}

void data_fill(struct tensor *t, const struct problem *p, enum operand which, enum data_kind kind,
               uint64_t seed, int accumulator_bits)
{
    if (kind <= DATA_REAL) {
        int64_t range = kind == DATA_INTEGER ? tensor_exact_range(p, accumulator_bits) : 1;
        tensor_fill(t, kind, seed, which, range);
        return;
    }
    if (kind >= DATA_MIOPEN) {
        data_tools_fill(t, p, which, kind, seed);
        return;
    }
    int64_t index[TENSOR_MAX_RANK] = {0};
    struct place at = {.p = p,
                       .t = t,
                       .which = which,
                       .index = index,
                       .stream = mix(seed ^ mix((uint64_t)which + 17)),
                       .bits = accumulator_bits};
    for (int64_t offset = 0; offset >= 0; offset = tensor_next(t, index, offset))
        tensor_set(t, offset, value_of(&at, kind));
}
