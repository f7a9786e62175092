/* SPDX-License-Identifier: BSD-2-Clause
 * Bundles: the container, and files that appear whole or not at all. */
#include "xt.h"

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
	static const char *const astray[] = {"/a", "a/", "a//b", "../a", "a/..", "a/./b", "/"};
	for (size_t i = 0; i < sizeof astray / sizeof *astray; i++)
		xt_fails(ctx, pe_bundle_add(b, astray[i], &t), PE_ERR_ARGUMENT, "'/'");
	assert_int_equal(pe_bundle_add(b, "a/.b/c..", &t), PE_OK);
	xt_fails(ctx, pe_bundle_add(b, "a\nb", &t), PE_ERR_ARGUMENT, "control");
	xt_fails(ctx, pe_bundle_add(b, "a\xff", &t), PE_ERR_ARGUMENT, "UTF-8");
	xt_fails(ctx, pe_bundle_add(b, "\xed\xa0\x80", &t), PE_ERR_ARGUMENT, "UTF-8");
	longest[255] = '\0';
	assert_int_equal(pe_bundle_add(b, longest, &t), PE_OK);
	t.shape[0] = -1;
	xt_fails(ctx, pe_bundle_add(b, "y", &t), PE_ERR_SHAPE, "y");
	t = pe_tensor_dense(NULL, PE_F32, 1, (int64_t[]){2});
	xt_fails(ctx, pe_bundle_add(b, "y", &t), PE_ERR_ARGUMENT, "y has no data");
	assert_int_equal(pe_bundle_count(b), 11);
	assert_int_equal(pe_bundle_at(b, 1, &name, &got), PE_OK);
	assert_string_equal(name, "f64");
	assert_int_equal(got.shape[1], 4);
	xt_fails(ctx, pe_bundle_at(b, 11, &name, &got), PE_ERR_ARGUMENT, "no number 11");
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

/* Views of any strides are written in row-major order, a piece at a time. */
static void test_strided(void **state)
{
	pe_context *ctx = *state;
	enum { ROWS = 300, COLUMNS = 217 };
	double *data = malloc(2 * ROWS * COLUMNS * sizeof *data), row[COLUMNS] = {0};
	for (int i = 0; i < 2 * ROWS * COLUMNS; i++)
		data[i] = i;
	pe_tensor views[] = {
		{.data = data, .dtype = PE_F64, .ndim = 2, .shape = {ROWS, COLUMNS}, .strides = {1, ROWS}},
		{.data = data, .dtype = PE_F64, .ndim = 2, .shape = {ROWS, COLUMNS}, .strides = {2 * COLUMNS, 1}},
		{.data = data + 2 * ROWS * COLUMNS - 1,
			.dtype = PE_F64,
			.ndim = 1,
			.shape = {ROWS * COLUMNS},
			.strides = {-2}},
		{.data = row, .dtype = PE_F64, .ndim = 3, .shape = {7, 5, COLUMNS}, .strides = {0, 0, 1}},
	};
	for (int i = 0; i < 3; i++) {
		pe_bundle *b, *back;
		assert_int_equal(pe_bundle_create(ctx, &b), PE_OK);
		for (int v = 0; v < 4; v++)
			assert_int_equal(pe_bundle_add(b, (const char *[]){"a", "b", "c", "d"}[v], &views[v]), PE_OK);
		assert_int_equal(pe_bundle_write(b, xt_path(names[i]), NULL), PE_OK);
		assert_int_equal(pe_bundle_from_file(ctx, xt_path(names[i]), NULL, &back), PE_OK);
		xt_same_bundles(b, back);
		pe_bundle_destroy(&back);
		pe_bundle_destroy(&b);
	}
	free(data);
}

