/* SPDX-License-Identifier: BSD-2-Clause
 * posenc attend QKV: attention of queries, keys and values, with encoders at work in it. */
#include <stdlib.h>
#include <string.h>

#include "arrays.h"
#include "contents.h"
#include "output.h"
#include "qkv.h"
#include "report.h"

struct attend {
	struct cli *cli;
	struct output output;
	struct qkv qkv;
	struct learned learned;
	struct job *jobs;
	int job_count;
	pe_attention_options options;
	pe_tensor out, lse; /* lse.data NULL: not wanted */
	pe_bundle *bundle;
};

/* ---- options ------------------------------------------------------------------------ */

static bool read_number(const char *text, double *out, const char **end)
{
	char *stop;
	*out = strtod(text, &stop);
	*end = stop;
	return stop != text && *out == *out;
}

static int take_number(struct cli *cli, const char *name, bool positive, double *out)
{
	const char *text = cli_get(cli, name), *end;
	if (!text)
		return EXIT_DONE;
	bool good =
		read_number(text, out, &end) && !*end && *out - *out == 0 && (positive ? *out > 0 : *out != 0);
	return good ? EXIT_DONE
				: usage_error(cli, "--%s: \"%s\" is not a number%s", name, text,
					  positive ? " above 0" : " other than 0");
}

/* LEFT,RIGHT; inf, or a negative number, is no limit. */
static int take_window(struct cli *cli, pe_attention_options *options)
{
	const char *text = cli_get(cli, "window"), *end;
	if (!text)
		return EXIT_DONE;
	options->windowed = 1;
	if (read_number(text, &options->window_left, &end) && *end == ',' &&
		read_number(end + 1, &options->window_right, &end) && !*end)
		return EXIT_DONE;
	return usage_error(cli, "--window: \"%s\" is not LEFT,RIGHT, two distances (inf: without limit)", text);
}

static int take_options(struct attend *run)
{
	struct cli *cli = run->cli;
	pe_attention_options *options = &run->options;
	*options = (pe_attention_options){.size = sizeof *options, .causal = cli_has(cli, "causal")};
	int code = take_window(cli, options);
	int core = PE_CORE_TILED; /* the words are in the order of pe_core */
	if (code == EXIT_DONE && !cli_choice(cli, "core", &core))
		code = EXIT_USAGE;
	options->core = (pe_core)core;
	if (code == EXIT_DONE)
		code = take_number(cli, "scale", false, &options->scale);
	if (code == EXIT_DONE)
		code = take_number(cli, "softcap", true, &options->softcap);
	return code;
}

static int choose_output(struct attend *run)
{
	struct cli *cli = run->cli;
	if (!cli_has(cli, "output"))
		return usage_error(cli, "attend needs -o OUT: its output has four dimensions");
	int code = output_choose(cli, &run->output);
	if (code == EXIT_DONE)
		code = output_spare(cli, &run->output, cli->operands[0]);
	if (code == EXIT_DONE && output_is_single(&run->output) && cli_has(cli, "lse"))
		return usage_error(cli, "an .npy file holds one array: with --lse, write .npz or .safetensors");
	if (code == EXIT_DONE && run->output.dtype == PE_F64 && run->options.core != PE_CORE_REFERENCE)
		warn(cli, "only --core reference computes in f64");
	return code;
}

/* ---- encoders ----------------------------------------------------------------------- */

/* An encoder that began at random, or NULL. */
static const char *random_one(const struct attend *run)
{
	for (int j = 0; j < run->job_count; j++)
		if (pe_encoding_is_random(run->jobs[j].encoding))
			return pe_encoder_name(run->jobs[j].encoder);
	return NULL;
}

/* Arrays of the file that nothing takes may be misspelt: beside an encoder without weights, they are. */
static int name_unused(struct attend *run)
{
	const char *path = run->cli->operands[0], *random = random_one(run);
	for (int64_t i = 0; i < pe_bundle_count(run->qkv.file); i++) {
		const char *name;
		if (pe_bundle_at(run->qkv.file, i, &name, NULL) != PE_OK || array_is_in(QKV_ARRAYS, name) ||
			learned_is_used(run->jobs, run->job_count, name))
			continue;
		if (strcmp(name, "positions") == 0)
			return usage_error(run->cli,
				"%s: the array positions may be of queries or of keys: name it q_positions or k_positions",
				path);
		if (random)
			return usage_error(run->cli,
				"%s: nothing takes the array %s, and %s has no weights: name it as 'posenc help %s' lists, "
				"or leave it out",
				path, name, random, random);
		warn(run->cli, "%s: the array %s is not used", path, name);
	}
	return EXIT_DONE;
}

