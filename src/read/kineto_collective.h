/*
 * Collectives of a Kineto trace: from the arguments of a NCCL kernel, else from those of the
 * record_param_comms op around its launch, else from the kernel's name alone.  Called by
 * kineto_rows.
 */
#pragma once

#include "read/kineto_rows.h"

/* The NCCL kernel in row `gpu_op`. */
bool rows_add_collective(struct kineto_rows *rows, const struct event *event, uint32_t gpu_op,
	uint32_t kernel_name_id, struct err *err);

/* Remembers what a record_param_comms op says. */
bool rows_note_comms(struct kineto_rows *rows, const struct event *event,
	const struct host_op_table_row *op, struct err *err);

/*
 * Gives collectives without arguments those of the op around their launch; `calls` maps
 * (correlation, 0) to api_call rows.
 */
void rows_complete_collectives(struct kineto_rows *rows, const struct key_map *calls);
