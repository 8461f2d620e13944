/* markdown: GitHub's dialect, made for a comment on a pull request: the verdict, then what matters,
 * then the rest folded.
 *
 * GitHub refuses comments of more than 65,536 characters, so each section has an end that it may
 * not pass; rows that do not fit are counted. Bytes are compared with limits in characters: never
 * more characters than bytes. In text of others every character that means something to GitHub is
 * written as an entity or split from its neighbour: a commit subject "fix #12, thanks @who" must
 * neither link to an issue of this repository nor call a person into the thread.
 */
#include "reports/report.h"

#include "src/mem.h"

#include <stdio.h>
#include <string.h>

enum {
    /* Where each section ends at the latest. */
    END_HEAD = 10000,
    END_BLAMES = 26000,
    END_CHANGED_SPEED = 32000,
    END_SPEED = 35000,
    END_CHECKS = 42000,
    END_COMMANDS = 44500,
    END_OTHER_CHECKS = 46500,
    END_COVERAGE = 48500,
    END_FIGURES = 49500,
    END_GROWTHS = 50500,
    END_FACTS = 52000,
    END_FOLDED = 54000,
    LONGEST_LINE = 400,     /* bytes of a text in the head and the last line, before escaping */
    LONGEST_ESCAPED = 3600, /* the same when each byte is an @ */
    SHOWN_CHECKS = 15,
    MOST_PROBLEMS = 10,
    MOST_STEPS = 24,
};

static void escaped(struct buf *out, uint32_t c)
{
    if (c == '@' || c == '#')
        buf_printf(out, "%c<!-- -->", (char)c);
    else if (c < 0x80 && strchr("&<>|`\\$", (int)c))
        buf_printf(out, "&#%u;", (unsigned)c);
    else if (c < 0x80 && strchr("*_[]~", (int)c))
        buf_printf(out, "\\%c", (char)c);
    else
        report_encode(out, c);
}

static void text(struct buf *out, const char *from)
{
    const char *start = from;
    const char *at = from;
    for (uint32_t c; report_next(&c, &from); at = from) {
        /* Only at its start can a text be taken for a list ("- x", "1. x") or an underline. */
        bool marks = at == start && c < 0x80 && strchr("+-=", (int)c);
        bool numbers =
            (c == '.' || c == ')') && start + strspn(start, "0123456789") == at && at > start;
        if (marks || numbers)
            buf_printf(out, "&#%u;", (unsigned)c);
        else
            escaped(out, c);
    }
}

/* Text that may be of any length where no row can be left out: cut, and seen to be cut. */
static void short_text(struct buf *out, const char *from)
{
    size_t length = from ? strlen(from) : 0;
    if (length <= LONGEST_LINE) {
        text(out, from);
        return;
    }
    char cut[LONGEST_LINE + 1];
    size_t used = 0;
    for (uint32_t whole; used + 4 < LONGEST_LINE;)
        used += report_decode(&whole, from + used);
    memcpy(cut, from, used);
    cut[used] = '\0';
    text(out, cut);
    buf_printf(out, "... (%zu bytes cut)", length - used);
}

/* A code span; with entities in <code> when a span's own marks or a table's stand in it. */
static void code(struct buf *out, const char *from)
{
    if (!from || !*from)
        return;
    bool hostile = strpbrk(from, "`|\\\n\r") || from[0] == ' ' || from[strlen(from) - 1] == ' ';
    buf_add_text(out, hostile ? "<code>" : "`");
    for (uint32_t c; report_next(&c, &from);) {
        if (hostile)
            escaped(out, c);
        else
            report_encode(out, c);
    }
    buf_add_text(out, hostile ? "</code>" : "`");
}

