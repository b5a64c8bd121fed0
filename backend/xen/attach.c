// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * attach.c - see attach.h.
 *
 * The guest owns its own directory and may write there what it likes, so nothing is read from there
 * but whether it exists.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/guid.h"
#include "shared-ring/vhca_nodes.h"
#include "util/log.h"
#include "xen/attach.h"
#include "xen/xenbus.h"

#define SYSFS "/sys/class/infiniband"

/* A vHCA that is being written, in a transaction. */
struct nodes {
	struct xs_handle *xs;
	xs_transaction_t t;
	unsigned int own, back, domid, devid;
	char backend[XB_PATH_MAX], frontend[XB_PATH_MAX];
	bool failed;
};

static void set_paths(struct nodes *n, unsigned int devid)
{
	n->devid = devid;
	snprintf(n->backend, sizeof(n->backend), "/local/domain/%u/backend/vhca/%u/%u", n->back,
		 n->domid, devid);
	snprintf(n->frontend, sizeof(n->frontend), "/local/domain/%u/device/vhca/%u", n->domid,
		 devid);
}

static bool there(const struct nodes *n, const char *path)
{
	char *text = xs_read(n->xs, n->t, path, NULL);

	free(text);
	return text;
}

__attribute__((format(printf, 4, 5))) static void put(struct nodes *n, const char *dir,
						      const char *key, const char *format, ...)
{
	char path[XB_PATH_MAX + 32], value[PKEYS_TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(value, sizeof(value), format, args);
	va_end(args);
	snprintf(path, sizeof(path), "%s/%s", dir, key);
	if (!xs_write(n->xs, n->t, path, value, strlen(value)))
		n->failed = true;
}

/* What is made in it afterwards has the same permissions. */
static void make_directory(struct nodes *n, const char *path, unsigned int owner,
			   unsigned int reader)
{
	struct xs_permissions perms[] = {
		{ .id = owner, .perms = XS_PERM_NONE },
		{ .id = reader, .perms = XS_PERM_READ },
	};

	if (!xs_write(n->xs, n->t, path, "", 0) || !xs_set_permissions(n->xs, n->t, path, perms, 2))
		n->failed = true;
}

static void put_backend(struct nodes *n, bool online, enum xb_state state)
{
	make_directory(n, n->backend, n->back, n->domid);
	put(n, n->backend, "frontend", "%s", n->frontend);
	put(n, n->backend, "frontend-id", "%u", n->domid);
	put(n, n->backend, "online", "%d", online);
	put(n, n->backend, "state", "%d", state);
}

/* Xenstore has "/vm/UUID" there. */
uint64_t attach_guid(struct xs_handle *xs, xs_transaction_t t, unsigned int domid,
		     unsigned int devid)
{
	char path[64], number[16], *vm;
	uint64_t guid;

	snprintf(path, sizeof(path), "/local/domain/%u/vm", domid);
	snprintf(number, sizeof(number), "%u", domid);
	vm = xs_read(xs, t, path, NULL);
	guid = guid_make(vm && strncmp(vm, "/vm/", 4) == 0 ? vm + 4 : number, devid);
	free(vm);
	return guid;
}

static void put_guid(struct nodes *n, uint64_t guid)
{
	char text[GUID_TEXT];

	guid_format(text, guid);
	put(n, n->backend, XEN_VHCA_FIELD_NODE_GUID, "%s", text);
}

static void put_choices(struct nodes *n, const struct choices *choices)
{
	enum choice choice;

	for (choice = 0; choice < CHOICES; choice++) {
		if (!choices->of[choice].given)
			continue;
		put(n, n->backend, choice_key(choice), "%s",
		    choice_word(choice, choices->of[choice].value));
	}
}

static void put_limits(struct nodes *n, const struct vhca_config *config)
{
	char value[LIMIT_TEXT];
	unsigned int i;

	for (i = 0; i < LIMITS; i++) {
		if (!config->limit[i].given)
			continue;
		limit_format(value, i, config->limit[i].value);
		put(n, n->backend, limit_key(i)->name, "%s", value);
	}
}

static void put_config(struct nodes *n, const struct vhca_config *config)
{
	char pkeys[PKEYS_TEXT], services[SERVICES_TEXT];

	put(n, n->backend, XEN_VHCA_FIELD_HCA, "%s", config->hca);
	if (!strcmp(config->hca, CONFIG_HCA_AUTO))
		put(n, n->backend, CONFIG_HCA_CHOICE, "%s", config->hca);
	put(n, n->backend, XEN_VHCA_FIELD_PORT, "%u", config->port);
	put_guid(n, config->guid ? config->guid : attach_guid(n->xs, n->t, n->domid, n->devid));
	if (config->pkeys.given) {
		pkeys_format(pkeys, &config->pkeys);
		put(n, n->backend, CONFIG_PKEYS, "%s", pkeys);
	}
	if (config->services.n) {
		services_format(services, &config->services);
		put(n, n->backend, CONFIG_SERVICE, "%s", services);
	}
	put_choices(n, &config->choices);
	put_limits(n, config);
}

static void put_frontend(struct nodes *n)
{
	make_directory(n, n->frontend, n->domid, n->back);
	put(n, n->frontend, "backend", "%s", n->backend);
	put(n, n->frontend, "backend-id", "%u", n->back);
	put(n, n->frontend, "state", "%d", XB_INITIALISING);
}

/* Which devid; both directories tell, as a vHCA may be another backend's, or the guest's own idea. */
static int choose_devid(struct nodes *n, int wanted)
{
	unsigned int devid;

	if (wanted >= 0) {
		set_paths(n, wanted);
		return there(n, n->backend) || there(n, n->frontend) ? -EEXIST : 0;
	}
	for (devid = 0; devid < CONFIG_VHCAS; devid++) {
		set_paths(n, devid);
		if (!there(n, n->backend) && !there(n, n->frontend))
			return 0;
	}
	return -ENOSPC;
}

__attribute__((format(printf, 4, 5))) static int say(int err, char *why, size_t size,
						     const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, size, format, args);
	va_end(args);
	return err;
}

