/* See standin_nccl.h. */
#include "standin_nccl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum {
	GROUP = 1,
	COLL = 2,
	P2P = 4,
	GROUP_API = 256,
	COLL_API = 512,
	P2P_API = 1024,
	LAUNCH = 2048,
	CE_COLL = 4096,
};

#define NOWHERE 0
#define UNION	24 /* after kind, parent and rank */

/* Where each version has what, in bytes from the start of the descriptor. */
static const struct layout {
	size_t name, hash, sequence, function, count, dtype, traffic, algorithm, protocol, group;
	size_t p2p_function, p2p_dtype, p2p_count, p2p_group;
} layouts[] = {
	[1] = {24, 32, 40, 48, 72, 84, 96, 106, 107, NOWHERE, 40, 56, 64, NOWHERE},
	[2] = {24, 32, 40, 48, 72, 88, 96, 112, 120, NOWHERE, 40, 56, 64, NOWHERE},
	[3] = {24, 32, 40, 48, 72, 88, NOWHERE, 104, 112, NOWHERE, 40, 56, 64, NOWHERE},
	[4] = {NOWHERE, NOWHERE, 24, 32, 56, 72, NOWHERE, 88, 96, NOWHERE, 24, 40, 48, NOWHERE},
	[5] = {NOWHERE, NOWHERE, 24, 32, 56, 72, NOWHERE, 88, 96, 104, 24, 40, 48, 64},
	[6] = {NOWHERE, NOWHERE, 24, 32, 56, 72, NOWHERE, 88, 96, 104, 24, 40, 48, 64},
};

static const char *const functions[] = {"Broadcast", "Reduce", "AllGather", "ReduceScatter",
	"AllReduce", "SendRecv", "Send", "Recv"};
static const char *const algorithms[] = {
	"TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
static const char *const protocols[] = {"LL", "LL128", "SIMPLE"};
static const char *const dtypes[] = {"ncclInt8", "Unknown", "ncclInt32", "ncclUint32", "ncclInt64",
	"ncclUint64", "ncclFloat16", "ncclFloat32", "ncclFloat64", "ncclBfloat16"};
static const size_t dtype_bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};

static int code_of(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (name && strcmp(names[i], name) == 0)
			return (int)i;
	return 255;
}

#define CODE(names, name) code_of(names, sizeof(names) / sizeof *(names), name)

/* A descriptor and the calls of a table. */

struct descriptor {
	_Alignas(8) unsigned char bytes[160];
};

struct table {
	const char *name;
	void *init;
	int (*start)(void *context, void **handle, struct descriptor *descriptor);
	int (*stop)(void *handle);
	int (*record)(void *handle, int state, void *arguments);
	int (*finalize)(void *context);
};

static void put(struct descriptor *to, size_t at, const void *from, size_t size)
{
	if (at != NOWHERE)
		memcpy(to->bytes + at, from, size);
}

/* The rest is filled with what must not be read. */
static struct descriptor begin(const struct standin_comm *comm, uint64_t kind, void *parent)
{
	struct descriptor made;
	memset(&made, 0xee, sizeof made);
	put(&made, 8, &parent, sizeof parent);
	memcpy(made.bytes, &kind, comm->nccl->version < 5 ? 1 : 8);
	put(&made, 16, &comm->rank, sizeof comm->rank);
	return made;
}

static void *start(const struct standin_comm *comm, struct descriptor *descriptor)
{
	const struct table *table = comm->nccl->table;
	void *handle = NULL;
	table->start(comm->context, &handle, descriptor);
	return handle;
}

static void stop(const struct standin_comm *comm, void *handle)
{
	const struct table *table = comm->nccl->table;
	if (handle)
		table->stop(handle);
}

/* Numbers in version 1, texts after it. */
static void put_name(struct descriptor *to, int version, size_t at, const char *name, int code)
{
	if (version == 1)
		put(to, at, &(uint8_t){(uint8_t)code}, 1);
	else
		put(to, at, &name, sizeof name);
}

static bool is_point(const struct standin_call *call)
{
	return strcmp(call->function, "Send") == 0 || strcmp(call->function, "Recv") == 0;
}

