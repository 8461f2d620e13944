/* text: the summary for a terminal. Every line keeps within the width, but for a word of a command
 * that is wider by itself: broken, it could not be copied. Words carry the meaning; colour only
 * repeats it. */
#include "reports/text_internal.h"

#include "src/mem.h"

#include <stdio.h>
#include <string.h>

enum {
    NARROWEST = 40,
    WIDEST = 400,
    MOST_ROWS = 20,    /* of a list, before the rest is only counted */
    MOST_PROBLEMS = 3, /* of a blame */
    MOST_STEPS = 16,
};

static void left_out(struct screen *s, int indent, size_t count, const char *what)
{
    if (count == 0)
        return;
    char number[40], text[160];
    snprintf(text, sizeof text, "and %s %s", report_count(number, sizeof number, (int64_t)count),
             what);
    screen_paragraph(s, SCREEN_DIM, indent, indent, text);
}

/* "base  41d0c9e2f3  subject" */
static void end_of_range(struct screen *s, const char *name, const struct report_commit *commit)
{
    if (!commit->sha)
        return;
    char sha[11];
    screen_styled(s, SCREEN_DIM, name);
    int hang = screen_columns_of(name) + 2;
    screen_spaces(s, 2);
    int column = screen_wrap(s, report_short_sha(sha, commit->sha), hang, hang, s->width);
    if (commit->subject && *commit->subject) {
        screen_spaces(s, 2);
        screen_wrap(s, commit->subject, column + 2, column + 2, s->width);
    }
    buf_add_char(s->out, '\n');
}

/* All counts on as few lines as they need: "newly failing 3   fixed 1". */
static void put_counts(struct screen *s, const struct report *r)
{
    int column = 0;
    for (size_t i = 0; i < r->count_count; i++) {
        const struct report_fact *count = &r->counts[i];
        int wanted = screen_columns_of(count->name) + 1 + screen_columns_of(count->value);
        if (column > 0 && column + 3 + wanted > s->width) {
            buf_add_char(s->out, '\n');
            column = 0;
        } else if (column > 0) {
            screen_spaces(s, 3);
            column += 3;
        }
        screen_styled(s, SCREEN_DIM, count->name);
        buf_add_char(s->out, ' ');
        screen_styled(s, SCREEN_BOLD, count->value);
        column += wanted;
    }
    if (column > 0)
        buf_add_char(s->out, '\n');
}

/* "3e5d1f7a90 subject": the sha stays whole, the subject wraps under itself. */
static void commit_line(struct screen *s, int indent, const struct report_commit *commit)
{
    char sha[11];
    screen_styled(s, SCREEN_BOLD, report_short_sha(sha, commit->sha));
    int column = indent + screen_columns_of(sha) + 1;
    buf_add_char(s->out, ' ');
    screen_wrap(s, commit->subject, column, s->width < 60 ? indent : column, s->width);
    buf_add_char(s->out, '\n');
}

static void put_culprit(struct screen *s, const struct report_commit *culprit)
{
    if (!culprit->sha)
        return;
    screen_label(s, "culprit");
    commit_line(s, SCREEN_LABEL, culprit);
    bool dated = culprit->date && *culprit->date;
    char line[400];
    snprintf(line, sizeof line, "%s%s%s", culprit->author ? culprit->author : "", dated ? ", " : "",
             dated ? culprit->date : "");
    screen_labelled(s, "", line);
}

static void put_suspects(struct screen *s, const struct report_blame *blame)
{
    for (size_t i = 0; i < blame->suspect_count && i < MOST_ROWS; i++) {
        screen_label(s, i == 0 ? "suspects" : "");
        commit_line(s, SCREEN_LABEL, &blame->suspects[i]);
    }
    if (blame->suspect_count > MOST_ROWS)
        left_out(s, SCREEN_LABEL, blame->suspect_count - MOST_ROWS, "more suspects");
}

