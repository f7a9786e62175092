/* SPDX-License-Identifier: BSD-2-Clause
 * posenc show INPUT -o PICTURE: an encoding to look at. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "report.h"
#include "show/plots.h"
#include "show/source.h"

struct show {
	struct cli *cli;
	const char *path;
	struct canvas canvas;
	struct source source;
	struct wishes wishes;
	const struct plot *plot;  /* of --plot, or NULL */
	const struct plot **used; /* one a subject */
	struct figure figure;
};

/* ---- before computing --------------------------------------------------------------- */

static int choose_canvas(struct show *run)
{
	struct cli *cli = run->cli;
	const struct canvas_kind *labelled = canvas_kind_labelled();
	run->path = cli_get(cli, "output");
	if (!run->path)
		return usage_error(cli, "show needs -o PICTURE.png or PICTURE.svg");
	run->canvas.svg = ends_with(run->path, ".svg");
	if (!run->canvas.svg && !ends_with(run->path, ".png"))
		return usage_error(cli, "-o %s: pictures are .png or .svg", run->path);
	run->canvas.kind = labelled && !cli_has(cli, "plain") ? labelled : &canvas_kind_plain;
	if (run->canvas.svg && !run->canvas.kind->has_text)
		return usage_error(cli, "-o %s: %s; write a .png", run->path,
			labelled ? "with --plain there is no SVG"
					 : "this posenc was built without Cairo, and SVG needs it");
	if (!labelled && !cli->quiet && !cli_has(cli, "plain"))
		complain("built without Cairo: the picture has no text, axes and colour bars");
	return EXIT_DONE;
}

static int read_range(struct show *run)
{
	const char *text = cli_get(run->cli, "range");
	struct scale *range = &run->wishes.range;
	char rest;
	if (!text)
		return EXIT_DONE;
	if (sscanf(text, "%lf,%lf%c", &range->low, &range->high, &rest) == 2 && isfinite(range->low) &&
		isfinite(range->high) && range->high > range->low)
		return EXIT_DONE;
	return usage_error(run->cli, "--range %s: expected LOW,HIGH, two numbers, the second larger", text);
}

static int choose_plot(struct show *run)
{
	char names[300];
	const char *name = cli_get(run->cli, "plot");
	if (!name)
		return EXIT_DONE;
	run->plot = plot_find(name);
	plot_names(names, sizeof names);
	return run->plot ? EXIT_DONE : usage_error(run->cli, "--plot %s: expected %s", name, names);
}

static int prepare(struct show *run)
{
	struct cli *cli = run->cli;
	if (cli->operand_count != 1)
		return usage_error(cli, "show takes one input, not %d", cli->operand_count);
	run->wishes = (struct wishes){.cli = cli,
		.array = cli_get(cli, "array"),
		.token = cli_get(cli, "token"),
		.panels = cli_get(cli, "panels")};
	int code = choose_canvas(run);
	struct output picture = {.path = run->path};
	if (code == EXIT_DONE)
		code = output_spare(cli, &picture, cli->operands[0]);
	if (code == EXIT_DONE)
		code = read_range(run);
	if (code == EXIT_DONE)
		code = choose_plot(run);
	pe_status status = code == EXIT_DONE ? pe_file_check(cli->ctx, run->path) : PE_OK;
	if (status != PE_OK)
		return report_status(cli, status);
	return code == EXIT_DONE ? source_open(cli, cli->operands[0], &run->source) : code;
}

/* ---- the picture -------------------------------------------------------------------- */

static int refuse_array(const struct show *run, const struct subject *subject)
{
	char list[500];
	list_arrays(subject, list, sizeof list);
	return usage_error(run->cli, "--array: %s has no array \"%s\"%s%s", subject->name, run->wishes.array,
		list[0] ? ", but " : "", list);
}

static int choose_kind(struct show *run, const struct subject *subject, const struct plot **out)
{
	char why[700] = "";
	*out = run->plot;
	if (run->wishes.array && !subject_find(subject, run->wishes.array))
		return refuse_array(run, subject);
	if (!*out)
		*out = plot_for(&run->wishes, subject, why, sizeof why);
	if (!*out)
		return usage_error(run->cli, "nothing to show: %s", why);
	if (!(*out)->fits(&run->wishes, subject, why, sizeof why))
		return usage_error(run->cli, "--plot %s: %s", (*out)->name, why);
	if (run->cli->verbose)
		complain("%s: --plot %s", subject->name, (*out)->name);
	return EXIT_DONE;
}

