/*
 * Does the work up to one stage on a file, or a run, and prints what it took: seconds, processor
 * seconds, peak memory in KiB.  A process a measurement, so that peaks are its own.  For bench.py.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "attribute/analysis.h"
#include "read/byte_window.h"
#include "read/json_scan.h"
#include "read/run.h"

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* All bytes through the window and nothing else. */
static void drain(struct byte_window *window)
{
	do
		window->at = window->end;
	while (byte_window_more(window));
}

/* Every value looked at strictly, and none kept. */
static bool walk(struct json_scan *scan)
{
	struct json_text text;
	struct decimal number;
	switch (json_peek(scan)) {
	case SCAN_OBJECT:
		for (json_enter_object(scan); json_next_key(scan, &text);)
			if (!walk(scan))
				return false;
		return !scan->problem;
	case SCAN_ARRAY:
		for (json_enter_array(scan); json_next_item(scan);)
			if (!walk(scan))
				return false;
		return !scan->problem;
	case SCAN_TEXT:
		return json_read_text(scan, &text);
	case SCAN_NUMBER:
		return json_read_number(scan, &number);
	default:
		return json_skip(scan);
	}
}

static bool measure_window(const char *stage, const char *path)
{
	struct byte_window window;
	struct json_scan scan;
	struct err err = {0};
	if (!byte_window_open(&window, path, 0, &err)) {
		fprintf(stderr, "%s: %s\n", path, err.msg);
		return false;
	}
	bool is_done = true;
	if (strcmp(stage, "bytes") == 0) {
		drain(&window);
	} else {
		json_scan_start(&scan, &window);
		is_done = strcmp(stage, "skip") == 0 ? json_skip(&scan) : walk(&scan);
	}
	byte_window_done(&window);
	return is_done;
}

/* The traces of a run, and with `is_whole` what a command would then print. */
static bool measure_run(const char *path, uint32_t thread_count, bool is_whole)
{
	struct run run = {0};
	struct err err = {0};
	struct breakdown breakdown = {0};
	const struct read_options options = {.thread_count = thread_count};
	const struct analysis_options analysis = {
		.tokens_per_step = NULL_I64, .thread_count = thread_count};
	struct rules *rules = is_whole ? rules_load(NULL, &err) : NULL;
	bool is_done = (rules || !is_whole) && run_read(path, &options, &run, &err);
	if (is_done && is_whole)
		is_done = breakdown_make(&run, rules, &analysis, &breakdown, &err);
	if (!is_done)
		fprintf(stderr, "%s\n", err.msg);
	breakdown_done(&breakdown);
	run_done(&run);
	rules_free(rules);
	return is_done;
}

/* Of this program alone: getrusage's peak begins with that of the process that forked it. */
static long peak_kib(void)
{
	char line[256];
	long peak = 0;
	FILE *status = fopen("/proc/self/status", "r");
	while (status && fgets(line, sizeof line, status))
		if (sscanf(line, "VmHWM: %ld", &peak) == 1)
			break;
	if (status)
		fclose(status);
	return peak;
}

int main(int count, char **arguments)
{
	if (count != 4) {
		fprintf(stderr,
			"usage: bench_read bytes|skip|walk|columns|partition RUN THREADS\n");
		return 2;
	}
	const char *stage = arguments[1], *path = arguments[2];
	const uint32_t thread_count = (uint32_t)strtoul(arguments[3], NULL, 10);
	const bool is_whole = strcmp(stage, "partition") == 0;
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, 256 << 10); /* as the command does */
#endif
	const double start = now();
	const bool is_done = is_whole || strcmp(stage, "columns") == 0
				     ? measure_run(path, thread_count, is_whole)
				     : measure_window(stage, path);
	const double seconds = now() - start;
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	const double cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	printf("%.6f %.6f %ld\n", seconds, cpu, peak_kib());
	return !is_done;
}
