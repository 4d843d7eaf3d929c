/*
 * The usual number, eight digits at a time: a sign, digits, perhaps a point and more digits.  Needs
 * eight bytes that can be read behind the number's last, as a byte window has them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "read/decimal.h"

#define PLAIN_MOST_DIGITS 18 /* any number of so many digits fits 64 bits with a sign */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

/* How many of the next 8 bytes are digits, and their values. */
static inline unsigned plain_count_eight(const char *at, uint64_t *ret_digits)
{
	uint64_t digits;
	memcpy(&digits, at, sizeof digits);
	digits ^= UINT64_C(0x3030303030303030);
	/* The high bit of each byte that is no digit; only the first must be exact. */
	const uint64_t others =
		((digits + UINT64_C(0x7676767676767676)) | digits) & UINT64_C(0x8080808080808080);
	*ret_digits = digits;
	return others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
}

/* Takes up to 8 digits into `*mantissa`; returns how many there were. */
static inline unsigned plain_take_eight(const char *at, uint64_t *mantissa)
{
	static const uint32_t scale[] = {
		1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
	uint64_t digits;
	const unsigned count = plain_count_eight(at, &digits);
	if (count == 0)
		return 0;
	/* Leading zeros for what is missing; then pairs, fours and eights are summed up. */
	digits <<= 64 - 8 * count;
	digits = digits * 10 + (digits >> 8);
	digits = ((digits & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064) +
			 (digits >> 16 & UINT64_C(0x000000ff000000ff)) *
				 UINT64_C(0x0000271000000001)) >>
		 32;
	*mantissa = *mantissa * scale[count] + digits;
	return count;
}

/* The same for all digits; more than PLAIN_MOST_DIGITS of them make no sense of `*mantissa`. */
static inline const char *plain_take_digits(const char *at, uint64_t *mantissa)
{
	unsigned count;
	do {
		count = plain_take_eight(at, mantissa);
		at += count;
	} while (count == 8);
	return at;
}

/* The end of the digits at `at`. */
static inline const char *plain_pass_digits(const char *at)
{
	uint64_t digits;
	unsigned count;
	do {
		count = plain_count_eight(at, &digits);
		at += count;
	} while (count == 8);
	return at;
}

/* Whether the digits from `integer` to `after` are a number so far: some, without a zero before. */
static inline bool plain_is_integer(const char *integer, const char *after)
{
	return after - integer == 1 || (after != integer && *integer != '0');
}

/* decimal_parse for what it makes the same of; NULL for all that is less simple. */
static inline const char *decimal_parse_plain(const char *at, struct decimal *ret)
{
	uint64_t mantissa = 0;
	const bool is_negative = *at == '-';
	const char *integer = at + is_negative;
	const char *after = plain_take_digits(integer, &mantissa);
	int64_t digit_count = after - integer;
	int32_t exponent = 0;
	if (!plain_is_integer(integer, after))
		return NULL;
	if (*after == '.') {
		const char *fraction = after + 1;
		after = plain_take_digits(fraction, &mantissa);
		if (after == fraction)
			return NULL;
		digit_count += after - fraction;
		exponent = (int32_t)(fraction - after);
	}
	if (digit_count > PLAIN_MOST_DIGITS || (*after | 0x20) == 'e')
		return NULL;
	*ret = (struct decimal){.mantissa = mantissa,
		.exponent = exponent,
		.is_negative = is_negative,
		.is_finite = true,
		.is_strict = true};
	return after;
}

/* The end of what decimal_parse_plain takes. */
static inline const char *decimal_pass_plain(const char *at)
{
	const char *integer = at + (*at == '-');
	const char *after = plain_pass_digits(integer);
	int64_t digit_count = after - integer;
	if (!plain_is_integer(integer, after))
		return NULL;
	if (*after == '.') {
		const char *fraction = after + 1;
		after = plain_pass_digits(fraction);
		if (after == fraction)
			return NULL;
		digit_count += after - fraction;
	}
	return digit_count > PLAIN_MOST_DIGITS || (*after | 0x20) == 'e' ? NULL : after;
}

/* The same for integers alone, with what they are. */
static inline const char *decimal_plain_integer(const char *at, int64_t *ret)
{
	uint64_t mantissa = 0;
	const bool is_negative = *at == '-';
	const char *integer = at + is_negative;
	const char *after = plain_take_digits(integer, &mantissa);
	if (!plain_is_integer(integer, after) || after - integer > PLAIN_MOST_DIGITS ||
		*after == '.' || (*after | 0x20) == 'e')
		return NULL;
	*ret = is_negative ? -(int64_t)mantissa : (int64_t)mantissa;
	return after;
}

/* The same for numbers with three decimals and no sign, in thousandths. */
static inline const char *decimal_plain_thousandths(const char *at, int64_t *ret)
{
	uint64_t whole = 0, digits;
	const char *after = plain_take_digits(at, &whole);
	if (!plain_is_integer(at, after) || after - at > PLAIN_MOST_DIGITS - 3 || *after != '.' ||
		plain_count_eight(after + 1, &digits) != 3 || (after[4] | 0x20) == 'e')
		return NULL;
	const uint64_t thousandths =
		(digits & 0xff) * 100 + (digits >> 8 & 0xff) * 10 + (digits >> 16 & 0xff);
	*ret = (int64_t)(whole * 1000 + thousandths);
	return after + 4;
}

#else

static inline const char *decimal_parse_plain(const char *at, struct decimal *ret)
{
	(void)at;
	(void)ret;
	return NULL;
}

static inline const char *decimal_pass_plain(const char *at)
{
	(void)at;
	return NULL;
}

static inline const char *decimal_plain_integer(const char *at, int64_t *ret)
{
	(void)at;
	(void)ret;
	return NULL;
}

static inline const char *decimal_plain_thousandths(const char *at, int64_t *ret)
{
	(void)at;
	(void)ret;
	return NULL;
}

#endif
