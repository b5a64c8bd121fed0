/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * saved.h - the vHCAs that a domain had when it was suspended: a file for each domain, named by its
 * UUID, which a domain has again when it is restored, here or on another host.
 *
 *   xen-ib-vhcas 1
 *   uuid 4a2b2b3e-0c0f-4d0a-8e5e-0123456789ab
 *   name guest1
 *   vhca hca=mlx5_0,port=1,devid=0,guid=02163e5a00c1f29b
 *   end
 *
 * A line "vhca" for each, as spec.h has them; with none the domain is to have none. The last line
 * tells that nothing is missing.
 */
#ifndef XEN_IB_CONFIG_SAVED_H
#define XEN_IB_CONFIG_SAVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "config/xl_cfg.h"

#define SAVED_DIR "/var/lib/xen-ib"
#define SAVED_UUID 37 /* with the end */
#define SAVED_TEXT_MAX (CONFIG_VHCAS * (CONFIG_SPEC_MAX + 8) + 512)
#define SAVED_FILES 1024 /* more are not stored: the oldest goes */

struct saved {
	char uuid[SAVED_UUID];
	char name[CONFIG_NAME_MAX]; /* for people; not more than letters, digits and "_-.+:@" */
	struct config_specs specs;
};

/* saved_uuid - whether text is a UUID as Xen writes it: lower case, with four dashes. */
bool saved_uuid(const char *text);

/* saved_name - takes a domain's name as far as it can be stored. */
void saved_name(struct saved *saved, const char *name);

/* saved_print - the lines above. */
void saved_print(FILE *to, const struct saved *saved);

/*
 * saved_parse - reads them; each spec is checked.
 * @saved: specs are freed by config_file_free()
 * 0; -EINVAL with the reason in why, a line that can be shown to anyone.
 */
int saved_parse(const char *text, size_t length, struct saved *saved, char *why, size_t size);

/*
 * saved_load - the file of a UUID in a folder. 0; -ENOENT: there is none. -EINVAL with the reason in
 * why: it is not as above, or somebody else than its owner may have written it.
 */
int saved_load(const char *dir, const char *uuid, struct saved *saved, char *why, size_t size);

/* saved_store - writes it, in the place of one that is there; whole, or not at all. 0 or -errno. */
int saved_store(const char *dir, const struct saved *saved);

#endif
