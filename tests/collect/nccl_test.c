/*
 * NCCL's side of the collector, for each version of the interface, against a stand-in NCCL.
 *
 * Usage: nccl_test COLLECTOR
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "note_keeper.h"
#include "standin_nccl.h"

#define UNKNOWN	   UINT64_MAX
#define INT32_TYPE 2
#define FLOAT32	   7
#define BFLOAT16   9
#define UINT8_TYPE 1 /* whose name NCCL doesn't know */
#define EACH(v)	   for (int v = 1; v <= 6; v++)

static const struct note_keeper *keeper;
static void *collector;
static const char *collector_path;

/* The kernels that the stand-in launched, each with the id that was pushed around it. */
static struct {
	uint64_t ids[16];
	size_t count;
} kernels;

static void launch(void *context)
{
	(void)context;
	if (kernels.count < 16)
		kernels.ids[kernels.count++] = keeper->pushed_id();
}

static int set_up(void **state)
{
	(void)state;
	keeper->clear();
	memset(&kernels, 0, sizeof kernels);
	return 0;
}

static struct standin_nccl open_version(int version)
{
	struct standin_nccl nccl;
	set_up(NULL);
	assert_true(standin_open(&nccl, collector, version));
	assert_int_equal(nccl.version, version);
	return nccl;
}

static const struct note_collective *collective(size_t index)
{
	const struct note *note = keeper->at(index);
	assert_non_null(note);
	assert_int_equal(note->kind, NOTE_COLLECTIVE);
	return &note->collective;
}

static void assert_bytes(
	const struct note_collective *c, uint8_t kind, uint64_t send, uint64_t recv)
{
	assert_int_equal(c->kind, kind);
	assert_int_equal(c->send_bytes, send);
	assert_int_equal(c->recv_bytes, recv);
}

static void test_one_gather(void **state)
{
	(void)state;
	EACH(version)
	{
		struct standin_nccl nccl = open_version(version);
		struct standin_comm comm;
		assert_int_equal(standin_comm_init(&comm, &nccl, "fsdp", 0xabcdef, 8, 3), 0);
		assert_int_equal(keeper->cuda_starts(), 1);
		assert_non_null(comm.context);
		assert_int_equal(nccl.mask, version < 5 ? 7 : version == 5 ? 3846 : 7942);
		const struct standin_group group = {
			.calls = {{"AllGather", 1000, BFLOAT16, "RING", "LL128"}},
			.count = 1,
			.launch = launch};
		standin_group_run(&comm, &group);
		standin_group_run(&comm, &group);
		assert_int_equal(keeper->count(), 2);
		for (size_t i = 0; i < 2; i++) {
			const struct note_collective *c = collective(i);
			/* Version 3 says nowhere how many ranks there are. */
			assert_bytes(c, 1, 2000, version == 3 ? UNKNOWN : 16000);
			assert_int_equal(c->rank_count, version == 3 ? -1 : 8);
			assert_int_equal(c->communicator, 0xabcdef);
			assert_int_equal(c->sequence, i);
			assert_string_equal(c->dtype, version < 5 ? "" : "bfloat16");
			assert_string_equal(c->algorithm, "RING");
			assert_string_equal(c->protocol, "LL128");
			assert_int_equal(c->external_id, version < 5 ? 0 : kernels.ids[i]);
			assert_string_equal(keeper->at(i)->text, "fsdp");
			assert_int_equal(keeper->at(i)->tid, gettid());
		}
		assert_true(version < 5 || kernels.ids[1] > kernels.ids[0]);
		assert_int_equal(keeper->depth(), 0);
		standin_comm_destroy(&comm);
	}
}

