#include "read/kineto.h"

#include <string.h>

#include "base/mem.h"
#include "read/byte_window.h"
#include "read/kineto_find.h"
#include "read/kineto_rows.h"

struct kineto {
	struct trace *trace;
	struct json_scan scan;
	struct event_memory memory;
	struct kineto_rows rows;
	struct event event;
	bool has_list;	 /* an event list was found */
	bool has_events; /* and an event in it */
	bool is_cut;	 /* the bytes ended too early */
	bool is_over;	 /* nothing more of the document can be read */
	bool is_failed;	 /* an error that ends the reading was set */
};

static void count(struct kineto *k, enum diag_kind kind, int64_t count, uint64_t offset)
{
	diag_add(&k->trace->diag, kind, count, (int64_t)offset);
}

/* The scanner's notes since the last time become the trace's counts. */
static void flush_notes(struct kineto *k, uint64_t offset)
{
	static const enum diag_kind kinds[JSON_NOTE_COUNT] = {
		[NOTE_TEXT] = DIAG_BAD_TEXT,
		[NOTE_QUOTE] = DIAG_BAD_QUOTE,
		[NOTE_COMMA] = DIAG_STRAY_COMMA,
		[NOTE_NOT_FINITE] = DIAG_NOT_FINITE,
	};
	if (!k->scan.has_notes)
		return;
	for (int n = 0; n < JSON_NOTE_COUNT; n++)
		count(k, kinds[n], k->scan.notes[n], offset);
	memset(k->scan.notes, 0, sizeof k->scan.notes);
	k->scan.has_notes = false;
}

static void drop_notes(struct kineto *k)
{
	memset(k->scan.notes, 0, sizeof k->scan.notes);
	k->scan.has_notes = false;
}

/* Reading failed in the system, or memory ran out: no dirt, but an error. */
static bool is_broken(const struct kineto *k, struct err *err)
{
	const struct err *cause = &k->scan.window->err;
	if (cause->code == ERR_NONE)
		return false;
	err_set(err, cause->code, "%s", cause->msg);
	return true;
}

static bool add_event(struct kineto *k, const struct event_dirt *dirt, struct err *err)
{
	k->trace->event_count++;
	if (k->scan.has_notes)
		flush_notes(k, k->event.offset);
	if (dirt->has_any) {
		count(k, DIAG_BIG_NUMBER, dirt->big_numbers, k->event.offset);
		count(k, DIAG_BAD_FIELD, dirt->bad_fields, k->event.offset);
		count(k, DIAG_DUPLICATE_KEY, dirt->duplicate_keys, k->event.offset);
	}
	return rows_add(&k->rows, &k->event, err);
}

enum event_result {
	EVENT_TAKEN,
	EVENT_STRANGE, /* an element of the list that is no object */
	EVENT_BAD,
	EVENT_CUT,
};

/* The element that begins here, at first as it stands, then with its quotes repaired. */
static enum event_result take_event(struct kineto *k, struct event_dirt *dirt)
{
	struct json_scan *scan = &k->scan;
	const uint64_t offset = byte_window_offset(scan->window);
	const uint32_t depth = scan->depth;
	scan->window->hold = offset;
	drop_notes(k);
	if (*scan->window->at != '{') {
		if (json_skip(scan))
			return EVENT_STRANGE;
		return scan->is_cut ? EVENT_CUT : EVENT_BAD;
	}
	if (event_read(scan, &k->memory, dirt, &k->event))
		return EVENT_TAKEN;
	if (scan->is_cut)
		return EVENT_CUT;
	if (scan->window->is_overfull)
		return EVENT_BAD;
	drop_notes(k);
	json_scan_resume(scan, offset, depth);
	scan->repairs_quotes = true;
	const bool is_repaired = event_read(scan, &k->memory, dirt, &k->event);
	scan->repairs_quotes = false;
	if (is_repaired)
		return EVENT_TAKEN;
	drop_notes(k);
	/* A cut second reading proves nothing: quotes may have been paired wrongly. */
	if (!scan->window->is_overfull)
		json_scan_resume(scan, offset, depth);
	return EVENT_BAD;
}

