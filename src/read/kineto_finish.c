/*
 * What can be said only after the last event: who calls whom by correlation, which thread is which,
 * which GPU this was.  Nothing here depends on the order in which the events came.
 */
#include <string.h>

#include "base/mem.h"
#include "read/kineto_collective.h"
#include "read/kineto_names.h"

/* GPU collection counts as stopped early when the host goes on so long after the last GPU op. */
#define EARLY_STOP_NS	    50000000
#define EARLY_STOP_LAUNCHES 100

static bool want(struct key_map *wanted, uint32_t correlation, struct err *err)
{
	return correlation == NULL_U32 || key_map_put(wanted, correlation, 0, 0, err);
}

/* The correlation ids that waits and collectives hold, as (correlation, 0). */
static bool collect_wanted(const struct trace *trace, struct key_map *ret, struct err *err)
{
	const struct stream_wait_table *waits = &trace->stream_waits;
	const struct collective_table *collectives = &trace->collectives;
	for (uint32_t w = 0; w < waits->head.count; w++)
		if (!want(ret, waits->api_call_id[w], err) ||
			!want(ret, waits->record_call_id[w], err))
			return false;
	for (uint32_t c = 0; c < collectives->head.count; c++)
		if (!want(ret, trace->gpu_ops.correlation[collectives->gpu_op_id[c]], err))
			return false;
	return true;
}

/* (correlation, 0) to api_call, for the few ids that are wanted; of several calls the earliest. */
static bool map_calls(const struct trace *trace, const struct key_map *wanted, struct key_map *ret,
	struct err *err)
{
	const struct api_call_table *calls = &trace->api_calls;
	for (uint32_t c = 0; c < calls->head.count; c++) {
		if (calls->correlation[c] == NULL_U32 ||
			key_map_get(wanted, calls->correlation[c], 0) == UINT32_MAX)
			continue;
		const uint32_t known = key_map_get(ret, calls->correlation[c], 0);
		if (known != UINT32_MAX && calls->start_ns[known] <= calls->start_ns[c])
			continue;
		if (!key_map_put(ret, calls->correlation[c], 0, c, err))
			return false;
	}
	return true;
}

/* From correlation ids to rows; a record that isn't there, or comes after the wait, is none. */
static void resolve_waits(struct trace *trace, const struct key_map *calls)
{
	struct stream_wait_table *waits = &trace->stream_waits;
	for (uint32_t w = 0; w < waits->head.count; w++) {
		const uint32_t wait = waits->api_call_id[w] == NULL_U32
					      ? UINT32_MAX
					      : key_map_get(calls, waits->api_call_id[w], 0);
		uint32_t record = waits->record_call_id[w] == NULL_U32
					  ? UINT32_MAX
					  : key_map_get(calls, waits->record_call_id[w], 0);
		const bool is_future =
			wait != UINT32_MAX && record != UINT32_MAX &&
			trace->api_calls.start_ns[record] > trace->api_calls.start_ns[wait];
		if (record == UINT32_MAX || is_future) {
			diag_add(&trace->diag, DIAG_BAD_WAIT, 1, -1);
			record = UINT32_MAX;
		}
		waits->api_call_id[w] = wait;
		waits->record_call_id[w] = record;
	}
}

static bool join_calls(struct kineto_rows *rows, struct err *err)
{
	struct trace *trace = rows->trace;
	if (trace->stream_waits.head.count == 0 && trace->collectives.head.count == 0)
		return true;
	struct key_map wanted = {0}, calls = {0};
	const bool is_mapped =
		collect_wanted(trace, &wanted, err) && map_calls(trace, &wanted, &calls, err);
	if (is_mapped) {
		resolve_waits(trace, &calls);
		rows_complete_collectives(rows, &calls);
	}
	key_map_done(&wanted);
	key_map_done(&calls);
	return is_mapped;
}

/* How each thread is used, from which its role follows. */
struct thread_use {
	uint32_t op_count, step_count, backward_count;
};

static void count_uses(const struct kineto_rows *rows, struct thread_use *uses)
{
	const struct host_op_table *ops = &rows->trace->host_ops;
	for (uint32_t h = 0; h < ops->head.count; h++) {
		struct thread_use *use = &uses[ops->thread_id[h]];
		const uint8_t flags = rows->name_flags[ops->name_id[h]];
		use->op_count++;
		use->step_count += (flags & NAME_IS_STEP) != 0;
		use->backward_count += (flags & NAME_IS_BACKWARD) != 0;
	}
}

/*
 * The main thread marks the steps; without marks it is the process's first thread, and without that
 * the one with most ops.
 */
