/* SPDX-License-Identifier: BSD-2-Clause */
#include "rope2d_frequencies.h"

#include <math.h>

#include "tensor.h"

/* ---- powers of a base ------------------------------------------------------------------ */

static double as_bf16(double x)
{
	uint16_t bits = pe_f64_to_bf16(x);
	pe_load_f64(&x, &bits, PE_BF16, 1, 1);
	return x;
}

/* scale base^(-j/n) of j = first, first + step …, n = step bands; periods rounded to bf16 by their
 * definition. */
static void find_frequencies(const pe_encoding *e, int64_t first, int64_t step, int64_t bands, long double *w)
{
	enum { BLOCK = 16 }; /* a power in extended precision takes as long as a hundred products */
	bool rounded = pe_params_choice(e->params, "periods") == 1;
	long double scale = pe_params_real(e->params, "scale"), base = pe_params_real(e->params, "base");
	long double n = (long double)(step * bands), block = 1;
	for (int64_t k = 0; k < bands; k++) {
		int64_t j = step * k + first;
		if (k % BLOCK == 0)
			block = powl(base, -(long double)(step * k) / n);
		if (rounded)
			w[k] = scale / as_bf16(pow((double)base, as_bf16((double)j / (double)n)));
		else
			w[k] = k < BLOCK ? scale * powl(base, -(long double)j / n) : w[k % BLOCK] * block;
	}
}

pe_status pe_rope2d_frequencies(pe_encoding *e, int64_t bands, struct pe_frequencies frequencies[2])
{
	bool split = pe_params_choice(e->params, "frequencies") == PE_ROPE2D_SPLIT;
	long double *w = pe_alloc(e->ctx, bands, sizeof *w);
	if (!w)
		return PE_ERR_NOMEM;
	pe_status status = PE_OK;
	for (int axis = 0; axis < 2 && status == PE_OK; axis++) {
		find_frequencies(e, split ? axis : 0, split ? 2 : 1, bands, w);
		status = pe_frequencies_make(e->ctx, w, bands, &frequencies[axis]);
	}
	pe_free(e->ctx, w);
	return status;
}

/* ---- learned --------------------------------------------------------------------------- */

/* The authors' beginning: pair k is turned by the coordinate along a direction of its head's own, pair
 * bands + k by that across it. */
static void begin(const pe_encoding *e, int64_t bands, double *freqs)
{
	double base = pe_params_real(e->params, "base"), scale = pe_params_real(e->params, "scale");
	for (int64_t h = 0; h < e->heads; h++) {
		double *one = freqs + h * 2 * bands, *other = one + e->heads * 2 * bands, direction = one[0];
		for (int64_t k = 0; k < bands; k++) {
			double w = scale * pow(base, -(double)k / (double)bands);
			one[k] = w * cos(direction);
			other[k] = w * sin(direction);
			one[bands + k] = -other[k];
			other[bands + k] = one[k];
		}
	}
}

/* How many layers freqs are given of, (2, layers, heads, pairs) or, as RoPE-ViT has them, (2, layers,
 * heads · pairs); 0: of none in particular. */
static int64_t given_layers(const pe_encoding *e, int64_t pairs, int32_t *ndim, int64_t *shape)
{
	if (!pe_encoding_given_shape(e, "freqs", ndim, shape))
		return 0;
	bool apart = *ndim == 4 && shape[2] == e->heads && shape[3] == pairs;
	bool joined = *ndim == 3 && shape[2] == e->heads * pairs && (e->heads > 1 || shape[1] != 1);
	return apart || joined ? shape[1] : 0;
}

static pe_status check_layer(pe_encoding *e, int64_t layer, int64_t layers)
{
	if (layers == 0 && layer >= 0)
		return pe_encoding_fail(
			e, PE_ERR_ARGUMENT, "layer has no effect: no freqs of several layers are given");
	if (layers > 0 && (layer < 0 || layer >= layers))
		return pe_encoding_fail(e, PE_ERR_RANGE,
			"freqs are of %lld layers: the option layer must say which, from 0", (long long)layers);
	return PE_OK;
}

pe_status pe_rope2d_learned(pe_encoding *e, int64_t bands, const double **frequencies, int64_t *step)
{
	double *freqs;
	int32_t ndim;
	int64_t shape[PE_MAX_DIMS], pairs = 2 * bands, layer = pe_params_int(e->params, "layer");
	PE_TRY(pe_encoding_size(e, "heads", "freqs", 4, 2, &e->heads));
	e->key_heads = e->heads;
	int64_t one = e->heads * pairs, layers = given_layers(e, pairs, &ndim, shape);
	const int64_t alone[] = {2, e->heads, pairs};
	PE_TRY(check_layer(e, layer, layers));
	PE_TRY(pe_encoding_weight(e, "freqs", layers > 0 ? ndim : 3, layers > 0 ? shape : alone,
		pe_initial_uniform(0, 2 * PE_PI), &freqs));
	if (!pe_encoding_weight_is_given(e, "freqs"))
		begin(e, bands, freqs);
	*frequencies = freqs + pe_max(layer, 0) * one;
	*step = pe_max(layers, 1) * one;
	return PE_OK;
}
