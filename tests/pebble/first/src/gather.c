#include "gather.h"

#include <stddef.h>

enum { MAX_CHANNELS = 16 };

static int64_t round_up(int64_t value, int64_t to)
{
    return (value + to - 1) / to;
}

static int64_t position_count(const struct gather *g)
{
    return g->axis[0].count * g->axis[1].count;
}

static int64_t channel_tiles(const struct conv *c, const struct gather *g)
{
    return round_up(g->result_channels, c->tiles.channels);
}

static int64_t chunk_count(const struct conv *c, const struct gather *g)
{
    return round_up(position_count(g), c->tiles.pixels);
}

int64_t gather_tiles(const struct conv *c, const struct gather *g)
{
    return c->n * c->g * channel_tiles(c, g) * chunk_count(c, g);
}

/* Where the tile lies: image, group, its first channel, and its lanes' positions. */
struct place {
    LLVMValueRef image, group, first_channel, first_position; /* i64 */
    LLVMValueRef lane[2];                     /* i32 vectors: position along each axis */
    LLVMValueRef valid;                       /* lanes that are positions at all */
};

static void find_place(struct place *p, struct ir *ir, const struct conv *c, const struct gather *g)
{
    LLVMValueRef chunk, channel_tile;
    LLVMValueRef rest = ir_divide(ir, ir->tile, chunk_count(c, g), &chunk);
    rest = ir_divide(ir, rest, channel_tiles(c, g), &channel_tile);
    p->image = ir_divide(ir, rest, c->g, &p->group);
    p->first_channel = ir_scale(ir, channel_tile, c->tiles.channels, NULL);
    p->first_position = ir_scale(ir, chunk, c->tiles.pixels, NULL);
    LLVMValueRef first = LLVMBuildTrunc(ir->builder, p->first_position, ir->i32, "");
    LLVMValueRef position = LLVMBuildAdd(ir->builder, ir_splat(ir, first), ir_lane_numbers(ir), "");
    LLVMValueRef end = ir_splat(ir, ir_const32(ir, position_count(g)));
    p->valid = LLVMBuildICmp(ir->builder, LLVMIntULT, position, end, "");
    p->lane[0] = ir_divide(ir, position, g->axis[1].count, &p->lane[1]);
}

/* The number of result channel i of the tile; in the last tile it may be beyond the end, where `inside` is false and the number is the last. */
static LLVMValueRef channel_number(LLVMValueRef *inside, struct ir *ir, const struct conv *c, const struct gather *g, const struct place *p, int i)
{
    LLVMValueRef number = LLVMBuildAdd(ir->builder, p->first_channel, ir_const64(ir, i), "");
    LLVMValueRef last = ir_const64(ir, g->result_channels - 1);
    *inside = LLVMBuildICmp(ir->builder, LLVMIntULE, number, last, "");
    if (g->result_channels % c->tiles.channels == 0)
        return number;
    return LLVMBuildSelect(ir->builder, *inside, number, last, "");
}

/* Source position along one axis for tap j, and whether it exists. */
static LLVMValueRef source_position(LLVMValueRef *exists, struct ir *ir, const struct conv *c, const struct gather *g, int dim,
                                    LLVMValueRef lane, LLVMValueRef j)
{
    const struct axis *axis = &g->axis[dim];
    int64_t extent = g->source == INPUT ? c->in[dim] : c->out[dim];
    LLVMValueRef shift = ir_scale(ir, j, axis->delta, ir_const64(ir, axis->base));
    shift = ir_splat(ir, LLVMBuildTrunc(ir->builder, shift, ir->i32, ""));
    LLVMValueRef position = ir_scale(ir, lane, axis->step, shift);
    /* Below zero is very large when unsigned. */
    *exists = LLVMBuildICmp(ir->builder, LLVMIntULT, position, ir_splat(ir, ir_const32(ir, extent)), "");
    return position;
}

/* With one tap that moves nothing, the lanes of a vector are neighbours in memory when rows follow each other without a gap. */
static bool lanes_are_neighbours(const struct conv *c, const struct gather *g)
{
    for (int d = 0; d < 2; d++) {
        const struct axis *axis = &g->axis[d];
        int64_t extent = g->source == INPUT ? c->in[d] : c->out[d];
        if (axis->taps != 1 || axis->step != 1 || axis->base != 0 || axis->count != extent)
            return false;
    }
    return conv_stride(c, g->source, 'w') == 1 && conv_stride(c, g->source, 'h') == g->axis[1].count;
}

