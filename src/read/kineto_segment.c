#include "read/kineto_segment.h"

#include <string.h>

#include "read/kineto_event.h"

/* Of what kinds the args are that a segment can say: those kept as texts. */
enum {
	SAYS_TEXT = 1,
	SAYS_RAW = 1,
	SAYS_WORD = 1,
	SAYS_INTEGER = 0,
	SAYS_TRIPLE = 0
};

static const uint64_t sayable =
#define X(name, key, kind) (uint64_t) SAYS_##kind << ARG_##name |
	EVENT_ARGS(X)
#undef X
		0;

void segments_init(struct arg_segments *segments)
{
	segments->count = 1; /* 0 is none */
}

static uint32_t mix(uint64_t hash)
{
	return (uint32_t)((hash * 0x9e3779b97f4a7c15u) >> 32);
}

/* What is said to come next, by the name's length and end, the key before, the last segments. */
static uint16_t *next_slot(struct arg_segments *segments, const struct json_scan *scan,
	const struct event *event, uint8_t start)
{
	uint64_t hash = 0;
	/* Before a name are at least the brace and its key, so that eight bytes can be read. */
	if (event_has_key(event, KEY_NAME) && event->name.length > 0)
		memcpy(&hash,
			byte_window_at(scan->window, event->name.offset + event->name.length) - 8,
			8);
	hash = (hash ^ (uint64_t)event->name.length << 56) * 0xff51afd7ed558ccdu;
	hash ^= (uint64_t)segments->last << 32 | (uint64_t)segments->before_last << 8 | start;
	return &segments->next[mix(hash ^ hash >> 29) % SEGMENT_SLOTS];
}

static void follow(struct arg_segments *segments, uint16_t number)
{
	segments->before_last = segments->last;
	segments->last = number;
}

bool segment_take(struct arg_segments *segments, struct json_scan *scan, struct event *event,
	struct segment_walk *walk)
{
	struct byte_window *window = scan->window;
	const uint16_t number = *next_slot(segments, scan, event, walk->key);
	const struct arg_segment *segment = &segments->segment[number];
	if (number == 0 || segment->start != walk->key || segment->depth != scan->depth ||
		segment->args & event->args || scan->repairs_quotes ||
		window->end - window->at < segment->length ||
		memcmp(window->at, segments->pool + segment->bytes, segment->length) != 0)
		return false;
	const uint64_t offset = byte_window_offset(window);
	for (uint32_t t = 0; t < segment->text_count; t++) {
		const struct segment_text *text = &segment->text[t];
		event->text[text->arg] =
			(struct json_text){offset + text->at, text->length, text->is_plain};
	}
	event->args |= segment->args;
	window->at += segment->length;
	scan->is_first = scan->is_in_array = false;
	walk->key = segment->end;
	follow(segments, number);
	return true;
}

static bool is_same(const struct arg_segments *segments, const struct arg_segment *a,
	const struct arg_segment *b, const char *bytes)
{
	return a->length == b->length && a->start == b->start && a->end == b->end &&
	       a->depth == b->depth && memcmp(segments->pool + a->bytes, bytes, a->length) == 0;
}

/* The slot of a segment as this one with these bytes, or the free one for it. */
static uint16_t *same_slot(
	struct arg_segments *segments, const struct arg_segment *segment, const char *bytes)
{
	uint64_t hash = segment->length, eight = 0;
	for (uint32_t i = 0; i + sizeof eight <= segment->length; i += sizeof eight) {
		memcpy(&eight, bytes + i, sizeof eight);
		hash = (hash ^ eight) * 0xff51afd7ed558ccdu;
		hash ^= hash >> 29;
	}
	for (uint32_t at = mix(hash);; at++) {
		uint16_t *slot = &segments->same[at % SEGMENT_SLOTS];
		if (*slot == 0 || is_same(segments, &segments->segment[*slot], segment, bytes))
			return slot;
	}
}

/* Which args the segment says, and where; false if it can't say them all. */
static bool take_texts(
	struct arg_segment *segment, const struct event *event, const struct segment_walk *walk)
{
	segment->args = event->args & ~walk->args;
	/* A number that is none takes back what an earlier one said. */
	if (event->met & ~sayable)
		return false;
	for (uint64_t left = segment->args; left; left &= left - 1) {
		if (segment->text_count == SEGMENT_TEXTS)
			return false;
		const uint8_t arg = (uint8_t)__builtin_ctzll(left);
		const struct json_text *text = &event->text[arg];
		segment->text[segment->text_count++] =
			(struct segment_text){(uint16_t)(text->offset - walk->from),
				(uint16_t)text->length, arg, text->is_plain};
	}
	return true;
}

/* Adds a segment that isn't known yet; 0 if there is no room. */
static uint16_t add(
	struct arg_segments *segments, const struct arg_segment *segment, const char *bytes)
{
	if (segments->count == SEGMENT_COUNT ||
		segment->length > SEGMENT_POOL_BYTES - segments->pool_used)
		return 0;
	struct arg_segment *added = &segments->segment[segments->count];
	*added = *segment;
	added->bytes = segments->pool_used;
	memcpy(segments->pool + segments->pool_used, bytes, segment->length);
	segments->pool_used += segment->length;
	segments->is_start[segment->start] = true;
	return (uint16_t)segments->count++;
}

static void learn(struct arg_segments *segments, const struct json_scan *scan,
	const struct event *event, const struct segment_walk *walk, uint8_t key, uint64_t end)
{
	const uint64_t length = end - walk->from;
	/* What was noted is to be noted each time. */
	if (scan->has_notes || scan->repairs_quotes || scan->window->hold > walk->from ||
		length > UINT16_MAX || walk->start == 0)
		return;
	struct arg_segment segment = {
		.length = (uint16_t)length, .start = walk->start, .end = key, .depth = scan->depth};
	if (!take_texts(&segment, event, walk))
		return;
	const char *bytes = byte_window_at(scan->window, walk->from);
	uint16_t *slot = same_slot(segments, &segment, bytes);
	if (*slot == 0)
		*slot = add(segments, &segment, bytes);
	*next_slot(segments, scan, event, walk->start) = *slot;
	follow(segments, *slot);
}

void segment_begin(struct segment_walk *walk, struct event *event, uint8_t key, uint64_t at)
{
	event->met = 0;
	*walk = (struct segment_walk){
		.key = walk->key, .is_inside = true, .start = key, .from = at, .args = event->args};
}

void segment_end(struct arg_segments *segments, const struct json_scan *scan,
	const struct event *event, struct segment_walk *walk, uint8_t key, uint64_t end,
	bool is_learnt)
{
	if (is_learnt)
		learn(segments, scan, event, walk, key, end);
	walk->is_inside = false;
}
