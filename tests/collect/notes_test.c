/*
 * The rings that the training's threads leave their notes in: what goes in comes out, in order and
 * whole, however often the ring turns; what doesn't fit is dropped and counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "collect/notes.h"

#define MANY 100000 /* notes: the ring turns several times */

/* Every third note is a call, the others have texts of all lengths. */
static bool put(int64_t i)
{
	if (i % 3 == 0) {
		const struct note_call call = {.end_ns = i + 1,
			.external_id = (uint64_t)i + 2,
			.correlation = (uint32_t)i + 3,
			.result = -4,
			.cbid = (uint16_t)(i % 1000),
			.domain = 1};
		return notes_put_call(i, 7, &call);
	}
	struct note note = {.at_ns = i, .tid = 7, .kind = NOTE_PUSH};
	note.text_length = (uint8_t)(i % (NOTE_TEXT_MAX + 1));
	memset(note.text, 'a' + (int)(i % 26), note.text_length);
	return notes_put(&note);
}

/* As the writer reads; nothing asserts here, since a thread may be at it. */
struct reader {
	int64_t next;
	uint64_t wrong;
};

static void check_note(void *context, const struct note *note)
{
	struct reader *reader = context;
	const int64_t i = reader->next++;
	bool ok = note->at_ns == i && note->tid == 7;
	if (i % 3 == 0)
		ok = ok && note->kind == NOTE_CALL && note->call.end_ns == i + 1 &&
		     note->call.external_id == (uint64_t)i + 2 &&
		     note->call.correlation == (uint32_t)i + 3 && note->call.result == -4 &&
		     note->call.cbid == i % 1000 && note->call.domain == 1 && !note->text[0];
	else
		ok = ok && note->kind == NOTE_PUSH &&
		     note->text_length == i % (NOTE_TEXT_MAX + 1) &&
		     strlen(note->text) == note->text_length &&
		     (!note->text_length || note->text[0] == 'a' + i % 26);
	reader->wrong += !ok;
}

static void test_full(void **state)
{
	(void)state;
	struct reader reader = {0};
	assert_false(notes_have_any());
	int64_t i = 0;
	for (int turn = 0; turn < 5; turn++) {
		while (put(i))
			i++;
		assert_true(notes_have_any());
		assert_int_equal(notes_dropped(), turn + 1);
		notes_drain(check_note, &reader);
		assert_int_equal(reader.next, i);
		assert_int_equal(reader.wrong, 0);
	}
	assert_true(i > 20000);
}

static void *put_many(void *unused)
{
	(void)unused;
	for (int64_t i = 0; i < MANY;)
		i += put(i);
	return NULL;
}

static void test_reader_beside(void **state)
{
	(void)state;
	struct reader reader = {0};
	pthread_t thread;
	notes_forget();
	assert_false(notes_have_any());
	assert_int_equal(pthread_create(&thread, NULL, put_many, NULL), 0);
	while (reader.next < MANY)
		notes_drain(check_note, &reader);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(reader.wrong, 0);
}

/* Whether the system gives pages ahead of their use, and nothing else touches any. */
static bool can_count_faults(void)
{
#ifdef __SANITIZE_THREAD__
	return false;
#else
	static _Alignas(4096) char page[4096];
	return madvise(page, sizeof page, 23 /* MADV_POPULATE_WRITE */) == 0;
#endif
}

/* A thread that has begun to leave many notes doesn't pay for the first touch of its pages. */
static void test_faults(void **state)
{
	(void)state;
	struct rusage before, after;
	struct reader reader = {0};
	int64_t i = 0;
	notes_forget();
	while (i < 1000)
		i += put(i);
	notes_drain(check_note, &reader);
	assert_int_equal(getrusage(RUSAGE_THREAD, &before), 0);
	while (put(i))
		i++;
	assert_int_equal(getrusage(RUSAGE_THREAD, &after), 0);
	/* cmocka's own skip() is a failure to meson. */
	if (!can_count_faults())
		printf("# left out: no count of page faults\n");
	else
		assert_true(after.ru_minflt - before.ru_minflt < 64);
}

static void test_inert(void **state)
{
	(void)state;
	const uint64_t dropped = notes_dropped();
	notes_go_inert();
	assert_false(put(0));
	assert_false(put(1));
	assert_false(notes_have_any());
	assert_true(notes_dropped() <= dropped);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_reader_beside),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_inert),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
