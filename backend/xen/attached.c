// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * attached.c - see attached.h.
 *
 * What is read is of the backends' directories, where a guest writes nothing. A driver domain does,
 * in its own: there it could name any guest as one that it serves. So such a vHCA counts only if
 * the guest's directory, where the driver domain writes nothing, has it, too.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config/guid.h"
#include "shared-ring/vhca_nodes.h"
#include "xen/attached.h"
#include "xen/xenbus.h"

struct search {
	struct xs_handle *xs;
	unsigned int domid, back;
	char root[64]; /* of the backend that is looked at, for the domain */
	struct config_specs *specs;
};

static void read_name(struct search *s, const char *dir, const char *key,
		      char name[CONFIG_NAME_MAX])
{
	if (!xb_read(s->xs, dir, key, name, CONFIG_NAME_MAX))
		name[0] = 0;
}

static void read_backend(struct search *s, char name[CONFIG_NAME_MAX])
{
	char dir[XB_PATH_MAX];

	name[0] = 0;
	if (!s->back)
		return;
	snprintf(dir, sizeof(dir), "/local/domain/%u", s->back);
	read_name(s, dir, "name", name);
	if (!name[0])
		snprintf(name, CONFIG_NAME_MAX, "%u", s->back);
}

/* False: one has a value that nobody writes there. */
static bool read_limits(struct search *s, const char *dir, struct vhca_config *config)
{
	char text[LIMIT_TEXT];
	unsigned int i;

	for (i = 0; i < LIMITS; i++) {
		if (!xb_read(s->xs, dir, limit_key(i)->name, text, sizeof(text)))
			continue;
		if (!limit_parse(i, text, &config->limit[i].value))
			return false;
		config->limit[i].given = true;
	}
	return true;
}

static bool read_choices(struct search *s, const char *dir, struct choices *choices)
{
	enum choice choice;
	char word[16];

	choices_init(choices);
	for (choice = 0; choice < CHOICES; choice++) {
		if (!xb_read(s->xs, dir, choice_key(choice), word, sizeof(word)))
			continue;
		choices->of[choice].given = true;
		if (!choice_parse(choice, word, &choices->of[choice].value))
			return false;
	}
	return true;
}

/* False: it has values that nobody writes there. */
static bool read_config(struct search *s, const char *dir, struct vhca_config *config)
{
	char text[PKEYS_TEXT];
	uint64_t port;

	memset(config, 0, sizeof(*config));
	read_name(s, dir, CONFIG_HCA_CHOICE, config->hca);
	if (!config->hca[0])
		read_name(s, dir, XEN_VHCA_FIELD_HCA, config->hca);
	config->port = xb_read_number(s->xs, dir, XEN_VHCA_FIELD_PORT, UINT8_MAX, &port) ? port : 1;
	read_backend(s, config->backend);
	if (xb_read(s->xs, dir, XEN_VHCA_FIELD_NODE_GUID, text, sizeof(text)) &&
	    !guid_parse(text, &config->guid))
		return false;
	if (xb_read(s->xs, dir, CONFIG_PKEYS, text, sizeof(text)) &&
	    !pkeys_parse(text, &config->pkeys))
		return false;
	if (xb_read(s->xs, dir, CONFIG_SERVICE, text, sizeof(text)) &&
	    !services_parse(text, &config->services))
		return false;
	return read_choices(s, dir, &config->choices);
}

/* The guest's side of it, whatever the guest has made of that. */
static bool guest_agrees(struct search *s, const char *dir, unsigned int devid)
{
	char frontend[XB_PATH_MAX], backend[XB_PATH_MAX];

	snprintf(frontend, sizeof(frontend), "/local/domain/%u/device/vhca/%u", s->domid, devid);
	return xb_read(s->xs, frontend, "backend", backend, sizeof(backend)) &&
	       !strcmp(backend, dir);
}

/* What cannot be written as a spec was not written by us. */
static void add(struct search *s, const struct vhca_config *config)
{
	char spec[CONFIG_SPEC_MAX], why[64];
	struct vhca_config again;

	if (s->specs->n == CONFIG_VHCAS || !config_format_spec(spec, config) ||
	    config_parse_spec(spec, &again, why, sizeof(why)) ||
	    memcmp(config, &again, sizeof(again)))
		return;
	s->specs->spec[s->specs->n] = strdup(spec);
	if (s->specs->spec[s->specs->n])
		s->specs->n++;
}

static void look_at_vhca(void *search, uint64_t devid)
{
	struct search *s = search;
	struct vhca_config config;
	char dir[XB_PATH_MAX];
	uint64_t online;

	if (devid >= CONFIG_VHCAS)
		return;
	snprintf(dir, sizeof(dir), "%s/%u", s->root, (unsigned int)devid);
	if (!xb_read_number(s->xs, dir, "online", 1, &online) || !online)
		return;
	if (s->back && !guest_agrees(s, dir, devid))
		return;
	if (!read_config(s, dir, &config))
		return;
	config.devid = devid;
	if (read_limits(s, dir, &config))
		add(s, &config);
}

static void look_at_backend(void *search, uint64_t back)
{
	struct search *s = search;

	if (back >= DOMAINS || back == s->domid)
		return;
	s->back = back;
	snprintf(s->root, sizeof(s->root), "/local/domain/%u/backend/vhca/%u", s->back, s->domid);
	xb_each(s->xs, s->root, look_at_vhca, s);
}

bool attached_uuid(struct xs_handle *xs, unsigned int domid, char uuid[SAVED_UUID])
{
	char dir[32], vm[64];

	snprintf(dir, sizeof(dir), "/local/domain/%u", domid);
	if (!xb_read(xs, dir, "vm", vm, sizeof(vm)) || strncmp(vm, "/vm/", 4) ||
	    !saved_uuid(vm + 4))
		return false;
	memcpy(uuid, vm + 4, SAVED_UUID);
	return true;
}

bool attached_read(struct xs_handle *xs, unsigned int domid, struct saved *saved)
{
	struct search s = { .xs = xs, .domid = domid, .specs = &saved->specs };
	char dir[32], name[256];

	memset(saved, 0, sizeof(*saved));
	if (!attached_uuid(xs, domid, saved->uuid))
		return false;
	snprintf(dir, sizeof(dir), "/local/domain/%u", domid);
	if (xb_read(xs, dir, "name", name, sizeof(name)))
		saved_name(saved, name);
	xb_each(xs, "/local/domain", look_at_backend, &s);
	return true;
}
