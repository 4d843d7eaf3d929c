#include "attribute/partition.h"

#include <stdio.h>
#include <string.h>

#include "attribute/idle.h"
#include "attribute/timeline.h"
#include "base/diag.h"
#include "base/mem.h"

static bool alike(const struct interval *a, const struct interval *b)
{
	return a->gpu_op_id == b->gpu_op_id && a->unit == b->unit && a->gather == b->gather &&
	       memcmp(&a->state, &b->state, 6) == 0;
}

bool partition_push(struct partition *partition, const struct interval *interval, struct err *err)
{
	if (partition->count) {
		struct interval *last = &partition->items[partition->count - 1];
		if (alike(last, interval)) {
			last->end_ns = interval->end_ns;
			return true;
		}
	}
	if (partition->count == partition->capacity) {
		const uint32_t capacity = partition->capacity ? partition->capacity * 2 : 1024;
		if (!mem_resize(&partition->items, capacity, sizeof *partition->items, err))
			return false;
		partition->capacity = capacity;
	}
	partition->items[partition->count++] = *interval;
	return true;
}

/* --- the sweep over all ops --- */

struct sweep {
	struct idle idle;
	const struct trace *trace;
	const struct roles *roles;
	const struct phases *phases;
	struct partition *partition;
	uint32_t *running; /* compute ops that have begun and not ended */
	uint32_t running_count, running_capacity;
	int64_t idle_since_ns; /* NULL_I64 while something computes */
};

/* The running op that owns the instant: the first phase in order, then the one that began first. */
static uint32_t owner(const struct sweep *sweep)
{
	uint32_t best = sweep->running[0];
	for (uint32_t i = 1; i < sweep->running_count; i++)
		if (sweep->phases->launches[sweep->running[i]].phase <
			sweep->phases->launches[best].phase)
			best = sweep->running[i];
	return best;
}

static bool push_busy(struct sweep *sweep, int64_t start_ns, int64_t end_ns, struct err *err)
{
	const uint32_t op = owner(sweep);
	const struct launch *launch = &sweep->phases->launches[op];
	const uint32_t gather = launch->phase == PHASE_FSDP ? sweep->phases->billed[op] : NULL_U32;
	return partition_push(sweep->partition,
		&(struct interval){.start_ns = start_ns,
			.end_ns = end_ns,
			.step = NULL_U32,
			.gpu_op_id = op,
			.unit = gather == NULL_U32 ? NULL_U32 : sweep->phases->gathers[gather].unit,
			.gather = gather,
			.state = STATE_BUSY,
			.phase = launch->phase,
			.on = WORD_NONE,
			.wait_for = WORD_NONE,
			.reason = WORD_NONE,
			.how = launch->how},
		err);
}

/* Time goes on to `to_ns`: what ran until then is pushed, what ends by then leaves. */
static bool advance(struct sweep *sweep, int64_t *now_ns, int64_t to_ns, struct err *err)
{
	const struct gpu_op_table *ops = &sweep->trace->gpu_ops;
	while (sweep->running_count && *now_ns < to_ns) {
		int64_t until_ns = to_ns;
		for (uint32_t i = 0; i < sweep->running_count; i++)
			if (ops->end_ns[sweep->running[i]] < until_ns)
				until_ns = ops->end_ns[sweep->running[i]];
		if (until_ns > *now_ns && !push_busy(sweep, *now_ns, until_ns, err))
			return false;
		uint32_t kept = 0;
		for (uint32_t i = 0; i < sweep->running_count; i++)
			if (ops->end_ns[sweep->running[i]] > until_ns)
				sweep->running[kept++] = sweep->running[i];
		sweep->running_count = kept;
		*now_ns = until_ns;
		if (!kept)
			sweep->idle_since_ns = until_ns;
	}
	if (*now_ns < to_ns)
		*now_ns = to_ns;
	return true;
}