static void fill_point(struct descriptor *to, const struct standin_comm *comm,
	const struct standin_call *call, void *group)
{
	const int version = comm->nccl->version;
	const struct layout *at = &layouts[version];
	put(to, at->name, &comm->name, sizeof comm->name);
	put(to, at->hash, &comm->hash, sizeof comm->hash);
	put_name(to, version, at->p2p_function, call->function, CODE(functions, call->function));
	put_name(to, version, at->p2p_dtype, dtypes[call->dtype], (int)call->dtype);
	put(to, at->p2p_count, &call->count, sizeof call->count);
	put(to, at->p2p_group, &group, sizeof group);
}

/* Gathers and broadcasts are turned into bytes before anyone is told. */
static void fill_collective(struct descriptor *to, struct standin_comm *comm,
	const struct standin_call *call, void *group)
{
	const int version = comm->nccl->version, function = CODE(functions, call->function);
	const struct layout *at = &layouts[version];
	const bool gathers = function == 2, scatters = function == 3,
		   in_bytes = gathers || !function;
	const size_t bytes = call->count * dtype_bytes[call->dtype];
	const size_t count = in_bytes ? bytes : call->count;
	const unsigned dtype = in_bytes ? 0 : call->dtype;
	const size_t traffic = bytes * (gathers || scatters    ? (size_t)comm->rank_count
					       : function == 4 ? 2
							       : 1);
	put(to, at->name, &comm->name, sizeof comm->name);
	put(to, at->hash, &comm->hash, sizeof comm->hash);
	put(to, at->sequence, &comm->sequences[function & 15], sizeof(uint64_t));
	comm->sequences[function & 15]++;
	put_name(to, version, at->function, call->function, function);
	put(to, at->count, &count, sizeof count);
	put_name(to, version, at->dtype, dtypes[dtype], (int)dtype);
	put(to, at->traffic, &traffic, sizeof traffic);
	put_name(to, version, at->algorithm, call->algorithm, CODE(algorithms, call->algorithm));
	put_name(to, version, at->protocol, call->protocol, CODE(protocols, call->protocol));
	put(to, at->group, &group, sizeof group);
}

bool standin_open(struct standin_nccl *nccl, void *library, int newest)
{
	memset(nccl, 0, sizeof *nccl);
	for (int version = newest; library && version > 0 && !nccl->table; version--) {
		char name[32];
		snprintf(name, sizeof name, "ncclProfiler_v%d", version);
		nccl->table = dlsym(library, name);
		nccl->version = nccl->table ? version : 0;
	}
	return nccl->table;
}

static void log_nothing(int level, unsigned long flags, const char *file, int line, ...)
{
	(void)level;
	(void)flags;
	(void)file;
	(void)line;
}

int standin_comm_init(struct standin_comm *comm, struct standin_nccl *nccl, const char *name,
	uint64_t hash, int rank_count, int rank)
{
	typedef void (*logger)(int, unsigned long, const char *, int, ...);
	typedef int (*init_v1)(void **, int *);
	typedef int (*init_v4)(void **, int *, const char *, uint64_t, int, int, int, logger);
	typedef int (*init_v5)(void **, uint64_t, int *, const char *, int, int, int, logger);
	void *init = ((const struct table *)nccl->table)->init;
	*comm = (struct standin_comm){nccl, NULL, name, hash, rank_count, rank, {0}};
	if (nccl->version < 4)
		return ((init_v1)init)(&comm->context, &nccl->mask);
	if (nccl->version == 4)
		return ((init_v4)init)(
			&comm->context, &nccl->mask, name, hash, 1, rank_count, rank, log_nothing);
	return ((init_v5)init)(
		&comm->context, hash, &nccl->mask, name, 1, rank_count, rank, log_nothing);
}

void standin_comm_destroy(struct standin_comm *comm)
{
	if (comm->context)
		((const struct table *)comm->nccl->table)->finalize(comm->context);
	comm->context = NULL;
}

/* A plan: one kernel, and the tasks that it carries; the last first, since NCCL sorts by size. */
static void run_plan(struct standin_comm *comm, const struct standin_group *group, size_t from,
	size_t to, void *const *api)
{
	const int mask = comm->nccl->mask;
	struct descriptor made = begin(comm, LAUNCH, NULL);
	void *launch = mask & LAUNCH ? start(comm, &made) : NULL, *tasks[8] = {0};
	if (group->launch)
		group->launch(group->launch_context);
	if (group->fails)
		return;
	stop(comm, launch);
	made = begin(comm, GROUP, NULL);
	void *plan = mask & GROUP ? start(comm, &made) : NULL;
	/* Up to version 4 a task is announced within a group only. */
	const bool can = comm->nccl->version >= 5 || plan;
	for (size_t i = to; can && i-- > from;) {
		const bool point = is_point(&group->calls[i]);
		if (!(mask & (point ? P2P : COLL)))
			continue;
		made = begin(comm, point ? P2P : COLL, comm->nccl->version >= 5 ? api[i] : plan);
		if (point)
			fill_point(&made, comm, &group->calls[i], plan);
		else
			fill_collective(&made, comm, &group->calls[i], plan);
		tasks[i] = start(comm, &made);
	}
	for (size_t i = from; i < to; i++)
		stop(comm, tasks[i]);
	stop(comm, plan);
}

