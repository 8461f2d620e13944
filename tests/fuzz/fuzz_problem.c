/* Any text, read as a problem. What is taken must be canonical: printed byte for byte as it was,
 * read again as the same problem, and sound by the checks for structs made by hand. */
#include "reference/problem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The one shorthand: a lone i8 stands for the three types that it is printed as. */
static bool is_shorthand(const char *line)
{
    const char *type = line + strcspn(line, " ") + 1;
    type += strcspn(type, " ") + 1;
    return strncmp(type, "i8 ", 3) == 0;
}

static void check_problem(const struct problem *p, const char *line)
{
    char text[PROBLEM_MAX_TEXT], text_again[PROBLEM_MAX_TEXT];
    struct problem again;
    problem_print(text, p);
    if (!is_shorthand(line) && strcmp(text, line) != 0)
        bug("taken: %s\nprinted: %s", line, text);
    if (problem_parse(&again, text) != 0)
        bug("what is printed is not read: %s", err_message());
    if (!problem_equal(p, &again) || strcmp(problem_print(text_again, &again), text) != 0)
        bug("read again as another problem: %s", text);
    if (problem_check(p) != 0)
        bug("taken, yet %s", err_message());
}

static void check_numbers(const struct problem *p)
{
    for (int i = 0; i < p->dims; i++)
        if (problem_out(p, i) < 1)
            bug("no output in dim %d", i);
    for (enum operand o = OPERAND_INPUT; o <= OPERAND_OUTPUT; o++)
        if (problem_elements(p, o) < 1 || problem_elements(p, o) >= INT64_C(1) << 40)
            bug("%lld elements", (long long)problem_elements(p, o));
    if (problem_flops(p) < 2 || problem_bytes(p) < 3 || problem_reduction(p) < 1)
        bug("a count without a sense");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct problem p;
    char *line = malloc(size + 1);
    if (!line)
        return 0;
    memcpy(line, data, size);
    line[size] = '\0';
    err_clear();
    if (problem_parse(&p, line) == 0) {
        check_problem(&p, line);
        check_numbers(&p);
    } else if (err_code() != ERR_INVALID || !*err_message()) {
        bug("refused without a reason: %s", line);
    }
    free(line);
    return 0;
}
