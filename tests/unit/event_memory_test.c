/*
 * What was met before makes reading faster and changes nothing: events read with a memory of all
 * that came before them, and each with none.
 */
#include "reading.h"

#include "read/kineto_event.h"

#define EVENT_COUNT 3000

static uint32_t seed = 1;

static uint32_t below(uint32_t limit)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % limit;
}

static const char *pick(const char *const *texts, uint32_t count)
{
	return texts[below(count)];
}

#define PICK(...)                                            \
	pick((const char *const[]){__VA_ARGS__},             \
		sizeof((const char *const[]){__VA_ARGS__}) / \
			sizeof *(const char *const[]){__VA_ARGS__})

/* Args between numbers: some one byte off others, some that go on, dirty, or said twice. */
static void add_segment(struct text *text)
{
	for (uint32_t left = 1 + below(3); left > 0; left--)
		text_print(text, "%s%s", PICK(", ", ", ", ", ", ",", ",\n"),
			PICK("\"Concrete Inputs\": [\"\", \"]\", \"\\\"\"]",
				"\"Input Dims\": [[], [4096, 32000]]",
				"\"Input Dims\": [[], [4096, 32001]]",
				"\"Input Dims\": [[], [], []]", "\"Input type\": [\"float\"]",
				"\"Input type\": [\"\xff\"]", "\"Input type\": \"a\\u0062\"",
				"\"finished\": false", "\"finished\": true", "\"x\": null",
				"\"x\": nan", "\"x\":\t1", "\"x\":\t12", "\"x\": [1,]",
				"\"dtype\": \"BFloat16\"", "\"dtype\": \"\xff\"", "\"Seq\": \"12\"",
				"\"Seq\": \"no\"", "\"grid\": [1, 2, 3]", "\"grid\": [1,2,3,4]",
				"\"block\": [-1, 2, 4294967295]", "\"k\x01\": []",
				"\"x\": {\"y\": [1, \"}\"]}"));
}

/* Each segment is met a few times, then another, which may begin as it does. */
static void add_repeated(struct text *list)
{
	struct text segment = {0};
	for (int e = 0; e < EVENT_COUNT; e++) {
		if (e == 0 || below(6) == 0) {
			segment.length = 0;
			if (below(3) == 0)
				add_segment(&segment);
			else
				text_print(&segment, ", %s",
					PICK("\"x\":\t1", "\"x\":\t12", "\"x\": []", "\"x\": [[]]",
						"\"Input Dims\": [[]]", "\"correlation\": \"n/a\"",
						"\"x\": [], \"correlation\": \"n/a\"",
						"\"Input Dims\": [[]], \"Input type\": [\"\"]"));
		}
		const char *bytes = segment.bytes;
		const int length = (int)segment.length;
		text_print(list,
			"%s{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"%s\", \"ts\": 1.000, "
			"\"args\": {\"%s\": %u%.*s, \"Ev Idx\": %u%.*s%s%u}}",
			e ? "," : "", below(9) ? "aten::mm" : "mm",
			below(4) ? "External id" : "correlation", below(5), below(3) ? length : 0,
			bytes, below(1000), below(3) ? 0 : length, bytes,
			PICK(", \"correlation\": ", ", \"Seq\": "), below(1000));
	}
	free(segment.bytes);
}

