/* SPDX-License-Identifier: BSD-2-Clause
 * With V orthonormal, P = VVᵀ, and row i of V as w_i: ‖P e_i‖ = ‖w_i‖ and P e_i = V w_i, so the
 * basis is Gram-Schmidt with pivoting on the rows of V: VQ, Q orthogonal of the dimension. A class of m
 * nodes adds I - 11ᵀ/m on them to P, so it adds e_i - 1/m to w_i, as so many numbers more. */
#include "canonical.h"

#include <math.h>
#include <string.h>

/* Doubles that need no allocation: a few vectors of a small graph, as most groups are. */
#define LITTLE 512
#define CHUNK 256 /* rows at a time */

/* ---- basis -------------------------------------------------------------------------- */

struct part_work {
	double *squares; /* n: the square norm of what is left of w_i */
	double *entry;   /* n: scratch */
	double *used;    /* (taken, width): the directions q taken so far, each ‖q‖ = 1 */
	int64_t width;   /* of a direction: the vectors, then the members of the classes */
	int32_t taken;
};

static void load_part(const struct pe_canonical_part *part, struct part_work *work)
{
	memset(work->squares, 0, (size_t)part->n * sizeof *work->squares);
	for (int32_t j = 0; j < part->dimension; j++)
		for (int32_t i = 0; i < part->n; i++) {
			double x = part->vectors[j][i * part->step];
			work->squares[i] += x * x;
		}
	for (int32_t c = 0; c < part->class_count; c++)
		for (int32_t i = 0; i < part->classes[c].size; i++)
			work->squares[part->classes[c].member[i]] += 1 - 1.0 / part->classes[c].size;
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

/* Sums of so many numbers at a time: a long sum of small equal ones would be off on one side. */
static double dot(const double *a, const double *b, int64_t m)
{
	double all = 0;
	for (int64_t first = 0; first < m; first += CHUNK) {
		double sum = 0;
		for (int64_t j = first; j < pe_min(first + CHUNK, m); j++)
			sum += a[j] * b[j];
		all += sum;
	}
	return all;
}

/* q ← w_i */
static void begin_direction(const struct pe_canonical_part *part, int32_t i, double *q)
{
	for (int32_t j = 0; j < part->dimension; j++)
		*q++ = part->vectors[j][i * part->step];
	for (int32_t c = 0; c < part->class_count; c++) {
		const struct pe_canonical_class *class = &part->classes[c];
		bool has = false;
		for (int32_t t = 0; t < class->size; t++)
			has |= class->member[t] == i;
		for (int32_t t = 0; t < class->size; t++)
			*q++ = has ? (class->member[t] == i) - 1.0 / class->size : 0;
	}
}

/* What is left of w_i, unit. Orthogonal to those taken, which takes two passes. */
static const double *take_direction(const struct pe_canonical_part *part, struct part_work *work, int32_t i)
{
	int64_t m = work->width;
	double *q = work->used + work->taken * m;
	begin_direction(part, i, q);
	for (int pass = 0; pass < 2; pass++)
		for (int32_t t = 0; t < work->taken; t++) {
			const double *p = work->used + t * m;
			double s = dot(p, q, m);
			for (int64_t j = 0; j < m; j++)
				q[j] -= s * p[j];
		}
	double norm = sqrt(dot(q, q, m));
	for (int64_t j = 0; j < m; j++)
		q[j] /= norm;
	work->taken++;
	return q;
}

/* The basis vector of direction q: entry ← V q, and what q has of the classes. */
static void multiply(const struct pe_canonical_part *part, const double *q, double *entry)
{
	memset(entry, 0, (size_t)part->n * sizeof *entry);
	for (int32_t first = 0; first < part->n; first += CHUNK) {
		int32_t end = (int32_t)pe_min(first + CHUNK, part->n);
		for (int32_t j = 0; j < part->dimension; j++)
			for (int32_t r = first; r < end; r++)
				entry[r] += q[j] * part->vectors[j][r * part->step];
	}
	q += part->dimension;
	for (int32_t c = 0; c < part->class_count; c++)
		for (int32_t t = 0; t < part->classes[c].size; t++)
			entry[part->classes[c].member[t]] += *q++;
}

/* Takes axis i away from what is left of the part; its vector goes to column, unless that is NULL. */
static void take(
	const struct pe_canonical_part *part, struct part_work *work, int32_t i, double *column, int64_t stride)
{
	multiply(part, take_direction(part, work, i), work->entry);
	for (int32_t r = 0; r < part->n; r++) {
		double entry = work->entry[r], left = work->squares[r] - entry * entry;
		work->squares[r] = left > 0 ? left : 0;
		if (column)
			column[part->nodes[r] * stride] = entry;
	}
}

/* Numbers in a direction. */
static int64_t width_of(const struct pe_canonical_part *part)
{
	int64_t width = part->dimension;
	for (int32_t c = 0; c < part->class_count; c++)
		width += part->classes[c].size;
	return width;
}

/* What a part works with, of which at most `end` directions are taken. */
static int64_t doubles_of(const struct pe_canonical_part *part, int64_t end)
{
	int64_t width = width_of(part);
	return 2 * (int64_t)part->n + width * pe_min(end, width);
}

static int64_t bytes_of(const struct pe_canonical_part *parts, int64_t count, int64_t end)
{
	int64_t doubles = 0;
	for (int64_t c = 0; c < count; c++)
		doubles += doubles_of(&parts[c], end);
	return count * (int64_t)sizeof(struct part_work) + doubles * (int64_t)sizeof(double);
}

/* What each part works with, and behind all of these their numbers. */
static struct part_work *prepare(
	const struct pe_canonical_part *parts, int64_t count, int64_t end, void *memory)
{
	struct part_work *work = memory;
	double *at = (double *)(work + count);
	for (int64_t c = 0; c < count; c++) {
		int64_t n = parts[c].n;
		work[c] = (struct part_work){
			.squares = at, .entry = at + n, .used = at + 2 * n, .width = width_of(&parts[c])};
		at += doubles_of(&parts[c], end);
		load_part(&parts[c], &work[c]);
	}
	return work;
}

pe_status pe_canonical_basis(pe_context *ctx, const struct pe_canonical_part *parts, int64_t count,
	int64_t skip, int64_t end, double *rows, int64_t stride)
{
	double little[LITTLE];
	int64_t bytes = bytes_of(parts, count, end);
	void *memory = bytes <= (int64_t)sizeof little ? little : pe_alloc(ctx, bytes, 1);
	if (!memory)
		return PE_ERR_NOMEM;
	struct part_work *work = prepare(parts, count, end, memory);
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
