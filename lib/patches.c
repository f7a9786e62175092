/* SPDX-License-Identifier: BSD-2-Clause
 * A picture as a grid of patches. A chunk of work is a row of the grid. Samples go through a table of all
 * their values where nothing mixes them, else in double through a band of the picture. */
#include "patches.h"

#include <string.h>

#include "io/picture.h"
#include "kernels/kernels.h"
#include "pool.h"
#include "tensor.h"

#define LINE 64 /* bytes of a line of the cache */
#define EACH(i, n) _Pragma("GCC unroll 8") for (int64_t i = 0; i < (n); i++)

/* What the rows of the grid share. */
struct cut {
	const pe_image *image;
	const struct pe_patch_plan *plan;
	const pe_tensor *out;
	float *table;                    /* (channels, maximum + 1), or NULL */
	struct pe_resample down, across; /* if the picture is resampled */
};

/* ---- what a patch meets of the picture ---------------------------------------------- */

/* The part of a patch that the picture covers: rows top … bottom - 1, pixels left … right - 1. */
struct part {
	int64_t y, x; /* in the picture, of the part's first pixel */
	int64_t top, bottom, left, right;
};

/* Pixels first … last - 1 of a side of a patch that begins at `start` of the picture's side. */
static void cover(int64_t start, int64_t patch, int64_t side, int64_t *first, int64_t *last)
{
	*first = pe_min(pe_max(0, -start), patch);
	*last = pe_max(*first, pe_min(patch, side - start));
}

static struct part part_of(const struct pe_patch_plan *plan, int64_t row, int64_t column)
{
	const pe_image_layout *l = &plan->layout;
	int64_t up = row * l->patch + l->crop_top - l->pad_top;
	int64_t left = column * l->patch + l->crop_left - l->pad_left;
	struct part part;
	cover(up, l->patch, plan->height, &part.top, &part.bottom);
	cover(left, l->patch, plan->width, &part.left, &part.right);
	part.y = up + part.top;
	part.x = left + part.left;
	return part;
}

/* Where number (c, py, px) of a patch stands, and how far from it the next px. */
static int64_t place_of(const struct pe_patch_plan *plan, int64_t c, int64_t py, int64_t px, int64_t *step)
{
	int64_t patch = plan->layout.patch, channels = plan->layout.channels;
	bool by_channel = plan->order == PE_ORDER_C_PH_PW;
	*step = by_channel ? 1 : channels;
	return by_channel ? (c * patch + py) * patch + px : (py * patch + px) * channels + c;
}

/* ---- by table ----------------------------------------------------------------------- */

/* Grey is each of R, G and B. */
static bool is_grey(const pe_image *image)
{
	return image->info.channels < 3;
}

static bool takes_table(const struct cut *cut)
{
	bool mixes = cut->plan->layout.channels == 1 && !is_grey(cut->image);
	bool covers = cut->image->info.alpha && cut->plan->alpha != PE_ALPHA_DROP;
	return !mixes && !covers && cut->plan->layout.resized_height == 0 && cut->out->dtype == PE_F32 &&
		cut->out->strides[1] == 1;
}

static pe_status make_table(struct cut *cut)
{
	int64_t channels = cut->plan->layout.channels, maximum = cut->image->info.maximum;
	cut->table = pe_alloc(cut->image->ctx, channels * (maximum + 1), sizeof *cut->table);
	if (!cut->table)
		return PE_ERR_NOMEM;
	for (int64_t c = 0; c < channels; c++)
		for (int64_t v = 0; v <= maximum; v++) {
			double value = ((double)v / (double)maximum - cut->plan->mean[c]) / cut->plan->deviation[c];
			cut->table[c * (maximum + 1) + v] = (float)value;
		}
	return PE_OK;
}

/* One channel of a part; steps and pitches, from row to row, in numbers of the picture and of the patch. */
struct channel {
	int64_t rows, columns, in_step, in_pitch, out_step, out_pitch;
};

static void look_up_8(const struct channel *c, const float *table, const uint8_t *in, float *out)
{
	for (int64_t y = 0; y < c->rows; y++, in += c->in_pitch, out += c->out_pitch)
		if (c->in_step == 3 && c->out_step == 1) /* the common case, for the compiler to see */
			EACH(x, c->columns) out[x] = table[in[3 * x]];
		else
			EACH(x, c->columns) out[x * c->out_step] = table[in[x * c->in_step]];
}

static void look_up_16(const struct channel *c, const float *table, const uint16_t *in, float *out)
{
	for (int64_t y = 0; y < c->rows; y++, in += c->in_pitch, out += c->out_pitch)
		for (int64_t x = 0; x < c->columns; x++)
			out[x * c->out_step] = table[in[x * c->in_step]];
}

