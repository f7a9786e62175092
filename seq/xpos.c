/* SPDX-License-Identifier: BSD-2-Clause
 * Rotary positions whose scores decay with the distance: pair t of a query at p is also multiplied by
 * z_t^((p - centre)/scale_base), that of a key by its inverse. Sun et al., "A length-extrapolatable
 * transformer", 2022; constants as in torchscale's xpos_relative_position.py. */
#include <math.h>
#include <string.h>

#include "encoder.h"
#include "frequency.h"
#include "rotation.h"

enum layout { INTERLEAVED, HALVES };

/* Powers of e that f32 still holds, with room for what is multiplied: its largest number is e^88.7. */
#define MOST 80.0

struct state {
	struct pe_rotation rotation;
	struct pe_frequencies frequencies;
	double *decay; /* log(z_t) / scale_base, negative */
	double centre;
};

static double position_of(const pe_encoding *e, const struct pe_place *at)
{
	return pe_domain_position(pe_side_domain(e, at->side), at->batch, at->token);
}

static void turn(const pe_encoding *e, const struct pe_place *at, int64_t first, int64_t count,
	double *cosine, double *sine)
{
	const struct state *s = e->state;
	double position = position_of(e, at), signed_position = position - s->centre;
	pe_frequencies_turn(e->ctx, &s->frequencies, position, first, count, cosine, sine);
	if (at->side == PE_VALUES)
		return;
	if (at->side == PE_KEYS)
		signed_position = -signed_position;
	for (int64_t t = 0; t < count; t++) {
		double scale = exp(signed_position * s->decay[first + t]);
		cosine[t] *= scale;
		sine[t] *= scale;
	}
}

/* Refuses positions so far from the centre that f32 could not hold a key. */
static pe_status rotate_width(pe_encoding *e, pe_side side, int64_t width, int64_t *out)
{
	const struct state *s = e->state;
	const pe_domain *domain = pe_side_domain(e, side);
	double farthest = 0;
	for (int64_t b = 0; b < domain->batch; b++)
		for (int64_t i = 0; i < domain->tokens; i++)
			farthest = fmax(farthest, fabs(pe_domain_position(domain, b, i) - s->centre));
	if (s->rotation.pairs > 0 && -farthest * s->decay[0] > MOST)
		return pe_encoding_fail(e, PE_ERR_RANGE,
			"positions reach %.9g from the centre, and single precision holds the scale of %.9g at most: "
			"choose another centre or a larger scale_base",
			farthest, MOST / -s->decay[0]);
	return pe_rotation_width(e, side, width, out);
}

static pe_status fill_frequencies(pe_encoding *e, struct state *s, int64_t dim)
{
	int64_t pairs = dim / 2;
	double base = pe_params_real(e->params, "base"), gamma = pe_params_real(e->params, "gamma");
	double scale_base = pe_params_real(e->params, "scale_base");
	long double *frequency = pe_alloc(e->ctx, pairs, sizeof *frequency);
	s->decay = pe_alloc(e->ctx, pairs, sizeof *s->decay);
	pe_status status = frequency && s->decay ? PE_OK : PE_ERR_NOMEM;
	if (status == PE_OK) {
		for (int64_t t = 0; t < pairs; t++) {
			double z = (2 * (double)t + gamma * (double)dim) / ((1 + gamma) * (double)dim);
			frequency[t] = powl(base, -2 * (long double)t / (long double)dim);
			s->decay[t] = log(z) / scale_base;
		}
		status = pe_frequencies_make(e->ctx, frequency, pairs, &s->frequencies);
	}
	pe_free(e->ctx, frequency);
	return status;
}

