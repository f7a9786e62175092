/* SPDX-License-Identifier: BSD-2-Clause
 * Encoders that rotate pairs of channels by an angle that depends on the position: rope, xpos, rope2d,
 * mrope. Such an encoder writes turn, and its bind ends with pe_rotation_declare. They yield cos and sin
 * (tokens, pairs), and at the site rotate a' = a cos - b sin,  b' = a sin + b cos. */
#ifndef PE_ROTATION_H
#define PE_ROTATION_H

#include "encoder.h"

/* The first member of such an encoder's state. */
struct pe_rotation {
	int64_t pairs;
	/* Pair t is channels (2t, 2t + 1), or, if half > 0, (c, c + half), c = 2 half (t / half) + t % half:
	 * halves if half ≥ pairs, else halves within each block of half pairs. Channels in no pair stay. */
	int64_t half;
	int64_t start; /* all these channels counted from this one on */
	int64_t width; /* of a head; 0: any that holds all pairs */
	bool per_head; /* whether angles differ between heads: bind sets e->heads, and e->key_heads to as many */
	bool per_side; /* whether queries and keys are turned differently, as by xpos' scale */
	/* Writes the cosines and sines of pairs first … first + count - 1, times what scales them: the same
	 * for a pair however a row is cut, which is 64 pairs at a time or all at once. Asked for
	 * PE_VALUES, which are never turned, it writes what the arrays hold: what queries and keys share. Never
	 * asked for tokens without a place. Called from several threads. */
	void (*turn)(const pe_encoding *e, const struct pe_place *at, int64_t first, int64_t count,
		double *cosine, double *sine);
};

/* Declares cos and sin of the keys' tokens, (tokens, pairs), with a first dimension of batches where
 * positions differ between them, and of heads where angles do. At the end of bind. */
pe_status pe_rotation_declare(pe_encoding *e) PE_NODISCARD;

/* The functions of struct pe_encoder. */
pe_status pe_rotation_compute(pe_encoding *e, const pe_tensor *outs);
void pe_rotation_rotate(
	const pe_encoding *e, const struct pe_place *at, const double *in, int64_t width, double *out);
pe_status pe_rotation_width(pe_encoding *e, pe_side side, int64_t width, int64_t *out);

/* turn, and the identity for tokens without a place. */
void pe_rotation_turn(const pe_encoding *e, const struct pe_place *at, int64_t first, int64_t count,
	double *cosine, double *sine);

/* Turns pairs first … first + count - 1 of a row in place. */
void pe_rotation_pairs(const struct pe_rotation *r, const double *cosine, const double *sine, int64_t first,
	int64_t count, double *row);

/* Queries or keys x (batch, heads, tokens, width) as a whole, into y of that shape, which is x or apart
 * from it; float types, also two different ones. Rows of f32 are turned in single precision, by turns
 * that were rounded once; all others in double. The shapes have been checked. */
pe_status pe_rotation_apply(
	pe_encoding *e, pe_side side, const pe_tensor *x, const pe_tensor *y) PE_NODISCARD;

/* The rotation of an encoding of this kind, or NULL: such may go by pe_rotation_apply. */
static inline const struct pe_rotation *pe_rotation_of(const pe_encoding *e)
{
	return e->encoder->rotate == pe_rotation_rotate ? e->state : NULL;
}

/* The first channel of pair t, counted from start; its other one is half, or 1, further on. */
static inline int64_t pe_rotation_channel(const struct pe_rotation *r, int64_t t)
{
	return r->half > 0 ? t / r->half * 2 * r->half + t % r->half : 2 * t;
}

/* The domain on which vectors of this side stand. */
static inline const pe_domain *pe_side_domain(const pe_encoding *e, pe_side side)
{
	return side == PE_QUERIES ? e->queries : e->domain;
}

#endif
