/* SPDX-License-Identifier: BSD-2-Clause */
#include "pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

/* One call of pe_parallel under way. */
struct job {
	pe_chunk_fn fn;
	void *arg;
	int64_t chunks;
	atomic_llong next; /* the next chunk to hand out */
	atomic_llong done;
	atomic_llong stop;    /* chunks from here on need not run: one below has failed */
	pthread_mutex_t lock; /* of what follows */
	int64_t failed;       /* the lowest chunk that failed */
	pe_status status;
	char message[sizeof((pe_context *)0)->message];
};

struct pe_pool {
	pthread_mutex_t lock;
	pthread_cond_t wake; /* for workers: a job, or the end */
	pthread_cond_t idle; /* for the caller: a worker has left the job */
	struct job *job;
	int64_t generation; /* counts jobs, so that a worker enters each once */
	int32_t inside;     /* workers in the job */
	int32_t size;       /* workers, the calling thread not counted */
	bool quit;
	pe_context *owner;
	pthread_t threads[];
};

static void record_failure(struct job *job, pe_context *worker, int64_t chunk, pe_status status)
{
	pthread_mutex_lock(&job->lock);
	if (job->status == PE_OK || chunk < job->failed) {
		job->failed = chunk;
		job->status = status;
		memcpy(job->message, worker->message, sizeof job->message);
		atomic_store(&job->stop, chunk);
	}
	pthread_mutex_unlock(&job->lock);
}

static bool run_next(struct job *job, pe_context *worker)
{
	int64_t chunk = atomic_fetch_add(&job->next, 1);
	if (chunk >= job->chunks || chunk >= atomic_load(&job->stop))
		return false;
	worker->message[0] = '\0';
	pe_status status = job->fn(worker, job->arg, chunk);
	if (status != PE_OK)
		record_failure(job, worker, chunk, status);
	atomic_fetch_add(&job->done, 1);
	return true;
}

static pe_context worker_context(const pe_context *ctx)
{
	return (pe_context){
		.allocator = ctx->allocator, .threads = 1, .seed = ctx->seed, .kernels = ctx->kernels};
}

static void *worker_main(void *arg)
{
	struct pe_pool *pool = arg;
	int64_t seen = 0;
	pthread_mutex_lock(&pool->lock);
	for (;;) {
		while (!pool->quit && (pool->generation == seen || !pool->job))
			pthread_cond_wait(&pool->wake, &pool->lock);
		if (pool->quit)
			break;
		seen = pool->generation;
		struct job *job = pool->job;
		pool->inside++;
		pe_context worker = worker_context(pool->owner);
		pthread_mutex_unlock(&pool->lock);
		while (run_next(job, &worker)) {
		}
		pthread_mutex_lock(&pool->lock);
		pool->inside--;
		pthread_cond_signal(&pool->idle);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The calling thread works too, and between chunks tells how far things are. */
static void work_and_report(pe_context *ctx, struct job *job, const char *stage)
{
	pe_context worker = worker_context(ctx);
	double told = now();
	while (run_next(job, &worker)) {
		if (!stage || !ctx->progress || now() - told < 0.1)
			continue;
		told = now();
		if (ctx->progress(ctx->opaque, stage, atomic_load(&job->done), job->chunks) != 0) {
			(void)pe_fail(&worker, PE_ERR_CANCELLED, "cancelled");
			record_failure(job, &worker, -1, PE_ERR_CANCELLED);
		}
	}
}

pe_status pe_parallel(pe_context *ctx, int64_t chunks, pe_chunk_fn fn, void *arg, const char *stage)
{
	if (chunks <= 0)
		return PE_OK;
	struct job job = {.fn = fn, .arg = arg, .chunks = chunks};
	atomic_init(&job.stop, INT64_MAX);
	pthread_mutex_init(&job.lock, NULL);

	struct pe_pool *pool = chunks > 1 ? ctx->pool : NULL;
	if (pool) {
		pthread_mutex_lock(&pool->lock);
		pool->job = &job;
		pool->generation++;
		pthread_cond_broadcast(&pool->wake);
		pthread_mutex_unlock(&pool->lock);
	}
	work_and_report(ctx, &job, stage);
	if (pool) {
		pthread_mutex_lock(&pool->lock);
		pool->job = NULL;
		while (pool->inside > 0)
			pthread_cond_wait(&pool->idle, &pool->lock);
		pthread_mutex_unlock(&pool->lock);
	}

	pthread_mutex_destroy(&job.lock);
	if (job.status != PE_OK)
		memcpy(ctx->message, job.message, sizeof ctx->message);
	return job.status;
}

pe_status pe_pool_create(pe_context *ctx, int32_t threads, struct pe_pool **out)
{
	*out = NULL;
	int32_t workers = threads - 1;
	struct pe_pool *pool = pe_alloc_zero(ctx, 1, sizeof *pool + (size_t)workers * sizeof pool->threads[0]);
	if (!pool)
		return PE_ERR_NOMEM;
	pool->owner = ctx;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->wake, NULL);
	pthread_cond_init(&pool->idle, NULL);
	while (pool->size < workers) {
		if (pthread_create(&pool->threads[pool->size], NULL, worker_main, pool) != 0) {
			pe_pool_destroy(ctx, &pool);
			return pe_fail(ctx, PE_ERR_NOMEM, "a worker thread could not be started");
		}
		pool->size++;
	}
	*out = pool;
	return PE_OK;
}

void pe_pool_destroy(pe_context *ctx, struct pe_pool **address)
{
	struct pe_pool *pool = *address;
	if (!pool)
		return;
	*address = NULL;
	pthread_mutex_lock(&pool->lock);
	pool->quit = true;
	pthread_cond_broadcast(&pool->wake);
	pthread_mutex_unlock(&pool->lock);
	for (int32_t i = 0; i < pool->size; i++)
		pthread_join(pool->threads[i], NULL);
	pthread_cond_destroy(&pool->idle);
	pthread_cond_destroy(&pool->wake);
	pthread_mutex_destroy(&pool->lock);
	pe_free(ctx, pool);
}
