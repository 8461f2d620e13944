/* Any text, read as each tool's line. What is taken must be a sound problem, and what a tool's printer then says of it must be
 * read as the same problem. */
#include "reference/spelling.h"
#include "src/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_own_words(const struct problem *p, enum spelling s)
{
    struct problem back[3];
    size_t count = 0;
    struct buf b;
    buf_init(&b, BUF_MAX_LINE);
    if (spelling_print(&b, s, p, true) == 0) {
        if (spelling_parse(back, &count, s, b.data) || count != 1)
            bug("%s prints what it does not read: %s", spelling_name(s), b.data);
        /* MIOpen's layouts have no g: with one group it may have moved. */
        if (!(s == SPELLING_MIOPEN && p->g == 1) && !problem_equal(p, &back[0]))
            bug("%s reads another problem: %s", spelling_name(s), b.data);
    } else if (err_code() != ERR_INVALID || !*err_message()) {
        bug("%s refuses without a reason", spelling_name(s));
    }
    buf_release(&b);
}

static void check_line(const char *line, enum spelling s)
{
    struct problem p[3];
    size_t count = 0;
    err_clear();
    if (spelling_parse(p, &count, s, line)) {
        if (err_code() == 0 || !*err_message())
            bug("%s fails without a message", spelling_name(s));
        return;
    }
    if (count < 1 || count > 3)
        bug("%zu problems", count);
    for (size_t i = 0; i < count; i++) {
        if (problem_check(&p[i]))
            bug("%s took a bad problem: %s", spelling_name(s), err_message());
        for (int other = SPELLING_ASSAY; other <= SPELLING_MIIR; other++)
            check_own_words(&p[i], (enum spelling)other);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *line = xmalloc(size + 1);
    enum spelling guess;
    memcpy(line, data, size);
    line[size] = '\0';
    bool is_guessed = spelling_guess(&guess, line);
    if (is_guessed && (guess < SPELLING_ASSAY || guess > SPELLING_MIIR))
        bug("guess %d", (int)guess);
    for (int s = SPELLING_ASSAY; s <= SPELLING_MIIR; s++)
        check_line(line, (enum spelling)s);
    free(line);
    return 0;
}
