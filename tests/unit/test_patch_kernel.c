/* SPDX-License-Identifier: BSD-2-Clause
 * Resized kernels of patch embeddings against timm, pseudo-inverses by what defines them. */
#include "xt.h"

#include "xt_attend.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pseudo_inverse.h"
#include "rng.h"
#include "tensor.h"

static double *doubles(const pe_tensor *t)
{
	double *out = malloc((size_t)pe_tensor_count(t) * sizeof *out);
	assert_non_null(out);
	pe_load_f64(out, t->data, t->dtype, 1, pe_tensor_count(t));
	return out;
}

/* A case CASE.x of the golden file, in f64, against CASE.y, and CASE.timm, which is of f32. */
static void check_case(pe_context *ctx, const pe_bundle *golden, const char *name, size_t size)
{
	char key[120];
	pe_tensor x, parts[3];
	static const char *const ends[] = {"how", "y", "timm"};
	snprintf(key, sizeof key, "%.*s.x", (int)size, name);
	assert_true(pe_bundle_find(golden, key, &x));
	for (int i = 0; i < 3; i++) {
		snprintf(key, sizeof key, "%.*s.%s", (int)size, name, ends[i]);
		assert_true(pe_bundle_find(golden, key, &parts[i]));
	}
	const int64_t *how = parts[0].data;
	pe_patch_kernel_options o = {sizeof o, how[0] ? PE_BICUBIC : PE_BILINEAR, !how[1]};
	double *in = doubles(&x), *want = doubles(&parts[1]), *single = doubles(&parts[2]);
	double *out = malloc((size_t)pe_tensor_count(&parts[1]) * sizeof *out), largest = 0;
	pe_tensor from = pe_tensor_dense(in, PE_F64, 4, x.shape),
			  to = pe_tensor_dense(out, PE_F64, 4, parts[1].shape);
	assert_int_equal(pe_patch_kernel_resize(ctx, &o, &from, &to), PE_OK);
	for (int64_t i = 0; i < pe_tensor_count(&to); i++)
		largest = fmax(largest, fabs(want[i]));
	for (int64_t i = 0; i < pe_tensor_count(&to); i++) {
		xt_close_f64(out[i], want[i], 0, 1e-12 * largest);
		xt_close_f64(out[i], single[i], 0, 5e-6 * largest);
	}
	free(in), free(want), free(single), free(out);
}

static void is_what_timm_computes(void **state)
{
	pe_bundle *golden = xt_golden_bundle(*state, "patch_kernel/patch_kernel.npz");
	int cases = 0;
	for (int64_t i = 0; i < pe_bundle_count(golden); i++) {
		const char *name;
		assert_int_equal(pe_bundle_at(golden, i, &name, NULL), PE_OK);
		size_t size = strlen(name);
		if (size < 3 || strcmp(name + size - 2, ".x") != 0)
			continue;
		check_case(*state, golden, name, size - 2);
		cases++;
	}
	assert_int_equal(cases, 9);
	pe_bundle_destroy(&golden);
}

/* A patch of one number a pixel, twice as large in each direction: the resized kernel gives the same number.
 */
static void sees_the_same_in_a_larger_patch(void **state)
{
	enum { OLD = 3, NEW = 6 };
	double kernel[OLD * OLD], larger[NEW * NEW], patch[NEW * NEW], was = 0, is = 0;
	for (uint64_t i = 0; i < OLD * OLD; i++) {
		kernel[i] = pe_rng_normal(1, 1, i);
		patch[i / OLD * NEW + i % OLD] = pe_rng_normal(1, 2, i);
		was += kernel[i] * patch[i / OLD * NEW + i % OLD];
	}
	/* Linear between centres, the edge beyond them: places -1/4, 1/4, 3/4 … of three pixels. */
	static const double matrix[NEW][OLD] = {
		{1, 0, 0}, {0.75, 0.25, 0}, {0.25, 0.75, 0}, {0, 0.75, 0.25}, {0, 0.25, 0.75}, {0, 0, 1}};
	pe_patch_kernel_options o = {sizeof o, PE_BILINEAR, 1};
	pe_tensor x = pe_tensor_dense(kernel, PE_F64, 2, (int64_t[]){OLD, OLD});
	pe_tensor y = pe_tensor_dense(larger, PE_F64, 2, (int64_t[]){NEW, NEW});
	assert_int_equal(pe_patch_kernel_resize(*state, &o, &x, &y), PE_OK);
	for (int i = 0; i < NEW * NEW; i++)
		for (int j = 0; j < OLD * OLD; j++)
			is += larger[i] * matrix[i / NEW][j / OLD] * matrix[i % NEW][j % OLD] *
				patch[j / OLD * NEW + j % OLD];
	xt_close_f64(is, was, 0, 1e-13);
}

