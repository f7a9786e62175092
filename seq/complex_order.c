/* SPDX-License-Identifier: BSD-2-Clause
 * Complex-valued tokens: y = x e^{iφ}, φ = p ω_c + θ_c: the features are amplitudes, the position turns them.
 * Wang et al., "Encoding word order in complex embeddings", ICLR 2020; frequencies begin as in its code. */
#include <math.h>
#include <string.h>

#include "encoder.h"
#include "kernels/kernels.h"
#include "pool.h"
#include "tensor.h"

enum layout { HALVES, INTERLEAVED };
enum { BLOCK = 64 }; /* tokens a piece of work */

struct state {
	int64_t dim;
	enum layout layout;
	bool conjugate, reversed;
	const double *frequency, *phase;
	int64_t frequency_step; /* between tokens: dim, or 0 where all have the same */
	double *last;           /* of each batch; positions are counted from it if reversed */
};

/* cosine[dim] and sine[dim] of a token's phases. angle is scratch, dim numbers. */
static void turn(
	const pe_encoding *e, int64_t batch, int64_t token, double *angle, double *sine, double *cosine)
{
	const struct state *s = e->state;
	double p = pe_domain_position(e->domain, batch, token);
	const double *frequency = s->frequency + token * s->frequency_step;
	if (s->reversed)
		p = s->last[e->domain->batch > 1 ? batch : 0] - p;
	for (int64_t c = 0; c < s->dim; c++)
		angle[c] = p * frequency[c] + s->phase[c];
	e->ctx->kernels->sincos(angle, s->dim, sine, cosine);
	for (int64_t c = 0; s->conjugate && c < s->dim; c++)
		sine[c] = -sine[c];
}

/* ---- tokens and arrays -------------------------------------------------------------- */

struct work {
	const pe_encoding *e;
	const pe_tensor *x, *y;         /* tokens */
	const pe_tensor *cosine, *sine; /* or arrays, (…, tokens, dim) */
	int64_t batches;
};

static char *element(const pe_tensor *t, int64_t batch, int64_t token)
{
	int32_t last = t->ndim - 1;
	int64_t at = token * t->strides[last - 1] + (last > 1 ? batch * t->strides[0] : 0);
	return (char *)t->data + at * (int64_t)pe_dtype_size(t->dtype);
}

static void put_row(const pe_tensor *t, int64_t batch, int64_t token, const double *row, int64_t n)
{
	if (t->data)
		pe_store_f64(element(t, batch, token), t->dtype, t->strides[t->ndim - 1], row, 1, n);
}

/* real and imaginary parts of a token, in the layout. row is scratch, 3 dim numbers. */
static void put_token(
	const struct work *w, int64_t batch, int64_t token, const double *sine, const double *cosine, double *row)
{
	const struct state *s = w->e->state;
	double *x = row + 2 * s->dim;
	bool halves = s->layout == HALVES;
	pe_load_f64(x, element(w->x, batch, token), w->x->dtype, w->x->strides[2], s->dim);
	for (int64_t c = 0; c < s->dim; c++) {
		row[halves ? c : 2 * c] = x[c] * cosine[c];
		row[halves ? s->dim + c : 2 * c + 1] = x[c] * sine[c];
	}
	put_row(w->y, batch, token, row, 2 * s->dim);
}

static void do_token(const struct work *w, int64_t batch, int64_t token, double *numbers)
{
	const struct state *s = w->e->state;
	double *sine = numbers, *cosine = numbers + s->dim, *rest = numbers + 2 * s->dim;
	turn(w->e, batch, token, rest, sine, cosine);
	if (w->x) {
		put_token(w, batch, token, sine, cosine, rest);
		return;
	}
	put_row(w->cosine, batch, token, cosine, s->dim);
	put_row(w->sine, batch, token, sine, s->dim);
}

static pe_status do_block(pe_context *worker, void *arg, int64_t chunk)
{
	const struct work *w = arg;
	const struct state *s = w->e->state;
	int64_t tokens = w->e->domain->tokens, end = pe_min((chunk + 1) * BLOCK, w->batches * tokens);
	double *numbers = pe_alloc(worker, 5 * s->dim, sizeof *numbers);
	if (!numbers)
		return PE_ERR_NOMEM;
	for (int64_t i = chunk * BLOCK; i < end; i++)
		do_token(w, i / tokens, i % tokens, numbers);
	pe_free(worker, numbers);
	return PE_OK;
}

static pe_status run(pe_encoding *e, struct work *w)
{
	int64_t blocks = (w->batches * e->domain->tokens + BLOCK - 1) / BLOCK;
	return pe_parallel(e->ctx, blocks, do_block, w, e->encoder->table.name);
}

static pe_status tokens(pe_encoding *e, const pe_tensor *x, const pe_tensor *y)
{
	if (e->domain->batch > 1 && x->shape[0] != e->domain->batch)
		return pe_encoding_fail(e, PE_ERR_SHAPE, "features have %lld batches, and positions %lld",
			(long long)x->shape[0], (long long)e->domain->batch);
	return run(e, &(struct work){.e = e, .x = x, .y = y, .batches = x->shape[0]});
}

static pe_status tokens_shape(pe_encoding *e, int64_t *tokens, int64_t *width)
{
	const struct state *s = e->state;
	(void)tokens;
	if (*width != s->dim)
		return pe_encoding_fail(
			e, PE_ERR_SHAPE, "features are %lld wide, and dim is %lld", (long long)*width, (long long)s->dim);
	*width *= 2;
	return PE_OK;
}

