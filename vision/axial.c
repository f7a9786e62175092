/* SPDX-License-Identifier: BSD-2-Clause
 * Axial sinusoidal positions of a grid: each axis has channels of its own, sines and cosines of its
 * coordinate at the frequencies base^(-k/n), k = 0 … n - 1. He et al., "Masked autoencoders are scalable
 * vision learners", 2021; Carion et al., "End-to-end object detection with transformers", 2020. */
#include <math.h>
#include <string.h>

#include "axial_channels.h"
#include "token_table.h"

enum { FLAT = 3 };

struct state {
	struct pe_token_table table;
	struct pe_axial_channels channels; /* an axis number may be FLAT */
	bool columns;                      /* places are counted column by column */
	bool normalize;
	double start, shift, eps;
	double *numbers;     /* of every frame, row and column; not for flat axes and padded grids */
	double *coordinates; /* (batch, places, axes) of a padded grid */
};

/* ---- the numbers of one coordinate -------------------------------------------------- */

/* Of the place that is number `counted`, from 0, of a line whose last place is number `last`. */
static double coordinate(const struct state *s, double scale, double counted, double last)
{
	double c = s->start + counted + s->shift, end = s->start + last + s->eps;
	if (!s->normalize)
		return c * scale;
	return fabs(end) > 0 ? c / end * scale : 0; /* a single row at 0 stays there */
}

/* ---- rows --------------------------------------------------------------------------- */

/* Where the coordinate of a place alone does not tell its numbers. */
static void row(const pe_encoding *e, int64_t batch, int64_t token, double *out)
{
	const struct state *s = e->state;
	const pe_domain *domain = e->domain;
	int64_t dim = s->table.dim, places = domain->frames * domain->height * domain->width;
	int64_t place = domain->first + token - domain->prefix;
	memset(out, 0, (size_t)dim * sizeof *out);
	for (int i = 0; i < s->channels.count && place >= 0; i++) {
		const struct pe_axial_axis *a = &s->channels.axis[i];
		double c = s->coordinates ? s->coordinates[(batch * places + place) * s->channels.count + i]
								  : coordinate(s, a->scale, (double)place, (double)(places - 1));
		pe_axial_write_row(e, a, c, dim, out);
	}
}

/* Row by row, or what the authors of MoCo v3 made of it: the table of the place that has this number if one
 * counts column by column. */
static bool find_place(const struct state *s, const pe_domain *domain, int64_t token, int64_t place[3])
{
	if (!pe_grid_find(domain, token, place))
		return false;
	if (s->columns) {
		int64_t number = place[1] * domain->width + place[2];
		place[1] = number % domain->height;
		place[2] = number / domain->height;
	}
	return true;
}

static bool find(const pe_encoding *e, int64_t batch, int64_t token, int64_t starts[PE_MAX_PARTS])
{
	(void)batch;
	const struct state *s = e->state;
	int64_t place[3];
	if (!find_place(s, e->domain, token, place))
		return false;
	int parts = 0, axes = s->channels.count;
	for (int i = 0; i < axes; i++) {
		const struct pe_axial_axis *a = &s->channels.axis[i];
		starts[parts++] = a->numbers + place[a->number] * 2 * a->bands;
	}
	for (int i = 0; i < axes && s->channels.layout == PE_AXIAL_TRIG; i++)
		starts[parts++] = starts[i] + s->channels.axis[i].bands;
	starts[parts] = 0; /* of the zeros at the end, if there are any */
	return true;
}

/* ---- bind --------------------------------------------------------------------------- */

static pe_status take_axes(pe_encoding *e, struct state *s, int64_t widths[PE_MAX_GRID_AXES])
{
	const char *word = pe_params_text(e->params, "axes");
	bool flat = strcmp(word, "flat") == 0;
	struct pe_grid_axes axes = {1, {FLAT}};
	if (!flat)
		axes = pe_grid_axes_of(word, e->domain);
	s->channels.count = axes.count;
	for (int i = 0; i < axes.count; i++)
		s->channels.axis[i].number = axes.number[i];
	if (e->domain->padding && (flat || s->columns))
		return pe_encoding_fail(
			e, PE_ERR_UNSUPPORTED, "%s takes no padding mask", flat ? "axes=flat" : "order=columns");
	if (flat)
		PE_TRY(pe_encoding_refuse_option(e, "order", "with axes=flat"));
	return pe_grid_deal(e, &axes, s->table.dim, widths);
}