static void test_formats(void **state)
{
	pe_context *ctx = *state;
	pe_bundle *b = xt_bundle(ctx), *back;
	xt_fails(ctx, pe_bundle_write(b, xt_path("x.png"), NULL), PE_ERR_ARGUMENT, "does not tell the format");
	xt_fails(ctx, pe_bundle_write(b, xt_path("dir"), NULL), PE_ERR_ARGUMENT, "does not tell the format");
	xt_fails(ctx, pe_bundle_write(b, xt_path("x.npz"), "png"), PE_ERR_ARGUMENT, "there is no format png");
	xt_fails(ctx, pe_bundle_write_fd(b, 1, "dir"), PE_ERR_ARGUMENT, "not dir");
	xt_fails(ctx, pe_bundle_write_fd(b, 1, NULL), PE_ERR_ARGUMENT, "unnamed");
	assert_int_equal(pe_bundle_write(b, xt_path("named.bin"), "npz"), PE_OK);
	assert_int_equal(pe_bundle_from_file(ctx, xt_path("named.bin"), NULL, &back), PE_OK); /* by content */
	xt_same_bundles(b, back);
	pe_bundle_destroy(&back);
	xt_fails(ctx, pe_bundle_from_file(ctx, xt_path("named.bin"), "tsv", &back), PE_ERR_ARGUMENT, "not tsv");
	xt_fails(ctx, pe_bundle_from_file(ctx, xt_path("named.bin"), "safetensors", &back), PE_ERR_FORMAT,
		"safetensors");
	xt_fails(ctx, pe_bundle_from_bytes(ctx, "0 1\n", 4, "x.txt", NULL, &back), PE_ERR_FORMAT,
		"x.txt: this is neither .npy, .npz nor .safetensors");
	xt_fails(ctx, pe_bundle_from_bytes(ctx, NULL, 0, NULL, NULL, &back), PE_ERR_FORMAT, "the data: ");
	xt_fails(ctx, pe_bundle_from_file(ctx, xt_path("absent.npz"), NULL, &back), PE_ERR_IO, "No such file");
	assert_null(back);
	pe_bundle_destroy(&b);
}

/* ---- whole or not at all -------------------------------------------------------------------- */

/* Sets up a folder of its own with a file x.npz that says "old". */
static const char *folder_with_old(const char *name)
{
	static char path[300];
	const char *folder = xt_path(name);
	assert_int_equal(mkdir(folder, 0700), 0);
	snprintf(path, sizeof path, "%s/x.npz", folder);
	xt_write_file(path, "old", 3);
	return path;
}

static void is_old(const char *path)
{
	size_t size;
	char *bytes = xt_read_file(path, &size);
	assert_string_equal(bytes, "old");
	free(bytes);
	char folder[256];
	snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
	assert_int_equal(xt_entries(folder), 1);
}

/* A file that cannot be larger than this: writing fails in its midst. */
static void test_full_disk(void **state)
{
	pe_context *ctx = *state;
	const char *path = folder_with_old("full");
	enum { N = 1 << 20 };
	double *data = calloc(N, sizeof *data);
	pe_tensor t = pe_tensor_dense(data, PE_F64, 1, (int64_t[]){N});
	pe_bundle *b;
	struct rlimit before, small;
	assert_int_equal(pe_bundle_create(ctx, &b), PE_OK);
	assert_int_equal(pe_bundle_add(b, "x", &t), PE_OK);
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = 3 << 20;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	pe_status status = pe_bundle_write(b, path, NULL);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, handler);
	xt_fails(ctx, status, PE_ERR_IO, "x.npz: File too large");
	is_old(path);
	assert_int_equal(pe_bundle_write(b, path, NULL), PE_OK);
	pe_bundle_destroy(&b);
	free(data);
}

static void test_refused_write(void **state)
{
	pe_context *ctx = *state;
	const char *path = folder_with_old("refused");
	pe_bundle *b = xt_bundle(ctx);
	xt_add_bf16(b);
	xt_fails(ctx, pe_bundle_write(b, path, NULL), PE_ERR_UNSUPPORTED, "bf16");
	is_old(path);
	pe_bundle_destroy(&b);
}

static void test_out_of_memory(void **state)
{
	pe_context *ctx = *state;
	pe_bundle *b = xt_bundle(ctx);
	for (int i = 0; i < 3; i++) {
		struct xt_shortage s = {.lenient = true}; /* syncing a folder may fail */
		while (xt_shortage_next(&s)) {
			char name[32], target[320];
			snprintf(name, sizeof name, "memory-%d-%d", i, (int)s.failed);
			const char *path = folder_with_old(name);
			snprintf(target, sizeof target, "%s%s", path, i == 2 ? "-dir" : "");
			xt_shortage_begin(&s);
			pe_status status = pe_bundle_write(b, target, formats[i]);
			xt_shortage_end(&s, status);
			if (status == PE_ERR_NOMEM)
				is_old(path);
		}
		assert_true(s.failed > 1);
	}
	pe_bundle_destroy(&b);
}

