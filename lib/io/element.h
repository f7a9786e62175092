/* SPDX-License-Identifier: BSD-2-Clause
 * Arrays as files store them, and their way into a bundle. */
#ifndef PE_ELEMENT_H
#define PE_ELEMENT_H

#include "bundle.h"

enum pe_element_kind {
	PE_ELEMENT_FLOAT,
	PE_ELEMENT_BFLOAT,
	PE_ELEMENT_INT,
	PE_ELEMENT_UINT,
	PE_ELEMENT_BOOL,
	PE_ELEMENT_BYTES,  /* a string of `width` bytes */
	PE_ELEMENT_UNICODE /* a string of width/4 code points, UCS-4 */
};

struct pe_stored_array {
	const char *name;
	enum pe_element_kind kind;
	int64_t width;   /* bytes of an element */
	bool big_endian; /* of no matter where width is 1 */
	bool fortran;    /* the first dimension runs fastest */
	int32_t ndim;
	int64_t shape[PE_MAX_DIMS];
	const char *bytes; /* lives as long as the bundle */
	size_t size;
};

/* true where this machine stores the high byte first. */
bool pe_is_big_endian(void);

/* Adds a stored array to the bundle: as a view where the bytes can stay as they are, else converted.
 * Small integers become i32, u32 and u64 become i64 (a value that does not fit is refused), strings
 * become u8 with one more dimension. source and the array's name are for messages. */
pe_status pe_import_array(
	pe_bundle *bundle, const char *source, const struct pe_stored_array *array) PE_NODISCARD;

#endif
