/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * attached.h - which vHCAs a domain has, as specs by which it can be given them again. For dom0, which
 * sees those of all backends.
 */
#ifndef XEN_IB_XEN_ATTACHED_H
#define XEN_IB_XEN_ATTACHED_H

#include <stdbool.h>
#include <xenstore.h>

#include "config/saved.h"

/*
 * attached_read - a domain's UUID and name, and its vHCAs but those that are being detached or were
 * refused. False: there is no such domain.
 * @saved: specs are freed by config_file_free()
 */
bool attached_read(struct xs_handle *xs, unsigned int domid, struct saved *saved);

/* attached_uuid - false: the domain has none. */
bool attached_uuid(struct xs_handle *xs, unsigned int domid, char uuid[SAVED_UUID]);

#endif
