#include "harness/stats.h"

#include "src/err.h"
#include "src/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PAIR_TRIM = 0.2;
/* From here on the pairs themselves tell their spread well enough (facts/bisection.md 4(b)3). */
enum { FLOOR_BELOW = 20 };

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int compare_ns(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static double *sorted_copy(const double *values, size_t count)
{
    if (count == 0)
        bug("statistics of no values");
    double *copy = xmalloc(count * sizeof *copy);
    memcpy(copy, values, count * sizeof *copy);
    qsort(copy, count, sizeof *copy, compare_doubles);
    return copy;
}

double stats_median(const double *values, size_t count)
{
    CLEANUP(mem_free_ptr) double *sorted = sorted_copy(values, count);
    size_t middle = count / 2;
    return count % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

int64_t stats_median_ns(const int64_t *values, size_t count)
{
    if (count == 0)
        bug("median of no values");
    CLEANUP(mem_free_ptr) int64_t *sorted = xmalloc(count * sizeof *sorted);
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_ns);
    int64_t high = sorted[count / 2];
    if (count % 2)
        return high;
    int64_t low = sorted[count / 2 - 1];
    return low + (high - low) / 2;
}

/* Values to drop at each end. 0.29 * 100 is 28.999999999999996 in binary: the shift keeps what the
 * caller means. */
static size_t trim_count(size_t count, double trim)
{
    if (!(trim >= 0 && trim < 0.5))
        bug("trim %g", trim);
    return (size_t)floor(trim * (double)count + 1e-9);
}

double stats_trimmed_mean(const double *values, size_t count, double trim)
{
    CLEANUP(mem_free_ptr) double *sorted = sorted_copy(values, count);
    size_t cut = trim_count(count, trim);
    double sum = 0;
    for (size_t i = cut; i < count - cut; i++)
        sum += sorted[i];
    return sum / (double)(count - 2 * cut);
}

/* Replace the `cut` smallest values by the next larger one, the largest likewise. */
static void winsorise(double *sorted, size_t count, size_t cut)
{
    for (size_t i = 0; i < cut; i++) {
        sorted[i] = sorted[cut];
        sorted[count - 1 - i] = sorted[count - 1 - cut];
    }
}

static double sum_of_squares(const double *values, size_t count)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        mean += values[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return squares;
}

double stats_trimmed_error(const double *values, size_t count, double trim)
{
    size_t cut = trim_count(count, trim);
    if (count < 2 * cut + 2)
        return INFINITY;
    CLEANUP(mem_free_ptr) double *sorted = sorted_copy(values, count);
    winsorise(sorted, count, cut);
    double kept = (double)(count - 2 * cut);
    return sqrt(sum_of_squares(sorted, count) / (kept * (kept - 1)));
}

/* Continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), evaluated from
 * the front (Lentz 1976). It converges in O(sqrt(max(a, b))) terms for x below (a + 1) / (a + b +
 * 2). */
static double beta_fraction(double x, double a, double b)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double fraction = d;
    for (int term = 2; term < 100000; term++) {
        double m = term / 2;
        double step = term % 2 ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
                               : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 + step * d;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = 1 + step / c;
        c = fabs(c) < tiny ? tiny : c;
        fraction *= c * d;
        if (fabs(c * d - 1) < 1e-15)
            break;
    }
    return fraction;
}

/* I_x(a, b), given both x and 1 - x so that neither loses digits. */
static double regularised_beta(double x, double complement, double a, double b)
{
    if (x <= 0)
        return 0;
    if (complement <= 0)
        return 1;
    double log_front = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(complement);
    if (x < (a + 1) / (a + b + 2))
        return exp(log_front) * beta_fraction(x, a, b) / a;
    return 1 - exp(log_front) * beta_fraction(complement, b, a) / b;
}

double stats_normal_tail(double z)
{
    return 0.5 * erfc(z * M_SQRT1_2);
}

/* P(|T| > t) = I_{v / (v + t^2)}(v / 2, 1 / 2): Abramowitz and Stegun 26.7.1. */
double stats_t_tail(double t, double freedom)
{
    if (!(freedom > 0))
        bug("%g degrees of freedom", freedom);
    if (freedom > 1e8)
        return stats_normal_tail(t);
    double x = 1 / (1 + t * t / freedom), complement = 1 / (1 + freedom / (t * t));
    double both = regularised_beta(x, complement, freedom / 2, 0.5);
    return t > 0 ? both / 2 : 1 - both / 2;
}

/* By bisection of the tail, down to the last bit. */
double stats_t_quantile(double confidence, double freedom)
{
    if (!(confidence > 0 && confidence < 1))
        bug("confidence %g", confidence);
    double tail = (1 - confidence) / 2, low = 0, high = 1;
    while (stats_t_tail(high, freedom) > tail)
        high *= 2;
    for (;;) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            return middle;
        if (stats_t_tail(middle, freedom) > tail)
            low = middle;
        else
            high = middle;
    }
}

struct stats_effect stats_pairs(const double *log_ratios, size_t count, double confidence,
                                double floor_sd)
{
    struct stats_effect e = {.pairs = count, .error = INFINITY, .low = -INFINITY, .high = INFINITY};
    if (count == 0)
        return e;
    e.mean = stats_trimmed_mean(log_ratios, count, PAIR_TRIM);
    e.error = stats_trimmed_error(log_ratios, count, PAIR_TRIM);
    e.freedom = (double)count - 2 * (double)trim_count(count, PAIR_TRIM) - 1;
    if (e.freedom < 1)
        return e;
    /* Few pairs can agree by luck. The floor of facts/bisection.md 4(b)3 is 0.8 * 1.25 * s / sqrt
     * n. */
    if (count < FLOOR_BELOW)
        e.error = fmax(e.error, 0.8 * 1.25 * floor_sd / sqrt((double)count));
    double reach = stats_t_quantile(confidence, e.freedom) * e.error;
    e.low = e.mean - reach;
    e.high = e.mean + reach;
    return e;
}

double stats_robust_sd(const double *values, size_t count)
{
    double median = stats_median(values, count);
    CLEANUP(mem_free_ptr) double *deviations = xmalloc(count * sizeof *deviations);
    for (size_t i = 0; i < count; i++)
        deviations[i] = fabs(values[i] - median);
    return 1.4826 * stats_median(deviations, count);
}

void stats_benjamini_hochberg(unsigned char *keep, const double *p_values, size_t count, double q)
{
    if (count == 0)
        return;
    CLEANUP(mem_free_ptr) double *sorted = sorted_copy(p_values, count);
    double largest = -1;
    for (size_t i = 0; i < count; i++) {
        if (sorted[i] <= q * (double)(i + 1) / (double)count)
            largest = sorted[i];
    }
    for (size_t i = 0; i < count; i++)
        keep[i] = p_values[i] <= largest;
}
