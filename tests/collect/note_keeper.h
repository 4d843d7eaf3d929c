/*
 * Stands in for the collector behind NVTX and NCCL: keeps their notes in memory, where a test can
 * look at them, and records or not as the test says.  It lies in the shared object under test, and
 * the test finds it there under the name `note_keeper`.
 */
#pragma once

#include "collect/collector.h"
#include "collect/notes.h"

struct note_keeper {
	void (*clear)(void); /* forgets the notes and counts, records, takes notes */
	void (*record)(bool is_recording);
	void (*refuse)(bool is_full); /* as a full ring does */
	size_t (*count)(void);
	const struct note *(*at)(size_t index);
	int64_t (*step)(void);		   /* the last step told, -1 if none was */
	int (*starts)(void);		   /* calls of collector_start */
	int (*cuda_starts)(void);	   /* calls of collector_start_cuda */
	uint64_t (*pushed_id)(void);	   /* the calling thread's correlation id, 0 if none */
	int (*depth)(void);		   /* pushes without a pop, over all threads */
	uint64_t (*ranges_left_out)(void); /* nvtx.h's count */
};
