/*
 * An open hash table of the texts in the file.  Texts are kept for as long as the process lives:
 * kernels and the like are some thousands, and texts of ranges are limited.
 */
#include "collect/writer_names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collect/writer_file.h"

#define MAX_BYTES   4096u /* mangled names of kernels are hundreds of bytes long */
#define SHOWN_SLOTS 4096u
#define MAX_RANGES  100000u /* texts, after which no more of ranges are taken in */

struct name {
	char *text;
	uint64_t hash;
	uint32_t length;
};

static struct name *names;
static uint32_t name_count, name_capacity;
static uint32_t *slots; /* id + 1; 0 is free */
static uint32_t slot_count;
static struct {
	const char *text;
	uint32_t id;
} shown[SHOWN_SLOTS];

static uint64_t hash_of(const char *text, size_t length)
{
	uint64_t hash = 14695981039346656037u;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
	return hash ^ hash >> 29;
}

static bool grow(void)
{
	const uint32_t capacity = name_capacity ? 2 * name_capacity : 1024;
	struct name *more = realloc(names, capacity * sizeof *names);
	if (!more)
		return false;
	names = more;
	uint32_t *wider = calloc(2 * (size_t)capacity, sizeof *wider);
	if (!wider)
		return false;
	free(slots);
	slots = wider;
	slot_count = 2 * capacity;
	name_capacity = capacity;
	for (uint32_t id = 0; id < name_count; id++) {
		uint32_t at = (uint32_t)names[id].hash & (slot_count - 1);
		while (slots[at])
			at = (at + 1) & (slot_count - 1);
		slots[at] = id + 1;
	}
	return true;
}

/* Bytes of the character at `text`; 0 if they are no UTF-8. */
static size_t character_bytes(const unsigned char *text, size_t left)
{
	if (text[0] < 0x80)
		return text[0] ? 1 : 0;
	const size_t bytes = text[0] >= 0xc2 && text[0] <= 0xdf	  ? 2
			     : text[0] >= 0xe0 && text[0] <= 0xef ? 3
			     : text[0] >= 0xf0 && text[0] <= 0xf4 ? 4
								  : 0;
	if (bytes == 0 || bytes > left)
		return 0;
	for (size_t i = 1; i < bytes; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	/* Too long a form, a surrogate, or beyond the last code point. */
	if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
		(text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
		return 0;
	return bytes;
}

static size_t clean(const char *text, size_t length, char *to)
{
	size_t at = 0;
	while (at < length && at < MAX_BYTES) {
		const size_t bytes = character_bytes((const unsigned char *)text + at, length - at);
		if (at + bytes > MAX_BYTES)
			break;
		if (bytes)
			memcpy(to + at, text + at, bytes);
		else
			to[at] = '?';
		at += bytes ? bytes : 1;
	}
	return at;
}

static uint32_t add(const char *text, size_t length, uint64_t hash, uint32_t at)
{
	char *copy = malloc(length + 1);
	if (!copy)
		return 0;
	memcpy(copy, text, length);
	copy[length] = '\0';
	names[name_count] = (struct name){.text = copy, .hash = hash, .length = (uint32_t)length};
	slots[at] = name_count + 1;
	file_add_string(name_count, copy, length);
	return name_count++;
}

/* `instead`, if that isn't NULL, is added where the text isn't known. */
static uint32_t find_or_add(const char *text, size_t length, const char *instead)
{
	/* Half of the slots at most are taken. */
	if (name_count == name_capacity && !grow())
		return 0;
	const uint64_t hash = hash_of(text, length);
	uint32_t at = (uint32_t)hash & (slot_count - 1);
	for (; slots[at]; at = (at + 1) & (slot_count - 1)) {
		const struct name *name = &names[slots[at] - 1];
		if (name->hash == hash && name->length == length &&
			memcmp(name->text, text, length) == 0)
			return slots[at] - 1;
	}
	return instead ? find_or_add(instead, strlen(instead), NULL) : add(text, length, hash, at);
}

static uint32_t put(const char *text, size_t length, const char *instead)
{
	char cleaned[MAX_BYTES];
	if (name_count == 0)
		find_or_add("", 0, NULL);
	return find_or_add(cleaned, clean(text, length, cleaned), instead);
}

uint32_t names_put(const char *text, size_t length)
{
	return put(text, length, NULL);
}

uint32_t names_put_range(const char *text, size_t length)
{
	return put(text, length, name_count < MAX_RANGES ? NULL : "(one of too many texts)");
}

uint32_t names_put_text(const char *text)
{
	return names_put(text ? text : "", text ? strlen(text) : 0);
}

uint32_t names_put_shown(const char *text)
{
	if (!text)
		return names_put_text(NULL);
	const uint32_t slot = (uint32_t)((uintptr_t)text * 11400714819323198485u >> 52);
	/* The address may show another text by now. */
	if (shown[slot].text == text && strcmp(names[shown[slot].id].text, text) == 0)
		return shown[slot].id;
	const uint32_t id = names_put_text(text);
	if (strcmp(names[id].text, text) == 0) {
		shown[slot].text = text;
		shown[slot].id = id;
	}
	return id;
}
