#include "read/workers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define MAX_THREADS 256u

struct pool {
	worker *work;
	void *context;
	uint32_t item_count;
	atomic_uint_fast32_t next;
};

static void *work_on(void *argument)
{
	struct pool *pool = argument;
	for (;;) {
		const uint_fast32_t item = atomic_fetch_add(&pool->next, 1);
		if (item >= pool->item_count)
			return NULL;
		pool->work(pool->context, (uint32_t)item);
	}
}

uint32_t workers_count(uint32_t thread_count)
{
	if (thread_count == 0) {
		const long cores = sysconf(_SC_NPROCESSORS_ONLN);
		thread_count = cores > 0 ? (uint32_t)cores : 1;
	}
	return thread_count < MAX_THREADS ? thread_count : MAX_THREADS;
}

void workers_run(uint32_t thread_count, uint32_t item_count, worker *work, void *context)
{
	struct pool pool = {work, context, item_count, 0};
	pthread_t threads[MAX_THREADS];
	thread_count = workers_count(thread_count);
	if (thread_count > item_count)
		thread_count = item_count;
	uint32_t started = 0;
	/* A thread that can't be started leaves its items to the others. */
	while (started + 1 < thread_count &&
		pthread_create(&threads[started], NULL, work_on, &pool) == 0)
		started++;
	work_on(&pool);
	for (uint32_t t = 0; t < started; t++)
		pthread_join(threads[t], NULL);
}
