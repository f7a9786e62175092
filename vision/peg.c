/* SPDX-License-Identifier: BSD-2-Clause
 * Conditional position: y = x + conv(x), a depthwise convolution over the grid, whose zero padding tells
 * where a token is. Chu et al., "Conditional Positional Encodings for Vision Transformers", ICLR 2023.
 * Tokens lie one after another with their channels together, so a convolution is over rows of memory: a
 * block of channels is copied with its padding, as many rows as a window reaches, and written in place. */
#include <math.h>
#include <string.h>

#include "encoder.h"
#include "kernels/kernels.h"
#include "pool.h"
#include "tensor.h"

enum padding { ZERO, REFLECT, CIRCULAR, REPLICATE };
#define NEAR (24 << 10) /* bytes of the rows of a window that stay in the nearest cache */
#define NARROW 64       /* channels a piece of work, at least: shorter runs of memory cost more */
#define PAST_CACHES ((int64_t)16 << 20) /* bytes of an output that goes to memory, not to the caches */

struct state {
	int64_t dim, kernel, frames, stride; /* frames: taps over frames */
	int64_t reach;                       /* kernel / 2 */
	int64_t back;                        /* frames before its own that a window sees */
	enum padding padding;
	bool residual;
	double *taps;       /* (frames, kernel, kernel, dim), then bias */
	float *single_taps; /* the same with dim filled up to `step` */
	int64_t step;
};

/* ---- rows --------------------------------------------------------------------------- */

struct work {
	const pe_encoding *e;
	const pe_tensor *x, *y; /* (batch, tokens, dim) */
	int64_t height, width;  /* of y's grid */
	int64_t block, blocks;  /* channels a block, and how many */
	bool single;            /* computed in single precision; else in double */
	bool stream;
};

/* A block of channels of one batch. Rows are of floats if the work is single, else of doubles; each is the
 * grid's row between `reach` tokens of padding. */
struct block {
	const struct work *w;
	int64_t batch, channel, channels, width; /* width: channels, filled up */
	int64_t row;                             /* bytes of a row */
	bool whole;                              /* all rows are kept, not only those that a window reaches */
	char *rows, *zeros;
	const void **window; /* (frames, kernel) */
	double *out;         /* one token, or, in single precision, one row of y */
};

static size_t size_of(const struct work *w)
{
	return w->single ? sizeof(float) : sizeof(double);
}

static int64_t filled_up(int64_t channels)
{
	return (channels + PE_DEPTHWISE_LANES - 1) / PE_DEPTHWISE_LANES * PE_DEPTHWISE_LANES;
}

/* Where a window finds place i of n, or -1: zeros. */
static int64_t source(enum padding padding, int64_t i, int64_t n)
{
	if (i >= 0 && i < n)
		return i;
	if (padding == CIRCULAR)
		return i < 0 ? i + n : i - n;
	if (padding == REFLECT)
		return i < 0 ? -i : 2 * (n - 1) - i;
	if (padding == REPLICATE)
		return i < 0 ? 0 : n - 1;
	return -1;
}

/* A row of the grid in the block. */
static char *row_of(const struct block *b, int64_t frame, int64_t y)
{
	const struct state *s = b->w->e->state;
	int64_t slot = b->whole ? frame * b->w->e->domain->height + y : y % s->kernel;
	return b->rows + slot * b->row;
}

/* `count` tokens from `first` on. */
static void load_tokens(const struct block *b, int64_t first, int64_t count, char *out)
{
	const pe_tensor *x = b->w->x;
	const char *in = pe_tensor_at(x, b->batch, first, b->channel);
	int64_t step = x->strides[1] * (int64_t)pe_dtype_size(x->dtype), last = x->strides[2];
	size_t token = (size_t)b->width * size_of(b->w), size = (size_t)b->channels * sizeof(float);
	for (int64_t i = 0; i < count; i++, in += step, out += token)
		if (!b->w->single)
			pe_load_f64((double *)(void *)out, in, x->dtype, last, b->channels);
		else if (last == 1)
			memcpy(out, in, size);
		else
			for (int64_t c = 0; c < b->channels; c++)
				((float *)(void *)out)[c] = ((const float *)(const void *)in)[c * last];
}

