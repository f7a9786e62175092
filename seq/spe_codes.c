/* SPDX-License-Identifier: BSD-2-Clause */
#include "spe_codes.h"

#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "rng.h"
#include "rotation.h"

enum { CHUNK = 256 }; /* realizations at a time: what is drawn stays on the stack */

const double *pe_spe_noise_row(const pe_encoding *e, const struct pe_spe_noise *noise, int64_t feature,
	int64_t row, int64_t first, int64_t n, double *scratch)
{
	const struct pe_spe *s = e->state;
	if (noise->numbers)
		return noise->numbers + (feature * noise->rows + row) * s->realizations + first;
	uint64_t stream = 0x73746F6368617374u + ((2 * s->draw + noise->gate) << 32) + (uint64_t)feature;
	uint64_t even = (uint64_t)(s->realizations + 1) / 2 * 2;
	pe_rng_normals_from(e->ctx->seed, stream, (uint64_t)row * even + (uint64_t)first, n, scratch);
	return scratch;
}

/* Realizations first … first + n - 1 of so many rows. */
struct part {
	const struct pe_place *at;
	int64_t count, first, n;
	const double *in; /* (count, dim) */
	double *out;      /* (count, realizations) */
};

static void add(double *out, double by, const double *noise, int64_t n)
{
	for (int64_t r = 0; r < n; r++)
		out[r] += by * noise[r];
}

static double *out_of(const struct pe_spe *s, const struct part *p, int64_t i)
{
	return p->out + i * s->realizations + p->first;
}

/* One sine of one feature: x (cos φ z + sin φ z'), φ = 2π f p + θ; keys have no θ. */
static void add_sine(const pe_encoding *e, const struct part *p, int64_t d, int64_t k)
{
	const struct pe_spe *s = e->state;
	int64_t feature = p->at->head * s->dim + d, at = feature * s->sines + k;
	double angle[PE_ROTATED_ROWS], sine[PE_ROTATED_ROWS], cosine[PE_ROTATED_ROWS], a[CHUNK], b[CHUNK];
	const double *z = pe_spe_noise_row(e, &s->noise, feature, 2 * k, p->first, p->n, a);
	const double *w = pe_spe_noise_row(e, &s->noise, feature, 2 * k + 1, p->first, p->n, b);
	const pe_domain *domain = pe_side_domain(e, p->at->side);
	for (int64_t i = 0; i < p->count; i++) {
		double turns = s->frequency[at] * pe_domain_position(domain, p->at->batch, p->at->token + i);
		angle[i] = 2 * PE_PI * (turns - floor(turns)) + (p->at->side == PE_QUERIES ? s->offset[at] : 0);
	}
	e->ctx->kernels->sincos(angle, p->count, sine, cosine);
	for (int64_t i = 0; i < p->count; i++) {
		double x = p->in[i * s->dim + d] * s->amplitude[at];
		add(out_of(s, p, i), x * cosine[i], z, p->n);
		add(out_of(s, p, i), x * sine[i], w, p->n);
	}
}

static int64_t place_of(const pe_encoding *e, const struct part *p, int64_t i)
{
	return (int64_t)pe_domain_position(pe_side_domain(e, p->at->side), p->at->batch, p->at->token + i);
}

/* One feature of tokens first … end - 1, which stand next to each other: each noise is drawn once, and
 * added where the filter reaches it, x Σ_j filter_j z_{p + j}. */
static void add_filtered(const pe_encoding *e, const struct part *p, int64_t d, int64_t first, int64_t end)
{
	const struct pe_spe *s = e->state;
	int64_t feature = p->at->head * s->dim + d, start = place_of(e, p, first);
	const double *filter = s->filter[p->at->side] + feature * s->kernel;
	double drawn[CHUNK];
	for (int64_t row = 0; row < end - first + s->kernel - 1; row++) {
		const double *z = pe_spe_noise_row(e, &s->noise, feature, start + row, p->first, p->n, drawn);
		int64_t from = pe_max(0, row - s->kernel + 1), to = pe_min(end - first, row + 1);
		for (int64_t i = from; i < to; i++)
			add(out_of(s, p, first + i), p->in[(first + i) * s->dim + d] * s->pass[feature] * filter[row - i],
				z, p->n);
	}
}

static void add_conv(const pe_encoding *e, const struct part *p, int64_t d)
{
	for (int64_t first = 0, end; first < p->count; first = end) {
		for (end = first + 1; end < p->count && place_of(e, p, end) == place_of(e, p, end - 1) + 1; end++)
			;
		add_filtered(e, p, d, first, end);
	}
}

static void add_gate(const pe_encoding *e, const struct part *p, int64_t d)
{
	const struct pe_spe *s = e->state;
	int64_t feature = p->at->head * s->dim + d;
	double drawn[CHUNK];
	const double *w = pe_spe_noise_row(e, &s->gate_noise, feature, 0, p->first, p->n, drawn);
	for (int64_t i = 0; i < p->count; i++)
		add(out_of(s, p, i), p->in[i * s->dim + d] * s->dry[feature], w, p->n);
}

static void add_part(const pe_encoding *e, const struct part *p)
{
	const struct pe_spe *s = e->state;
	for (int64_t i = 0; i < p->count; i++)
		memset(out_of(s, p, i), 0, (size_t)p->n * sizeof *p->out);
	for (int64_t d = 0; d < s->dim; d++) {
		for (int64_t k = 0; s->kind == PE_SPE_SINE && k < s->sines; k++)
			add_sine(e, p, d, k);
		if (s->kind == PE_SPE_CONV)
			add_conv(e, p, d);
		if (s->dry)
			add_gate(e, p, d);
	}
}

void pe_spe_rotate_rows(const pe_encoding *e, const struct pe_place *first, int64_t count, const double *in,
	int64_t width, double *out)
{
	const struct pe_spe *s = e->state;
	(void)width;
	for (int64_t r = 0; r < s->realizations; r += CHUNK)
		add_part(e, &(struct part){first, count, r, pe_min(CHUNK, s->realizations - r), in, out});
}
