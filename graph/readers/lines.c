/* SPDX-License-Identifier: BSD-2-Clause */
#include "lines.h"

#include "pool.h"

#define BLOCK 1024      /* bytes: few, to look for a line in, and many, for a short table */
#define STRIDE 128      /* bytes counted at once, so that a byte can hold the count */
#define BLOCKS_EACH 256 /* that a thread counts in one go */
#define PIECE 65536     /* bytes that a thread reads in one go, or so */

/* Behind how many of `size` bytes, and one more that can be read, a line begins; -1: one of them begins
 * with no visible character. */
static int64_t count_stride(const char *text, int64_t size)
{
	unsigned char lines = 0, blanks = 0;
	for (int64_t i = 0; i < size; i++) {
		unsigned char feed = text[i] == '\n', hidden = (unsigned char)text[i + 1] <= ' ';
		lines = (unsigned char)(lines + feed);
		blanks = (unsigned char)(blanks | (feed & hidden));
	}
	return blanks ? -1 : lines;
}

static int64_t count_block(const char *text, int64_t size)
{
	int64_t lines = 0;
	for (int64_t at = 0; at < size; at += STRIDE) {
		int64_t found =
			size - at >= STRIDE ? count_stride(text + at, STRIDE) : count_stride(text + at, size - at);
		if (found < 0)
			return -1;
		lines += found;
	}
	return lines;
}

/* first[b + 1] becomes the count of block b. */
static pe_status count_blocks(pe_context *ctx, void *arg, int64_t index)
{
	(void)ctx;
	struct pe_lines *lines = arg;
	int64_t end = pe_min((index + 1) * BLOCKS_EACH, lines->blocks);
	for (int64_t b = index * BLOCKS_EACH; b < end; b++) {
		int64_t left = lines->end - lines->text - b * BLOCK;
		lines->first[b + 1] = count_block(lines->text + b * BLOCK, pe_min(BLOCK, left - 1));
	}
	return PE_OK;
}

pe_status pe_lines_count(pe_context *ctx, const struct pe_source *source, struct pe_lines *out)
{
	struct pe_scan start = pe_scan_start(ctx, source);
	struct pe_lines lines = {.name = start.name, .text = start.at, .end = start.end};
	int64_t size = lines.end - lines.text;
	lines.blocks = (size + BLOCK - 1) / BLOCK;
	lines.first = pe_alloc(ctx, lines.blocks + 1, sizeof *lines.first);
	*out = (struct pe_lines){0};
	if (!lines.first)
		return PE_ERR_NOMEM;
	int64_t pieces = (lines.blocks + BLOCKS_EACH - 1) / BLOCKS_EACH;
	pe_status status = pe_parallel(ctx, pieces, count_blocks, &lines, NULL);
	if (status != PE_OK) {
		pe_lines_free(ctx, &lines);
		return status;
	}
	lines.regular = size == 0 || (unsigned char)*lines.text > ' ';
	lines.first[0] = size > 0; /* line 0 begins behind nothing */
	for (int64_t b = 0; b < lines.blocks && lines.regular; b++) {
		lines.regular = lines.first[b + 1] >= 0;
		lines.first[b + 1] += lines.first[b];
	}
	lines.count = lines.regular ? lines.first[lines.blocks] : -1;
	lines.each = pe_max(1, lines.count / (size / PIECE + 1));
	lines.pieces = lines.regular ? (lines.count + lines.each - 1) / lines.each : 0;
	*out = lines;
	return PE_OK;
}

void pe_lines_free(pe_context *ctx, struct pe_lines *lines)
{
	pe_free(ctx, lines->first);
	*lines = (struct pe_lines){0};
}

/* The block behind one of whose bytes the line begins. */
static int64_t block_of(const struct pe_lines *lines, int64_t line)
{
	int64_t low = 0, high = lines->blocks; /* first[low] ≤ line < first[high] */
	while (high - low > 1) {
		int64_t middle = low + (high - low) / 2;
		if (lines->first[middle] <= line)
			low = middle;
		else
			high = middle;
	}
	return low;
}

struct pe_scan pe_lines_at(pe_context *ctx, const struct pe_lines *lines, int64_t line)
{
	struct pe_scan scan = {.ctx = ctx, .name = lines->name, .at = lines->text, .end = lines->end, .line = 1};
	if (line == 0)
		return scan;
	int64_t block = block_of(lines, line);
	scan.at += block * BLOCK;
	scan.line = lines->first[block];
	while (scan.line <= line && pe_scan_next_line(&scan)) {
	}
	return scan;
}

/* ---- reading them ------------------------------------------------------------------- */

struct reading {
	const struct pe_lines *lines;
	pe_lines_fn fn;
	void *arg;
};

static pe_status read_some(pe_context *worker, void *arg, int64_t index)
{
	const struct reading *r = arg;
	int64_t first = index * r->lines->each, end = pe_min(first + r->lines->each, r->lines->count);
	struct pe_scan scan = pe_lines_at(worker, r->lines, first);
	return r->fn(&scan, r->arg, first, end);
}

pe_status pe_lines_each(pe_context *ctx, const struct pe_lines *lines, pe_lines_fn fn, void *arg)
{
	struct reading r = {lines, fn, arg};
	return pe_parallel(ctx, lines->pieces, read_some, &r, NULL);
}
