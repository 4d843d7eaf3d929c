/* Runs from their argument: which files, which ranks, which names; what is no trace is named. */
#include "reading.h"

#include "base/mem.h"
#include "read/detect.h"
#include "read/run.h"
#include "read/run_files.h"

#define EVENT \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":2}"

static void write_trace(const char *folder, const char *name, int rank, int world_size)
{
	char text[512];
	const int length = rank < 0 ? snprintf(text, sizeof text, "{\"traceEvents\":[" EVENT "]}")
				    : snprintf(text, sizeof text,
					      "{\"distributedInfo\":{\"rank\":%d,\"world_size\":%d}"
					      ",\"traceEvents\":"
					      "[" EVENT "]}",
					      rank, world_size);
	write_file(folder, name, text, (size_t)length);
}

static void reads_the_ranks_of_a_folder(void **state)
{
	(void)state;
	char folder[256];
	struct run run;
	struct err err = {0};
	make_folder(folder, sizeof folder);
	/* Ten before two: by rank, not by name. */
	write_trace(folder, "a.json", 10, 16);
	write_trace(folder, "b.json", 2, 16);
	write_trace(folder, "c.json", 0, 16);
	write_file(folder, "notes.txt", "hello", 5);
	write_file(folder, "memory.json", "[[1, 2]]", 8);
	write_file(folder, ".hidden", "{}", 2);
	const struct read_options options = {.window_bytes = 64, .thread_count = 3};
	assert_true(run_read(folder, &options, &run, &err));
	assert_int_equal(run.trace_count, 3);
	assert_int_equal(run.traces[0].rank, 0);
	assert_int_equal(run.traces[1].rank, 2);
	assert_int_equal(run.traces[2].rank, 10);
	assert_int_equal(run.diag.row[DIAG_UNRELATED_FILE].count, 2);
	assert_int_equal(run.diag.row[DIAG_MISSING_RANK].count, 13);
	assert_string_equal(run.argument, folder);
	assert_non_null(strstr(run.traces[2].file, "/a.json"));
	run_done(&run);
	run_done(&run);
	remove_folder(folder);
}

static void takes_ranks_from_names_and_order(void **state)
{
	(void)state;
	char folder[256], pattern[300];
	struct run run;
	struct err err = {0};
	make_folder(folder, sizeof folder);
	write_trace(folder, "t_a.json", -1, 0);
	write_trace(folder, "t_b.json", -1, 0);
	write_trace(folder, "t_rank1.json", -1, 0);
	write_trace(folder, "u.json", -1, 0);
	snprintf(pattern, sizeof pattern, "%s/t_*.json", folder);
	assert_true(run_read(pattern, NULL, &run, &err));
	assert_int_equal(run.trace_count, 3);
	assert_non_null(strstr(run.traces[0].file, "t_a"));
	assert_non_null(strstr(run.traces[1].file, "t_rank1"));
	assert_non_null(strstr(run.traces[2].file, "t_b"));
	for (uint32_t t = 0; t < 3; t++) {
		assert_int_equal(run.traces[t].rank, t);
		assert_int_equal(run.traces[t].diag.row[DIAG_NO_RANK].count, 1);
	}
	assert_string_equal(run.name, "t");
	run_done(&run);
	remove_folder(folder);
}

static void names_both_files_of_one_rank(void **state)
{
	(void)state;
	char folder[256];
	struct run run;
	struct err err = {0};
	make_folder(folder, sizeof folder);
	write_trace(folder, "one.json", 1, 2);
	write_trace(folder, "two.json", 1, 2);
	assert_false(run_read(folder, NULL, &run, &err));
	assert_int_equal(err.code, ERR_INPUT);
	assert_non_null(strstr(err.msg, "two files of rank 1"));
	assert_non_null(strstr(err.msg, "one.json"));
	assert_non_null(strstr(err.msg, "two.json"));
	remove_folder(folder);
}

