/*
 * Fork, SIGTERM and exit.
 *
 * SIGTERM is what torchrun sends to the ranks that survive another's death.  Its handler may do
 * next to nothing, so it wakes the writer, which finishes the file and then sends the signal once
 * more, to the old disposition.  A timer sends it in any case, should the writer hang.
 */
#include "collect/guest.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "collect/writer.h"

#define TERM_LIMIT_S 2

static struct sigaction old_term;
static _Atomic bool has_term; /* our handler is installed */
static _Atomic bool was_told; /* SIGTERM came, and nobody else handles it */
static timer_t term_timer;
static bool has_timer;
static pid_t owner;
static void (*at_finish)(void);

static void put_back_and_raise(void)
{
	atomic_store(&has_term, false);
	sigaction(SIGTERM, &old_term, NULL);
	kill(getpid(), SIGTERM);
}

static void on_term(int signal, siginfo_t *info, void *context)
{
	const int saved = errno;
	if (getpid() != owner) {
		/* A child that shares our memory until it execs. */
		(void)sigaction(SIGTERM, &old_term, NULL);
		(void)kill(getpid(), SIGTERM);
	} else if (old_term.sa_flags & SA_SIGINFO) {
		writer_ask(WRITER_FLUSH);
		old_term.sa_sigaction(signal, info, context);
	} else if (old_term.sa_handler != SIG_DFL && old_term.sa_handler != SIG_IGN) {
		writer_ask(WRITER_FLUSH);
		old_term.sa_handler(signal);
	} else if (atomic_exchange(&was_told, true)) {
		/* The second one, the timer's or an impatient sender's. */
		put_back_and_raise();
	} else {
		writer_ask(WRITER_FINISH);
		const struct itimerspec limit = {.it_value.tv_sec = TERM_LIMIT_S};
		if (!has_timer || timer_settime(term_timer, 0, &limit, NULL) != 0)
			put_back_and_raise();
	}
	errno = saved;
}

static void catch_term(void)
{
	if (sigaction(SIGTERM, NULL, &old_term) != 0)
		return;
	if (!(old_term.sa_flags & SA_SIGINFO) && old_term.sa_handler == SIG_IGN)
		return;
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGTERM};
	has_timer = timer_create(CLOCK_MONOTONIC, &event, &term_timer) == 0;
	struct sigaction ours = {.sa_sigaction = on_term};
	/* The mask and the stack that the old handler counts on. */
	ours.sa_mask = old_term.sa_mask;
	ours.sa_flags = SA_SIGINFO | SA_RESTART | (old_term.sa_flags & (SA_ONSTACK | SA_NODEFER));
	atomic_store(&has_term, sigaction(SIGTERM, &ours, NULL) == 0);
}

void guest_release_term(void)
{
	struct sigaction now;
	if (!atomic_exchange(&has_term, false))
		return;
	/* Somebody who came after us keeps it. */
	if (sigaction(SIGTERM, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO &&
		now.sa_sigaction == on_term)
		sigaction(SIGTERM, &old_term, NULL);
}

void guest_die_if_told(void)
{
	if (!atomic_load(&was_told))
		return;
	put_back_and_raise();
	/* Where this thread may take it, it has died by now. */
	(void)raise(SIGTERM);
}

bool guest_watch_fork(void (*in_child)(void))
{
	return pthread_atfork(NULL, NULL, in_child) == 0;
}

/* A forked child inherits the list of such functions. */
static void at_exit(void)
{
	if (getpid() == owner)
		at_finish();
}

void guest_watch_end(void (*finish)(void))
{
	owner = getpid();
	at_finish = finish;
	atexit(at_exit);
	catch_term();
}
