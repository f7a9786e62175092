/* SPDX-License-Identifier: BSD-2-Clause */
#include "input_image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES (4 << 10)

/* Of the first `size` letters, be they small or capital. */
static bool ends_in(const char *text, size_t size, const char *suffix)
{
	size_t length = strlen(suffix);
	if (size < length)
		return false;
	for (size_t i = 0; i < length; i++) {
		char c = text[size - length + i];
		if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != suffix[i])
			return false;
	}
	return true;
}

static bool has_image_suffix(const char *path)
{
	static const char *const suffixes[] = {".png", ".pnm", ".pbm", ".pgm", ".ppm", ".pam", ".jpg", ".jpeg",
		".webp", ".gif", ".bmp", ".tif", ".tiff"};
	size_t size = strlen(path);
	if (ends_in(path, size, ".gz"))
		size -= 3;
	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
		if (ends_in(path, size, suffixes[i]))
			return true;
	return false;
}

bool image_is_at(const char *path)
{
	FILE *file = fopen(path, "rb");
	if (!file)
		return has_image_suffix(path);
	void *bytes = get_memory(FIRST_BYTES, 1);
	size_t size = fread(bytes, 1, FIRST_BYTES, file);
	bool folder = ferror(file) != 0, known = pe_image_recognise(bytes, size) != NULL;
	fclose(file);
	free(bytes);
	return known || (!folder && has_image_suffix(path));
}

int read_standard_input(struct cli *cli, char **bytes, size_t *size)
{
	size_t capacity = 1 << 16;
	(void)cli;
	*bytes = get_memory(capacity, 1);
	for (*size = 0;;) {
		*size += fread(*bytes + *size, 1, capacity - *size, stdin);
		if (*size < capacity)
			break;
		char *larger = capacity <= SIZE_MAX / 2 ? realloc(*bytes, 2 * capacity) : NULL;
		if (!larger) {
			complain("out of memory: standard input is too large");
			return EXIT_SYSTEM;
		}
		*bytes = larger;
		capacity *= 2;
	}
	if (!ferror(stdin))
		return EXIT_DONE;
	complain("standard input: %s", strerror(errno));
	return EXIT_SYSTEM;
}

/* ---- patches ------------------------------------------------------------------------ */

static void add_sides(char *text, size_t size, const char *what, const int64_t sides[4])
{
	static const char *const names[] = {"at the top", "at the bottom", "on the left", "on the right"};
	bool first = true;
	for (int i = 0; i < 4; i++) {
		size_t used = strlen(text);
		if (sides[i] == 0)
			continue;
		snprintf(text + used, size - used, "%s%lld %s%s %s", first ? what : ", ", (long long)sides[i],
			i < 2 ? "row" : "column", sides[i] == 1 ? "" : "s", names[i]);
		first = false;
	}
}

void image_changes(const pe_image_layout *l, char *text, size_t size)
{
	const int64_t crop[] = {l->crop_top, l->crop_bottom, l->crop_left, l->crop_right};
	const int64_t pad[] = {l->pad_top, l->pad_bottom, l->pad_left, l->pad_right};
	text[0] = '\0';
	add_sides(text, size, "cut off: ", crop);
	add_sides(text, size, "added: ", pad);
	if (l->resized_height)
		snprintf(text, size, "resampled to %lld rows, %lld columns", (long long)l->resized_height,
			(long long)l->resized_width);
}

int image_cut(struct cli *cli, struct input *input)
{
	int64_t prefix = 0;
	char changes[300];
	if (!cli_integer(cli, "prefix", 0, INT32_MAX, &prefix))
		return EXIT_USAGE;
	const pe_image_info *info = pe_image_get_info(input->image);
	pe_image_layout *l = &input->layout;
	pe_status status = pe_image_get_layout(input->image, cli->image, l);
	input->sides[0] = 1;
	input->sides[1] = l->rows;
	input->sides[2] = l->columns;
	input->prefix = prefix;
	if (status == PE_OK)
		status = pe_domain_grid(cli->ctx, 1, l->rows, l->columns, prefix, &input->domain);
	if (status != PE_OK)
		return report_status(cli, status);
	image_changes(l, changes, sizeof changes);
	if (changes[0])
		warn(cli, "%s: of %lld rows and %lld columns, %s (--fit, --size, --anchor)", input->text,
			(long long)info->height, (long long)info->width, changes);
	return EXIT_DONE;
}
