#include "render/results_sql.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attribute/intervals.h"
#include "store/meta_sql.h"

/* One bound value; `is_null` for the sentinels of breakdown.h. */
struct value {
	int64_t number;
	bool is_null;
};

static struct value number_of(int64_t number)
{
	return (struct value){number, number == NULL_I64};
}

static struct value id_of(uint32_t id)
{
	return (struct value){id, id == NULL_U32};
}

static struct value word_of(uint8_t word)
{
	return (struct value){word, word == WORD_NONE};
}

static bool insert_values(
	sqlite3_stmt *insert, const struct value *values, int count, struct err *err)
{
	for (int i = 0; i < count; i++) {
		const int result = values[i].is_null
					   ? sqlite3_bind_null(insert, i + 1)
					   : sqlite3_bind_int64(insert, i + 1, values[i].number);
		if (result != SQLITE_OK)
			return database_fail(sqlite3_db_handle(insert), "SQLite", err);
	}
	return database_insert(insert, err);
}

static bool bind_text(sqlite3_stmt *insert, int at, const char *text, struct err *err)
{
	return sqlite3_bind_text(insert, at, text, -1, SQLITE_STATIC) == SQLITE_OK ||
	       database_fail(sqlite3_db_handle(insert), "SQLite", err);
}

#define INSERT_VALUES(insert, err, ...)                              \
	insert_values((insert), (const struct value[]){__VA_ARGS__}, \
		(int)(sizeof((const struct value[]){__VA_ARGS__}) / sizeof(struct value)), (err))

static bool write_steps(sqlite3 *db, const struct rank_result *rank, struct err *err)
{
	sqlite3_stmt *insert;
	bool ok = database_prepare(db,
		"INSERT INTO step (id, start_ns, end_ns, closed, used, name)"
		" VALUES (?, ?, ?, ?, ?, ?)",
		&insert, err);
	for (uint32_t i = 0; ok && i < rank->step_count; i++) {
		const struct step_part *step = &rank->steps[i];
		ok = bind_text(insert, 6, step->name, err) &&
		     INSERT_VALUES(insert, err, id_of(i), number_of(step->start_ns),
			     number_of(step->start_ns + step->wall_ns), number_of(step->closed),
			     number_of(step->used));
	}
	sqlite3_finalize(insert);
	return ok;
}

static bool write_unit(sqlite3_stmt *insert, uint32_t id, const char *name, struct err *err)
{
	return bind_text(insert, 2, name, err) && INSERT_VALUES(insert, err, id_of(id));
}

/* The unit whose name a ledger row has: among the intervals' units, else among earlier rows. */
static uint32_t find_unit(const struct rank_result *rank, uint32_t row_count, const char *name)
{
	const uint32_t unit_count = rank->intervals ? rank->intervals->unit_count : 0;
	for (uint32_t i = 0; i < unit_count; i++)
		if (strcmp(rank->intervals->units[i], name) == 0)
			return i;
	for (uint32_t i = 0; i < row_count; i++)
		if (strcmp(rank->gathers[i].unit, name) == 0)
			return unit_count + i;
	return NULL_U32;
}

/* Units keep the numbers that intervals use; ones that only the ledger names come after, numbered
   by their first ledger row. */
static bool write_units(sqlite3 *db, const struct rank_result *rank, struct err *err)
{
	const uint32_t unit_count = rank->intervals ? rank->intervals->unit_count : 0;
	sqlite3_stmt *insert;
	bool ok = database_prepare(db, "INSERT INTO unit (id, name) VALUES (?, ?)", &insert, err);
	for (uint32_t i = 0; ok && i < unit_count; i++)
		ok = write_unit(insert, i, rank->intervals->units[i], err);
	for (uint32_t i = 0; ok && i < rank->gather_count; i++)
		if (find_unit(rank, i, rank->gathers[i].unit) == NULL_U32)
			ok = write_unit(insert, unit_count + i, rank->gathers[i].unit, err);
	sqlite3_finalize(insert);
	return ok;
}

