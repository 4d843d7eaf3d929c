#include "read/kineto_event.h"

#include <stddef.h>
#include <string.h>

enum value_kind {
	VALUE_TEXT,
	VALUE_PLACE,   /* pid, tid */
	VALUE_TIME,    /* decimal microseconds */
	VALUE_ARGS,    /* the object of arguments */
	VALUE_INTEGER, /* also in quotes */
	VALUE_TRIPLE,  /* [x, y, z] */
	VALUE_RAW,     /* any value, kept as it stands */
	VALUE_WORD,    /* false, or "false" */
};

static const uint8_t arg_kinds[] = {
#define X(name, key, kind) VALUE_##kind,
	EVENT_ARGS(X)
#undef X
};

_Static_assert(KEYS_OF_ARGS + EVENT_METADATA < KEYS_KINDS, "each class has args of its own");
_Static_assert(KEY_COUNT <= 64 && ARG_COUNT <= 64, "presence is kept in 64 bits");

static void count(struct event_dirt *dirt, uint8_t *counter)
{
	dirt->has_any = true;
	if (*counter < UINT8_MAX)
		++*counter;
}

bool event_read_integer(struct json_scan *scan, struct event_dirt *dirt, int64_t *ret)
{
	struct decimal number;
	if (json_take_integer(scan, ret))
		return true;
	*ret = NULL_I64;
	switch (json_peek(scan)) {
	case SCAN_NUMBER:
		if (!json_read_number(scan, &number))
			return false;
		break;
	case SCAN_TEXT: {
		struct json_text text;
		if (!json_read_text(scan, &text))
			return false;
		/* Texts that are no numbers, as a stream's address, just don't say. */
		if (decimal_from_text(json_text_bytes(scan, &text), text.length, &number))
			break;
		return true;
	}
	case SCAN_NULL:
		return json_skip(scan);
	default:
		count(dirt, &dirt->bad_fields);
		return json_skip(scan);
	}
	if (number.is_finite && !decimal_i64(&number, ret))
		count(dirt, &dirt->big_numbers);
	return true;
}

/* Decimal microseconds to nanoseconds. */
static bool read_unusual_time(struct json_scan *scan, struct event_dirt *dirt, int64_t *ret)
{
	struct decimal number;
	*ret = NULL_I64;
	if (json_take_number(scan, &number)) {
		if (!decimal_us_to_ns(&number, ret))
			count(dirt, &dirt->big_numbers);
		return true;
	}
	const enum json_kind kind = json_peek(scan);
	if (kind == SCAN_NUMBER) {
		if (!json_read_number(scan, &number))
			return false;
	} else if (kind == SCAN_TEXT) {
		struct json_text text;
		if (!json_read_text(scan, &text))
			return false;
		if (!decimal_from_text(json_text_bytes(scan, &text), text.length, &number))
			return true;
	} else {
		return json_skip(scan);
	}
	if (number.is_finite && !decimal_us_to_ns(&number, ret))
		count(dirt, &dirt->big_numbers);
	return true;
}

static inline bool read_time(struct json_scan *scan, struct event_dirt *dirt, int64_t *ret)
{
	return json_take_thousandths(scan, ret) || read_unusual_time(scan, dirt, ret);
}

static inline bool read_integer(struct json_scan *scan, struct event_dirt *dirt, int64_t *ret)
{
	return json_take_integer(scan, ret) || event_read_integer(scan, dirt, ret);
}

static inline bool skip_value(struct json_scan *scan)
{
	return json_pass_number(scan) || json_skip(scan);
}

static bool read_place(struct json_scan *scan, struct event_dirt *dirt, struct event_place *ret)
{
	ret->number = NULL_I64;
	ret->text = (struct json_text){0};
	if ((unsigned char)(*scan->window->at - '0') < 10 || json_peek(scan) != SCAN_TEXT)
		return event_read_integer(scan, dirt, &ret->number);
	struct decimal number;
	if (!json_read_text(scan, &ret->text))
		return false;
	if (decimal_from_text(json_text_bytes(scan, &ret->text), ret->text.length, &number) &&
		!decimal_i64(&number, &ret->number))
		count(dirt, &dirt->big_numbers);
	return true;
}

/* A triple as Kineto writes it, in one go. */
static bool take_triple(struct json_scan *scan, uint32_t *ret)
{
	const char *at = scan->window->at;
	for (int i = 0; i < 3; i++) {
		int64_t value;
		if (*at != (i == 0 ? '[' : ','))
			return false;
		at = decimal_plain_integer(at + 1 + (at[1] == ' '), &value);
		if (!at || value < 0 || value >= NULL_U32)
			return false;
		ret[i] = (uint32_t)value;
	}
	return *at == ']' && scan->depth < JSON_MAX_DEPTH && json_take_to(scan, at + 1);
}

