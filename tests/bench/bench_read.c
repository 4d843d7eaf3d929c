/*
 * Does one stage of reading on one file and prints what it took: seconds, megabytes of JSON, peak
 * memory in KiB.  A process a measurement, so that peaks are its own.  For bench.py.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

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
static uint64_t drain(struct byte_window *window)
{
	do
		window->at = window->end;
	while (byte_window_more(window));
	return byte_window_offset(window);
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

static bool measure_window(const char *stage, const char *path, uint64_t *ret_bytes)
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
	*ret_bytes = byte_window_offset(&window);
	byte_window_done(&window);
	return is_done;
}

static bool measure_columns(const char *path)
{
	struct run run;
	struct err err = {0};
	const struct read_options options = {.thread_count = 1};
	if (!run_read(path, &options, &run, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		return false;
	}
	run_done(&run);
	return true;
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
	if (count != 3) {
		fprintf(stderr, "usage: bench_read bytes|skip|walk|columns FILE\n");
		return 2;
	}
	uint64_t bytes = 0;
	const double start = now();
	const bool is_done = strcmp(arguments[1], "columns") == 0
				     ? measure_columns(arguments[2])
				     : measure_window(arguments[1], arguments[2], &bytes);
	const double seconds = now() - start;
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	const double cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	printf("%.6f %.6f %ld\n", seconds, cpu, peak_kib());
	return !is_done;
}
