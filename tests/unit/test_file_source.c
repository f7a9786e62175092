/* SPDX-License-Identifier: BSD-2-Clause
 * Reading whole files, plain and gzip, from paths and pipes. */
#include "xt.h"

#include <fcntl.h>
#include <libdeflate.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "context.h"
#include "io/file_source.h"

static const char *write_file(const char *name, const void *data, size_t size)
{
	static char path[256];
	snprintf(path, sizeof path, "%s/%s", xt_temporary(), name);
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
	return path;
}

/* Appends a gzip member to out. */
static size_t pack(char *out, size_t room, const void *data, size_t size)
{
	struct libdeflate_compressor *c = libdeflate_alloc_compressor(6);
	size_t packed = libdeflate_gzip_compress(c, data, size, out, room);
	libdeflate_free_compressor(c);
	assert_true(packed > 0);
	return packed;
}

static void reads(pe_context *ctx, const char *path, const void *expected, size_t expected_size)
{
	char *bytes;
	size_t size;
	if (pe_file_read(ctx, path, &bytes, &size) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	assert_int_equal(size, expected_size);
	assert_memory_equal(bytes, expected, size);
	assert_int_equal(bytes[size], 0);
	pe_free(ctx, bytes);
}

static void refuses(pe_context *ctx, const char *path, pe_status status, const char *text)
{
	char *bytes = (char *)1;
	size_t size;
	xt_fails(ctx, pe_file_read(ctx, path, &bytes, &size), status, text);
	assert_null(bytes);
}

static void test_plain(void **state)
{
	reads(*state, write_file("empty", "", 0), "", 0);
	reads(*state, write_file("short", "0 1\n", 4), "0 1\n", 4);
	char *large = malloc(3000000);
	for (int i = 0; i < 3000000; i++)
		large[i] = (char)(i * 7 + i / 1000);
	reads(*state, write_file("large", large, 3000000), large, 3000000);
	free(large);
}

/* A file whose size is not known beforehand. */
static void test_proc(void **state)
{
	pe_context *ctx = *state;
	char *bytes;
	size_t size;
	if (access("/proc/self/status", R_OK) != 0)
		skip();
	assert_int_equal(pe_file_read(ctx, "/proc/self/status", &bytes, &size), PE_OK);
	assert_non_null(strstr(bytes, "VmRSS"));
	pe_free(ctx, bytes);
}

static void test_refusals(void **state)
{
	char text[300];
	snprintf(text, sizeof text, "%s/absent: No such file or directory", xt_temporary());
	char path[256];
	snprintf(path, sizeof path, "%s/absent", xt_temporary());
	refuses(*state, path, PE_ERR_IO, text);
	refuses(*state, xt_temporary(), PE_ERR_IO, "Is a directory");
	refuses(*state, "", PE_ERR_IO, "No such file");
}

static void test_gzip(void **state)
{
	char packed[4096], text[2000], twice[4000];
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = (char)('a' + i * i % 23);
	size_t size = pack(packed, sizeof packed, text, sizeof text);
	reads(*state, write_file("one.gz", packed, size), text, sizeof text);
	reads(*state, write_file("no-suffix", packed, size), text, sizeof text);
	size_t both = size + pack(packed + size, sizeof packed - size, text, sizeof text);
	memcpy(twice, text, sizeof text);
	memcpy(twice + sizeof text, text, sizeof text);
	reads(*state, write_file("two.gz", packed, both), twice, sizeof twice);
	memset(packed + both, 0, 512);
	reads(*state, write_file("padded.gz", packed, both + 512), twice, sizeof twice);
	size = pack(packed, sizeof packed, "", 0);
	reads(*state, write_file("nothing.gz", packed, size), "", 0);
}

/* What there is of a beginning is right, wherever the data are cut, and whatever is behind. */
static void test_head(void **state)
{
	enum { SIZE = 3000, ROOM = 100 };
	char text[SIZE], packed[2 * SIZE];
	uint8_t head[SIZE];
	(void)state;
	for (size_t i = 0; i < SIZE; i++)
		text[i] = (char)(i * i * i >> 7);
	size_t size = pack(packed, sizeof packed, text, SIZE), before = 0;
	for (size_t cut = 0; cut <= size; cut++) {
		size_t made = pe_gunzip_head(packed, cut, head, SIZE);
		assert_true(made >= before && memcmp(head, text, made) == 0);
		before = made;
	}
	assert_int_equal(before, SIZE);
	assert_true(pe_gunzip_head(packed, size / 2, head, SIZE) > SIZE / 4);
	packed[size - 5] ^= 1; /* of the CRC */
	memset(head, 1, sizeof head);
	assert_int_equal(pe_gunzip_head(packed, size, head, ROOM), ROOM);
	assert_memory_equal(head, text, ROOM);
	assert_int_equal(head[ROOM], 1);
	assert_int_equal(pe_gunzip_head(packed, size, head, SIZE), SIZE);
	assert_int_equal(pe_gunzip_head("no gzip data at all", 19, head, SIZE), 0);
}

/* The last member is tiny, so that its stated size says nothing of the whole. */
static void test_growing_members(void **state)
{
	char *large = calloc(1, 1000000), packed[8192];
	size_t size = pack(packed, sizeof packed, large, 1000000);
	size += pack(packed + size, sizeof packed - size, "x", 1);
	char *whole = calloc(1, 1000001);
	whole[1000000] = 'x';
	reads(*state, write_file("growing.gz", packed, size), whole, 1000001);
	free(large);
	free(whole);
}

static void test_damaged_gzip(void **state)
{
	char packed[4096], text[2000] = "edges";
	size_t size = pack(packed, sizeof packed, text, sizeof text);
	refuses(*state, write_file("cut.gz", packed, size - 5), PE_ERR_FORMAT, "damaged or cut short");
	packed[size] = 'x';
	refuses(*state, write_file("more.gz", packed, size + 1), PE_ERR_FORMAT, "follow the gzip data");
	packed[size - 8] ^= 1; /* the checksum */
	refuses(*state, write_file("crc.gz", packed, size), PE_ERR_FORMAT, "damaged");
}

static void test_limit(void **state)
{
	enum { SIZE = 1 << 20, MEMBERS = 8 };
	char *zeros = calloc(1, SIZE), *packed = malloc(MEMBERS * 4096), *bytes;
	size_t one = pack(packed, 4096, zeros, SIZE), size;
	for (size_t i = 1; i < MEMBERS; i++)
		memcpy(packed + i * one, packed, one);
	xt_fails(*state, pe_gunzip(*state, packed, MEMBERS * one, "bomb.gz", MEMBERS * SIZE - 1, &bytes, &size),
		PE_ERR_FORMAT, "bomb.gz: the gzip data unpack to more than 8388607 bytes");
	assert_int_equal(
		pe_gunzip(*state, packed, MEMBERS * one, "bomb.gz", MEMBERS * SIZE, &bytes, &size), PE_OK);
	assert_int_equal(size, MEMBERS * SIZE);
	pe_free(*state, bytes);
	free(zeros);
	free(packed);
}

static void *feed(void *arg)
{
	int fd = *(int *)arg;
	for (int i = 0; i < 50000; i++)
		if (write(fd, "12 34567\n", 9) != 9)
			break;
	close(fd);
	return NULL;
}

static void test_pipe(void **state)
{
	int ends[2];
	pthread_t thread;
	char *bytes;
	size_t size;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pthread_create(&thread, NULL, feed, &ends[1]), 0);
	assert_int_equal(pe_file_read_fd(*state, ends[0], "a pipe", &bytes, &size), PE_OK);
	pthread_join(thread, NULL);
	close(ends[0]);
	assert_int_equal(size, 450000);
	assert_memory_equal(bytes + 449991, "12 34567\n", 10);
	pe_free(*state, bytes);
}

static void test_out_of_memory(void **state)
{
	pe_context *ctx = *state;
	char packed[8192], *zeros = calloc(1, 500000), *bytes;
	size_t size = pack(packed, sizeof packed, zeros, 500000);
	size += pack(packed + size, sizeof packed - size, "x", 1);
	const char *path = write_file("memory.gz", packed, size);
	struct xt_shortage s = {0};
	while (xt_shortage_next(&s)) {
		xt_shortage_begin(&s);
		xt_shortage_end(&s, pe_file_read(ctx, path, &bytes, &size));
		assert_int_equal(bytes != NULL, s.over);
		pe_free(ctx, bytes);
	}
	assert_true(s.failed > 2);
	assert_int_equal(size, 500001);
	free(zeros);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_proc),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_gzip),
		cmocka_unit_test(test_head),
		cmocka_unit_test(test_growing_members),
		cmocka_unit_test(test_damaged_gzip),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_out_of_memory),
	};
	return xt_run(argc, argv, tests);
}
