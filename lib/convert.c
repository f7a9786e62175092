/* SPDX-License-Identifier: BSD-2-Clause
 * Values between double, int64_t and the storage types. */
#include <string.h>

#include "tensor.h"

static uint64_t bits_of(double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static double double_of(uint64_t bits)
{
	double value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

static float float_of(uint32_t bits)
{
	float value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

/* A double as a 16-bit float with `mantissa` stored bits and exponent bias `bias`. */
static inline uint16_t narrow(double value, int mantissa, int bias)
{
	const uint64_t infinity = (uint64_t)0x7ff << 52;
	const int shift = 52 - mantissa;
	uint64_t bits = bits_of(value), magnitude = bits & ~((uint64_t)1 << 63);
	uint64_t sign = bits >> 48 & 0x8000, top = (uint64_t)(2 * bias + 1) << mantissa;
	if (magnitude > infinity) /* the quiet bit keeps a NaN from becoming an infinity */
		return (uint16_t)(sign | top | (uint64_t)1 << (mantissa - 1) |
			(magnitude >> shift & (((uint64_t)1 << mantissa) - 1)));
	if (magnitude >= (uint64_t)(1023 + bias + 1) << 52)
		return (uint16_t)(sign | top);
	if (magnitude >= (uint64_t)(1023 - bias + 1) << 52) {
		uint64_t rebased = magnitude - ((uint64_t)(1023 - bias) << 52);
		uint64_t nearly_half = ((uint64_t)1 << (shift - 1)) - 1;
		return (uint16_t)(sign | (rebased + nearly_half + (rebased >> shift & 1)) >> shift);
	}
	/* Subnormal: next to this number, doubles are as far apart as the subnormals are. */
	uint64_t ruler = (uint64_t)(1023 + 53 - bias - mantissa) << 52;
	return (uint16_t)(sign | (bits_of(double_of(magnitude) + double_of(ruler)) - ruler));
}

uint16_t pe_f64_to_f16(double value)
{
	return narrow(value, 10, 15);
}

uint16_t pe_f64_to_bf16(double value)
{
	return narrow(value, 7, 127);
}

float pe_f16_to_f32(uint16_t half)
{
	uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 0x1f, mantissa = half & 0x3ff;
	if (exponent == 0)
		return (sign ? -0x1p-24f : 0x1p-24f) * (float)mantissa;
	if (exponent == 0x1f)
		return float_of(sign | 0x7f800000 | mantissa << 13);
	return float_of(sign | (exponent + 127 - 15) << 23 | mantissa << 13);
}

static void store_f32(float *out, int64_t step, const double *src, int64_t stride, int64_t n)
{
	int64_t i = 0;
	/* Blocks of known length become vector instructions. */
	if (step == 1 && stride == 1)
		for (; i + 8 <= n; i += 8)
			for (int64_t j = 0; j < 8; j++)
				out[i + j] = (float)src[i + j];
	for (; i < n; i++)
		out[i * step] = (float)src[i * stride];
}

static void store_f64(double *out, int64_t step, const double *src, int64_t stride, int64_t n)
{
	if (step == 1 && stride == 1)
		memmove(out, src, (size_t)n * sizeof *out);
	else
		for (int64_t i = 0; i < n; i++)
			out[i * step] = src[i * stride];
}

void pe_store_f64(void *out, pe_dtype dtype, int64_t step, const double *src, int64_t src_stride, int64_t n)
{
	uint16_t *half = out;
	if (n <= 0)
		return;
	switch (dtype) {
	case PE_F64:
		store_f64(out, step, src, src_stride, n);
		break;
	case PE_F32:
		store_f32(out, step, src, src_stride, n);
		break;
	case PE_F16:
		for (int64_t i = 0; i < n; i++)
			half[i * step] = pe_f64_to_f16(src[i * src_stride]);
		break;
	case PE_BF16:
		for (int64_t i = 0; i < n; i++)
			half[i * step] = pe_f64_to_bf16(src[i * src_stride]);
		break;
	default: /* pe_tensor_check_output lets no integer type come here */
		break;
	}
}

void pe_store_i64(void *out, pe_dtype dtype, int64_t step, const int64_t *src, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		if (dtype == PE_I64)
			((int64_t *)out)[i * step] = src[i];
		else if (dtype == PE_I32)
			((int32_t *)out)[i * step] = (int32_t)src[i];
		else if (dtype == PE_U8)
			((uint8_t *)out)[i * step] = (uint8_t)src[i];
		else if (dtype == PE_BOOL)
			((uint8_t *)out)[i * step] = src[i] != 0;
	}
}

static void load_f32(double *dst, const float *in, int64_t step, int64_t n)
{
	int64_t i = 0;
	if (step == 1)
		for (; i + 8 <= n; i += 8)
			for (int64_t j = 0; j < 8; j++)
				dst[i + j] = (double)in[i + j];
	for (; i < n; i++)
		dst[i] = (double)in[i * step];
}

void pe_load_f64(double *dst, const void *in, pe_dtype dtype, int64_t step, int64_t n)
{
	const uint16_t *half = in;
	if (dtype == PE_F32) {
		load_f32(dst, in, step, n);
		return;
	}
	for (int64_t i = 0; i < n; i++) {
		if (dtype == PE_F64)
			dst[i] = ((const double *)in)[i * step];
		else if (dtype == PE_F16)
			dst[i] = (double)pe_f16_to_f32(half[i * step]);
		else if (dtype == PE_BF16)
			dst[i] = (double)float_of((uint32_t)half[i * step] << 16);
		else if (dtype == PE_I64)
			dst[i] = (double)((const int64_t *)in)[i * step];
		else if (dtype == PE_I32)
			dst[i] = (double)((const int32_t *)in)[i * step];
		else
			dst[i] = (double)((const uint8_t *)in)[i * step];
	}
}

void pe_load_i64(int64_t *dst, const void *in, pe_dtype dtype, int64_t step, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		if (dtype == PE_I64)
			dst[i] = ((const int64_t *)in)[i * step];
		else if (dtype == PE_I32)
			dst[i] = ((const int32_t *)in)[i * step];
		else
			dst[i] = ((const uint8_t *)in)[i * step];
	}
}
