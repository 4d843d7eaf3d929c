#include "read/kineto_key.h"

#define KEY_BYTES 40 /* longer keys are none of ours */

struct known_key {
	const char *text;
	uint8_t length;
};

static const struct known_key event_keys[] = {
#define X(name, key, kind) {key, sizeof key - 1},
	EVENT_KEYS(X)
#undef X
};

static const struct known_key arg_keys[] = {
#define X(name, key, kind) {key, sizeof key - 1},
	EVENT_ARGS(X)
#undef X
};

static const struct known_key *const keys_of[] = {event_keys, arg_keys};

static uint32_t slot_of(const char *text, uint32_t length)
{
	return (length * 29 + (unsigned char)text[0] * 5 + (unsigned char)text[length - 1]) %
	       KEY_KNOWN_SLOTS;
}

static void fill_known(uint8_t *known, const struct known_key *keys, int count)
{
	for (int k = 0; k < count; k++) {
		uint32_t at = slot_of(keys[k].text, keys[k].length);
		while (known[at])
			at = (at + 1) % KEY_KNOWN_SLOTS;
		known[at] = (uint8_t)(k + 1);
	}
}

void key_memory_init(struct key_memory *memory)
{
	*memory = (struct key_memory){.count = 1 + KEYS_KINDS};
	fill_known(memory->known[0], event_keys, KEY_COUNT);
	fill_known(memory->known[1], arg_keys, ARG_COUNT);
}

static int find_known(
	const struct key_memory *memory, enum key_object object, const char *text, uint32_t length)
{
	const int kind = object != KEYS_OF_EVENT;
	const uint8_t *known = memory->known[kind];
	if (length == 0 || length >= KEY_BYTES)
		return KEY_OTHER;
	for (uint32_t at = slot_of(text, length); known[at]; at = (at + 1) % KEY_KNOWN_SLOTS) {
		const struct known_key *key = &keys_of[kind][known[at] - 1];
		if (key->length == length && memcmp(key->text, text, length) == 0)
			return known[at] - 1;
	}
	return KEY_OTHER;
}

/* The slot of the guess with these bytes, or the free one for it. */
static uint8_t *find_slot(
	struct key_memory *memory, enum key_object object, const char *bytes, uint32_t length)
{
	uint32_t hash = length * 2 + object;
	for (uint32_t i = 0; i < length; i++)
		hash = hash * 31 + (unsigned char)bytes[i];
	for (hash ^= hash >> 16;; hash++) {
		uint8_t *slot = &memory->slot[hash % KEY_GUESS_SLOTS];
		const struct key_guess *held = &memory->guess[*slot];
		if (*slot == 0 || (held->object == object && held->between.length == length &&
					  memcmp(held->between.bytes, bytes, length) == 0))
			return slot;
	}
}

/* The guess that these bytes are `key`, 0 if there is no room for it. */
static uint8_t remember(struct key_memory *memory, enum key_object object, const char *bytes,
	uint32_t length, int key)
{
	uint8_t *slot = find_slot(memory, object, bytes, length);
	if (*slot == 0 && memory->count < KEY_GUESS_COUNT) {
		struct key_guess *guess = &memory->guess[memory->count];
		known_bytes_set(&guess->between, bytes, length);
		guess->object = (uint8_t)object;
		guess->key = (int8_t)key;
		*slot = (uint8_t)memory->count++;
	}
	return *slot;
}

/* `next` is tried after `last` from now on; what was tried last gives way. */
static void follow(struct key_guess *last, uint8_t next)
{
	int at = 0;
	while (at < KEY_GUESS_TRIED - 1 && last->next[at] != 0)
		at++;
	last->next[at] = next;
}

int key_learn(
	struct key_memory *memory, struct json_scan *scan, enum key_object object, uint8_t *at)
{
	struct byte_window *window = scan->window;
	const uint64_t offset = byte_window_offset(window);
	const bool is_held = window->hold <= offset && !scan->repairs_quotes;
	const uint8_t last = *at;
	struct json_text text;
	int key = KEY_AT_END;
	*at = 0;
	if (json_next_key(scan, &text)) {
		const char *bytes = json_text_bytes(scan, &text);
		key = find_known(memory, object, bytes, text.length);
		if (!text.is_plain)
			return key;
		/* The white space before the value is part of what is always the same. */
		while (*window->at == ' ' || *window->at == '\n')
			window->at++;
	} else if (scan->problem) {
		return KEY_PROBLEM;
	}
	const uint64_t length = byte_window_offset(window) - offset;
	if (!is_held || length > KNOWN_BYTES_MOST)
		return key;
	const char *bytes = byte_window_at(window, offset);
	/* A stray comma before the end is to be counted each time. */
	if (key == KEY_AT_END && memchr(bytes, ',', length))
		return key;
	*at = remember(memory, object, bytes, (uint32_t)length, key);
	/* Without a guess for the key before, its followers could stand at an object's beginning.
	 */
	if (last != 0 && *at != 0)
		follow(&memory->guess[last], *at);
	return key;
}
