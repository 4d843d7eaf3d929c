#include "attribute/analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/bills.h"
#include "attribute/intervals.h"
#include "attribute/memory_use.h"
#include "attribute/path_result.h"
#include "attribute/shapes.h"
#include "attribute/sums.h"
#include "base/mem.h"
#include "trace/key_map.h"

#define SKEW_NS 100000 /* clocks that differ by more are worth a word */

static const char *source_word(enum trace_source source)
{
	static const char *const words[] = {"unknown", "kineto", "nsys", "recorder"};
	return words[source];
}

/* The rank's own windows that count: those of the path's used steps. */
static bool *used_windows(const struct ranks *ranks, uint32_t r, const struct breakdown *breakdown,
	struct arena *arena, struct err *err)
{
	bool *used = arena_new(arena, ranks->items[r].partition.window_count, sizeof *used, err);
	for (uint32_t s = 0; used && s < ranks->step_count; s++)
		used[ranks->step_of[(size_t)r * ranks->step_count + s]] = breakdown->path[s].used;
	return used;
}

static bool add_steps(const struct rank_analysis *rank, const bool *used, struct rank_result *ret,
	struct arena *arena, struct err *err)
{
	const struct partition *partition = &rank->partition;
	struct sums sums = {0};
	ret->step_count = partition->window_count;
	ret->steps = arena_new(arena, ret->step_count, sizeof *ret->steps, err);
	bool ok = ret->steps;
	for (uint32_t w = 0; w < partition->window_count && ok; w++) {
		const struct window *window = &partition->windows[w];
		struct step_part *step = &ret->steps[w];
		step->name = arena_text(arena,
			rank->phases.steps.count ? rank->phases.steps.items[w].name : "all", err);
		step->closed = window->closed;
		step->used = used[w];
		step->start_ns = window->start_ns;
		step->wall_ns = window->end_ns - window->start_ns;
		ret->steps_used += used[w];
		ok = step->name;
		for (uint32_t i = window->first; i < window->end && ok && !window->empty; i++)
			ok = sums_add(&sums, &partition->items[i], NULL_I32,
				partition->items[i].end_ns - partition->items[i].start_ns, err);
		ok = ok && sums_take(&sums, arena, &step->parts, err);
	}
	sums_done(&sums);
	return ok;
}

static double mean_window(const struct rank_result *rank)
{
	double sum_ns = 0;
	for (uint32_t s = 0; s < rank->step_count; s++)
		sum_ns += rank->steps[s].used ? (double)rank->steps[s].wall_ns : 0;
	return rank->steps_used ? sum_ns / rank->steps_used : NAN;
}

