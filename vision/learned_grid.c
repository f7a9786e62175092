/* SPDX-License-Identifier: BSD-2-Clause
 * A learned row for each place of a grid, and how a table of one grid is made one of another: by the rules of
 * the loaders of vision transformers, which differ in kernel, edges and coordinates. Dosovitskiy et al., "An
 * image is worth 16x16 words", ICLR 2021; windows tiled over it: Bolya et al., "Window attention is bugged",
 * ICLR 2024, and SAM 2; a row more for each frame: Feichtenhofer et al., "Masked autoencoders as
 * spatiotemporal learners", NeurIPS 2022. */
#include <math.h>

#include "grid_table.h"
#include "resample.h"
#include "tensor.h"
#include "token_table.h"
#include "window_table.h"

enum resize { BICUBIC, BILINEAR, NONE };

struct state {
	struct pe_grid_table table;
	struct pe_grid_resample made; /* from it: one frame of the grid at hand */
	int64_t window_height, window_width;
	double *owned_window;
	const double *frames; /* (frames, dim), or NULL */
};

/* ---- what it yields --------------------------------------------------------------------- */

/* Rows of tokens first … end - 1, counted in the whole. */
static pe_tensor rows_from(const pe_encoding *e, const pe_tensor *out, int64_t first, int64_t end)
{
	pe_tensor rows = *out;
	int64_t from = first - e->domain->first;
	rows.data = (char *)out->data + from * out->strides[0] * (int64_t)pe_dtype_size(out->dtype);
	rows.shape[0] = end - first;
	return rows;
}

static pe_status fill_prefix(const pe_encoding *e, const pe_tensor *out)
{
	const struct state *s = e->state;
	int64_t dim = s->table.dim;
	double *zeros = pe_alloc_zero(e->ctx, dim, sizeof *zeros);
	if (!zeros)
		return PE_ERR_NOMEM;
	for (int64_t i = e->domain->first; i < e->domain->prefix; i++) {
		pe_tensor row = rows_from(e, out, i, i + 1);
		const double *from = i < s->table.prefix_rows ? s->table.first + i * dim : zeros;
		pe_store_f64(row.data, row.dtype, row.strides[1], from, 1, dim);
	}
	pe_free(e->ctx, zeros);
	return PE_OK;
}

static pe_status fill(const pe_encoding *e, const pe_tensor *out)
{
	const struct state *s = e->state;
	const pe_domain *d = e->domain;
	int64_t places = d->height * d->width;
	PE_TRY(fill_prefix(e, out));
	for (int64_t f = 0; f < d->frames; f++) {
		int64_t start = d->prefix + f * places, skip = pe_max(d->first - start, 0);
		if (skip >= places)
			continue;
		pe_tensor rows = rows_from(e, out, start + skip, start + places);
		struct pe_grid_resample made = s->made;
		if (s->frames) {
			made.plus = s->frames + f * s->table.dim;
			made.plus_height = made.plus_width = 1;
		}
		PE_TRY(pe_resample_tokens(e->ctx, &made, skip, &rows));
	}
	return PE_OK;
}

static pe_status compute(pe_encoding *e, const pe_tensor *outs)
{
	return outs[0].data ? fill(e, &outs[0]) : PE_OK;
}

/* Prefix tokens that have no row stay as they are. */
static pe_status tokens(pe_encoding *e, const pe_tensor *x, const pe_tensor *y)
{
	const struct state *s = e->state;
	pe_tensor rows = pe_tensor_dense(NULL, PE_F64, 2, e->arrays[0].shape);
	rows.data = pe_alloc(e->ctx, e->domain->tokens, (size_t)s->table.dim * sizeof(double));
	if (!rows.data)
		return PE_ERR_NOMEM;
	pe_status status = fill(e, &rows);
	if (status == PE_OK)
		status = pe_token_rows_merge(e, rows.data, pe_max(s->table.prefix_rows - e->domain->first, 0),
			pe_max(e->domain->prefix - e->domain->first, 0), x, y);
	pe_free(e->ctx, rows.data);
	return status;
}

/* ---- bind ------------------------------------------------------------------------------- */

