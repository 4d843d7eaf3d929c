/* The documents about single runs: info, import, breakdown, gathers. */
#include <math.h>

#include "base/table.h"
#include "render/json_build.h"
#include "render/json_reports.h"

static void put_int(struct json_build *build, json_t *object, const char *key, int64_t value)
{
	json_build_put(build, object, key, json_build_int(value));
}

static json_t *has_json(struct json_build *build, const struct trace_has *has)
{
	json_t *out = json_build_object(build);
	json_build_put(build, out, "shapes", json_boolean(has->shapes));
	json_build_put(build, out, "memory", json_boolean(has->memory));
	json_build_put(build, out, "stacks", json_boolean(has->stacks));
	json_build_put(build, out, "sync_edges", json_boolean(has->sync_edges));
	json_build_put(build, out, "nccl", json_boolean(has->nccl));
	return out;
}

static json_t *inventory_rank_json(struct json_build *build, const struct inventory_rank *rank)
{
	json_t *out = json_build_object(build);
	json_build_put(build, out, "rank", json_build_int32(rank->rank));
	json_build_word(build, out, "file", rank->file);
	json_build_word(build, out, "source", inventory_source_word(rank->source));
	json_build_word(build, out, "gpu", rank->gpu[0] ? rank->gpu : "unknown");
	put_int(build, out, "events", rank->event_count);
	put_int(build, out, "gpu_ops", rank->gpu_op_count);
	put_int(build, out, "steps", rank->step_count);
	json_build_put(build, out, "has", has_json(build, &rank->has));
	return out;
}

char *json_info(const struct inventory *inventory, struct err *err)
{
	struct json_build build = {0};
	json_t *root = json_build_object(&build), *runs = json_build_array(&build);
	json_build_word(&build, root, "schema", "inquest.info/1");
	for (uint32_t i = 0; i < inventory->run_count; i++) {
		const struct inventory_run *run = &inventory->runs[i];
		json_t *item = json_build_object(&build), *ranks = json_build_array(&build);
		json_build_word(&build, item, "name", run->name);
		json_build_put(&build, item, "world_size", json_build_int32(run->world_size));
		for (uint32_t k = 0; k < run->rank_count; k++)
			json_build_push(&build, ranks, inventory_rank_json(&build, &run->ranks[k]));
		json_build_put(&build, item, "ranks", ranks);
		json_build_push(&build, runs, item);
	}
	json_build_put(&build, root, "runs", runs);
	json_build_put(
		&build, root, "diagnostics", json_build_findings(&build, &inventory->findings));
	return json_build_print(&build, root, err);
}

char *json_import(const struct kept *kept, struct err *err)
{
	struct json_build build = {0};
	json_t *root = json_build_object(&build), *files = json_build_array(&build);
	json_build_word(&build, root, "schema", "inquest.import/1");
	for (uint32_t i = 0; i < kept->count; i++) {
		json_t *item = json_build_object(&build);
		json_build_put(&build, item, "rank", json_build_int32(kept->files[i].rank));
		json_build_word(&build, item, "file", kept->files[i].path);
		put_int(&build, item, "bytes", kept->files[i].bytes);
		json_build_push(&build, files, item);
	}
	json_build_put(&build, root, "files", files);
	json_build_put(&build, root, "diagnostics", json_build_findings(&build, &kept->findings));
	return json_build_print(&build, root, err);
}

static json_t *part_json(struct json_build *build, const struct part *part)
{
	json_t *out = json_build_object(build);
	json_build_word(build, out, "state", state_word((enum state)part->state));
	if (part->phase != WORD_NONE)
		json_build_word(build, out, "phase", phase_word((enum phase)part->phase));
	if (part->on != WORD_NONE)
		json_build_word(build, out, "on", holder_word((enum holder)part->on));
	if (part->wait_for != WORD_NONE)
		json_build_word(build, out, "for", holder_word((enum holder)part->wait_for));
	if (part->reason != WORD_NONE)
		json_build_word(build, out, "reason",
			part->state == STATE_STARVED
				? starve_word((enum starve_reason)part->reason)
				: gather_word((enum gather_reason)part->reason));
	if (part->rank != NULL_I32)
		json_build_put(build, out, "rank", json_integer(part->rank));
	if (part->how != WORD_NONE)
		json_build_word(build, out, "how", how_word((enum how)part->how));
	json_build_put(build, out, "ns", json_integer(part->ns));
	return out;
}

static json_t *parts_json(struct json_build *build, const struct part_list *parts)
{
	json_t *out = json_build_array(build);
	for (uint32_t i = 0; i < parts->count; i++)
		json_build_push(build, out, part_json(build, &parts->items[i]));
	return out;
}

static json_t *steps_json(struct json_build *build, const struct rank_result *rank)
{
	json_t *out = json_build_array(build);
	for (uint32_t i = 0; i < rank->step_count; i++) {
		const struct step_part *step = &rank->steps[i];
		json_t *item = json_build_object(build);
		json_build_word(build, item, "name", step->name);
		json_build_put(build, item, "closed", json_boolean(step->closed));
		json_build_put(build, item, "used", json_boolean(step->used));
		put_int(build, item, "wall_ns", step->wall_ns);
		json_build_put(build, item, "parts", parts_json(build, &step->parts));
		json_build_push(build, out, item);
	}
	return out;
}

