/*
 * A rules file of any bytes, and a name behind its first \x01.  Laws: what is refused names the
 * file and the line; what is taken gives each name the same class twice, one that its domain has,
 * and a unit that lies inside the name; and taking the same text again gives the same hash.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "classify/roles.h"
#include "classify/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_BYTES 4096

static void check_match(
	const struct rules *rules, enum rule_domain domain, const char *name, uint32_t length)
{
	static const uint32_t role_counts[] = {KERNEL_ROLE_COUNT, CALL_ROLE_COUNT, OP_ROLE_COUNT};
	struct rule_match once, twice;
	struct err err = {0}, again = {0};
	const bool ok = rules_match(rules, domain, name, length, &once, &err);
	if (ok != rules_match(rules, domain, name, length, &twice, &again))
		abort();
	if (!ok) {
		if (err.code != ERR_USAGE || !strstr(err.msg, "line "))
			abort();
		return;
	}
	if (once.role != twice.role || once.has_unit != twice.has_unit ||
		once.unit_start != twice.unit_start || once.unit_length != twice.unit_length)
		abort();
	if (once.role >= role_counts[domain] || once.unit_start > length ||
		once.unit_length > length - once.unit_start)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char text[MAX_BYTES + 1], name[MAX_BYTES + 1];
	size = size < MAX_BYTES ? size : MAX_BYTES;
	const uint8_t *border = size ? memchr(data, 1, size) : NULL;
	const size_t text_length = border ? (size_t)(border - data) : size;
	memcpy(text, data, text_length);
	text[text_length] = '\0';
	const uint32_t length = border ? (uint32_t)(size - text_length - 1) : 0;
	if (length)
		memcpy(name, border + 1, length);
	name[length] = '\0';

	struct err err = {0};
	struct rules *rules = rules_parse(text, "mine", &err);
	if (!rules) {
		if (err.code != ERR_USAGE || strncmp(err.msg, "mine: line ", 11) != 0)
			abort();
		return 0;
	}
	for (int domain = 0; domain < DOMAIN_COUNT; domain++)
		check_match(rules, (enum rule_domain)domain, name, length);
	struct rules *same = rules_parse(text, "mine", &err);
	if (!same || rules_hash(same) != rules_hash(rules))
		abort();
	rules_free(same);
	rules_free(rules);
	return 0;
}