static pe_status take_scales(pe_encoding *e, struct state *s)
{
	int64_t count;
	const double *list = pe_params_list(e->params, "scale", &count);
	if (count != 1 && count != s->channels.count)
		return pe_encoding_fail(e, PE_ERR_RANGE, "scale has %lld numbers, and the grid %d axes",
			(long long)count, s->channels.count);
	for (int i = 0; i < s->channels.count; i++) {
		double scale = list[count == 1 ? 0 : i];
		s->channels.axis[i].scale = fabs(scale) > 0 ? scale : s->normalize ? 2 * PE_PI : 1;
	}
	return PE_OK;
}

/* ---- shared numbers ----------------------------------------------------------------- */

/* The first axis whose numbers are those of axis i, as far as both go. */
static int twin_of(const pe_encoding *e, const struct state *s, int i)
{
	int64_t scales;
	(void)pe_params_list(e->params, "scale", &scales);
	for (int j = 0; j < i && !s->normalize && scales == 1; j++)
		if (s->channels.axis[j].bands == s->channels.axis[i].bands)
			return j;
	return i;
}

static int64_t length_with_twins(const pe_encoding *e, const struct state *s, int i)
{
	int64_t most = 0;
	for (int j = i; j < s->channels.count; j++)
		if (twin_of(e, s, j) == i)
			most = pe_max(most, pe_grid_length(e->domain, s->channels.axis[j].number));
	return most;
}

static void fill_numbers(
	const pe_encoding *e, const struct state *s, const struct pe_axial_axis *a, int64_t length)
{
	double *out = s->numbers + a->numbers;
	for (int64_t i = 0; i < length; i++, out += 2 * a->bands)
		pe_axial_write_numbers(e, a, coordinate(s, a->scale, (double)i, (double)(length - 1)), out);
}

/* The zeros that end a row, then the numbers of the axes. */
static pe_status make_numbers(pe_encoding *e, struct state *s)
{
	int64_t count = s->table.dim - s->channels.used, zeros = count;
	for (int i = 0; i < s->channels.count; i++) {
		int64_t own, length = length_with_twins(e, s, i);
		s->channels.axis[i].numbers = length > 0 ? count : s->channels.axis[twin_of(e, s, i)].numbers;
		if (!pe_mul(length, 2 * s->channels.axis[i].bands, &own) || !pe_add(count, own, &count))
			return pe_encoding_fail(
				e, PE_ERR_NOMEM, "the numbers of so long an axis are more than memory can hold");
	}
	s->numbers = pe_alloc(e->ctx, count, sizeof *s->numbers);
	if (!s->numbers)
		return PE_ERR_NOMEM;
	memset(s->numbers, 0, (size_t)zeros * sizeof *s->numbers);
	for (int i = 0; i < s->channels.count; i++)
		fill_numbers(e, s, &s->channels.axis[i], length_with_twins(e, s, i));
	s->table.numbers = s->numbers;
	s->table.number_count = count;
	return PE_OK;
}

/* ---- padding ------------------------------------------------------------------------ */

static pe_status count_padding(pe_encoding *e, struct state *s)
{
	const pe_domain *domain = e->domain;
	int64_t places = domain->frames * domain->height * domain->width;
	s->coordinates =
		pe_alloc(e->ctx, domain->batch * places, (size_t)s->channels.count * sizeof *s->coordinates);
	int64_t *counted = pe_alloc(e->ctx, places, 2 * sizeof *counted);
	if (!s->coordinates || !counted) {
		pe_free(e->ctx, counted);
		return PE_ERR_NOMEM;
	}
	int64_t *last = counted + places;
	double *out = s->coordinates;
	for (int64_t b = 0; b < domain->batch; b++, out += places * s->channels.count)
		for (int i = 0; i < s->channels.count; i++) {
			pe_grid_count(domain, b, s->channels.axis[i].number, counted, last);
			for (int64_t p = 0; p < places; p++)
				out[p * s->channels.count + i] =
					coordinate(s, s->channels.axis[i].scale, (double)counted[p], (double)last[p]);
		}
	pe_free(e->ctx, counted);
	return PE_OK;
}

