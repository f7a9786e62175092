/* SPDX-License-Identifier: BSD-2-Clause
 * Bytes that grow: text and records that are put together before they are written. */
#ifndef PE_TEXT_H
#define PE_TEXT_H

#include "context.h"

struct pe_text {
	pe_context *ctx;
	char *bytes;
	int64_t size, capacity;
};

/* Memory for `room` more bytes after the last, not yet counted; NULL if there is none. */
char *pe_text_room(struct pe_text *text, int64_t room) PE_NODISCARD;
pe_status pe_text_add(struct pe_text *text, const void *bytes, size_t size) PE_NODISCARD;
pe_status pe_text_string(struct pe_text *text, const char *string) PE_NODISCARD;
/* The string as JSON, with quotes. It must be UTF-8. */
pe_status pe_text_json(struct pe_text *text, const char *string) PE_NODISCARD;
void pe_text_free(struct pe_text *text);

#endif