static void look_up_patch(const struct cut *cut, int64_t row, int64_t column, float *out)
{
	const pe_image *image = cut->image;
	const pe_image_layout *l = &cut->plan->layout;
	struct part part = part_of(cut->plan, row, column);
	struct channel c = {.rows = part.bottom - part.top, .columns = part.right - part.left};
	if (c.rows == 0 || c.columns == 0)
		return;
	c.in_step = image->info.channels;
	c.in_pitch = image->info.width * c.in_step;
	for (int64_t i = 0; i < l->channels; i++) {
		const float *table = cut->table + i * (image->info.maximum + 1);
		const void *in = pe_picture_row(image, part.y);
		int64_t from = part.x * c.in_step + (is_grey(image) ? 0 : i);
		float *to = out + place_of(cut->plan, i, part.top, part.left, &c.out_step);
		c.out_pitch = l->patch * c.out_step;
		if (image->wide)
			look_up_16(&c, table, (const uint16_t *)in + from, to);
		else
			look_up_8(&c, table, (const uint8_t *)in + from, to);
	}
}

static bool is_padded(const pe_image_layout *l)
{
	return l->pad_top + l->pad_left + l->pad_bottom + l->pad_right > 0;
}

/* Whole lines of the cache past it. */
static void send(const struct pe_kernels *kernels, float *to, const float *from, int64_t bytes)
{
	int64_t head = pe_min((int64_t)(-(uintptr_t)to % LINE), bytes), lines = (bytes - head) / LINE * LINE;
	char *out = (char *)to;
	const char *in = (const char *)from;
	memcpy(out, in, (size_t)head);
	kernels->copy(out + head, in + head, lines, true);
	memcpy(out + head + lines, in + head + lines, (size_t)(bytes - head - lines));
}

/* A large output is not read into the caches for being written: patches come from a buffer. */
static pe_status look_up_row(pe_context *worker, void *arg, int64_t row)
{
	const struct cut *cut = arg;
	const pe_image_layout *l = &cut->plan->layout;
	int64_t bytes = l->width * (int64_t)sizeof(float);
	float *buffer = NULL;
	if (pe_tensor_bytes(cut->out) >= PE_PAST_CACHES && !(buffer = pe_alloc(worker, bytes, 1)))
		return PE_ERR_NOMEM;
	for (int64_t column = 0; column < l->columns; column++) {
		float *out = pe_tensor_row(cut->out, row * l->columns + column), *patch = buffer ? buffer : out;
		if (is_padded(l))
			memset(patch, 0, (size_t)bytes);
		look_up_patch(cut, row, column, patch);
		if (buffer)
			send(worker->kernels, out, buffer, bytes);
	}
	if (buffer)
		worker->kernels->copy_fence();
	pe_free(worker, buffer);
	return PE_OK;
}

/* ---- in double ---------------------------------------------------------------------- */

/* One pixel: samples 0 … 1, alpha done with, in `channels` channels. */
static void load_pixel(const struct cut *cut, const double *in, double *out)
{
	const pe_image_info *info = &cut->image->info;
	double alpha = info->alpha && cut->plan->alpha != PE_ALPHA_DROP ? in[info->channels - 1] : 1;
	double ground = cut->plan->alpha == PE_ALPHA_WHITE ? 1 - alpha : 0, colour[3];
	for (int c = 0; c < 3; c++)
		colour[c] = in[is_grey(cut->image) ? 0 : c] * alpha + ground;
	if (cut->plan->layout.channels == 3)
		memcpy(out, colour, sizeof colour);
	else
		out[0] = is_grey(cut->image) ? colour[0] : 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2];
}

/* Row y of the picture as stored, all its pixels. */
static void load_row(const struct cut *cut, int64_t y, double *out)
{
	const pe_image *image = cut->image;
	const void *row = pe_picture_row(image, y);
	double in[4], maximum = image->info.maximum;
	int64_t stored = image->info.channels;
	for (int64_t x = 0; x < image->info.width; x++, out += cut->plan->layout.channels) {
		for (int64_t c = 0; c < stored; c++)
			in[c] = (image->wide ? ((const uint16_t *)row)[x * stored + c]
								 : ((const uint8_t *)row)[x * stored + c]) /
				maximum;
		load_pixel(cut, in, out);
	}
}

/* Rows of the picture, after resampling, that a row of the grid needs. */
struct band {
	int64_t first, last; /* rows of the resampled picture */
	int64_t low, high;   /* rows of the stored one */
	double *values;      /* (last - first, width, channels) */
	double *stored;      /* one stored row */
	double *across;      /* (high - low, width, channels), if it is resampled */
};

static pe_status allocate_band(pe_context *worker, const struct cut *cut, struct band *b)
{
	int64_t channels = cut->plan->layout.channels, row = cut->plan->width * channels;
	b->values = pe_alloc(worker, (b->last - b->first) * row, sizeof *b->values);
	b->stored = pe_alloc(worker, cut->image->info.width * channels, sizeof *b->stored);
	if (!b->values || !b->stored)
		return PE_ERR_NOMEM;
	if (!cut->down.first)
		return PE_OK;
	b->across = pe_alloc(worker, (b->high - b->low) * row, sizeof *b->across);
	return b->across ? PE_OK : PE_ERR_NOMEM;
}

