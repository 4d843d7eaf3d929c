#include "attribute/ranks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/mem.h"

/* --- each rank by itself --- */

struct crew {
	struct ranks *ranks;
	const struct rules *rules;
	atomic_uint next;
	struct err *errs; /* one a rank */
};

static bool index_collectives(struct rank_analysis *rank, struct err *err)
{
	const struct collective_table *collectives = &rank->trace->collectives;
	const uint32_t op_count = rank->trace->gpu_ops.head.count;
	rank->match = mem_new(collectives->head.count, sizeof *rank->match, err);
	rank->collective_of = mem_new(op_count, sizeof *rank->collective_of, err);
	if (!rank->match || !rank->collective_of)
		return false;
	memset(rank->match, 0xff, collectives->head.count * sizeof *rank->match);
	memset(rank->collective_of, 0xff, op_count * sizeof *rank->collective_of);
	for (uint32_t c = collectives->head.count; c-- > 0;)
		if (collectives->gpu_op_id[c] != NULL_U32)
			rank->collective_of[collectives->gpu_op_id[c]] = c;
	return true;
}

static bool analyse(struct rank_analysis *rank, const struct rules *rules, struct err *err)
{
	return roles_make(rules, rank->trace, &rank->roles, err) &&
	       phases_make(rank->trace, &rank->roles, &rank->phases, err) &&
	       partition_make(rank->trace, &rank->roles, &rank->phases, &rank->partition, err) &&
	       index_collectives(rank, err);
}

static void *work(void *context)
{
	struct crew *crew = context;
	for (;;) {
		const uint32_t r = atomic_fetch_add(&crew->next, 1);
		if (r >= crew->ranks->count)
			return NULL;
		struct rank_analysis *rank = &crew->ranks->items[r];
		if (!analyse(rank, crew->rules, &crew->errs[r]) && crew->ranks->count > 1)
			err_prefix(&crew->errs[r], "%s", trace_called(rank->trace));
	}
}

static bool analyse_all(
	struct ranks *ranks, const struct rules *rules, uint32_t thread_count, struct err *err)
{
	struct crew crew = {.ranks = ranks, .rules = rules};
	crew.errs = mem_new(ranks->count, sizeof *crew.errs, err);
	pthread_t *threads = mem_new(ranks->count, sizeof *threads, err);
	bool ok = crew.errs && threads;
	if (ok) {
		const long cores = sysconf(_SC_NPROCESSORS_ONLN);
		uint32_t wanted = thread_count ? thread_count : cores > 0 ? (uint32_t)cores : 1;
		wanted = wanted < ranks->count ? wanted : ranks->count;
		uint32_t started = 0;
		/* A thread that can't be had is no loss: this one does its share. */
		while (started + 1 < wanted &&
			pthread_create(&threads[started], NULL, work, &crew) == 0)
			started++;
		work(&crew);
		for (uint32_t t = 0; t < started; t++)
			pthread_join(threads[t], NULL);
		for (uint32_t r = 0; r < ranks->count && ok; r++) {
			ok = crew.errs[r].code == ERR_NONE;
			if (!ok && err)
				*err = crew.errs[r];
		}
	}
	mem_free(threads);
	mem_free(crew.errs);
	return ok;
}

/* --- steps that all ranks have --- */

static bool match_steps(struct ranks *ranks, struct err *err)
{
	const struct host_steps *first = &ranks->items[0].phases.steps;
	const uint32_t most = ranks->items[0].partition.window_count;
	ranks->step_names = mem_new(most, sizeof *ranks->step_names, err);
	ranks->step_of = mem_new((size_t)most * ranks->count, sizeof *ranks->step_of, err);
	uint32_t *found = mem_new(ranks->count, sizeof *found, err);
	bool ok = ranks->step_names && ranks->step_of && found;
	for (uint32_t s = 0; ok && s < most; s++) {
		const char *name = first->count ? first->items[s].name : "all";
		bool everywhere = true;
		for (uint32_t r = 0; r < ranks->count && everywhere; r++) {
			const struct host_steps *steps = &ranks->items[r].phases.steps;
			found[r] = 0;
			if (!steps->count && !first->count)
				continue;
			while (found[r] < steps->count && strcmp(steps->items[found[r]].name, name))
				found[r]++;
			everywhere = found[r] < steps->count;
		}
		if (!everywhere)
			continue;
		ranks->step_names[ranks->step_count] = name;
		for (uint32_t r = 0; r < ranks->count; r++)
			ranks->step_of[(size_t)r * most + ranks->step_count] = found[r];
		ranks->step_count++;
	}
	/* Rows are as long as the steps that are left. */
	for (uint32_t r = 1; ok && r < ranks->count; r++)
		memmove(&ranks->step_of[(size_t)r * ranks->step_count],
			&ranks->step_of[(size_t)r * most],
			ranks->step_count * sizeof *ranks->step_of);
	mem_free(found);
	return ok;
}

