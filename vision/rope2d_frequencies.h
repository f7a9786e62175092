/* SPDX-License-Identifier: BSD-2-Clause
 * The frequencies of rope2d: powers of a base for each axis, or learned ones for each head and pair. */
#ifndef PE_ROPE2D_FREQUENCIES_H
#define PE_ROPE2D_FREQUENCIES_H

#include "encoder.h"
#include "frequency.h"

/* The option frequencies. */
enum pe_rope2d_kind { PE_ROPE2D_SHARED, PE_ROPE2D_SPLIT, PE_ROPE2D_LEARNED };

/* For bind: those of the first and of the second axis, `bands` each, by the options frequencies, base, scale
 * and periods. To be freed, after a failure too. */
pe_status pe_rope2d_frequencies(
	pe_encoding *e, int64_t bands, struct pe_frequencies frequencies[2]) PE_NODISCARD;

/* For bind: those of the first axis from the weight freqs, (heads, 2 bands), of the layer that the option
 * says; those of the second are *step numbers further on. Owned by e. Sets e->heads and e->key_heads. */
pe_status pe_rope2d_learned(
	pe_encoding *e, int64_t bands, const double **frequencies, int64_t *step) PE_NODISCARD;

#endif
