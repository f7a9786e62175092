/* SPDX-License-Identifier: BSD-2-Clause
 * A cursor over text, shared by the readers: knows its line, never reads past the end, takes
 * LF, CRLF and a missing last newline alike, and parses numbers in the C locale. */
#ifndef PE_SCAN_H
#define PE_SCAN_H

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
/* The next word up to blank, newline or any character of stops. Empty at the end of a line. */
void pe_scan_word(struct pe_scan *scan, const char *stops, const char **text, size_t *size);

/* Numbers: fail with NAME:LINE and `what`, which says what was expected ("a node id"). The number
 * must end at a blank, a line end, the end, ',' or ';'. */
pe_status pe_scan_i64(
	struct pe_scan *scan, const char *what, int64_t min, int64_t max, int64_t *out) PE_NODISCARD;
/* finite numbers only: NaN and infinities are refused by name. */
pe_status pe_scan_f64(struct pe_scan *scan, const char *what, double *out) PE_NODISCARD;

/* "NAME:LINE: …" and PE_ERR_FORMAT. */
pe_status pe_scan_fail(const struct pe_scan *scan, const char *format, ...) PE_PRINTF(2, 3);

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

/* Makes one raw graph of edges with ids first … first+nodes-1 (already in range), or, where nodes
 * is -1, of arbitrary integer ids: ascending ids become rows, gaps are closed, node_ids keeps the map. */
pe_status pe_raw_from_edges(pe_context *ctx, struct pe_edge_buffer *edges, int64_t first, int64_t nodes,
	struct pe_raw_graphs *out) PE_NODISCARD;

#endif