/* --- collectives that belong together --- */

/* A collective's place in its communicator's order: the same on every rank that takes part. */
struct place {
	uint64_t communicator; /* hash of its text */
	int64_t step;	       /* common step, -1 before the first; or -2 with a sequence number */
	int64_t ordinal;
	int64_t launched_ns;
	uint32_t rank, collective;
};

static int by_rank_launch(const void *a, const void *b)
{
	const struct place *left = a, *right = b;
	if (left->rank != right->rank)
		return left->rank < right->rank ? -1 : 1;
	if (left->communicator != right->communicator)
		return left->communicator < right->communicator ? -1 : 1;
	if (left->step != right->step)
		return left->step < right->step ? -1 : 1;
	if (left->launched_ns != right->launched_ns)
		return left->launched_ns < right->launched_ns ? -1 : 1;
	return (left->collective > right->collective) - (left->collective < right->collective);
}

static int by_place(const void *a, const void *b)
{
	const struct place *left = a, *right = b;
	if (left->communicator != right->communicator)
		return left->communicator < right->communicator ? -1 : 1;
	if (left->step != right->step)
		return left->step < right->step ? -1 : 1;
	if (left->ordinal != right->ordinal)
		return left->ordinal < right->ordinal ? -1 : 1;
	return (left->rank > right->rank) - (left->rank < right->rank);
}

static bool same_series(const struct place *a, const struct place *b)
{
	return a->rank == b->rank && a->communicator == b->communicator && a->step == b->step;
}

/* The places of one rank's collectives, but for their ordinals. */
static uint32_t collect_places(const struct ranks *ranks, uint32_t r, struct place *places)
{
	const struct rank_analysis *rank = &ranks->items[r];
	const struct collective_table *collectives = &rank->trace->collectives;
	uint32_t count = 0;
	for (uint32_t c = 0; c < collectives->head.count; c++) {
		const uint32_t op = collectives->gpu_op_id[c];
		if (op == NULL_U32)
			continue;
		const struct launch *launch = &rank->phases.launches[op];
		const char *text =
			intern_text(&rank->trace->strings, collectives->communicator_id[c]);
		struct place place = {.communicator = XXH3_64bits(text, strlen(text)),
			.step = -1,
			.launched_ns = launch->start_ns,
			.rank = r,
			.collective = c};
		if (launch->start_ns == NULL_I64)
			place.launched_ns = rank->trace->gpu_ops.start_ns[op];
		if (collectives->sequence[c] != NULL_I64) {
			/* NCCL counts each function of a communicator by itself. */
			place.communicator += collectives->kind[c] + 1u;
			place.step = -2;
			place.ordinal = collectives->sequence[c];
		} else if (launch->step != NULL_U32) {
			int64_t step = -3; /* one that not all ranks have */
			for (uint32_t s = 0; s < ranks->step_count && step < 0; s++)
				if (ranks->step_of[(size_t)r * ranks->step_count + s] ==
					launch->step)
					step = s;
			if (step < 0)
				continue;
			place.step = step;
		}
		places[count++] = place;
	}
	return count;
}

static void number_places(struct place *places, uint32_t count)
{
	qsort(places, count, sizeof *places, by_rank_launch);
	for (uint32_t i = 0; i < count;) {
		uint32_t end = i;
		while (end < count && same_series(&places[i], &places[end]))
			end++;
		/* Before the first step only the latest are sure to be on every rank: count back.
		 */
		for (uint32_t j = i; j < end && places[i].step != -2; j++)
			places[j].ordinal =
				places[i].step == -1 ? (int64_t)j - end : (int64_t)(j - i);
		i = end;
	}
}

static void group_places(struct ranks *ranks, const struct place *places, uint32_t count)
{
	for (uint32_t i = 0; i < count;) {
		const uint32_t number = ranks->match_count++;
		uint32_t *row = &ranks->collective[(size_t)number * ranks->count];
		memset(row, 0xff, ranks->count * sizeof *row);
		const uint32_t first = i;
		for (; i < count && places[i].communicator == places[first].communicator &&
			places[i].step == places[first].step &&
			places[i].ordinal == places[first].ordinal;
			i++) {
			/* A number that a rank bears twice: the first counts. */
			if (row[places[i].rank] != NULL_U32)
				continue;
			row[places[i].rank] = places[i].collective;
			ranks->items[places[i].rank].match[places[i].collective] = number;
			ranks->matches[number].seen++;
		}
		const struct rank_analysis *rank = &ranks->items[places[first].rank];
		const int32_t size = rank->trace->collectives.group_size[places[first].collective];
		const uint32_t expected = size == NULL_I32 || (uint32_t)size > ranks->count
						  ? ranks->count
						  : (uint32_t)size;
		if (places[first].step >= 0 && ranks->matches[number].seen != expected)
			ranks->unmatched++;
	}
}

