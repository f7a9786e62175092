/* SPDX-License-Identifier: BSD-2-Clause
 * Encoders at work on an input as what is shown. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source.h"

#define SHOWN_SITES (PE_SITE_TOKENS | PE_SITE_SEQUENCE)

static void tell_options(const struct job *job, char *out, size_t size)
{
	const pe_params *params = pe_encoding_params(job->encoding);
	for (int64_t i = 0; i < pe_params_count(params); i++) {
		pe_option_info option = pe_params_option(params, i);
		if (option_is_told(&option, pe_params_get(params, option.name)))
			add_option(out, size, option.name, pe_params_get(params, option.name));
	}
	if (pe_encoding_is_random(job->encoding))
		add_option(out, size, "weights begun at random", "");
}

static void name_subject(const struct source *s, const struct job *job, struct subject *out)
{
	int32_t sites = pe_encoder_sites(job->encoder);
	bool rows = false;
	for (int64_t i = 0; i < job->count; i++)
		rows = rows || job->arrays[i].per_token;
	snprintf(out->name, sizeof out->name, "%s", job->prefix ? job->prefix : pe_encoder_name(job->encoder));
	tell_options(job, out->options, sizeof out->options);
	out->tokens_only = (sites & SHOWN_SITES) != 0 && (sites & ~SHOWN_SITES) == 0 && !rows;
	out->on = &s->on;
}

/* Features of the nodes of all graphs: only those of the one that is shown are wanted. */
static void slice_tokens(struct source *s)
{
	pe_tensor *x = &s->tokens.given;
	if (x->ndim < 2 || x->shape[x->ndim - 2] != s->nodes)
		return;
	x->data = (char *)x->data + s->first_node * x->strides[x->ndim - 2] * (int64_t)pe_dtype_size(x->dtype);
	x->shape[x->ndim - 2] = pe_domain_tokens(s->input.domain);
}

int source_open_jobs(struct source *s, const char *path)
{
	struct cli *cli = s->cli;
	if (cli_has(cli, "grid") || cli_has(cli, "graph"))
		return usage_error(cli,
			"--%s says what a file of arrays stands on: %s is no such file, or --with is given",
			cli_has(cli, "grid") ? "grid" : "graph", path);
	int code = input_open(cli, path, &s->input);
	if (code == EXIT_DONE) /* of a folder's unreadable files reading has told; a picture is of one graph */
		code = source_stand(s);
	if (code == EXIT_DONE)
		code = tokens_read(cli, &s->input, PE_F64, &s->tokens);
	if (code == EXIT_DONE && s->tokens.wanted && s->graphs > 1)
		slice_tokens(s);
	if (code == EXIT_DONE)
		code = jobs_open_on_input(
			cli, &s->input, NULL, &s->tokens, cli_get(cli, "output"), &s->learned, &s->jobs, &s->job_count);
	if (code == EXIT_DONE)
		code = tokens_open(cli, s->jobs, s->job_count, &s->tokens);
	if (code != EXIT_DONE)
		return code;
	s->subjects = get_memory((size_t)s->job_count, sizeof *s->subjects);
	s->count = s->job_count;
	for (int j = 0; j < s->job_count; j++)
		name_subject(s, &s->jobs[j], &s->subjects[j]);
	return EXIT_DONE;
}

/* ---- computing ---------------------------------------------------------------------- */

static void take_job(struct job *job, struct subject *out)
{
	for (int64_t i = 0; i < job->count; i++) {
		if (!job->wanted[i])
			continue;
		struct numbers numbers = numbers_take(job->arrays[i].name, &job->tensors[i]);
		numbers.per_token = job->arrays[i].per_token;
		numbers.known = true;
		subject_add(out, numbers);
	}
}

static bool acts(const struct job *job)
{
	return (pe_encoder_sites(job->encoder) & SHOWN_SITES) != 0;
}

/* All encoders that act on tokens act one after the other: the first stands for them. */
static struct subject *find_acting(struct source *s)
{
	struct subject *first = NULL;
	for (int j = 0; j < s->job_count; j++) {
		if (!acts(&s->jobs[j]))
			continue;
		struct subject *subject = &s->subjects[j];
		if (!first) {
			first = subject;
			continue;
		}
		size_t used = strlen(first->name);
		snprintf(first->name + used, sizeof first->name - used, ", %s", subject->name);
	}
	return first;
}

/* What is given does not outlive it. */
static int apply_tokens(struct source *s)
{
	if (!s->tokens.wanted)
		return EXIT_DONE;
	struct subject *subject = find_acting(s);
	subject->before = numbers_copy("before", &s->tokens.given);
	int code = tokens_apply(s->cli, s->jobs, s->job_count, &s->tokens);
	if (code == EXIT_DONE)
		subject->after = numbers_copy("after", &s->tokens.encoded);
	return code;
}

static void leave_out_large(struct source *s)
{
	const char *array = cli_get(s->cli, "array"), *plot = cli_get(s->cli, "plot");
	bool bias = plot && (strcmp(plot, "bias") == 0 || strcmp(plot, "query") == 0);
	for (int j = 0; j < s->job_count; j++)
		for (int64_t i = 0; i < s->jobs[j].count; i++)
			if (s->jobs[j].arrays[i].redundant && !bias &&
				!(array && strcmp(array, s->jobs[j].names[i]) == 0))
				s->jobs[j].wanted[i] = false;
}

int source_compute_jobs(struct source *s)
{
	leave_out_large(s);
	jobs_choose_types(s->jobs, s->job_count, PE_F64);
	int code = jobs_allocate(s->jobs, s->job_count);
	if (code == EXIT_DONE)
		code = jobs_compute(s->cli, s->jobs, s->job_count, NULL);
	if (code == EXIT_DONE)
		code = apply_tokens(s);
	for (int j = 0; code == EXIT_DONE && j < s->job_count; j++)
		take_job(&s->jobs[j], &s->subjects[j]);
	return code;
}
