/* SPDX-License-Identifier: BSD-2-Clause */
#include "option_value.h"

#include <string.h>

#include "number.h"

/* ---- by type: PE_ERR_RANGE, without a message, if the text is no such value ------------------- */

static bool in_range(const pe_option_info *option, double x)
{
	return x >= option->min && x <= option->max; /* false for NaN */
}

static bool parse_integer(const pe_option_info *option, const char *text, int64_t *out)
{
	return pe_parse_i64(text, strlen(text), out) && in_range(option, (double)*out);
}

static bool parse_real(const pe_option_info *option, const char *text, size_t size, double *out)
{
	return pe_parse_f64(text, size, out) && in_range(option, *out);
}

static bool parse_bool(const char *text, int64_t *out)
{
	*out = text[0] - '0';
	return (*out == 0 || *out == 1) && text[1] == '\0';
}

/* The place of text among words separated by '|'. */
static bool parse_choice(const char *words, const char *text, int64_t *place)
{
	size_t size = strlen(text);
	for (*place = 0;; ++*place) {
		size_t word = strcspn(words, "|");
		if (word == size && memcmp(words, text, size) == 0)
			return true;
		if (words[word] == '\0')
			return false;
		words += word + 1;
	}
}

static pe_status parse_list(
	pe_context *ctx, const pe_option_info *option, const char *text, struct pe_option_value *out)
{
	if (text[0] == '\0')
		return PE_OK;
	int64_t count = 1;
	for (const char *c = text; *c; c++)
		count += *c == '/';
	out->list = pe_alloc(ctx, count, sizeof *out->list);
	if (!out->list)
		return PE_ERR_NOMEM;
	for (; out->count < count; out->count++) {
		size_t size = strcspn(text, "/");
		if (!parse_real(option, text, size, &out->list[out->count]))
			return PE_ERR_RANGE;
		text += size + 1;
	}
	return PE_OK;
}

static pe_status parse(
	pe_context *ctx, const pe_option_info *option, const char *text, struct pe_option_value *out)
{
	bool good = true;
	switch (option->type) {
	case PE_OPTION_INT:
		good = parse_integer(option, text, &out->integer);
		break;
	case PE_OPTION_REAL:
		good = parse_real(option, text, strlen(text), &out->real);
		break;
	case PE_OPTION_BOOL:
		good = parse_bool(text, &out->integer);
		break;
	case PE_OPTION_CHOICE:
		good = parse_choice(option->choices, text, &out->integer);
		break;
	case PE_OPTION_LIST:
		return parse_list(ctx, option, text, out);
	case PE_OPTION_STRING:
		break;
	}
	return good ? PE_OK : PE_ERR_RANGE;
}

/* ---- any ------------------------------------------------------------------------------ */

static pe_status refuse(pe_context *ctx, const char *table, const pe_option_info *option, const char *text)
{
	const char *kind = option->type == PE_OPTION_INT ? "an integer"
		: option->type == PE_OPTION_REAL             ? "a number"
													 : "a list, written 16/24/24, of numbers";
	char low[32], high[32];
	if (option->type == PE_OPTION_BOOL)
		return pe_fail(ctx, PE_ERR_RANGE, "%s: %s: \"%s\" is not 0 or 1", table, option->name, text);
	if (option->type == PE_OPTION_CHOICE)
		return pe_fail(
			ctx, PE_ERR_RANGE, "%s: %s: \"%s\" is not one of %s", table, option->name, text, option->choices);
	pe_format_f64(low, option->min, 15);
	pe_format_f64(high, option->max, 15);
	return pe_fail(ctx, PE_ERR_RANGE, "%s: %s: \"%s\" is not %s from %s to %s", table, option->name, text,
		kind, low, high);
}

void pe_option_clear(pe_context *ctx, struct pe_option_value *value)
{
	pe_free(ctx, value->text);
	pe_free(ctx, value->list);
	*value = (struct pe_option_value){0};
}

pe_status pe_option_parse(pe_context *ctx, const char *table, const pe_option_info *option, const char *text,
	struct pe_option_value *out)
{
	*out = (struct pe_option_value){0};
	pe_status status = parse(ctx, option, text, out);
	if (status == PE_ERR_RANGE)
		status = refuse(ctx, table, option, text);
	if (status == PE_OK && !(out->text = pe_strdup(ctx, text)))
		status = PE_ERR_NOMEM;
	if (status != PE_OK)
		pe_option_clear(ctx, out);
	return status;
}
