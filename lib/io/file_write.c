/* SPDX-License-Identifier: BSD-2-Clause
 * Files of any bytes, written as bundles are: whole or not at all. */
#include "io/file_sink.h"

pe_status pe_file_write(pe_context *context, const char *path, const void *data, size_t size)
{
	struct pe_sink sink;
	if (!context || !path || (!data && size > 0))
		return PE_ERR_ARGUMENT;
	PE_TRY(pe_sink_open(context, path, &sink));
	pe_status status = pe_sink_write(&sink, data, size);
	if (status == PE_OK)
		return pe_sink_commit(&sink);
	pe_sink_abort(&sink);
	return status;
}

pe_status pe_file_check(pe_context *context, const char *path)
{
	return context && path ? pe_sink_try(context, path) : PE_ERR_ARGUMENT;
}
