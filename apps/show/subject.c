/* SPDX-License-Identifier: BSD-2-Clause */
#include "subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LISTED 8 /* arrays named in a message */

void subject_add(struct subject *subject, struct numbers numbers)
{
	struct numbers *larger = get_memory((size_t)subject->count + 1, sizeof *larger);
	if (subject->count)
		memcpy(larger, subject->arrays, (size_t)subject->count * sizeof *larger);
	free(subject->arrays);
	subject->arrays = larger;
	larger[subject->count++] = numbers;
}

void subject_free(struct subject *subject)
{
	for (int i = 0; i < subject->count; i++)
		numbers_free(&subject->arrays[i]);
	free(subject->arrays);
	numbers_free(&subject->before);
	numbers_free(&subject->after);
}

bool numbers_are_called(const struct numbers *numbers, const char *name)
{
	size_t size = strlen(numbers->name), tail = strlen(name);
	return ends_with(numbers->name, name) && (size == tail || numbers->name[size - tail - 1] == '.');
}

const struct numbers *subject_find(const struct subject *subject, const char *name)
{
	for (int i = 0; i < subject->count; i++)
		if (numbers_are_called(&subject->arrays[i], name))
			return &subject->arrays[i];
	return NULL;
}

/* ---- options ------------------------------------------------------------------------ */

bool option_is_told(const pe_option_info *option, const char *value)
{
	static const char *const sizes[] = {"dim", "heads", "head_dim", "k", "steps", "window", "base"};
	if (!value || !value[0])
		return false;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		if (strcmp(option->name, sizes[i]) == 0)
			return strcmp(value, "0") != 0;
	return strcmp(value, option->fallback) != 0;
}

void add_option(char *out, size_t size, const char *name, const char *value)
{
	size_t used = strlen(out);
	snprintf(out + used, size - used, "%s%s%s%s", used ? ", " : "", name, value[0] ? "=" : "", value);
}

/* ---- rows --------------------------------------------------------------------------- */

/* Can this be read as a row of numbers a token? */
static bool has_rows(const struct numbers *n)
{
	return n->ndim >= 2 && !n->whole && numbers_count(n) > 0 && n->per_token;
}

static const struct numbers *first_with_rows(const struct subject *subject)
{
	for (int i = 0; i < subject->count; i++)
		if (has_rows(&subject->arrays[i]))
			return &subject->arrays[i];
	return NULL;
}

void list_arrays(const struct subject *subject, char *out, size_t size)
{
	size_t used = 0;
	out[0] = '\0';
	for (int i = 0; i < subject->count && used < size; i++) {
		const struct numbers *n = &subject->arrays[i];
		if (i == MOST_LISTED) {
			snprintf(out + used, size - used, " and %d more", subject->count - i);
			return;
		}
		used += (size_t)snprintf(out + used, size - used, "%s%s (", i ? ", " : "", n->name);
		for (int32_t d = 0; d < n->ndim && used < size; d++)
			used +=
				(size_t)snprintf(out + used, size - used, "%s%lld", d ? ", " : "", (long long)n->shape[d]);
		if (used < size)
			used += (size_t)snprintf(out + used, size - used, ")");
	}
}

void refuse_arrays(const struct subject *subject, const char *what, char *why, size_t size)
{
	char list[400];
	list_arrays(subject, list, sizeof list);
	if (subject->file && subject->count > 0)
		snprintf(why, size, "%s holds no %s that is known by name and shape: there is %s; choose by --array",
			subject->name, what, list);
	else
		snprintf(why, size, "%s yields no %s", subject->name, what);
}

static void refuse(const struct subject *subject, const char *chosen, char *why, size_t size)
{
	if (chosen)
		snprintf(why, size, "%s has no row of numbers a token", chosen);
	else if (subject->tokens_only)
		snprintf(why, size, "%s acts on features and gives no row of numbers a token: give it --tokens",
			subject->name);
	else
		refuse_arrays(subject, "row of numbers a token", why, size);
}

/* Rows of a beside rows of b, or of a alone. */
static void copy_rows(const struct numbers *a, const struct numbers *b, struct rows *out)
{
	int64_t wide = a->shape[a->ndim - 1], wide_b = b ? b->shape[b->ndim - 1] : 0;
	out->name = a->name;
	out->count = a->shape[a->ndim - 2];
	out->width = wide + wide_b;
	out->values = get_memory((size_t)(out->count * out->width), sizeof *out->values);
	for (int64_t i = 0; i < out->count; i++) {
		double *row = out->values + i * out->width;
		memcpy(row, a->values + i * wide, (size_t)wide * sizeof *row);
		if (b)
			memcpy(row + wide, b->values + i * wide_b, (size_t)wide_b * sizeof *row);
	}
}

const struct numbers *subject_sine(const struct subject *subject, const struct numbers *cosine)
{
	const struct numbers *sine = subject_find(subject, "sin");
	size_t size = (size_t)cosine->ndim * sizeof *cosine->shape;
	if (!numbers_are_called(cosine, "cos") || !sine || sine->ndim != cosine->ndim)
		return NULL;
	return memcmp(sine->shape, cosine->shape, size) == 0 ? sine : NULL;
}

bool subject_rows(const struct subject *subject, const char *chosen, struct rows *out, char *why, size_t size)
{
	const struct numbers *a = chosen ? subject_find(subject, chosen) : first_with_rows(subject), *b = NULL;
	if (!a || a->ndim < 2 || numbers_count(a) == 0 || (!subject->file && !a->per_token)) {
		refuse(subject, chosen, why, size);
		return false;
	}
	if (!chosen)
		b = subject_sine(subject, a);
	copy_rows(a, b, out);
	return true;
}

const struct numbers *subject_bias(const struct subject *subject, const char *chosen)
{
	for (int i = 0; i < subject->count; i++) {
		const struct numbers *n = &subject->arrays[i];
		bool named = chosen ? numbers_are_called(n, chosen) : n->known && numbers_are_called(n, "bias");
		bool alone = n->ndim == 3 && !chosen && subject->file &&
			strcmp(n->name, "array") == 0 && /* of an .npy file */
			n->shape[1] == n->shape[2];
		if (n->ndim == 3 && numbers_count(n) > 0 && (named || alone))
			return n;
	}
	return NULL;
}
