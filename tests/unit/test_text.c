#include "sample_report.h"

struct page {
    struct arena a;
    struct report r;
    struct buf text;
};

static void print(struct page *p, int width, bool colour)
{
    buf_init(&p->text, BUF_MAX_REPORT);
    report_text(&p->text, &p->r, width, colour);
    assert_ok(buf_check(&p->text, "text"));
}

static void release(struct page *p)
{
    buf_release(&p->text);
    arena_release(&p->a);
}

static int columns_of_line(const char *line, size_t length)
{
    int columns = 0;
    for (const char *at = line; at < line + length;) {
        uint32_t code;
        at += report_decode(&code, at);
        columns += report_columns(code);
    }
    return columns;
}

/* A line that may be wider: one quoted word of a command alone on its line. */
static bool is_one_argument(const char *line, size_t length)
{
    const char *start = line + strspn(line, " ");
    return *start == '\'' && (line[length - 1] == '\'' || line[length - 1] == '\\');
}

static void assert_fits(const char *text, int width)
{
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        int columns = columns_of_line(line, length);
        if (columns > width && !is_one_argument(line, length))
            fail_msg("%d columns in %d: %.*s", columns, width, (int)length, line);
        if (length > 0 && line[length - 1] == ' ')
            fail_msg("blank at the end: %.*s|", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static void the_sample_is_the_golden_text(void **state)
{
    (void)state;
    static const int widths[] = {50, 80, 120};
    for (size_t i = 0; i < COUNT_OF(widths); i++) {
        struct page p = {.a = {0}};
        p.r = sample_report(&p.a);
        char name[40];
        snprintf(name, sizeof name, "sample-%d.txt", widths[i]);
        print(&p, widths[i], false);
        assert_golden(name, &p.text);
        release(&p);
    }
}

static void no_line_is_wider_than_the_terminal(void **state)
{
    (void)state;
    for (int width = 40; width <= 200; width++) {
        struct page p = {.a = {0}};
        p.r = sample_report(&p.a);
        print(&p, width, false);
        assert_fits(p.text.data, width);
        release(&p);
    }
}

static void widths_out_of_range_are_taken_as_the_nearest(void **state)
{
    (void)state;
    struct page p = {.a = {0}}, q = {.a = {0}};
    p.r = sample_report(&p.a);
    q.r = sample_report(&q.a);
    print(&p, -1, false);
    print(&q, 40, false);
    assert_string_equal(p.text.data, q.text.data);
    release(&p);
    release(&q);
}

/* Without its colours the coloured text is the plain one. */
static void colour_changes_nothing_but_colour(void **state)
{
    (void)state;
    struct page p = {.a = {0}}, q = {.a = {0}};
    p.r = sample_report(&p.a);
    q.r = sample_report(&q.a);
    print(&p, 80, true);
    print(&q, 80, false);
    struct buf bare;
    buf_init(&bare, BUF_MAX_REPORT);
    for (const char *at = p.text.data; *at; at++) {
        if (*at == '\x1b')
            at += strcspn(at, "m");
        else
            buf_add_char(&bare, *at);
    }
    assert_string_equal(bare.data, q.text.data);
    assert_lacks(q.text.data, "\x1b");
    assert_contains(p.text.data, "\x1b[1;31mREGRESSED");
    assert_int_equal(count_of(p.text.data, "\x1b["), 2 * count_of(p.text.data, "\x1b[0m"));
    buf_release(&bare);
    release(&p);
    release(&q);
}

static void hostile_text_cannot_drive_the_terminal(void **state)
{
    (void)state;
    for (int width = 40; width <= 200; width += 20) {
        struct page p = {.a = {0}};
        p.r = hostile_report(&p.a);
        print(&p, width, false);
        assert_lacks(p.text.data, "\x1b");
        assert_lacks(p.text.data, "\xff");
        assert_lacks(p.text.data, "\xe2\x80\xae");
        assert_lacks(p.text.data, "\t");
        release(&p);
    }
}

/* Lines joined as a shell joins them give the command back. */
static void a_continued_command_is_the_command(void **state)
{
    (void)state;
    struct page p = {.a = {0}};
    struct report_blame blame = {
        .what = "w",
        .level = "PROVEN",
        .error_probability = -1,
        .again = "assay bisect --candidate pebble --problem 'conv fwd  f32 n32' --note \"a \\\" b  "
                 "c\" --good 41d0c9e2f3 --bad 3e5d1f7a90 x\\ y"};
    p.r = (struct report){.blames = &blame, .blame_count = 1};
    print(&p, 40, false);
    struct buf joined;
    buf_init(&joined, BUF_MAX_LINE);
    for (const char *at = strstr(p.text.data, "assay bisect"); *at != '\n'; at++) {
        if (strncmp(at, "\\\n", 2) == 0)
            at += 1 + strspn(at + 2, " ");
        else
            buf_add_char(&joined, *at);
    }
    assert_string_equal(joined.data, blame.again);
    assert_true(count_of(p.text.data, " \\\n") >= 3);
    buf_release(&joined);
    release(&p);
}

static void long_words_are_broken_where_the_line_ends(void **state)
{
    (void)state;
    struct page p = {.a = {0}};
    p.r = (struct report){.verdict = "0123456789012345678901234567890123456789abc",
                          .title = "漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字"};
    print(&p, 40, false);
    assert_contains(p.text.data, "0123456789012345678901234567890123456789\nabc\n");
    assert_fits(p.text.data, 40);
    release(&p);
}

static void what_is_not_shown_is_counted(void **state)
{
    (void)state;
    struct page p = {.a = {0}};
    p.r = sample_report(&p.a);
    print(&p, 80, false);
    assert_contains(p.text.data, "and 6 more\n");
    assert_contains(p.text.data, "and 3 equivalent or identical\n");
    assert_contains(p.text.data, "and 27 that pass or are not applicable\n");
    release(&p);
}

static void it_says_who_how_surely_and_how_to_see_it_again(void **state)
{
    (void)state;
    struct page p = {.a = {0}};
    p.r = sample_report(&p.a);
    print(&p, 120, false);
    assert_contains(p.text.data, "1. mismatch (border)  PROVEN\n");
    assert_contains(p.text.data, "culprit  6b1f0c9a2e lower: share the border predicate");
    assert_contains(p.text.data, "1.2e-06 (1 in 830,000)");
    assert_contains(p.text.data, "bad   6b1f0c9a2e  <- culprit");
    assert_contains(p.text.data, "skip  d9e0a45b7c  build-error: opt/vectorise.c:212");
    assert_contains(p.text.data, "again    assay bisect --candidate pebble");
    release(&p);
}

static void what_is_refused_stands_under_coverage(void **state)
{
    (void)state;
    struct page p = {.a = {0}};
    p.r = sample_report(&p.a);
    print(&p, 120, false);
    const char *coverage = strstr(p.text.data, "\nCOVERAGE, base -> head\n");
    assert_non_null(coverage);
    assert_contains(coverage, "passes 35 -> 26   fails 1 -> 10   not applicable 4   no result 0\n");
    assert_contains(coverage, "The share of not-applicable is the same");
    assert_contains(coverage, "newly not applicable: not-applicable: no handle");
    assert_contains(coverage, "newly applicable: ok (base: not-applicable)");
    assert_contains(coverage,
                    "workspace     0 B -> 1.50 MiB (from nothing); 1 of 36 problems grew\n");
    assert_contains(coverage, "   120 ms -> 700 ms (+483.3 %): conv bwd_weight");
    assert_contains(coverage, "   and 2 more\n");
    assert_int_equal(count_of(p.text.data, "newly applicable: ok"), 1);
    release(&p);
}

static void a_refusal_alone_opens_no_section_on_tolerances(void **state)
{
    (void)state;
    struct page p = {.a = {0}};
    struct report_check check = {
        .change = "newly not applicable", .head = "not-applicable", .base = "ok", .tone = TONE_BAD};
    p.r = (struct report){.checks = &check, .check_count = 1};
    print(&p, 80, false);
    assert_lacks(p.text.data, "TOLERANCES");
    assert_contains(p.text.data, "COVERAGE");
    release(&p);
}

static void an_empty_model_prints_nothing(void **state)
{
    (void)state;
    struct page p = {.a = {0}};
    print(&p, 80, true);
    assert_string_equal(p.text.data, "");
    release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sample_is_the_golden_text),
        cmocka_unit_test(no_line_is_wider_than_the_terminal),
        cmocka_unit_test(widths_out_of_range_are_taken_as_the_nearest),
        cmocka_unit_test(colour_changes_nothing_but_colour),
        cmocka_unit_test(hostile_text_cannot_drive_the_terminal),
        cmocka_unit_test(a_continued_command_is_the_command),
        cmocka_unit_test(long_words_are_broken_where_the_line_ends),
        cmocka_unit_test(what_is_not_shown_is_counted),
        cmocka_unit_test(it_says_who_how_surely_and_how_to_see_it_again),
        cmocka_unit_test(what_is_refused_stands_under_coverage),
        cmocka_unit_test(a_refusal_alone_opens_no_section_on_tolerances),
        cmocka_unit_test(an_empty_model_prints_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
