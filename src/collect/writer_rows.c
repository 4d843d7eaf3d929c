/*
 * One record, one row.
 */
#include "collect/writer_rows.h"

#include <stdio.h>
#include <string.h>

#include "collect/cupti_calls.h"
#include "collect/writer_file.h"
#include "collect/writer_links.h"
#include "collect/writer_names.h"
#include "collect/writer_places.h"

#define MAX_DEVICES    64u
#define OVERHEAD_KINDS 10u
#define LIVE_MAX       65536u
#define DAY_NS	       INT64_C(86400000000000)

static int64_t base_ns;
static struct row_counts counts;

static struct {
	uint64_t memory_bytes;
	char name[128];
} devices[MAX_DEVICES];
static uint32_t own_device = UINT32_MAX, told_device = UINT32_MAX;

static struct {
	const char *word;
	int64_t ns;
} overheads[OVERHEAD_KINDS];

/* Device memory that lives, since a release need not say its size. */
static struct {
	uint64_t address, bytes;
	uint32_t device;
} live[LIVE_MAX];
static uint32_t live_count;
static int64_t reserved_bytes[MAX_DEVICES];

void rows_begin(int64_t base)
{
	base_ns = base;
}

const struct row_counts *rows_counts(void)
{
	return &counts;
}

/* Both times as rows have them; false when they are not to be had. */
static bool times_of(uint64_t start, uint64_t end, int64_t *ret_start, int64_t *ret_end)
{
	if (start == 0 || end == 0) {
		counts.untimed++;
		return false;
	}
	/* A tool that took CUPTI's clock away from us gives times of another age. */
	if (start > INT64_MAX / 2 || end > INT64_MAX / 2 || (int64_t)start < base_ns - DAY_NS ||
		(int64_t)end > notes_now_ns() + DAY_NS) {
		counts.foreign++;
		return false;
	}
	if (end < start) {
		counts.negative++;
		end = start;
	}
	*ret_start = (int64_t)start - base_ns;
	*ret_end = (int64_t)end - base_ns;
	return true;
}

static uint32_t name_of(const struct record_gpu_op *op)
{
	char name[96];
	if (op->op == RECORD_KERNEL)
		return names_put_shown(op->name);
	if (op->op == RECORD_MEMCPY)
		snprintf(name, sizeof name, "Memcpy %s (%s -> %s)", record_copy_word(op->copy_kind),
			record_memory_word(op->from_kind), record_memory_word(op->to_kind));
	else
		snprintf(name, sizeof name, "Memset (%s)", record_memory_word(op->to_kind));
	return names_put_text(name);
}

static void take_gpu_op(const struct record_gpu_op *op)
{
	int64_t start, end;
	if (!times_of(op->start_ns, op->end_ns, &start, &end))
		return;
	const bool is_kernel = op->op == RECORD_KERNEL;
	int64_t size[7];
	for (int axis = 0; axis < 3; axis++) {
		size[axis] = is_kernel ? op->grid[axis] : FILE_NULL;
		size[3 + axis] = is_kernel ? op->block[axis] : FILE_NULL;
	}
	size[6] = is_kernel ? op->shared_bytes : FILE_NULL;
	places_know_context(op->context, op->device);
	const uint32_t row =
		FILE_ADD(FILE_GPU_OP, start, end, is_kernel ? FILE_NULL : (int64_t)op->bytes,
			op->graph_node ? (int64_t)op->graph_node : FILE_NULL,
			places_stream(op->context, op->stream), name_of(op),
			op->correlation ? op->correlation : FILE_NULL, FILE_NULL, size[0], size[1],
			size[2], size[3], size[4], size[5], size[6], op->op);
	links_gpu_op(op->correlation, row);
	if (own_device == UINT32_MAX)
		own_device = op->device;
}

static void take_call(const struct record_call *call)
{
	int64_t start, end;
	if (!times_of(call->start_ns, call->end_ns, &start, &end))
		return;
	const uint32_t row = FILE_ADD(FILE_API_CALL, start, end, places_thread(call->thread),
		names_put_shown(wanted_calls[call->call].name),
		call->correlation ? call->correlation : FILE_NULL, (int32_t)call->result);
	links_call(call->correlation, row);
}

