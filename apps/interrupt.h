/* SPDX-License-Identifier: BSD-2-Clause
 * SIGINT, SIGTERM and SIGHUP while there is something to tidy up first. */
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include <stdbool.h>

/* From now on the first interrupt is noted; a second one ends the program as usual. */
void interrupts_hold(void);
/* Has one been noted? For long work, to give up early. */
bool interrupts_came(void);
/* Ends the program by the interrupt that was noted, if one was; else they have their usual effect again. Does
 * nothing if they are not held. */
void interrupts_release(void);

#endif
