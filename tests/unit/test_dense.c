/* SPDX-License-Identifier: BSD-2-Clause
 * Dense eigenproblems, also one that LAPACK's divide and conquer gives up on. */
#include "xt.h"

#include <math.h>

#include "context.h"
#include "linalg/dense.h"

#define N 26

/* A tridiagonal matrix in which dsyevd of LAPACK 3.11 finds no root (info 53), its values in pairs that are
 * equal but for rounding. It came up as a projection on a Krylov space. */
static const double diagonal[N] = {-0.00712637232730419, -0.00569999203242643, -0.0070906992205435,
	-0.00834095930684749, 0.00572940735308906, -0.00524238502986643, -0.00361092649930306,
	0.000696301967972668, -0.00868126092445295, 0.00833801881676268, -0.00828631028257623,
	-0.00363578808276251, 0.00112832188623199, -0.00908835606539782, -0.00396849699994542,
	0.00402045118495133, 0.00145073222481643, -0.003888438054221, -0.00915220752255071, -0.00510488919314928,
	0.00515093450014961, 0.00144873456472617, -0.0038636348780273, -0.00918093064608516, 0.00145177219828979,
	-0.00919268532707079};
static const double beside[N - 1] = {-0.0016748871673364, 0.00174982104997624, -0.000793040247643163,
	-1.97058609784846e-07, -0.00596797483580613, -4.44693583376775e-05, -0.00116694590328957,
	-0.0022203529244427, 6.41718339750292e-05, 0.00043861427513584, 7.01561168974976e-07, 0.00106591298613795,
	0.00102736261003664, 3.25413547997243e-06, -0.00730279252516624, 1.42367505751758e-09,
	-7.4794488984582e-05, 0.000427918865142098, 8.05194184217268e-05, -0.00656042163835393,
	1.5498197558437e-11, -0.000127227056033537, 0.000250363883120892, -6.62632652416795e-14,
	-1.08146775286944e-05};

static void fill(double a[N * N])
{
	for (int i = 0; i < N * N; i++)
		a[i] = 0;
	for (int i = 0; i < N; i++)
		a[i * N + i] = diagonal[i];
	for (int i = 0; i + 1 < N; i++)
		a[i * N + i + 1] = a[(i + 1) * N + i] = beside[i];
}

static void solves_what_divide_and_conquer_does_not(void **state)
{
	double a[N * N], v[N * N], values[N];
	fill(a);
	fill(v);
	assert_int_equal(pe_dense_eigen(*state, N, v, values), PE_OK);
	for (int j = 0; j < N; j++) {
		assert_true(j == 0 || values[j - 1] <= values[j]);
		for (int i = 0; i < N; i++) {
			double residual = -values[j] * v[j * N + i], product = -(i == j);
			for (int l = 0; l < N; l++) {
				residual += a[i * N + l] * v[j * N + l];
				product += v[i * N + l] * v[j * N + l];
			}
			assert_true(fabs(residual) < 1e-16);
			assert_true(fabs(product) < 1e-14);
		}
	}
}

static void takes_the_lower_triangle_alone(void **state)
{
	double a[4] = {2, 1, 77, 2}, values[2];
	assert_int_equal(pe_dense_eigen(*state, 2, a, values), PE_OK);
	assert_true(fabs(values[0] - 1) < 1e-15 && fabs(values[1] - 3) < 1e-15);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(solves_what_divide_and_conquer_does_not),
		cmocka_unit_test(takes_the_lower_triangle_alone),
	};
	return xt_run(argc, argv, tests) != 0;
}
