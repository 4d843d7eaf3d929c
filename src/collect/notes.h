/*
 * What the training's own threads leave for the writer thread: NVTX ranges and NCCL's events, each
 * a note in a ring of the thread that made it.  One producer and one consumer a ring, no lock, no
 * allocation after a thread's first note, no system call but the clock; a full ring drops the note
 * and counts it.  CUPTI's records don't come this way: they come in CUPTI's own buffers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NOTE_TEXT_MAX 240 /* longer texts are cut */

enum note_kind {
	NOTE_PUSH,	 /* an NVTX range opens; text */
	NOTE_POP,	 /* the thread's innermost NVTX range closes */
	NOTE_MARK,	 /* an NVTX mark; text */
	NOTE_COLLECTIVE, /* struct note_collective, text: communicator's name */
	NOTE_CALL,	 /* struct note_call; at_ns is its start */
};

/* One collective as NCCL announces it, after its launch. */
struct note_collective {
	uint64_t external_id;  /* pushed around its kernel's launch; 0 if unknown */
	uint64_t communicator; /* hash that all its ranks share */
	uint64_t sequence;     /* within communicator and function; UINT64_MAX if unknown */
	uint64_t send_bytes, recv_bytes; /* UINT64_MAX if unknown */
	int32_t rank_count;		 /* in the communicator, -1 if unknown */
	uint8_t kind;			 /* enum collective_kind of the trace: see DESIGN */
	char dtype[16], algorithm[16], protocol[16]; /* "" if unknown */
};

/* One API call, at its exit. */
struct note_call {
	int64_t end_ns;
	uint64_t external_id; /* of the launch that NCCL announced, 0 if none */
	uint32_t correlation;
	int32_t result;
	uint16_t cbid;
	uint8_t domain; /* enum call_domain */
};

struct note {
	int64_t at_ns; /* CLOCK_REALTIME */
	int32_t tid;   /* gettid() */
	uint8_t kind;  /* enum note_kind */
	uint8_t text_length;
	union {
		struct note_collective collective; /* of NOTE_COLLECTIVE */
		struct note_call call;		   /* of NOTE_CALL */
	};
	char text[NOTE_TEXT_MAX + 1];
};

/* CLOCK_REALTIME, which is CUPTI's default clock too. */
int64_t notes_now_ns(void);

/* Leaves a note of the calling thread; false when it was dropped (no ring, or full). */
bool notes_put(const struct note *note);

/* The same for an API call: a step has more of them than of everything else together. */
bool notes_put_call(int64_t start_ns, int32_t tid, const struct note_call *call);

/* The writer's side: calls `visit` for every note left so far, each ring's in order. */
void notes_drain(void (*visit)(void *context, const struct note *note), void *context);

/* Whether a note, or one of a collective, was ever left. */
bool notes_have_any(void);
bool notes_have_collective(void);

/* Notes dropped so far. */
uint64_t notes_dropped(void);

/* In the child of a fork: forgets every ring without freeing, takes no more notes. */
void notes_go_inert(void);

/* The same, but goes on taking notes, in new rings. */
void notes_forget(void);
