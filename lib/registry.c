/* SPDX-License-Identifier: BSD-2-Clause */
#include "registry.h"

#include <string.h>

#define INPUT(name) extern const struct pe_option_table pe_input_##name;
#define X(family, name) extern const struct pe_encoder pe_encoder_##name;
#include "encoders.def"
#undef X
#undef INPUT

static const struct pe_encoder *const encoders[] = {
#define INPUT(name)
#define X(family, name) &pe_encoder_##name,
#include "encoders.def"
#undef X
#undef INPUT
	NULL,
};

#define ENCODERS (PE_COUNT(encoders) - 1)

static const struct pe_option_table *const inputs[] = {
#define INPUT(name) &pe_input_##name,
#define X(family, name)
#include "encoders.def"
#undef X
#undef INPUT
	NULL,
};

int64_t pe_encoder_count(void)
{
	return ENCODERS;
}

const pe_encoder *pe_encoder_at(int64_t index)
{
	return index >= 0 && index < ENCODERS ? encoders[index] : NULL;
}

const pe_encoder *pe_encoder_find(const char *name)
{
	for (int64_t i = 0; name && i < ENCODERS; i++)
		if (strcmp(encoders[i]->table.name, name) == 0)
			return encoders[i];
	return NULL;
}

const struct pe_option_table *pe_find_option_table(const char *name)
{
	const pe_encoder *encoder = pe_encoder_find(name);
	if (encoder)
		return &encoder->table;
	for (int64_t i = 0; inputs[i]; i++)
		if (strcmp(inputs[i]->name, name) == 0)
			return inputs[i];
	return NULL;
}

const char *pe_encoder_name(const pe_encoder *encoder)
{
	return encoder->table.name;
}

pe_family pe_encoder_family(const pe_encoder *encoder)
{
	return encoder->family;
}

const char *pe_family_name(pe_family family)
{
	static const char *const names[] = {[PE_SEQ] = "seq", [PE_VISION] = "vision", [PE_GRAPH] = "graph"};
	return (unsigned)family < PE_COUNT(names) ? names[family] : "?";
}

const char *pe_encoder_summary(const pe_encoder *encoder)
{
	return encoder->summary;
}

const char *pe_encoder_help(const pe_encoder *encoder)
{
	return encoder->help;
}

const char *pe_encoder_source(const pe_encoder *encoder)
{
	return encoder->source;
}

/* Where an encoder over another may act. */
#define ANY_SITE \
	(PE_SITE_TOKENS | PE_SITE_ROTATE | PE_SITE_CONTENT | PE_SITE_SCORES | PE_SITE_HEADS | PE_SITE_WEIGHTS | \
		PE_SITE_VALUES | PE_SITE_SCALE)

int32_t pe_encoder_sites(const pe_encoder *encoder)
{
	int sites = encoder->over_another ? ANY_SITE : 0;
	sites |= encoder->resamples ? PE_SITE_SEQUENCE : 0;
	sites |= encoder->tokens && !encoder->resamples ? PE_SITE_TOKENS : 0;
	sites |= encoder->rotate ? PE_SITE_ROTATE : 0;
	sites |= encoder->content || encoder->content_row ? PE_SITE_CONTENT : 0;
	sites |= encoder->scores || encoder->gains ? PE_SITE_SCORES : 0;
	sites |= encoder->map_heads ? PE_SITE_HEADS : 0;
	sites |= encoder->weights_after ? PE_SITE_WEIGHTS : 0;
	sites |= encoder->values ? PE_SITE_VALUES : 0;
	sites |= encoder->scale ? PE_SITE_SCALE : 0;
	return sites;
}

const char *pe_site_name(pe_site site)
{
	static const struct {
		pe_site site;
		const char *name;
	} names[] = {
		{PE_SITE_SEQUENCE, "sequence"},
		{PE_SITE_TOKENS, "tokens"},
		{PE_SITE_ROTATE, "rotate"},
		{PE_SITE_CONTENT, "content"},
		{PE_SITE_SCORES, "scores"},
		{PE_SITE_HEADS, "heads"},
		{PE_SITE_WEIGHTS, "weights"},
		{PE_SITE_VALUES, "values"},
		{PE_SITE_SCALE, "scale"},
	};
	for (int64_t i = 0; i < PE_COUNT(names); i++)
		if (names[i].site == site)
			return names[i].name;
	return NULL;
}

int64_t pe_encoder_weight_count(const pe_encoder *encoder)
{
	return encoder->weight_count;
}

pe_weight_info pe_encoder_weight(const pe_encoder *encoder, int64_t index)
{
	return encoder->weights[index];
}

const char *pe_encoder_example(const pe_encoder *encoder)
{
	return encoder->example;
}
