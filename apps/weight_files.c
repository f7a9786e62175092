/* SPDX-License-Identifier: BSD-2-Clause */
#include "weight_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "arrays.h"

/* ---- reading ------------------------------------------------------------------------ */

int learned_open(struct cli *cli, struct learned *out)
{
	const char *path = cli_get(cli, "weights");
	*out = (struct learned){0};
	if (!path)
		return EXIT_DONE;
	pe_status status = pe_bundle_from_file(cli->ctx, path, NULL, &out->file);
	if (status != PE_OK)
		return report_status(cli, status);
	return learned_add(cli, out, out->file, "");
}

int learned_add(struct cli *cli, struct learned *learned, const pe_bundle *arrays, const char *but)
{
	pe_status status = learned->all ? PE_OK : pe_bundle_create(cli->ctx, &learned->all);
	for (int64_t i = 0; i < pe_bundle_count(arrays) && status == PE_OK; i++) {
		const char *name;
		pe_tensor tensor;
		status = pe_bundle_at(arrays, i, &name, &tensor);
		if (status != PE_OK || array_is_in(but, name))
			continue;
		if (!pe_bundle_find(learned->all, name, NULL))
			status = pe_bundle_add(learned->all, name, &tensor);
	}
	return status == PE_OK ? EXIT_DONE : report_status(cli, status);
}

void learned_close(struct learned *learned)
{
	pe_bundle_destroy(&learned->save);
	pe_bundle_destroy(&learned->all);
	pe_bundle_destroy(&learned->file);
}

/* ---- which were used ---------------------------------------------------------------- */

bool learned_is_used(const struct job *jobs, int count, const char *name)
{
	for (int j = 0; j < count; j++)
		for (int64_t i = 0; i < pe_encoding_weight_count(jobs[j].encoding); i++) {
			const char *source = pe_encoding_weight_source(jobs[j].encoding, i);
			if (source && strcmp(source, name) == 0)
				return true;
		}
	return false;
}

static bool any_is_used(const struct job *jobs, int count, const pe_bundle *arrays)
{
	for (int64_t i = 0; i < pe_bundle_count(arrays); i++) {
		const char *name;
		if (pe_bundle_at(arrays, i, &name, NULL) != PE_OK)
			continue;
		if (learned_is_used(jobs, count, name))
			return true;
	}
	return false;
}

void learned_tell(const struct cli *cli, const struct job *job)
{
	const char *missing = NULL;
	bool any = false;
	if (!pe_encoding_is_random(job->encoding))
		return;
	for (int64_t i = 0; i < pe_encoding_weight_count(job->encoding); i++) {
		const char *name;
		pe_tensor ignored;
		if (pe_encoding_weight_source(job->encoding, i))
			any = true;
		else if (!missing && pe_encoding_weight_at(job->encoding, i, &name, &ignored) == PE_OK)
			missing = name;
	}
	const char *seed = cli_get(cli, "seed");
	warn(cli, "%s: no %s given: begun as the authors do, from seed %s", pe_encoder_name(job->encoder),
		any && missing ? missing : "weights", seed ? seed : "0");
}

/* ---- writing ------------------------------------------------------------------------ */

static bool has_weight(const struct job *job, const char *name)
{
	for (int64_t i = 0; i < pe_encoding_weight_count(job->encoding); i++) {
		const char *other;
		pe_tensor ignored;
		if (pe_encoding_weight_at(job->encoding, i, &other, &ignored) == PE_OK && strcmp(other, name) == 0)
			return true;
	}
	return false;
}

static bool is_shared(const struct job *jobs, int count, int self, const char *name)
{
	for (int j = 0; j < count; j++)
		if (j != self && has_weight(&jobs[j], name))
			return true;
	return false;
}

static pe_status add_weights(pe_bundle *bundle, const struct job *jobs, int count, int self)
{
	const struct job *job = &jobs[self];
	for (int64_t i = 0; i < pe_encoding_weight_count(job->encoding); i++) {
		const char *name, *prefix = job->prefix;
		pe_tensor view;
		TRY(pe_encoding_weight_at(job->encoding, i, &name, &view));
		if (!prefix && is_shared(jobs, count, self, name))
			prefix = pe_encoder_name(job->encoder);
		size_t size = strlen(name) + (prefix ? strlen(prefix) : 0) + 2;
		char *full = get_memory(size, 1);
		snprintf(full, size, "%s%s%s", prefix ? prefix : "", prefix ? "." : "", name);
		pe_status status = pe_bundle_add(bundle, full, &view);
		free(full);
		TRY(status);
	}
	return PE_OK;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;
	if (!a || !b)
		return false;
	if (strcmp(a, b) == 0)
		return true;
	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int prepare_save(struct cli *cli, struct learned *learned, const struct job *jobs, int count,
	const char *output, const char *input)
{
	const char *path = cli_get(cli, "save-weights");
	size_t length = strlen(path);
	if (length > 4 && (strcmp(path + length - 4, ".npy") == 0 || strcmp(path + length - 4, ".tsv") == 0))
		return usage_error(
			cli, "--save-weights writes .npz, .safetensors or a folder/: %s has no names or types", path);
	if (is_same_file(path, output))
		return usage_error(cli, "--save-weights and -o name the same file, %s", path);
	if (is_same_file(path, cli_get(cli, "weights")) || is_same_file(path, input))
		return usage_error(cli, "--save-weights %s is a file that is read", path);
	pe_status status = pe_bundle_create(cli->ctx, &learned->save);
	for (int j = 0; j < count && status == PE_OK; j++)
		status = add_weights(learned->save, jobs, count, j);
	if (status == PE_OK && pe_bundle_count(learned->save) == 0) {
		warn(cli, "--save-weights: none of these encoders has weights, so that %s is not written", path);
		pe_bundle_destroy(&learned->save);
		return EXIT_DONE;
	}
	if (status == PE_OK)
		status = pe_bundle_set_metadata(learned->save, "posenc", pe_version());
	if (status == PE_OK)
		status = pe_bundle_check(learned->save, path, NULL);
	return status == PE_OK ? EXIT_DONE : report_status(cli, status);
}

int learned_check(struct cli *cli, struct learned *learned, const struct job *jobs, int count,
	const char *output, const char *input)
{
	if (learned->file && !any_is_used(jobs, count, learned->file))
		return usage_error(cli,
			"--weights %s: none of these encoders takes any of its arrays (what stands before the names that "
			"'posenc help ENCODER' lists is said by as=PREFIX)",
			cli_get(cli, "weights"));
	if (is_same_file(output, cli_get(cli, "weights")))
		return usage_error(cli, "-o %s is the file of --weights", output);
	return cli_has(cli, "save-weights") ? prepare_save(cli, learned, jobs, count, output, input) : EXIT_DONE;
}

int learned_save(struct cli *cli, const struct learned *learned)
{
	pe_status status =
		learned->save ? pe_bundle_write(learned->save, cli_get(cli, "save-weights"), NULL) : PE_OK;
	return status == PE_OK ? EXIT_DONE : report_status(cli, status);
}
