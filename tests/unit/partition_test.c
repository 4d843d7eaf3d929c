/*
 * The laws of the partition, on random lists of events: every nanosecond has one owner, which a
 * slow look at that very instant confirms; sums are exact; and what must change nothing changes
 * nothing.
 */
#include "event_list.h"

#include <stdlib.h>

#define LISTS	   2500
#define MAX_EVENTS 96
#define MAX_ZEROS  8

struct random_list {
	uint64_t seed;
	struct event events[MAX_EVENTS];
	uint32_t count;
	int64_t first_ns, last_ns; /* of all GPU ops */
};

static uint64_t pull(struct random_list *list)
{
	list->seed ^= list->seed << 13;
	list->seed ^= list->seed >> 7;
	list->seed ^= list->seed << 17;
	return list->seed >> 11;
}

static int64_t below(struct random_list *list, int64_t limit)
{
	return (int64_t)(pull(list) % (uint64_t)limit);
}

static bool chance(struct random_list *list, int64_t percent)
{
	return below(list, 100) < percent;
}

static void put(struct random_list *list, struct event event)
{
	assert_true(list->count < MAX_EVENTS);
	list->events[list->count++] = event;
	if (event.is != EVENT_GPU)
		return;
	if (event.start_ns < list->first_ns)
		list->first_ns = event.start_ns;
	if (event.end_ns > list->last_ns)
		list->last_ns = event.end_ns;
}

static void put_host(struct random_list *list, int64_t total_ns)
{
	static const char *const names[] = {"aten::mm", "FSDP::all_gather (a)",
		"FSDP::all_gather_copy_out (a)", "FSDP::pre_forward (a)",
		"FullyShardedDataParallel.forward", "FullyShardedDataParallel._pre_forward",
		"autograd::engine::evaluate_function: X", "CheckpointFunctionBackward",
		"enumerate(DataLoader)#_Iter.__next__", "gc.collect", "Optimizer.step#SGD.step",
		"CompiledFunctionBackward"};
	static const char *const calls[] = {"cudaMalloc", "cudaFree", "cudaStreamSynchronize",
		"cudaHostAlloc", "cudaEventRecord"};
	const int64_t from = below(list, total_ns), length = below(list, total_ns / 3);
	const uint8_t thread = (uint8_t)below(list, 3);
	if (chance(list, 30)) {
		put(list, (struct event)CALL_NS(thread, from, from + length / 4,
				  calls[below(list, COUNT(calls))]));
		return;
	}
	struct event event = {.is = EVENT_HOST,
		.thread = thread,
		.host_ns = from,
		.return_ns = from + length,
		.name = names[below(list, COUNT(names))],
		.has_sequence = chance(list, 50),
		.sequence = from,
		.forward_thread = chance(list, 70) ? 0 : 1};
	put(list, event);
}

static void put_op(struct random_list *list, int64_t *now_ns)
{
	static const int64_t lengths[] = {0, 1, 999, 5000, 24999, 25000, 25001, 70000};
	const int64_t gap = lengths[below(list, COUNT(lengths))];
	const int64_t start = *now_ns + gap, end = start + lengths[below(list, COUNT(lengths))];
	const int64_t lead = below(list, 90000) - (chance(list, 5) ? 60000 : 0);
	const bool known = !chance(list, 8);
	struct event event = KERNEL_NS(known ? (uint8_t)below(list, 3) : LIST_NO_CALL, start - lead,
		start - lead + below(list, 30000), (uint8_t)(chance(list, 60) ? 0 : below(list, 4)),
		start, end, "elementwise_kernel");
	const int64_t what = below(list, 100);
	if (what >= 70) {
		event.stream = (uint8_t)below(list, 4);
		event.name = GATHER_KERNEL;
		event.collective =
			1 + (what < 85 ? COLLECTIVE_ALL_GATHER : COLLECTIVE_REDUCE_SCATTER);
		event.bytes = 64;
	} else if (what >= 60) {
		event.name = "Memcpy DtoD";
		event.gpu_kind = GPU_MEMCPY;
	}
	put(list, event);
	*now_ns = chance(list, 70) ? end : start;
}

static void make_list(struct random_list *list, uint64_t seed)
{
	*list = (struct random_list){.seed = seed * 0x9e3779b97f4a7c15u + 1, .first_ns = INT64_MAX};
	static const char *const steps[] = {"ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3"};
	const int64_t ops = 2 + below(list, 40), step_count = below(list, 4);
	int64_t now_ns = 100000 + below(list, 100000);
	const int64_t begin_ns = now_ns;
	for (int64_t i = 0; i < ops; i++)
		put_op(list, &now_ns);
	put(list, (struct event)KERNEL_NS(0, now_ns, now_ns + 2000, 0, now_ns + 3000, now_ns + 5000,
			  "elementwise_kernel"));
	for (int64_t i = below(list, 40); i > 0; i--)
		put_host(list, now_ns + 1);
	int64_t from = chance(list, 50) ? begin_ns + 40000 : 0;
	for (int64_t s = 0; s < step_count; s++) {
		const int64_t length = (now_ns - from) / (step_count - s) + 1 + below(list, 50);
		put(list, (struct event){.is = EVENT_HOST,
				  .host_ns = from,
				  .return_ns = from + length - below(list, 40),
				  .name = steps[s]});
		from += length;
	}
}

