#include "attribute/idle.h"

#include "base/mem.h"

static int64_t distance(int64_t a, int64_t b)
{
	return a > b ? a - b : b - a;
}

/* --- starved: what kept the host from launching --- */

/* The span of `kind` on `thread_id` around `at_ns`, innermost; else ret_next is where one begins.
 */
static const struct span *span_around(const struct phases *phases, enum span_kind kind,
	uint32_t thread_id, int64_t at_ns, int64_t *ret_next_ns)
{
	uint32_t low = phases->span_first[kind], high = phases->span_first[kind + 1];
	const uint32_t first = low;
	const uint32_t last = high;
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		const struct span *span = &phases->spans[middle];
		if (span->thread_id < thread_id ||
			(span->thread_id == thread_id && span->start_ns <= at_ns))
			low = middle + 1;
		else
			high = middle;
	}
	if (low < last && phases->spans[low].thread_id == thread_id &&
		phases->spans[low].start_ns < *ret_next_ns)
		*ret_next_ns = phases->spans[low].start_ns;
	/* Gather ranges nest two deep at most; spans of other kinds do not nest. */
	for (uint32_t back = 0; back < 3 && low > first; back++) {
		const struct span *span = &phases->spans[--low];
		if (span->thread_id != thread_id)
			break;
		if (at_ns < span->end_ns) {
			if (span->end_ns < *ret_next_ns)
				*ret_next_ns = span->end_ns;
			return span;
		}
	}
	return NULL;
}

/* The host at one instant before the launch of `next`: fills reason, phase and gather. */
static void starved_at(const struct idle *idle, uint32_t next, int64_t at_ns,
	struct interval *interval, int64_t *until_ns)
{
	static const struct {
		enum span_kind kind;
		enum starve_reason reason;
	} order[] = {{SPAN_ALLOCATOR, STARVE_ALLOCATOR}, {SPAN_SYNC, STARVE_SYNC},
		{SPAN_DATA, STARVE_DATA}, {SPAN_GC, STARVE_GC}};
	const struct phases *phases = idle->phases;
	const struct launch *launch = &phases->launches[next];
	const uint32_t threads[] = {launch->thread_id, phases->steps.thread_id};
	const uint32_t thread_count = threads[1] == threads[0] || threads[1] == NULL_U32 ? 1 : 2;

	interval->reason = WORD_NONE;
	for (uint32_t k = 0; k < sizeof order / sizeof *order; k++)
		for (uint32_t t = 0; t < thread_count; t++)
			if (span_around(phases, order[k].kind, threads[t], at_ns, until_ns) &&
				interval->reason == WORD_NONE)
				interval->reason = (uint8_t)order[k].reason;
	const struct span *gather =
		span_around(phases, SPAN_GATHER, launch->thread_id, at_ns, until_ns);
	const struct span *hook =
		span_around(phases, SPAN_HOOK, launch->thread_id, at_ns, until_ns);
	if (interval->reason == WORD_NONE) {
		interval->reason = STARVE_DISPATCH;
		interval->phase = hook ? PHASE_FSDP : launch->phase;
		interval->gather = gather ? phases_billed_range(phases, gather->range) : NULL_U32;
	}
	interval->how = launch->how;
}

static bool push_starved(
	struct idle *idle, uint32_t next, int64_t start_ns, int64_t end_ns, struct err *err)
{
	for (int64_t at_ns = start_ns; at_ns < end_ns;) {
		int64_t until_ns = end_ns;
		struct interval interval = {.start_ns = at_ns,
			.step = NULL_U32,
			.gpu_op_id = NULL_U32,
			.unit = NULL_U32,
			.gather = NULL_U32,
			.state = STATE_STARVED,
			.phase = WORD_NONE,
			.on = WORD_NONE,
			.wait_for = WORD_NONE};
		starved_at(idle, next, at_ns, &interval, &until_ns);
		interval.end_ns = until_ns;
		if (interval.reason == STARVE_ALLOCATOR) {
			idle->lead_is_lost = true;
		} else if (idle->lead_is_lost) {
			interval.reason = STARVE_LEAD_LOST;
			interval.phase = WORD_NONE;
			interval.gather = NULL_U32;
		}
		if (!partition_push(idle->partition, &interval, err))
			return false;
		at_ns = until_ns;
	}
	return true;
}

/* --- blocked: what holds the link or the engine --- */