/* "skip: build-error: ..." in its word and its reason. */
static const char *answer_reason(char *word, size_t size, const char *answer)
{
    size_t length = answer ? strcspn(answer, ":") : 0;
    snprintf(word, size, "%.*s", (int)(length < size ? length : size - 1), answer ? answer : "");
    return answer && answer[length] ? answer + length + 1 : "";
}

/* "good  1f2e3d4c5b  ratio 1.00 [0.99, 1.01], 6 pairs" */
static void put_step(struct screen *s, const struct report_step *step, bool is_culprit)
{
    char sha[11], word[16], line[600];
    const char *reason = answer_reason(word, sizeof word, step->answer);
    screen_styled(s, screen_tone_style(step->tone), word);
    screen_spaces(s, 6 - screen_columns_of(word));
    int column = SCREEN_LABEL + (screen_columns_of(word) > 6 ? screen_columns_of(word) : 6);
    column = screen_wrap(s, report_short_sha(sha, step->commit.sha), column, column, s->width);
    screen_spaces(s, 2);
    snprintf(line, sizeof line, "%s %s %s", is_culprit ? "<- culprit:" : "", reason,
             step->detail ? step->detail : "");
    screen_wrap(s, line, column + 2, s->width < 70 ? SCREEN_LABEL + 6 : column + 2, s->width);
    buf_add_char(s->out, '\n');
}

static void put_search(struct screen *s, const struct report_blame *blame)
{
    const char *culprit = blame->culprit.sha;
    for (size_t i = 0; i < blame->step_count && i < MOST_STEPS; i++) {
        const struct report_step *step = &blame->steps[i];
        screen_label(s, i == 0 ? "search" : "");
        put_step(s, step, culprit && step->commit.sha && strcmp(culprit, step->commit.sha) == 0);
    }
    if (blame->step_count > MOST_STEPS)
        left_out(s, SCREEN_LABEL, blame->step_count - MOST_STEPS, "more tested commits");
    char commits[60], builds[60], runs[60], line[200];
    snprintf(line, sizeof line, "%s, %s, %s",
             report_number_of(commits, sizeof commits, blame->step_count, "commit"),
             report_number_of(builds, sizeof builds, (size_t)blame->builds, "build"),
             report_number_of(runs, sizeof runs, (size_t)blame->runs, "run"));
    if (blame->step_count > 0)
        screen_labelled(s, "", line);
}

static void put_problems(struct screen *s, const struct report_blame *blame)
{
    for (size_t i = 0; i < blame->problem_count && i < MOST_PROBLEMS; i++)
        screen_labelled(s, i == 0 ? "problems" : "", blame->problems[i]);
    if (blame->problem_count > MOST_PROBLEMS)
        left_out(s, SCREEN_LABEL, blame->problem_count - MOST_PROBLEMS, "more");
}

/* "1. mismatch (border)        PROVEN" */
static void blame_title(struct screen *s, const struct report_blame *blame, size_t number)
{
    char mark[24];
    int indent = snprintf(mark, sizeof mark, "%zu. ", number);
    int level = screen_columns_of(blame->level);
    buf_add_char(s->out, '\n');
    buf_add_text(s->out, mark);
    screen_style_begin(s, SCREEN_BOLD);
    int column = screen_wrap(s, blame->what, indent, indent, s->width);
    screen_style_end(s, SCREEN_BOLD);
    if (column + 2 + level > s->width) {
        buf_add_char(s->out, '\n');
        column = 0;
    }
    screen_spaces(s, column == 0 ? SCREEN_LABEL : 2);
    screen_styled(s, screen_tone_style(blame->tone), blame->level);
    buf_add_char(s->out, '\n');
}

