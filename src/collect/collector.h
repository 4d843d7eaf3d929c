/*
 * The collector's state in this process: off, inert, or recording.  Everything here may be called
 * from the training's threads at any time; nothing of it exits, prints on stdout, or holds a lock
 * across a callback.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Starts once; later calls do nothing.  Called from each entry point (CUDA, NVTX, NCCL), whichever
 * is first; without INQUEST_RECORD_PARENT in the environment, or in the child of a fork, stays
 * inert. */
void collector_start(void);

/* Whether notes are wanted now: recording, and inside a window of steps. */
bool collector_is_recording(void);

/* A text that begins with "inquest:" was pushed: opens and closes windows of steps. */
void collector_note_step(int64_t step);

/* Turns the collector off for good and writes the reason into the file, as a diagnostic. */
void collector_give_up(const char *reason);

/* CUPTI's external correlation around an NCCL launch, by the thread that launches; no-ops without
 * CUPTI. The id pushed, 0 if none was. */
uint64_t collector_push_launch(void);
void collector_pop_launch(void);
