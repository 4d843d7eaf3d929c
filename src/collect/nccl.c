/*
 * Notes of NCCL's collectives.  Everything here runs in NCCL's callers, between the launches of a
 * step: no allocation, no lock.  Handles that NCCL keeps for us are addresses of constants, so that
 * none can be freed too early or leak, whatever order NCCL stops its events in.
 */
#include "collect/nccl.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/collector.h"
#include "collect/notes.h"
#include "collect/protocol.h"

#define MAX_COMMUNICATORS 512
#define UNKNOWN_BYTES	  UINT64_MAX
#define NO_RANKS	  (-1)

struct communicator {
	_Atomic uint32_t is_used;
	int32_t rank_count;
	uint64_t hash;
	char name[64];
};

/* In the order of NCCL's numbers. */
static const struct dtype {
	const char *nccl_name, *name;
	uint32_t bytes;
} dtypes[] = {
	{"ncclInt8", "int8", 1},
	{"ncclUint8", "uint8", 1},
	{"ncclInt32", "int32", 4},
	{"ncclUint32", "uint32", 4},
	{"ncclInt64", "int64", 8},
	{"ncclUint64", "uint64", 8},
	{"ncclFloat16", "float16", 2},
	{"ncclFloat32", "float32", 4},
	{"ncclFloat64", "float64", 8},
	{"ncclBfloat16", "bfloat16", 2},
	{"ncclFloat8e4m3", "float8_e4m3", 1},
	{"ncclFloat8e5m2", "float8_e5m2", 1},
};
#define DTYPE_COUNT (sizeof dtypes / sizeof *dtypes)

/* How much of `count` a rank sends and receives. */
enum share {
	NOTHING,
	ONCE,
	TIMES_RANKS,
	DEPENDS_ON_RANK
};

/* The trace's kinds of collectives; this folder includes no other, so they are said again. */
enum {
	OTHER,
	ALL_GATHER,
	REDUCE_SCATTER,
	ALL_REDUCE,
	SEND_RECV,
	BROADCAST
};

static const struct function {
	const char *name;
	uint8_t kind;
	enum share send, recv;
	bool is_in_bytes; /* NCCL turns its count into bytes before it announces it */
} functions[] = {
	{"AllGather", ALL_GATHER, ONCE, TIMES_RANKS, true},
	{"ReduceScatter", REDUCE_SCATTER, TIMES_RANKS, ONCE, false},
	{"AllReduce", ALL_REDUCE, ONCE, ONCE, false}, {"Broadcast", BROADCAST, ONCE, ONCE, true},
	{"Send", SEND_RECV, ONCE, NOTHING, false}, {"Recv", SEND_RECV, NOTHING, ONCE, false},
	{"SendRecv", SEND_RECV, ONCE, ONCE, false}, {"Reduce", OTHER, ONCE, ONCE, false},
	{"AlltoAll", OTHER, TIMES_RANKS, TIMES_RANKS, false},
	{"Gather", OTHER, ONCE, DEPENDS_ON_RANK, false},
	{"Scatter", OTHER, DEPENDS_ON_RANK, ONCE, false},
	{"", OTHER, DEPENDS_ON_RANK, DEPENDS_ON_RANK, false}, /* any other */
};
#define FUNCTION_COUNT (sizeof functions / sizeof *functions)

static struct communicator communicators[MAX_COMMUNICATORS];
static struct communicator unnamed = {.rank_count = NO_RANKS}; /* of the versions up to 3 */

static char group_handle, group_api_handle, launch_handle;
static char api_handles[DTYPE_COUNT + 1]; /* one a type of elements, the last for unknown ones */

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static _Thread_local struct thread_launch {
	uint64_t launch; /* external id of the thread's last launch, 0 once its group has ended */
	int32_t tid;
	bool is_pushed;
} mine;

/* Nothing is wanted of a process that isn't recorded: NCCL then never calls again. */
static bool is_recorded_process(void)
{
	return getenv(INQUEST_ENV_PARENT) != NULL;
}

