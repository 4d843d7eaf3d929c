/*
 * The collector as a guest: whatever happens to the training process, it ends as it would have
 * without us, and what was recorded opens.
 *
 * Usage: guest_test COLLECTOR STANDIN_CUPTI [records]; INQUEST names the command.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorded.h"
#include "standin_nccl.h"
#include "trainee.h"

#define CUPTI_TAKEN 39

static void launch_once(const struct trainee *t)
{
	launch_many(t, 1);
}

static _Atomic bool *has_launched; /* shared with the trainee */

static void launch_and_wait(const struct trainee *t)
{
	launch_many(t, 100);
	atomic_store(has_launched, true);
	t->sleep_ms(60000);
}

/* Goes on when the launches are over, however slow the machine is. */
static int train_until_launched(void (*body)(const struct trainee *trainee))
{
	atomic_store(has_launched, false);
	const int pid = train_beside(body);
	for (int ms = 0; ms < 20000 && !atomic_load(has_launched); ms++)
		assert_int_equal(usleep(1000), 0);
	assert_true(atomic_load(has_launched));
	return pid;
}

static void wait_for_rows(int pid)
{
	/* Two commits' time. */
	assert_int_equal(usleep(1500000), 0);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
}

#define CUT "SELECT count(*) FROM diagnostic WHERE kind = 'recording_cut'"

/* All there was is there, and the file says whether there may have been more. */
static void assert_hundred(const char *name, bool is_cut)
{
	struct recorded r;
	recorded_open(&r, name);
	assert_sql(&r, "100", "SELECT count(*) FROM gpu_op");
	assert_sql(&r, "100", "SELECT count(*) FROM api_call");
	assert_sql(&r, is_cut ? "1" : "0", CUT);
	assert_readable(&r, "\"gpu_ops\": 100");
	if (is_cut)
		assert_readable(&r, "\"kind\": \"recording_cut\"");
	recorded_close(&r);
}

/* A process that was never asked for, and one that never uses the GPU, leave nothing. */

static void test_not_asked(void **state)
{
	(void)state;
	unsetenv("INQUEST_RECORD_PARENT");
	train(launch_once, 0);
	assert_false(is_recorded("rank0.inq"));
}

static void touch(const struct trainee *t)
{
	t->cupti->device(0, "H200", 1);
	t->push("import torch");
	t->pop();
	t->sleep_ms(900);
}

static void test_no_gpu_work(void **state)
{
	(void)state;
	train(touch, 0);
	assert_false(is_recorded("rank0.inq"));
}

static void test_no_rank(void **state)
{
	(void)state;
	char name[40];
	unsetenv("RANK");
	const int pid = train_beside(launch_once);
	assert_int_equal(wait_for(pid), 0);
	snprintf(name, sizeof name, "pid%d.inq", pid);
	assert_true(is_recorded(name));
}

/* As torch.multiprocessing's examples do, after torch was imported. */
static void test_late_rank(void **state)
{
	(void)state;
	unsetenv("RANK");
	setenv("TRAINEE_LATE_RANK", "3", 1);
	train(launch_once, 0);
	assert_true(is_recorded("rank3.inq"));
}

static void test_restart(void **state)
{
	(void)state;
	struct recorded r;
	train(launch_once, 0);
	train(launch_once, 0);
	recorded_open(&r, "rank0.inq");
	recorded_close(&r);
	recorded_open(&r, "rank0-2.inq");
	assert_sql(&r, "1", "SELECT count(*) FROM gpu_op");
	recorded_close(&r);
}

/* Signals. */

static void test_sigterm(void **state)
{
	(void)state;
	const int pid = train_until_launched(launch_and_wait);
	kill(pid, SIGTERM);
	assert_int_equal(wait_for(pid), -SIGTERM);
	assert_hundred("rank0.inq", false);
}

static void test_sigkill(void **state)
{
	(void)state;
	const int pid = train_until_launched(launch_and_wait);
	wait_for_rows(pid);
	kill(pid, SIGKILL);
	assert_int_equal(wait_for(pid), -SIGKILL);
	assert_hundred("rank0.inq", true);
}