/* The intervals inside windows, and what was found about each op, for whoever stores them. */
static bool keep_intervals(
	struct rank_analysis *rank, struct rank_result *ret, struct arena *arena, struct err *err)
{
	const struct partition *partition = &rank->partition;
	const uint32_t op_count = rank->trace->gpu_ops.head.count;
	const uint32_t unit_count = rank->phases.units.count;
	struct rank_intervals *kept = arena_new(arena, 1, sizeof *kept, err);
	if (!kept)
		return false;
	for (uint32_t i = 0; i < partition->count; i++)
		kept->count += partition->items[i].step != NULL_U32;
	kept->items = arena_new(arena, kept->count, sizeof *kept->items, err);
	kept->gpu_op_phase = arena_new(arena, op_count, 1, err);
	kept->gpu_op_how = arena_new(arena, op_count, 1, err);
	kept->gpu_op_step = arena_new(arena, op_count, sizeof *kept->gpu_op_step, err);
	kept->gpu_op_unit = arena_new(arena, op_count, sizeof *kept->gpu_op_unit, err);
	const char **units = arena_new(arena, unit_count, sizeof *units, err);
	if (!kept->items || !kept->gpu_op_phase || !kept->gpu_op_how || !kept->gpu_op_step ||
		!kept->gpu_op_unit || !units)
		return false;
	uint32_t at = 0;
	for (uint32_t i = 0; i < partition->count; i++)
		if (partition->items[i].step != NULL_U32)
			kept->items[at++] = partition->items[i];
	for (uint32_t u = 0; u < unit_count; u++) {
		units[u] = arena_text(arena, unit_name(&rank->phases, u), err);
		if (!units[u])
			return false;
	}
	kept->units = units;
	kept->unit_count = unit_count;
	kept->gpu_op_count = op_count;
	for (uint32_t i = 0; i < op_count; i++) {
		const struct launch *launch = &rank->phases.launches[i];
		const uint32_t gather = rank->phases.billed[i];
		const bool computes = rank->trace->gpu_ops.kind[i] == GPU_KERNEL &&
				      rank->collective_of[i] == NULL_U32;
		kept->gpu_op_phase[i] = computes ? launch->phase : WORD_NONE;
		kept->gpu_op_how[i] = computes ? launch->how : WORD_NONE;
		kept->gpu_op_step[i] = launch->step;
		kept->gpu_op_unit[i] =
			gather == NULL_U32 ? NULL_U32 : rank->phases.gathers[gather].unit;
	}
	ret->intervals = kept;
	return true;
}

static bool add_rank(const struct ranks *ranks, uint32_t r, const struct analysis_options *options,
	struct breakdown *breakdown, struct err *err)
{
	struct rank_analysis *rank = &ranks->items[r];
	const struct trace *trace = rank->trace;
	struct arena *arena = &breakdown->arena;
	struct rank_result *ret = &breakdown->ranks[r];
	const bool *used = used_windows(ranks, r, breakdown, arena, err);
	if (!used)
		return false;
	ret->rank = trace->rank;
	ret->file = arena_text(arena, trace->file, err);
	ret->source = source_word(trace->source);
	ret->gpu = arena_text(arena, intern_text(&trace->strings, trace->gpu_name_id), err);
	ret->event_count = trace->event_count;
	ret->gpu_op_count = trace->gpu_ops.head.count;
	ret->has = trace->has;
	ret->steps_how = rank->phases.steps.how;
	if (!ret->file || !ret->gpu || !add_steps(rank, used, ret, arena, err) ||
		!bills_make(ranks, r, used, arena, ret, err))
		return false;
	memory_use_make(rank, used, &ret->memory);
	return flops_count(rank, used, mean_window(ret), arena, &ret->flops, err) &&
	       (!options->keep_intervals || keep_intervals(rank, ret, arena, err));
}

/*
 * Ranks that train on different tokens: those that FSDP shards and replicates over, by the groups
 * of the collectives that its hooks launch; tensor-parallel ranks share their tokens.  Without
 * hooks, the whole world.
 */
static int64_t data_parallel(const struct ranks *ranks)
{
	const struct rank_analysis *rank = &ranks->items[0];
	const struct trace *trace = rank->trace;
	const struct collective_table *collectives = &trace->collectives;
	if (trace->data_parallel != NULL_I32)
		return trace->data_parallel;
	int64_t sharded = 0, replicated = 1;
	for (uint32_t c = 0; c < collectives->head.count; c++) {
		const uint32_t op = collectives->gpu_op_id[c];
		const int32_t size = collectives->group_size[c];
		if (op == NULL_U32 || size == NULL_I32 || !rank->phases.launches[op].hook)
			continue;
		if (collectives->kind[c] == COLLECTIVE_ALL_GATHER && size > sharded)
			sharded = size;
		if (collectives->kind[c] == COLLECTIVE_ALL_REDUCE && size > replicated)
			replicated = size;
	}
	if (sharded)
		return sharded * replicated;
	return trace->world_size != NULL_I32 ? trace->world_size : (int64_t)ranks->count;
}

