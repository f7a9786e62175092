/* SPDX-License-Identifier: BSD-2-Clause
 * CrossFormer's dynamic position bias: a small network from an offset to a bias for each head. Wang et al.,
 * "CrossFormer: a versatile vision transformer hinging on cross-scale attention", ICLR 2022, and its code. */
#include <math.h>

#include "relation.h"
#include "window_table.h"

#define LAYERS 3
#define EPSILON 1e-5 /* of torch's LayerNorm */

/* LayerNorm, ReLU, Linear. */
struct layer {
	double *norm_weight, *norm_bias, *weight, *bias;
};

struct network {
	int64_t width;
	double *weight, *bias; /* of the projection from (y, x) */
	struct layer layers[LAYERS];
};

static const char *const names[LAYERS][4] = {
	{"pos.pos1.0.weight", "pos.pos1.0.bias", "pos.pos1.2.weight", "pos.pos1.2.bias"},
	{"pos.pos2.0.weight", "pos.pos2.0.bias", "pos.pos2.2.weight", "pos.pos2.2.bias"},
	{"pos.pos3.0.weight", "pos.pos3.0.bias", "pos.pos3.2.weight", "pos.pos3.2.bias"},
};

static pe_status take_network(pe_encoding *e, struct network *n)
{
	struct pe_initial normal = pe_initial_normal(0, 0.02), zero = pe_initial_constant(0);
	int64_t dim;
	PE_TRY(pe_encoding_follow(e, "dim", 16 * pe_encoding_given_size(e, "pos.pos_proj.weight", 2, 0), &dim));
	n->width = dim / 4 / 4;
	PE_TRY(pe_encoding_weight(e, "pos.pos_proj.weight", 2, (int64_t[]){n->width, 2}, normal, &n->weight));
	PE_TRY(pe_encoding_weight(e, "pos.pos_proj.bias", 1, &n->width, zero, &n->bias));
	for (int i = 0; i < LAYERS; i++) {
		struct layer *l = &n->layers[i];
		int64_t shape[] = {i + 1 < LAYERS ? n->width : e->heads, n->width};
		PE_TRY(pe_encoding_weight(e, names[i][0], 1, &n->width, pe_initial_constant(1), &l->norm_weight));
		PE_TRY(pe_encoding_weight(e, names[i][1], 1, &n->width, zero, &l->norm_bias));
		PE_TRY(pe_encoding_weight(e, names[i][2], 2, shape, normal, &l->weight));
		PE_TRY(pe_encoding_weight(e, names[i][3], 1, shape, zero, &l->bias));
	}
	return PE_OK;
}

/* x ← relu(LayerNorm(x)) */
static void normalise(const struct layer *l, double *x, int64_t width)
{
	double mean = 0, variance = 0;
	for (int64_t i = 0; i < width; i++)
		mean += x[i] / (double)width;
	for (int64_t i = 0; i < width; i++)
		variance += (x[i] - mean) * (x[i] - mean) / (double)width;
	for (int64_t i = 0; i < width; i++)
		x[i] = fmax((x[i] - mean) / sqrt(variance + EPSILON) * l->norm_weight[i] + l->norm_bias[i], 0);
}

static pe_status fill(pe_encoding *e, const struct network *n)
{
	struct pe_window_table *t = e->state;
	int64_t room = pe_max(n->width, e->heads);
	PE_TRY(pe_window_make(e));
	double *memory = pe_alloc(e->ctx, 2 * room, sizeof *memory);
	if (!memory)
		return PE_ERR_NOMEM;
	double *x = memory, *y = memory + room;
	for (int64_t row = 0; row < t->rows; row++) {
		int64_t dy, dx;
		pe_window_offset(t, row, &dy, &dx);
		pe_linear(n->weight, n->bias, 2, n->width, (double[]){(double)dy, (double)dx}, x);
		for (int i = 0; i < LAYERS; i++) {
			const struct layer *l = &n->layers[i];
			int64_t out = i + 1 < LAYERS ? n->width : e->heads;
			normalise(l, x, n->width);
			pe_linear(l->weight, l->bias, n->width, out, x, y);
			double *other = x;
			x = y;
			y = other;
		}
		for (int64_t h = 0; h < e->heads; h++)
			t->values[h * t->rows + row] = x[h];
	}
	pe_free(e->ctx, memory);
	return PE_OK;
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct pe_window_table)));
	struct network network;
	PE_TRY(pe_encoding_size(e, "heads", "pos.pos3.2.weight", 2, 0, &e->heads));
	PE_TRY(pe_window_take(e));
	PE_TRY(take_network(e, &network));
	PE_TRY(fill(e, &network));
	return pe_window_declare(e);
}

static const pe_option_info options[] = {
	PE_INT("heads", "8", 1, 4096, "attention heads; if not said, as given weights have it"),
	PE_INT("dim", "96", 16, 1 << 20,
		"the stage's width; the network is dim/16 wide, or if dim is not said, as given weights have it"),
	PE_OPTION_WINDOW,
};

static const pe_weight_info weights[] = {
	{"pos.pos_proj.weight", "(dim/16, 2)", "N(0, 0.02)", "from (y, x); layers.0.blocks.0.attn.pos.…"},
	{"pos.pos_proj.bias", "(dim/16)", "zeros", ""},
	{"pos.pos1.0.weight", "(dim/16)", "ones", "LayerNorm"},
	{"pos.pos1.0.bias", "(dim/16)", "zeros", ""},
	{"pos.pos1.2.weight", "(dim/16, dim/16)", "N(0, 0.02)", ""},
	{"pos.pos1.2.bias", "(dim/16)", "zeros", ""},
	{"pos.pos2.0.weight", "(dim/16)", "ones", "LayerNorm"},
	{"pos.pos2.0.bias", "(dim/16)", "zeros", ""},
	{"pos.pos2.2.weight", "(dim/16, dim/16)", "N(0, 0.02)", ""},
	{"pos.pos2.2.bias", "(dim/16)", "zeros", ""},
	{"pos.pos3.0.weight", "(dim/16)", "ones", "LayerNorm"},
	{"pos.pos3.0.bias", "(dim/16)", "zeros", ""},
	{"pos.pos3.2.weight", "(heads, dim/16)", "N(0, 0.02)", ""},
	{"pos.pos3.2.bias", "(heads)", "zeros", ""},
};

const struct pe_encoder pe_encoder_crossformer = {
	.table = PE_TABLE_NO_PRESETS("crossformer", options),
	.family = PE_VISION,
	.summary = "dynamic position bias: a small network from the offset, a bias for each head",
	.help = "b(q, k) = L3(L2(L1(P (yq - yk, xq - xk)))), added to the scaled scores: P\n"
			"linear from whole offsets to p numbers, each L a LayerNorm, a ReLU and a\n"
			"linear layer, the last to one number a head. p = dim/16, rounded down twice:\n"
			"the code divides dim by 4 on the way in and again inside. There are no\n"
			"residual connections.\n"
			"The grid is one group, or part of one; the network takes any offset, so one\n"
			"set of weights serves every size. Prefix tokens, which CrossFormer has not,\n"
			"have bias 0 and index -1.",
	.source = "Wang et al. 2022, \"CrossFormer\", and its code",
	.example = "grid:7x7 --with crossformer:heads=3 -o crossformer.npz",
	.domains = PE_DOMAIN_GRID,
	PE_WEIGHTS(weights),
	.bind = bind,
	.release = pe_window_release,
	.compute = pe_window_compute,
	.scores = pe_window_scores,
};
