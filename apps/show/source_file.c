/* SPDX-License-Identifier: BSD-2-Clause
 * A file of arrays as what is shown. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source.h"

/* Do the arrays spell a graph: edge_index, or scipy's compressed rows? */
static bool is_graph(const pe_bundle *file)
{
	const char *name;
	pe_tensor t;
	if (pe_bundle_find(file, "edge_index", NULL) || pe_bundle_find(file, "indptr", NULL))
		return true;
	bool one = pe_bundle_count(file) == 1 && pe_bundle_at(file, 0, &name, &t) == PE_OK;
	return one && (t.dtype == PE_I64 || t.dtype == PE_I32) && t.ndim == 2 &&
		(t.shape[0] == 2 || t.shape[1] == 2);
}

/* With encoders a file is always an input; without it is one of arrays if it reads as that. */
bool source_is_file(struct source *s, const char *path)
{
	if (cli_has(s->cli, "with") || !has_array_suffix(path) || pe_params_get(s->cli->graph, "from")[0])
		return false;
	if (pe_bundle_from_file(s->cli->ctx, path, NULL, &s->file) != PE_OK)
		return false;
	if (is_graph(s->file))
		pe_bundle_destroy(&s->file);
	return s->file != NULL;
}

static bool is_ours(const pe_bundle *file)
{
	return pe_bundle_metadata(file, "posenc") != NULL;
}

/* What encode has written of the grid, "grid" or "prefix"; or NULL. */
static const char *own(const struct source *s, const char *name)
{
	return is_ours(s->file) ? pe_bundle_metadata(s->file, name) : NULL;
}

static int set_prefix(struct source *s, int64_t prefix)
{
	struct input *in = &s->input;
	in->prefix = prefix;
	pe_domain_destroy(&in->domain);
	pe_status status =
		pe_domain_grid(s->cli->ctx, in->sides[0], in->sides[1], in->sides[2], prefix, &in->domain);
	return status == PE_OK ? EXIT_DONE : report_status(s->cli, status);
}

/* --grid or --graph, else the grid that the file names; its prefix tokens stand before either grid. */
static int open_place(struct source *s)
{
	const char *grid = cli_get(s->cli, "grid"), *graph = cli_get(s->cli, "graph");
	const char *prefix = cli_has(s->cli, "prefix") ? NULL : own(s, "prefix");
	if (grid && graph)
		return usage_error(s->cli, "--grid and --graph: tokens stand on one of them");
	grid = grid || graph ? grid : own(s, "grid");
	if (!grid && !graph)
		return input_refuse_options(s->cli, &s->input);
	snprintf(s->place, sizeof s->place, "%s%s", grid ? "grid:" : "", grid ? grid : graph);
	int code = input_open(s->cli, s->place, &s->input);
	long long before = grid && prefix ? strtoll(prefix, NULL, 10) : 0;
	return code == EXIT_DONE && before > 0 && before <= INT32_MAX ? set_prefix(s, before) : code;
}

/* What the encoders' options were, of a file by encode. */
static void tell_metadata(const struct source *s, struct subject *out)
{
	const char *text = pe_bundle_metadata(s->file, "encoders");
	json_t *encoders = text ? json_loads(text, 0, NULL) : NULL, *encoder;
	size_t i;
	json_array_foreach(encoders, i, encoder)
	{
		const char *name = json_string_value(json_object_get(encoder, "name"));
		pe_params *params = NULL;
		if (!name || pe_params_create(s->cli->ctx, name, &params) != PE_OK)
			continue;
		char options[300] = "";
		for (int64_t k = 0; k < pe_params_count(params); k++) {
			pe_option_info option = pe_params_option(params, k);
			const char *value =
				json_string_value(json_object_get(json_object_get(encoder, "options"), option.name));
			if (option_is_told(&option, value))
				add_option(options, sizeof options, option.name, value);
		}
		size_t used = strlen(out->options);
		snprintf(
			out->options + used, sizeof out->options - used, "%s%s: %s", used ? " · " : "", name, options);
		pe_params_destroy(&params);
	}
	json_decref(encoders);
}