static pe_status bind(pe_encoding *e)
{
	int64_t widths[PE_MAX_GRID_AXES];
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	s->table.dim = pe_params_int(e->params, "dim");
	s->table.unplaced = pe_max(e->domain->prefix - e->domain->first, 0);
	s->channels.layout = (enum pe_axial_layout)pe_params_choice(e->params, "layout");
	s->columns = pe_params_choice(e->params, "order") == 1;
	s->normalize = pe_params_bool(e->params, "normalize");
	s->start = pe_params_real(e->params, "start");
	s->shift = pe_params_real(e->params, "shift");
	s->eps = pe_params_real(e->params, "eps");
	if (!s->normalize)
		PE_TRY(pe_encoding_refuse_option(e, "eps", "with normalize=0"));
	PE_TRY(take_axes(e, s, widths));
	PE_TRY(take_scales(e, s));
	PE_TRY(pe_axial_lay_out(e, &s->channels, widths, s->table.dim));
	if (e->domain->padding)
		PE_TRY(count_padding(e, s));
	if (e->domain->padding || s->channels.axis[0].number == FLAT) {
		s->table.row = row;
	} else {
		s->table.shared = (struct pe_shared_rows){.columns = e->domain->width, .find = find};
		s->table.shared.parts = pe_axial_runs(&s->channels, s->table.dim, s->table.shared.widths);
		PE_TRY(make_numbers(e, s));
	}
	return pe_token_table_declare(e);
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	pe_free(e->ctx, s->channels.frequencies);
	pe_free(e->ctx, s->numbers);
	pe_free(e->ctx, s->coordinates);
}

/* ---- what it is --------------------------------------------------------------------- */

static const pe_option_info options[] = {
	PE_INT("dim", "64", 1, 1 << 20, "width of a row"),
	PE_REAL("base", "10000", 1e-6, 1e18, "base of the frequencies"),
	PE_CHOICE("axes", "auto", PE_GRID_AXES_WORDS "|flat",
		"the axes in the order of their channels; auto: yx, or tyx of several frames; flat: one axis, the "
		"token's number t H W + y W + x"),
	PE_CHOICE("layout", "blocks", "blocks|interleaved|trig",
		"of each axis sines then cosines; sine and cosine side by side; or sines of all axes, then cosines "
		"of all"),
	PE_OPTION_SHARES,
	PE_OPTION_REST,
	PE_CHOICE("timescale", "paper", "paper|tensor2tensor",
		"frequencies base^(-k/n), or base^(-k/(n-1)), which end at 1/base"),
	PE_CHOICE("order", "rows", "rows|columns",
		"token n of a frame is at y = n / W, x = n % W; columns: it gets what belongs to y = n % H, x = n / "
		"H"),
	PE_REAL("start", "0", -1e9, 1e9, "coordinate of the first place of each axis"),
	PE_REAL("shift", "0", -1e9, 1e9, "added to coordinates, but not to what normalize divides by"),
	PE_BOOLEAN("normalize", "0", "divide coordinates by the axis' last one plus eps"),
	PE_REAL("eps", "0", 0, 1, "with normalize: added to the last coordinate"),
	PE_LIST("scale", "0", -1e9, 1e9,
		"what coordinates are multiplied by in the end, one number or one for each axis; 0: 2 pi with "
		"normalize, else 1"),
	PE_OPTION_MERGE,
};

