/* SPDX-License-Identifier: BSD-2-Clause
 * One array in a .npy file. */
#include "io/npy.h"

#include "io/formats.h"
#include "tensor.h"

pe_status pe_npy_read(
	pe_bundle *bundle, const char *array, const char *bytes, size_t size, const char *source)
{
	struct pe_stored_array stored = {.name = array};
	PE_TRY(pe_npy_parse(bundle->ctx, bytes, size, source, &stored));
	return pe_import_array(bundle, source, &stored);
}

pe_status pe_npy_check_types(const pe_bundle *bundle)
{
	for (int64_t i = 0; i < bundle->count; i++)
		if (bundle->arrays[i].tensor.dtype == PE_BF16)
			return pe_fail(bundle->ctx, PE_ERR_UNSUPPORTED,
				"%s is bf16, which .npy files have no type for; write .safetensors", bundle->arrays[i].name);
	return PE_OK;
}

pe_status pe_npy_check(const pe_bundle *bundle)
{
	if (bundle->count != 1)
		return pe_fail(bundle->ctx, PE_ERR_ARGUMENT,
			"a .npy file holds one array, not %lld; write .npz, .safetensors or a directory",
			(long long)bundle->count);
	return pe_npy_check_types(bundle);
}

pe_status pe_npy_write(pe_bundle *bundle, struct pe_sink *sink)
{
	const pe_tensor *t = &bundle->arrays[0].tensor;
	char header[PE_NPY_HEADER];
	PE_TRY(pe_sink_write(sink, header, pe_npy_header(header, t->dtype, t->ndim, t->shape)));
	return pe_sink_tensor(sink, t);
}
