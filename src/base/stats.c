/* Means, Student's t through the incomplete beta function, Welch's interval, median and MAD. */
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

#define CONFIDENCE_UPPER 0.975 /* both sides of a 95 % interval */

double stats_mean(const double *values, uint32_t count)
{
	double sum = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += values[i];
	return count ? sum / count : NAN;
}

double stats_variance(const double *values, uint32_t count)
{
	if (count < 2)
		return NAN;
	/* Two passes: sums of squares of nanoseconds would lose the digits that matter. */
	const double mean = stats_mean(values, count);
	double sum = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return sum / (count - 1);
}

/* The continued fraction of the incomplete beta function, by Lentz's method; converges for
 * x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1);
	d = 1 / (fabs(d) < tiny ? tiny : d);
	double result = d;
	for (int m = 1; m <= 500; m++) {
		const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		result *= d * c;
		const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		result *= d * c;
		if (fabs(d * c - 1) < 1e-15)
			break;
	}
	return result;
}

/* The regularized incomplete beta function I_x(a, b). */
static double beta_share(double a, double b, double x)
{
	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	const double front =
		exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* P(T > t) for t >= 0. */
static double t_upper_tail(double t, double degrees)
{
	return beta_share(degrees / 2, 0.5, degrees / (degrees + t * t)) / 2;
}

double stats_t_quantile(double p, double degrees)
{
	if (!(p > 0 && p < 1) || !(degrees > 0))
		return NAN;
	if (p < 0.5)
		return -stats_t_quantile(1 - p, degrees);
	double low = 0, high = 1;
	while (t_upper_tail(high, degrees) > 1 - p && high < 1e15)
		high *= 2;
	/* Halving needs no derivative and can't run away; 100 halvings exhaust a double. */
	for (int i = 0; i < 100; i++) {
		const double middle = low + (high - low) / 2;
		if (t_upper_tail(middle, degrees) > 1 - p)
			low = middle;
		else
			high = middle;
	}
	return low + (high - low) / 2;
}

double stats_mean_half_width(double variance, uint32_t count)
{
	if (count < 2)
		return NAN;
	return stats_t_quantile(CONFIDENCE_UPPER, count - 1) * sqrt(variance / count);
}

double stats_welch_half_width(
	double variance_a, uint32_t count_a, double variance_b, uint32_t count_b)
{
	if (count_a < 2 || count_b < 2)
		return NAN;
	const double a = variance_a / count_a, b = variance_b / count_b;
	if (!(a + b > 0))
		return a + b == 0 ? 0 : NAN;
	const double degrees = (a + b) * (a + b) / (a * a / (count_a - 1) + b * b / (count_b - 1));
	return stats_t_quantile(CONFIDENCE_UPPER, degrees) * sqrt(a + b);
}

static int by_value(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

double stats_median(double *values, uint32_t count)
{
	if (!count)
		return NAN;
	qsort(values, count, sizeof *values, by_value);
	const double middle = values[count / 2];
	return count % 2 ? middle : (values[count / 2 - 1] + middle) / 2;
}

double stats_mad(double *values, uint32_t count)
{
	const double median = stats_median(values, count);
	for (uint32_t i = 0; i < count; i++)
		values[i] = fabs(values[i] - median);
	return stats_median(values, count);
}
