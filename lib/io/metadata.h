/* SPDX-License-Identifier: BSD-2-Clause
 * A bundle's metadata as one JSON object of strings. */
#ifndef PE_METADATA_H
#define PE_METADATA_H

#include "bundle.h"
#include "io/text.h"

/* Appends {"name":"value",…}. */
pe_status pe_metadata_write(const pe_bundle *bundle, struct pe_text *text) PE_NODISCARD;
/* Sets the entries of a JSON object; values that are no strings are kept as their JSON text.
 * *is is false, and nothing is set, if the bytes are not such an object. */
pe_status pe_metadata_read(pe_bundle *bundle, const char *bytes, size_t size, bool *is) PE_NODISCARD;

#endif
