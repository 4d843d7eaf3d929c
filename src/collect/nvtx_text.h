/*
 * Texts that NVTX's clients hand over: registered once and named by a handle, wide, or with a
 * number beside them; and the domains they belong to.  Handles are checked, never trusted.
 */
#pragma once

#include <stdint.h>
#include <wchar.h>

#include "collect/notes.h"

/* The attributes of an event, as NVTX 2 and 3 lay them out. */
struct nvtx_attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t color_kind;
	uint32_t color;
	int32_t payload_kind, reserved;
	union {
		uint64_t u64;
		int64_t i64;
		double f64;
		uint32_t u32;
		int32_t i32;
		float f32;
	} payload;
	int32_t message_kind;
	union {
		const char *bytes;
		const wchar_t *wide;
		const void *handle;
	} message;
};

/* Handles for a domain's name and for a registered text, kept for the life of the process; a full
 * store gives handles that read as "?", as foreign ones do. */
const void *nvtx_domain_handle(const char *name);
const void *nvtx_text_handle(const char *text);

/* The same for wide texts. */
const void *nvtx_domain_handle_wide(const wchar_t *name);
const void *nvtx_text_handle_wide(const wchar_t *text);

/* Writes a text into a note; NULL reads as empty. */
void nvtx_put_bytes(struct note *ret_note, const char *text);
void nvtx_put_wide(struct note *ret_note, const wchar_t *text);

/* Writes the domain's name (nothing for NULL, the default), the message and the number. */
void nvtx_put_event(
	struct note *ret_note, const void *domain, const struct nvtx_attributes *attributes);

/* The message where it is bytes or a registered text, else NULL. */
const char *nvtx_message(const struct nvtx_attributes *attributes);