static bool add_tokens(const struct ranks *ranks, const struct analysis_options *options,
	struct breakdown *ret, struct err *err)
{
	const bool *used = used_windows(ranks, 0, ret, &ret->arena, err);
	struct token_count count;
	if (!used || !tokens_count(&ranks->items[0], used, &count, err))
		return false;
	ret->sequence_length = count.sequence_length;
	ret->micro_batch = count.micro_batch;
	ret->accumulation = ranks->items[0].phases.micro_batch_count
				    ? (int64_t)ranks->items[0].phases.micro_batch_count
				    : NULL_I64;
	ret->tokens_per_step = NULL_I64;
	ret->tokens_how = "unknown";
	if (options->tokens_per_step != NULL_I64) {
		ret->tokens_per_step = options->tokens_per_step;
		ret->tokens_how = "given";
	} else if (count.tokens != NULL_I64) {
		ret->tokens_per_step = count.tokens * data_parallel(ranks);
		ret->tokens_how = count.is_marked ? "marked" : "inferred";
	}
	return true;
}

/* The shortest collective of each kind and size. */
struct shortest {
	struct key_map map; /* (kind, bytes) to a number below */
	int64_t *ns;
};

static void shortest_done(struct shortest *shortest)
{
	key_map_done(&shortest->map);
	mem_free(shortest->ns);
}

/* There is one, as this is itself among them. */
static int64_t shortest_like(
	const struct shortest *shortest, const struct collective_table *collectives, uint32_t c)
{
	return shortest
		->ns[key_map_get(&shortest->map, collectives->kind[c], collectives->recv_bytes[c])];
}

static bool find_shortest(const struct trace *trace, struct shortest *ret, struct err *err)
{
	const struct collective_table *collectives = &trace->collectives;
	const struct gpu_op_table *ops = &trace->gpu_ops;
	ret->ns = mem_new(collectives->head.count, sizeof *ret->ns, err);
	for (uint32_t c = 0; ret->ns && c < collectives->head.count; c++) {
		const uint32_t op = collectives->gpu_op_id[c];
		const uint8_t kind = collectives->kind[c];
		const int64_t bytes = collectives->recv_bytes[c];
		if (op == NULL_U32)
			continue;
		const int64_t ns = ops->end_ns[op] - ops->start_ns[op];
		const uint32_t known = key_map_get(&ret->map, kind, bytes);
		const uint32_t number = known == NULL_U32 ? ret->map.count : known;
		if (known == NULL_U32 && !key_map_put(&ret->map, kind, bytes, number, err))
			return false;
		if (known == NULL_U32 || ns < ret->ns[number])
			ret->ns[number] = ns;
	}
	return ret->ns != NULL;
}

/*
 * With one rank's trace the others' arrivals are not known; but of collectives of one kind and size
 * the shortest shows what the transfer takes, and what is blocked beyond it waited for peers.
 */
static bool peer_wait_at_least(
	const struct ranks *ranks, const bool *used, struct breakdown *breakdown, struct err *err)
{
	const struct rank_analysis *rank = &ranks->items[0];
	const struct collective_table *collectives = &rank->trace->collectives;
	const struct gpu_op_table *ops = &rank->trace->gpu_ops;
	struct shortest shortest = {0};
	if (!find_shortest(rank->trace, &shortest, err)) {
		shortest_done(&shortest);
		return false;
	}
	int64_t sum_ns = 0;
	for (uint32_t i = 0; i < rank->partition.count; i++) {
		const struct interval *interval = &rank->partition.items[i];
		if (interval->state != STATE_BLOCKED || interval->gpu_op_id == NULL_U32 ||
			interval->step == NULL_U32 || !used[interval->step])
			continue;
		const uint32_t c = rank->collective_of[interval->gpu_op_id];
		if (c == NULL_U32 || collectives->recv_bytes[c] == NULL_I64)
			continue;
		/* The transfer itself is the last part: what is blocked before it waited. */
		const int64_t begins_ns =
			ops->end_ns[interval->gpu_op_id] - shortest_like(&shortest, collectives, c);
		const int64_t end_ns = interval->end_ns < begins_ns ? interval->end_ns : begins_ns;
		sum_ns += end_ns > interval->start_ns ? end_ns - interval->start_ns : 0;
	}
	if (breakdown->ranks[0].steps_used)
		breakdown->peer_wait_at_least_ns = sum_ns / breakdown->ranks[0].steps_used;
	shortest_done(&shortest);
	return true;
}

