/* SPDX-License-Identifier: BSD-2-Clause
 * Bundles: the container, and files that appear whole or not at all. */
#include "xt.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bundles.h"

static const char *const formats[] = {"npz", "safetensors", "dir"};
static const char *const names[] = {"x.npz", "x.safetensors", "x/"};

static void test_container(void **state)
{
	pe_context *ctx = *state;
	pe_bundle *b = xt_bundle(ctx);
	float data[2];
	pe_tensor t = pe_tensor_dense(data, PE_F32, 1, (int64_t[]){2}), got;
	const char *name;
	char longest[300];
	memset(longest, 'x', sizeof longest);
	longest[256] = '\0';
	xt_fails(ctx, pe_bundle_add(b, "f32", &t), PE_ERR_ARGUMENT, "\"f32\" is there twice");
	xt_fails(ctx, pe_bundle_add(b, "", &t), PE_ERR_ARGUMENT, "1 to 255 bytes");
	xt_fails(ctx, pe_bundle_add(b, longest, &t), PE_ERR_ARGUMENT, "1 to 255 bytes");
	xt_fails(ctx, pe_bundle_add(b, "a/b", &t), PE_ERR_ARGUMENT, "'/'");
	xt_fails(ctx, pe_bundle_add(b, "a\nb", &t), PE_ERR_ARGUMENT, "control");
	xt_fails(ctx, pe_bundle_add(b, "a\xff", &t), PE_ERR_ARGUMENT, "UTF-8");
	xt_fails(ctx, pe_bundle_add(b, "\xed\xa0\x80", &t), PE_ERR_ARGUMENT, "UTF-8");
	longest[255] = '\0';
	assert_int_equal(pe_bundle_add(b, longest, &t), PE_OK);
	t.shape[0] = -1;
	xt_fails(ctx, pe_bundle_add(b, "y", &t), PE_ERR_SHAPE, "y");
	t = pe_tensor_dense(NULL, PE_F32, 1, (int64_t[]){2});
	xt_fails(ctx, pe_bundle_add(b, "y", &t), PE_ERR_ARGUMENT, "y has no data");
	assert_int_equal(pe_bundle_count(b), 10);
	assert_int_equal(pe_bundle_at(b, 1, &name, &got), PE_OK);
	assert_string_equal(name, "f64");
	assert_int_equal(got.shape[1], 4);
	xt_fails(ctx, pe_bundle_at(b, 10, &name, &got), PE_ERR_ARGUMENT, "no number 10");
	assert_int_equal(pe_bundle_find(b, "none", &got), 0);
	assert_int_equal(pe_bundle_set_metadata(b, "encoder", "rwse"), PE_OK);
	assert_string_equal(pe_bundle_metadata(b, "encoder"), "rwse");
	assert_null(pe_bundle_metadata(b, "none"));
	assert_int_equal(pe_bundle_metadata_count(b), 3);
	assert_null(pe_bundle_metadata_name(b, 3));
	pe_bundle_destroy(&b);
	assert_null(b);
	pe_bundle_destroy(&b);
}

static void test_round_trips(void **state)
{
	pe_context *ctx = *state;
	for (int i = 0; i < 3; i++) {
		pe_bundle *b = xt_bundle(ctx), *back;
		if (strcmp(formats[i], "safetensors") == 0)
			xt_add_bf16(b);
		if (pe_bundle_write(b, xt_path(names[i]), NULL) != PE_OK ||
			pe_bundle_from_file(ctx, xt_path(names[i]), NULL, &back) != PE_OK)
			fail_msg("%s: %s", formats[i], pe_context_message(ctx));
		xt_same_bundles(b, back);
		assert_true(pe_bundle_sync_seconds(b) > 0);
		pe_bundle_destroy(&back);
		pe_bundle_destroy(&b);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_container),
		cmocka_unit_test(test_round_trips),
	};
	return xt_run(argc, argv, tests);
}