static void put_blame(struct screen *s, const struct report_blame *blame, size_t number)
{
    char odds[80];
    blame_title(s, blame, number);
    put_culprit(s, &blame->culprit);
    put_suspects(s, blame);
    screen_labelled(s, "level", report_level_meaning(blame->level));
    if (blame->error_probability >= 0.0)
        screen_labelled(s, "error",
                        report_probability(odds, sizeof odds, blame->error_probability));
    screen_labelled(s, "because", blame->because);
    put_problems(s, blame);
    put_search(s, blame);
    screen_labelled_command(s, "again", blame->again);
    screen_labelled_command(s, "theirs", blame->theirs);
}

static void put_blames(struct screen *s, const struct report *r)
{
    if (r->blame_count == 0)
        return;
    screen_heading(s, "WHAT REGRESSED, AND WHICH COMMIT DID IT");
    for (size_t i = 0; i < r->blame_count && i < MOST_ROWS; i++)
        put_blame(s, &r->blames[i], i + 1);
    if (r->blame_count > MOST_ROWS)
        left_out(s, 0, r->blame_count - MOST_ROWS, "more");
}

/* "mismatch: 84abc3fcc5 subject; 3 problems" */
static const char *blame_in_short(char *text, size_t size, const struct report_blame *blame)
{
    char sha[11], number[60] = "";
    const char *subject = blame->culprit.subject ? blame->culprit.subject : "";
    if (blame->problem_count > 0)
        report_number_of(number, sizeof number, blame->problem_count, "problem");
    if (blame->culprit.sha)
        snprintf(text, size, "%s: %s %s%s%s", blame->what,
                 report_short_sha(sha, blame->culprit.sha), subject, *number ? "; " : "", number);
    else
        snprintf(text, size, "%s%s%s", blame->what, *number ? "; " : "", number);
    return text;
}

/* Several blames once more, a line or two each, where a terminal comes to rest. */
static void put_short(struct screen *s, const struct report *r)
{
    enum { LEVELS = 16 };
    if (r->blame_count < 2)
        return;
    screen_heading(s, "IN SHORT");
    for (size_t i = 0; i < r->blame_count && i < MOST_ROWS; i++) {
        const struct report_blame *blame = &r->blames[i];
        char text[600];
        screen_styled(s, screen_tone_style(blame->tone), blame->level);
        screen_spaces(s, LEVELS - screen_columns_of(blame->level));
        screen_wrap(s, blame_in_short(text, sizeof text, blame), LEVELS, s->width < 60 ? 4 : LEVELS,
                    s->width);
        buf_add_char(s->out, '\n');
    }
    if (r->blame_count > MOST_ROWS)
        left_out(s, 0, r->blame_count - MOST_ROWS, "more");
}

/* The columns of the speed table, right of the names. */
enum {
    BATCH = 7,
    RATE = 14,
    UNIT = 10,
    DIFF = 10,
    COMPARE = 16,
    FIGURES = BATCH + 2 * RATE + UNIT + DIFF + COMPARE
};

static void right_aligned(struct screen *s, const char *style, int width, const char *text)
{
    screen_spaces(s, width - screen_columns_of(text));
    screen_styled(s, style, text);
}

static const char *speed_diff(char *text, size_t size, const struct report_speed *speed)
{
    if (report_speed_is_measured(speed))
        return report_percent(text, size, speed->change);
    return "-";
}

/* Of a rate that was not measured only a dash fits a column. */
static const char *cell_rate(char *text, size_t size, double rate)
{
    if (rate > 0.0)
        return report_rate(text, size, rate);
    snprintf(text, size, "-");
    return text;
}

static void speed_head(struct screen *s, const struct report *r, int names)
{
    char sha[11], rate_new[24], rate_old[24];
    snprintf(rate_new, sizeof rate_new, "%.6s new", report_short_sha(sha, r->head.sha));
    snprintf(rate_old, sizeof rate_old, "%.6s old", report_short_sha(sha, r->base.sha));
    screen_style_begin(s, SCREEN_DIM);
    buf_add_text(s->out, "Test");
    screen_spaces(s, names - 4);
    right_aligned(s, SCREEN_PLAIN, BATCH, "Batch");
    right_aligned(s, SCREEN_PLAIN, RATE, rate_new);
    right_aligned(s, SCREEN_PLAIN, RATE, rate_old);
    screen_spaces(s, UNIT);
    right_aligned(s, SCREEN_PLAIN, DIFF, "Diff");
    buf_add_text(s->out, "  Compare");
    screen_style_end(s, SCREEN_DIM);
    buf_add_char(s->out, '\n');
}