int source_open_file(struct source *s)
{
	static const char *const refused[] = {"tokens", "weights"};
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		if (cli_has(s->cli, refused[i]))
			return usage_error(s->cli, "--%s needs an input and an encoder, and %s is a file of arrays",
				refused[i], s->cli->operands[0]);
	int code = open_place(s);
	if (code == EXIT_DONE)
		code = source_stand(s);
	if (code != EXIT_DONE)
		return code;
	if (!s->input.domain)
		s->on.token = pe_bundle_find(s->file, "laplacian_eigenvector_pe", NULL) ||
				pe_bundle_find(s->file, "random_walk_pe", NULL)
			? "node"
			: "token";
	s->subjects = get_memory(1, sizeof *s->subjects);
	s->count = 1;
	s->subjects->file = true;
	s->subjects->on = &s->on;
	tell_metadata(s, s->subjects);
	snprintf(s->subjects->name, sizeof s->subjects->name, "%s", base_name(s->cli->operands[0]));
	return EXIT_DONE;
}

/* Node offsets of a file of many graphs, or NULL. */
static const int64_t *file_ptr(const struct source *s, int64_t *graphs)
{
	pe_tensor ptr;
	if (!pe_bundle_find(s->file, "ptr", &ptr) || ptr.dtype != PE_I64 || ptr.ndim != 1 || ptr.shape[0] < 2)
		return NULL;
	const int64_t *at = ptr.data;
	*graphs = ptr.shape[0] - 1;
	for (int64_t g = 0; g < *graphs; g++)
		if (at[g] < 0 || at[g + 1] < at[g])
			return NULL;
	return at;
}

/* The arrays that encode writes with a row of numbers a token, or else. */
static const struct known {
	const char *name;
	int32_t least, most; /* dimensions */
	bool rows;
} known[] = {{"position_encoding", 2, 3, true}, {"laplacian_eigenvector_pe", 2, 2, true},
	{"EigVecs", 2, 2, true}, {"random_walk_pe", 2, 2, true}, {"pestat_RWSE", 2, 2, true}, {"cos", 2, 3, true},
	{"sin", 2, 3, true}, {"scale", 2, 3, true}, {"tokens", 2, PE_MAX_DIMS, true}, {"bias", 3, 3, false},
	{"bias_table", 2, 2, false}, {"slopes", 1, 1, false}, {"buckets", 2, 2, false},
	{"relative_position_index", 2, 2, false}, {"laplacian_eigenvalues", 2, 2, false},
	{"EigVals", 3, 3, false}};

/* By its name, behind a prefix only in a file of encode, of which all arrays are known. The one array of an
 * .npy file has no name: its shape must do. */
static void recognise(const struct source *s, struct numbers *n)
{
	bool ours = is_ours(s->file);
	n->known = ours || (pe_bundle_count(s->file) == 1 && strcmp(n->name, "array") == 0);
	n->per_token = n->known && !ours && n->ndim >= 2;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		bool named = ours ? numbers_are_called(n, known[i].name) : strcmp(n->name, known[i].name) == 0;
		if (!named || n->ndim < known[i].least || n->ndim > known[i].most)
			continue;
		n->known = true;
		n->per_token = known[i].rows;
	}
}

/* Of arrays of many graphs, the rows of the one that is shown. ptr: their node offsets, or NULL. */
static void take_item(const struct source *s, const int64_t *ptr, int64_t graphs, pe_tensor *tensor)
{
	int64_t first = s->item, end = first + 1;
	if (!ptr || tensor->ndim == 0)
		return;
	if (tensor->ndim >= 2 && tensor->shape[0] == ptr[graphs]) {
		first = ptr[s->item];
		end = ptr[s->item + 1];
	} else if (tensor->shape[0] != graphs || graphs == 1) {
		return;
	}
	tensor->data = (char *)tensor->data + first * tensor->strides[0] * (int64_t)pe_dtype_size(tensor->dtype);
	tensor->shape[0] = end - first;
}

int source_take_file(struct source *s)
{
	const char *name;
	pe_tensor tensor;
	int64_t graphs = 0;
	const int64_t *ptr = file_ptr(s, &graphs);
	if (ptr && !cli_integer(s->cli, "item", 0, graphs - 1, &s->item))
		return EXIT_USAGE;
	for (int64_t i = 0; i < pe_bundle_count(s->file); i++) {
		if (input_is_text(s->file, i) || pe_bundle_at(s->file, i, &name, &tensor) != PE_OK)
			continue;
		take_item(s, ptr, graphs, &tensor);
		struct numbers numbers = numbers_copy(name, &tensor);
		recognise(s, &numbers);
		subject_add(s->subjects, numbers);
	}
	return EXIT_DONE;
}
