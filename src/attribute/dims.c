#include "attribute/dims.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_blank(const char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

/* A list of sizes; a list of tensors (nested) counts as an input without sizes. */
static const char *read_sizes(const char *at, struct dims *dims)
{
	const uint32_t input = dims->count;
	uint32_t rank = 0;
	bool plain = true;
	int depth = 1;
	for (at++; *at && depth; at = skip_blank(at)) {
		if (*at == '[') {
			depth++;
			plain = false;
			at++;
		} else if (*at == ']') {
			depth--;
			at++;
		} else if (*at == ',' || *at == ' ') {
			at++;
		} else {
			char *end;
			errno = 0;
			const long long value = strtoll(at, &end, 10);
			if (end == at || errno || value < 0)
				return NULL;
			if (input < DIMS_MAX_INPUTS && rank < DIMS_MAX_RANK)
				dims->size[input][rank++] = value;
			at = end;
		}
	}
	if (depth)
		return NULL;
	if (input < DIMS_MAX_INPUTS) {
		dims->rank[input] = plain ? rank : 0;
		dims->count++;
	}
	return at;
}

static void read_first_type(const char *at, struct dims *dims)
{
	at = strchr(at, '"');
	if (!at)
		return;
	const char *end = strchr(++at, '"');
	const size_t length = end ? (size_t)(end - at) : 0;
	if (length && length < sizeof dims->type)
		memcpy(dims->type, at, length);
}

bool dims_read(const char *text, struct dims *ret)
{
	*ret = (struct dims){0};
	const char *at = skip_blank(text);
	if (*at++ != '[')
		return false;
	for (at = skip_blank(at); *at && *at != ']'; at = skip_blank(at)) {
		if (*at == ',') {
			at++;
		} else if (*at == '[') {
			at = read_sizes(at, ret);
			if (!at)
				return false;
		} else {
			return false;
		}
	}
	if (*at != ']')
		return false;
	const char *types = strchr(at, '\n');
	if (types)
		read_first_type(types + 1, ret);
	return true;
}

int64_t dims_elements(const struct dims *dims, uint32_t input)
{
	if (input >= dims->count || !dims->rank[input])
		return 0;
	int64_t product = 1;
	for (uint32_t d = 0; d < dims->rank[input]; d++)
		if (__builtin_mul_overflow(product, dims->size[input][d], &product))
			return 0;
	return product;
}
