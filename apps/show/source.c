/* SPDX-License-Identifier: BSD-2-Clause */
#include "source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the tokens stand on ------------------------------------------------------- */

/* Of many graphs the one that is shown stands for the input from here on. */
static pe_status take_item(struct source *s)
{
	struct input *in = &s->input;
	pe_graph *one;
	TRY(pe_graph_select(s->cli->ctx, in->graph, s->item, &one));
	pe_domain_destroy(&in->domain);
	pe_graph_destroy(&in->graph);
	in->graph = one;
	return pe_domain_graph(s->cli->ctx, one, &in->domain);
}

static int choose_item(struct source *s)
{
	const pe_graph_report *report = pe_graph_get_report(s->input.graph);
	if (report->graphs < 1) {
		complain("%s holds no graph", s->input.text);
		return EXIT_INPUT;
	}
	if (!cli_integer(s->cli, "item", 0, report->graphs - 1, &s->item))
		return EXIT_USAGE;
	const int64_t *ptr = pe_graph_ptr(s->input.graph);
	s->graphs = report->graphs;
	s->nodes = report->nodes;
	s->first_node = ptr[s->item];
	if (ptr[s->item + 1] == ptr[s->item]) {
		complain("%s: graph %lld has no nodes", s->input.text, (long long)s->item);
		return EXIT_INPUT;
	}
	pe_status status = s->graphs > 1 ? take_item(s) : PE_OK;
	return status == PE_OK ? EXIT_DONE : report_status(s->cli, status);
}

int source_stand(struct source *s)
{
	const struct input *in = &s->input;
	if (!in->graph && cli_has(s->cli, "item") && !(s->file && pe_bundle_find(s->file, "ptr", NULL)))
		return usage_error(s->cli, "--item is of graphs");
	int code = in->graph ? choose_item(s) : EXIT_DONE;
	s->on = (struct standing){.frames = in->sides[0],
		.rows = in->sides[1],
		.columns = in->sides[2],
		.prefix = in->prefix,
		.graph = in->graph,
		.offset = in->offset,
		.token = in->graph                                  ? "node"
			: in->kind && strcmp(in->kind, "sequence") == 0 ? "position"
															: "token"};
	return code;
}

const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

static void describe_graph(struct source *s, const char *name)
{
	const pe_graph_report *report = pe_graph_get_report(s->input.graph);
	const char *file = pe_graph_file(s->input.graph, 0);
	char which[400] = "";
	if (s->graphs > 1)
		snprintf(which, sizeof which, "graph %lld of %lld%s%s, ", (long long)s->item, (long long)s->graphs,
			file ? ", of " : "", file ? file : "");
	snprintf(s->text, sizeof s->text, "%s: %s%lld nodes, %lld edges", name, which, (long long)report->nodes,
		(long long)report->edges);
}

static void describe(struct source *s)
{
	const struct input *in = &s->input;
	const char *name = base_name(s->file ? s->cli->operands[0] : in->text);
	if (in->graph)
		describe_graph(s, name);
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
