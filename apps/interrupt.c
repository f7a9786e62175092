/* SPDX-License-Identifier: BSD-2-Clause */
#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
#define SIGNALS (sizeof signals / sizeof *signals)

static volatile sig_atomic_t noted;
static struct sigaction before[SIGNALS];
static bool held;

static void note(int signal)
{
	noted = signal;
}

void interrupts_hold(void)
{
	struct sigaction action = {.sa_handler = note, .sa_flags = (int)SA_RESETHAND};
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < SIGNALS && !held; i++) {
		sigaction(signals[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN) /* as under nohup */
			sigaction(signals[i], &action, NULL);
	}
	held = true;
}

bool interrupts_came(void)
{
	return noted != 0;
}

void interrupts_release(void)
{
	for (size_t i = 0; i < SIGNALS && held; i++)
		sigaction(signals[i], &before[i], NULL);
	held = false;
	if (noted)
		raise(noted);
}