/* Copies a row of the grid and pads it. The filling of tokens and the zeros of rows stay as they began. */
static void load_row(const struct block *b, int64_t frame, int64_t y)
{
	const struct state *s = b->w->e->state;
	const pe_domain *domain = b->w->e->domain;
	int64_t first = domain->prefix + (frame * domain->height + y) * domain->width;
	size_t token = (size_t)b->width * size_of(b->w);
	char *row = row_of(b, frame, y), *own = row + (size_t)s->reach * token;
	load_tokens(b, first, domain->width, own);
	for (int64_t i = 0; i < 2 * s->reach; i++) {
		int64_t at = i < s->reach ? i - s->reach : domain->width + i - s->reach;
		int64_t from = source(s->padding, at, domain->width);
		if (from >= 0)
			memcpy(own + at * (int64_t)token, own + (size_t)from * token, token);
	}
}

static void find_window(const struct block *b, int64_t frame, int64_t y)
{
	const struct state *s = b->w->e->state;
	const pe_domain *domain = b->w->e->domain;
	const void **window = b->window;
	for (int64_t f = 0; f < s->frames; f++)
		for (int64_t r = 0; r < s->kernel; r++) {
			int64_t from = source(s->padding, frame + f - s->back, domain->frames);
			int64_t at = source(s->padding, y + r - s->reach, domain->height);
			*window++ = from < 0 || at < 0 ? b->zeros : row_of(b, from, at);
		}
}

/* ---- the convolution ---------------------------------------------------------------- */

/* out[channels] ← token i of a row, as depthwise.h does it, in double. */
static void convolve_token(const struct block *b, int64_t i, const double *x, double *out)
{
	const struct state *s = b->w->e->state;
	int64_t taps = s->frames * s->kernel * s->kernel;
	const double *weight = s->taps + b->channel;
	memcpy(out, weight + taps * s->dim, (size_t)b->channels * sizeof *out);
	for (int64_t r = 0; r < s->frames * s->kernel; r++)
		for (int64_t t = 0; t < s->kernel; t++, weight += s->dim) {
			const double *in = (const double *)b->window[r] + (i * s->stride + t) * b->width;
			for (int64_t c = 0; c < b->channels; c++)
				out[c] += weight[c] * in[c];
		}
	for (int64_t c = 0; x && c < b->channels; c++)
		out[c] = x[c] + out[c];
}

static void do_row_double(const struct block *b, int64_t first, const double *x)
{
	const struct state *s = b->w->e->state;
	const pe_tensor *y = b->w->y;
	for (int64_t i = 0; i < b->w->width; i++) {
		convolve_token(b, i, x ? x + i * s->stride * b->width : NULL, b->out);
		pe_store_f64(pe_tensor_at(y, b->batch, first + i, b->channel), y->dtype, y->strides[2], b->out, 1,
			b->channels);
	}
}

static void do_row_single(pe_context *worker, const struct block *b, int64_t first, const float *x)
{
	const struct state *s = b->w->e->state;
	const pe_tensor *y = b->w->y;
	bool direct = y->strides[2] == 1;
	float *out = (float *)(void *)(direct ? pe_tensor_at(y, b->batch, first, b->channel) : (char *)b->out);
	int64_t step = direct ? y->strides[1] : b->width;
	worker->kernels->depthwise(&(struct pe_depthwise_row){.rows = (const float *const *)b->window,
		.row_count = s->frames * s->kernel,
		.taps = s->kernel,
		.weight = s->single_taps + b->channel,
		.bias = s->single_taps + s->frames * s->kernel * s->kernel * s->step + b->channel,
		.x = x,
		.width = b->width,
		.weight_step = s->step,
		.stride = s->stride,
		.count = b->w->width,
		.y = out,
		.y_step = step,
		.channels = b->channels,
		.stream = direct && b->w->stream});
	for (int64_t i = 0; !direct && i < b->w->width; i++)
		for (int64_t c = 0; c < b->channels; c++)
			*(float *)(void *)pe_tensor_at(y, b->batch, first + i, b->channel + c) = out[i * step + c];
}