/* A name that is wider than its column stands on lines of its own, figures below. */
static void speed_row(struct screen *s, const struct report_speed *speed, int names)
{
    char text[60];
    int column = screen_wrap(s, speed->test, 0, 2, s->width);
    if (column > names || screen_columns_of(speed->test) > s->width) {
        buf_add_char(s->out, '\n');
        column = 0;
    }
    screen_spaces(s, names - column);
    right_aligned(s, SCREEN_PLAIN, BATCH, report_count(text, sizeof text, speed->batch));
    right_aligned(s, SCREEN_PLAIN, RATE, cell_rate(text, sizeof text, speed->rate_new));
    right_aligned(s, SCREEN_PLAIN, RATE, cell_rate(text, sizeof text, speed->rate_old));
    buf_add_char(s->out, ' ');
    screen_styled(s, SCREEN_DIM, speed->unit);
    screen_spaces(s, UNIT - 1 - screen_columns_of(speed->unit));
    right_aligned(s, screen_tone_style(speed->tone), DIFF, speed_diff(text, sizeof text, speed));
    screen_spaces(s, 2);
    screen_styled(s, screen_tone_style(speed->tone), speed->compare);
    buf_add_char(s->out, '\n');
}

/* For narrow terminals: the name, then "regressed: -17.7 % [-18.9 %, -16.5 %], 123.0 -> 101.2
 * images/s". */
static void speed_stacked(struct screen *s, const struct report_speed *speed)
{
    char line[400], diff[60], interval[90], rate_new[60], rate_old[60], batch[40];
    snprintf(line, sizeof line, "%s, batch %s", speed->test ? speed->test : "",
             report_count(batch, sizeof batch, speed->batch));
    screen_paragraph(s, SCREEN_PLAIN, 0, 2, line);
    screen_spaces(s, 4);
    screen_styled(s, screen_tone_style(speed->tone), speed->compare);
    snprintf(line, sizeof line, ": %s %s %s -> %s %s",
             report_speed_is_measured(speed) ? speed_diff(diff, sizeof diff, speed) : "",
             report_interval(interval, sizeof interval, speed->change_low, speed->change_high),
             report_rate(rate_old, sizeof rate_old, speed->rate_old),
             report_rate(rate_new, sizeof rate_new, speed->rate_new),
             speed->unit ? speed->unit : "");
    screen_wrap(s, line, 4 + screen_columns_of(speed->compare), 4, s->width);
    buf_add_char(s->out, '\n');
}

static int widest_name(const struct report *r, const size_t *rows, size_t count)
{
    int widest = 4;
    for (size_t i = 0; i < count; i++) {
        int columns = screen_columns_of(r->speeds[rows[i]].test);
        widest = columns > widest ? columns : widest;
    }
    return widest;
}