static size_t longest_run(const char *in, char of)
{
    size_t longest = 0, run = 0;
    for (; in && *in; in++) {
        run = *in == of ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static void fence(struct buf *out, size_t ticks)
{
    for (size_t i = 0; i < ticks; i++)
        buf_add_char(out, '`');
}

static void line_of_code(struct buf *out, const char *from)
{
    for (uint32_t c; report_next(&c, &from);)
        report_encode(out, c);
    buf_add_char(out, '\n');
}

/* A block that GitHub gives a copy button: the assay command, and the candidate's own. */
static void commands(struct buf *out, const char *again, const char *theirs)
{
    if ((!again || !*again) && (!theirs || !*theirs))
        return;
    size_t run = longest_run(again, '`'), other = longest_run(theirs, '`');
    size_t ticks = (run > other ? run : other) + 1;
    ticks = ticks < 3 ? 3 : ticks;
    fence(out, ticks);
    buf_add_text(out, "sh\n");
    if (again && *again)
        line_of_code(out, again);
    if (theirs && *theirs) {
        buf_add_text(out, "# with the candidate's own tool\n");
        line_of_code(out, theirs);
    }
    fence(out, ticks);
    buf_add_text(out, "\n");
}

static void sha(struct buf *out, const char *full)
{
    char text_of[11];
    code(out, report_short_sha(text_of, full));
}

static const char *tone_icon(enum tone tone)
{
    switch (tone) {
    case TONE_GOOD:
        return ":white_check_mark:";
    case TONE_BAD:
        return ":red_circle:";
    case TONE_DOUBT:
        return ":grey_question:";
    case TONE_PLAIN:
        return ":white_circle:";
    }
    bug("no such tone: %d", (int)tone);
}

/* The icons that reviewers know from MIGraphX: a gain is bright, what is missing is a cross. */
static const char *speed_icon(const struct report_speed *speed)
{
    if (!report_speed_is_measured(speed))
        return ":x:";
    if (speed->tone == TONE_GOOD && speed->compare && strcmp(speed->compare, "improved") == 0)
        return ":high_brightness:";
    return tone_icon(speed->tone);
}

typedef void row_function(struct buf *out, const struct report *r, size_t i);

/* Rows of `items` (NULL: 0, 1, 2 ...) from `from` while they end before `limit`; returns the first
 * that was left out, or count. */
static size_t rows(struct buf *out, size_t limit, const struct report *r, const size_t *items,
                   size_t from, size_t count, row_function *row)
{
    struct buf one;
    buf_init(&one, BUF_MAX_LINE);
    for (; from < count; from++) {
        buf_clear(&one);
        row(&one, r, items ? items[from] : from);
        if (one.overflowed || out->length + one.length > limit)
            break;
        buf_add(out, one.data, one.length);
    }
    buf_release(&one);
    return from;
}

static void left_out(struct buf *out, size_t count, const char *what)
{
    char number[40];
    if (count > 0)
        buf_printf(out, "\n*%s more %s left out here: the html and json reports list them.*\n",
                   report_count(number, sizeof number, (int64_t)count), what);
}

static void unfold(struct buf *out)
{
    buf_add_text(out, "\n</details>\n");
}

static void put_commit(struct buf *out, const struct report_commit *commit)
{
    sha(out, commit->sha);
    if (commit->subject && *commit->subject) {
        buf_add_char(out, ' ');
        text(out, commit->subject);
    }
}

static void put_person(struct buf *out, const struct report_commit *commit)
{
    if (commit->author && *commit->author) {
        buf_add_text(out, " by ");
        text(out, commit->author);
    }
    if (commit->date && *commit->date) {
        buf_add_text(out, ", ");
        text(out, commit->date);
    }
}

static void count_row(struct buf *out, const struct report *r, size_t i)
{
    buf_add_text(out, i == 0 ? "\n" : " · ");
    text(out, r->counts[i].name);
    buf_add_text(out, " **");
    text(out, r->counts[i].value);
    buf_add_text(out, "**");
}

static void put_head(struct buf *out, size_t start, const struct report *r)
{
    buf_printf(out, "## %s ", tone_icon(r->tone));
    short_text(out, r->verdict);
    buf_add_text(out, "\n\n");
    if (r->title && *r->title) {
        short_text(out, r->title);
        buf_add_text(out, "\n");
    }
    size_t shown = rows(out, start + END_HEAD, r, NULL, 0, r->count_count, count_row);
    if (r->count_count > 0)
        buf_add_text(out, "\n");
    left_out(out, r->count_count - shown, "counts");
}

static void blame_row(struct buf *out, const struct report *r, size_t i)
{
    const struct report_blame *blame = &r->blames[i];
    char odds[80], number[60];
    buf_printf(out, "| %s ", tone_icon(blame->tone));
    text(out, blame->what);
    buf_add_text(out, " | ");
    if (blame->culprit.sha)
        put_commit(out, &blame->culprit);
    else
        buf_add_text(out, report_number_of(number, sizeof number, blame->suspect_count, "suspect"));
    buf_add_text(out, " | ");
    text(out, blame->level);
    buf_printf(out, " | %s", report_probability(odds, sizeof odds, blame->error_probability));
    buf_printf(out, " | %s |\n",
               report_count(number, sizeof number, (int64_t)blame->problem_count));
}

static void put_suspects(struct buf *out, const struct report_blame *blame)
{
    for (size_t i = 0; i < blame->suspect_count && i < MOST_STEPS; i++) {
        buf_add_text(out, i == 0 ? "\nSuspects, oldest first:\n\n- " : "- ");
        put_commit(out, &blame->suspects[i]);
        put_person(out, &blame->suspects[i]);
        buf_add_text(out, "\n");
    }
    if (blame->suspect_count > MOST_STEPS)
        left_out(out, blame->suspect_count - MOST_STEPS, "suspects");
}

static void put_steps(struct buf *out, const struct report_blame *blame)
{
    if (blame->step_count == 0)
        return;
    buf_add_text(out, "\n| Tested commit, oldest first | Answer | Detail |\n|---|---|---|\n");
    for (size_t i = 0; i < blame->step_count && i < MOST_STEPS; i++) {
        const struct report_step *step = &blame->steps[i];
        buf_add_text(out, "| ");
        put_commit(out, &step->commit);
        buf_printf(out, " | %s ", tone_icon(step->tone));
        text(out, step->answer);
        buf_add_text(out, " | ");
        text(out, step->detail);
        buf_add_text(out, " |\n");
    }
    if (blame->step_count > MOST_STEPS)
        left_out(out, blame->step_count - MOST_STEPS, "tested commits");
}

static void put_problems(struct buf *out, const struct report_blame *blame)
{
    for (size_t i = 0; i < blame->problem_count && i < MOST_PROBLEMS; i++) {
        buf_add_text(out, i == 0 ? "\nProblems:\n\n- " : "- ");
        code(out, blame->problems[i]);
        buf_add_text(out, "\n");
    }
    if (blame->problem_count > MOST_PROBLEMS)
        left_out(out, blame->problem_count - MOST_PROBLEMS, "problems");
}

static void blame_detail(struct buf *out, const struct report *r, size_t i)
{
    const struct report_blame *blame = &r->blames[i];
    char commits[60], builds[60], runs[60];
    buf_add_text(out, "\n**");
    text(out, blame->what);
    buf_add_text(out, "**: ");
    if (blame->culprit.sha) {
        put_commit(out, &blame->culprit);
        put_person(out, &blame->culprit);
        buf_add_text(out, ". ");
    }
    text(out, blame->because);
    buf_add_text(out, "\n");
    put_suspects(out, blame);
    buf_add_text(out, "\n");
    commands(out, blame->again, blame->theirs);
    buf_printf(out, "\n<details><summary>Search: %s tested, %s, %s</summary>\n",
               report_number_of(commits, sizeof commits, blame->step_count, "commit"),
               report_number_of(builds, sizeof builds, (size_t)blame->builds, "build"),
               report_number_of(runs, sizeof runs, (size_t)blame->runs, "run"));
    put_steps(out, blame);
    put_problems(out, blame);
    unfold(out);
}

static void put_blames(struct buf *out, size_t start, const struct report *r)
{
    if (r->blame_count == 0)
        return;
    buf_add_text(out, "\n### Culprits\n\n| What | Commit | Level | Error probability | Problems "
                      "|\n|---|---|---|---|---:|\n");
    size_t shown = rows(out, start + END_BLAMES, r, NULL, 0, r->blame_count, blame_row);
    left_out(out, r->blame_count - shown, "culprits");
    size_t told = rows(out, start + END_BLAMES, r, NULL, 0, shown, blame_detail);
    left_out(out, shown - told, "descriptions of culprits");
}

static void put_rate(struct buf *out, double rate, const char *unit)
{
    char number[40];
    if (rate > 0.0) {
        buf_add_text(out, report_rate(number, sizeof number, rate));
        buf_add_char(out, ' ');
        text(out, unit);
    } else {
        buf_add_text(out, "nan");
    }
}

static void speed_row(struct buf *out, const struct report *r, size_t i)
{
    const struct report_speed *speed = &r->speeds[i];
    char number[40], interval[90] = "";
    buf_add_text(out, "| ");
    code(out, speed->test);
    buf_printf(out, " | %s | ", report_count(number, sizeof number, speed->batch));
    put_rate(out, speed->rate_new, speed->unit);
    buf_add_text(out, " | ");
    put_rate(out, speed->rate_old, speed->unit);
    if (report_speed_is_measured(speed))
        buf_printf(
            out, " | **%s** %s", report_percent(number, sizeof number, speed->change),
            report_interval(interval, sizeof interval, speed->change_low, speed->change_high));
    else
        buf_add_text(out, " | nan");
    buf_printf(out, " | %s ", speed_icon(speed));
    text(out, speed->compare);
    buf_add_text(out, " |\n");
}

static void speed_head(struct buf *out, const struct report *r)
{
    char digits[11];
    buf_add_text(out, "| Test | Batch | Rate new <br />");
    text(out, report_short_sha(digits, r->head.sha));
    buf_add_text(out, " | Rate old <br />");
    text(out, report_short_sha(digits, r->base.sha));
    buf_add_text(out, " | Diff, 95 % interval | Compare |\n|---|---:|---:|---:|---:|---|\n");
}

/* All speeds: what changed at once, the equivalent ones folded. */
static void put_speeds(struct buf *out, size_t start, const struct report *r)
{
    if (r->speed_count == 0)
        return;
    CLEANUP(mem_free_ptr) size_t *picked = xcalloc(r->speed_count, sizeof *picked);
    size_t count = report_pick_speeds(picked, r, true);
    buf_add_text(out, "\n### Speed\n\n");
    if (count > 0)
        speed_head(out, r);
    size_t shown = rows(out, start + END_CHANGED_SPEED, r, picked, 0, count, speed_row);
    left_out(out, count - shown, "rates that changed");
    count = report_pick_speeds(picked, r, false);
    if (count == 0)
        return;
    buf_printf(out, "\n<details><summary>%zu equivalent or identical</summary>\n\n", count);
    speed_head(out, r);
    shown = rows(out, start + END_SPEED, r, picked, 0, count, speed_row);
    left_out(out, count - shown, "equivalent rates");
    unfold(out);
}

static void check_row(struct buf *out, const struct report *r, size_t i)
{
    const struct report_check *check = &r->checks[i];
    buf_printf(out, "- %s **", tone_icon(check->tone));
    text(out, check->change);
    buf_add_text(out, "** ");
    code(out, check->problem);
    buf_add_text(out, ": ");
    text(out, check->head);
    buf_add_text(out, " (base: ");
    text(out, check->base);
    buf_add_text(out, ")\n");
}

static void check_commands(struct buf *out, const struct report *r, size_t i)
{
    commands(out, r->checks[i].again, r->checks[i].theirs);
}

static void folded_checks(struct buf *out, size_t limit, const struct report *r,
                          const size_t *items, size_t from, size_t count, const char *what,
                          row_function *row)
{
    if (from >= count)
        return;
    buf_printf(out, "\n<details><summary>%zu %s</summary>\n\n", count - from, what);
    size_t shown = rows(out, limit, r, items, from, count, row);
    left_out(out, count - shown, "checks");
    unfold(out);
}

static void put_checks(struct buf *out, size_t start, const struct report *r)
{
    CLEANUP(mem_free_ptr)
    size_t *picked = xcalloc(r->check_count + 1, sizeof *picked),
           *quiet = xcalloc(r->check_count + 1, sizeof *quiet);
    size_t count = report_pick_checks(picked, r, REPORT_CHANGED),
           quiet_count = report_pick_checks(quiet, r, REPORT_QUIET);
    if (count + quiet_count == 0)
        return;
    size_t first = count < SHOWN_CHECKS ? count : SHOWN_CHECKS;
    buf_add_text(out, "\n### Tolerances\n\n");
    if (count == 0)
        buf_add_text(out, "Nothing changed.\n");
    size_t shown = rows(out, start + END_CHECKS, r, picked, 0, first, check_row);
    folded_checks(out, start + END_CHECKS, r, picked, shown, count, "more that changed", check_row);
    folded_checks(out, start + END_COMMANDS, r, picked, 0, shown, "commands that show them again",
                  check_commands);
    folded_checks(out, start + END_OTHER_CHECKS, r, quiet, 0, quiet_count,
                  "that pass or are not applicable", check_row);
}

static void state_row(struct buf *out, const struct report *r, size_t i)
{
    char base[40], head[40];
    buf_add_text(out, "| ");
    text(out, r->states[i].name);
    bool moved = r->states[i].base != r->states[i].head;
    buf_printf(out, moved ? " | %s | **%s** |\n" : " | %s | %s |\n",
               report_count(base, sizeof base, r->states[i].base),
               report_count(head, sizeof head, r->states[i].head));
}

static void put_coverage(struct buf *out, size_t start, const struct report *r)
{
    CLEANUP(mem_free_ptr) size_t *picked = xcalloc(r->check_count + 1, sizeof *picked);
    size_t count = report_pick_checks(picked, r, REPORT_COVERAGE);
    if (r->state_count == 0 && count == 0)
        return;
    buf_add_text(out, "\n### Coverage\n\n");
    if (r->coverage && *r->coverage) {
        if (r->coverage_tone != TONE_PLAIN)
            buf_printf(out, "%s ", tone_icon(r->coverage_tone));
        short_text(out, r->coverage);
        buf_add_text(out, "\n\n");
    }
    if (r->state_count > 0)
        buf_add_text(out, "| Problems | Base | Head |\n|---|---:|---:|\n");
    size_t shown = rows(out, start + END_COVERAGE, r, NULL, 0, r->state_count, state_row);
    left_out(out, r->state_count - shown, "states");
    buf_add_text(out, "\n");
    size_t first = count < SHOWN_CHECKS ? count : SHOWN_CHECKS;
    shown = rows(out, start + END_COVERAGE, r, picked, 0, first, check_row);
    folded_checks(out, start + END_COVERAGE, r, picked, shown, count, "more that changed",
                  check_row);
    folded_checks(out, start + END_COVERAGE, r, picked, 0, shown, "commands that show them again",
                  check_commands);
}

static void put_change(struct buf *out, int64_t base, int64_t head, const char *unit)
{
    char from[40], to[40], ratio[60];
    buf_printf(out, " | %s | %s | %s", report_quantity(from, sizeof from, base, unit),
               report_quantity(to, sizeof to, head, unit),
               report_ratio(ratio, sizeof ratio, base, head));
}

static void figure_row(struct buf *out, const struct report *r, size_t i)
{
    const struct report_figure *figure = &r->figures[i];
    char words[200];
    buf_printf(out, "| %s%s", figure->tone == TONE_PLAIN ? "" : tone_icon(figure->tone),
               figure->tone == TONE_PLAIN ? "" : " ");
    text(out, figure->name);
    put_change(out, figure->base, figure->head, figure->unit);
    buf_printf(out, " | %s", report_figure_words(words, sizeof words, figure));
    if (figure->note && *figure->note) {
        buf_add_text(out, "; ");
        text(out, figure->note);
    }
    buf_add_text(out, " |\n");
}

/* The i-th problem that grew, counted over all figures. */
static void growth_row(struct buf *out, const struct report *r, size_t i)
{
    const struct report_figure *figure = r->figures;
    for (; i >= figure->grew_count; figure++)
        i -= figure->grew_count;
    buf_add_text(out, "| ");
    text(out, figure->name);
    buf_add_text(out, " | ");
    code(out, figure->grew[i].problem);
    put_change(out, figure->grew[i].base, figure->grew[i].head, figure->unit);
    buf_add_text(out, " |\n");
}

static void put_growths(struct buf *out, size_t start, const struct report *r)
{
    size_t count = 0;
    for (size_t i = 0; i < r->figure_count; i++)
        count += r->figures[i].grew_count;
    if (count == 0)
        return;
    buf_printf(out,
               "\n<details><summary>%zu that grew</summary>\n\n| Figure | Problem | Base | Head | "
               "Change |\n|---|---|---:|---:|---:|\n",
               count);
    size_t shown = rows(out, start + END_GROWTHS, r, NULL, 0, count, growth_row);
    left_out(out, count - shown, "problems that grew");
    unfold(out);
}

static void put_figures(struct buf *out, size_t start, const struct report *r)
{
    if (r->figure_count == 0)
        return;
    buf_add_text(out,
                 "\n### Generated code\n\n| All problems together | Base | Head | Change | One "
                 "by one |\n|---|---:|---:|---:|---|\n");
    size_t shown = rows(out, start + END_FIGURES, r, NULL, 0, r->figure_count, figure_row);
    left_out(out, r->figure_count - shown, "figures");
    put_growths(out, start, r);
}

static void fact_row(struct buf *out, const struct report *r, size_t i)
{
    buf_add_text(out, "| ");
    text(out, r->facts[i].name);
    buf_add_text(out, " | ");
    text(out, r->facts[i].value);
    buf_add_text(out, " |\n");
}

static void end_row(struct buf *out, const char *name, const struct report_commit *commit)
{
    if (!commit->sha)
        return;
    buf_printf(out, "| %s | ", name);
    sha(out, commit->sha);
    buf_add_char(out, ' ');
    short_text(out, commit->subject);
    buf_add_text(out, " |\n");
}

static void put_facts(struct buf *out, size_t start, const struct report *r)
{
    if (r->fact_count == 0 && !r->base.sha && !r->head.sha)
        return;
    buf_add_text(out, "\n<details><summary>Where and how this was measured</summary>\n\n| Fact | "
                      "Value |\n|---|---|\n");
    if (start + END_FOLDED > out->length + 2 * LONGEST_ESCAPED) {
        end_row(out, "base", &r->base);
        end_row(out, "head", &r->head);
    }
    size_t shown = rows(out, start + END_FACTS, r, NULL, 0, r->fact_count, fact_row);
    left_out(out, r->fact_count - shown, "facts");
    unfold(out);
}

static void configuration_row(struct buf *out, const struct report *r, size_t i)
{
    buf_add_text(out, "- ");
    code(out, r->configurations[i]);
    buf_add_text(out, "\n");
}

static void put_configurations(struct buf *out, size_t start, const struct report *r)
{
    if (r->configuration_count == 0)
        return;
    buf_printf(out, "\n<details><summary>%zu configurations were tested</summary>\n\n",
               r->configuration_count);
    size_t shown =
        rows(out, start + END_FOLDED, r, NULL, 0, r->configuration_count, configuration_row);
    left_out(out, r->configuration_count - shown, "configurations");
    unfold(out);
}

void report_markdown(struct buf *out, const struct report *r)
{
    size_t start = out->length;
    put_head(out, start, r);
    put_blames(out, start, r);
    put_speeds(out, start, r);
    put_checks(out, start, r);
    put_coverage(out, start, r);
    put_figures(out, start, r);
    put_facts(out, start, r);
    put_configurations(out, start, r);
    if (r->recommendation && *r->recommendation) {
        buf_add_text(out, "\n");
        short_text(out, r->recommendation);
        buf_add_text(out, "\n");
    }
}
