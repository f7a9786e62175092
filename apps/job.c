/* SPDX-License-Identifier: BSD-2-Clause */
#include "job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One key=value of a --with; `as` is the program's own. */
static int set_option(struct cli *cli, struct job *job, const char *text, size_t size)
{
	char *pair = copy_text(text, size);
	char *value = strchr(pair, '=');
	int code = EXIT_DONE;
	if (!value || value == pair) {
		code = usage_error(
			cli, "--with %s: \"%s\" is not of the form key=value", pe_encoder_name(job->encoder), pair);
		free(pair);
		return code;
	}
	*value++ = '\0';
	if (strcmp(pair, "as") == 0) {
		job->prefix = copy_text(value, strlen(value));
	} else if (pe_params_set(job->params, pair, value) != PE_OK) {
		complain("--with %s", pe_context_message(cli->ctx));
		complain("see 'posenc help %s'", pe_encoder_name(job->encoder));
		code = EXIT_USAGE;
	}
	free(pair);
	return code;
}

/* Does a key stand before `at` already? The keys begin behind `options` and behind each ','. */
static bool is_repeated(const char *options, const char *at)
{
	size_t size = strcspn(at, "=,");
	for (const char *key = options + 1; key < at; key += strcspn(key, ",") + 1)
		if (strncmp(key, at, size) == 0 && key[size] == '=')
			return true;
	return false;
}

/* At -v: the options that followed from the data. */
static void tell_sizes(const struct cli *cli, const struct place *place, const struct job *job)
{
	const pe_params *bound = pe_encoding_params(job->encoding);
	for (int64_t i = 0; i < pe_params_count(bound) && cli->verbose >= 1; i++) {
		const char *name = pe_params_option(bound, i).name, *value = pe_params_get(bound, name);
		if (strcmp(value, pe_params_get(job->params, name)) != 0)
			complain("%s: %s=%s, from %s", pe_encoder_name(job->encoder), name, value, place->sizes_from);
	}
}

/* options: ":key=value,key=value", or "". */
static int set_options(struct cli *cli, struct job *job, const char *options)
{
	for (const char *at = options; *at;) {
		at++; /* ':' or ',' */
		if (is_repeated(options, at))
			return usage_error(cli, "--with %s: \"%.*s\" is given twice", pe_encoder_name(job->encoder),
				(int)strcspn(at, "=,"), at);
		size_t length = strcspn(at, ",");
		int code = set_option(cli, job, at, length);
		if (code != EXIT_DONE)
			return code;
		at += length;
	}
	return EXIT_DONE;
}

static int bind(struct cli *cli, const struct place *place, struct job *job)
{
	pe_encoding_options options = {.size = sizeof options,
		.queries = place->queries,
		.weights = place->learned->all,
		.weights_shared = !place->learned->file,
		.prefix = job->prefix,
		.sizes = place->sizes};
	pe_status status =
		pe_encoding_create(cli->ctx, job->encoder, job->params, place->domain, &options, &job->encoding);
	if (status != PE_OK)
		return report_status(cli, status);
	job->count = pe_encoding_array_count(job->encoding);
	for (int64_t i = 0; i < job->count; i++)
		if (pe_encoding_array(job->encoding, i, &job->arrays[i]) != PE_OK)
			return report_status(cli, PE_ERR_INTERNAL);
	tell_sizes(cli, place, job);
	learned_tell(cli, job);
	return EXIT_DONE;
}

static int open_job(struct cli *cli, const struct place *place, const char *text, struct job *job)
{
	size_t size = strcspn(text, ":");
	char *name = copy_text(text, size);
	job->encoder = pe_encoder_find(name);
	if (!job->encoder) {
		int code = usage_error(cli, "--with: there is no encoder \"%s\"; see 'posenc list'", name);
		free(name);
		return code;
	}
	pe_status status = pe_params_create(cli->ctx, name, &job->params);
	free(name);
	if (status != PE_OK)
		return report_status(cli, status);
	int code = set_options(cli, job, text + size);
	return code == EXIT_DONE ? bind(cli, place, job) : code;
}