static void launch_for_ever(const struct trainee *t)
{
	for (;;) {
		launch_many(t, 1);
		t->sleep_ms(1);
	}
}

/* How much is lost of a process that is killed while it launches. */
static int64_t lost_ns(void)
{
	struct recorded r;
	const int pid = train_beside(launch_for_ever);
	usleep(2300000);
	const int64_t killed_ns = trainee_now_ns();
	kill(pid, SIGKILL);
	assert_int_equal(wait_for(pid), -SIGKILL);
	recorded_open(&r, "rank0.inq");
	const int64_t last_ns =
		sql_number(&r, "SELECT (SELECT max(start_ns) FROM gpu_op) + value FROM meta"
			       " WHERE key = 'base_unix_ns'");
	assert_sql(&r, "1", CUT);
	recorded_close(&r);
	clear_folder();
	return killed_ns - last_ns;
}

/* At most the last second; a machine that is busy with other things gets further tries. */
static void test_sigkill_in_work(void **state)
{
	(void)state;
	int64_t least_ns = INT64_MAX;
	for (int i = 0; i < 4 && least_ns > 1000000000; i++) {
		const int64_t ns = lost_ns();
		least_ns = ns < least_ns ? ns : least_ns;
	}
	assert_in_range(least_ns, 0, 1000000000);
}

/* The signal ends a sleep, and the program would exit of itself before the writer is done. */
static void end_at_any_signal(const struct trainee *t)
{
	launch_many(t, 100);
	t->sleep_ms(300);
	raise(SIGTERM);
}

static void test_sigterm_at_exit(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++) {
		train(end_at_any_signal, -SIGTERM);
		assert_hundred("rank0.inq", false);
		clear_folder();
	}
}

static void exit_seven(int number)
{
	(void)number;
	exit(7);
}

/* A handler that was there before: ours calls it. */
static void handled_before(const struct trainee *t)
{
	launch_and_wait(t);
}

static void test_sigterm_handled(void **state)
{
	(void)state;
	signal(SIGTERM, exit_seven);
	const int pid = train_until_launched(handled_before);
	signal(SIGTERM, SIG_DFL);
	kill(pid, SIGTERM);
	assert_int_equal(wait_for(pid), 7);
	assert_hundred("rank0.inq", false);
}

static void handled_after(const struct trainee *t)
{
	signal(SIGTERM, exit_seven);
	launch_and_wait(t);
}

static void test_sigterm_handled_later(void **state)
{
	(void)state;
	const int pid = train_until_launched(handled_after);
	kill(pid, SIGTERM);
	assert_int_equal(wait_for(pid), 7);
	assert_hundred("rank0.inq", false);
}

static void ignore_one(const struct trainee *t)
{
	launch_many(t, 100);
	raise(SIGTERM);
	t->sleep_ms(200);
}

static void test_sigterm_ignored(void **state)
{
	(void)state;
	signal(SIGTERM, SIG_IGN);
	const int pid = train_beside(ignore_one);
	signal(SIGTERM, SIG_DFL);
	assert_int_equal(wait_for(pid), 0);
	assert_hundred("rank0.inq", false);
}

static void hang_and_wait(const struct trainee *t)
{
	launch_many(t, 100);
	t->sleep_ms(800);
	t->cupti->hang(true);
	t->sleep_ms(60000);
}

static int64_t seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* CUPTI hangs: the signal ends the process all the same, and so does exit. */
static void test_sigterm_hanging(void **state)
{
	(void)state;
	const int pid = train_beside(hang_and_wait);
	wait_for_rows(pid);
	const int64_t from = seconds();
	kill(pid, SIGTERM);
	assert_int_equal(wait_for(pid), -SIGTERM);
	assert_true(seconds() - from <= 4);
	assert_hundred("rank0.inq", true);
}

static void hang_at_exit(const struct trainee *t)
{
	launch_many(t, 100);
	t->sleep_ms(1200);
	t->cupti->hang(true);
}

