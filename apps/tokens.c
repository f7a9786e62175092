/* SPDX-License-Identifier: BSD-2-Clause */
#include "tokens.h"

#include <stdlib.h>
#include <string.h>

static bool acts(const struct job *job)
{
	return (pe_encoder_sites(job->encoder) & (PE_SITE_TOKENS | PE_SITE_SEQUENCE)) != 0;
}

static bool any_acts(const struct job *jobs, int count)
{
	for (int j = 0; j < count; j++)
		if (acts(&jobs[j]))
			return true;
	return false;
}

/* The shape that the features have in the end; every encoder may refuse what it gets. */
static pe_status final_shape(const struct job *jobs, int count, const pe_tensor *x, int64_t *shape)
{
	memcpy(shape, x->shape, sizeof x->shape);
	for (int j = 0; j < count; j++)
		if (acts(&jobs[j]))
			TRY(pe_encoding_apply_shape(jobs[j].encoding, x->ndim, shape, shape));
	return PE_OK;
}

/* A tensor of the same type and another shape, in memory of its own; data is NULL if there is none. */
static pe_tensor allocate(const pe_tensor *x, const int64_t *shape)
{
	pe_tensor y = pe_tensor_dense(NULL, x->dtype, x->ndim, shape);
	int64_t bytes = pe_tensor_bytes(&y);
	y.data = bytes < 0 ? NULL : output_memory((size_t)bytes);
	return y;
}

static bool is_float(pe_dtype dtype)
{
	return dtype == PE_F64 || dtype == PE_F32 || dtype == PE_F16 || dtype == PE_BF16;
}

bool tokens_are_patches(const struct cli *cli)
{
	const char *path = cli_get(cli, "tokens");
	return path && strcmp(path, "patches") == 0;
}

static int read_features(struct cli *cli, const char *path, struct tokens *out)
{
	const char *name;
	pe_status status = pe_bundle_from_file(cli->ctx, path, NULL, &out->file);
	if (status == PE_OK)
		status = pe_bundle_at(out->file, 0, &name, &out->given);
	if (status != PE_OK)
		return report_status(cli, status);
	if (!is_float(out->given.dtype))
		return usage_error(
			cli, "--tokens %s: features are of a float type, not %s", path, pe_dtype_name(out->given.dtype));
	return EXIT_DONE;
}

/* The patches behind the prefix tokens, which have no pixels: theirs are 0. */
static int cut_patches(struct cli *cli, const struct input *input, pe_dtype dtype, struct tokens *out)
{
	if (!input->image)
		return usage_error(cli, "--tokens patches: %s is no picture", input->text);
	int64_t tokens = pe_domain_tokens(input->domain), width = input->layout.width;
	int64_t patches = input->layout.rows * input->layout.columns, prefix = tokens - patches;
	out->given = pe_tensor_dense(NULL, dtype, 2, (int64_t[]){tokens, width});
	int64_t bytes = pe_tensor_bytes(&out->given), row = width * (int64_t)pe_dtype_size(dtype);
	out->patches = bytes < 0 ? NULL : output_memory((size_t)bytes);
	if (!out->patches) {
		complain("out of memory: the patches are too many");
		return EXIT_SYSTEM;
	}
	out->given.data = out->patches;
	memset(out->patches, 0, (size_t)(prefix * row));
	if (prefix > 0)
		warn(cli, "--tokens patches: the %lld prefix token%s no pixels: 0 before encoding", (long long)prefix,
			prefix == 1 ? " has" : "s have");
	pe_tensor behind =
		pe_tensor_dense((char *)out->patches + prefix * row, dtype, 2, (int64_t[]){patches, width});
	pe_status status = pe_image_tokens(input->image, cli->image, &behind);
	return status == PE_OK ? EXIT_DONE : report_status(cli, status);
}

