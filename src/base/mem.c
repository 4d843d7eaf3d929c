#include "base/mem.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_int_fast64_t fail_countdown;
static atomic_bool failure_happened;

static bool must_fail(void)
{
	if (atomic_load_explicit(&fail_countdown, memory_order_relaxed) <= 0)
		return false;
	if (atomic_fetch_sub(&fail_countdown, 1) != 1)
		return false;
	atomic_store(&failure_happened, true);
	return true;
}

void mem_fail_after(int64_t nth)
{
	atomic_store(&failure_happened, false);
	atomic_store(&fail_countdown, nth);
}

bool mem_has_failed(void)
{
	return atomic_load(&failure_happened);
}

void *mem_new(size_t count, size_t size, struct err *err)
{
	void *block = must_fail() ? NULL : calloc(count ? count : 1, size ? size : 1);
	if (!block)
		err_set(err, ERR_NOMEM, "out of memory (%zu items of %zu bytes)", count, size);
	return block;
}

bool mem_resize(void *block_pointer, size_t count, size_t size, struct err *err)
{
	void *old;
	memcpy(&old, block_pointer, sizeof old);
	void *block = must_fail() ? NULL : reallocarray(old, count ? count : 1, size ? size : 1);
	if (!block)
		return err_set(
			err, ERR_NOMEM, "out of memory (%zu items of %zu bytes)", count, size);
	memcpy(block_pointer, &block, sizeof block);
	return true;
}

void mem_free(void *block)
{
	free(block);
}