static int open_jobs(struct attend *run)
{
	struct cli *cli = run->cli;
	const int64_t *q = run->qkv.q.shape, *k = run->qkv.k.shape, *v = run->qkv.v.shape;
	struct place place = {.domain = run->qkv.keys,
		.queries = run->qkv.queries,
		.learned = &run->learned,
		.sizes = {q[1], k[1], q[3], v[3], q[1] * q[3]},
		.sizes_from = "the shape of q, k and v"};
	int code = learned_open(cli, &run->learned);
	if (code == EXIT_DONE)
		code = learned_add(cli, &run->learned, run->qkv.file, QKV_ARRAYS);
	if (code == EXIT_DONE)
		code = jobs_open(cli, &place, &run->jobs, &run->job_count);
	if (code == EXIT_DONE)
		code = learned_check(
			cli, &run->learned, run->jobs, run->job_count, output_file(&run->output), cli->operands[0]);
	return code == EXIT_DONE ? name_unused(run) : code;
}

/* ---- output ------------------------------------------------------------------------- */

/* Encoders that map values may change their width. */
static pe_status value_width(struct attend *run, int64_t *width)
{
	*width = run->qkv.v.shape[3];
	for (int j = 0; j < run->job_count; j++)
		if (pe_encoder_sites(run->jobs[j].encoder) & PE_SITE_ROTATE)
			TRY(pe_encoding_rotate_width(run->jobs[j].encoding, PE_VALUES, *width, width));
	return PE_OK;
}

static int allocate(struct attend *run, const char *name, int32_t ndim, const int64_t *shape, pe_tensor *out)
{
	*out = pe_tensor_dense(NULL, run->output.dtype, ndim, shape);
	int64_t bytes = pe_tensor_bytes(out);
	if (bytes >= 0 && (out->data = output_memory((size_t)bytes)))
		return EXIT_DONE;
	complain("out of memory: the array %s needs %lld bytes", name, (long long)bytes);
	return EXIT_SYSTEM;
}

static json_t *describe_attention(const struct attend *run)
{
	static const char *const cores[] = {"tiled", "reference", "linear"};
	const pe_attention_options *o = &run->options;
	json_t *out = json_pack("{s:s, s:b}", "core", cores[o->core], "causal", o->causal);
	if (o->windowed)
		json_object_set_new(
			out, "window", json_pack("[o, o]", json_number(o->window_left), json_number(o->window_right)));
	if (o->scale != 0)
		json_object_set_new(out, "scale", json_number(o->scale));
	if (o->softcap != 0)
		json_object_set_new(out, "softcap", json_number(o->softcap));
	static const char *const texts[] = {"offset", "grid", "query-grid", "graph", "prefix"};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (cli_get(run->cli, texts[i]))
			json_object_set_new(out, texts[i], json_text(cli_get(run->cli, texts[i])));
	return out;
}

static pe_status describe(struct attend *run)
{
	json_t *attention = describe_attention(run);
	char *text = json_dumps(attention, JSON_COMPACT);
	json_decref(attention);
	if (!text)
		return PE_ERR_NOMEM;
	pe_status status = pe_bundle_set_metadata(run->bundle, "attention", text);
	free(text);
	TRY(status);
	const pe_graph *graph = run->qkv.place.graph;
	const char *digest = graph ? pe_graph_get_report(graph)->digest : NULL;
	return contents_describe(run->cli, digest, run->jobs, run->job_count, run->bundle);
}

static pe_status fill_bundle(struct attend *run)
{
	TRY(pe_bundle_create(run->cli->ctx, &run->bundle));
	TRY(pe_bundle_add(run->bundle, "out", &run->out));
	if (run->lse.data)
		TRY(pe_bundle_add(run->bundle, "lse", &run->lse));
	return output_is_single(&run->output) ? PE_OK : describe(run);
}

static int prepare_output(struct attend *run)
{
	int64_t shape[4];
	memcpy(shape, run->qkv.q.shape, sizeof shape);
	pe_status status = value_width(run, &shape[3]);
	if (status != PE_OK)
		return report_status(run->cli, status);
	int code = allocate(run, "out", 4, shape, &run->out);
	if (code == EXIT_DONE && cli_has(run->cli, "lse"))
		code = allocate(run, "lse", 3, shape, &run->lse);
	if (code != EXIT_DONE)
		return code;
	status = fill_bundle(run);
	return status == PE_OK ? output_check(run->cli, &run->output, run->bundle)
						   : report_status(run->cli, status);
}

