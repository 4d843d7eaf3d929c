/* The scanner: what it takes for JSON, through every window, and against another parser. */
#include "reading.h"

#include <jansson.h>

#include "read/json_bytes.h"
#include "read/json_scan.h"

/* Walks one value and writes it down in one way of writing. */
static bool walk(struct json_scan *scan, struct text *out)
{
	struct json_text text;
	struct decimal number;
	enum json_kind word;
	switch (json_peek(scan)) {
	case SCAN_OBJECT:
		text_add(out, "{", 1);
		for (json_enter_object(scan); json_next_key(scan, &text);) {
			text_print(out, "%.*s=", (int)text.length, json_text_bytes(scan, &text));
			if (!walk(scan, out))
				return false;
		}
		text_add(out, "}", 1);
		break;
	case SCAN_ARRAY:
		text_add(out, "[", 1);
		for (json_enter_array(scan); json_next_item(scan);)
			if (!walk(scan, out))
				return false;
		text_add(out, "]", 1);
		break;
	case SCAN_TEXT:
		if (!json_read_text(scan, &text))
			return false;
		text_print(out, "'%.*s'", (int)text.length, json_text_bytes(scan, &text));
		break;
	case SCAN_NUMBER:
		if (!json_read_number(scan, &number))
			return false;
		text_print(out, "%s%llue%d ", number.is_negative ? "-" : "",
			(unsigned long long)number.mantissa, number.exponent);
		break;
	default:
		if (!json_read_word(scan, &word))
			return false;
		text_print(out, "%d ", word);
	}
	return !scan->problem;
}

struct walked {
	struct text text;
	bool is_whole;	/* no problem, and nothing after the value */
	bool has_notes; /* something was accepted that JSON lacks */
	bool is_cut;
	uint64_t problem_offset;
};

static struct walked walk_bytes(const char *bytes, size_t length, size_t window_bytes)
{
	struct byte_window window;
	struct json_scan scan;
	struct err err = {0};
	struct walked walked = {0};
	assert_true(byte_window_over(&window, bytes, length, window_bytes, &err));
	json_scan_start(&scan, &window);
	walked.is_whole = walk(&scan, &walked.text) && json_is_over(&scan);
	walked.has_notes = scan.has_notes;
	walked.is_cut = scan.is_cut;
	walked.problem_offset = scan.problem_offset;
	byte_window_done(&window);
	return walked;
}

static bool is_strict(const char *text, size_t length, size_t window_bytes)
{
	struct walked walked = walk_bytes(text, length, window_bytes);
	free(walked.text.bytes);
	return walked.is_whole && !walked.has_notes;
}

/* Skipped whole, which follows brackets and quotes alone. */
static bool skips(const char *text, size_t length, size_t window_bytes)
{
	struct byte_window window;
	struct json_scan scan;
	struct err err = {0};
	assert_true(byte_window_over(&window, text, length, window_bytes, &err));
	json_scan_start(&scan, &window);
	const bool is_skipped = json_skip(&scan) && json_is_over(&scan);
	byte_window_done(&window);
	return is_skipped;
}

static const char *const accepted[] = {"{}", "[]", "0", "-0", "true", "false", "null", "\"\"",
	" [ ] ", "\t{\r\n}\n", "[1,2,3]", "[[],{},\"\",0]", "{\"a\":1}", "{\"\":{}}",
	"{\"a\":[1,{\"b\":null}],\"c\":\"d\"}", "[1e5,1E-5,1.25e+7,-1.5,0.0,10]",
	"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\u0041\\uD83D\\uDE00\"", "\"\xc3\xa9\xe2\x82\xac\"",
	"\"\xf0\x9f\x98\x80\"", "\"\x7f\"", "[\"[{\",\"]}\"]", "[\"\\\\\",\"\\\"]\"]",
	"{\"a\\\"b\":1}", "{\"a\":1,\"a\":2}", "[true,false,null,[true],{\"x\":false}]"};

static const char *const rejected[] = {"", " ", "{", "[", "\"", "\"\\\"", "{]", "[}", "[1,]",
	"[,1]", "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{,}", "{a:1}", "{'a':1}",
	"{\"a\" 1}", "{\"a\":1 \"b\":2}", "{\"a\":1}}", "[1]]", "[1][2]", "01", "-", "-a", "+1",
	".5", "1.", "1.e1", "1e", "1e+", "0x10", "1_000", "nan", "NaN", "inf", "-Infinity",
	"Infinity", "tru", "truE", "True", "nul", "none", "falsey", "[\"\n\"]", "\"\x01\"",
	"\"\\x41\"", "\"\\u12\"", "\"\\u12G4\"", "\"\\ud83d\"", "\"\\ud83d\\u0041\"", "\"\\ude00\"",
	"\"\x80\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"\xf5\x80\x80\x80\"", "\"\xe2\x82\"",
	"\xef\xbb\xbf[]", "[1]x", "// c\n[]", "[\"a\"b\"]", "{1:2}", "[1,2", "{\"a\":[}",
	"\"a\" \"b\"", "nu\0ll"};