/* A collective's stretch, for finding overlaps. */
struct stretch {
	uint32_t communicator_id;
	int64_t start_ns, end_ns;
};

static int by_communicator(const void *a, const void *b)
{
	const struct stretch *left = a, *right = b;
	if (left->communicator_id != right->communicator_id)
		return left->communicator_id < right->communicator_id ? -1 : 1;
	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

/* The trace's only communicator, 0 (the empty text) if it names none or several. */
static uint32_t only_communicator(const struct collective_table *collectives)
{
	uint32_t found = 0;
	for (uint32_t c = 0; c < collectives->head.count; c++) {
		const uint32_t id = collectives->communicator_id[c];
		if (id && found && id != found)
			return 0;
		found = id ? id : found;
	}
	return found;
}

/*
 * Collectives of one communicator run one after another; one that doesn't is told.  Those whose
 * communicator the trace doesn't say may be of several, unless there is but one.
 */
static bool check_overlaps(const struct rank_analysis *rank, struct diag *diag, struct err *err)
{
	const struct collective_table *collectives = &rank->trace->collectives;
	const struct gpu_op_table *ops = &rank->trace->gpu_ops;
	struct stretch *items = mem_new(collectives->head.count, sizeof *items, err);
	if (!items)
		return false;
	const uint32_t only = only_communicator(collectives);
	uint32_t count = 0;
	for (uint32_t c = 0; c < collectives->head.count; c++) {
		const uint32_t op = collectives->gpu_op_id[c];
		const uint32_t id =
			collectives->communicator_id[c] ? collectives->communicator_id[c] : only;
		/* Several in one kernel are one stretch. */
		if (op != NULL_U32 && id && rank->collective_of[op] == c)
			items[count++] = (struct stretch){id, ops->start_ns[op], ops->end_ns[op]};
	}
	if (count)
		qsort(items, count, sizeof *items, by_communicator);
	for (uint32_t i = 1; i < count; i++) {
		const bool same = items[i].communicator_id == items[i - 1].communicator_id;
		if (same && items[i].start_ns < items[i - 1].end_ns)
			diag_add(diag, DIAG_COLLECTIVE_OVERLAP, 1, -1);
		if (same && items[i - 1].end_ns > items[i].end_ns)
			items[i].end_ns = items[i - 1].end_ns;
	}
	mem_free(items);
	return true;
}

static bool add_diagnostics(
	const struct run *run, const struct ranks *ranks, struct breakdown *ret, struct err *err)
{
	for (uint32_t r = 0; r <= run->trace_count; r++) {
		const struct diag *diag = r ? &run->traces[r - 1].diag : &run->diag;
		const char *file = r ? ret->ranks[r - 1].file : NULL;
		for (uint32_t k = 0; k < DIAG_KIND_COUNT; k++) {
			if (!diag->row[k].count)
				continue;
			if (!ret->diag.row[k].count)
				ret->diag_file[k] = file;
			diag_add(&ret->diag, k, diag->row[k].count, diag->row[k].first_byte);
		}
	}
	int64_t unknown = 0, compiled = 0;
	for (uint32_t r = 0; r < ranks->count; r++) {
		const struct rank_analysis *rank = &ranks->items[r];
		if (!check_overlaps(rank, &ret->diag, err))
			return false;
		compiled += rank->phases.compiled_ops;
		if (!rank->phases.steps.count)
			diag_add(&ret->diag, DIAG_NO_STEPS, 1, -1);
		for (uint32_t g = 0; g < ret->ranks[r].gather_count; g++)
			if (ret->ranks[r].gathers[g].reason == GATHER_UNKNOWN ||
				strcmp(ret->ranks[r].gathers[g].unit, "unknown") == 0)
				unknown += ret->ranks[r].gathers[g].count;
		const int64_t skew_ns =
			rank->clock_ns -
			(rank->trace->base_unix_ns - ranks->items[0].trace->base_unix_ns);
		if (skew_ns > SKEW_NS || skew_ns < -SKEW_NS)
			diag_add(&ret->diag, DIAG_CLOCK_SKEW, 1, -1);
	}
	diag_add(&ret->diag, DIAG_UNKNOWN_GATHER, unknown, -1);
	diag_add(&ret->diag, DIAG_UNCOUNTED_GATHERS, ret->facts->uncounted_gathers, -1);
	diag_add(&ret->diag, DIAG_COMPILED_REGION, compiled, -1);
	diag_add(&ret->diag, DIAG_UNMATCHED_COLLECTIVE, ranks->unmatched, -1);
	return true;
}

/* The number of the rank that the user wants the path to start on. */
static bool find_start(const struct run *run, const struct analysis_options *options, uint32_t *ret,
	struct err *err)
{
	*ret = PATH_START_LAST;
	if (!options->has_path_from)
		return true;
	for (uint32_t t = 0; t < run->trace_count; t++)
		if (run->traces[t].rank == options->path_from)
			*ret = t;
	return *ret != PATH_START_LAST ||
	       err_set(err, ERR_USAGE, "%s has no rank %d to start the path on", run->name,
		       options->path_from);
}

static bool fill(const struct run *run, const struct ranks *ranks,
	const struct analysis_options *options, struct breakdown *ret, struct err *err)
{
	uint32_t start;
	ret->name = arena_text(&ret->arena, run->name, err);
	ret->facts = arena_new(&ret->arena, 1, sizeof *ret->facts, err);
	ret->rank_count = ranks->count;
	ret->ranks = arena_new(&ret->arena, ranks->count, sizeof *ret->ranks, err);
	if (!ret->name || !ret->facts || !ret->ranks || !find_start(run, options, &start, err) ||
		!path_result_make(ranks, start, ret, err))
		return false;
	for (uint32_t r = 0; r < ranks->count; r++)
		if (!add_rank(ranks, r, options, ret, err))
			return false;
	if (ranks->count == 1 && ranks->items[0].trace->world_size != 1) {
		const bool *used = used_windows(ranks, 0, ret, &ret->arena, err);
		if (!used || !peer_wait_at_least(ranks, used, ret, err))
			return false;
	}
	if (!facts_make(ranks, ret, err) || !add_tokens(ranks, options, ret, err))
		return false;
	return add_diagnostics(run, ranks, ret, err);
}

bool breakdown_make(const struct run *run, const struct rules *rules,
	const struct analysis_options *options, struct breakdown *ret, struct err *err)
{
	*ret = (struct breakdown){.world_size = NULL_I32, .peer_wait_at_least_ns = NULL_I64};
	for (uint32_t t = 0; t < run->trace_count; t++)
		if (run->traces[t].world_size != NULL_I32)
			ret->world_size = run->traces[t].world_size;
	struct ranks ranks;
	if (!ranks_make(run->traces, run->trace_count, rules, options->thread_count, &ranks, err))
		return false;
	const bool ok = fill(run, &ranks, options, ret, err);
	ranks_done(&ranks);
	if (!ok)
		breakdown_done(ret);
	return ok;
}

void breakdown_done(struct breakdown *breakdown)
{
	arena_done(&breakdown->arena);
	*breakdown = (struct breakdown){0};
}