static void test_dev_full(void **state)
{
	pe_context *ctx = *state;
	if (access("/dev/full", W_OK) != 0)
		skip();
	pe_bundle *b = xt_bundle(ctx);
	xt_fails(ctx, pe_bundle_write(b, "/dev/full", "npz"), PE_ERR_IO, "/dev/full: No space left on device");
	assert_int_equal(access("/dev/full", W_OK), 0);
	int fd = open("/dev/full", O_WRONLY);
	xt_fails(ctx, pe_bundle_write_fd(b, fd, "safetensors"), PE_ERR_IO, "output: No space left on device");
	close(fd);
	pe_bundle_destroy(&b);
}

static void test_unwritable_places(void **state)
{
	pe_context *ctx = *state;
	pe_bundle *b = xt_bundle(ctx);
	xt_fails(ctx, pe_bundle_write(b, xt_path("absent/x.npz"), NULL), PE_ERR_IO,
		"x.npz: No such file or directory");
	xt_fails(ctx, pe_bundle_write(b, xt_path("absent/x/"), NULL), PE_ERR_IO, "x: No such file or directory");
	assert_int_equal(mkdir(xt_path("folder.npz"), 0700), 0);
	xt_fails(ctx, pe_bundle_write(b, xt_path("folder.npz"), NULL), PE_ERR_IO, "folder.npz: Is a directory");
	xt_write_file(xt_path("file"), "x", 1);
	xt_fails(ctx, pe_bundle_write(b, xt_path("file/"), NULL), PE_ERR_IO, "file: Not a directory");
	pe_bundle_destroy(&b);
}