static pe_status compute(pe_encoding *e, const pe_tensor *outs)
{
	return run(e, &(struct work){.e = e, .cosine = &outs[0], .sine = &outs[1], .batches = e->domain->batch});
}

/* ---- bind --------------------------------------------------------------------------- */

/* One row for all tokens, or, if given so, one row a token: of its word, looked up by the caller. */
static pe_status take_weights(pe_encoding *e)
{
	struct state *s = e->state;
	int32_t ndim = 1;
	int64_t given[PE_MAX_DIMS], shape[] = {e->domain->tokens, s->dim};
	bool each = pe_encoding_given_shape(e, "frequency", &ndim, given) && ndim == 2;
	struct pe_initial zero = pe_initial_constant(0);
	double *frequency, *phase, base = pe_params_real(e->params, "base");
	zero.optional = true;
	PE_TRY(pe_encoding_weight(e, "frequency", each ? 2 : 1, shape + !each, zero, &frequency));
	PE_TRY(pe_encoding_weight(e, "phase", 1, &s->dim, zero, &phase));
	for (int64_t c = 0; !pe_encoding_weight_is_given(e, "frequency") && c < s->dim; c++)
		frequency[c] = pow(base, -2 * (double)(c / 2) / (double)s->dim);
	s->frequency = frequency;
	s->phase = phase;
	s->frequency_step = each ? s->dim : 0;
	return PE_OK;
}

static pe_status find_last(pe_encoding *e)
{
	struct state *s = e->state;
	const pe_domain *domain = e->domain;
	s->last = pe_alloc(e->ctx, domain->batch, sizeof *s->last);
	if (!s->last)
		return PE_ERR_NOMEM;
	for (int64_t b = 0; b < domain->batch; b++) {
		int64_t last = pe_max(domain->tokens - 1, 0);
		s->last[b] = domain->tokens > 0 ? pe_domain_position(domain, b, last) : 0;
		for (int64_t i = 0; domain->positions && i < last; i++)
			s->last[b] = fmax(s->last[b], pe_domain_position(domain, b, i));
	}
	return PE_OK;
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	s->dim = pe_params_int(e->params, "dim");
	s->layout = (enum layout)pe_params_choice(e->params, "layout");
	s->conjugate = pe_params_bool(e->params, "conjugate");
	s->reversed = pe_params_bool(e->params, "reversed");
	PE_TRY(take_weights(e));
	PE_TRY(find_last(e));
	const int64_t shape[] = {e->domain->batch, e->domain->tokens, s->dim};
	int32_t shared = e->domain->batch == 1;
	PE_TRY(pe_declare(e, "cos", PE_F64, 3 - shared, shape + shared, shared));
	return pe_declare(e, "sin", PE_F64, 3 - shared, shape + shared, shared);
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	pe_free(e->ctx, s->last);
}

static const pe_option_info options[] = {
	PE_INT("dim", "64", 1, 1 << 16, "width of the features, which are amplitudes"),
	PE_REAL("base", "10000", 1e-6, 1e18, "frequencies begin as base^(-2 floor(c/2)/dim)"),
	PE_CHOICE("layout", "halves", "halves|interleaved",
		"all real parts before all imaginary ones, or the two of a channel side by side"),
	PE_BOOLEAN("conjugate", "0", "1: x e^(-i phi), the other side of a product without conjugate"),
	PE_BOOLEAN("reversed", "0", "1: positions count down to 0 at the last one"),
};

static const pe_preset_info presets[] = {
	{"authors", "reversed=1", "the authors' code numbers positions L-1 ... 0"},
};

static const pe_weight_info weights[] = {
	{"frequency", "(dim) or (tokens, dim)", "base^(-2 floor(c/2)/dim)",
		"optional; one row for all words, or the row of each token's word"},
	{"phase", "(dim)", "0", "optional: the phase at position 0, which the authors' code leaves out"},
};

const struct pe_encoder pe_encoder_complex_order = {
	.table = PE_TABLE("complex_order", options, presets),
	.family = PE_SEQ,
	.summary = "features as amplitudes of complex numbers that turn with the position",
	.help = "y = x e^(i phi), phi = p w_c + theta_c for channel c at position p: real part\n"
			"x cos phi, imaginary part x sin phi, so y is 2 dim wide. Arrays cos and sin\n"
			"are (tokens, dim). Frequencies w are learned: one row for all words (the\n"
			"paper's word-sharing scheme), or, given as (tokens, dim), the rows of the\n"
			"tokens' words, which begin alike. Positions may be any real numbers.\n"
			"The dot product of two such rows is sum x x' cos(phi - phi'), the real part\n"
			"of the product with the conjugate: it sees the difference of positions. The\n"
			"authors' attention takes the modulus of the product without a conjugate,\n"
			"which sees their sum; conjugate=1 on one side mends it. The layers after it\n"
			"act on both parts with the same weights; that is left to the caller.",
	.source = "Wang et al. 2020, \"Encoding word order in complex embeddings\"",
	.example = "seq:128 --with complex_order:dim=64 -o complex.npz",
	.domains = PE_DOMAIN_SEQUENCE,
	PE_WEIGHTS(weights),
	.bind = bind,
	.release = release,
	.compute = compute,
	.tokens = tokens,
	.tokens_shape = tokens_shape,
};