static pe_status check_options(pe_encoding *e)
{
	bool corners = pe_params_choice(e->params, "coordinates") == 1;
	bool antialias = pe_params_bool(e->params, "antialias");
	static const char *const rules[] = {"antialias", "coordinates", "interpolate_offset", "preserve_aspect"};
	if (pe_params_choice(e->params, "resize") == NONE) {
		for (size_t i = 0; i < PE_COUNT(rules); i++)
			PE_TRY(pe_encoding_refuse_option(e, rules[i], "with resize=none"));
		return PE_OK;
	}
	if (corners && antialias)
		return pe_encoding_fail(e, PE_ERR_RANGE, "coordinates=corners knows no antialiasing: antialias=0");
	if (corners && fabs(pe_params_real(e->params, "interpolate_offset")) > 0)
		return pe_encoding_fail(e, PE_ERR_RANGE, "interpolate_offset has no effect with coordinates=corners");
	return PE_OK;
}

/* DINO gives (size + 0.1)/stored as the scale factor, which its coordinates then follow. */
static pe_status make_axis(
	pe_encoding *e, struct pe_resample_rule rule, int64_t in, int64_t out, struct pe_resample *made)
{
	double offset = pe_params_real(e->params, "interpolate_offset");
	if (fabs(offset) > 0)
		rule.scale = (double)in / ((double)out + offset);
	return pe_resample_make(e->ctx, &rule, in, out, made);
}

static pe_status make_resize(pe_encoding *e, int64_t height, int64_t width)
{
	struct state *s = e->state;
	int64_t high = s->table.height, wide = s->table.width, larger = pe_max(height, width);
	const struct pe_resample_rule same = {0};
	struct pe_resample_rule rule = {
		.interpolation = pe_params_choice(e->params, "resize") == BILINEAR ? PE_BILINEAR : PE_BICUBIC,
		.antialias = pe_params_bool(e->params, "antialias"),
		.align_corners = pe_params_choice(e->params, "coordinates") == 1};
	if (high == height && wide == width) { /* whatever the rule */
		PE_TRY(pe_resample_make(e->ctx, &same, high, height, &s->made.down));
		return pe_resample_make(e->ctx, &same, wide, width, &s->made.across);
	}
	if (pe_params_choice(e->params, "resize") == NONE)
		return pe_encoding_fail(e, PE_ERR_SHAPE,
			"the table is of a grid of %lld x %lld, and this one is %lld x %lld: resize says how to make one "
			"from the other",
			(long long)high, (long long)wide, (long long)height, (long long)width);
	bool square = pe_params_bool(e->params, "preserve_aspect");
	PE_TRY(make_axis(e, rule, high, square ? larger : height, &s->made.down));
	return make_axis(e, rule, wide, square ? larger : width, &s->made.across);
}

static pe_status take_window(pe_encoding *e, double sd)
{
	struct state *s = e->state;
	PE_TRY(pe_grid_table_planes(e, "pos_embed_window", "window", sd, s->table.dim, &s->window_height,
		&s->window_width, &s->made.plus, &s->owned_window));
	s->made.plus_height = s->window_height;
	s->made.plus_width = s->window_width;
	return PE_OK;
}

static pe_status take_frames(pe_encoding *e, double sd)
{
	struct state *s = e->state;
	int64_t rows;
	double *frames;
	PE_TRY(pe_encoding_size(e, "frames", "pos_embed_temporal", 3, 1, &rows));
	if (rows == 0)
		return PE_OK;
	if (e->domain->frames > rows)
		return pe_encoding_fail(e, PE_ERR_SHAPE,
			"the grid has %lld frames, and there are learned rows for %lld", (long long)e->domain->frames,
			(long long)rows);
	if (s->made.plus)
		return pe_encoding_fail(
			e, PE_ERR_UNSUPPORTED, "a window's table and one of frames exclude each other");
	const int64_t shape[] = {1, rows, s->table.dim};
	PE_TRY(pe_encoding_weight(e, "pos_embed_temporal", 3, shape, pe_initial_normal(0, sd), &frames));
	s->frames = frames;
	return PE_OK;
}

/* SigLIP's width of the beginning follows from dim. */
static double deviation(const pe_encoding *e)
{
	if (pe_params_preset_is(e->params, "siglip2") && !pe_params_is_set(e->params, "std"))
		return 1 / sqrt((double)pe_params_int(e->params, "dim"));
	return pe_params_real(e->params, "std");
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	const pe_domain *d = e->domain;
	PE_TRY(check_options(e));
	PE_TRY(pe_grid_table_take(e, deviation(e), &s->table));
	PE_TRY(take_window(e, deviation(e)));
	PE_TRY(take_frames(e, deviation(e)));
	PE_TRY(make_resize(e, d->height, d->width));
	s->made.in = s->table.grid;
	s->made.channels = s->table.dim;
	s->made.rows = d->height;
	s->made.columns = d->width;
	s->made.block = pe_params_int(e->params, "block");
	if (d->height % s->made.block != 0 || d->width % s->made.block != 0)
		return pe_encoding_fail(e, PE_ERR_SHAPE, "blocks of %lld x %lld do not fill a grid of %lld x %lld",
			(long long)s->made.block, (long long)s->made.block, (long long)d->height, (long long)d->width);
	const int64_t shape[] = {d->tokens, s->table.dim};
	return pe_declare(e, "position_encoding", PE_F64, 2, shape, true);
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	pe_resample_free(e->ctx, &s->made.down);
	pe_resample_free(e->ctx, &s->made.across);
	pe_free(e->ctx, s->owned_window);
	pe_grid_table_free(e->ctx, &s->table);
}

