/* stats: medians, trimmed means, intervals of paired ratios. Pure; each formula names its source.
 *
 * A pair is a fresh process in which two builds take turns; its log ratio is x = ln(t_candidate / t_baseline), so x > 0 is slower.
 */
#ifndef ASSAY_STATS_H
#define ASSAY_STATS_H

#include <stddef.h>
#include <stdint.h>

double stats_median(const double *values, size_t count); /* count > 0; copies, O(n log n) */
int64_t stats_median_ns(const int64_t *values, size_t count);
/* Mean after dropping floor(trim * n) values at each end (Tukey and McLaughlin 1963). */
double stats_trimmed_mean(const double *values, size_t count, double trim);
/* Its standard error: sqrt(W / (h (h - 1))), W the sum of squared deviations of the winsorised values, h = n - 2 floor(trim n) the number kept (same
 * source; h - 1 degrees of freedom). For large n this is winsorised standard deviation / ((1 - 2 trim) sqrt n); where trim * n is no whole number that
 * form would be up to 16 % off, and intervals of 8 pairs would hold 97 %, of 10 pairs 93.6 %. INFINITY when h < 2. */
double stats_trimmed_error(const double *values, size_t count, double trim);
/* Student's t: two-sided quantile for `confidence` (0.95) and the upper tail probability P(T > t). `freedom` > 0, INFINITY being the normal. */
double stats_t_quantile(double confidence, double freedom);
double stats_t_tail(double t, double freedom);
double stats_normal_tail(double z);

struct stats_effect {
    size_t pairs;
    double mean;       /* trimmed (20 %) mean of log ratios */
    double error;      /* its standard error, floored by the noise floor for small n */
    double freedom;    /* pairs kept less one */
    double low, high;  /* interval at `confidence`; infinite for fewer than two pairs */
};
/* `floor_sd`: robust sd of a pair's log ratio known from A/A runs of this machine (0: none); used when n < 20 so that lucky agreement of few pairs
 * is not taken for certainty. */
struct stats_effect stats_pairs(const double *log_ratios, size_t count, double confidence, double floor_sd);
/* 1.4826 * median absolute deviation: robust sd (Hampel 1974). */
double stats_robust_sd(const double *values, size_t count);
/* Benjamini-Hochberg: keep[i] = 1 for the discoveries at false discovery rate q (1995). */
void stats_benjamini_hochberg(unsigned char *keep, const double *p_values, size_t count, double q);

#endif
