/* html: one page that needs nothing else: no script, no font, no picture from outside. It reads in
 * the order of its sections without any style too, since some build servers forbid inline style
 * sheets; so bars are SVG with geometry in attributes, and words say what colours say.
 */
#include "reports/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/style.h"
#include "src/mem.h"

enum { MOST_PROBLEMS = 3 }; /* of a blame, before the rest is folded */

static void text(struct buf *out, const char *from)
{
    for (uint32_t code; report_next(&code, &from);) {
        if (code < 0x80 && strchr("&<>\"'", (int)code))
            buf_printf(out, "&#%u;", (unsigned)code);
        else
            report_encode(out, code);
    }
}

static bool is_given(const char *words)
{
    return words && *words;
}

/* <tag class="...">text</tag>, or nothing at all. */
static void element(struct buf *out, const char *tag, const char *class, const char *content)
{
    if (!is_given(content))
        return;
    buf_printf(out, *class ? "<%s class=\"%s\">" : "<%s>", tag, class);
    text(out, content);
    buf_printf(out, "</%s>", tag);
}

static void code(struct buf *out, const char *content)
{
    element(out, "code", "", content);
}

static void sha(struct buf *out, const char *full)
{
    char digits[11];
    if (!is_given(full))
        return;
    buf_add_text(out, "<code title=\"");
    text(out, full);
    buf_printf(out, "\">");
    text(out, report_short_sha(digits, full));
    buf_add_text(out, "</code>");
}

static const char *tone_mark(enum tone tone)
{
    switch (tone) {
    case TONE_GOOD:
        return "✓";
    case TONE_BAD:
        return "✗";
    case TONE_DOUBT:
        return "?";
    case TONE_PLAIN:
        return "·";
    }
    bug("no such tone: %d", (int)tone);
}

/* The mark is for eyes; the word beside it is what is read aloud. */
static void chip(struct buf *out, enum tone tone, const char *words)
{
    if (!is_given(words))
        return;
    buf_printf(out, "<span class=\"chip %s\"><span aria-hidden=\"true\">%s</span> ",
               report_tone_word(tone), tone_mark(tone));
    text(out, words);
    buf_add_text(out, "</span>");
}

static void commands(struct buf *out, const char *again, const char *theirs)
{
    if (!is_given(again) && !is_given(theirs))
        return;
    buf_add_text(out, "<dl class=\"commands\">");
    if (is_given(again)) {
        buf_add_text(out, "<dt>Again, with assay</dt><dd>");
        code(out, again);
        buf_add_text(out, "</dd>");
    }
    if (is_given(theirs)) {
        buf_add_text(out, "<dt>With the candidate&#39;s own tool</dt><dd>");
        code(out, theirs);
        buf_add_text(out, "</dd>");
    }
    buf_add_text(out, "</dl>\n");
}

static void person(struct buf *out, const struct report_commit *commit)
{
    if (!is_given(commit->author) && !is_given(commit->date))
        return;
    buf_add_text(out, "<span class=\"soft\">");
    text(out, commit->author);
    if (is_given(commit->author) && is_given(commit->date))
        buf_add_text(out, ", ");
    text(out, commit->date);
    buf_add_text(out, "</span>");
}

static void put_banner(struct buf *out, const struct report *r)
{
    buf_printf(out,
               "<header class=\"banner %s\"><span class=\"seal\" aria-hidden=\"true\">%s</span>\n",
               report_tone_word(r->tone), tone_mark(r->tone));
    element(out, "h1", "", r->verdict);
    element(out, "p", "title", r->title);
    element(out, "p", "", r->recommendation);
    buf_add_text(out, "</header>\n");
}

static void put_end(struct buf *out, const char *name, const struct report_commit *commit)
{
    if (!is_given(commit->sha))
        return;
    buf_printf(out, "<div class=\"card\"><dt>%s</dt><dd>", name);
    sha(out, commit->sha);
    buf_add_char(out, ' ');
    text(out, commit->subject);
    buf_add_text(out, "<br>");
    person(out, commit);
    buf_add_text(out, "</dd></div>\n");
}

