/*
 * A program's own NVTX: shared objects that are compiled with NVIDIA's header and know nothing of
 * us.  Each has a copy of NVTX, which loads what NVTX_INJECTION64_PATH names.  The test finds the
 * functions under the name `nvtx_client`.
 */
#pragma once

#include <stdint.h>
#include <wchar.h>

struct nvtx_client {
	int (*push)(const char *text);
	int (*push_wide)(const wchar_t *text);
	int (*pop)(void);
	void (*mark)(const char *text);
	void (*push_number)(const char *text, int64_t number);
	void (*mark_real)(const char *text, double number);
	void (*start_and_end)(const char *text);
	/* A domain with a registered text: pushes and pops it, as NCCL's functions do. */
	void (*domain_range)(const char *domain, const char *text);
	/* One step with the markers of inquest/mark.h. */
	void (*marked_step)(int64_t step);
};
