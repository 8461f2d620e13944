/* worker: the door that assay itself uses for its children; see harness/worker.h for the protocol.
 */
#include "harness/commands/cmd.h"

#include "harness/worker.h"

#include <stdio.h>
#include <unistd.h>

static int run(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        fprintf(stderr, "assay worker: it takes no words; jobs come on standard input\n");
        return EXIT_USAGE;
    }
    return worker_serve(STDIN_FILENO, WORKER_CHANNEL) < 0 ? cmd_fail() : EXIT_GOOD;
}

const struct opt_command cmd_worker = {
    .name = "worker",
    .summary = "serve jobs to assay itself",
    .run = run,
};
