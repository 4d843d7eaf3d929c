/*
 * libcupti without a GPU.  See standin_cupti.h.
 */
#include "standin_cupti.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum {
	OK = 0,
	INVALID_PARAMETER = 1,
	MAX_LIMIT_REACHED = 12,
	QUEUE_EMPTY = 15,
	TAKEN = 39
};
#define KINDS 64u
#define CBIDS 1024u

/* One struct a kind of record, with what its version has at its end. */
struct kernel {
	uint32_t kind;
	uint8_t cache, shared_config;
	uint16_t registers;
	uint32_t requested, executed;
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t static_shared, dynamic_shared;
	uint32_t local_per_thread, local_total, correlation;
	int64_t grid_id;
	const char *name;
	void *reserved;
	uint64_t queued, submitted;
	uint8_t launch[4];
	uint32_t shared_executed;
	uint64_t graph_node;
	uint32_t limit_config, graph;
	void *access_policy;
	uint32_t channel, channel_type, cluster[3], cluster_schedule;
	uint64_t local_total_v2;
	uint32_t potential_cluster, active_clusters; /* 208 bytes: 12.0 */
	uint64_t device_launched;		     /* 216 bytes: 13.0 */
};
struct copy {
	uint32_t kind;
	uint8_t copy_kind, from, to, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation, runtime_correlation, padding;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph, channel, channel_type, padding_2; /* 88 bytes */
	uint64_t copy_count;				  /* 96 bytes: 12.8 */
};
struct peer_copy {
	uint32_t kind;
	uint8_t copy_kind, from, to, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, from_device, from_context, to_device, to_context,
		correlation;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph, channel, channel_type, padding;
};
struct fill {
	uint32_t kind, value;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
	uint16_t flags, memory_kind;
	uint32_t padding;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph, channel, channel_type, padding_2;
};
struct call {
	uint32_t kind, cbid;
	uint64_t start, end;
	uint32_t process, thread, correlation, result;
};
struct external {
	uint32_t kind, external_kind;
	uint64_t id;
	uint32_t correlation, reserved;
};
struct sync {
	uint32_t kind, type;
	uint64_t start, end;
	uint32_t correlation, context, stream, event; /* 40 bytes */
	uint64_t sync_id;
	uint32_t result, padding; /* 56 bytes: 12.8 */
};
struct event {
	uint32_t kind, correlation, context, stream, event, padding; /* 24 bytes */
	uint32_t device, padding_2;
	uint64_t reserved, device_time, sync_id; /* 56 bytes: 12.8 */
};
struct overhead {
	uint32_t kind, overhead_kind, object_kind, object[3];
	uint64_t start, end;
	uint32_t correlation, padding;
	void *data;
};
struct memory {
	uint32_t kind, operation, memory_kind, correlation;
	uint64_t address, bytes, at, pc;
	uint32_t process, device, context, stream;
	const char *name;
	uint32_t is_async, padding;
	uint64_t pool[5], source;
};
struct device {
	uint32_t kind, flags;
	uint64_t bandwidth, memory_bytes;
	uint32_t limits[22], id, ecc;
	uint8_t uuid[16];
	const char *name;
	uint64_t rest[5];
};
struct unknown {
	uint32_t kind, rest[5];
};
struct callback_data {
	uint32_t site;
	const char *function;
	const void *parameters;
	int *result;
	const char *symbol;
	void *context;
	uint32_t context_id;
	uint64_t *own;
	uint32_t correlation;
};
#define NOWHERE ((void *)(uintptr_t)64) /* for what must not be looked at */

typedef void request_function(uint8_t **buffer, size_t *bytes, size_t *max_records);
typedef void complete_function(
	void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes);

typedef void callback_function(void *user, int domain, uint32_t cbid, const void *data);

static callback_function *callback;
static void *callback_user;
static _Atomic bool calls_back[2][CBIDS];
static request_function *request;
static complete_function *complete;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *buffer;
static size_t buffer_bytes, valid_bytes;
static _Atomic bool enabled[KINDS], calls_left_out[2][CBIDS];
static _Atomic uint32_t last_correlation, dropped;
static _Atomic bool is_hanging;
static _Atomic int64_t wrong;
static _Thread_local uint64_t pushed[8];
static _Thread_local uint32_t pushed_depth;

