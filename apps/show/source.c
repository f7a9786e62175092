/* SPDX-License-Identifier: BSD-2-Clause */
#include "source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the tokens stand on ------------------------------------------------------- */

static int choose_item(struct source *s)
{
	const pe_graph_report *report = pe_graph_get_report(s->input.graph);
	if (report->graphs < 1) {
		complain("%s holds no graph", s->input.text);
		return EXIT_INPUT;
	}
	if (!cli_integer(s->cli, "item", 0, report->graphs - 1, &s->on.item))
		return EXIT_USAGE;
	const int64_t *ptr = pe_graph_ptr(s->input.graph);
	if (ptr[s->on.item + 1] > ptr[s->on.item])
		return EXIT_DONE;
	complain("%s: graph %lld has no nodes", s->input.text, (long long)s->on.item);
	return EXIT_INPUT;
}

int source_stand(struct source *s)
{
	const struct input *in = &s->input;
	s->on = (struct standing){.frames = in->sides[0],
		.rows = in->sides[1],
		.columns = in->sides[2],
		.prefix = in->prefix,
		.graph = in->graph,
		.offset = in->offset,
		.token = in->graph                                  ? "node"
			: in->kind && strcmp(in->kind, "sequence") == 0 ? "position"
															: "token"};
	if (!in->graph && cli_has(s->cli, "item") && !(s->file && pe_bundle_find(s->file, "ptr", NULL)))
		return usage_error(s->cli, "--item is of graphs");
	return in->graph ? choose_item(s) : EXIT_DONE;
}

const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

static void describe(struct source *s)
{
	const struct input *in = &s->input;
	const char *name = base_name(s->file ? s->cli->operands[0] : in->text);
	if (in->graph && pe_graph_get_report(in->graph)->graphs == 1)
		snprintf(s->text, sizeof s->text, "%s: %lld nodes, %lld edges", name,
			(long long)pe_graph_get_report(in->graph)->nodes,
			(long long)pe_graph_get_report(in->graph)->edges);
	else if (in->graph)
		snprintf(s->text, sizeof s->text, "%s: graph %lld of %lld, %lld nodes", name, (long long)s->on.item,
			(long long)pe_graph_get_report(in->graph)->graphs,
			(long long)(pe_graph_ptr(in->graph)[s->on.item + 1] - pe_graph_ptr(in->graph)[s->on.item]));
	else if (in->image)
		snprintf(s->text, sizeof s->text, "%s: %lld x %lld patches of %lld x %lld pixels", name,
			(long long)in->layout.rows, (long long)in->layout.columns, (long long)in->layout.patch,
			(long long)in->layout.patch);
	else if (s->file && in->text)
		snprintf(s->text, sizeof s->text, "%s on %s", name, in->text);
	else
		snprintf(s->text, sizeof s->text, "%s", name);
	if (in->prefix > 0) {
		size_t used = strlen(s->text);
		snprintf(s->text + used, sizeof s->text - used, " after %lld prefix token%s", (long long)in->prefix,
			in->prefix == 1 ? "" : "s");
	}
}

/* ---- opening and computing ---------------------------------------------------------- */

/* Of arrays of many graphs, the rows of the one that is shown. */
void source_slice(const struct source *s, const int64_t *ptr, int64_t graphs, struct numbers *numbers)
{
	int64_t item = s->on.item;
	if (numbers->ndim == 0 || !ptr)
		return;
	if (numbers->shape[0] == ptr[graphs] && numbers->per_token)
		numbers_slice(numbers, ptr[item], ptr[item + 1]);
	else if (numbers->shape[0] == graphs && graphs > 1)
		numbers_slice(numbers, item, item + 1);
}

int source_open(struct cli *cli, const char *path, struct source *out)
{
	*out = (struct source){.cli = cli};
	int code = source_is_file(out, path) ? source_open_file(out) : source_open_jobs(out, path);
	if (code == EXIT_DONE)
		describe(out);
	return code;
}

int source_compute(struct source *source)
{
	return source->file ? source_take_file(source) : source_compute_jobs(source);
}

void source_close(struct source *source)
{
	for (int i = 0; i < source->count; i++)
		subject_free(&source->subjects[i]);
	free(source->subjects);
	tokens_close(&source->tokens);
	jobs_close(source->jobs, source->job_count);
	learned_close(&source->learned);
	pe_bundle_destroy(&source->file);
	input_close(&source->input);
}
