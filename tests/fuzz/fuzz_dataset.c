/* SPDX-License-Identifier: BSD-2-Clause
 * libFuzzer target of the datasets that are folders, -DDATASET=OGB or TU. The input is the folder's files
 * one after another, with a byte 0xff between them; a file that is missing at the end is not there. They
 * are written to one temporary folder, in memory where there is /dev/shm. */
#include <fcntl.h>
#include <unistd.h>

#include "fuzz_graphs.h"

#define BETWEEN 0xff
#define FILES 4

enum { OGB, TU };

static const char *const names[][FILES] = {
	[OGB] = {"num-node-list.csv", "num-edge-list.csv", "edge.csv", "edge-feat.csv"},
	[TU] = {"X_graph_indicator.txt", "X_A.txt", "X_edge_attributes.txt", "X_node_labels.txt"},
};

static char folder[64];

static void path_of(int file, char path[160])
{
	snprintf(path, 160, "%s/%s", folder, names[DATASET][file]);
}

static void remove_folder(void)
{
	char path[160];
	for (int i = 0; i < FILES; i++) {
		path_of(i, path);
		unlink(path);
	}
	rmdir(folder);
}

static void make_folder(void)
{
	if (folder[0])
		return;
	snprintf(
		folder, sizeof folder, "%s/posenc-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	if (!mkdtemp(folder))
		abort();
	atexit(remove_folder);
}

static void put(int file, const uint8_t *data, size_t size)
{
	char path[160];
	path_of(file, path);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

/* The files of the input; those behind its end are removed. Returns how many there are. */
static int fill_folder(const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size;
	int file = 0;
	for (bool more = true; more && file < FILES; file++) {
		const uint8_t *cut = size ? memchr(data, BETWEEN, (size_t)(end - data)) : NULL;
		more = cut && file < FILES - 1;
		put(file, data, (size_t)((more ? cut : end) - data));
		data = more ? cut + 1 : end;
	}
	for (int absent = file; absent < FILES; absent++) {
		char path[160];
		path_of(absent, path);
		unlink(path);
	}
	return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	pe_context *ctx = fuzz_context();
	if (!ctx)
		return 0;
	make_folder();
	int files = fill_folder(data, size);
	/* The policies take turns: weights by auto, none, and, where there may be some, a column's. */
	struct pe_graph_policy policy = {.edges = (enum pe_direction)(size % 3),
		.weight_column = (int32_t)(size % (files >= 3 + (DATASET == OGB) ? 4 : 2)) - 1};
	struct pe_raw_graphs raw = {0};
	bool is = false;
	pe_status status = DATASET == OGB ? pe_read_ogb(ctx, folder, &policy, &is, &raw)
									  : pe_read_tu(ctx, folder, &policy, &is, &raw);
	if (is || status != PE_OK)
		fuzz_judge(ctx, status, folder, &raw, &policy);
	pe_context_destroy(&ctx);
	return 0;
}