/* A row of y. Rows of x that it is the last to need may be overwritten by it. */
static void do_row(pe_context *worker, const struct block *b, int64_t frame, int64_t y)
{
	const struct work *w = b->w;
	const struct state *s = w->e->state;
	int64_t first = w->e->domain->prefix + (frame * w->height + y) * w->width;
	const char *x = row_of(b, frame, y * s->stride) + (size_t)(s->reach * b->width) * size_of(w);
	find_window(b, frame, y * s->stride);
	if (w->single)
		do_row_single(worker, b, first, s->residual ? (const float *)(const void *)x : NULL);
	else
		do_row_double(b, first, s->residual ? (const double *)(const void *)x : NULL);
}

static void do_block(pe_context *worker, const struct block *b)
{
	const struct state *s = b->w->e->state;
	const pe_domain *domain = b->w->e->domain;
	for (int64_t f = 0; b->whole && f < domain->frames; f++)
		for (int64_t y = 0; y < domain->height; y++)
			load_row(b, f, y);
	for (int64_t f = 0; f < domain->frames; f++)
		for (int64_t y = 0, next = 0; y < b->w->height; y++) {
			int64_t end = pe_min(y * s->stride + s->reach + 1, domain->height);
			for (next = pe_max(next, y * s->stride - s->reach); !b->whole && next < end; next++)
				load_row(b, f, next);
			do_row(worker, b, f, y);
		}
}

/* ---- work --------------------------------------------------------------------------- */

static pe_status start_block(pe_context *worker, struct block *b)
{
	const struct work *w = b->w;
	const struct state *s = w->e->state;
	const pe_domain *domain = w->e->domain;
	int64_t rows = s->kernel;
	b->whole = s->frames > 1 || s->padding == CIRCULAR;
	if (b->whole)
		rows = domain->frames * domain->height;
	b->row = (domain->width + 2 * s->reach) * b->width * (int64_t)size_of(w);
	b->rows = pe_alloc_zero(worker, rows + 1, (size_t)b->row);
	b->window = pe_alloc(worker, s->frames * s->kernel, sizeof *b->window);
	b->out = pe_alloc(worker, b->width * w->width, sizeof *b->out);
	if (!b->rows || !b->window || !b->out)
		return PE_ERR_NOMEM;
	b->zeros = b->rows + rows * b->row;
	return PE_OK;
}

static pe_status do_chunk(pe_context *worker, void *arg, int64_t chunk)
{
	const struct work *w = arg;
	const struct state *s = w->e->state;
	struct block b = {.w = w, .batch = chunk / w->blocks, .channel = chunk % w->blocks * w->block};
	b.channels = pe_min(w->block, s->dim - b.channel);
	b.width = filled_up(b.channels);
	pe_status status = start_block(worker, &b);
	if (status == PE_OK)
		do_block(worker, &b);
	pe_free(worker, b.rows);
	pe_free(worker, b.window);
	pe_free(worker, b.out);
	return status;
}

static void copy_prefix(const pe_encoding *e, const pe_tensor *x, const pe_tensor *y)
{
	size_t size = pe_dtype_size(x->dtype);
	for (int64_t b = 0; x->data != y->data && b < x->shape[0]; b++)
		for (int64_t i = 0; i < e->domain->prefix; i++)
			for (int64_t c = 0; c < x->shape[2]; c++)
				memcpy(pe_tensor_at(y, b, i, c), pe_tensor_at(x, b, i, c), size);
}

static int64_t strided(const struct state *s, int64_t n)
{
	return (n - 1) / s->stride + 1;
}

static pe_status tokens(pe_encoding *e, const pe_tensor *x, const pe_tensor *y)
{
	const struct state *s = e->state;
	struct work w = {.e = e,
		.x = x,
		.y = y,
		.height = strided(s, e->domain->height),
		.width = strided(s, e->domain->width),
		.single = x->dtype == PE_F32};
	int64_t near = NEAR / (s->kernel * (e->domain->width + 2 * s->reach) * (int64_t)sizeof(float));
	w.block = pe_max(NARROW, near / PE_DEPTHWISE_LANES * PE_DEPTHWISE_LANES);
	w.blocks = (s->dim + w.block - 1) / w.block;
	w.stream = x->data != y->data && pe_tensor_bytes(y) >= PAST_CACHES;
	copy_prefix(e, x, y);
	return pe_parallel(e->ctx, x->shape[0] * w.blocks, do_chunk, &w, "peg");
}

