/* SPDX-License-Identifier: BSD-2-Clause
 * Axial sinusoidal positions of a grid: half of the channels encode y, half encode x, each with
 * frequencies base^(-k/(dim/4)), k = 0 … dim/4 - 1. He et al., "Masked autoencoders are scalable
 * vision learners", 2021; Carion et al., "End-to-end object detection with transformers", 2020. */
#include <math.h>
#include <string.h>

#include "encoder.h"
#include "kernels/kernels.h"
#include "token_table.h"

enum axes { YX, XY };
enum layout { BLOCKS, INTERLEAVED, TRIG };

struct state {
	struct pe_token_table table;
	/* sin and cos of every coordinate: entry (i, 0, k) and (i, 1, k) of dim/4 frequencies. Rows share
	 * them, so that a table costs height + width evaluations and not height × width. */
	double *y, *x;
	enum axes axes;
	enum layout layout;
};

/* What coordinates are multiplied with. */
static double scale_of(const pe_encoding *e, int64_t length)
{
	double last = pe_params_real(e->params, "start") + (double)(length - 1);
	double end = last + pe_params_real(e->params, "eps");
	if (!pe_params_bool(e->params, "normalize"))
		return 1;
	return fabs(end) > 0 ? pe_params_real(e->params, "scale") / end : 0; /* a single row at 0 stays there */
}

static void fill_axis(
	const pe_encoding *e, int64_t length, const double *frequency, int64_t bands, double *out)
{
	double start = pe_params_real(e->params, "start"), scale = scale_of(e, length);
	for (int64_t i = 0; i < length; i++, out += 2 * bands) {
		for (int64_t k = 0; k < bands; k++)
			out[k] = (start + (double)i) * scale * frequency[k];
		e->ctx->kernels->sincos(out, bands, out, out + bands);
	}
}

static pe_status fill_axes(const pe_encoding *e, int64_t bands)
{
	const struct state *s = e->state;
	double base = pe_params_real(e->params, "base");
	double *frequency = pe_alloc(e->ctx, bands, sizeof *frequency);
	if (!frequency)
		return PE_ERR_NOMEM;
	for (int64_t k = 0; k < bands; k++)
		frequency[k] = pow(base, -(double)k / (double)bands);
	fill_axis(e, e->domain->height, frequency, bands, s->y);
	fill_axis(e, e->domain->width, frequency, bands, s->x);
	pe_free(e->ctx, frequency);
	return PE_OK;
}

/* The two halves of a row from the sines and cosines (2, bands) of its first and second axis. */
static void lay_out(enum layout layout, const double *first, const double *second, int64_t bands, double *out)
{
	size_t block = (size_t)bands * sizeof *out;
	switch (layout) {
	case BLOCKS:
		memcpy(out, first, 2 * block);
		memcpy(out + 2 * bands, second, 2 * block);
		break;
	case TRIG:
		memcpy(out, first, block);
		memcpy(out + bands, second, block);
		memcpy(out + 2 * bands, first + bands, block);
		memcpy(out + 3 * bands, second + bands, block);
		break;
	case INTERLEAVED:
		for (int64_t k = 0; k < bands; k++) {
			out[2 * k] = first[k];
			out[2 * k + 1] = first[bands + k];
			out[2 * (bands + k)] = second[k];
			out[2 * (bands + k) + 1] = second[bands + k];
		}
		break;
	}
}

static void row(const pe_encoding *e, int64_t batch, int64_t token, double *out)
{
	(void)batch;
	const struct state *s = e->state;
	int64_t bands = s->table.dim / 4, place = token - e->domain->prefix;
	if (place < 0) {
		memset(out, 0, (size_t)s->table.dim * sizeof *out);
		return;
	}
	const double *y = s->y + place / e->domain->width * 2 * bands;
	const double *x = s->x + place % e->domain->width * 2 * bands;
	if (s->axes == YX)
		lay_out(s->layout, y, x, bands, out);
	else
		lay_out(s->layout, x, y, bands, out);
}

