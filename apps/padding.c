/* SPDX-License-Identifier: BSD-2-Clause */
#include "padding.h"

/* Images stand at the top left of their padding; transformers' pixel_mask is the reverse. */
static void doubt(const struct cli *cli, const char *path, const pe_tensor *mask)
{
	const unsigned char *bytes = mask->data;
	size_t size = pe_dtype_size(mask->dtype), end = 0;
	bool first = false, last = false;
	for (int32_t d = 0; d < mask->ndim; d++)
		end += (size_t)((mask->shape[d] - 1) * mask->strides[d]) * size;
	for (size_t i = 0; i < size; i++) {
		first = first || bytes[i] != 0;
		last = last || bytes[end + i] != 0;
	}
	if (first && !last)
		warn(cli, "%s: the first place is padding and the last is not: 1 means padding here", path);
}

/* Replaces the input's grid. */
static int pad(struct cli *cli, const char *path, const pe_bundle *file, struct input *input)
{
	const char *name;
	pe_tensor mask;
	pe_domain *padded;
	if (pe_bundle_count(file) != 1 || input_is_text(file, 0)) {
		complain("%s: a padding mask is one array, of bool or integers", path);
		return EXIT_INPUT;
	}
	pe_status status = pe_bundle_at(file, 0, &name, &mask);
	if (status == PE_OK)
		status = pe_domain_padded(cli->ctx, input->domain, &mask, &padded);
	if (status != PE_OK) {
		int code = report_status(cli, status);
		return code == EXIT_USAGE ? EXIT_INPUT : code;
	}
	doubt(cli, path, &mask);
	pe_domain_destroy(&input->domain);
	input->domain = padded;
	return EXIT_DONE;
}

int padding_add(struct cli *cli, struct input *input)
{
	const char *path = cli_get(cli, "padding-mask");
	pe_bundle *file;
	if (!path)
		return EXIT_DONE;
	if (input->family != PE_VISION)
		return usage_error(cli, "--padding-mask: %s is no grid or picture", input->text);
	pe_status status = pe_bundle_from_file(cli->ctx, path, NULL, &file);
	if (status != PE_OK) {
		int code = report_status(cli, status);
		return code == EXIT_USAGE ? EXIT_INPUT : code;
	}
	int code = pad(cli, path, file, input);
	pe_bundle_destroy(&file);
	return code;
}
