/*
 * The schema against the column lists, and what becomes of a file that can't be written.
 */
#include "sample_trace.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/mem.h"
#include "render/archive.h"
#include "store/atomic_file.h"
#include "store/column_facts.h"
#include "store/database.h"
#include "store/schema.h"
#include "trace/words.h"

#define DOC_WIDTH 54u

struct text {
	char bytes[8192];
	size_t length;
};

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct text *text, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	text->length += (size_t)vsnprintf(
		text->bytes + text->length, sizeof text->bytes - text->length, format, arguments);
	va_end(arguments);
	assert_true(text->length < sizeof text->bytes);
}

/* A declaration and its meaning beside it, wrapped. */
static void add_column(struct text *text, const char *declaration, const char *doc)
{
	while (*doc) {
		size_t length = strlen(doc);
		if (length > DOC_WIDTH) {
			length = DOC_WIDTH;
			while (doc[length] != ' ')
				length--;
		}
		add(text, "\t%-34s -- %.*s\n", declaration, (int)length, doc);
		doc += length;
		doc += *doc == ' ';
		declaration = "";
	}
}

/* The columns of a table as trace.sql has them. */
static void make_columns(struct text *text, const struct table_desc *desc)
{
	add_column(text, "id INTEGER PRIMARY KEY,", "row number, from 0");
	for (uint32_t c = 0; c < desc->column_count; c++) {
		const struct column_desc *column = &desc->columns[c];
		char declaration[128];
		snprintf(declaration, sizeof declaration, "%s INTEGER%s%s", column->name,
			column_is_required(column) ? " NOT NULL" : "",
			c + 1 < desc->column_count ? "," : "");
		add_column(text, declaration, column->doc);
	}
	add(text, ") STRICT;\n");
}

static void schema_is_the_column_lists(void **state)
{
	(void)state;
	for (uint32_t t = 0; t < trace_table_count; t++) {
		char begin[128];
		snprintf(begin, sizeof begin, "\nCREATE TABLE %s (", trace_tables[t].name);
		const char *found = strstr(embedded_trace_sql, begin);
		if (!found)
			fail_msg("schemas/trace.sql has no table %s", trace_tables[t].name);
		found = strchr(found + strlen(begin), '\n') +
			1; /* behind the table's own comment */
		static struct text expected;
		expected.length = 0;
		make_columns(&expected, trace_tables[t].desc);
		if (strncmp(found, expected.bytes, expected.length) != 0)
			fail_msg("schemas/trace.sql: table %s should be\n%s", trace_tables[t].name,
				expected.bytes);
	}
}