static void test_exit_hanging(void **state)
{
	(void)state;
	const int64_t from = seconds();
	train(hang_at_exit, 0);
	assert_true(seconds() - from <= 5);
	assert_hundred("rank0.inq", true);
}

/* Fork and exec. */

static void fork_workers(const struct trainee *t)
{
	launch_many(t, 50);
	t->push("inquest:step:1");
	int status;
	for (int i = 0; i < 4; i++) {
		const pid_t pid = fork();
		if (pid == 0) {
			struct sigaction action;
			t->push("in the child");
			t->pop();
			if (sigaction(SIGTERM, NULL, &action) != 0 || action.sa_handler != SIG_DFL)
				_exit(9);
			if (i == 2)
				raise(SIGTERM);
			exit(i == 3 ? 3 : 0);
		}
		if (waitpid(pid, &status, 0) != pid || (i == 2		? !WIFSIGNALED(status)
							       : i == 3 ? WEXITSTATUS(status) != 3
									: status != 0))
			_exit(10);
	}
	t->pop();
	launch_many(t, 50);
}

static void test_fork(void **state)
{
	(void)state;
	struct recorded r;
	train(fork_workers, 0);
	assert_false(is_recorded("rank0-2.inq"));
	assert_hundred("rank0.inq", false);
	recorded_open(&r, "rank0.inq");
	assert_sql(&r, "inquest:step:",
		"SELECT group_concat(s.value) FROM host_op JOIN string AS s ON s.id = name_id");
	recorded_close(&r);
}

static void become_another(const struct trainee *t)
{
	launch_many(t, 100);
	t->sleep_ms(1200);
	execl("/bin/true", "true", (char *)NULL);
}

static void test_exec(void **state)
{
	(void)state;
	train(become_another, 0);
	assert_hundred("rank0.inq", true);
}

/* Where it can't write. */

static void test_read_only(void **state)
{
	(void)state;
	setenv("INQUEST_RECORD_DIR", "/proc/self", 1);
	train(launch_once, 0);
	setenv("INQUEST_RECORD_DIR", "/nowhere", 1);
	train(launch_once, 0);
}

static void fill_the_disk(const struct trainee *t)
{
	const struct rlimit limit = {3 << 20, 3 << 20};
	if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
		_exit(8);
	/* Slow enough for some commits before it is full, even with sanitizers. */
	for (int i = 0; i < 200; i++) {
		launch_many(t, 500);
		t->sleep_ms(20);
	}
	/* Given up: nothing is enabled any more. */
	for (int i = 0; i < 200 && t->cupti->is_enabled(10); i++)
		t->sleep_ms(100);
	if (t->cupti->is_enabled(10))
		_exit(9);
}

static void test_full_disk(void **state)
{
	(void)state;
	struct recorded r;
	train(fill_the_disk, 0);
	recorded_open(&r, "rank0.inq");
	assert_true(sql_number(&r, "SELECT count(*) FROM gpu_op") > 500);
	assert_true(sql_number(&r, "SELECT count(*) FROM gpu_op") < 100000);
	assert_sql(
		&r, "data_loss", "SELECT severity FROM diagnostic WHERE kind = 'recorder_stopped'");
	assert_readable(&r, "\"gpu_ops\": ");
	recorded_close(&r);
}

/* Without CUPTI. */

static void mark_only(const struct trainee *t)
{
	t->push("inquest:step:1");
	t->pop();
	launch_many(t, 1);
	t->sleep_ms(300);
}

static void test_cupti_taken(void **state)
{
	(void)state;
	struct recorded r;
	setenv("STANDIN_CUPTI_TAKEN", "1", 1);
	train(mark_only, 0);
	recorded_open(&r, "rank0.inq");
	assert_sql(
		&r, "0 1", "SELECT (SELECT count(*) FROM gpu_op) || ' ' || count(*) FROM marker");
	assert_sql(&r, "another profiler holds CUPTI in this process",
		"SELECT meaning FROM diagnostic WHERE kind = 'no_cupti'");
	assert_meta(&r, "has_sync_edges", "0");
	assert_readable(&r, "\"gpu_ops\": 0");
	assert_readable(&r, "\"kind\": \"no_cupti\"");
	recorded_close(&r);
}

