// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fake_store.c - see fake_store.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xenstore.h>

#include "unit/fakes/fake_store.h"
#include "unit/fakes/fixture.h"

#define EVENTS 8192

struct table {
	unsigned int n;
	struct store_node node[STORE_NODES];
};

struct event {
	char path[STORE_PATH];
	bool removed;
};

struct store_faults store_faults;
void (*store_called)(void);

static struct table now, copy;
static bool in_transaction;
static unsigned int handles;

static char watches[STORE_WATCHES][STORE_PATH];
static unsigned int n_watches;
static char events[EVENTS][STORE_PATH];
static unsigned int first_event, end_event;

/* Of a transaction, which are seen at its end. */
static struct event changes[64];
static unsigned int n_changes;

bool store_below(const char *path, const char *dir)
{
	size_t length = strlen(dir);

	return !strncmp(path, dir, length) && (!path[length] || path[length] == '/');
}

/* Watches */

static void queue_event(const char *path)
{
	CHECK(end_event - first_event < EVENTS);
	snprintf(events[end_event++ % EVENTS], STORE_PATH, "%s", path);
}

/* Of a node that goes with the one above it, its own watches alone hear. */
static void fire(const char *path, bool removed)
{
	unsigned int i;

	for (i = 0; i < n_watches; i++)
		if (store_below(path, watches[i]))
			queue_event(path);
		else if (removed && store_below(watches[i], path))
			queue_event(watches[i]);
}

static void changed(const char *path, bool removed)
{
	struct event *change;

	if (!in_transaction) {
		fire(path, removed);
		return;
	}
	CHECK(n_changes < sizeof(changes) / sizeof(changes[0]));
	change = &changes[n_changes++];
	snprintf(change->path, sizeof(change->path), "%s", path);
	change->removed = removed;
}

static unsigned int find_watch(const char *path)
{
	unsigned int i;

	for (i = 0; i < n_watches && strcmp(watches[i], path); i++)
		;
	return i;
}

/* Nodes */

static struct table *table(void)
{
	return in_transaction ? &copy : &now;
}

static struct store_node *find(struct table *t, const char *path)
{
	size_t length = strlen(path);
	unsigned int i;

	for (i = 0; i < t->n; i++)
		if (t->node[i].length == length && !memcmp(t->node[i].path, path, length))
			return &t->node[i];
	return NULL;
}

/* Makes what lies above as well. */
static struct store_node *make(struct table *t, const char *path)
{
	struct store_node *node = find(t, path), *above;
	char parent[STORE_PATH], *slash;

	if (node)
		return node;
	CHECK(path[0] == '/' && strlen(path) < STORE_PATH);
	snprintf(parent, sizeof(parent), "%s", path);
	slash = strrchr(parent, '/');
	*slash = 0;
	above = slash > parent ? make(t, parent) : NULL;
	CHECK(t->n < STORE_NODES);
	node = &t->node[t->n++];
	memset(node, 0, sizeof(*node));
	snprintf(node->path, sizeof(node->path), "%s", path);
	node->length = strlen(path);
	node->owner = above ? above->owner : 0;
	node->reader = above ? above->reader : 0;
	return node;
}

static void write_node(struct table *t, const char *path, const void *value, size_t size)
{
	struct store_node *node = make(t, path);

	CHECK(size < STORE_VALUE);
	memcpy(node->value, value, size);
	node->value[size] = 0;
	node->size = size;
	changed(path, false);
}

static bool remove_nodes(struct table *t, const char *path)
{
	unsigned int i, kept = 0, n = t->n;

	for (i = 0; i < n; i++)
		if (!store_below(t->node[i].path, path)) {
			if (kept != i)
				t->node[kept] = t->node[i];
			kept++;
		}
	t->n = kept;
	if (kept < n)
		changed(path, true);
	return kept < n;
}

/* The tests' side */

void store_clear(void)
{
	CHECK(!in_transaction);
	now.n = 0;
	n_watches = n_changes = 0;
	first_event = end_event = 0;
	memset(&store_faults, 0, sizeof(store_faults));
	store_called = NULL;
}

void store_put_bytes(const char *path, const void *value, size_t size)
{
	write_node(&now, path, value, size);
}

void store_put(const char *path, const char *value)
{
	store_put_bytes(path, value, strlen(value));
}

void store_remove(const char *path)
{
	remove_nodes(&now, path);
}

void store_fire(const char *special)
{
	if (store_watched(special))
		queue_event(special);
}

struct store_node *store_find(const char *path)
{
	return find(&now, path);
}

bool store_is(const char *path, const char *value)
{
	struct store_node *node = store_find(path);

	return node && node->size == strlen(value) && !memcmp(node->value, value, node->size);
}

bool store_permits(const char *path, unsigned int owner, unsigned int reader)
{
	struct store_node *node = store_find(path);

	return node && node->owner == owner && node->reader == reader;
}

bool store_watched(const char *path)
{
	return find_watch(path) < n_watches;
}

unsigned int store_nodes(void)
{
	return now.n;
}

unsigned int store_events(void)
{
	return end_event - first_event;
}

unsigned int store_handles(void)
{
	return handles;
}

/* The library */

/* With errno, if it is to fail. */
static bool fails(const char *path, int err)
{
	if (store_called)
		store_called();
	if (!err || (store_faults.path && !store_below(path, store_faults.path)))
		return false;
	errno = err;
	return true;
}

