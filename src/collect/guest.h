/*
 * How to live in another's process: what happens in the child of a fork, at SIGTERM and at exit.
 * Whatever the training program has installed itself goes on to work.
 */
#pragma once

#include <stdbool.h>

/* `in_child` is called in each forked child, before anything else of it runs. */
bool guest_watch_fork(void (*in_child)(void));

/* SIGTERM then flushes the recording first; `finish` is called at exit, in this process only. */
void guest_watch_end(void (*finish)(void));

/* Gives SIGTERM back to whoever had it; safe in the child of a fork. */
void guest_release_term(void);

/* If SIGTERM came and would have ended the process, lets it; the recording is finished. */
void guest_die_if_told(void);
