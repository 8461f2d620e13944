/* dw[g, k, c, y, x] is a sum over images and output positions. A tile is `channels` filters k at one (g, c, y, x); its lanes take the
 * output positions in turn, and their sums are added at the end.
 */
#include "lower.h"

#include <stddef.h>

enum { MAX_CHANNELS = 16 };

static int64_t filter_tiles(const struct conv *c)
{
    return (c->k / c->g + c->tiles.channels - 1) / c->tiles.channels;
}

static int64_t chunk_count(const struct conv *c)
{
    return (c->out[0] * c->out[1] + c->tiles.pixels - 1) / c->tiles.pixels;
}

struct place {
    LLVMValueRef group, first_filter, channel, tap[2]; /* i64 */
};

static void find_place(struct place *p, struct ir *ir, const struct conv *c)
{
    LLVMValueRef filter_tile;
    LLVMValueRef rest = ir_divide(ir, ir->tile, c->fil[1], &p->tap[1]);
    rest = ir_divide(ir, rest, c->fil[0], &p->tap[0]);
    rest = ir_divide(ir, rest, c->c / c->g, &p->channel);
    p->group = ir_divide(ir, rest, filter_tiles(c), &filter_tile);
    p->first_filter = ir_scale(ir, filter_tile, c->tiles.channels, NULL);
}

static LLVMValueRef filter_number(LLVMValueRef *inside, struct ir *ir, const struct conv *c, const struct place *p, int i)
{
    LLVMValueRef number = LLVMBuildAdd(ir->builder, p->first_filter, ir_const64(ir, i), "");
    LLVMValueRef last = ir_const64(ir, c->k / c->g - 1);
    *inside = LLVMBuildICmp(ir->builder, LLVMIntULE, number, last, "");
    return LLVMBuildSelect(ir->builder, *inside, number, last, "");
}

/* Input position along one axis of output position `lane` at the tile's tap, and whether it exists. */
static LLVMValueRef input_position(LLVMValueRef *exists, struct ir *ir, const struct conv *c, int dim, LLVMValueRef lane, LLVMValueRef tap)
{
    LLVMValueRef shift = ir_scale(ir, tap, c->dilation[dim], ir_const64(ir, -c->pad_lo[dim]));
    shift = ir_splat(ir, LLVMBuildTrunc(ir->builder, shift, ir->i32, ""));
    LLVMValueRef position = ir_scale(ir, lane, c->stride[dim], shift);
    *exists = LLVMBuildICmp(ir->builder, LLVMIntULT, position, ir_splat(ir, ir_const32(ir, c->in[dim])), "");
    return position;
}

static void add_chunk(struct ir *ir, const struct conv *c, const struct place *p, LLVMValueRef image, LLVMValueRef chunk,
                      LLVMValueRef accumulators[])
{
    LLVMValueRef exists[2], lane[2], inside;
    LLVMValueRef first = LLVMBuildTrunc(ir->builder, ir_scale(ir, chunk, c->tiles.pixels, NULL), ir->i32, "");
    LLVMValueRef position = LLVMBuildAdd(ir->builder, ir_splat(ir, first), ir_lane_numbers(ir), "");
    LLVMValueRef valid = LLVMBuildICmp(ir->builder, LLVMIntULT, position, ir_splat(ir, ir_const32(ir, c->out[0] * c->out[1])), "");
    lane[0] = ir_divide(ir, position, c->out[1], &lane[1]);
    LLVMValueRef h = input_position(&exists[0], ir, c, 0, lane[0], p->tap[0]);
    LLVMValueRef w = input_position(&exists[1], ir, c, 1, lane[1], p->tap[1]);
    LLVMValueRef mask = LLVMBuildAnd(ir->builder, valid, LLVMBuildAnd(ir->builder, exists[0], exists[1], ""), "");
    LLVMValueRef from = ir_scale(ir, image, conv_stride(c, INPUT, 'n'), ir_scale(ir, p->group, conv_stride(c, INPUT, 'g'), NULL));
    from = ir_scale(ir, p->channel, conv_stride(c, INPUT, 'c'), from);
    LLVMValueRef lanes = ir_scale(ir, w, conv_stride(c, INPUT, 'w'), ir_scale(ir, h, conv_stride(c, INPUT, 'h'), NULL));
    LLVMValueRef x = ir_gather(ir, c->type[INPUT], ir->argument[INPUT], from, lanes, mask);

    from = ir_scale(ir, image, conv_stride(c, OUTPUT, 'n'), ir_scale(ir, p->group, conv_stride(c, OUTPUT, 'g'), NULL));
    lanes = ir_scale(ir, lane[1], conv_stride(c, OUTPUT, 'w'), ir_scale(ir, lane[0], conv_stride(c, OUTPUT, 'h'), NULL));
    for (int i = 0; i < c->tiles.channels; i++) {
        LLVMValueRef filter = filter_number(&inside, ir, c, p, i);
        LLVMValueRef row = ir_scale(ir, filter, conv_stride(c, OUTPUT, 'k'), from);
        LLVMValueRef dy = ir_gather(ir, c->type[OUTPUT], ir->argument[OUTPUT], row, lanes, mask);
        ir_accumulate(ir, c->type[FILTER], accumulators[i], x, dy);
    }
}

/* Filters beyond the last are stored where the last is, so they are stored first. */
static void store_tile(struct ir *ir, const struct conv *c, const struct place *p, LLVMValueRef accumulators[])
{
    LLVMValueRef inside, base = ir_scale(ir, p->group, conv_stride(c, FILTER, 'g'), NULL);
    base = ir_scale(ir, p->channel, conv_stride(c, FILTER, 'c'), base);
    base = ir_scale(ir, p->tap[0], conv_stride(c, FILTER, 'y'), base);
    base = ir_scale(ir, p->tap[1], conv_stride(c, FILTER, 'x'), base);
    for (int i = c->tiles.channels - 1; i >= 0; i--) {
        LLVMValueRef offset = ir_scale(ir, filter_number(&inside, ir, c, p, i), conv_stride(c, FILTER, 'k'), base);
        LLVMValueRef sum = ir_reduce(ir, c->type[FILTER], ir_read(ir, c->type[FILTER], accumulators[i]));
        ir_store(ir, c->type[FILTER], sum, ir->argument[FILTER], offset);
    }
}

int64_t tiles_bwd_weight(const struct conv *c)
{
    return c->g * filter_tiles(c) * (c->c / c->g) * c->fil[0] * c->fil[1];
}

void lower_bwd_weight(struct ir *ir, const struct conv *c)
{
    struct place p;
    struct ir_loop images, chunks;
    LLVMValueRef accumulators[MAX_CHANNELS];
    ir_open_kernel(ir, c->kernel_name, tiles_bwd_weight(c));
    find_place(&p, ir, c);
    for (int i = 0; i < c->tiles.channels; i++)
        accumulators[i] = ir_accumulator(ir, c->type[FILTER]);
    LLVMValueRef image = ir_loop_begin(ir, &images, c->n);
    LLVMValueRef chunk = ir_loop_begin(ir, &chunks, chunk_count(c));
    add_chunk(ir, c, &p, image, chunk, accumulators);
    ir_loop_end(ir, &chunks);
    ir_loop_end(ir, &images);
    store_tile(ir, c, &p, accumulators);
    ir_close_kernel(ir);
}