enum holder holder_of(uint8_t collective_kind)
{
	static const uint8_t holders[] = {
		[COLLECTIVE_OTHER] = HOLDER_OTHER_COLLECTIVE,
		[COLLECTIVE_ALL_GATHER] = HOLDER_ALL_GATHER,
		[COLLECTIVE_REDUCE_SCATTER] = HOLDER_REDUCE_SCATTER,
		[COLLECTIVE_ALL_REDUCE] = HOLDER_ALL_REDUCE,
		[COLLECTIVE_SEND_RECV] = HOLDER_SEND_RECV,
		[COLLECTIVE_BROADCAST] = HOLDER_BROADCAST,
	};
	return holders[collective_kind];
}

/* Collectives and copies around one wait. */
struct around {
	const uint32_t *op; /* idle.around */
	uint32_t count;
	uint32_t explains; /* the collective whose end let the op go, NULL_U32 if none */
	bool exact;	   /* an edge says so; else it ended just before the wait did */
};

static bool look_around(struct idle *idle, const struct op_list *list, uint32_t *first,
	int64_t start_ns, int64_t end_ns, struct around *around, struct err *err)
{
	const struct gpu_op_table *ops = &idle->trace->gpu_ops;
	while (*first < list->count && ops->end_ns[list->items[*first]] + LATENCY_NS <= start_ns)
		(*first)++;
	for (uint32_t i = *first; i < list->count; i++) {
		const uint32_t op = list->items[i];
		if (ops->start_ns[op] >= end_ns)
			break;
		if (ops->end_ns[op] + LATENCY_NS <= start_ns)
			continue;
		if (around->count == idle->around_capacity) {
			const uint32_t capacity = around->count ? around->count * 2 : 64;
			if (!mem_resize(&idle->around, capacity, sizeof *idle->around, err))
				return false;
			idle->around_capacity = capacity;
		}
		idle->around[around->count++] = op;
	}
	around->op = idle->around;
	return true;
}

static void find_explanation(
	const struct idle *idle, uint32_t next, struct around *around, int64_t end_ns)
{
	const struct gpu_op_table *ops = &idle->trace->gpu_ops;
	around->explains = NULL_U32;
	if (next != NULL_U32 && idle->edges->awaited) {
		const uint32_t awaited = idle->edges->awaited[next];
		if (awaited != NULL_U32 && idle->timeline->collective_of[awaited] != NULL_U32) {
			around->explains = awaited;
			around->exact = true;
			return;
		}
	}
	for (uint32_t i = 0; i < around->count; i++) {
		const uint32_t op = around->op[i];
		if (ops->kind[op] != GPU_KERNEL || ops->end_ns[op] > end_ns ||
			ops->end_ns[op] + LATENCY_NS < end_ns)
			continue;
		if (around->explains == NULL_U32 || ops->end_ns[op] > ops->end_ns[around->explains])
			around->explains = op;
	}
}

/* Which op holds the instant `at_ns` of a wait that ends at `end_ns`; NULL_U32 if none runs. */
static uint32_t holder_at(const struct idle *idle, const struct around *around, int64_t at_ns,
	int64_t end_ns, int64_t *until_ns)
{
	const struct gpu_op_table *ops = &idle->trace->gpu_ops;
	uint32_t collective = NULL_U32, copy = NULL_U32;
	for (uint32_t i = 0; i < around->count; i++) {
		const uint32_t op = around->op[i];
		if (ops->start_ns[op] > at_ns) {
			if (ops->start_ns[op] < *until_ns)
				*until_ns = ops->start_ns[op];
			continue;
		}
		if (ops->end_ns[op] <= at_ns)
			continue;
		if (ops->end_ns[op] < *until_ns)
			*until_ns = ops->end_ns[op];
		if (ops->kind[op] != GPU_KERNEL)
			copy = op;
		else if (around->exact && op == around->explains)
			return op;
		else if (collective == NULL_U32 ||
			 distance(ops->end_ns[op], end_ns) <
				 distance(ops->end_ns[collective], end_ns))
			collective = op;
	}
	if (collective != NULL_U32)
		return collective;
	if (copy != NULL_U32)
		return copy;
	/* The short rest after the collective that explains the wait is the collective's. */
	if (around->explains != NULL_U32 && ops->end_ns[around->explains] <= at_ns &&
		ops->end_ns[around->explains] + LATENCY_NS >= end_ns)
		return around->explains;
	return NULL_U32;
}

