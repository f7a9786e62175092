/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt_lap.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

/* ---- running ------------------------------------------------------------------------ */

static pe_tensor allocate(const pe_array_info *info, pe_dtype dtype)
{
	pe_tensor out = pe_tensor_dense(NULL, dtype, info->ndim, info->shape);
	out.data = malloc((size_t)pe_tensor_bytes(&out) + 1);
	assert_non_null(out.data);
	return out;
}

struct xt_lap xt_lap(pe_context *ctx, const pe_graph *graph, const char *settings)
{
	struct xt_lap lap = {0};
	pe_params *params;
	pe_domain *domain;
	pe_encoding *e = NULL;
	pe_array_info info;
	assert_int_equal(pe_params_create(ctx, "lap", &params), PE_OK);
	xt_set(params, settings);
	assert_int_equal(pe_domain_graph(ctx, graph, &domain), PE_OK);
	lap.status = pe_encoding_create(ctx, pe_encoder_find("lap"), params, domain, NULL, &e);
	if (lap.status == PE_OK) {
		pe_tensor outs[3];
		assert_int_equal(pe_encoding_array_count(e), 3);
		for (int i = 0; i < 3; i++) {
			assert_int_equal(pe_encoding_array(e, i, &info), PE_OK);
			outs[i] = allocate(&info, info.dtype);
		}
		lap.nodes = outs[0].shape[0];
		lap.k = outs[0].shape[1];
		lap.graphs = outs[2].shape[0];
		lap.vectors = outs[0].data;
		lap.values = outs[1].data;
		lap.groups = outs[2].data;
		lap.status = pe_encoding_compute(e, outs, 3);
		lap.quality = *pe_encoding_get_quality(e);
		lap.failed = malloc((size_t)lap.quality.failed * sizeof *lap.failed + 1);
		for (int64_t i = 0; i < lap.quality.failed; i++)
			lap.failed[i] = pe_encoding_failed(e)[i];
	}
	strcpy(lap.message, pe_context_message(ctx));
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	pe_params_destroy(&params);
	return lap;
}

struct xt_lap xt_lap_of(
	pe_context *ctx, const struct xt_edges *edges, const char *graph_settings, const char *settings)
{
	pe_graph *graph = xt_graph(ctx, edges, 1, graph_settings);
	struct xt_lap lap = xt_lap(ctx, graph, settings);
	pe_graph_destroy(&graph);
	return lap;
}

void xt_lap_free(struct xt_lap *lap)
{
	free(lap->vectors);
	free(lap->values);
	free(lap->groups);
	free(lap->failed);
	*lap = (struct xt_lap){0};
}

/* ---- the definition ----------------------------------------------------------------- */

static double *adjacency(const struct xt_edges *e, bool loops, double *degree)
{
	int n = e->n;
	double *a = calloc((size_t)(n * n) + 1, sizeof *a);
	for (int i = 0; i < e->count; i++)
		if (e->u[i] != e->v[i] || loops)
			a[e->u[i] * n + e->v[i]] = a[e->v[i] * n + e->u[i]] = e->w[i];
	for (int i = 0; i < n; i++) {
		degree[i] = 0;
		for (int j = 0; j < n; j++)
			degree[i] += a[i * n + j];
	}
	return a;
}

double *xt_laplacian(const struct xt_edges *e, bool normalized, bool loops, bool isolated, double *degree)
{
	int n = e->n;
	double *own = calloc((size_t)n + 1, sizeof *own);
	double *d = degree ? degree : own;
	double *a = adjacency(e, loops, d);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			double scale = normalized ? sqrt(d[i]) * sqrt(d[j]) : 1;
			double x = scale > 0 || !normalized ? a[i * n + j] / scale : 0;
			double diagonal = normalized ? d[i] > 0 || isolated : d[i];
			a[i * n + j] = (i == j) * diagonal - x;
		}
	free(own);
	return a;
}

void xt_eigen(double *a, int n, double *values)
{
	if (n > 0)
		assert_int_equal(LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'L', n, a, n, values), 0);
}

/* ---- checks ------------------------------------------------------------------------- */

static double norm1(const double *l, int n)
{
	double norm = 0;
	for (int j = 0; j < n; j++) {
		double sum = 0;
		for (int i = 0; i < n; i++)
			sum += fabs(l[i * n + j]);
		norm = fmax(norm, sum);
	}
	return norm;
}

static double residual(const double *l, int n, const double *column, int64_t k, double value)
{
	double sum = 0;
	for (int i = 0; i < n; i++) {
		double y = -value * column[i * k];
		for (int j = 0; j < n; j++)
			y += l[i * n + j] * column[j * k];
		sum += y * y;
	}
	return sqrt(sum);
}

static double product(const double *x, const double *y, int n, int64_t k)
{
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += x[i * k] * y[i * k];
	return sum;
}

void xt_check_pairs(const double *l, int n, const struct xt_lap *lap, int columns, double tolerance)
{
	int k = (int)lap->k;
	assert_true(columns <= k);
	for (int j = 0; j < columns; j++) {
		double r = residual(l, n, lap->vectors + j, k, lap->values[j]);
		if (!(r <= tolerance * norm1(l, n)))
			fail_msg("column %d: residual %g of a norm %g", j, r, norm1(l, n));
		for (int i = 0; i <= j; i++)
			xt_close_f64(product(lap->vectors + i, lap->vectors + j, n, k), i == j, 0, 1e-12);
		assert_true(j == 0 || lap->values[j] >= lap->values[j - 1]);
		assert_true(j == 0
				? lap->groups[j] == 0
				: lap->groups[j] == lap->groups[j - 1] || lap->groups[j] == lap->groups[j - 1] + 1);
	}
	for (int j = columns; j < k; j++) {
		assert_int_equal(lap->groups[j], -1);
		for (int i = 0; i < n; i++)
			xt_close_f64(lap->vectors[i * k + j], lap->values[j], 0, 0);
	}
}

double xt_projector_difference(
	const struct xt_lap *x, const struct xt_lap *y, int a, int count, const int *to)
{
	double worst = 0;
	for (int i = 0; i < x->nodes; i++)
		for (int l = 0; l < x->nodes; l++) {
			int p = to ? to[i] : i, q = to ? to[l] : l;
			double difference = 0;
			for (int j = a; j < a + count; j++)
				difference += x->vectors[i * x->k + j] * x->vectors[l * x->k + j] -
					y->vectors[p * y->k + j] * y->vectors[q * y->k + j];
			worst = fmax(worst, fabs(difference));
		}
	return worst;
}
