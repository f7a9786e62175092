/* SPDX-License-Identifier: BSD-2-Clause
 * The file formats of bundles.
 *
 * Readers add to a fresh bundle what the bytes hold. The bytes live as long as the bundle and are
 * its own, for views stand on them. source names them in messages: "SOURCE: what is wrong". */
#ifndef PE_FORMATS_H
#define PE_FORMATS_H

#include "bundle.h"
#include "io/file_sink.h"
#include "io/zip.h"

pe_status pe_npy_read(
	pe_bundle *bundle, const char *array, const char *bytes, size_t size, const char *source) PE_NODISCARD;
pe_status pe_npz_read(pe_bundle *bundle, const char *bytes, size_t size, const char *source) PE_NODISCARD;
pe_status pe_safetensors_read(
	pe_bundle *bundle, const char *bytes, size_t size, const char *source) PE_NODISCARD;
/* All .npy of a directory, in order of name, and metadata.json. */
pe_status pe_npy_dir_read(pe_bundle *bundle, const char *path) PE_NODISCARD;

bool pe_is_npy(const char *bytes, size_t size);
bool pe_is_zip(const char *bytes, size_t size);
bool pe_is_safetensors(const char *bytes, size_t size);

/* What a format cannot hold is refused here, before anything is opened. */
pe_status pe_npy_check(const pe_bundle *bundle) PE_NODISCARD;
pe_status pe_npz_check(const pe_bundle *bundle) PE_NODISCARD;
pe_status pe_safetensors_check(const pe_bundle *bundle) PE_NODISCARD;
pe_status pe_tsv_check(const pe_bundle *bundle) PE_NODISCARD;
pe_status pe_npy_dir_check(const pe_bundle *bundle) PE_NODISCARD;

/* Writers, for bundles that were checked. */
pe_status pe_npy_write(pe_bundle *bundle, struct pe_sink *sink) PE_NODISCARD;
pe_status pe_npz_write(pe_bundle *bundle, struct pe_sink *sink) PE_NODISCARD;
pe_status pe_safetensors_write(pe_bundle *bundle, struct pe_sink *sink) PE_NODISCARD;
pe_status pe_tsv_write(pe_bundle *bundle, struct pe_sink *sink) PE_NODISCARD;
/* Begins a member NAME.npy: its headers, before so many bytes of data. crc is that of header and data. */
pe_status pe_npz_member(struct pe_zip *zip, const char *name, const char *header, size_t size, int64_t bytes,
	uint32_t crc) PE_NODISCARD;
/* Writes the arrays that are not awaited, the metadata and the end of the archive. */
pe_status pe_npz_finish(const pe_bundle *bundle, struct pe_zip *zip) PE_NODISCARD;
/* Writes the directory path, whole or not at all. An older one is replaced if it holds nothing but
 * .npy files and metadata.json. */
pe_status pe_npy_dir_write(pe_bundle *bundle, const char *path) PE_NODISCARD;
/* Whether a directory could be written at path now; leaves nothing behind. */
pe_status pe_npy_dir_try(pe_bundle *bundle, const char *path) PE_NODISCARD;

#endif
