/*
 * What is read back is what was written; what is no trace of ours is refused in one line.
 */
#include "sample_trace.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/mem.h"
#include "read/inq.h"
#include "render/archive.h"
#include "store/schema.h"

static char folder[128], plain[160], packed[160], other[160];

static void write_sample(const char *path, bool compress)
{
	struct trace trace;
	struct breakdown breakdown;
	struct rank_result rank;
	struct err err = {0};
	sample_trace(&trace);
	sample_breakdown(&breakdown, &rank);
	if (!archive_write(path, &trace, &breakdown, 0, 0xfedcba9876543210, compress, &err))
		fail_msg("%s", err.msg);
	trace_done(&trace);
}

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "%s/inquest-inq.XXXXXX",
		getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(folder))
		return -1;
	snprintf(plain, sizeof plain, "%s/a?b%%20#.inq", folder); /* means something in a URI */
	snprintf(packed, sizeof packed, "%s/a.inq.zst", folder);
	snprintf(other, sizeof other, "%s/other.inq", folder);
	write_sample(plain, false);
	write_sample(packed, true);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(plain);
	unlink(packed);
	unlink(other);
	return rmdir(folder);
}

static void read_is_what_was_written(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct trace expected, found;
		struct err err = {0};
		sample_trace(&expected);
		if (!inq_read(i ? packed : plain, i != 0, &found, &err))
			fail_msg("%s", err.msg);
		assert_same_trace(&expected, &found);
		trace_done(&expected);
		trace_done(&found);
	}
}

/* A trace without a row in any table. */
static void empty_trace(void **state)
{
	(void)state;
	struct trace expected = {0}, found;
	struct err err = {0};
	assert_true(trace_init(&expected, &err));
	assert_true(trace_set_file(&expected, "x", &err));
	expected.rank = expected.world_size = expected.data_parallel = NULL_I32;
	expected.gpu_memory_bytes = NULL_I64;
	assert_true(trace_seal(&expected, &err));
	assert_true(archive_write(other, &expected, NULL, 0, 0, false, &err));
	assert_true(inq_read(other, false, &found, &err));
	assert_same_trace(&expected, &found);
	trace_done(&expected);
	trace_done(&found);
}

static char *read_file(const char *path, size_t *ret_size)
{
	const int fd = open(path, O_RDONLY);
	struct stat status;
	assert_int_equal(fstat(fd, &status), 0);
	char *bytes = malloc((size_t)status.st_size);
	assert_int_equal(read(fd, bytes, (size_t)status.st_size), status.st_size);
	close(fd);
	*ret_size = (size_t)status.st_size;
	return bytes;
}

static void write_file(const char *path, const char *bytes, size_t size)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
}

/* Refuses `other` with a line that begins with its name and holds `phrase`. */
static void assert_refused(bool is_zst, const char *phrase)
{
	struct trace trace = {0};
	struct err err = {0};
	if (inq_read(other, is_zst, &trace, &err))
		fail_msg("read in spite of: %s", phrase);
	assert_int_equal(err.code, ERR_INPUT);
	assert_memory_equal(err.msg, other, strlen(other));
	assert_null(strchr(err.msg, '\n'));
	if (!strstr(err.msg, phrase))
		fail_msg("\"%s\" lacks \"%s\"", err.msg, phrase);
}

