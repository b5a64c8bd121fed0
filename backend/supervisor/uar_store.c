// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * uar_store.c - see uar_store.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "broker/uar_table.h"
#include "hca/hca.h"
#include "supervisor/fdstore.h"
#include "supervisor/uar_store.h"
#include "util/log.h"

void uar_store_init(struct uar_store *store)
{
	*store = (struct uar_store){ 0 };
	LIST_INIT(&store->vhcas);
}

void uar_pools_init(struct uar_pools *pools, unsigned int domid, unsigned int devid,
		    struct uar_store *store)
{
	pools->domid = domid;
	pools->devid = devid;
	pools->store = store;
	LIST_INIT(&pools->list);
	LIST_INSERT_HEAD(&store->vhcas, pools, link);
}

/* In systemd's store */

struct name {
	char text[128];
};

static struct name file_name(uint32_t number)
{
	struct name name;

	snprintf(name.text, sizeof(name.text), "file-%u", number);
	return name;
}

static struct name table_name(const struct uar_pools *pools, const struct held_pool *pool)
{
	struct name name;

	snprintf(name.text, sizeof(name.text), "table-%u,%u-%u,%s", pool->number, pools->domid,
		 pools->devid, pool->hca);
	return name;
}

void uar_store_remove_file(const struct uar_store *store, uint32_t number)
{
	const struct uar_pools *pools;
	const struct held_pool *pool;

	LIST_FOREACH(pools, &store->vhcas, link)
		LIST_FOREACH(pool, &pools->list, link)
			if (pool->file_number == number)
				return;
	if (number)
		fdstore_remove(file_name(number).text);
}

int uar_store_put_file(struct uar_store *store, int file, uint32_t *number)
{
	int err = fdstore_put(file_name(store->last + 1).text, file);

	if (!err)
		*number = ++store->last;
	return err;
}

static struct held_pool *add(struct uar_pools *pools, const char *hca, uint32_t number, int file,
			     int table)
{
	struct held_pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	strncpy(pool->hca, hca, sizeof(pool->hca) - 1);
	pool->number = number;
	pool->file_number = number;
	pool->file = file;
	pool->table = table;
	LIST_INSERT_HEAD(&pools->list, pool, link);
	return pool;
}

/* systemd lets go as well, so this is where the UARs become free. */
void uar_store_close(struct uar_pools *pools, struct held_pool *pool)
{
	LIST_REMOVE(pool, link);
	fdstore_remove(table_name(pools, pool).text);
	uar_store_remove_file(pools->store, pool->file_number);
	close(pool->file);
	close(pool->table);
	free(pool);
}

/* Of a size that stays: whoever maps it can rely on that. */
static int make_table(void)
{
	int fd = memfd_create("xen-ib-uars", MFD_CLOEXEC | MFD_ALLOW_SEALING), err;

	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, sizeof(struct uar_table)) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* Nobody is given the UAR pool before it is in the store. */
static int store_pool(struct uar_pools *pools, struct held_pool *pool)
{
	int err = fdstore_put(file_name(pool->number).text, pool->file);

	if (err)
		return err;
	err = fdstore_put(table_name(pools, pool).text, pool->table);
	if (err)
		fdstore_remove(file_name(pool->number).text);
	return err;
}

struct held_pool *uar_store_open(struct uar_pools *pools, const char *hca, int *err)
{
	struct held_pool *pool;
	int file, table;

	file = hca_uar_pool_open(hca);
	if (file < 0) {
		*err = file;
		return NULL;
	}
	table = make_table();
	if (table < 0) {
		*err = table;
		goto err_file;
	}
	pool = add(pools, hca, ++pools->store->last, file, table);
	*err = pool ? store_pool(pools, pool) : -ENOMEM;
	if (!*err)
		return pool;
	if (pool)
		LIST_REMOVE(pool, link);
	free(pool);
	close(table);
err_file:
	close(file);
	return NULL;
}

struct uar_table *uar_store_map(const struct held_pool *pool)
{
	struct uar_table *table;