/* The four conditions of Moore and Penrose, of matrices of any rank. */
static void check_inverse(pe_context *ctx, int64_t rows, int64_t columns, int64_t rank)
{
	double *a = calloc((size_t)(rows * columns), sizeof *a),
		   *p = malloc((size_t)(rows * columns) * sizeof *p);
	double *ap = calloc((size_t)(rows * rows), sizeof *ap),
		   *pa = calloc((size_t)(columns * columns), sizeof *pa);
	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j < columns; j++)
			for (int64_t k = 0; k < rank; k++)
				a[i * columns + j] += pe_rng_normal(2, 1, (uint64_t)(i * rank + k)) *
					pe_rng_normal(2, 2, (uint64_t)(j * rank + k));
	assert_int_equal(pe_pseudo_inverse(ctx, rows, columns, a, p), PE_OK);
	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j < columns; j++) {
			for (int64_t k = 0; k < rows; k++)
				ap[i * rows + k] += a[i * columns + j] * p[j * rows + k];
			for (int64_t k = 0; k < columns; k++)
				pa[j * columns + k] += p[j * rows + i] * a[i * columns + k];
		}
	for (int64_t i = 0; i < rows; i++)
		for (int64_t k = 0; k < rows; k++)
			xt_close_f64(ap[i * rows + k], ap[k * rows + i], 0, 1e-11);
	for (int64_t j = 0; j < columns; j++)
		for (int64_t k = 0; k < columns; k++)
			xt_close_f64(pa[j * columns + k], pa[k * columns + j], 0, 1e-11);
	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j < columns; j++) {
			double apa = 0, pap = 0;
			for (int64_t k = 0; k < rows; k++) {
				apa += ap[i * rows + k] * a[k * columns + j];
				pap += p[j * rows + k] * ap[k * rows + i];
			}
			xt_close_f64(apa, a[i * columns + j], 0, 1e-10);
			xt_close_f64(pap, p[j * rows + i], 1e-9, 1e-10);
		}
	free(a), free(p), free(ap), free(pa);
}

static void inverts_any_matrix(void **state)
{
	static const int64_t shapes[][3] = {
		{1, 1, 1}, {5, 3, 3}, {3, 5, 3}, {8, 8, 8}, {8, 8, 5}, {9, 4, 2}, {4, 9, 1}, {6, 6, 0}, {40, 16, 16}};
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		check_inverse(*state, shapes[i][0], shapes[i][1], shapes[i][2]);
}

/* A size to itself gives the kernel; other strides and types the same numbers, rounded once. */
static void takes_strides_and_types(void **state)
{
	enum { D = 3, C = 2, OLD = 4, NEW = 5 };
	static const pe_dtype types[] = {PE_F64, PE_F32, PE_F16, PE_BF16};
	double in[D * C * OLD * OLD], last[D * OLD * OLD * C], out[D * C * NEW * NEW], other[D * NEW * NEW * C];
	double held[D * C * OLD * OLD], want[D * C * NEW * NEW];
	const int64_t old[] = {D, C, OLD, OLD}, new[] = {D, C, NEW, NEW};
	for (uint64_t i = 0; i < D * C * OLD * OLD; i++) {
		double value = (double)pe_f16_to_f32(pe_f64_to_f16(pe_rng_normal(3, 1, i)));
		in[i] = round(value * 64) / 64; /* every type holds it */
		uint64_t d = i / (C * OLD * OLD), c = i / (OLD * OLD) % C, at = i % (OLD * OLD);
		last[(d * OLD * OLD + at) * C + c] = in[i];
	}
	pe_tensor x = pe_tensor_dense(in, PE_F64, 4, old), y = pe_tensor_dense(out, PE_F64, 4, new), same = x;
	same.data = held;
	assert_int_equal(pe_patch_kernel_resize(*state, NULL, &x, &same), PE_OK);
	assert_memory_equal(held, in, sizeof in);
	assert_int_equal(pe_patch_kernel_resize(*state, NULL, &x, &y), PE_OK);
	pe_tensor u = x, v = y; /* (D, height, width, C) */
	u.data = last, v.data = other;
	u.strides[1] = v.strides[1] = 1;
	u.strides[2] = OLD * C, v.strides[2] = NEW * C;
	u.strides[3] = v.strides[3] = C;
	assert_int_equal(pe_patch_kernel_resize(*state, NULL, &u, &v), PE_OK);
	for (int i = 0; i < D * C * NEW * NEW; i++) {
		int d = i / (C * NEW * NEW), c = i / (NEW * NEW) % C, at = i % (NEW * NEW);
		assert_true(other[(d * NEW * NEW + at) * C + c] == out[i]);
	}
	for (int t = 1; t < 4; t++) {
		x.dtype = y.dtype = types[t];
		x.data = held, y.data = other;
		pe_store_f64(held, types[t], 1, in, 1, D * C * OLD * OLD);
		pe_load_f64(last, held, types[t], 1, D * C * OLD * OLD);
		pe_tensor exact = pe_tensor_dense(last, PE_F64, 4, old),
				  result = pe_tensor_dense(out, PE_F64, 4, new);
		assert_int_equal(pe_patch_kernel_resize(*state, NULL, &exact, &result), PE_OK);
		assert_int_equal(pe_patch_kernel_resize(*state, NULL, &x, &y), PE_OK);
		pe_store_f64(want, types[t], 1, out, 1, D * C * NEW * NEW);
		assert_memory_equal(other, want, D * C * NEW * NEW * pe_dtype_size(types[t]));
	}
}

