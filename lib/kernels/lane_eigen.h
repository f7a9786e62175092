/* SPDX-License-Identifier: BSD-2-Clause
 * Eigenpairs of many small symmetric matrices, one a SIMD lane. A register of `width` lanes is a
 * pack, a batch is `packs` of them; lane l of a batch is lane l % width of pack l / width. Matrices
 * of different order share a batch: a smaller one is followed by zeros, which change no bit of it.
 *
 * A matrix M of order N + 1 comes with its null vector z: the reflector I - β h hᵀ sends z to a
 * multiple of the last unit vector, and leaves a matrix of order N in the other coordinates. */
#ifndef PE_LANE_EIGEN_H
#define PE_LANE_EIGEN_H

#include <stdbool.h>
#include <stdint.h>

/* The most that packs × width is in any set. */
#define PE_LANE_MAX 64

/* Of each vector the first entry, in row order, of at least 1 less this times the largest is positive. */
#define PE_LANE_SIGN_TIE 1e-6

/* All arrays are 64-byte aligned. An index i of "packs × i" is packed inside each pack: element i of
 * lane l is at ((l / width) · extent + i) · width + l % width. "i × lanes": at i · lanes + l. In a, h and w
 * smaller matrices of a pack are followed by zeros, up to the largest order in the pack. */
struct pe_lane_batch {
	int32_t order;             /* largest of the lanes, 1 or more; N below */
	int32_t packs;             /* those that are not empty, 1 or more; they come first */
	const int32_t *orders;     /* lanes: N of each, 0 where the lane is empty */
	double *a;                 /* packs × N (N+1) / 2: rows of the lower triangle of M without its last row;
								* destroyed */
	double *h, *w;             /* packs × N: M - h wᵀ - w hᵀ is the deflated matrix; w is destroyed */
	const double *h_last;      /* lanes: the last entry of h */
	const double *h_beta;      /* lanes */
	double *beta;              /* packs × N: scratch */
	double *d, *e;             /* (N + 1) × lanes: scratch, the tridiagonal matrix from row 1 on */
	double *shifted, *squares; /* (N + 4) × lanes: scratch */
	int32_t wanted;     /* eigenvalues: of a lane of many more the smallest so many are enough, if … */
	const double *gaps; /* lanes: … the next is further away from them than this */
	double *values;     /* (N + 4) × lanes: eigenvalues from row 2 on, infinite where there is none */
	double *sum, *sum_squares; /* lanes: Σλ, Σλ² over all eigenvalues, whether or not they were found */
	int32_t sorted;            /* the smallest so many eigenvalues are to be in ascending order: more than
								* wanted, or all */
	bool *failed;              /* lanes: set where there was no convergence */

	/* Used by pe_lane_vectors_fn. */
	const int32_t *counts;    /* lanes: pairs to write, at most the lane's order; 0: nothing */
	int32_t count, sweeps;    /* largest of the lanes; room in rotations, per pack */
	double *rotations;        /* packs × sweeps · N · 2 */
	int32_t *lengths, *until; /* sweeps; packs · count: scratch */
	double *vectors;          /* one pack × C · N with count ≤ C = 4 i: scratch */
	double *last;             /* one pack × C: scratch */
	double *orthogonality;    /* lanes: the largest |VᵀV - I| */
	double *const *out;       /* lanes: entry of node i in vector j goes to [i · stride + j] */
	const int32_t
		*strides; /* lanes: ≥ count, a multiple of 8; 0 where that is 0; what is between is set to 0 */
	double *const *final; /* lanes: eigenvalues of the vectors, count of each, not yet sorted */
};

/* Tridiagonalises and finds eigenvalues, all or enough of them: then it is proved that they are the smallest.
 * Needs rows `sorted` of values in order. */
typedef void pe_lane_values_fn(struct pe_lane_batch *batch);
/* After the former: the vectors of the smallest counts[l] eigenvalues. Where values of a lane are
 * needed beyond `sorted`, the caller has put them in order. */
typedef void pe_lane_vectors_fn(struct pe_lane_batch *batch);

/* A sparse symmetric matrix as in struct pe_eigen_problem, and vectors in rows. */
struct pe_lane_pairs {
	int32_t n, count, stride; /* stride is a multiple of 8 */
	double scale;             /* of the residual, so that its square can be taken */
	const int64_t *row;
	const int32_t *col;
	const double *val, *diag;
	const double *values;  /* stride, 0 from count on */
	const double *vectors; /* n × stride, 0 from count on */
};

/* The largest scale · ‖Mv - λv‖₂; NaN if there is one. */
typedef double pe_lane_check_fn(const struct pe_lane_pairs *pairs);

#endif
