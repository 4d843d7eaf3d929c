/*
 * A stack of open ranges for each thread.  A pop without its push is ignored: the push came before
 * the recording.  A push without its pop is closed where the window of steps was.
 */
#include "collect/writer_ranges.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/protocol.h"
#include "collect/windows.h"
#include "collect/writer_file.h"
#include "collect/writer_names.h"
#include "collect/writer_places.h"

#define MAX_DEPTH 1024u /* deeper ranges are only counted, so that their pops find them */

/* Values of the schema's marker_kind and host_kind. */
enum {
	MARKER_OTHER,
	MARKER_STEP,
	MARKER_FORWARD,
	MARKER_BACKWARD,
	MARKER_OPTIMIZER,
	MARKER_CHECKPOINT,
	MARKER_RECOMPUTE,
};
#define NO_MARKER	0xff
#define HOST_ANNOTATION 1

struct marker {
	int64_t region, value;
	uint32_t name_id;
	uint8_t kind; /* or NO_MARKER */
};

struct range {
	int64_t start_ns;
	uint32_t name_id;
	struct marker marker;
};

struct stack {
	struct range *ranges;
	uint32_t depth, capacity;
	uint32_t beyond; /* ranges deeper than MAX_DEPTH */
};

static struct stack *stacks; /* by the thread's row */
static uint32_t stack_count;

static bool take_prefix(const char **text, const char *prefix)
{
	const size_t length = strlen(prefix);
	if (strncmp(*text, prefix, length) != 0)
		return false;
	*text += length;
	return true;
}

/* A whole number up to `end`; FILE_NULL if that is none. */
static int64_t take_number(const char **text, char end)
{
	char *after;
	const long long value = strtoll(*text, &after, 10);
	if (after == *text || (*after != end && *after))
		return FILE_NULL;
	*text = *after ? after + 1 : after;
	return value;
}

/* The text without what stands from `number` to `rest`: numbers go up for as long as training runs,
 * and are in the marker. */
static uint32_t put_without_number(const char *text, const char *number, const char *rest)
{
	char short_text[NOTE_TEXT_MAX + 1];
	snprintf(short_text, sizeof short_text, "%.*s%s", (int)(number - text), text, rest);
	return names_put_text(short_text);
}

/* What a range's text marks; `ret_name_id` gets the range's own name. */
static struct marker marker_of(const struct note *note, uint32_t *ret_name_id)
{
	struct marker marker = {.kind = NO_MARKER, .region = FILE_NULL, .value = FILE_NULL};
	const char *text = note->text;
	if (!take_prefix(&text, INQUEST_MARK_PREFIX)) {
		*ret_name_id = names_put_range(note->text, note->text_length);
		return marker;
	}
	const char *name = text;
	const char *number = NULL;
	if (take_prefix(&text, "step:")) {
		marker.kind = MARKER_STEP;
		number = text;
		marker.value = take_number(&text, '\0');
		name = "step";
	} else if (take_prefix(&text, "checkpoint:")) {
		marker.kind = MARKER_CHECKPOINT;
		number = text;
		marker.region = take_number(&text, ':');
		name = text;
	} else if (take_prefix(&text, "recompute:")) {
		marker.kind = MARKER_RECOMPUTE;
		number = text;
		marker.region = take_number(&text, ':');
		name = text;
	} else {
		marker.kind = strcmp(text, "forward") == 0     ? MARKER_FORWARD
			      : strcmp(text, "backward") == 0  ? MARKER_BACKWARD
			      : strcmp(text, "optimizer") == 0 ? MARKER_OPTIMIZER
							       : MARKER_OTHER;
	}
	marker.name_id = names_put_range(name, strlen(name));
	*ret_name_id = number ? put_without_number(note->text, number, text)
			      : names_put_range(note->text, note->text_length);
	return marker;
}