static void put_ends(struct buf *out, const struct report *r)
{
    if (!is_given(r->base.sha) && !is_given(r->head.sha))
        return;
    buf_add_text(out, "<dl class=\"ends\">\n");
    put_end(out, "Base (old)", &r->base);
    put_end(out, "Head (new)", &r->head);
    buf_add_text(out, "</dl>\n");
}

static void put_counts(struct buf *out, const struct report *r)
{
    if (r->count_count == 0)
        return;
    buf_add_text(out, "<dl class=\"counts card\">\n");
    for (size_t i = 0; i < r->count_count; i++) {
        buf_add_text(out, "<div><dt>");
        text(out, r->counts[i].name);
        buf_add_text(out, "</dt><dd>");
        text(out, r->counts[i].value);
        buf_add_text(out, "</dd></div>\n");
    }
    buf_add_text(out, "</dl>\n");
}

static void put_culprit(struct buf *out, const struct report_commit *culprit)
{
    if (!is_given(culprit->sha))
        return;
    buf_add_text(out, "<p class=\"culprit\">");
    sha(out, culprit->sha);
    buf_add_char(out, ' ');
    element(out, "b", "", culprit->subject);
    buf_add_text(out, "<br>");
    person(out, culprit);
    buf_add_text(out, "</p>\n");
}

static void put_suspects(struct buf *out, const struct report_blame *blame)
{
    if (blame->suspect_count == 0)
        return;
    buf_printf(out, "<h4>%zu suspects, oldest first</h4>\n<ol class=\"suspects\">\n",
               blame->suspect_count);
    for (size_t i = 0; i < blame->suspect_count; i++) {
        const struct report_commit *suspect = &blame->suspects[i];
        buf_add_text(out, "<li>");
        sha(out, suspect->sha);
        buf_add_char(out, ' ');
        text(out, suspect->subject);
        buf_add_char(out, ' ');
        person(out, suspect);
        buf_add_text(out, "</li>\n");
    }
    buf_add_text(out, "</ol>\n");
}

static bool is_culprit(const struct report_blame *blame, const struct report_step *step)
{
    return blame->culprit.sha && step->commit.sha &&
           strcmp(blame->culprit.sha, step->commit.sha) == 0;
}

/* "skip: build-error: ..." has room for its first word only. */
static void first_word(struct buf *out, const char *answer)
{
    char word[16];
    size_t length = answer ? strcspn(answer, ": ") : 0;
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1),
             answer ? answer : "");
    text(out, word);
}

static void put_strip(struct buf *out, const struct report_blame *blame)
{
    char number[60], builds[60], runs[60];
    buf_printf(
        out, "<h4>The search, oldest commit first: %s tested, %s, %s</h4>\n<ol class=\"strip\">\n",
        report_number_of(number, sizeof number, blame->step_count, "commit"),
        report_number_of(builds, sizeof builds, (size_t)blame->builds, "build"),
        report_number_of(runs, sizeof runs, (size_t)blame->runs, "run"));
    for (size_t i = 0; i < blame->step_count; i++) {
        const struct report_step *step = &blame->steps[i];
        buf_printf(out, "<li class=\"%s%s\"><span class=\"mark\" aria-hidden=\"true\">%s</span>",
                   report_tone_word(step->tone), is_culprit(blame, step) ? " found" : "",
                   tone_mark(step->tone));
        first_word(out, step->answer);
        buf_printf(out, "%s<code>", is_culprit(blame, step) ? " (culprit)" : "");
        snprintf(number, sizeof number, "%.7s", step->commit.sha ? step->commit.sha : "");
        text(out, number);
        buf_add_text(out, "</code>");
        element(out, "span", "subject", step->commit.subject);
        buf_add_text(out, "</li>\n");
    }
    buf_add_text(out, "</ol>\n");
}

