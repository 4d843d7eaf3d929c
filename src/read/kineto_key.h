/*
 * The keys of events, told by what they are and guessed by what came after the same key before.
 * Kineto writes an event's keys in a few orders and always with the same white space, so what lies
 * between two values - comma, white space, key, colon - is compared as a whole instead of being
 * taken apart.  A guess that fits byte by byte means what these bytes meant to the scanner before;
 * where none fits, the scanner does the work, and its answer becomes a guess.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "read/json_scan.h"
#include "read/kineto_keys.h"
#include "read/known_bytes.h"

#define KEY_KNOWN_SLOTS 128
#define KEY_GUESS_COUNT 255 /* nor are more than these */
#define KEY_GUESS_SLOTS 512
#define KEY_GUESS_TRIED 4

/*
 * The kinds of objects: events, with the keys of enum event_key, and the args of each class of
 * events, with those of enum event_arg.
 */
enum key_object {
	KEYS_OF_EVENT,
	KEYS_OF_ARGS, /* plus the class: Kineto lays out each class's args in its own way */
	KEYS_KINDS = KEYS_OF_ARGS + 13
};

/* What is none of the known keys. */
enum {
	KEY_OTHER = -1,
	KEY_AT_END = -2, /* of the object */
	KEY_PROBLEM = -3 /* the scanner says which */
};

struct key_guess {
	struct known_bytes between;    /* from the end of the value before to the value after */
	uint8_t object;		       /* enum key_object */
	int8_t key;		       /* its number, or one of the above */
	uint8_t next[KEY_GUESS_TRIED]; /* what to guess after it; 0 is none */
};

struct key_memory {
	/* Number + 1 of events' keys, and of args', by a hash; 0 is free. */
	uint8_t known[2][KEY_KNOWN_SLOTS];
	uint8_t slot[KEY_GUESS_SLOTS]; /* guesses by a hash; 0 is free */
	uint32_t count;
	/* Guess 0 fits nothing, the next stand for the beginnings of the kinds of objects. */
	struct key_guess guess[KEY_GUESS_COUNT];
};

void key_memory_init(struct key_memory *memory);

/* key_next where no guess fits. */
int key_learn(
	struct key_memory *memory, struct json_scan *scan, enum key_object object, uint8_t *at);

/* Where the walk through an object that was just entered begins. */
static inline uint8_t key_start(enum key_object object)
{
	return (uint8_t)(1 + object);
}

/*
 * json_next_key, and what the key is: its number, or one of the above.  `*at` is the guess that the
 * key before was, 0 if it was none, and becomes this key's.
 */
static inline int key_next(
	struct key_memory *memory, struct json_scan *scan, enum key_object object, uint8_t *at)
{
	const struct key_guess *last = &memory->guess[*at];
	for (int tried = 0; tried < KEY_GUESS_TRIED; tried++) {
		const uint8_t next = last->next[tried];
		const struct key_guess *guess = &memory->guess[next];
		if (next == 0 || scan->repairs_quotes)
			break;
		if (!known_bytes_are_at(&guess->between, scan->window->at))
			continue;
		scan->window->at += guess->between.length;
		scan->is_first = scan->is_in_array = false;
		scan->depth -= guess->key == KEY_AT_END;
		*at = next;
		return guess->key;
	}
	return key_learn(memory, scan, object, at);
}
