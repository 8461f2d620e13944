/* Bytes as the sizes, types and layouts of a small problem: the fast convolution is the plain
 * loops, bit for bit, with every set of kernels; and the exact check calls its answer right, and
 * another one not. */
#include "reference/conv_kernels.h"
#include "reference/exact.h"

#include "src/err.h"
#include "src/mem.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
    const uint8_t *at;
    size_t left;
};

/* The next byte within [low, high]; the end of the input is zeros. */
static int64_t take(struct bytes *b, int64_t low, int64_t high)
{
    int64_t value = 0;
    if (b->left > 0) {
        value = *b->at++;
        b->left--;
    }
    return low + value % (high - low + 1);
}

static void shuffle(char *letters, struct bytes *b)
{
    for (int64_t i = (int64_t)strlen(letters) - 1; i > 0; i--) {
        int64_t j = take(b, 0, i);
        char kept = letters[i];
        letters[i] = letters[j];
        letters[j] = kept;
    }
}

static bool read_problem(struct problem *p, struct bytes *b)
{
    static const enum dtype types[] = {DTYPE_F32,        DTYPE_F16,        DTYPE_BF16,
                                       DTYPE_F8E4M3FN,   DTYPE_F8E5M2,     DTYPE_F8E4M3FNUZ,
                                       DTYPE_F8E5M2FNUZ, DTYPE_I8};
    memset(p, 0, sizeof *p);
    p->direction = (enum direction)take(b, 0, 2);
    p->dims = (int)take(b, 1, 3);
    p->n = take(b, 1, 3);
    p->g = take(b, 1, 4);
    p->c = p->g * take(b, 1, 18);
    p->k = p->g * take(b, 1, 18);
    for (int i = 0; i < p->dims; i++) {
        p->in[i] = take(b, 1, p->dims == 1 ? 40 : 6);
        p->fil[i] = take(b, 1, 4);
        p->str[i] = take(b, 1, 4);
        p->dil[i] = take(b, 1, 3);
        p->pad_lo[i] = take(b, 0, 4);
        p->pad_hi[i] = take(b, 0, 4);
    }
    enum dtype t = types[take(b, 0, 7)];
    p->dtype[0] = p->dtype[1] = t;
    p->dtype[2] = t == DTYPE_I8 ? DTYPE_I32 : t;
    problem_default_layouts(p);
    for (int o = 0; o < 3; o++)
        shuffle(p->layout[o], b);
    bool good = problem_check(p) == 0;
    err_clear();
    return good;
}

static void check_kernels(const struct problem *p, const struct tensor t[3],
                          const struct conv_answer *plain, int64_t threads)
{
    static const char *const names[] = {"v4", "v3", "base"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct conv_options o = {.threads = threads, .kernels = conv_kernels_named(names[i])};
        struct conv_answer fast;
        if (!o.kernels)
            continue;
        if (conv_reference(&fast, p, t, &o) < 0)
            bug("%s", err_message());
        if (memcmp(fast.value, plain->value, (size_t)plain->elements * sizeof *plain->value) != 0)
            bug("%s: the fast convolution is another", names[i]);
        if (memcmp(fast.terms, plain->terms, (size_t)plain->elements * sizeof *plain->terms) != 0)
            bug("%s: other numbers of products", names[i]);
        conv_answer_release(&fast);
    }
}

static void check_exact(const struct problem *p, struct tensor t[3],
                        const struct conv_answer *plain, int bits, int64_t spoiled)
{
    struct tensor *result = &t[problem_result(p)];
    int64_t zeros;
    for (int64_t e = 0; e < result->elements; e++)
        tensor_set(result, e, plain->value[e]);
    if (exact_check(&zeros, p, t, DATA_INTEGER, bits, 1) == EXACT_WRONG)
        bug("a right result is called wrong");
    double kept = tensor_get(result, spoiled % result->elements);
    tensor_set(result, spoiled % result->elements, kept + 1);
    if (tensor_get(result, spoiled % result->elements) != kept &&
        exact_check(&zeros, p, t, DATA_INTEGER, bits, 1) == EXACT_RIGHT)
        bug("a wrong result is called right");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes b = {data, size};
    struct problem p;
    if (!read_problem(&p, &b) || problem_flops(&p) > 4000000)
        return 0;
    struct tensor t[3];
    struct conv_answer plain;
    int bits = p.dtype[0] == DTYPE_I8 ? 31 : 24;
    bool whole = data_suits(&p, DATA_INTEGER, bits);
    for (enum operand o = OPERAND_INPUT; o <= OPERAND_OUTPUT; o++) {
        tensor_init(&t[o], &p, o);
        if (o != problem_result(&p))
            data_fill(&t[o], &p, o, whole ? DATA_INTEGER : DATA_ONE_HOT, 3, bits);
    }
    if (conv_direct(&plain, &p, t) < 0)
        bug("%s", err_message());
    check_kernels(&p, t, &plain, take(&b, 1, 3));
    if (whole)
        check_exact(&p, t, &plain, bits, take(&b, 0, 255) * 7);
    conv_answer_release(&plain);
    for (int o = 0; o < 3; o++)
        tensor_release(&t[o]);
    return 0;
}