/* ---- the run ------------------------------------------------------------------------ */

/* Arrays that do not fit are bad input; encoders that do not, wrong usage. */
static int attend_code(pe_status status)
{
	return status == PE_ERR_SHAPE || status == PE_ERR_RANGE ? EXIT_INPUT
		: status == PE_ERR_UNSUPPORTED                      ? EXIT_USAGE
															: exit_code_of(status);
}

static int compute(struct attend *run)
{
	pe_encoding **encodings = get_memory((size_t)run->job_count, sizeof *encodings);
	for (int j = 0; j < run->job_count; j++)
		encodings[j] = run->jobs[j].encoding;
	const struct qkv *in = &run->qkv;
	run->options.keys = in->keys;
	run->options.queries = in->queries ? in->queries : in->keys;
	pe_attention_tensors tensors = {.size = sizeof tensors,
		.q = &in->q,
		.k = &in->k,
		.v = &in->v,
		.out = &run->out,
		.lse = run->lse.data ? &run->lse : NULL,
		.mask = in->has_mask ? &in->mask : NULL,
		.key_lengths = in->has_key_lengths ? &in->key_lengths : NULL,
		.sinks = in->has_sinks ? &in->sinks : NULL};
	pe_status status = pe_attend(run->cli->ctx, encodings, run->job_count, &run->options, &tensors);
	free(encodings);
	if (status == PE_OK)
		return EXIT_DONE;
	int code = attend_code(status);
	if (code == EXIT_INPUT)
		complain("%s: %s", run->cli->operands[0], pe_context_message(run->cli->ctx));
	else
		report_status(run->cli, status);
	return code;
}

static json_t *report_qkv(const struct attend *run)
{
	const int64_t *q = run->qkv.q.shape, *k = run->qkv.k.shape;
	return json_pack("{s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "kind", "attention", "name",
		json_text(run->cli->operands[0]), "batch", (json_int_t)q[0], "heads", (json_int_t)q[1], "key_heads",
		(json_int_t)k[1], "queries", (json_int_t)q[2], "keys", (json_int_t)k[2], "width", (json_int_t)q[3],
		"value_width", (json_int_t)run->qkv.v.shape[3]);
}

static json_t *report_output(const char *name, const pe_tensor *tensor)
{
	json_t *shape = json_array();
	for (int32_t d = 0; d < tensor->ndim; d++)
		json_array_append_new(shape, json_integer(tensor->shape[d]));
	return json_pack("{s:s, s:s, s:o}", "name", name, "dtype", pe_dtype_name(tensor->dtype), "shape", shape);
}

static void print_report(const struct attend *run, const double *times)
{
	json_t *encoders = json_array(), *arrays = json_array();
	for (int j = 0; j < run->job_count; j++)
		json_array_append_new(encoders, report_job(&run->jobs[j]));
	json_array_append_new(arrays, report_output("out", &run->out));
	if (run->lse.data)
		json_array_append_new(arrays, report_output("lse", &run->lse));
	print_json(json_pack("{s:s, s:o, s:o, s:o, s:o, s:{s:f, s:f, s:f, s:f}, s:o, s:o}", "posenc",
		pe_version(), "input", report_qkv(run), "encoders", encoders, "attention", describe_attention(run),
		"arrays", arrays, "seconds", "read", times[1] - times[0], "attend", times[2] - times[1], "write",
		times[3] - times[2], "sync", pe_bundle_sync_seconds(run->bundle), "output",
		json_text(run->output.path), "warnings", json_incref(run->cli->warnings)));
}

static int attend(struct attend *run)
{
	struct cli *cli = run->cli;
	double times[4] = {seconds_now()};
	int code = qkv_open(cli, cli->operands[0], &run->qkv);
	if (code == EXIT_DONE && run->options.core != PE_CORE_REFERENCE)
		code = qkv_round(cli, &run->qkv);
	if (code == EXIT_DONE)
		code = qkv_place(cli, &run->qkv);
	if (code == EXIT_DONE)
		code = open_jobs(run);
	if (code == EXIT_DONE)
		code = prepare_output(run);
	times[1] = seconds_now();
	if (code == EXIT_DONE)
		code = compute(run);
	times[2] = seconds_now();
	if (code == EXIT_DONE)
		code = output_write(cli, &run->output, run->bundle);
	if (code == EXIT_DONE)
		code = learned_save(cli, &run->learned);
	times[3] = seconds_now();
	if (code == EXIT_DONE && cli->json)
		print_report(run, times);
	return code;
}

