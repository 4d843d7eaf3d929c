/*
 * A byte source read ahead by a thread of its own: decompressing and scanning take turns no more,
 * which pays when a core is free.  Called by byte_window alone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define BYTE_PUMP_PIECE	  (256u << 10)
#define BYTE_PUMP_FRONT	  (32u << 10) /* room before the bytes of a piece */
#define BYTE_PUMP_PADDING 64u	      /* NULs behind them */

struct byte_source;
struct byte_pump;

/* NULL if there is no room or no thread to be had; the source then serves as it is. */
struct byte_pump *byte_pump_start(struct byte_source *source);

/* As byte_source_read.  After the end the thread no longer touches the source. */
bool byte_pump_read(
	struct byte_pump *pump, char *to, size_t room, size_t *ret_got, struct err *err);

/*
 * The next piece where it lies, with NULs behind it, and before it the `kept_length` bytes at
 * `kept`, BYTE_PUMP_FRONT at most, which may be of the view before: that ends here.
 */
bool byte_pump_view(struct byte_pump *pump, const char *kept, size_t kept_length, char **ret_bytes,
	size_t *ret_got, struct err *err);

/* Whether no piece was read in part. */
bool byte_pump_can_view(const struct byte_pump *pump);

/* The bytes of a view are no longer needed.  byte_pump_read does this too, at its beginning. */
void byte_pump_end_view(struct byte_pump *pump);

/* Waits for the thread; the source stays open. */
void byte_pump_stop(struct byte_pump *pump);
