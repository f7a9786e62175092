/* SPDX-License-Identifier: BSD-2-Clause
 * Axial sinusoidal positions of a grid: half of the channels encode y, half encode x, each with
 * frequencies base^(-k/(dim/4)), k = 0 … dim/4 - 1. He et al., "Masked autoencoders are scalable
 * vision learners", 2021; Carion et al., "End-to-end object detection with transformers", 2020. */
#include <math.h>

#include "encoder.h"
#include "kernels/kernels.h"
#include "token_table.h"

enum axes { YX, XY };
enum layout { BLOCKS, INTERLEAVED, TRIG };

struct state {
	struct pe_token_table table;
	/* f of every row of the grid, then of every column: dim/2 numbers each. A table costs height + width
	 * evaluations and not height × width. */
	double *numbers;
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

/* Sines and cosines of bands frequencies, in the order of a row's half. */
static void fill_axis(
	const pe_encoding *e, int64_t length, const double *frequency, int64_t bands, double *buffer, double *out)
{
	const struct state *s = e->state;
	double start = pe_params_real(e->params, "start"), scale = scale_of(e, length);
	for (int64_t i = 0; i < length; i++, out += 2 * bands) {
		bool interleaved = s->layout == INTERLEAVED;
		double *sine = interleaved ? buffer : out, *cosine = sine + bands;
		for (int64_t k = 0; k < bands; k++)
			sine[k] = (start + (double)i) * scale * frequency[k];
		e->ctx->kernels->sincos(sine, bands, sine, cosine);
		for (int64_t k = 0; interleaved && k < bands; k++) {
			out[2 * k] = sine[k];
			out[2 * k + 1] = cosine[k];
		}
	}
}

static pe_status fill_axes(const pe_encoding *e, int64_t bands)
{
	const struct state *s = e->state;
	double base = pe_params_real(e->params, "base");
	double *frequency = pe_alloc(e->ctx, bands, 3 * sizeof *frequency);
	if (!frequency)
		return PE_ERR_NOMEM;
	for (int64_t k = 0; k < bands; k++)
		frequency[k] = pow(base, -(double)k / (double)bands);
	fill_axis(e, e->domain->height, frequency, bands, frequency + bands, s->numbers);
	fill_axis(
		e, e->domain->width, frequency, bands, frequency + bands, s->numbers + e->domain->height * 2 * bands);
	pe_free(e->ctx, frequency);
	return PE_OK;
}

static bool find(const pe_encoding *e, int64_t batch, int64_t token, int64_t starts[PE_MAX_PARTS])
{
	(void)batch;
	const struct state *s = e->state;
	int64_t bands = s->table.dim / 4, place = e->domain->first + token - e->domain->prefix;
	if (place < 0)
		return false;
	int64_t y = place / e->domain->width, x = e->domain->height + place % e->domain->width;
	int64_t first = 2 * bands * (s->axes == YX ? y : x), second = 2 * bands * (s->axes == YX ? x : y);
	starts[0] = first;
	starts[1] = second;
	if (s->layout == TRIG) {
		starts[2] = first + bands;
		starts[3] = second + bands;
	}
	return true;
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
	s->axes = (enum axes)pe_params_choice(e->params, "axes");
	s->layout = (enum layout)pe_params_choice(e->params, "layout");
	s->numbers = pe_alloc(e->ctx, height + width, (size_t)(dim / 2) * sizeof *s->numbers);
	if (!s->numbers)
		return PE_ERR_NOMEM;
	PE_TRY(fill_axes(e, dim / 4));
	s->table = (struct pe_token_table){.dim = dim,
		.unplaced = e->domain->prefix,
		.numbers = s->numbers,
		.number_count = (height + width) * (dim / 2),
		.shared = {.parts = s->layout == TRIG ? 4 : 2, .columns = width, .find = find}};
	for (int i = 0; i < s->table.shared.parts; i++)
		s->table.shared.widths[i] = dim / s->table.shared.parts;
	return pe_token_table_declare(e);
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	pe_free(e->ctx, s->numbers);
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
