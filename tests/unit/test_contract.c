/* SPDX-License-Identifier: BSD-2-Clause
 * What every encoder of the registry promises. A new encoder is tested here without a line. */
#include "encoder.h"
#include "xt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- domains to try an encoder on --------------------------------------------------- */

enum { DOMAINS = 5 };

struct place {
	pe_graph *graph;
	pe_domain *domain;
};

/* A path of n nodes with one chord, and an isolated node; n = 0, 1, 2 too. */
static pe_status make_graph(pe_context *ctx, int64_t n, pe_graph **out)
{
	int64_t edges = n > 2 ? n - 1 : n > 1, index[2 * 64];
	for (int64_t i = 0; i < edges; i++) {
		index[i] = i < n - 2 ? i : 0;
		index[edges + i] = i < n - 2 ? i + 1 : n > 3 ? 3 : 1;
	}
	pe_tensor edge_index = pe_tensor_dense(index, PE_I64, 2, (int64_t[]){2, edges});
	return pe_graph_from_arrays(ctx, &edge_index, NULL, NULL, n, NULL, out);
}

/* Three graphs, directed and weighted, with a loop, a sink and an edge both ways; the second is empty. */
static pe_status make_directed(pe_context *ctx, pe_graph **out)
{
	int64_t index[] = {0, 1, 2, 0, 2, 4, 5, 5, /* to */ 1, 2, 0, 2, 3, 5, 4, 5}, ptr[] = {0, 4, 4, 7};
	double weight[] = {1, 2, 0.5, 1, 3, 1, 0.25, 2};
	pe_tensor edge_index = pe_tensor_dense(index, PE_I64, 2, (int64_t[]){2, 8});
	pe_tensor weights = pe_tensor_dense(weight, PE_F64, 1, (int64_t[]){8});
	pe_tensor offsets = pe_tensor_dense(ptr, PE_I64, 1, (int64_t[]){4});
	pe_params *params;
	PE_TRY(pe_params_create(ctx, "graph", &params));
	xt_set(params, "edges=directed,loops=keep");
	pe_status status = pe_graph_from_arrays(ctx, &edge_index, &weights, &offsets, 7, params, out);
	pe_params_destroy(&params);
	return status;
}

/* Real, negative, equal and far positions; nearer or whole ones for encoders whose tables end before these
 * or have no rows between, which must say so. */
static pe_status make_positions(pe_context *ctx, const pe_encoder *encoder, pe_domain **out)
{
	double tries[][5] = {{-3.5, 0, 0, 1e6, 2.25}, {-1.5, 0, 0, 2, 1.25}, {7, 0, 0, 30, 2}};
	pe_status status = PE_ERR_RANGE;
	for (int k = 0; k < 3 && status == PE_ERR_RANGE; k++) {
		pe_encoding *e;
		pe_tensor tensor = pe_tensor_dense(tries[k], PE_F64, 1, (int64_t[]){5});
		pe_domain_destroy(out);
		PE_TRY(pe_domain_positions(ctx, &tensor, 0, out));
		status = pe_encoding_create(ctx, encoder, NULL, *out, NULL, &e);
		pe_encoding_destroy(&e);
	}
	return PE_OK;
}

/* Sizes 0, 1, 2 and 21; then what is less usual. */
static pe_status make_place(pe_context *ctx, const pe_encoder *encoder, int which, struct place *out)
{
	static const int64_t sizes[DOMAINS] = {0, 1, 2, 21, 3};
	int64_t n = sizes[which];
	*out = (struct place){0};
	switch (encoder->family) {
	case PE_SEQ:
		if (which == 4)
			return make_positions(ctx, encoder, &out->domain);
		return pe_domain_sequence(ctx, n, 0, &out->domain);
	case PE_VISION:
		return pe_domain_grid(ctx, 1, pe_max(n, 1), 1 + (which == 3) * 6, which == 3, &out->domain);
	default:
		PE_TRY(which == 4 ? make_directed(ctx, &out->graph) : make_graph(ctx, n, &out->graph));
		return pe_domain_graph(ctx, out->graph, &out->domain);
	}
}

static void leave(struct place *place)
{
	pe_domain_destroy(&place->domain);
	pe_graph_destroy(&place->graph);
}

/* ---- one run ------------------------------------------------------------------------ */

struct result {
	int64_t count;
	pe_array_info info[PE_MAX_ARRAYS];
	pe_tensor out[PE_MAX_ARRAYS];
};

static void free_result(struct result *r)
{
	for (int64_t i = 0; i < r->count; i++)
		free(r->out[i].data);
	*r = (struct result){0};
}