static sqlite3 *open_empty(void)
{
	sqlite3 *db;
	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	char *message = NULL;
	if (sqlite3_exec(db, embedded_trace_sql, NULL, NULL, &message) != SQLITE_OK ||
		sqlite3_exec(db, embedded_trace_indexes_sql, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s", message);
	return db;
}

static void schema_has_its_ids_and_tables(void **state)
{
	(void)state;
	sqlite3 *db = open_empty();
	int64_t value;
	struct err err = {0};
	assert_true(database_integer(db, "PRAGMA application_id", &value, &err));
	assert_int_equal(value, SCHEMA_APPLICATION_ID);
	assert_true(database_integer(db, "PRAGMA user_version", &value, &err));
	assert_int_equal(value, SCHEMA_VERSION);
	assert_true(database_integer(
		db, "SELECT count(*) FROM sqlite_schema WHERE type = 'table'", &value, &err));
	assert_int_equal(value, trace_table_count + schema_other_table_count);
	assert_true(database_integer(db,
		"SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
		" AND name <> 'sqlite_schema' AND NOT strict",
		&value, &err));
	assert_int_equal(value, 0);
	sqlite3_close(db);
}

static void assert_word(sqlite3 *db, const char *domain, int value, const char *word)
{
	sqlite3_stmt *select;
	assert_int_equal(sqlite3_prepare_v2(db,
				 "SELECT word, (SELECT count(*) FROM word WHERE domain = ?1)"
				 " FROM word WHERE domain = ?1 AND value = ?2",
				 -1, &select, NULL),
		SQLITE_OK);
	sqlite3_bind_text(select, 1, domain, -1, SQLITE_STATIC);
	sqlite3_bind_int(select, 2, value);
	if (sqlite3_step(select) != SQLITE_ROW)
		fail_msg("no word %s %d", domain, value);
	if (word)
		assert_string_equal((const char *)sqlite3_column_text(select, 0), word);
	else /* the last of its enumeration */
		assert_int_equal(sqlite3_column_int(select, 1), value + 1);
	sqlite3_finalize(select);
}

static void words_are_the_enumerations(void **state)
{
	(void)state;
	sqlite3 *db = open_empty();
	for (int i = 0; i < STATE_COUNT; i++)
		assert_word(db, "state", i, state_word((enum state)i));
	for (int i = 0; i < PHASE_COUNT; i++)
		assert_word(db, "phase", i, phase_word((enum phase)i));
	for (int i = 0; i < HOLDER_COUNT; i++)
		assert_word(db, "holder", i, holder_word((enum holder)i));
	for (int i = 0; i < GATHER_COUNT; i++)
		assert_word(db, "gather_reason", i, gather_word((enum gather_reason)i));
	for (int i = 0; i < STARVE_COUNT; i++)
		assert_word(db, "starve_reason", i, starve_word((enum starve_reason)i));
	for (int i = 0; i < HOW_COUNT; i++)
		assert_word(db, "how", i, how_word((enum how)i));
	assert_word(db, "state", STATE_COUNT - 1, NULL);
	assert_word(db, "phase", PHASE_COUNT - 1, NULL);
	assert_word(db, "holder", HOLDER_COUNT - 1, NULL);
	assert_word(db, "gather_reason", GATHER_COUNT - 1, NULL);
	assert_word(db, "starve_reason", STARVE_COUNT - 1, NULL);
	assert_word(db, "how", HOW_COUNT - 1, NULL);
	for (uint32_t t = 0; t < trace_table_count; t++)
		for (uint32_t c = 0; c < trace_tables[t].desc->column_count; c++) {
			const struct column_desc *column = &trace_tables[t].desc->columns[c];
			if (column->type != COLUMN_U8)
				continue;
			assert_int_not_equal(column_word_count(column), 0);
			assert_word(db, column->doc + strlen("enum "),
				(int)column_word_count(column) - 1, NULL);
		}
	sqlite3_close(db);
}

/* Every *_id column is known to refer to something. */
static void references_are_known(void **state)
{
	(void)state;
	for (uint32_t t = 0; t < trace_table_count; t++)
		for (uint32_t c = 0; c < trace_tables[t].desc->column_count; c++) {
			const struct column_desc *column = &trace_tables[t].desc->columns[c];
			const size_t length = strlen(column->name);
			const bool is_id =
				length > 3 && strcmp(column->name + length - 3, "_id") == 0;
			if (is_id != (column_target(column) != TARGET_NONE))
				fail_msg("%s.%s refers to nothing known", trace_tables[t].name,
					column->name);
		}
}

static char folder[128];

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "%s/inquest-store.XXXXXX",
		getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	return mkdtemp(folder) ? 0 : -1;
}

/* How many files the folder holds; they are removed when `remove_them`. */
static int count_files(bool remove_them)
{
	int count = 0;
	DIR *listing = opendir(folder);
	assert_non_null(listing);
	for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		count++;
		if (remove_them)
			unlinkat(dirfd(listing), entry->d_name, 0);
	}
	closedir(listing);
	return count;
}

static int remove_folder(void **state)
{
	(void)state;
	count_files(true);
	return rmdir(folder);
}

static void in_folder(char path[256], const char *name)
{
	snprintf(path, 256, "%s/%s", folder, name);
}

static void assert_write_fails(const char *path, bool compress, enum err_code code)
{
	struct trace trace;
	struct breakdown breakdown;
	struct rank_result rank;
	struct err err = {0};
	sample_trace(&trace);
	sample_breakdown(&breakdown, &rank);
	assert_false(archive_write(path, &trace, &breakdown, 0, 1, compress, &err));
	if (err.code != code)
		fail_msg("%s", err.msg);
	assert_memory_equal(err.msg, path, strlen(path));
	trace_done(&trace);
}

static void places_that_cannot_be_written(void **state)
{
	(void)state;
	char path[256];
	in_folder(path, "no/such/folder.inq");
	assert_write_fails(path, false, ERR_IO);
	assert_write_fails("/proc/x.inq", false, ERR_IO);
	assert_write_fails(folder, false, ERR_IO);
	assert_write_fails("/dev/null", true, ERR_IO);
	struct stat status;
	assert_int_equal(stat("/dev/null", &status), 0);
	assert_true(S_ISCHR(status.st_mode));
	assert_int_equal(count_files(false), 0);
}