static void accepts_json_and_nothing_else(void **state)
{
	(void)state;
	for (size_t window_bytes = 16; window_bytes <= 32; window_bytes++) {
		for (size_t c = 0; c < sizeof accepted / sizeof *accepted; c++)
			if (!is_strict(accepted[c], strlen(accepted[c]), window_bytes) ||
				!skips(accepted[c], strlen(accepted[c]), window_bytes))
				fail_msg("rejects %s", accepted[c]);
		for (size_t c = 0; c < sizeof rejected / sizeof *rejected; c++)
			if (is_strict(rejected[c], strlen(rejected[c]), window_bytes))
				fail_msg("accepts %s", rejected[c]);
		assert_false(is_strict("[1\0]", 4, window_bytes));
		assert_false(is_strict("\0", 1, window_bytes));
		assert_false(is_strict("[\"a\0b\"]", 7, window_bytes));
	}
}

/* Notes, but no problem. */
static void reads_on_over_small_faults(void **state)
{
	(void)state;
	static const struct {
		const char *text, *walked;
		enum json_note note;
	} cases[] = {
		{"[1,]", "[1e0 ]", NOTE_COMMA},
		{"{\"a\":1, }", "{a=1e0 }", NOTE_COMMA},
		{"[nan]", "[0e0 ]", NOTE_NOT_FINITE},
		{"[-inf,1]", "[-0e0 1e0 ]", NOTE_NOT_FINITE},
		{"[Infinity]", "[0e0 ]", NOTE_NOT_FINITE},
		{"[\"a\nb\"]", "['a\nb']", NOTE_TEXT},
		{"[\"\\xff\"]", "['\\xff']", NOTE_TEXT},
		{"[\"\xff\"]", "['\xff']", NOTE_TEXT},
	};
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		struct walked walked = walk_bytes(cases[c].text, strlen(cases[c].text), 0);
		assert_true(walked.is_whole);
		assert_true(walked.has_notes);
		assert_string_equal(walked.text.bytes, cases[c].walked);
		free(walked.text.bytes);
	}
}

static void stops_at_the_depth_limit(void **state)
{
	(void)state;
	char deep[2 * JSON_MAX_DEPTH + 4];
	for (size_t depth = JSON_MAX_DEPTH; depth <= JSON_MAX_DEPTH + 1; depth++) {
		memset(deep, '[', depth);
		memset(deep + depth, ']', depth);
		assert_int_equal(is_strict(deep, 2 * depth, 16), depth == JSON_MAX_DEPTH);
		assert_int_equal(skips(deep, 2 * depth, 16), depth == JSON_MAX_DEPTH);
	}
}

/* A value made by chance, with brackets and escapes where they mean nothing. */
static void add_value(struct text *text, uint32_t *seed, uint32_t depth)
{
	static const char *const simple[] = {"1", "-0.5", "true", "\"\"", "\"][\"", "\"{\"",
		"\"\\\"]\"", "\"\\\\\"",
		"\"a text of more bytes than are looked at in one go: ]]}}\"", "[]", "{}",
		"\"\\u005d\""};
	*seed = *seed * 1664525 + 1013904223;
	const uint32_t kind = *seed >> 8, count = kind / 64 % 5;
	if (depth == 0 || kind % 3 == 0) {
		text_print(text, "%s", simple[kind / 3 % (sizeof simple / sizeof *simple)]);
		return;
	}
	const bool is_object = kind % 3 == 1;
	text_print(text, "%s", is_object ? "{" : "[ ");
	for (uint32_t i = 0; i < count; i++) {
		text_print(text, "%s%s", i ? ", " : "", is_object ? "\"]}\\\\\": " : "");
		add_value(text, seed, depth - 1);
	}
	text_print(text, "%s", is_object ? "}" : "]");
}

/* Brackets followed in one go end where they do when each value is looked at. */
static void skips_whole_values(void **state)
{
	(void)state;
	uint32_t seed = 3;
	for (int n = 0; n < 3000; n++) {
		struct text text = {0};
		text_print(&text, "%*s[", n % 64, "");
		add_value(&text, &seed, 5);
		const size_t length = text.length + 1;
		text_print(&text, "], \"]\"]%*s", n % 80, "");
		static const size_t windows[] = {0, 16, 100};
		for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
			struct byte_window window;
			struct json_scan scan;
			struct err err = {0};
			assert_true(byte_window_over(
				&window, text.bytes, text.length, windows[w], &err));
			json_scan_start(&scan, &window);
			assert_true(json_skip(&scan));
			assert_int_equal(byte_window_offset(&window), length);
			byte_window_done(&window);
		}
		free(text.bytes);
	}
}

