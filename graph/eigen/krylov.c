/* SPDX-License-Identifier: BSD-2-Clause */
#include "krylov.h"

#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "linalg/dense.h"
#include "linalg/panel.h"
#include "rng.h"

/* A column that loses this much to the others was a combination of them. */
#define DEPENDENT 1e-11
#define ROWS 1024 /* of the basis, rotated at a time */

static double *column(const struct pe_krylov *k, int64_t j)
{
	return k->basis + j * k->n;
}

pe_status pe_krylov_create(pe_context *ctx, int32_t n, int32_t capacity, int32_t block, const double *null,
	uint64_t stream, struct pe_krylov *out)
{
	capacity = (int32_t)pe_min((int64_t)capacity + 1, n);
	*out = (struct pe_krylov){.ctx = ctx,
		.n = n,
		.capacity = capacity,
		.block = (int32_t)pe_min(block, PE_KRYLOV_MAX_BLOCK),
		.stream = stream};
	int64_t entries;
	if (!pe_mul(n, capacity, &entries))
		return pe_fail(ctx, PE_ERR_NOMEM, "%d vectors of %d numbers do not fit", capacity, n);
	out->basis = pe_alloc(ctx, entries, sizeof *out->basis);
	out->projected = pe_alloc_zero(ctx, (int64_t)capacity * capacity, sizeof *out->projected);
	out->ritz = pe_alloc(ctx, (int64_t)capacity * capacity, sizeof *out->ritz);
	out->theta = pe_alloc(ctx, capacity, 2 * sizeof *out->theta);
	out->small = pe_alloc(ctx, capacity, (PE_KRYLOV_MAX_BLOCK + 1) * sizeof *out->small);
	if (!out->basis || !out->projected || !out->ritz || !out->theta || !out->small) {
		pe_krylov_free(out);
		return PE_ERR_NOMEM;
	}
	out->error = out->theta + capacity;
	pe_krylov_fix(out, 1, null);
	return PE_OK;
}

void pe_krylov_free(struct pe_krylov *k)
{
	pe_free(k->ctx, k->basis);
	pe_free(k->ctx, k->projected);
	pe_free(k->ctx, k->ritz);
	pe_free(k->ctx, k->theta);
	pe_free(k->ctx, k->small);
	k->basis = k->projected = k->ritz = k->theta = k->error = k->small = NULL;
}

void pe_krylov_fix(struct pe_krylov *k, int32_t count, const double *vectors)
{
	memcpy(column(k, k->fixed), vectors, (size_t)k->n * (size_t)count * sizeof *vectors);
	k->fixed += count;
	k->active = k->pending = 0;
}

/* The square may be beyond what a double holds: then BLAS, which takes care, but is slow. */
static double norm_of(const struct pe_krylov *k, const double *x)
{
	double square;
	k->ctx->kernels->tall_dot(k->n, 1, x, 1, x, &square, 1);
	return square > 1e-280 && square < 1e280 ? sqrt(square) : pe_panel_norm(k->n, x);
}

static void draw(struct pe_krylov *k, double *x)
{
	uint64_t first = k->drawn++ * (((uint64_t)k->n + 3) / 4);
	for (int32_t i = 0; i < k->n; i += 4) {
		uint32_t word[4];
		pe_rng_block(k->ctx->seed, k->stream, first + (uint64_t)i / 4, word);
		for (int32_t j = 0; j < 4 && i + j < k->n; j++)
			x[i + j] = word[j] / 2147483648.0 - 1;
	}
}

/* x ← x less what it has along the basis columns from … before-1, for count vectors. */
static void project_out(struct pe_krylov *k, int32_t from, int32_t before, int32_t count, double *x)
{
	const struct pe_kernels *kernels = k->ctx->kernels;
	kernels->tall_dot(k->n, before - from, column(k, from), count, x, k->small, k->capacity);
	kernels->tall_subtract(k->n, before - from, column(k, from), count, k->small, k->capacity, x);
}

/* Column `at` without what it has along those from … at-1, until there is nothing left; its norm. */
static double purge(struct pe_krylov *k, int32_t from, int32_t at)
{
	double *x = column(k, at), norm = norm_of(k, x), before;
	for (int32_t pass = 0; pass < 4; pass++) {
		before = norm;
		project_out(k, from, at, 1, x);
		norm = norm_of(k, x);
		if (norm > 0.5 * before)
			break;
		from = 0; /* cancellation brings back all the others */
	}
	return norm;
}

