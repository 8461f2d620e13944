/* main: one door. `assay COMMAND ...` finds the command in the table and runs it. */
#include "harness/commands/cmd.h"

#include "src/proc.h"

#include <stdio.h>
#include <string.h>

const struct opt_command *const commands[] = {
    &cmd_init, &cmd_doctor,  &cmd_import, &cmd_plan,   &cmd_build,
    &cmd_run,  &cmd_compare, &cmd_bisect, &cmd_report, &cmd_status,
    &cmd_show, &cmd_again,   &cmd_verify, &cmd_gc,     NULL,
};

static void print_help(void)
{
    printf("assay: regression testing and bisection of convolution compilers\n\nusage: assay "
           "COMMAND [OPTION...]\n\n");
    for (size_t i = 0; commands[i]; i++)
        printf("  %-8s  %s\n", commands[i]->name, commands[i]->summary);
    printf("\n`assay COMMAND --help` tells more. Exit codes: 0 pass, 1 regression or bad, 125 "
           "cannot tell,\n"
           "128 trouble of our own, 129 usage: any command works under `git bisect run`.\n");
}

static const struct opt_command *find_command(const char *name)
{
    if (strcmp(name, cmd_worker.name) == 0)
        return &cmd_worker;
    for (size_t i = 0; commands[i]; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    }
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *names[sizeof commands / sizeof commands[0]] = {NULL};
    for (size_t i = 0; commands[i]; i++)
        names[i] = commands[i]->name;
    const char *nearest = opt_nearest(name, names);
    fprintf(stderr, "assay: there is no command `%s`", name);
    if (nearest)
        fprintf(stderr, "; did you mean `%s`?", nearest);
    fprintf(stderr, "\nTry `assay --help`.\n");
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_help();
        return argc < 2 ? EXIT_USAGE : EXIT_GOOD;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("assay %s\n", ASSAY_VERSION);
        return EXIT_GOOD;
    }
    const struct opt_command *command = find_command(argv[1]);
    if (!command)
        return unknown_command(argv[1]);
    if (command != &cmd_worker)
        proc_catch_signals();
    return command->run(argc - 1, argv + 1);
}
