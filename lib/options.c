/* SPDX-License-Identifier: BSD-2-Clause */
#include "options.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "option_value.h"
#include "registry.h"

struct pe_params {
	pe_context *ctx;
	const struct pe_option_table *table;
	const pe_preset_info *preset;    /* or NULL */
	struct pe_option_value values[]; /* one an option */
};

/* ---- parameters --------------------------------------------------------------------- */

static int64_t find_option(const struct pe_option_table *table, const char *name, size_t size)
{
	for (int64_t i = 0; i < table->option_count; i++)
		if (strlen(table->options[i].name) == size && memcmp(table->options[i].name, name, size) == 0)
			return i;
	return -1;
}

static pe_status set_value(pe_params *params, int64_t index, const char *text, bool by_name)
{
	struct pe_option_value parsed;
	PE_TRY(pe_option_parse(params->ctx, params->table->name, &params->table->options[index], text, &parsed));
	parsed.by_name = by_name;
	pe_option_clear(params->ctx, &params->values[index]);
	params->values[index] = parsed;
	return PE_OK;
}

pe_status pe_params_from_table(pe_context *ctx, const struct pe_option_table *table, pe_params **out)
{
	*out = NULL;
	pe_params *params =
		pe_alloc_zero(ctx, 1, sizeof *params + (size_t)table->option_count * sizeof params->values[0]);
	if (!params)
		return PE_ERR_NOMEM;
	params->ctx = ctx;
	params->table = table;
	for (int64_t i = 0; i < table->option_count; i++) {
		pe_status status = set_value(params, i, table->options[i].fallback, false);
		if (status != PE_OK) {
			pe_params_destroy(&params);
			return status;
		}
	}
	*out = params;
	return PE_OK;
}

pe_status pe_params_create(pe_context *context, const char *name, pe_params **out)
{
	if (!out)
		return PE_ERR_ARGUMENT;
	*out = NULL;
	if (!context || !name)
		return PE_ERR_ARGUMENT;
	const struct pe_option_table *table = pe_find_option_table(name);
	if (!table)
		return pe_fail(context, PE_ERR_ARGUMENT, "there is no encoder \"%s\"", name);
	return pe_params_from_table(context, table, out);
}

pe_status pe_params_copy(pe_context *ctx, const pe_params *params, pe_params **out)
{
	PE_TRY(pe_params_from_table(ctx, params->table, out));
	for (int64_t i = 0; i < params->table->option_count; i++) {
		pe_status status = set_value(*out, i, params->values[i].text, params->values[i].by_name);
		if (status != PE_OK) {
			pe_params_destroy(out);
			return status;
		}
	}
	(*out)->preset = params->preset;
	return PE_OK;
}

void pe_params_destroy(pe_params **address)
{
	if (!address || !*address)
		return;
	pe_params *params = *address;
	*address = NULL;
	for (int64_t i = 0; i < params->table->option_count; i++)
		pe_option_clear(params->ctx, &params->values[i]);
	pe_free(params->ctx, params);
}

/* ---- presets ------------------------------------------------------------------------ */

static const pe_preset_info *find_preset(const struct pe_option_table *table, const char *name)
{
	for (int64_t i = 0; i < table->preset_count; i++)
		if (strcmp(table->presets[i].name, name) == 0)
			return &table->presets[i];
	return NULL;
}

/* The text that the preset gives to an option, or the default. To be freed. */
static char *preset_text(pe_context *ctx, const pe_preset_info *preset, const pe_option_info *option)
{
	size_t name = strlen(option->name);
	for (const char *at = preset->settings; *at; at += *at == ',') {
		size_t size = strcspn(at, ",");
		if (size > name && at[name] == '=' && memcmp(at, option->name, name) == 0) {
			char *text = pe_strdup(ctx, at + name + 1);
			if (text)
				text[size - name - 1] = '\0';
			return text;
		}
		at += size;
	}
	return pe_strdup(ctx, option->fallback);
}

static pe_status parse_from_preset(
	const pe_params *params, int64_t index, const pe_preset_info *preset, struct pe_option_value *out)
{
	const pe_option_info *option = &params->table->options[index];
	char *text = preset_text(params->ctx, preset, option);
	if (!text)
		return PE_ERR_NOMEM;
	pe_status status = pe_option_parse(params->ctx, params->table->name, option, text, out);
	pe_free(params->ctx, text);
	return status;
}

