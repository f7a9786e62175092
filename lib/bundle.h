/* SPDX-License-Identifier: BSD-2-Clause
 * What a bundle is made of. The formats it is read from and written to are in io/. */
#ifndef PE_BUNDLE_H
#define PE_BUNDLE_H

#include "context.h"

struct pe_bundle_array {
	char *name;
	pe_tensor tensor;
	void *owned;  /* released with the bundle; NULL if the data are elsewhere */
	bool widened; /* the file has another type */
	bool awaited; /* there are no data: they come by pe_bundle_rows */
};

struct pe_bundle_entry {
	char *name;
	char *value;
};

struct pe_bundle {
	pe_context *ctx;
	int64_t count, capacity;
	struct pe_bundle_array *arrays;
	int64_t entry_count, entry_capacity;
	struct pe_bundle_entry *entries;
	char *bytes; /* the file that was read, on which the tensors are views; may be NULL */
	double sync_seconds;
	struct pe_npz_stream *stream; /* between pe_bundle_begin and pe_bundle_end, or NULL */
};

/* Adds an array whose memory, `owned` (may be NULL), becomes the bundle's; on failure it stays the
 * caller's. The name may be any path, as found in a file; else as pe_bundle_add. */
pe_status pe_bundle_adopt(
	pe_bundle *bundle, const char *name, const pe_tensor *tensor, void *owned) PE_NODISCARD;

/* Fails if an array's data are still to come. ctx takes the message. */
pe_status pe_bundle_check_data(pe_context *ctx, const pe_bundle *bundle) PE_NODISCARD;

/* What is wrong with a new array's name, as "NAME " is continued ("is there twice"), or NULL. */
const char *pe_bundle_name_fault(const pe_bundle *bundle, const char *name);

/* Is text of this size valid UTF-8, without control characters if `printable`? */
bool pe_is_utf8(const char *text, size_t size, bool printable);

#endif
