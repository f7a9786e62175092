/* SPDX-License-Identifier: BSD-2-Clause */
#include "qkv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrays.h"

/* ---- arrays ------------------------------------------------------------------------- */

/* (heads, length, width) is one batch. */
static int take(const struct qkv *qkv, const char *path, const char *name, pe_tensor *out)
{
	if (!pe_bundle_find(qkv->file, name, out)) {
		complain("%s: there is no array %s; attention needs q, k and v", path, name);
		return EXIT_INPUT;
	}
	if (out->ndim == 3) {
		memmove(out->shape + 1, out->shape, 3 * sizeof *out->shape);
		memmove(out->strides + 1, out->strides, 3 * sizeof *out->strides);
		out->shape[0] = 1;
		out->strides[0] = 0;
		out->ndim = 4;
	}
	if (out->ndim == 4)
		return EXIT_DONE;
	complain("%s: %s has %d dimensions; it is (batch, heads, length, width), or (heads, length, width)", path,
		name, (int)out->ndim);
	return EXIT_INPUT;
}

/* Text would be taken for numbers, its bytes. */
static int refuse_text(const struct qkv *qkv, const char *path)
{
	const char *name;
	for (int64_t i = 0; i < pe_bundle_count(qkv->file); i++)
		if (pe_bundle_at(qkv->file, i, &name, NULL) == PE_OK && array_is_in(QKV_ARRAYS, name) &&
			input_is_text(qkv->file, i)) {
			complain("%s: %s holds text, not numbers", path, name);
			return EXIT_INPUT;
		}
	return EXIT_DONE;
}

int qkv_open(struct cli *cli, const char *path, struct qkv *out)
{
	*out = (struct qkv){0};
	pe_status status = pe_bundle_from_file(cli->ctx, path, NULL, &out->file);
	if (status != PE_OK)
		return report_status(cli, status);
	int code = refuse_text(out, path);
	if (code == EXIT_DONE)
		code = take(out, path, "q", &out->q);
	if (code == EXIT_DONE)
		code = take(out, path, "k", &out->k);
	if (code == EXIT_DONE)
		code = take(out, path, "v", &out->v);
	out->has_mask = pe_bundle_find(out->file, "mask", &out->mask);
	out->has_key_lengths = pe_bundle_find(out->file, "key_lengths", &out->key_lengths);
	out->has_sinks = pe_bundle_find(out->file, "sinks", &out->sinks);
	return code;
}

void qkv_close(struct qkv *qkv)
{
	pe_domain_destroy(&qkv->queries);
	if (qkv->keys != qkv->place.domain)
		pe_domain_destroy(&qkv->keys);
	input_close(&qkv->place);
	for (int i = 0; i < 3; i++)
		free(qkv->rounded[i]);
	pe_bundle_destroy(&qkv->file);
}

/* ---- positions ---------------------------------------------------------------------- */

static int placed(struct cli *cli, pe_status status)
{
	int code = status == PE_OK ? EXIT_DONE : report_status(cli, status);
	return code == EXIT_USAGE ? EXIT_INPUT : code;
}

/* Positions of this name, if the file has them: of two dimensions they are (batch, length) where that fits,
 * else (length, axes). */
static int take_positions(struct cli *cli, const struct qkv *qkv, const char *name, pe_domain **out)
{
	const pe_tensor *x = name[0] == 'q' ? &qkv->q : &qkv->k;
	pe_tensor t;
	if (!pe_bundle_find(qkv->file, name, &t))
		return EXIT_DONE;
	bool by_batch = t.ndim == 2 && t.shape[0] == x->shape[0] && t.shape[1] == x->shape[2];
	bool by_axes = t.ndim == 2 && t.shape[0] == x->shape[2] && t.shape[1] <= PE_MAX_AXES;
	if (by_batch && by_axes)
		warn(cli, "%s may be (batch, length) or (length, axes): it is taken as (batch, length)", name);
	int64_t axes = t.ndim == 3 || (t.ndim == 2 && !by_batch) ? t.shape[t.ndim - 1] : 0;
	bool fits = t.ndim == 1 ? t.shape[0] == x->shape[2]
		: t.ndim == 2       ? by_batch || by_axes
							: t.ndim == 3 && t.shape[1] == x->shape[2];
	if (!fits || axes > PE_MAX_AXES || (axes == 0 && !by_batch && t.ndim != 1)) {
		complain("%s: %s: positions of %lld tokens in %lld batches are (length), (batch, length), (length, "
				 "axes) or "
				 "(batch, length, axes), with at most %d axes",
			cli->operands[0], name, (long long)x->shape[2], (long long)x->shape[0], PE_MAX_AXES);
		return EXIT_INPUT;
	}
	pe_status status = pe_domain_positions(cli->ctx, &t, axes, out);
	if (status != PE_OK)
		complain("%s: %s: %s", cli->operands[0], name, pe_context_message(cli->ctx));
	return status == PE_OK ? EXIT_DONE : status == PE_ERR_NOMEM ? EXIT_SYSTEM : EXIT_INPUT;
}

/* The option --offset. */
static int take_offset(struct cli *cli, double *offset, bool *given)
{
	const char *text = cli_get(cli, "offset");
	*given = text != NULL;
	if (!text)
		return EXIT_DONE;
	char *end;
	*offset = strtod(text, &end);
	return end != text && !*end && *offset - *offset == 0
		? EXIT_DONE
		: usage_error(cli, "--offset: \"%s\" is not a position", text);
}

