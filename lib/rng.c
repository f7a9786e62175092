/* SPDX-License-Identifier: BSD-2-Clause */
#include "rng.h"

#include <math.h>

#include "context.h"

static void round_once(uint32_t x[4], const uint32_t key[2])
{
	uint64_t a = (uint64_t)0xD2511F53u * x[0];
	uint64_t b = (uint64_t)0xCD9E8D57u * x[2];
	uint32_t y[4] = {
		(uint32_t)(b >> 32) ^ x[1] ^ key[0], (uint32_t)b, (uint32_t)(a >> 32) ^ x[3] ^ key[1], (uint32_t)a};
	for (int i = 0; i < 4; i++)
		x[i] = y[i];
}

void pe_rng_block(uint64_t seed, uint64_t stream, uint64_t counter, uint32_t out[4])
{
	uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
	out[0] = (uint32_t)counter;
	out[1] = (uint32_t)(counter >> 32);
	out[2] = (uint32_t)stream;
	out[3] = (uint32_t)(stream >> 32);
	for (int i = 0; i < 10; i++) {
		round_once(out, key);
		key[0] += 0x9E3779B9u;
		key[1] += 0xBB67AE85u;
	}
}

uint64_t pe_rng_u64(uint64_t seed, uint64_t stream, uint64_t index)
{
	uint32_t block[4];
	pe_rng_block(seed, stream, index / 2, block);
	int half = 2 * (int)(index % 2);
	return (uint64_t)block[half + 1] << 32 | block[half];
}

static double as_uniform(uint64_t bits)
{
	return (double)(bits >> 11) * 0x1p-53;
}

double pe_rng_uniform(uint64_t seed, uint64_t stream, uint64_t index)
{
	return as_uniform(pe_rng_u64(seed, stream, index));
}

/* The two numbers at an even index and after it. */
static void normal_pair(uint64_t seed, uint64_t stream, uint64_t even, double out[2])
{
	uint32_t block[4];
	pe_rng_block(seed, stream, even / 2, block);
	double u = as_uniform((uint64_t)block[1] << 32 | block[0]);
	double v = as_uniform((uint64_t)block[3] << 32 | block[2]);
	double radius = sqrt(-2 * log1p(-u));
	double angle = 2 * PE_PI * v;
	out[0] = radius * cos(angle);
	out[1] = radius * sin(angle);
}

double pe_rng_normal(uint64_t seed, uint64_t stream, uint64_t index)
{
	double pair[2];
	normal_pair(seed, stream, index / 2 * 2, pair);
	return pair[index % 2];
}

void pe_rng_normals_from(uint64_t seed, uint64_t stream, uint64_t first, int64_t n, double *out)
{
	double pair[2];
	for (int64_t i = 0; i < n; i += 2) {
		normal_pair(seed, stream, first + (uint64_t)i, pair);
		out[i] = pair[0];
		if (i + 1 < n)
			out[i + 1] = pair[1];
	}
}

void pe_rng_normals(uint64_t seed, uint64_t stream, int64_t n, double *out)
{
	pe_rng_normals_from(seed, stream, 0, n, out);
}
