/* SPDX-License-Identifier: BSD-2-Clause */
#include "interrupt.h"

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

/* SIGXCPU and SIGXFSZ come from ulimit. */
static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGXFSZ};
#define SIGNALS (sizeof signals / sizeof *signals)

static volatile sig_atomic_t noted, known;
static char unfinished[PATH_MAX]; /* once it is known; no longer, or it could not have been opened */
static struct sigaction before[SIGNALS];
static bool held;

/* In any thread. The signal has its usual effect again by SA_RESETHAND. */
static void on_signal(int signal)
{
	noted = signal;
	if (known) {
		unlink(unfinished);
		raise(signal);
	}
}

void interrupts_hold(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < SIGNALS && !held; i++) {
		sigaction(signals[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN) /* as under nohup */
			sigaction(signals[i], &action, NULL);
	}
	held = true;
}

void interrupts_remove(const char *file)
{
	snprintf(unfinished, sizeof unfinished, "%s", file);
	known = 1;
	if (noted)
		on_signal(noted);
}

void interrupts_release(void)
{
	for (size_t i = 0; i < SIGNALS && held; i++)
		sigaction(signals[i], &before[i], NULL);
	held = false;
	known = 0;
	if (noted)
		raise(noted);
}
