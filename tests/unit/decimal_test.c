/* Numbers from their digits: to the nanosecond, to the last value that fits. */
#include "reading.h"

#include "read/decimal.h"

static void converts_microseconds(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t ns;
	} cases[] = {
		{"0", 0},
		{"-0", 0},
		{"5179028510865.741", 5179028510865741},
		{"1712195495519695.812", 1712195495519695812},
		{"9223372036854775.807", INT64_MAX},
		{"-9223372036854775.807", -INT64_MAX},
		{"1661203462674279", 1661203462674279000},
		{"0.001", 1},
		{"0.0004", 0},
		{"0.0005", 1}, /* half goes away from zero */
		{"-0.0005", -1},
		{"0.00049999999999999999999999", 0},
		{"1.0014999999999999999999", 1001},
		{"1.0015", 1002},
		{"2.9999999999", 3000},
		{"0.29999999999999999", 300},
		{"1712195495519695.8125", 1712195495519695813}, /* the 20th digit decides */
		{"1712195495519695.8124999", 1712195495519695812},
		{"1.5e3", 1500000},
		{"1.5E+3", 1500000},
		{"15e-1", 1500},
		{"1e-3", 1},
		{"1e-4", 0},
		{"1e-400", 0},
		{"0e400", 0},
		{"0.000000000000000000000000001e27", 1000},
		{"1000000000000000000000000000e-27", 1000},
		{"00012", 12000},
		{".5", 500},
		{"+7", 7000},
	};
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		struct decimal number;
		int64_t ns = -1;
		const char *end = decimal_parse(cases[c].text, &number);
		if (!end || *end || !decimal_us_to_ns(&number, &ns) || ns != cases[c].ns)
			fail_msg("%s gave %lld", cases[c].text, (long long)ns);
	}
}

static void refuses_what_does_not_fit(void **state)
{
	(void)state;
	static const char *const too_big[] = {"9223372036854775.808", "9223372036854775807", "1e30",
		"1e100000", "99999999999999999999999999", "nan", "inf", "-Infinity"};
	for (size_t c = 0; c < sizeof too_big / sizeof *too_big; c++) {
		struct decimal number;
		int64_t ns = 77;
		assert_non_null(decimal_parse(too_big[c], &number));
		if (decimal_us_to_ns(&number, &ns))
			fail_msg("%s gave %lld", too_big[c], (long long)ns);
		assert_int_equal(ns, 77);
	}
}

static void knows_integers_to_their_limits(void **state)
{
	(void)state;
	struct decimal number;
	int64_t value;
	assert_non_null(decimal_parse("9223372036854775807", &number));
	assert_true(decimal_i64(&number, &value));
	assert_int_equal(value, INT64_MAX);
	assert_non_null(decimal_parse("9223372036854775808", &number));
	assert_false(decimal_i64(&number, &value));
	assert_non_null(decimal_parse("10159970886766084423", &number));
	assert_false(decimal_i64(&number, &value));
	/* INT64_MIN is null in every column, so it is no value. */
	assert_non_null(decimal_parse("-9223372036854775808", &number));
	assert_false(decimal_i64(&number, &value));
}

static void tells_json_from_what_is_near_it(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int is_strict; /* -1: no number at all */
	} cases[] = {{"0", 1}, {"-0.5e-7", 1}, {"10", 1}, {"01", 0}, {"+1", 0}, {".5", 0},
		{"nan", 0}, {"NaN", 0}, {"-inf", 0}, {"Infinity", 0}, {"", -1}, {"-", -1},
		{"1.", -1}, {"1.e3", -1}, {"1e", -1}, {"1e+", -1}, {"e3", -1}, {"null", -1}};
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		struct decimal number;
		const char *end = decimal_parse(cases[c].text, &number);
		const int is_strict = end && !*end ? number.is_strict : -1;
		if (is_strict != cases[c].is_strict)
			fail_msg("'%s' is %d", cases[c].text, is_strict);
	}
}

static void reads_quoted_numbers_whole_or_not_at_all(void **state)
{
	(void)state;
	struct decimal number;
	int64_t value;
	assert_true(decimal_from_text("4093687616", 10, &number));
	assert_true(decimal_i64(&number, &value));
	assert_int_equal(value, 4093687616);
	assert_false(decimal_from_text("0x10", 4, &number));
	assert_false(decimal_from_text("12 ", 3, &number));
	assert_false(decimal_from_text("", 0, &number));
	assert_false(decimal_from_text("stream 7", 8, &number));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(converts_microseconds),
		cmocka_unit_test(refuses_what_does_not_fit),
		cmocka_unit_test(knows_integers_to_their_limits),
		cmocka_unit_test(tells_json_from_what_is_near_it),
		cmocka_unit_test(reads_quoted_numbers_whole_or_not_at_all),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
