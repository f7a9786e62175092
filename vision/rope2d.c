/* SPDX-License-Identifier: BSD-2-Clause
 * Rotary positions of a grid: half of the pairs of channels is turned by y × frequency, half by x ×
 * frequency; or every pair by both, with learned frequencies. Heo et al., "Rotary position embedding for
 * vision transformer", 2024; Fang et al., "EVA-02", 2023. */
#include <math.h>
#include <string.h>

#include "encoder.h"
#include "grid_axes.h"
#include "kernels/kernels.h"
#include "rope2d_frequencies.h"
#include "rotation.h"
#include "shared_rows.h"

enum coordinates { INDEX, REFERENCE, CENTRED };
enum layout { INTERLEAVED, HALVES, AXIS_HALVES };

/* Of two: of the first axis and of the second. */
struct state {
	struct pe_rotation rotation;
	int64_t bands; /* pairs of one axis */
	struct pe_grid_axes axes;
	int64_t block; /* side of the blocks in whose order tokens come */
	enum coordinates kind;
	enum pe_divisor divisor;
	double start, reference[2];
	struct pe_frequencies frequencies[2];
	const double *learned; /* of the first axis, (heads, pairs), or NULL */
	int64_t learned_step;  /* from there to those of the second */
};

/* ---- coordinates -------------------------------------------------------------------- */

/* What a place along an axis, number 0 or 1, becomes. */
static double coordinate(const struct state *s, const pe_domain *domain, int axis, double place)
{
	double c = place + s->start;
	if (s->kind == INDEX)
		return c;
	double length = pe_grid_divisor(&s->axes, domain, s->divisor, axis);
	return s->kind == REFERENCE ? c / length * s->reference[axis] : 2 * ((c + 0.5) / length) - 1;
}

static void find_coordinates(const pe_encoding *e, const struct pe_place *at, double out[2])
{
	const struct state *s = e->state;
	const pe_domain *domain = pe_side_domain(e, at->side);
	int64_t place[3];
	if (!domain->positions)
		pe_grid_find_in_blocks(domain, s->block, at->token, place);
	for (int i = 0; i < 2; i++) {
		int number = s->axes.number[i];
		out[i] = coordinate(s, domain, i,
			domain->positions ? pe_domain_coordinate(domain, at->batch, at->token, number - 1)
							  : (double)place[number]);
	}
}

/* ---- the rotation ------------------------------------------------------------------- */

static void turn(const pe_encoding *e, const struct pe_place *at, int64_t first, int64_t count,
	double *cosine, double *sine)
{
	const struct state *s = e->state;
	double coordinates[2];
	find_coordinates(e, at, coordinates);
	for (int i = 0; i < 2; i++) {
		int64_t start = i * s->bands;
		int64_t from = pe_max(first, start), to = pe_min(first + count, start + s->bands);
		if (from < to)
			pe_frequencies_turn(e->ctx, &s->frequencies[i], coordinates[i], from - start, to - from,
				cosine + (from - first), sine + (from - first));
	}
}

static void turn_learned(const pe_encoding *e, const struct pe_place *at, int64_t first, int64_t count,
	double *cosine, double *sine)
{
	const struct state *s = e->state;
	int64_t pairs = s->rotation.pairs;
	const double *one = s->learned + at->head * pairs + first, *other = one + s->learned_step;
	double c[2];
	find_coordinates(e, at, c);
	for (int64_t t = 0; t < count; t++)
		sine[t] = c[0] * one[t] + c[1] * other[t];
	e->ctx->kernels->sincos(sine, count, sine, cosine);
}

/* ---- arrays ------------------------------------------------------------------------- */

/* Turns of the places of the first axis, then of the second. */
static bool find(const pe_encoding *e, int64_t batch, int64_t token, int64_t starts[PE_MAX_PARTS])
{
	(void)batch;
	const struct state *s = e->state;
	int64_t place[3];
	if (!pe_grid_find_in_blocks(e->domain, s->block, token, place))
		return false;
	starts[0] = place[s->axes.number[0]] * s->bands;
	starts[1] = (pe_grid_length(e->domain, s->axes.number[0]) + place[s->axes.number[1]]) * s->bands;
	return true;
}

