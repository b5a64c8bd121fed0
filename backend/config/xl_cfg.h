/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * xl_cfg.h - the line "vhca = [ ... ]" in a domain's xl configuration.
 *
 * xl ignores keys that it does not know, and libxl keeps of a configuration only what xl has made
 * of it (the "xl" userdata of a domain exists between "xl config-update" and the next reboot). So
 * the file itself is looked for: the one that gives the domain's name, read again by Xen's own
 * parser. That is the one which a running "xl create" was given, or else one in /etc/xen.
 */
#ifndef XEN_IB_CONFIG_XL_CFG_H
#define XEN_IB_CONFIG_XL_CFG_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "config/spec.h"

/* Where configurations are. */
struct config_places {
	const char *proc; /* what xl commands were given: see xl_process.h */
	uid_t owner;
	const char *const *dirs; /* ends with NULL */
};

/* Of a real system: processes of root, /etc/xen, /etc/xen/auto. */
extern const struct config_places config_places;

struct config_specs {
	unsigned int n;
	char *spec[CONFIG_VHCAS];
};

/*
 * config_file_find - the vHCAs of the domain with this name. If no xl command was given a
 * configuration of that name, all regular files in dirs are looked through but hidden ones, backups (~), and those that are too large to be a configuration.
 * @specs: n is 0 if there is no such file, or no vhca in it; freed by config_file_free()
 * 0; -EINVAL with the reason in why: vhca is not a list of strings, there are too many, or files
 * contradict each other.
 */
int config_file_find(const struct config_places *places, const char *name,
		     struct config_specs *specs, char *why, size_t size);

/*
 * config_command_find - the same, of xl commands alone. *found: one that creates a domain of this name
 * runs, with or without vHCAs in its configuration.
 */
int config_command_find(const struct config_places *places, const char *name,
			struct config_specs *specs, bool *found, char *why, size_t size);
void config_file_free(struct config_specs *specs);

#endif
