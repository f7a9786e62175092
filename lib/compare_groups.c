/* SPDX-License-Identifier: BSD-2-Clause
 * Which eigenvectors of two bundles span one eigenspace, and so may be rotated. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare.h"
#include "tensor.h"

/* Where no groups are given, eigenvalues closer than this, relative to the largest, are equal. */
#define GAP 1e-5

/* An array of eigenvectors, and the arrays that tell what may be rotated. */
struct eigen_names {
	const char *vectors, *values, *groups;
};

static const struct eigen_names eigen_names[] = {
	{"laplacian_eigenvector_pe", "laplacian_eigenvalues", "laplacian_groups"},
	{"EigVecs", "EigVals", NULL},
};

/* The names that go with this array of eigenvectors, and the length of its prefix ("lap."); else NULL. */
static const struct eigen_names *eigen_names_of(const char *name, size_t *prefix)
{
	for (int64_t i = 0; i < PE_COUNT(eigen_names); i++) {
		size_t length = strlen(eigen_names[i].vectors), all = strlen(name);
		if (all >= length && strcmp(name + all - length, eigen_names[i].vectors) == 0) {
			*prefix = all - length;
			return &eigen_names[i];
		}
	}
	return NULL;
}

/* The array of this name with the prefix of `of`. */
static bool find_with_prefix(
	const pe_bundle *bundle, const char *of, size_t prefix, const char *name, pe_tensor *out)
{
	char full[512];
	return name && snprintf(full, sizeof full, "%.*s%s", (int)prefix, of, name) < (int)sizeof full &&
		pe_bundle_find(bundle, full, out);
}

static bool is_ptr(const int64_t *ptr, int64_t graphs, int64_t nodes)
{
	for (int64_t g = 0; g < graphs; g++)
		if (ptr[g] > ptr[g + 1])
			return false;
	return graphs > 0 && ptr[0] == 0 && ptr[graphs] == nodes;
}

/* Offsets of the graphs: from `ptr` if it fits, else one graph. */
static pe_status load_ptr(const struct pe_comparison *c, int64_t nodes, int64_t *graphs, int64_t **out)
{
	pe_tensor t;
	bool given =
		pe_bundle_find(c->a, "ptr", &t) && t.ndim == 1 && t.shape[0] > 1 && pe_dtype_is_integer(t.dtype);
	*graphs = given ? t.shape[0] - 1 : 1;
	int64_t *ptr = pe_alloc(c->ctx, *graphs + 1, sizeof *ptr);
	if (!ptr)
		return PE_ERR_NOMEM;
	if (given)
		pe_load_i64(ptr, t.data, t.dtype, t.strides[0], *graphs + 1);
	if (!given || !is_ptr(ptr, *graphs, nodes)) {
		*graphs = 1;
		ptr[0] = 0;
		ptr[1] = nodes;
	}
	*out = ptr;
	return PE_OK;
}

/* Eigenvalues of graph g: row g of (graphs, k), or those at its first node in (nodes, k, 1). */
static bool load_values(
	const pe_tensor *t, const int64_t *ptr, int64_t graphs, int64_t g, int64_t k, double *out)
{
	int64_t row = t->ndim == 3 ? ptr[g] : g, rows = t->ndim == 3 ? ptr[graphs] : graphs;
	bool good =
		(t->ndim == 2 || (t->ndim == 3 && t->shape[2] == 1)) && t->shape[0] == rows && t->shape[1] == k;
	if (good && ptr[g] == ptr[g + 1])
		for (int64_t i = 0; i < k; i++)
			out[i] = NAN;
	else if (good)
		pe_load_f64(out, pe_tensor_row(t, row), t->dtype, t->strides[1], k);
	return good;
}

/* Numbers the groups of one graph: a column starts a new one where the gap to the last eigenvalue is
 * clear. Padding (NaN) is -1. */
static void group_by_gap(const double *values, int64_t k, int32_t *groups)
{
	double largest = 1;
	for (int64_t i = 0; i < k; i++)
		largest = pe_larger_magnitude(largest, values[i]);
	int32_t group = 0;
	for (int64_t i = 0; i < k; i++) {
		if (i > 0 && !(fabs(values[i] - values[i - 1]) <= GAP * largest))
			group++;
		groups[i] = isnan(values[i]) ? -1 : group;
	}
}

