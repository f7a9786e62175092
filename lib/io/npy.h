/* SPDX-License-Identifier: BSD-2-Clause
 * The header of numpy's .npy (numpy/lib/format.py, versions 1.0 to 3.0). */
#ifndef PE_NPY_H
#define PE_NPY_H

#include "io/element.h"

/* Fills kind, width, order, shape, bytes and size from .npy data. Fails with PE_ERR_FORMAT, or
 * PE_ERR_UNSUPPORTED for types that have no numbers in them; messages name source and array->name. */
pe_status pe_npy_parse(pe_context *ctx, const char *bytes, size_t size, const char *source,
	struct pe_stored_array *array) PE_NODISCARD;

#define PE_NPY_HEADER 256 /* bytes that any header we write fits in */

/* The header of a dense row-major array, version 1.0, padded so that the data start at a multiple
 * of 64; returns its size, at most PE_NPY_HEADER. dtype is not PE_BF16, which has no .npy type. */
size_t pe_npy_header(char *out, pe_dtype dtype, int32_t ndim, const int64_t *shape);

/* Fails if an array of the bundle has a type that .npy lacks. */
pe_status pe_npy_check_types(const pe_bundle *bundle) PE_NODISCARD;

#endif
