/* SPDX-License-Identifier: BSD-2-Clause
 * Inputs of many pieces: the same graphs, and the same failure, from any number of threads. */
#include "xt.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "graph.h"
#include "io/digest.h"

enum { GRAPHS = 4000 };

static const int32_t threads[] = {1, 2, 7};

/* ---- inputs ------------------------------------------------------------------------- */

/* How the files are written. */
struct style {
	const char *line_end, *comma;
	bool blank_line;    /* somewhere */
	bool weights;       /* written, and asked for */
	bool backward;      /* TU: the last graph's edges first */
	int64_t wrong_line; /* of the edges' file, from 1, or 0 */
	char wrong[16];
};

static const struct style plain = {.line_end = "\n", .comma = ","};

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

static FILE *create(const char *directory, const char *name)
{
	char path[400];
	snprintf(path, sizeof path, "%s/%s", directory, name);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	return file;
}

static const char *folder(void)
{
	static int number;
	static char directory[256];
	snprintf(directory, sizeof directory, "%s/input%d", xt_temporary(), number++);
	assert_int_equal(mkdir(directory, 0700), 0);
	return directory;
}

/* Graph g: its nodes, now and then more than bits can do, and rows, which may be loops, or listed again. */
struct sketch {
	int nodes, rows, u[400], v[400];
};

static void draw(int g, struct sketch *out)
{
	uint32_t seed = (uint32_t)g * 2654435761u + 12345u;
	out->nodes = g % 977 == 500 ? 130 + g % 7 : g % 401 == 7 ? 0 : 1 + (int)(next(&seed) % 30);
	out->rows = out->nodes == 0 ? 0 : (int)(next(&seed) % (uint32_t)(3 * out->nodes));
	for (int e = 0; e < out->rows; e++) {
		out->u[e] = (int)(next(&seed) % (uint32_t)out->nodes);
		out->v[e] = (int)(next(&seed) % (uint32_t)out->nodes);
	}
}

/* Ends a line of the file of edges; *line is its number. */
static void end_line(FILE *file, const struct style *style, int64_t *line)
{
	fputs(style->line_end, file);
	if (style->blank_line && *line == 5000)
		fputs(style->line_end, file);
	++*line;
}

static void put_edges(FILE *file, const struct style *style, const struct sketch *s, int base, int64_t *line)
{
	for (int e = 0; e < s->rows; e++) {
		if (*line == style->wrong_line)
			fputs(style->wrong, file);
		else
			fprintf(file, "%d%s%d", base + s->u[e], style->comma, base + s->v[e]);
		end_line(file, style, line);
	}
}

static void put_weights(FILE *file, const struct sketch *s)
{
	for (int e = 0; e < s->rows; e++)
		fprintf(file, "%d,%g\n", e, 0.25 + s->u[e] % 7);
}

static const char *write_ogb(const struct style *style)
{
	static struct sketch s;
	const char *directory = folder();
	FILE *nodes = create(directory, "num-node-list.csv"), *rows = create(directory, "num-edge-list.csv");
	FILE *edges = create(directory, "edge.csv"), *weights = create(directory, "edge-feat.csv");
	int64_t line = 1;
	for (int g = 0; g < GRAPHS; g++) {
		draw(g, &s);
		fprintf(nodes, "%d\n", s.nodes);
		fprintf(rows, "%d\n", s.rows);
		put_edges(edges, style, &s, 0, &line);
		put_weights(weights, &s);
	}
	fclose(nodes);
	fclose(rows);
	fclose(edges);
	fclose(weights);
	return directory;
}