/*
 * After something that is no event: finds the next one, or the list's end.  `is_between` when the
 * trouble lies after a whole event.  False at the end of the bytes.
 */
static bool recover(struct kineto *k, uint32_t depth, bool is_between, bool *ret_is_over)
{
	struct byte_window *window = k->scan.window;
	count(k, DIAG_BAD_EVENT, 1, byte_window_offset(window));
	window->hold = NO_HOLD;
	window->is_overfull = false;
	k->scan.problem = NULL;
	char last = '}';
	if (!is_between) {
		last = byte_window_ahead(window, 0);
		if (last)
			window->at++; /* not the same event again */
	}
	if (!kineto_find_event(window, last))
		return false;
	k->scan.depth = depth;
	k->scan.is_first = false;
	*ret_is_over = *window->at == ']';
	if (*ret_is_over) {
		window->at++;
		k->scan.depth--;
	}
	return true;
}

/* One element of the list.  False on an error that ends the reading; a cut is none. */
static bool read_element(struct kineto *k, enum event_result *ret, struct err *err)
{
	struct event_dirt dirt;
	if (*k->scan.window->at != '{')
		json_peek(&k->scan); /* past the white space, so that the offset is the event's */
	const uint64_t offset = byte_window_offset(k->scan.window);
	*ret = take_event(k, &dirt);
	if (is_broken(k, err) || (*ret == EVENT_TAKEN && !add_event(k, &dirt, err)))
		return false;
	k->scan.window->hold = NO_HOLD;
	k->has_events |= *ret == EVENT_TAKEN;
	if (*ret == EVENT_STRANGE) {
		k->trace->event_count++;
		count(k, DIAG_BAD_FIELD, 1, offset);
	}
	return true;
}

/* The event list.  False only on an error that ends the reading. */
static bool read_events(struct kineto *k, struct err *err)
{
	struct json_scan *scan = &k->scan;
	if (!json_enter_array(scan))
		return true;
	const uint32_t depth = scan->depth;
	bool is_found = false, is_over = false;
	k->has_list = true;
	while (!is_over) {
		enum event_result result = EVENT_BAD;
		const bool is_next =
			is_found || json_take_next_object(scan) || json_next_item(scan);
		if (!is_next && !scan->problem)
			return true;
		if (is_next && !read_element(k, &result, err))
			return false;
		is_found = false;
		if (result == EVENT_CUT || (!is_next && scan->is_cut)) {
			k->is_cut = k->is_over = true;
			return true;
		}
		if (result == EVENT_BAD) {
			is_found = recover(k, depth, !is_next, &is_over);
			k->is_cut = k->is_over = !is_found;
			if (!is_found)
				break;
		}
	}
	return !is_broken(k, err);
}

/* Goes through a value strictly; a line break inside a text shows that its quotes are off. */
static bool check_value(struct json_scan *scan)
{
	struct json_text text;
	switch (json_peek(scan)) {
	case SCAN_OBJECT:
		for (json_enter_object(scan); json_next_key(scan, &text);)
			if (!check_value(scan))
				return false;
		break;
	case SCAN_ARRAY:
		for (json_enter_array(scan); json_next_item(scan);)
			if (!check_value(scan))
				return false;
		break;
	case SCAN_TEXT:
		return json_read_text(scan, &text) && !scan->notes[NOTE_TEXT];
	default:
		return json_skip(scan);
	}
	return !scan->problem;
}

static bool is_key(const struct json_scan *scan, const struct json_text *key, const char *word)
{
	const size_t length = strlen(word);
	return key->length == length && memcmp(json_text_bytes(scan, key), word, length) == 0;
}