static const struct standin_group one_gather = {.calls = {{.function = "AllGather",
							.count = 10,
							.dtype = 7,
							.algorithm = "RING",
							.protocol = "LL"}},
	.count = 1,
	.calls_per_kernel = 1};

/* CUDA has room for one tool, and it is not us: NCCL's init is where we start. */
static void gather_without_cuda(const struct trainee *t)
{
	struct standin_nccl nccl;
	struct standin_comm comm;
	launch_many(t, 1); /* before: not seen */
	if (!standin_open(&nccl, t->collector, 5))
		_exit(3);
	standin_comm_init(&comm, &nccl, "world", 0xabc, 2, 0);
	t->push("inquest:step:1");
	standin_group_run(&comm, &one_gather);
	t->pop();
	launch_many(t, 1);
	standin_comm_destroy(&comm);
	t->sleep_ms(300);
}

static void test_slot_taken(void **state)
{
	(void)state;
	struct recorded r;
	setenv("TRAINEE_WITHOUT_CUDA", "1", 1);
	for (int cupti_taken = 0; cupti_taken < 2; cupti_taken++) {
		if (cupti_taken)
			setenv("STANDIN_CUPTI_TAKEN", "1", 1);
		train(gather_without_cuda, 0);
		recorded_open(&r, "rank0.inq");
		assert_sql(&r, "1 1",
			"SELECT (SELECT count(*) FROM collective) || ' ' || count(*) FROM marker");
		assert_sql(&r, cupti_taken ? "0" : "1", "SELECT count(*) FROM gpu_op");
		recorded_close(&r);
		clear_folder();
	}
}

static void test_no_cupti(void **state)
{
	(void)state;
	struct recorded r;
	setenv("INQUEST_RECORD_CUPTI", "/nowhere/libcupti.so", 1);
	train(mark_only, 0);
	recorded_open(&r, "rank0.inq");
	assert_sql(&r, "no libcupti was found",
		"SELECT meaning FROM diagnostic WHERE kind = 'no_cupti'");
	recorded_close(&r);
}

/* What torch.profiler does in a process that we record: refused, it goes on without the GPU. */
static void profile_as_kineto(const struct trainee *t)
{
	void *called = NULL;
	void *cupti = dlopen(getenv("INQUEST_RECORD_CUPTI"), RTLD_NOW | RTLD_NOLOAD);
	int (*subscribe)(void **, void *, void *) =
		cupti ? (int (*)(void **, void *, void *))dlsym(cupti, "cuptiSubscribe") : NULL;
	launch_many(t, 50);
	if (!subscribe || subscribe(&called, NULL, NULL) != CUPTI_TAKEN || called)
		_exit(9);
	launch_many(t, 50);
}

static void test_profiler_in_the_process(void **state)
{
	(void)state;
	train(profile_as_kineto, 0);
	assert_hundred("rank0.inq", false);
}

/* Collectives, and ranks that end badly. */

static void gather(struct standin_comm *comm, const struct trainee *t)
{
	t->push("FSDP::all_gather (layers.0)");
	standin_group_run(comm, &one_gather);
	launch_many(t, 1);
	t->pop();
}

static void join_job(struct standin_nccl *nccl, struct standin_comm *comm, const struct trainee *t)
{
	if (!standin_open(nccl, t->collector, 5))
		_exit(3);
	standin_comm_init(comm, nccl, "world", 0xabc, 2, atoi(getenv("RANK")));
}

/* The communicator is still there when the program ends, and so are its stream and its range. */
static void exit_with_communicator(const struct trainee *t)
{
	static struct standin_nccl nccl;
	static struct standin_comm comm;
	join_job(&nccl, &comm, t);
	t->push("inquest:step:1");
	for (int i = 0; i < 100; i++)
		gather(&comm, t);
}

static void test_communicator_left_open(void **state)
{
	(void)state;
	struct recorded r;
	train(exit_with_communicator, 0);
	assert_hundred("rank0.inq", false);
	recorded_open(&r, "rank0.inq");
	assert_sql(&r, "100", "SELECT count(*) FROM collective");
	assert_sql(&r, "1", "SELECT count FROM diagnostic WHERE kind = 'unfinished_event'");
	recorded_close(&r);
}