static void refuses_what_are_no_kernels(void **state)
{
	double in[16] = {0}, out[64] = {0};
	pe_tensor x = pe_tensor_dense(in, PE_F64, 3, (int64_t[]){1, 4, 4});
	pe_tensor y = pe_tensor_dense(out, PE_F64, 3, (int64_t[]){2, 4, 8}), inside = x;
	xt_fails(*state, pe_patch_kernel_resize(*state, NULL, &x, &y), PE_ERR_SHAPE, "");
	xt_fails(*state, pe_patch_kernel_resize(*state, NULL, &x, &inside), PE_ERR_ARGUMENT, "overlap");
	y = pe_tensor_dense(out, PE_F64, 3, (int64_t[]){1, 0, 8});
	xt_fails(*state, pe_patch_kernel_resize(*state, NULL, &x, &y), PE_ERR_SHAPE, "cannot become 0 x 8");
	y = pe_tensor_dense(out, PE_F32, 3, (int64_t[]){1, 8, 8});
	xt_fails(*state, pe_patch_kernel_resize(*state, NULL, &x, &y), PE_ERR_SHAPE, "of one float type");
	y = pe_tensor_dense(out, PE_F64, 2, (int64_t[]){8, 8});
	xt_fails(*state, pe_patch_kernel_resize(*state, NULL, &x, &y), PE_ERR_SHAPE, "as many dimensions");
	y = pe_tensor_dense(out, PE_F64, 3, (int64_t[]){1, 8, 8});
	pe_patch_kernel_options o = {sizeof o, (pe_interpolation)7, 0};
	xt_fails(*state, pe_patch_kernel_resize(*state, &o, &x, &y), PE_ERR_RANGE, "number 7");
	assert_int_equal(pe_patch_kernel_resize(NULL, NULL, &x, &y), PE_ERR_ARGUMENT);
	pe_tensor empty_x = pe_tensor_dense(in, PE_F64, 3, (int64_t[]){0, 4, 4}), empty_y = empty_x;
	empty_y.data = out;
	assert_int_equal(pe_patch_kernel_resize(*state, NULL, &empty_x, &empty_y), PE_OK);
	const int64_t many = INT64_C(1) << 40;
	empty_x = empty_y = pe_tensor_dense(in, PE_F64, 5, (int64_t[]){many, many, 0, 4, 4});
	empty_y.data = out;
	assert_int_equal(pe_patch_kernel_resize(*state, NULL, &empty_x, &empty_y), PE_OK);
}

static void survives_lack_of_memory(void **state)
{
	double in[16] = {1}, out[36];
	pe_tensor x = pe_tensor_dense(in, PE_F64, 2, (int64_t[]){4, 4});
	pe_tensor y = pe_tensor_dense(out, PE_F64, 2, (int64_t[]){6, 6});
	struct xt_shortage s = {0};
	while (xt_shortage_next(&s)) {
		xt_shortage_begin(&s);
		xt_shortage_end(&s, pe_patch_kernel_resize(*state, NULL, &x, &y));
	}
	assert_true(s.failed > 7);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_timm_computes),
		cmocka_unit_test(sees_the_same_in_a_larger_patch),
		cmocka_unit_test(inverts_any_matrix),
		cmocka_unit_test(takes_strides_and_types),
		cmocka_unit_test(refuses_what_are_no_kernels),
		cmocka_unit_test(survives_lack_of_memory),
	};
	return xt_run(argc, argv, tests);
}