/* Another one has changed what was read: once more. */
static bool commit(struct nodes *n, bool *again)
{
	bool done;

	done = xs_transaction_end(n->xs, n->t, n->failed);
	*again = !done && errno == EAGAIN;
	return done && !n->failed;
}

/*
 * change - in one transaction: has fn write what it wants. fn returns 0, or what change() is then to
 * return, with nothing written. -EIO, with errno: xenstore.
 */
typedef int change_fn(struct nodes *n, const void *what);

static int change(struct nodes *n, change_fn *fn, const void *what)
{
	bool again;
	int err;

	do {
		n->failed = false;
		n->t = xs_transaction_start(n->xs);
		if (n->t == XBT_NULL)
			return -EIO;
		err = fn(n, what);
		if (err) {
			xs_transaction_end(n->xs, n->t, true);
			return err;
		}
		if (commit(n, &again))
			return 0;
	} while (again);
	return -EIO;
}

struct vhca {
	const struct vhca_config *config;
	const char *missing; /* why it has to wait, or NULL */
};

static int write_vhca(struct nodes *n, const void *what)
{
	const struct vhca *vhca = what;
	int err;

	err = choose_devid(n, vhca->config->devid);
	if (err)
		return err;
	put_backend(n, true, vhca->missing ? XB_CLOSED : XB_INITIALISING);
	put_config(n, vhca->config);
	if (vhca->missing)
		put(n, n->backend, XEN_VHCA_FIELD_ERROR, "%s", vhca->missing);
	put_frontend(n);
	return 0;
}

static int make_nodes(struct nodes *n, const struct vhca_config *config, const char *missing,
		      char *why, size_t size)
{
	const struct vhca vhca = { config, missing };
	int err;

	err = change(n, write_vhca, &vhca);
	switch (err) {
	case 0:
		return 0;
	case -EEXIST:
		return say(err, why, size, "vHCA %d already exists", config->devid);
	case -ENOSPC:
		return say(err, why, size, "more than %u vHCAs", CONFIG_VHCAS);
	default:
		return say(err, why, size, "xenstore: %s", strerror(errno));
	}
}

