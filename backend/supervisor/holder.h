/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * holder.h - a process that holds the UAR pools of doorbell pages (see broker/uar_pool.h) beside the supervisor, so
 * that they outlive it: one is enough, and whichever dies is started again and told by the other.
 *
 * It listens on a socket for its supervisor, one at a time. What passes, in messages of one size:
 *
 *   holder      HELLO, then POOL for each that it has, then END
 *   supervisor  POOL: hold this one (in place of another of the same name)
 *               DROP: its domain is gone, or can reach nothing of it any more
 *
 * POOL carries two descriptors. A message that makes no sense ends the connection and changes
 * nothing. A supervisor of another version may find an old holder, so this conversation must stay
 * as it is; an operation that is not known is ignored.
 *
 * Without a supervisor the holder drops the UAR pools of domains that are gone, and ends with the last.
 */
#ifndef XEN_IB_SUPERVISOR_HOLDER_H
#define XEN_IB_SUPERVISOR_HOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "hca/uverbs.h"

#define HOLDER_SOCKET "/run/xen-ib/uar-pools.sock"
#define HOLDER_MAGIC 0x62696e78u /* "xnib" */
#define HOLDER_VERSION 1
#define HOLDER_TIMEOUT_S 10 /* a peer that is silent for so long is none */
#define HOLDER_LISTENER 3   /* the descriptor that the process is born with */

enum holder_op { HOLDER_HELLO = 1, HOLDER_POOL, HOLDER_END, HOLDER_DROP };

struct holder_msg {
	uint32_t magic;
	uint16_t version, op;
	uint32_t domid, devid;
	char hca[UVERBS_NAME_MAX]; /* a UAR pool's name is domid, devid and hca */
};

enum { HOLDER_FILE, HOLDER_TABLE, HOLDER_FDS };

/*
 * holder_send - fds: two for POOL, else NULL; they stay the caller's. 0 or -errno.
 * holder_receive - 1: a message whose fds, if it is POOL, are the caller's; 0: the peer has gone;
 * -errno, -EPROTO for a message that makes no sense (its descriptors are closed). Both give up
 * when the socket's timeout has passed.
 */
int holder_send(int sock, enum holder_op op, uint32_t domid, uint32_t devid, const char *hca,
		const int fds[HOLDER_FDS]);
int holder_receive(int sock, struct holder_msg *msg, int fds[HOLDER_FDS]);

typedef bool holder_alive(void *from, unsigned int domid);

/*
 * holder_run - the holder's loop; ends when there is no supervisor and no pool, or after an error
 * with the listener. Returns how many UAR pools it had at the end.
 * @alive: whether a domain exists
 */
unsigned int holder_run(int listener, holder_alive *alive, void *from);

/* holder_main - the process, "xen-ibback --holder". Returns its exit status. */
int holder_main(void);

/*
 * holder_start - starts the process; holder_connect - to one that runs, from before or now. Both:
 * a connected socket, or -errno. For -ECONNREFUSED and -ENOENT of the latter none runs.
 */
int holder_start(void);
int holder_connect(void);

/*
 * holder_list - what a new connection begins with: calls fn for each pool; the descriptors are then
 * fn's. 0 or -errno.
 */
typedef void holder_pool_fn(void *to, const struct holder_msg *msg, const int fds[HOLDER_FDS]);
int holder_list(int sock, holder_pool_fn *fn, void *to);

#endif
