/* SPDX-License-Identifier: BSD-2-Clause
 * Arrays handed over in parts: what stands behind pe_encoding_stream.
 *
 *	PE_TRY(pe_stream_open(ctx, e, rows, outs));            // memory for so many rows of each array
 *	status = …                                             // fill outs
 *	return pe_stream_close(ctx, e, first, outs, status);   // hands them over and frees
 */
#ifndef PE_STREAM_H
#define PE_STREAM_H

#include "encoder.h"

struct pe_stream {
	const int32_t *dtypes; /* one an array; -1: not wanted */
	pe_take_rows take;
	void *opaque;
};

/* outs, one an array of e, become dense and have rows[i] rows; data NULL where e->stream does not want the
 * array. */
pe_status pe_stream_open(
	pe_context *ctx, const pe_encoding *e, const int64_t *rows, pe_tensor *outs) PE_NODISCARD;
/* If status is PE_OK, hands outs over as rows first[i] … of each array. Frees them. Returns status, or what
 * went wrong. */
pe_status pe_stream_close(pe_context *ctx, const pe_encoding *e, const int64_t *first, pe_tensor *outs,
	pe_status status) PE_NODISCARD;

#endif