#define WRONG() atomic_store(&wrong, __LINE__)

static uint32_t version(void)
{
	const char *text = getenv("STANDIN_CUPTI_VERSION");
	return text ? (uint32_t)atoi(text) : 130001;
}

static size_t bytes_of(uint32_t kind)
{
	const bool is_12_8 = version() >= 26;
	switch (kind) {
	case 1:
		return is_12_8 ? 96 : 88;
	case 2:
		return sizeof(struct fill);
	case 4:
	case 5:
		return sizeof(struct call);
	case 8:
		return sizeof(struct device);
	case 10:
		return version() >= 130000 ? 216 : 208;
	case 17:
		return sizeof(struct overhead);
	case 22:
		return sizeof(struct peer_copy);
	case 36:
		return is_12_8 ? 56 : 24;
	case 38:
		return is_12_8 ? 56 : 40;
	case 39:
		return sizeof(struct external);
	case 49:
		return sizeof(struct memory);
	default:
		return sizeof(struct unknown);
	}
}

static void hand_over(void)
{
	uint8_t *full = buffer;
	buffer = NULL;
	if (full)
		complete(NULL, 0, full, buffer_bytes, valid_bytes);
}

static void put(const void *record)
{
	uint32_t kind;
	memcpy(&kind, record, sizeof kind);
	const size_t bytes = bytes_of(kind);
	pthread_mutex_lock(&lock);
	if (buffer && valid_bytes + bytes > buffer_bytes)
		hand_over();
	if (!buffer) {
		size_t max_records = 1;
		request(&buffer, &buffer_bytes, &max_records);
		valid_bytes = 0;
		/* Old CUPTI crashes on NULL; and it was promised zeros. */
		if (!buffer || max_records != 0)
			abort();
		if (buffer_bytes > 1 << 20)
			for (size_t i = 0; i < buffer_bytes; i += 8)
				if (*(const uint64_t *)(const void *)(buffer + i))
					WRONG();
	}
	memcpy(buffer + valid_bytes, record, bytes);
	valid_bytes += bytes;
	pthread_mutex_unlock(&lock);
}

static bool is_enabled(uint32_t kind)
{
	return kind < KINDS && atomic_load(&enabled[kind]);
}

static bool is_call_enabled(bool is_driver, uint32_t cbid)
{
	if (cbid < CBIDS && atomic_load(&calls_back[is_driver][cbid]))
		return true;
	/* Asking for a call whose kind is off brings nothing, as seen with CUPTI 13.0. */
	return cbid < CBIDS && is_enabled(is_driver ? 4 : 5) &&
	       !atomic_load(&calls_left_out[is_driver][cbid]);
}

static void call_back(struct standin_api *api, bool is_exit)
{
	const struct callback_data data = {.site = is_exit,
		.function = NOWHERE,
		.parameters = NOWHERE,
		.result = is_exit ? &api->result : NOWHERE,
		.symbol = NOWHERE,
		.context = NOWHERE,
		.context_id = 1,
		.own = &api->own,
		.correlation = api->correlation};
	if (api->cbid < CBIDS && atomic_load(&calls_back[api->is_driver][api->cbid]))
		callback(callback_user, api->is_driver ? 1 : 2, api->cbid, &data);
}

static void enter(struct standin_api *api, bool is_driver, uint32_t cbid)
{
	*api = (struct standin_api){.is_driver = is_driver,
		.cbid = cbid,
		.own = 123456789, /* whatever it held */
		.correlation = atomic_fetch_add(&last_correlation, 1) + 1};
	call_back(api, false);
}

