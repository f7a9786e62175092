/* SPDX-License-Identifier: BSD-2-Clause
 * Two bundles, array by array. */
#include "compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tensor.h"

#define TOLERANCE 1e-6

struct pe_compare_report {
	pe_context *ctx;
	int64_t count, capacity;
	pe_compare_row *rows; /* names and notes are owned */
};

/* ---- the report ---------------------------------------------------------------------- */

void pe_compare_destroy(pe_compare_report **report)
{
	if (!report || !*report)
		return;
	pe_compare_report *r = *report;
	*report = NULL;
	for (int64_t i = 0; i < r->count; i++) {
		char *name, *note;
		memcpy(&name, &r->rows[i].name, sizeof name);
		memcpy(&note, &r->rows[i].note, sizeof note);
		pe_free(r->ctx, name);
		pe_free(r->ctx, note);
	}
	pe_free(r->ctx, r->rows);
	pe_free(r->ctx, r);
}

int pe_compare_alike(const pe_compare_report *report)
{
	for (int64_t i = 0; report && i < report->count; i++)
		if (!report->rows[i].alike)
			return 0;
	return report != NULL;
}

int64_t pe_compare_count(const pe_compare_report *report)
{
	return report ? report->count : 0;
}

pe_status pe_compare_at(const pe_compare_report *report, int64_t index, pe_compare_row *out)
{
	if (!report || !out || index < 0 || index >= report->count)
		return PE_ERR_ARGUMENT;
	*out = report->rows[index];
	return PE_OK;
}

static pe_status add_row(pe_compare_report *r, const char *name, const char *note, pe_compare_row row)
{
	PE_TRY(pe_grow(r->ctx, &r->rows, &r->capacity, r->count, r->count + 1, sizeof *r->rows));
	char *name_copy = pe_strdup(r->ctx, name), *note_copy = pe_strdup(r->ctx, note);
	if (!name_copy || !note_copy) {
		pe_free(r->ctx, name_copy);
		pe_free(r->ctx, note_copy);
		return PE_ERR_NOMEM;
	}
	row.name = name_copy;
	row.note = note_copy;
	r->rows[r->count++] = row;
	return PE_OK;
}

/* ---- all arrays ---------------------------------------------------------------------- */

static pe_status different_shapes(
	const struct pe_comparison *c, const char *name, const pe_tensor *a, const pe_tensor *b)
{
	char first[160], second[160], text[400];
	pe_shape_text(first, sizeof first, a->ndim, a->shape);
	pe_shape_text(second, sizeof second, b->ndim, b->shape);
	snprintf(text, sizeof text, "shapes %s and %s", first, second);
	return add_row(c->report, name, text, (pe_compare_row){.difference = NAN});
}

static const char *note_of(const pe_tensor *a, bool rotated, bool alike, const struct pe_difference *d)
{
	if (!rotated)
		return "";
	if (!alike && d->where[1] + 1 == a->shape[1])
		return "up to sign and rotation inside groups; if the last group was cut at k, it cannot be compared";
	return "up to sign and rotation inside groups";
}

static pe_status compare_pair(
	const struct pe_comparison *c, const char *name, const pe_tensor *a, const pe_tensor *b)
{
	struct pe_difference d = {0};
	bool rotated;
	if (a->ndim != b->ndim || memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof a->shape[0]) != 0)
		return different_shapes(c, name, a, b);
	pe_compare_entries(a, b, &d);
	PE_TRY(pe_compare_eigen(c, name, a, b, &d, &rotated));
	bool integers = pe_dtype_is_integer(a->dtype) && pe_dtype_is_integer(b->dtype);
	double bound = integers ? 0 : c->tolerance * fmax(1, d.largest);
	pe_compare_row row = {.alike = d.value <= bound, .difference = d.value, .ndim = a->ndim};
	memcpy(row.where, d.where, sizeof row.where);
	return add_row(c->report, name, note_of(a, rotated, row.alike, &d), row);
}

static pe_status compare_all(const struct pe_comparison *c)
{
	pe_tensor other;
	for (int64_t i = 0; i < c->a->count; i++) {
		const struct pe_bundle_array *array = &c->a->arrays[i];
		if (pe_bundle_find(c->b, array->name, &other))
			PE_TRY(compare_pair(c, array->name, &array->tensor, &other));
		else
			PE_TRY(add_row(c->report, array->name, "only in the first", (pe_compare_row){.difference = NAN}));
	}
	for (int64_t i = 0; i < c->b->count; i++)
		if (!pe_bundle_find(c->a, c->b->arrays[i].name, NULL))
			PE_TRY(add_row(
				c->report, c->b->arrays[i].name, "only in the second", (pe_compare_row){.difference = NAN}));
	return PE_OK;
}

static pe_status read_options(pe_context *ctx, const pe_compare_options *options, struct pe_comparison *c)
{
	pe_compare_options o = {.size = sizeof o};
	PE_TRY(pe_take_options(ctx, &o, sizeof o, options, "pe_compare_options"));
	if (!(o.tolerance >= 0) || isinf(o.tolerance))
		return pe_fail(ctx, PE_ERR_RANGE, "the tolerance %g is not a number from 0 on", o.tolerance);
	c->exact = o.exact != 0;
	c->tolerance = o.tolerance > 0 || c->exact ? o.tolerance : TOLERANCE;
	return PE_OK;
}

pe_status pe_compare(pe_context *context, const pe_bundle *a, const pe_bundle *b,
	const pe_compare_options *options, pe_compare_report **out)
{
	if (!context || !out)
		return PE_ERR_ARGUMENT;
	*out = NULL;
	if (!a || !b)
		return pe_fail(context, PE_ERR_ARGUMENT, "comparing takes two bundles");
	struct pe_comparison c = {.ctx = context, .a = a, .b = b};
	PE_TRY(read_options(context, options, &c));
	PE_TRY(pe_bundle_check_data(context, a));
	PE_TRY(pe_bundle_check_data(context, b));
	c.report = pe_alloc_zero(context, 1, sizeof *c.report);
	if (!c.report)
		return PE_ERR_NOMEM;
	c.report->ctx = context;
	pe_status status = compare_all(&c);
	if (status == PE_OK)
		*out = c.report;
	else
		pe_compare_destroy(&c.report);
	return status;
}
