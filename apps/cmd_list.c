/* SPDX-License-Identifier: BSD-2-Clause
 * posenc list [FAMILY]: the encoders. */
#include <stdio.h>
#include <string.h>

#include "report.h"
#include "yields.h"

static const char *option_type_name(pe_option_type type)
{
	static const char *const names[] = {[PE_OPTION_INT] = "integer",
		[PE_OPTION_REAL] = "number",
		[PE_OPTION_BOOL] = "0 or 1",
		[PE_OPTION_CHOICE] = "choice",
		[PE_OPTION_LIST] = "list",
		[PE_OPTION_STRING] = "text"};
	return names[type];
}

static json_t *option_json(const pe_option_info *option)
{
	json_t *out = json_pack("{s:s, s:s, s:s, s:s}", "name", option->name, "type",
		option_type_name(option->type), "default", option->fallback, "help", option->help);
	if (option->choices)
		json_object_set_new(out, "range", json_string(option->choices));
	else if (option->type != PE_OPTION_STRING)
		json_object_set_new(out, "range", json_pack("[f, f]", option->min, option->max));
	return out;
}

static json_t *arrays_json(const pe_encoder *encoder)
{
	struct yields yields;
	json_t *out = json_array();
	if (yields_find(encoder, NULL, &yields) != PE_OK)
		return out;
	for (int64_t i = 0; i < yields.count; i++) {
		const struct yields_array *array = &yields.arrays[i];
		json_t *shape = json_array();
		for (int32_t d = 0; d < array->ndim; d++)
			json_array_append_new(shape,
				array->sides[d].words ? json_string(array->sides[d].words)
									  : json_integer(array->sides[d].number));
		json_array_append_new(out,
			json_pack("{s:s, s:s, s:o}", "name", array->name, "dtype",
				array->dtype == PE_F64 ? "float" : pe_dtype_name(array->dtype), "shape", shape));
	}
	return out;
}

static json_t *encoder_json(const pe_encoder *encoder, const pe_params *params)
{
	json_t *options = json_array(), *presets = json_array(), *weights = json_array(), *sites = json_array();
	for (int site = PE_SITE_SEQUENCE; site <= PE_SITE_SCALE; site *= 2)
		if (pe_encoder_sites(encoder) & site)
			json_array_append_new(sites, json_string(pe_site_name((pe_site)site)));
	for (int64_t i = 0; i < pe_encoder_weight_count(encoder); i++) {
		pe_weight_info w = pe_encoder_weight(encoder, i);
		json_array_append_new(weights,
			json_pack("{s:s, s:s, s:s, s:s}", "name", w.name, "shape", w.shape, "initial", w.initial, "help",
				w.help));
	}
	for (int64_t i = 0; i < pe_params_count(params); i++) {
		pe_option_info option = pe_params_option(params, i);
		json_array_append_new(options, option_json(&option));
	}
	for (int64_t i = 0; i < pe_params_preset_count(params); i++) {
		pe_preset_info preset = pe_params_preset(params, i);
		json_array_append_new(presets,
			json_pack(
				"{s:s, s:s, s:s}", "name", preset.name, "settings", preset.settings, "help", preset.help));
	}
	return json_pack("{s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:s}", "name", pe_encoder_name(encoder),
		"family", pe_family_name(pe_encoder_family(encoder)), "sites", sites, "summary",
		pe_encoder_summary(encoder), "options", options, "arrays", arrays_json(encoder), "weights", weights,
		"presets", presets, "source", pe_encoder_source(encoder));
}

static int print_all_json(struct cli *cli, const char *family)
{
	json_t *all = json_array();
	for (int64_t i = 0; i < pe_encoder_count(); i++) {
		const pe_encoder *encoder = pe_encoder_at(i);
		if (family && strcmp(family, pe_family_name(pe_encoder_family(encoder))) != 0)
			continue;
		pe_params *params;
		pe_status status = pe_params_create(cli->ctx, pe_encoder_name(encoder), &params);
		if (status != PE_OK) {
			json_decref(all);
			return report_status(cli, status);
		}
		json_array_append_new(all, encoder_json(encoder, params));
		pe_params_destroy(&params);
	}
	print_json(all);
	return EXIT_DONE;
}

static bool is_family(const char *name)
{
	for (pe_family f = PE_SEQ; f <= PE_GRAPH; f++)
		if (strcmp(name, pe_family_name(f)) == 0)
			return true;
	return false;
}

static int run_list(struct cli *cli)
{
	const char *family = cli->operand_count ? cli->operands[0] : NULL;
	if (cli->operand_count > 1 || (family && !is_family(family)))
		return usage_error(cli, "list takes nothing, or one of seq, vision, graph");
	if (cli->json)
		return print_all_json(cli, family);
	for (int64_t i = 0; i < pe_encoder_count(); i++) {
		const pe_encoder *encoder = pe_encoder_at(i);
		const char *of = pe_family_name(pe_encoder_family(encoder));
		if (!family || strcmp(family, of) == 0)
			printf("%-7s %-14s %s\n", of, pe_encoder_name(encoder), pe_encoder_summary(encoder));
	}
	return EXIT_DONE;
}

const struct command command_list = {
	.name = "list",
	.usage = "list [seq|vision|graph]",
	.summary = "the encoders, one line each",
	.run = run_list,
};