/* All reduced channels of one tap. */
static void add_tap(struct ir *ir, const struct conv *c, const struct gather *g, const struct place *p, LLVMValueRef accumulators[],
                    LLVMValueRef j[2])
{
    LLVMValueRef exists[2], inside, position[2];
    for (int d = 0; d < 2; d++)
        position[d] = source_position(&exists[d], ir, c, g, d, p->lane[d], j[d]);
    LLVMValueRef mask = LLVMBuildAnd(ir->builder, p->valid, LLVMBuildAnd(ir->builder, exists[0], exists[1], ""), "");
    LLVMValueRef lane_offset = ir_scale(ir, position[1], conv_stride(c, g->source, 'w'),
                                        ir_scale(ir, position[0], conv_stride(c, g->source, 'h'), NULL));
    LLVMValueRef source = ir_scale(ir, p->group, conv_stride(c, g->source, 'g'), ir_scale(ir, p->image, conv_stride(c, g->source, 'n'), NULL));
    LLVMValueRef filter = ir_scale(ir, p->group, conv_stride(c, FILTER, 'g'), NULL);
    static const char taps[2] = {'y', 'x'};
    for (int d = 0; d < 2; d++) {
        LLVMValueRef tap = ir_scale(ir, j[d], g->axis[d].tap_step, ir_const64(ir, g->axis[d].tap_first));
        filter = ir_scale(ir, tap, conv_stride(c, FILTER, taps[d]), filter);
    }
    struct ir_loop loop;
    LLVMValueRef r = ir_loop_begin(ir, &loop, g->reduced_channels);
    LLVMValueRef from = ir_scale(ir, r, conv_stride(c, g->source, g->reduced_letter), source);
    LLVMValueRef value;
    if (lanes_are_neighbours(c, g))
        value = ir_load_lanes(ir, c->type[g->source], ir->argument[g->source], LLVMBuildAdd(ir->builder, from, p->first_position, ""), mask);
    else
        value = ir_gather(ir, c->type[g->source], ir->argument[g->source], from, lane_offset, mask);
    LLVMValueRef row = ir_scale(ir, r, conv_stride(c, FILTER, g->reduced_letter), filter);
    for (int i = 0; i < c->tiles.channels; i++) {
        LLVMValueRef channel = channel_number(&inside, ir, c, g, p, i);
        LLVMValueRef at = ir_scale(ir, channel, conv_stride(c, FILTER, g->result_letter), row);
        LLVMValueRef weight = ir_load(ir, c->type[FILTER], ir->argument[FILTER], at);
        ir_accumulate(ir, c->type[g->result], accumulators[i], value, ir_splat(ir, weight));
    }
    ir_loop_end(ir, &loop);
}

static void store_tile(struct ir *ir, const struct conv *c, const struct gather *g, const struct place *p, LLVMValueRef accumulators[])
{
    enum operand to = g->result;
    LLVMValueRef lane_offset = NULL, inside;
    static const char letters[2] = {'h', 'w'};
    for (int d = 0; d < 2; d++) {
        LLVMValueRef first = ir_splat(ir, ir_const32(ir, g->axis[d].result_first));
        LLVMValueRef position = ir_scale(ir, p->lane[d], g->axis[d].result_step, first);
        lane_offset = ir_scale(ir, position, conv_stride(c, to, letters[d]), lane_offset);
    }
    LLVMValueRef base = ir_scale(ir, p->group, conv_stride(c, to, 'g'), ir_scale(ir, p->image, conv_stride(c, to, 'n'), NULL));
    for (int i = 0; i < c->tiles.channels; i++) {
        LLVMValueRef channel = channel_number(&inside, ir, c, g, p, i);
        LLVMValueRef offset = ir_scale(ir, channel, conv_stride(c, to, g->result_letter), base);
        LLVMValueRef mask = LLVMBuildAnd(ir->builder, p->valid, ir_splat(ir, inside), "");
        ir_scatter(ir, c->type[to], ir_read(ir, c->type[to], accumulators[i]), ir->argument[to], offset, lane_offset, mask);
    }
}

void gather_lower(struct ir *ir, const struct conv *c, const struct gather *g)
{
    ir_open_kernel(ir, c->kernel_name, gather_tiles(c, g));
    if (gather_tiles(c, g) > 0) {
        struct place p;
        struct ir_loop rows, columns;
        LLVMValueRef accumulators[MAX_CHANNELS], j[2];
        find_place(&p, ir, c, g);
        for (int i = 0; i < c->tiles.channels; i++)
            accumulators[i] = ir_accumulator(ir, c->type[g->result]);
        j[0] = ir_loop_begin(ir, &rows, g->axis[0].taps);
        j[1] = ir_loop_begin(ir, &columns, g->axis[1].taps);
        add_tap(ir, c, g, &p, accumulators, j);
        ir_loop_end(ir, &columns);
        ir_loop_end(ir, &rows);
        store_tile(ir, c, g, &p, accumulators);
    }
    ir_close_kernel(ir);
}