/* A kind for each subject; refuses options that none of them takes. */
static int choose_kinds(struct show *run)
{
	const struct source *s = &run->source;
	char names[300];
	int code = EXIT_DONE;
	run->used = get_memory((size_t)s->count, sizeof *run->used);
	for (int i = 0; i < s->count && code == EXIT_DONE; i++)
		code = choose_kind(run, &s->subjects[i], &run->used[i]);
	if (code != EXIT_DONE || s->count == 0)
		return code;
	const char *unused = plots_unused(&run->wishes, s->subjects, run->used, s->count, names, sizeof names);
	return unused
		? usage_error(run->cli, "--%s: --plot %s does not take it, but %s", unused, run->used[0]->name, names)
		: EXIT_DONE;
}

static void add_text(char *out, size_t size, const char *between, const char *text)
{
	size_t used = strlen(out);
	snprintf(out + used, size - used, "%s%s", used ? between : "", text);
}

static void describe(struct show *run)
{
	struct figure *f = &run->figure;
	char seed[40] = "seed 0";
	add_text(f->subtitle, sizeof f->subtitle, "", run->source.text);
	for (int i = 0; i < run->source.count; i++) {
		const struct subject *s = &run->source.subjects[i];
		if (!s->options[0])
			continue;
		add_text(f->subtitle, sizeof f->subtitle, " · ", s->file ? s->options : s->name);
		if (!s->file)
			add_text(f->subtitle, sizeof f->subtitle, ": ", s->options);
	}
	if (cli_get(run->cli, "seed"))
		snprintf(seed, sizeof seed, "seed %s", cli_get(run->cli, "seed"));
	if (strstr(f->subtitle, "at random"))
		add_text(f->subtitle, sizeof f->subtitle, " · ", seed);
}

static int write_picture(struct show *run)
{
	unsigned char *bytes = NULL;
	size_t size = 0;
	figure_lay_out(&run->figure, &run->canvas);
	if (!figure_draw(&run->figure, &run->canvas) || !run->canvas.kind->finish(&run->canvas, &bytes, &size)) {
		complain("out of memory: the picture has %d x %d pixels", run->figure.width, run->figure.height);
		return EXIT_SYSTEM;
	}
	pe_status status = pe_file_write(run->cli->ctx, run->path, bytes, size);
	free(bytes);
	return status == PE_OK ? EXIT_DONE : report_status(run->cli, status);
}

static void print_report(const struct show *run)
{
	json_t *kinds = json_array();
	for (int i = 0; i < run->source.count; i++)
		json_array_append_new(kinds, json_string(run->used[i]->name));
	json_t *input = run->source.input.domain ? report_input(&run->source.input) : json_null();
	print_json(json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "posenc", pe_version(), "input", input, "plots",
		kinds, "figure", figure_report(&run->figure), "output", json_text(run->path), "warnings",
		json_incref(run->cli->warnings)));
}

static int draw(struct show *run)
{
	run->wishes.several = run->source.count > 1;
	int code = choose_kinds(run);
	for (int i = 0; i < run->source.count && code == EXIT_DONE; i++)
		code = run->used[i]->build(&run->wishes, &run->source.subjects[i], &run->figure);
	if (code != EXIT_DONE)
		return code;
	for (int i = 0; i < run->figure.count && run->wishes.range.high > run->wishes.range.low; i++)
		if (run->figure.panels[i].kind == PANEL_CURVES) {
			run->figure.panels[i].y.low = run->wishes.range.low;
			run->figure.panels[i].y.high = run->wishes.range.high;
		}
	describe(run);
	code = write_picture(run);
	if (code == EXIT_DONE && run->cli->json)
		print_report(run);
	return code;
}

static int run_show(struct cli *cli)
{
	struct show run = {.cli = cli};
	int code = prepare(&run);
	if (code == EXIT_DONE)
		code = source_compute(&run.source);
	if (code == EXIT_DONE)
		code = draw(&run);
	if (run.canvas.kind)
		run.canvas.kind->close(&run.canvas);
	figure_free(&run.figure);
	free(run.used);
	source_close(&run.source);
	return code;
}