static bool read_triple(struct json_scan *scan, struct event_dirt *dirt, uint32_t *ret)
{
	if (take_triple(scan, ret))
		return true;
	for (int i = 0; i < 3; i++)
		ret[i] = NULL_U32;
	if (json_peek(scan) != SCAN_ARRAY) {
		count(dirt, &dirt->bad_fields);
		return json_skip(scan);
	}
	if (!json_enter_array(scan))
		return false;
	for (int i = 0; json_next_item(scan); i++) {
		int64_t value;
		if (!event_read_integer(scan, dirt, &value))
			return false;
		if (i < 3 && value >= 0 && value < NULL_U32)
			ret[i] = (uint32_t)value;
	}
	return !scan->problem;
}

/* A value as it stands: a text without its quotes, anything else with its brackets. */
static bool read_raw(struct json_scan *scan, struct json_text *ret)
{
	if (json_take_text(scan, ret))
		return true;
	if (json_peek(scan) == SCAN_TEXT)
		return json_read_text(scan, ret);
	const uint64_t offset = byte_window_offset(scan->window);
	if (!json_skip(scan))
		return false;
	const uint64_t length = byte_window_offset(scan->window) - offset;
	*ret = (struct json_text){offset, (uint32_t)length, false};
	return true;
}

static bool read_arg(
	struct json_scan *scan, struct event_dirt *dirt, enum event_arg arg, struct event *event)
{
	const uint64_t bit = (uint64_t)1 << arg;
	if (event->args & bit)
		count(dirt, &dirt->duplicate_keys);
	event->args |= bit;
	event->met |= bit;
	switch ((enum value_kind)arg_kinds[arg]) {
	case VALUE_INTEGER:
		if (!read_integer(scan, dirt, &event->integer[arg]))
			return false;
		if (event->integer[arg] == NULL_I64)
			event->args &= ~bit;
		return true;
	case VALUE_TRIPLE:
		return read_triple(scan, dirt, arg == ARG_GRID ? event->grid : event->block);
	default:
		/* Process group names were numbers once; they serve as they stand. */
		return read_raw(scan, &event->text[arg]);
	}
}

static bool read_args(struct json_scan *scan, struct event_memory *memory, struct event_dirt *dirt,
	struct event *event)
{
	if (*scan->window->at != '{' && json_peek(scan) != SCAN_OBJECT)
		return json_skip(scan);
	if (!json_enter_object(scan))
		return false;
	const enum key_object object = (enum key_object)(KEYS_OF_ARGS + event->class);
	struct segment_walk walk = {.key = key_start(object)};
	for (int arg; (arg = segment_next_key(&memory->segments, &memory->keys, object, scan, event,
			       &walk, !dirt->has_any)) >= KEY_OTHER;) {
		if (!(arg < 0 ? skip_value(scan)
			      : read_arg(scan, dirt, (enum event_arg)arg, event)))
			return false;
	}
	return !scan->problem;
}

/* X(category, class).  The capitalised ones are those of PyTorch 1.8 to 1.12. */
#define CATEGORIES(X)                      \
	X("cpu_op", HOST_OP)               \
	X("python_function", PYTHON)       \
	X("kernel", KERNEL)                \
	X("cuda_runtime", API_CALL)        \
	X("cuda_driver", API_CALL)         \
	X("user_annotation", ANNOTATION)   \
	X("gpu_memcpy", MEMCPY)            \
	X("gpu_memset", MEMSET)            \
	X("gpu_user_annotation", IGNORED)  \
	X("cuda_sync", SYNC)               \
	X("overhead", IGNORED)             \
	X("Trace", IGNORED)                \
	X("hip_runtime", API_CALL)         \
	X("hip_driver", API_CALL)          \
	X("external_correlation", IGNORED) \
	X("cuda_event", IGNORED)           \
	X("cuda_profiler_range", IGNORED)  \
	X("collective_comm", IGNORED)      \
	X("hardware_counters", IGNORED)    \
	X("Operator", HOST_OP)             \
	X("Kernel", KERNEL)                \
	X("Runtime", API_CALL)             \
	X("Memcpy", MEMCPY)                \
	X("Memset", MEMSET)

static enum event_class class_of_category(const struct json_scan *scan, const struct json_text *cat)
{
	static const struct {
		const char *text;
		uint8_t length;
		uint8_t class;
	} categories[] = {
#define X(text, class) {text, sizeof text - 1, EVENT_##class},
		CATEGORIES(X)
#undef X
	};
	const char *text = json_text_bytes(scan, cat);
	for (size_t c = 0; c < sizeof categories / sizeof *categories; c++)
		if (categories[c].length == cat->length &&
			memcmp(text, categories[c].text, cat->length) == 0)
			return (enum event_class)categories[c].class;
	return EVENT_UNKNOWN;
}

/* What the event is, as soon as `ph` and, where it matters, `cat` are known. */
static void classify(const struct json_scan *scan, struct event *event)
{
	switch (event->ph) {
	case 'X':
		if (event_has_key(event, KEY_CAT))
			event->class = class_of_category(scan, &event->cat);
		break;
	case 'i':
	case 'I':
		event->class = EVENT_INSTANT;
		break;
	case 'M':
		event->class = EVENT_METADATA;
		break;
	case 's':
	case 't':
	case 'f':
	case 'C':
		event->class = EVENT_IGNORED;
		break;
	case '\0':
		break;
	default: /* Chrome has more kinds, Kineto never wrote them */
		event->class = EVENT_UNKNOWN;
	}
}