/* Every array in its own type, each element `step` apart and the memory around it filled with a
 * pattern. */
static void allocate(struct result *r, int64_t step)
{
	for (int64_t i = 0; i < r->count; i++) {
		pe_tensor *t = &r->out[i];
		*t = pe_tensor_dense(NULL, r->info[i].dtype, r->info[i].ndim, r->info[i].shape);
		size_t bytes = (size_t)(pe_tensor_bytes(t) * step) + 64;
		t->data = malloc(bytes);
		memset(t->data, 0x5A, bytes);
		for (int32_t d = 0; d < t->ndim; d++)
			t->strides[d] *= step;
	}
}

static pe_status run(pe_context *ctx, const pe_encoder *encoder, const pe_params *params,
	const pe_domain *domain, int64_t step, struct result *r)
{
	pe_encoding *e;
	*r = (struct result){0};
	pe_status status = pe_encoding_create(ctx, encoder, params, domain, NULL, &e);
	if (status != PE_OK)
		return status;
	r->count = pe_encoding_array_count(e);
	for (int64_t i = 0; i < r->count; i++)
		assert_int_equal(pe_encoding_array(e, i, &r->info[i]), PE_OK);
	allocate(r, step);
	status = pe_encoding_compute(e, r->out, r->count);
	pe_encoding_destroy(&e);
	return status;
}

static bool same_values(const struct result *a, const struct result *b)
{
	for (int64_t i = 0; i < a->count; i++) {
		size_t size = pe_dtype_size(a->info[i].dtype);
		int64_t n = pe_tensor_count(&a->out[i]);
		int64_t sa = a->out[i].ndim ? a->out[i].strides[a->out[i].ndim - 1] : 1;
		int64_t sb = b->out[i].ndim ? b->out[i].strides[b->out[i].ndim - 1] : 1;
		for (int64_t k = 0; k < n; k++)
			if (memcmp((char *)a->out[i].data + (size_t)(k * sa) * size,
					(char *)b->out[i].data + (size_t)(k * sb) * size, size) != 0)
				return false;
	}
	return a->count == b->count;
}

static const pe_encoder *next_encoder(int64_t i)
{
	const pe_encoder *encoder = pe_encoder_at(i);
	if (encoder)
		print_message("           %s\n", pe_encoder_name(encoder));
	return encoder;
}

/* ---- the promises ------------------------------------------------------------------- */

/* A misspelled option in a preset's settings would be passed over in silence. */
static void names_its_options(const struct pe_option_table *table, const pe_preset_info *preset)
{
	for (const char *at = preset->settings; *at; at += *at == ',') {
		size_t size = strcspn(at, "="), found = 0;
		for (int64_t i = 0; i < table->option_count; i++)
			found += strlen(table->options[i].name) == size && memcmp(table->options[i].name, at, size) == 0;
		if (found != 1)
			fail_msg("%s: preset %s: no option %.*s", table->name, preset->name, (int)size, at);
		at += strcspn(at, ",");
	}
}

/* The line X(family, name) of the registry, the folder and the file say the same as the struct. */
static void is_named_as_its_file(void **state)
{
	(void)state;
	static const struct {
		const char *family, *name;
	} lines[] = {
#define INPUT(name)
#define X(family, name) {#family, #name},
#include "encoders.def"
#undef X
#undef INPUT
	};
	assert_int_equal(pe_encoder_count(), PE_COUNT(lines));
	for (int64_t i = 0; i < PE_COUNT(lines); i++) {
		assert_string_equal(pe_encoder_name(pe_encoder_at(i)), lines[i].name);
		assert_string_equal(pe_family_name(pe_encoder_family(pe_encoder_at(i))), lines[i].family);
	}
}

static void says_what_it_is(void **state)
{
	(void)state;
	const pe_encoder *before = NULL, *encoder;
	for (int64_t i = 0; (encoder = next_encoder(i)); i++, before = encoder) {
		if (strlen(encoder->summary) <= 10 || strlen(encoder->summary) >= 90)
			fail_msg("%s: its summary is not of 11 to 89 characters", encoder->table.name);
		assert_true(strlen(encoder->help) > 40 && strlen(encoder->source) > 3);
		assert_non_null(strstr(encoder->example, pe_encoder_name(encoder)));
		assert_ptr_equal(pe_encoder_find(pe_encoder_name(encoder)), encoder);
		for (const char *line = encoder->help; *line;
			 line += strcspn(line, "\n") + (strchr(line, '\n') != NULL))
			if (strcspn(line, "\n") > 78)
				fail_msg("%s: a line of help is over 78 columns: %.40s", encoder->table.name, line);
		for (int64_t k = 0; k < encoder->table.option_count; k++)
			assert_true(strlen(encoder->table.options[k].help) > 3);
		for (int64_t k = 0; k < encoder->table.preset_count; k++)
			names_its_options(&encoder->table, &encoder->table.presets[k]);
		if (before && before->family == encoder->family)
			assert_true(strcmp(pe_encoder_name(before), pe_encoder_name(encoder)) < 0);
		else if (before)
			assert_true(strcmp(pe_family_name(before->family), pe_family_name(encoder->family)) < 0);
	}
	assert_true(pe_encoder_count() >= 2);
	assert_null(pe_encoder_at(-1));
	assert_null(pe_encoder_find("nothing"));
}