/* The child has another thread id, and nothing pushed. */
static void in_child(void)
{
	mine = (struct thread_launch){0};
}

static void watch_fork(void)
{
	(void)pthread_atfork(NULL, NULL, in_child);
}

void *nccl_join(int *ret_mask, int wanted)
{
	bool is_ours = is_recorded_process();
	if (is_ours) {
		const int saved = errno; /* the training's, not ours to change */
		/* Another tool may hold CUDA's place for one: then this is the first that we hear
		 * of a GPU. */
		collector_start_cuda();
		errno = saved;
		pthread_once(&fork_once, watch_fork);
	}
	if (ret_mask)
		*ret_mask = is_ours ? wanted : 0;
	return is_ours ? &unnamed : NULL;
}

void *nccl_join_known(
	int *ret_mask, int wanted, const char *name, uint64_t communicator, int rank_count)
{
	if (!nccl_join(ret_mask, wanted))
		return NULL;
	for (size_t i = 0; i < MAX_COMMUNICATORS; i++) {
		struct communicator *to = &communicators[i];
		uint32_t is_free = 0;
		if (!atomic_compare_exchange_strong(&to->is_used, &is_free, 1))
			continue;
		size_t length = name ? strnlen(name, sizeof to->name - 1) : 0;
		memcpy(to->name, name ? name : "", length);
		to->name[length] = '\0';
		to->hash = communicator;
		to->rank_count = rank_count > 0 ? rank_count : NO_RANKS;
		return to;
	}
	/* Its collectives are still noted, without a communicator. */
	return &unnamed;
}

/* NULL for a context that isn't ours: NCCL goes on with NULL where an init failed. */
static const struct communicator *communicator_of(const void *context)
{
	uintptr_t at = (uintptr_t)context - (uintptr_t)communicators;
	if (context == &unnamed ||
		(at < sizeof communicators && at % sizeof(struct communicator) == 0))
		return context;
	return NULL;
}

int nccl_finalize(void *context)
{
	struct communicator *left = (struct communicator *)communicator_of(context);
	if (left && left != &unnamed)
		atomic_store(&left->is_used, 0);
	return 0;
}

static size_t dtype_index(const char *nccl_name)
{
	size_t i = 0;
	if (!nccl_name)
		return DTYPE_COUNT;
	while (i < DTYPE_COUNT && strcmp(nccl_name, dtypes[i].nccl_name) != 0)
		i++;
	return i;
}

const char *nccl_dtype_name(unsigned code)
{
	return code < DTYPE_COUNT ? dtypes[code].nccl_name : NULL;
}

void *nccl_begin_group(void)
{
	return &group_handle;
}

void *nccl_begin_api(const char *dtype)
{
	return &api_handles[dtype_index(dtype)];
}

/* Also where NCCL failed between a launch's start and stop, so that no id is left behind. */
static void end_launch(void)
{
	if (mine.is_pushed)
		collector_pop_launch();
	mine.is_pushed = false;
}

void *nccl_begin_group_api(void)
{
	end_launch();
	mine.launch = 0;
	return &group_api_handle;
}

void *nccl_begin_launch(void)
{
	end_launch();
	mine.launch = collector_is_recording() ? collector_push_launch() : 0;
	mine.is_pushed = mine.launch != 0;
	return &launch_handle;
}

int nccl_stop(void *handle)
{
	if (handle == &launch_handle || handle == &group_api_handle)
		end_launch();
	if (handle == &group_api_handle)
		mine.launch = 0;
	return 0;
}

int nccl_record_state(void *handle, int state, void *arguments)
{
	(void)handle;
	(void)state;
	(void)arguments;
	return 0;
}

static const struct function *function_of(const char *name)
{
	size_t i = 0;
	while (i < FUNCTION_COUNT - 1 && (!name || strcmp(name, functions[i].name) != 0))
		i++;
	return &functions[i];
}

