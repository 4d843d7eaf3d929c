/* Jansson with a sticky failure, clean texts and short numbers. */
#include "render/json_build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/table.h"
#include "base/text.h"

#define REPLACEMENT "\xef\xbf\xbd"

static json_t *noted(struct json_build *build, json_t *value)
{
	if (!value)
		build->has_failed = true;
	return value;
}

json_t *json_build_object(struct json_build *build)
{
	return noted(build, json_object());
}

json_t *json_build_array(struct json_build *build)
{
	return noted(build, json_array());
}

void json_build_put(struct json_build *build, json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value) != 0)
		build->has_failed = true;
}

void json_build_push(struct json_build *build, json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) != 0)
		build->has_failed = true;
}

/* Bytes of the UTF-8 sequence at `text`; 0 where there is none. */
static size_t sequence_length(const unsigned char *text)
{
	const unsigned char lead = text[0];
	size_t length = lead < 0x80		      ? 1
			: lead >= 0xc2 && lead < 0xe0 ? 2
			: lead >= 0xe0 && lead < 0xf0 ? 3
			: lead >= 0xf0 && lead < 0xf5 ? 4
						      : 0;
	for (size_t i = 1; i < length; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, and what is beyond Unicode. */
	if ((lead == 0xe0 && text[1] < 0xa0) || (lead == 0xed && text[1] > 0x9f) ||
		(lead == 0xf0 && text[1] < 0x90) || (lead == 0xf4 && text[1] > 0x8f))
		return 0;
	return length;
}

json_t *json_build_text(struct json_build *build, const char *text)
{
	json_t *plain = json_string(text);
	if (plain)
		return plain;
	struct text clean = {0};
	for (const char *at = text; *at;) {
		const size_t length = sequence_length((const unsigned char *)at);
		if (length)
			text_add_bytes(&clean, at, length);
		else
			text_add(&clean, REPLACEMENT);
		at += length ? length : 1;
	}
	plain = text_ok(&clean, NULL) && clean.bytes ? json_string(clean.bytes) : NULL;
	text_done(&clean);
	return noted(build, plain);
}

void json_build_word(struct json_build *build, json_t *object, const char *key, const char *word)
{
	json_build_put(build, object, key, json_build_text(build, word));
}

json_t *json_build_int(int64_t value)
{
	return value == NULL_I64 ? json_null() : json_integer(value);
}

json_t *json_build_int32(int32_t value)
{
	return value == NULL_I32 ? json_null() : json_integer(value);
}

json_t *json_build_number(double value)
{
	if (!isfinite(value))
		return json_null();
	if (fabs(value) < 1e15 && value == nearbyint(value))
		return json_integer((json_int_t)value);
	char digits[32];
	snprintf(digits, sizeof digits, "%.9g", value);
	return json_real(strtod(digits, NULL));
}

json_t *json_build_ns(double ns)
{
	return isfinite(ns) ? json_integer(llround(ns)) : json_null();
}

json_t *json_build_findings(struct json_build *build, const struct findings *findings)
{
	json_t *array = json_build_array(build);
	for (int kind = 0; kind < DIAG_KIND_COUNT; kind++) {
		const struct diag_row *row = &findings->diag.row[kind];
		if (!row->count)
			continue;
		json_t *item = json_build_object(build);
		json_build_put(build, item, "kind",
			json_build_text(build, diag_word((enum diag_kind)kind)));
		json_build_put(build, item, "severity",
			json_build_text(build, severity_word(diag_severity((enum diag_kind)kind))));
		json_build_put(build, item, "count", json_integer(row->count));
		if (findings->file[kind]) {
			json_t *first = json_build_object(build);
			json_build_put(
				build, first, "file", json_build_text(build, findings->file[kind]));
			json_build_put(build, first, "byte",
				row->first_byte < 0 ? json_null() : json_integer(row->first_byte));
			json_build_put(build, item, "first", first);
		}
		json_build_push(build, array, item);
	}
	return array;
}

static int add_to_text(const char *bytes, size_t length, void *text)
{
	text_add_bytes(text, bytes, length);
	return text_ok(text, NULL) ? 0 : -1;
}

char *json_build_print(struct json_build *build, json_t *root, struct err *err)
{
	struct text text = {0};
	if (!build->has_failed && json_dump_callback(root, add_to_text, &text,
					  JSON_INDENT(2) | JSON_REAL_PRECISION(12)) != 0)
		build->has_failed = true;
	json_decref(root);
	text_add(&text, "\n");
	if (!build->has_failed && text_ok(&text, err))
		return text.bytes;
	text_done(&text);
	err_set(err, ERR_NOMEM, "out of memory (printing JSON)");
	return NULL;
}
