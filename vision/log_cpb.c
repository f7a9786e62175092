/* SPDX-License-Identifier: BSD-2-Clause
 * The continuous relative position bias of Swin Transformer V2, by a small network from log-spaced offsets,
 * with its cosine attention. Liu et al., "Swin Transformer V2: scaling up capacity and resolution", CVPR
 * 2022, and its code; timm's RelPosMlp and SwinV2-CR. */
#include <math.h>

#include "relation.h"
#include "window_table.h"

enum mode { SWIN, CR };

#define LEAST_NORM 1e-12   /* of torch's normalize */
#define LARGEST_SCALE 100. /* logit_scale ends at its log */

/* The network's names in checkpoints; the last bias is of mode cr. */
static const char *const names[][4] = {
	{"cpb_mlp.0.weight", "cpb_mlp.0.bias", "cpb_mlp.2.weight", "cpb_mlp.2.bias"},
	{"continuous_position_bias_mlp.0.weight", "continuous_position_bias_mlp.0.bias",
		"continuous_position_bias_mlp.2.weight", "continuous_position_bias_mlp.2.bias"},
	{"mlp.fc1.weight", "mlp.fc1.bias", "mlp.fc2.weight", "mlp.fc2.bias"},
	{"meta_mlp.fc1.weight", "meta_mlp.fc1.bias", "meta_mlp.fc2.weight", "meta_mlp.fc2.bias"},
};

struct state {
	struct pe_window_table table;
	const double *logit_scale; /* heads, or NULL */
};

/* ---- the bias --------------------------------------------------------------------------- */

struct network {
	double *in, *in_bias, *out, *out_bias;
	int64_t hidden;
};

static pe_status take_network(pe_encoding *e, enum mode mode, struct network *n)
{
	int64_t which = mode == CR ? 2 : 0;
	for (int64_t i = 0; i < PE_COUNT(names); i++)
		if (pe_encoding_weight_is_given(e, names[i][0])) {
			which = i;
			break;
		}
	const char *const *name = names[which];
	PE_TRY(pe_encoding_size(e, "heads", name[2], 2, 0, &e->heads));
	PE_TRY(pe_encoding_size(e, "hidden", name[0], 2, 0, &n->hidden));
	if (n->hidden == 0)
		n->hidden = mode == CR ? 384 : 512;
	struct pe_initial normal = pe_initial_normal(0, 0.02), zero = pe_initial_constant(0);
	PE_TRY(pe_encoding_weight(e, name[0], 2, (int64_t[]){n->hidden, 2}, normal, &n->in));
	PE_TRY(pe_encoding_weight(e, name[1], 1, &n->hidden, zero, &n->in_bias));
	PE_TRY(pe_encoding_weight(e, name[2], 2, (int64_t[]){e->heads, n->hidden}, normal, &n->out));
	return mode == CR ? pe_encoding_weight(e, name[3], 1, &e->heads, zero, &n->out_bias) : PE_OK;
}

/* An offset as the network takes it; side is the window's whose edge is at 8. */
static double coordinate(enum mode mode, int64_t offset, int64_t side)
{
	double x = (double)offset;
	if (mode == CR)
		return copysign(log1p(fabs(x)), x);
	x *= 8 / (double)pe_max(side - 1, 1); /* 1: there is no offset but 0 */
	return copysign(log2(1 + fabs(x)) / 3, x);
}

static pe_status fill(pe_encoding *e, enum mode mode, const struct network *n)
{
	struct state *s = e->state;
	struct pe_window_table *t = &s->table;
	int64_t height, width;
	PE_TRY(pe_window_take_pretrained(e, &height, &width));
	PE_TRY(pe_window_make(e));
	double *hidden = pe_alloc(e->ctx, n->hidden + e->heads, sizeof *hidden);
	if (!hidden)
		return PE_ERR_NOMEM;
	double *out = hidden + n->hidden;
	for (int64_t row = 0; row < t->rows; row++) {
		int64_t dy, dx;
		pe_window_offset(t, row, &dy, &dx);
		double in[] = {coordinate(mode, dy, height ? height : t->height),
			coordinate(mode, dx, width ? width : t->width)};
		pe_linear(n->in, n->in_bias, 2, n->hidden, in, hidden);
		for (int64_t i = 0; i < n->hidden; i++)
			hidden[i] = fmax(hidden[i], 0);
		pe_linear(n->out, n->out_bias, n->hidden, e->heads, hidden, out);
		for (int64_t h = 0; h < e->heads; h++)
			t->values[h * t->rows + row] = mode == CR ? out[h] : 16 / (1 + exp(-out[h]));
	}
	pe_free(e->ctx, hidden);
	return PE_OK;
}

/* ---- cosine attention ------------------------------------------------------------------- */

static void rotate(
	const pe_encoding *e, const struct pe_place *at, const double *in, int64_t width, double *out)
{
	enum { SUMS = 8 }; /* that do not wait for each other */
	double sums[SUMS] = {0}, sum = 0;
	int64_t whole = width - width % SUMS;
	(void)e, (void)at;
	for (int64_t c = 0; c < whole; c += SUMS)
		for (int i = 0; i < SUMS; i++)
			sums[i] += in[c + i] * in[c + i];
	for (int64_t c = whole; c < width; c++)
		sums[0] += in[c] * in[c];
	for (int i = 0; i < SUMS; i++)
		sum += sums[i];
	sum = sqrt(sum);
	double factor = 1 / (sum > LEAST_NORM ? sum : LEAST_NORM);
	for (int64_t c = 0; c < width; c++)
		out[c] = factor * in[c];
}

