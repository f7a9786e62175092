/* SPDX-License-Identifier: BSD-2-Clause */
#include "sniff.h"

#include <string.h>

bool pe_sniff_has(const char *data, size_t size, const char *word)
{
	size_t length = strlen(word);
	while (size >= length) {
		const char *found = memchr(data, word[0], size - length + 1);
		if (!found)
			return false;
		if (memcmp(found, word, length) == 0)
			return true;
		size -= (size_t)(found + 1 - data);
		data = found + 1;
	}
	return false;
}

size_t pe_sniff_start(const struct pe_source *source)
{
	size_t at = source->size >= 3 && memcmp(source->data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
	while (at < source->size &&
		(source->data[at] == ' ' || (source->data[at] >= '\t' && source->data[at] <= '\r')))
		at++;
	return at;
}

bool pe_sniff_zip_member(const struct pe_source *source, const char *member)
{
	if (source->size < 4 || memcmp(source->data, "PK\3\4", 4) != 0)
		return false;
	size_t window = source->size < PE_SNIFF_WINDOW ? source->size : PE_SNIFF_WINDOW;
	return pe_sniff_has(source->data + source->size - window, window, member);
}
