/* SPDX-License-Identifier: BSD-2-Clause
 * Runs a libFuzzer target once over every file of a folder, without libFuzzer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run(const char *path)
{
	FILE *file = fopen(path, "rb");
	if (!file)
		return 1;
	long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
	rewind(file);
	uint8_t *data = size >= 0 ? malloc((size_t)size + 1) : NULL;
	int failed = !data || fread(data, 1, (size_t)size, file) != (size_t)size;
	fclose(file);
	/* A block of the exact size, so that a sanitizer sees a read beyond its end. */
	uint8_t *exact = failed ? NULL : realloc(data, size > 0 ? (size_t)size : 1);
	if (exact)
		(void)LLVMFuzzerTestOneInput(exact, (size_t)size);
	free(exact ? exact : data);
	return failed;
}

int main(int argc, char **argv)
{
	DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
	if (!folder) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	int failures = 0, files = 0;
	for (struct dirent *entry; (entry = readdir(folder));) {
		char path[4096];
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
		failures += run(path);
		files++;
	}
	closedir(folder);
	printf("%d files, %d could not be read\n", files, failures);
	return failures > 0 || files == 0;
}