static void take_memory(const struct record_memory *memory)
{
	const uint32_t device = memory->device < MAX_DEVICES ? memory->device : MAX_DEVICES - 1;
	int64_t at, end;
	uint64_t bytes = memory->bytes;
	if (!times_of(memory->at_ns, memory->at_ns, &at, &end))
		return;
	if (!memory->is_release) {
		if (live_count < LIVE_MAX) {
			live[live_count].address = memory->address;
			live[live_count].device = device;
			live[live_count++].bytes = bytes;
		}
		reserved_bytes[device] += (int64_t)bytes;
	} else {
		uint32_t l = 0;
		while (l < live_count &&
			(live[l].address != memory->address || live[l].device != device))
			l++;
		if (l < live_count) {
			bytes = live[l].bytes;
			live[l] = live[--live_count];
			reserved_bytes[device] -= (int64_t)bytes;
		}
	}
	FILE_ADD(FILE_MEMORY, at, (int64_t)memory->address,
		memory->is_release ? -(int64_t)bytes : (int64_t)bytes, FILE_NULL,
		reserved_bytes[device], memory->device);
}

static void take_overhead(const struct record_overhead *overhead)
{
	const char *word = record_overhead_word(overhead->kind);
	if (overhead->end_ns <= overhead->start_ns || overhead->start_ns == 0)
		return;
	for (uint32_t k = 0; k < OVERHEAD_KINDS; k++)
		if (!overheads[k].word || overheads[k].word == word) {
			overheads[k].word = word;
			overheads[k].ns += (int64_t)(overhead->end_ns - overhead->start_ns);
			return;
		}
}

static void take_device(const struct record_device *device)
{
	if (device->device >= MAX_DEVICES)
		return;
	devices[device->device].memory_bytes = device->memory_bytes;
	snprintf(devices[device->device].name, sizeof devices[device->device].name, "%s",
		device->name ? device->name : "");
}

void rows_take_record(const struct record *record)
{
	switch (record->kind) {
	case RECORD_GPU_OP:
		take_gpu_op(&record->gpu_op);
		break;
	case RECORD_CALL:
		take_call(&record->call);
		break;
	case RECORD_SYNC:
		links_sync(&record->sync);
		break;
	case RECORD_EVENT:
		links_event(&record->event);
		break;
	case RECORD_EXTERNAL:
		links_external(&record->external);
		break;
	case RECORD_OVERHEAD:
		take_overhead(&record->overhead);
		break;
	case RECORD_MEMORY:
		take_memory(&record->memory);
		break;
	case RECORD_DEVICE:
		take_device(&record->device);
		break;
	case RECORD_CONTEXT:
		places_know_context(record->context.context, record->context.device);
		break;
	}
}

static int64_t known(uint64_t value)
{
	return value > INT64_MAX ? FILE_NULL : (int64_t)value;
}

void rows_take_collective(const struct note *note)
{
	const struct note_collective *c = &note->collective;
	char communicator[NOTE_TEXT_MAX + 32];
	/* The name alone may be shared by groups; the hash is the same on all ranks. */
	if (c->communicator)
		snprintf(communicator, sizeof communicator, "%s%s%016llx", note->text,
			note->text[0] ? " " : "", (unsigned long long)c->communicator);
	else
		snprintf(communicator, sizeof communicator, "%s", note->text);
	const uint32_t row = FILE_ADD(FILE_COLLECTIVE, known(c->sequence), known(c->send_bytes),
		known(c->recv_bytes), FILE_NULL, names_put_text(communicator),
		names_put(c->dtype, strnlen(c->dtype, sizeof c->dtype)),
		names_put(c->algorithm, strnlen(c->algorithm, sizeof c->algorithm)),
		names_put(c->protocol, strnlen(c->protocol, sizeof c->protocol)),
		c->rank_count < 0 ? FILE_NULL : c->rank_count, c->kind);
	links_collective(c->external_id, row);
	counts.collectives++;
}

void rows_write_facts(void)
{
	if (own_device < MAX_DEVICES && devices[own_device].name[0] && told_device != own_device) {
		file_set_text("gpu", devices[own_device].name);
		file_set_number("gpu_memory_bytes", (int64_t)devices[own_device].memory_bytes);
		told_device = own_device;
	}
	for (uint32_t k = 0; k < OVERHEAD_KINDS && overheads[k].word; k++) {
		char key[64];
		snprintf(key, sizeof key, "overhead_%s_ns", overheads[k].word);
		file_set_number(key, overheads[k].ns);
	}
}
