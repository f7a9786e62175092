/* SPDX-License-Identifier: BSD-2-Clause
 * gzip (RFC 1952) in memory, member after member. */
#define ZLIB_CONST
#include <libdeflate.h>
#include <limits.h>
#include <zlib.h>

#include "io/file_source.h"

#define GENEROUS ((int64_t)1 << 30)
#define MAX_RATIO 128
#define SMALLEST_MEMBER 18 /* header and trailer */

int64_t pe_unpack_limit(int64_t packed)
{
	return pe_max(GENEROUS, packed < INT64_MAX / MAX_RATIO ? packed * MAX_RATIO : INT64_MAX);
}

bool pe_is_gzip(const void *data, size_t size)
{
	const unsigned char *b = data;
	return size >= SMALLEST_MEMBER && b[0] == 0x1f && b[1] == 0x8b && b[2] == 8;
}

struct gunzip {
	pe_context *ctx;
	const char *name;
	struct libdeflate_decompressor *decompressor;
	const unsigned char *in;
	size_t left;
	int64_t limit;
	char *out;
	int64_t capacity, used;
};

/* The last four bytes are the size, modulo 2^32, of the last member, which is mostly the only one.
 * deflate reaches a ratio of 1032; a guess beyond that is a damaged file. */
static int64_t first_guess(const struct gunzip *g)
{
	const unsigned char *tail = g->in + g->left - 4;
	int64_t stated = (int64_t)((uint32_t)tail[0] | (uint32_t)tail[1] << 8 | (uint32_t)tail[2] << 16 |
		(uint32_t)tail[3] << 24);
	int64_t packed = (int64_t)g->left;
	return stated / 1032 <= packed ? stated : 4 * packed;
}

static pe_status make_room(struct gunzip *g)
{
	if (g->capacity > g->limit)
		return pe_fail(g->ctx, PE_ERR_FORMAT,
			"%s: the gzip data unpack to more than %lld bytes; unpack them first if that is right", g->name,
			(long long)g->limit);
	return pe_grow(g->ctx, &g->out, &g->capacity, g->used, g->capacity + 1, 1);
}

/* One byte of the capacity is kept for the NUL at the end. */
static size_t room(const struct gunzip *g)
{
	return (size_t)(pe_min(g->capacity - 1, g->limit) - g->used);
}

static pe_status one_member(struct gunzip *g)
{
	size_t eaten = 0, made = 0;
	for (;;) {
		enum libdeflate_result result = libdeflate_gzip_decompress_ex(
			g->decompressor, g->in, g->left, g->out + g->used, room(g), &eaten, &made);
		if (result == LIBDEFLATE_SUCCESS)
			break;
		if (result != LIBDEFLATE_INSUFFICIENT_SPACE)
			return pe_fail(g->ctx, PE_ERR_FORMAT, "%s: the gzip data are damaged or cut short", g->name);
		PE_TRY(make_room(g));
	}
	g->in += eaten;
	g->left -= eaten;
	g->used += (int64_t)made;
	return PE_OK;
}

/* Tapes and block devices leave zeros behind the last member. */
static void skip_padding(struct gunzip *g)
{
	while (g->left > 0 && *g->in == 0) {
		g->in++;
		g->left--;
	}
}

static pe_status all_members(struct gunzip *g)
{
	int64_t guess = pe_min(first_guess(g), g->limit);
	PE_TRY(pe_grow(g->ctx, &g->out, &g->capacity, 0, guess + 1, 1));
	do {
		PE_TRY(one_member(g));
		skip_padding(g);
	} while (pe_is_gzip(g->in, g->left));
	if (g->left > 0)
		return pe_fail(
			g->ctx, PE_ERR_FORMAT, "%s: %zu bytes that are not gzip follow the gzip data", g->name, g->left);
	return PE_OK;
}

pe_status pe_gunzip(pe_context *ctx, const void *data, size_t size, const char *name, int64_t limit,
	char **bytes, size_t *out_size)
{
	*bytes = NULL;
	*out_size = 0;
	if (!pe_is_gzip(data, size))
		return pe_fail(ctx, PE_ERR_FORMAT, "%s: not gzip data", name);
	struct gunzip g = {.ctx = ctx, .name = name, .in = data, .left = size};
	g.limit = limit ? limit : pe_unpack_limit((int64_t)size);
	g.decompressor = libdeflate_alloc_decompressor();
	if (!g.decompressor)
		return pe_fail(ctx, PE_ERR_NOMEM, "out of memory");
	pe_status status = all_members(&g);
	libdeflate_free_decompressor(g.decompressor);
	if (status != PE_OK) {
		pe_free(ctx, g.out);
		return status;
	}
	g.out[g.used] = '\0';
	*bytes = g.out;
	*out_size = (size_t)g.used;
	return PE_OK;
}

/* By zlib: libdeflate promises nothing of data that do not end. */
size_t pe_gunzip_head(const void *data, size_t size, uint8_t *out, size_t room)
{
	z_stream z = {.next_in = data, .next_out = out};
	z.avail_in = size < UINT_MAX ? (uInt)size : UINT_MAX;
	z.avail_out = room < UINT_MAX ? (uInt)room : UINT_MAX;
	if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK) /* 16: gzip */
		return 0;
	(void)inflate(&z, Z_SYNC_FLUSH);
	(void)inflateEnd(&z);
	return (size_t)(z.next_out - out);
}