/* --- the laws of one partition --- */

static bool computes_at(const struct rank_analysis *rank, uint32_t op, int64_t at_ns)
{
	const struct gpu_op_table *ops = &rank->trace->gpu_ops;
	return ops->kind[op] == GPU_KERNEL &&
	       !kernel_is_collective(rank->roles.kernel[ops->name_id[op]]) &&
	       ops->start_ns[op] <= at_ns && at_ns < ops->end_ns[op];
}

/* What an instant is, looked at by itself. */
static enum state state_at(const struct rank_analysis *rank, int64_t at_ns, uint8_t *ret_phase)
{
	const struct gpu_op_table *ops = &rank->trace->gpu_ops;
	uint32_t next = NULL_U32;
	*ret_phase = WORD_NONE;
	for (uint32_t i = 0; i < ops->head.count; i++) {
		if (computes_at(rank, i, at_ns) && rank->phases.launches[i].phase < *ret_phase)
			*ret_phase = rank->phases.launches[i].phase;
		if (ops->stream_id[i] == rank->phases.compute_stream && ops->start_ns[i] > at_ns &&
			(next == NULL_U32 || ops->start_ns[i] < ops->start_ns[next]))
			next = i;
	}
	if (*ret_phase != WORD_NONE)
		return STATE_BUSY;
	/* Of ops that start together the first of the table is meant. */
	const int64_t returned_ns =
		next == NULL_U32 ? NULL_I64 : rank->phases.launches[next].end_ns;
	return returned_ns != NULL_I64 && returned_ns > at_ns ? STATE_STARVED : STATE_BLOCKED;
}

static void check_interval(const struct rank_analysis *rank, const struct interval *interval)
{
	const int64_t instants[] = {interval->start_ns, interval->end_ns - 1,
		interval->start_ns + (interval->end_ns - interval->start_ns) / 2};
	for (uint32_t i = 0; i < COUNT(instants); i++) {
		uint8_t phase;
		assert_int_equal(interval->state, state_at(rank, instants[i], &phase));
		if (interval->state != STATE_BUSY)
			continue;
		assert_int_equal(interval->phase, phase);
		assert_true(computes_at(rank, interval->gpu_op_id, instants[i]));
	}
	switch (interval->state) {
	case STATE_BUSY:
		assert_int_equal(interval->phase, rank->phases.launches[interval->gpu_op_id].phase);
		break;
	case STATE_BLOCKED:
		assert_true(interval->on < HOLDER_COUNT);
		assert_int_equal(interval->on == HOLDER_ALL_GATHER, interval->gather != NULL_U32);
		assert_int_equal(
			interval->on == HOLDER_LATENCY || interval->on == HOLDER_UNEXPLAINED,
			interval->gpu_op_id == NULL_U32);
		break;
	default:
		assert_true(interval->reason < STARVE_COUNT);
		assert_int_equal(interval->reason == STARVE_DISPATCH, interval->phase != WORD_NONE);
	}
}

static void check_laws(const struct rank_analysis *rank)
{
	const struct partition *partition = &rank->partition;
	for (uint32_t i = 0; i < partition->count; i++) {
		const struct interval *interval = &partition->items[i];
		assert_true(interval->start_ns < interval->end_ns);
		assert_true(i == 0 || interval[-1].end_ns == interval->start_ns);
		check_interval(rank, interval);
	}
	for (uint32_t w = 0; w < partition->window_count; w++) {
		const struct window *window = &partition->windows[w];
		int64_t sum_ns = 0;
		for (uint32_t i = window->first; i < window->end; i++) {
			assert_int_equal(partition->items[i].step, w);
			sum_ns += partition->items[i].end_ns - partition->items[i].start_ns;
		}
		assert_int_equal(sum_ns, window->end_ns - window->start_ns);
		assert_int_equal(window->empty, sum_ns == 0);
		assert_true(w == 0 || window[-1].end_ns == window->start_ns);
		if (!sum_ns)
			continue;
		assert_int_equal(partition->items[window->first].start_ns, window->start_ns);
		assert_int_equal(partition->items[window->end - 1].end_ns, window->end_ns);
	}
}

static void expect_same(
	const struct partition *a, const struct partition *b, int64_t shift_ns, uint64_t seed)
{
	if (a->count != b->count || a->window_count != b->window_count)
		fail_msg("list %llu: other numbers of intervals", (unsigned long long)seed);
	for (uint32_t i = 0; i < a->count; i++) {
		struct interval moved = b->items[i];
		moved.start_ns -= shift_ns;
		moved.end_ns -= shift_ns;
		if (memcmp(&a->items[i], &moved, offsetof(struct interval, how) + 1) != 0)
			fail_msg("list %llu: interval %u differs", (unsigned long long)seed, i);
	}
	for (uint32_t w = 0; w < a->window_count; w++) {
		const struct window *left = &a->windows[w], *right = &b->windows[w];
		assert_int_equal(left->start_ns, right->start_ns - shift_ns);
		assert_int_equal(left->end_ns, right->end_ns - shift_ns);
		assert_int_equal(left->first, right->first);
		assert_int_equal(left->end, right->end);
		assert_int_equal(left->closed, right->closed);
	}
}

