/* SPDX-License-Identifier: BSD-2-Clause
 * Philox4x32-10, a counter-based generator (Salmon et al., "Parallel random numbers: as easy as
 * 1, 2, 3", SC 2011): number i of a stream is a function of (seed, stream, i) alone. */
#ifndef PE_RNG_H
#define PE_RNG_H

#include <stdint.h>

/* Four 32-bit words at a counter. */
void pe_rng_block(uint64_t seed, uint64_t stream, uint64_t counter, uint32_t out[4]);
/* 64 random bits: number index of a stream. */
uint64_t pe_rng_u64(uint64_t seed, uint64_t stream, uint64_t index);
/* Uniform in [0, 1), a multiple of 2^-53. */
double pe_rng_uniform(uint64_t seed, uint64_t stream, uint64_t index);
/* Standard normal, by Box and Muller. */
double pe_rng_normal(uint64_t seed, uint64_t stream, uint64_t index);
/* Numbers 0 … n - 1 of pe_rng_normal, in half the time; or first … first + n - 1, first even, modulo 2^64. */
void pe_rng_normals(uint64_t seed, uint64_t stream, int64_t n, double *out);
void pe_rng_normals_from(uint64_t seed, uint64_t stream, uint64_t first, int64_t n, double *out);

#endif
