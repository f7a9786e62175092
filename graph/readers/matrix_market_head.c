/* SPDX-License-Identifier: BSD-2-Clause
 * "%%MatrixMarket matrix coordinate real general", the optional "%%GraphBLAS type int32_t", comments,
 * and the sizes. Boisvert, Pozo, Remington: The Matrix Market exchange formats, NISTIR 5935, 1996; the
 * type line as in LAGraph. */
#include <float.h>
#include <inttypes.h>
#include <strings.h>

#include "matrix_market.h"

static bool is_word(const char *text, size_t size, const char *word)
{
	return strlen(word) == size && strncasecmp(text, word, size) == 0;
}

/* The place of the line's next word among words, which end with NULL; or -1, with the word in text. */
static int next_word(struct pe_scan *scan, const char *const *words, const char **text, size_t *size)
{
	pe_scan_word(scan, "", text, size);
	for (int i = 0; words[i]; i++)
		if (is_word(*text, *size, words[i]))
			return i;
	return -1;
}

static pe_status wrong_word(
	const struct pe_scan *scan, const char *text, size_t size, const char *what, const char *words)
{
	return pe_scan_fail(
		scan, "\"%.*s\" in the banner is not %s: %s", (int)(size < 40 ? size : 40), text, what, words);
}

enum field { REAL, INTEGER, PATTERN, COMPLEX };

static pe_status check_combination(
	const struct pe_scan *scan, const struct pe_mm_head *head, enum field field, bool hermitian)
{
	if (head->array && field == PATTERN)
		return pe_scan_fail(scan, "an array cannot be a pattern: it has values");
	if (field == PATTERN && (hermitian || head->symmetry == PE_MM_SKEW))
		return pe_scan_fail(scan, "a pattern can only be general or symmetric");
	if (hermitian && field != COMPLEX)
		return pe_scan_fail(scan, "only a complex matrix can be hermitian");
	if (field == COMPLEX)
		return pe_fail(scan->ctx, PE_ERR_UNSUPPORTED,
			"%s:%" PRId64 ": the matrix is complex; weights of a graph are real", scan->name, scan->line);
	return PE_OK;
}

static pe_status read_banner(struct pe_scan *scan, struct pe_mm_head *out)
{
	static const char *const objects[] = {"matrix", NULL};
	static const char *const formats[] = {"coordinate", "array", NULL};
	static const char *const fields[] = {"real", "integer", "pattern", "complex", "double", NULL};
	static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric", "hermitian", NULL};
	const char *text;
	size_t size;
	pe_scan_word(scan, "", &text, &size);
	if (next_word(scan, objects, &text, &size) < 0)
		return wrong_word(scan, text, size, "an object that is read", "matrix");
	int format = next_word(scan, formats, &text, &size);
	if (format < 0)
		return wrong_word(scan, text, size, "a format", "coordinate, array");
	int field = next_word(scan, fields, &text, &size);
	if (field < 0)
		return wrong_word(scan, text, size, "a type of values", "real, integer, complex, pattern");
	int symmetry = next_word(scan, symmetries, &text, &size);
	if (symmetry < 0)
		return wrong_word(scan, text, size, "a symmetry", "general, symmetric, skew-symmetric, hermitian");
	pe_scan_blanks(scan);
	if (!pe_scan_at_line_end(scan))
		return pe_scan_fail(scan, "there is more in the banner than it should hold");
	out->array = format == 1;
	out->pattern = field == PATTERN;
	out->symmetry = symmetry == 3 ? PE_MM_GENERAL : (enum pe_mm_symmetry)symmetry;
	out->integral = field == INTEGER;
	out->min = out->integral ? -9223372036854775808.0 : -DBL_MAX;
	out->max = out->integral ? 18446744073709551615.0 : DBL_MAX;
	return check_combination(scan, out, field == 4 ? REAL : (enum field)field, symmetry == 3);
}

/* ---- the type line ------------------------------------------------------------------ */

static const struct type {
	const char *name;
	double min, max;
	bool integral;
} types[] = {
	{"bool", 0, 1, true},
	{"int8_t", -128, 127, true},
	{"int16_t", -32768, 32767, true},
	{"int32_t", -2147483648.0, 2147483647.0, true},
	{"int64_t", -9223372036854775808.0, 9223372036854775807.0, true},
	{"uint8_t", 0, 255, true},
	{"uint16_t", 0, 65535, true},
	{"uint32_t", 0, 4294967295.0, true},
	{"uint64_t", 0, 18446744073709551615.0, true},
	{"float", -FLT_MAX, FLT_MAX, false},
	{"double", -DBL_MAX, DBL_MAX, false},
};

static pe_status set_type(const struct pe_scan *scan, const struct type *type, struct pe_mm_head *out)
{
	if (out->symmetry == PE_MM_SKEW && type->min == 0)
		return pe_scan_fail(
			scan, "a skew-symmetric matrix cannot be of type %s, which has no negative values", type->name);
	out->boolean = type == &types[0];
	out->integral = type->integral;
	out->min = type->min;
	out->max = type->max;
	return PE_OK;
}

