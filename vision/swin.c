/* SPDX-License-Identifier: BSD-2-Clause
 * Swin Transformer's relative position bias: a learned number for each head and offset inside a window.
 * Liu et al., "Swin Transformer: hierarchical vision transformer using shifted windows", ICCV 2021, and its
 * code. */
#include "window_resample.h"
#include "window_table.h"

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct pe_window_table)));
	PE_TRY(pe_encoding_size(e, "heads", "relative_position_bias_table", 2, 1, &e->heads));
	PE_TRY(pe_window_take(e));
	PE_TRY(pe_window_weight(e, "relative_position_bias_table", pe_initial_normal(0, 0.02)));
	return pe_window_declare(e);
}

static const pe_option_info options[] = {
	PE_INT("heads", "8", 1, 4096, "attention heads; if not said, as given weights have it"),
	PE_OPTION_WINDOW,
	PE_OPTION_PRETRAINED_WINDOW(
		"the window that the table is of, where it is another; empty: this one's if the "
		"rows are as many, else a square one"),
	PE_OPTION_RESIZE,
};

static const pe_preset_info presets[] = {PE_PRESET_TIMM_RESIZE};

static const pe_weight_info weights[] = {
	{"relative_position_bias_table", "((2 height - 1)(2 width - 1), heads)", "N(0, 0.02)",
		"layers.0.blocks.0.attn.relative_position_bias_table and so on; of another window it is resampled"},
};

const struct pe_encoder pe_encoder_swin = {
	.table = PE_TABLE("swin", options, presets),
	.family = PE_VISION,
	.summary = "a learned bias for each head and offset inside a window",
	.help = "b_h(q, k) = table[index(q, k)][h], added to the scaled scores, with\n"
			"index = (yq - yk + height - 1)(2 width - 1) + (xq - xk + width - 1).\n"
			"The grid is one window, or part of one: attention runs inside it, and a larger\n"
			"grid is refused (each of its windows is a batch; shifting them, and the mask\n"
			"that needs, are the caller's). Rectangles and single rows are windows too.\n"
			"A table of another window is resampled as Swin's authors do: bicubic, a =\n"
			"-0.75, without antialiasing, edges repeated. timm's loaders give other\n"
			"numbers: resize=geometric puts the old offsets at 0, 1, 1 + r, 1 + r + r^2\n"
			"..., r such that the last is near the new edge, and interpolates linearly,\n"
			"edges repeated.\n"
			"Swin has no prefix tokens: pairs with one have bias 0, and index -1.",
	.source = "Liu et al. 2021, \"Swin Transformer\", and its code",
	.example = "grid:7x7 --with swin:heads=3 -o swin.npz",
	.domains = PE_DOMAIN_GRID,
	PE_WEIGHTS(weights),
	.bind = bind,
	.release = pe_window_release,
	.compute = pe_window_compute,
	.scores = pe_window_scores,
};