/* What isn't there or can't be opened is an error of the system; what is no trace, of the input. */
static void refuses_in_one_line(void **state)
{
	(void)state;
	static const struct {
		const char *name, *bytes;
		size_t length;
		const char *message;
	} cases[] = {
		{"empty.json", "", 0, "an empty file"},
		{"space.json", " \n\n", 3, "white space"},
		{"a.png", "\x89PNG\r\n\x1a\n", 8, "a PNG image"},
		{"a.out",
			"\x7f"
			"ELF\x02\x01\x01",
			7, "an ELF program"},
		{"a.csv", "step,ms\n1,2\n", 12, "comma-separated"},
		{"a.txt", "hello\nworld\n", 12, "plain text"},
		{"a.gz", "\x1f\x8b\x08\0\0\0\0\0\0\3", 10, "damaged or holds nothing"},
		{"a.zst", "\x28\xb5\x2f\xfd\0", 5, "damaged or holds nothing"},
		{"a.bin", "\x01\x02\x03\x04", 4, "binary data"},
		{"a.zip", "PK\x03\x04", 4, "a zip archive"},
		{"a.nsys-rep", "\x01\x02\x03", 3, "inquest record, or with torch"},
		{"a.html", "<!DOCTYPE html>", 15, "an HTML page"},
		{"a.json", "{\"a\": 1}", 8, "a JSON document without traceEvents"},
		{"b.json", "[[1, 2]]", 8, "a JSON list without trace events"},
		{"c.json", "{\"schemaVersion\": 1, \"dev", 25, "ends before its traceEvents"},
		{"a.db", "SQLite format 3\0rest", 20, "a SQLite database of another program"},
		{"d.json", "\"text\"", 6, "neither an object nor a list"},
	};
	char folder[256];
	struct run run;
	make_folder(folder, sizeof folder);
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		char path[300];
		struct err err = {0};
		write_file(folder, cases[c].name, cases[c].bytes, cases[c].length);
		snprintf(path, sizeof path, "%s/%s", folder, cases[c].name);
		assert_false(run_read(path, NULL, &run, &err));
		if (err.code != ERR_INPUT || !strstr(err.msg, cases[c].message) ||
			!strstr(err.msg, cases[c].name))
			fail_msg("%s: %d %s", cases[c].name, err.code, err.msg);
	}
	struct err err = {0};
	assert_false(run_read(folder, NULL, &run, &err));
	assert_int_equal(err.code, ERR_INPUT);
	assert_non_null(strstr(err.msg, "none of 17 files is a trace"));
	remove_folder(folder);
	err = (struct err){0};
	assert_false(run_read("/nonexistent/trace.json", NULL, &run, &err));
	assert_int_equal(err.code, ERR_IO);
	assert_non_null(strstr(err.msg, "/nonexistent/trace.json: can't open"));
	err = (struct err){0};
	assert_false(run_read("/nonexistent/*.json", NULL, &run, &err));
	assert_int_equal(err.code, ERR_IO);
}

static void shortens_names(void **state)
{
	(void)state;
	static const struct {
		const char *argument, *name;
	} cases[] = {
		{"f2_none.rank0.json.zst", "f2_none"},
		{"a/b/f2_none.rank*.json", "f2_none"},
		{"a/b/f2_none.rank[01].json", "f2_none"},
		{"a/b/f2_none*", "f2_none"},
		{"runs/base", "base"},
		{"runs/base/", "base"},
		{"runs/base//", "base"},
		{"runs/base/*", "base"},
		{"host_123.1700000000.pt.trace.json.gz", "host_123.1700000000"},
		{"x_rank-3.inq", "x"},
		{"rank0.json", "rank0"},
		{"base-failed.json", "base-failed"},
		{"step8", "step8"},
		{".", "."},
		{"*", "*"},
		{"/", "/"},
	};
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		const struct run_name name = run_name_of(cases[c].argument);
		char text[64] = {0};
		memcpy(text, name.start, name.length);
		assert_string_equal(text, cases[c].name);
	}
}

static void finds_ranks_in_names(void **state)
{
	(void)state;
	static const struct {
		const char *path;
		int32_t rank;
	} cases[] = {{"x.rank3.json", 3}, {"rank_12.json", 12}, {"rank-0.gz", 0},
		{"a/rank9/b.json", NULL_I32}, {"drank7", 7}, {"ranking.json", NULL_I32},
		{"ranks_rank5.json", 5}, {"rank99999999999.json", NULL_I32}, {"x.json", NULL_I32}};
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
		assert_int_equal(run_rank_from_name(cases[c].path), cases[c].rank);
}

static void survives_every_failed_allocation(void **state)
{
	(void)state;
	char folder[256];
	make_folder(folder, sizeof folder);
	write_trace(folder, "one.json", 0, 2);
	write_trace(folder, "two.json", 1, 2);
	const struct read_options options = {.window_bytes = 64, .thread_count = 1};
	bool is_done = false;
	for (int64_t nth = 1; !is_done; nth++) {
		struct run run;
		struct err err = {0};
		mem_fail_after(nth);
		const bool is_read = run_read(folder, &options, &run, &err);
		is_done = is_read && !mem_has_failed();
		mem_fail_after(0);
		if (is_read)
			run_done(&run);
		else
			assert_int_equal(err.code, ERR_NOMEM);
	}
	remove_folder(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_ranks_of_a_folder),
		cmocka_unit_test(takes_ranks_from_names_and_order),
		cmocka_unit_test(names_both_files_of_one_rank),
		cmocka_unit_test(refuses_in_one_line),
		cmocka_unit_test(shortens_names),
		cmocka_unit_test(finds_ranks_in_names),
		cmocka_unit_test(survives_every_failed_allocation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
