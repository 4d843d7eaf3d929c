/*
 * The collector under load: more launches than it can take, threads that come and go, windows that
 * open and close meanwhile.
 *
 * Usage: load_test COLLECTOR STANDIN_CUPTI [records]; INQUEST names the command.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "recorded.h"
#include "trainee.h"

#define CUT "SELECT count(*) FROM diagnostic WHERE kind = 'recording_cut'"

static void flood(const struct trainee *t)
{
	/* 256 bytes a launch: more than all buffers hold, faster than the writer is. */
	launch_many(t, 700000);
}

static void test_flood(void **state)
{
	(void)state;
	struct recorded r;
	train(flood, 0);
	recorded_open(&r, "rank0.inq");
	const long long rows = sql_number(&r, "SELECT count(*) FROM gpu_op");
	const long long lost =
		sql_number(&r, "SELECT coalesce(sum(count), 0) FROM diagnostic WHERE kind ="
			       " 'dropped_records'");
	/* A lost call and its lost kernel are two. */
	const long long calls = sql_number(&r, "SELECT count(*) FROM api_call");
	const long long missing = 700000 - (rows < calls ? rows : calls);
	/* A slow machine's writer does not get to its end in the time it has at exit. */
	const bool is_cut = sql_number(&r, CUT) == 1;
	if (missing ? lost <= 0 && !is_cut : lost != 0 || is_cut)
		fail_msg("%lld of 700000 are missing, %lld are said to be lost%s", missing, lost,
			is_cut ? ", cut" : "");
	assert_sql(&r, "1", "SELECT max(id) + 1 = count(*) FROM gpu_op");
	recorded_close(&r);
}

#define THREADS 4
static const struct trainee *shared_trainee;

static void *work(void *unused)
{
	(void)unused;
	for (int i = 0; i < 2000; i++) {
		shared_trainee->push("FSDP::all_gather (layers.0)");
		launch_many(shared_trainee, 1);
		shared_trainee->pop();
		if (i % 50 == 0)
			shared_trainee->sleep_ms(5);
	}
	return NULL;
}

static void train_in_threads(const struct trainee *t)
{
	pthread_t threads[THREADS];
	shared_trainee = t;
	/* Two generations, so that the second takes over the rings of the first. */
	for (int generation = 0; generation < 2; generation++) {
		for (int i = 0; i < THREADS; i++)
			if (pthread_create(&threads[i], NULL, work, NULL) != 0)
				_exit(6);
		for (int step = 0; step < 30; step++) {
			char text[32];
			snprintf(text, sizeof text, "inquest:step:%d", step);
			t->push(text);
			t->sleep_ms(10);
			t->pop();
		}
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
	}
}

static void test_threads(void **state)
{
	(void)state;
	struct recorded r;
	train(train_in_threads, 0);
	recorded_open(&r, "rank0.inq");
	assert_sql(&r, "16000", "SELECT count(*) FROM gpu_op");
	assert_sql(&r, "16060", "SELECT count(*) FROM host_op");
	assert_sql(&r, "0", "SELECT count(*) FROM diagnostic");
	recorded_close(&r);
}

static void test_threads_and_windows(void **state)
{
	(void)state;
	struct recorded r;
	setenv("INQUEST_RECORD_STEPS", "2:5,7:9,12:20", 1);
	train(train_in_threads, 0);
	recorded_open(&r, "rank0.inq");
	assert_true(sql_number(&r, "SELECT count(*) FROM gpu_op") < 16000);
	assert_sql(&r, "26", "SELECT count(*) FROM marker");
	recorded_close(&r);
}

/* As a hook does in 1,000 steps of 16 regions, and a program whose ranges say what second it is. */
static void never_twice(const struct trainee *t)
{
	launch_many(t, 1);
	for (int i = 0; i < 16000; i++) {
		char text[48];
		snprintf(text, sizeof text, "inquest:%s:%d:layers.%d",
			i % 2 ? "recompute" : "checkpoint", i, i % 8);
		t->push(text);
		t->pop();
		if (i % 1000 == 0)
			t->sleep_ms(100);
	}
	for (int i = 0; i < 110000; i++) {
		char text[48];
		snprintf(text, sizeof text, "second %d", i);
		t->push(text);
		t->pop();
		if (i % 2000 == 0)
			t->sleep_ms(100);
	}
}

/* The writer keeps every text, so their number must end. */
static void test_many_texts(void **state)
{
	(void)state;
	struct recorded r;
	train(never_twice, 0);
	recorded_open(&r, "rank0.inq");
	assert_sql(&r, "8", "SELECT count(*) FROM string WHERE value LIKE 'inquest:%'");
	assert_true(sql_number(&r, "SELECT count(DISTINCT region) FROM marker") > 10000);
	assert_in_range(sql_number(&r, "SELECT count(*) FROM string"), 100000, 100010);
	assert_true(sql_number(&r, "SELECT count(*) FROM host_op JOIN string AS s ON s.id = name_id"
				   " WHERE s.value = '(one of too many texts)'") > 0);
	recorded_close(&r);
}

static void launch_for_a_while(const struct trainee *t)
{
	for (int i = 0; i < 20; i++) {
		launch_many(t, 1);
		t->sleep_ms(100);
	}
}

static void test_after_and_for(void **state)
{
	(void)state;
	struct recorded r;
	setenv("INQUEST_RECORD_AFTER", "0.5", 1);
	setenv("INQUEST_RECORD_FOR", "0.5", 1);
	train(launch_for_a_while, 0);
	recorded_open(&r, "rank0.inq");
	const long long rows = sql_number(&r, "SELECT count(*) FROM gpu_op");
	assert_in_range(rows, 1, 9);
	recorded_close(&r);
}

int main(int argument_count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_flood, trainee_set_up),
		cmocka_unit_test_setup(test_threads, trainee_set_up),
		cmocka_unit_test_setup(test_threads_and_windows, trainee_set_up),
		cmocka_unit_test_setup(test_many_texts, trainee_set_up),
		cmocka_unit_test_setup(test_after_and_for, trainee_set_up),
	};
	if (argument_count != 3 && argument_count != 4)
		return 2;
	trainee_use(arguments[1], arguments[2]);
	const int failed = cmocka_run_group_tests_name("load", tests, NULL, NULL);
	trainee_done();
	return failed;
}
