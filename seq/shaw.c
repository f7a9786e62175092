/* SPDX-License-Identifier: BSD-2-Clause
 * Relative positions in keys and values: s_ij = q_i·(k_j + K[r]), output Σ_j a_ij (v_j + V[r]) with
 * r = clip(j - i, -k, k) + k. Shaw, Uszkoreit and Vaswani, "Self-attention with relative position
 * representations", NAACL 2018; dot_product_attention_relative of tensor2tensor. */
#include <math.h>

#include "encoder.h"
#include "relation.h"

enum initial { GLOROT, ZEROS, SINUSOIDAL };

struct state {
	double *keys, *values; /* (rows, width) or (heads, rows, width), or NULL; owned by the encoding */
	int64_t head_dim, value_dim, limit;
};

static void index_of(const pe_encoding *e, const struct pe_cells *cells, int32_t *rows)
{
	const struct state *s = e->state;
	double query = pe_domain_position(e->queries, cells->batch, cells->query);
	for (int64_t c = 0; c < cells->count; c++) {
		double key = pe_domain_position(e->domain, cells->batch, cells->key + c);
		rows[c] = (int32_t)(pe_whole_distance(key - query, s->limit) + s->limit);
	}
}

static int put_term(const pe_encoding *e, const double *table, int64_t width, struct pe_term *term)
{
	const struct state *s = e->state;
	if (!table)
		return 0;
	*term = (struct pe_term){PE_QUERIES, table, 2 * s->limit + 1, width, e->heads > 0, NULL, index_of, false};
	return 1;
}

static int content(const pe_encoding *e, struct pe_term *terms)
{
	const struct state *s = e->state;
	return put_term(e, s->keys, s->head_dim, terms);
}

static int values(const pe_encoding *e, struct pe_term *terms)
{
	const struct state *s = e->state;
	return put_term(e, s->values, s->value_dim, terms);
}

/* Row r of every head: sine and cosine of r at 10000^(-2t/width), side by side. */
static void fill_sinusoidal(double *table, int64_t tables, int64_t rows, int64_t width)
{
	for (int64_t n = 0; n < tables * rows; n++)
		for (int64_t c = 0; c < width; c++) {
			double angle = (double)(n % rows) * pow(10000, -(double)(c / 2 * 2) / (double)width);
			table[n * width + c] = c % 2 ? cos(angle) : sin(angle);
		}
}

static pe_status take_table(pe_encoding *e, const char *name, int64_t width, double **out)
{
	const struct state *s = e->state;
	enum initial initial = (enum initial)pe_params_choice(e->params, "initial");
	int64_t rows = 2 * s->limit + 1, shape[] = {e->heads, rows, width}, tables = pe_max(e->heads, 1);
	int32_t shared = e->heads == 0;
	double bound = sqrt(6 / ((double)tables * (double)(rows + width)));
	PE_TRY(pe_encoding_weight(e, name, 3 - shared, shape + shared,
		initial == GLOROT ? pe_initial_uniform(-bound, bound) : pe_initial_constant(0), out));
	if (initial == SINUSOIDAL && !pe_encoding_weight_is_given(e, name))
		fill_sinusoidal(*out, tables, rows, width);
	return PE_OK;
}

/* heads and max_distance, as the given table has them where they are not set. */
static pe_status take_sizes(pe_encoding *e, const char *name)
{
	struct state *s = e->state;
	int32_t ndim = 0;
	int64_t shape[PE_MAX_DIMS], rows = 0;
	PE_TRY(pe_encoding_size(e, "heads", name, 3, 0, &e->heads));
	if (pe_encoding_given_shape(e, name, &ndim, shape) && (ndim == 2 || ndim == 3))
		rows = shape[ndim - 2];
	return pe_encoding_follow(e, "max_distance", rows % 2 == 1 ? (rows - 1) / 2 : 0, &s->limit);
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	bool keys = pe_params_bool(e->params, "keys"), in_values = pe_params_bool(e->params, "values");
	if (!keys && !in_values)
		return pe_encoding_fail(e, PE_ERR_RANGE, "with keys=0 and values=0 nothing is left of it");
	e->relative = true;
	PE_TRY(take_sizes(e, keys ? "relative_positions_keys" : "relative_positions_values"));
	s->head_dim = pe_params_int(e->params, "head_dim");
	s->value_dim = pe_params_int(e->params, "value_dim");
	if (s->value_dim == 0)
		s->value_dim = s->head_dim;
	if (keys)
		PE_TRY(take_table(e, "relative_positions_keys", s->head_dim, &s->keys));
	if (in_values)
		PE_TRY(take_table(e, "relative_positions_values", s->value_dim, &s->values));
	return pe_declare_weights(e);
}

static const pe_option_info options[] = {
	PE_INT("heads", "0", 0, 4096,
		"attention heads with a table each; 0: all share one; if not set, as the given table has"),
	PE_INT("head_dim", "64", 1, 1 << 16, "width of a head's queries and keys"),
	PE_INT("value_dim", "0", 0, 1 << 16, "width of a head's values; 0: head_dim"),
	PE_INT("max_distance", "16", 1, 1 << 20,
		"distances are clipped to this; if not set, as far as the given table"),
	PE_BOOLEAN("keys", "1", "whether there is a table for the keys"),
	PE_BOOLEAN("values", "1", "whether there is a table for the values"),
	PE_CHOICE("initial", "glorot", "glorot|zeros|sinusoidal", "how tables begin that are not given"),
};

static const pe_preset_info presets[] = {
	{"bert4keras", "initial=zeros",
		"RelativePositionEmbedding of bert4keras: tables begin with zeros, and its layers use one table for "
		"keys and values: give it under both names"},
	{"nezha", "max_distance=64,initial=sinusoidal",
		"NEZHA: the same fixed table for keys and values, sines and cosines of the row number, distances "
		"clipped to 64"},
};

static const pe_weight_info weights[] = {
	{"relative_positions_keys", "(2 max_distance + 1, head_dim), after heads if these are not 0", "glorot",
		"row clip(j - i) + max_distance; tensor2tensor's relative_positions_keys/embeddings"},
	{"relative_positions_values", "(2 max_distance + 1, value_dim), after heads if these are not 0", "glorot",
		"likewise, relative_positions_values/embeddings"},
};

const struct pe_encoder pe_encoder_shaw = {
	.table = PE_TABLE("shaw", options, presets),
	.family = PE_SEQ,
	.summary = "a learned vector for each clipped distance, added to keys and to values",
	.help = "s_ij = scale q_i . (k_j + K[r]), output sum_j a_ij (v_j + V[r]), with\n"
			"r = clip(j - i, -max_distance, max_distance) + max_distance: key minus query;\n"
			"code that counts query minus key has the rows in reverse.\n"
			"Distances that are not whole are rounded, halves away from 0. Queries that\n"
			"are fewer than keys are the last ones, as in tensor2tensor.\n"
			"One table serves all heads, or, with heads=H, each has its own\n"
			"(tensor2tensor: heads_share_relative_embedding=False).",
	.source =
		"Shaw et al. 2018, \"Self-attention with relative position representations\", and tensor2tensor",
	.example = "seq:128 --with shaw:head_dim=64,max_distance=16 -o shaw.npz",
	.domains = PE_DOMAIN_SEQUENCE,
	.heads_option = PE_HEADS_BY_CHOICE,
	PE_WEIGHTS(weights),
	.bind = bind,
	.compute = pe_compute_own_weights,
	.content = content,
	.values = values,
};