static void put_call(const struct standin_api *api, int64_t start_ns, int64_t end_ns)
{
	const struct call call = {.kind = api->is_driver ? 4 : 5,
		.cbid = api->cbid,
		.start = (uint64_t)start_ns,
		.end = (uint64_t)end_ns,
		.process = (uint32_t)getpid(),
		.thread = (uint32_t)gettid(),
		.correlation = api->correlation,
		.result = (uint32_t)api->result};
	const bool is_wanted = is_call_enabled(api->is_driver, api->cbid) && is_enabled(call.kind);
	/* Before 12.8, external ids came for disabled calls too. */
	if (pushed_depth && is_enabled(39) && (is_wanted || version() < 26)) {
		const struct external foreign = {
			.kind = 39, .external_kind = 3, .id = 77, .correlation = call.correlation};
		const struct external external = {.kind = 39,
			.external_kind = 5,
			.id = pushed[pushed_depth - 1],
			.correlation = call.correlation};
		put(&foreign);
		put(&external);
	}
	if (is_wanted)
		put(&call);
}

static void leave(struct standin_api *api)
{
	call_back(api, true);
}

static uint32_t emit_call(bool is_driver, uint32_t cbid, int64_t start_ns, int64_t end_ns)
{
	struct standin_api api;
	enter(&api, is_driver, cbid);
	leave(&api);
	put_call(&api, start_ns, end_ns);
	return api.correlation;
}

static void emit_graph_kernel(uint32_t correlation, uint32_t stream, const char *name,
	int64_t start_ns, int64_t end_ns, uint64_t node)
{
	const struct kernel kernel = {.kind = 10,
		.start = (uint64_t)start_ns,
		.end = (uint64_t)end_ns,
		.device = 1,
		.context = 1,
		.stream = stream,
		.grid = {8, 2, 1},
		.block = {128, 1, 1},
		.static_shared = 1024,
		.dynamic_shared = 512,
		.correlation = correlation,
		.name = name,
		.graph_node = node};
	if (is_enabled(10))
		put(&kernel);
}

static void emit_kernel(
	uint32_t correlation, uint32_t stream, const char *name, int64_t start_ns, int64_t end_ns)
{
	emit_graph_kernel(correlation, stream, name, start_ns, end_ns, 0);
}

static void emit_copy(uint32_t correlation, uint32_t stream, bool is_peer, uint64_t bytes,
	int64_t start_ns, int64_t end_ns)
{
	const struct copy copy = {.kind = 1,
		.copy_kind = 1,
		.from = 2,
		.to = 3,
		.bytes = bytes,
		.start = (uint64_t)start_ns,
		.end = (uint64_t)end_ns,
		.device = 1,
		.context = 1,
		.stream = stream,
		.correlation = correlation};
	const struct peer_copy peer = {.kind = 22,
		.copy_kind = 10,
		.from = 3,
		.to = 3,
		.bytes = bytes,
		.start = (uint64_t)start_ns,
		.end = (uint64_t)end_ns,
		.device = 1,
		.context = 1,
		.stream = stream,
		.correlation = correlation};
	if (is_peer && is_enabled(22))
		put(&peer);
	else if (!is_peer && is_enabled(1))
		put(&copy);
}

static void emit_fill(
	uint32_t correlation, uint32_t stream, uint64_t bytes, int64_t start_ns, int64_t end_ns)
{
	const struct fill fill = {.kind = 2,
		.bytes = bytes,
		.start = (uint64_t)start_ns,
		.end = (uint64_t)end_ns,
		.device = 1,
		.context = 1,
		.stream = stream,
		.correlation = correlation,
		.memory_kind = 3};
	if (is_enabled(2))
		put(&fill);
}

static void emit_event(uint32_t correlation, uint32_t stream, uint32_t event_id, uint64_t sync_id)
{
	const struct event event = {.kind = 36,
		.correlation = correlation,
		.context = 1,
		.stream = stream,
		.event = event_id,
		.sync_id = sync_id};
	if (is_enabled(36))
		put(&event);
}

static void emit_sync(
	uint32_t type, uint32_t correlation, uint32_t stream, uint32_t event_id, uint64_t sync_id)
{
	const struct sync sync = {.kind = 38,
		.type = type,
		.start = 1,
		.end = 2,
		.correlation = correlation,
		.context = 1,
		.stream = stream,
		.event = event_id,
		.sync_id = sync_id};
	if (is_enabled(38))
		put(&sync);
}

