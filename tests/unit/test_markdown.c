#include "sample_report.h"

enum { LIMIT = 60000 };

struct page {
    struct arena a;
    struct report r;
    struct buf markdown;
};

static void print(struct page *p)
{
    buf_init(&p->markdown, BUF_MAX_REPORT);
    report_markdown(&p->markdown, &p->r);
    assert_true(p->markdown.length < LIMIT);
}

static void release(struct page *p)
{
    buf_release(&p->markdown);
    arena_release(&p->a);
}

/* Every table row has as many unescaped bars as the head of its table, each <details> ends, and
 * fences are even. */
static void assert_well_formed(const char *markdown)
{
    size_t bars = 0, fences = 0;
    for (const char *line = markdown; *line;) {
        size_t length = strcspn(line, "\n"), here = 0;
        fences += strncmp(line, "```", 3) == 0;
        for (size_t i = 0; i < length; i++)
            here += line[i] == '|';
        bool row = line[0] == '|' && fences % 2 == 0;
        if (row && bars > 0)
            assert_int_equal(here, bars);
        bars = row ? here : 0;
        line += length + (line[length] == '\n');
    }
    assert_int_equal(fences % 2, 0);
    assert_int_equal(count_of(markdown, "<details>"), count_of(markdown, "</details>"));
}

static const char *last_line(const char *text)
{
    const char *last = text;
    for (const char *at = strchr(text, '\n'); at && at[1]; at = strchr(at + 1, '\n'))
        last = at + 1;
    return last;
}

static void the_sample_is_the_golden_comment(void **state)
{
    (void)state;
    struct page p = {.a = {0}};
    p.r = sample_report(&p.a);
    print(&p);
    assert_golden("sample.md", &p.markdown);
    assert_well_formed(p.markdown.data);
    assert_int_equal(strncmp(p.markdown.data, "## :red_circle: REGRESSED: 10 of 40", 35), 0);
    assert_int_equal(
        strncmp(last_line(p.markdown.data), "This build is not recommended to merge", 38), 0);
    assert_contains(p.markdown.data,
                    "| Test | Batch | Rate new <br />3e5d1f7a90 | Rate old <br />41d0c9e2f3 |");
    assert_lacks(p.markdown.data, "left out here: the html");
    release(&p);
}

/* What is left when fenced blocks and code spans are taken out: all that GitHub reads as marks. */
static void live_part(struct buf *out, const char *markdown)
{
    bool fenced = false, span = false;
    for (const char *line = markdown; *line;) {
        size_t length = strcspn(line, "\n");
        bool fence = strncmp(line, "```", 3) == 0;
        for (size_t i = 0; i < length && !fence && !fenced; i++) {
            span = span != (line[i] == '`');
            if (!span)
                buf_add_char(out, line[i]);
        }
        fenced = fenced != fence;
        assert_false(span);
        line += length + (line[length] == '\n');
    }
}

static void hostile_text_has_no_live_mark_anywhere(void **state)
{
    (void)state;
    struct page p = {.a = {0}};
    p.r = hostile_report(&p.a);
    print(&p);
    struct buf live;
    buf_init(&live, BUF_MAX_REPORT);
    live_part(&live, p.markdown.data);
    static const char *const marks[] = {"<script", "@w", " #1", "a|b", "**bold"};
    for (size_t i = 0; i < COUNT_OF(marks); i++)
        assert_lacks(live.data, marks[i]);
    assert_true(live.length > 10000);
    buf_release(&live);
    release(&p);
}

static void hostile_text_stays_in_its_cell(void **state)
{
    (void)state;
    struct page p = {.a = {0}};
    p.r = hostile_report(&p.a);
    print(&p);
    assert_lacks(p.markdown.data, "\x1b");
    assert_lacks(p.markdown.data, "\xff");
    assert_contains(p.markdown.data, "&#60;script&#62;alert");
    assert_contains(p.markdown.data, "a&#124;b &#96;tick&#96;");
    assert_contains(p.markdown.data, "@<!-- -->who #<!-- -->12");
    assert_contains(p.markdown.data, "````sh\n"); /* one tick more than the command's own */
    release(&p);
}

