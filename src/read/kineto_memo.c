#include "read/kineto_memo.h"

#include "read/kineto_event.h"

/* What stands in the window from `offset` up to here; NULL if that is not remembered. */
static const char *bytes_since(const struct json_scan *scan, uint64_t offset, uint64_t *ret_length)
{
	*ret_length = byte_window_offset(scan->window) - offset;
	if (*ret_length > KNOWN_BYTES_MOST || scan->window->hold > offset)
		return NULL;
	/* What was noted is to be noted each time. */
	return scan->has_notes ? NULL : byte_window_at(scan->window, offset);
}

/* The first that fits from `first` on, round all of them; NULL if none does. */
static struct event_memo *find(struct event_memo *memos, uint32_t count, uint32_t first,
	const char *at, uint32_t *ret_number)
{
	for (uint32_t tried = 0, number = first; tried < count; tried++) {
		if (known_bytes_are_at(&memos[number].known, at)) {
			*ret_number = number;
			return &memos[number];
		}
		number = number + 1 < count ? number + 1 : 0;
	}
	return NULL;
}

bool memo_take_head(
	struct event_memos *memos, struct json_scan *scan, struct event *event, uint8_t *ret_at)
{
	if (scan->problem || scan->repairs_quotes || scan->depth == JSON_MAX_DEPTH)
		return false;
	uint32_t number;
	uint8_t *next = &memos->next_head[memos->head_before][memos->last_head];
	const struct event_memo *head =
		find(memos->head, memos->head_count, *next, scan->window->at, &number);
	if (!head)
		return false;
	*next = (uint8_t)number;
	memos->head_before = memos->last_head;
	memos->last_head = (uint8_t)number;
	scan->window->at += head->known.length;
	scan->depth++;
	scan->is_first = scan->is_in_array = false;
	event->keys = head->keys;
	event->ph = head->ph;
	event->class = (enum event_class)head->class;
	event->cat = (struct json_text){event->offset + head->cat_at, head->cat_length, true};
	*ret_at = head->at;
	return true;
}

void memo_learn_head(
	struct event_memos *memos, struct json_scan *scan, const struct event *event, uint8_t at)
{
	const uint64_t allowed = (uint64_t)1 << KEY_PH | (uint64_t)1 << KEY_CAT;
	uint64_t length;
	const char *bytes = bytes_since(scan, event->offset, &length);
	/* A number or a word as the last value could go on. */
	if (at == 0 || memos->head_count == EVENT_MEMOS || event->keys & ~allowed || !bytes ||
		bytes[length - 1] != '"')
		return;
	const bool has_cat = event_has_key(event, KEY_CAT);
	if (has_cat && !event->cat.is_plain)
		return;
	struct event_memo *head = &memos->head[memos->head_count++];
	known_bytes_set(&head->known, bytes, length);
	head->keys = event->keys;
	head->ph = event->ph;
	head->class = (uint8_t)event->class;
	head->cat_at = has_cat ? (uint8_t)(event->cat.offset - event->offset) : 0;
	head->cat_length = has_cat ? (uint8_t)event->cat.length : 0;
	head->at = at;
}

bool memo_take_place(
	struct event_memos *memos, struct json_scan *scan, struct event *event, uint8_t *ret_at)
{
	uint32_t number;
	uint8_t *usual = &memos->usual_place[memos->last_head];
	if (scan->repairs_quotes)
		return false;
	const struct event_memo *place =
		find(memos->place, memos->place_count, *usual, scan->window->at, &number);
	if (!place)
		return false;
	*usual = (uint8_t)number;
	scan->window->at += place->known.length;
	scan->is_in_array = false;
	event->keys |= place->keys;
	event->pid.number = place->pid;
	event->tid.number = place->tid;
	*ret_at = place->at;
	return true;
}

void memo_learn_place(struct event_memos *memos, struct json_scan *scan, const struct event *event,
	uint64_t offset, uint8_t at)
{
	uint64_t length;
	const char *bytes = bytes_since(scan, offset, &length);
	const bool has_numbers = event->pid.number != NULL_I64 && event->tid.number != NULL_I64 &&
				 event->pid.text.length + event->tid.text.length == 0;
	if (at == 0 || memos->place_count == EVENT_MEMOS || !bytes || !has_numbers)
		return;
	struct event_memo *place = &memos->place[memos->place_count++];
	known_bytes_set(&place->known, bytes, length);
	place->keys = (uint64_t)1 << KEY_PID | (uint64_t)1 << KEY_TID;
	place->pid = event->pid.number;
	place->tid = event->tid.number;
	place->at = at;
}
