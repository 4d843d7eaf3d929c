/* The usual numbers, read eight digits at a time, are what the general reader makes of them. */
#include "reading.h"

#include "read/decimal_plain.h"

static uint32_t seed = 7;

static uint32_t below(uint32_t limit)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % limit;
}

/* Padded as a window is. */
static bool is_plain(const char *text, struct decimal *ret, size_t *ret_length)
{
	char padded[128] = {0};
	snprintf(padded, sizeof padded - 8, "%s", text);
	const char *after = decimal_parse_plain(padded, ret);
	*ret_length = after ? (size_t)(after - padded) : 0;
	return after != NULL;
}

/* What is taken without a struct decimal is what it would say, and what is passed ends with it. */
static void compare_shortcuts(const char *text)
{
	char padded[128] = {0};
	struct decimal plain;
	int64_t value, expected;
	snprintf(padded, sizeof padded - 8, "%s", text);
	const char *end = decimal_parse_plain(padded, &plain);
	assert_ptr_equal(decimal_pass_plain(padded), end);
	const char *after = decimal_plain_integer(padded, &value);
	assert_ptr_equal(after, end && plain.exponent == 0 ? end : NULL);
	if (after) {
		assert_true(decimal_i64(&plain, &expected));
		assert_int_equal(value, expected);
	}
	after = decimal_plain_thousandths(padded, &value);
	assert_ptr_equal(after, end && plain.exponent == -3 && !plain.is_negative ? end : NULL);
	if (after) {
		assert_true(decimal_us_to_ns(&plain, &expected));
		assert_int_equal(value, expected);
	}
}

static void compare(const char *text)
{
	struct decimal plain, general;
	size_t length;
	compare_shortcuts(text);
	if (!is_plain(text, &plain, &length))
		return;
	const char *after = decimal_parse(text, &general);
	if (!after || (size_t)(after - text) != length || plain.mantissa != general.mantissa ||
		plain.exponent != general.exponent || plain.is_negative != general.is_negative ||
		plain.rounds_up != general.rounds_up || plain.is_finite != general.is_finite ||
		plain.is_strict != general.is_strict)
		fail_msg("'%s' is %llue%d of %zu bytes", text, (unsigned long long)plain.mantissa,
			plain.exponent, length);
}

static void agrees(void **state)
{
	(void)state;
	static const char bytes[] = "0123456789012345678901234567890123456789..-+eE ,}]:\"n/";
	for (int n = 0; n < 400000; n++) {
		char text[40];
		const uint32_t length = 1 + below(30), kinds = n % 2 ? sizeof bytes - 1 : 42;
		for (uint32_t i = 0; i < length; i++)
			text[i] = bytes[below(kinds)];
		text[length] = '\0';
		compare(text);
		/* Three decimals are rare among random bytes. */
		snprintf(text, sizeof text, "%.*s.%03u%c", (int)below(17), "123456789012345678",
			below(1000), bytes[below(sizeof bytes - 1)]);
		compare(text);
	}
}

static void takes_the_usual(void **state)
{
	(void)state;
	static const char *const usual[] = {"0", "7,", "-3}", "12345678", "123456789 ",
		"5177521610838.947,", "0.001", "192.013\n", "999999999999999999", "1.5]", "-0.25"};
	static const char *const unusual[] = {"", "-", "+1", ".5", "1.", "1.x", "01", "-00", "1e3",
		"1.5E3", "1234567890123456789", "1234567890.123456789", "nan", "\"1\"", " 1"};
	struct decimal number;
	size_t length;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	for (size_t u = 0; u < sizeof usual / sizeof *usual; u++) {
		assert_true(is_plain(usual[u], &number, &length));
		compare(usual[u]);
	}
#endif
	for (size_t u = 0; u < sizeof unusual / sizeof *unusual; u++)
		assert_false(is_plain(unusual[u], &number, &length));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees),
		cmocka_unit_test(takes_the_usual),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
