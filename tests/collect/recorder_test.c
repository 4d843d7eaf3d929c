/*
 * The whole collector, as `inquest record` puts it into a process, on a machine without a GPU: the
 * stand-ins for libcupti and NCCL call it, and what it wrote is read back with SQL and by the
 * command.  Each case runs its training in a process of its own, which may die of it.
 *
 * Usage: recorder_test COLLECTOR STANDIN_CUPTI [records]; INQUEST names the command.  With
 * `records` the stand-in can't call back, and API calls come as records.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "recorded.h"
#include "standin_cupti.h"
#include "standin_nccl.h"
#include "trainee.h"

static bool has_callbacks;

static void one_of_each(const struct trainee *t)
{
	const struct standin_cupti *cupti = t->cupti;
	const int64_t now = t->now_ns();
	uint32_t id;
	cupti->device(1, "NVIDIA H200", 150000000000);
	cupti->device(0, "another", 1);
	id = cupti->call(false, 211, now, now + 5);
	cupti->kernel(id, 7, "_Z4gemmv", now + 10, now + 1010);
	id = cupti->call(false, 41, now + 20, now + 25);
	cupti->copy(id, 7, false, 4096, now + 30, now + 40);
	id = cupti->call(true, 319, now + 41, now + 42);
	cupti->copy(id, 8, true, 64, now + 50, now + 60);
	id = cupti->call(false, 51, now + 61, now + 62);
	cupti->fill(id, 7, 512, now + 70, now + 75);
	id = cupti->call(true, 514, now + 80, now + 85);
	cupti->graph_kernel(id, 7, "in_graph", now + 90, now + 95, 1234);
	cupti->call(false, 17, now + 1, now + 2); /* cudaGetDevice */
	cupti->memory(1, 3, 0x7000, 1 << 20, now + 100);
	cupti->memory(1, 2, 0x1000, 99, now + 101); /* of the host */
	cupti->memory(1, 3, 0x9000, 1 << 10, now + 102);
	cupti->memory(2, 3, 0x7000, 0, now + 103);
	cupti->overhead(1 << 16, now, now + 700);
	cupti->overhead(1 << 16, now, now + 77);
	cupti->overhead(5 << 16, now, now + 3);
	cupti->unknown();
	cupti->kernel(99, 7, "untimed", 0, 0);
	cupti->kernel(98, 7, "backward", now + 200, now + 150);
	cupti->drop(5);
}

static void assert_one_of_each(struct recorded *r)
{
	assert_sql(r, "7 stream 7 on device 1",
		"SELECT cuda_stream || ' stream ' || cuda_stream || ' on device ' || device FROM "
		"stream"
		" WHERE id = 0");
	assert_sql(r, "5", "SELECT count(*) FROM api_call");
	assert_sql(r, "cudaLaunchKernel 0",
		"SELECT s.value || ' ' || result FROM api_call AS a"
		" JOIN string AS s ON s.id = name_id WHERE a.id = 0");
	/* A callback takes the time when it comes. */
	if (has_callbacks)
		assert_sql(
			r, "1", "SELECT min(end_ns >= start_ns AND start_ns >= 0) FROM api_call");
	else
		assert_sql(r, "5", "SELECT end_ns - start_ns FROM api_call WHERE id = 0");
	assert_sql(r,
		"cudaLaunchKernel cudaMemcpyAsync cuMemcpyPeerAsync cudaMemsetAsync cuGraphLaunch",
		"SELECT group_concat(value, ' ') FROM (SELECT s.value FROM api_call AS a"
		" JOIN string AS s ON s.id = name_id ORDER BY a.id)");
	assert_sql(r, "_Z4gemmv 1000 8 2 1 128 1 1 1536 0",
		"SELECT concat_ws_(s.value, end_ns - start_ns, grid_x, grid_y, grid_z, block_x,"
		" block_y, block_z, shared_bytes, kind) FROM gpu_op AS g"
		" JOIN string AS s ON s.id = name_id WHERE g.id = 0");
	assert_sql(r, "Memcpy HtoD (Pinned -> Device) 4096 1",
		"SELECT concat_ws_(s.value, bytes, kind) FROM gpu_op AS g"
		" JOIN string AS s ON s.id = name_id WHERE g.id = 1");
	assert_sql(r, "Memcpy PtoP (Device -> Device) 64 8",
		"SELECT concat_ws_(s.value, bytes, cuda_stream) FROM gpu_op AS g"
		" JOIN string AS s ON s.id = name_id JOIN stream ON stream.id = stream_id WHERE "
		"g.id = 2");
	assert_sql(r, "Memset (Device) 512 2",
		"SELECT concat_ws_(s.value, bytes, kind) FROM gpu_op AS g"
		" JOIN string AS s ON s.id = name_id WHERE g.id = 3");
	assert_sql(r, "1234", "SELECT graph_node FROM gpu_op WHERE id = 4");
	/* The untimed one is left out, the one that ends before its start has no length. */
	assert_sql(r, "6 0",
		"SELECT count(*) || ' ' || (SELECT end_ns - start_ns FROM gpu_op WHERE id = 5)"
		" FROM gpu_op");
	assert_sql(r, "5", "SELECT count(*) FROM gpu_op AS g JOIN api_call USING (correlation)");
	assert_sql(r, "1048576 1049600 1024",
		"SELECT group_concat(reserved_bytes, ' ') FROM (SELECT * FROM memory ORDER BY id)");
	assert_sql(r, "-1048576", "SELECT bytes FROM memory WHERE id = 2");
	assert_meta(r, "gpu", "NVIDIA H200");
	assert_meta(r, "gpu_memory_bytes", "150000000000");
	assert_meta(r, "overhead_buffer_flush_ns", "777");
	assert_meta(r, "overhead_lazy_load_ns", "3");
	assert_sql(r, "6", "SELECT count FROM diagnostic WHERE kind = 'dropped_records'");
	assert_sql(r, "1", "SELECT count FROM diagnostic WHERE kind = 'negative_duration'");
}