/* Defaults work on every size; so does each preset, or it says why not. */
static void works_on_every_size(void **state)
{
	pe_context *ctx = *state;
	const pe_encoder *encoder;
	for (int64_t i = 0; (encoder = next_encoder(i)); i++)
		for (int which = 0; which < DOMAINS; which++)
			for (int64_t preset = -1; preset < encoder->table.preset_count; preset++) {
				struct place place;
				struct result r;
				pe_params *params;
				assert_int_equal(make_place(ctx, encoder, which, &place), PE_OK);
				assert_int_equal(pe_params_create(ctx, pe_encoder_name(encoder), &params), PE_OK);
				if (preset >= 0)
					assert_int_equal(
						pe_params_set(params, "preset", encoder->table.presets[preset].name), PE_OK);
				pe_status status = run(ctx, encoder, params, place.domain, 1, &r);
				if (status != PE_OK && (preset < 0 || strlen(pe_context_message(ctx)) < 10))
					fail_msg("size %d, preset %d: %s", which, (int)preset, pe_context_message(ctx));
				for (int64_t a = 0; a < r.count; a++)
					if (r.info[a].per_token)
						assert_int_equal(r.info[a].shape[0], pe_domain_tokens(place.domain));
				free_result(&r);
				pe_params_destroy(&params);
				leave(&place);
			}
}

/* An option at its ends is taken or refused with a sentence; beyond them it is refused. */
static void try_value(pe_context *ctx, const pe_encoder *encoder, const pe_domain *domain, const char *name,
	const char *value, bool beyond)
{
	pe_params *params;
	struct result r;
	assert_int_equal(pe_params_create(ctx, pe_encoder_name(encoder), &params), PE_OK);
	pe_status set = pe_params_set(params, name, value);
	if (beyond) {
		assert_int_equal(set, PE_ERR_RANGE);
	} else {
		assert_int_equal(set, PE_OK);
		pe_status status = run(ctx, encoder, params, domain, 1, &r);
		if (status != PE_OK && strlen(pe_context_message(ctx)) < 10)
			fail_msg("%s: %s=%s failed without saying why", pe_encoder_name(encoder), name, value);
		assert_int_not_equal(status, PE_ERR_INTERNAL);
		free_result(&r);
	}
	pe_params_destroy(&params);
}

static void try_number(
	pe_context *ctx, const pe_encoder *encoder, const pe_domain *domain, const pe_option_info *option)
{
	char text[64];
	double values[] = {
		option->min, fmin(option->max, fmax(option->min, 64)), option->min - 1, option->max + 1};
	if (option->type == PE_OPTION_REAL) {
		values[2] = nextafter(option->min, -INFINITY);
		values[3] = nextafter(option->max, INFINITY);
	}
	for (int v = 0; v < 4; v++) {
		snprintf(text, sizeof text, option->type == PE_OPTION_INT ? "%.0f" : "%.17g", values[v]);
		try_value(ctx, encoder, domain, option->name, text, v >= 2);
	}
}

static void try_choices(
	pe_context *ctx, const pe_encoder *encoder, const pe_domain *domain, const pe_option_info *option)
{
	char text[256];
	assert_true(strlen(option->choices) < sizeof text);
	strcpy(text, option->choices);
	char *rest = text;
	for (char *word; (word = strtok_r(rest, "|", &rest));)
		try_value(ctx, encoder, domain, option->name, word, false);
	try_value(ctx, encoder, domain, option->name, "none of these", true);
}

