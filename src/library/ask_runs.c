/* The questions about single runs: breakdown, gathers, info. */
#include "base/mem.h"
#include "base/table.h"
#include "library/load.h"
#include "render/json_reports.h"
#include "render/reports.h"

/* The added runs broken down; `ret_runs` gets them and pointers to them. */
struct broken_runs {
	struct breakdown *items;
	const struct breakdown **pointers;
	uint32_t count;
};

static bool break_runs(struct inquest *inquest, struct broken_runs *ret)
{
	struct rules *rules = NULL;
	if (!inquest->added_count)
		return err_set(&inquest->err, ERR_USAGE, "no run is given");
	ret->items = mem_new(inquest->added_count, sizeof *ret->items, &inquest->err);
	if (ret->items)
		ret->pointers = mem_new(inquest->added_count, sizeof *ret->pointers, &inquest->err);
	if (ret->pointers)
		rules = load_rules(inquest);
	for (uint32_t i = 0; rules && i < inquest->added_count; i++) {
		if (!load_path(inquest, rules, inquest->added[i], inquest->added_tokens,
			    &ret->items[i], NULL))
			break;
		ret->pointers[i] = &ret->items[i];
		ret->count++;
	}
	rules_free(rules);
	return ret->count == inquest->added_count;
}

static void broken_runs_done(struct broken_runs *runs)
{
	for (uint32_t i = 0; i < runs->count; i++)
		breakdown_done(&runs->items[i]);
	mem_free(runs->items);
	mem_free(runs->pointers);
}

enum inquest_status inquest_breakdown(
	struct inquest *inquest, enum inquest_format format, bool has_steps)
{
	struct broken_runs runs = {0};
	struct report report = {0};
	handle_reset(inquest);
	if (break_runs(inquest, &runs)) {
		if (format == INQUEST_JSON) {
			inquest->bytes = json_breakdown(runs.pointers, runs.count, &inquest->err);
		} else {
			report_breakdown(&report, runs.pointers, runs.count, has_steps);
			handle_print(inquest, &report, format);
		}
	}
	broken_runs_done(&runs);
	return handle_status(inquest);
}

enum inquest_status inquest_gathers(struct inquest *inquest, enum inquest_format format)
{
	struct broken_runs runs = {0};
	struct report report = {0};
	handle_reset(inquest);
	if (break_runs(inquest, &runs)) {
		if (format == INQUEST_JSON) {
			inquest->bytes = json_gathers(runs.pointers, runs.count, &inquest->err);
		} else {
			report_gathers(&report, runs.pointers, runs.count);
			handle_print(inquest, &report, format);
		}
	}
	broken_runs_done(&runs);
	return handle_status(inquest);
}

/* A run without GPU ops can't be broken down, and is listed all the same. */
static bool add_to_inventory(struct inquest *inquest, const struct rules *rules, const char *path,
	struct inventory *inventory)
{
	struct run run;
	struct breakdown breakdown;
	const struct load_options options = {.tokens = NULL_I64};
	if (!load_run(inquest, path, &run))
		return false;
	const bool is_broken_down = load_breakdown(inquest, rules, &run, &options, &breakdown);
	if (!is_broken_down && inquest->err.code == ERR_INPUT)
		inquest->err = (struct err){0};
	if (inquest->err.code == ERR_NONE)
		inventory_add(inventory, &run, is_broken_down ? &breakdown : NULL, &inquest->err);
	if (is_broken_down)
		breakdown_done(&breakdown);
	run_done(&run);
	return inquest->err.code == ERR_NONE;
}

enum inquest_status inquest_info(struct inquest *inquest, enum inquest_format format)
{
	struct inventory inventory = {0};
	struct report report = {0};
	bool ok = true;
	handle_reset(inquest);
	if (!inquest->added_count)
		err_set(&inquest->err, ERR_USAGE, "no run is given");
	struct rules *rules = inquest->err.code == ERR_NONE ? load_rules(inquest) : NULL;
	ok = rules != NULL;
	for (uint32_t i = 0; ok && i < inquest->added_count; i++)
		ok = add_to_inventory(inquest, rules, inquest->added[i], &inventory);
	if (ok && format == INQUEST_JSON) {
		inquest->bytes = json_info(&inventory, &inquest->err);
	} else if (ok) {
		report_info(&report, &inventory);
		handle_print(inquest, &report, format);
	}
	inventory_done(&inventory);
	rules_free(rules);
	return handle_status(inquest);
}