static bool has_word(const char *text, uint32_t length, const char *word)
{
	return memmem(text, length, word, strlen(word)) != NULL;
}

/*
 * Python frames that explain why a host stood still: the collector (`Python GC` since 2.9, else its
 * call), and the data loader.  All others are left out, as they are most of a trace that has them.
 */
static bool is_kept_frame(const struct json_scan *scan, const struct json_text *name)
{
	const char *text = json_text_bytes(scan, name);
	return has_word(text, name->length, "gc.collect") ||
	       has_word(text, name->length, "Python GC") ||
	       has_word(text, name->length, "method collect of module") ||
	       has_word(text, name->length, "utils/data/") ||
	       has_word(text, name->length, "utils\\/data\\/") ||
	       has_word(text, name->length, "DataLoader");
}

static bool read_value(struct json_scan *scan, struct event_memory *memory, struct event_dirt *dirt,
	enum event_key key, struct event *event)
{
	const uint64_t bit = (uint64_t)1 << key;
	if (event->keys & bit)
		count(dirt, &dirt->duplicate_keys);
	event->keys |= bit;
	struct json_text text;
	switch (key) {
	case KEY_PH:
		if (!read_raw(scan, &text))
			return false;
		event->ph = text.length == 1 ? *json_text_bytes(scan, &text) : '?';
		classify(scan, event);
		return true;
	case KEY_CAT:
		if (!read_raw(scan, &event->cat))
			return false;
		classify(scan, event);
		return true;
	case KEY_NAME:
		return read_raw(scan, &event->name);
	case KEY_PID:
		return read_place(scan, dirt, &event->pid);
	case KEY_TID:
		return read_place(scan, dirt, &event->tid);
	case KEY_TS:
		return read_time(scan, dirt, &event->ts_ns);
	case KEY_DUR:
		return read_time(scan, dirt, &event->dur_ns);
	case KEY_ARGS:
		return read_args(scan, memory, dirt, event);
	case KEY_COUNT:
		break;
	}
	return json_skip(scan);
}

void event_memory_init(struct event_memory *memory)
{
	key_memory_init(&memory->keys);
	segments_init(&memory->segments);
}

static void start_event(const struct json_scan *scan, struct event *event)
{
	event->offset = byte_window_offset(scan->window);
	event->keys = event->args = event->met = 0;
	event->class = EVENT_UNSURE;
	event->ph = '\0';
	event->is_left_out = false;
	event->ts_ns = event->dur_ns = NULL_I64;
	event->pid = event->tid = (struct event_place){.number = NULL_I64};
}

/* Where the reader of an event is. */
struct walk {
	uint8_t at;	    /* the last key's guess */
	bool has_name;	    /* and no process, thread or time before it */
	uint64_t name_end;  /* offset */
	uint64_t name_keys; /* which were there by then */
};

/* Process and thread stand between name and time, if these come next, they are remembered. */
static int next_key(struct json_scan *scan, struct event_memory *memory,
	const struct event_dirt *dirt, int last, struct walk *walk, struct event *event)
{
	const uint64_t place = (uint64_t)1 << KEY_PID | (uint64_t)1 << KEY_TID;
	if (last == KEY_NAME && !(event->keys & (place | (uint64_t)1 << KEY_TS))) {
		if (memo_take_place(&memory->memos, scan, event, &walk->at))
			return KEY_TS;
		walk->has_name = true;
		walk->name_end = byte_window_offset(scan->window);
		walk->name_keys = event->keys;
	}
	const int key = key_next(&memory->keys, scan, KEYS_OF_EVENT, &walk->at);
	if (key == KEY_TS && walk->has_name && !dirt->has_any &&
		event->keys == (walk->name_keys | place))
		memo_learn_place(&memory->memos, scan, event, walk->name_end, walk->at);
	return key;
}

bool event_read(struct json_scan *scan, struct event_memory *memory, struct event_dirt *dirt,
	struct event *ret)
{
	struct walk walk = {.at = key_start(KEYS_OF_EVENT)};
	start_event(scan, ret);
	*dirt = (struct event_dirt){0};
	bool is_new = !memo_take_head(&memory->memos, scan, ret, &walk.at);
	if (is_new && !json_enter_object(scan))
		return false;
	for (int key = KEY_OTHER;;) {
		if (is_new && ret->class != EVENT_UNSURE) {
			is_new = false;
			if (!dirt->has_any)
				memo_learn_head(&memory->memos, scan, ret, walk.at);
		}
		if (ret->class == EVENT_PYTHON && event_has_key(ret, KEY_NAME) &&
			!is_kept_frame(scan, &ret->name))
			ret->is_left_out = true;
		if (ret->class == EVENT_IGNORED || ret->is_left_out)
			return json_leave(scan);
		key = next_key(scan, memory, dirt, key, &walk, ret);
		if (key < KEY_OTHER)
			return !scan->problem;
		if (!(key < 0 ? skip_value(scan)
			      : read_value(scan, memory, dirt, (enum event_key)key, ret)))
			return false;
	}
}
