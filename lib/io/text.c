/* SPDX-License-Identifier: BSD-2-Clause */
#include "io/text.h"

#include <stdio.h>
#include <string.h>

char *pe_text_room(struct pe_text *text, int64_t room)
{
	int64_t need;
	if (!pe_add(text->size, room, &need) ||
		pe_grow(text->ctx, &text->bytes, &text->capacity, text->size, need, 1) != PE_OK)
		return NULL;
	return text->bytes + text->size;
}

pe_status pe_text_add(struct pe_text *text, const void *bytes, size_t size)
{
	char *room = pe_text_room(text, (int64_t)size);
	if (!room)
		return PE_ERR_NOMEM;
	if (size > 0)
		memcpy(room, bytes, size);
	text->size += (int64_t)size;
	return PE_OK;
}

pe_status pe_text_string(struct pe_text *text, const char *string)
{
	return pe_text_add(text, string, strlen(string));
}

/* Length of the escape put into out for this character, 0 if it needs none. */
static int escape(char c, char out[8])
{
	const char *letters = "\"\\\b\f\n\r\t", *names = "\"\\bfnrt";
	const char *found = c ? strchr(letters, c) : NULL;
	if (found)
		return snprintf(out, 8, "\\%c", names[found - letters]);
	if ((unsigned char)c < 0x20)
		return snprintf(out, 8, "\\u%04x", c);
	return 0;
}

pe_status pe_text_json(struct pe_text *text, const char *string)
{
	PE_TRY(pe_text_string(text, "\""));
	const char *start = string;
	for (; *string; string++) {
		char escaped[8];
		int length = escape(*string, escaped);
		if (length == 0)
			continue;
		PE_TRY(pe_text_add(text, start, (size_t)(string - start)));
		PE_TRY(pe_text_add(text, escaped, (size_t)length));
		start = string + 1;
	}
	PE_TRY(pe_text_add(text, start, (size_t)(string - start)));
	return pe_text_string(text, "\"");
}

void pe_text_free(struct pe_text *text)
{
	pe_free(text->ctx, text->bytes);
	*text = (struct pe_text){.ctx = text->ctx};
}
