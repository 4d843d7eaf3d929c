/*
 * Dirt in the data, counted by kind with the first place it was seen.  It never stops a reading
 * that can go on, and it is always shown: an honest tool says what it did not see.
 */
#pragma once

#include <stdint.h>

enum severity {
	SEVERITY_INFO,	    /* worth knowing; no number depends on it */
	SEVERITY_DATA_LOSS, /* something that happened is not in the numbers */
	SEVERITY_ERROR,	    /* something is wrong with the input; numbers may be off */
};

/* X(NAME, word, severity, meaning) */
#define DIAG_KINDS(X)                                                                              \
	X(TRUNCATED, "truncated", DATA_LOSS,                                                       \
		"the file ends before its data does; every whole event was kept")                  \
	X(BAD_EVENT, "bad_event", DATA_LOSS, "an event that is no well-formed JSON was skipped")   \
	X(BAD_FIELD, "bad_field", DATA_LOSS,                                                       \
		"an event lacks a field it needs, or holds one of the wrong kind, and was left "   \
		"out")                                                                             \
	X(BAD_TEXT, "bad_text", INFO,                                                              \
		"a text held bytes that are not UTF-8, or unescaped control bytes")                \
	X(BAD_QUOTE, "bad_quote", INFO, "an unescaped quote inside a text was repaired")           \
	X(STRAY_COMMA, "stray_comma", INFO, "a comma with nothing after it was ignored")           \
	X(BAD_METADATA, "bad_metadata", INFO,                                                      \
		"a part of the file outside its events is no well-formed JSON and was skipped")    \
	X(BIG_NUMBER, "big_number", INFO, "an integer does not fit 64 bits and was left out")      \
	X(NOT_FINITE, "not_finite", INFO, "a bare nan or inf stands where a number belongs")       \
	X(NEGATIVE_DURATION, "negative_duration", DATA_LOSS,                                       \
		"an event ends before it starts; it was given no length")                          \
	X(UNFINISHED_EVENT, "unfinished_event", INFO,                                              \
		"a host event was still open at the end of the recording")                         \
	X(UNKNOWN_CATEGORY, "unknown_category", INFO,                                              \
		"events of a category this program does not know")                                 \
	X(DUPLICATE_KEY, "duplicate_key", INFO,                                                    \
		"a key stands twice in one object; the last one counts")                           \
	X(DUPLICATE_CORRELATION, "duplicate_correlation", INFO,                                    \
		"two launch calls share a correlation id; the one nearest before the GPU op was "  \
		"taken")                                                                           \
	X(NO_LAUNCH, "no_launch", INFO, "GPU ops without a record of the call that launched them") \
	X(LAUNCH_AFTER_START, "launch_after_start", ERROR,                                         \
		"GPU ops that start before their launch call does: the clocks disagree")           \
	X(STREAM_OVERLAP, "stream_overlap", INFO, "GPU ops of one stream overlap")                 \
	X(CROSSING_RANGES, "crossing_ranges", INFO,                                                \
		"host ranges of one thread cross instead of nesting")                              \
	X(BAD_WAIT, "bad_wait", INFO, "a stream wait names an event record that is not there")     \
	X(GPU_STOPPED_EARLY, "gpu_stopped_early", DATA_LOSS,                                       \
		"host events go on long after the last GPU op: GPU collection stopped early")      \
	X(NO_COLLECTIVE_ARGS, "no_collective_args", INFO,                                          \
		"collectives without sizes or a process group in their arguments")                 \
	X(NO_RANK, "no_rank", INFO,                                                                \
		"the file does not say its rank; it was taken from the name or the order")         \
	X(NO_SHAPES, "no_shapes", INFO, "no shapes were recorded: tokens and FLOPs are unknown")   \
	X(NO_MEMORY, "no_memory", INFO,                                                            \
		"no memory events were recorded: peak allocated is unknown")                       \
	X(NO_STEPS, "no_steps", INFO,                                                              \
		"no step markers; steps were inferred otherwise, or not at all")                   \
	X(NO_GPU_OPS, "no_gpu_ops", DATA_LOSS, "no GPU op is in the trace")                        \
	X(MISSING_RANK, "missing_rank", DATA_LOSS, "the run has more ranks than trace files")      \
	X(UNRELATED_FILE, "unrelated_file", INFO,                                                  \
		"a file in the directory is no trace and was left out")                            \
	X(COLLECTIVE_OVERLAP, "collective_overlap", ERROR,                                         \
		"two collectives of one communicator overlap, which NCCL does not do")             \
	X(UNMATCHED_COLLECTIVE, "unmatched_collective", ERROR,                                     \
		"collectives that the ranks do not agree on, in number or in bytes")               \
	X(COMPILED_REGION, "compiled_region", INFO,                                                \
		"GPU ops of compiled regions in backward: recomputation can't be told there")      \
	X(OPEN_WINDOW, "open_window", INFO, "a step whose start is not in the trace was left out") \
	X(WARMUP_LEFT_OUT, "warmup_left_out", INFO,                                                \
		"the first recorded step of a launch-bound run was left out")                      \
	X(LAUNCH_BOUND, "launch_bound", INFO,                                                      \
		"more than a tenth of the step waits for the host: the profiler's own cost is in " \
		"the times")                                                                       \
	X(UNKNOWN_GATHER, "unknown_gather", INFO,                                                  \
		"gathers whose unit or reason could not be told")                                  \
	X(UNCOUNTED_GATHERS, "uncounted_gathers", INFO,                                            \
		"gathers that show as copies or fused kernels can't be counted")                   \
	X(DROPPED_RECORDS, "dropped_records", DATA_LOSS,                                           \
		"records that the recorder itself dropped")                                        \
	X(NO_CUPTI, "no_cupti", DATA_LOSS,                                                         \
		"the recorder got no libcupti, or another tool held it: no GPU op is in the file") \
	X(RECORDER_STOPPED, "recorder_stopped", DATA_LOSS,                                         \
		"the recorder gave up before the program ended")                                   \
	X(RECORDING_CUT, "recording_cut", DATA_LOSS,                                               \
		"the recorder did not come to its end: the process was killed, or did not wait "   \
		"for it; what came last may be missing")                                           \
	X(EXTRA_SCHEMA, "extra_schema", INFO, "tables or columns that this program does not read") \
	X(CLOCK_SKEW, "clock_skew", INFO,                                                          \
		"the ranks' clocks differ and were related by collective ends")                    \
	X(OTHER_RANK, "other_rank", ERROR,                                                         \
		"the run has no rank in common with base: two ranks may have different work")

enum diag_kind {
#define X(name, word, severity, meaning) DIAG_##name,
	DIAG_KINDS(X)
#undef X
	DIAG_KIND_COUNT
};

struct diag_row {
	int64_t count;
	int64_t first_byte; /* in the uncompressed file; -1 where a byte means nothing */
};

/* The counts of one trace (or of one comparison).  {0} is empty. */
struct diag {
	struct diag_row row[DIAG_KIND_COUNT];
};

void diag_add(struct diag *diag, enum diag_kind kind, int64_t count, int64_t first_byte);

/* The same, once for the thing, whatever it was before: for states rather than events. */
void diag_set(struct diag *diag, enum diag_kind kind, int64_t count);

const char *diag_word(enum diag_kind kind);
const char *diag_meaning(enum diag_kind kind);
enum severity diag_severity(enum diag_kind kind);
const char *severity_word(enum severity severity);