static void emit_overhead(uint32_t kind, int64_t start_ns, int64_t end_ns)
{
	const struct overhead overhead = {.kind = 17,
		.overhead_kind = kind,
		.start = (uint64_t)start_ns,
		.end = (uint64_t)end_ns};
	if (is_enabled(17))
		put(&overhead);
}

static void emit_memory(
	uint32_t operation, uint32_t kind, uint64_t address, uint64_t bytes, int64_t at_ns)
{
	const struct memory memory = {.kind = 49,
		.operation = operation,
		.memory_kind = kind,
		.address = address,
		.bytes = bytes,
		.at = (uint64_t)at_ns,
		.device = 1};
	if (is_enabled(49))
		put(&memory);
}

static void emit_device(uint32_t id, const char *name, uint64_t memory_bytes)
{
	const struct device device = {
		.kind = 8, .memory_bytes = memory_bytes, .id = id, .name = name};
	if (is_enabled(8))
		put(&device);
}

static void emit_unknown(void)
{
	const struct unknown unknown = {.kind = 61, .rest = {1, 2, 3, 4, 5}};
	put(&unknown);
}

static void add_dropped(uint32_t count)
{
	atomic_fetch_add(&dropped, count);
}

static uint32_t depth(void)
{
	return pushed_depth;
}

static void set_hanging(bool hangs)
{
	atomic_store(&is_hanging, hangs);
}

static int64_t last_wrong(void)
{
	return atomic_load(&wrong);
}

EXPORT extern const struct standin_cupti standin_cupti;
const struct standin_cupti standin_cupti = {.call = emit_call,
	.enter = enter,
	.leave = leave,
	.kernel = emit_kernel,
	.graph_kernel = emit_graph_kernel,
	.copy = emit_copy,
	.fill = emit_fill,
	.event = emit_event,
	.sync = emit_sync,
	.overhead = emit_overhead,
	.memory = emit_memory,
	.device = emit_device,
	.unknown = emit_unknown,
	.drop = add_dropped,
	.is_enabled = is_enabled,
	.is_call_enabled = is_call_enabled,
	.depth = depth,
	.hang = set_hanging,
	.last_wrong = last_wrong};

/* The functions of libcupti. */

EXPORT int cuptiGetVersion(uint32_t *ret);
EXPORT int cuptiSubscribe(void **subscriber, callback_function *called, void *user);
#ifndef STANDIN_WITHOUT_CALLBACKS
EXPORT int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain, uint32_t cbid);
#endif
EXPORT int cuptiGetResultString(int result, const char **text);
EXPORT int cuptiActivityEnable(uint32_t kind);
EXPORT int cuptiActivityDisable(uint32_t kind);
EXPORT int cuptiActivityRegisterCallbacks(
	request_function *requested, complete_function *completed);
EXPORT int cuptiActivityGetNextRecord(uint8_t *from, size_t valid, const void **record);
EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *ret);
EXPORT int cuptiActivityFlushAll(uint32_t flag);
EXPORT int cuptiActivityFlushPeriod(uint32_t ms);
EXPORT int cuptiActivitySetAttribute(uint32_t attribute, size_t *bytes, void *value);
EXPORT int cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable);
EXPORT int cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable);
EXPORT int cuptiActivityEnableAllSyncRecords(uint8_t enable);
EXPORT int cuptiSetThreadIdType(uint32_t type);
EXPORT int cuptiActivityPushExternalCorrelationId(uint32_t kind, uint64_t id);
EXPORT int cuptiActivityPopExternalCorrelationId(uint32_t kind, uint64_t *last);

int cuptiGetVersion(uint32_t *ret)
{
	*ret = version();
	return OK;
}

int cuptiSubscribe(void **subscriber, callback_function *called, void *user)
{
	static _Atomic bool is_taken;
	/* One at a time; nobody here gives it back. */
	if (getenv("STANDIN_CUPTI_TAKEN") || atomic_exchange(&is_taken, true))
		return TAKEN;
	callback = called;
	callback_user = user;
	*subscriber = &lock;
	return OK;
}

