/* SPDX-License-Identifier: BSD-2-Clause
 * With V orthonormal, P = VVᵀ, and row i of V as w_i: ‖P e_i‖ = ‖w_i‖ and P e_i = V w_i, so the
 * basis is Gram-Schmidt with pivoting on the rows of V: VQ, Q orthogonal of the dimension. */
#include "canonical.h"

#include <math.h>
#include <string.h>

/* Doubles that need no allocation: a few vectors of a small graph, as most groups are. */
#define LITTLE 512

/* ---- basis -------------------------------------------------------------------------- */

struct part_work {
	double *rows;    /* (n, dimension): what is left of w_i */
	double *squares; /* n: its square norm */
	double *used;    /* (dimension, dimension): the directions q taken so far */
	int32_t taken;
};

static void load_part(const struct pe_canonical_part *part, struct part_work *work)
{
	int32_t m = part->dimension;
	for (int32_t i = 0; i < part->n; i++) {
		double sum = 0;
		for (int32_t j = 0; j < m; j++) {
			double x = part->vectors[j][i * part->step];
			work->rows[(int64_t)i * m + j] = x;
			sum += x * x;
		}
		work->squares[i] = sum;
	}
}

/* The axis to take: part and place within it. */
static void choose(const struct pe_canonical_part *parts, const struct part_work *work, int64_t count,
	int64_t *part, int32_t *place)
{
	double largest = 0;
	for (int64_t c = 0; c < count; c++)
		for (int32_t i = 0; i < parts[c].n; i++)
			largest = work[c].squares[i] > largest ? work[c].squares[i] : largest;
	int32_t first = INT32_MAX;
	for (int64_t c = 0; c < count; c++)
		for (int32_t i = 0; i < parts[c].n; i++)
			if (work[c].squares[i] >= (1 - PE_CANONICAL_TIE) * largest && parts[c].nodes[i] < first) {
				first = parts[c].nodes[i];
				*part = c;
				*place = i;
			}
}

static double dot(const double *a, const double *b, int32_t m)
{
	double sum = 0;
	for (int32_t j = 0; j < m; j++)
		sum += a[j] * b[j];
	return sum;
}

/* Direction of what is left of w_i, made orthogonal to those taken once more: rounding in the rows
 * must not add up. */
static const double *take_direction(const struct pe_canonical_part *part, struct part_work *work, int32_t i)
{
	int32_t m = part->dimension;
	double *q = work->used + (int64_t)work->taken * m;
	memcpy(q, work->rows + (int64_t)i * m, (size_t)m * sizeof *q);
	for (int32_t t = 0; t < work->taken; t++) {
		const double *p = work->used + (int64_t)t * m;
		double s = dot(p, q, m);
		for (int32_t j = 0; j < m; j++)
			q[j] -= s * p[j];
	}
	double norm = sqrt(dot(q, q, m));
	for (int32_t j = 0; j < m; j++)
		q[j] /= norm;
	work->taken++;
	return q;
}

/* Takes axis i away from the part's rows; its vector goes to column, unless that is NULL. */
static void take(
	const struct pe_canonical_part *part, struct part_work *work, int32_t i, double *column, int64_t stride)
{
	int32_t m = part->dimension;
	const double *q = take_direction(part, work, i);
	for (int32_t r = 0; r < part->n; r++) {
		double *w = work->rows + (int64_t)r * m;
		double entry = dot(w, q, m), sum = 0;
		for (int32_t j = 0; j < m; j++) {
			w[j] -= entry * q[j];
			sum += w[j] * w[j];
		}
		work->squares[r] = sum;
		if (column)
			column[part->nodes[r] * stride] = entry;
	}
}

static int64_t doubles_of(const struct pe_canonical_part *part)
{
	int64_t n = part->n, m = part->dimension;
	return n * m + n + m * m;
}

static int64_t bytes_of(const struct pe_canonical_part *parts, int64_t count)
{
	int64_t doubles = 0;
	for (int64_t c = 0; c < count; c++)
		doubles += doubles_of(&parts[c]);
	return count * (int64_t)sizeof(struct part_work) + doubles * (int64_t)sizeof(double);
}

/* What each part works with, and behind all of these their numbers. */
static struct part_work *prepare(const struct pe_canonical_part *parts, int64_t count, void *memory)
{
	struct part_work *work = memory;
	double *at = (double *)(work + count);
	for (int64_t c = 0; c < count; c++) {
		int64_t n = parts[c].n, m = parts[c].dimension;
		work[c] = (struct part_work){.rows = at, .squares = at + n * m, .used = at + n * m + n};
		at += doubles_of(&parts[c]);
		load_part(&parts[c], &work[c]);
	}
	return work;
}

pe_status pe_canonical_basis(pe_context *ctx, const struct pe_canonical_part *parts, int64_t count,
	int64_t skip, int64_t end, double *rows, int64_t stride)
{
	double little[LITTLE];
	int64_t bytes = bytes_of(parts, count);
	void *memory = bytes <= (int64_t)sizeof little ? little : pe_alloc(ctx, bytes, 1);
	if (!memory)
		return PE_ERR_NOMEM;
	struct part_work *work = prepare(parts, count, memory);
	for (int64_t j = 0; j < end; j++) {
		int64_t part = 0;
		int32_t place = 0;
		choose(parts, work, count, &part, &place);
		take(&parts[part], &work[part], place, j < skip ? NULL : rows + (j - skip), stride);
	}
	if (memory != little)
		pe_free(ctx, memory);
	return PE_OK;
}

/* ---- sign --------------------------------------------------------------------------- */

#define TILE 8

/* Eight columns side by side, without branches: maxima, then the first of the large entries (from the
 * last row up, so that the first stays), then the signs. */
static void sign_tile(double *rows, int64_t n, int64_t stride)
{
	double largest[TILE] = {0}, first[TILE] = {0};
	for (int64_t i = 0; i < n; i++)
		for (int t = 0; t < TILE; t++) {
			double x = fabs(rows[i * stride + t]);
			largest[t] = x > largest[t] ? x : largest[t];
		}
	for (int t = 0; t < TILE; t++)
		largest[t] *= 1 - PE_CANONICAL_TIE;
	for (int64_t i = n - 1; i >= 0; i--)
		for (int t = 0; t < TILE; t++) {
			double x = rows[i * stride + t];
			first[t] = fabs(x) >= largest[t] ? x : first[t];
		}
	for (int t = 0; t < TILE; t++)
		first[t] = first[t] < 0 ? -1 : 1;
	for (int64_t i = 0; i < n; i++)
		for (int t = 0; t < TILE; t++) /* + 0: no negative zeros */
			rows[i * stride + t] = first[t] * rows[i * stride + t] + 0.0;
}

/* The same for one. */
static void sign_column(double *column, int64_t n, int64_t stride)
{
	double largest = 0, first = 0;
	for (int64_t i = 0; i < n; i++) {
		double x = fabs(column[i * stride]);
		largest = x > largest ? x : largest;
	}
	for (int64_t i = n - 1; i >= 0; i--) {
		double x = column[i * stride];
		first = fabs(x) >= (1 - PE_CANONICAL_TIE) * largest ? x : first;
	}
	for (int64_t i = 0; i < n; i++)
		column[i * stride] = (first < 0 ? -1 : 1) * column[i * stride] + 0.0;
}

void pe_canonical_sign(double *rows, int64_t n, int64_t stride, int64_t columns)
{
	int64_t j = 0;
	for (; j + TILE <= columns; j += TILE)
		sign_tile(rows + j, n, stride);
	for (; j < columns; j++)
		sign_column(rows + j, n, stride);
}
