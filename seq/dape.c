/* SPDX-License-Identifier: BSD-2-Clause
 * Data-adaptive positions: A + B + f(A, B), where A are the logits of all heads, B the bias of another
 * encoder and f a small network over the heads of one cell (version 1) or of neighbouring keys (version 2).
 * Zheng et al., "DAPE: data-adaptive positional encoding for length extrapolation", NeurIPS 2024, and "DAPE
 * V2: process attention score as feature map for length extrapolation", 2024; positional_embeddings.py of
 * their code. */
#include <math.h>
#include <string.h>

#include "encoder.h"
#include "inner.h"

#define MAX_WIDTH 256
#define MAX_KERNEL 31

enum direction { CAUSAL, BIDIRECTIONAL };
enum inputs { BOTH, LOGITS };

struct state {
	/* (width, inputs, kernel), (width), (heads, width, kernel), (heads); owned by the encoding */
	double *first, *first_bias, *second, *second_bias;
	int64_t heads, width, kernel;
	int64_t inputs; /* heads, or 2 heads */
	bool causal;
	pe_encoding *inner; /* the encoder whose bias is mapped, or NULL */
};

/* ---- the network -------------------------------------------------------------------- */

/* Rows of heads around a query's cells, each `padded` long; cell 0 is at `halo`. */
struct field {
	const double *a, *b;
	int64_t padded, halo;
};

static double leaky(double x)
{
	return x < 0 ? 0.01 * x : x;
}

/* The hidden values at cell p, which may lie half a kernel outside of the cells. */
static void hidden_at(const struct state *s, const struct field *f, int64_t p, double *hidden)
{
	int64_t from = p - s->kernel / 2 + f->halo;
	for (int64_t w = 0; w < s->width; w++) {
		const double *weight = s->first + w * s->inputs * s->kernel;
		double sum = s->first_bias[w];
		for (int64_t n = 0; n < s->inputs; n++) {
			const double *row = n < s->heads ? f->a + n * f->padded : f->b + (n - s->heads) * f->padded;
			for (int64_t t = 0; t < s->kernel; t++)
				sum += weight[n * s->kernel + t] * row[from + t];
		}
		hidden[w] = leaky(sum);
	}
}

/* Before the first key there is nothing. After the last there are, if causal, keys that are masked: a query
 * then has the same scores when more keys come. */
static bool has_hidden(const pe_encoding *e, int64_t key)
{
	const struct state *s = e->state;
	return key >= 0 && (s->causal || key < e->domain->tokens);
}

/* ring holds the hidden values of `kernel` cells, cell p in slot (p + kernel) % kernel. */
static double output_at(const struct state *s, double (*ring)[MAX_WIDTH], int64_t head, int64_t cell)
{
	double sum = s->second_bias[head];
	for (int64_t t = 0; t < s->kernel; t++) {
		const double *hidden = ring[(cell - s->kernel / 2 + t + s->kernel) % s->kernel];
		const double *weight = s->second + head * s->width * s->kernel + t;
		for (int64_t w = 0; w < s->width; w++)
			sum += weight[w * s->kernel] * hidden[w];
	}
	return sum;
}

static void map_heads(
	const pe_encoding *e, const struct pe_cells *cells, const double *a, const double *b, double *out)
{
	const struct state *s = e->state;
	struct field f = {a, b, cells->count + 2 * e->halo, e->halo};
	double ring[MAX_KERNEL][MAX_WIDTH];
	int64_t reach = s->kernel / 2;
	for (int64_t p = -reach; p < cells->count + reach; p++) {
		double *hidden = ring[(p + s->kernel) % s->kernel];
		if (has_hidden(e, cells->key + p))
			hidden_at(s, &f, p, hidden);
		else
			memset(hidden, 0, (size_t)s->width * sizeof *hidden);
		int64_t c = p - reach;
		for (int64_t h = 0; c >= 0 && h < s->heads; h++)
			out[h * cells->count + c] =
				a[h * f.padded + f.halo + c] + b[h * f.padded + f.halo + c] + output_at(s, ring, h, c);
	}
}

