/* SPDX-License-Identifier: BSD-2-Clause
 * Signals that end the program while a file is unfinished: it goes with the program. */
#ifndef INTERRUPT_H
#define INTERRUPT_H

/* From now on SIGINT, SIGTERM and their like are only noted, the first of each: a file is about to be made.
 */
void interrupts_hold(void);
/* It is there: they end the program at once, and the file is removed first; so does one that was noted. */
void interrupts_remove(const char *file);
/* It has its name, or never came: they have their usual effect again, one that was noted too. Does nothing if
 * they are not held. */
void interrupts_release(void);

#endif