/* A disk that is full after so many bytes, as far as this process can tell. */
static void full_disk_leaves_what_was_there(void **state)
{
	(void)state;
	char path[256];
	in_folder(path, "full.inq");
	FILE *old = fopen(path, "w");
	assert_non_null(old);
	fputs("what was there", old);
	fclose(old);
	signal(SIGXFSZ, SIG_IGN);
	struct rlimit limit, before;
	getrlimit(RLIMIT_FSIZE, &before);
	for (rlim_t bytes = 0; bytes <= 200 << 10; bytes += 50 << 10) {
		limit = (struct rlimit){bytes, before.rlim_max};
		setrlimit(RLIMIT_FSIZE, &limit);
		assert_write_fails(path, bytes & 1, ERR_IO);
		assert_write_fails(path, true, ERR_IO);
		setrlimit(RLIMIT_FSIZE, &before);
		assert_int_equal(count_files(false), 1);
	}
	char text[32] = "";
	old = fopen(path, "r");
	assert_non_null(fgets(text, sizeof text, old));
	fclose(old);
	assert_string_equal(text, "what was there");
	count_files(true);
}

/*
 * Allocations fail in their turn, SQLite's too: one error, no file.  There are thousands, and
 * alike: all of the first are tried, then ever fewer.
 */
static void failing_allocations(void **state)
{
	(void)state;
	char path[256];
	in_folder(path, "memory.inq");
	struct trace trace;
	struct breakdown breakdown;
	struct rank_result rank;
	sample_trace(&trace);
	sample_breakdown(&breakdown, &rank);
	for (int compress = 0; compress < 2; compress++)
		for (int64_t nth = 1;; nth += 1 + nth / 256) {
			struct err err = {0};
			mem_fail_after(nth);
			const bool ok =
				archive_write(path, &trace, &breakdown, 0, 1, compress != 0, &err);
			const bool has_failed = mem_has_failed();
			mem_fail_after(0);
			if (count_files(true) != ok)
				fail_msg("%lld: %s", (long long)nth, err.msg);
			/* SQLite does without some of its allocations, as of its cache. */
			if (!ok)
				assert_int_equal(err.code, ERR_NOMEM);
			if (!has_failed) {
				assert_true(ok);
				break;
			}
		}
	trace_done(&trace);
}

static void modes_follow_the_umask(void **state)
{
	(void)state;
	char path[256];
	in_folder(path, "mode.inq");
	struct trace trace;
	struct err err = {0};
	sample_trace(&trace);
	const mode_t before = umask(027);
	assert_true(archive_write(path, &trace, NULL, 0, 0, false, &err));
	umask(before);
	struct stat status;
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0640);
	assert_int_equal(count_files(true), 1);
	trace_done(&trace);
}

/* SQLite's allocations go through the library's door, so that they can be made to fail. */
static void *sqlite_new(int size)
{
	size_t *block = mem_new(1, (size_t)size + 16, NULL);
	if (!block)
		return NULL;
	*block = (size_t)size;
	return block + 2;
}

static void sqlite_free(void *block)
{
	if (block)
		mem_free((size_t *)block - 2);
}

static int sqlite_size(void *block)
{
	return block ? (int)((size_t *)block)[-2] : 0;
}

static void *sqlite_resize(void *block, int size)
{
	size_t *old = (size_t *)block - 2;
	if (!mem_resize(&old, 1, (size_t)size + 16, NULL))
		return NULL;
	*old = (size_t)size;
	return old + 2;
}

static int sqlite_round(int size)
{
	return (size + 7) & ~7;
}

static int sqlite_begin(void *data)
{
	(void)data;
	return SQLITE_OK;
}

static void sqlite_end(void *data)
{
	(void)data;
}

int main(void)
{
	static const sqlite3_mem_methods methods = {.xMalloc = sqlite_new,
		.xFree = sqlite_free,
		.xRealloc = sqlite_resize,
		.xSize = sqlite_size,
		.xRoundup = sqlite_round,
		.xInit = sqlite_begin,
		.xShutdown = sqlite_end};
	sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(schema_is_the_column_lists),
		cmocka_unit_test(schema_has_its_ids_and_tables),
		cmocka_unit_test(words_are_the_enumerations),
		cmocka_unit_test(references_are_known),
		cmocka_unit_test(places_that_cannot_be_written),
		cmocka_unit_test(full_disk_leaves_what_was_there),
		cmocka_unit_test(failing_allocations),
		cmocka_unit_test(modes_follow_the_umask),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