static const char *write_tu(const struct style *style)
{
	static struct sketch s;
	const char *directory = folder();
	FILE *graphs = create(directory, "D_graph_indicator.txt"), *edges = create(directory, "D_A.txt");
	FILE *weights = create(directory, "D_edge_attributes.txt");
	static int first[GRAPHS];
	int64_t line = 1;
	int base = 1, number = 0;
	for (int g = 0; g < GRAPHS; g++) {
		draw(g, &s);
		first[g] = base;
		number += s.nodes > 0; /* this layout knows no graph without nodes */
		for (int i = 0; i < s.nodes; i++)
			fprintf(graphs, "%d\n", number);
		base += s.nodes;
	}
	for (int g = 0; g < GRAPHS; g++) {
		int graph = style->backward ? GRAPHS - 1 - g : g;
		draw(graph, &s);
		put_edges(edges, style, &s, first[graph], &line);
		put_weights(weights, &s);
	}
	fclose(graphs);
	fclose(edges);
	fclose(weights);
	return directory;
}

/* The graph as a line of graph6, in `text`. */
static void make_graph6(const struct sketch *s, char *text)
{
	static char bits[200 * 200];
	int n = s->nodes, count = n * (n - 1) / 2, size = 0;
	memset(bits, 0, sizeof bits);
	for (int e = 0; e < s->rows; e++) {
		int i = s->u[e] < s->v[e] ? s->u[e] : s->v[e], j = s->u[e] + s->v[e] - i;
		if (i != j)
			bits[j * (j - 1) / 2 + i] = 1;
	}
	if (n > 62) {
		text[size++] = '~';
		text[size++] = '?';
		text[size++] = (char)(63 + (n >> 6));
	}
	text[size++] = (char)(63 + (n > 62 ? n & 63 : n));
	for (int at = 0; at < count; at += 6) {
		int six = 0;
		for (int k = 0; k < 6; k++)
			six = six * 2 + (at + k < count && bits[at + k]);
		text[size++] = (char)(63 + six);
	}
	text[size] = '\0';
}

static const char *write_graph6(const struct style *style)
{
	static struct sketch s;
	static char path[400], text[4000];
	const char *directory = folder();
	FILE *file = create(directory, "all.g6");
	for (int64_t line = 1; line <= GRAPHS; line++) {
		draw((int)line - 1, &s);
		make_graph6(&s, text);
		fprintf(file, "%s%s", line == style->wrong_line ? style->wrong : text, style->line_end);
	}
	fclose(file);
	snprintf(path, sizeof path, "%s/all.g6", directory);
	return path;
}

/* ---- reading ------------------------------------------------------------------------ */

static pe_status read_input(pe_context *ctx, const char *path, const struct style *style, pe_graph **out)
{
	pe_params *params = NULL;
	*out = NULL;
	pe_status status = pe_params_create(ctx, "graph", &params);
	if (status == PE_OK && style->weights)
		status = pe_params_set(params, "edge_weights", "2");
	if (status == PE_OK)
		status = pe_graph_from_file(ctx, path, params, out);
	pe_params_destroy(&params);
	return status;
}

static void same_rows(const pe_graph *a, const pe_graph *b)
{
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->nodes, b->nodes);
	assert_memory_equal(a->ptr, b->ptr, (size_t)(a->count + 1) * sizeof *a->ptr);
	assert_memory_equal(a->row, b->row, (size_t)(a->nodes + 1) * sizeof *a->row);
	assert_memory_equal(a->col, b->col, (size_t)a->row[a->nodes] * sizeof *a->col);
	assert_int_equal(!a->weight, !b->weight);
	if (a->weight)
		assert_memory_equal(a->weight, b->weight, (size_t)a->row[a->nodes] * sizeof *a->weight);
}

static void same_graphs(const pe_graph *a, const pe_graph *b)
{
	same_rows(a, b);
	assert_memory_equal(a->node_ids, b->node_ids, (size_t)a->nodes * sizeof *a->node_ids);
	assert_string_equal(a->digest, b->digest);
	assert_true(a->report.edges == b->report.edges && a->report.components == b->report.components &&
		a->report.duplicates == b->report.duplicates && a->report.self_loops == b->report.self_loops &&
		a->report.one_way == b->report.one_way && a->report.isolated == b->report.isolated);
}