/* Whether windows find tokens on an axis of n that are there to be reflected or repeated. */
static bool reaches(enum padding padding, int64_t reach, int64_t n)
{
	return padding == REFLECT ? reach < n : padding == CIRCULAR ? reach <= n : true;
}

static pe_status tokens_shape(pe_encoding *e, int64_t *tokens, int64_t *width)
{
	const struct state *s = e->state;
	const pe_domain *d = e->domain;
	if (*width != s->dim)
		return pe_encoding_fail(
			e, PE_ERR_SHAPE, "features are %lld wide, and dim is %lld", (long long)*width, (long long)s->dim);
	if (*tokens != d->prefix + d->frames * d->height * d->width)
		return pe_encoding_fail(e, PE_ERR_SHAPE, "it takes the whole grid, not its last tokens");
	*tokens = d->prefix + d->frames * strided(s, d->height) * strided(s, d->width);
	return PE_OK;
}

/* ---- bind --------------------------------------------------------------------------- */

/* taps ← weight (dim, 1, frames, kernel, kernel), channels last. */
static pe_status take_weights(pe_encoding *e)
{
	struct state *s = e->state;
	const int64_t still[] = {s->dim, 1, s->kernel, s->kernel};
	const int64_t moving[] = {s->dim, 1, s->frames, s->kernel, s->kernel};
	int64_t taps = s->frames * s->kernel * s->kernel;
	int32_t given = 0;
	int64_t shape[PE_MAX_DIMS];
	bool frames = pe_encoding_given_shape(e, "weight", &given, shape) ? given == 5 : s->frames > 1;
	double *weight, *bias;
	PE_TRY(pe_encoding_weight(e, "weight", frames ? 5 : 4, frames ? moving : still,
		pe_initial_normal(0, sqrt(2 / (double)taps)), &weight));
	struct pe_initial zero = pe_initial_constant(0);
	zero.optional = true;
	PE_TRY(pe_encoding_weight(e, "bias", 1, &s->dim, zero, &bias));
	s->step = filled_up(s->dim);
	s->taps = pe_alloc(e->ctx, taps + 1, (size_t)s->dim * sizeof *s->taps);
	s->single_taps = pe_alloc_zero(e->ctx, taps + 1, (size_t)s->step * sizeof *s->single_taps);
	if (!s->taps || !s->single_taps)
		return PE_ERR_NOMEM;
	for (int64_t c = 0; c < s->dim; c++)
		for (int64_t t = 0; t < taps; t++)
			s->taps[t * s->dim + c] = weight[c * taps + t];
	memcpy(s->taps + taps * s->dim, bias, (size_t)s->dim * sizeof *bias);
	for (int64_t t = 0; t <= taps; t++)
		for (int64_t c = 0; c < s->dim; c++)
			s->single_taps[t * s->step + c] = (float)s->taps[t * s->dim + c];
	return PE_OK;
}