static bool read_devices(struct kineto *k, struct err *err)
{
	struct json_scan *scan = &k->scan;
	struct event_dirt dirt = {0};
	struct json_text key, text;
	if (json_peek(scan) != SCAN_ARRAY)
		return check_value(scan);
	for (json_enter_array(scan); json_next_item(scan);) {
		struct device_properties device = {NULL_I64, 0, NULL_I64};
		for (json_enter_object(scan); json_next_key(scan, &key);) {
			if (is_key(scan, &key, "id")) {
				event_read_integer(scan, &dirt, &device.id);
			} else if (is_key(scan, &key, "totalGlobalMem")) {
				event_read_integer(scan, &dirt, &device.memory_bytes);
			} else if (is_key(scan, &key, "name") && json_peek(scan) == SCAN_TEXT) {
				if (!json_read_text(scan, &text))
					return false;
				device.name_id = rows_intern(&k->rows, &text, err);
				k->is_failed = device.name_id == UINT32_MAX;
				if (k->is_failed)
					return false;
			} else if (!check_value(scan)) {
				return false;
			}
		}
		if (scan->problem)
			return false;
		if (k->rows.device_count < MAX_DEVICES)
			k->rows.device[k->rows.device_count++] = device;
	}
	return !scan->problem;
}

static bool read_distributed(struct kineto *k)
{
	struct json_scan *scan = &k->scan;
	struct event_dirt dirt = {0};
	struct json_text key;
	if (json_peek(scan) != SCAN_OBJECT)
		return check_value(scan);
	for (json_enter_object(scan); json_next_key(scan, &key);) {
		const bool is_rank = is_key(scan, &key, "rank");
		int64_t value = NULL_I64;
		if (!is_rank && !is_key(scan, &key, "world_size")) {
			if (!check_value(scan))
				return false;
			continue;
		}
		if (!event_read_integer(scan, &dirt, &value))
			return false;
		if (value < 0 || value > INT32_MAX)
			continue;
		if (is_rank)
			k->trace->rank = (int32_t)value;
		else if (value > 0)
			k->trace->world_size = (int32_t)value;
	}
	return !scan->problem;
}

/* A switch of the profiler: 1 when it was on. */
static bool read_switch(struct kineto *k, bool *on)
{
	int64_t value = 0;
	struct event_dirt dirt = {0};
	if (!event_read_integer(&k->scan, &dirt, &value))
		return false;
	*on |= value == 1;
	return true;
}

/* The value of a key of the document other than its events; it is held meanwhile. */
static bool read_metadata(struct kineto *k, const struct json_text *key, struct err *err)
{
	struct json_scan *scan = &k->scan;
	if (is_key(scan, key, "deviceProperties"))
		return read_devices(k, err);
	if (is_key(scan, key, "distributedInfo"))
		return read_distributed(k);
	if (is_key(scan, key, "record_shapes"))
		return read_switch(k, &k->trace->has.shapes);
	if (is_key(scan, key, "profile_memory"))
		return read_switch(k, &k->trace->has.memory);
	if (is_key(scan, key, "with_stack"))
		return read_switch(k, &k->trace->has.stacks);
	if (is_key(scan, key, "baseTimeNanoseconds")) {
		int64_t base;
		struct event_dirt dirt = {0};
		if (!event_read_integer(scan, &dirt, &base))
			return false;
		if (base != NULL_I64)
			k->trace->base_unix_ns = base;
		return true;
	}
	return check_value(scan);
}

/*
 * After a part of the document that is no JSON and begins at `offset`: goes on at the next key that
 * we know.  That the bytes ended proves nothing as long as another key is found, since quotes may
 * have been paired wrongly.
 */
static void recover_document(struct kineto *k, uint64_t offset)
{
	struct json_scan *scan = &k->scan;
	const bool was_cut = scan->is_cut;
	if (!scan->window->is_overfull)
		json_scan_resume(scan, offset, 1);
	scan->window->hold = NO_HOLD;
	scan->window->is_overfull = false;
	scan->problem = NULL;
	if (byte_window_ahead(scan->window, 0))
		scan->window->at++; /* not the same key again */
	const bool is_found = kineto_find_key(scan->window);
	if (is_found || !was_cut)
		count(k, DIAG_BAD_METADATA, 1, offset);
	k->is_cut |= !is_found && was_cut;
	k->is_over = !is_found;
	scan->depth = 1;
	scan->is_first = true; /* as no comma is due before this key */
}