/* Mostly as Kineto writes them; now and then out of order, twice, misspelt, or dirty. */
static void add_event(struct text *text)
{
	const char *space = PICK("\n    ", "\n    ", "\n    ", " ", "");
	const char *first =
		PICK("\"ph\": \"X\", \"cat\": \"cpu_op\"", "\"ph\": \"X\", \"cat\": \"kernel\"",
			"\"ph\": \"X\", \"cat\": \"cuda_runtime\"", "\"ph\": \"f\", \"id\": 7",
			"\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\"",
			"\"ph\": \"X\", \"cat\": \"gpu_user_annotation\"",
			"\"ph\": 5, \"cat\": \"kernel\"", "\"ph\": 57, \"cat\": \"kernel\"",
			"\"cat\": \"kernel\", \"ph\": \"X\"", "\"ph\": \"X\", \"ph\": \"i\"",
			"\"ph\": \"X\", \"cat\": 12", "\"ph\": \"X\", \"cat\": \"ker\\u006eel\"",
			"\"ph\": \"X\", \"cat\": \"no\x01such\"", "\"id\": 1");
	text_print(text, "{%s%s, \"name\": \"%s\"", space, first,
		PICK("aten::mm", "cudaLaunchKernel", "[memory]", "a\\\"b", "\xff"));
	text_print(text, ", %s,%s\"ts\": %s",
		PICK("\"pid\": 618, \"tid\": 644", "\"pid\": 618, \"tid\": 644",
			"\"pid\": 0, \"tid\": 7", "\"pid\": \"618\", \"tid\": \"7\"",
			"\"pid\": 0, \"tid\": \"stream 7\"", "\"tid\": 644, \"pid\": 618",
			"\"pid\": 618, \"pid\": 619, \"tid\": 1", "\"pid\": 618,  \"tid\": 644",
			"\"pid\": 99999999999999999999, \"tid\": 644", "\"tid\": 1",
			"\"pid\": 618, \"k\x01\": 1, \"tid\": 644", "\"pid\": +618, \"tid\": 644"),
		space, PICK("5177521610838.947", "12", "-1.5", "1e3", "\"7.25\"", "nan", "007"));
	text_print(text, "%s%s", PICK(", ", ", ", ",", " , "),
		PICK("\"dur\": 192.013", "\"dur\": 1.0004", "\"dur\": null",
			"\"other\": [1, {\"a\": []}]"));
	if (below(3) == 0) {
		text_print(text, ",%s\"args\": {\"External id\": %u", space, below(5));
		add_segment(text);
		text_print(text, ", \"Ev Idx\": 7}");
	} else if (below(4)) {
		text_print(text, ",%s\"args\": {%s%s%s%s%s}", space,
			PICK("\n      \"External id\": 2049,", "", "\"stream\": 7, "),
			PICK("\"Sequence number\": 15014",
				"\"correlation\": 12, \"correlation\": 13", "\"grid\": [1, 2, 3]",
				"\"Input Dims\": [[], [4096, 32000]]",
				"\"a key of more bytes than any guess that is ever remembered "
				"has\": 1"),
			PICK("", ", \"Ev Idx\": 3", ", \"Fwd thread id\": \"1\"", ", \"\": 0"),
			PICK("", "", "", ","), space);
	}
	text_print(text, "%s}", PICK("\n  ", "", " "));
}

static void compare_texts(const struct json_text *a, const struct json_text *b)
{
	assert_int_equal(a->offset, b->offset);
	assert_int_equal(a->length, b->length);
	assert_int_equal(a->is_plain, b->is_plain);
}

static void compare_events(const struct event *a, const struct event *b)
{
	assert_int_equal(a->offset, b->offset);
	assert_int_equal(a->keys, b->keys);
	assert_int_equal(a->args, b->args);
	assert_int_equal(a->class, b->class);
	assert_int_equal(a->ph, b->ph);
	assert_int_equal(a->is_left_out, b->is_left_out);
	assert_int_equal(a->ts_ns, b->ts_ns);
	assert_int_equal(a->dur_ns, b->dur_ns);
	assert_int_equal(a->pid.number, b->pid.number);
	assert_int_equal(a->tid.number, b->tid.number);
	compare_texts(&a->pid.text, &b->pid.text);
	compare_texts(&a->tid.text, &b->tid.text);
	if (event_has_key(a, KEY_CAT))
		compare_texts(&a->cat, &b->cat);
	if (event_has_key(a, KEY_NAME))
		compare_texts(&a->name, &b->name);
	for (int arg = 0; arg < ARG_COUNT; arg++) {
		if (!event_has(a, (enum event_arg)arg))
			continue;
		assert_int_equal(a->integer[arg], b->integer[arg]);
		compare_texts(&a->text[arg], &b->text[arg]);
	}
	if (event_has(a, ARG_GRID))
		assert_memory_equal(a->grid, b->grid, sizeof a->grid);
	if (event_has(a, ARG_BLOCK))
		assert_memory_equal(a->block, b->block, sizeof a->block);
}

