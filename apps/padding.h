/* SPDX-License-Identifier: BSD-2-Clause
 * Which places of a grid are padding: the option --padding-mask. */
#ifndef PADDING_H
#define PADDING_H

#include "input.h"

#define PADDING_OPTION \
	{ \
		"padding-mask", 0, "FILE.npy", \
			"grid or picture: 1 at padding, 0 elsewhere, (rows, columns), of several frames (frames, rows, " \
			"columns), also with batches before them; for encoders that count places, such as axial" \
	}

/* Puts the padding into the input's domain; nothing without the option. EXIT_DONE, or an exit code with the
 * message already written. */
int padding_add(struct cli *cli, struct input *input);

#endif
