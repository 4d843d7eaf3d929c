#include "read/decimal.h"

#include <string.h>

#define MAX_DIGITS   19 /* 10^19 - 1 fits 64 bits without a sign */
#define MAX_EXPONENT 100000

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Takes digits in; `ret_cut` counts those that found no room in the mantissa. */
static const char *take_digits(
	const char *at, struct decimal *number, int *digit_count, int32_t *ret_cut)
{
	int32_t cut = 0;
	uint64_t mantissa = number->mantissa;
	int count = *digit_count;
	for (; is_digit(*at); at++) {
		if (count < MAX_DIGITS) {
			mantissa = mantissa * 10 + (uint64_t)(*at - '0');
			count += mantissa != 0;
		} else {
			if (count == MAX_DIGITS)
				number->rounds_up = *at >= '5';
			count = MAX_DIGITS + 1;
			if (cut < MAX_EXPONENT)
				cut++;
		}
	}
	number->mantissa = mantissa;
	*digit_count = count;
	*ret_cut = cut;
	return at;
}

static const char *take_exponent(const char *at, struct decimal *number)
{
	const bool is_negative = *at == '-';
	if (*at == '-' || *at == '+')
		at++;
	if (!is_digit(*at))
		return NULL;
	int32_t exponent = 0;
	for (; is_digit(*at); at++)
		if (exponent < MAX_EXPONENT)
			exponent = exponent * 10 + (*at - '0');
	number->exponent += is_negative ? -exponent : exponent;
	return at;
}

/* nan, inf, infinity, in any case: C's printf and Python's json write them. */
static const char *take_not_finite(const char *at, struct decimal *number)
{
	static const char *const words[] = {"infinity", "inf", "nan"};
	for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
		size_t i = 0;
		while (words[w][i] && (at[i] | 0x20) == words[w][i])
			i++;
		if (words[w][i])
			continue;
		number->is_finite = false;
		number->is_strict = false;
		return at + i;
	}
	return NULL;
}

const char *decimal_parse(const char *at, struct decimal *ret)
{
	struct decimal number = {.is_finite = true, .is_strict = true};
	if (*at == '-') {
		number.is_negative = true;
		at++;
	} else if (*at == '+') {
		number.is_strict = false;
		at++;
	}
	int digit_count = 0;
	int32_t cut = 0;
	const char *integer = at;
	if (is_digit(*at)) {
		at = take_digits(at, &number, &digit_count, &cut);
		number.exponent = cut;
		number.is_strict &= *integer != '0' || at == integer + 1;
	} else if (*at != '.') {
		at = take_not_finite(at, &number);
		if (at)
			*ret = number;
		return at;
	} else {
		number.is_strict = false;
	}
	if (*at == '.') {
		const char *fraction = at + 1;
		at = take_digits(fraction, &number, &digit_count, &cut);
		if (at == fraction)
			return NULL;
		const ptrdiff_t length = at - fraction;
		if (length > MAX_EXPONENT)
			return NULL;
		number.exponent -= (int32_t)length - cut;
	}
	if (*at == 'e' || *at == 'E')
		at = take_exponent(at + 1, &number);
	if (at)
		*ret = number;
	return at;
}

bool decimal_from_text(const char *text, size_t length, struct decimal *ret)
{
	char copy[64];
	if (length == 0 || length >= sizeof copy)
		return false;
	memcpy(copy, text, length);
	copy[length] = '\0';
	return decimal_parse(copy, ret) == copy + length;
}

/* mantissa * 10^(exponent + shift) as an integer. */
static bool scale(const struct decimal *number, int32_t shift, int64_t *ret)
{
	if (!number->is_finite)
		return false;
	uint64_t value = number->mantissa;
	int32_t exponent = number->exponent + shift;
	if (exponent == 0) {
		if (number->rounds_up && __builtin_add_overflow(value, 1, &value))
			return false;
	} else if (exponent > 0) {
		for (; exponent > 0 && value != 0; exponent--)
			if (__builtin_mul_overflow(value, 10, &value))
				return false;
	} else if (exponent <= -(MAX_DIGITS + 1)) {
		value = 0; /* below a tenth, as the mantissa has 19 digits at most */
	} else {
		uint64_t divisor = 1;
		for (; exponent < 0; exponent++)
			divisor *= 10;
		const uint64_t rest = value % divisor;
		value = value / divisor + (rest >= divisor - rest);
	}
	if (value > (uint64_t)INT64_MAX)
		return false;
	*ret = number->is_negative ? -(int64_t)value : (int64_t)value;
	return true;
}

bool decimal_i64(const struct decimal *number, int64_t *ret)
{
	return scale(number, 0, ret);
}

bool decimal_us_to_ns(const struct decimal *number, int64_t *ret)
{
	return scale(number, 3, ret);
}
