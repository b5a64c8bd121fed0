/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * spec.h - what an administrator writes of a vHCA, as "xl" and "xen-ib attach" take it:
 *
 *   hca=mlx5_0,port=1,max-qp=256,max-mr-bytes=2G
 *
 * docs/configuration.md has the keys. Nothing here looks at the machine: whether there is such an
 * HCA is seen when the vHCA is attached.
 */
#ifndef XEN_IB_CONFIG_SPEC_H
#define XEN_IB_CONFIG_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/choices.h"
#include "config/limits.h"
#include "config/pkeys.h"
#include "config/services.h"

#define CONFIG_NAME_MAX 64   /* of an HCA or a domain, with the end */
#define CONFIG_SPEC_MAX 1024 /* longer ones are refused */
#define CONFIG_VHCAS 16      /* of a domain; devids are below this */

#define CONFIG_HCA_AUTO "auto" /* the backend chooses: see supervisor/hca_auto.h */
#define CONFIG_HCA_CHOICE \
	"hca-choice" /* node of the backend's xenstore directory: what was written, if that is "auto" */

struct vhca_config {
	char hca[CONFIG_NAME_MAX];
	unsigned int port;             /* 1, unless given */
	int devid;                     /* -1: the lowest that is free */
	char backend[CONFIG_NAME_MAX]; /* a domain's name or number; "": this one */
	uint64_t guid;                 /* of the node; 0: made of the domain's UUID and the devid */
	struct pkeys pkeys;
	struct services services;
	struct choices choices;
	struct {
		bool given;
		uint64_t value;
	} limit[LIMITS]; /* by enum limit */
};

/*
 * config_parse_spec - one vHCA. 0; -EINVAL with the reason in why, a line of text that can be shown
 * to anyone: what of the spec is in it is printable.
 */
int config_parse_spec(const char *spec, struct vhca_config *config, char *why, size_t size);

/*
 * config_parse_limits - what may change of a vHCA that is in use: limits that are imposed on QPs. As
 * config_parse_spec(); nothing else of *config is given.
 */
int config_parse_limits(const char *limits, struct vhca_config *config, char *why, size_t size);

/* config_format_spec - text that config_parse_spec() makes the same of. False: it does not fit. */
bool config_format_spec(char spec[CONFIG_SPEC_MAX], const struct vhca_config *config);

#endif
