/* SPDX-License-Identifier: BSD-2-Clause */
#include "shared_rows.h"

#include <string.h>

#include "kernels/kernels.h"
#include "pool.h"

/* Tokens are written in groups of LINES lines of a grid, column by column: the numbers of a column are read
 * once for all of them, from the nearest cache after that. */
enum { LINES = 2, COLUMNS = 64 };

int64_t pe_shared_rows_width(const struct pe_shared_rows *rows)
{
	int64_t sum = 0;
	for (int i = 0; i < rows->parts; i++)
		sum += rows->widths[i];
	return sum;
}

void pe_shared_row(const pe_encoding *e, const struct pe_shared_rows *rows, const double *numbers,
	int64_t batch, int64_t token, double *out)
{
	int64_t starts[PE_MAX_PARTS];
	if (!rows->find(e, batch, token, starts)) {
		for (int64_t i = 0, width = pe_shared_rows_width(rows); i < width; i++)
			out[i] = rows->absent;
		return;
	}
	for (int i = 0; i < rows->parts; out += rows->widths[i++])
		memcpy(out, numbers + starts[i], (size_t)rows->widths[i] * sizeof *out);
}

struct work {
	const pe_encoding *e;
	const struct pe_shared_rows *rows;
	const double *numbers;
	const char *rounded; /* they, in y's type; NULL: elements of y are apart from each other */
	const pe_tensor *y;
	bool stream;
	int64_t width, size; /* of a row, in elements; of an element, in bytes */
	/* The domain as lines of `columns` tokens, cut into blocks of `lines` lines and COLUMNS columns. */
	int64_t columns, lines, line_blocks, column_blocks;
};

static void copy_token(const pe_context *worker, const struct work *w, int64_t batch, int64_t token, char *to)
{
	const struct pe_shared_rows *rows = w->rows;
	int64_t starts[PE_MAX_PARTS];
	if (!rows->find(w->e, batch, token, starts)) {
		pe_store_f64(to, w->y->dtype, 1, &rows->absent, 0, w->width);
		return;
	}
	for (int i = 0; i < rows->parts; i++) {
		int64_t bytes = rows->widths[i] * w->size;
		worker->kernels->copy(to, w->rounded + starts[i] * w->size, bytes, w->stream);
		to += bytes;
	}
}

static void store_token(const struct work *w, int64_t batch, int64_t token, double *row, char *to)
{
	pe_shared_row(w->e, w->rows, w->numbers, batch, token, row);
	pe_store_f64(to, w->y->dtype, w->y->strides[2], row, 1, w->width);
}

/* At most LINES lines of one block; row NULL: copies. */
static void do_lines(const pe_context *worker, const struct work *w, int64_t batch, int64_t first_line,
	int64_t first_column, double *row)
{
	int64_t columns = pe_min(COLUMNS, w->columns - first_column), tokens = w->e->domain->tokens;
	int64_t first = first_line * w->columns + first_column, step = w->y->strides[1] * w->size;
	if (first >= tokens)
		return;
	char *to = pe_tensor_at(w->y, batch, first, 0);
	for (int64_t c = 0; c < columns; c++)
		for (int64_t i = c; i < c + LINES * w->columns && first + i < tokens; i += w->columns)
			if (row)
				store_token(w, batch, first + i, row, to + i * step);
			else
				copy_token(worker, w, batch, first + i, to + i * step);
}

static pe_status do_block(pe_context *worker, void *arg, int64_t chunk)
{
	const struct work *w = arg;
	int64_t column = chunk % w->column_blocks * COLUMNS;
	int64_t line = chunk / w->column_blocks % w->line_blocks * w->lines;
	int64_t batch = chunk / w->column_blocks / w->line_blocks;
	double *row = NULL;
	if (!w->rounded && !(row = pe_alloc(worker, w->width, sizeof *row)))
		return PE_ERR_NOMEM;
	for (int64_t i = 0; i < w->lines; i += LINES)
		do_lines(worker, w, batch, line + i, column, row);
	if (w->stream)
		worker->kernels->copy_fence();
	pe_free(worker, row);
	return PE_OK;
}

static int64_t divide_up(int64_t a, int64_t b)
{
	return a / b + (a % b != 0);
}

/* Whether every part of a row fills whole lines of the cache. */
static bool is_in_lines(const struct work *w)
{
	int64_t bits =
		(int64_t)((uintptr_t)w->y->data % 64) | w->y->strides[0] * w->size | w->y->strides[1] * w->size;
	for (int i = 0; i < w->rows->parts; i++)
		bits |= w->rows->widths[i] * w->size;
	return bits % 64 == 0;
}

pe_status pe_shared_rows_write(pe_encoding *e, const struct pe_shared_rows *rows, const double *numbers,
	int64_t count, const pe_tensor *y)
{
	const pe_domain *domain = e->domain;
	struct work w = {.e = e, .rows = rows, .numbers = numbers, .y = y, .columns = rows->columns};
	w.width = pe_shared_rows_width(rows);
	w.size = (int64_t)pe_dtype_size(y->dtype);
	w.lines = LINES * divide_up(COLUMNS, pe_min(w.columns, COLUMNS));
	w.line_blocks = divide_up(divide_up(domain->tokens, w.columns), w.lines);
	w.column_blocks = divide_up(w.columns, COLUMNS);
	w.stream = pe_tensor_bytes(y) >= PE_PAST_CACHES && is_in_lines(&w);
	void *rounded = NULL;
	if (y->strides[2] == 1) {
		rounded = pe_alloc(e->ctx, count, pe_dtype_size(y->dtype));
		if (!rounded)
			return PE_ERR_NOMEM;
		pe_store_f64(rounded, y->dtype, 1, numbers, 1, count);
		w.rounded = rounded;
	}
	pe_status status = pe_parallel(
		e->ctx, domain->batch * w.line_blocks * w.column_blocks, do_block, &w, e->encoder->table.name);
	pe_free(e->ctx, rounded);
	return status;
}