/* Outside of code a hostile text has no live character at all. */
static void a_verdict_alone_has_no_live_character(void **state)
{
    (void)state;
    struct page p = {.a = {0}};
    p.r = (struct report){.verdict = HOSTILE};
    print(&p);
    static const char *const live[] = {"<script", "|", "`", "@w", " #1", "& ", " **"};
    for (size_t i = 0; i < COUNT_OF(live); i++)
        assert_lacks(p.markdown.data + 2, live[i]);
    assert_int_equal(count_of(p.markdown.data, "\n"), 2);
    release(&p);
}

static void code_with_marks_of_its_own_becomes_entities(void **state)
{
    (void)state;
    struct page p = {.a = {0}};
    const char *lines[] = {"conv fwd f32", "a|b", "a`b", "a\\|b", " a"};
    p.r = (struct report){.configurations = lines, .configuration_count = COUNT_OF(lines)};
    print(&p);
    assert_contains(p.markdown.data, "- `conv fwd f32`\n");
    assert_contains(p.markdown.data, "- <code>a&#124;b</code>\n");
    assert_contains(p.markdown.data, "- <code>a&#96;b</code>\n");
    assert_contains(p.markdown.data, "- <code>a&#92;&#124;b</code>\n");
    assert_contains(p.markdown.data, "- <code> a</code>\n");
    release(&p);
}

static void text_starts_no_list(void **state)
{
    (void)state;
    struct page p = {.a = {0}};
    p.r = (struct report){.recommendation = "- 1"};
    print(&p);
    assert_string_equal(last_line(p.markdown.data), "&#45; 1\n");
    release(&p);
    p.r.recommendation = "12. x 3.5";
    print(&p);
    assert_string_equal(last_line(p.markdown.data), "12&#46; x 3.5\n");
    release(&p);
}

static void grow(struct page *p, size_t count)
{
    struct report_check *checks = ARENA_ARRAY(&p->a, count, struct report_check);
    struct report_speed *speeds = ARENA_ARRAY(&p->a, count, struct report_speed);
    struct report_blame *blames = ARENA_ARRAY(&p->a, count, struct report_blame);
    for (size_t i = 0; i < count; i++) {
        checks[i] = p->r.checks[i % p->r.check_count];
        speeds[i] = p->r.speeds[i % p->r.speed_count];
        blames[i] = p->r.blames[i % p->r.blame_count];
    }
    p->r.checks = checks;
    p->r.speeds = speeds;
    p->r.blames = blames;
    p->r.check_count = p->r.speed_count = p->r.blame_count = count;
    struct report_figure *figure = &p->r.figures[p->r.figure_count - 1];
    struct report_growth *grew = ARENA_ARRAY(&p->a, count, struct report_growth);
    for (size_t i = 0; i < count; i++)
        grew[i] = figure->grew[i % figure->grew_count];
    figure->grew = grew;
    figure->grew_count = count;
    p->r.configurations = sample_problems(&p->a, 0, count);
    p->r.configuration_count = count;
}

/* Sum of the numbers in "*<number> more <what> left out here". */
static size_t left_out(const char *markdown, const char *what)
{
    char mark[80];
    size_t sum = 0;
    snprintf(mark, sizeof mark, " more %s left out here", what);
    for (const char *at = strstr(markdown, mark); at; at = strstr(at + 1, mark)) {
        const char *start = at;
        while (start[-1] != '*')
            start--;
        size_t value = 0;
        for (; start < at; start++)
            value = *start == ',' ? value : value * 10 + (size_t)(*start - '0');
        sum += value;
    }
    return sum;
}