/* `other` becomes the sample, edited. */
static void edit(const char *sql)
{
	size_t size;
	char *bytes = read_file(plain, &size);
	write_file(other, bytes, size);
	free(bytes);
	sqlite3 *db;
	char *message = NULL;
	assert_int_equal(sqlite3_open(other, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s: %s", sql, message);
	sqlite3_close(db);
}

static void foreign_databases(void **state)
{
	(void)state;
	static const struct {
		const char *sql, *phrase;
	} cases[] = {
		{"PRAGMA application_id = 7", "no trace of inquest's"},
		{"PRAGMA user_version = 2", "newer"},
		{"PRAGMA user_version = 0", "never was"},
		{"DROP TABLE clock", "there is no table clock"},
		{"DROP TABLE meta", "there is no table meta"},
		{"ALTER TABLE gpu_op RENAME TO old; CREATE VIEW gpu_op AS SELECT * FROM old",
			"there is no table gpu_op"},
		{"ALTER TABLE gpu_op RENAME COLUMN kind TO sort", "no such column: kind"},
		{"DROP TABLE clock; CREATE TABLE clock (id INTEGER PRIMARY KEY, at_ns, realtime_ns,"
		 " monotonic_ns AS (abs(at_ns)))",
			"computed columns"},
		{"DROP TABLE clock; CREATE VIRTUAL TABLE clock USING fts5(id, at_ns)",
			"there is no table clock"},
		{"DELETE FROM api_call WHERE id = 1", "leave a gap at 1"},
		{"UPDATE gpu_op SET id = -1 WHERE id = 0", "leave a gap at 0"},
		{"DELETE FROM string WHERE id = 3", "id 3"},
		{"UPDATE string SET value = 'x' WHERE id = 0", "not the empty text"},
		{"UPDATE string SET value = '' WHERE id = 2", "repeats"},
		{"UPDATE gpu_op SET name_id = 1000000 WHERE id = 1", "name_id is 1000000"},
		{"UPDATE gpu_op SET stream_id = 2", "refers to nothing"},
		{"UPDATE gpu_op SET stream_id = -1", "stream_id is out of range"},
		{"UPDATE gpu_op SET api_call_id = 3", "refers to nothing"},
		{"UPDATE collective SET gpu_op_id = 77 WHERE id = 0", "refers to nothing"},
		{"UPDATE stream_wait SET recorded_stream_id = 2", "refers to nothing"},
		{"UPDATE stream_wait SET record_call_id = 3", "refers to nothing"},
		{"UPDATE host_op SET kind = 3", "refers to nothing"},
		{"UPDATE host_op SET kind = 256", "kind is out of range"},
		{"UPDATE host_op SET end_ns = -5", "ends before it starts"},
		{"UPDATE host_op SET end_ns = 9223372036854775807", "is no time"},
		{"UPDATE api_call SET correlation = 4294967295", "correlation is out of range"},
		{"UPDATE api_call SET result = 2147483648", "result is out of range"},
		{"UPDATE marker SET region = -9223372036854775807 - 1", "region is out of range"},
		{"DROP TABLE clock; CREATE TABLE clock (id INTEGER PRIMARY KEY, at_ns, realtime_ns,"
		 " monotonic_ns); INSERT INTO clock VALUES (0, 1, 'now', 3)",
			"realtime_ns is no integer"},
		{"DROP TABLE clock; CREATE TABLE clock (id INTEGER PRIMARY KEY, at_ns, realtime_ns,"
		 " monotonic_ns); INSERT INTO clock VALUES (0, 1, NULL, 3)",
			"realtime_ns is null"},
		{"UPDATE meta SET value = 'two' WHERE key = 'rank'", "rank is no integer"},
		{"UPDATE meta SET value = -2 WHERE key = 'rank'", "rank is out of range"},
		{"UPDATE meta SET value = 2 WHERE key = 'has_nccl'", "has_nccl is out of range"},
		{"UPDATE meta SET value = 5 WHERE key = 'gpu'", "gpu is no text"},
		{"UPDATE string SET value = zeroblob(9) || hex(zeroblob(3000000)) WHERE id = 2",
			"too big"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		edit(cases[i].sql);
		assert_refused(false, cases[i].phrase);
	}
}

static void no_databases_at_all(void **state)
{
	(void)state;
	write_file(other, "", 0);
	assert_refused(false, "no trace");
	assert_refused(true, "no trace");
	write_file(other, "{\"traceEvents\": [", 17);
	assert_refused(false, "not a database");
	assert_refused(true, "no trace");
	size_t size;
	char *bytes = read_file(plain, &size);
	for (size_t left = 100; left < size; left += 4096) {
		write_file(other, bytes, left);
		assert_refused(false, "cut short");
		assert_refused(true, "cut short");
	}
	/* More than its header says. */
	char *longer = calloc(1, size + 4096);
	memcpy(longer, bytes, size);
	write_file(other, longer, size + 4096);
	assert_refused(true, "more than");
	free(longer);
	free(bytes);
	struct trace trace;
	struct err err = {0};
	assert_false(inq_read("no/such.inq", false, &trace, &err));
	assert_int_equal(err.code, ERR_IO);
	err = (struct err){0};
	assert_false(inq_read("no/such.inq.zst", true, &trace, &err));
	assert_int_equal(err.code, ERR_IO);
}

static void damaged_archives(void **state)
{
	(void)state;
	struct trace expected;
	size_t size;
	sample_trace(&expected);
	char *bytes = read_file(packed, &size);
	for (size_t left = 0; left < size; left += 97) {
		write_file(other, bytes, left);
		assert_refused(true, "");
	}
	for (size_t at = 0; at < size; at += 31) {
		bytes[at] ^= 0x55;
		write_file(other, bytes, size);
		struct trace trace;
		struct err err = {0};
		/* Some bits of zstd mean nothing; the checksum sees to it that all others are seen.
		 */
		if (inq_read(other, true, &trace, &err)) {
			assert_same_trace(&expected, &trace);
			trace_done(&trace);
		}
		bytes[at] ^= 0x55;
	}
	trace_done(&expected);
	free(bytes);
}

/* Bytes of the database itself go wrong: a trace or a line, never a crash. */
static void damaged_pages(void **state)
{
	(void)state;
	size_t size;
	char *bytes = read_file(plain, &size);
	uint32_t random = 1;
	for (int round = 0; round < 400; round++) {
		char before[4];
		size_t at[4];
		for (int i = 0; i < 4; i++) {
			random = random * 1664525 + 1013904223;
			at[i] = random % size;
			before[i] = bytes[at[i]];
			bytes[at[i]] = (char)(random >> 24);
		}
		write_file(other, bytes, size);
		struct trace trace;
		struct err err = {0};
		if (inq_read(other, false, &trace, &err))
			trace_done(&trace);
		else
			assert_int_not_equal(err.code, ERR_INTERNAL);
		for (int i = 3; i >= 0; i--)
			bytes[at[i]] = before[i];
	}
	free(bytes);
}

static void unknown_schema_is_counted(void **state)
{
	(void)state;
	struct trace trace;
	struct err err = {0};
	edit("CREATE TABLE notes (text); ALTER TABLE gpu_op ADD COLUMN colour INTEGER;"
	     "INSERT INTO meta VALUES ('mood', 'good'); CREATE VIEW mine AS SELECT 1");
	assert_true(inq_read(other, false, &trace, &err));
	assert_int_equal(trace.diag.row[DIAG_EXTRA_SCHEMA].count, 2);
	trace_done(&trace);
}

/* A recorder's file: not sealed, does not say its name. */
static void unsealed_is_sealed(void **state)
{
	(void)state;
	struct trace expected, found;
	struct err err = {0};
	edit("UPDATE meta SET value = 0 WHERE key = 'sealed';"
	     "UPDATE meta SET value = NULL WHERE key = 'file'; DELETE FROM diagnostic;"
	     "UPDATE gpu_op SET api_call_id = NULL;"
	     "UPDATE host_op SET id = 9 WHERE id = 0; UPDATE host_op SET id = 0 WHERE id = 2;"
	     "UPDATE host_op SET id = 2 WHERE id = 9;");
	if (!inq_read(other, false, &found, &err))
		fail_msg("%s", err.msg);
	assert_string_equal(found.file, other);
	sample_trace(&expected);
	assert_true(trace_set_file(&found, expected.file, &err));
	found.diag = expected.diag;
	assert_same_trace(&expected, &found);
	trace_done(&expected);
	trace_done(&found);
}

/* What was written in a log beside the file and not yet moved into it. */
static void a_live_recording(void **state)
{
	(void)state;
	edit("PRAGMA journal_mode = WAL");
	sqlite3 *db;
	assert_int_equal(sqlite3_open(other, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "UPDATE meta SET value = 41 WHERE key = 'event_count'",
				 NULL, NULL, NULL),
		SQLITE_OK);
	struct trace trace;
	struct err err = {0};
	if (!inq_read(other, false, &trace, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(trace.event_count, 41);
	trace_done(&trace);
	sqlite3_close(db);
}

static void failing_allocations(void **state)
{
	(void)state;
	for (int is_zst = 0; is_zst < 2; is_zst++)
		for (int64_t nth = 1;; nth++) {
			struct trace trace;
			struct err err = {0};
			mem_fail_after(nth);
			const bool ok =
				inq_read(is_zst ? packed : plain, is_zst != 0, &trace, &err);
			const bool has_failed = mem_has_failed();
			mem_fail_after(0);
			if (ok)
				trace_done(&trace);
			else
				assert_int_equal(err.code, ERR_NOMEM);
			if (!has_failed) {
				assert_true(ok);
				break;
			}
		}
}

static void assert_answer(sqlite3 *db, const char *sql, const char *expected)
{
	sqlite3_stmt *select;
	if (sqlite3_prepare_v2(db, sql, -1, &select, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	char found[1024] = "";
	size_t at = 0;
	while (sqlite3_step(select) == SQLITE_ROW)
		for (int i = 0; i < sqlite3_column_count(select); i++) {
			const char *text = (const char *)sqlite3_column_text(select, i);
			at += (size_t)snprintf(found + at, sizeof found - at, "%s%s",
				text ? text : "-",
				i + 1 < sqlite3_column_count(select) ? " " : "\n");
		}
	sqlite3_finalize(select);
	if (strcmp(found, expected) != 0)
		fail_msg("%s\n%s", sql, found);
}

/* What a person sees at the shell; sums agree to the nanosecond. */
static void views(void **state)
{
	(void)state;
	static const struct {
		const char *sql, *answer;
	} cases[] = {
		{"SELECT s.name, s.end_ns - s.start_ns - sum(p.end_ns - p.start_ns) FROM step AS s"
		 " JOIN part AS p ON p.step_id = s.id GROUP BY s.id",
			"ProfilerStep#1 0\nProfilerStep#2 0\n"},
		{"SELECT name, duration_ns, unowned_ns, busy_ms, blocked_ms, starved_ms, used"
		 " FROM steps",
			"ProfilerStep#1 200 0 0.0 0.0 0.0 0\nProfilerStep#2 700 0 0.0 0.0 0.001 "
			"1\n"},
		{"SELECT s.name, s.duration_ns - sum(p.ns) FROM steps AS s"
		 " JOIN parts_by_step AS p ON p.step_id = s.id GROUP BY s.id",
			"ProfilerStep#1 0\nProfilerStep#2 0\n"},
		{"SELECT step_id, state, phase, blocked_on, waits_for, reason, how, ns"
		 " FROM parts_by_step",
			"0 busy forward - - - structural 100\n"
			"0 blocked - all_gather - backward inferred 100\n"
			"1 starved - - - allocator exact 600\n"
			"1 blocked - copy copy - exact 99\n"
			"1 starved recompute - - dispatch exact 1\n"},
		{"SELECT name, kind, phase, step_id, unit, stream, duration_ns, grid FROM kernels"
		 " ORDER BY start_ns",
			"sgemm kernel forward 0 layers.0 7 100 8x1x1\n"
			"ncclDevKernel_AllGather collective - 0 layers.0 20 150 -\n"
			"Memcpy DtoD memcpy - 1 - 7 100 -\n"},
		{"SELECT phase, name, count, total_ns, mean_ns FROM kernels_by_phase",
			"forward sgemm 1 100 100\n"},
		{"SELECT unit, reason, how, prefetched, count, bytes, blocked_ns"
		 " FROM gathers_by_unit",
			"(root) forward structural 0 1 32 0\n(root) backward unknown 0 1 32 1\n"
			"layers.0 repeat structural 1 2 64 5\n"},
		{"SELECT kind, communicator, sequence, dtype, unit, stream, duration_ns, name"
		 " FROM collectives",
			"all_gather default [0, 1] - BFloat16 layers.0 20 150"
			" ncclDevKernel_AllGather\n"
			"all_gather default [0, 1] 3 BFloat16 - - - -\n"},
		{"SELECT call, name, duration_ns, ahead_ns, phase FROM launches ORDER BY start_ns",
			"cudaLaunchKernel sgemm 10 70 forward\n"
			"cudaLaunchKernel ncclDevKernel_AllGather 10 20 -\n"
			"cudaLaunchKernel Memcpy DtoD 10 70 -\n"},
		{"SELECT * FROM memory_peaks", "0 2 512 15 2048 15\n"},
		{"SELECT stream, role, ops, compute_ns, collective_ns, copy_ns FROM streams",
			"7 compute 2 100 0 100\n20 collectives 1 0 150 0\n"},
		{"SELECT phase, op, count, flop FROM flop",
			"0 - - 48\n1 - - -\n2 - - 96\n- aten::einsum 3 -\n"},
		{"SELECT kind, severity, count, first_file, first_byte FROM diagnostic"
		 " WHERE kind IN ('bad_event', 'no_steps')",
			"bad_event data_loss 2 runs/rank0.json.gz 81920\n"
			"no_steps info 1 runs/rank0.json.gz -\n"},
		{"SELECT value FROM meta WHERE key IN ('rules', 'rank', 'data_parallel', 'mfu')"
		 " ORDER BY key",
			"-\n-\n0\nfedcba9876543210\n"},
	};
	sqlite3 *db;
	assert_int_equal(sqlite3_open_v2(plain, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_answer(db, cases[i].sql, cases[i].answer);
	sqlite3_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read_is_what_was_written),
		cmocka_unit_test(empty_trace),
		cmocka_unit_test(foreign_databases),
		cmocka_unit_test(no_databases_at_all),
		cmocka_unit_test(damaged_archives),
		cmocka_unit_test(damaged_pages),
		cmocka_unit_test(unknown_schema_is_counted),
		cmocka_unit_test(unsealed_is_sealed),
		cmocka_unit_test(a_live_recording),
		cmocka_unit_test(failing_allocations),
		cmocka_unit_test(views),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