static const struct cli_option options[] = {
	{"with", 0, "NAME[:key=value,...]", "an encoder and its options; may be given several times"},
	{"output", 'o', "PICTURE", "x.png or x.svg"},
	{"plot", 0, "KIND", "the kind of picture; without it, the one that says most of what the encoder yields"},
	{"token", 0, "Y,X",
		"the token that similarity, query, profile and effect are about: its place, or its number (the "
		"middle)"},
	{"array", 0, "NAME", "the array that is drawn"},
	{"panels", 0, "LIST", "which heads, columns or tables get a panel: 0,2,5-8"},
	{"range", 0, "LOW,HIGH", "what the ends of the colours stand for, or of the axis of curves"},
	{"item", 0, "N", "of many graphs, the one that is encoded and drawn (0)"},
	{"tokens", 0, "X.npy",
		"features (..., tokens, width) for encoders that act on them, whose width they are given by them; "
		"patches: those of the picture"},
	{"weights", 0, "FILE",
		".npz, .safetensors or a folder of .npy: learned parameters, by the names that 'posenc help "
		"ENCODER' lists; without it, begun from --seed"},
	{"grid", 0, "HxW",
		"file of arrays: the grid that its tokens stand on, HxW or TxHxW (what the file says)"},
	{"graph", 0, "FILE", "file of arrays: the graph whose nodes its rows are"},
	{"prefix", 0, "N",
		"grid or picture: N tokens before the grid's, such as class and register tokens (0, or what the file "
		"says)"},
	{"plain", 0, NULL, "no text, axes and colour bars; a heat map alone is its cells and nothing else"},
	LENIENT_OPTION,
};

const struct command command_show = {
	.name = "show",
	.usage = "show INPUT [--with NAME[:key=value,...]]... -o PICTURE.png",
	.summary = "draw an encoding, to look at it instead of reading it",
	.details =
		"INPUT is as for encode; or, without --with, a file of arrays (.npy, .npz, .safetensors, folder/) "
		"such\n"
		"as encode writes, which names the grid its rows stand on; that of others is said by --grid, a "
		"graph\n"
		"by --graph. Arrays of others are drawn if name and shape are those of encode's, else by --array.\n"
		"Kinds of picture (--plot); what is given and not taken is refused:\n"
		"\n"
		"  sheet        grids: cosine similarity of each token with all others, a map each\n"
		"  similarity   that of one token (--token Y,X): a map on a grid, else a curve\n"
		"  matrix       that of every token with every other\n"
		"  profile      grids: that of one token along its row and its column\n"
		"  spectrum     amplitude of each channel by frequency\n"
		"  table        the numbers as they are: tokens x channels, or any --array\n"
		"  bias         what is added to the scores, queries x keys, a panel a head\n"
		"  query        grids: that of one query (--token Y,X) with all keys, a map a head\n"
		"  distance     that by key - query, a curve a head\n"
		"  nodes        graphs: columns as colours of the nodes, which stand at eigenvectors\n"
		"  eigenvalues  graphs: the eigenvalues of the Laplacian\n"
		"  curves       rows as curves: return probabilities of nodes by step\n"
		"  effect       features (--tokens) before and after: norms, and similarity to one token\n"
		"\n"
		"--token is taken by similarity, profile, query and effect, and by sheet of several frames; --panels "
		"by\n"
		"table, bias, query, distance and nodes; --array by all but effect; --range by all. --grid is taken "
		"by\n"
		"sheet, similarity, profile, spectrum and query, --graph by nodes.\n"
		"\n"
		"  posenc show grid:14x14 --with axial:preset=mae,dim=768 -o sheet.png\n"
		"  posenc show seq:64 --with alibi -o alibi.svg\n"
		"  posenc show karate.mtx --with lap:k=8 -o karate.png\n"
		"  posenc show photo.png --with peg --tokens patches -o peg.png\n",
	.options = options,
	.option_count = sizeof options / sizeof *options,
	.takes_graph_options = true,
	.takes_image_options = true,
	.run = run_show,
};