static uint32_t find_main(const struct kineto_rows *rows, const struct thread_use *uses)
{
	const struct thread_table *threads = &rows->trace->threads;
	uint32_t best = NULL_U32;
	uint64_t best_score = 0;
	for (uint32_t t = 0; t < threads->head.count; t++) {
		const uint32_t label =
			key_map_get(&rows->labels, threads->pid[t], threads->os_tid[t]);
		if (uses[t].op_count == 0 ||
			(label != UINT32_MAX && rows->label[label].is_autograd))
			continue;
		const uint64_t score = (uint64_t)uses[t].step_count << 33 |
				       (uint64_t)(threads->pid[t] == threads->os_tid[t]) << 32 |
				       uses[t].op_count;
		const bool is_better =
			best == NULL_U32 || score > best_score ||
			(score == best_score && threads->os_tid[t] < threads->os_tid[best]);
		if (is_better) {
			best = t;
			best_score = score;
		}
	}
	return best;
}

static bool name_threads(struct kineto_rows *rows, struct err *err)
{
	struct thread_table *threads = &rows->trace->threads;
	struct thread_use *uses = mem_new(threads->head.count, sizeof *uses, err);
	if (!uses)
		return false;
	count_uses(rows, uses);
	const uint32_t main_thread = find_main(rows, uses);
	for (uint32_t t = 0; t < threads->head.count; t++) {
		const uint32_t label =
			key_map_get(&rows->labels, threads->pid[t], threads->os_tid[t]);
		if (label != UINT32_MAX)
			threads->name_id[t] = rows->label[label].name_id;
		if (t == main_thread)
			threads->role[t] = THREAD_MAIN;
		else if (uses[t].backward_count > 0 ||
			 (label != UINT32_MAX && rows->label[label].is_autograd))
			threads->role[t] = THREAD_AUTOGRAD;
	}
	mem_free(uses);
	return true;
}

/* The device that most GPU ops ran on; the lowest of several. */
static void name_device(struct kineto_rows *rows)
{
	struct trace *trace = rows->trace;
	uint32_t ops_of[MAX_DEVICES] = {0};
	for (uint32_t g = 0; g < trace->gpu_ops.head.count; g++) {
		const int32_t device = trace->streams.device[trace->gpu_ops.stream_id[g]];
		if (device >= 0 && (uint32_t)device < MAX_DEVICES)
			ops_of[device]++;
	}
	uint32_t best = 0;
	for (uint32_t d = 1; d < MAX_DEVICES; d++)
		if (ops_of[d] > ops_of[best])
			best = d;
	for (uint32_t p = 0; p < rows->device_count; p++)
		if (rows->device[p].id == best) {
			trace->gpu_name_id = rows->device[p].name_id;
			trace->gpu_memory_bytes = rows->device[p].memory_bytes;
		}
}

/* Whether host and GPU parted before the end: many launches, and not one of their ops. */
static void check_early_stop(const struct kineto_rows *rows)
{
	struct trace *trace = rows->trace;
	const struct api_call_table *calls = &trace->api_calls;
	int64_t gpu_end = INT64_MIN, host_end = INT64_MIN;
	for (uint32_t g = 0; g < trace->gpu_ops.head.count; g++)
		if (trace->gpu_ops.end_ns[g] > gpu_end)
			gpu_end = trace->gpu_ops.end_ns[g];
	if (gpu_end == INT64_MIN)
		return;
	int64_t launches = 0;
	for (uint32_t c = 0; c < calls->head.count; c++) {
		if (calls->end_ns[c] > host_end)
			host_end = calls->end_ns[c];
		launches += calls->start_ns[c] > gpu_end &&
			    rows->name_flags[calls->name_id[c]] & NAME_IS_LAUNCH;
	}
	int64_t silence;
	if (launches >= EARLY_STOP_LAUNCHES &&
		!__builtin_sub_overflow(host_end, gpu_end, &silence) && silence > EARLY_STOP_NS)
		diag_set(&trace->diag, DIAG_GPU_STOPPED_EARLY, 1);
}

bool rows_finish(struct kineto_rows *rows, struct err *err)
{
	struct trace *trace = rows->trace;
	if (!join_calls(rows, err) || !name_threads(rows, err))
		return false;
	name_device(rows);
	check_early_stop(rows);
	if (!trace->has.shapes)
		diag_set(&trace->diag, DIAG_NO_SHAPES, 1);
	if (!trace->has.memory)
		diag_set(&trace->diag, DIAG_NO_MEMORY, 1);
	if (trace->gpu_ops.head.count == 0)
		diag_set(&trace->diag, DIAG_NO_GPU_OPS, 1);
	return true;
}