static void run_copy_engine(
	struct standin_comm *comm, const struct standin_call *call, void *const api)
{
	static const char *const how = "MC";
	struct descriptor made = begin(comm, CE_COLL, api);
	const uint64_t sequence = 5;
	if (!(comm->nccl->mask & CE_COLL))
		return;
	put(&made, 24, &sequence, sizeof sequence);
	put(&made, 32, &call->function, sizeof call->function);
	put(&made, 56, &call->count, sizeof call->count);
	put(&made, 72, &dtypes[call->dtype], sizeof(char *));
	put(&made, 80, &how, sizeof how);
	stop(comm, start(comm, &made));
}

struct job {
	struct standin_comm *comm;
	const struct standin_group *group;
	void *const *api;
};

static void *run_plans(void *argument)
{
	const struct job *job = argument;
	const struct standin_group *group = job->group;
	const size_t step = group->calls_per_kernel ? group->calls_per_kernel : 1;
	for (size_t i = 0; i < group->count; i += step) {
		if (group->calls[i].is_copy_engine)
			run_copy_engine(job->comm, &group->calls[i], job->api[i]);
		else if (group->calls[i].is_symmetric)
			group->launch(group->launch_context);
		else
			run_plan(job->comm, group, i,
				i + step < group->count ? i + step : group->count, job->api);
	}
	return NULL;
}

void standin_group_run(struct standin_comm *comm, const struct standin_group *group)
{
	const int mask = comm->nccl->version >= 5 ? comm->nccl->mask : 0;
	struct descriptor made = begin(comm, GROUP_API, NULL);
	void *whole = mask & GROUP_API ? start(comm, &made) : NULL, *api[8] = {0};
	for (size_t i = 0; i < group->count; i++) {
		const struct standin_call *call = &group->calls[i];
		const bool point = is_point(call);
		const char *dtype = dtypes[call->dtype];
		if (!(mask & (point ? P2P_API : COLL_API)))
			continue;
		made = begin(comm, point ? P2P_API : COLL_API, whole);
		put(&made, 24, &call->function, sizeof call->function);
		put(&made, 32, &call->count, sizeof call->count);
		put(&made, 40, &dtype, sizeof dtype);
		api[i] = start(comm, &made);
		stop(comm, api[i]);
	}
	struct job job = {comm, group, api};
	pthread_t thread;
	if (!group->is_nonblocking)
		run_plans(&job);
	else if (pthread_create(&thread, NULL, run_plans, &job) == 0)
		pthread_join(thread, NULL);
	stop(comm, whole);
}

void standin_misbehave(struct standin_nccl *nccl)
{
	const struct table *table = nccl->table;
	struct standin_comm comm = {.nccl = nccl};
	void *handle = NULL;
	int here = 0;
	table->start(NULL, NULL, NULL);
	table->start(&here, &handle, NULL);
	table->stop(NULL);
	table->stop(&here);
	table->record(NULL, 22, NULL);
	table->record(&here, -1, &here);
	table->finalize(NULL);
	table->finalize(&here);
	for (uint64_t kind = 8; kind <= 128; kind *= 2) {
		struct descriptor made = begin(&comm, kind, &here);
		table->start(NULL, &handle, &made);
	}
	if (nccl->version < 4)
		((int (*)(void **, int *))table->init)(NULL, NULL);
	else if (nccl->version == 4)
		((int (*)(void **, int *, const char *, uint64_t, int, int, int,
			void *))table->init)(NULL, NULL, NULL, 0, 0, 0, 0, NULL);
	else
		((int (*)(void **, uint64_t, int *, const char *, int, int, int,
			void *))table->init)(NULL, 0, NULL, NULL, 0, -1, 0, NULL);
}
