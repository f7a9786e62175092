/* SPDX-License-Identifier: BSD-2-Clause
 * Sinusoidal rows at augmented positions: moved and stretched at random while training, plain otherwise.
 * Likhomanenko et al., "CAPE: encoding relative positions with continuous augmented positional embeddings",
 * NeurIPS 2021, as in gcambara/cape. Not the DAPE that was called CAPE in 2024. */
#include <math.h>

#include "encoder.h"
#include "kernels/kernels.h"
#include "rng.h"
#include "tensor.h"
#include "token_table.h"

#define STREAM 0x63617065u /* of the seed: this encoder's */

struct state {
	struct pe_token_table table;
	double *frequency; /* (dim + 1) / 2 */
	double *position;  /* (batch, tokens), augmented */
};

enum { BLOCK = 64 };

static void row(const pe_encoding *e, int64_t batch, int64_t token, double *out)
{
	const struct state *s = e->state;
	double position = s->position[(e->domain->batch > 1 ? batch : 0) * e->domain->tokens + token];
	double angle[BLOCK], sine[BLOCK], cosine[BLOCK];
	int64_t dim = s->table.dim, pairs = (dim + 1) / 2;
	for (int64_t first = 0; first < pairs; first += BLOCK) {
		int64_t count = pe_min(BLOCK, pairs - first);
		for (int64_t t = 0; t < count; t++)
			angle[t] = position * s->frequency[first + t];
		e->ctx->kernels->sincos(angle, count, sine, cosine);
		for (int64_t t = 0; t < count; t++) {
			out[2 * (first + t)] = sine[t];
			if (2 * (first + t) + 1 < dim)
				out[2 * (first + t) + 1] = cosine[t];
		}
	}
}

/* ---- positions ---------------------------------------------------------------------- */

static double uniform(uint64_t seed, uint64_t stream, int64_t index, double most)
{
	return most * (2 * pe_rng_uniform(seed, stream, (uint64_t)index) - 1);
}

static void scale_and_centre(const pe_encoding *e, int64_t batch, double scale, bool centre, double *out)
{
	double mean = 0;
	int64_t n = e->domain->tokens;
	for (int64_t i = 0; i < n; i++) {
		out[i] = scale * pe_domain_position(e->domain, batch, i);
		mean += (out[i] - mean) / (double)(i + 1);
	}
	for (int64_t i = 0; centre && i < n; i++)
		out[i] -= mean;
}

/* (p + global + local) stretch; numbers 0 and 1 of the batch's stream are the global ones. */
static void augment(const pe_encoding *e, int64_t batch, double scale, double *out)
{
	uint64_t seed = e->ctx->seed, draw = (uint64_t)pe_params_int(e->params, "draw");
	uint64_t stream = pe_rng_u64(STREAM, draw, (uint64_t)batch);
	double move = uniform(seed, stream, 0, pe_params_real(e->params, "max_global_shift"));
	double stretch = exp(uniform(seed, stream, 1, log(pe_params_real(e->params, "max_global_scaling"))));
	double local = fabs(scale) * pe_params_real(e->params, "max_local_shift") / 2;
	for (int64_t i = 0; i < e->domain->tokens; i++)
		out[i] = (out[i] + move + uniform(seed, stream, 2 + i, local)) * stretch;
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	const pe_domain *domain = e->domain;
	int64_t dim = pe_params_int(e->params, "dim"), pairs = (dim + 1) / 2;
	double base = pe_params_real(e->params, "base"), scale = pe_params_real(e->params, "pos_scale");
	s->table = (struct pe_token_table){.dim = dim, .row = row};
	s->frequency = pe_alloc(e->ctx, pairs, sizeof *s->frequency);
	s->position = pe_alloc(e->ctx, domain->batch, (size_t)domain->tokens * sizeof *s->position);
	if (!s->frequency || !s->position)
		return PE_ERR_NOMEM;
	for (int64_t t = 0; t < pairs; t++)
		s->frequency[t] = pe_params_real(e->params, "freq_scale") * pow(base, -2 * (double)t / (double)dim);
	for (int64_t b = 0; b < domain->batch; b++) {
		double *positions = s->position + b * domain->tokens;
		scale_and_centre(e, b, scale, pe_params_bool(e->params, "normalize"), positions);
		if (pe_params_bool(e->params, "training"))
			augment(e, b, scale, positions);
	}
	const int64_t shape[] = {domain->batch, domain->tokens};
	int32_t shared = domain->batch == 1;
	PE_TRY(pe_token_table_declare(e));
	return pe_declare(e, "positions", PE_F64, 2 - shared, shape + shared, shared);
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	pe_free(e->ctx, s->frequency);
	pe_free(e->ctx, s->position);
}