static void fill_band(const struct cut *cut, struct band *b)
{
	int64_t channels = cut->plan->layout.channels, row = cut->plan->width * channels;
	if (!cut->down.first) {
		for (int64_t y = b->first; y < b->last; y++)
			load_row(cut, y, b->values + (y - b->first) * row);
	} else {
		for (int64_t y = b->low; y < b->high; y++) {
			load_row(cut, y, b->stored);
			pe_resample_apply(
				&cut->across, 0, cut->plan->width, b->stored, 0, channels, b->across + (y - b->low) * row);
		}
		pe_resample_apply(&cut->down, b->first, b->last, b->across, b->low, row, b->values);
	}
	for (int64_t i = 0; i < (b->last - b->first) * row; i++)
		b->values[i] = (b->values[i] - cut->plan->mean[i % channels]) / cut->plan->deviation[i % channels];
}

static void store_patch(
	const struct cut *cut, const struct band *b, int64_t row, int64_t column, double *buffer)
{
	const pe_image_layout *l = &cut->plan->layout;
	int64_t step, token = row * l->columns + column;
	memset(buffer, 0, (size_t)l->width * sizeof *buffer);
	struct part part = part_of(cut->plan, row, column);
	for (int64_t py = part.top; py < part.bottom; py++) {
		int64_t y = part.y + py - part.top - b->first;
		const double *in = b->values + (y * cut->plan->width + part.x) * l->channels;
		for (int64_t px = part.left; px < part.right; px++)
			for (int64_t c = 0; c < l->channels; c++)
				buffer[place_of(cut->plan, c, py, px, &step)] = *in++;
	}
	pe_store_f64(pe_tensor_row(cut->out, token), cut->out->dtype, cut->out->strides[1], buffer, 1, l->width);
}

static pe_status compute_row(pe_context *worker, void *arg, int64_t row)
{
	const struct cut *cut = arg;
	const pe_image_layout *l = &cut->plan->layout;
	struct band b = {0};
	int64_t top = row * l->patch + l->crop_top - l->pad_top;
	b.first = pe_min(pe_max(top, 0), cut->plan->height);
	b.last = pe_max(pe_min(top + l->patch, cut->plan->height), b.first);
	if (cut->down.first && b.last > b.first)
		pe_resample_span(&cut->down, b.first, b.last, &b.low, &b.high);
	double *buffer = pe_alloc(worker, l->width, sizeof *buffer);
	pe_status status = buffer ? allocate_band(worker, cut, &b) : PE_ERR_NOMEM;
	if (status == PE_OK) {
		if (b.last > b.first)
			fill_band(cut, &b);
		for (int64_t column = 0; column < l->columns; column++)
			store_patch(cut, &b, row, column, buffer);
	}
	pe_free(worker, b.across);
	pe_free(worker, b.stored);
	pe_free(worker, b.values);
	pe_free(worker, buffer);
	return status;
}

/* ---- the calls ---------------------------------------------------------------------- */

pe_status pe_image_get_layout(const pe_image *image, const pe_params *params, pe_image_layout *out)
{
	struct pe_patch_plan plan;
	if (!image || !out)
		return PE_ERR_ARGUMENT;
	PE_TRY(pe_patch_plan_make(image, params, &plan));
	*out = plan.layout;
	return PE_OK;
}

static pe_status run_cut(struct cut *cut)
{
	pe_context *ctx = cut->image->ctx;
	const pe_image_layout *l = &cut->plan->layout;
	if (takes_table(cut)) {
		PE_TRY(make_table(cut));
		return pe_parallel(ctx, l->rows, look_up_row, cut, "patches");
	}
	if (l->resized_height > 0) {
		PE_TRY(
			pe_resample_make(ctx, &cut->plan->rule, cut->image->info.height, cut->plan->height, &cut->down));
		PE_TRY(
			pe_resample_make(ctx, &cut->plan->rule, cut->image->info.width, cut->plan->width, &cut->across));
	}
	return pe_parallel(ctx, l->rows, compute_row, cut, "patches");
}

pe_status pe_image_tokens(const pe_image *image, const pe_params *params, const pe_tensor *out)
{
	struct pe_patch_plan plan;
	if (!image || !out)
		return PE_ERR_ARGUMENT;
	PE_TRY(pe_patch_plan_make(image, params, &plan));
	PE_TRY(pe_patch_plan_take_alpha(image, &plan));
	const int64_t shape[] = {plan.layout.rows * plan.layout.columns, plan.layout.width};
	PE_TRY(pe_tensor_check_output(image->ctx, out, "out", PE_F64, 2, shape));
	struct cut cut = {.image = image, .plan = &plan, .out = out};
	pe_status status = run_cut(&cut);
	pe_free(image->ctx, cut.table);
	pe_resample_free(image->ctx, &cut.down);
	pe_resample_free(image->ctx, &cut.across);
	return status;
}