/* The same list in another way must give the same partition. */
static void expect_unchanged(const struct partition *partition, const struct event *events,
	uint32_t count, const struct list_options *options, uint64_t seed)
{
	struct trace trace;
	struct ranks ranks;
	list_trace(&trace, events, count, options);
	list_analyse(&trace, 1, &ranks);
	expect_same(partition, &ranks.items[0].partition, options->shift_ns, seed);
	list_forget(&trace, 1, &ranks);
}

static void shuffle(struct random_list *list, uint32_t *order)
{
	for (uint32_t i = 0; i < list->count; i++) {
		const uint32_t at = (uint32_t)below(list, i + 1);
		order[i] = order[at];
		order[at] = i;
	}
}

static void add_zeros(struct random_list *list)
{
	for (uint32_t i = 0; i < MAX_ZEROS && list->count < MAX_EVENTS; i++) {
		const int64_t at_ns =
			list->first_ns + below(list, list->last_ns - list->first_ns + 1);
		put(list, (struct event){.is = EVENT_GPU,
				  .thread = LIST_NO_CALL,
				  .stream = LIST_STREAMS - 1,
				  .start_ns = at_ns,
				  .end_ns = at_ns,
				  .name = "elementwise_kernel"});
	}
}

static void check_list(uint64_t seed)
{
	static struct random_list list;
	uint32_t order[MAX_EVENTS];
	struct trace trace;
	struct ranks ranks;
	make_list(&list, seed);
	list_trace(&trace, list.events, list.count, &(struct list_options){0});
	list_analyse(&trace, 1, &ranks);
	const struct partition *partition = &ranks.items[0].partition;
	check_laws(&ranks.items[0]);
	expect_unchanged(partition, list.events, list.count,
		&(struct list_options){.shift_ns = 1234567891}, seed);
	shuffle(&list, order);
	expect_unchanged(
		partition, list.events, list.count, &(struct list_options){.order = order}, seed);
	add_zeros(&list);
	expect_unchanged(partition, list.events, list.count, &(struct list_options){0}, seed);
	list_forget(&trace, 1, &ranks);
}

static void laws(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= LISTS; seed++)
		check_list(seed);
}

/* --- what a breakdown makes of it --- */

static int64_t sum_parts(const struct part_list *parts)
{
	int64_t sum_ns = 0;
	for (uint32_t p = 0; p < parts->count; p++) {
		assert_true(parts->items[p].ns > 0);
		assert_true(p == 0 || parts->items[p - 1].ns >= parts->items[p].ns);
		sum_ns += parts->items[p].ns;
	}
	return sum_ns;
}

static void check_kept(const struct rank_result *rank)
{
	const struct rank_intervals *kept = rank->intervals;
	uint32_t at = 0;
	for (uint32_t s = 0; s < rank->step_count; s++) {
		int64_t now_ns = rank->steps[s].start_ns;
		for (; at < kept->count && kept->items[at].step == s; at++) {
			assert_int_equal(kept->items[at].start_ns, now_ns);
			now_ns = kept->items[at].end_ns;
		}
		assert_int_equal(now_ns, rank->steps[s].start_ns + rank->steps[s].wall_ns);
	}
	assert_int_equal(at, kept->count);
}

static void breakdown_sums(void **state)
{
	(void)state;
	static struct random_list list;
	uint32_t answered = 0;
	for (uint64_t seed = 1; seed <= LISTS / 4; seed++) {
		struct trace trace;
		struct breakdown breakdown;
		struct err err = {0};
		const struct analysis_options options = {
			.tokens_per_step = 64, .thread_count = 1, .keep_intervals = true};
		make_list(&list, seed);
		list_trace(&trace, list.events, list.count, &(struct list_options){0});
		if (!list_break_down(&trace, 1, &options, &breakdown, &err)) {
			assert_int_equal(err.code, ERR_INPUT); /* no step is whole */
			trace_done(&trace);
			continue;
		}
		answered++;
		const struct rank_result *rank = &breakdown.ranks[0];
		for (uint32_t s = 0; s < rank->step_count; s++)
			assert_int_equal(sum_parts(&rank->steps[s].parts), rank->steps[s].wall_ns);
		for (uint32_t s = 0; s < breakdown.path_count; s++)
			assert_int_equal(
				sum_parts(&breakdown.path[s].parts), breakdown.path[s].wall_ns);
		check_kept(rank);
		breakdown_done(&breakdown);
		trace_done(&trace);
	}
	assert_true(answered > LISTS / 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(laws),
		cmocka_unit_test(breakdown_sums),
	};
	return cmocka_run_group_tests_name("partition", tests, NULL, NULL);
}
