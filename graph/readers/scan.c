/* SPDX-License-Identifier: BSD-2-Clause */
#include "scan.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "number.h"

struct pe_scan pe_scan_start(pe_context *ctx, const struct pe_source *source)
{
	struct pe_scan scan = {
		.ctx = ctx,
		.name = source->name ? source->name : "input",
		.at = source->data,
		.end = source->data ? source->data + source->size : source->data,
		.line = 1,
	};
	if (source->size >= 3 && memcmp(source->data, "\xEF\xBB\xBF", 3) == 0)
		scan.at += 3;
	return scan;
}

pe_status pe_scan_fail(const struct pe_scan *scan, const char *format, ...)
{
	char text[768];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	return pe_fail(scan->ctx, PE_ERR_FORMAT, "%s:%" PRId64 ": %s", scan->name, scan->line, text);
}

/* ---- moving ------------------------------------------------------------------------- */

bool pe_scan_at_end(const struct pe_scan *scan)
{
	return scan->at == scan->end;
}

static bool is_line_end(const char *at, const char *end)
{
	return at == end || *at == '\n' || (*at == '\r' && (at + 1 == end || at[1] == '\n'));
}

bool pe_scan_at_line_end(const struct pe_scan *scan)
{
	return is_line_end(scan->at, scan->end);
}

void pe_scan_blanks(struct pe_scan *scan)
{
	while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\t'))
		scan->at++;
	if (scan->at < scan->end && *scan->at == '\r' && is_line_end(scan->at, scan->end))
		scan->at++;
}

bool pe_scan_next_line(struct pe_scan *scan)
{
	const char *feed = pe_scan_at_end(scan) ? NULL : memchr(scan->at, '\n', (size_t)(scan->end - scan->at));
	if (!feed) {
		scan->at = scan->end;
		return false;
	}
	scan->at = feed + 1;
	scan->line++;
	return !pe_scan_at_end(scan);
}

void pe_scan_line(const struct pe_scan *scan, const char **text, size_t *size)
{
	size_t left = (size_t)(scan->end - scan->at);
	const char *feed = left ? memchr(scan->at, '\n', left) : NULL;
	size_t length = feed ? (size_t)(feed - scan->at) : left;
	*text = scan->at;
	*size = length > 0 && scan->at[length - 1] == '\r' ? length - 1 : length;
}

static bool is_one_of(const char *set, char c)
{
	for (; *set; set++)
		if (*set == c)
			return true;
	return false;
}

void pe_scan_word(struct pe_scan *scan, const char *stops, const char **text, size_t *size)
{
	pe_scan_blanks(scan);
	const char *at = scan->at;
	while (!is_line_end(at, scan->end) && *at != ' ' && *at != '\t' && !is_one_of(stops, *at))
		at++;
	*text = scan->at;
	*size = (size_t)(at - scan->at);
	scan->at = at;
}

/* ---- numbers ------------------------------------------------------------------------ */

static bool ends_number(const char *at, const char *end)
{
	return is_line_end(at, end) || *at == ' ' || *at == '\t' || *at == ',' || *at == ';';
}

/* The word that should be a number; fails where there is none. */
static pe_status number_text(struct pe_scan *scan, const char *what, const char **text, size_t *size)
{
	pe_scan_word(scan, ",;", text, size);
	if (*size > 0)
		return PE_OK;
	if (pe_scan_at_end(scan))
		return pe_scan_fail(scan, "the text ends where %s should be", what);
	if (pe_scan_at_line_end(scan))
		return pe_scan_fail(scan, "the line ends where %s should be", what);
	return pe_scan_fail(scan, "there is a '%c' where %s should be", *scan->at, what);
}

/* Words are quoted in messages only so far. */
static int shown(size_t size)
{
	return size < 40 ? (int)size : 40;
}

static bool is_integer(const char *text, size_t size)
{
	size_t sign = text[0] == '-' || text[0] == '+';
	for (size_t i = sign; i < size; i++)
		if (text[i] < '0' || text[i] > '9')
			return false;
	return size > sign;
}

static pe_status out_of_range(
	const struct pe_scan *scan, const char *what, const char *text, size_t size, int64_t min, int64_t max)
{
	if (max == INT64_MAX && min > INT64_MIN)
		return pe_scan_fail(
			scan, "%s cannot be %.*s: it must be at least %" PRId64, what, shown(size), text, min);
	if (max == INT64_MAX)
		return pe_scan_fail(scan, "%s cannot be %.*s: it must fit into 64 bits", what, shown(size), text);
	return pe_scan_fail(scan, "%s cannot be %.*s: it must be from %" PRId64 " to %" PRId64, what, shown(size),
		text, min, max);
}

static pe_status slow_i64(struct pe_scan *scan, const char *what, int64_t min, int64_t max, int64_t *out)
{
	const char *text;
	size_t size;
	PE_TRY(number_text(scan, what, &text, &size));
	if (!is_integer(text, size))
		return pe_scan_fail(scan, "\"%.*s\" is not %s, which must be an integer", shown(size), text, what);
	int64_t value;
	if (!pe_parse_i64(text, size, &value) || value < min || value > max)
		return out_of_range(scan, what, text, size, min, max);
	*out = value;
	return PE_OK;
}

pe_status pe_scan_i64(struct pe_scan *scan, const char *what, int64_t min, int64_t max, int64_t *out)
{
	while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\t'))
		scan->at++;
	if (scan->end - scan->at >= 8) {
		int count;
		int64_t value = pe_scan_digits8(scan->at, &count);
		if (count > 0 && count < 8 && value >= min && value <= max &&
			ends_number(scan->at + count, scan->end)) {
			scan->at += count;
			*out = value;
			return PE_OK;
		}
	}
	return slow_i64(scan, what, min, max, out);
}

static pe_status slow_f64(struct pe_scan *scan, const char *what, double *out)
{
	const char *text;
	size_t size;
	PE_TRY(number_text(scan, what, &text, &size));
	double value;
	if (!pe_parse_f64(text, size, &value))
		return pe_scan_fail(scan, "\"%.*s\" is not %s, which must be a number", shown(size), text, what);
	if (isnan(value))
		return pe_scan_fail(scan, "%s is \"%.*s\": it must be a finite number", what, shown(size), text);
	if (isinf(value))
		return pe_scan_fail(scan, "%s is %.*s, which is infinite or too large: it must be a finite number",
			what, shown(size), text);
	*out = value;
	return PE_OK;
}

pe_status pe_scan_f64(struct pe_scan *scan, const char *what, double *out)
{
	while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\t'))
		scan->at++;
	double value;
	size_t length = pe_parse_decimal(scan->at, (size_t)(scan->end - scan->at), &value);
	if (length == 0 || !ends_number(scan->at + length, scan->end))
		return slow_f64(scan, what, out);
	scan->at += length;
	*out = value;
	return PE_OK;
}
