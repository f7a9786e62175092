/* SPDX-License-Identifier: BSD-2-Clause
 * Fourier features of a grid: the coordinates of a place, and sines and cosines of each at bands of
 * frequencies. Jaegle et al., "Perceiver", 2021; Wightman, timm's build_fourier_pos_embed and FourierEmbed.
 */
#include <math.h>
#include <string.h>

#include "grid_axes.h"
#include "kernels/kernels.h"
#include "token_table.h"

enum frequencies { LINEAR, LOG, GEOMETRIC };
enum coordinates { PIXEL, INDEX, CENTRED };
enum layout { BY_BAND, BY_AXIS };

struct state {
	struct pe_token_table table;
	struct pe_grid_axes axes;
	int64_t bands;
	enum layout layout;
	bool grid;      /* rows begin with the coordinates */
	bool sine_only; /* no cosines */
	/* Of each axis, of each of its places: the coordinate, the sines, the cosines. */
	double *numbers[PE_MAX_GRID_AXES];
};

/* ---- coordinates -------------------------------------------------------------------- */

/* reference: 0 if coordinates stay as they are. */
static double coordinate(
	const pe_encoding *e, const struct state *s, int axis, double reference, int64_t place)
{
	enum coordinates kind = (enum coordinates)pe_params_choice(e->params, "coordinates");
	double start = pe_params_real(e->params, "start"), c = (double)place + start;
	int64_t length = pe_grid_length(e->domain, s->axes.number[axis]);
	if (kind == PIXEL)
		c = length > 1 ? 2 * (double)place / (double)(length - 1) - 1 : -1;
	else if (kind == CENTRED)
		c = (c + 0.5) /
			pe_grid_divisor(
				&s->axes, e->domain, (enum pe_divisor)pe_params_choice(e->params, "denominator"), axis);
	if (reference > 0)
		c = c / (double)length * reference;
	return kind == CENTRED ? 2 * c - 1 : c;
}

/* Of band k of n, up to half of max_res waves on a picture of that size. */
static double frequency(const pe_encoding *e, int64_t k, int64_t n, double max_res)
{
	enum frequencies kind = (enum frequencies)pe_params_choice(e->params, "frequencies");
	double part = n > 1 ? (double)k / (double)(n - 1) : 0;
	if (kind == GEOMETRIC)
		return pow(pe_params_real(e->params, "base"), -(double)k / (double)n);
	return PE_PI * (kind == LINEAR ? 1 + part * (max_res / 2 - 1) : pow(max_res / 2, part));
}

/* ---- rows --------------------------------------------------------------------------- */

static void row(const pe_encoding *e, int64_t batch, int64_t token, double *out)
{
	(void)batch;
	const struct state *s = e->state;
	int64_t place[3], bands = s->bands, axes = s->axes.count;
	if (!pe_grid_find(e->domain, token, place)) {
		memset(out, 0, (size_t)s->table.dim * sizeof *out);
		return;
	}
	double *sines = out + (s->grid ? axes : 0), *cosines = sines + axes * bands;
	for (int i = 0; i < axes; i++) {
		const double *numbers = s->numbers[i] + place[s->axes.number[i]] * (1 + 2 * bands);
		int64_t first = s->layout == BY_BAND ? i : i * bands, step = s->layout == BY_BAND ? axes : 1;
		if (s->grid)
			out[i] = numbers[0];
		for (int64_t k = 0; k < bands; k++) {
			sines[first + k * step] = numbers[1 + k];
			if (!s->sine_only)
				cosines[first + k * step] = numbers[1 + bands + k];
		}
	}
}

/* ---- bind --------------------------------------------------------------------------- */

/* One number, or one for each axis. */
static pe_status take_list(
	pe_encoding *e, const struct state *s, const char *name, double out[PE_MAX_GRID_AXES])
{
	int64_t count;
	const double *list = pe_params_list(e->params, name, &count);
	if (count != 1 && count != s->axes.count)
		return pe_encoding_fail(e, PE_ERR_RANGE, "%s has %lld numbers, and the grid %d axes", name,
			(long long)count, s->axes.count);
	for (int i = 0; i < s->axes.count; i++)
		out[i] = list[count == 1 ? 0 : i];
	return PE_OK;
}

static pe_status refuse_what_is_idle(pe_encoding *e)
{
	const char *kind = pe_params_text(e->params, "coordinates"),
			   *bands = pe_params_text(e->params, "frequencies");
	if (strcmp(kind, "centred") != 0)
		PE_TRY(pe_encoding_refuse_option(e, "denominator", "with coordinates=%s", kind));
	if (strcmp(kind, "pixel") == 0)
		PE_TRY(pe_encoding_refuse_option(e, "start", "with coordinates=pixel"));
	if (strcmp(bands, "geometric") == 0)
		return pe_encoding_refuse_option(e, "max_res", "with frequencies=geometric");
	return pe_encoding_refuse_option(e, "base", "with frequencies=%s", bands);
}

static pe_status fill_axis(pe_encoding *e, struct state *s, int axis, double max_res, double reference)
{
	int64_t length = pe_grid_length(e->domain, s->axes.number[axis]), bands = s->bands;
	double *out = s->numbers[axis] = pe_alloc(e->ctx, length, (size_t)(1 + 2 * bands) * sizeof *out);
	double *w = pe_alloc(e->ctx, bands, 2 * sizeof *w);
	if (!out || !w) {
		pe_free(e->ctx, w);
		return PE_ERR_NOMEM;
	}
	double *angle = w + bands;
	for (int64_t k = 0; k < bands; k++)
		w[k] = frequency(e, k, bands, max_res);
	for (int64_t i = 0; i < length; i++, out += 1 + 2 * bands) {
		out[0] = coordinate(e, s, axis, reference, i);
		for (int64_t k = 0; k < bands; k++)
			angle[k] = out[0] * w[k];
		e->ctx->kernels->sincos(angle, bands, out + 1, out + 1 + bands);
	}
	pe_free(e->ctx, w);
	return PE_OK;
}

