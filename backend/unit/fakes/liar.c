// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * liar.c - a daemon that lies to its guests, for the tests of what they believe: xen-ibback itself, with
 * some of its functions wrapped by the linker (--wrap). It is honest until LIE_FILE, which must be there
 * when a worker starts, names a lie:
 *
 *   frame-or N        each doorbell page has N (hexadecimal) or'ed to its frame
 *   frame N           each doorbell page is frame N (hexadecimal)
 *   refuse STATUS     nothing can be freed, destroyed, deregistered, left or closed (what is asked for is done all the
 *                     same: it is the answer that says otherwise)
 *   keep              no umem is unmapped
 *   completions       the last CQ with events has completions, always
 *   async             the last QP has events, always
 *   port              the port goes and comes, always
 *
 * The file is mapped, so a lie can be changed while workers run: it is written in place. At LIE_COUNT a
 * worker counts what it has told of the last three.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shared-ring/vhca_check.h"
#include "shared-ring/vhca_event.h"
#include "shared-ring/vhca_ring.h"
#include "vhca/events.h"
#include "vhca/transport.h"
#include "vhca/umem.h"

#define LIE_FILE "/run/xen-ib-lie"
#define LIE_BYTES 4096
#define LIE_COUNT 2048 /* a decimal number */

static char *lie;

/* What the honest part has shown on the way; the lock is of what ends with the connection. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct transport *transport;
static struct vhca_async_back *async;
static void *bits;
static uint32_t event_bit = XEN_VHCA_NO_EVENT;
static xen_vhca_handle_t qp;

/* Before the sandbox, in which there is no such file. */
__attribute__((constructor)) static void map_lie(void)
{
	int fd = open(LIE_FILE, O_RDWR | O_CLOEXEC);

	lie = fd < 0 ? MAP_FAILED :
		       mmap(NULL, LIE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (lie == MAP_FAILED) {
		perror(LIE_FILE);
		_exit(EXIT_FAILURE);
	}
	close(fd);
}

/* Is it this lie? What follows its name is a number, or 0. */
static bool lies(const char *name, unsigned long long *number)
{
	size_t length = strlen(name);
	char now[64] = "";

	memcpy(now, lie, sizeof(now) - 1);
	if (strncmp(now, name, length) || !strchr(" \n", now[length]))
		return false;
	if (number)
		*number = strtoull(now + length, NULL, 16);
	return true;
}

int __real_vhca_back_next(struct vhca_back *back, struct xen_vhca_req *req);
void __real_vhca_back_put(struct vhca_back *back, const struct xen_vhca_rsp *rsp);
void __real_umem_fini(struct umem *umem);
void __real_events_free(struct events *events);
struct events *__real_events_new(struct vhca *v, const struct events_params *params, char *why,
				 size_t size);
void __real_vhca_async_back_init(struct vhca_async_back *back, void *page);

int __wrap_vhca_back_next(struct vhca_back *back, struct xen_vhca_req *req)
{
	int got = __real_vhca_back_next(back, req);

	if (got > 0 && req->op == XEN_VHCA_OP_CQ_CREATE &&
	    req->u.cq_create.event_bit != XEN_VHCA_NO_EVENT)
		event_bit = req->u.cq_create.event_bit;
	return got;
}

void __wrap_vhca_back_put(struct vhca_back *back, const struct xen_vhca_rsp *honest)
{
	struct xen_vhca_rsp rsp = *honest;
	unsigned long long number;

	if (rsp.op == XEN_VHCA_OP_QP_CREATE && rsp.status == XEN_VHCA_OK)
		qp = rsp.u.queue.handle;
	if (rsp.op == XEN_VHCA_OP_UAR_ALLOC && rsp.status == XEN_VHCA_OK) {
		if (lies("frame-or", &number))
			rsp.u.uar.frame |= number;
		if (lies("frame", &number))
			rsp.u.uar.frame = number;
	}
	if ((vhca_op_ends(rsp.op) || rsp.op == XEN_VHCA_OP_MCAST_DETACH) &&
	    lies("refuse", &number)) {
		rsp.status = number;
		rsp.hca_errno = number == XEN_VHCA_E_HCA ? EBUSY : 0;
	}
	__real_vhca_back_put(back, &rsp);
}

void __wrap_umem_fini(struct umem *umem)
{
	if (!lies("keep", NULL))
		__real_umem_fini(umem);
}

static bool tell(uint32_t type, xen_vhca_handle_t handle)
{
	const struct xen_vhca_async_event event = { .type = type, .handle = handle };

	return vhca_async_put(async, &event);
}

/* A look, with the lock held: what there is room for. Returns how much was told. */
static unsigned long lie_of_events(void)
{
	unsigned long told = 0;

	if (!bits)
		return 0;
	if (lies("completions", NULL) && event_bit != XEN_VHCA_NO_EVENT)
		told += vhca_bit_set(bits, event_bit);
	if (lies("async", NULL) && qp)
		told += tell(XEN_VHCA_ASYNC_COMM_EST, qp) + tell(XEN_VHCA_ASYNC_QP_FATAL, qp);
	if (lies("port", NULL))
		told += tell(XEN_VHCA_ASYNC_PORT_ERR, 0) + tell(XEN_VHCA_ASYNC_PORT_ACTIVE, 0);
	return told;
}

static void *lie_on(void *unused)
{
	unsigned long told;

	(void)unused;
	for (;;) {
		poll(NULL, 0, 1);
		pthread_mutex_lock(&lock);
		told = lie_of_events();
		if (told)
			transport->ops->notify(transport, CHANNEL_EVENTS);
		pthread_mutex_unlock(&lock);
		if (told)
			snprintf(lie + LIE_COUNT, 32, "%lu\n",
				 strtoul(lie + LIE_COUNT, NULL, 10) + told);
	}
	return NULL;
}

void __wrap_vhca_async_back_init(struct vhca_async_back *back, void *page)
{
	__real_vhca_async_back_init(back, page);
	async = back;
}

/* The page of bits is mapped once more, as where the honest part has it is its own affair. */
struct events *__wrap_events_new(struct vhca *v, const struct events_params *params, char *why,
				 size_t size)
{
	struct events *events = __real_events_new(v, params, why, size);
	static pthread_t liar;

	if (!events)
		return NULL;
	pthread_mutex_lock(&lock);
	transport = v->t;
	if (v->t->ops->map(v->t, &params->cq_ref, 1, false, NULL, &bits))
		bits = NULL;
	pthread_mutex_unlock(&lock);
	if (!liar)
		pthread_create(&liar, NULL, lie_on, NULL);
	return events;
}

void __wrap_events_free(struct events *events)
{
	pthread_mutex_lock(&lock);
	if (bits)
		munmap(bits, XEN_VHCA_PAGE_SIZE);
	bits = NULL;
	pthread_mutex_unlock(&lock);
	__real_events_free(events);
}