static void turn_places(const pe_encoding *e, double *cosine, double *sine)
{
	const struct state *s = e->state;
	for (int i = 0; i < 2; i++) {
		int64_t length = pe_grid_length(e->domain, s->axes.number[i]);
		for (int64_t k = 0; k < length; k++, cosine += s->bands, sine += s->bands)
			pe_frequencies_turn(e->ctx, &s->frequencies[i], coordinate(s, e->domain, i, (double)k), 0,
				s->bands, cosine, sine);
	}
}

/* Of a grid, the turns of its rows and columns are found once, and copied. */
static pe_status compute(pe_encoding *e, const pe_tensor *outs)
{
	const struct state *s = e->state;
	const pe_domain *domain = e->domain;
	int64_t places = domain->height + domain->width, count = places * s->bands;
	if (s->learned || domain->positions || 2 * places > domain->tokens)
		return pe_rotation_compute(e, outs);
	double *numbers = pe_alloc(e->ctx, count, 2 * sizeof *numbers);
	if (!numbers)
		return PE_ERR_NOMEM;
	turn_places(e, numbers, numbers + count);
	pe_status status = PE_OK;
	for (int k = 0; k < 2 && status == PE_OK; k++) {
		struct pe_shared_rows rows = {.parts = 2,
			.widths = {s->bands, s->bands},
			.columns = domain->width,
			.absent = 1 - k,
			.find = find};
		pe_tensor y = pe_tensor_one_batch(&outs[k]);
		if (y.data)
			status = pe_shared_rows_write(e, &rows, numbers + k * count, count, &y);
	}
	pe_free(e->ctx, numbers);
	return status;
}

/* ---- bind --------------------------------------------------------------------------- */

static pe_status take_reference(pe_encoding *e, struct state *s)
{
	int64_t count;
	const double *list = pe_params_list(e->params, "reference", &count);
	if (count != 1 && count != 2)
		return pe_encoding_fail(e, PE_ERR_RANGE,
			"reference has %lld numbers, and must have one, or two: height/width", (long long)count);
	for (int i = 0; i < 2; i++)
		s->reference[i] = list[s->axes.number[i] == 1 ? 0 : count - 1];
	return PE_OK;
}

static pe_status check_domain(pe_encoding *e, const struct state *s, const pe_domain *domain)
{
	if (domain->kind == PE_DOMAIN_SEQUENCE && (!domain->positions || domain->axes != 2))
		return pe_encoding_fail(
			e, PE_ERR_SHAPE, "it takes a grid, or two numbers a position, y and x, not a sequence");
	if (domain->positions && (s->kind != INDEX || s->block != 1))
		return pe_encoding_fail(e, PE_ERR_UNSUPPORTED,
			"%s needs the size of a grid, which positions do not tell",
			s->block != 1 ? "block" : "coordinates");
	if (!domain->positions && (domain->height % s->block != 0 || domain->width % s->block != 0))
		return pe_encoding_fail(e, PE_ERR_SHAPE, "blocks of %lld x %lld do not fill a grid of %lld x %lld",
			(long long)s->block, (long long)s->block, (long long)domain->height, (long long)domain->width);
	return PE_OK;
}

static pe_status refuse_what_is_idle(pe_encoding *e, bool learned)
{
	const char *kind = pe_params_text(e->params, "coordinates");
	if (strcmp(kind, "reference") != 0)
		PE_TRY(pe_encoding_refuse_option(e, "reference", "with coordinates=%s", kind));
	if (strcmp(kind, "index") == 0)
		PE_TRY(pe_encoding_refuse_option(e, "denominator", "with coordinates=index"));
	if (learned)
		return pe_encoding_refuse_option(e, "periods", "with frequencies=learned");
	return pe_encoding_refuse_option(
		e, "layer", "with frequencies=%s", pe_params_text(e->params, "frequencies"));
}

