// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * slow_commands.c - see slow_commands.h. The pool has a lock of its own, for its queues alone: it is never held while
 * a command runs.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "commands/cmd.h"
#include "commands/slow_commands.h"

struct queue {
	struct cmd *first, **last;
};

struct pool {
	void (*run)(struct cmd *cmd, void *context);
	void *context;
	pthread_mutex_t lock; /* all below */
	pthread_cond_t work;
	struct queue waiting, done;
	bool stop;
	int event;
	unsigned int n_threads;
	pthread_t threads[];
};

static void queue_init(struct queue *queue)
{
	queue->first = NULL;
	queue->last = &queue->first;
}

static void queue_put(struct queue *queue, struct cmd *cmd)
{
	cmd->next = NULL;
	*queue->last = cmd;
	queue->last = &cmd->next;
}

static struct cmd *queue_get(struct queue *queue)
{
	struct cmd *cmd = queue->first;

	if (!cmd)
		return NULL;
	queue->first = cmd->next;
	if (!queue->first)
		queue->last = &queue->first;
	return cmd;
}

static void *worker(void *arg)
{
	struct pool *pool = arg;
	struct cmd *cmd;

	pthread_mutex_lock(&pool->lock);
	for (;;) {
		cmd = queue_get(&pool->waiting);
		if (!cmd) {
			if (pool->stop)
				break;
			pthread_cond_wait(&pool->work, &pool->lock);
			continue;
		}
		pthread_mutex_unlock(&pool->lock);
		pool->run(cmd, pool->context);
		pthread_mutex_lock(&pool->lock);
		queue_put(&pool->done, cmd);
		eventfd_write(pool->event, 1);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

struct pool *pool_new(unsigned int threads, void (*run)(struct cmd *cmd, void *context),
		      void *context)
{
	struct pool *pool = calloc(1, sizeof(*pool) + threads * sizeof(pool->threads[0]));

	if (!pool)
		return NULL;
	pool->run = run;
	pool->context = context;
	queue_init(&pool->waiting);
	queue_init(&pool->done);
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->work, NULL);
	pool->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (pool->event < 0)
		goto err_free;
	while (pool->n_threads < threads &&
	       !pthread_create(&pool->threads[pool->n_threads], NULL, worker, pool))
		pool->n_threads++;
	if (pool->n_threads)
		return pool;
	close(pool->event);
err_free:
	pthread_cond_destroy(&pool->work);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
	return NULL;
}

void pool_free(struct pool *pool)
{
	unsigned int i;

	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->stop = true;
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->lock);
	for (i = 0; i < pool->n_threads; i++)
		pthread_join(pool->threads[i], NULL);
	close(pool->event);
	pthread_cond_destroy(&pool->work);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

void pool_submit(struct pool *pool, struct cmd *cmd)
{
	pthread_mutex_lock(&pool->lock);
	queue_put(&pool->waiting, cmd);
	pthread_cond_signal(&pool->work);
	pthread_mutex_unlock(&pool->lock);
}

struct cmd *pool_take(struct pool *pool)
{
	struct cmd *cmd;
	eventfd_t count;

	pthread_mutex_lock(&pool->lock);
	cmd = queue_get(&pool->done);
	if (!cmd)
		eventfd_read(pool->event, &count);
	pthread_mutex_unlock(&pool->lock);
	return cmd;
}

int pool_fd(const struct pool *pool)
{
	return pool->event;
}
