// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * threads.c - see threads.h. There is a lock for the queue alone: it is never held while a command runs.
 */
#include <pthread.h>
#include <stdlib.h>

#include "commands/cmd.h"
#include "commands/threads.h"

struct cmd_threads {
	void (*run)(struct cmd *cmd, void *context);
	void *context;
	pthread_mutex_t lock; /* all below */
	pthread_cond_t work;
	struct cmd *first, **last; /* that wait */
	unsigned int given;        /* commands that wait or run */
	bool stop;
	unsigned int n;
	pthread_t threads[];
};

static void put(struct cmd_threads *threads, struct cmd *cmd)
{
	cmd->next = NULL;
	*threads->last = cmd;
	threads->last = &cmd->next;
	threads->given++;
}

static struct cmd *get(struct cmd_threads *threads)
{
	struct cmd *cmd = threads->first;

	if (!cmd)
		return NULL;
	threads->first = cmd->next;
	if (!threads->first)
		threads->last = &threads->first;
	return cmd;
}

static void *work(void *arg)
{
	struct cmd_threads *threads = arg;
	struct cmd *cmd;

	pthread_mutex_lock(&threads->lock);
	for (;;) {
		cmd = get(threads);
		if (!cmd) {
			if (threads->stop)
				break;
			pthread_cond_wait(&threads->work, &threads->lock);
			continue;
		}
		pthread_mutex_unlock(&threads->lock);
		threads->run(cmd, threads->context);
		pthread_mutex_lock(&threads->lock);
		threads->given--;
	}
	pthread_mutex_unlock(&threads->lock);
	return NULL;
}

struct cmd_threads *cmd_threads_new(unsigned int n, void (*run)(struct cmd *cmd, void *context),
				    void *context)
{
	struct cmd_threads *threads = calloc(1, sizeof(*threads) + n * sizeof(threads->threads[0]));

	if (!threads)
		return NULL;
	threads->run = run;
	threads->context = context;
	threads->last = &threads->first;
	pthread_mutex_init(&threads->lock, NULL);
	pthread_cond_init(&threads->work, NULL);
	while (threads->n < n &&
	       !pthread_create(&threads->threads[threads->n], NULL, work, threads))
		threads->n++;
	if (threads->n)
		return threads;
	cmd_threads_free(threads);
	return NULL;
}

void cmd_threads_free(struct cmd_threads *threads)
{
	unsigned int i;

	if (!threads)
		return;
	pthread_mutex_lock(&threads->lock);
	threads->stop = true;
	pthread_cond_broadcast(&threads->work);
	pthread_mutex_unlock(&threads->lock);
	for (i = 0; i < threads->n; i++)
		pthread_join(threads->threads[i], NULL);
	pthread_cond_destroy(&threads->work);
	pthread_mutex_destroy(&threads->lock);
	free(threads);
}

/* The thread is woken without the lock, as it takes that first. */
void cmd_threads_submit(struct cmd_threads *threads, struct cmd *cmd)
{
	pthread_mutex_lock(&threads->lock);
	put(threads, cmd);
	pthread_mutex_unlock(&threads->lock);
	pthread_cond_signal(&threads->work);
}

bool cmd_threads_offer(struct cmd_threads *threads, struct cmd *cmd)
{
	bool taken;

	pthread_mutex_lock(&threads->lock);
	taken = threads->given < threads->n;
	if (taken)
		put(threads, cmd);
	pthread_mutex_unlock(&threads->lock);
	if (taken)
		pthread_cond_signal(&threads->work);
	return taken;
}