static void describe_holder(
	const struct idle *idle, uint32_t op, bool is_latency, struct interval *interval)
{
	interval->reason = WORD_NONE;
	interval->how = HOW_INFERRED;
	interval->gpu_op_id = NULL_U32;
	interval->unit = interval->gather = NULL_U32;
	if (is_latency || op == NULL_U32) {
		interval->on = is_latency ? HOLDER_LATENCY : HOLDER_UNEXPLAINED;
		return;
	}
	interval->gpu_op_id = op;
	if (idle->trace->gpu_ops.kind[op] != GPU_KERNEL) {
		interval->on = HOLDER_COPY;
		return;
	}
	const uint32_t collective = idle->timeline->collective_of[op];
	interval->on = HOLDER_OTHER_COLLECTIVE;
	if (collective == NULL_U32)
		return;
	interval->on = (uint8_t)holder_of(idle->trace->collectives.kind[collective]);
	if (interval->on == HOLDER_ALL_GATHER) {
		interval->reason = idle->phases->gathers[collective].reason;
		interval->unit = idle->phases->gathers[collective].unit;
		interval->gather = collective;
	}
}

static bool push_blocked(
	struct idle *idle, uint32_t next, int64_t start_ns, int64_t end_ns, struct err *err)
{
	struct around around = {.count = 0};
	if (!look_around(idle, &idle->timeline->collectives, &idle->next_collective, start_ns,
		    end_ns, &around, err) ||
		!look_around(idle, &idle->timeline->copies, &idle->next_copy, start_ns, end_ns,
			&around, err))
		return false;
	find_explanation(idle, next, &around, end_ns);
	/* An edge to a collective that was long done explains nothing. */
	const bool explained =
		around.explains != NULL_U32 &&
		idle->trace->gpu_ops.end_ns[around.explains] + LATENCY_NS >= start_ns;
	const bool is_latency = end_ns - start_ns <= LATENCY_NS && !explained;
	/* The collective whose end let the op go is what it waited for, whoever held the link. */
	uint8_t awaited = WORD_NONE;
	if (explained) {
		const uint32_t collective = idle->timeline->collective_of[around.explains];
		if (collective != NULL_U32)
			awaited = (uint8_t)holder_of(idle->trace->collectives.kind[collective]);
	}
	idle->lead_is_lost = false;
	for (int64_t at_ns = start_ns; at_ns < end_ns;) {
		int64_t until_ns = end_ns;
		const uint32_t op =
			is_latency ? NULL_U32 : holder_at(idle, &around, at_ns, end_ns, &until_ns);
		struct interval interval = {.start_ns = at_ns,
			.end_ns = until_ns,
			.step = NULL_U32,
			.state = STATE_BLOCKED,
			.phase = WORD_NONE,
			.wait_for = awaited};
		describe_holder(idle, op, is_latency, &interval);
		if (around.exact)
			interval.how = HOW_EXACT;
		if (!partition_push(idle->partition, &interval, err))
			return false;
		at_ns = until_ns;
	}
	return true;
}

/* --- the stretch --- */

bool idle_attribute(struct idle *idle, int64_t start_ns, int64_t end_ns, struct err *err)
{
	const struct gpu_op_table *ops = &idle->trace->gpu_ops;
	const struct op_list *stream = &idle->timeline->stream;
	for (int64_t at_ns = start_ns; at_ns < end_ns;) {
		while (idle->next_stream < stream->count &&
			ops->start_ns[stream->items[idle->next_stream]] <= at_ns)
			idle->next_stream++;
		int64_t until_ns = end_ns, launched_ns = at_ns;
		uint32_t next = NULL_U32;
		if (idle->next_stream < stream->count) {
			next = stream->items[idle->next_stream];
			if (ops->start_ns[next] < until_ns)
				until_ns = ops->start_ns[next];
			/* Without a record of the launch it is taken to have been in time. */
			const int64_t returned_ns = idle->phases->launches[next].end_ns;
			if (returned_ns != NULL_I64 && returned_ns > at_ns)
				launched_ns = returned_ns < until_ns ? returned_ns : until_ns;
		}
		if (launched_ns > at_ns && !push_starved(idle, next, at_ns, launched_ns, err))
			return false;
		if (launched_ns < until_ns && !push_blocked(idle, next, launched_ns, until_ns, err))
			return false;
		at_ns = until_ns;
	}
	return true;
}

void idle_note_start(struct idle *idle, uint32_t op, int64_t idle_since_ns)
{
	/* Launched before the op ahead of it was done: the host is ahead again. */
	const int64_t returned_ns = idle->phases->launches[op].end_ns;
	if (returned_ns != NULL_I64 && returned_ns + LATENCY_NS < idle_since_ns)
		idle->lead_is_lost = false;
}