static bool sweep_ops(
	struct sweep *sweep, const struct timeline *timeline, int64_t end_ns, struct err *err)
{
	const struct gpu_op_table *ops = &sweep->trace->gpu_ops;
	int64_t now_ns = ops->start_ns[timeline->all.items[0]];
	sweep->idle_since_ns = now_ns;
	for (uint32_t i = 0; i < timeline->all.count; i++) {
		const uint32_t op = timeline->all.items[i];
		if (!op_computes(sweep->trace, sweep->roles, op) ||
			ops->start_ns[op] == ops->end_ns[op])
			continue;
		const int64_t start_ns = ops->start_ns[op];
		if (start_ns >= end_ns)
			break;
		if (!advance(sweep, &now_ns, start_ns, err))
			return false;
		const int64_t since_ns = sweep->idle_since_ns;
		if (since_ns != NULL_I64 && since_ns < start_ns &&
			!idle_attribute(&sweep->idle, since_ns, start_ns, err))
			return false;
		if (ops->stream_id[op] == sweep->phases->compute_stream)
			idle_note_start(
				&sweep->idle, op, since_ns == NULL_I64 ? start_ns : since_ns);
		sweep->idle_since_ns = NULL_I64;
		if (sweep->running_count == sweep->running_capacity) {
			const uint32_t capacity =
				sweep->running_count ? sweep->running_count * 2 : 64;
			if (!mem_resize(&sweep->running, capacity, sizeof *sweep->running, err))
				return false;
			sweep->running_capacity = capacity;
		}
		sweep->running[sweep->running_count++] = op;
	}
	if (!advance(sweep, &now_ns, end_ns, err))
		return false;
	return sweep->idle_since_ns == NULL_I64 || sweep->idle_since_ns >= end_ns ||
	       idle_attribute(&sweep->idle, sweep->idle_since_ns, end_ns, err);
}

/* --- windows --- */

static bool make_windows(const struct trace *trace, const struct phases *phases,
	const struct timeline *timeline, struct partition *partition, struct err *err)
{
	const struct gpu_op_table *ops = &trace->gpu_ops;
	const uint32_t step_count = phases->steps.count;
	partition->window_count = step_count ? step_count : 1;
	partition->windows = mem_new(partition->window_count, sizeof *partition->windows, err);
	if (!partition->windows)
		return false;
	int64_t before_ns = NULL_I64; /* end of the last op that precedes all steps */
	int64_t first_ns = INT64_MAX; /* start of the first op of a step */
	for (uint32_t w = 0; w < partition->window_count; w++)
		partition->windows[w].end_ns = NULL_I64;
	for (uint32_t i = 0; i < timeline->stream.count; i++) {
		const uint32_t op = timeline->stream.items[i];
		const uint32_t step = step_count ? phases->launches[op].step : 0;
		if (step == NULL_U32) {
			if (first_ns == INT64_MAX && ops->end_ns[op] > before_ns)
				before_ns = ops->end_ns[op];
			continue;
		}
		if (ops->start_ns[op] < first_ns)
			first_ns = ops->start_ns[op];
		if (ops->end_ns[op] > partition->windows[step].end_ns)
			partition->windows[step].end_ns = ops->end_ns[op];
	}
	int64_t start_ns = before_ns != NULL_I64 ? before_ns : first_ns;
	bool closed = before_ns != NULL_I64;
	for (uint32_t w = 0; w < partition->window_count; w++) {
		struct window *window = &partition->windows[w];
		window->empty = window->end_ns == NULL_I64 || window->end_ns <= start_ns;
		if (window->empty)
			window->end_ns = start_ns;
		window->start_ns = start_ns;
		window->closed = closed && !window->empty;
		start_ns = window->end_ns;
		closed = closed || !window->empty;
	}
	return true;
}

