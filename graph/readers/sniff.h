/* SPDX-License-Identifier: BSD-2-Clause
 * What the recognisers of formats look at. */
#ifndef PE_SNIFF_H
#define PE_SNIFF_H

#include "reader.h"

#define PE_SNIFF_WINDOW ((size_t)1 << 16)

/* Whether word stands in size bytes. */
bool pe_sniff_has(const char *data, size_t size, const char *word);
/* Where the text begins: after a byte order mark, blanks and line ends; source->size if nowhere. */
size_t pe_sniff_start(const struct pe_source *source);
/* A zip archive with a member of this name; only its directory, at the end, is looked at. */
bool pe_sniff_zip_member(const struct pe_source *source, const char *member);

#endif
