/* A thread that wakes after a second and shows the current stage. */
#include "cli/progress.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define STAGE_BYTES 60 /* of a stage, so that the line fits 80 columns; longer is cut */

/* One program, one line of progress. */
static struct {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_running, is_over, is_shown;
	char stage[STAGE_BYTES];
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* Called with the lock held. */
static void show(void)
{
	fprintf(stderr, "\r\033[Kinquest: %s ...", progress.stage);
	fflush(stderr);
	progress.is_shown = true;
}

static void *watch(void *unused)
{
	struct timespec deadline;
	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_sec++;
	pthread_mutex_lock(&progress.lock);
	while (!progress.is_over &&
		pthread_cond_timedwait(&progress.changed, &progress.lock, &deadline) == 0)
		;
	if (!progress.is_over)
		show();
	pthread_mutex_unlock(&progress.lock);
	return unused;
}

/* Called by the library, on the thread that asked. */
static void take_stage(void *unused, const char *stage)
{
	(void)unused;
	pthread_mutex_lock(&progress.lock);
	snprintf(progress.stage, sizeof progress.stage, "%s", stage);
	if (progress.is_shown)
		show();
	pthread_mutex_unlock(&progress.lock);
}

void progress_begin(struct inquest *inquest)
{
	if (isatty(STDERR_FILENO) != 1)
		return;
	snprintf(progress.stage, sizeof progress.stage, "starting");
	if (pthread_create(&progress.thread, NULL, watch, NULL) != 0)
		return;
	progress.is_running = true;
	inquest_set_progress(inquest, take_stage, NULL);
}

void progress_end(void)
{
	if (!progress.is_running)
		return;
	pthread_mutex_lock(&progress.lock);
	progress.is_over = true;
	pthread_cond_signal(&progress.changed);
	pthread_mutex_unlock(&progress.lock);
	pthread_join(progress.thread, NULL);
	progress.is_running = false;
	if (progress.is_shown)
		fprintf(stderr, "\r\033[K");
	progress.is_shown = false;
}