static void put_speeds(struct screen *s, const struct report *r)
{
    if (r->speed_count == 0)
        return;
    CLEANUP(mem_free_ptr) size_t *rows = xcalloc(r->speed_count, sizeof *rows);
    size_t count = report_pick_speeds(rows, r, true);
    size_t shown = count < MOST_ROWS ? count : MOST_ROWS;
    int names = widest_name(r, rows, shown), room = s->width - FIGURES;
    names = names < room ? names : room;
    bool stacked = room < 24;
    screen_heading(s, "SPEED");
    if (!stacked && shown > 0)
        speed_head(s, r, names);
    for (size_t i = 0; i < shown; i++) {
        if (stacked)
            speed_stacked(s, &r->speeds[rows[i]]);
        else
            speed_row(s, &r->speeds[rows[i]], names);
    }
    left_out(s, 0, count - shown, "more that changed");
    left_out(s, 0, r->speed_count - count, "equivalent or identical");
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Checks that tell the same story stand together. */
static bool same_story(const struct report_check *a, const struct report_check *b)
{
    return same_text(a->change, b->change) && same_text(a->head, b->head) &&
           same_text(a->base, b->base);
}

/* How many of rows[0..count) from the first on tell its story. */
static size_t story_length(const struct report *r, const size_t *rows, size_t count)
{
    size_t length = 1;
    while (length < count && same_story(&r->checks[rows[0]], &r->checks[rows[length]]))
        length++;
    return length;
}

/* "newly failing: mismatch: border (base: ok)", its first problems, and how to see the first again.
 */
static void put_story(struct screen *s, const struct report *r, const size_t *rows, size_t count)
{
    const struct report_check *first = &r->checks[rows[0]];
    char line[600];
    screen_styled(s, screen_tone_style(first->tone), first->change);
    snprintf(line, sizeof line, ": %s (base: %s)", first->head ? first->head : "",
             first->base ? first->base : "");
    screen_wrap(s, line, screen_columns_of(first->change), 2, s->width);
    buf_add_char(s->out, '\n');
    for (size_t i = 0; i < count && i < MOST_PROBLEMS; i++)
        screen_paragraph(s, SCREEN_PLAIN, 3, 5, r->checks[rows[i]].problem);
    if (count > MOST_PROBLEMS)
        left_out(s, 3, count - MOST_PROBLEMS, "more");
    screen_labelled_command(s, "again", first->again);
}

/* The first stories of a group of checks. */
static void put_stories(struct screen *s, const struct report *r, const size_t *rows, size_t count)
{
    size_t told = 0;
    for (size_t stories = 0; told < count && stories < MOST_ROWS; stories++) {
        size_t length = story_length(r, rows + told, count - told);
        put_story(s, r, rows + told, length);
        told += length;
    }
    left_out(s, 0, count - told, "more that changed");
}

static void put_checks(struct screen *s, const struct report *r)
{
    CLEANUP(mem_free_ptr) size_t *rows = xcalloc(r->check_count + 1, sizeof *rows);
    size_t quiet = report_pick_checks(rows, r, REPORT_QUIET),
           changed = report_pick_checks(rows, r, REPORT_CHANGED);
    if (quiet + changed == 0)
        return;
    screen_heading(s, "TOLERANCES");
    put_stories(s, r, rows, changed);
    left_out(s, 0, quiet, "that pass or are not applicable");
}

/* "passes 37 -> 28   not applicable 4": as many on a line as fit. */
static void put_states(struct screen *s, const struct report *r)
{
    int column = 0;
    for (size_t i = 0; i < r->state_count; i++) {
        const struct report_state *state = &r->states[i];
        char base[40], head[40], numbers[100];
        report_count(base, sizeof base, state->base);
        report_count(head, sizeof head, state->head);
        bool same = state->base == state->head;
        snprintf(numbers, sizeof numbers, same ? "%s" : "%s -> %s", base, head);
        int wanted = screen_columns_of(state->name) + 1 + screen_columns_of(numbers);
        bool fits = column + 3 + wanted <= s->width;
        if (column > 0 && fits)
            screen_spaces(s, 3);
        else if (column > 0)
            buf_add_char(s->out, '\n');
        column = column > 0 && fits ? column + 3 : 0;
        column = screen_wrap(s, state->name, column, 0, s->width);
        buf_add_char(s->out, ' ');
        screen_styled(s, same ? SCREEN_PLAIN : SCREEN_BOLD, numbers);
        column += 1 + screen_columns_of(numbers);
    }
    if (column > 0)
        buf_add_char(s->out, '\n');
}

static void put_coverage(struct screen *s, const struct report *r)
{
    CLEANUP(mem_free_ptr) size_t *rows = xcalloc(r->check_count + 1, sizeof *rows);
    size_t count = report_pick_checks(rows, r, REPORT_COVERAGE);
    if (r->state_count == 0 && count == 0)
        return;
    screen_heading(s, "COVERAGE, base -> head");
    put_states(s, r);
    screen_paragraph(s, screen_tone_style(r->coverage_tone), 0, 0, r->coverage);
    put_stories(s, r, rows, count);
}

/* "120 ms -> 310 ms (+158.3 %): conv fwd ..." */
static void put_growth(struct screen *s, const struct report_figure *figure, size_t i)
{
    const struct report_growth *grew = &figure->grew[i];
    char line[800], base[40], head[40], ratio[60];
    snprintf(line, sizeof line, "%s -> %s (%s): %.600s",
             report_quantity(base, sizeof base, grew->base, figure->unit),
             report_quantity(head, sizeof head, grew->head, figure->unit),
             report_ratio(ratio, sizeof ratio, grew->base, grew->head),
             grew->problem ? grew->problem : "");
    screen_paragraph(s, SCREEN_PLAIN, 3, 5, line);
}

/* "compile time  12.3 s -> 14.0 s (+13.8 %); 3 of 38 problems grew by more than 50 %" */
static void put_figure(struct screen *s, const struct report_figure *figure)
{
    enum { NAME = 14 };
    char line[600], base[40], head[40], ratio[60], words[200];
    bool noted = figure->note && *figure->note;
    screen_styled(s, screen_tone_style(figure->tone), figure->name);
    int column = screen_columns_of(figure->name);
    screen_spaces(s, NAME - column);
    snprintf(line, sizeof line, "%s -> %s (%s); %s%s%.200s",
             report_quantity(base, sizeof base, figure->base, figure->unit),
             report_quantity(head, sizeof head, figure->head, figure->unit),
             report_ratio(ratio, sizeof ratio, figure->base, figure->head),
             report_figure_words(words, sizeof words, figure), noted ? "; " : "",
             noted ? figure->note : "");
    screen_wrap(s, line, column > NAME ? column : NAME, NAME, s->width);
    buf_add_char(s->out, '\n');
    for (size_t i = 0; i < figure->grew_count && i < MOST_PROBLEMS; i++)
        put_growth(s, figure, i);
    if (figure->grew_count > MOST_PROBLEMS)
        left_out(s, 3, figure->grew_count - MOST_PROBLEMS, "more");
}

static void put_figures(struct screen *s, const struct report *r)
{
    if (r->figure_count == 0)
        return;
    screen_heading(s, "GENERATED CODE, base -> head");
    for (size_t i = 0; i < r->figure_count; i++)
        put_figure(s, &r->figures[i]);
}

void report_text(struct buf *out, const struct report *r, int width, bool colour)
{
    int fits = width < NARROWEST ? NARROWEST : width > WIDEST ? WIDEST : width;
    struct screen s = {.out = out, .width = fits, .colour = colour};
    screen_paragraph(&s, r->tone == TONE_PLAIN ? SCREEN_BOLD : screen_tone_style(r->tone), 0, 0,
                     r->verdict);
    screen_paragraph(&s, SCREEN_PLAIN, 0, 0, r->title);
    end_of_range(&s, "base", &r->base);
    end_of_range(&s, "head", &r->head);
    put_counts(&s, r);
    put_blames(&s, r);
    put_speeds(&s, r);
    put_checks(&s, r);
    put_coverage(&s, r);
    put_figures(&s, r);
    put_short(&s, r);
    if (r->recommendation && *r->recommendation)
        buf_add_char(out, '\n');
    screen_paragraph(&s, SCREEN_BOLD, 0, 0, r->recommendation);
}