int tokens_read(struct cli *cli, const struct input *input, pe_dtype dtype, struct tokens *out)
{
	const char *path = cli_get(cli, "tokens");
	*out = (struct tokens){.wanted = path != NULL};
	if (!path)
		return EXIT_DONE;
	return tokens_are_patches(cli) ? cut_patches(cli, input, dtype, out) : read_features(cli, path, out);
}

int64_t tokens_width(const struct tokens *tokens)
{
	const pe_tensor *x = &tokens->given;
	return tokens->wanted && x->ndim >= 2 ? x->shape[x->ndim - 1] : 0;
}

int jobs_open_on_input(struct cli *cli, const struct input *input, const pe_domain *queries,
	const struct tokens *tokens, const char *output, struct learned *learned, struct job **jobs, int *count)
{
	int code = learned_open(cli, learned);
	struct place place = {.domain = input->domain,
		.queries = queries,
		.learned = learned,
		.sizes.dim = tokens_width(tokens),
		.sizes_from = tokens_are_patches(cli) ? "the size of a patch" : "the shape of the features"};
	if (code == EXIT_DONE)
		code = jobs_open(cli, &place, jobs, count);
	if (code == EXIT_DONE && *count == 0)
		code = jobs_open_usual(cli, &place, input->family, *jobs, count);
	if (code == EXIT_DONE)
		code = jobs_name(cli, *jobs, *count);
	if (code == EXIT_DONE)
		code = learned_check(cli, learned, *jobs, *count, output, cli->operands[0]);
	return code;
}

int tokens_open(struct cli *cli, const struct job *jobs, int count, struct tokens *out)
{
	int64_t shape[PE_MAX_DIMS];
	if (!out->wanted)
		return EXIT_DONE;
	bool acted_on = any_acts(jobs, count);
	if (!acted_on && !tokens_are_patches(cli))
		return usage_error(cli, "--tokens: none of these encoders acts on tokens");
	if (!acted_on) { /* the patches as they are, beside what acts in attention */
		out->encoded = out->given;
		out->patches = NULL;
		return EXIT_DONE;
	}
	pe_status status = final_shape(jobs, count, &out->given, shape);
	if (status != PE_OK)
		return report_status(cli, status);
	bool same = memcmp(shape, out->given.shape, (size_t)out->given.ndim * sizeof *shape) == 0;
	out->encoded = out->patches && same ? out->given : allocate(&out->given, shape);
	if (out->encoded.data)
		return EXIT_DONE;
	complain("out of memory: the array tokens is too large");
	return EXIT_SYSTEM;
}

static int last_acting(const struct job *jobs, int count)
{
	int last = count - 1;
	while (last > 0 && !acts(&jobs[last]))
		last--;
	return last;
}

int tokens_apply(struct cli *cli, const struct job *jobs, int count, struct tokens *tokens)
{
	if (!tokens->wanted)
		return EXIT_DONE;
	pe_status status = PE_OK;
	pe_tensor x = tokens->given;
	int last = last_acting(jobs, count);
	for (int j = 0; j <= last && status == PE_OK; j++) {
		int64_t shape[PE_MAX_DIMS];
		if (!acts(&jobs[j]))
			continue;
		status = pe_encoding_apply_shape(jobs[j].encoding, x.ndim, x.shape, shape);
		pe_tensor y = status == PE_OK && j < last ? allocate(&x, shape) : tokens->encoded;
		if (status == PE_OK)
			status = y.data ? pe_encoding_apply(jobs[j].encoding, &x, &y) : PE_ERR_NOMEM;
		if (x.data != tokens->given.data)
			free(x.data);
		x = y;
	}
	if (x.data != tokens->given.data && x.data != tokens->encoded.data)
		free(x.data);
	return status == PE_OK ? EXIT_DONE : report_status(cli, status);
}

void tokens_close(struct tokens *tokens)
{
	pe_bundle_destroy(&tokens->file);
	if (tokens->encoded.data != tokens->patches)
		free(tokens->encoded.data);
	free(tokens->patches);
}
