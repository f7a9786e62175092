/* SPDX-License-Identifier: BSD-2-Clause
 * A cursor over text, shared by the readers: knows its line, never reads past the end, takes
 * LF, CRLF and a missing last newline alike, and parses numbers in the C locale. */
#ifndef PE_SCAN_H
#define PE_SCAN_H

#include <string.h>

#include "kernels/number_pairs.h"
#include "reader.h"

struct pe_scan {
	pe_context *ctx;
	const char *name;
	const char *at, *end;
	int64_t line; /* 1-based, of `at` */
};

/* Starts at the first byte, after a UTF-8 byte order mark if there is one. */
struct pe_scan pe_scan_start(pe_context *ctx, const struct pe_source *source);

bool pe_scan_at_end(const struct pe_scan *scan);      /* of the text */
bool pe_scan_at_line_end(const struct pe_scan *scan); /* at '\n', '\r' before '\n', or the end */
/* Skips spaces and tabs (and carriage returns before a line feed), not newlines. */
void pe_scan_blanks(struct pe_scan *scan);
/* Goes to the start of the next line; false if there is none. */
bool pe_scan_next_line(struct pe_scan *scan);
/* The rest of the line, without its end; the cursor stays. */
void pe_scan_line(const struct pe_scan *scan, const char **text, size_t *size);
/* Skips blanks, then takes the next word up to a blank, a line end or any character of stops, which
 * stays. Empty at the end of a line. */
void pe_scan_word(struct pe_scan *scan, const char *stops, const char **text, size_t *size);

/* Numbers, after blanks: fail with NAME:LINE and `what`, which says what was expected ("a node id").
 * The number must end at a blank, a line end, the end, ',' or ';'. */
pe_status pe_scan_i64(
	struct pe_scan *scan, const char *what, int64_t min, int64_t max, int64_t *out) PE_NODISCARD;
/* finite numbers only: NaN and infinities are refused by name. */
pe_status pe_scan_f64(struct pe_scan *scan, const char *what, double *out) PE_NODISCARD;

/* "NAME:LINE: …" and PE_ERR_FORMAT. */
pe_status pe_scan_fail(const struct pe_scan *scan, const char *format, ...) PE_PRINTF(2, 3);

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* The number of the first n ≤ 8 bytes, which are digits. */
static inline uint32_t pe_scan_value8(uint64_t bytes, int n)
{
	uint64_t digits = bytes ^ 0x3030303030303030u;
	/* To the top, so that zeros stand before them; never by 64 at once. */
	digits = digits << (4 * (8 - n)) << (4 * (8 - n));
	digits = (digits * 10) + (digits >> 8);
	return (uint32_t)((((digits & 0x000000FF000000FFu) * (100 + (1000000ull << 32))) +
						  (((digits >> 16) & 0x000000FF000000FFu) * (1 + (10000ull << 32)))) >>
		32);
}
#endif

/* Up to eight digits at `at`, eight bytes of which can be read: the value, and how many there were
 * (0: none; 8: there may be more). For loops that parse millions of short numbers: no branch depends
 * on the length. */
static inline uint32_t pe_scan_digits8(const char *at, int *count)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint64_t bytes;
	memcpy(&bytes, at, 8);
	uint64_t other = pe_not_digits8(bytes);
	int n = other ? __builtin_ctzll(other) >> 3 : 8;
	*count = n;
	return pe_scan_value8(bytes, n);
#else
	uint32_t value = 0;
	int n = 0;
	while (n < 8 && at[n] >= '0' && at[n] <= '9')
		value = value * 10 + (uint32_t)(at[n++] - '0');
	*count = n;
	return value;
#endif
}

/* ---- edges of unknown number -------------------------------------------------------- */

struct pe_edge_buffer {
	int64_t count, capacity;
	int64_t *u, *v; /* ids as in the input */
	double *w;      /* allocated when the first weight comes; earlier edges have weight 1 */
};

pe_status pe_edge_push(pe_context *ctx, struct pe_edge_buffer *edges, int64_t u, int64_t v) PE_NODISCARD;
pe_status pe_edge_push_weighted(
	pe_context *ctx, struct pe_edge_buffer *edges, int64_t u, int64_t v, double w) PE_NODISCARD;
void pe_edge_buffer_free(pe_context *ctx, struct pe_edge_buffer *edges);

/* Makes one raw graph of edges with ids first … first+nodes-1 (already in range; nodes ≤ 2^31-1), or,
 * where nodes is -1, of arbitrary integer ids: ascending ids become rows, gaps are closed, node_ids keeps
 * the map (NULL if there are no gaps), base is the smallest. Format, direction, mirrored and phantom
 * are left for the caller, and so is edges, to be freed; its weights have moved to *out. */
pe_status pe_raw_from_edges(pe_context *ctx, struct pe_edge_buffer *edges, int64_t first, int64_t nodes,
	struct pe_raw_graphs *out) PE_NODISCARD;

/* Sets phantom to the number of nodes that no row names, of one raw graph that has its nodes by a count. On
 * failure the raw graph is freed. */
pe_status pe_raw_count_phantom(pe_context *ctx, struct pe_raw_graphs *raw) PE_NODISCARD;

#endif
