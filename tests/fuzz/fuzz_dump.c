/* Any bytes, read as a tensor of another tool: taken, or refused with the file's name. Exercises
 * the header's parser and every element type. */
#include "harness/dump.h"

#include "src/err.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const lines[] = {
    "conv fwd f32 n1 c2 k3 g1 in2x2 fil1x1 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw",
    "conv fwd bf16 n1 c2 k4 g2 in3 fil1 str1 dil1 pad0:0 nwgc gkxc nwgk",
    "conv fwd i8:i8:i32 n1 c2 k1 g1 in2 fil1 str1 dil1 pad0:0 ngcw gkcx ngkw",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int file = memfd_create("dump", 0);
    if (file < 0 || write(file, data, size) != (ssize_t)size)
        bug("no file in memory");
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct problem p;
        if (problem_parse(&p, lines[i]) < 0)
            bug("%s", err_message());
        for (enum operand o = OPERAND_INPUT; o <= OPERAND_OUTPUT; o++) {
            struct tensor t;
            tensor_init(&t, &p, o);
            err_clear();
            if (dump_read(&t, &p, o, path) < 0 && !strstr(err_message(), path))
                bug("refused without the file's name: %s", err_message());
            tensor_release(&t);
        }
    }
    close(file);
    return 0;
}