static void test_bytes_of_each_function(void **state)
{
	(void)state;
	const struct {
		struct standin_call call;
		uint8_t kind;
		uint64_t send, recv;
		const char *dtype;
	} cases[] = {
		{{"ReduceScatter", 100, FLOAT32, "NVLS", "SIMPLE"}, 2, 1600, 400, "float32"},
		{{"AllReduce", 100, BFLOAT16, "NVLS_TREE", "LL"}, 3, 200, 200, "bfloat16"},
		{{"Send", 7, FLOAT32}, 4, 28, 0, "float32"},
		{{"Recv", 7, INT32_TYPE}, 4, 0, 28, "int32"},
		{{"Broadcast", 5, FLOAT32, "RING", "LL"}, 5, 20, 20, "float32"},
		{{"Reduce", 5, BFLOAT16, "COLLNET_DIRECT", "SIMPLE"}, 0, 10, 10, "bfloat16"},
		{{"AllReduce", SIZE_MAX, FLOAT32, "PAT", "LL"}, 3, UNKNOWN, UNKNOWN, "float32"},
	};
	EACH(version)
	{
		struct standin_nccl nccl = open_version(version);
		struct standin_comm comm;
		standin_comm_init(&comm, &nccl, NULL, 7, 4, 0);
		for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
			struct standin_group group = {.count = 1, .launch = launch};
			group.calls[0] = cases[i].call;
			standin_group_run(&comm, &group);
			const struct note_collective *c = collective(i);
			const bool needs_ranks = version == 3 && cases[i].kind == 2;
			const bool in_bytes = version < 5 && cases[i].kind == 5;
			assert_bytes(c, cases[i].kind, needs_ranks ? UNKNOWN : cases[i].send,
				cases[i].recv);
			assert_string_equal(c->dtype, in_bytes ? "" : cases[i].dtype);
			assert_true((c->sequence == UNKNOWN) == (cases[i].kind == 4));
			assert_string_equal(c->algorithm,
				cases[i].call.algorithm ? cases[i].call.algorithm : "");
			assert_string_equal(keeper->at(i)->text, "");
		}
		standin_comm_destroy(&comm);
	}
}

/* From version 2 on NCCL has no name for 8-bit unsigned numbers. */
static void test_types_without_a_name(void **state)
{
	(void)state;
	EACH(version)
	{
		struct standin_nccl nccl = open_version(version);
		struct standin_comm comm;
		standin_comm_init(&comm, &nccl, "x", 7, 2, 0);
		const struct standin_group group = {
			.calls = {{"AllGather", 64, UINT8_TYPE, "RING", "LL"},
				{"AllReduce", 64, UINT8_TYPE, "RING", "LL"}},
			.count = 2,
			.launch = launch};
		standin_group_run(&comm, &group);
		assert_bytes(collective(0), 1, 64, version == 3 ? UNKNOWN : 128);
		assert_string_equal(collective(0)->dtype, "");
		uint64_t bytes = version == 1 ? 64 : UNKNOWN;
		assert_bytes(collective(1), 3, bytes, bytes);
		standin_comm_destroy(&comm);
	}
}

static void test_group_shares_kernels(void **state)
{
	(void)state;
	EACH(version)
	{
		struct standin_nccl nccl = open_version(version);
		struct standin_comm comm;
		standin_comm_init(&comm, &nccl, "tp", 9, 2, 1);
		const struct standin_group group = {
			.calls = {{"AllReduce", 1, FLOAT32, "TREE", "LL"},
				{"ReduceScatter", 2, BFLOAT16, "RING", "LL"},
				{"AllGather", 3, FLOAT32, "RING", "LL"}, {"Send", 4, FLOAT32},
				{"Recv", 4, FLOAT32}},
			.count = 5,
			.calls_per_kernel = 2,
			.launch = launch};
		standin_group_run(&comm, &group);
		assert_int_equal(kernels.count, 3);
		assert_int_equal(keeper->count(), 5);
		/* Within a kernel NCCL announces in another order than it was called. */
		static const uint8_t kinds[] = {2, 3, 4, 1, 4}, kernel[] = {0, 0, 1, 1, 2};
		static const char *const types[] = {
			"bfloat16", "float32", "float32", "float32", "float32"};
		for (size_t i = 0; i < 5; i++) {
			assert_int_equal(collective(i)->kind, kinds[i]);
			assert_int_equal(collective(i)->external_id,
				version < 5 ? 0 : kernels.ids[kernel[i]]);
			if (version >= 5)
				assert_string_equal(collective(i)->dtype, types[i]);
		}
		assert_int_equal(keeper->depth(), 0);
		standin_comm_destroy(&comm);
	}
}

static void test_nonblocking_communicator(void **state)
{
	(void)state;
	EACH(version)
	{
		struct standin_nccl nccl = open_version(version);
		struct standin_comm comm;
		standin_comm_init(&comm, &nccl, "async", 9, 2, 1);
		struct standin_group group = {.calls = {{"AllGather", 3, FLOAT32, "RING", "LL"}},
			.count = 1,
			.is_nonblocking = true,
			.launch = launch};
		standin_group_run(&comm, &group);
		assert_int_equal(collective(0)->external_id, version < 5 ? 0 : kernels.ids[0]);
		assert_true(keeper->at(0)->tid != gettid());
		assert_int_equal(keeper->depth(), 0);
		standin_comm_destroy(&comm);
	}
}

