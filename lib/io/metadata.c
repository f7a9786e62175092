/* SPDX-License-Identifier: BSD-2-Clause */
#include "io/metadata.h"

#include <jansson.h>
#include <string.h>

pe_status pe_metadata_write(const pe_bundle *bundle, struct pe_text *text)
{
	PE_TRY(pe_text_string(text, "{"));
	for (int64_t i = 0; i < bundle->entry_count; i++) {
		if (i > 0)
			PE_TRY(pe_text_string(text, ","));
		PE_TRY(pe_text_json(text, bundle->entries[i].name));
		PE_TRY(pe_text_string(text, ":"));
		PE_TRY(pe_text_json(text, bundle->entries[i].value));
	}
	return pe_text_string(text, "}");
}

static pe_status set(pe_bundle *bundle, const char *name, const json_t *value)
{
	if (name[0] == '\0' || !pe_is_utf8(name, strlen(name), true))
		return pe_fail(bundle->ctx, PE_ERR_FORMAT, "the metadata have a name that is empty or not printable");
	if (json_is_string(value))
		return pe_bundle_set_metadata(bundle, name, json_string_value(value));
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	if (!text)
		return pe_fail(bundle->ctx, PE_ERR_NOMEM, "out of memory");
	pe_status status = pe_bundle_set_metadata(bundle, name, text);
	free(text);
	return status;
}

pe_status pe_metadata_read(pe_bundle *bundle, const char *bytes, size_t size, bool *is)
{
	json_t *object = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, NULL), *value;
	const char *name;
	pe_status status = PE_OK;
	*is = json_is_object(object);
	if (*is)
		json_object_foreach(object, name, value) if (status == PE_OK) status = set(bundle, name, value);
	json_decref(object);
	return status;
}