static void put_steps(struct buf *out, const struct report_blame *blame)
{
    buf_add_text(out, "<details><summary>Each tested commit and its answer</summary>\n<div "
                      "class=\"table\" tabindex=\"0\"><table>\n"
                      "<thead><tr><th scope=\"col\">Commit</th><th scope=\"col\">Subject</th><th "
                      "scope=\"col\">Answer</th>"
                      "<th scope=\"col\">Detail</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < blame->step_count; i++) {
        const struct report_step *step = &blame->steps[i];
        buf_add_text(out, "<tr><th scope=\"row\">");
        sha(out, step->commit.sha);
        buf_add_text(out, "</th><td class=\"wide\">");
        text(out, step->commit.subject);
        buf_add_text(out, "<br>");
        person(out, &step->commit);
        buf_printf(out, "</td><td class=\"%s\"><span aria-hidden=\"true\">%s</span> ",
                   report_tone_word(step->tone), tone_mark(step->tone));
        text(out, step->answer);
        buf_add_text(out, "</td><td class=\"wide\">");
        text(out, step->detail);
        buf_add_text(out, "</td></tr>\n");
    }
    buf_add_text(out, "</tbody></table></div></details>\n");
}

static void put_lines(struct buf *out, const char *const *lines, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buf_add_text(out, "<li>");
        code(out, lines[i]);
        buf_add_text(out, "</li>\n");
    }
}

static void put_problems(struct buf *out, const struct report_blame *blame)
{
    if (blame->problem_count == 0)
        return;
    size_t shown = blame->problem_count < MOST_PROBLEMS ? blame->problem_count : MOST_PROBLEMS;
    char number[60];
    buf_printf(out, "<h4>%s</h4>\n<ul class=\"suspects\">\n",
               report_number_of(number, sizeof number, blame->problem_count, "problem"));
    put_lines(out, blame->problems, shown);
    buf_add_text(out, "</ul>\n");
    if (shown == blame->problem_count)
        return;
    buf_printf(out, "<details><summary>%zu more</summary>\n<ul class=\"suspects\">\n",
               blame->problem_count - shown);
    put_lines(out, blame->problems + shown, blame->problem_count - shown);
    buf_add_text(out, "</ul></details>\n");
}

static void put_blame(struct buf *out, const struct report_blame *blame)
{
    char odds[80];
    buf_printf(out, "<article class=\"card blame %s\">\n<header><h3>",
               report_tone_word(blame->tone));
    text(out, blame->what);
    buf_add_text(out, "</h3>");
    chip(out, blame->tone, blame->level);
    element(out, "span", "meaning", report_level_meaning(blame->level));
    buf_add_text(out, "</header>\n");
    put_culprit(out, &blame->culprit);
    element(out, "p", "", blame->because);
    if (blame->error_probability >= 0.0)
        buf_printf(out, "<p class=\"sure\">Probability that this blame is wrong: <b>%s</b></p>\n",
                   report_probability(odds, sizeof odds, blame->error_probability));
    put_suspects(out, blame);
    if (blame->step_count > 0) {
        put_strip(out, blame);
        put_steps(out, blame);
    }
    put_problems(out, blame);
    commands(out, blame->again, blame->theirs);
    buf_add_text(out, "</article>\n");
}

static void put_blames(struct buf *out, const struct report *r)
{
    if (r->blame_count == 0)
        return;
    buf_add_text(out, "<section><h2>What regressed, and which commit did it</h2>\n");
    for (size_t i = 0; i < r->blame_count; i++)
        put_blame(out, &r->blames[i]);
    buf_add_text(out, "</section>\n");
}

/* Bars: a logarithmic scale of new/old, so that half and double are equally far from no change. */
enum { BAR_WIDTH = 144, BAR_HALF = 64 };
static const double narrowest_scale = 0.05, widest_scale = 1.0; /* +5 % and +100 % */

static double log_change(double change)
{
    return log1p(change > -0.999 ? change : -0.999);
}

