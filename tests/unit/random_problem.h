/* random_problem: problems of every shape for the tests of the fast convolution and of the exact check. */
#ifndef ASSAY_TEST_RANDOM_PROBLEM_H
#define ASSAY_TEST_RANDOM_PROBLEM_H

#include "test.h"

#include "reference/problem.h"

static uint64_t random_state = 88172645463325252u;

static int64_t pick(int64_t low, int64_t high)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return low + (int64_t)((random_state >> 20) % (uint64_t)(high - low + 1));
}

static void shuffle(char *letters)
{
    for (int i = (int)strlen(letters) - 1; i > 0; i--) {
        int j = (int)pick(0, i);
        char kept = letters[i];
        letters[i] = letters[j];
        letters[j] = kept;
    }
}

static void set_types(struct problem *p)
{
    static const enum dtype types[] = {DTYPE_F32,        DTYPE_F16,        DTYPE_BF16,
                                       DTYPE_F8E4M3FN,   DTYPE_F8E5M2,     DTYPE_F8E4M3FNUZ,
                                       DTYPE_F8E5M2FNUZ, DTYPE_I8};
    enum dtype t = types[pick(0, 7)];
    p->dtype[0] = p->dtype[1] = t;
    p->dtype[2] = t == DTYPE_I8 ? DTYPE_I32 : t;
}

/* Channels around the widths of vectors and panels; groups that the channel kernels take, and some
 * that they do not. */
static void set_channels(struct problem *p)
{
    static const int64_t channels[] = {1, 2, 3, 4, 7, 8, 9, 16, 17, 33};
    p->g = pick(0, 2) ? 1 : pick(2, 9);
    if (p->g > 1 && pick(0, 1)) {
        p->c = p->k = p->g * ((int64_t)1 << pick(0, 3));
        return;
    }
    p->c = p->g * channels[pick(0, p->g > 1 ? 4 : 9)];
    p->k = p->g * channels[pick(0, p->g > 1 ? 4 : 9)];
}

static void random_problem(struct problem *p)
{
    do {
        memset(p, 0, sizeof *p);
        p->dims = (int)pick(1, 3);
        p->direction = (enum direction)pick(0, 2);
        p->n = pick(1, 4);
        set_channels(p);
        int64_t most = p->dims == 3 ? 5 : p->dims == 2 ? 12 : 40;
        for (int i = 0; i < p->dims; i++) {
            p->in[i] = pick(1, most);
            p->fil[i] = pick(1, 4);
            p->str[i] = pick(1, 3);
            p->dil[i] = pick(1, 3);
            p->pad_lo[i] = pick(0, 3);
            p->pad_hi[i] = pick(0, 3);
        }
        problem_default_layouts(p);
        for (int o = 0; o < 3 && pick(0, 1); o++)
            shuffle(p->layout[o]);
        set_types(p);
        err_clear();
    } while (problem_check(p) != 0);
}

#endif
