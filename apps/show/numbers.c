/* SPDX-License-Identifier: BSD-2-Clause */
#include "numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double half(uint16_t bits)
{
	int exponent = bits >> 10 & 31, fraction = bits & 1023;
	double value = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
	if (exponent == 31)
		value = fraction ? NAN : INFINITY;
	return bits >> 15 ? -value : value;
}

static double upper_half(uint16_t bits)
{
	uint32_t word = (uint32_t)bits << 16;
	float value;
	memcpy(&value, &word, sizeof value);
	return value;
}

static double element(const pe_tensor *t, int64_t i)
{
	switch (t->dtype) {
	case PE_F64:
		return ((const double *)t->data)[i];
	case PE_F32:
		return ((const float *)t->data)[i];
	case PE_F16:
		return half(((const uint16_t *)t->data)[i]);
	case PE_BF16:
		return upper_half(((const uint16_t *)t->data)[i]);
	case PE_I64:
		return (double)((const int64_t *)t->data)[i];
	case PE_I32:
		return ((const int32_t *)t->data)[i];
	default:
		return ((const unsigned char *)t->data)[i];
	}
}

/* Where entry i, counted row by row, lies. */
static int64_t place(const pe_tensor *t, int64_t i)
{
	int64_t offset = 0;
	for (int32_t d = t->ndim - 1; d >= 0; d--) {
		offset += i % t->shape[d] * t->strides[d];
		i /= t->shape[d];
	}
	return offset;
}

struct numbers numbers_copy(const char *name, const pe_tensor *tensor)
{
	int64_t count = pe_tensor_count(tensor);
	struct numbers out = {.name = copy_text(name, strlen(name)), .ndim = tensor->ndim};
	memcpy(out.shape, tensor->shape, sizeof out.shape);
	out.whole = tensor->dtype >= PE_I64;
	out.values = get_memory((size_t)count, sizeof *out.values);
	for (int64_t i = 0; i < count; i++)
		out.values[i] = element(tensor, place(tensor, i));
	return out;
}

struct numbers numbers_take(const char *name, pe_tensor *tensor)
{
	if (tensor->dtype != PE_F64)
		return numbers_copy(name, tensor);
	struct numbers out = {
		.name = copy_text(name, strlen(name)), .values = tensor->data, .ndim = tensor->ndim};
	memcpy(out.shape, tensor->shape, sizeof out.shape);
	tensor->data = NULL;
	return out;
}

void numbers_free(struct numbers *numbers)
{
	free(numbers->name);
	free(numbers->values);
}

int64_t numbers_count(const struct numbers *numbers)
{
	int64_t count = 1;
	for (int32_t d = 0; d < numbers->ndim; d++)
		count *= numbers->shape[d];
	return count;
}

int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	if (x->value < y->value || x->value > y->value)
		return x->value < y->value ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}