/* pe_bundle_check says the same as writing, and leaves nothing behind. */
static void test_check(void **state)
{
	pe_context *ctx = *state;
	pe_bundle *b = xt_bundle(ctx);
	assert_int_equal(mkdir(xt_path("check"), 0700), 0);
	assert_int_equal(mkdir(xt_path("check/folder.npz"), 0700), 0);
	xt_write_file(xt_path("check/file"), "x", 1);
	xt_write_file(xt_path("check/old.npz"), "old", 3);
	assert_int_equal(mkfifo(xt_path("check/pipe"), 0600), 0);
	static const struct {
		const char *path, *format;
		pe_status status;
		const char *text;
	} cases[] = {
		{"check/x.npz", NULL, PE_OK, ""},
		{"check/old.npz", NULL, PE_OK, ""},
		{"check/x/", NULL, PE_OK, ""},
		{"check/pipe", "npz", PE_OK, ""}, /* opening it would wait for a reader */
		{"check/absent/x.npz", NULL, PE_ERR_IO, "x.npz: No such file or directory"},
		{"check/absent/x/", NULL, PE_ERR_IO, "x: No such file or directory"},
		{"check/folder.npz", NULL, PE_ERR_IO, "Is a directory"},
		{"check/file/x.npz", NULL, PE_ERR_IO, "Not a directory"},
		{"check/file/", NULL, PE_ERR_IO, "Not a directory"},
		{"check/x.npy", NULL, PE_ERR_ARGUMENT, "one array"},
		{"check/x.tsv", NULL, PE_ERR_SHAPE, "text holds"},
		{"check/x.png", NULL, PE_ERR_ARGUMENT, "does not tell the format"},
		{"check/x.npz", "png", PE_ERR_ARGUMENT, "no format png"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		pe_status status = pe_bundle_check(b, xt_path(cases[i].path), cases[i].format);
		if (cases[i].status == PE_OK)
			assert_int_equal(status, PE_OK);
		else
			xt_fails(ctx, status, cases[i].status, cases[i].text);
	}
	xt_fails(ctx, pe_bundle_check(b, NULL, "dir"), PE_ERR_ARGUMENT, "to a pipe");
	assert_int_equal(pe_bundle_check(b, NULL, "npz"), PE_OK);
	xt_add_bf16(b);
	xt_fails(ctx, pe_bundle_check(b, xt_path("check/x.npz"), NULL), PE_ERR_UNSUPPORTED, "bf16");
	size_t size;
	char *old = xt_read_file(xt_path("check/old.npz"), &size);
	assert_int_equal(size, 3);
	free(old);
	assert_int_equal(xt_entries(xt_path("check")), 4);
	pe_bundle_destroy(&b);
}

/* pe_file_write: any bytes, whole or not at all. */
static void test_other_files(void **state)
{
	pe_context *ctx = *state;
	size_t size;
	char big[200000];
	assert_int_equal(mkdir(xt_path("other"), 0700), 0);
	memset(big, 7, sizeof big);
	assert_int_equal(pe_file_check(ctx, xt_path("other/x.png")), PE_OK);
	assert_int_equal(xt_entries(xt_path("other")), 0);
	assert_int_equal(pe_file_write(ctx, xt_path("other/x.png"), "abc", 3), PE_OK);
	assert_int_equal(pe_file_write(ctx, xt_path("other/x.png"), big, sizeof big), PE_OK);
	char *found = xt_read_file(xt_path("other/x.png"), &size);
	assert_int_equal(size, sizeof big);
	assert_memory_equal(found, big, size);
	free(found);
	assert_int_equal(pe_file_write(ctx, xt_path("other/empty"), NULL, 0), PE_OK);
	assert_int_equal(xt_entries(xt_path("other")), 2);
	xt_fails(ctx, pe_file_write(ctx, xt_path("absent/x"), "abc", 3), PE_ERR_IO, "No such file");
	xt_fails(ctx, pe_file_check(ctx, xt_path("absent/x")), PE_ERR_IO, "No such file");
	xt_fails(ctx, pe_file_write(ctx, "/dev/full", big, sizeof big), PE_ERR_IO, "No space");
	assert_int_equal(pe_file_write(ctx, NULL, "abc", 3), PE_ERR_ARGUMENT);
	assert_int_equal(pe_file_check(NULL, "x"), PE_ERR_ARGUMENT);
}

static mode_t mode_of(const char *path)
{
	struct stat info;
	assert_int_equal(stat(path, &info), 0);
	return info.st_mode & 07777;
}

static void test_modes_and_links(void **state)
{
	pe_context *ctx = *state;
	pe_bundle *b = xt_bundle(ctx);
	mode_t before = umask(027);
	assert_int_equal(pe_bundle_write(b, xt_path("mode.npz"), NULL), PE_OK);
	assert_int_equal(mode_of(xt_path("mode.npz")), 0640);
	assert_int_equal(chmod(xt_path("mode.npz"), 0604), 0);
	assert_int_equal(pe_bundle_write(b, xt_path("mode.npz"), NULL), PE_OK);
	assert_int_equal(mode_of(xt_path("mode.npz")), 0604);
	umask(before);
	struct stat info;
	assert_int_equal(symlink(xt_path("mode.npz"), xt_path("link.npz")), 0);
	xt_write_file(xt_path("mode.npz"), "old", 3);
	assert_int_equal(pe_bundle_write(b, xt_path("link.npz"), NULL), PE_OK);
	assert_int_equal(lstat(xt_path("link.npz"), &info), 0);
	assert_true(S_ISLNK(info.st_mode));
	assert_int_equal(stat(xt_path("mode.npz"), &info), 0);
	assert_true(info.st_size > 1000);
	pe_bundle_destroy(&b);
}

/* ---- directories ---------------------------------------------------------------------------- */

static void test_directories(void **state)
{
	pe_context *ctx = *state;
	pe_bundle *b = xt_bundle(ctx), *back, *one;
	float x[2] = {1, 2};
	pe_tensor t = pe_tensor_dense(x, PE_F32, 1, (int64_t[]){2});
	assert_int_equal(mkdir(xt_path("d"), 0700), 0);
	assert_int_equal(pe_bundle_write(b, xt_path("d/arrays/"), NULL), PE_OK);
	assert_int_equal(xt_entries(xt_path("d/arrays")), 10);
	assert_int_equal(xt_entries(xt_path("d")), 1);
	assert_int_equal(pe_bundle_create(ctx, &one), PE_OK);
	assert_int_equal(pe_bundle_add(one, "x", &t), PE_OK);
	assert_int_equal(pe_bundle_write(one, xt_path("d/arrays//"), NULL), PE_OK); /* replaces all of it */
	assert_int_equal(xt_entries(xt_path("d/arrays")), 1);
	assert_int_equal(xt_entries(xt_path("d")), 1);
	assert_int_equal(pe_bundle_from_file(ctx, xt_path("d/arrays"), NULL, &back), PE_OK);
	xt_same_bundles(one, back);
	pe_bundle_destroy(&back);
	xt_write_file(xt_path("d/arrays/thesis.tex"), "x", 1);
	xt_fails(ctx, pe_bundle_write(one, xt_path("d/arrays/"), NULL), PE_ERR_IO, "other files in it");
	assert_int_equal(xt_entries(xt_path("d/arrays")), 2);
	assert_int_equal(mkdir(xt_path("d/empty"), 0700), 0);
	xt_fails(ctx, pe_bundle_from_file(ctx, xt_path("d/empty"), NULL, &back), PE_ERR_FORMAT, "no .npy files");
	assert_int_equal(pe_bundle_add(one, ".hidden", &t), PE_OK);
	xt_fails(ctx, pe_bundle_write(one, xt_path("d/empty/"), NULL), PE_ERR_ARGUMENT, ".hidden is no name");
	assert_int_equal(xt_entries(xt_path("d")), 2);
	pe_bundle_destroy(&one);
	pe_bundle_destroy(&b);
}

/* An array that cannot be written leaves neither the new directory nor a temporary one. */
static void test_failing_directory(void **state)
{
	pe_context *ctx = *state;
	pe_bundle *b = xt_bundle(ctx);
	struct rlimit before, small;
	assert_int_equal(mkdir(xt_path("e"), 0700), 0);
	assert_int_equal(pe_bundle_write(b, xt_path("e/a/"), NULL), PE_OK);
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = 200;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	pe_status first = pe_bundle_write(b, xt_path("e/a/"), NULL),
			  second = pe_bundle_write(b, xt_path("e/b/"), NULL);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, handler);
	assert_int_equal(first, PE_ERR_IO);
	assert_int_equal(second, PE_ERR_IO);
	assert_int_equal(xt_entries(xt_path("e")), 1);
	assert_int_equal(xt_entries(xt_path("e/a")), 10);
	pe_bundle_destroy(&b);
}