static pe_status bind(pe_encoding *e)
{
	int64_t head_dim;
	enum layout layout = (enum layout)pe_params_choice(e->params, "layout");
	bool learned = pe_params_choice(e->params, "frequencies") == PE_ROPE2D_LEARNED;
	PE_TRY(refuse_what_is_idle(e, learned));
	PE_TRY(pe_encoding_follow(
		e, "head_dim", learned ? 2 * pe_encoding_given_size(e, "freqs", 4, 3) : 0, &head_dim));
	if (head_dim % 4 != 0)
		return pe_encoding_fail(e, PE_ERR_RANGE,
			"head_dim is %lld, but must be a multiple of 4: pairs of channels for two axes",
			(long long)head_dim);
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	s->bands = head_dim / 4;
	s->axes = pe_grid_axes_of(pe_params_text(e->params, "axes"), e->domain);
	s->block = pe_params_int(e->params, "block");
	s->kind = (enum coordinates)pe_params_choice(e->params, "coordinates");
	s->divisor = (enum pe_divisor)pe_params_choice(e->params, "denominator");
	s->start = pe_params_real(e->params, "start");
	PE_TRY(take_reference(e, s));
	PE_TRY(check_domain(e, s, e->domain));
	PE_TRY(check_domain(e, s, e->queries));
	s->rotation = (struct pe_rotation){.pairs = head_dim / 2,
		.half = layout == HALVES    ? head_dim / 2
			: layout == AXIS_HALVES ? s->bands
									: 0,
		.width = head_dim,
		.per_head = learned,
		.turn = learned ? turn_learned : turn};
	if (learned)
		PE_TRY(pe_rope2d_learned(e, s->bands, &s->learned, &s->learned_step));
	else
		PE_TRY(pe_rope2d_frequencies(e, s->bands, s->frequencies));
	return pe_rotation_declare(e);
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	for (int i = 0; i < 2; i++)
		pe_frequencies_free(e->ctx, &s->frequencies[i]);
}

/* ---- what it is --------------------------------------------------------------------- */

static const pe_option_info options[] = {
	PE_INT("head_dim", "64", 4, 1 << 16, "width of a head, a multiple of 4"),
	PE_CHOICE("axes", "yx", "yx|xy", "which axis turns the first half of the pairs"),
	PE_REAL("base", "10000", 1e-6, 1e18, "base of the frequencies"),
	PE_CHOICE("frequencies", "shared", "shared|split|learned",
		"the same list for both axes; one list of twice the length, its even numbers for the first axis and "
		"its odd ones for the second; or learned for each head, axis and pair"),
	PE_INT("heads", "12", 1, 4096, "attention heads, of frequencies=learned"),
	PE_INT("layer", "-1", -1, 4096, "frequencies=learned: which layer, from 0, of a weight of all layers"),
	PE_CHOICE("periods", "exact", "exact|bf16",
		"periods scale/w as they are, or base^x of x rounded to bf16, rounded too"),
	PE_REAL("scale", "1", -1e9, 1e9, "what all frequencies are multiplied by"),
	PE_CHOICE("coordinates", "index", "index|reference|centred",
		"i + start; (i + start)/length reference; or 2 (i + start + 0.5)/length - 1, from -1 to 1"),
	PE_REAL("start", "0", -1e9, 1e9, "added to rows and columns"),
	PE_LIST("reference", "16", 1e-9, 1e9,
		"coordinates=reference: the grid of pretraining, one number or height/width"),
	PE_CHOICE("denominator", "own", PE_DIVISOR_WORDS,
		"the length that coordinates are divided by: the axis' own, or the larger or smaller of both"),
	PE_CHOICE("layout", "interleaved", "interleaved|halves|axis_halves",
		"pair t is channels 2t and 2t+1; t and t + head_dim/2; or t and t + head_dim/4 within the half of "
		"the channels that belongs to its axis"),
	PE_INT("block", "1", 1, 1 << 16,
		"tokens come in blocks of so many rows and columns, row by row inside; 1: row by row"),
};