static pe_status bind(pe_encoding *e)
{
	double max_res[PE_MAX_GRID_AXES], reference[PE_MAX_GRID_AXES];
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	s->axes = pe_grid_axes_of(pe_params_text(e->params, "axes"), e->domain);
	s->bands = pe_params_int(e->params, "bands");
	s->layout = (enum layout)pe_params_choice(e->params, "layout");
	s->grid = pe_params_bool(e->params, "grid");
	s->sine_only = pe_params_bool(e->params, "sine_only");
	s->table = (struct pe_token_table){.dim = s->axes.count * (s->grid + (2 - s->sine_only) * s->bands),
		.unplaced = pe_max(e->domain->prefix - e->domain->first, 0),
		.row = row};
	PE_TRY(take_list(e, s, "max_res", max_res));
	PE_TRY(take_list(e, s, "reference", reference));
	PE_TRY(refuse_what_is_idle(e));
	for (int i = 0; i < s->axes.count; i++)
		PE_TRY(fill_axis(e, s, i, max_res[i], reference[i]));
	return pe_token_table_declare(e);
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	for (int i = 0; i < PE_MAX_GRID_AXES; i++)
		pe_free(e->ctx, s->numbers[i]);
}

/* ---- what it is --------------------------------------------------------------------- */

static const pe_option_info options[] = {
	PE_INT("bands", "64", 1, 1 << 16, "frequencies of each axis"),
	PE_CHOICE("frequencies", "linear", "linear|log|geometric",
		"from pi to pi max_res/2 in equal steps, or in equal ratios; or base^(-k/bands)"),
	PE_LIST("max_res", "224", 1e-9, 1e9,
		"pixels of a side of the largest picture, one number or one for each axis, in the order of axes"),
	PE_REAL("base", "10000", 1e-6, 1e18, "base of frequencies=geometric"),
	PE_CHOICE("coordinates", "pixel", "pixel|index|centred",
		"from -1 at the first place to 1 at the last; i + start; or 2 (i + start + 0.5)/length - 1"),
	PE_REAL("start", "0", -1e9, 1e9, "added to i"),
	PE_CHOICE("denominator", "own", PE_DIVISOR_WORDS,
		"coordinates=centred: the length is the axis' own, or the largest or smallest of the grid"),
	PE_LIST("reference", "0", 0, 1e9,
		"coordinates are divided by the grid's length and multiplied by this one, of pretraining; one number "
		"or one for each axis; 0: they are not"),
	PE_CHOICE("axes", "auto", PE_GRID_AXES_WORDS, "the order of axes; auto: yx, or tyx of several frames"),
	PE_CHOICE("layout", "bands", "bands|axes",
		"of sines, and of cosines: for each band all axes, or for each axis all bands"),
	PE_BOOLEAN("grid", "1", "rows begin with the coordinates themselves"),
	PE_BOOLEAN("sine_only", "0", "no cosines: rows end with the sines, as Perceiver's option of this name"),
	PE_OPTION_MERGE_DEFAULT("concat"),
};

static const pe_preset_info presets[] = {
	{"timm", "layout=bands", "timm's FourierEmbed: the default. It computes in f32, some 1e-5 off"},
	{"timm_build", "frequencies=log,layout=axes,grid=0",
		"timm's build_fourier_pos_embed as it stands: its sines, then its cosines. in_pixels=False is "
		"frequencies=geometric,coordinates=index, grid_indexing='xy' axes=xy, ref_feat_shape reference, "
		"which scales coordinates from -1 to 1 too"},
	{"perceiver", "layout=axes",
		"Perceiver and Perceiver IO, as transformers has them: max_res is their max_resolution, of pictures "
		"224, and sine_only theirs; what follows, such as Perceiver's projection, is left out"},
};

const struct pe_encoder pe_encoder_fourier = {
	.table = PE_TABLE("fourier", options, presets),
	.family = PE_VISION,
	.summary = "coordinates of row and column, with sines and cosines at bands of frequencies",
	.help = "Token (y, x) gets [y, x | sines | cosines], 2 (1 + 2 bands) numbers, with\n"
			"frames t too, 3 (1 + 2 bands). With coordinates u = y and v = x they are\n"
			"  layout=bands  sin(u w_0), sin(v w_0), sin(u w_1), sin(v w_1) ...\n"
			"  layout=axes   sin(u w_0), sin(u w_1) ... sin(v w_0), sin(v w_1) ...\n"
			"w_k = pi (1 + k/(bands-1) (max_res/2 - 1))   linear\n"
			"      pi (max_res/2)^(k/(bands-1))           log\n"
			"      base^(-k/bands)                        geometric\n"
			"An axis of one place has u = -1 with coordinates=pixel. Coordinates other than\n"
			"index belong to their grid: the table of a smaller grid is no part of it.\n"
			"Prefix tokens get rows of zeros. Computed in double, rounded once.",
	.source = "Jaegle et al. 2021 (Perceiver); timm's pos_embed_sincos.py",
	.example = "grid:14x14 --with fourier:bands=16 -o fourier.npy",
	.domains = PE_DOMAIN_GRID,
	.bind = bind,
	.release = release,
	.compute = pe_token_table_compute,
	.tokens = pe_token_table_tokens,
	.tokens_shape = pe_token_table_shape,
};