static uint64_t bytes_of(enum share share, uint64_t bytes, int32_t rank_count)
{
	uint64_t times = share == TIMES_RANKS ? (uint64_t)rank_count : share == ONCE ? 1 : 0;
	uint64_t product;
	if (share == NOTHING)
		return 0;
	if (share == DEPENDS_ON_RANK || bytes == UNKNOWN_BYTES ||
		(share == TIMES_RANKS && rank_count <= 0) ||
		__builtin_mul_overflow(bytes, times, &product))
		return UNKNOWN_BYTES;
	return product;
}

static void put_word(char to[16], const char *from)
{
	size_t length = from && strcmp(from, "Unknown") != 0 ? strnlen(from, 15) : 0;
	memcpy(to, from ? from : "", length);
	memset(to + length, 0, 16 - length);
}

/* The call says the type that the user meant; the event of a function in bytes says int8. */
static const char *dtype_of(const struct nccl_task *task, const struct function *function)
{
	uintptr_t called = (uintptr_t)task->api - (uintptr_t)api_handles;
	if (called < DTYPE_COUNT)
		return dtypes[called].name;
	size_t told = dtype_index(task->dtype);
	return told < DTYPE_COUNT && !function->is_in_bytes ? dtypes[told].name : "";
}

/* Versions 1 and 2 don't say how many ranks there are, but their traffic is a multiple of it. */
static int32_t ranks_in_traffic(
	const struct nccl_task *task, const struct function *function, uint64_t bytes)
{
	if ((function->kind != ALL_GATHER && function->kind != REDUCE_SCATTER) || bytes == 0 ||
		bytes == UNKNOWN_BYTES || task->traffic_bytes < bytes)
		return NO_RANKS;
	uint64_t ranks = task->traffic_bytes / bytes;
	return ranks <= INT32_MAX && ranks * bytes == task->traffic_bytes ? (int32_t)ranks
									  : NO_RANKS;
}

static void fill(struct note_collective *to, const struct communicator *communicator,
	const struct nccl_task *task)
{
	const struct function *function = function_of(task->function);
	size_t dtype = dtype_index(task->dtype);
	uint64_t bytes = UNKNOWN_BYTES;
	if (dtype < DTYPE_COUNT &&
		__builtin_mul_overflow((uint64_t)task->count, dtypes[dtype].bytes, &bytes))
		bytes = UNKNOWN_BYTES;
	to->external_id = task->is_copy_engine ? 0 : mine.launch;
	to->communicator = task->communicator ? task->communicator
			   : communicator     ? communicator->hash
					      : 0;
	to->sequence = task->sequence;
	to->rank_count = communicator ? communicator->rank_count : NO_RANKS;
	if (to->rank_count == NO_RANKS)
		to->rank_count = ranks_in_traffic(task, function, bytes);
	to->kind = function->kind;
	to->send_bytes = bytes_of(function->send, bytes, to->rank_count);
	to->recv_bytes = bytes_of(function->recv, bytes, to->rank_count);
	put_word(to->dtype, dtype_of(task, function));
	put_word(to->algorithm, task->algorithm);
	put_word(to->protocol, task->protocol);
}

void nccl_note_task(const void *context, const struct nccl_task *task)
{
	if (!collector_is_recording())
		return;
	if (!mine.tid)
		mine.tid = (int32_t)gettid();
	const struct communicator *communicator = communicator_of(context);
	const char *name = task->name ? task->name : communicator ? communicator->name : "";
	struct note note;
	note.at_ns = notes_now_ns();
	note.tid = mine.tid;
	note.kind = NOTE_COLLECTIVE;
	fill(&note.collective, communicator, task);
	size_t length = strnlen(name, NOTE_TEXT_MAX);
	memcpy(note.text, name, length);
	note.text[length] = '\0';
	note.text_length = (uint8_t)length;
	(void)notes_put(&note);
}