uint32_t partition_at(const struct partition *partition, int64_t at_ns)
{
	uint32_t low = 0, high = partition->count;
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		if (partition->items[middle].start_ns <= at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : NULL_U32;
}

/* Makes `at_ns` a border between two intervals; the number of the one that starts there. */
static bool cut(struct partition *partition, int64_t at_ns, uint32_t *ret, struct err *err)
{
	const uint32_t at = partition_at(partition, at_ns);
	if (at == NULL_U32 || partition->items[at].start_ns == at_ns) {
		*ret = at == NULL_U32 ? 0 : at;
		return true;
	}
	if (partition->items[at].end_ns <= at_ns) {
		*ret = at + 1;
		return true;
	}
	if (partition->count == partition->capacity) {
		if (!mem_resize(&partition->items, (size_t)partition->capacity + 64,
			    sizeof *partition->items, err))
			return false;
		partition->capacity += 64;
	}
	memmove(&partition->items[at + 1], &partition->items[at],
		(partition->count - at) * sizeof *partition->items);
	partition->count++;
	partition->items[at].end_ns = at_ns;
	partition->items[at + 1].start_ns = at_ns;
	*ret = at + 1;
	return true;
}

/* Windows begin and end at borders of intervals, and every nanosecond in them has an owner. */
static bool close_windows(struct partition *partition, struct err *err)
{
	for (uint32_t w = 0; w < partition->window_count; w++) {
		struct window *window = &partition->windows[w];
		if (!cut(partition, window->start_ns, &window->first, err) ||
			!cut(partition, window->end_ns, &window->end, err))
			return false;
	}
	for (uint32_t w = 0; w < partition->window_count; w++) {
		const struct window *window = &partition->windows[w];
		int64_t sum_ns = 0;
		for (uint32_t i = window->first; i < window->end; i++) {
			partition->items[i].step = w;
			sum_ns += partition->items[i].end_ns - partition->items[i].start_ns;
		}
		if (!window->empty && sum_ns != window->end_ns - window->start_ns)
			return err_set(err, ERR_INTERNAL,
				"the parts of window %u sum to %lld ns, not to its %lld ns", w,
				(long long)sum_ns, (long long)(window->end_ns - window->start_ns));
	}
	return true;
}

/* With what the reader had found that may be the reason. */
static bool refuse_no_compute(const struct trace *trace, struct err *err)
{
	static const enum diag_kind reasons[] = {
		DIAG_NO_CUPTI, DIAG_RECORDER_STOPPED, DIAG_RECORDING_CUT};
	static const char problem[] = "no GPU op computes anything";
	const struct diag_row *cut = &trace->diag.row[DIAG_TRUNCATED];
	if (cut->count && cut->first_byte >= 0)
		return err_set(err, ERR_INPUT, "%s; the file ends early, at byte %lld", problem,
			(long long)cut->first_byte);
	for (size_t r = 0; r < sizeof reasons / sizeof *reasons; r++)
		if (trace->diag.row[reasons[r]].count)
			return err_set(err, ERR_INPUT, "%s; %s", problem, diag_meaning(reasons[r]));
	return err_set(err, ERR_INPUT, "%s", problem);
}

bool partition_make(const struct trace *trace, const struct roles *roles,
	const struct phases *phases, struct partition *ret, struct err *err)
{
	*ret = (struct partition){0};
	if (phases->compute_stream == NULL_U32)
		return refuse_no_compute(trace, err);
	struct timeline timeline;
	if (!timeline_make(trace, roles, phases, &timeline, err))
		return false;
	struct edges edges = {0};
	struct sweep *sweep = mem_new(1, sizeof *sweep, err);
	bool ok = sweep && edges_make(trace, phases, &edges, err) &&
		  make_windows(trace, phases, &timeline, ret, err);
	if (ok) {
		sweep->trace = trace;
		sweep->roles = roles;
		sweep->phases = phases;
		sweep->partition = ret;
		sweep->idle = (struct idle){.trace = trace,
			.roles = roles,
			.phases = phases,
			.timeline = &timeline,
			.edges = &edges,
			.partition = ret};
		ok = sweep_ops(sweep, &timeline, ret->windows[ret->window_count - 1].end_ns, err) &&
		     close_windows(ret, err);
	}
	if (sweep) {
		mem_free(sweep->running);
		mem_free(sweep->idle.around);
	}
	mem_free(sweep);
	edges_done(&edges);
	timeline_done(&timeline);
	if (!ok)
		partition_done(ret);
	return ok;
}

void partition_done(struct partition *partition)
{
	mem_free(partition->items);
	mem_free(partition->windows);
	*partition = (struct partition){0};
}