/* The change at the right end of all bars, so that they can be compared with each other. */
static double bar_scale(const struct report *r)
{
    double largest = log_change(narrowest_scale);
    for (size_t i = 0; i < r->speed_count; i++) {
        const struct report_speed *speed = &r->speeds[i];
        if (report_speed_is_measured(speed))
            largest = fmax(largest, fmax(fabs(log_change(speed->change_low)),
                                         fabs(log_change(speed->change_high))));
    }
    return fmin(largest, log_change(widest_scale));
}

static double bar_place(double change, double scale)
{
    double share = log_change(change) / scale;
    return BAR_WIDTH / 2.0 + BAR_HALF * fmax(-1.0, fmin(1.0, share));
}

/* A triangle where a change goes on beyond the scale. */
static void put_beyond(struct buf *out, double change, double scale)
{
    if (log_change(change) > scale * 1.0001)
        buf_add_text(out, "<path class=\"beyond\" d=\"M137 6l6 5-6 5z\"/>");
    if (log_change(change) < -scale * 1.0001)
        buf_add_text(out, "<path class=\"beyond\" d=\"M7 6l-6 5 6 5z\"/>");
}

static void put_bar(struct buf *out, const struct report_speed *speed, double scale)
{
    char low[40], high[40], change[40];
    double from = bar_place(speed->change_low, scale), to = bar_place(speed->change_high, scale);
    buf_printf(out,
               "<svg class=\"bar %s\" width=\"%d\" height=\"22\" viewBox=\"0 0 %d 22\" "
               "role=\"img\" aria-label=\"%s, 95 %% interval %s to %s\">",
               report_tone_word(speed->tone), BAR_WIDTH, BAR_WIDTH,
               report_percent(change, sizeof change, speed->change),
               report_percent(low, sizeof low, speed->change_low),
               report_percent(high, sizeof high, speed->change_high));
    buf_printf(out, "<path class=\"axis\" d=\"M8 11h128\" stroke=\"#999\"/><path class=\"zero\" "
                    "d=\"M72 3v16\" stroke=\"#666\"/>");
    buf_printf(out,
               "<rect class=\"span\" x=\"%.1f\" y=\"6\" width=\"%.1f\" height=\"10\" rx=\"2\" "
               "fill-opacity=\".5\"/>",
               from, fmax(to - from, 1.0));
    buf_printf(out, "<rect class=\"point\" x=\"%.1f\" y=\"4\" width=\"3\" height=\"14\" rx=\"1\"/>",
               bar_place(speed->change, scale) - 1.5);
    put_beyond(out, speed->change, scale);
    buf_add_text(out, "</svg>");
}

static void rate_cell(struct buf *out, double rate, const char *unit)
{
    char number[40];
    buf_printf(out, "<td class=\"number\">%s", report_rate(number, sizeof number, rate));
    if (rate > 0.0) {
        buf_add_char(out, ' ');
        element(out, "small", "", unit);
    }
    buf_add_text(out, "</td>");
}

static void diff_cells(struct buf *out, const struct report_speed *speed, double scale)
{
    char number[40], interval[90];
    if (!report_speed_is_measured(speed)) {
        buf_add_text(out, "<td class=\"diff\">n/a</td><td></td>");
        return;
    }
    buf_printf(out, "<td class=\"diff %s\"><b>%s</b><small>%s</small></td><td>",
               report_tone_word(speed->tone), report_percent(number, sizeof number, speed->change),
               report_interval(interval, sizeof interval, speed->change_low, speed->change_high));
    put_bar(out, speed, scale);
    buf_add_text(out, "</td>");
}