/* ---- the encoder that is mapped ----------------------------------------------------- */

static void scores(const pe_encoding *e, const struct pe_cells *cells, double *bias)
{
	const struct state *s = e->state;
	if (s->inner)
		s->inner->encoder->scores(s->inner, cells, bias);
}

static void gains(const pe_encoding *e, const struct pe_cells *cells, double *gain)
{
	const struct state *s = e->state;
	if (!e->leaves_gains)
		s->inner->encoder->gains(s->inner, cells, gain);
}

static bool has_option(const struct pe_encoder *encoder, const char *name)
{
	for (int64_t i = 0; i < encoder->table.option_count; i++)
		if (strcmp(encoder->table.options[i].name, name) == 0)
			return true;
	return false;
}

static pe_status bind_inner(pe_encoding *e, const struct pe_encoder *encoder, const pe_params *params)
{
	struct state *s = e->state;
	const char *name = encoder->table.name;
	if (pe_encoder_sites(encoder) != PE_SITE_SCORES || !has_option(encoder, "heads"))
		return pe_encoding_fail(e, PE_ERR_ARGUMENT,
			"%s does not only give biases of heads, as alibi, kerple and fire do; one that does more can "
			"stand beside dape in a layer",
			name);
	e->sizes.heads = s->heads;
	PE_TRY(pe_inner_create(e, encoder, params, e->domain, e->queries, &s->inner));
	e->relative = s->inner->relative;
	e->leaves_gains = s->inner->leaves_gains || !encoder->gains;
	if (s->inner->heads != 0 && s->inner->heads != s->heads)
		return pe_encoding_fail(e, PE_ERR_RANGE, "%s has %lld heads, and dape %lld", name,
			(long long)s->inner->heads, (long long)s->heads);
	return e->weight_count <= PE_MAX_ARRAYS
		? PE_OK
		: pe_encoding_fail(e, PE_ERR_UNSUPPORTED, "%s has too many weights", name);
}

static pe_status take_inner(pe_encoding *e)
{
	const char *over = pe_params_text(e->params, "over");
	const struct pe_encoder *encoder;
	pe_params *params;
	e->leaves_gains = true;
	if (strcmp(over, "none") == 0 || !*over)
		return PE_OK;
	PE_TRY(pe_inner_parse(e, over, &encoder, &params));
	pe_status status = bind_inner(e, encoder, params);
	pe_params_destroy(&params);
	return status;
}

/* ---- bind --------------------------------------------------------------------------- */

/* As PyTorch begins Linear and Conv2d: all in ±1/sqrt(fan in), biases too. */
static pe_status take_layer(pe_encoding *e, const char *weight_name, const char *bias_name, int64_t in,
	int64_t out, double **weight, double **bias)
{
	const struct state *s = e->state;
	int64_t shape[] = {out, in, 1, s->kernel};
	double bound = 1 / sqrt((double)(in * s->kernel));
	bool linear = pe_params_int(e->params, "version") == 1;
	PE_TRY(
		pe_encoding_weight(e, weight_name, linear ? 2 : 4, shape, pe_initial_uniform(-bound, bound), weight));
	return pe_encoding_weight(e, bias_name, 1, shape, pe_initial_uniform(-bound, bound), bias);
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	s->heads = e->heads = pe_params_int(e->params, "heads");
	s->width = pe_params_int(e->params, "width");
	if (pe_params_int(e->params, "version") == 1)
		PE_TRY(pe_encoding_refuse_option(e, "kernel", "with version=1"));
	s->kernel = pe_params_int(e->params, "version") == 1 ? 1 : pe_params_int(e->params, "kernel");
	s->inputs = pe_params_choice(e->params, "inputs") == LOGITS ? s->heads : 2 * s->heads;
	s->causal = pe_params_choice(e->params, "direction") == CAUSAL;
	if (s->kernel % 2 == 0)
		return pe_encoding_fail(
			e, PE_ERR_RANGE, "kernel=%lld is even: it would have no middle", (long long)s->kernel);
	e->halo = 2 * (s->kernel / 2);
	PE_TRY(take_layer(e, "mlp2.0.weight", "mlp2.0.bias", s->inputs, s->width, &s->first, &s->first_bias));
	PE_TRY(take_layer(e, "mlp2.2.weight", "mlp2.2.bias", s->width, s->heads, &s->second, &s->second_bias));
	PE_TRY(take_inner(e));
	return pe_declare_weights(e);
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	pe_encoding_destroy(&s->inner);
}

