/* SPDX-License-Identifier: BSD-2-Clause
 * .npz archives: what numpy and zipfile write, damage, zip64, and our own. */
#include "xt.h"

#include <stdio.h>
#include <string.h>

#include "bundles.h"
#include "context.h"
#include "io/formats.h"
#include "io/zip.h"

static void has_the_three(const pe_bundle *b)
{
	xt_golden_array(b, "x", 'f', PE_F64, 2, (int64_t[]){3, 5});
	xt_golden_array(b, "n", 'i', PE_I32, 1, (int64_t[]){4});
	xt_golden_array(b, "empty", 'f', PE_F32, 2, (int64_t[]){0, 5});
	assert_int_equal(pe_bundle_count(b), 3);
}

static void test_archives(void **state)
{
	static const char *const files[] = {"savez.npz", "savez_compressed.npz", "stored.npz", "deflated.npz",
		"descriptors.npz", "zip64.npz", "other_members.npz"};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		pe_bundle *b = xt_golden(*state, files[i]);
		has_the_three(b);
		assert_int_equal(pe_bundle_metadata_count(b), 0);
		pe_bundle_destroy(&b);
	}
	pe_bundle *b = xt_golden(*state, "commented.npz");
	xt_golden_array(b, "x", 'f', PE_F64, 2, (int64_t[]){3, 5});
	pe_bundle_destroy(&b);
}

static void test_metadata(void **state)
{
	pe_bundle *b = xt_golden(*state, "metadata.npz");
	has_the_three(b);
	assert_string_equal(pe_bundle_metadata(b, "encoder"), "lap");
	assert_string_equal(pe_bundle_metadata(b, "k"), "8");
	pe_bundle_destroy(&b);
	b = xt_golden(*state, "plain_metadata.npz"); /* an array that only has the name */
	assert_int_equal(pe_bundle_metadata_count(b), 0);
	assert_true(pe_bundle_find(b, "metadata", NULL));
	pe_bundle_destroy(&b);
}

static void test_refused(void **state)
{
	xt_golden_refused(*state, "no_torch.npz", PE_ERR_FORMAT, "torch.save");
	xt_golden_refused(*state, "no_bzip2.npz", PE_ERR_UNSUPPORTED, "compressed by method 12");
	xt_golden_refused(*state, "no_twice.npz", PE_ERR_FORMAT, "\"x\" is there twice");
}

static pe_status read(pe_context *ctx, const char *bytes, size_t size, pe_bundle **out)
{
	*out = NULL;
	return pe_bundle_from_bytes(ctx, bytes, size, "x.npz", "npz", out);
}

/* Every prefix is refused, and no single byte that is changed makes a difference that goes unseen:
 * either it is refused, or it says nothing of the arrays. */
static void test_damage(void **state)
{
	static const char *const files[] = {"savez.npz", "deflated.npz"};
	for (int f = 0; f < 2; f++) {
		char path[64];
		size_t size;
		pe_bundle *b, *whole;
		snprintf(path, sizeof path, "tests/golden/arrays/%s", files[f]);
		char *bytes = xt_read_file(xt_source(path), &size);
		assert_int_equal(read(*state, bytes, size, &whole), PE_OK);
		for (size_t cut = 0; cut < size; cut++) {
			assert_int_not_equal(read(*state, bytes, cut, &b), PE_OK);
			assert_null(b);
		}
		int accepted = 0;
		for (size_t at = 0; at < size; at++) {
			bytes[at] ^= 0x10;
			if (read(*state, bytes, size, &b) == PE_OK) {
				accepted++;
				if (pe_bundle_count(b) == 3 && pe_bundle_find(b, "x", NULL) && pe_bundle_find(b, "n", NULL) &&
					pe_bundle_find(b, "empty", NULL))
					xt_same_bundles(whole, b);
				pe_bundle_destroy(&b);
			}
			bytes[at] ^= 0x10;
		}
		assert_true(accepted > 0 && accepted < (int)size / 2);
		pe_bundle_destroy(&whole);
		free(bytes);
	}
}

/* A directory entry that promises 3 GiB from 50 bytes is refused before memory is asked for. */
static void test_bomb(void **state)
{
	size_t size;
	pe_bundle *b;
	char *bytes = xt_read_file(xt_source("tests/golden/arrays/deflated.npz"), &size);
	char *entry = NULL;
	for (size_t i = 0; i + 4 < size && !entry; i++)
		if (memcmp(bytes + i, "PK\1\2", 4) == 0)
			entry = bytes + i;
	assert_non_null(entry);
	memcpy(entry + 24, "\0\0\0\xc0", 4);
	int64_t live = xt_live_blocks();
	xt_fails(*state, read(*state, bytes, size, &b), PE_ERR_FORMAT, "size is not possible");
	assert_int_equal(xt_live_blocks(), live);
	free(bytes);
}

static void test_round_trip(void **state)
{
	pe_context *ctx = *state;
	pe_bundle *b = xt_bundle(ctx), *back;
	assert_int_equal(pe_bundle_write(b, xt_path("a.npz"), NULL), PE_OK);
	assert_int_equal(pe_bundle_from_file(ctx, xt_path("a.npz"), NULL, &back), PE_OK);
	xt_same_bundles(b, back);
	for (int64_t i = 0; i < pe_bundle_count(back); i++) { /* every array starts at a multiple of 64 */
		pe_tensor t;
		assert_int_equal(pe_bundle_at(back, i, NULL, &t), PE_OK);
		assert_int_equal((uintptr_t)t.data % 64, 0);
	}
	assert_int_equal(pe_bundle_write(back, xt_path("b.npz"), NULL), PE_OK);
	size_t first, second;
	char *x = xt_read_file(xt_path("a.npz"), &first), *y = xt_read_file(xt_path("b.npz"), &second);
	assert_int_equal(first, second);
	assert_memory_equal(x, y, first); /* equal bundles give equal bytes */
	free(x);
	free(y);
	pe_bundle_destroy(&back);
	xt_add_bf16(b);
	xt_fails(ctx, pe_bundle_write(b, xt_path("c.npz"), NULL), PE_ERR_UNSUPPORTED, "bf16 is bf16");
	pe_bundle_destroy(&b);
}