struct xs_handle *xs_open(unsigned long flags)
{
	CHECK(!flags);
	if (fails("", store_faults.open))
		return NULL;
	handles++;
	return (struct xs_handle *)&now; /* nobody looks into it */
}

/* The watches were the handle's: in these tests there is one. */
void xs_close(struct xs_handle *xs)
{
	if (!xs)
		return;
	CHECK(handles--);
	n_watches = 0;
	first_event = end_event;
}

xs_transaction_t xs_transaction_start(struct xs_handle *xs)
{
	(void)xs;
	CHECK(!in_transaction);
	copy = now;
	in_transaction = true;
	return 1;
}

bool xs_transaction_end(struct xs_handle *xs, xs_transaction_t t, bool drop)
{
	unsigned int i;

	(void)xs;
	CHECK(in_transaction && t == 1);
	in_transaction = false;
	if (!drop) {
		now = copy;
		for (i = 0; i < n_changes; i++)
			fire(changes[i].path, changes[i].removed);
	}
	n_changes = 0;
	return true;
}

void *xs_read(struct xs_handle *xs, xs_transaction_t t, const char *path, unsigned int *size)
{
	struct store_node *node;
	char *value;

	(void)xs;
	CHECK(in_transaction == (t != XBT_NULL));
	if (fails(path, store_faults.read))
		return NULL;
	node = find(table(), path);
	if (!node) {
		errno = ENOENT;
		return NULL;
	}
	value = malloc(node->size + 1);
	CHECK(value);
	memcpy(value, node->value, node->size);
	value[node->size] = 0;
	if (size)
		*size = node->size;
	return value;
}

bool xs_write(struct xs_handle *xs, xs_transaction_t t, const char *path, const void *value,
	      unsigned int size)
{
	(void)xs;
	CHECK(in_transaction == (t != XBT_NULL));
	if (fails(path, store_faults.write))
		return false;
	write_node(table(), path, value, size);
	return true;
}

bool xs_rm(struct xs_handle *xs, xs_transaction_t t, const char *path)
{
	(void)xs;
	CHECK(in_transaction == (t != XBT_NULL));
	if (fails(path, store_faults.write))
		return false;
	errno = ENOENT;
	return remove_nodes(table(), path);
}

bool xs_set_permissions(struct xs_handle *xs, xs_transaction_t t, const char *path,
			struct xs_permissions *perms, unsigned int n)
{
	struct store_node *node;

	(void)xs;
	CHECK(in_transaction == (t != XBT_NULL));
	if (fails(path, store_faults.permissions))
		return false;
	node = find(table(), path);
	CHECK(node && n == 2 && perms[0].perms == XS_PERM_NONE && perms[1].perms == XS_PERM_READ);
	node->owner = perms[0].id;
	node->reader = perms[1].id;
	return true;
}

/* As the library does it: names behind the pointers to them. */
char **xs_directory(struct xs_handle *xs, xs_transaction_t t, const char *path, unsigned int *n)
{
	struct table *in = table();
	size_t length = strlen(path), bytes = 0;
	unsigned int i, found = 0;
	char **names, *text;

	(void)xs;
	CHECK(in_transaction == (t != XBT_NULL));
	if (fails(path, store_faults.read))
		return NULL;
	if (!find(in, path)) {
		errno = ENOENT;
		return NULL;
	}
	for (i = 0; i < in->n; i++)
		bytes += sizeof(*names) + in->node[i].length;
	names = malloc(bytes);
	CHECK(names);
	text = (char *)(names + in->n);
	for (i = 0; i < in->n; i++) {
		const char *at = in->node[i].path;

		if (in->node[i].length <= length || at[length] != '/' || memcmp(at, path, length) ||
		    strchr(at + length + 1, '/'))
			continue;
		names[found++] = strcpy(text, at + length + 1);
		text += strlen(text) + 1;
	}
	*n = found;
	return names;
}

bool xs_watch(struct xs_handle *xs, const char *path, const char *token)
{
	(void)xs;
	(void)token;
	if (fails(path, store_faults.watch))
		return false;
	CHECK(n_watches < STORE_WATCHES && !store_watched(path));
	snprintf(watches[n_watches++], STORE_PATH, "%s", path);
	queue_event(path); /* as the first one comes of itself */
	return true;
}

bool xs_unwatch(struct xs_handle *xs, const char *path, const char *token)
{
	unsigned int i = find_watch(path);

	(void)xs;
	(void)token;
	CHECK(i < n_watches);
	memmove(watches[i], watches[--n_watches], STORE_PATH);
	return true;
}

char **xs_check_watch(struct xs_handle *xs)
{
	char **event;

	(void)xs;
	if (first_event == end_event)
		return NULL;
	event = malloc(2 * sizeof(*event) + STORE_PATH);
	CHECK(event);
	event[XS_WATCH_PATH] = event[XS_WATCH_TOKEN] = (char *)(event + 2);
	memcpy(event[XS_WATCH_PATH], events[first_event++ % EVENTS], STORE_PATH);
	return event;
}

int xs_fileno(struct xs_handle *xs)
{
	CHECK(xs);
	return STORE_FD;
}

bool xs_is_domain_introduced(struct xs_handle *xs, unsigned int domid)
{
	char path[64];

	(void)xs;
	snprintf(path, sizeof(path), "/local/domain/%u/name", domid);
	return find(&now, path);
}