static void says_where(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint64_t offset;
		bool is_cut;
	} cases[] = {{"[1,2 3]", 5, false}, {"{\"a\":tru}", 5, false}, {"{\"abc\" 1}", 7, false},
		{"[1,2", 4, true}, {"{\"abc", 1, true}};
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
		for (size_t window_bytes = 16; window_bytes < 20; window_bytes++) {
			struct walked walked =
				walk_bytes(cases[c].text, strlen(cases[c].text), window_bytes);
			assert_false(walked.is_whole);
			assert_int_equal(walked.problem_offset, cases[c].offset);
			assert_int_equal(walked.is_cut, cases[c].is_cut);
			free(walked.text.bytes);
		}
}

static void sees_the_same_through_every_window(void **state)
{
	(void)state;
	static const char document[] =
		"{ \"name\" : \"a long text \\\"with\\\" escapes \\\\ and \xc3\xa9 and \\u20ac "
		"that "
		"is longer than the window\",\n \"numbers\":[ 5179028510865.741 , -0.125e-12,true, "
		"null , -Infinity, inf, nan ],\"nested\" :{\"a\":{\"b\":[[[]],[{}]]}}, \"empty "
		"key\":{\"\":\"\"},"
		"\"0123456789abcdef0123456789abcdef\" : \"0123456789abcdef0123456789abcdef\"}  ";
	struct walked whole = walk_bytes(document, strlen(document), 0);
	assert_true(whole.is_whole);
	for (size_t window_bytes = 1; window_bytes <= 80; window_bytes++) {
		struct walked walked = walk_bytes(document, strlen(document), window_bytes);
		assert_true(walked.is_whole);
		assert_string_equal(walked.text.bytes, whole.text.bytes);
		free(walked.text.bytes);
		assert_true(skips(document, strlen(document), window_bytes));
		for (size_t length = 0; length < strlen(document) - 2; length += 3)
			assert_false(skips(document, length, window_bytes));
	}
	free(whole.text.bytes);
}