static void speed_row(struct buf *out, const struct report_speed *speed, double scale)
{
    char number[60];
    buf_add_text(out, "<tr><th scope=\"row\" class=\"test\">");
    code(out, speed->test);
    buf_add_text(out, "<details><summary>why, and how to see it again</summary><p>");
    text(out, speed->reason);
    buf_printf(out, " <span class=\"soft\">%s</span></p>",
               report_number_of(number, sizeof number, (size_t)speed->pairs, "pair"));
    commands(out, speed->again, speed->theirs);
    buf_printf(out, "</details></th><td class=\"number\">%s</td>",
               report_count(number, sizeof number, speed->batch));
    rate_cell(out, speed->rate_new, speed->unit);
    rate_cell(out, speed->rate_old, speed->unit);
    diff_cells(out, speed, scale);
    buf_add_text(out, "<td>");
    chip(out, speed->tone, speed->compare);
    buf_add_text(out, "</td></tr>\n");
}

static void speed_group(struct buf *out, const struct report *r, bool models, double scale)
{
    bool begun = false;
    for (size_t i = 0; i < r->speed_count; i++) {
        if (r->speeds[i].model != models)
            continue;
        if (!begun)
            buf_printf(
                out,
                "<tbody><tr><th class=\"group\" colspan=\"7\" scope=\"rowgroup\">%s</th></tr>\n",
                models ? "Models" : "Problems");
        begun = true;
        speed_row(out, &r->speeds[i], scale);
    }
    if (begun)
        buf_add_text(out, "</tbody>\n");
}

static void put_speeds(struct buf *out, const struct report *r)
{
    if (r->speed_count == 0)
        return;
    double scale = bar_scale(r);
    char low[40], high[40];
    buf_add_text(out, "<section><h2>Speed</h2>\n<div class=\"table\" tabindex=\"0\" "
                      "role=\"region\" aria-label=\"Speed\"><table>\n<thead><tr>"
                      "<th scope=\"col\">Test</th><th scope=\"col\" class=\"number\">Batch</th><th "
                      "scope=\"col\" class=\"number\">Rate new<br>");
    sha(out, r->head.sha);
    buf_add_text(out, "</th><th scope=\"col\" class=\"number\">Rate old<br>");
    sha(out, r->base.sha);
    buf_add_text(
        out,
        "</th><th scope=\"col\" class=\"number\">Diff</th><th scope=\"col\">95&nbsp;% interval</th>"
        "<th scope=\"col\">Compare</th></tr></thead>\n");
    speed_group(out, r, true, scale);
    speed_group(out, r, false, scale);
    buf_printf(out,
               "</table></div>\n<p class=\"scale\">Bars: change of the rate on a logarithmic scale "
               "from %s to %s; the line is no change, left of it is slower.</p></section>\n",
               report_percent(low, sizeof low, expm1(-scale)),
               report_percent(high, sizeof high, expm1(scale)));
}

static void check_row(struct buf *out, const struct report_check *check)
{
    buf_add_text(out, "<tr><td>");
    chip(out, check->tone, check->change);
    buf_add_text(out, "</td><th scope=\"row\" class=\"test\">");
    code(out, check->problem);
    if (is_given(check->again) || is_given(check->theirs)) {
        buf_add_text(out, "<details><summary>how to see it again</summary>");
        commands(out, check->again, check->theirs);
        buf_add_text(out, "</details>");
    }
    buf_add_text(out, "</th><td>");
    text(out, check->base);
    buf_add_text(out, "</td><td class=\"wide\">");
    text(out, check->head);
    buf_add_text(out, "</td><td class=\"signature\">");
    code(out, check->signature);
    buf_add_text(out, "</td></tr>\n");
}

static void check_table(struct buf *out, const char *name, const struct report *r,
                        const size_t *rows, size_t count)
{
    buf_printf(out,
               "<div class=\"table\" tabindex=\"0\" role=\"region\" "
               "aria-label=\"%s\"><table>\n<thead><tr><th "
               "scope=\"col\">Change</th><th scope=\"col\">Problem</th>"
               "<th scope=\"col\">Base</th><th scope=\"col\">Head</th><th "
               "scope=\"col\">Signature</th></tr></thead>\n<tbody>\n",
               name);
    for (size_t i = 0; i < count; i++)
        check_row(out, &r->checks[rows[i]]);
    buf_add_text(out, "</tbody></table></div>\n");
}