static pe_status check_sizes(pe_encoding *e, bool causal)
{
	const struct state *s = e->state;
	const pe_domain *d = e->domain;
	if (s->kernel % 2 == 0)
		return pe_encoding_fail(
			e, PE_ERR_RANGE, "kernel %lld is even, and has no middle", (long long)s->kernel);
	if (s->frames % 2 == 0 && !causal)
		return pe_encoding_fail(e, PE_ERR_RANGE, "frames %lld is even, and has no middle; or is it causal?",
			(long long)s->frames);
	if (s->stride > 1 && pe_params_is_set(e->params, "residual") && pe_params_bool(e->params, "residual"))
		return pe_encoding_fail(e, PE_ERR_RANGE, "with a stride there is nothing that residual could add to");
	if (!reaches(s->padding, s->reach, pe_min(d->height, d->width)) ||
		!reaches(s->padding, s->back, d->frames))
		return pe_encoding_fail(e, PE_ERR_SHAPE,
			"a grid of %lld x %lld x %lld is too small for this padding of kernel %lld", (long long)d->frames,
			(long long)d->height, (long long)d->width, (long long)s->kernel);
	return PE_OK;
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	bool causal = pe_params_bool(e->params, "causal");
	s->dim = pe_encoding_size(e, "dim", "weight", 4, 0);
	s->kernel = pe_encoding_size(e, "kernel", "weight", 4, 2);
	int32_t ndim;
	int64_t shape[PE_MAX_DIMS];
	if (pe_encoding_given_shape(e, "weight", &ndim, shape) && ndim == 5) {
		s->dim = pe_encoding_size(e, "dim", "weight", 5, 0);
		s->kernel = pe_encoding_size(e, "kernel", "weight", 5, 3);
	}
	s->frames = pe_encoding_size(e, "frames", "weight", 5, 2);
	s->stride = pe_params_int(e->params, "stride");
	s->padding = (enum padding)pe_params_choice(e->params, "padding");
	s->residual = s->stride == 1 && pe_params_bool(e->params, "residual");
	s->reach = s->kernel / 2;
	s->back = causal ? s->frames - 1 : s->frames / 2;
	PE_TRY(check_sizes(e, causal));
	PE_TRY(take_weights(e));
	return pe_declare_weights(e);
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	pe_free(e->ctx, s->taps);
	pe_free(e->ctx, s->single_taps);
}

static pe_status compute(pe_encoding *e, const pe_tensor *outs)
{
	pe_compute_weights(e, outs, 0);
	return PE_OK;
}

static const pe_option_info options[] = {
	PE_INT("dim", "64", 1, 1 << 16, "width of the features; if not said, that of the given weight"),
	PE_INT("kernel", "3", 1, 255, "taps a side, odd; if not said, as the given weight has"),
	PE_INT("frames", "1", 1, 255, "taps over frames; if not said, as the given weight has"),
	PE_BOOLEAN("causal", "0", "a window sees its own frame and those before, not those after"),
	PE_CHOICE("padding", "zero", "zero|reflect|circular|replicate",
		"beyond the edges: zeros, which alone tell where a token is; the grid mirrored, repeated, or its "
		"edge"),
	PE_INT("stride", "1", 1, 255, "rows and columns from one window to the next"),
	PE_BOOLEAN("residual", "1", "add x; not with a stride, where y is the convolution alone"),
};

static const pe_weight_info weights[] = {
	{"weight", "(dim, 1, kernel, kernel), or (dim, 1, frames, kernel, kernel)",
		"N(0, sqrt(2/taps)), taps a channel", "the convolution, as PyTorch has it"},
	{"bias", "(dim)", "0", "added to it; none in weights: 0"},
};

const struct pe_encoder pe_encoder_peg = {
	.table = PE_TABLE_NO_PRESETS("peg", options),
	.family = PE_VISION,
	.summary = "conditional position: a depthwise convolution, which learns from its zero padding",
	.help = "y(r, c) = x(r, c) + (b + sum_ij w_ij x(r+i-k/2, c+j-k/2)), channel by channel,\n"
			"a cross-correlation: the kernel is not flipped. The sum is rounded before x is\n"
			"added, so y is x + conv(x) and not a convolution with 1 in its middle.\n"
			"CPVT has it after the first block, Twins after the first block of each stage,\n"
			"CoaT before each; PVTv2 in the MLP with residual=0. With stride s, y has\n"
			"(H-1)/s+1 rows, (W-1)/s+1 columns, and x is not added, as in Twins.\n"
			"Tokens before the grid are copied. Frames are convolved one by one unless\n"
			"frames > 1; the padding is then that of frames, too.\n"
			"Position comes from the zeros alone: with circular padding it is gone, and\n"
			"with reflect and replicate equal tokens stay equal. Tokens that are padding\n"
			"must be zeroed before, and windows or merged blocks put into order.\n"
			"Without features it yields its weights.",
	.source = "Chu et al. 2023, \"Conditional Positional Encodings\", and Twins' PosConv",
	.example = "grid:14x14 --with peg:dim=64,kernel=3 -o peg.npz",
	.domains = PE_DOMAIN_GRID,
	PE_WEIGHTS(weights),
	.bind = bind,
	.release = release,
	.compute = compute,
	.tokens = tokens,
	.tokens_shape = tokens_shape,
};