static json_t *gathers_json(struct json_build *build, const struct rank_result *rank)
{
	json_t *out = json_build_array(build);
	for (uint32_t i = 0; i < rank->gather_count; i++) {
		const struct gather_row *row = &rank->gathers[i];
		json_t *item = json_build_object(build);
		json_build_word(build, item, "unit", row->unit);
		json_build_word(build, item, "reason", gather_word(row->reason));
		json_build_word(build, item, "how", how_word(row->how));
		json_build_put(build, item, "prefetched", json_boolean(row->prefetched));
		put_int(build, item, "count", row->count);
		put_int(build, item, "bytes", row->bytes);
		put_int(build, item, "kernel_ns", row->kernel_ns);
		put_int(build, item, "blocked_ns", row->blocked_ns);
		put_int(build, item, "peer_wait_ns", row->peer_wait_ns);
		put_int(build, item, "queued_behind_ns", row->queued_behind_ns);
		json_build_push(build, out, item);
	}
	return out;
}

static json_t *memory_json(struct json_build *build, const struct memory_use *memory)
{
	json_t *out = json_build_object(build);
	put_int(build, out, "peak_allocated_bytes", memory->peak_allocated_bytes);
	put_int(build, out, "peak_reserved_bytes", memory->peak_reserved_bytes);
	put_int(build, out, "alloc_retries", memory->alloc_retries);
	return out;
}

static json_t *flops_json(struct json_build *build, const struct flop_use *flops)
{
	json_t *out = json_build_object(build), *unknown = json_build_array(build);
	put_int(build, out, "forward_flop", flops->forward_flop);
	put_int(build, out, "recompute_flop", flops->recompute_flop);
	put_int(build, out, "backward_flop", flops->backward_flop);
	for (uint32_t i = 0; i < flops->unknown_op_count; i++) {
		json_t *item = json_build_object(build);
		json_build_word(build, item, "name", flops->unknown_ops[i].name);
		put_int(build, item, "count", flops->unknown_ops[i].count);
		json_build_push(build, unknown, item);
	}
	json_build_put(build, out, "unknown_ops", unknown);
	json_build_put(
		build, out, "achieved_flop_per_s", json_build_number(flops->achieved_flop_per_s));
	json_build_put(build, out, "mfu", json_build_number(flops->mfu));
	return out;
}

static json_t *path_json(struct json_build *build, const struct breakdown *run)
{
	json_t *out = json_build_object(build), *steps = json_build_array(build);
	for (uint32_t i = 0; i < run->path_count; i++) {
		const struct path_step *step = &run->path[i];
		json_t *item = json_build_object(build), *hops = json_build_array(build);
		json_build_word(build, item, "name", step->name);
		put_int(build, item, "wall_ns", step->wall_ns);
		json_build_put(build, item, "parts", parts_json(build, &step->parts));
		for (uint32_t k = 0; k < step->hop_count; k++) {
			json_t *hop = json_build_object(build);
			json_build_word(build, hop, "collective", step->hops[k].collective);
			json_build_put(
				build, hop, "from_rank", json_integer(step->hops[k].from_rank));
			json_build_put(build, hop, "to_rank", json_integer(step->hops[k].to_rank));
			put_int(build, hop, "ns", step->hops[k].ns);
			json_build_push(build, hops, hop);
		}
		json_build_put(build, item, "hops", hops);
		json_build_push(build, steps, item);
	}
	json_build_put(build, out, "steps", steps);
	return out;
}

static json_t *rank_json(
	struct json_build *build, const struct rank_result *rank, bool only_gathers)
{
	json_t *out = json_build_object(build);
	json_build_put(build, out, "rank", json_build_int32(rank->rank));
	put_int(build, out, "steps_used", rank->steps_used);
	if (!only_gathers)
		json_build_put(build, out, "steps", steps_json(build, rank));
	json_build_put(build, out, "gathers", gathers_json(build, rank));
	if (!only_gathers) {
		json_build_put(build, out, "memory", memory_json(build, &rank->memory));
		json_build_put(build, out, "flops", flops_json(build, &rank->flops));
	}
	return out;
}

static char *runs_json(const char *schema, const struct breakdown *const *runs, uint32_t run_count,
	bool only_gathers, struct err *err)
{
	struct json_build build = {0};
	struct findings findings = {0};
	json_t *root = json_build_object(&build), *array = json_build_array(&build);
	json_build_word(&build, root, "schema", schema);
	for (uint32_t i = 0; i < run_count; i++) {
		const struct breakdown *run = runs[i];
		json_t *item = json_build_object(&build), *ranks = json_build_array(&build);
		json_build_word(&build, item, "name", run->name);
		if (!only_gathers) {
			put_int(&build, item, "tokens_per_step", run->tokens_per_step);
			json_build_word(&build, item, "tokens_how", run->tokens_how);
		}
		for (uint32_t k = 0; k < run->rank_count; k++)
			json_build_push(
				&build, ranks, rank_json(&build, &run->ranks[k], only_gathers));
		json_build_put(&build, item, "ranks", ranks);
		if (!only_gathers)
			json_build_put(&build, item, "path", path_json(&build, run));
		json_build_push(&build, array, item);
		findings_add_run(&findings, &run->diag, run->diag_file);
	}
	json_build_put(&build, root, "runs", array);
	json_build_put(&build, root, "diagnostics", json_build_findings(&build, &findings));
	return json_build_print(&build, root, err);
}

char *json_breakdown(const struct breakdown *const *runs, uint32_t run_count, struct err *err)
{
	return runs_json("inquest.breakdown/1", runs, run_count, false, err);
}

char *json_gathers(const struct breakdown *const *runs, uint32_t run_count, struct err *err)
{
	return runs_json("inquest.gathers/1", runs, run_count, true, err);
}