static void what_does_not_fit_is_counted(void **state)
{
    (void)state;
    struct page p = {.a = {0}};
    p.r = sample_report(&p.a);
    grow(&p, 5000);
    print(&p);
    assert_well_formed(p.markdown.data);
    size_t all = count_of(strstr(p.markdown.data, "5000 configurations were tested"), "- `conv");
    assert_int_equal(all + left_out(p.markdown.data, "configurations"), 5000);
    assert_true(left_out(p.markdown.data, "culprits") > 4000);
    assert_true(left_out(p.markdown.data, "checks") > 4000);
    assert_true(left_out(p.markdown.data, "rates that changed") > 3000);
    assert_true(left_out(p.markdown.data, "problems that grew") > 4000);
    assert_contains(p.markdown.data, " compile time | 12.3 s | 14.0 s | +13.9 % |");
    assert_contains(last_line(p.markdown.data), "This build is not recommended to merge");
    release(&p);
}

static void the_limit_holds_for_hostile_and_endless_text(void **state)
{
    (void)state;
    struct page p = {.a = {0}};
    p.r = hostile_report(&p.a);
    grow(&p, 3000);
    char *endless = arena_alloc(&p.a, 100001);
    memset(endless, '@', 100000);
    p.r.verdict = p.r.title = p.r.recommendation = p.r.base.subject = p.r.head.subject = endless;
    p.r.facts[0].value = endless;
    print(&p);
    assert_contains(p.markdown.data, "bytes cut)");
    assert_int_equal(count_of(p.markdown.data, "<details>"),
                     count_of(p.markdown.data, "</details>"));
    release(&p);
}

static void text_is_cut_between_characters(void **state)
{
    (void)state;
    struct page p = {.a = {0}};
    char *ticks = arena_alloc(&p.a, 3001);
    for (size_t i = 0; i < 1000; i++)
        memcpy(ticks + 3 * i, "✓", 3);
    p.r = (struct report){.recommendation = ticks};
    print(&p);
    assert_lacks(p.markdown.data, "\xef\xbf\xbd");
    assert_contains(p.markdown.data, "✓... (");
    release(&p);
}

static void coverage_and_figures_have_sections_of_their_own(void **state)
{
    (void)state;
    struct page p = {.a = {0}};
    p.r = sample_report(&p.a);
    print(&p);
    const char *coverage = strstr(p.markdown.data, "\n### Coverage\n");
    assert_non_null(coverage);
    assert_contains(coverage, "| passes | 35 | **26** |\n");
    assert_contains(coverage, "| not applicable | 4 | 4 |\n");
    assert_contains(coverage, "- :red_circle: **newly not applicable** `conv fwd f16");
    assert_int_equal(count_of(p.markdown.data, "**newly applicable**"), 1);
    const char *code = strstr(coverage, "\n### Generated code\n");
    assert_non_null(code);
    assert_contains(code, "| kernels | 41 | 41 | unchanged | none of 36 problems grew |\n");
    assert_contains(code, "<summary>6 that grew</summary>");
    release(&p);
}

static void an_empty_model_has_no_sections(void **state)
{
    (void)state;
    struct page p = {.a = {0}};
    print(&p);
    assert_lacks(p.markdown.data, "###");
    assert_lacks(p.markdown.data, "(null)");
    release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sample_is_the_golden_comment),
        cmocka_unit_test(hostile_text_has_no_live_mark_anywhere),
        cmocka_unit_test(hostile_text_stays_in_its_cell),
        cmocka_unit_test(a_verdict_alone_has_no_live_character),
        cmocka_unit_test(code_with_marks_of_its_own_becomes_entities),
        cmocka_unit_test(text_starts_no_list),
        cmocka_unit_test(what_does_not_fit_is_counted),
        cmocka_unit_test(the_limit_holds_for_hostile_and_endless_text),
        cmocka_unit_test(text_is_cut_between_characters),
        cmocka_unit_test(coverage_and_figures_have_sections_of_their_own),
        cmocka_unit_test(an_empty_model_has_no_sections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
