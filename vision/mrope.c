/* SPDX-License-Identifier: BSD-2-Clause
 * Multimodal rotary positions: pairs of channels are dealt out to the axes t, h and w, and each is turned by
 * its axis' coordinate × base^(-2k/rotary_dim). Wang et al., "Qwen2-VL", 2024; Bai et al., "Qwen3-VL", 2025.
 */
#include <math.h>

#include "encoder.h"
#include "frequency.h"
#include "rotation.h"

enum { AXES = 3 };
enum layout { HALVES, INTERLEAVED };

struct state {
	struct pe_rotation rotation;
	struct pe_frequencies frequencies;
	uint8_t *axis; /* of each pair: 0 is t, 1 is h, 2 is w */
};

/* ---- the rotation ------------------------------------------------------------------- */

static void turn(const pe_encoding *e, const struct pe_place *at, int64_t first, int64_t count,
	double *cosine, double *sine)
{
	enum { BLOCK = 64 };
	const struct state *s = e->state;
	const pe_domain *domain = pe_side_domain(e, at->side);
	double place[AXES], position[BLOCK];
	for (int a = 0; a < AXES; a++)
		place[a] = pe_domain_coordinate(domain, at->batch, at->token, domain->axes == 1 ? 0 : a);
	for (int64_t done = 0; done < count; done += BLOCK) {
		int64_t n = pe_min(BLOCK, count - done);
		for (int64_t t = 0; t < n; t++)
			position[t] = place[s->axis[first + done + t]];
		pe_frequencies_turn_each(
			e->ctx, &s->frequencies, position, first + done, n, cosine + done, sine + done);
	}
}

/* ---- bind --------------------------------------------------------------------------- */

static pe_status take_sections(pe_encoding *e, int64_t sections[AXES])
{
	int64_t count;
	const double *list = pe_params_list(e->params, "sections", &count);
	if (count != AXES)
		return pe_encoding_fail(
			e, PE_ERR_RANGE, "sections has %lld numbers, and must have three: t/h/w", (long long)count);
	for (int a = 0; a < AXES; a++) {
		if (list[a] - floor(list[a]) > 0)
			return pe_encoding_fail(
				e, PE_ERR_RANGE, "sections must be whole numbers of pairs, not %g", list[a]);
		sections[a] = (int64_t)list[a];
	}
	return PE_OK;
}

static pe_status take_dims(
	pe_encoding *e, const int64_t sections[AXES], bool interleaved, int64_t *rotary_dim)
{
	int64_t head_dim = pe_params_int(e->params, "head_dim"), sum = sections[0] + sections[1] + sections[2];
	int64_t rotary = *rotary_dim = pe_params_int(e->params, "rotary_dim");
	if (rotary == 0)
		rotary = *rotary_dim = 2 * sum;
	if (rotary % 2 != 0)
		return pe_encoding_fail(
			e, PE_ERR_RANGE, "rotary_dim %lld is odd; mrope needs an even one", (long long)rotary);
	if (!interleaved && rotary != 2 * sum)
		return pe_encoding_fail(e, PE_ERR_RANGE, "sections are %lld pairs together, but rotary_dim is %lld",
			(long long)sum, (long long)rotary);
	if (rotary > head_dim)
		return pe_encoding_fail(e, PE_ERR_RANGE, "%lld channels are to be turned, but heads are %lld wide",
			(long long)rotary, (long long)head_dim);
	return PE_OK;
}

/* One after the other; or h at 1, 4, 7 …, w at 2, 5, 8 …, as far as their sections go, and t elsewhere. */
static void deal_out(const int64_t sections[AXES], bool interleaved, int64_t pairs, uint8_t *axis)
{
	for (int64_t t = 0; t < pairs; t++) {
		uint8_t turn_of = (uint8_t)(t % AXES);
		if (interleaved)
			axis[t] = t < AXES * sections[turn_of] ? turn_of : 0;
		else
			axis[t] = (uint8_t)((t >= sections[0]) + (t >= sections[0] + sections[1]));
	}
}

static pe_status make_frequencies(pe_encoding *e, struct state *s)
{
	int64_t pairs = s->rotation.pairs;
	long double base = pe_params_real(e->params, "base");
	long double *w = pe_alloc(e->ctx, pairs, sizeof *w);
	if (!w)
		return PE_ERR_NOMEM;
	for (int64_t t = 0; t < pairs; t++)
		w[t] = 1 / powl(base, (long double)t / (long double)pairs);
	pe_status status = pe_frequencies_make(e->ctx, w, pairs, &s->frequencies);
	pe_free(e->ctx, w);
	return status;
}

