/*
 * The thread that writes: drains CUPTI's buffers and the notes, decodes, and inserts into SQLite.
 * Blocks every signal and runs at low priority; training threads never wait for it but at exit, and
 * then for a bounded time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct writer_setup {
	const char *dir;	      /* where the file goes */
	int32_t rank, world_size;     /* -1 if unknown */
	const char *no_cupti;	      /* why there is no CUPTI; NULL if there is */
	void (*tick)(int64_t now_ns); /* called often, by the writer */
	const char *(*stopped)(void); /* why recording ended early; NULL while it goes on */
	void (*before_finish)(void);  /* called by the writer: nothing is recorded from here on */
	void (*after_finish)(void);   /* called by the writer, once the file is closed */
};

enum writer_request {
	WRITER_FLUSH = 1,  /* write down what there is, and go on */
	WRITER_FINISH = 2, /* write down what there is, close the file, end */
};

/* Starts the thread; `setup` must stay. */
bool writer_start(const struct writer_setup *setup);

/* May be called from a signal handler. */
void writer_ask(enum writer_request request);

/* Waits until the thread has ended; false when that takes longer. */
bool writer_wait(int64_t limit_ns);