static bool load_given_groups(const pe_tensor *t, int64_t k, int64_t graphs, int32_t *out)
{
	int64_t size = (int64_t)pe_dtype_size(t->dtype), group;
	if (t->ndim != 2 || t->shape[0] != graphs || t->shape[1] != k || !pe_dtype_is_integer(t->dtype))
		return false;
	for (int64_t g = 0; g < graphs; g++)
		for (int64_t j = 0; j < k; j++) {
			const char *element = (const char *)pe_tensor_row(t, g) + j * t->strides[1] * size;
			pe_load_i64(&group, element, t->dtype, 1, 1);
			out[g * k + j] = (int32_t)pe_max(-1, pe_min(group, INT32_MAX));
		}
	return true;
}

/* Groups of one bundle, (graphs, k); false if it does not tell. */
static bool load_groups(const pe_bundle *bundle, const char *name, int64_t k, const int64_t *ptr,
	int64_t graphs, double *values, int32_t *out)
{
	size_t prefix;
	pe_tensor t;
	const struct eigen_names *names = eigen_names_of(name, &prefix);
	if (find_with_prefix(bundle, name, prefix, names->groups, &t) && load_given_groups(&t, k, graphs, out))
		return true;
	if (!find_with_prefix(bundle, name, prefix, names->values, &t))
		return false;
	for (int64_t g = 0; g < graphs; g++) {
		if (!load_values(&t, ptr, graphs, g, k, values))
			return false;
		group_by_gap(values, k, out + g * k);
	}
	return true;
}

/* Columns that are together in either are together: merges b's groups into a's. */
static void join_groups(int32_t *a, const int32_t *b, int64_t graphs, int64_t k)
{
	for (int64_t g = 0; g < graphs; g++, a += k, b += k)
		for (int64_t j = 1; j < k; j++) {
			int32_t from = a[j], to = a[j - 1];
			if (from < 0 || to < 0 || from == to || b[j] < 0 || b[j] != b[j - 1])
				continue;
			for (int64_t i = 0; i < k; i++)
				a[i] = a[i] == from ? to : a[i];
		}
}

struct eigen_work {
	int64_t *ptr;
	int32_t *groups, *other;
	double *values;
};

static pe_status compare_rotated(const struct pe_comparison *c, const char *name, const pe_tensor *a,
	const pe_tensor *b, struct eigen_work *w, struct pe_difference *d, bool *done)
{
	int64_t k = a->shape[1], graphs, size;
	PE_TRY(load_ptr(c, a->shape[0], &graphs, &w->ptr));
	if (!pe_mul(graphs, k, &size))
		return PE_OK;
	w->groups = pe_alloc(c->ctx, size, sizeof *w->groups);
	w->other = pe_alloc(c->ctx, size, sizeof *w->other);
	w->values = pe_alloc(c->ctx, k, sizeof *w->values);
	if (!w->groups || !w->other || !w->values)
		return PE_ERR_NOMEM;
	if (!load_groups(c->a, name, k, w->ptr, graphs, w->values, w->groups) ||
		!load_groups(c->b, name, k, w->ptr, graphs, w->values, w->other))
		return PE_OK;
	join_groups(w->groups, w->other, graphs, k);
	*done = true;
	d->value = 0;
	return pe_compare_eigenvectors(c->ctx,
		&(struct pe_eigen_pair){.a = a, .b = b, .graphs = graphs, .ptr = w->ptr, .groups = w->groups}, d);
}

/* *done is true if these are eigenvectors that could be compared as such. */
pe_status pe_compare_eigen(const struct pe_comparison *c, const char *name, const pe_tensor *a,
	const pe_tensor *b, struct pe_difference *d, bool *done)
{
	size_t prefix;
	struct eigen_work w = {0};
	*done = false;
	bool flat = a->ndim == 2 || (a->ndim == 3 && a->shape[2] == 1);
	if (c->exact || !flat || !eigen_names_of(name, &prefix) || pe_tensor_count(a) == 0)
		return PE_OK;
	pe_status status = compare_rotated(c, name, a, b, &w, d, done);
	pe_free(c->ctx, w.ptr);
	pe_free(c->ctx, w.groups);
	pe_free(c->ctx, w.other);
	pe_free(c->ctx, w.values);
	return status;
}