/* "%%GraphBLAS type X"; any other comment is one. */
static pe_status read_comment(struct pe_scan *scan, struct pe_mm_head *out)
{
	const char *text;
	size_t size;
	pe_scan_word(scan, "", &text, &size);
	if (!is_word(text, size, "%%GraphBLAS"))
		return PE_OK;
	pe_scan_word(scan, "", &text, &size);
	if (!is_word(text, size, "type"))
		return PE_OK;
	pe_scan_word(scan, "", &text, &size);
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (is_word(text, size, types[i].name)) {
			pe_scan_word(scan, "", &text, &size);
			if (size == 0)
				return set_type(scan, &types[i], out);
			break; /* "float complex" */
		}
	pe_scan_line(scan, &text, &size);
	return pe_scan_fail(scan, "the type line names none of the types bool, int8_t … uint64_t, float, double");
}

/* ---- sizes -------------------------------------------------------------------------- */

bool pe_mm_next_entry(struct pe_scan *scan)
{
	for (;;) {
		pe_scan_blanks(scan);
		if (!pe_scan_at_line_end(scan) && *scan->at != '%')
			return true;
		if (!pe_scan_next_line(scan))
			return false;
	}
}

static int64_t count_words(struct pe_scan scan)
{
	const char *text;
	size_t size;
	int64_t count = -1;
	do {
		pe_scan_word(&scan, "", &text, &size);
		count++;
	} while (size > 0);
	return count;
}

/* No banner: three sizes are of a coordinate matrix, two of an array. */
static void guess_banner(struct pe_scan scan, struct pe_mm_head *out)
{
	*out = (struct pe_mm_head){.array = pe_mm_next_entry(&scan) && count_words(scan) == 2};
	if (!out->array && pe_scan_next_line(&scan) && pe_mm_next_entry(&scan))
		out->pattern = count_words(scan) == 2;
	out->min = -DBL_MAX;
	out->max = DBL_MAX;
}

static pe_status array_entries(const struct pe_scan *scan, size_t size, struct pe_mm_head *out)
{
	int64_t n = out->n;
	if (!pe_mul(n, n, &out->entries) || out->entries / 2 > (int64_t)size)
		return pe_scan_fail(scan, "an array of %" PRId64 " by %" PRId64 " does not fit into the file", n, n);
	if (out->symmetry != PE_MM_GENERAL)
		out->entries = n * (n + (out->symmetry == PE_MM_SYMMETRIC ? 1 : -1)) / 2;
	return PE_OK;
}

static pe_status read_sizes(struct pe_scan *scan, size_t size, struct pe_mm_head *out)
{
	int64_t rows, columns;
	PE_TRY(pe_scan_i64(scan, "the number of rows", 0, INT64_MAX, &rows));
	PE_TRY(pe_scan_i64(scan, "the number of columns", 0, INT64_MAX, &columns));
	if (!out->array)
		PE_TRY(pe_scan_i64(scan, "the number of entries", 0, INT64_MAX, &out->entries));
	pe_scan_blanks(scan);
	if (!pe_scan_at_line_end(scan))
		return pe_scan_fail(scan, "there is more on the line of sizes than it should hold");
	if (rows != columns)
		return pe_scan_fail(scan,
			"the matrix has %" PRId64 " rows and %" PRId64 " columns; that of a graph is square", rows,
			columns);
	if (rows > PE_MAX_NODES || pe_nodes_excessive(rows, size))
		return pe_scan_fail(scan, "%" PRId64 " rows in a file this small: refused as damaged", rows);
	out->n = rows;
	return out->array ? array_entries(scan, size, out) : PE_OK;
}

static bool has_banner(const struct pe_scan *scan)
{
	return scan->end - scan->at >= 14 && strncasecmp(scan->at, "%%MatrixMarket", 14) == 0;
}

pe_status pe_mm_read_head(struct pe_scan *scan, size_t size, bool guess, struct pe_mm_head *out)
{
	*out = (struct pe_mm_head){0};
	if (has_banner(scan)) {
		PE_TRY(read_banner(scan, out));
		(void)pe_scan_next_line(scan);
	} else if (guess) {
		guess_banner(*scan, out);
	} else {
		return pe_scan_fail(scan,
			"the first line is not a %%%%MatrixMarket banner (--from mtx reads the "
			"file without one)");
	}
	for (;;) {
		pe_scan_blanks(scan);
		if (!pe_scan_at_line_end(scan) && *scan->at == '%')
			PE_TRY(read_comment(scan, out));
		else if (!pe_scan_at_line_end(scan))
			return read_sizes(scan, size, out);
		if (!pe_scan_next_line(scan))
			return pe_scan_fail(scan, "the file ends before the line of sizes");
	}
}
