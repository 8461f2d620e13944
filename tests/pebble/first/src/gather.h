/* gather: the one loop nest behind forward and backward data.
 *
 * Both compute, for every result channel m and result position,
 *     result[m, position] = sum over reduced channels r and taps j of source[r, place(position, j)] * filter[m, r, tap(j)]
 * where along each of the two axes
 *     the result positions are   result_first + lane * result_step          lane = 0 .. count-1
 *     the source place is        lane * step + base + j * delta             j = 0 .. taps-1, outside the source: nothing is added
 *     the filter tap is          tap_first + j * tap_step
 * A tile is `channels` result channels of one image and group times one vector of result positions, counted row by row.
 */
#ifndef PEBBLE_GATHER_H
#define PEBBLE_GATHER_H

#include "ir.h"

struct axis {
    int64_t count, result_first, result_step;
    int64_t step, base, delta;
    int64_t taps, tap_first, tap_step;
};

struct gather {
    enum operand source, result;
    char result_letter, reduced_letter; /* of the channels: 'k' and 'c' going forward, the other way round backward */
    int64_t result_channels, reduced_channels; /* per group */
    struct axis axis[2];
};

int64_t gather_tiles(const struct conv *c, const struct gather *g);
void gather_lower(struct ir *ir, const struct conv *c, const struct gather *g);

#endif