static void respects_its_option_table(void **state)
{
	pe_context *ctx = *state;
	const pe_encoder *encoder;
	for (int64_t i = 0; (encoder = next_encoder(i)); i++) {
		struct place place;
		assert_int_equal(make_place(ctx, encoder, 3, &place), PE_OK);
		for (int64_t k = 0; k < encoder->table.option_count; k++) {
			const pe_option_info *option = &encoder->table.options[k];
			if (option->type == PE_OPTION_INT || option->type == PE_OPTION_REAL)
				try_number(ctx, encoder, place.domain, option);
			else if (option->type == PE_OPTION_CHOICE)
				try_choices(ctx, encoder, place.domain, option);
			else if (option->type == PE_OPTION_LIST)
				for (const char *const *v = (const char *const[]){"", "1", "1/2/4", NULL}; *v; v++)
					try_value(ctx, encoder, place.domain, option->name, *v, false);
			else if (option->type == PE_OPTION_STRING)
				for (const char *const *v = (const char *const[]){"", "none", "no such thing", NULL}; *v; v++)
					try_value(ctx, encoder, place.domain, option->name, *v, false);
			else if (option->type == PE_OPTION_BOOL)
				for (const char *v = "01x"; *v; v++)
					try_value(ctx, encoder, place.domain, option->name, (char[]){*v, 0}, *v == 'x');
		}
		leave(&place);
	}
}

static void gives_the_same_bits_at_any_thread_count(void **state)
{
	pe_context *ctx = *state;
	const pe_encoder *encoder;
	for (int64_t k = 0; (encoder = next_encoder(k / 2)); k++) {
		int which = 3 + (int)(k % 2);
		struct place one, many;
		struct result a, b;
		assert_int_equal(make_place(ctx, encoder, which, &one), PE_OK);
		assert_int_equal(run(ctx, encoder, NULL, one.domain, 1, &a), PE_OK);
		for (int32_t threads = 1; threads <= 4; threads *= 2) {
			pe_context *other = xt_context(threads, NULL);
			assert_int_equal(make_place(other, encoder, which, &many), PE_OK);
			assert_int_equal(run(other, encoder, NULL, many.domain, 1, &b), PE_OK);
			assert_true(same_values(&a, &b));
			free_result(&b);
			leave(&many);
			pe_context_destroy(&other);
		}
		free_result(&a);
		leave(&one);
	}
}

/* Elements three apart: the same values, and nothing in between is touched. */
static pe_status take_rows(
	pe_context *worker, void *opaque, int64_t array, int64_t first, const pe_tensor *rows)
{
	struct result *r = opaque;
	(void)worker;
	memcpy(pe_tensor_row(&r->out[array], first), rows->data, (size_t)pe_tensor_bytes(rows));
	return PE_OK;
}

/* What it hands over in parts is what it computes. */
static void streams(void **state)
{
	pe_context *ctx = *state;
	const pe_encoder *encoder;
	for (int64_t k = 0; (encoder = next_encoder(k / 2)); k++) {
		struct place place;
		struct result whole, parts;
		pe_encoding *e;
		int32_t dtypes[PE_MAX_ARRAYS];
		assert_int_equal(make_place(ctx, encoder, k % 2 ? 3 : 0, &place), PE_OK);
		assert_int_equal(run(ctx, encoder, NULL, place.domain, 1, &whole), PE_OK);
		parts = whole;
		allocate(&parts, 1);
		for (int64_t i = 0; i < parts.count; i++)
			dtypes[i] = (int32_t)parts.out[i].dtype;
		assert_int_equal(pe_encoding_create(ctx, encoder, NULL, place.domain, NULL, &e), PE_OK);
		assert_int_equal(pe_encoding_stream(e, dtypes, parts.count, take_rows, &parts), PE_OK);
		assert_true(same_values(&whole, &parts));
		pe_encoding_destroy(&e);
		free_result(&whole);
		free_result(&parts);
		leave(&place);
	}
}

static void keeps_to_its_strides(void **state)
{
	pe_context *ctx = *state;
	const pe_encoder *encoder;
	for (int64_t i = 0; (encoder = next_encoder(i)); i++) {
		struct place place;
		struct result a, b;
		assert_int_equal(make_place(ctx, encoder, 3, &place), PE_OK);
		assert_int_equal(run(ctx, encoder, NULL, place.domain, 1, &a), PE_OK);
		assert_int_equal(run(ctx, encoder, NULL, place.domain, 3, &b), PE_OK);
		assert_true(same_values(&a, &b));
		for (int64_t k = 0; k < b.count; k++) {
			int64_t size = (int64_t)pe_dtype_size(b.info[k].dtype), bytes = 3 * pe_tensor_bytes(&b.out[k]);
			const unsigned char *memory = b.out[k].data;
			for (int64_t at = 0; at < bytes; at++)
				if (at / size % 3 != 0)
					assert_int_equal(memory[at], 0x5A);
		}
		free_result(&a);
		free_result(&b);
		leave(&place);
	}
}

