#include "conv.h"

#include <string.h>

int type_bytes(enum type t)
{
    static const int bytes[] = {[F32] = 4, [F16] = 2, [BF16] = 2, [I8] = 1, [I32] = 4};
    return bytes[t];
}

static int64_t axis_size(const struct conv *c, enum operand which, char letter)
{
    switch (letter) {
    case 'n':
        return c->n;
    case 'g':
        return c->g;
    case 'c':
        return c->c / c->g;
    case 'k':
        return c->k / c->g;
    case 'h':
        return which == INPUT ? c->in[0] : c->out[0];
    case 'w':
        return which == INPUT ? c->in[1] : c->out[1];
    case 'y':
        return c->fil[0];
    default:
        return c->fil[1];
    }
}

int64_t conv_stride(const struct conv *c, enum operand which, char letter)
{
    int64_t stride = 1;
    for (int i = 4; i >= 0; i--) {
        if (c->layout[which][i] == letter)
            return stride;
        stride *= axis_size(c, which, c->layout[which][i]);
    }
    return 0;
}

/* Each of the letters stands in the layout once. */
static bool is_permutation(const char *layout, const char *letters)
{
    if (strlen(layout) != 5)
        return false;
    for (; *letters; letters++) {
        const char *at = strchr(layout, *letters);
        if (!at || strchr(at + 1, *letters))
            return false;
    }
    return true;
}

static bool types_are_known(const struct conv *c)
{
    bool same = c->type[INPUT] == c->type[FILTER] && c->type[INPUT] == c->type[OUTPUT];
    if (c->type[INPUT] == I8)
        return c->direction == FWD && c->type[FILTER] == I8 && c->type[OUTPUT] == I32;
    return same && c->type[INPUT] != I32;
}

bool conv_is_valid(const struct conv *c)
{
    if (c->n < 1 || c->c < 1 || c->k < 1 || c->g < 1 || c->c % c->g || c->k % c->g || !types_are_known(c))
        return false;
    if (!is_permutation(c->layout[INPUT], "ngchw") || !is_permutation(c->layout[FILTER], "gkcyx") ||
        !is_permutation(c->layout[OUTPUT], "ngkhw"))
        return false;
    for (int i = 0; i < 2; i++) {
        if (c->in[i] < 1 || c->fil[i] < 1 || c->stride[i] < 1 || c->dilation[i] < 1 || c->pad_lo[i] < 0 || c->pad_hi[i] < 0)
            return false;
        int64_t room = c->in[i] + c->pad_lo[i] + c->pad_hi[i] - (c->fil[i] - 1) * c->dilation[i] - 1;
        if (room < 0 || c->out[i] != room / c->stride[i] + 1)
            return false;
    }
    return true;
}

int conv_kernel_count(const struct conv *c)
{
    return c->direction == BWD_DATA ? (int)(c->stride[0] * c->stride[1]) : 1;
}