/* One key of the document and its value. */
static bool read_member(struct kineto *k, const struct json_text *key, struct err *err)
{
	struct json_scan *scan = &k->scan;
	if (is_key(scan, key, "traceEvents") && json_peek(scan) == SCAN_ARRAY)
		return read_events(k, err);
	const uint64_t offset = key->offset - 1;
	drop_notes(k);
	const bool is_read = read_metadata(k, key, err);
	drop_notes(k);
	if (is_broken(k, err) || k->is_failed)
		return false;
	if (!is_read)
		recover_document(k, offset);
	return true;
}

static bool read_document(struct kineto *k, struct err *err)
{
	struct json_scan *scan = &k->scan;
	struct json_text key;
	if (json_peek(scan) == SCAN_ARRAY)
		return read_events(k, err);
	json_enter_object(scan);
	while (!k->is_over) {
		/* Held from before the key, so that its bytes stay while the value is read. */
		json_peek(scan);
		const uint64_t offset = byte_window_offset(scan->window);
		scan->window->hold = offset;
		if (json_next_key(scan, &key)) {
			if (!read_member(k, &key, err))
				return false;
		} else if (scan->problem) {
			recover_document(k, offset);
		} else {
			break;
		}
	}
	scan->window->hold = NO_HOLD;
	return !is_broken(k, err);
}

static bool check_document(const struct kineto *k, struct err *err)
{
	if (!k->has_events && k->trace->diag.row[DIAG_BAD_EVENT].count)
		return err_set(err, ERR_INPUT,
			"no trace: it begins as JSON does, but no event in it can be read; is it "
			"plain text?");
	if (k->has_events || (k->has_list && k->trace->event_count == 0))
		return true;
	if (k->has_list)
		return err_set(err, ERR_INPUT,
			"a JSON list without trace events: no trace of torch.profiler, perhaps its "
			"memory timeline (export_memory_timeline)");
	if (k->is_cut)
		return err_set(
			err, ERR_INPUT, "a JSON document that ends before its traceEvents begin");
	return err_set(err, ERR_INPUT,
		"a JSON document without traceEvents, so no trace of PyTorch's profiler");
}

bool kineto_read_window(struct byte_window *window, struct trace *trace, struct err *err)
{
	struct kineto *k = mem_new(1, sizeof *k, err);
	if (!k)
		return false;
	k->trace = trace;
	trace->source = SOURCE_KINETO;
	event_memory_init(&k->memory);
	json_scan_start(&k->scan, window);
	bool is_read = rows_init(&k->rows, trace, &k->scan, err) && read_document(k, err) &&
		       check_document(k, err) && rows_finish(&k->rows, err);
	if (is_read && (k->is_cut || window->is_truncated))
		count(k, DIAG_TRUNCATED, 1, byte_window_offset(window));
	rows_done(&k->rows);
	mem_free(k);
	return is_read;
}

bool kineto_read(
	const char *path, const struct kineto_options *options, struct trace *ret, struct err *err)
{
	struct byte_window window;
	struct trace trace;
	if (!trace_init(&trace, err))
		return err_prefix(err, "%s", path);
	if (!byte_window_open(&window, path, options->window_bytes, err)) {
		trace_done(&trace);
		return err_prefix(err, "%s", path);
	}
	if (options->reads_ahead)
		byte_window_read_ahead(&window);
	const bool is_read = trace_set_file(&trace, path, err) &&
			     kineto_read_window(&window, &trace, err) && trace_seal(&trace, err);
	byte_window_done(&window);
	if (!is_read) {
		trace_done(&trace);
		return err_prefix(err, "%s", path);
	}
	*ret = trace;
	return true;
}
