/*
 * A training process for tests: forked, with the environment that `inquest record` would set and
 * the stand-in for libcupti, it loads the collector as CUDA does and then does what the case says.
 * With TRAINEE_WITHOUT_CUDA in the environment CUDA loads another tool, and NVTX alone loads ours;
 * TRAINEE_LATE_RANK is the rank that it is told between the two.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "standin_cupti.h"

struct trainee {
	void *collector; /* as dlopen gave it */
	const struct standin_cupti *cupti;
	void (*push)(const char *text); /* NVTX, through the collector's table */
	void (*pop)(void);
	void (*mark)(const char *text);
	int64_t (*now_ns)(void);
	void (*sleep_ms)(int64_t ms);
};

/* So many kernels of the name "k", each with its call. */
void launch_many(const struct trainee *trainee, int count);

/* The two shared objects. */
void trainee_use(const char *collector, const char *cupti);

/* A clean environment and an empty folder; a cmocka fixture. */
int trainee_set_up(void **state);
void trainee_done(void);

/* CLOCK_REALTIME, as the collector and CUPTI have it. */
int64_t trainee_now_ns(void);

/* The folder of the recordings. */
const char *trainee_folder(void);
void clear_folder(void);

/* Runs the case in a process of its own.  It must exit with `expected_status`: an exit code, or
 * minus a signal's number. */
void train(void (*body)(const struct trainee *trainee), int expected_status);

/* The same, but goes on at once; the process's id. */
int train_beside(void (*body)(const struct trainee *trainee));
int wait_for(int pid); /* its status, as above */
