#include "sample_report.h"

#include <math.h>

#define assert_count(value, wanted)                                                                \
    assert_string_equal(report_count((char[40]){0}, 40, value), wanted)
#define assert_percent(value, wanted)                                                              \
    assert_string_equal(report_percent((char[40]){0}, 40, value), wanted)
#define assert_rate(value, wanted)                                                                 \
    assert_string_equal(report_rate((char[40]){0}, 40, value), wanted)
#define assert_odds(value, wanted)                                                                 \
    assert_string_equal(report_probability((char[60]){0}, 60, value), wanted)

static void counts_are_grouped_by_thousands(void **state)
{
    (void)state;
    assert_count(0, "0");
    assert_count(999, "999");
    assert_count(1000, "1,000");
    assert_count(-1234567, "-1,234,567");
    assert_count(INT64_MAX, "9,223,372,036,854,775,807");
    assert_count(INT64_MIN, "-9,223,372,036,854,775,808");
}

static void percents_have_a_sign_and_one_digit(void **state)
{
    (void)state;
    assert_percent(0.032, "+3.2 %");
    assert_percent(-0.1769, "-17.7 %");
    assert_percent(-0.00049, "0.0 %");
    assert_percent(0.0, "0.0 %");
    assert_percent(12.4, "+1,240 %");
    assert_percent(1e30, "+1.0e+32 %");
    assert_percent((double)NAN, "n/a");
    assert_percent((double)INFINITY, "n/a");
}

static void rates_have_four_digits(void **state)
{
    (void)state;
    assert_rate(1234567.4, "1,234,567");
    assert_rate(999.96, "1,000");
    assert_rate(101.24, "101.2");
    assert_rate(99.996, "100.0");
    assert_rate(12.344, "12.34");
    assert_rate(8.0124, "8.012");
    assert_rate(0.0421, "0.0421");
    assert_rate(0.0000123, "1.23e-05");
    assert_rate(2.5e18, "2.500e+18");
    assert_rate(0.0, "not measured");
    assert_rate(-1.0, "not measured");
    assert_rate((double)NAN, "not measured");
}

static void probabilities_are_told_as_odds(void **state)
{
    (void)state;
    assert_odds(1.2e-6, "1.2e-06 (1 in 830,000)");
    assert_odds(0.011, "0.011 (1 in 91)");
    assert_odds(0.1, "0.1 (1 in 10)");
    assert_odds(0.5, "0.50");
    assert_odds(0.0, "below 1e-15");
    assert_odds(-1.0, "not stated");
    assert_odds((double)NAN, "not stated");
}

static void an_unknown_interval_prints_as_nothing(void **state)
{
    (void)state;
    char text[80];
    assert_string_equal(report_interval(text, sizeof text, -0.189, -0.165), "[-18.9 %, -16.5 %]");
    assert_string_equal(report_interval(text, sizeof text, 0.1, 0.1), "");
}

static void nouns_follow_their_number(void **state)
{
    (void)state;
    char text[60];
    assert_string_equal(report_number_of(text, sizeof text, 0, "run"), "0 runs");
    assert_string_equal(report_number_of(text, sizeof text, 1, "run"), "1 run");
    assert_string_equal(report_number_of(text, sizeof text, 1842, "run"), "1,842 runs");
}