/* ---- names -------------------------------------------------------------------------- */

static bool is_shared(const struct job *jobs, int count, int self, const char *name)
{
	for (int j = 0; j < count; j++)
		for (int64_t i = 0; j != self && i < jobs[j].count; i++)
			if (strcmp(jobs[j].arrays[i].name, name) == 0)
				return true;
	return false;
}

static void set_names(struct job *jobs, int count)
{
	for (int j = 0; j < count; j++)
		for (int64_t i = 0; i < jobs[j].count; i++) {
			const char *name = jobs[j].arrays[i].name, *prefix = jobs[j].prefix;
			if (!prefix && is_shared(jobs, count, j, name))
				prefix = pe_encoder_name(jobs[j].encoder);
			size_t size = strlen(name) + (prefix ? strlen(prefix) : 0) + 2;
			jobs[j].names[i] = get_memory(size, 1);
			snprintf(jobs[j].names[i], size, "%s%s%s", prefix ? prefix : "", prefix ? "." : "", name);
			jobs[j].wanted[i] = true;
		}
}

static int refuse_equal_names(struct cli *cli, const struct job *jobs, int count)
{
	for (int j = 1; j < count; j++)
		for (int64_t i = 0; i < jobs[j].count; i++)
			for (int k = 0; k < j; k++)
				for (int64_t l = 0; l < jobs[k].count; l++)
					if (strcmp(jobs[j].names[i], jobs[k].names[l]) == 0)
						return usage_error(cli, "two arrays would be called %s: give one --with an as=PREFIX",
							jobs[j].names[i]);
	return EXIT_DONE;
}

int jobs_name(struct cli *cli, struct job *jobs, int count)
{
	set_names(jobs, count);
	return refuse_equal_names(cli, jobs, count);
}

/* ---- opening ------------------------------------------------------------------------ */

static const char *const *usual_encoders(pe_family family)
{
	static const char *const seq[] = {"sinusoidal", NULL}, *const vision[] = {"axial", NULL},
							 *const graph[] = {"lap", "rwse", NULL};
	return family == PE_SEQ ? seq : family == PE_VISION ? vision : graph;
}

int jobs_open_usual(
	struct cli *cli, const struct place *place, pe_family family, struct job *jobs, int *count)
{
	const char *const *names = usual_encoders(family);
	for (; names[*count]; (*count)++) {
		int code = open_job(cli, place, names[*count], &jobs[*count]);
		if (code != EXIT_DONE) {
			(*count)++;
			return code;
		}
	}
	if (!cli->quiet)
		complain("no --with given: %s%s%s", names[0], names[1] ? " and " : "", names[1] ? names[1] : "");
	return EXIT_DONE;
}

int jobs_open(struct cli *cli, const struct place *place, struct job **jobs, int *count)
{
	int code = EXIT_DONE;
	*count = 0;
	*jobs = get_memory((size_t)cli->value_count + 2, sizeof **jobs);
	for (int i = 0; i < cli->value_count && code == EXIT_DONE; i++)
		if (strcmp(cli->values[i].name, "with") == 0) {
			code = open_job(cli, place, cli->values[i].value, &(*jobs)[*count]);
			(*count)++;
		}
	return code;
}

void jobs_close(struct job *jobs, int count)
{
	for (int j = 0; j < count; j++) {
		for (int64_t i = 0; i < jobs[j].count; i++) {
			free(jobs[j].names[i]);
			free(jobs[j].tensors[i].data);
		}
		pe_encoding_destroy(&jobs[j].encoding);
		pe_params_destroy(&jobs[j].params);
		free(jobs[j].prefix);
	}
	free(jobs);
}

/* ---- working ------------------------------------------------------------------------ */