	table = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE, MAP_SHARED, pool->table, 0);
	return table == MAP_FAILED ? NULL : table;
}

void uar_store_unmap(struct uar_table *table)
{
	munmap(table, sizeof(*table));
}

/* What the supervisor before has left in the store */

struct stored {
	unsigned int number, domid, devid;
	char hca[UVERBS_NAME_MAX]; /* empty: a file, else a table */
	int fd;
	bool needed; /* this file, by a table */
};

struct stored_list {
	struct stored *entry;
	unsigned int n;
	bool failed;
};

static bool parse_name(const char *name, struct stored *s)
{
	int end = 0;

	*s = (struct stored){ 0 };
	if (sscanf(name, "file-%u%n", &s->number, &end) == 1 && !name[end])
		return true;
	end = 0;
	return sscanf(name, "table-%u,%u-%u,%63[^\n]%n", &s->number, &s->domid, &s->devid, s->hca,
		      &end) == 4 &&
	       !name[end];
}

static void note_stored(void *to, const char *name, int fd)
{
	struct stored_list *list = to;
	struct stored *more, s;

	if (!parse_name(name, &s)) {
		log_warning("not known, from the file descriptor store: %s", name);
		close(fd);
		return;
	}
	more = reallocarray(list->entry, list->n + 1, sizeof(*more));
	if (!more) {
		list->failed = true;
		close(fd);
		return;
	}
	s.fd = fd;
	list->entry = more;
	list->entry[list->n++] = s;
}

static struct stored *find_file(const struct stored_list *list, uint32_t number)
{
	unsigned int i;

	for (i = 0; i < list->n; i++)
		if (!list->entry[i].hca[0] && list->entry[i].number == number)
			return &list->entry[i];
	return NULL;
}

/* A UAR pool without its file is one whose HCA has forgotten it. */
static int adopt(struct uar_pools *pools, const struct stored_list *list, const struct stored *s)
{
	struct uar_table *table;
	struct held_pool *pool;
	struct stored *file;
	struct stat st;

	if (fstat(s->fd, &st) || st.st_size != sizeof(*table))
		return -EPROTO;
	pool = add(pools, s->hca, s->number, -1, s->fd);
	table = pool ? uar_store_map(pool) : NULL;
	if (!table)
		goto err;
	pool->stale = table->held_by;
	pool->file_number = table->held_by ?: s->number;
	uar_store_unmap(table);
	file = find_file(list, pool->file_number);
	if (!file) {
		pool->file_number = 0;
		return 0;
	}
	file->needed = true;
	pool->file = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
	if (pool->file >= 0)
		return 0;
err:
	if (pool)
		LIST_REMOVE(pool, link);
	free(pool);
	return -ENOMEM;
}

static void close_files(const struct stored_list *list, bool known)
{
	unsigned int i;

	for (i = 0; i < list->n; i++) {
		if (list->entry[i].hca[0])
			continue;
		if (known && !list->entry[i].needed)
			fdstore_remove(file_name(list->entry[i].number).text);
		close(list->entry[i].fd);
	}
}

int uar_store_load(struct uar_store *store, uar_store_vhca *vhca, void *from)
{
	struct stored_list list = { 0 };
	struct uar_pools *pools;
	unsigned int i;
	int err;

	err = fdstore_load(note_stored, &list);
	if (!err && list.failed)
		err = -ENOMEM;
	for (i = 0; i < list.n && !err; i++) {
		if (list.entry[i].number > store->last)
			store->last = list.entry[i].number;
		if (!list.entry[i].hca[0])
			continue;
		pools = vhca(from, list.entry[i].domid, list.entry[i].devid);
		err = pools ? adopt(pools, &list, &list.entry[i]) : -ENOSPC;
		if (err)
			log_error(
				"the UAR pool of domain %u, vHCA %u, from the file descriptor store: %s",
				list.entry[i].domid, list.entry[i].devid, strerror(-err));
	}
	close_files(&list, !err);
	free(list.entry);
	return err;
}
