/* SPDX-License-Identifier: BSD-2-Clause
 * Strided views: checks, and the one place where values are rounded to a storage type. */
#ifndef PE_TENSOR_H
#define PE_TENSOR_H

#include "context.h"

bool pe_dtype_is_float(pe_dtype dtype);
bool pe_dtype_is_integer(pe_dtype dtype); /* i64, i32, u8, bool */
/* Whether an array computed in dtype may be stored as `as`: a float in any float type, an integer in i32 or
 * i64, a bool in bool or u8. */
bool pe_dtype_holds(pe_dtype as, pe_dtype dtype);
bool pe_tensor_is_dense(const pe_tensor *tensor);
/* First byte, and one past the last byte, that a view touches. */
void pe_tensor_extent(const pe_tensor *tensor, const char **first, const char **last);

/* Whether two views, of any types, have bytes of memory in common, or may have between strides. */
bool pe_tensor_overlap(const pe_tensor *a, const pe_tensor *b);
/* Whether two tensors of the same shape are one view: the stride of a dimension of length 1 says nothing. */
bool pe_tensor_same_view(const pe_tensor *a, const pe_tensor *b);

/* Fails unless tensor is a writable output of this shape whose type can hold dtype and whose
 * elements do not overlap. */
pe_status pe_tensor_check_output(pe_context *ctx, const pe_tensor *tensor, const char *name, pe_dtype dtype,
	int32_t ndim, const int64_t *shape) PE_NODISCARD;

/* Fails unless tensor is an input that can be read: a known type and shape, memory that is there and
 * aligned, and strides that reach no further than an address can. */
pe_status pe_tensor_check_input(pe_context *ctx, const pe_tensor *tensor, const char *name) PE_NODISCARD;

/* "(3, 4)" into out, for messages. */
void pe_shape_text(char *out, size_t size, int32_t ndim, const int64_t *shape);

/* Address of element [i, j, k], or [i, j, k, 0, …]; tensor has at least three dimensions. */
static inline char *pe_tensor_at(const pe_tensor *tensor, int64_t i, int64_t j, int64_t k)
{
	int64_t offset = i * tensor->strides[0] + j * tensor->strides[1] + k * tensor->strides[2];
	return (char *)tensor->data + offset * (int64_t)pe_dtype_size(tensor->dtype);
}

/* A tensor of two dimensions as one of three, the first of length 1. */
pe_tensor pe_tensor_one_batch(const pe_tensor *tensor);

/* Of the views that the first ndim dimensions count, row by row, the address of number `index`: of runs along
 * the last dimension with ndim one less than the tensor's, of elements with all. */
char *pe_tensor_place(const pe_tensor *tensor, int32_t ndim, int64_t index);

/* Address of element [i, 0, 0, …]; tensor has at least one dimension. */
void *pe_tensor_row(const pe_tensor *tensor, int64_t i);

/* out[i] ← src[i * src_stride], rounded to nearest even, for n values from out on, step apart. */
void pe_store_f64(void *out, pe_dtype dtype, int64_t step, const double *src, int64_t src_stride, int64_t n);
void pe_store_i64(void *out, pe_dtype dtype, int64_t step, const int64_t *src, int64_t n);
/* dst[i] ← in[i * step] as double, of any type. */
void pe_load_f64(double *dst, const void *in, pe_dtype dtype, int64_t step, int64_t n);
/* dst[i] ← in[i * step]; in is of an integer type. */
void pe_load_i64(int64_t *dst, const void *in, pe_dtype dtype, int64_t step, int64_t n);

float pe_f16_to_f32(uint16_t half);
uint16_t pe_f64_to_f16(double value);  /* one rounding, to nearest even */
uint16_t pe_f64_to_bf16(double value); /* one rounding, to nearest even; NaN stays NaN */

#endif