void jobs_choose_types(struct job *jobs, int count, pe_dtype dtype)
{
	for (int j = 0; j < count; j++)
		for (int64_t i = 0; i < jobs[j].count; i++) {
			const pe_array_info *info = &jobs[j].arrays[i];
			jobs[j].tensors[i] =
				pe_tensor_dense(NULL, info->dtype == PE_F64 ? dtype : info->dtype, info->ndim, info->shape);
		}
}

static int allocate(struct job *job, int64_t i)
{
	pe_tensor *tensor = &job->tensors[i];
	int64_t bytes = pe_tensor_bytes(tensor);
	if (bytes >= 0 && (uint64_t)bytes <= SIZE_MAX - 64 && (tensor->data = output_memory((size_t)bytes)))
		return EXIT_DONE;
	complain("out of memory: the array %s needs %lld bytes", job->names[i], (long long)bytes);
	return EXIT_SYSTEM;
}

int jobs_allocate(struct job *jobs, int count)
{
	for (int j = 0; j < count; j++)
		for (int64_t i = 0; i < jobs[j].count; i++)
			if (jobs[j].wanted[i] && allocate(&jobs[j], i) != EXIT_DONE)
				return EXIT_SYSTEM;
	return EXIT_DONE;
}

static int worse(int a, int b)
{
	static const int order[] = {[EXIT_DONE] = 0,
		[EXIT_SOME] = 1,
		[EXIT_NUMERIC] = 2,
		[EXIT_INPUT] = 3,
		[EXIT_USAGE] = 4,
		[EXIT_SYSTEM] = 5};
	return order[a] > order[b] ? a : b;
}

static void name_failures(const struct job *job)
{
	const int64_t *failed = pe_encoding_failed(job->encoding);
	for (int64_t i = 0; i < pe_encoding_get_quality(job->encoding)->failed; i++)
		complain("%s: graph %lld: %s", pe_encoder_name(job->encoder), (long long)failed[i],
			pe_encoding_failure(job->encoding, i));
}

/* At -v: how right the arrays are. */
static void tell_quality(const struct cli *cli, const struct job *job)
{
	const pe_quality *q = pe_encoding_get_quality(job->encoding);
	if (cli->verbose < 1 || q->certified + q->uncertified == 0)
		return;
	complain("%s: largest residual %.2g, largest orthogonality error %.2g; %lld of %lld graphs certified to "
			 "miss no eigenvalue",
		pe_encoder_name(job->encoder), q->max_residual, q->max_orthogonality_error, (long long)q->certified,
		(long long)(q->certified + q->uncertified));
}

struct streaming {
	const struct job *job;
	pe_bundle *bundle;
};

static pe_status take_rows(
	pe_context *worker, void *opaque, int64_t array, int64_t first, const pe_tensor *rows)
{
	const struct streaming *to = opaque;
	return pe_bundle_rows(to->bundle, worker, to->job->names[array], first, rows);
}

static pe_status compute(struct job *job, pe_bundle *stream)
{
	int32_t dtypes[PE_MAX_ARRAYS];
	if (!stream)
		return pe_encoding_compute(job->encoding, job->tensors, job->count);
	for (int64_t i = 0; i < job->count; i++)
		dtypes[i] = job->wanted[i] ? (int32_t)job->tensors[i].dtype : -1;
	struct streaming to = {job, stream};
	return pe_encoding_stream(job->encoding, dtypes, job->count, take_rows, &to);
}

int jobs_compute(struct cli *cli, struct job *jobs, int count, pe_bundle *stream)
{
	int code = EXIT_DONE;
	for (int j = 0; j < count; j++) {
		cli->progress = (struct progress){0};
		jobs[j].status = compute(&jobs[j], stream);
		if (jobs[j].status == PE_ERR_PARTIAL)
			name_failures(&jobs[j]);
		else if (jobs[j].status != PE_OK)
			report_status(cli, jobs[j].status);
		tell_quality(cli, &jobs[j]);
		int one = exit_code_of(jobs[j].status);
		code = worse(
			code, one == EXIT_USAGE ? EXIT_INPUT : one); /* the options were fine: jobs_open saw to that */
	}
	return code;
}
