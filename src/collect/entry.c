/*
 * CUDA's entry point: the driver loads the library that CUDA_INJECTION64_PATH names and calls this,
 * on the thread that initialises CUDA, while it waits.
 */
#include <errno.h>

#include "collect/collector.h"

int InitializeInjection(void);

/* What the driver does on any other answer than 1 is not documented, so failures stay inside. */
__attribute__((visibility("default"))) int InitializeInjection(void)
{
	const int saved = errno;
	collector_start_cuda();
	errno = saved;
	return 1;
}
