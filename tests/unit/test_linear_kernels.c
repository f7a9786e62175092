/* SPDX-License-Identifier: BSD-2-Clause
 * The inner loops of the sparse factorisation and of tall products, in every set of this machine, against
 * straight loops: every small size, sizes beyond one pass, and what lies around the outputs. */
#include "xt.h"

#include <math.h>
#include <string.h>

#include "rng.h"
#include "xt_kernels.h"

enum { LANES = PE_FRONT_LANES, SLACK = PE_FRONT_SLACK };

static double number(uint64_t stream, int64_t i)
{
	return 2 * pe_rng_uniform(12, stream, (uint64_t)i) - 1;
}

static void close_to(double got, double want, double scale)
{
	xt_close_f64(got, want, 0, 1e-12 * scale);
}

/* Numbers that only reading may touch beyond `n`. */
static double *with_slack(int64_t n)
{
	return xt_guarded(n + SLACK);
}

static void release_with_slack(double *data, int64_t n)
{
	for (int64_t i = n; i < n + SLACK; i++)
		assert_true(data[i] == XT_CANARY);
	xt_release_guarded(data, n + SLACK);
}

/* ---- fronts ------------------------------------------------------------------------- */

/* A block with its factor and update by straight loops. */
struct front {
	int32_t height, width, below;
	int64_t size, square;
	double *block, *factor, *update;
};

static void factor_plainly(struct front *f)
{
	int64_t h = f->height;
	for (int64_t k = 0; k < f->width; k++) {
		double *from = f->factor + k * h;
		for (int64_t j = k + 1; j < f->width; j++)
			for (int64_t i = j; i < h; i++)
				f->factor[j * h + i] -= from[i] * from[j] / from[k];
		for (int64_t j = 0; j < f->below; j++)
			for (int64_t i = j; i < f->below; i++)
				f->update[j * f->below + i] -= from[f->width + i] * from[f->width + j] / from[k];
		for (int64_t i = k + 1; i < h; i++)
			from[i] /= from[k];
	}
}

/* Pivots of either sign, so large that the others cannot make them small. */
static struct front make_front(int32_t height, int32_t width)
{
	struct front f = {.height = height, .width = width, .below = height - width};
	f.size = (int64_t)height * width;
	f.square = (int64_t)f.below * f.below;
	f.block = with_slack(f.size);
	f.factor = malloc((size_t)f.size * sizeof *f.factor);
	f.update = calloc((size_t)f.square + 1, sizeof *f.update);
	assert_non_null(f.factor);
	assert_non_null(f.update);
	for (int64_t k = 0; k < width; k++)
		for (int64_t i = 0; i < height; i++)
			f.block[k * height + i] = i < k ? XT_CANARY
				: i == k                    ? (k % 3 == 1 ? -height : height) + number(0, k)
											: number(1, k * height + i);
	memcpy(f.factor, f.block, (size_t)f.size * sizeof *f.factor);
	factor_plainly(&f);
	return f;
}

static void free_front(struct front *f)
{
	release_with_slack(f->block, f->size);
	free(f->factor);
	free(f->update);
}

/* L and D of the kernel against those of the straight loops; the block then is the factor. */
static void check_factor(const struct pe_kernels *k, struct front *f)
{
	double scratch[PE_FRONT_SCRATCH];
	assert_true(k->front_factor(f->height, f->width, f->block, scratch));
	for (int64_t j = 0; j < f->width; j++)
		for (int64_t i = j; i < f->height; i++)
			close_to(f->block[j * f->height + i], f->factor[j * f->height + i], i == j ? f->height : 1);
}

static void check_update(const struct pe_kernels *k, const struct front *f)
{
	double scratch[PE_FRONT_SCRATCH], *update = with_slack(f->square);
	k->front_update(f->height, f->width, f->block, update, scratch);
	for (int64_t j = 0; j < f->below; j++)
		for (int64_t i = j; i < f->below; i++)
			close_to(update[j * f->below + i], f->update[j * f->below + i], 1);
	release_with_slack(update, f->square);
}

/* Where row i of a block lies in x and y: those below are turned round. */
static int64_t place(const struct front *f, int64_t i)
{
	return i < f->width ? f->below + i : f->height - 1 - i;
}

/* y ← y + L D Lᵀ x, then back by L⁻¹ and (D Lᵀ)⁻¹: what was added is x again, since L beside the block is the
 * unit matrix. */