static pe_status bind(pe_encoding *e)
{
	int64_t dim = pe_params_int(e->params, "dim"), height = e->domain->height, width = e->domain->width;
	if (dim % 4 != 0)
		return pe_encoding_fail(e, PE_ERR_RANGE,
			"dim is %lld, but must be a multiple of 4: sine and cosine of two axes", (long long)dim);
	if (e->domain->frames > 1)
		return pe_encoding_fail(e, PE_ERR_UNSUPPORTED, "it encodes two axes, and the grid has %lld frames",
			(long long)e->domain->frames);
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	s->table = (struct pe_token_table){.dim = dim, .unplaced = e->domain->prefix, .row = row};
	s->axes = (enum axes)pe_params_choice(e->params, "axes");
	s->layout = (enum layout)pe_params_choice(e->params, "layout");
	s->y = pe_alloc(e->ctx, height, (size_t)(dim / 2) * sizeof *s->y);
	s->x = pe_alloc(e->ctx, width, (size_t)(dim / 2) * sizeof *s->x);
	if (!s->y || !s->x)
		return PE_ERR_NOMEM;
	PE_TRY(fill_axes(e, dim / 4));
	return pe_token_table_declare(e);
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	pe_free(e->ctx, s->y);
	pe_free(e->ctx, s->x);
}

static const pe_option_info options[] = {
	PE_INT("dim", "64", 4, 1 << 20, "width of a row, a multiple of 4"),
	PE_REAL("base", "10000", 1e-6, 1e18, "base of the frequencies"),
	PE_CHOICE("axes", "yx", "yx|xy", "which axis comes first"),
	PE_CHOICE("layout", "blocks", "blocks|interleaved|trig",
		"of each axis sines then cosines; sine and cosine side by side; or sines of both axes, then cosines "
		"of both"),
	PE_REAL("start", "0", -1e9, 1e9, "coordinate of the first row and column"),
	PE_BOOLEAN("normalize", "0", "divide coordinates by the last one plus eps, and multiply by scale"),
	PE_REAL(
		"scale", "6.283185307179586", -1e9, 1e9, "with normalize: the coordinate of the last row and column"),
	PE_REAL("eps", "0", 0, 1, "with normalize: added to the last coordinate"),
	PE_OPTION_MERGE,
};

static const pe_preset_info presets[] = {
	{"mae", "axes=xy", "MAE: x comes first, though its code names the halves the other way round"},
	{"jepa", "axes=yx",
		"I-JEPA and V-JEPA in 2-D; MoCo v3 too, but only on square grids: on others its code "
		"gives the tokens column by column"},
	{"detr", "axes=yx,layout=interleaved,start=1,normalize=1,eps=1e-6",
		"DETR's sine module without padding, as its builder sets it: coordinates from 1, divided by last + "
		"1e-6"},
	{"timm", "axes=yx,layout=trig",
		"timm's build_sincos2d_pos_embed by default: sines of both axes come first"},
};

const struct pe_encoder pe_encoder_axial = {
	.table = PE_TABLE("axial", options, presets),
	.family = PE_VISION,
	.summary = "sines and cosines of row and column, half of the channels each",
	.help = "Token (y, x) gets [f(y) | f(x)] (axes=yx), f(c) = [sin(c w_k) | cos(c w_k)],\n"
			"w_k = base^(-k/(dim/4)), k = 0 ... dim/4-1. Coordinates: start, start+1, ...\n"
			"or, with normalize=1, scaled so that the last is `scale`. Prefix tokens get\n"
			"rows of zeros, and merging leaves them alone. Computed in double precision and\n"
			"rounded once.",
	.source = "He et al. 2021 (MAE); Carion et al. 2020 (DETR)",
	.example = "grid:14x14 --with axial:preset=mae,dim=768",
	.domains = PE_DOMAIN_GRID,
	.bind = bind,
	.release = release,
	.compute = pe_token_table_compute,
	.tokens = pe_token_table_tokens,
	.tokens_shape = pe_token_table_shape,
};