/* All values are there before the first one is taken. */
static pe_status apply_preset(pe_params *params, const pe_preset_info *preset)
{
	int64_t count = params->table->option_count;
	struct pe_option_value *fresh = pe_alloc_zero(params->ctx, count, sizeof *fresh);
	if (!fresh)
		return PE_ERR_NOMEM;
	pe_status status = PE_OK;
	for (int64_t i = 0; i < count && status == PE_OK; i++)
		if (!params->values[i].by_name)
			status = parse_from_preset(params, i, preset, &fresh[i]);
	for (int64_t i = 0; i < count; i++) {
		if (status == PE_OK && !params->values[i].by_name) {
			struct pe_option_value old = params->values[i];
			params->values[i] = fresh[i];
			fresh[i] = old;
		}
		pe_option_clear(params->ctx, &fresh[i]);
	}
	pe_free(params->ctx, fresh);
	return status;
}

static pe_status set_preset(pe_params *params, const char *name)
{
	const struct pe_option_table *table = params->table;
	const pe_preset_info *preset = find_preset(table, name);
	if (!preset)
		return pe_fail(params->ctx, PE_ERR_RANGE,
			table->preset_count ? "%s: preset: there is no preset \"%s\"" : "%s has no presets: \"%s\"",
			table->name, name);
	PE_TRY(apply_preset(params, preset));
	params->preset = preset;
	return PE_OK;
}

pe_status pe_params_set(pe_params *params, const char *name, const char *text)
{
	if (!params || !name || !text)
		return PE_ERR_ARGUMENT;
	int64_t index = find_option(params->table, name, strlen(name));
	if (index >= 0)
		return set_value(params, index, text, true);
	if (strcmp(name, "preset") == 0)
		return set_preset(params, text);
	return pe_fail(params->ctx, PE_ERR_ARGUMENT, "%s has no option \"%s\"", params->table->name, name);
}

/* ---- reading ------------------------------------------------------------------------ */

const char *pe_params_get(const pe_params *params, const char *name)
{
	if (!params || !name)
		return NULL;
	int64_t index = find_option(params->table, name, strlen(name));
	if (index >= 0)
		return params->values[index].text;
	return strcmp(name, "preset") == 0 && params->preset ? params->preset->name : NULL;
}

int64_t pe_params_count(const pe_params *params)
{
	return params ? params->table->option_count : 0;
}

pe_option_info pe_params_option(const pe_params *params, int64_t index)
{
	return params->table->options[index];
}

int64_t pe_params_preset_count(const pe_params *params)
{
	return params ? params->table->preset_count : 0;
}

pe_preset_info pe_params_preset(const pe_params *params, int64_t index)
{
	return params->table->presets[index];
}

const struct pe_option_table *pe_params_table(const pe_params *params)
{
	return params->table;
}

static const struct pe_option_value *look_up(const pe_params *params, const char *name)
{
	int64_t index = find_option(params->table, name, strlen(name));
	assert(index >= 0);
	return &params->values[index];
}

static const struct pe_option_value *look_up_type(
	const pe_params *params, const char *name, pe_option_type type)
{
	const struct pe_option_value *value = look_up(params, name);
	assert(params->table->options[value - params->values].type == type);
	(void)type;
	return value;
}

int64_t pe_params_int(const pe_params *params, const char *name)
{
	return look_up_type(params, name, PE_OPTION_INT)->integer;
}

double pe_params_real(const pe_params *params, const char *name)
{
	return look_up_type(params, name, PE_OPTION_REAL)->real;
}

bool pe_params_bool(const pe_params *params, const char *name)
{
	return look_up_type(params, name, PE_OPTION_BOOL)->integer != 0;
}

int pe_params_choice(const pe_params *params, const char *name)
{
	return (int)look_up_type(params, name, PE_OPTION_CHOICE)->integer;
}

const char *pe_params_text(const pe_params *params, const char *name)
{
	return look_up(params, name)->text;
}

const double *pe_params_list(const pe_params *params, const char *name, int64_t *count)
{
	const struct pe_option_value *value = look_up_type(params, name, PE_OPTION_LIST);
	*count = value->count;
	return value->list;
}

bool pe_params_is_set(const pe_params *params, const char *name)
{
	return look_up(params, name)->by_name;
}

bool pe_params_preset_is(const pe_params *params, const char *name)
{
	return params->preset && strcmp(params->preset->name, name) == 0;
}

bool pe_params_has(const pe_params *params, const char *name)
{
	return find_option(params->table, name, strlen(name)) >= 0;
}

pe_option_info pe_params_info(const pe_params *params, const char *name)
{
	return params->table->options[look_up(params, name) - params->values];
}

bool pe_params_is_default(const pe_params *params, const char *name)
{
	const struct pe_option_value *value = look_up(params, name);
	return !value->by_name &&
		strcmp(value->text, params->table->options[value - params->values].fallback) == 0;
}

pe_status pe_params_fill_text(pe_params *params, const char *name, const char *text)
{
	return set_value(params, look_up(params, name) - params->values, text, false);
}

pe_status pe_params_fill(pe_params *params, const char *name, int64_t number)
{
	char text[24];
	snprintf(text, sizeof text, "%lld", (long long)number);
	return pe_params_fill_text(params, name, text);
}