static const pe_preset_info presets[] = {
	{"mae", "axes=xy",
		"MAE: x comes first, though its code names the halves the other way round. transformers begins a new "
		"ViTMAE with y first instead: that is jepa"},
	{"moco", "axes=xy,order=columns",
		"MoCo v3: a square grid as jepa's; on others its code gives the tokens the rows of a table counted "
		"column by column, which is followed here"},
	{"jepa", "axes=yx", "I-JEPA, and V-JEPA of images; RT-DETR in transformers"},
	{"vjepa", "axes=tyx,shares=2/1/1",
		"V-JEPA of videos: half of the channels for t. Its uniform_power is shares=1,rest=cut"},
	{"detr", "axes=yx,layout=interleaved,start=1,normalize=1,eps=1e-6",
		"DETR's sine module as its builder sets it: coordinates from 1, over the last plus 1e-6, times 2 pi. "
		"With a padding mask they count places without padding, and the last is the column's or row's own. "
		"transformers' pixel_mask is a padding mask's reverse. Its module's own default is normalize=0"},
	{"deformable_detr", "axes=yx,layout=interleaved,start=1,shift=-0.5,normalize=1,eps=1e-6",
		"Deformable DETR: as detr, but from 0.5. A column or row that is all padding gets -0.5/1e-6 times 2 "
		"pi, as in its code"},
	{"timm", "axes=yx,layout=trig",
		"timm's build_sincos2d_pos_embed: sines of both axes come first. interleave_sin_cos is "
		"layout=blocks; "
		"reverse_coord is axes=xy,order=columns"},
	{"simple_vit", "axes=xy,timescale=tensor2tensor",
		"big_vision and vit-pytorch's SimpleViT: x first, the last frequency is 1/base"},
	{"simple_vit_3d", "axes=xyt,timescale=tensor2tensor,rest=zeros",
		"vit-pytorch's SimpleViT of videos: x, y, t, and what does not divide by 6 is 0"},
	{"diffusers", "axes=xy,start=1,shift=-1,normalize=1,scale=16",
		"diffusers' get_2d_sincos_pos_embed: x first, i base_size/length, so that every grid spans the same. "
		"scale is its base_size over interpolation_scale; its f32 coordinates are exact here. PixArt's and "
		"SD3's are such. A class token has a row of zeros, as here, only if its extra_tokens says so"},
	{"diffusers_3d", "axes=txy,shares=2/3/3",
		"diffusers' get_3d_sincos_pos_embed, CogVideoX: a quarter of the channels for t, then x, then y. "
		"scale=a/b/b is one over its temporal and spatial interpolation scales"},
	{"xcit", "axes=yx,layout=interleaved,start=1,normalize=1,eps=1e-6",
		"XCiT: as detr without padding, of dim=64 in all its models; the 1 x 1 convolution that makes of it "
		"the model's width is left out"},
	{"videomae", "axes=flat,layout=interleaved",
		"VideoMAE: one axis, the token's number in the whole video; y, x and t have no channels of their "
		"own"},
	{"positional_encodings", "layout=interleaved,shares=1,rest=cut",
		"the package positional-encodings, 2-D and 3-D: axes have as many channels, rounded up, and the last "
		"loses what is beyond dim. Of integer tensors it gives 0 and 1, which is not followed here"},
};

const struct pe_encoder pe_encoder_axial = {
	.table = PE_TABLE("axial", options, presets),
	.family = PE_VISION,
	.summary = "sines and cosines of row and column (and frame), each in channels of its own",
	.help = "Token (y, x) gets [f(y) | f(x)] with axes=yx, [f(t) | f(y) | f(x)] with tyx,\n"
			"f(c) = [sin(c w_k) | cos(c w_k)], w_k = base^(-k/n), k = 0 ... n-1, n half the\n"
			"axis' channels. With axes=yx all frames of a grid are alike. c of place i of\n"
			"an axis of length L is\n"
			"  (start + i + shift) scale                                  normalize=0\n"
			"  (start + i + shift) / (start + L - 1 + eps) scale          normalize=1\n"
			"and 0 where that divides by 0. Prefix tokens get rows of zeros, as MAE's class\n"
			"token, and merging leaves them alone. A normalized table belongs to its grid:\n"
			"the table of a smaller grid is no part of it.\n"
			"With a padding mask (--padding-mask, pe_domain_padded) i counts the places of\n"
			"the token's own line along the axis that are no padding, up to the token, from\n"
			"0; at padding it stays, before all others it is -1; L is their number. Masks\n"
			"of several batches give (batch, tokens, dim).\n"
			"Computed in double precision and rounded once. Models that compute in f32 are\n"
			"some 1e-6 off, 1e-4 at coordinates of 1000.",
	.source = "He et al. 2021 (MAE); Carion et al. 2020 (DETR); Zhu et al. 2021 (Deformable DETR); timm; "
			  "diffusers; vit-pytorch; positional-encodings",
	.example = "grid:14x14 --with axial:preset=mae,dim=768",
	.domains = PE_DOMAIN_GRID,
	.counts_padding = true,
	.bind = bind,
	.release = release,
	.compute = pe_token_table_compute,
	.tokens = pe_token_table_tokens,
	.tokens_shape = pe_token_table_shape,
};
