/* import: problems from other tools' lines, and back into their words. */
#include "harness/commands/cmd.h"

#include "src/fs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct job_of_import {
    const char *from, *to;
    bool pads_by_side;
    size_t lines, problems, refused;
};

static void print_problem(struct job_of_import *j, const struct problem *p, const char *place)
{
    enum spelling to;
    struct buf out;
    buf_init(&out, BUF_MAX_LINE);
    if (!cmd_spelling(&to, j->to))
        bug("--to %s passed the option table", j->to);
    if (spelling_print(&out, to, p, j->pads_by_side) < 0) {
        fprintf(stderr, "%s: %s\n", place, err_message());
        j->refused++;
    } else {
        printf("%s\n", out.data);
        j->problems++;
    }
    buf_release(&out);
}

static void import_line(struct job_of_import *j, const char *line, const char *place)
{
    enum spelling from;
    struct problem problems[3];
    size_t count = 0;
    j->lines++;
    bool known = j->from ? cmd_spelling(&from, j->from) : spelling_guess(&from, line);
    if (!known) {
        fprintf(stderr, "%s: `%.60s` is no problem in any spelling that assay knows\n", place,
                line);
        j->refused++;
    } else if (spelling_parse(problems, &count, from, line) < 0) {
        fprintf(stderr, "%s: %s\n", place, err_message());
        j->refused++;
    }
    for (size_t i = 0; i < count; i++)
        print_problem(j, &problems[i], place);
}

static void import_text(struct job_of_import *j, char *text, const char *name)
{
    for (int row = 1; text; row++) {
        char place[4200];
        char *line = strsep(&text, "\n");
        line += strspn(line, " \t");
        line[strcspn(line, "\r")] = '\0';
        snprintf(place, sizeof place, "%s:%d", name, row);
        if (*line && *line != '#')
            import_line(j, line, place);
    }
}

static int import_file(struct job_of_import *j, const char *name)
{
    struct buf text;
    buf_init(&text, BUF_MAX_FILE);
    bool standard_input = strcmp(name, "-") == 0;
    int status = fs_read(&text, standard_input ? "/dev/stdin" : name);
    if (status == 0)
        import_text(j, text.data, standard_input ? "standard input" : name);
    buf_release(&text);
    return status;
}

static int import_all(struct job_of_import *j, const struct opt_list *operands)
{
    int status = 0;
    if (operands->count == 0)
        status = import_file(j, "-");
    for (size_t i = 0; i < operands->count && status == 0; i++)
        status = import_file(j, operands->items[i]);
    if (status < 0)
        return cmd_fail();
    if (j->refused > 0)
        fprintf(stderr, "%zu of %zu lines refused\n", j->refused, j->lines);
    return j->refused > 0 ? EXIT_TROUBLE : EXIT_GOOD;
}

static int run(int argc, char **argv)
{
    struct arena a = {0};
    struct job_of_import j = {.to = "assay"};
    struct opt_list operands;
    const struct opt table[] = {
        {.name = "from",
         .kind = OPT_WORD,
         .value = &j.from,
         .argument = "TOOL",
         .words = cmd_spelling_words,
         .help = "whose words the lines are (default: seen from each line): assay, miopen, "
                 "rocmlir, mlir-miopen, miir"},
        {.name = "to",
         .kind = OPT_WORD,
         .value = &j.to,
         .argument = "TOOL",
         .words = cmd_spelling_words,
         .help = "whose words to print (default: assay)"},
        {.name = "pads-by-side",
         .kind = OPT_FLAG,
         .value = &j.pads_by_side,
         .help = "with --to miir: write pads that differ by side in pebble's extension"},
        {0},
    };
    int code;
    if (cmd_parse(&code, &cmd_import, table, argc, argv, &a, &operands))
        code = import_all(&j, &operands);
    arena_release(&a);
    return code;
}

const struct opt_command cmd_import = {
    .name = "import",
    .summary = "turn MIOpenDriver and rocMLIR command lines into problems, and back",
    .usage = "[FILE...]",
    .text = "Reads lines from the files or standard input and prints one problem a line. Empty "
            "lines and # comments are\n"
            "skipped; a line that cannot be taken is named with its reason, the others are still "
            "printed.\n\n"
            "  assay import miopen.log > configs/problems/mine.txt\n"
            "  assay import --to rocmlir configs/problems/backward-data.txt",
    .run = run,
};
