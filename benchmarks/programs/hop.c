// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * hop: one-way time between two domains by event channel and shared memory, by the size of the message (as in
 * the paper of USENIX 2006): half of what a message takes there and back. Whoever gets one is woken by its event, copies
 * it out, copies it in again and tells the other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define __XEN_TOOLS__ 1
#include <xenevtchn.h>
#include <xengnttab.h>

#include "measure.h"

#define PAGE 4096u
#define PAGES 16
#define MOST (PAGES * PAGE)
#define DOMIDS 0x7ff0

/* What both see: the memory begins with it. */
struct shared {
	uint32_t turn; /* who is to act */
	uint32_t size; /* of the message; 0: there are no more */
	char message[];
};

enum { CLIENT, SERVER };

static char mine[MOST];

/* An event says only that something may have changed. */
static void await(xenevtchn_handle *xce, struct shared *s, uint32_t who)
{
	xenevtchn_port_or_error_t port;

	while (__atomic_load_n(&s->turn, __ATOMIC_ACQUIRE) != who) {
		port = xenevtchn_pending(xce);
		if (port < 0 || xenevtchn_unmask(xce, port))
			die("waiting for an event: %m");
	}
}

static void hand_over(xenevtchn_handle *xce, evtchn_port_t port, struct shared *s, uint32_t who)
{
	__atomic_store_n(&s->turn, who, __ATOMIC_RELEASE);
	if (xenevtchn_notify(xce, port))
		die("notifying: %m");
}

static xenevtchn_handle *open_events(void)
{
	xenevtchn_handle *xce = xenevtchn_open(NULL, 0);

	if (!xce)
		die("/dev/xen/evtchn: %m");
	return xce;
}

static void serve(uint32_t peer)
{
	xenevtchn_handle *xce = open_events();
	xengntshr_handle *xgs = xengntshr_open(NULL, 0);
	xenevtchn_port_or_error_t port;
	uint32_t ref, size, *refs;
	struct shared *s;

	refs = xgs ? xengntshr_share_pages(xgs, peer, 1, &ref, 0) : NULL;
	s = refs ? xengntshr_share_pages(xgs, peer, PAGES, refs, 1) : NULL;
	if (!s)
		die("sharing memory: %m");
	port = xenevtchn_bind_unbound_port(xce, peer);
	if (port < 0)
		die("no event channel: %m");
	memset(s, 0, MOST);
	printf("%d %u\n", port, ref);
	fflush(stdout);

	for (;;) {
		await(xce, s, SERVER);
		size = s->size;
		if (!size || size > MOST - sizeof(*s))
			break;
		memcpy(mine, s->message, size);
		memcpy(s->message, mine, size);
		hand_over(xce, port, s, CLIENT);
	}
	xengntshr_unshare(xgs, s, PAGES);
	xengntshr_unshare(xgs, refs, 1);
	xengntshr_close(xgs);
	xenevtchn_close(xce);
}

static void measure(xenevtchn_handle *xce, evtchn_port_t port, struct shared *s, uint32_t size,
		    unsigned long count)
{
	struct series one_way;
	unsigned long i;
	double start;

	series_init(&one_way, "one-way");
	for (i = 0; i < count; i++) {
		start = now_us();
		memcpy(s->message, mine, size);
		s->size = size;
		hand_over(xce, port, s, SERVER);
		await(xce, s, CLIENT);
		memcpy(mine, s->message, size);
		series_add(&one_way, (now_us() - start) / 2);
	}
	series_print(&one_way, size);
	series_free(&one_way);
}

static void ask(uint32_t peer, uint32_t remote, uint32_t ref, unsigned long count)
{
	xenevtchn_handle *xce = open_events();
	xengnttab_handle *xgt = xengnttab_open(NULL, 0);
	xenevtchn_port_or_error_t port;
	uint32_t *refs, size;
	struct shared *s;

	refs = xgt ? xengnttab_map_grant_ref(xgt, peer, ref, PROT_READ) : NULL;
	s = refs ? xengnttab_map_domain_grant_refs(xgt, PAGES, peer, refs, PROT_READ | PROT_WRITE) :
		   NULL;
	if (!s)
		die("mapping the memory of domain %u: %m", peer);
	port = xenevtchn_bind_interdomain(xce, peer, remote);
	if (port < 0)
		die("binding port %u of domain %u: %m", remote, peer);

	for (size = 1; size <= MOST / 2; size *= 4)
		measure(xce, port, s, size, count);
	s->size = 0;
	hand_over(xce, port, s, SERVER);
	xengnttab_unmap(xgt, s, PAGES);
	xengnttab_unmap(xgt, refs, 1);
	xengnttab_close(xgt);
	xenevtchn_close(xce);
}

static const char usage[] =
	"usage: hop --peer DOMID [--port PORT --ref REF [--count N]]\n"
	"\n"
	"Without a port: the server. It shares memory and an event channel with the domain, and prints\n"
	"\"PORT REF\". With them: sends messages of 1 B to 16 KiB there and back, N (200) of each size, and\n"
	"prints lines \"one-way SIZE MEDIAN P99 MOST\", in microseconds.\n";

int main(int argc, char **argv)
{
	unsigned long peer = DOMIDS, port = 0, ref = 0, count = 200;
	const struct number_option numbers[] = {
		{ "peer", &peer, 0, DOMIDS - 1 },
		{ "port", &port, 1, UINT32_MAX },
		{ "ref", &ref, 0, UINT32_MAX },
		{ "count", &count, 1, 1000000 },
		{ 0 },
	};

	read_options(argc, argv, usage, numbers);
	if (peer == DOMIDS)
		die("which --peer?");
	if (port)
		ask(peer, port, ref, count);
	else
		serve(peer);
	return EXIT_SUCCESS;
}