#ifndef STANDIN_WITHOUT_CALLBACKS
int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain, uint32_t cbid)
{
	static _Atomic bool is_switching;
	if (subscriber != &lock || (domain != 1 && domain != 2) || enable > 1)
		WRONG();
	else if (atomic_exchange(&is_switching, true))
		WRONG(); /* callers must take turns */
	else if (cbid < CBIDS && (domain == 1 || cbid < 505 || version() >= 130000))
		atomic_store(&calls_back[domain == 1][cbid], enable);
	atomic_store(&is_switching, false);
	return cbid < CBIDS ? OK : INVALID_PARAMETER;
}
#endif

int cuptiGetResultString(int result, const char **text)
{
	*text = result == OK ? "OK" : "NOT_OK";
	return OK;
}

int cuptiActivityEnable(uint32_t kind)
{
	if (kind >= KINDS || kind == 3)
		return INVALID_PARAMETER;
	for (uint32_t cbid = 0; (kind == 4 || kind == 5) && cbid < CBIDS; cbid++)
		atomic_store(&calls_left_out[kind == 4][cbid], false);
	atomic_store(&enabled[kind], true);
	return OK;
}

int cuptiActivityDisable(uint32_t kind)
{
	if (kind >= KINDS)
		return INVALID_PARAMETER;
	atomic_store(&enabled[kind], false);
	return OK;
}

int cuptiActivityRegisterCallbacks(request_function *requested, complete_function *completed)
{
	request = requested;
	complete = completed;
	return requested && completed ? OK : INVALID_PARAMETER;
}

int cuptiActivityGetNextRecord(uint8_t *from, size_t valid, const void **record)
{
	const uint8_t *at = *record;
	uint32_t kind;
	if (at) {
		memcpy(&kind, at, sizeof kind);
		at += bytes_of(kind);
	} else {
		at = from;
	}
	if (at >= from + valid)
		return MAX_LIMIT_REACHED;
	*record = at;
	return OK;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *ret)
{
	(void)context, (void)stream;
	*ret = atomic_exchange(&dropped, 0);
	return OK;
}

int cuptiActivityFlushAll(uint32_t flag)
{
	(void)flag;
	while (atomic_load(&is_hanging))
		usleep(10000);
	pthread_mutex_lock(&lock);
	hand_over();
	pthread_mutex_unlock(&lock);
	return OK;
}

int cuptiActivityFlushPeriod(uint32_t ms)
{
	(void)ms;
	return OK;
}

int cuptiActivitySetAttribute(uint32_t attribute, size_t *bytes, void *value)
{
	(void)value;
	if ((attribute == 5 || attribute == 9) && *bytes != 1)
		WRONG();
	return attribute == 9 && request ? INVALID_PARAMETER : OK;
}

static int switch_call(bool is_driver, uint32_t cbid, uint8_t enable)
{
	/* What came with 13.0 is not known before. */
	if (cbid >= CBIDS || (!is_driver && cbid >= 505 && version() < 130000))
		return INVALID_PARAMETER;
	atomic_store(&calls_left_out[is_driver][cbid], !enable);
	return OK;
}

int cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable)
{
	if (version() < 23)
		WRONG();
	return switch_call(false, cbid, enable);
}

int cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable)
{
	return switch_call(true, cbid, enable);
}

int cuptiActivityEnableAllSyncRecords(uint8_t enable)
{
	return enable ? INVALID_PARAMETER : OK;
}

int cuptiSetThreadIdType(uint32_t type)
{
	return type == 1 ? OK : INVALID_PARAMETER;
}

int cuptiActivityPushExternalCorrelationId(uint32_t kind, uint64_t id)
{
	if (kind != 5 || pushed_depth == sizeof pushed / sizeof *pushed) {
		WRONG();
		return INVALID_PARAMETER;
	}
	pushed[pushed_depth++] = id;
	return OK;
}

int cuptiActivityPopExternalCorrelationId(uint32_t kind, uint64_t *last)
{
	if (kind != 5 || pushed_depth == 0) {
		WRONG();
		return QUEUE_EMPTY;
	}
	*last = pushed[--pushed_depth];
	return OK;
}
