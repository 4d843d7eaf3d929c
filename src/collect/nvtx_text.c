/*
 * Texts of NVTX.  Registered texts and domain names live in one store of fixed size that only
 * grows, because a handle must stay good until the process ends and registering must not take a
 * lock.  A handle is an entry's address: anything outside the store is another tool's handle, or
 * none, and is not looked at.
 */
#include "collect/nvtx_text.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define STORE_BYTES  (256 * 1024) /* untouched pages cost nothing */
#define ENTRY_ALIGN  16
#define DOMAIN_MAGIC UINT32_C(0x6d6f6444)
#define TEXT_MAGIC   UINT32_C(0x74786554)

enum {
	MESSAGE_BYTES = 1,
	MESSAGE_WIDE = 2,
	MESSAGE_REGISTERED = 3,
};

enum {
	PAYLOAD_U64 = 1,
	PAYLOAD_I64 = 2,
	PAYLOAD_F64 = 3,
	PAYLOAD_U32 = 4,
	PAYLOAD_I32 = 5,
	PAYLOAD_F32 = 6,
};

/* Where the message ends: NVTX's clients say how much of the structure they filled. */
#define SIZE_WITH_MESSAGE (offsetof(struct nvtx_attributes, message) + sizeof(void *))

struct entry {
	uint32_t magic, length;
	char text[];
};

static _Alignas(ENTRY_ALIGN) unsigned char store[STORE_BYTES];
static _Atomic size_t store_used;
static const char no_room; /* its address is the handle when the store is full */

static const void *keep(uint32_t magic, const char *text, size_t length)
{
	size_t size =
		(sizeof(struct entry) + length + 1 + ENTRY_ALIGN - 1) & ~(size_t)(ENTRY_ALIGN - 1);
	/* Looked at first, so that clients that register for ever can't wrap the count around. */
	bool full = atomic_load_explicit(&store_used, memory_order_relaxed) > STORE_BYTES - size;
	size_t at = full ? STORE_BYTES
			 : atomic_fetch_add_explicit(&store_used, size, memory_order_relaxed);
	if (at > STORE_BYTES - size)
		return &no_room;
	struct entry *entry = (struct entry *)(store + at);
	memcpy(entry->text, text, length);
	entry->text[length] = '\0';
	entry->length = (uint32_t)length;
	entry->magic = magic;
	return entry;
}

static const struct entry *entry_of(const void *handle, uint32_t magic)
{
	uintptr_t at = (uintptr_t)handle - (uintptr_t)store;
	if (at >= STORE_BYTES || at % ENTRY_ALIGN != 0)
		return NULL;
	const struct entry *entry = handle;
	return entry->magic == magic ? entry : NULL;
}

const void *nvtx_domain_handle(const char *name)
{
	return keep(DOMAIN_MAGIC, name ? name : "", name ? strnlen(name, NOTE_TEXT_MAX) : 0);
}

const void *nvtx_text_handle(const char *text)
{
	return keep(TEXT_MAGIC, text ? text : "", text ? strnlen(text, NOTE_TEXT_MAX) : 0);
}

const void *nvtx_domain_handle_wide(const wchar_t *name)
{
	struct note note;
	nvtx_put_wide(&note, name);
	return keep(DOMAIN_MAGIC, note.text, note.text_length);
}

const void *nvtx_text_handle_wide(const wchar_t *text)
{
	struct note note;
	nvtx_put_wide(&note, text);
	return keep(TEXT_MAGIC, note.text, note.text_length);
}

static void end_text(struct note *note, size_t length)
{
	note->text[length] = '\0';
	note->text_length = (uint8_t)length;
}

static size_t append(struct note *note, size_t length, const char *text, size_t count)
{
	size_t room = NOTE_TEXT_MAX - length;
	size_t taken = count < room ? count : room;
	memcpy(note->text + length, text, taken);
	return length + taken;
}

