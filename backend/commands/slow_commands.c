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

struct slow_commands {
	void (*run)(struct cmd *cmd, void *context);
	void *context;
	pthread_mutex_t lock; /* all below */
	pthread_cond_t work;
	struct queue waiting, done;
	bool told; /* the event is readable */
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
	struct slow_commands *slow = arg;
	struct cmd *cmd;

	pthread_mutex_lock(&slow->lock);
	for (;;) {
		cmd = queue_get(&slow->waiting);
		if (!cmd) {
			if (slow->stop)
				break;
			pthread_cond_wait(&slow->work, &slow->lock);
			continue;
		}
		pthread_mutex_unlock(&slow->lock);
		slow->run(cmd, slow->context);
		pthread_mutex_lock(&slow->lock);
		queue_put(&slow->done, cmd);
		if (!slow->told)
			eventfd_write(slow->event, 1);
		slow->told = true;
	}
	pthread_mutex_unlock(&slow->lock);
	return NULL;
}

struct slow_commands *slow_commands_new(unsigned int threads,
					void (*run)(struct cmd *cmd, void *context), void *context)
{
	struct slow_commands *slow = calloc(1, sizeof(*slow) + threads * sizeof(slow->threads[0]));

	if (!slow)
		return NULL;
	slow->run = run;
	slow->context = context;
	queue_init(&slow->waiting);
	queue_init(&slow->done);
	pthread_mutex_init(&slow->lock, NULL);
	pthread_cond_init(&slow->work, NULL);
	slow->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (slow->event < 0)
		goto err_free;
	while (slow->n_threads < threads &&
	       !pthread_create(&slow->threads[slow->n_threads], NULL, worker, slow))
		slow->n_threads++;
	if (slow->n_threads)
		return slow;
	close(slow->event);
err_free:
	pthread_cond_destroy(&slow->work);
	pthread_mutex_destroy(&slow->lock);
	free(slow);
	return NULL;
}

void slow_commands_free(struct slow_commands *slow)
{
	unsigned int i;

	if (!slow)
		return;
	pthread_mutex_lock(&slow->lock);
	slow->stop = true;
	pthread_cond_broadcast(&slow->work);
	pthread_mutex_unlock(&slow->lock);
	for (i = 0; i < slow->n_threads; i++)
		pthread_join(slow->threads[i], NULL);
	close(slow->event);
	pthread_cond_destroy(&slow->work);
	pthread_mutex_destroy(&slow->lock);
	free(slow);
}

void slow_commands_submit(struct slow_commands *slow, struct cmd *cmd)
{
	pthread_mutex_lock(&slow->lock);
	queue_put(&slow->waiting, cmd);
	pthread_cond_signal(&slow->work);
	pthread_mutex_unlock(&slow->lock);
}

struct cmd *slow_commands_take(struct slow_commands *slow)
{
	struct cmd *cmd;
	eventfd_t count;

	pthread_mutex_lock(&slow->lock);
	cmd = queue_get(&slow->done);
	if (!cmd &&
	    slow->told) { /* a system call only if something came: this is asked after each command */
		eventfd_read(slow->event, &count);
		slow->told = false;
	}
	pthread_mutex_unlock(&slow->lock);
	return cmd;
}

int slow_commands_fd(const struct slow_commands *slow)
{
	return slow->event;
}