static void test_records_130(void **state)
{
	(void)state;
	struct recorded r;
	train(one_of_each, 0);
	recorded_open(&r, "rank0.inq");
	assert_one_of_each(&r);
	assert_meta(&r, "rank", "0");
	assert_meta(&r, "world_size", "2");
	assert_meta(&r, "sealed", "0");
	assert_meta(&r, "source", "recorder");
	assert_meta(&r, "cupti_version", "130001");
	assert_readable(&r, "\"gpu_ops\": 6");
	recorded_close(&r);
}

static void test_records_12(void **state)
{
	(void)state;
	static const char *const versions[] = {"19", "22", "23", "26", "28"};
	for (size_t v = 0; v < sizeof versions / sizeof *versions; v++) {
		struct recorded r;
		setenv("STANDIN_CUPTI_VERSION", versions[v], 1);
		train(one_of_each, 0);
		recorded_open(&r, "rank0.inq");
		assert_one_of_each(&r);
		recorded_close(&r);
		clear_folder();
	}
}

/* A record of an event, work, another record, and a wait for each of the two. */
static void wait_for_events(const struct trainee *t)
{
	const struct standin_cupti *cupti = t->cupti;
	const int64_t now = t->now_ns();
	const bool has_ids = atoi(getenv("STANDIN_CUPTI_VERSION")) >= 26;
	uint32_t first, second, third, wait;
	first = cupti->call(false, 135, now, now + 1);
	cupti->event(first, 7, 33, has_ids ? 1001 : 0);
	/* CUPTI writes the wait's record before the call's own. */
	wait = first + 1;
	cupti->sync(2, wait, 20, 33, has_ids ? 1001 : 0);
	cupti->call(false, 147, now + 2, now + 3);
	second = cupti->call(false, 135, now + 4, now + 5);
	cupti->event(second, 9, 33, has_ids ? 1002 : 0);
	wait = cupti->call(true, 295, now + 6, now + 7);
	cupti->sync(2, wait, 7, 33, has_ids ? 1002 : 0);
	third = cupti->call(false, 131, now + 8, now + 9);
	cupti->sync(3, third, 7, UINT32_MAX, 0); /* a synchronisation of the host: no edge */
	cupti->kernel(cupti->call(false, 211, now, now), 7, "k", now + 10, now + 11);
	t->sleep_ms(700);
}

static void assert_waits(struct recorded *r)
{
	assert_sql(r, "20 7 0 1|7 9 2 3",
		"SELECT group_concat(edge, '|') FROM (SELECT concat_ws_(w.cuda_stream, "
		"r.cuda_stream,"
		" record_call_id, api_call_id) AS edge FROM stream_wait AS s"
		" JOIN stream AS w ON w.id = waiting_stream_id"
		" JOIN stream AS r ON r.id = recorded_stream_id ORDER BY s.id)");
	assert_meta(r, "has_sync_edges", "1");
}