static int run_attend(struct cli *cli)
{
	struct attend run = {.cli = cli};
	if (cli->operand_count != 1)
		return usage_error(cli, "attend takes one file of q, k and v, not %d", cli->operand_count);
	int code = take_options(&run);
	if (code == EXIT_DONE)
		code = choose_output(&run);
	if (code == EXIT_DONE)
		code = attend(&run);
	pe_bundle_destroy(&run.bundle);
	free(run.out.data);
	free(run.lse.data);
	jobs_close(run.jobs, run.job_count);
	learned_close(&run.learned);
	qkv_close(&run.qkv);
	return code;
}

static const struct cli_option options[] = {
	{"with", 0, "NAME[:key=value,...]",
		"an encoder and its options; they act in the order given. as=PREFIX: its weights are called "
		"PREFIX.NAME, "
		"as a layer's in a checkpoint are"},
	OUTPUT_OPTIONS,
	{"causal", 0, NULL,
		"a query sees the keys that do not stand after it; no encoder changes by it: t5:direction=causal"},
	{"offset", 0, "N", "the first query stands at N, the first key at 0 (the last query at the last key)"},
	{"window", 0, "LEFT,RIGHT",
		"a query at p sees the keys from p-LEFT to p+RIGHT; inf, or a negative number, is no limit"},
	{"scale", 0, "X", "what q.k is multiplied with (what an encoder says, else 1/sqrt of q's width)"},
	{"softcap", 0, "X", "scores become X tanh(score/X), before any bias"},
	{"grid", 0, "HxW", "keys stand on a grid, HxW or TxHxW; fewer queries are the last ones"},
	{"query-grid", 0, "HxW", "queries stand on a grid of their own, as pooled ones do, with the same prefix"},
	{"prefix", 0, "N", "grid: N tokens before the grid's, such as class and register tokens (0)"},
	{"graph", 0, "FILE", "keys and queries are the nodes of a graph"},
	{"lse", 0, NULL, "also write lse (batch, heads, Lq), the log of each row's sum of exp(score)"},
	{"core", 0, "tiled|reference|linear",
		"tiled: f32, memory of the order of the length (default); reference: f64, by the definition; "
		"linear: f64, time of the order of the length, weights f(q).f(k) with f = elu + 1 instead of the "
		"softmax's, for encoders of the site rotate (rope turns f(q) and f(k) in the numerator alone)"},
	LEARNED_OPTIONS,
};

const struct command command_attend = {
	.name = "attend",
	.usage = "attend QKV [--with NAME[:key=value,...]]... [--causal] -o OUT",
	.summary = "attention of queries, keys and values, with encoders acting in it",
	.details =
		"QKV is .npz, .safetensors or a folder of .npy with the arrays q (batch, heads, Lq, width),\n"
		"k (batch, key heads, Lk, width), v (batch, key heads, Lk, value width); of three dimensions they\n"
		"are one batch. Also, where wanted: mask, which broadcasts to (batch, heads, Lq, Lk), bool: true =\n"
		"may attend, float: added; q_positions and k_positions, (length), (batch, length), (length, axes)\n"
		"or (batch, length, axes); key_lengths (batch); sinks (heads); and weights of encoders.\n"
		"Without positions keys stand at 0 ... Lk-1, and queries at Lk-Lq ... Lk-1, also where\n"
		"key_lengths end the keys before: say q_positions then. An encoder's options follow from the\n"
		"shapes, where neither you nor a preset sets them: heads, head_dim and dim (heads x head_dim) from\n"
		"q, value_dim from v, heads of pope from k; heads of shaw do not. Encoders in another's place\n"
		"(over) get them too. An encoder without weights begins from --seed, and that is said. Writes out\n"
		"(batch, heads, Lq, value width); a query that sees no key gives 0, and lse -inf.\n"
		"\n"
		"  posenc attend qkv.npz --with alibi --causal -o out.npz\n"
		"  posenc attend qkv.npz --with rope:base=500000,layout=halves --causal --window 1023,0 -o out.npz\n",
	.options = options,
	.option_count = sizeof options / sizeof *options,
	.takes_graph_options = true,
	.run = run_attend,
};