/* The graphs of an input, which must be the same from any number of threads. */
static pe_graph *read_alike(const char *path, const struct style *style)
{
	pe_graph *first = NULL, *graph;
	for (int i = 0; i < PE_COUNT(threads); i++) {
		pe_context *ctx = xt_context(threads[i], NULL);
		if (read_input(ctx, path, style, &graph) != PE_OK)
			fail_msg("%s", pe_context_message(ctx));
		if (first) {
			same_graphs(first, graph);
			pe_graph_destroy(&graph);
		} else {
			first = graph;
		}
		pe_context_destroy(&ctx);
	}
	return first;
}

/* The sketches as arrays, without those of no nodes, or without loops, if so told. */
static pe_graph *from_arrays(pe_context *ctx, const struct style *style, bool leave_empty, bool leave_loops)
{
	static struct sketch s;
	static int64_t ends[2][GRAPHS * 100], ptr[GRAPHS + 1];
	static double w[GRAPHS * 100];
	int64_t rows = 0, graphs = 0;
	for (int g = 0; g < GRAPHS; g++) {
		draw(g, &s);
		if (leave_empty && s.nodes == 0)
			continue;
		for (int e = 0; e < s.rows; e++) {
			if (leave_loops && s.u[e] == s.v[e])
				continue;
			ends[0][rows] = ptr[graphs] + s.u[e];
			ends[1][rows] = ptr[graphs] + s.v[e];
			w[rows++] = 0.25 + s.u[e] % 7;
		}
		ptr[graphs + 1] = ptr[graphs] + s.nodes;
		graphs++;
	}
	pe_tensor edges = pe_tensor_dense(ends, PE_I64, 2, (int64_t[]){2, rows});
	edges.strides[0] = GRAPHS * 100;
	pe_tensor weights = pe_tensor_dense(w, PE_F64, 1, (int64_t[]){rows});
	pe_tensor offsets = pe_tensor_dense(ptr, PE_I64, 1, (int64_t[]){graphs + 1});
	pe_graph *graph;
	if (pe_graph_from_arrays(
			ctx, &edges, style->weights ? &weights : NULL, &offsets, ptr[graphs], NULL, &graph) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	return graph;
}

static void is_what_arrays_are(
	pe_context *ctx, const char *path, const struct style *style, bool leave_empty, bool leave_loops)
{
	pe_graph *graph = read_alike(path, style), *expected = from_arrays(ctx, style, leave_empty, leave_loops);
	same_rows(expected, graph);
	pe_graph_destroy(&graph);
	pe_graph_destroy(&expected);
}

/* ---- tests -------------------------------------------------------------------------- */

static const struct style styles[] = {
	{.line_end = "\n", .comma = ","},
	{.line_end = "\r\n", .comma = ", "},
	{.line_end = "\n", .comma = ",", .blank_line = true},
	{.line_end = "\n", .comma = ",", .weights = true},
};

static void ogb(void **state)
{
	for (int i = 0; i < PE_COUNT(styles); i++)
		is_what_arrays_are(*state, write_ogb(&styles[i]), &styles[i], false, false);
}

static void tu(void **state)
{
	for (int i = 0; i < PE_COUNT(styles); i++)
		is_what_arrays_are(*state, write_tu(&styles[i]), &styles[i], true, false);
	static const struct style backward = {.line_end = "\n", .comma = ",", .backward = true};
	is_what_arrays_are(*state, write_tu(&backward), &backward, true, false);
}

static void graph6(void **state)
{
	is_what_arrays_are(*state, write_graph6(&styles[0]), &styles[0], false, true);
	is_what_arrays_are(*state, write_graph6(&styles[1]), &styles[1], false, true);
}

/* The first of what is wrong is told, and where it is, from any number of threads. */
static void fails_alike(const char *path, const char *message)
{
	pe_graph *graph;
	for (int i = 0; i < PE_COUNT(threads); i++) {
		pe_context *ctx = xt_context(threads[i], NULL);
		xt_fails(ctx, read_input(ctx, path, &plain, &graph), PE_ERR_FORMAT, message);
		pe_context_destroy(&ctx);
	}
}

static void the_line_that_is_wrong(void **state)
{
	(void)state;
	static const int64_t lines[] = {1, 4999, 5000, 5001, 33333, 60000, 70000};
	struct style style = plain;
	char message[100];
	for (int i = 0; i < PE_COUNT(lines); i++) {
		style.wrong_line = lines[i];
		style.blank_line = lines[i] == 4999; /* behind it, so that all is read by one thread */
		strcpy(style.wrong, i % 2 ? "0,200" : "1;1");
		snprintf(message, sizeof message, "edge.csv:%lld: %s", (long long)lines[i],
			i % 2 ? "a node of the edge's graph cannot be 200" : "there should be a comma");
		fails_alike(write_ogb(&style), message);
		strcpy(style.wrong, i % 2 ? "1,9999999" : "1;1");
		snprintf(message, sizeof message, "D_A.txt:%lld: %s", (long long)lines[i],
			i % 2 ? "a node cannot be 9999999" : "there should be a comma");
		fails_alike(write_tu(&style), message);
	}
	style = plain;
	for (int64_t line = 1; line <= GRAPHS; line += line < 3000 ? 1499 : 250) {
		style.wrong_line = line;
		strcpy(style.wrong, "~??~!");
		snprintf(message, sizeof message, "all.g6:%lld: byte 33", (long long)line);
		fails_alike(write_graph6(&style), message);
	}
}

/* Rows that are right of themselves, but more or fewer than there should be. */
static void too_many_and_too_few(void **state)
{
	(void)state;
	struct style style = plain;
	style.wrong_line = 30000;
	strcpy(style.wrong, "0,0\n0,0");
	const char *directory = write_ogb(&style);
	FILE *rows = create(directory, "num-node-list.csv");
	for (int g = 0; g < GRAPHS; g++)
		fputs("200\n", rows);
	fclose(rows);
	fails_alike(directory, "there are more rows than the");
	strcpy(style.wrong, "0,0\n\n");
	pe_graph *graph = read_alike(write_ogb(&style), &style);
	pe_graph_destroy(&graph);
}

static void without_memory(void **state)
{
	(void)state;
	static const struct style weighted = {.line_end = "\n", .comma = ",", .weights = true};
	const char *const inputs[] = {
		strdup(write_ogb(&plain)), strdup(write_tu(&weighted)), strdup(write_graph6(&plain))};
	for (int i = 0; i < PE_COUNT(inputs); i++)
		for (int t = 1; t <= 2; t++) {
			pe_context *ctx = xt_context(t, NULL);
			int64_t before = xt_live_blocks();
			pe_status status = PE_ERR_NOMEM;
			for (int64_t at = 0; status != PE_OK; at += 1 + at / 8) {
				pe_graph *graph;
				xt_fail_allocation(at, false);
				status = read_input(ctx, inputs[i], i == 1 ? &weighted : &plain, &graph);
				bool reached = xt_allocations() > at;
				xt_fail_allocation(-1, false);
				assert_true(status == PE_OK ? !reached : status == PE_ERR_NOMEM);
				pe_graph_destroy(&graph);
				assert_int_equal(xt_live_blocks(), before);
			}
			pe_context_destroy(&ctx);
		}
	for (int i = 0; i < PE_COUNT(inputs); i++)
		free((char *)(uintptr_t)inputs[i]);
}

/* ---- folders ------------------------------------------------------------------------ */

static const char *write_folder(void)
{
	const char *directory = folder();
	for (int i = 0; i < 60; i++) {
		char name[40];
		bool lists = i % 5 != 2;
		snprintf(name, sizeof name, "%02d.%s", i, lists ? "edgelist" : "g6");
		FILE *file = create(directory, name);
		if (i % 9 == 4)
			fputs(lists ? "0 1\n2\n" : "!\n", file); /* cannot be read */
		else if (!lists)
			fputs("Bw\nA_\n", file);
		else
			for (int e = 0; e < 3 + i;
				 e++) /* some without weights, of which the reader has something to say */
				fprintf(file, e % 3 == 1 ? "%d %d {}\n" : "%d %d {'weight': 2}\n", e, e + 1);
		fclose(file);
	}
	return directory;
}

/* Of the files' bytes, one after another. */
static void digest_of(const char *directory, char out[PE_DIGEST_HEX])
{
	struct pe_digest digest;
	char path[400], bytes[4096];
	pe_digest_start(&digest);
	for (int i = 0; i < 60; i++) {
		snprintf(path, sizeof path, "%s/%02d.%s", directory, i, i % 5 != 2 ? "edgelist" : "g6");
		FILE *file = fopen(path, "rb");
		assert_non_null(file);
		pe_digest_add(&digest, bytes, fread(bytes, 1, sizeof bytes, file));
		fclose(file);
	}
	pe_digest_end(&digest, out);
}

static void keep_log(void *opaque, pe_log_level level, const char *text)
{
	char *all = opaque;
	snprintf(all + strlen(all), 20000 - strlen(all), "%d %s\n", (int)level, text);
}

/* Graphs, digest, failures and what readers say, in the order of the files. */
static void folders(void **state)
{
	(void)state;
	static char logs[PE_COUNT(threads)][20000], digest[PE_DIGEST_HEX];
	const char *directory = write_folder();
	digest_of(directory, digest);
	pe_graph *graphs[PE_COUNT(threads)];
	pe_context *contexts[PE_COUNT(threads)];
	for (int i = 0; i < PE_COUNT(threads); i++) {
		pe_context_options options = {
			.size = sizeof options, .log = keep_log, .opaque = logs[i], .threads = threads[i]};
		pe_params *params;
		assert_int_equal(pe_context_create(&options, &contexts[i]), PE_OK);
		assert_int_equal(pe_graph_from_file(contexts[i], directory, NULL, &graphs[i]), PE_ERR_FORMAT);
		assert_non_null(strstr(pe_context_message(contexts[i]), "04.edgelist"));
		assert_int_equal(pe_params_create(contexts[i], "graph", &params), PE_OK);
		xt_set(params, "unreadable=empty");
		if (pe_graph_from_file(contexts[i], directory, params, &graphs[i]) != PE_OK)
			fail_msg("%s", pe_context_message(contexts[i]));
		pe_params_destroy(&params);
		same_graphs(graphs[0], graphs[i]);
		assert_string_equal(graphs[i]->digest, digest);
		assert_string_equal(logs[0], logs[i]);
		assert_int_equal(graphs[i]->unread.count, 7);
		for (int64_t f = 0; f < 7; f++) {
			assert_int_equal(graphs[0]->unread.graph[f], graphs[i]->unread.graph[f]);
			assert_string_equal(graphs[0]->unread.why[f], graphs[i]->unread.why[f]);
		}
	}
	assert_true(strstr(logs[0], "00.edgelist: 1 of 3 edges") < strstr(logs[0], "16.edgelist: 6 of 19 edges"));
	assert_non_null(strstr(logs[0], "00.edgelist: 1 of 3 edges"));
	for (int i = 0; i < PE_COUNT(threads); i++) {
		pe_graph_destroy(&graphs[i]);
		pe_context_destroy(&contexts[i]);
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(ogb),
		cmocka_unit_test(tu),
		cmocka_unit_test(graph6),
		cmocka_unit_test(the_line_that_is_wrong),
		cmocka_unit_test(too_many_and_too_few),
		cmocka_unit_test(without_memory),
		cmocka_unit_test(folders),
	};
	return xt_run(argc, argv, tests);
}
