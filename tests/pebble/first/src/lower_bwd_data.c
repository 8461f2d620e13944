/* Input i takes from output o at tap y when o * stride = i + pad - y * dilation. For the inputs of one stride phase, i = phase + lane * stride, so the
 * taps that divide are the same for every lane: they are every `tap_step`-th from the first that divides, and each next one lies
 * dilation * tap_step / stride outputs further back.
 */
#include "gather.h"
#include "lower.h"

static int64_t greatest_common_divisor(int64_t a, int64_t b)
{
    return b == 0 ? a : greatest_common_divisor(b, a % b);
}

static struct axis phase_axis(const struct conv *c, int dim, int64_t phase)
{
    int64_t stride = c->stride[dim], dilation = c->dilation[dim], reach = phase + c->pad_lo[dim];
    struct axis axis = {
        .count = phase < c->in[dim] ? (c->in[dim] - phase - 1) / stride + 1 : 0,
        .result_first = phase,
        .result_step = stride,
        .step = 1,
        .tap_step = stride / greatest_common_divisor(stride, dilation),
    };
    int64_t first = 0;
    while (first < axis.tap_step && (reach - first * dilation) % stride != 0)
        first++;
    if (first == axis.tap_step || first >= c->fil[dim])
        return axis; /* no tap divides: the sum is empty and the phase is zero */
    axis.tap_first = first;
    axis.taps = (c->fil[dim] - first - 1) / axis.tap_step + 1;
    axis.base = (reach - first * dilation) / stride;
    axis.delta = -dilation * axis.tap_step / stride;
    return axis;
}

static struct gather nest(const struct conv *c)
{
    return (struct gather){
        .source = OUTPUT,
        .result = INPUT,
        .result_letter = 'c',
        .reduced_letter = 'k',
        .result_channels = c->c / c->g,
        .reduced_channels = c->k / c->g,
        .axis = {phase_axis(c, 0, c->kernel_id / c->stride[1]), phase_axis(c, 1, c->kernel_id % c->stride[1])},
    };
}

void lower_bwd_data(struct ir *ir, const struct conv *c)
{
    struct gather g = nest(c);
    gather_lower(ir, c, &g);
}

int64_t tiles_bwd_data(const struct conv *c)
{
    struct gather g = nest(c);
    return gather_tiles(c, &g);
}
