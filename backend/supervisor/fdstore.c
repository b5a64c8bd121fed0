// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fdstore.c - see fdstore.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "supervisor/fdstore.h"
#include "util/log.h"

/* All names are one variable of the environment of the next supervisor, and Linux takes 128 KiB for one. */
#define NAMES_MAX (120 * 1024)

static struct {
	unsigned int n, most; /* descriptors; most: 0 if there is no store */
	size_t names;         /* their bytes, with a separator each */
} store;

static void count(const char *name, int sign)
{
	store.n += sign;
	store.names += sign * (ssize_t)(strlen(name) + 1);
}

/* systemd says how many there may be; before 254 it did not, and forgot all when the service was stopped. */
static unsigned int read_most(void)
{
	const char *most = getenv("FDSTORE");

	return most && getenv("NOTIFY_SOCKET") ? strtoul(most, NULL, 10) : 0;
}

int fdstore_load(fdstore_fn *fn, void *to)
{
	char **names = NULL;
	int n, i;

	memset(&store, 0, sizeof(store));
	store.most = read_most();
	n = sd_listen_fds_with_names(1, &names);
	if (n < 0)
		return n;
	for (i = 0; i < n; i++) {
		count(names[i], 1);
		fn(to, names[i], SD_LISTEN_FDS_START + i);
		free(names[i]);
	}
	free(names);
	return 0;
}

bool fdstore_exists(void)
{
	return store.most;
}

/* What systemd takes as a name; under any other it would store the descriptor as "stored". */
static bool is_name(const char *name)
{
	const char *c;

	for (c = name; *c; c++)
		if (*c < ' ' || *c > '~' || *c == ':')
			return false;
	return c != name && c - name < 256;
}

/* systemd does not answer, so what it would refuse is refused here. */
int fdstore_put(const char *name, int fd)
{
	char *state;
	int err;

	if (!fdstore_exists())
		return 0;
	if (!is_name(name))
		return -EINVAL;
	if (store.n >= store.most || store.names + strlen(name) + 1 > NAMES_MAX)
		return -ENOSPC;
	if (asprintf(&state, "FDSTORE=1\nFDPOLL=0\nFDNAME=%s", name) < 0)
		return -ENOMEM;
	err = sd_pid_notify_with_fds(0, 0, state, &fd, 1);
	free(state);
	if (err < 0)
		return err;
	count(name, 1);
	return 0;
}

void fdstore_remove(const char *name)
{
	int err;

	if (!fdstore_exists())
		return;
	err = sd_notifyf(0, "FDSTOREREMOVE=1\nFDNAME=%s", name);
	if (err < 0) {
		log_error("removing %s from the file descriptor store: %s", name, strerror(-err));
		return;
	}
	count(name, -1);
}