/* Rank 1 dies in its 60th gather; rank 0 waits for it until it is told to end. */
static void one_of_two(const struct trainee *t)
{
	static struct standin_nccl nccl;
	static struct standin_comm comm;
	const bool dies = strcmp(getenv("RANK"), "1") == 0;
	join_job(&nccl, &comm, t);
	for (int step = 0; step < 3; step++) {
		char text[32];
		snprintf(text, sizeof text, "inquest:step:%d", step);
		t->push(text);
		for (int i = 0; i < 20; i++)
			gather(&comm, t);
		if (step < 2)
			t->pop();
	}
	do
		t->sleep_ms(1200);
	while (!dies);
	raise(SIGABRT);
}

static void test_rank_dies(void **state)
{
	(void)state;
	struct recorded r;
	const int survivor = train_beside(one_of_two);
	setenv("RANK", "1", 1);
	const int victim = train_beside(one_of_two);
	assert_int_equal(wait_for(victim), -SIGABRT);
	kill(survivor, SIGTERM); /* as torchrun does */
	assert_int_equal(wait_for(survivor), -SIGTERM);
	for (int rank = 0; rank < 2; rank++) {
		recorded_open(&r, rank ? "rank1.inq" : "rank0.inq");
		assert_sql(&r, "60", "SELECT count(*) FROM collective");
		assert_sql(&r, "60", "SELECT count(*) FROM gpu_op");
		assert_sql(&r, rank ? "1" : "0", CUT);
		assert_readable(&r, rank ? "\"kind\": \"recording_cut\"" : "\"gpu_ops\": 60");
		recorded_close(&r);
	}
}

int main(int argument_count, char **arguments)
{
	has_launched = mmap(NULL, sizeof *has_launched, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (has_launched == MAP_FAILED)
		return 2;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_not_asked, trainee_set_up),
		cmocka_unit_test_setup(test_no_gpu_work, trainee_set_up),
		cmocka_unit_test_setup(test_no_rank, trainee_set_up),
		cmocka_unit_test_setup(test_late_rank, trainee_set_up),
		cmocka_unit_test_setup(test_restart, trainee_set_up),
		cmocka_unit_test_setup(test_sigterm, trainee_set_up),
		cmocka_unit_test_setup(test_sigterm_at_exit, trainee_set_up),
		cmocka_unit_test_setup(test_sigkill, trainee_set_up),
		cmocka_unit_test_setup(test_sigkill_in_work, trainee_set_up),
		cmocka_unit_test_setup(test_sigterm_handled, trainee_set_up),
		cmocka_unit_test_setup(test_sigterm_handled_later, trainee_set_up),
		cmocka_unit_test_setup(test_sigterm_ignored, trainee_set_up),
		cmocka_unit_test_setup(test_sigterm_hanging, trainee_set_up),
		cmocka_unit_test_setup(test_exit_hanging, trainee_set_up),
		cmocka_unit_test_setup(test_fork, trainee_set_up),
		cmocka_unit_test_setup(test_exec, trainee_set_up),
		cmocka_unit_test_setup(test_read_only, trainee_set_up),
		cmocka_unit_test_setup(test_full_disk, trainee_set_up),
		cmocka_unit_test_setup(test_cupti_taken, trainee_set_up),
		cmocka_unit_test_setup(test_slot_taken, trainee_set_up),
		cmocka_unit_test_setup(test_no_cupti, trainee_set_up),
		cmocka_unit_test_setup(test_profiler_in_the_process, trainee_set_up),
		cmocka_unit_test_setup(test_communicator_left_open, trainee_set_up),
		cmocka_unit_test_setup(test_rank_dies, trainee_set_up),
	};
	if (argument_count != 3 && argument_count != 4)
		return 2;
	trainee_use(arguments[1], arguments[2]);
	const int failed = cmocka_run_group_tests_name("guest", tests, NULL, NULL);
	trainee_done();
	return failed;
}
