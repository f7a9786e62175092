/* SPDX-License-Identifier: BSD-2-Clause
 * LeViT's attention bias: a learned number for each head and pair of distances |dy|, |dx|. Graham et al.,
 * "LeViT: a vision transformer in ConvNet's clothing for faster inference", ICCV 2021, and its code; TinyViT
 * has the same. */
#include <string.h>

#include "window_table.h"

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct pe_window_table)));
	struct pe_window_table *t = e->state;
	double *biases;
	t->mirrored = true;
	PE_TRY(pe_encoding_size(e, "heads", "attention_biases", 2, 0, &e->heads));
	PE_TRY(pe_window_take(e));
	PE_TRY(pe_encoding_weight(
		e, "attention_biases", 2, (int64_t[]){e->heads, t->rows}, pe_initial_constant(0), &biases));
	PE_TRY(pe_window_make(e));
	memcpy(t->values, biases, (size_t)(e->heads * t->rows) * sizeof *biases);
	return pe_window_declare(e);
}

static const pe_option_info options[] = {
	PE_INT("heads", "8", 1, 4096, "attention heads; if not said, as given weights have it"),
	PE_OPTION_WINDOW,
};

static const pe_weight_info weights[] = {
	{"attention_biases", "(heads, height width)", "zeros", "blocks.0.attn.attention_biases and so on"},
};

const struct pe_encoder pe_encoder_levit = {
	.table = PE_TABLE_NO_PRESETS("levit", options),
	.family = PE_VISION,
	.summary = "a learned bias for each head and pair of distances |dy|, |dx|",
	.help = "b_h(q, k) = attention_biases[h][|yq - yk| width + |xq - xk|], added to the\n"
			"scaled scores: LeViT's code numbers the distances as it meets them, which is\n"
			"this order, on rectangles too. The grid is one window, or part of one.\n"
			"LeViT's subsampling layers, whose queries are every second place, have a table\n"
			"of their own kind, which this is not.\n"
			"Prefix tokens, which LeViT has not, have bias 0 and index -1.",
	.source = "Graham et al. 2021, \"LeViT\", and its code; Wu et al. 2022, \"TinyViT\"",
	.example = "grid:14x14 --with levit:heads=4 -o levit.npz",
	.domains = PE_DOMAIN_GRID,
	PE_WEIGHTS(weights),
	.bind = bind,
	.release = pe_window_release,
	.compute = pe_window_compute,
	.scores = pe_window_scores,
};