/* ---- what it is --------------------------------------------------------------------- */

static const pe_option_info options[] = {
	PE_INT("heads", "8", 1, 4096, "attention heads"),
	PE_INT("version", "1", 1, 2, "1: a network for each cell; 2: convolutions along the keys"),
	PE_STRING("over", "none",
		"the encoder whose bias is mapped, with its options behind colons, as alibi or fire:preset=dape; it "
		"gets these heads; none: the biases of the other encoders of the layer"),
	PE_INT("width", "32", 1, MAX_WIDTH, "hidden values"),
	PE_INT("kernel", "3", 1, MAX_KERNEL, "version 2: keys that a convolution sees, odd"),
	PE_CHOICE("inputs", "both", "both|logits",
		"logits: the network sees no bias, as in the code's variants without positions"),
	PE_CHOICE("direction", "causal", "causal|bidirectional",
		"version 2: what follows the last key, a masked key or the convolution's zeros"),
};

static const pe_preset_info presets[] = {
	{"published", "version=2,direction=bidirectional",
		"version 2 as its code is: hidden values after the last key are zero, so that the last query's row "
		"changes when one more key comes. (For one query at a time the code, besides, sees the first key "
		"alone; nothing reproduces that.)"},
};

static const pe_weight_info weights[] = {
	{"mlp2.0.weight", "(width, 2 heads), version 2 (width, 2 heads, 1, kernel)", "U(-1/sqrt(fan in), ...)",
		"logits of all heads first, then their biases"},
	{"mlp2.0.bias", "(width)", "U(-1/sqrt(fan in), ...)", "of the first layer"},
	{"mlp2.2.weight", "(heads, width), version 2 (heads, width, 1, kernel)", "U(-1/sqrt(fan in), ...)",
		"of the second layer"},
	{"mlp2.2.bias", "(heads)", "U(-1/sqrt(fan in), ...)", "of the second layer"},
};

const struct pe_encoder pe_encoder_dape = {
	.table = PE_TABLE("dape", options, presets),
	.family = PE_SEQ,
	.summary = "a small network over the logits and biases of all heads",
	.help = "scores = A + B + W2 leaky(W1 [A, B] + b1) + b2. A are the scaled logits of all\n"
			"heads, B their biases, in this order; leaky has slope 0.01. Version 1 maps\n"
			"each pair of query and key by itself; version 2 has convolutions of `kernel`\n"
			"keys in place of W1 and W2. Masked cells of A and B are zero, by the mask\n"
			"itself wherever the queries stand.\n"
			"over=alibi is DAPE-ALiBi, over=fire:preset=dape DAPE-FIRE; or put an encoder\n"
			"of biases beside dape.\n"
			"That encoder's weights are named behind its own name, as kerple.bias_p.\n"
			"With direction=causal, the convolutions see masked keys after the last one:\n"
			"a query has the same scores whether or not later keys are there yet. The\n"
			"code pads with zeros there, which changes the last kernel/2 keys of the last\n"
			"queries alone.",
	.source = "Zheng et al. 2024, \"DAPE: data-adaptive positional encoding for length extrapolation\", "
			  "\"DAPE V2\", and their code",
	.example = "seq:64 --with dape:heads=8,over=alibi -o dape.npz",
	.domains = PE_DOMAIN_SEQUENCE,
	PE_WEIGHTS(weights),
	.bind = bind,
	.release = release,
	.compute = pe_compute_own_weights,
	.scores = scores,
	.gains = gains,
	.map_heads = map_heads,
};
