/*
 * Correlation ids only grow, so a table that is indexed by their low bits holds the newest ones.
 */
#include "collect/writer_links.h"

#include <stdlib.h>
#include <string.h>

#include "collect/writer_file.h"
#include "collect/writer_places.h"

#define CORRELATIONS  (1u << 19) /* some seconds of a launch-bound run */
#define EXTERNALS     (1u << 16)
#define EVENTS	      (1u << 16)
#define EVENT_BUCKETS (1u << 15)
#define PENDING_MAX   (1u << 14)
#define MAX_SETTLES   10 /* that a wait stays without its parts: some seconds */
#define MAX_CHAIN     64
#define NONE	      UINT32_MAX

/* What the newest correlation ids lead to. */
struct by_correlation {
	struct {
		uint32_t correlation, value;
	} slot[CORRELATIONS];
};

static struct by_correlation calls, gpu_ops, externals_of;

static struct {
	uint64_t id;
	uint32_t correlation;
} externals[EXTERNALS];

static struct {
	uint64_t external_id;
	uint32_t collective;
} unlinked[PENDING_MAX];
static uint32_t unlinked_count;
static uint64_t given_up;

/* Event records, the newest EVENTS of them; numbers count all. */
static struct event {
	struct record_event record;
	uint64_t older_by_sync, older_by_event; /* numbers + 1; 0 ends the chain */
	uint32_t call;				/* the api_call; NONE until it is found */
} events[EVENTS];
static uint64_t event_count;
static uint64_t newest_by_sync[EVENT_BUCKETS], newest_by_event[EVENT_BUCKETS]; /* + 1 */

static struct wait {
	struct record_sync record;
	uint32_t settles;
} waits[PENDING_MAX];
static uint32_t wait_count;

static void put(struct by_correlation *table, uint32_t correlation, uint32_t value)
{
	const uint32_t slot = correlation & (CORRELATIONS - 1);
	table->slot[slot].correlation = correlation;
	table->slot[slot].value = value;
}

/* Correlation 0 is nobody's, so that an empty slot finds nothing. */
static uint32_t get(const struct by_correlation *table, uint32_t correlation)
{
	const uint32_t slot = correlation & (CORRELATIONS - 1);
	return correlation && table->slot[slot].correlation == correlation ? table->slot[slot].value
									   : NONE;
}

void links_call(uint32_t correlation, uint32_t api_call)
{
	put(&calls, correlation, api_call);
}

static void link_external(uint64_t id)
{
	const uint32_t slot = (uint32_t)id & (EXTERNALS - 1);
	if (externals[slot].id != id)
		return;
	const uint32_t gpu_op = get(&gpu_ops, externals[slot].correlation);
	if (gpu_op == NONE)
		return;
	uint32_t kept = 0;
	for (uint32_t u = 0; u < unlinked_count; u++)
		if (unlinked[u].external_id == id)
			file_link_collective(unlinked[u].collective, gpu_op);
		else
			unlinked[kept++] = unlinked[u];
	unlinked_count = kept;
}

void links_gpu_op(uint32_t correlation, uint32_t gpu_op)
{
	put(&gpu_ops, correlation, gpu_op);
	/* The low bits of the external id lead to its slot. */
	const uint32_t slot = get(&externals_of, correlation);
	if (slot != NONE)
		link_external(externals[slot].id);
}

void links_external(const struct record_external *external)
{
	const uint32_t slot = (uint32_t)external->id & (EXTERNALS - 1);
	if (external->id == 0)
		return;
	externals[slot].id = external->id;
	externals[slot].correlation = external->correlation;
	put(&externals_of, external->correlation, slot);
	link_external(external->id);
}

void links_collective(uint64_t external_id, uint32_t collective)
{
	if (external_id == 0) {
		given_up++;
		return;
	}
	if (unlinked_count == PENDING_MAX) {
		/* The oldest half will not be found any more. */
		given_up += PENDING_MAX / 2;
		unlinked_count -= PENDING_MAX / 2;
		memmove(unlinked, unlinked + PENDING_MAX / 2, unlinked_count * sizeof *unlinked);
	}
	unlinked[unlinked_count].external_id = external_id;
	unlinked[unlinked_count++].collective = collective;
	link_external(external_id);
}