/* Queries that nothing is said of are the last tokens. */
static int place_last(struct cli *cli, struct qkv *qkv)
{
	int64_t queries = qkv->q.shape[2], keys = pe_domain_tokens(qkv->keys);
	if (queries == keys)
		return EXIT_DONE;
	if (queries > keys || qkv->place.graph)
		return usage_error(cli,
			"there are %lld queries and %lld keys: where the queries stand is not known%s",
			(long long)queries, (long long)keys,
			qkv->place.domain ? "" : "; the array q_positions, or --offset, says it");
	return placed(cli, pe_domain_tail(cli->ctx, qkv->keys, queries, &qkv->queries));
}

/* The place that an option says, kind before its value, for so many keys or queries. */
static int open_place(struct cli *cli, const char *option, const char *kind, int64_t count, const char *what,
	struct input *place)
{
	const char *value = cli_get(cli, option);
	size_t size = strlen(kind) + strlen(value) + 1;
	char *text = get_memory(size, 1);
	snprintf(text, size, "%s%s", kind, value);
	int code = input_open(cli, text, place);
	place->text = value;
	free(text);
	if (code != EXIT_DONE || pe_domain_tokens(place->domain) == count)
		return code;
	complain("--%s %s has %lld tokens, and there are %lld %s", option, value,
		(long long)pe_domain_tokens(place->domain), (long long)count, what);
	return EXIT_INPUT;
}

/* --grid HxW or --graph FILE, and --query-grid HxW. */
static int place_on(struct cli *cli, bool grid, struct qkv *qkv)
{
	int code =
		open_place(cli, grid ? "grid" : "graph", grid ? "grid:" : "", qkv->k.shape[2], "keys", &qkv->place);
	qkv->keys = qkv->place.domain;
	if (code != EXIT_DONE || !cli_has(cli, "query-grid"))
		return code == EXIT_DONE ? place_last(cli, qkv) : code;
	struct input queries = {0};
	code = open_place(cli, "query-grid", "grid:", qkv->q.shape[2], "queries", &queries);
	qkv->queries = queries.domain;
	return code;
}

static int place_in_sequence(struct cli *cli, struct qkv *qkv)
{
	int64_t queries = qkv->q.shape[2], keys = qkv->k.shape[2];
	double offset = (double)(keys - queries);
	bool given;
	int code = take_offset(cli, &offset, &given);
	if (code == EXIT_DONE)
		code = take_positions(cli, qkv, "k_positions", &qkv->keys);
	if (code == EXIT_DONE)
		code = take_positions(cli, qkv, "q_positions", &qkv->queries);
	if (code != EXIT_DONE)
		return code;
	if (given && qkv->queries)
		return usage_error(cli, "--offset and the array q_positions say the same");
	bool last = qkv->keys && !qkv->queries && !given;
	if (!qkv->keys)
		code = placed(cli, pe_domain_sequence(cli->ctx, keys, 0, &qkv->keys));
	if (code == EXIT_DONE && last)
		return place_last(cli, qkv);
	bool same = queries == keys && !given;
	if (code == EXIT_DONE && !qkv->queries && !same)
		code = placed(cli, pe_domain_sequence(cli->ctx, queries, offset, &qkv->queries));
	return code;
}

int qkv_place(struct cli *cli, struct qkv *qkv)
{
	bool grid = cli_has(cli, "grid"), graph = cli_has(cli, "graph");
	if (grid && graph)
		return usage_error(cli, "tokens stand on a --grid or on a --graph, not on both");
	if (!grid && (cli_has(cli, "prefix") || cli_has(cli, "query-grid")))
		return usage_error(cli, "--%s is of a --grid", cli_has(cli, "prefix") ? "prefix" : "query-grid");
	if (!grid && !graph) {
		int code = input_refuse_options(cli, &qkv->place);
		return code == EXIT_DONE ? place_in_sequence(cli, qkv) : code;
	}
	if (cli_has(cli, "offset"))
		return usage_error(cli, "--offset is of a sequence, not of a --%s", grid ? "grid" : "graph");
	if (pe_bundle_find(qkv->file, "q_positions", NULL) || pe_bundle_find(qkv->file, "k_positions", NULL))
		return usage_error(
			cli, "the file has positions: there is no need of a --%s", grid ? "grid" : "graph");
	return place_on(cli, grid, qkv);
}

/* ---- rounding ----------------------------------------------------------------------- */

static int round_one(pe_tensor *t, void **memory)
{
	pe_tensor dense = pe_tensor_dense(NULL, PE_F32, 4, t->shape);
	const int64_t *n = t->shape, *s = t->strides;
	const double *in = t->data;
	float *out = *memory = output_memory((size_t)pe_tensor_bytes(&dense));
	if (!out) {
		complain("out of memory");
		return EXIT_SYSTEM;
	}
	dense.data = out;
	for (int64_t b = 0; b < n[0]; b++)
		for (int64_t h = 0; h < n[1]; h++)
			for (int64_t i = 0; i < n[2]; i++)
				for (int64_t c = 0; c < n[3]; c++)
					*out++ = (float)in[b * s[0] + h * s[1] + i * s[2] + c * s[3]];
	*t = dense;
	return EXIT_DONE;
}

int qkv_round(struct cli *cli, struct qkv *qkv)
{
	pe_tensor *tensors[] = {&qkv->q, &qkv->k, &qkv->v};
	int code = EXIT_DONE;
	bool any = false;
	for (int i = 0; i < 3 && code == EXIT_DONE; i++)
		if (tensors[i]->dtype == PE_F64) {
			any = true;
			code = round_one(tensors[i], &qkv->rounded[i]);
		}
	if (any && code == EXIT_DONE)
		warn(cli, "q, k and v of f64 are rounded to f32; --core reference computes in f64");
	return code;
}