static void test_waits(void **state)
{
	(void)state;
	static const char *const versions[] = {"24", "26", "130001"};
	for (size_t v = 0; v < sizeof versions / sizeof *versions; v++) {
		struct recorded r;
		setenv("STANDIN_CUPTI_VERSION", versions[v], 1);
		train(wait_for_events, 0);
		recorded_open(&r, "rank0.inq");
		assert_waits(&r);
		recorded_close(&r);
		clear_folder();
	}
}

/* NCCL's launch: the driver's call inside the ids that the collector pushes. */
static void launch_nccl(void *context)
{
	const struct trainee *t = context;
	const int64_t now = t->now_ns();
	const uint32_t id = t->cupti->call(true, 652, now, now + 3);
	t->cupti->kernel(id, 20, "ncclDevKernel_AllGather_RING_LL", now + 10, now + 510);
}

static void gather(const struct trainee *t)
{
	struct standin_nccl nccl;
	struct standin_comm comm;
	const struct standin_group group = {.calls = {{.function = "AllGather",
							      .count = 1000,
							      .dtype = 9,
							      .algorithm = "RING",
							      .protocol = "SIMPLE"},
						    {.function = "AllGather",
							    .count = 10,
							    .dtype = 7,
							    .algorithm = "RING",
							    .protocol = "LL"}},
		.count = 2,
		.calls_per_kernel = 2,
		.launch = launch_nccl,
		.launch_context = (void *)t};
	if (!standin_open(&nccl, t->collector, 5))
		_exit(3);
	standin_comm_init(&comm, &nccl, "world", 0xabc, 2, 0);
	for (int i = 0; i < 3; i++)
		standin_group_run(&comm, &group);
	standin_comm_destroy(&comm);
	if (t->cupti->depth() != 0)
		_exit(4);
}

static void test_collectives(void **state)
{
	(void)state;
	struct recorded r;
	train(gather, 0);
	recorded_open(&r, "rank0.inq");
	assert_sql(
		&r, "6 3", "SELECT count(*) || ' ' || count(DISTINCT gpu_op_id) FROM collective");
	assert_sql(&r, "6",
		"SELECT count(*) FROM collective AS c JOIN gpu_op AS g ON g.id = c.gpu_op_id"
		" JOIN string AS s ON s.id = g.name_id WHERE s.value LIKE 'ncclDev%' AND c.kind = "
		"1");
	assert_sql(&r, "world 0000000000000abc bfloat16 2000 4000 2 RING SIMPLE",
		"SELECT concat_ws_(communicator.value, dtype.value, send_bytes, recv_bytes, "
		"group_size,"
		" algorithm.value, protocol.value) FROM collective AS c"
		" JOIN string AS communicator ON communicator.id = communicator_id"
		" JOIN string AS dtype ON dtype.id = dtype_id"
		" JOIN string AS algorithm ON algorithm.id = algorithm_id"
		" JOIN string AS protocol ON protocol.id = protocol_id WHERE c.id = 1");
	assert_meta(&r, "has_nccl", "1");
	assert_meta(&r, "unlinked_collectives", "0");
	recorded_close(&r);
}

static void ranges(const struct trainee *t)
{
	t->pop(); /* its push came before the recording */
	t->push("inquest:step:3");
	t->push("inquest:checkpoint:17:layers.0");
	t->push("FSDP::all_gather (layers.1)");
	t->pop();
	t->pop();
	t->push("inquest:recompute:17:layers.0");
	t->pop();
	t->push("inquest:optimizer");
	t->pop();
	t->mark("inquest:value:peak_allocated_bytes:123456789012");
	t->push("bad \xff\xc3 text");
	t->pop();
	t->pop();
	t->push("inquest:step:4");
	t->push("open at the end");
	const int64_t now = t->now_ns();
	t->cupti->kernel(t->cupti->call(false, 211, now, now), 7, "k", now + 10, now + 11);
}