static void quantities_carry_the_unit_that_fits(void **state)
{
    (void)state;
    static const struct {
        int64_t value;
        const char *unit, *wanted;
    } cases[] = {
        {41, "", "41"},
        {1234567, NULL, "1,234,567"},
        {0, "bytes", "0 B"},
        {1023, "bytes", "1023 B"},
        {1024, "bytes", "1.00 KiB"},
        {12600, "bytes", "12.3 KiB"},
        {INT64_C(5) << 40, "bytes", "5.00 TiB"},
        {INT64_C(5) << 50, "bytes", "5120 TiB"},
        {950, "ns", "950 ns"},
        {120000000, "ns", "120 ms"},
        {12300000000, "ns", "12.3 s"},
        {7200000000000, "ns", "7200 s"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[40];
        assert_string_equal(report_quantity(text, sizeof text, cases[i].value, cases[i].unit),
                            cases[i].wanted);
    }
    char text[60];
    assert_string_equal(report_ratio(text, sizeof text, 7, 7), "unchanged");
    assert_string_equal(report_ratio(text, sizeof text, 0, 0), "unchanged");
    assert_string_equal(report_ratio(text, sizeof text, 0, 7), "from nothing");
    assert_string_equal(report_ratio(text, sizeof text, 100, 126), "+26.0 %");
    assert_string_equal(report_ratio(text, sizeof text, 100, 0), "-100.0 %");
}

static void a_figure_says_how_many_problems_moved(void **state)
{
    (void)state;
    char text[200];
    struct report_figure f = {.compared = 38, .grew_count = 3, .shrank_count = 1, .beyond = 0.5};
    assert_string_equal(report_figure_words(text, sizeof text, &f),
                        "3 of 38 problems grew by more than 50 %, 1 shrank");
    f = (struct report_figure){.compared = 1, .beyond = 0.125};
    assert_string_equal(report_figure_words(text, sizeof text, &f),
                        "none of 1 problem grew by more than 12.5 %");
    f = (struct report_figure){.compared = 2, .grew_count = 2};
    assert_string_equal(report_figure_words(text, sizeof text, &f), "2 of 2 problems grew");
}

static void short_shas_have_ten_digits(void **state)
{
    (void)state;
    char text[11];
    assert_string_equal(report_short_sha(text, sample_commits[0].sha), "41d0c9e2f3");
    assert_string_equal(report_short_sha(text, "41d0"), "41d0");
    assert_string_equal(report_short_sha(text, NULL), "");
}

static void small_buffers_are_not_overrun(void **state)
{
    (void)state;
    char text[5];
    assert_string_equal(report_count(text, sizeof text, 1234567), "1,23");
    assert_string_equal(report_percent(text, sizeof text, 0.12345), "+12.");
}

static void assert_decodes(const char *text, uint32_t wanted, size_t length)
{
    uint32_t code;
    assert_int_equal(report_decode(&code, text), length);
    assert_int_equal(code, wanted);
}

static void what_is_not_utf8_becomes_a_replacement(void **state)
{
    (void)state;
    assert_decodes("a", 'a', 1);
    assert_decodes("\xc3\xa9", 0xE9, 2);
    assert_decodes("\xe2\x9c\x93", 0x2713, 3);
    assert_decodes("\xf0\x9f\x98\x80", 0x1F600, 4);
    assert_decodes("\xff", 0xFFFD, 1);
    assert_decodes("\x80", 0xFFFD, 1);
    assert_decodes("\xc0\xaf", 0xFFFD, 1);         /* overlong */
    assert_decodes("\xe0\x80\xaf", 0xFFFD, 1);     /* overlong */
    assert_decodes("\xed\xa0\x80", 0xFFFD, 1);     /* surrogate */
    assert_decodes("\xf4\x90\x80\x80", 0xFFFD, 1); /* above U+10FFFF */
    assert_decodes("\xe2\x9c", 0xFFFD, 1);         /* cut short: must not read past the end */
}

static void encoding_is_the_inverse_of_decoding(void **state)
{
    (void)state;
    const uint32_t codes[] = {'a', 0x7F, 0x80, 0x7FF, 0x800, 0xFFFD, 0x10000, 0x10FFFF};
    for (size_t i = 0; i < COUNT_OF(codes); i++) {
        struct buf text;
        buf_init(&text, 16);
        report_encode(&text, codes[i]);
        assert_decodes(text.data, codes[i], text.length);
        buf_release(&text);
    }
}

static void one_line_holds_no_control_and_no_change_of_direction(void **state)
{
    (void)state;
    struct buf line;
    buf_init(&line, 256);
    const char *text = "a\nb\tc\x1b[31m\x7f\xe2\x80\xaex\xc2\x9b";
    for (uint32_t code; report_next(&code, &text);)
        report_encode(&line, code);
    assert_string_equal(line.data, "a b c\xef\xbf\xbd[31m\xef\xbf\xbd\xef\xbf\xbdx\xef\xbf\xbd");
    buf_release(&line);
    const char *nothing = NULL;
    uint32_t code;
    assert_false(report_next(&code, &nothing));
}

static void columns_follow_the_terminal(void **state)
{
    (void)state;
    assert_int_equal(report_columns('a'), 1);
    assert_int_equal(report_columns(0x0301), 0);  /* combining acute accent */
    assert_int_equal(report_columns(0x6F22), 2);  /* a Han character */
    assert_int_equal(report_columns(0x1F600), 2); /* a face */
    assert_int_equal(report_columns(0xE9), 1);
}

static void every_level_has_a_meaning(void **state)
{
    (void)state;
    const char *const levels[] = {"PROVEN",         "CONFIRMED",  "LIKELY",        "RANGE",
                                  "NOT-REPRODUCED", "NEVER-GOOD", "UNCHANGED-CODE"};
    for (size_t i = 0; i < COUNT_OF(levels); i++)
        assert_true(strlen(report_level_meaning(levels[i])) > 10);
    assert_string_equal(report_level_meaning("PROBABLY"), "");
    assert_string_equal(report_level_meaning(NULL), "");
}

static enum report_group group_of(const char *change, enum tone tone)
{
    return report_check_group(&(struct report_check){.change = change, .tone = tone});
}

static void only_unchanged_rows_are_quiet(void **state)
{
    (void)state;
    assert_int_equal(group_of("passes", TONE_GOOD), REPORT_QUIET);
    assert_int_equal(group_of("not applicable", TONE_PLAIN), REPORT_QUIET);
    assert_int_equal(group_of("not applicable", TONE_DOUBT), REPORT_CHANGED);
    assert_int_equal(group_of("still failing", TONE_PLAIN), REPORT_CHANGED);
    assert_int_equal(group_of(NULL, TONE_GOOD), REPORT_CHANGED);
    assert_int_equal(group_of("newly not applicable", TONE_BAD), REPORT_COVERAGE);
    assert_int_equal(group_of("newly applicable", TONE_GOOD), REPORT_COVERAGE);
    assert_int_equal(group_of("missing", TONE_DOUBT), REPORT_COVERAGE);
    assert_false(report_speed_is_notable(
        &(struct report_speed){.compare = "identical code", .tone = TONE_GOOD}));
    assert_true(report_speed_is_notable(
        &(struct report_speed){.compare = "equivalent", .tone = TONE_GOOD, .model = true}));
    assert_true(
        report_speed_is_notable(&(struct report_speed){.compare = "improved", .tone = TONE_GOOD}));
}

static void picks_are_a_partition_in_order(void **state)
{
    (void)state;
    struct arena a = {0};
    struct report r = sample_report(&a);
    size_t notable[40], others[40];
    size_t count = report_pick_checks(notable, &r, REPORT_CHANGED);
    assert_int_equal(count, 11);
    assert_int_equal(report_pick_checks(others, &r, REPORT_COVERAGE), 2);
    assert_int_equal(report_pick_checks(others, &r, REPORT_QUIET), 27);
    for (size_t i = 1; i < count; i++)
        assert_true(notable[i - 1] < notable[i]);
    assert_int_equal(report_pick_speeds(notable, &r, true), 7);
    assert_int_equal(report_pick_speeds(others, &r, false), 3);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_grouped_by_thousands),
        cmocka_unit_test(percents_have_a_sign_and_one_digit),
        cmocka_unit_test(rates_have_four_digits),
        cmocka_unit_test(probabilities_are_told_as_odds),
        cmocka_unit_test(an_unknown_interval_prints_as_nothing),
        cmocka_unit_test(nouns_follow_their_number),
        cmocka_unit_test(quantities_carry_the_unit_that_fits),
        cmocka_unit_test(a_figure_says_how_many_problems_moved),
        cmocka_unit_test(short_shas_have_ten_digits),
        cmocka_unit_test(small_buffers_are_not_overrun),
        cmocka_unit_test(what_is_not_utf8_becomes_a_replacement),
        cmocka_unit_test(encoding_is_the_inverse_of_decoding),
        cmocka_unit_test(one_line_holds_no_control_and_no_change_of_direction),
        cmocka_unit_test(columns_follow_the_terminal),
        cmocka_unit_test(every_level_has_a_meaning),
        cmocka_unit_test(only_unchanged_rows_are_quiet),
        cmocka_unit_test(picks_are_a_partition_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
