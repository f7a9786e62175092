/* SPDX-License-Identifier: BSD-2-Clause
 * Decomposed relative positions: s(q, k) += q · Rh[row of (yq, yk)] + q · Rw[row of (xq, xk)]. Li et al.,
 * "MViTv2: improved multiscale vision transformers for classification and detection", CVPR 2022, and its
 * code; Kirillov et al., "Segment anything", 2023 (SAM). */
#include <math.h>
#include <string.h>

#include "resample.h"
#include "window_table.h"

/* One axis. */
struct axis {
	int64_t queries, keys; /* places along it */
	int64_t rows;
	double *table; /* (rows, head_dim) */
};

struct state {
	struct axis y, x;
	int64_t head_dim;
};

/* floor(q max(K/Q, 1) - k max(Q/K, 1) + (K - 1) max(Q/K, 1)) for Q queries and K keys, in whole numbers. */
static int64_t row_of(const struct axis *a, int64_t query, int64_t key)
{
	if (a->keys >= a->queries)
		return query * a->keys / a->queries + a->keys - 1 - key;
	return query + (a->keys - 1 - key) * a->queries / a->keys;
}

static void index_of(const pe_encoding *e, const struct pe_cells *cells, bool by_y, int32_t *rows)
{
	const struct state *s = e->state;
	struct pe_walk query = pe_walk_begin(e->queries, cells->query),
				   key = pe_walk_begin(e->domain, cells->key);
	for (int64_t c = 0; c < cells->count; c++, pe_walk_step(&key)) {
		if (query.ahead > 0 || key.ahead > 0)
			rows[c] = -1;
		else
			rows[c] = (int32_t)(by_y ? row_of(&s->y, query.y, key.y) : row_of(&s->x, query.x, key.x));
	}
}

static void index_y(const pe_encoding *e, const struct pe_cells *cells, int32_t *rows)
{
	index_of(e, cells, true, rows);
}

static void index_x(const pe_encoding *e, const struct pe_cells *cells, int32_t *rows)
{
	index_of(e, cells, false, rows);
}

static int content(const pe_encoding *e, struct pe_term *terms)
{
	const struct state *s = e->state;
	terms[0] = (struct pe_term){.side = PE_QUERIES,
		.table = s->y.table,
		.rows = s->y.rows,
		.width = s->head_dim,
		.index = index_y,
		.unscaled = true};
	terms[1] = terms[0];
	terms[1].table = s->x.table;
	terms[1].rows = s->x.rows;
	terms[1].index = index_x;
	return 2;
}

/* A given table of another length is resampled. */
static pe_status take_table(pe_encoding *e, const char *name, struct axis *a)
{
	const struct state *s = e->state;
	const struct pe_resample_rule linear = {.interpolation = PE_BILINEAR};
	struct pe_resample resample = {0};
	int64_t shape[PE_MAX_DIMS], given = a->rows;
	int32_t ndim;
	double *table;
	if (pe_encoding_given_shape(e, name, &ndim, shape) && ndim == 2 && shape[0] > 0)
		given = shape[0];
	PE_TRY(
		pe_encoding_weight(e, name, 2, (int64_t[]){given, s->head_dim}, pe_initial_normal(0, 0.02), &table));
	a->table = pe_alloc(e->ctx, a->rows, (size_t)s->head_dim * sizeof *a->table);
	if (!a->table)
		return PE_ERR_NOMEM;
	if (given == a->rows) {
		memcpy(a->table, table, (size_t)(a->rows * s->head_dim) * sizeof *table);
		return PE_OK;
	}
	pe_status status = pe_resample_make(e->ctx, &linear, given, a->rows, &resample);
	if (status == PE_OK)
		pe_resample_apply(&resample, 0, a->rows, table, 0, s->head_dim, a->table);
	pe_resample_free(e->ctx, &resample);
	return status;
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	PE_TRY(pe_check_one_frame(e));
	PE_TRY(pe_encoding_size(e, "head_dim", "rel_pos_h", 2, 1, &s->head_dim));
	s->y = (struct axis){.queries = e->queries->height, .keys = e->domain->height};
	s->x = (struct axis){.queries = e->queries->width, .keys = e->domain->width};
	struct axis *axes[] = {&s->y, &s->x};
	for (int i = 0; i < 2; i++) {
		int64_t most = pe_max(axes[i]->queries, axes[i]->keys);
		if (most > INT32_MAX / 2)
			return pe_encoding_fail(e, PE_ERR_RANGE, "a side of %lld places is too long", (long long)most);
		axes[i]->rows = 2 * most - 1;
	}
	PE_TRY(take_table(e, "rel_pos_h", &s->y));
	PE_TRY(take_table(e, "rel_pos_w", &s->x));
	return pe_declare_weights(e);
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	pe_free(e->ctx, s->y.table);
	pe_free(e->ctx, s->x.table);
}

static const pe_option_info options[] = {
	PE_INT("head_dim", "64", 1, 1 << 16, "width of a head's queries; if not said, as given weights have it"),
};

static const pe_weight_info weights[] = {
	{"rel_pos_h", "(2 height - 1, head_dim)", "N(0, 0.02)",
		"blocks.0.attn.rel_pos_h and so on; of any length, resampled if it is another"},
	{"rel_pos_w", "(2 width - 1, head_dim)", "N(0, 0.02)", "likewise"},
};

const struct pe_encoder pe_encoder_decomposed = {
	.table = PE_TABLE_NO_PRESETS("decomposed", options),
	.family = PE_VISION,
	.summary = "a vector for each row and each column offset, times the query",
	.help = "s(q, k) += q . rel_pos_h[r(yq, yk)] + q . rel_pos_w[r(xq, xk)], q as it is,\n"
			"not scaled by 1/sqrt(head_dim). With Q places of queries and K of keys along\n"
			"an axis, r(a, b) = floor(a max(K/Q, 1) + (K - 1 - b) max(Q/K, 1)), a row of 2\n"
			"max(Q, K) - 1: a - b + K - 1 where the grids are the same. It is computed in\n"
			"whole numbers; the code does so in f32 and may be a row off where K/Q is no\n"
			"whole number.\n"
			"A table of another length is resampled linearly, without antialiasing, as SAM\n"
			"and MViTv2 do. All heads share the tables. Pairs with a prefix token get\n"
			"nothing. Queries pooled to another grid than the keys' are a domain of their\n"
			"own (attend --query-grid).",
	.source = "Li et al. 2022, \"MViTv2\", and its code; Kirillov et al. 2023, \"Segment anything\"",
	.example = "grid:14x14 --with decomposed:head_dim=64 -o decomposed.npz",
	.domains = PE_DOMAIN_GRID,
	PE_WEIGHTS(weights),
	.bind = bind,
	.release = release,
	.compute = pe_compute_own_weights,
	.content = content,
};