static void decodes_texts(void **state)
{
	(void)state;
	static const struct {
		const char *from, *to;
	} cases[] = {{"abc", "abc"}, {"\\n\\t\\\"\\\\\\/", "\n\t\"\\/"},
		{"\\u0041\\u00e9\\u20AC", "A\xc3\xa9\xe2\x82\xac"},
		{"\\ud83d\\ude00", "\xf0\x9f\x98\x80"}, {"\\ud83d", "\xef\xbf\xbd"},
		{"\\ude00x", "\xef\xbf\xbdx"}, {"\\ud83dx", "\xef\xbf\xbdx"},
		{"\\u0000", "\xef\xbf\xbd"}, {"C:\\Users\\x", "C:\\Users\\x"}, {"\\", "\\"},
		{"a\xff"
		 "b",
			"a\xef\xbf\xbd"
			"b"},
		{"\xc3\xa9", "\xc3\xa9"}, {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"}};
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		char to[64];
		const size_t length = json_text_decode(cases[c].from, strlen(cases[c].from), to);
		to[length] = '\0';
		assert_string_equal(to, cases[c].to);
		assert_true(length <= 3 * strlen(cases[c].from));
	}
}

static void repairs_quotes_when_asked(void **state)
{
	(void)state;
	static const struct {
		const char *text, *walked; /* NULL: no repair fits */
	} cases[] = {
		{"{\"name\":\"Library(\"a\", \"IMPL\")\n(1)\",\"pid\":1}",
			"{name='Library(\"a\", \"IMPL\")\n(1)'pid=1e0 }"},
		{"{\"name\": \"say \"hi\"\", \"tid\" : 2}", "{name='say \"hi\"'tid=2e0 }"},
		{"{\"a\": \"x\", \"b\": \"y\"}", "{a='x'b='y'}"},
		{"{\"a\": [\"x\", \"y\"], \"b\": \"z\"}", "{a=['x''y']b='z'}"},
		{"{\"name\": \"no end, \"pid\": 1},{\"ph\": \"X\", \"cat\": \"c\"}", NULL},
	};
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
		for (size_t window_bytes = 16; window_bytes < 24; window_bytes++) {
			struct byte_window window;
			struct json_scan scan;
			struct err err = {0};
			struct text out = {0};
			assert_true(byte_window_over(
				&window, cases[c].text, strlen(cases[c].text), window_bytes, &err));
			json_scan_start(&scan, &window);
			window.hold = 0;
			scan.repairs_quotes = true;
			const bool is_walked = walk(&scan, &out);
			assert_int_equal(is_walked, cases[c].walked != NULL);
			if (is_walked)
				assert_string_equal(out.bytes, cases[c].walked);
			byte_window_done(&window);
			free(out.bytes);
		}
}

/* One value against another parser's. */
static void compare_value(struct json_scan *scan, const json_t *other)
{
	struct json_text text;
	struct decimal number;
	enum json_kind word;
	static char decoded[1 << 20];
	size_t count = 0;
	switch (json_peek(scan)) {
	case SCAN_OBJECT:
		assert_true(json_is_object(other));
		for (json_enter_object(scan); json_next_key(scan, &text); count++) {
			decoded[json_text_decode(
				json_text_bytes(scan, &text), text.length, decoded)] = '\0';
			const json_t *value = json_object_get(other, decoded);
			assert_non_null(value);
			compare_value(scan, value);
		}
		assert_int_equal(count, json_object_size(other));
		break;
	case SCAN_ARRAY:
		assert_true(json_is_array(other));
		for (json_enter_array(scan); json_next_item(scan); count++)
			compare_value(scan, json_array_get(other, count));
		assert_int_equal(count, json_array_size(other));
		break;
	case SCAN_TEXT:
		assert_true(json_read_text(scan, &text));
		const size_t length =
			json_text_decode(json_text_bytes(scan, &text), text.length, decoded);
		assert_int_equal(length, json_string_length(other));
		assert_memory_equal(decoded, json_string_value(other), length);
		break;
	case SCAN_NUMBER:
		assert_true(json_read_number(scan, &number));
		if (json_is_integer(other)) {
			int64_t value;
			assert_true(decimal_i64(&number, &value));
			assert_int_equal(value, json_integer_value(other));
		} else {
			char again[64];
			snprintf(again, sizeof again, "%s%llue%d", number.is_negative ? "-" : "",
				(unsigned long long)number.mantissa, number.exponent);
			const double value = strtod(again, NULL), theirs = json_real_value(other);
			const double gap = value > theirs ? value - theirs : theirs - value;
			assert_true(gap <= 1e-15 * (theirs < 0 ? -theirs : theirs));
		}
		break;
	default:
		assert_true(json_read_word(scan, &word));
		assert_int_equal(word == SCAN_TRUE, json_is_true(other));
		assert_int_equal(word == SCAN_NULL, json_is_null(other));
	}
	assert_null(scan->problem);
}

static void compare_file(const char *path)
{
	struct text all = whole_file(path);
	json_error_t error;
	json_t *other = json_loadb(all.bytes, all.length, 0, &error);
	/* An integer above INT64_MAX is none that it takes. */
	if (other) {
		struct byte_window window;
		struct json_scan scan;
		struct err err = {0};
		assert_true(byte_window_open(&window, path, 0, &err));
		json_scan_start(&scan, &window);
		compare_value(&scan, other);
		assert_true(json_is_over(&scan));
		assert_false(scan.has_notes);
		byte_window_done(&window);
		json_decref(other);
	} else {
		assert_non_null(strstr(error.text, "too big"));
	}
	free(all.bytes);
}

/* All of the public traces and, as the other parser is slow, a few of the recorded ones. */
static void agrees_with_another_parser(void **state)
{
	(void)state;
	static const struct {
		const char *folder;
		unsigned each; /* nth file */
	} folders[] = {{"traces/public/hta", 1}, {"traces/public/kineto", 1},
		{"traces/public/tracelens", 1}, {"traces/h200", 24}};
	const char *shared = shared_folder();
	if (!shared)
		skip();
	for (size_t f = 0; f < sizeof folders / sizeof *folders; f++) {
		char path[1024];
		snprintf(path, sizeof path, "%s/%s", shared, folders[f].folder);
		struct dirent **entries;
		const int count = scandir(path, &entries, NULL, alphasort);
		unsigned seen = 0;
		for (int e = 0; e < count; e++) {
			const bool is_trace = strstr(entries[e]->d_name, ".gz") ||
					      strstr(entries[e]->d_name, ".json.zst");
			if (is_trace &&
				(seen++ % folders[f].each == 0 || getenv("INQUEST_ALL_TRACES"))) {
				char file[2048];
				snprintf(file, sizeof file, "%s/%s", path, entries[e]->d_name);
				compare_file(file);
			}
			free(entries[e]);
		}
		if (count >= 0)
			free(entries);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepts_json_and_nothing_else),
		cmocka_unit_test(reads_on_over_small_faults),
		cmocka_unit_test(stops_at_the_depth_limit),
		cmocka_unit_test(skips_whole_values),
		cmocka_unit_test(says_where),
		cmocka_unit_test(sees_the_same_through_every_window),
		cmocka_unit_test(decodes_texts),
		cmocka_unit_test(repairs_quotes_when_asked),
		cmocka_unit_test(agrees_with_another_parser),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