static void test_ranges(void **state)
{
	(void)state;
	struct recorded r;
	train(ranges, 0);
	recorded_open(&r, "rank0.inq");
	assert_sql(&r, "8", "SELECT count(*) FROM host_op WHERE kind = 1");
	assert_sql(&r,
		"5 17 layers.0|6 17 layers.0|4 optimizer|0 123456789012 peak_allocated_bytes|1 3 "
		"step|"
		"1 4 step",
		"SELECT group_concat(m, '|') FROM (SELECT concat_ws_(kind, region, marker.value,"
		" s.value) AS m FROM marker JOIN string AS s ON s.id = name_id ORDER BY "
		"marker.id)");
	assert_sql(&r, "bad ?? text", "SELECT value FROM string WHERE value LIKE 'bad%'");
	assert_sql(&r, "2", "SELECT count FROM diagnostic WHERE kind = 'unfinished_event'");
	assert_sql(&r, "1", "SELECT role FROM thread WHERE os_tid = pid");
	assert_readable(&r, "\"steps\": ");
	recorded_close(&r);
}

/* A graph is launched twice: two calls, and the same nodes each time. */
static void replay(const struct trainee *t)
{
	for (int i = 0; i < 2; i++) {
		const int64_t now = t->now_ns();
		const uint32_t id = t->cupti->call(false, 311, now, now + 5);
		for (uint32_t node = 0; node < 30; node++)
			t->cupti->graph_kernel(id, 7,
				node % 10 ? "gemm" : "ncclDevKernel_AllGather",
				now + 10 + 100 * node, now + 90 + 100 * node, 500 + node);
		t->sleep_ms(10);
	}
}

static void test_graphs(void **state)
{
	(void)state;
	struct recorded r;
	train(replay, 0);
	recorded_open(&r, "rank0.inq");
	assert_sql(&r, "60 30 2",
		"SELECT concat_ws_(count(*), count(DISTINCT graph_node), count(DISTINCT "
		"correlation))"
		" FROM gpu_op");
	assert_sql(&r, "2 cudaGraphLaunch",
		"SELECT concat_ws_(count(*), s.value) FROM api_call"
		" JOIN string AS s ON s.id = name_id");
	assert_sql(&r, "60", "SELECT count(*) FROM gpu_op JOIN api_call USING (correlation)");
	assert_sql(&r, "0", "SELECT count(*) FROM diagnostic");
	assert_readable(&r, "\"gpu_ops\": 60");
	assert_readable(&r, "\"diagnostics\": [");
	recorded_close(&r);
}