static void refuses_wrong_outputs(void **state)
{
	pe_context *ctx = *state;
	const pe_encoder *encoder;
	for (int64_t i = 0; (encoder = next_encoder(i)); i++) {
		struct place place;
		struct result r = {0};
		pe_encoding *e;
		assert_int_equal(make_place(ctx, encoder, 3, &place), PE_OK);
		assert_int_equal(pe_encoding_create(ctx, encoder, NULL, place.domain, NULL, &e), PE_OK);
		r.count = pe_encoding_array_count(e);
		for (int64_t k = 0; k < r.count; k++)
			assert_int_equal(pe_encoding_array(e, k, &r.info[k]), PE_OK);
		allocate(&r, 1);
		assert_int_equal(pe_encoding_compute(e, r.out, r.count + 1), PE_ERR_ARGUMENT);
		if (r.count == 0) {
			assert_int_equal(pe_encoding_compute(e, NULL, 0), PE_OK);
			pe_encoding_destroy(&e);
			leave(&place);
			continue;
		}
		r.out[0].shape[0]++;
		assert_int_equal(pe_encoding_compute(e, r.out, r.count), PE_ERR_SHAPE);
		r.out[0].shape[0]--;
		r.out[0].dtype = r.info[0].dtype == PE_F64 ? PE_I32 : PE_F64;
		assert_int_equal(pe_encoding_compute(e, r.out, r.count), PE_ERR_SHAPE);
		r.out[0].dtype = r.info[0].dtype;
		r.out[0].strides[0] = 0;
		assert_int_equal(pe_encoding_compute(e, r.out, r.count), PE_ERR_SHAPE);
		assert_int_equal(((unsigned char *)r.out[0].data)[0], 0x5A);
		pe_encoding_destroy(&e);
		free_result(&r);
		leave(&place);
	}
}

/* Out of memory at allocation number 0, 1, …: the status says so, nothing leaks (seen at the end
 * of the group), and the first success equals an undisturbed run. */
static void survives_lack_of_memory(void **state)
{
	pe_context *ctx = *state;
	const pe_encoder *encoder;
	for (int64_t i = 0; (encoder = next_encoder(i)); i++)
		for (int forever = 0; forever < 2; forever++) {
			struct place place;
			struct result a, b;
			assert_int_equal(make_place(ctx, encoder, 3 + forever, &place), PE_OK);
			assert_int_equal(run(ctx, encoder, NULL, place.domain, 1, &a), PE_OK);
			struct xt_shortage s = {.forever = forever};
			while (xt_shortage_next(&s)) {
				xt_shortage_begin(&s);
				xt_shortage_end(&s, run(ctx, encoder, NULL, place.domain, 1, &b));
				assert_true(!s.over || same_values(&a, &b));
				free_result(&b);
			}
			free_result(&a);
			leave(&place);
		}
}

/* ---- sites -------------------------------------------------------------------------- */

enum { BATCH = 2 };

static int64_t option_or(const pe_encoder *encoder, const char *name, int64_t otherwise)
{
	for (int64_t i = 0; i < encoder->table.option_count; i++)
		if (strcmp(encoder->table.options[i].name, name) == 0)
			return strtol(encoder->table.options[i].fallback, NULL, 10);
	return otherwise;
}

/* Numbers in [-1, 1) that differ from each other, in memory of their own. */
static pe_tensor make_numbers(int32_t ndim, const int64_t *shape)
{
	pe_tensor t = pe_tensor_dense(NULL, PE_F64, ndim, shape);
	int64_t count = pe_tensor_count(&t);
	double *x = malloc((size_t)(count + 1) * sizeof *x);
	uint64_t bits = 88172645463325252u;
	for (int64_t i = 0; i < count; i++) {
		bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
		x[i] = (double)(bits >> 11) * 0x1p-52 - 1;
	}
	t.data = x;
	return t;
}

static bool all_equal(const pe_tensor *a, const pe_tensor *b)
{
	return memcmp(a->data, b->data, (size_t)pe_tensor_bytes(a)) == 0;
}

static void are_finite(const pe_encoder *encoder, const pe_tensor *t)
{
	const double *x = t->data;
	for (int64_t i = 0; i < pe_tensor_count(t); i++)
		if (!isfinite(x[i]))
			fail_msg("%s: number %lld is %g", pe_encoder_name(encoder), (long long)i, x[i]);
}

