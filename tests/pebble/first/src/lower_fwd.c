#include "gather.h"
#include "lower.h"

/* Output o meets input o * stride + y * dilation - pad at tap y. */
static struct axis forward_axis(const struct conv *c, int dim)
{
    return (struct axis){
        .count = c->out[dim],
        .result_step = 1,
        .step = c->stride[dim],
        .base = -c->pad_lo[dim],
        .delta = c->dilation[dim],
        .taps = c->fil[0],
        .tap_step = 1,
    };
}

static struct gather nest(const struct conv *c)
{
    return (struct gather){
        .source = INPUT,
        .result = OUTPUT,
        .result_letter = 'k',
        .reduced_letter = 'c',
        .result_channels = c->k / c->g,
        .reduced_channels = c->c / c->g,
        .axis = {forward_axis(c, 0), forward_axis(c, 1)},
    };
}

void lower_fwd(struct ir *ir, const struct conv *c)
{
    struct gather g = nest(c);
    gather_lower(ir, c, &g);
}

int64_t tiles_fwd(const struct conv *c)
{
    struct gather g = nest(c);
    return gather_tiles(c, &g);
}