static void many_steps(const struct trainee *t)
{
	static const char *const names[] = {
		"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "k9"};
	for (int step = 0; step < 10; step++) {
		char text[32];
		snprintf(text, sizeof text, "inquest:step:%d", step);
		t->push(text);
		if (step == 4)
			t->push("left open");
		const bool wanted = (step >= 2 && step < 5) || step == 7;
		if (t->cupti->is_enabled(10) != wanted ||
			t->cupti->is_enabled(39) != (wanted && !has_callbacks) ||
			t->cupti->is_enabled(5) != (wanted && !has_callbacks) ||
			t->cupti->is_call_enabled(false, 211) != wanted ||
			t->cupti->is_call_enabled(true, 652) != wanted ||
			t->cupti->is_call_enabled(false, 17))
			_exit(5);
		const int64_t now = t->now_ns();
		t->cupti->kernel(
			t->cupti->call(false, 211, now, now), 7, names[step], now + 10, now + 11);
		if (step == 4)
			continue; /* both stay open, and their pops come outside of the window */
		t->pop();
		if (step == 5) {
			t->pop();
			t->pop();
		}
	}
}

static void test_windows(void **state)
{
	(void)state;
	struct recorded r;
	setenv("INQUEST_RECORD_STEPS", "2:5,7:8", 1);
	train(many_steps, 0);
	unsetenv("INQUEST_RECORD_STEPS");
	recorded_open(&r, "rank0.inq");
	assert_sql(&r, "k2 k3 k4 k7",
		"SELECT group_concat(value, ' ') FROM (SELECT s.value FROM gpu_op AS g"
		" JOIN string AS s ON s.id = name_id ORDER BY g.id)");
	assert_sql(&r, "2 3 4 7",
		"SELECT group_concat(value, ' ') FROM (SELECT value FROM marker ORDER BY "
		"start_ns)");
	/* What was open when the window closed ends there, before the next one begins. */
	assert_sql(&r, "1",
		"SELECT max(end_ns) < (SELECT start_ns FROM marker WHERE value = 7) FROM host_op "
		"AS h"
		" JOIN string AS s ON s.id = name_id WHERE s.value IN ('left open', "
		"'inquest:step:4')");
	recorded_close(&r);
}

/* Calls inside calls: the outermost wanted one is recorded, and its id is the kernel's. */
static void nest(const struct trainee *t)
{
	const struct standin_cupti *cupti = t->cupti;
	struct standin_api outer, middle;
	const int64_t now = t->now_ns();
	cupti->enter(&outer, false, 211);
	cupti->enter(&middle, true, 652);
	cupti->call(true, 307, now, now);
	cupti->leave(&middle);
	cupti->call(false, 211, now, now); /* itself again */
	cupti->call(true, 441, now, now);
	cupti->leave(&outer);
	cupti->kernel(outer.correlation, 7, "k", now + 10, now + 11);
	cupti->enter(&outer, false, 17); /* cudaGetDevice */
	cupti->kernel(cupti->call(true, 307, now, now), 7, "k", now + 20, now + 21);
	cupti->leave(&outer);
	cupti->enter(&outer, false, 131);
	t->sleep_ms(30);
	outer.result = 719;
	cupti->leave(&outer);
}

static void test_nested(void **state)
{
	(void)state;
	struct recorded r;
	train(nest, 0);
	recorded_open(&r, "rank0.inq");
	assert_sql(&r, "cudaLaunchKernel 0|cuLaunchKernel 0|cudaStreamSynchronize 719",
		"SELECT group_concat(value || ' ' || result, '|') FROM (SELECT s.value, result"
		" FROM api_call AS a JOIN string AS s ON s.id = name_id ORDER BY a.id)");
	assert_sql(&r, "2", "SELECT count(*) FROM gpu_op JOIN api_call USING (correlation)");
	assert_sql(&r, "1", "SELECT end_ns - start_ns >= 30000000 FROM api_call WHERE id = 2");
	recorded_close(&r);
}

/* Calls that go on while the windows 1:2 and 3:4 open and close around them. */
static void cross_windows(const struct trainee *t)
{
	const struct standin_cupti *cupti = t->cupti;
	struct standin_api opens, closes, crosses;
	t->push("inquest:step:0");
	cupti->enter(&opens, false, 22);
	t->push("inquest:step:1");
	cupti->call(true, 245, 1, 2); /* cuMemFree inside cudaFree, whose entry was not seen */
	cupti->leave(&opens);
	cupti->call(false, 131, 1, 2);
	cupti->enter(&closes, false, 165);
	cupti->enter(&crosses, true, 17);
	t->push("inquest:step:2");
	cupti->call(false, 137, 1, 2);
	t->push("inquest:step:3");
	cupti->leave(&crosses);
	cupti->leave(&closes);
	cupti->kernel(cupti->call(false, 211, 1, 2), 7, "k", 10, 11);
	/* A thread is left inside a call at the end, as in a hang. */
	cupti->enter(&opens, false, 20);
}

static void test_calls_across_windows(void **state)
{
	(void)state;
	struct recorded r;
	setenv("INQUEST_RECORD_STEPS", "1:2,3:4", 1);
	train(cross_windows, 0);
	recorded_open(&r, "rank0.inq");
	assert_sql(&r, "cuMemFree cudaStreamSynchronize cudaLaunchKernel",
		"SELECT group_concat(value, ' ') FROM (SELECT s.value FROM api_call AS a"
		" JOIN string AS s ON s.id = name_id ORDER BY a.id)");
	recorded_close(&r);
}

int main(int argument_count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_records_130, trainee_set_up),
		cmocka_unit_test_setup(test_records_12, trainee_set_up),
		cmocka_unit_test_setup(test_waits, trainee_set_up),
		cmocka_unit_test_setup(test_collectives, trainee_set_up),
		cmocka_unit_test_setup(test_graphs, trainee_set_up),
		cmocka_unit_test_setup(test_ranges, trainee_set_up),
		cmocka_unit_test_setup(test_windows, trainee_set_up),
		/* With callbacks only: */
		cmocka_unit_test_setup(test_nested, trainee_set_up),
		cmocka_unit_test_setup(test_calls_across_windows, trainee_set_up),
	};
	if (argument_count != 3 && argument_count != 4)
		return 2;
	has_callbacks = argument_count == 3;
	trainee_use(arguments[1], arguments[2]);
	const size_t count = sizeof tests / sizeof *tests - (has_callbacks ? 0 : 2);
	const int failed = _cmocka_run_group_tests("recorder", tests, count, NULL, NULL);
	trainee_done();
	return failed;
}
