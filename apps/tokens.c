/* SPDX-License-Identifier: BSD-2-Clause */
#include "tokens.h"

#include <stdlib.h>
#include <string.h>

static bool acts(const struct job *job)
{
	return strstr(pe_encoder_sites(job->encoder), "tokens") != NULL;
}

static bool any_acts(const struct job *jobs, int count)
{
	for (int j = 0; j < count; j++)
		if (acts(&jobs[j]))
			return true;
	return false;
}

int tokens_open(struct cli *cli, const struct job *jobs, int count, struct tokens *out)
{
	const char *path = cli_get(cli, "tokens"), *name;
	*out = (struct tokens){0};
	if (!path)
		return EXIT_DONE;
	if (!any_acts(jobs, count))
		return usage_error(cli, "--tokens: none of these encoders acts on tokens");
	pe_status status = pe_bundle_from_file(cli->ctx, path, NULL, &out->file);
	if (status == PE_OK)
		status = pe_bundle_at(out->file, 0, &name, &out->features);
	return status == PE_OK ? EXIT_DONE : report_status(cli, status);
}

static pe_status apply(const struct job *job, struct tokens *tokens)
{
	const pe_tensor x = tokens->features;
	int64_t shape[PE_MAX_DIMS];
	TRY(pe_encoding_apply_shape(job->encoding, x.ndim, x.shape, shape));
	pe_tensor y = pe_tensor_dense(NULL, x.dtype, x.ndim, shape);
	int64_t bytes = pe_tensor_bytes(&y);
	y.data = bytes < 0 ? NULL : output_memory((size_t)bytes);
	if (!y.data)
		return PE_ERR_NOMEM;
	pe_status status = pe_encoding_apply(job->encoding, &x, &y);
	free(tokens->memory);
	tokens->memory = y.data;
	tokens->features = y;
	return status;
}

int tokens_apply(struct cli *cli, const struct job *jobs, int count, struct tokens *tokens)
{
	pe_status status = PE_OK;
	for (int j = 0; tokens->file && j < count && status == PE_OK; j++)
		if (acts(&jobs[j]))
			status = apply(&jobs[j], tokens);
	return status == PE_OK ? EXIT_DONE : report_status(cli, status);
}

void tokens_close(struct tokens *tokens)
{
	pe_bundle_destroy(&tokens->file);
	free(tokens->memory);
}