/* Makes the columns after all others, `count` of them, a pending block: orthonormal, and orthogonal to
 * those before. Columns that depend on others are replaced by random ones. The last `coupled` columns are
 * those that the new ones have large parts along. */
static void append(struct pe_krylov *k, int32_t coupled, int32_t count)
{
	int32_t before = k->fixed + k->active;
	double *x = column(k, before), whole[PE_KRYLOV_MAX_BLOCK];
	for (int32_t j = 0; j < count; j++)
		whole[j] = norm_of(k, x + (int64_t)j * k->n);
	project_out(k, before - coupled, before, count, x);
	project_out(k, 0, before, count, x);
	k->replaced = 0;
	for (int32_t j = 0; j < count; j++, x += k->n) {
		double norm = purge(k, before, before + j);
		if (norm < 1e-3 * whole[j] && norm > DEPENDENT * whole[j])
			norm = purge(k, 0, before + j);
		k->replaced += !(norm > DEPENDENT * whole[j]);
		for (int32_t tries = 0; tries < 8 && !(norm > DEPENDENT * whole[j]); tries++) {
			draw(k, x);
			whole[j] = norm_of(k, x);
			norm = purge(k, 0, before + j);
		}
		for (int32_t i = 0; i < k->n; i++)
			x[i] /= norm;
	}
	k->pending = count;
}

/* Columns that may still be added. */
static int32_t room(const struct pe_krylov *k)
{
	return k->capacity - k->fixed - k->active - k->pending;
}

void pe_krylov_start(struct pe_krylov *k)
{
	int32_t count = (int32_t)pe_min(k->block, room(k));
	for (int32_t j = 0; j < count; j++)
		draw(k, column(k, k->fixed + k->active + j));
	append(k, 0, count);
	k->coupled = 0;
}

bool pe_krylov_can_step(const struct pe_krylov *k)
{
	return k->pending > 0 && (room(k) >= k->pending || k->capacity == k->n);
}

pe_status pe_krylov_step(struct pe_krylov *k)
{
	int32_t used = k->fixed + k->active, count = k->pending;
	double *x = pe_alloc(k->ctx, (int64_t)k->n * count, sizeof *x);
	if (!x)
		return PE_ERR_NOMEM;
	memcpy(x, column(k, used), (size_t)k->n * (size_t)count * sizeof *x);
	pe_status status = k->apply(k->ctx, k->arg, count, x);
	if (status != PE_OK)
		goto done;
	int32_t fresh = (int32_t)pe_min(count, room(k)); /* fewer when the basis is the whole space */
	k->applied += count;
	k->active += count;
	k->pending = 0;
	memcpy(column(k, used + count), x, (size_t)k->n * (size_t)fresh * sizeof *x);
	append(k, (int32_t)pe_min(k->coupled + count, k->active), fresh);
	k->coupled = count;
	int32_t first = k->active - count;
	memset(k->projected + (int64_t)first * k->capacity, 0,
		(size_t)k->capacity * (size_t)count * sizeof *k->projected);
	k->ctx->kernels->tall_dot(k->n, count + fresh, column(k, used), count, x,
		k->projected + (int64_t)first * (k->capacity + 1), k->capacity);
done:
	pe_free(k->ctx, x);
	return status;
}

/* The norms of the coupling rows times each Ritz vector. */
static void measure_errors(struct pe_krylov *k)
{
	for (int32_t j = 0; j < k->active; j++) {
		const double *s = k->ritz + (int64_t)j * k->capacity;
		double sum = 0;
		for (int32_t r = 0; r < k->pending; r++) {
			double entry = 0;
			for (int32_t i = k->active - k->coupled; i < k->active; i++)
				entry += k->projected[(int64_t)i * k->capacity + k->active + r] * s[i];
			sum += entry * entry;
		}
		k->error[j] = sqrt(sum);
	}
}

pe_status pe_krylov_ritz(struct pe_krylov *k)
{
	int32_t m = k->active;
	double *a = pe_alloc(k->ctx, (int64_t)m + 1, (size_t)m * sizeof *a);
	if (!a)
		return PE_ERR_NOMEM;
	double *values = a + (int64_t)m * m;
	for (int32_t j = 0; j < m; j++)
		memcpy(a + (int64_t)j * m, k->projected + (int64_t)j * k->capacity, (size_t)m * sizeof *a);
	pe_status status = pe_dense_eigen(k->ctx, m, a, values);
	for (int32_t j = 0; j < m && status == PE_OK; j++) {
		k->theta[j] = values[m - 1 - j];
		memcpy(k->ritz + (int64_t)j * k->capacity, a + (int64_t)(m - 1 - j) * m, (size_t)m * sizeof *a);
	}
	if (status == PE_OK)
		measure_errors(k);
	pe_free(k->ctx, a);
	return status;
}

