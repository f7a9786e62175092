/* SPDX-License-Identifier: BSD-2-Clause
 * Many files of graphs, each by one thread. What one thread would do in order is done in order: the digest,
 * what readers say, and which failure counts. */
#include <pthread.h>
#include <string.h>

#include "detect.h"
#include "io/digest.h"
#include "io/file_source.h"
#include "io/text.h"
#include "pool.h"

struct file {
	const char *path;
	struct pe_raw_graphs *raw;
	char *packed; /* as it is in the folder */
	size_t packed_size;
	char *why;              /* it could not be read, where that is no failure of the whole */
	struct pe_text remarks; /* of the reader: a level, a text and a NUL each */
	bool deaf;              /* there was no memory for one */
	bool done;              /* with all but the digest */
};

struct files {
	const struct pe_graph_policy *policy;
	struct file *files;
	int64_t count;
	bool listens;         /* is there anybody to hear remarks? */
	pthread_mutex_t lock; /* of what follows, and of the files that are done */
	struct pe_digest *digest;
	int64_t digested;
};

/* ---- one file ----------------------------------------------------------------------- */

static void keep_remark(void *opaque, pe_log_level level, const char *text)
{
	struct file *file = opaque;
	char byte = (char)level;
	if (pe_text_add(&file->remarks, &byte, 1) != PE_OK ||
		pe_text_add(&file->remarks, text, strlen(text) + 1) != PE_OK)
		file->deaf = true;
}

static void say_remarks(pe_context *ctx, const struct file *file)
{
	for (const char *at = file->remarks.bytes, *end = at + file->remarks.size; at < end;
		 at += strlen(at + 1) + 2)
		pe_log(ctx, (pe_log_level)*at, "%s", at + 1);
}

static pe_status parse(pe_context *worker, const struct pe_graph_policy *policy, struct file *file)
{
	char *unpacked = NULL;
	size_t size;
	PE_TRY(pe_file_read_packed(worker, file->path, &file->packed, &file->packed_size));
	size = file->packed_size;
	if (pe_is_gzip(file->packed, size))
		PE_TRY(pe_gunzip(worker, file->packed, size, file->path, 0, &unpacked, &size));
	const struct pe_source source = {unpacked ? unpacked : file->packed, size, file->path};
	pe_status status = pe_read_source(worker, &source, policy, file->raw);
	pe_free(worker, unpacked);
	if (status != PE_OK)
		*file->raw = (struct pe_raw_graphs){0};
	return status;
}

static bool is_fault_of_file(pe_status status)
{
	return status == PE_ERR_FORMAT || status == PE_ERR_UNSUPPORTED || status == PE_ERR_SHAPE ||
		status == PE_ERR_IO;
}

/* Files that are done go into the digest as soon as all before them have. */
static void finish(pe_context *worker, struct files *f, struct file *file)
{
	pthread_mutex_lock(&f->lock);
	file->done = true;
	for (; f->digested < f->count && f->files[f->digested].done; f->digested++) {
		struct file *next = &f->files[f->digested];
		if (f->digest && next->packed)
			pe_digest_add(f->digest, next->packed, next->packed_size);
		pe_free(worker, next->packed);
		next->packed = NULL;
	}
	pthread_mutex_unlock(&f->lock);
}

static pe_status read_file(pe_context *worker, void *arg, int64_t index)
{
	struct files *f = arg;
	struct file *file = &f->files[index];
	struct pe_context listening = *worker;
	file->remarks.ctx = worker;
	if (f->listens) {
		listening.log = keep_remark;
		listening.opaque = file;
	}
	pe_status status = parse(&listening, f->policy, file);
	memcpy(worker->message, listening.message, sizeof worker->message);
	if (status == PE_OK && file->deaf)
		status = pe_fail(worker, PE_ERR_NOMEM, "out of memory");
	if (f->policy->unreadable_is_empty && is_fault_of_file(status)) {
		file->why = pe_strdup(worker, worker->message);
		status = file->why ? PE_OK : PE_ERR_NOMEM;
	}
	finish(worker, f, file);
	return status;
}

/* ---- all of them -------------------------------------------------------------------- */

/* Takes over file->why. The number becomes a graph's later. */
static pe_status note_unread(pe_context *ctx, struct pe_unread *unread, struct file *file, int64_t index)
{
	int64_t used = unread->count;
	PE_TRY(pe_grow(ctx, &unread->graph, &unread->capacity, used, used + 1, sizeof *unread->graph));
	PE_TRY(pe_grow(ctx, &unread->why, &unread->why_capacity, used, used + 1, sizeof *unread->why));
	unread->why[used] = file->why;
	unread->graph[used] = index;
	unread->count++;
	file->why = NULL;
	return PE_OK;
}

static pe_status read_all(pe_context *ctx, struct files *f, struct pe_unread *unread)
{
	/* A single file has all threads. */
	PE_TRY(f->count == 1 ? read_file(ctx, f, 0) : pe_parallel(ctx, f->count, read_file, f, NULL));
	for (int64_t i = 0; i < f->count; i++) {
		say_remarks(ctx, &f->files[i]);
		if (f->files[i].why)
			PE_TRY(note_unread(ctx, unread, &f->files[i], i));
	}
	return PE_OK;
}

pe_status pe_read_graph_files(pe_context *ctx, char *const *paths, int64_t count,
	const struct pe_graph_policy *policy, struct pe_raw_graphs *raws, struct pe_unread *unread)
{
	struct files f = {.policy = policy, .count = count, .listens = ctx->log, .digest = ctx->digest};
	f.files = pe_alloc_zero(ctx, count, sizeof *f.files);
	if (!f.files)
		return PE_ERR_NOMEM;
	pthread_mutex_init(&f.lock, NULL);
	for (int64_t i = 0; i < count; i++)
		f.files[i] = (struct file){.path = paths[i], .raw = &raws[i]};
	pe_status status = read_all(ctx, &f, unread);
	for (int64_t i = 0; i < count; i++) {
		struct file *file = &f.files[i];
		pe_free(ctx, file->packed);
		pe_free(ctx, file->why);
		pe_free(ctx, file->remarks.bytes);
	}
	pthread_mutex_destroy(&f.lock);
	pe_free(ctx, f.files);
	return status;
}
