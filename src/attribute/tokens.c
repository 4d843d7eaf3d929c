/* Tokens of a step, by the shapes of its embeddings and losses. */
#include <string.h>

#include "attribute/dims.h"
#include "attribute/shapes.h"

enum token_source {
	TOKENS_NONE,
	TOKENS_EMBEDDING,
	TOKENS_LOSS
};

static enum token_source source_of(const char *name)
{
	if (strcmp(name, "aten::embedding") == 0)
		return TOKENS_EMBEDDING;
	if (strncmp(name, "aten::nll_loss", 14) == 0 && !strstr(name, "backward") &&
		(strcmp(name, "aten::nll_loss_forward") == 0 ||
			strcmp(name, "aten::nll_loss2d_forward") == 0))
		return TOKENS_LOSS;
	return TOKENS_NONE;
}

/* The step whose forward the op is in; NULL_U32 for backward threads and outside of used steps. */
static uint32_t forward_step(const struct rank_analysis *rank, const bool *used, uint32_t op)
{
	const struct host_op_table *ops = &rank->trace->host_ops;
	const struct host_steps *steps = &rank->phases.steps;
	if (!steps->count)
		return NULL_U32;
	if (steps->thread_id != NULL_U32 && ops->thread_id[op] != steps->thread_id)
		return NULL_U32; /* an embedding that is recomputed runs on a backward thread */
	const uint32_t step = host_steps_at(steps, ops->start_ns[op]);
	return step != NULL_U32 && used[step] ? step : NULL_U32;
}

/* What the recorder's hook saw; values of a step stand between its borders. */
static bool take_marked(const struct rank_analysis *rank, const bool *used, struct token_count *ret)
{
	const struct trace *trace = rank->trace;
	for (uint32_t i = 0; i < trace->markers.head.count; i++) {
		const char *name = intern_text(&trace->strings, trace->markers.name_id[i]);
		const int64_t value = trace->markers.value[i];
		const uint32_t step =
			host_steps_at(&rank->phases.steps, trace->markers.start_ns[i]);
		if (trace->markers.kind[i] != MARKER_OTHER || value == NULL_I64 ||
			step == NULL_U32 || !used[step])
			continue;
		if (strcmp(name, "tokens") == 0)
			ret->tokens = value;
		else if (strcmp(name, "micro_batch") == 0)
			ret->micro_batch = value;
		else if (strcmp(name, "sequence_length") == 0)
			ret->sequence_length = value;
	}
	ret->is_marked = ret->tokens != NULL_I64;
	return ret->is_marked;
}

bool tokens_count(const struct rank_analysis *rank, const bool *used, struct token_count *ret,
	struct err *err)
{
	(void)err;
	const struct trace *trace = rank->trace;
	int64_t embedded = 0, lost = 0, largest = 0, steps_used = 0;
	*ret = (struct token_count){NULL_I64, NULL_I64, NULL_I64, false};
	if (take_marked(rank, used, ret))
		return true;
	for (uint32_t s = 0; s < rank->phases.steps.count; s++)
		steps_used += used[s];
	for (uint32_t i = 0; i < trace->host_ops.head.count; i++) {
		if (!trace->host_ops.shapes_id[i])
			continue;
		const enum token_source source =
			source_of(intern_text(&trace->strings, trace->host_ops.name_id[i]));
		if (source == TOKENS_NONE || forward_step(rank, used, i) == NULL_U32)
			continue;
		struct dims dims;
		if (!dims_read(intern_text(&trace->strings, trace->host_ops.shapes_id[i]), &dims))
			continue;
		const int64_t elements = dims_elements(&dims, 1);
		if (source == TOKENS_LOSS) {
			lost += elements;
			continue;
		}
		/* Of several embeddings the one with the most rows holds the vocabulary. */
		const int64_t rows = dims.rank[0] ? dims.size[0][0] : 0;
		if (rows > largest) {
			largest = rows;
			embedded = 0;
			ret->micro_batch = ret->sequence_length = NULL_I64;
		}
		if (rows < largest)
			continue;
		embedded += elements;
		if (dims.rank[1] == 2) {
			ret->micro_batch = dims.size[1][0];
			ret->sequence_length = dims.size[1][1];
		}
	}
	const int64_t total = embedded ? embedded : lost;
	if (total && steps_used)
		ret->tokens = total / steps_used;
	return true;
}
