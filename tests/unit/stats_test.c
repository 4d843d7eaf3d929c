/* Statistics against values from tables of t and by hand. */
#include "base/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define near(a, b, within) assert_true(fabs((a) - (b)) <= (within))

static void quantiles_of_t(void **state)
{
	static const struct {
		double p, degrees, expected;
	} cases[] = {
		{0.975, 1, 12.706204736},
		{0.975, 2, 4.302652730},
		{0.975, 3, 3.182446305},
		{0.975, 10, 2.228138852},
		{0.975, 1000, 1.962339081},
		{0.95, 4.5, 2.065575889},
		{0.5, 7, 0},
		{0.025, 10, -2.228138852},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		near(stats_t_quantile(cases[i].p, cases[i].degrees), cases[i].expected, 1e-6);
	assert_true(isnan(stats_t_quantile(1, 5)));
	assert_true(isnan(stats_t_quantile(0.9, 0)));
}

static void moments(void **state)
{
	(void)state;
	const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
	near(stats_mean(values, 8), 5, 0);
	near(stats_variance(values, 8), 32.0 / 7, 1e-12);
	assert_true(isnan(stats_mean(values, 0)));
	assert_true(isnan(stats_variance(values, 1)));
	/* Large means keep the small differences. */
	const double far[] = {1e15 + 1, 1e15 + 2, 1e15 + 3};
	near(stats_variance(far, 3), 1, 1e-9);
}

static void welch_interval(void **state)
{
	(void)state;
	/* Equal variances and counts: 2n - 2 degrees. */
	near(stats_welch_half_width(1, 5, 1, 5), 2.306004135 * sqrt(0.4), 1e-6);
	/* One side does not vary: only the other's degrees count. */
	near(stats_welch_half_width(4, 4, 0, 9), 3.182446305, 1e-6);
	near(stats_welch_half_width(0, 4, 0, 4), 0, 0);
	assert_true(isnan(stats_welch_half_width(1, 1, 1, 5)));
	assert_true(isnan(stats_welch_half_width(NAN, 4, 1, 5)));
	near(stats_mean_half_width(4, 4), 3.182446305, 1e-6);
	assert_true(isnan(stats_mean_half_width(1, 1)));
}

static void medians(void **state)
{
	(void)state;
	double odd[] = {9, 1, 5};
	near(stats_median(odd, 3), 5, 0);
	double even[] = {9, 1, 5, 2};
	near(stats_median(even, 4), 3.5, 0);
	double spread[] = {1, 1, 2, 2, 4, 6, 9};
	near(stats_mad(spread, 7), 1, 0);
	assert_true(isnan(stats_median(odd, 0)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_of_t),
		cmocka_unit_test(moments),
		cmocka_unit_test(welch_interval),
		cmocka_unit_test(medians),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