static bool match_collectives(struct ranks *ranks, struct err *err)
{
	size_t total = 0;
	for (uint32_t r = 0; r < ranks->count; r++)
		total += ranks->items[r].trace->collectives.head.count;
	struct place *places = mem_new(total, sizeof *places, err);
	ranks->matches = mem_new(total, sizeof *ranks->matches, err);
	ranks->collective = mem_new(total * ranks->count, sizeof *ranks->collective, err);
	if (!places || !ranks->matches || !ranks->collective) {
		mem_free(places);
		return false;
	}
	uint32_t count = 0;
	for (uint32_t r = 0; r < ranks->count; r++)
		count += collect_places(ranks, r, places + count);
	number_places(places, count);
	qsort(places, count, sizeof *places, by_place);
	group_places(ranks, places, count);
	mem_free(places);
	return true;
}

/* --- clocks --- */

static int by_value(const void *a, const void *b)
{
	const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
	return (left > right) - (left < right);
}

static int64_t end_of(const struct ranks *ranks, uint32_t rank, uint32_t collective)
{
	const struct trace *trace = ranks->items[rank].trace;
	return trace->gpu_ops.end_ns[trace->collectives.gpu_op_id[collective]];
}

/*
 * A collective ends on all its ranks at nearly the same time, whatever their clocks say: the median
 * difference of ends relates two clocks.  Ranks that share nothing with the first are related
 * through those that do.
 */
static bool relate_clocks(struct ranks *ranks, struct err *err)
{
	int64_t *differences = mem_new(ranks->match_count, sizeof *differences, err);
	bool *known = mem_new(ranks->count, sizeof *known, err);
	const bool ok = differences && known;
	if (ok)
		known[0] = true;
	for (bool again = ok; again;) {
		again = false;
		for (uint32_t r = 0; r < ranks->count; r++) {
			for (uint32_t k = 0; k < ranks->count && !known[r]; k++) {
				uint32_t count = 0;
				for (uint32_t m = 0; known[k] && m < ranks->match_count; m++) {
					const uint32_t *row =
						&ranks->collective[(size_t)m * ranks->count];
					if (row[r] != NULL_U32 && row[k] != NULL_U32)
						differences[count++] = end_of(ranks, k, row[k]) -
								       end_of(ranks, r, row[r]);
				}
				if (!count)
					continue;
				qsort(differences, count, sizeof *differences, by_value);
				ranks->items[r].clock_ns =
					ranks->items[k].clock_ns + differences[count / 2];
				known[r] = again = true;
			}
		}
	}
	/* Without a common collective the files' own epochs must do. */
	for (uint32_t r = 0; ok && r < ranks->count; r++)
		if (!known[r])
			ranks->items[r].clock_ns = ranks->items[r].trace->base_unix_ns -
						   ranks->items[0].trace->base_unix_ns;
	mem_free(differences);
	mem_free(known);
	return ok;
}

static void find_arrivals(struct ranks *ranks)
{
	for (uint32_t m = 0; m < ranks->match_count; m++) {
		struct match *match = &ranks->matches[m];
		match->arrived_ns = INT64_MIN;
		for (uint32_t r = 0; r < ranks->count; r++) {
			const uint32_t collective = ranks->collective[(size_t)m * ranks->count + r];
			if (collective == NULL_U32)
				continue;
			const struct trace *trace = ranks->items[r].trace;
			const int64_t at_ns =
				trace->gpu_ops.start_ns[trace->collectives.gpu_op_id[collective]] +
				ranks->items[r].clock_ns;
			if (at_ns > match->arrived_ns) {
				match->arrived_ns = at_ns;
				match->last = r;
			}
		}
	}
}

bool ranks_make(const struct trace *traces, uint32_t count, const struct rules *rules,
	uint32_t thread_count, struct ranks *ret, struct err *err)
{
	*ret = (struct ranks){.count = count};
	ret->items = mem_new(count, sizeof *ret->items, err);
	if (!ret->items)
		return false;
	for (uint32_t r = 0; r < count; r++)
		ret->items[r].trace = &traces[r];
	if (analyse_all(ret, rules, thread_count, err) && match_steps(ret, err) &&
		match_collectives(ret, err) && relate_clocks(ret, err)) {
		find_arrivals(ret);
		return true;
	}
	ranks_done(ret);
	return false;
}

void ranks_done(struct ranks *ranks)
{
	for (uint32_t r = 0; ranks->items && r < ranks->count; r++) {
		struct rank_analysis *rank = &ranks->items[r];
		mem_free(rank->match);
		mem_free(rank->collective_of);
		partition_done(&rank->partition);
		phases_done(&rank->phases);
		roles_done(&rank->roles);
	}
	mem_free(ranks->items);
	mem_free(ranks->matches);
	mem_free(ranks->collective);
	mem_free(ranks->step_of);
	mem_free(ranks->step_names);
	*ranks = (struct ranks){0};
}
