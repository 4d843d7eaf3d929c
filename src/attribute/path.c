#include "attribute/path.h"

/* Where a step begins or ends on the path. */
struct border {
	uint32_t rank;
	int64_t at_ns; /* in the first rank's time */
};

static const struct window *window_of(const struct ranks *ranks, uint32_t rank, uint32_t step)
{
	return &ranks->items[rank]
			.partition.windows[ranks->step_of[(size_t)rank * ranks->step_count + step]];
}

/* The rank that reaches the first collective of `step` last, if there is one. */
static uint32_t last_to_begin(const struct ranks *ranks, uint32_t step)
{
	uint32_t first_match = NULL_U32;
	int64_t first_ns = INT64_MAX;
	for (uint32_t m = 0; m < ranks->match_count; m++) {
		const uint32_t collective = ranks->collective[(size_t)m * ranks->count];
		if (collective == NULL_U32 || ranks->matches[m].seen != ranks->count)
			continue;
		const struct rank_analysis *rank = &ranks->items[0];
		const struct launch *launch =
			&rank->phases.launches[rank->trace->collectives.gpu_op_id[collective]];
		if (launch->step == ranks->step_of[step] && launch->start_ns < first_ns) {
			first_ns = launch->start_ns;
			first_match = m;
		}
	}
	return first_match == NULL_U32 ? NULL_U32 : ranks->matches[first_match].last;
}

static int64_t window_end(const struct ranks *ranks, uint32_t rank, uint32_t step)
{
	return window_of(ranks, rank, step)->end_ns + ranks->items[rank].clock_ns;
}

/* Where the walk begins: the latest end of the last step; from a given rank, the earliest. */
static struct border last_border(const struct ranks *ranks, uint32_t start_rank)
{
	const uint32_t last = ranks->step_count - 1;
	struct border border = {0, window_end(ranks, 0, last)};
	for (uint32_t r = 1; r < ranks->count; r++) {
		const int64_t at_ns = window_end(ranks, r, last);
		if (start_rank == PATH_START_LAST ? at_ns > border.at_ns : at_ns < border.at_ns)
			border = (struct border){r, at_ns};
	}
	if (start_rank != PATH_START_LAST)
		border.rank = start_rank;
	return border;
}

/* The border before `step`: where the rank that the others wait for first in it begins it. */
static struct border border_before(const struct ranks *ranks, uint32_t step)
{
	uint32_t rank = NULL_U32;
	if (ranks->count > 1 && ranks->items[0].phases.steps.count)
		rank = last_to_begin(ranks, step);
	struct border border = {0, INT64_MIN};
	for (uint32_t r = 0; r < ranks->count; r++) {
		const int64_t at_ns =
			window_of(ranks, r, step)->start_ns + ranks->items[r].clock_ns;
		if ((rank == NULL_U32 || rank == r) && at_ns > border.at_ns)
			border = (struct border){r, at_ns};
	}
	return border;
}

/* The collective that a blocked interval is held by, as a match; NULL_U32 if none. */
static uint32_t match_of(const struct rank_analysis *rank, const struct interval *interval)
{
	if (!interval || interval->state != STATE_BLOCKED || interval->gpu_op_id == NULL_U32)
		return NULL_U32;
	const uint32_t collective = rank->collective_of[interval->gpu_op_id];
	return collective == NULL_U32 ? NULL_U32 : rank->match[collective];
}

struct walker {
	const struct ranks *ranks;
	const struct path_visitor *visitor;
	uint32_t step;
	uint32_t rank;
	int64_t at_ns;	  /* the walk has owners for all that is later */
	uint32_t stalled; /* hops since time last moved */
	uint32_t near;	  /* the interval looked at last: going back, the next is the one before */
};

static bool own(
	struct walker *walker, const struct interval *interval, int64_t start_ns, struct err *err)
{
	const struct path_stretch stretch = {.start_ns = start_ns,
		.end_ns = walker->at_ns,
		.step = walker->step,
		.rank = walker->rank,
		.interval = interval};
	if (stretch.end_ns > stretch.start_ns) {
		if (!walker->visitor->stretch(walker->visitor->context, &stretch, err))
			return false;
		walker->stalled = 0;
	}
	walker->at_ns = start_ns;
	return true;
}

/* partition_at, where the answer is `near` or just before it at once. */
static uint32_t interval_at(const struct partition *partition, uint32_t near, int64_t at_ns)
{
	const struct interval *items = partition->items;
	for (uint32_t i = near; i < partition->count && i + 2 > near; i--) {
		const bool is_last = i + 1 == partition->count;
		if (items[i].start_ns <= at_ns && (is_last || items[i + 1].start_ns > at_ns))
			return i;
	}
	return partition_at(partition, at_ns);
}

/* One interval back, or one hop. */
static bool step_back(struct walker *walker, int64_t border_ns, struct err *err)
{
	const struct ranks *ranks = walker->ranks;
	const struct rank_analysis *rank = &ranks->items[walker->rank];
	const int64_t local_ns = walker->at_ns - rank->clock_ns;
	const uint32_t at = interval_at(&rank->partition, walker->near, local_ns - 1);
	walker->near = at;
	if (at == NULL_U32)
		return own(walker, NULL, border_ns, err);
	const struct interval *interval = &rank->partition.items[at];
	if (interval->end_ns < local_ns) {
		/* Past the rank's last window nothing was attributed. */
		const int64_t end_ns = interval->end_ns + rank->clock_ns;
		return own(walker, NULL, end_ns > border_ns ? end_ns : border_ns, err);
	}
	int64_t start_ns = interval->start_ns + rank->clock_ns;
	if (start_ns < border_ns)
		start_ns = border_ns;

	const uint32_t m = match_of(rank, interval);
	const struct match *match = m == NULL_U32 ? NULL : &ranks->matches[m];
	if (!match || match->last == walker->rank || match->arrived_ns <= start_ns ||
		walker->stalled >= ranks->count)
		return own(walker, interval, start_ns, err);

	const int64_t hop_ns =
		match->arrived_ns < walker->at_ns ? match->arrived_ns : walker->at_ns;
	if (!own(walker, interval, hop_ns, err))
		return false;
	const struct path_hop hop = {.step = walker->step,
		.match = m,
		.from = walker->rank,
		.to = match->last,
		.ns = hop_ns - start_ns};
	walker->rank = match->last;
	walker->near = NULL_U32;
	walker->stalled++;
	return walker->visitor->hop(walker->visitor->context, &hop, err);
}

bool path_walk(const struct ranks *ranks, uint32_t start_rank, const struct path_visitor *visitor,
	int64_t *ret_wall_ns, struct err *err)
{
	if (!ranks->step_count)
		return true;
	struct border end = last_border(ranks, start_rank);
	for (uint32_t step = ranks->step_count; step-- > 0;) {
		const struct border start = border_before(ranks, step);
		struct walker walker = {.ranks = ranks,
			.visitor = visitor,
			.step = step,
			.rank = end.rank,
			.at_ns = end.at_ns,
			.near = NULL_U32};
		ret_wall_ns[step] = end.at_ns - start.at_ns;
		/* Clocks that nothing relates can put a step's end before its start: no path there.
		 */
		if (ret_wall_ns[step] < 0)
			ret_wall_ns[step] = 0;
		while (walker.at_ns > start.at_ns)
			if (!step_back(&walker, start.at_ns, err))
				return false;
		end = start;
	}
	return true;
}