/* y of the site tokens for fixed features; width is found by asking. */
static pe_status apply(
	pe_context *ctx, const pe_encoder *encoder, const pe_domain *domain, bool in_place, pe_tensor *y)
{
	pe_encoding *e;
	PE_TRY(pe_encoding_create(ctx, encoder, NULL, domain, NULL, &e));
	int64_t shape[] = {BATCH, pe_domain_tokens(domain), option_or(encoder, "dim", 8)}, out[3];
	pe_tensor x = make_numbers(3, shape);
	pe_status status = pe_encoding_apply_shape(e, 3, shape, out);
	*y = in_place ? x : make_numbers(3, out);
	if (status == PE_OK && in_place && memcmp(shape, out, sizeof out) != 0)
		*y = make_numbers(3, out);
	if (status == PE_OK)
		status = pe_encoding_apply(e, &x, y);
	if (y->data != x.data)
		free(x.data);
	pe_encoding_destroy(&e);
	return status;
}

/* The same in place and at any thread count, finite, and whole or refused without memory. */
static void acts_on_tokens(void **state)
{
	pe_context *ctx = *state;
	const pe_encoder *encoder;
	for (int64_t i = 0; (encoder = next_encoder(i)); i++)
		for (int which = 0; encoder->tokens && !encoder->over_another && which < DOMAINS - 1; which++) {
			struct place place, other;
			pe_tensor a, b, c;
			pe_context *two = xt_context(2, NULL);
			assert_int_equal(make_place(ctx, encoder, which, &place), PE_OK);
			assert_int_equal(make_place(two, encoder, which, &other), PE_OK);
			if (apply(ctx, encoder, place.domain, false, &a) != PE_OK)
				fail_msg("size %d: %s", which, pe_context_message(ctx));
			are_finite(encoder, &a);
			assert_int_equal(apply(ctx, encoder, place.domain, true, &b), PE_OK);
			assert_int_equal(apply(two, encoder, other.domain, false, &c), PE_OK);
			assert_true(all_equal(&a, &b) && all_equal(&a, &c));
			free(a.data), free(b.data), free(c.data);
			leave(&place);
			leave(&other);
			pe_context_destroy(&two);
		}
}

/* What attention takes for one encoder: lengths from its domains, heads and width from its options. */
struct attention {
	pe_tensor q, k, v, out, lse;
};

static void free_attention(struct attention *a)
{
	free(a->q.data), free(a->k.data), free(a->v.data), free(a->out.data), free(a->lse.data);
}

static struct attention make_attention(const pe_encoder *encoder, const pe_encoding *e)
{
	int64_t heads = e->heads ? e->heads
		: e->key_heads       ? e->key_heads
							 : 2,
			width = option_or(encoder, "head_dim", 8);
	int64_t queries = e->queries->tokens, keys = e->domain->tokens;
	return (struct attention){
		.q = make_numbers(4, (int64_t[]){BATCH, heads, queries, width}),
		.k = make_numbers(4, (int64_t[]){BATCH, heads, keys, width}),
		.v = make_numbers(4, (int64_t[]){BATCH, heads, keys, width}),
		.out = make_numbers(4, (int64_t[]){BATCH, heads, queries, width}),
		.lse = make_numbers(3, (int64_t[]){BATCH, heads, queries}),
	};
}

static bool acts_in_attention(const pe_encoder *encoder)
{
	return !encoder->over_another && (pe_encoder_sites(encoder) & ~(PE_SITE_TOKENS | PE_SITE_SEQUENCE)) != 0;
}

static pe_status attend(
	pe_context *ctx, const pe_encoder *encoder, const pe_domain *keys, int64_t queries, struct attention *a)
{
	pe_domain *last;
	pe_encoding *e = NULL;
	*a = (struct attention){0};
	PE_TRY(pe_domain_tail(ctx, keys, queries, &last));
	pe_encoding_options options = {sizeof options, .queries = last};
	pe_attention_options how = {sizeof how, .core = PE_CORE_REFERENCE, .causal = 1};
	pe_status status = pe_encoding_create(ctx, encoder, NULL, keys, &options, &e);
	if (status == PE_OK) {
		*a = make_attention(encoder, e);
		pe_attention_tensors t = {
			sizeof t, .q = &a->q, .k = &a->k, .v = &a->v, .out = &a->out, .lse = &a->lse};
		status = pe_attend(ctx, &e, 1, &how, &t);
	}
	pe_encoding_destroy(&e);
	pe_domain_destroy(&last);
	return status;
}

