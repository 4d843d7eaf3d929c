/*
 * The collector's state in this process: off, inert, or recording.  Everything here may be called
 * from the training's threads at any time; nothing of it exits, prints on stdout, or holds a lock
 * across a callback.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Starts once; later calls do nothing.  Called from NVTX's entry points, which a process without
 * CUDA reaches too: takes notes, with neither a thread nor a file.  Without INQUEST_RECORD_PARENT
 * in the environment, or in the child of a fork, stays inert. */
void collector_start(void);

/* The same from the entry points that only a process with CUDA reaches, CUDA's and NCCL's: loads
 * CUPTI and starts the writer. */
void collector_start_cuda(void);

/* Whether notes are wanted now: recording, and inside a window of steps. */
bool collector_is_recording(void);

/* "inquest:step:N" was pushed: opens and closes windows of steps.  To be called before the push
 * itself is noted, so that a window holds its first step's push and not the next one's. */
void collector_note_step(int64_t step);

/* Turns the collector off for good and writes the reason into the file, as a diagnostic. */
void collector_give_up(const char *reason);

/* CUPTI's external correlation around an NCCL launch, by the thread that launches; no-ops without
 * CUPTI. The id pushed, 0 if none was. */
uint64_t collector_push_launch(void);
void collector_pop_launch(void);