/* Of another domain's HCAs nothing is known here; and where the backend chooses one it waits if there is none. */
static int look_for_hca(const struct nodes *n, const struct vhca_config *config, char *why,
			size_t size)
{
	char path[PATH_MAX];

	if (n->back != n->own || !strcmp(config->hca, CONFIG_HCA_AUTO))
		return 0;
	snprintf(path, sizeof(path), SYSFS "/%s", config->hca);
	if (access(path, F_OK))
		return say(-ENODEV, why, size, "there is no HCA %s", config->hca);
	snprintf(path, sizeof(path), SYSFS "/%s/ports/%u", config->hca, config->port);
	if (access(path, F_OK))
		return say(-ENXIO, why, size, "HCA %s has no port %u", config->hca, config->port);
	return 0;
}

static int set_domains(struct nodes *n, const struct vhca_config *config, char *why, size_t size)
{
	int back = n->own;

	if (!xs_is_domain_introduced(n->xs, n->domid))
		return say(-ENOENT, why, size, "there is no domain %u", n->domid);
	if (config->backend[0])
		back = attach_domain(n->xs, n->own, config->backend);
	if (back < 0)
		return say(-ENOENT, why, size, "backend=%s: there is no such domain",
			   config->backend);
	if ((unsigned int)back == n->domid)
		return say(-EINVAL, why, size, "backend=%s: that is the domain itself",
			   config->backend);
	n->back = back;
	return 0;
}

int attach_vhca(struct xs_handle *xs, unsigned int own, unsigned int domid,
		const struct vhca_config *config, unsigned int *devid, char *why, size_t size)
{
	struct nodes n = { .xs = xs, .own = own, .domid = domid };
	int err;

	err = set_domains(&n, config, why, size);
	if (!err)
		err = look_for_hca(&n, config, why, size);
	if (err)
		return err == -ENXIO ? -ENODEV : err;
	err = make_nodes(&n, config, NULL, why, size);
	*devid = n.devid;
	return err;
}

static int write_refused(struct nodes *n, const void *why)
{
	if (there(n, n->backend))
		return -EEXIST;
	put_backend(n, false, XB_CLOSED);
	put(n, n->backend, XEN_VHCA_FIELD_ERROR, "%s", (const char *)why);
	return 0;
}

void attach_refused(struct xs_handle *xs, unsigned int own, unsigned int domid, unsigned int devid,
		    const char *why)
{
	struct nodes n = { .xs = xs, .own = own, .back = own, .domid = domid };

	set_paths(&n, devid);
	if (change(&n, write_refused, why) == -EIO)
		log_error("writing %s: %s", n.backend, strerror(errno));
}

static int attach_spec(struct nodes *n, struct vhca_config *config, const char *spec, char *why,
		       size_t size)
{
	char missing[256];
	int err;

	err = config_parse_spec(spec, config, why, size);
	if (!err)
		err = set_domains(n, config, why, size);
	if (err)
		return err;
	err = look_for_hca(n, config, missing, sizeof(missing));
	if (err == -ENXIO)
		return say(err, why, size, "%s", missing);
	if (err)
		log_error("domain %u: %s; its vHCA waits for it", n->domid, missing);
	return make_nodes(n, config, err ? missing : NULL, why, size);
}

void attach_from_config(struct xs_handle *xs, unsigned int own, unsigned int domid, unsigned int n,
			const char *spec)
{
	struct nodes nodes = { .xs = xs, .own = own, .domid = domid };
	struct vhca_config config;
	char why[256];

	if (!attach_spec(&nodes, &config, spec, why, sizeof(why))) {
		log_info("domain %u gets vHCA %u: %s", domid, nodes.devid, spec);
		return;
	}
	log_error("domain %u, number %u of vhca=[]: %s", domid, n, why);
	attach_refused(xs, own, domid, n, why);
}

bool attach_exists(struct xs_handle *xs, unsigned int own, unsigned int domid, unsigned int devid)
{
	struct nodes n = { .xs = xs, .t = XBT_NULL, .back = own, .domid = domid };

	set_paths(&n, devid);
	return there(&n, n.backend);
}

static int write_detach(struct nodes *n, const void *how)
{
	if (!there(n, n->backend))
		return -ENOENT;
	put(n, n->backend, "detach", "%s", (const char *)how);
	put(n, n->backend, "online", "0");
	return 0;
}