static struct stack *stack_of(uint32_t thread)
{
	if (thread >= stack_count) {
		const uint32_t count = thread + 64;
		struct stack *more = realloc(stacks, count * sizeof *stacks);
		if (!more)
			return NULL;
		memset(more + stack_count, 0, (count - stack_count) * sizeof *more);
		stacks = more;
		stack_count = count;
	}
	return &stacks[thread];
}

static void push(struct stack *stack, const struct note *note)
{
	if (stack->depth == stack->capacity && stack->capacity < MAX_DEPTH) {
		const uint32_t capacity = stack->capacity ? 2 * stack->capacity : 16;
		struct range *more = realloc(stack->ranges, capacity * sizeof *more);
		if (more) {
			stack->ranges = more;
			stack->capacity = capacity;
		}
	}
	if (stack->depth == stack->capacity || stack->beyond) {
		stack->beyond++;
		return;
	}
	struct range *range = &stack->ranges[stack->depth++];
	range->start_ns = note->at_ns;
	range->marker = marker_of(note, &range->name_id);
}

static void close_top(struct stack *stack, uint32_t thread, int64_t end_ns, int64_t base_ns)
{
	const struct range *range = &stack->ranges[--stack->depth];
	const struct marker *marker = &range->marker;
	const int64_t start = range->start_ns - base_ns;
	/* The clock may be set back. */
	const int64_t end = end_ns < range->start_ns ? start : end_ns - base_ns;
	FILE_ADD(FILE_HOST_OP, start, end, FILE_NULL, thread, range->name_id, 0, FILE_NULL,
		HOST_ANNOTATION);
	if (marker->kind != NO_MARKER)
		FILE_ADD(FILE_MARKER, start, end, marker->region, marker->value, thread,
			marker->name_id, marker->kind);
}

/* "inquest:value:NAME:NUMBER"; other marks are markers without a value, the text their name. */
static void mark(const struct note *note, uint32_t thread, int64_t base_ns)
{
	const char *text = note->text;
	if (!take_prefix(&text, INQUEST_MARK_PREFIX))
		return;
	const int64_t at = note->at_ns - base_ns;
	size_t length = strlen(text);
	int64_t value = FILE_NULL;
	if (take_prefix(&text, "value:")) {
		const char *colon = strrchr(text, ':');
		const char *number = colon ? colon + 1 : "";
		value = take_number(&number, '\0');
		length = colon ? (size_t)(colon - text) : strlen(text);
	}
	const uint32_t name_id = names_put_range(text, length);
	FILE_ADD(FILE_MARKER, at, at, FILE_NULL, value, thread, name_id, MARKER_OTHER);
}

void ranges_take(const struct note *note, int64_t base_ns)
{
	const uint32_t thread = places_thread((uint32_t)note->tid);
	struct stack *stack = stack_of(thread);
	if (!stack)
		return;
	int64_t closed_ns;
	while (stack->depth && windows_gap_between(stack->ranges[stack->depth - 1].start_ns,
				       note->at_ns, &closed_ns)) {
		stack->beyond = 0;
		close_top(stack, thread, closed_ns, base_ns);
	}
	if (note->kind == NOTE_PUSH)
		push(stack, note);
	else if (note->kind == NOTE_MARK)
		mark(note, thread, base_ns);
	else if (stack->beyond)
		stack->beyond--;
	else if (stack->depth)
		close_top(stack, thread, note->at_ns, base_ns);
}

uint32_t ranges_finish(int64_t at_ns, int64_t base_ns)
{
	uint32_t open_count = 0;
	for (uint32_t thread = 0; thread < stack_count; thread++)
		for (struct stack *stack = &stacks[thread]; stack->depth; open_count++) {
			int64_t end_ns = at_ns;
			(void)windows_gap_between(
				stack->ranges[stack->depth - 1].start_ns, at_ns, &end_ns);
			close_top(stack, thread, end_ns, base_ns);
		}
	return open_count;
}