static void check_solves(const struct pe_kernels *k, const struct front *f)
{
	int64_t rows = (int64_t)f->height * LANES, below = (int64_t)f->below * LANES;
	int32_t row[2 * PE_FRONT_DEPTH + 1];
	struct pe_front front = {f->width, f->below, f->below, row, f->block};
	for (int32_t i = 0; i < f->below; i++)
		row[i] = (int32_t)place(f, f->width + i);
	double *x = xt_guarded(rows), *y = xt_guarded(rows), *plain = calloc((size_t)rows, sizeof *plain);
	assert_non_null(plain);
	for (int64_t c = 0; c < rows; c++) {
		x[c] = number(2, c);
		y[c] = number(3, c);
	}
	for (int64_t c = 0; c < rows; c++)
		plain[c] = y[c];
	for (int64_t j = 0; j < f->width; j++)
		for (int64_t r = 0; r < LANES; r++) {
			const double *l = f->factor + j * f->height;
			double sum = x[place(f, j) * LANES + r];
			for (int64_t i = j + 1; i < f->height; i++)
				sum += l[i] * x[place(f, i) * LANES + r];
			for (int64_t i = j; i < f->height; i++)
				plain[place(f, i) * LANES + r] += (i == j ? 1 : l[i]) * l[j] * sum;
		}
	k->front_multiply(&front, x, y);
	for (int64_t c = 0; c < rows; c++) {
		close_to(y[c], plain[c], f->height);
		y[c] -= number(3, c);
	}
	k->front_forward(&front, y);
	for (int64_t c = 0; c < below; c++) {
		close_to(y[c], 0, f->height);
		y[c] = x[c];
	}
	k->front_backward(&front, y);
	for (int64_t c = 0; c < rows; c++)
		close_to(y[c], x[c], 1);
	free(plain);
	xt_release_guarded(x, rows);
	xt_release_guarded(y, rows);
}

static void check_front(const struct pe_kernels *k, int32_t height, int32_t width)
{
	struct front f = make_front(height, width);
	check_factor(k, &f);
	check_update(k, &f);
	check_solves(k, &f);
	free_front(&f);
}

static void fronts(void **state)
{
	(void)state;
	for (int k = 0; xt_kernels(k); k++) {
		for (int32_t width = 1; width <= 19; width++)
			for (int32_t below = 0; below <= 19; below++)
				check_front(xt_kernels(k), width + below, width);
		check_front(xt_kernels(k), PE_FRONT_DEPTH + 75, PE_FRONT_DEPTH + 13);
		check_front(xt_kernels(k), 2 * PE_FRONT_DEPTH + 1, 2 * PE_FRONT_DEPTH);
	}
}

/* A pivot that is 0 or not a number, in the first block of columns and later. */
static void refuses_pivots(void **state)
{
	(void)state;
	for (int k = 0; xt_kernels(k); k++)
		for (int32_t at = 0; at < 20; at++)
			for (int bad = 0; bad < 2; bad++) {
				struct front f = make_front(25, 20);
				double scratch[PE_FRONT_SCRATCH];
				for (int32_t i = 0; i < f.height; i++)
					for (int32_t j = 0; j <= i && j < f.width; j++)
						if (i == at || j == at)
							f.block[j * f.height + i] = i == j && bad ? NAN : 0;
				assert_false(xt_kernels(k)->front_factor(f.height, f.width, f.block, scratch));
				free_front(&f);
			}
}

/* ---- tall products ------------------------------------------------------------------ */

static void check_tall(const struct pe_kernels *k, int64_t n, int32_t columns, int32_t others)
{
	int64_t ld = columns + 2;
	double *a = xt_guarded(n * columns), *b = xt_guarded(n * others), *c = xt_guarded(ld * others);
	for (int64_t i = 0; i < n * columns; i++)
		a[i] = number(4, i);
	for (int64_t i = 0; i < n * others; i++)
		b[i] = number(5, i);
	k->tall_dot(n, columns, a, others, b, c, ld);
	for (int64_t j = 0; j < others; j++)
		for (int64_t i = 0; i < ld; i++) {
			double sum = i < columns ? 0 : XT_CANARY;
			for (int64_t r = 0; r < n && i < columns; r++)
				sum += a[i * n + r] * b[j * n + r];
			close_to(c[j * ld + i], sum, (double)n + 1);
		}
	k->tall_subtract(n, columns, a, others, c, ld, b);
	for (int64_t j = 0; j < others; j++)
		for (int64_t r = 0; r < n; r++) {
			double left = number(5, j * n + r);
			for (int64_t i = 0; i < columns; i++)
				left -= a[i * n + r] * c[j * ld + i];
			close_to(b[j * n + r], left, (double)n + 1);
		}
	xt_release_guarded(a, n * columns);
	xt_release_guarded(b, n * others);
	xt_release_guarded(c, ld * others);
}

static void tall_products(void **state)
{
	(void)state;
	for (int k = 0; xt_kernels(k); k++)
		for (int32_t columns = 0; columns <= 9; columns++)
			for (int32_t others = 1; others <= 9; others++) {
				for (int64_t n = 1; n <= 17; n += 4)
					check_tall(xt_kernels(k), n, columns, others);
				check_tall(xt_kernels(k), 1030, columns, others);
			}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(fronts),
		cmocka_unit_test(refuses_pivots),
		cmocka_unit_test(tall_products),
	};
	return xt_run(argc, argv, tests);
}
