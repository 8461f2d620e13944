/* Any text, read as a condition on a problem. What is refused says why and where; what is taken can
 * be asked of any problem. */
#include "harness/where.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const lines[] = {
    "conv fwd f32 n1 c64 k64 g1 in56x56 fil3x3 str1x1 dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw",
    "conv bwd_weight f16 n32 c6 k9 g3 in7 fil2 str2 dil2 pad0:1 nwgc gkxc nwgk",
    "conv fwd f32 n1 c4 k4 g1 in5x6x7 fil1x2x3 str1x2x1 dil1x1x1 pad0:1x0:0x2:0 ngcdhw gkczyx ngkdhw",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct where *where = NULL;
    size_t column = 0;
    char *text = arena_strndup(&a, (const char *)data, size);
    err_clear();
    if (where_parse(&where, &column, &a, text) == 0) {
        for (size_t i = 0; i < COUNT_OF(lines); i++) {
            struct problem p;
            if (problem_parse(&p, lines[i]) < 0)
                bug("%s", err_message());
            bool holds = where_holds(where, &p);
            if (holds != where_holds(where, &p))
                bug("the same condition gives two answers: %s", text);
        }
    } else if (err_code() != ERR_INVALID || !*err_message() || column < 1 ||
               column > strlen(text) + 1) {
        bug("refused without a reason or a place (%zu): %s", column, text);
    }
    arena_release(&a);
    return 0;
}