/* ---- tables ----------------------------------------------------------------------------- */

static const pe_option_info options[] = {
	PE_INT("dim", "64", 1, 1 << 16, "width of a row; if not said, that of the given weight"),
	PE_LIST("grid", "", 1, 65536,
		"height/width of the stored table, or one number of both; empty: what the weight's own axes say, "
		"without weights the grid at hand"),
	PE_INT("prefix_rows", "0", 0, 1 << 16,
		"rows of the stored table before its grid's, for as many of the first prefix tokens"),
	PE_CHOICE("order", "hwc", "hwc|chw",
		"a weight of four axes is (1, height, width, dim), or (1, dim, height, width)"),
	PE_CHOICE("resize", "bicubic", "bicubic|bilinear|none",
		"how a table of another grid becomes one of this; none: it is refused"),
	PE_BOOLEAN("antialias", "0",
		"average over what becomes one place; bicubic is then of a = -0.5 and not -0.75, when enlarging too"),
	PE_CHOICE("coordinates", "centers", "centers|corners",
		"cells of both grids cover the same square (align_corners=False), or their outer places coincide"),
	PE_REAL(
		"interpolate_offset", "0", 0, 1, "place i lies at (i + 1/2) stored/(size + offset) - 1/2; DINO: 0.1"),
	PE_BOOLEAN("preserve_aspect", "0",
		"make a square of the larger side and take its upper left part (timm's NaFlexViT)"),
	PE_LIST("window", "", 1, 4096,
		"height/width of a second table, which is added over and over; empty: as its weight has, or none"),
	PE_INT("frames", "0", 0, 1 << 16,
		"rows of a second table, one a frame, which are added to those of its places; if not said, as its "
		"weight has; 0: none, all frames are alike"),
	PE_INT("block", "1", 1, 1 << 16,
		"tokens come in blocks of so many rows and columns, row by row inside; 1: row by row"),
	PE_REAL("std", "0.02", 0, 1e3, "standard deviation that the tables begin with"),
	PE_OPTION_MERGE,
};

static const pe_preset_info presets[] = {
	{"deit", "resize=bicubic,grid=14/14,prefix_rows=1",
		"DeiT, MAE, mmseg, Hugging Face's ViT and, since its offset went, its Dinov2: no antialiasing. The "
		"grid is that of 224 pixels in patches of 16; distilled DeiT says prefix_rows=2"},
	{"dino", "resize=bicubic,interpolate_offset=0.1,grid=14/14,prefix_rows=1",
		"DINO's own code: scale_factor=(size + 0.1)/14, which moves every coordinate; models in patches of 8 "
		"say grid=28/28"},
	{"dinov2", "resize=bicubic,interpolate_offset=0.1,grid=37/37,prefix_rows=1",
		"DINOv2 without registers, likewise, from 518 pixels in patches of 14"},
	{"dinov2_reg", "resize=bicubic,antialias=1,grid=37/37,prefix_rows=1",
		"DINOv2 with registers: antialiased, no offset; its four registers stand behind the class token and "
		"have no rows (--prefix 5)"},
	{"flax_vit", "resize=bilinear,coordinates=corners,grid=14/14,prefix_rows=1",
		"Google's ViT in JAX: scipy.ndimage.zoom of order 1"},
	{"ggml", "resize=bilinear,antialias=1,grid=14/14,prefix_rows=1",
		"ggml's ggml_interpolate as llama.cpp's vision towers call it, whatever the model was trained with; "
		"its other modes are resize, antialias and coordinates, but bicubic is never antialiased there, so "
		"that timm's rule is beyond it. f32 there, exact here"},
	{"grid_sample", "resize=bicubic",
		"timm's NaFlexViT with pos_embed_use_grid_sample: never antialiased; its default is timm's rule"},
	{"mae_st", "resize=none,grid=14/14,frames=8",
		"MAE-ST with sep_pos_embed, 16 frames of 224 pixels in tubes of 2 x 16 x 16, and likewise Hiera's "
		"and "
		"MViT's: a table of places and one of frames, added; the class token's row is pos_embed_class. "
		"MAE-ST leaves token 0 out of its mean even where no class token is, which is not its encoding's"},
	{"qwen3_vl", "resize=bilinear,coordinates=corners,grid=48/48,block=2",
		"the vision tower of Qwen3-VL: corners coincide, and tokens come in the 2 x 2 blocks that are merged "
		"later. Its first code rounded the weights of the four corners to the table's type, which is not "
		"followed"},
	{"sam2", "resize=bicubic,order=chw,grid=7/7,window=8/8",
		"Hiera's backbone of SAM 2: pos_embed, and pos_embed_window tiled over it, of which the code takes "
		"whole ones only. The grids of weights are their own"},
	{"siglip2", "resize=bilinear,antialias=1,grid=16/16",
		"SigLIP 2 NaFlex: bilinear, antialiased; begins N(0, 1/sqrt(dim))"},
	{"timm", "resize=bicubic,antialias=1,grid=14/14,prefix_rows=1",
		"timm's resample_abs_pos_embed: antialiased. Its shortcut for as many tokens as before, which "
		"forgets that the grid may be another, is not followed"},
};