static pe_status bind(pe_encoding *e)
{
	int64_t sections[AXES], rotary_dim;
	bool interleaved = pe_params_bool(e->params, "interleaved");
	if (e->domain->axes != 1 && e->domain->axes != AXES)
		return pe_encoding_fail(e, PE_ERR_SHAPE,
			"it takes three numbers a position, t, h and w, or one for all three, not %lld",
			(long long)e->domain->axes);
	PE_TRY(take_sections(e, sections));
	PE_TRY(take_dims(e, sections, interleaved, &rotary_dim));
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	s->rotation = (struct pe_rotation){
		.pairs = rotary_dim / 2, .width = pe_params_int(e->params, "head_dim"), .turn = turn};
	if (pe_params_choice(e->params, "layout") == HALVES)
		s->rotation.half = rotary_dim / 2;
	s->axis = pe_alloc(e->ctx, s->rotation.pairs, sizeof *s->axis);
	if (!s->axis)
		return PE_ERR_NOMEM;
	deal_out(sections, interleaved, s->rotation.pairs, s->axis);
	PE_TRY(make_frequencies(e, s));
	return pe_rotation_declare(e);
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	pe_frequencies_free(e->ctx, &s->frequencies);
	pe_free(e->ctx, s->axis);
}

/* ---- what it is --------------------------------------------------------------------- */

static const pe_option_info options[] = {
	PE_INT("head_dim", "128", 2, 1 << 16, "width of a head"),
	PE_LIST("sections", "16/24/24", 0, 1 << 15, "pairs of t, h and w"),
	PE_BOOLEAN("interleaved", "0", "deal pairs out in turn, not in three runs"),
	PE_INT("rotary_dim", "0", 0, 1 << 16,
		"channels that are turned, the first of a head; 0: two for each pair of the sections"),
	PE_REAL("base", "10000", 1e-6, 1e18, "base of the frequencies"),
	PE_CHOICE("layout", "halves", "halves|interleaved",
		"pair k is channels k and k + rotary_dim/2, or 2k and 2k+1"),
};

static const pe_preset_info presets[] = {
	{"qwen2_vl", "base=1000000",
		"the language model of Qwen2-VL and Qwen2.5-VL, in transformers' halves; angles are exact here, f32 "
		"there. Qwen2.5-VL's t of videos counts by seconds: give it as positions"},
	{"qwen3_vl", "base=5000000,sections=24/20/20,interleaved=1",
		"Qwen3-VL: axes in turn. Its checkpoints' base; transformers' default is 500000. Angles are exact "
		"here, f32 there"},
	{"qwen3_5", "head_dim=256,base=10000000,sections=11/11/10,interleaved=1",
		"Qwen3.5: the first quarter of a head is turned. Angles are exact here, f32 there"},
	{"glm4v", "sections=8/12/12,layout=interleaved",
		"GLM-4.1V: half of a head is turned, neighbours together, axes in runs. Angles are exact here, f32 "
		"there"},
};

const struct pe_encoder pe_encoder_mrope = {
	.table = PE_TABLE("mrope", options, presets),
	.family = PE_VISION,
	.summary = "rotary positions of time, row and column, each with pairs of its own",
	.help = "Pair (a, b) number k becomes (a cos g - b sin g, a sin g + b cos g), with\n"
			"g = p base^(-2k/rotary_dim), p the coordinate t, h or w of the token.\n"
			"With sections T/H/W the first T pairs have t, the next H have h, the last W w;\n"
			"with interleaved=1, k = 1, 4, 7 ... < 3H have h, k = 2, 5, 8 ... < 3W have w,\n"
			"and all others t: exactly T, H and W only where these tile rotary_dim/2.\n"
			"Frequencies go on through all pairs; no axis begins again. Channels from\n"
			"rotary_dim on stay. Arrays cos and sin are (tokens, rotary_dim/2).\n"
			"Positions are (tokens, 3), axes t, h, w, or one number for all three, as text\n"
			"has: then it is rope. A grid stands at t, h, w from 0; its prefix is not\n"
			"turned. In a prompt an image's place starts where the text before it ended,\n"
			"and the text goes on after the largest coordinate: an image of H x W costs\n"
			"max(H, W) positions. That rule is the model's: give positions that follow it.\n"
			"ERNIE-4.5-VL, which deals h and w out by twos, is not among these.",
	.source = "Wang et al. 2024 (Qwen2-VL); Qwen3-VL; GLM-4.1V; transformers' rotary modules",
	.example = "grid:4x14x14 --with mrope:preset=qwen2_vl -o mrope.npz",
	.domains = PE_DOMAIN_GRID | PE_DOMAIN_SEQUENCE,
	.bind = bind,
	.release = release,
	.compute = pe_rotation_compute,
	.rotate = pe_rotation_rotate,
	.rotate_width = pe_rotation_width,
};