static pe_status bind(pe_encoding *e)
{
	int64_t dim = pe_params_int(e->params, "head_dim");
	if (dim % 2 != 0)
		return pe_encoding_fail(
			e, PE_ERR_RANGE, "head dimension %lld is odd; xpos needs an even one", (long long)dim);
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	s->rotation = (struct pe_rotation){.pairs = dim / 2, .width = dim, .per_side = true, .turn = turn};
	if (pe_params_choice(e->params, "layout") == HALVES)
		s->rotation.half = dim / 2;
	s->centre = pe_params_real(e->params, "centre");
	PE_TRY(fill_frequencies(e, s, dim));
	PE_TRY(pe_rotation_declare(e));
	const pe_array_info *like = &e->arrays[0];
	return pe_declare(e, "scale", PE_F64, like->ndim, like->shape, like->per_token);
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	pe_frequencies_free(e->ctx, &s->frequencies);
	pe_free(e->ctx, s->decay);
}

static pe_status compute(pe_encoding *e, const pe_tensor *outs)
{
	const struct state *s = e->state;
	const pe_tensor *out = &outs[2];
	int32_t d = out->ndim - 2;
	PE_TRY(pe_rotation_compute(e, outs));
	if (!out->data)
		return PE_OK;
	double *row = pe_alloc(e->ctx, s->rotation.pairs, sizeof *row);
	if (!row)
		return PE_ERR_NOMEM;
	for (int64_t b = 0; b < e->domain->batch; b++)
		for (int64_t i = 0; i < e->domain->tokens; i++) {
			double position = pe_domain_position(e->domain, b, i) - s->centre;
			for (int64_t t = 0; t < s->rotation.pairs; t++)
				row[t] = exp(position * s->decay[t]);
			int64_t at = (d > 0 ? b * out->strides[0] : 0) + i * out->strides[d];
			pe_store_f64((char *)out->data + at * (int64_t)pe_dtype_size(out->dtype), out->dtype,
				out->strides[d + 1], row, 1, s->rotation.pairs);
		}
	pe_free(e->ctx, row);
	return PE_OK;
}

static const pe_option_info options[] = {
	PE_INT("head_dim", "64", 2, 1 << 16, "width of a head, even"),
	PE_REAL("base", "10000", 1e-6, 1e18, "base of the frequencies"),
	PE_CHOICE("layout", "interleaved", "interleaved|halves",
		"pair t is channels 2t and 2t+1, or t and t + head_dim/2"),
	PE_REAL("scale_base", "512", 1e-3, 1e9, "distance at which pair t has decayed to z_t"),
	PE_REAL("gamma", "0.4", 1e-3, 1e3, "z_0 is gamma / (1 + gamma)"),
	PE_REAL("centre", "0", -1e15, 1e15, "position of queries and keys whose scale is 1"),
};

const struct pe_encoder pe_encoder_xpos = {
	.table = PE_TABLE_NO_PRESETS("xpos", options),
	.family = PE_SEQ,
	.summary = "rotary positions whose scores decay with the distance, for causal attention",
	.help = "As rope, but pair t of a query at p is also multiplied by z_t^((p - c)/B), of\n"
			"a key by its inverse, z_t = (2t/head_dim + gamma) / (1 + gamma), B =\n"
			"scale_base, c = centre: each pair's part of a score at distance d decays as\n"
			"z_t^(d/B). It grows for keys after the query: for causal attention alone.\n"
			"Arrays cos and sin are those of rope, scale is z_t^((p - c)/B), all (tokens,\n"
			"head_dim/2): queries take cos scale and sin scale, keys cos / scale and\n"
			"sin / scale. Scores do not depend on c as long as it is the same for all:\n"
			"torchscale, x-transformers and rotary-embedding-torch put it at the middle\n"
			"of the sequence at hand, so that keys cached at another length are wrong;\n"
			"here it stays where it is told. With the defaults attention takes positions\n"
			"within 32695 of c, where a key is multiplied by e^80.",
	.source = "Sun et al. 2022, \"A length-extrapolatable transformer\"; torchscale",
	.example = "seq:128 --with xpos:head_dim=64 -o xpos.npz",
	.domains = PE_DOMAIN_SEQUENCE,
	.bind = bind,
	.release = release,
	.compute = compute,
	.rotate = pe_rotation_rotate,
	.rotate_width = rotate_width,
};