static void test_communicators_side_by_side(void **state)
{
	(void)state;
	EACH(version)
	{
		struct standin_nccl nccl = open_version(version);
		struct standin_comm world, half;
		standin_comm_init(&world, &nccl, "world", 1, 8, 5);
		standin_comm_init(&half, &nccl, "half", 2, 4, 1);
		const struct standin_group group = {
			.calls = {{"ReduceScatter", 10, FLOAT32, "RING", "LL"}},
			.count = 1,
			.launch = launch};
		standin_group_run(&world, &group);
		standin_group_run(&half, &group);
		standin_comm_destroy(&world);
		standin_group_run(&half, &group);
		standin_comm_destroy(&half);
		static const uint64_t hashes[] = {1, 2, 2}, sequences[] = {0, 0, 1};
		static const uint64_t sends[] = {320, 160, 160};
		for (size_t i = 0; i < 3; i++) {
			assert_int_equal(collective(i)->communicator, hashes[i]);
			assert_int_equal(collective(i)->sequence, sequences[i]);
			assert_bytes(collective(i), 2, version == 3 ? UNKNOWN : sends[i], 40);
			assert_string_equal(keeper->at(i)->text, i ? "half" : "world");
		}
	}
}

/* More than there is room for, twice: those without room still leave notes. */
static void test_many_communicators(void **state)
{
	(void)state;
	enum {
		MANY = 700
	};
	static struct standin_comm comms[MANY];
	struct standin_nccl nccl = open_version(5);
	const struct standin_group group = {
		.calls = {{"AllReduce", 1, FLOAT32, "RING", "LL"}}, .count = 1, .launch = launch};
	for (int round = 0; round < 2; round++) {
		keeper->clear();
		for (int i = 0; i < MANY; i++)
			standin_comm_init(&comms[i], &nccl, "many", 100 + (uint64_t)i, 2, 0);
		standin_group_run(&comms[0], &group);
		standin_group_run(&comms[MANY - 1], &group);
		assert_int_equal(collective(0)->communicator, 100);
		assert_int_equal(collective(1)->communicator, 0);
		assert_int_equal(collective(1)->rank_count, -1);
		for (int i = 0; i < MANY; i++)
			standin_comm_destroy(&comms[i]);
	}
}

static void test_nothing_while_not_recording(void **state)
{
	(void)state;
	EACH(version)
	{
		struct standin_nccl nccl = open_version(version);
		struct standin_comm comm;
		standin_comm_init(&comm, &nccl, "x", 1, 2, 0);
		const struct standin_group group = {
			.calls = {{"AllReduce", 1, FLOAT32, "RING", "LL"}},
			.count = 1,
			.launch = launch};
		keeper->record(false);
		standin_group_run(&comm, &group);
		assert_int_equal(keeper->count(), 0);
		assert_int_equal(kernels.ids[0], 0);
		keeper->record(true);
		standin_group_run(&comm, &group);
		assert_int_equal(keeper->count(), 1);
		assert_int_equal(collective(0)->sequence, 1);
		standin_comm_destroy(&comm);
	}
}

static void stop_recording(void *context)
{
	launch(context);
	keeper->record(false);
}

static void test_launch_at_the_end_of_a_window(void **state)
{
	(void)state;
	struct standin_nccl nccl = open_version(5);
	struct standin_comm comm;
	standin_comm_init(&comm, &nccl, "x", 1, 2, 0);
	struct standin_group group = {.calls = {{"AllReduce", 1, FLOAT32, "RING", "LL"}},
		.count = 1,
		.launch = stop_recording};
	standin_group_run(&comm, &group);
	assert_true(kernels.ids[0] != 0);
	assert_int_equal(keeper->count(), 0);
	assert_int_equal(keeper->depth(), 0);
	standin_comm_destroy(&comm);
}

static void test_failed_launch(void **state)
{
	(void)state;
	for (int version = 5; version <= 6; version++) {
		struct standin_nccl nccl = open_version(version);
		struct standin_comm comm;
		standin_comm_init(&comm, &nccl, "x", 1, 2, 0);
		struct standin_group group = {.calls = {{"AllReduce", 1, FLOAT32, "RING", "LL"}},
			.count = 1,
			.fails = true,
			.launch = launch};
		standin_group_run(&comm, &group);
		assert_int_equal(keeper->depth(), 0);
		group.fails = false;
		standin_group_run(&comm, &group);
		assert_int_equal(keeper->count(), 1);
		assert_int_equal(collective(0)->external_id, kernels.ids[1]);
		standin_comm_destroy(&comm);
	}
}