uint64_t links_unlinked(void)
{
	return given_up + unlinked_count;
}

static uint32_t bucket_of(uint64_t key)
{
	return (uint32_t)(key * 11400714819323198485u >> 32) & (EVENT_BUCKETS - 1);
}

static uint64_t event_key(uint32_t context, uint32_t event)
{
	return (uint64_t)context << 32 | event;
}

void links_event(const struct record_event *record)
{
	struct event *event = &events[event_count & (EVENTS - 1)];
	uint64_t *by_sync = &newest_by_sync[bucket_of(record->sync_id)];
	uint64_t *by_event = &newest_by_event[bucket_of(event_key(record->context, record->event))];
	*event = (struct event){.record = *record,
		.older_by_sync = *by_sync,
		.older_by_event = *by_event,
		.call = NONE};
	*by_sync = *by_event = ++event_count;
}

/* Whether the event with this number + 1 is still held. */
static bool is_held(uint64_t after)
{
	return after > 0 && event_count - (after - 1) <= EVENTS;
}

/* The record that a wait is for: the one of its own id, else the last before it of its event. */
static const struct event *find_event(const struct record_sync *wait)
{
	uint64_t at = wait->sync_id ? newest_by_sync[bucket_of(wait->sync_id)] : 0;
	for (int i = 0; i < MAX_CHAIN && is_held(at); i++) {
		const struct event *event = &events[(at - 1) & (EVENTS - 1)];
		if (event->record.sync_id == wait->sync_id)
			return event;
		at = event->older_by_sync;
	}
	at = newest_by_event[bucket_of(event_key(wait->context, wait->event))];
	for (int i = 0; i < MAX_CHAIN && is_held(at); i++) {
		const struct event *event = &events[(at - 1) & (EVENTS - 1)];
		if (event->record.event == wait->event && event->record.context == wait->context &&
			event->record.correlation < wait->correlation)
			return event;
		at = event->older_by_event;
	}
	return NULL;
}

static int64_t or_null(uint32_t row)
{
	return row == NONE ? FILE_NULL : row;
}

/* True once the wait is written. */
static bool settle(struct wait *wait, bool is_last)
{
	const struct record_sync *record = &wait->record;
	const struct event *event = find_event(record);
	const uint32_t call = get(&calls, record->correlation);
	const uint32_t record_call = event ? event->call : NONE;
	if ((call == NONE || record_call == NONE) && !is_last && wait->settles++ < MAX_SETTLES)
		return false;
	FILE_ADD(FILE_STREAM_WAIT, or_null(call), places_stream(record->context, record->stream),
		event ? places_stream(event->record.context, event->record.stream) : FILE_NULL,
		or_null(record_call), record->event == NONE ? FILE_NULL : record->event);
	return true;
}

void links_sync(const struct record_sync *sync)
{
	if (sync->type != RECORD_SYNC_WAIT)
		return;
	if (wait_count == PENDING_MAX)
		links_settle(true);
	waits[wait_count++] = (struct wait){.record = *sync};
}

/* An event may be waited for long after its record, when the table of calls has forgotten it. */
static void find_record_calls(void)
{
	static uint64_t
		settled[2]; /* event_count at the last calls: what came late is tried again */
	uint64_t from = event_count - settled[1] > EVENTS ? event_count - EVENTS : settled[1];
	for (; from < event_count; from++) {
		struct event *event = &events[from & (EVENTS - 1)];
		if (event->call == NONE)
			event->call = get(&calls, event->record.correlation);
	}
	settled[1] = settled[0];
	settled[0] = event_count;
}

void links_settle(bool is_last)
{
	find_record_calls();
	uint32_t kept = 0;
	for (uint32_t w = 0; w < wait_count; w++)
		if (!settle(&waits[w], is_last))
			waits[kept++] = waits[w];
	wait_count = kept;
}