static const pe_preset_info presets[] = {
	{"eva02", "coordinates=reference,reference=16",
		"EVA-02, pretrained on 16 x 16 patches: larger grids are squeezed onto that one. timm's f32 angles "
		"are exact here"},
	{"rope_vit_axial", "axes=xy,base=100",
		"RoPE-ViT axial. Its code keeps the table of a square for every grid of as many tokens; here the "
		"grid counts"},
	{"rope_vit_mixed", "axes=xy,base=10,frequencies=learned",
		"RoPE-ViT mixed: layer says which of freqs, whose first row is of x. timm with grid indexing 'ij' "
		"has axes=yx; heads and head_dim are the model's"},
	{"perception", "axes=xy,coordinates=reference,start=1,reference=24",
		"Perception Encoder T, S and L at 336 to 384 pixels, as timm has it: rows and columns from 1. B/16 "
		"has reference=14, the 448 pixels of L/14 reference=32, those of G/14 reference=32,start=0. The code "
		"first published put the class token's zeros last"},
	{"dinov3", "layout=halves,base=100,coordinates=centred,scale=6.283185307179586",
		"DINOv3: centres of patches from -1 to 1, exact periods, as timm and transformers compute them "
		"again, in f32. Shift, jitter and rescaling of training are left out"},
	{"dinov3_bf16", "layout=halves,base=100,coordinates=centred,scale=6.283185307179586,periods=bf16",
		"DINOv3 with the periods that its checkpoints hold, rounded to bf16: angles up to 0.0085 off. Its "
		"code in bf16 rounds coordinates and angles too, which is not followed here"},
	{"pixtral", "layout=halves,frequencies=split",
		"Pixtral in transformers, whose weights are permuted to halves; Mistral's own code has "
		"layout=interleaved"},
	{"qwen2_vl", "layout=halves,head_dim=80,block=2",
		"the vision tower of Qwen2-VL and Qwen2.5-VL: tokens come in the 2 x 2 blocks that are merged later, "
		"which Qwen2.5-VL then orders by windows; every frame is turned alike"},
	{"llama4", "axes=xy,start=1,head_dim=88",
		"the vision tower of Llama 4, rows and columns from 1. Its class token, which is not turned, stands "
		"last: here put it first, as a prefix"},
	{"gemma4", "axes=xy,layout=axis_halves,base=100",
		"the vision tower of Gemma 4: each axis has a half of the channels, in halves of its own. Padding "
		"patches, at (-1, -1) in its code, do not exist here"},
};

static const pe_weight_info weights[] = {
	{"freqs", "(2, heads, head_dim/2), (2, layers, heads, head_dim/2) or (2, layers, heads head_dim/2)",
		"a random direction for each head",
		"frequencies=learned: of the first axis, then of the second; of all layers as timm (rope.freqs) and "
		"RoPE-ViT have them, with the option layer"},
};

const struct pe_encoder pe_encoder_rope2d = {
	.table = PE_TABLE("rope2d", options, presets),
	.family = PE_VISION,
	.summary = "pairs of channels of queries and keys, turned by row and by column",
	.help = "Pair (a, b) becomes (a cos g - b sin g, a sin g + b cos g). n = head_dim/4;\n"
			"pairs 0 ... n-1 have g = u w_k and pairs n ... 2n-1 have g = v w_k, with\n"
			"(u, v) = (y, x) for axes=yx, and\n"
			"  shared   w_k = scale base^(-k/n) of both axes\n"
			"  split    w_k = scale base^(-2k/2n) of u, scale base^(-(2k+1)/2n) of v\n"
			"  learned  g = u f_t + v f'_t of every pair, f and f' from the weight freqs\n"
			"Arrays cos and sin are (tokens, head_dim/2), in the order of pairs whatever\n"
			"the layout; with learned frequencies (heads, tokens, head_dim/2).\n"
			"Coordinates are those of `coordinates`, y down and x to the right. With\n"
			"coordinates=index scores depend on the difference of places alone; the other\n"
			"two depend on the size of the grid, so a table must not be cut out of one for\n"
			"a larger grid. Tokens of the prefix are not turned. All frames of a grid are\n"
			"turned alike. Instead of a grid, positions of two numbers, y and x, may be\n"
			"given, with coordinates=index.\n"
			"Frequencies and angles are exact and rounded once; models compute them in\n"
			"f32, some 1e-6 off on a grid of 32 x 32.",
	.source = "Heo et al. 2024 (RoPE-ViT); Fang et al. 2023 (EVA-02); Siméoni et al. 2025 (DINOv3); timm's "
			  "pos_embed_sincos.py; transformers",
	.example = "grid:14x14 --prefix 5 --with rope2d:preset=dinov3 -o rope.npz",
	.domains = PE_DOMAIN_GRID | PE_DOMAIN_SEQUENCE,
	PE_WEIGHTS(weights),
	.bind = bind,
	.release = release,
	.compute = compute,
	.rotate = pe_rotation_rotate,
	.rotate_width = pe_rotation_width,
};