static double scale(const pe_encoding *e, const struct pe_place *query, int64_t width)
{
	const struct state *s = e->state;
	(void)width;
	return fmin(exp(s->logit_scale[query->head]), LARGEST_SCALE);
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	struct network network = {0};
	enum mode mode = (enum mode)pe_params_choice(e->params, "mode");
	PE_TRY(pe_window_take(e));
	PE_TRY(take_network(e, mode, &network));
	e->leaves_scale = e->leaves_vectors = !pe_params_bool(e->params, "cosine");
	if (!e->leaves_scale) {
		double *scales;
		int64_t shape[PE_MAX_DIMS] = {e->heads, 1, 1};
		int32_t ndim = mode == CR ? 1 : 3;
		PE_TRY(pe_encoding_weight(e, "logit_scale", ndim, shape, pe_initial_constant(log(10)), &scales));
		s->logit_scale = scales;
	}
	PE_TRY(fill(e, mode, &network));
	return pe_window_declare(e);
}

static const pe_option_info options[] = {
	PE_INT("heads", "8", 1, 4096, "attention heads; if not said, as given weights have it"),
	PE_OPTION_WINDOW,
	PE_OPTION_PRETRAINED_WINDOW(
		"the window that the network was trained on, whose edge offsets are scaled to 8; "
		"empty: this one. Not in mode cr"),
	PE_CHOICE("mode", "swin", "swin|cr",
		"swin: scaled offsets, and 16 sigmoid of what comes out; cr: sign ln(1 + |offset|), and it as it is"),
	PE_INT("hidden", "0", 0, 1 << 16,
		"width of the network; if not said, as given weights have it; 0: 512 (mode cr: 384)"),
	PE_BOOLEAN("cosine", "1", "queries and keys of length 1, and a learned scale for each head"),
};

static const pe_preset_info presets[] = {
	{"swinv2_cr", "mode=cr", "timm's swinv2_cr models"},
	{"rmlp", "mode=cr,hidden=512,cosine=0",
		"timm's models with RelPosMlp, maxvit_rmlp among them: no cosine attention"},
};

static const pe_weight_info weights[] = {
	{"cpb_mlp.0.weight", "(hidden, 2)", "N(0, 0.02)", "from (y, x); as SwinV2 names it, mode swin"},
	{"cpb_mlp.0.bias", "(hidden)", "zeros", ""},
	{"cpb_mlp.2.weight", "(heads, hidden)", "N(0, 0.02)", ""},
	{"cpb_mlp.2.bias", "(heads)", "zeros", "mode cr"},
	{"continuous_position_bias_mlp.0.weight", "(hidden, 2)", "N(0, 0.02)",
		"the same, as transformers names it"},
	{"continuous_position_bias_mlp.0.bias", "(hidden)", "zeros", ""},
	{"continuous_position_bias_mlp.2.weight", "(heads, hidden)", "N(0, 0.02)", ""},
	{"continuous_position_bias_mlp.2.bias", "(heads)", "zeros", "mode cr"},
	{"mlp.fc1.weight", "(hidden, 2)", "N(0, 0.02)", "the same, as timm's RelPosMlp names it"},
	{"mlp.fc1.bias", "(hidden)", "zeros", ""},
	{"mlp.fc2.weight", "(heads, hidden)", "N(0, 0.02)", ""},
	{"mlp.fc2.bias", "(heads)", "zeros", "mode cr"},
	{"meta_mlp.fc1.weight", "(hidden, 2)", "N(0, 0.02)", "the same, as timm's SwinV2-CR names it, mode cr"},
	{"meta_mlp.fc1.bias", "(hidden)", "zeros", ""},
	{"meta_mlp.fc2.weight", "(heads, hidden)", "N(0, 0.02)", ""},
	{"meta_mlp.fc2.bias", "(heads)", "zeros", "mode cr"},
	{"logit_scale", "(heads, 1, 1), or (heads) in mode cr", "ln 10", "with cosine=1; at most ln 100 is used"},
};

const struct pe_encoder pe_encoder_log_cpb = {
	.table = PE_TABLE("log_cpb", options, presets),
	.family = PE_VISION,
	.summary = "a bias by a small network from log-spaced offsets, and cosine attention",
	.help = "b_h(q, k) = 16 sigmoid(out_h relu(in c + bias)), where c = (g(yq - yk), g(xq -\n"
			"xk)), g(d) = sign(d) log2(1 + 8|d|/(W - 1))/3 and W the side of the window, or\n"
			"of pretrained_window, along that axis. Edge offsets get log2(9)/3 = 1.057, not\n"
			"1. A side of 1 has no offset but 0, and g(0) = 0, where SwinV2's code gives\n"
			"NaN. Each side has its own pretrained side; SwinV2's code asks the height\n"
			"alone whether there is one. mode=cr: g(d) = sign(d) ln(1 + |d|), no sigmoid,\n"
			"no 16.\n"
			"Scores are t_h cos(q, k) + b_h, t_h = min(exp(logit_scale_h), 100); a query or\n"
			"key shorter than 1e-12 is divided by that. cosine=0: q.k / sqrt(width) + b_h.\n"
			"The grid is one window, or part of one. Prefix tokens have bias 0 and index\n"
			"-1.",
	.source = "Liu et al. 2022, \"Swin Transformer V2\", and its code; timm's pos_embed_rel.py",
	.example = "grid:8x8 --with log_cpb:heads=3 -o log_cpb.npz",
	.domains = PE_DOMAIN_GRID,
	PE_WEIGHTS(weights),
	.bind = bind,
	.release = pe_window_release,
	.compute = pe_window_compute,
	.scores = pe_window_scores,
	.rotate = rotate,
	.scale = scale,
};