static void test_name_of_metadata(void **state)
{
	pe_context *ctx = *state;
	pe_bundle *b;
	uint8_t data[2] = {1, 2};
	pe_tensor t = pe_tensor_dense(data, PE_U8, 1, (int64_t[]){2});
	assert_int_equal(pe_bundle_create(ctx, &b), PE_OK);
	assert_int_equal(pe_bundle_add(b, "metadata", &t), PE_OK);
	assert_int_equal(pe_bundle_write(b, xt_path("m.npz"), NULL), PE_OK);
	assert_int_equal(pe_bundle_set_metadata(b, "a", "b"), PE_OK);
	xt_fails(ctx, pe_bundle_write(b, xt_path("n.npz"), NULL), PE_ERR_ARGUMENT, "metadata");
	pe_bundle_destroy(&b);
}

/* ---- the archive writer by itself -------------------------------------------------------- */

static void write_members(struct pe_zip *zip, int members)
{
	char name[32];
	for (int i = 0; i < members; i++) {
		snprintf(name, sizeof name, "member%d", i);
		assert_int_equal(pe_zip_member(zip, name, 5, 0x3610a686), PE_OK); /* the CRC of "hello" */
		assert_int_equal(zip->sink->written % 64, 0);
		assert_int_equal(pe_sink_write(zip->sink, "hello", 5), PE_OK);
	}
	assert_int_equal(pe_zip_finish(zip), PE_OK);
}

/* Writes an archive with these limits, and reads it back. Returns its size. */
static size_t check_archive(
	pe_context *ctx, uint64_t size_limit, uint64_t member_limit, int members, const char *file)
{
	struct pe_sink sink;
	struct pe_unzip unzip;
	size_t size;
	assert_int_equal(pe_sink_open(ctx, xt_path(file), &sink), PE_OK);
	struct pe_zip zip = pe_zip_start(&sink);
	zip.size_limit = size_limit;
	zip.member_limit = member_limit;
	write_members(&zip, members);
	pe_zip_free(&zip);
	assert_int_equal(pe_sink_commit(&sink), PE_OK);
	char *bytes = xt_read_file(xt_path(file), &size);
	assert_int_equal(pe_unzip_start(ctx, bytes, size, file, &unzip), PE_OK);
	assert_int_equal(unzip.left, members);
	for (int i = 0; i < members; i++) {
		struct pe_zip_member member;
		const char *data;
		void *owned;
		char name[32];
		snprintf(name, sizeof name, "member%d", i);
		assert_int_equal(pe_unzip_next(&unzip, &member), PE_OK);
		assert_string_equal(member.name, name);
		assert_int_equal(pe_unzip_data(&unzip, &member, &data, &owned), PE_OK);
		assert_null(owned);
		assert_int_equal(member.size, 5);
		assert_memory_equal(data, "hello", 5);
	}
	free(bytes);
	return size;
}

static bool contains(const char *file, const char *mark, size_t length)
{
	size_t size;
	char *bytes = xt_read_file(xt_path(file), &size);
	bool found = false;
	for (size_t i = 0; i + length <= size; i++)
		found |= memcmp(bytes + i, mark, length) == 0;
	free(bytes);
	return found;
}

static void test_zip64(void **state)
{
	check_archive(*state, 0xffffffff, 0xffff, 3, "small.zip");
	assert_false(contains("small.zip", "PK\6\6", 4));
	check_archive(*state, 5, 0xffff, 3, "sizes.zip"); /* sizes and offsets */
	assert_true(contains("sizes.zip", "PK\6\6", 4));
	check_archive(*state, 100, 0xffff, 3, "offsets.zip"); /* offsets alone */
	assert_true(contains("offsets.zip", "PK\6\6", 4));
	check_archive(*state, 0xffffffff, 3, 3, "members.zip");
	assert_true(contains("members.zip", "PK\6\6", 4));
	check_archive(*state, 0xffffffff, 0xffff, 65536, "many.zip");
	assert_true(contains("many.zip", "PK\6\6", 4));
	check_archive(*state, 0xffffffff, 0xffff, 0, "none.zip");
}

static void test_out_of_memory(void **state)
{
	pe_context *ctx = *state;
	pe_bundle *source = xt_bundle(ctx), *b;
	size_t size;
	assert_int_equal(pe_bundle_write(source, xt_path("oom.npz"), NULL), PE_OK);
	pe_bundle_destroy(&source);
	char *bytes = xt_read_file(xt_source("tests/golden/arrays/savez_compressed.npz"), &size);
	for (int form = 0; form < 2; form++) {
		struct xt_shortage s = {0};
		while (xt_shortage_next(&s)) {
			xt_shortage_begin(&s);
			xt_shortage_end(&s,
				form ? read(ctx, bytes, size, &b) : pe_bundle_from_file(ctx, xt_path("oom.npz"), NULL, &b));
			assert_int_equal(b != NULL, s.over);
			pe_bundle_destroy(&b);
		}
		assert_true(s.failed > 4);
	}
	free(bytes);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_archives),
		cmocka_unit_test(test_metadata),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_bomb),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_name_of_metadata),
		cmocka_unit_test(test_zip64),
		cmocka_unit_test(test_out_of_memory),
	};
	return xt_run(argc, argv, tests);
}