/* Rows first … first+rows-1 of the active columns ← those rows times ritz, by way of scratch. */
static void rotate_rows(struct pe_krylov *k, int32_t first, int32_t rows, int32_t keep, double *scratch)
{
	double *out = scratch + (int64_t)ROWS * k->active;
	for (int32_t j = 0; j < k->active; j++)
		memcpy(scratch + (int64_t)j * rows, column(k, k->fixed + j) + first, (size_t)rows * sizeof *scratch);
	pe_panel_multiply(rows, k->active, scratch, keep, k->ritz, k->capacity, 1, 0, out);
	for (int32_t j = 0; j < keep; j++)
		memcpy(column(k, k->fixed + j) + first, out + (int64_t)j * rows, (size_t)rows * sizeof *out);
}

/* The projected matrix in terms of the first keep Ritz vectors, the coupling rows below. */
static void rotate_projected(struct pe_krylov *k, int32_t keep, double *coupling)
{
	int32_t b = k->pending;
	for (int32_t j = 0; j < keep; j++)
		for (int32_t r = 0; r < b; r++) {
			double sum = 0;
			for (int32_t i = k->active - k->coupled; i < k->active; i++)
				sum += k->projected[(int64_t)i * k->capacity + k->active + r] *
					k->ritz[(int64_t)j * k->capacity + i];
			coupling[(int64_t)j * b + r] = sum;
		}
	for (int32_t j = 0; j < keep; j++) {
		double *out = k->projected + (int64_t)j * k->capacity;
		memset(out, 0, (size_t)k->capacity * sizeof *out);
		out[j] = k->theta[j];
		memcpy(out + keep, coupling + (int64_t)j * b, (size_t)b * sizeof *out);
	}
}

pe_status pe_krylov_restart(struct pe_krylov *k, int32_t keep)
{
	double *scratch = pe_alloc(k->ctx, (int64_t)k->active + keep, ROWS * sizeof *scratch);
	double *coupling = pe_alloc(k->ctx, (int64_t)keep * k->pending, sizeof *coupling);
	pe_status status = PE_ERR_NOMEM;
	if (!scratch || !coupling)
		goto done;
	for (int32_t first = 0; first < k->n; first += ROWS)
		rotate_rows(k, first, (int32_t)pe_min(ROWS, k->n - first), keep, scratch);
	memmove(column(k, k->fixed + keep), column(k, k->fixed + k->active),
		(size_t)k->n * (size_t)k->pending * sizeof *k->basis);
	rotate_projected(k, keep, coupling);
	k->active = k->coupled = keep;
	status = PE_OK;
done:
	pe_free(k->ctx, scratch);
	pe_free(k->ctx, coupling);
	return status;
}

pe_status pe_krylov_reseed(struct pe_krylov *k)
{
	PE_TRY(pe_krylov_restart(k, (int32_t)pe_min(k->block, k->active)));
	k->pending = k->active;
	k->active = k->coupled = 0;
	return PE_OK;
}

void pe_krylov_vectors(struct pe_krylov *k, int32_t count, double *out)
{
	pe_panel_multiply(k->n, k->active, column(k, k->fixed), count, k->ritz, k->capacity, 1, 0, out);
	double *coupling = k->small;
	for (int32_t j = 0; j < count && k->pending > 0; j++) {
		if (!(k->theta[j] > 1e-8 * k->theta[0]))
			break; /* not from the end that is searched: nothing to gain */
		for (int32_t r = 0; r < k->pending; r++) {
			coupling[r] = 0;
			for (int32_t i = k->active - k->coupled; i < k->active; i++)
				coupling[r] += k->projected[(int64_t)i * k->capacity + k->active + r] *
					k->ritz[(int64_t)j * k->capacity + i];
			coupling[r] /= k->theta[j];
		}
		pe_panel_multiply(k->n, k->pending, column(k, k->fixed + k->active), 1, coupling, k->capacity, 1, 1,
			out + (int64_t)j * k->n);
	}
}