static void put_checks(struct buf *out, const struct report *r)
{
    CLEANUP(mem_free_ptr)
    size_t *rows = xcalloc(r->check_count + 1, sizeof *rows),
           *quiet = xcalloc(r->check_count + 1, sizeof *quiet);
    size_t count = report_pick_checks(rows, r, REPORT_CHANGED),
           quiet_count = report_pick_checks(quiet, r, REPORT_QUIET);
    if (count + quiet_count == 0)
        return;
    buf_add_text(out, "<section><h2>Tolerances</h2>\n");
    if (count > 0)
        check_table(out, "Tolerances", r, rows, count);
    else
        buf_add_text(out, "<p>Nothing changed.</p>\n");
    if (quiet_count > 0) {
        char number[60];
        buf_printf(
            out, "<details class=\"fold\"><summary>%s that pass or are not applicable</summary>\n",
            report_number_of(number, sizeof number, quiet_count, "problem"));
        check_table(out, "Tolerances", r, quiet, quiet_count);
        buf_add_text(out, "</details>\n");
    }
    buf_add_text(out, "</section>\n");
}

static void number_cells(struct buf *out, int64_t base, int64_t head, const char *unit)
{
    char from[40], to[40];
    buf_printf(out, "<td class=\"number\">%s</td><td class=\"number\">%s</td>",
               report_quantity(from, sizeof from, base, unit),
               report_quantity(to, sizeof to, head, unit));
}

static void put_states(struct buf *out, const struct report *r)
{
    if (r->state_count == 0)
        return;
    buf_add_text(out, "<div class=\"table small\"><table>\n<thead><tr><th scope=\"col\">Problems"
                      "</th><th scope=\"col\" class=\"number\">Base</th><th scope=\"col\" "
                      "class=\"number\">Head</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < r->state_count; i++) {
        const struct report_state *state = &r->states[i];
        buf_printf(out, "<tr%s><th scope=\"row\">",
                   state->base == state->head ? "" : " class=\"moved\"");
        text(out, state->name);
        buf_add_text(out, "</th>");
        number_cells(out, state->base, state->head, "");
        buf_add_text(out, "</tr>\n");
    }
    buf_add_text(out, "</tbody></table></div>\n");
}

static void put_coverage(struct buf *out, const struct report *r)
{
    CLEANUP(mem_free_ptr) size_t *rows = xcalloc(r->check_count + 1, sizeof *rows);
    size_t count = report_pick_checks(rows, r, REPORT_COVERAGE);
    if (r->state_count == 0 && count == 0)
        return;
    buf_add_text(out, "<section><h2>Coverage</h2>\n");
    if (is_given(r->coverage)) {
        buf_printf(out, "<p class=\"finding %s\"><span aria-hidden=\"true\">%s</span> ",
                   report_tone_word(r->coverage_tone), tone_mark(r->coverage_tone));
        text(out, r->coverage);
        buf_add_text(out, "</p>\n");
    }
    put_states(out, r);
    if (count > 0)
        check_table(out, "Coverage", r, rows, count);
    buf_add_text(out, "</section>\n");
}

static void change_cells(struct buf *out, int64_t base, int64_t head, const char *unit)
{
    char ratio[60];
    number_cells(out, base, head, unit);
    buf_printf(out, "<td class=\"number\">%s</td>", report_ratio(ratio, sizeof ratio, base, head));
}

static void figure_row(struct buf *out, const struct report_figure *figure)
{
    char words[200];
    buf_add_text(out, "<tr><th scope=\"row\">");
    chip(out, figure->tone, figure->name);
    buf_add_text(out, "</th>");
    change_cells(out, figure->base, figure->head, figure->unit);
    buf_printf(out, "<td class=\"wide\">%s", report_figure_words(words, sizeof words, figure));
    if (is_given(figure->note)) {
        buf_add_text(out, "; ");
        text(out, figure->note);
    }
    buf_add_text(out, "</td></tr>\n");
}

