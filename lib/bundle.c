/* SPDX-License-Identifier: BSD-2-Clause */
#include "bundle.h"

#include <string.h>

#include "io/npz_stream.h"
#include "tensor.h"

#define MAX_NAME 255

pe_status pe_bundle_create(pe_context *context, pe_bundle **out)
{
	if (!context || !out)
		return PE_ERR_ARGUMENT;
	*out = pe_alloc_zero(context, 1, sizeof **out);
	if (!*out)
		return PE_ERR_NOMEM;
	(*out)->ctx = context;
	return PE_OK;
}

void pe_bundle_destroy(pe_bundle **bundle)
{
	if (!bundle || !*bundle)
		return;
	pe_bundle *b = *bundle;
	*bundle = NULL;
	pe_npz_stream_free(b->stream);
	for (int64_t i = 0; i < b->count; i++) {
		pe_free(b->ctx, b->arrays[i].name);
		pe_free(b->ctx, b->arrays[i].owned);
	}
	for (int64_t i = 0; i < b->entry_count; i++) {
		pe_free(b->ctx, b->entries[i].name);
		pe_free(b->ctx, b->entries[i].value);
	}
	pe_free(b->ctx, b->arrays);
	pe_free(b->ctx, b->entries);
	pe_free(b->ctx, b->bytes);
	pe_free(b->ctx, b);
}

static const struct pe_bundle_array *find(const pe_bundle *b, const char *name)
{
	for (int64_t i = 0; i < b->count; i++)
		if (strcmp(b->arrays[i].name, name) == 0)
			return &b->arrays[i];
	return NULL;
}

const char *pe_bundle_name_fault(const pe_bundle *bundle, const char *name)
{
	size_t length = strlen(name);
	if (length == 0 || length > MAX_NAME)
		return "is not a name of 1 to 255 bytes";
	if (!pe_is_utf8(name, length, true))
		return "is not a name in UTF-8 without control characters";
	return find(bundle, name) ? "is there twice" : NULL;
}

pe_status pe_bundle_adopt(pe_bundle *bundle, const char *name, const pe_tensor *tensor, void *owned)
{
	pe_bundle *b = bundle;
	const char *fault = pe_bundle_name_fault(b, name);
	if (fault)
		return pe_fail(b->ctx, PE_ERR_ARGUMENT, "array \"%.255s\" %s", name, fault);
	PE_TRY(pe_grow(b->ctx, &b->arrays, &b->capacity, b->count, b->count + 1, sizeof *b->arrays));
	char *copy = pe_strdup(b->ctx, name);
	if (!copy)
		return PE_ERR_NOMEM;
	b->arrays[b->count++] = (struct pe_bundle_array){.name = copy, .tensor = *tensor, .owned = owned};
	return PE_OK;
}

/* Whether a part between '/' is empty, "." or "..": some unpack files by the names inside. */
static bool leads_astray(const char *name)
{
	for (;; name++) {
		size_t part = strcspn(name, "/");
		if (part <= 2 && strspn(name, ".") >= part)
			return true;
		name += part;
		if (!*name)
			return false;
	}
}

static pe_status check_array(pe_bundle *b, const char *name, const pe_tensor *tensor)
{
	if (strchr(name, '/') && leads_astray(name))
		return pe_fail(b->ctx, PE_ERR_ARGUMENT,
			"an array's name cannot have an empty part, . or .. beside a '/': %.255s", name);
	if (pe_tensor_bytes(tensor) < 0)
		return pe_fail(b->ctx, PE_ERR_SHAPE, "the type or shape of %.255s is not valid", name);
	return PE_OK;
}

pe_status pe_bundle_add(pe_bundle *bundle, const char *name, const pe_tensor *tensor)
{
	if (!bundle || !name || !tensor)
		return PE_ERR_ARGUMENT;
	PE_TRY(check_array(bundle, name, tensor));
	if (pe_tensor_bytes(tensor) > 0 && !tensor->data)
		return pe_fail(bundle->ctx, PE_ERR_ARGUMENT, "%.255s has no data", name);
	return pe_bundle_adopt(bundle, name, tensor, NULL);
}