/* Which backend has a vHCA; dom0 sees all of them. */
static unsigned int find_backend(struct xs_handle *xs, unsigned int own, unsigned int domid,
				 unsigned int devid)
{
	unsigned int n, i, backend, found = own;
	char **domains;

	if (own || attach_exists(xs, own, domid, devid))
		return own;
	domains = xs_directory(xs, XBT_NULL, "/local/domain", &n);
	for (i = 0; domains && i < n; i++)
		if (xb_number(domains[i], &backend) && attach_exists(xs, backend, domid, devid))
			found = backend;
	free(domains);
	return found;
}

/* Of a vHCA that has to be there, in any backend's directory. */
static int change_vhca(struct xs_handle *xs, unsigned int own, unsigned int domid,
		       unsigned int devid, change_fn *write, const void *what, char *why,
		       size_t size)
{
	struct nodes n = { .xs = xs, .back = find_backend(xs, own, domid, devid), .domid = domid };
	int err;

	set_paths(&n, devid);
	err = change(&n, write, what);
	if (!err)
		return 0;
	return err == -ENOENT ? say(err, why, size, "domain %u has no vHCA %u", domid, devid) :
				say(err, why, size, "xenstore: %s", strerror(errno));
}

int detach_vhca(struct xs_handle *xs, unsigned int own, unsigned int domid, unsigned int devid,
		bool force, char *why, size_t size)
{
	return change_vhca(xs, own, domid, devid, write_detach, force ? "force" : "wait", why,
			   size);
}

/* The worker reads all of them when it sees another number there. */
static void put_limits_set(struct nodes *n)
{
	char path[XB_PATH_MAX + 32], *text;
	unsigned long last;

	snprintf(path, sizeof(path), "%s/" CONFIG_LIMITS_SET, n->backend);
	text = xs_read(n->xs, n->t, path, NULL);
	last = text ? strtoul(text, NULL, 10) : 0;
	free(text);
	put(n, n->backend, CONFIG_LIMITS_SET, "%u", (unsigned int)last + 1);
}

static int write_limits(struct nodes *n, const void *config)
{
	if (!there(n, n->backend))
		return -ENOENT;
	put_limits(n, config);
	put_limits_set(n);
	return 0;
}

int attach_set(struct xs_handle *xs, unsigned int own, unsigned int domid, unsigned int devid,
	       const struct vhca_config *config, char *why, size_t size)
{
	return change_vhca(xs, own, domid, devid, write_limits, config, why, size);
}

/* What is not there need not be removed. */
static int write_removal(struct nodes *n, const void *nothing)
{
	(void)nothing;
	xs_rm(n->xs, n->t, n->frontend);
	xs_rm(n->xs, n->t, n->backend);
	return 0;
}

bool attach_remove(struct xs_handle *xs, unsigned int own, unsigned int domid, unsigned int devid)
{
	struct nodes n = { .xs = xs, .back = own, .domid = domid };

	set_paths(&n, devid);
	if (!change(&n, write_removal, NULL))
		return true;
	log_error("removing %s: %s", n.backend, strerror(errno));
	return false;
}

bool attach_done(struct xs_handle *xs, unsigned int own, unsigned int domid, unsigned int devid)
{
	struct nodes n = { .xs = xs, .back = own, .domid = domid };

	set_paths(&n, devid);
	return xb_write(xs, n.backend, "detach", "done");
}

static bool has_name(struct xs_handle *xs, const char *domid, const char *name)
{
	char dir[64], found[256];

	snprintf(dir, sizeof(dir), "/local/domain/%s", domid);
	return xb_read(xs, dir, "name", found, sizeof(found)) && !strcmp(found, name);
}

static bool serves(struct xs_handle *xs, unsigned int own, unsigned int domid)
{
	char path[XB_PATH_MAX];

	snprintf(path, sizeof(path), "/local/domain/%u/backend/vhca/%u", own, domid);
	return xb_exists(xs, path);
}

int attach_domain(struct xs_handle *xs, unsigned int own, const char *name)
{
	unsigned int n, i, domid;
	int found = -ENOENT;
	char **domains;

	if (xb_number(name, &domid))
		return xs_is_domain_introduced(xs, domid) || serves(xs, own, domid) ? (int)domid :
										      -ENOENT;
	domains = xs_directory(xs, XBT_NULL, "/local/domain", &n);
	if (!domains)
		return -ENOENT;
	for (i = 0; i < n && found < 0; i++)
		if (xb_number(domains[i], &domid) && has_name(xs, domains[i], name))
			found = domid;
	free(domains);
	return found;
}