/* Reads the same event with both memories from the same place; false at a problem of both. */
static bool read_both(struct json_scan *scan, struct event_memory *memory)
{
	static struct event_memory none;
	struct event event = {0}, event_again = {0};
	struct event_dirt dirt, dirt_again;
	json_peek(scan);
	memset(scan->notes, 0, sizeof scan->notes);
	scan->has_notes = false;
	const uint64_t offset = byte_window_offset(scan->window);
	const uint32_t depth = scan->depth;
	scan->window->hold = offset;
	const struct json_scan before = *scan;
	const bool is_read = event_read(scan, memory, &dirt, &event);
	const struct json_scan after = *scan;
	const uint64_t end = byte_window_offset(scan->window);
	*scan = before;
	json_scan_resume(scan, offset, depth);
	memset(&none, 0, sizeof none);
	event_memory_init(&none);
	assert_int_equal(event_read(scan, &none, &dirt_again, &event_again), is_read);
	assert_int_equal(byte_window_offset(scan->window), end);
	assert_int_equal(scan->depth, after.depth);
	assert_int_equal(scan->has_notes, after.has_notes);
	assert_memory_equal(scan->notes, after.notes, sizeof after.notes);
	assert_memory_equal(&dirt, &dirt_again, sizeof dirt);
	if (is_read)
		compare_events(&event, &event_again);
	scan->window->hold = NO_HOLD;
	return is_read;
}

static struct event_memory memory; /* of the list read last */

static void read_list(const struct text *text, size_t window_bytes)
{
	struct byte_window window;
	struct json_scan scan;
	struct err err = {0};
	memset(&memory, 0, sizeof memory);
	event_memory_init(&memory);
	assert_true(byte_window_over(&window, text->bytes, text->length, window_bytes, &err));
	json_scan_start(&scan, &window);
	assert_true(json_enter_array(&scan));
	uint32_t count = 0;
	while (json_next_item(&scan)) {
		assert_true(read_both(&scan, &memory));
		count++;
	}
	assert_int_equal(count, EVENT_COUNT);
	byte_window_done(&window);
}

static const size_t windows[] = {0, 16, 100, 1000};

static void changes_nothing(void **state)
{
	(void)state;
	struct text text = {0};
	text_print(&text, "[");
	for (int e = 0; e < EVENT_COUNT; e++) {
		if (e)
			text_print(&text, "%s", PICK(",", ",\n  "));
		add_event(&text);
	}
	text_print(&text, "]");
	for (size_t w = 0; w < sizeof windows / sizeof *windows; w++)
		read_list(&text, windows[w]);
	/* There was much to remember, and it was. */
	assert_true(memory.memos.head_count > 4);
	assert_true(memory.memos.place_count > 2);
	assert_true(memory.keys.count > 30);
	free(text.bytes);
}

static void segments_change_nothing(void **state)
{
	(void)state;
	struct text text = {0};
	text_print(&text, "[");
	add_repeated(&text);
	text_print(&text, "]");
	for (size_t w = 0; w < sizeof windows / sizeof *windows; w++)
		read_list(&text, windows[w]);
	assert_true(memory.segments.count > 20);
	free(text.bytes);
}

/* Cut anywhere in its second half, an event that was met whole before is still cut. */
static void ends_where_the_bytes_end(void **state)
{
	(void)state;
	static const char event[] =
		"{\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": "
		"7,\n"
		"    \"ts\": 12.345, \"dur\": 1.000,\n    \"args\": {\"stream\": 7}\n  }";
	for (size_t cut = 0; cut < sizeof event - 1; cut++) {
		struct text text = {0};
		struct trace trace;
		struct err err = {0};
		text_print(&text, "[%s,%s,%.*s", event, event, (int)cut, event);
		assert_true(read_bytes(text.bytes, text.length, 0, &trace, &err));
		assert_int_equal(trace.event_count, 2);
		assert_int_equal(trace.gpu_ops.head.count, 2);
		assert_int_equal(trace.diag.row[DIAG_TRUNCATED].count, 1);
		trace_done(&trace);
		free(text.bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_nothing),
		cmocka_unit_test(segments_change_nothing),
		cmocka_unit_test(ends_where_the_bytes_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
