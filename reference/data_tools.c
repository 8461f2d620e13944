#include "reference/data_tools.h"

#include "src/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool data_tools_suits(const struct problem *p, enum data_kind kind)
{
    enum dtype t = p->dtype[problem_result(p) == OPERAND_INPUT ? OPERAND_FILTER : OPERAND_INPUT];
    if (kind == DATA_MIOPEN)
        return !dtype_is_f8(t);
    return kind != DATA_ROCMLIR_FLOAT || dtype_is_float(t);
}

/* Elements that are drawn before this operand's, in the tool's order. */
static int64_t drawn_before(const struct problem *p, enum operand which,
                            const enum operand order[3])
{
    int64_t count = 0;
    for (int i = 0; order[i] != which; i++)
        count += problem_elements(p, order[i]);
    return count;
}

/* MIOpen. */

static uint32_t next_of(uint32_t x)
{
    return (UINT32_C(1103515245) * x + 12345) & 0x7fffffff;
}

/* As MIOpen's type of this width rounds a float. */
static float rounded(enum dtype t, float value)
{
    if (t == DTYPE_BF16)
        return (float)tensor_round(t, (double)value);
    if (t != DTYPE_F16)
        return value;
    uint16_t bits = tensor_f16_from((double)value);
    if (fabs(tensor_f16_to(bits)) > fabs((double)value))
        bits--; /* the next number towards zero, as the sign is a bit of its own */
    return (float)tensor_f16_to(bits);
}

/* gen_0_to_B: u times `most`. */
static float up_to(enum dtype t, uint32_t x, float most)
{
    return rounded(t, (float)x * 0x1p-31f * most);
}

static float weight_of(enum dtype t, uint32_t x)
{
    if (t == DTYPE_F16) { /* its expressions are floats, and only their end is rounded */
        float low = rounded(t, -1.0f / 3.0f);
        return rounded(t, (float)x * 0x1p-31f * (0.5f - low) + low);
    }
    return rounded(t, up_to(t, x, 1.0f) - 0.5f);
}

static double miopen_value(enum dtype t, enum operand which, uint32_t x)
{
    if (!dtype_is_float(t))
        return which == OPERAND_FILTER ? 127.0 * ((int)((x >> 4) % 2) - 1)
                                       : (double)((x >> 4) % 127);
    float scale = rounded(t, 0.01f);
    if (which == OPERAND_FILTER)
        return (double)rounded(t, scale * weight_of(t, x));
    return (double)up_to(t, x, scale);
}

static void fill_miopen(struct tensor *t, const struct problem *p, enum operand which,
                        uint64_t seed)
{
    static const enum operand orders[][3] = {{OPERAND_OUTPUT, OPERAND_INPUT, OPERAND_FILTER},
                                             {OPERAND_INPUT, OPERAND_FILTER, OPERAND_OUTPUT}};
    int64_t skipped = drawn_before(p, which, orders[!dtype_is_float(t->dtype)]);
    uint32_t x = (uint32_t)((12345678 + seed - 1) & 0x7fffffff);
    for (int64_t i = 0; i < skipped; i++)
        x = next_of(x);
    for (int64_t i = 0; i < t->elements; i++) {
        x = next_of(x);
        tensor_set(t, i, miopen_value(t->dtype, which, x));
    }
}

/* rocMLIR. */

static void fill_fixed(struct tensor *t)
{
    static const double patterns[][3] = {{0.5, -1, 0.75}, {1, -1, 2}};
    const double *pattern = patterns[!dtype_is_float(t->dtype)];
    for (int64_t i = 0; i < t->elements; i++)
        tensor_set(t, i, pattern[i % 3]);
}

/* What rand() gives after srand(seed), without touching the process's own. */
struct libc_random {
    struct random_data data;
    char state[128];
};

static int32_t libc_rand(struct libc_random *r)
{
    int32_t value;
    random_r(&r->data, &value);
    return value;
}

static void fill_random(struct tensor *t, const struct problem *p, enum operand which, bool whole,
                        uint64_t seed)
{
    static const enum operand order[] = {OPERAND_FILTER, OPERAND_INPUT, OPERAND_OUTPUT};
    struct libc_random r = {0};
    initstate_r((unsigned)seed, r.state, sizeof r.state, &r.data);
    for (int64_t skipped = drawn_before(p, which, order); skipped > 0; skipped--)
        (void)libc_rand(&r);
    for (int64_t i = 0; i < t->elements; i++) {
        int32_t value = libc_rand(&r);
        tensor_set(t, i,
                   whole ? (double)(value % 10 - 5) : (double)(float)(value / (double)RAND_MAX));
    }
}

void data_tools_fill(struct tensor *t, const struct problem *p, enum operand which,
                     enum data_kind kind, uint64_t seed)
{
    switch (kind) {
    case DATA_MIOPEN:
        fill_miopen(t, p, which, seed);
        return;
    case DATA_ROCMLIR_FIXED:
        fill_fixed(t);
        return;
    case DATA_ROCMLIR_INT:
    case DATA_ROCMLIR_FLOAT:
        fill_random(t, p, which, kind == DATA_ROCMLIR_INT, seed);
        return;
    default:
        bug("data kind %d", (int)kind);
    }
}
