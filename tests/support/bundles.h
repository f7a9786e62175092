/* SPDX-License-Identifier: BSD-2-Clause
 * Bundles for the tests of the file formats. Include xt.h first. */
#ifndef XT_BUNDLES_H
#define XT_BUNDLES_H

#include "posenc.h"

/* One array of every type but bf16, with dimensions from 0 to 4 and one of no elements; names
 * "f64", "f32", …, "scalar", "empty". Each value is a function of its place. */
pe_bundle *xt_bundle(pe_context *ctx);
/* Adds a bf16 array, "bf16". */
void xt_add_bf16(pe_bundle *bundle);

/* Fails the test unless both hold the same arrays, bit for bit and in any order, and metadata. */
void xt_same_bundles(const pe_bundle *a, const pe_bundle *b);

/* tests/golden/arrays/NAME as a bundle; fails the test if it cannot be read. */
pe_bundle *xt_golden(pe_context *ctx, const char *name);
/* Fails the test unless the array of this name has this type and shape, and the values that
 * tests/golden/make_arrays.py gives: `file_type` is 'f', 'i', 'u' or 'b'. */
void xt_golden_array(const pe_bundle *bundle, const char *name, char file_type, pe_dtype dtype, int32_t ndim,
	const int64_t *shape);
/* tests/golden/arrays/NAME must be refused with this status and text. */
void xt_golden_refused(pe_context *ctx, const char *name, pe_status status, const char *text);

/* DIRECTORY/NAME in the temporary folder; valid until the next call but three. */
const char *xt_path(const char *name);
/* Writes or reads a whole file; the bytes are freed by free(). */
void xt_write_file(const char *path, const void *bytes, size_t size);
char *xt_read_file(const char *path, size_t *size);
/* Entries of a directory, "." and ".." not counted. */
int xt_entries(const char *path);

#endif
