/*
 * The few statistics that this program needs, on arrays of doubles.  What can't be told from so
 * few values (a variance of one) is NaN, never 0.
 */
#pragma once

#include <stdint.h>

double stats_mean(const double *values, uint32_t count);

/* Of a sample: divided by count - 1.  NaN with fewer than two values. */
double stats_variance(const double *values, uint32_t count);

/* Student's t with `degrees` of freedom (a fraction is fine): P(T <= result) = p, 0 < p < 1. */
double stats_t_quantile(double p, double degrees);

/* Half the width of the 95 % interval of one mean; NaN with fewer than two values. */
double stats_mean_half_width(double variance, uint32_t count);

/*
 * Half the width of the 95 % interval of the difference of two means (Welch: the variances may
 * differ).  NaN where a side has fewer than two values; 0 where neither side varies.
 */
double stats_welch_half_width(
	double variance_a, uint32_t count_a, double variance_b, uint32_t count_b);

/* Both sort `values` in place; NaN with none. */
double stats_median(double *values, uint32_t count);

/* Median of the distances from the median. */
double stats_mad(double *values, uint32_t count);
