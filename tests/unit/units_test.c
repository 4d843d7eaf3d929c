/* How numbers are printed: the borders between units, signs, nulls. */
#include "base/units.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/table.h"

static void milliseconds(void **state)
{
	(void)state;
	assert_int_equal(units_ms_decimals(132.7e6), 1);
	assert_int_equal(units_ms_decimals(9.9e6), 2);
	assert_int_equal(units_ms_decimals(0.2e6), 3);
	assert_string_equal(units_ms(132714000, 1, UNITS_PLAIN).text, "132.7 ms");
	assert_string_equal(units_ms(28e6, 1, UNITS_SIGNED).text, "+28.0 ms");
	assert_string_equal(units_ms_bare(-9.46e6, 1, UNITS_SIGNED).text, "-9.5");
	/* No "-0.0": it reads as if something had been lost. */
	assert_string_equal(units_ms_bare(-0.04e6, 1, UNITS_SIGNED).text, "+0.0");
	assert_string_equal(units_ms(NAN, 1, UNITS_SIGNED).text, "?");
}

static void sizes(void **state)
{
	(void)state;
	assert_string_equal(units_bytes(0, UNITS_PLAIN).text, "0 B");
	assert_string_equal(units_bytes(1023, UNITS_PLAIN).text, "1023 B");
	assert_string_equal(units_bytes(1024, UNITS_PLAIN).text, "1.0 KiB");
	assert_string_equal(units_bytes((1 << 20) - 1, UNITS_PLAIN).text, "1.0 MiB");
	assert_string_equal(units_bytes(25222447104, UNITS_PLAIN).text, "23.5 GiB");
	assert_string_equal(units_bytes(-6813646848, UNITS_SIGNED).text, "-6.3 GiB");
	assert_string_equal(units_bytes(INT64_MAX, UNITS_PLAIN).text, "8388608.0 TiB");
	assert_string_equal(units_bytes(NULL_I64, UNITS_PLAIN).text, "?");
}

static void rates_and_counts(void **state)
{
	(void)state;
	assert_string_equal(units_rate(0.25).text, "0.25");
	assert_string_equal(units_rate(987.4).text, "987");
	assert_string_equal(units_rate(999.6).text, "1.00k");
	assert_string_equal(units_rate(9200).text, "9.20k");
	assert_string_equal(units_rate(123451).text, "123.5k");
	assert_string_equal(units_rate(1.2e6).text, "1.20M");
	assert_string_equal(units_rate(NAN).text, "?");
	assert_string_equal(units_count(16384).text, "16,384");
	assert_string_equal(units_count(-1234567).text, "-1,234,567");
	assert_string_equal(units_count(-123).text, "-123");
	assert_string_equal(units_count(999).text, "999");
	assert_string_equal(units_count(NULL_I64).text, "?");
}

static void shares(void **state)
{
	(void)state;
	assert_string_equal(units_percent(0.025, UNITS_PLAIN).text, "2.5 %");
	assert_string_equal(units_percent(0.2113, UNITS_SIGNED).text, "+21 %");
	assert_string_equal(units_percent(-0.0652, UNITS_SIGNED).text, "-6.5 %");
	assert_string_equal(units_percent(0.0997, UNITS_PLAIN).text, "10 %");
	assert_string_equal(units_percent(NAN, UNITS_PLAIN).text, "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(milliseconds),
		cmocka_unit_test(sizes),
		cmocka_unit_test(rates_and_counts),
		cmocka_unit_test(shares),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
