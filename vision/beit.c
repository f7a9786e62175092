/* SPDX-License-Identifier: BSD-2-Clause
 * BEiT's relative position bias: Swin's, with three more rows for the class token. Bao et al., "BEiT: BERT
 * pre-training of image transformers", ICLR 2022, and its code. */
#include "window_resample.h"
#include "window_table.h"

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct pe_window_table)));
	struct pe_window_table *table = e->state;
	table->extra = 3;
	PE_TRY(pe_encoding_size(e, "heads", "relative_position_bias_table", 2, 1, &e->heads));
	PE_TRY(pe_window_take(e));
	PE_TRY(pe_window_weight(e, "relative_position_bias_table", pe_initial_constant(0)));
	return pe_window_declare(e);
}

static const pe_option_info options[] = {
	PE_INT("heads", "12", 1, 4096, "attention heads; if not said, as given weights have it"),
	PE_OPTION_WINDOW,
	PE_OPTION_PRETRAINED_WINDOW(
		"the grid that the table is of, where it is another; empty: this one's if the "
		"rows are as many, else a square one"),
	PE_OPTION_RESIZE,
};

static const pe_preset_info presets[] = {PE_PRESET_TIMM_RESIZE};

static const pe_weight_info weights[] = {
	{"relative_position_bias_table", "((2 height - 1)(2 width - 1) + 3, heads)", "zeros",
		"blocks.0.attn.relative_position_bias_table, or rel_pos_bias's where layers share one"},
};

const struct pe_encoder pe_encoder_beit = {
	.table = PE_TABLE("beit", options, presets),
	.family = PE_VISION,
	.summary = "a learned bias for each head and offset, and three for the class token",
	.help = "b_h(q, k) = table[index(q, k)][h], added to the scaled scores. Between places,\n"
			"as in Swin,\n"
			"index = (yq - yk + height - 1)(2 width - 1) + (xq - xk + width - 1).\n"
			"With n such rows: n for a prefix query and a placed key, n + 1 for a placed\n"
			"query and a prefix key, n + 2 for two prefix tokens. BEiT has one prefix\n"
			"token; of several, all are taken for the class token. Where there is none, the\n"
			"three rows are in the table all the same.\n"
			"A table of another grid is resampled, and the three rows stay: by the bicubic\n"
			"rule of Swin's authors, or with resize=geometric as timm does, linearly\n"
			"between old offsets in geometric progression (see swin). BEiT's own code puts\n"
			"them there too, but a cubic spline through them: scipy's interp2d, which is no\n"
			"more.",
	.source = "Bao et al. 2022, \"BEiT: BERT pre-training of image transformers\", and its code",
	.example = "grid:14x14 --prefix 1 --with beit -o beit.npz",
	.domains = PE_DOMAIN_GRID,
	PE_WEIGHTS(weights),
	.bind = bind,
	.release = pe_window_release,
	.compute = pe_window_compute,
	.scores = pe_window_scores,
};
