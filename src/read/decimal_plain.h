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

/* Takes up to 8 digits into `*mantissa`; returns how many there were. */
static inline unsigned plain_take_eight(const char *at, uint64_t *mantissa)
{
	static const uint32_t scale[] = {
		1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
	uint64_t digits;
	memcpy(&digits, at, sizeof digits);
	digits ^= UINT64_C(0x3030303030303030);
	/* The high bit of each byte that is no digit; only the first must be exact. */
	const uint64_t others =
		((digits + UINT64_C(0x7676767676767676)) | digits) & UINT64_C(0x8080808080808080);
	const unsigned count = others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
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

/* decimal_parse for what it makes the same of; NULL for all that is less simple. */
static inline const char *decimal_parse_plain(const char *at, struct decimal *ret)
{
	uint64_t mantissa = 0;
	const bool is_negative = *at == '-';
	const char *integer = at + is_negative;
	const char *after = plain_take_digits(integer, &mantissa);
	int64_t digit_count = after - integer;
	int32_t exponent = 0;
	if (digit_count == 0 || (*integer == '0' && digit_count > 1))
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

#else

static inline const char *decimal_parse_plain(const char *at, struct decimal *ret)
{
	(void)at;
	(void)ret;
	return NULL;
}

#endif
