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

/* --grid or --graph. */
static int open_place(struct source *s)
{
	const char *grid = cli_get(s->cli, "grid"), *graph = cli_get(s->cli, "graph");
	if (grid && graph)
		return usage_error(s->cli, "--grid and --graph: tokens stand on one of them");
	if (!grid && !graph)
		return EXIT_DONE;
	snprintf(s->place, sizeof s->place, "%s%s", grid ? "grid:" : "", grid ? grid : graph);
	return input_open(s->cli, s->place, &s->input);
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

int source_take_file(struct source *s)
{
	const char *name;
	pe_tensor tensor;
	int64_t graphs = 0;
	const int64_t *ptr = file_ptr(s, &graphs);
	if (ptr && !cli_integer(s->cli, "item", 0, graphs - 1, &s->on.item))
		return EXIT_USAGE;
	for (int64_t i = 0; i < pe_bundle_count(s->file); i++) {
		if (input_is_text(s->file, i) || pe_bundle_at(s->file, i, &name, &tensor) != PE_OK)
			continue;
		struct numbers numbers = numbers_copy(name, &tensor);
		numbers.per_token = ptr && numbers.ndim >= 2 && numbers.shape[0] == ptr[graphs];
		source_slice(s, ptr, graphs, &numbers);
		subject_add(s->subjects, numbers);
	}
	return EXIT_DONE;
}