static pe_status compute(pe_encoding *e, const pe_tensor *outs)
{
	const struct state *s = e->state;
	const pe_tensor *out = &outs[1];
	int64_t tokens = e->domain->tokens, stride = out->ndim == 2 ? out->strides[0] : 0;
	for (int64_t b = 0; out->data && b < e->domain->batch; b++)
		pe_store_f64((char *)out->data + b * stride * (int64_t)pe_dtype_size(out->dtype), out->dtype,
			out->strides[out->ndim - 1], s->position + b * tokens, 1, tokens);
	return pe_token_table_compute(e, outs);
}

static const pe_option_info options[] = {
	PE_INT("dim", "64", 1, 1 << 20, "width of a row"),
	PE_REAL("base", "10000", 1e-6, 1e18, "the longest wavelength is 2 pi times this, nearly"),
	PE_BOOLEAN("normalize", "0", "1: the mean of a sequence's positions is subtracted"),
	PE_REAL("pos_scale", "1", -1e18, 1e18, "positions are multiplied by this first, to seconds, say"),
	PE_REAL("freq_scale", "1", 1e-18, 1e18, "frequencies are multiplied by this"),
	PE_BOOLEAN("training", "0", "1: positions are moved and stretched at random, as follows"),
	PE_REAL("max_global_shift", "0", 0, 1e18, "a shift of a whole sequence, uniform up to this both ways"),
	PE_REAL("max_local_shift", "0", 0, 1e18,
		"a shift of each position, over an interval of this times pos_scale; up to 1 keeps their order"),
	PE_REAL("max_global_scaling", "1", 1, 1e18,
		"a stretch of a whole sequence: its logarithm is uniform up to that of this both ways"),
	PE_INT("draw", "0", 0, 1e15, "number of the draw: another number, other shifts of the same seed"),
	PE_OPTION_MERGE,
};

static const pe_preset_info presets[] = {
	{"audio",
		"normalize=1,pos_scale=0.03,freq_scale=30,max_global_shift=60,max_local_shift=1,max_global_scaling=1."
		"1",
		"the authors' settings for speech: frames 30 ms apart (training=1 to augment)"},
	{"text", "max_global_shift=5,max_local_shift=1,max_global_scaling=1.03",
		"the authors' settings for text (training=1 to augment)"},
};

const struct pe_encoder pe_encoder_cape_augmented = {
	.table = PE_TABLE("cape_augmented", options, presets),
	.family = PE_SEQ,
	.summary = "sinusoidal rows at positions that are shifted and stretched in training (CAPE 2021)",
	.help = "Rows are sinusoidal's, interleaved, at positions p' = pos_scale p, with\n"
			"normalize=1 less their mean. With training=1 each sequence gets\n"
			"  p'' = (p' + D + d_i) exp(l),  D in +-max_global_shift,\n"
			"  d_i in +-pos_scale max_local_shift / 2,  l in +-ln max_global_scaling,\n"
			"all uniform, from --seed and draw; without it nothing is random. Array\n"
			"positions holds what the rows were made of. Batches with positions of their\n"
			"own get shifts of their own; features that share positions share the shifts.\n"
			"An odd dim ends in a sine (the authors' code takes even ones). In the paper's\n"
			"order the stretch comes last, as here. This is not DAPE, once called CAPE.",
	.source = "Likhomanenko et al. 2021, \"CAPE\", and gcambara/cape",
	.example = "seq:128 --with cape_augmented:dim=64,training=1,max_global_shift=5 -o cape.npz",
	.domains = PE_DOMAIN_SEQUENCE,
	.bind = bind,
	.release = release,
	.compute = compute,
	.tokens = pe_token_table_tokens,
	.tokens_shape = pe_token_table_shape,
};
