/* SPDX-License-Identifier: BSD-2-Clause
 * A picture as INPUT. */
#ifndef INPUT_IMAGE_H
#define INPUT_IMAGE_H

#include "input.h"

/* Is this file a picture, by its content, or by its suffix where that says nothing? */
bool image_is_at(const char *path);

/* What standard input holds, to be freed by free(). EXIT_DONE, or an exit code with the message written. */
int read_standard_input(struct cli *cli, char **bytes, size_t *size);

/* The domain of a picture that was read: its grid of patches. Says what the picture loses. EXIT_DONE, or an
 * exit code with the message already written. */
int image_cut(struct cli *cli, struct input *input);

/* "cut off: 3 rows at the bottom", …, or "" if nothing is lost or added. */
void image_changes(const pe_image_layout *layout, char *text, size_t size);

#endif