static void test_without_kernels(void **state)
{
	(void)state;
	struct standin_nccl nccl = open_version(6);
	struct standin_comm comm;
	standin_comm_init(&comm, &nccl, "x", 1, 2, 0);
	const struct standin_group group = {
		.calls = {{"AllReduce", 1, FLOAT32, "RING", "LL"},
			{"AllReduce", 1, FLOAT32, NULL, NULL, .is_symmetric = true},
			{"AllGather", 8, BFLOAT16, NULL, NULL, .is_copy_engine = true}},
		.count = 3,
		.launch = launch};
	standin_group_run(&comm, &group);
	assert_int_equal(keeper->count(), 2);
	assert_int_equal(kernels.ids[1], 0);
	const struct note_collective *c = collective(1);
	assert_bytes(c, 1, 16, 32);
	assert_int_equal(c->external_id, 0);
	assert_int_equal(c->sequence, 5);
	assert_string_equal(c->algorithm, "CE");
	assert_string_equal(c->protocol, "MC");
	assert_string_equal(c->dtype, "bfloat16");
	standin_comm_destroy(&comm);
}

/* After an init that failed NCCL goes on, with NULL for the communicator. */
static void test_null_context_and_misuse(void **state)
{
	(void)state;
	EACH(version)
	{
		struct standin_nccl nccl = open_version(version);
		struct standin_comm comm, lost;
		standin_comm_init(&comm, &nccl, "kept", 1, 2, 0);
		lost = comm;
		lost.context = NULL;
		const struct standin_group group = {
			.calls = {{"AllGather", 2, FLOAT32, "RING", "LL"},
				{"Frobnicate", 2, FLOAT32, "Unknown", NULL}},
			.count = 2,
			.launch = launch};
		standin_group_run(&lost, &group);
		assert_int_equal(keeper->count(), 2);
		assert_int_equal(collective(0)->rank_count, version < 3 ? 2 : -1);
		assert_bytes(collective(0), 1, 8, version < 3 ? 16 : UNKNOWN);
		assert_bytes(collective(1), 0, UNKNOWN, UNKNOWN);
		assert_string_equal(collective(1)->algorithm, "");
		standin_misbehave(&nccl);
		assert_int_equal(keeper->count(), 2);
		assert_int_equal(keeper->depth(), 0);
		standin_comm_destroy(&comm);
	}
}

static void test_process_that_is_not_recorded(void **state)
{
	(void)state;
	unsetenv("INQUEST_RECORD_PARENT");
	EACH(version)
	{
		struct standin_nccl nccl = open_version(version);
		struct standin_comm comm;
		assert_int_equal(standin_comm_init(&comm, &nccl, "x", 1, 2, 0), 0);
		assert_null(comm.context);
		assert_int_equal(nccl.mask, 0);
		assert_int_equal(keeper->cuda_starts(), 0);
		standin_comm_destroy(&comm);
	}
	setenv("INQUEST_RECORD_PARENT", "1", 1);
}

/* NCCL's STATIC_PLUGIN looks in the program itself: the collector must have gone global. */
static void test_found_in_the_global_scope(void **state)
{
	(void)state;
	struct standin_nccl nccl;
	void *program = dlopen(NULL, RTLD_NOW | RTLD_LOCAL);
	assert_false(standin_open(&nccl, program, 6));
	assert_non_null(dlopen(collector_path, RTLD_NOLOAD | RTLD_NOW | RTLD_GLOBAL));
	EACH(version)
	{
		assert_true(standin_open(&nccl, program, version));
		assert_int_equal(nccl.version, version);
	}
	struct standin_comm comm;
	standin_comm_init(&comm, &nccl, "global", 1, 2, 0);
	assert_int_equal(keeper->cuda_starts(), 1);
	standin_comm_destroy(&comm);
}

int main(int argc, char **argv)
{
	collector_path = argc > 1 ? argv[1] : "";
	collector = dlopen(collector_path, RTLD_NOW | RTLD_LOCAL);
	if (!collector)
		return 1;
	keeper = dlsym(collector, "note_keeper");
	setenv("INQUEST_RECORD_PARENT", "1", 1);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_one_gather, set_up),
		cmocka_unit_test_setup(test_bytes_of_each_function, set_up),
		cmocka_unit_test_setup(test_types_without_a_name, set_up),
		cmocka_unit_test_setup(test_group_shares_kernels, set_up),
		cmocka_unit_test_setup(test_nonblocking_communicator, set_up),
		cmocka_unit_test_setup(test_communicators_side_by_side, set_up),
		cmocka_unit_test_setup(test_many_communicators, set_up),
		cmocka_unit_test_setup(test_nothing_while_not_recording, set_up),
		cmocka_unit_test_setup(test_launch_at_the_end_of_a_window, set_up),
		cmocka_unit_test_setup(test_failed_launch, set_up),
		cmocka_unit_test_setup(test_without_kernels, set_up),
		cmocka_unit_test_setup(test_null_context_and_misuse, set_up),
		cmocka_unit_test_setup(test_process_that_is_not_recorded, set_up),
		cmocka_unit_test_setup(test_found_in_the_global_scope, set_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
