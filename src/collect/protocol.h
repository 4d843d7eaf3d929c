/*
 * What `inquest record`, the Python hook and the collector say to each other.
 *
 * The parent sets environment variables; the collector inside each training process reads them
 * once. The hook and include/inquest/mark.h speak to the collector through NVTX, in the default
 * domain, with texts that begin with "inquest:" (a plain NVTX viewer shows them as ranges):
 *
 * Push/pop ranges, on the thread that does the work:
 *
 * - inquest:step:N: optimizer step N, from the end of the step before
 * - inquest:forward: a forward pass (one a micro-batch)
 * - inquest:backward: a backward call, on the thread that called it
 * - inquest:optimizer: optimizer.step
 * - inquest:checkpoint:R:NAME: the forward of checkpoint region R (a number; NAME may be empty)
 * - inquest:recompute:R:NAME: its recomputation
 * - any other text, e.g. "FSDP::all_gather (layers.3)": a range of the framework, kept as it is
 *
 * Marks:
 *
 * - inquest:value:NAME:NUMBER: a number of the step at hand: peak_allocated_bytes,
 *   peak_reserved_bytes, alloc_retries, tokens (one rank's), micro_batch, sequence_length,
 *   forward_flop, recompute_flop, backward_flop, flop_counted (1 in the step whose FLOPs were
 *   counted: slower)
 *
 * In the file: markers become rows of `marker` (kind by enum marker_kind, region, name, value), and
 * every push/pop range, markers too, becomes a row of `host_op` with kind annotation, so that the
 * analyzer walks one stack; there N and R are left out, since texts with numbers never end.  Values
 * become `marker` rows of kind other with name and value.
 */
#pragma once

/* Folder for the files, absolute.  One file a rank: rank<R>.inq, in WAL mode while it grows. */
#define INQUEST_ENV_DIR "INQUEST_RECORD_DIR"
/* Windows of steps "A:B,C:D": steps A <= n < B are recorded; unset: all. */
#define INQUEST_ENV_STEPS "INQUEST_RECORD_STEPS"
/* Seconds after the first CUDA call to begin at, and for how long; unset: at once, for ever. */
#define INQUEST_ENV_AFTER "INQUEST_RECORD_AFTER"
#define INQUEST_ENV_FOR	  "INQUEST_RECORD_FOR"
/* The pid of the `inquest record` parent; a collector without it stays inert. */
#define INQUEST_ENV_PARENT "INQUEST_RECORD_PARENT"
/* The collector's own path, so that the hook and the collector can find it. */
#define INQUEST_ENV_COLLECTOR "INQUEST_RECORD_COLLECTOR"
/* Set: the hook counts no FLOPs. */
#define INQUEST_ENV_NO_FLOPS "INQUEST_RECORD_NO_FLOPS"
/* For tests: the libcupti to load instead of the system's. */
#define INQUEST_ENV_CUPTI "INQUEST_RECORD_CUPTI"

#define INQUEST_MARK_PREFIX "inquest:"

/* The rank is the first of these that is set; a process with none of them is recorded as pid<P>.inq
 * when it launches a kernel. */
#define INQUEST_RANK_ENVS                                                  \
	{                                                                  \
		"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK" \
	}
#define INQUEST_WORLD_ENVS                                                       \
	{                                                                        \
		"WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE" \
	}
