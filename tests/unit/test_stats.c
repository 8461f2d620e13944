#include "test.h"

#include "harness/stats.h"

#include <math.h>

#define assert_near(value, wanted, tolerance)                                                      \
    do {                                                                                           \
        double value_ = (value), wanted_ = (wanted);                                               \
        if (!(fabs(value_ - wanted_) <= (tolerance)))                                              \
            fail_msg("%s: got %.17g, wanted %.17g", #value, value_, wanted_);                      \
    } while (0)

/* splitmix64: the same numbers on every machine. */
static uint64_t state;

static double uniform(void)
{
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
    double radius = sqrt(-2 * log(uniform()));
    return radius * cos(2 * M_PI * uniform());
}

static void median__odd_even_and_order(void **unused)
{
    (void)unused;
    const double odd[] = {9, -1, 4}, even[] = {9, -1, 4, 5};
    assert_near(stats_median(odd, 3), 4, 0);
    assert_near(stats_median(even, 4), 4.5, 0);
    assert_near(stats_median(even, 1), 9, 0);
    assert_near(even[0], 9, 0); /* the input keeps its order */
}

static void median_ns__does_not_overflow(void **unused)
{
    (void)unused;
    const int64_t large[] = {INT64_MAX, INT64_MAX - 2, INT64_MAX, 1};
    assert_int_equal(stats_median_ns(large, 4), INT64_MAX - 1);
    assert_int_equal(stats_median_ns(large, 3), INT64_MAX);
    const int64_t few[] = {3, 8};
    assert_int_equal(stats_median_ns(few, 2), 5);
}

/* {1..9, 100}, a fifth cut: 3..8 are left, mean 5.5. Winsorised {3,3,3,4,5,6,7,8,8,8}: mean 5.5, squares 3*6.25 + 2.25 + .25 + .25 + 2.25 +
 * 3*6.25 = 42.5; 6 are kept: error sqrt(42.5 / (6 * 5)). */
static void trimmed__by_hand(void **unused)
{
    (void)unused;
    const double values[] = {100, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    assert_near(stats_trimmed_mean(values, 10, 0.2), 5.5, 1e-15);
    assert_near(stats_trimmed_error(values, 10, 0.2), sqrt(42.5 / 30), 1e-14);
}

/* floor(0.2 * 4) = 0: nothing is cut, sd of {1, 2, 3, 6} is sqrt(14 / 3). */
static void trimmed__cuts_whole_values_only(void **unused)
{
    (void)unused;
    const double values[] = {1, 2, 3, 6};
    assert_near(stats_trimmed_mean(values, 4, 0.2), 3, 1e-15);
    assert_near(stats_trimmed_error(values, 4, 0), sqrt(14.0 / 3) / 2, 1e-15);
    double hundred[100];
    for (int i = 0; i < 100; i++)
        hundred[i] = i < 29 ? -1000 : i >= 71 ? 1000 : 7;
    assert_near(stats_trimmed_mean(hundred, 100, 0.29), 7, 0); /* 0.29 * 100 < 29 in binary */
}

static void trimmed__one_value_has_no_error_to_know(void **unused)
{
    (void)unused;
    const double values[] = {3, 4};
    assert_true(isinf(stats_trimmed_error(values, 1, 0.2)));
    assert_near(stats_trimmed_error(values, 2, 0.2), 0.5, 1e-15);
}

/* Table values to the digits that tables print, and closed forms for 1 and 2 degrees of freedom. */
static void t_quantile__agrees_with_tables(void **unused)
{
    (void)unused;
    const struct {
        double confidence, freedom, t;
    } table[] = {
        {0.95, 4, 2.776}, {0.95, 30, 2.042}, {0.95, 10, 2.228}, {0.99, 5, 4.032}, {0.90, 20, 1.725},
        {0.999, 10, 4.587}, {0.80, 7, 1.415}, {0.98, 15, 2.602}, {0.95, 120, 1.980}, {0.50, 3, 0.765},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_near(stats_t_quantile(table[i].confidence, table[i].freedom), table[i].t, 5.01e-4);
    for (double c = 0.05; c < 0.9999; c += 0.05) {
        assert_near(stats_t_quantile(c, 1) / tan(M_PI * c / 2), 1, 1e-11);
        assert_near(stats_t_quantile(c, 2) / (c * sqrt(2 / (1 - c * c))), 1, 1e-11);
    }
    assert_near(stats_t_quantile(0.95, INFINITY), 1.959963984540054, 1e-12);
    assert_near(stats_t_quantile(0.95, 1e7), 1.959963984540054, 1e-6);
}

static void t_tail__closed_forms(void **unused)
{
    (void)unused;
    for (double t = -50; t <= 50; t += 0.37) {
        assert_near(stats_t_tail(t, 1), 0.5 - atan(t) / M_PI, 1e-13);
        assert_near(stats_t_tail(t, 2), 0.5 - t / (2 * sqrt(2 + t * t)), 1e-13);
        assert_near(stats_t_tail(t, 7.5) + stats_t_tail(-t, 7.5), 1, 1e-14);
    }
    assert_near(stats_t_tail(0, 3), 0.5, 1e-15);
    /* Far out the relative error stays small: P(T > t) -> 1 / (pi t) for 1, 1 / (2 t^2) for 2 degrees. */
    assert_near(stats_t_tail(1e8, 1) * M_PI * 1e8, 1, 1e-12);
    assert_near(stats_t_tail(1e6, 2) * 2e12, 1, 1e-10);
}

static void t_tail__is_the_inverse_of_the_quantile(void **unused)
{
    (void)unused;
    const double freedoms[] = {1, 3, 3.7, 12, 99, 1000, 31622, 1e6};
    for (size_t i = 0; i < sizeof freedoms / sizeof *freedoms; i++) {
        assert_near(stats_t_tail(stats_t_quantile(0.95, freedoms[i]), freedoms[i]), 0.025, 1e-11);
        assert_near(stats_t_tail(stats_t_quantile(0.9999, freedoms[i]), freedoms[i]), 5e-5, 1e-13);
    }
}

static void normal_tail__known_values(void **unused)
{
    (void)unused;
    assert_near(stats_normal_tail(0), 0.5, 0);
    assert_near(stats_normal_tail(1.959963984540054), 0.025, 1e-15);
    assert_near(stats_normal_tail(-1), 0.8413447460685429, 1e-15);
    assert_near(stats_normal_tail(10) / 7.619853024160527e-24, 1, 1e-12);
}

static void robust_sd__by_hand(void **unused)
{
    (void)unused;
    const double values[] = {1, 1, 2, 2, 4, 6, 900}; /* median 2, deviations 1 1 0 0 2 4 898: median 1 */
    assert_near(stats_robust_sd(values, 7), 1.4826, 1e-15);
}

/* The fifteen p-values of Benjamini and Hochberg's paper (1995, section 4.1): four discoveries at q = .05, where Bonferroni has three. */
static void benjamini_hochberg__the_example_of_the_paper(void **unused)
{
    (void)unused;
    const double p[] = {0.7590, 0.0001, 0.0095, 0.0004, 1.0000, 0.0019, 0.0201, 0.0278,
                        0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528};
    unsigned char keep[15];
    stats_benjamini_hochberg(keep, p, 15, 0.05);
    for (int i = 0; i < 15; i++)
        assert_int_equal(keep[i], p[i] <= 0.0095);
}

/* .03 alone exceeds 1/3 of .05, but .04 <= .05 pulls all three in; none at a smaller q. */
static void benjamini_hochberg__steps_up(void **unused)
{
    (void)unused;
    const double p[] = {0.04, 0.03, 0.035};
    unsigned char keep[3];
    stats_benjamini_hochberg(keep, p, 3, 0.05);
    assert_int_equal(keep[0] + keep[1] + keep[2], 3);
    stats_benjamini_hochberg(keep, p, 3, 0.039);
    assert_int_equal(keep[0] + keep[1] + keep[2], 0);
    stats_benjamini_hochberg(keep, p, 0, 0.05);
}

static void pairs__by_hand(void **unused)
{
    (void)unused;
    const double x[] = {1.00, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09};
    struct stats_effect e = stats_pairs(x, 10, 0.95, 0);
    double error = sqrt(42.5 / 30) / 100;
    assert_int_equal(e.pairs, 10);
    assert_near(e.mean, 0.055, 1e-15);
    assert_near(e.error, error, 1e-15);
    assert_near(e.freedom, 5, 0);
    assert_near(e.high - e.low, 2 * 2.5705818356363141 * error, 1e-12);
    assert_near((e.high + e.low) / 2, 0.055, 1e-15);
}

static void pairs__too_few_promise_nothing(void **unused)
{
    (void)unused;
    const double x[] = {0.3};
    for (size_t count = 0; count < 2; count++) {
        struct stats_effect e = stats_pairs(x, count, 0.95, 0.01);
        assert_int_equal(e.pairs, count);
        assert_true(isinf(e.low) && e.low < 0 && isinf(e.high) && e.high > 0);
    }
}

static void pairs__floor_stops_lucky_agreement(void **unused)
{
    (void)unused;
    const double same[20] = {0};
    struct stats_effect none = stats_pairs(same, 6, 0.95, 0), floored = stats_pairs(same, 6, 0.95, 0.02);
    assert_near(none.error, 0, 0);
    assert_near(floored.error, 0.02 / sqrt(6), 1e-16);
    assert_near(floored.high, 3.182446305284263 * 0.02 / sqrt(6), 1e-12);
    assert_near(stats_pairs(same, 19, 0.95, 0.02).error, 0.02 / sqrt(19), 1e-16);
    assert_near(stats_pairs(same, 20, 0.95, 0.02).error, 0, 0);
}

static void pairs__floor_never_narrows(void **unused)
{
    (void)unused;
    const double x[] = {-0.1, 0.3, 0.0, 0.2, -0.2, 0.5};
    assert_near(stats_pairs(x, 6, 0.95, 0.001).error, stats_pairs(x, 6, 0.95, 0).error, 0);
}

/* Share of intervals that hold the true effect. */
static double coverage(size_t pairs, double outliers, double floor_sd, size_t trials)
{
    const double effect = 0.03, sd = 0.015;
    size_t held = 0;
    state = 20240607 + pairs;
    for (size_t trial = 0; trial < trials; trial++) {
        double x[64];
        for (size_t i = 0; i < pairs; i++)
            x[i] = effect + sd * (uniform() < outliers ? 8 : 1) * normal();
        struct stats_effect e = stats_pairs(x, pairs, 0.95, floor_sd);
        held += e.low <= effect && effect <= e.high;
    }
    return (double)held / (double)trials;
}

/* 6,000 trials: three standard errors of .95 are .0084. Of fewer than 20 pairs the method itself holds down to .942 (60,000 trials). */
static void pairs__intervals_hold_the_effect(void **unused)
{
    (void)unused;
    const size_t sizes[] = {6, 12, 24, 48};
    for (size_t i = 0; i < 4; i++) {
        double clean = coverage(sizes[i], 0, 0, 6000), dirty = coverage(sizes[i], 0.03, 0, 6000);
        double floored = coverage(sizes[i], 0.03, 0.015, 6000);
        print_message("%zu pairs: %.4f held, %.4f with 3 %% outliers, %.4f with the floor\n", sizes[i], clean, dirty, floored);
        double tolerance = sizes[i] < 20 ? 0.0084 + 0.008 : 0.0084;
        assert_near(clean, 0.95, tolerance);
        assert_near(dirty, 0.95, tolerance);
        if (sizes[i] < 20)
            assert_true(floored > dirty);
        else
            assert_near(floored, dirty, 0);
    }
}

/* Without trimming, outliers of the same kind would make the interval wider by more than a third. */
static void pairs__outliers_cost_little_width(void **unused)
{
    (void)unused;
    state = 7;
    double clean = 0, dirty = 0;
    for (int trial = 0; trial < 2000; trial++) {
        double x[24];
        for (int i = 0; i < 24; i++)
            x[i] = normal();
        clean += stats_pairs(x, 24, 0.95, 0).error;
        for (int i = 0; i < 24; i++)
            x[i] *= uniform() < 0.03 ? 8 : 1;
        dirty += stats_pairs(x, 24, 0.95, 0).error;
    }
    assert_true(dirty / clean < 1.12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(median__odd_even_and_order),
        cmocka_unit_test(median_ns__does_not_overflow),
        cmocka_unit_test(trimmed__by_hand),
        cmocka_unit_test(trimmed__cuts_whole_values_only),
        cmocka_unit_test(trimmed__one_value_has_no_error_to_know),
        cmocka_unit_test(t_quantile__agrees_with_tables),
        cmocka_unit_test(t_tail__closed_forms),
        cmocka_unit_test(t_tail__is_the_inverse_of_the_quantile),
        cmocka_unit_test(normal_tail__known_values),
        cmocka_unit_test(robust_sd__by_hand),
        cmocka_unit_test(benjamini_hochberg__the_example_of_the_paper),
        cmocka_unit_test(benjamini_hochberg__steps_up),
        cmocka_unit_test(pairs__by_hand),
        cmocka_unit_test(pairs__too_few_promise_nothing),
        cmocka_unit_test(pairs__floor_stops_lucky_agreement),
        cmocka_unit_test(pairs__floor_never_narrows),
        cmocka_unit_test(pairs__intervals_hold_the_effect),
        cmocka_unit_test(pairs__outliers_cost_little_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
