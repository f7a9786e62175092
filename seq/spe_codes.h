/* SPDX-License-Identifier: BSD-2-Clause
 * The random codes of spe, and features times them: what of it is done for every token. */
#ifndef PE_SPE_CODES_H
#define PE_SPE_CODES_H

#include "encoder.h"

enum pe_spe_kind { PE_SPE_SINE, PE_SPE_CONV };

struct pe_spe_noise {
	const double *numbers; /* (features, rows, realizations), given or kept; NULL: drawn when needed */
	double *kept;          /* their memory, if it is the encoding's */
	int64_t rows;          /* of a feature; of conv's only those that are given count */
	bool gate;             /* a stream of its own */
};

struct pe_spe {
	enum pe_spe_kind kind;
	int64_t dim, realizations, sines, kernel;
	double *frequency, *offset, *amplitude; /* sine: (heads, dim, sines) */
	const double *filter[2];                /* conv: of queries and keys, (heads, dim, kernel) */
	double *pass, *dry;                     /* (heads, dim): of the code, and of the gate's noise or NULL */
	struct pe_spe_noise noise, gate_noise;
	uint64_t draw;
};

/* Realizations first … first + n - 1 of a row of one feature's noise (head · dim + d), where they lie or
 * drawn into scratch. */
const double *pe_spe_noise_row(const pe_encoding *e, const struct pe_spe_noise *noise, int64_t feature,
	int64_t row, int64_t first, int64_t n, double *scratch);

/* The function rotate_rows of struct pe_encoder. */
void pe_spe_rotate_rows(const pe_encoding *e, const struct pe_place *first, int64_t count, const double *in,
	int64_t width, double *out);

#endif