static const pe_weight_info weights[] = {
	{"pos_embed", "(1, prefix_rows + height width, dim), the same without the 1, or (1, height, width, dim)",
		"N(0, std)", "DeiT, MAE, BEiT, DINO, DINOv2, timm; of NaFlexViT and SAM with axes of its own"},
	{"pos_embedding", "likewise", "pos_embed", "Flax's ViT, at Transformer/posembed_input; torchvision's"},
	{"position_embedding", "likewise", "pos_embed",
		"Hugging Face's CLIP and SigLIP (position_embedding.weight)"},
	{"position_embeddings", "likewise", "pos_embed", "Hugging Face's ViT, DeiT, Dinov2 (at embeddings)"},
	{"positional_embedding", "likewise", "pos_embed",
		"OpenAI's CLIP, at visual (as=visual: there is text's too)"},
	{"pos_embed_spatial", "likewise", "pos_embed", "MAE-ST, Hiera, MViT, beside pos_embed_temporal"},
	{"pos_embed_temporal", "(1, frames, dim)", "N(0, std)",
		"likewise; only with the option frames, or if given"},
	{"pos_embed_class", "(1, prefix_rows, dim)", "", "only if given: the rows before the grid's, then apart"},
	{"pos_embed_window", "(1, height, width, dim), the window's", "N(0, std)",
		"Hiera and SAM 2, with order=chw (1, dim, height, width); only with the option window, or if given"},
};

const struct pe_encoder pe_encoder_learned_grid = {
	.table = PE_TABLE("learned_grid", options, presets),
	.family = PE_VISION,
	.summary = "a learned row for each place of a grid, resized to other grids as the loaders do",
	.help = "Token (y, x) gets the row of its place in a learned table; every frame the\n"
			"same rows, or with frames these plus a row of the frame's own. The table's\n"
			"first prefix_rows rows are for the first prefix tokens, the class token and so\n"
			"on; further prefix tokens get zeros and are left alone, and rows for more\n"
			"prefix tokens than there are stay unused.\n"
			"A table of another grid is resized, in double precision, rounded once. Of\n"
			"which grid it is must be known: by the option grid (presets have the\n"
			"authors'), or from a weight of four axes. Nothing takes a square root of a\n"
			"count, and a table of as many places in other rows and columns is resized\n"
			"too. For its own grid it is left as it is, to the bit, whatever the rule.\n"
			"Bicubic is Keys' kernel with a = -0.75 and edges repeated, antialiased with\n"
			"a = -0.5 and edges left out: PyTorch's rules. They differ by 0.07 of a\n"
			"table's deviation even where it is enlarged, and so does DINO's offset.\n"
			"A weight may stand anywhere in a checkpoint, as backbone.pos_embed, if only\n"
			"one array's name ends so; else as=PREFIX says which.",
	.source = "Dosovitskiy et al. 2021 (ViT), and the loaders that the presets name",
	.example = "grid:16x20 --with learned_grid:preset=dinov2,dim=384",
	.domains = PE_DOMAIN_GRID,
	PE_WEIGHTS(weights),
	.bind = bind,
	.release = release,
	.compute = compute,
	.tokens = tokens,
	.tokens_shape = pe_token_rows_shape,
};