/* Only the far positions of the last domain may be refused, as out of range. */
static void attends_at_any_thread_count(void **state)
{
	pe_context *ctx = *state;
	const pe_encoder *encoder;
	for (int64_t i = 0; (encoder = next_encoder(i)); i++)
		for (int which = 0; acts_in_attention(encoder) && which < DOMAINS; which++) {
			struct place place, other;
			struct attention a, b;
			pe_context *four = xt_context(4, NULL);
			assert_int_equal(make_place(ctx, encoder, which, &place), PE_OK);
			assert_int_equal(make_place(four, encoder, which, &other), PE_OK);
			int64_t n = pe_domain_tokens(place.domain);
			pe_status status = attend(ctx, encoder, place.domain, n, &a);
			if (status != PE_OK && !(which == DOMAINS - 1 && status == PE_ERR_RANGE))
				fail_msg("size %d: %s", which, pe_context_message(ctx));
			assert_int_equal(attend(four, encoder, other.domain, n, &b), status);
			if (status == PE_OK) {
				are_finite(encoder, &a.out);
				are_finite(encoder, &a.lse);
				assert_true(all_equal(&a.out, &b.out) && all_equal(&a.lse, &b.lse));
			}
			free_attention(&a);
			free_attention(&b);
			leave(&place);
			leave(&other);
			pe_context_destroy(&four);
		}
}

/* ---- the tiled core against the definition ------------------------------------------- */

static void round_to_f32(pe_tensor *t)
{
	int64_t count = pe_tensor_count(t);
	double *x = t->data;
	float *y = malloc((size_t)(count + 1) * sizeof *y);
	for (int64_t i = 0; i < count; i++)
		y[i] = (float)x[i];
	free(x);
	*t = pe_tensor_dense(y, PE_F32, t->ndim, t->shape);
}

/* Within 2e-5 of the largest value of each row of `width`. */
static void is_near(const pe_encoder *encoder, const pe_tensor *got, const pe_tensor *want, int64_t width)
{
	const float *g = got->data, *w = want->data;
	for (int64_t row = 0; row < pe_tensor_count(want); row += width) {
		double largest = 0;
		for (int64_t c = row; c < row + width; c++)
			largest = fmax(largest, fabs((double)w[c]));
		for (int64_t c = row; c < row + width; c++)
			if (!(fabs((double)g[c] - (double)w[c]) <= 2e-5 * largest))
				fail_msg("%s: number %lld is %g, not %g; the row's largest is %g", pe_encoder_name(encoder),
					(long long)c, (double)g[c], (double)w[c], largest);
	}
}

/* The same encoding with parameters that are nowhere 0, since some begin so and would then say nothing; if
 * it refuses them, it stays. */
static void give_weights(pe_context *ctx, const pe_domain *domain, pe_encoding **e)
{
	const pe_encoder *encoder = (*e)->encoder;
	pe_encoding *other;
	pe_bundle *weights;
	int64_t count = pe_encoding_weight_count(*e);
	pe_tensor *numbers = calloc((size_t)count + 1, sizeof *numbers);
	assert_int_equal(pe_bundle_create(ctx, &weights), PE_OK);
	for (int64_t k = 0; k < count; k++) {
		const char *name;
		pe_tensor view;
		assert_int_equal(pe_encoding_weight_at(*e, k, &name, &view), PE_OK);
		numbers[k] = make_numbers(view.ndim, view.shape);
		assert_int_equal(pe_bundle_add(weights, name, &numbers[k]), PE_OK);
	}
	pe_encoding_options options = {sizeof options, .weights = weights};
	if (pe_encoding_create(ctx, encoder, NULL, domain, &options, &other) == PE_OK) {
		pe_encoding_destroy(e);
		*e = other;
	}
	pe_bundle_destroy(&weights);
	for (int64_t k = 0; k < count; k++)
		free(numbers[k].data);
	free(numbers);
}