/* ---- pipes ---------------------------------------------------------------------------------- */

struct drain {
	int fd;
	char *bytes;
	size_t size;
};

/* Reads slowly and in odd pieces, so that writes are cut short. */
static void *drain(void *arg)
{
	struct drain *d = arg;
	ssize_t got;
	d->bytes = malloc(4 << 20);
	while ((got = read(d->fd, d->bytes + d->size, 7919)) > 0)
		d->size += (size_t)got;
	return NULL;
}

static void test_pipe(void **state)
{
	pe_context *ctx = *state;
	enum { N = 200000 };
	float *data = malloc(N * sizeof *data);
	for (int i = 0; i < N; i++)
		data[i] = (float)i;
	for (int i = 0; i < 2; i++) {
		pe_bundle *b = xt_bundle(ctx), *back;
		pe_tensor t = pe_tensor_dense(data, PE_F32, 1, (int64_t[]){N});
		struct drain d = {0};
		int ends[2];
		pthread_t thread;
		assert_int_equal(pe_bundle_add(b, "long", &t), PE_OK);
		assert_int_equal(pipe(ends), 0);
		d.fd = ends[0];
		assert_int_equal(pthread_create(&thread, NULL, drain, &d), 0);
		assert_int_equal(pe_bundle_write_fd(b, ends[1], formats[i]), PE_OK);
		assert_int_not_equal(fcntl(ends[1], F_GETFD), -1); /* it stays the caller's */
		close(ends[1]);
		pthread_join(thread, NULL);
		close(ends[0]);
		assert_int_equal(pe_bundle_from_bytes(ctx, d.bytes, d.size, "pipe", NULL, &back), PE_OK);
		free(d.bytes);
		xt_same_bundles(b, back);
		pe_bundle_destroy(&back);
		pe_bundle_destroy(&b);
	}
	free(data);
}

static void test_closed_pipe(void **state)
{
	pe_context *ctx = *state;
	pe_bundle *b = xt_bundle(ctx);
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	void (*handler)(int) = signal(SIGPIPE, SIG_IGN);
	pe_status status = pe_bundle_write_fd(b, ends[1], "npz");
	signal(SIGPIPE, handler);
	xt_fails(ctx, status, PE_ERR_IO, "output: Broken pipe");
	close(ends[1]);
	pe_bundle_destroy(&b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_container),
		cmocka_unit_test(test_round_trips),
		cmocka_unit_test(test_strided),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_other_files),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_refused_write),
		cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_dev_full),
		cmocka_unit_test(test_unwritable_places),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_modes_and_links),
		cmocka_unit_test(test_directories),
		cmocka_unit_test(test_failing_directory),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_closed_pipe),
	};
	return xt_run(argc, argv, tests);
}