/* The problems behind a figure, folded. */
static void put_growths(struct buf *out, const struct report_figure *figure)
{
    if (figure->grew_count == 0)
        return;
    buf_add_text(out, "<details class=\"fold\"><summary>");
    text(out, figure->name);
    buf_printf(out,
               ": %zu that grew, the worst first</summary>\n<div class=\"table\" "
               "tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\">Problem</th><th "
               "scope=\"col\" class=\"number\">Base</th><th scope=\"col\" "
               "class=\"number\">Head</th><th scope=\"col\" class=\"number\">Change</th>"
               "</tr></thead>\n<tbody>\n",
               figure->grew_count);
    for (size_t i = 0; i < figure->grew_count; i++) {
        buf_add_text(out, "<tr><th scope=\"row\" class=\"test\">");
        code(out, figure->grew[i].problem);
        buf_add_text(out, "</th>");
        change_cells(out, figure->grew[i].base, figure->grew[i].head, figure->unit);
        buf_add_text(out, "</tr>\n");
    }
    buf_add_text(out, "</tbody></table></div></details>\n");
}

static void put_figures(struct buf *out, const struct report *r)
{
    if (r->figure_count == 0)
        return;
    buf_add_text(out, "<section><h2>Generated code</h2>\n<div class=\"table\" tabindex=\"0\" "
                      "role=\"region\" aria-label=\"Generated code\"><table>\n<thead><tr><th "
                      "scope=\"col\">All problems together</th><th scope=\"col\" "
                      "class=\"number\">Base</th><th scope=\"col\" class=\"number\">Head</th><th "
                      "scope=\"col\" class=\"number\">Change</th><th scope=\"col\">One by "
                      "one</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < r->figure_count; i++)
        figure_row(out, &r->figures[i]);
    buf_add_text(out, "</tbody></table></div>\n");
    for (size_t i = 0; i < r->figure_count; i++)
        put_growths(out, &r->figures[i]);
    buf_add_text(out, "</section>\n");
}

static void put_facts(struct buf *out, const struct report *r)
{
    if (r->fact_count == 0 && !is_given(r->command))
        return;
    buf_add_text(out, "<section><h2>Where and how this was measured</h2>\n");
    if (r->fact_count > 0)
        buf_add_text(out, "<dl class=\"facts card\">\n");
    for (size_t i = 0; i < r->fact_count; i++) {
        buf_add_text(out, "<dt>");
        text(out, r->facts[i].name);
        buf_add_text(out, "</dt><dd>");
        text(out, r->facts[i].value);
        buf_add_text(out, "</dd>\n");
    }
    if (r->fact_count > 0)
        buf_add_text(out, "</dl>\n");
    if (is_given(r->command)) {
        buf_add_text(out, "<p class=\"plan\">This report was made by ");
        code(out, r->command);
        buf_add_text(out, "</p>\n");
    }
    buf_add_text(out, "</section>\n");
}

static void put_configurations(struct buf *out, const struct report *r)
{
    if (r->configuration_count == 0)
        return;
    char number[60];
    buf_printf(out,
               "<section><h2>What was tested</h2>\n<details "
               "class=\"fold\"><summary>%s</summary>\n<ol class=\"list\">\n",
               report_number_of(number, sizeof number, r->configuration_count, "configuration"));
    put_lines(out, r->configurations, r->configuration_count);
    buf_add_text(out, "</ol></details></section>\n");
}

void report_html(struct buf *out, const struct report *r)
{
    buf_add_text(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width, "
                      "initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n");
    element(out, "title", "", r->title ? r->title : "assay");
    buf_printf(out, "\n<style>\n%s</style>\n</head>\n<body>\n<main>\n", report_style);
    put_banner(out, r);
    put_ends(out, r);
    put_counts(out, r);
    put_blames(out, r);
    put_speeds(out, r);
    put_checks(out, r);
    put_coverage(out, r);
    put_figures(out, r);
    put_facts(out, r);
    put_configurations(out, r);
    buf_add_text(out, "</main>\n</body>\n</html>\n");
}