/* UTF-8, a character at a time; what is no character becomes '?', what doesn't fit ends it. */
static size_t append_wide(struct note *note, size_t length, const wchar_t *text)
{
	for (; text && *text; text++) {
		uint32_t c = (uint32_t)*text;
		if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
			c = '?';
		size_t bytes = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
		if (length + bytes > NOTE_TEXT_MAX)
			break;
		static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
		for (size_t i = bytes; i-- > 1; c >>= 6)
			note->text[length + i] = (char)(0x80 | (c & 0x3f));
		note->text[length] = (char)(first[bytes] | c);
		length += bytes;
	}
	return length;
}

void nvtx_put_bytes(struct note *ret_note, const char *text)
{
	size_t length = text ? strnlen(text, NOTE_TEXT_MAX) : 0;
	end_text(ret_note, append(ret_note, 0, text ? text : "", length));
}

void nvtx_put_wide(struct note *ret_note, const wchar_t *text)
{
	end_text(ret_note, append_wide(ret_note, 0, text));
}

/* By hand, since printf's way would be most of the note's cost. */
static size_t append_number(struct note *note, size_t length, bool negative, uint64_t magnitude)
{
	char digits[24];
	size_t at = sizeof digits;
	digits[--at] = ']';
	do
		digits[--at] = (char)('0' + magnitude % 10);
	while (magnitude /= 10);
	if (negative)
		digits[--at] = '-';
	length = append(note, length, " [", 2);
	return append(note, length, digits + at, sizeof digits - at);
}

static size_t append_signed(struct note *note, size_t length, int64_t number)
{
	uint64_t magnitude = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
	return append_number(note, length, number < 0, magnitude);
}

static size_t append_real(struct note *note, size_t length, double number)
{
	if (number > -1e15 && number < 1e15 && number == (double)(int64_t)number)
		return append_signed(note, length, (int64_t)number);
	char text[40];
	int count = snprintf(text, sizeof text, " [%.9g]", number);
	return count > 0 ? append(note, length, text, (size_t)count) : length;
}

/* Any other kind is binary, with a schema that only the extension's own entry would tell. */
static size_t append_payload(struct note *note, size_t length, const struct nvtx_attributes *from)
{
	switch (from->payload_kind) {
	case PAYLOAD_U64:
		return append_number(note, length, false, from->payload.u64);
	case PAYLOAD_I64:
		return append_signed(note, length, from->payload.i64);
	case PAYLOAD_F64:
		return append_real(note, length, from->payload.f64);
	case PAYLOAD_U32:
		return append_number(note, length, false, from->payload.u32);
	case PAYLOAD_I32:
		return append_signed(note, length, from->payload.i32);
	case PAYLOAD_F32:
		return append_real(note, length, (double)from->payload.f32);
	default:
		return length;
	}
}

static bool has_message(const struct nvtx_attributes *attributes)
{
	return attributes && attributes->size >= SIZE_WITH_MESSAGE;
}

const char *nvtx_message(const struct nvtx_attributes *attributes)
{
	if (!has_message(attributes))
		return NULL;
	if (attributes->message_kind == MESSAGE_BYTES)
		return attributes->message.bytes;
	if (attributes->message_kind != MESSAGE_REGISTERED)
		return NULL;
	const struct entry *entry = entry_of(attributes->message.handle, TEXT_MAGIC);
	return entry ? entry->text : "?";
}

void nvtx_put_event(
	struct note *ret_note, const void *domain, const struct nvtx_attributes *attributes)
{
	size_t length = 0;
	const struct entry *name = domain ? entry_of(domain, DOMAIN_MAGIC) : NULL;
	if (name)
		length = append(ret_note, length, name->text, name->length);
	else if (domain)
		length = append(ret_note, length, "?", 1);
	if (domain)
		length = append(ret_note, length, ":", 1);
	const char *message = nvtx_message(attributes);
	if (message)
		length = append(ret_note, length, message, strnlen(message, NOTE_TEXT_MAX));
	else if (has_message(attributes) && attributes->message_kind == MESSAGE_WIDE)
		length = append_wide(ret_note, length, attributes->message.wide);
	if (has_message(attributes))
		length = append_payload(ret_note, length, attributes);
	end_text(ret_note, length);
}