pe_status pe_bundle_await(
	pe_bundle *bundle, const char *name, pe_dtype dtype, int32_t ndim, const int64_t *shape)
{
	if (!bundle || !name || !shape)
		return PE_ERR_ARGUMENT;
	if (ndim < 1 || ndim > PE_MAX_DIMS)
		return pe_fail(bundle->ctx, PE_ERR_ARGUMENT,
			"%.255s has %d dimensions: what comes in rows has 1 to %d", name, (int)ndim, PE_MAX_DIMS);
	pe_tensor tensor = pe_tensor_dense(NULL, dtype, ndim, shape);
	if (bundle->stream)
		return pe_fail(bundle->ctx, PE_ERR_ARGUMENT, "%.255s comes too late: the file has begun", name);
	PE_TRY(check_array(bundle, name, &tensor));
	PE_TRY(pe_bundle_adopt(bundle, name, &tensor, NULL));
	bundle->arrays[bundle->count - 1].awaited = true;
	return PE_OK;
}

pe_status pe_bundle_check_data(pe_context *ctx, const pe_bundle *bundle)
{
	for (int64_t i = 0; bundle && i < bundle->count; i++)
		if (bundle->arrays[i].awaited)
			return pe_fail(ctx, PE_ERR_ARGUMENT,
				"the rows of %s are not there: they go to the file of pe_bundle_begin alone",
				bundle->arrays[i].name);
	return PE_OK;
}

static struct pe_bundle_entry *find_entry(const pe_bundle *b, const char *name)
{
	for (int64_t i = 0; i < b->entry_count; i++)
		if (strcmp(b->entries[i].name, name) == 0)
			return &b->entries[i];
	return NULL;
}

static pe_status add_entry(pe_bundle *b, const char *name, char *value)
{
	PE_TRY(pe_grow(
		b->ctx, &b->entries, &b->entry_capacity, b->entry_count, b->entry_count + 1, sizeof *b->entries));
	char *copy = pe_strdup(b->ctx, name);
	if (!copy)
		return PE_ERR_NOMEM;
	b->entries[b->entry_count++] = (struct pe_bundle_entry){.name = copy, .value = value};
	return PE_OK;
}

pe_status pe_bundle_set_metadata(pe_bundle *bundle, const char *name, const char *value)
{
	if (!bundle || !name || !value)
		return PE_ERR_ARGUMENT;
	pe_bundle *b = bundle;
	if (name[0] == '\0' || !pe_is_utf8(name, strlen(name), true) || !pe_is_utf8(value, strlen(value), false))
		return pe_fail(b->ctx, PE_ERR_ARGUMENT, "names and values of metadata must be UTF-8");
	char *copy = pe_strdup(b->ctx, value);
	if (!copy)
		return PE_ERR_NOMEM;
	struct pe_bundle_entry *entry = find_entry(b, name);
	if (entry) {
		pe_free(b->ctx, entry->value);
		entry->value = copy;
		return PE_OK;
	}
	pe_status status = add_entry(b, name, copy);
	if (status != PE_OK)
		pe_free(b->ctx, copy);
	return status;
}

double pe_bundle_sync_seconds(const pe_bundle *bundle)
{
	return bundle ? bundle->sync_seconds : 0;
}

int64_t pe_bundle_count(const pe_bundle *bundle)
{
	return bundle ? bundle->count : 0;
}

pe_status pe_bundle_at(const pe_bundle *bundle, int64_t index, const char **name, pe_tensor *out)
{
	if (!bundle)
		return PE_ERR_ARGUMENT;
	if (index < 0 || index >= bundle->count)
		return pe_fail(bundle->ctx, PE_ERR_ARGUMENT, "there are %lld arrays, and no number %lld",
			(long long)bundle->count, (long long)index);
	if (name)
		*name = bundle->arrays[index].name;
	if (out)
		*out = bundle->arrays[index].tensor;
	return PE_OK;
}

int pe_bundle_find(const pe_bundle *bundle, const char *name, pe_tensor *out)
{
	const struct pe_bundle_array *array = bundle && name ? find(bundle, name) : NULL;
	if (array && out)
		*out = array->tensor;
	return array != NULL;
}

int pe_bundle_is_widened(const pe_bundle *bundle, int64_t index)
{
	return bundle && index >= 0 && index < bundle->count && bundle->arrays[index].widened;
}

const char *pe_bundle_metadata(const pe_bundle *bundle, const char *name)
{
	const struct pe_bundle_entry *entry = bundle && name ? find_entry(bundle, name) : NULL;
	return entry ? entry->value : NULL;
}

int64_t pe_bundle_metadata_count(const pe_bundle *bundle)
{
	return bundle ? bundle->entry_count : 0;
}

const char *pe_bundle_metadata_name(const pe_bundle *bundle, int64_t index)
{
	return bundle && index >= 0 && index < bundle->entry_count ? bundle->entries[index].name : NULL;
}
