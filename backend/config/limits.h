/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * limits.h - the limits of a vHCA: their keys, in what administrators write and in the backend's
 * xenstore directory, defaults, and what can be served at most.
 *
 *   key             default   limits
 *   max-ctx             128   contexts: guest processes that have the device open, XRC domains
 *   max-uar             512   doorbell pages in use
 *   max-pd             1024   protection domains
 *   max-umem          32768   umems, those of inline registrations included
 *   max-mr            16384   memory regions registered
 *   max-mw             4096   memory windows
 *   max-cq             4096   completion queues
 *   max-srq            1024   shared receive queues
 *   max-qp             4096   queue pairs
 *   max-ah            65536   address handles; counted by the frontend, they have no command
 *   max-mcast           256   QPs in multicast groups, each counted once for each group
 *   max-mem-bytes       96M   bytes of all pages offered: registered memory, queues, doorbells
 *   max-mr-bytes         1T   bytes of one registration, which max-mem-bytes bounds as well
 *
 * Those that are imposed on the guest's QPs (vhca/qp_limits.h). Their default is not to impose any, "any"
 * in what is written, and they may change while the vHCA is in use:
 *
 *   sl                        service level of RC, UC and XRC
 *   qp-rate                   static rate of RC, UC and XRC at most
 *   max-rd-atomic             RDMA reads and atomics of a QP that are outstanding, at either end
 *   max-qp-wr                 work requests in a queue of a QP
 *   min-timeout               local ACK timeout, 4.096 us * 2^N
 *   min-rnr-timer             code of the RNR NAK timer (IBTA, table 45)
 *   ud                        1, 0: whether there are UD QPs
 *
 * By default nobody has to raise a limit of Xen's: a guest has 64 grant frames, which are 128 MiB
 * with what its disks and networks take, and a PV dom0 can map 512 MiB of all guests, at two of its
 * 262,144 maptrack handles for a page. xen-ib check knows both.
 */
#ifndef XEN_IB_CONFIG_LIMITS_H
#define XEN_IB_CONFIG_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

enum limit {
	LIMIT_CTX,
	LIMIT_UAR,
	LIMIT_PD,
	LIMIT_UMEM,
	LIMIT_MR,
	LIMIT_MW,
	LIMIT_CQ,
	LIMIT_SRQ,
	LIMIT_QP,
	LIMIT_AH,
	LIMIT_MCAST,
	LIMIT_MEM_BYTES,
	LIMIT_MR_BYTES,
	LIMIT_SL,
	LIMIT_QP_RATE,
	LIMIT_RD_ATOMIC,
	LIMIT_QP_WR,
	LIMIT_TIMEOUT,
	LIMIT_RNR_TIMER,
	LIMIT_UD,
	LIMITS
};

#define LIMIT_IMPOSED LIMIT_SL /* from here on they are imposed on QPs */

enum limit_kind {
	LIMIT_NUMBER,
	LIMIT_BYTES,
	LIMIT_RATE, /* rate.h; its value is in Mb/s */
};

#define LIMIT_ANY "any"
#define LIMIT_TEXT 24                       /* a value, with the end */
#define LIMITS_TEXT (8 * (LIMIT_TEXT + 16)) /* all that are imposed, with their names */

/* Of the node in the backend's xenstore directory that becomes another one when they have changed. */
#define CONFIG_LIMITS_SET "limits-set"

struct limit_key {
	const char *name;
	uint64_t value, least, most; /* by default, and what can be served */
	uint64_t safe; /* of those that are imposed: if what is written makes no sense */
	enum limit_kind kind;
};

/* limit_key - of a limit below LIMITS. */
const struct limit_key *limit_key(enum limit limit);

/* limit_find - by its name; LIMITS: there is none. */
enum limit limit_find(const char *name);

/* limit_parse - what is written of it; false: it cannot have that value. */
bool limit_parse(enum limit limit, const char *text, uint64_t *value);

/* limit_format - text that limit_parse() makes this value of. */
void limit_format(char text[LIMIT_TEXT], enum limit limit, uint64_t value);

/*
 * limits_format - those that are imposed, as they are written: "sl=3,qp-rate=10G", or "" if none is.
 * @value: of one of them
 */
typedef uint64_t limit_value(const void *from, enum limit limit);
void limits_format(char text[LIMITS_TEXT], limit_value *value, const void *from);

/*
 * limits_next - takes the next one off the front of such a text; LIMITS: there is none any more. What
 * limits_format() has not written is skipped.
 */
enum limit limits_next(const char **text, uint64_t *value);

#endif
