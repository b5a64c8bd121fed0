/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * client.h - does for a worker in the sandbox what takes more than the worker should be able to.
 *
 * Whoever may make hypercalls can read and write every domain, and whoever may map grants can map
 * what any domain has granted to this one; neither can be narrowed to one domain. (A restricted
 * privcmd knows device model operations only, none of those that are needed here, and gntdev knows
 * no restriction.) So a worker has a second process, made before it is given anything to do, which
 * keeps these rights and uses them for one domain and one HCA:
 *
 *   - is the domain alive, and of what type
 *   - give it doorbell pages of the HCA that it may map, out of the vHCA's UAR pool: uar_pool.h
 *   - say to gntdev which of its grants the worker is about to map
 *   - write the status file
 *   - pass on what it has to say to xenstore, and to read there: xenstore_filter.h
 *
 * It takes nothing from the guest, only these requests from the worker, and ends with it.
 */
#ifndef XEN_IB_BROKER_CLIENT_H
#define XEN_IB_BROKER_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct broker;
struct hca_uar;

struct broker_setup {
	uint32_t domid, devid;
	const char *hca;
	const char *backend, *frontend; /* directories in xenstore */
	int life;                       /* a descriptor that it keeps open until it ends */
	int pool, table;                /* the vHCA's UAR pool: see uar_pool.h */
	bool confined;                  /* in a sandbox of its own */
};

/*
 * broker_start - while there is one thread, and as root. NULL with a line in the log.
 */
struct broker *broker_start(const struct broker_setup *setup);

/* broker_xenstore - a connection to xenstore through the broker, once; NULL: errno says why. */
struct xs_handle *broker_xenstore(struct broker *broker);

/* broker_stop - it ends; its status file goes. */
void broker_stop(struct broker *broker);

/* broker_fd - to poll for hanging up: the broker died. */
int broker_fd(const struct broker *broker);

/* broker_gntdev - where to mmap() what broker_map() answers. It belongs to the broker. */
int broker_gntdev(const struct broker *broker);

/* All below are thread safe, and return 0 or -errno; -EPIPE: there is no broker any more. */

/* broker_domain - -ESRCH: it is gone, or being destroyed. */
int broker_domain(struct broker *broker, bool *auto_translated);

/* broker_uar_alloc, broker_uar_free, broker_uar_reset - see uar_pool.h. */
int broker_uar_alloc(struct broker *broker, uint32_t type, uint64_t gfn, struct hca_uar *uar);
int broker_uar_free(struct broker *broker, uint32_t index);
int broker_uar_reset(struct broker *broker);

/* broker_uar_pool_alive - -EIO if the HCA was taken from its driver since the UAR pool was opened. */
int broker_uar_pool_alive(struct broker *broker);

/*
 * broker_map - *index: the offset to mmap() for these n grants of the domain (XEN_VHCA_DATA_REFS at
 * most). -EBUSY: too many have been named and not been mapped.
 * broker_mapped - follows mmap(), whether that has worked or not. From now on munmap() undoes it.
 */
int broker_map(struct broker *broker, const uint32_t *refs, unsigned int n, uint64_t *index);
void broker_mapped(struct broker *broker, uint64_t index, unsigned int n);

/* broker_status - replaces the status file by this text; size 0 removes it. */
int broker_status(struct broker *broker, const char *text, size_t size);

#endif
