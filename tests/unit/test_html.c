#include "sample_report.h"

#include <ctype.h>

struct page {
    struct arena a;
    struct report r;
    struct buf html;
};

static void print(struct page *p)
{
    buf_init(&p->html, BUF_MAX_REPORT);
    report_html(&p->html, &p->r);
    assert_ok(buf_check(&p->html, "page"));
}

static void release(struct page *p)
{
    buf_release(&p->html);
    arena_release(&p->a);
}

/* Fails unless each tag is closed in the order of opening: text that got out of its place breaks
 * this. */
static void assert_well_formed(const char *html)
{
    static const char *const empty[] = {"meta", "br", "rect", "path", "!doctype"};
    char open[64][16];
    size_t depth = 0;
    for (const char *at = strchr(html, '<'); at; at = strchr(at + 1, '<')) {
        bool closing = at[1] == '/';
        const char *name = at + 1 + closing;
        size_t length = strcspn(name, " >/\n");
        char word[16];
        assert_in_range(length, 1, sizeof word - 1);
        snprintf(word, sizeof word, "%.*s", (int)length, name);
        bool alone = false;
        for (size_t i = 0; i < COUNT_OF(empty); i++)
            alone = alone || strcmp(word, empty[i]) == 0;
        if (closing) {
            assert_true(depth > 0);
            assert_string_equal(open[--depth], word);
        } else if (!alone) {
            assert_true(depth < COUNT_OF(open));
            snprintf(open[depth++], sizeof open[0], "%s", word);
        }
    }
    assert_int_equal(depth, 0);
}

static void the_sample_is_the_golden_page(void **state)
{
    (void)state;
    struct page p = {.a = {0}};
    p.r = sample_report(&p.a);
    print(&p);
    assert_golden("sample.html", &p.html);
    assert_well_formed(p.html.data);
    release(&p);
}

static void the_same_model_gives_the_same_bytes(void **state)
{
    (void)state;
    struct page p = {.a = {0}}, q = {.a = {0}};
    p.r = sample_report(&p.a);
    q.r = sample_report(&q.a);
    print(&p);
    print(&q);
    assert_string_equal(p.html.data, q.html.data);
    release(&p);
    release(&q);
}

static void hostile_text_stays_text(void **state)
{
    (void)state;
    struct page p = {.a = {0}};
    p.r = hostile_report(&p.a);
    print(&p);
    assert_lacks(p.html.data, "<script");
    assert_lacks(p.html.data, "\x1b");
    assert_lacks(p.html.data, "\xff");
    assert_lacks(p.html.data, "\xe2\x80\xae");
    assert_contains(p.html.data, "&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62; a|b `tick`");
    assert_contains(p.html.data, "&#38;amp;");
    assert_well_formed(p.html.data);
    release(&p);
}

static void the_page_needs_nothing_from_outside(void **state)
{
    (void)state;
    struct page p = {.a = {0}};
    p.r = sample_report(&p.a);
    print(&p);
    static const char *const outside[] = {"http:", "https:",   "src=",  "href=",  "@import",
                                          "url(",  "style=\"", "<link", "onclick"};
    for (size_t i = 0; i < COUNT_OF(outside); i++)
        assert_lacks(p.html.data, outside[i]);
    release(&p);
}

static void every_row_is_on_the_page(void **state)
{
    (void)state;
    struct page p = {.a = {0}};
    p.r = sample_report(&p.a);
    print(&p);
    for (size_t i = 0; i < p.r.check_count; i++)
        assert_contains(p.html.data, p.r.checks[i].problem);
    assert_int_equal(count_of(p.html.data, "<article class=\"card blame"), 3);
    assert_int_equal(count_of(p.html.data, "<svg"), 9); /* one of ten was not measured */
    assert_int_equal(count_of(p.html.data, " found\">"), 2);
    assert_contains(p.html.data, "40 configurations");
    assert_contains(p.html.data, "27 problems that pass or are not applicable");
    assert_contains(p.html.data, "1.2e-06 (1 in 830,000)");
    release(&p);
}

/* Once each, and in its own section. */
static void coverage_and_figures_have_sections_of_their_own(void **state)
{
    (void)state;
    struct page p = {.a = {0}};
    p.r = sample_report(&p.a);
    print(&p);
    const char *coverage = strstr(p.html.data, "<h2>Coverage</h2>");
    assert_non_null(coverage);
    assert_contains(coverage, "</span> newly not applicable</span>");
    assert_int_equal(count_of(p.html.data, "</span> newly applicable</span>"), 1);
    assert_contains(coverage, "<tr class=\"moved\"><th scope=\"row\">passes</th>"
                              "<td class=\"number\">35</td><td class=\"number\">26</td>");
    const char *code = strstr(coverage, "<h2>Generated code</h2>");
    assert_non_null(code);
    assert_contains(code,
                    "<td class=\"number\">1.50 MiB</td><td class=\"number\">from nothing</td>");
    assert_contains(code, "<summary>compile time: 5 that grew, the worst first</summary>");
    assert_contains(code, "so it only informs");
    release(&p);
}

/* The x of the first bar's interval, from its attribute. */
static double bar_left(const char *html)
{
    const char *at = strstr(html, "class=\"span\" x=\"");
    assert_non_null(at);
    return strtod(at + strlen("class=\"span\" x=\""), NULL);
}

static void bars_lie_left_of_the_line_when_slower(void **state)
{
    (void)state;
    static const double changes[][3] = {
        {-0.2, -0.22, -0.18}, {0.2, 0.18, 0.22}, {-1.0, -1.0, -0.999}, {50.0, 49.0, 51.0}};
    static const double places[][2] = {{8, 71}, {73, 136}, {8, 8}, {136, 136}};
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        struct page p = {.a = {0}};
        struct report_speed speed = {.test = "t",
                                     .rate_new = 1,
                                     .rate_old = 1,
                                     .change = changes[i][0],
                                     .change_low = changes[i][1],
                                     .change_high = changes[i][2]};
        p.r = (struct report){.speeds = &speed, .speed_count = 1};
        print(&p);
        double left = bar_left(p.html.data);
        assert_true(left >= places[i][0] && left <= places[i][1]);
        assert_int_equal(count_of(p.html.data, "class=\"beyond\""), i >= 2);
        release(&p);
    }
}

static void an_empty_model_is_a_page_without_sections(void **state)
{
    (void)state;
    struct page p = {.a = {0}};
    print(&p);
    assert_well_formed(p.html.data);
    assert_lacks(p.html.data, "<section>");
    assert_lacks(p.html.data, "(null)");
    release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sample_is_the_golden_page),
        cmocka_unit_test(the_same_model_gives_the_same_bytes),
        cmocka_unit_test(hostile_text_stays_text),
        cmocka_unit_test(the_page_needs_nothing_from_outside),
        cmocka_unit_test(every_row_is_on_the_page),
        cmocka_unit_test(coverage_and_figures_have_sections_of_their_own),
        cmocka_unit_test(bars_lie_left_of_the_line_when_slower),
        cmocka_unit_test(an_empty_model_is_a_page_without_sections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