static bool write_gathers(sqlite3 *db, const struct rank_result *rank, struct err *err)
{
	sqlite3_stmt *insert;
	bool ok = database_prepare(db,
		"INSERT INTO gather (id, unit_id, reason, how, prefetched, count, bytes, kernel_ns,"
		" blocked_ns, peer_wait_ns, queued_behind_ns)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		&insert, err);
	for (uint32_t i = 0; ok && i < rank->gather_count; i++) {
		const struct gather_row *row = &rank->gathers[i];
		ok = INSERT_VALUES(insert, err, id_of(i),
			id_of(find_unit(rank, rank->gather_count, row->unit)),
			number_of(row->reason), number_of(row->how), number_of(row->prefetched),
			number_of(row->count), number_of(row->bytes), number_of(row->kernel_ns),
			number_of(row->blocked_ns), number_of(row->peer_wait_ns),
			number_of(row->queued_behind_ns));
	}
	sqlite3_finalize(insert);
	return ok;
}

static bool write_gpu_ops(sqlite3 *db, const struct rank_intervals *intervals, struct err *err)
{
	sqlite3_stmt *insert;
	bool ok = database_prepare(db,
		"INSERT INTO gpu_op_phase (gpu_op_id, phase, how, step_id, unit_id)"
		" VALUES (?, ?, ?, ?, ?)",
		&insert, err);
	for (uint32_t i = 0; ok && i < intervals->gpu_op_count; i++)
		ok = INSERT_VALUES(insert, err, id_of(i), word_of(intervals->gpu_op_phase[i]),
			word_of(intervals->gpu_op_how[i]), id_of(intervals->gpu_op_step[i]),
			id_of(intervals->gpu_op_unit[i]));
	sqlite3_finalize(insert);
	return ok;
}

static bool write_parts(sqlite3 *db, const struct rank_intervals *intervals, struct err *err)
{
	sqlite3_stmt *insert;
	bool ok = database_prepare(db,
		"INSERT INTO part (id, step_id, start_ns, end_ns, state, phase, blocked_on,"
		" waits_for, gather_reason, starve_reason, how, gpu_op_id, unit_id, collective_id)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		&insert, err);
	for (uint32_t i = 0; ok && i < intervals->count; i++) {
		const struct interval *item = &intervals->items[i];
		/* One byte holds both enumerations of reasons; which one, the state tells. */
		const bool is_starved = item->state == STATE_STARVED;
		ok = INSERT_VALUES(insert, err, id_of(i), id_of(item->step),
			number_of(item->start_ns), number_of(item->end_ns), word_of(item->state),
			word_of(item->phase), word_of(item->on), word_of(item->wait_for),
			word_of(is_starved ? WORD_NONE : item->reason),
			word_of(is_starved ? item->reason : WORD_NONE), word_of(item->how),
			id_of(item->gpu_op_id), id_of(item->unit), id_of(item->gather));
	}
	sqlite3_finalize(insert);
	return ok;
}

static bool write_flops(sqlite3 *db, const struct flop_use *flops, struct err *err)
{
	const struct value null = {0, true};
	const struct {
		enum phase phase;
		int64_t flop;
	} rows[] = {
		{PHASE_FORWARD, flops->forward_flop},
		{PHASE_RECOMPUTE, flops->recompute_flop},
		{PHASE_BACKWARD, flops->backward_flop},
	};
	sqlite3_stmt *insert;
	bool ok = database_prepare(
		db, "INSERT INTO flop (phase, count, flop, op) VALUES (?, ?, ?, ?)", &insert, err);
	for (size_t i = 0; ok && i < sizeof rows / sizeof *rows; i++)
		ok = INSERT_VALUES(
			insert, err, number_of(rows[i].phase), null, number_of(rows[i].flop));
	for (uint32_t i = 0; ok && i < flops->unknown_op_count; i++)
		ok = bind_text(insert, 4, flops->unknown_ops[i].name, err) &&
		     INSERT_VALUES(insert, err, null, number_of(flops->unknown_ops[i].count), null);
	sqlite3_finalize(insert);
	return ok;
}

static bool put_real(struct meta_sql *meta, const char *key, double value, struct err *err)
{
	return isnan(value) ? meta_put_null(meta, key, err) : meta_put_real(meta, key, value, err);
}

static bool write_facts(
	struct meta_sql *meta, const struct rank_result *rank, uint64_t rules_hash, struct err *err)
{
	char rules[17];
	snprintf(rules, sizeof rules, "%016" PRIx64, rules_hash);
	const struct {
		const char *key;
		int64_t value;
	} facts[] = {
		{"steps_used", rank->steps_used},
		{"peak_allocated_bytes", rank->memory.peak_allocated_bytes},
		{"peak_reserved_bytes", rank->memory.peak_reserved_bytes},
		{"alloc_retries", rank->memory.alloc_retries},
		{"alloc_stall_ns", rank->memory.alloc_stall_ns},
	};
	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
		if (facts[i].value == NULL_I64
				? !meta_put_null(meta, facts[i].key, err)
				: !meta_put_integer(meta, facts[i].key, facts[i].value, err))
			return false;
	return meta_put_text(meta, "rules", rules, err) &&
	       meta_put_text(meta, "steps_how", rank->steps_how, err) &&
	       put_real(meta, "achieved_flop_per_s", rank->flops.achieved_flop_per_s, err) &&
	       put_real(meta, "mfu", rank->flops.mfu, err);
}

bool results_sql_write(
	sqlite3 *db, const struct rank_result *rank, uint64_t rules_hash, struct err *err)
{
	struct meta_sql meta;
	const bool ok =
		meta_write_begin(&meta, db, err) && write_facts(&meta, rank, rules_hash, err);
	meta_end(&meta);
	return ok && write_steps(db, rank, err) && write_units(db, rank, err) &&
	       write_gathers(db, rank, err) && write_flops(db, &rank->flops, err) &&
	       (!rank->intervals || (write_gpu_ops(db, rank->intervals, err) &&
					    write_parts(db, rank->intervals, err)));
}