static void agree_once(pe_context *ctx, const pe_encoder *encoder, const pe_domain *domain, int causal)
{
	pe_encoding *e;
	if (pe_encoding_create(ctx, encoder, NULL, domain, NULL, &e) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	if (pe_encoder_weight_count(encoder) > 0)
		give_weights(ctx, domain, &e);
	struct attention a = make_attention(encoder, e);
	round_to_f32(&a.q), round_to_f32(&a.k), round_to_f32(&a.v), round_to_f32(&a.out);
	pe_tensor want = a.out;
	want.data = malloc((size_t)pe_tensor_bytes(&want) + 1);
	pe_attention_options how = {sizeof how, .causal = causal};
	pe_attention_tensors t = {sizeof t, .q = &a.q, .k = &a.k, .v = &a.v, .out = &a.out};
	assert_int_equal(pe_attend(ctx, &e, 1, &how, &t), PE_OK);
	how.core = PE_CORE_REFERENCE;
	t.out = &want;
	assert_int_equal(pe_attend(ctx, &e, 1, &how, &t), PE_OK);
	is_near(encoder, &a.out, &want, want.shape[3]);
	free(want.data);
	free_attention(&a);
	pe_encoding_destroy(&e);
}

static void the_tiled_core_agrees(void **state)
{
	static const int64_t lengths[] = {1, 37, 150};
	pe_context *ctx = *state;
	const pe_encoder *encoder;
	for (int64_t i = 0; (encoder = next_encoder(i)); i++)
		for (int k = 0; acts_in_attention(encoder) && encoder->family != PE_GRAPH && k < 3; k++) {
			pe_domain *domain;
			if (encoder->family == PE_SEQ)
				assert_int_equal(pe_domain_sequence(ctx, lengths[k], 0, &domain), PE_OK);
			else
				assert_int_equal(pe_domain_grid(ctx, 1, 1 + 5 * k, 1 + 6 * k, k, &domain), PE_OK);
			agree_once(ctx, encoder, domain, 0);
			agree_once(ctx, encoder, domain, 1);
			pe_domain_destroy(&domain);
		}
}

static void survives_lack_of_memory_in_attention(void **state)
{
	pe_context *ctx = *state;
	const pe_encoder *encoder;
	for (int64_t i = 0; (encoder = next_encoder(i)); i++) {
		struct place place;
		struct attention a;
		if (!acts_in_attention(encoder))
			continue;
		assert_int_equal(make_place(ctx, encoder, 2, &place), PE_OK);
		struct xt_shortage s = {0};
		while (xt_shortage_next(&s)) {
			xt_shortage_begin(&s);
			xt_shortage_end(&s, attend(ctx, encoder, place.domain, 1, &a));
			free_attention(&a);
		}
		leave(&place);
	}
}

/* Parameters given by name make the same encoding as those begun from the seed. */
static void takes_its_own_weights_back(void **state)
{
	pe_context *ctx = *state;
	const pe_encoder *encoder;
	for (int64_t i = 0; (encoder = next_encoder(i)); i++) {
		struct place place;
		pe_encoding *e, *again;
		pe_bundle *weights;
		const char *name;
		pe_tensor view, same;
		if (pe_encoder_weight_count(encoder) == 0)
			continue;
		assert_int_equal(make_place(ctx, encoder, 3, &place), PE_OK);
		assert_int_equal(pe_encoding_create(ctx, encoder, NULL, place.domain, NULL, &e), PE_OK);
		assert_int_equal(pe_bundle_create(ctx, &weights), PE_OK);
		for (int64_t k = 0; k < pe_encoding_weight_count(e); k++) {
			assert_int_equal(pe_encoding_weight_at(e, k, &name, &view), PE_OK);
			assert_int_equal(pe_bundle_add(weights, name, &view), PE_OK);
		}
		pe_encoding_options options = {sizeof options, .weights = weights};
		assert_int_equal(pe_encoding_create(ctx, encoder, NULL, place.domain, &options, &again), PE_OK);
		for (int64_t k = 0; k < pe_encoding_weight_count(e); k++) {
			assert_int_equal(pe_encoding_weight_at(e, k, &name, &view), PE_OK);
			assert_int_equal(pe_encoding_weight_at(again, k, &name, &same), PE_OK);
			assert_true(view.data != same.data && all_equal(&view, &same));
		}
		pe_encoding_destroy(&again);
		pe_encoding_destroy(&e);
		pe_bundle_destroy(&weights);
		leave(&place);
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_what_it_is),
		cmocka_unit_test(is_named_as_its_file),
		cmocka_unit_test(works_on_every_size),
		cmocka_unit_test(respects_its_option_table),
		cmocka_unit_test(gives_the_same_bits_at_any_thread_count),
		cmocka_unit_test(streams),
		cmocka_unit_test(keeps_to_its_strides),
		cmocka_unit_test(refuses_wrong_outputs),
		cmocka_unit_test(survives_lack_of_memory),
		cmocka_unit_test(acts_on_tokens),
		cmocka_unit_test(attends_at_any_thread_count),
		cmocka_unit_test(the_tiled_core_agrees),
		cmocka_unit_test(survives_lack_of_memory_in_attention),
		cmocka_unit_test(takes_its_own_weights_back),
	};
	return xt_run(argc, argv, tests);
}
