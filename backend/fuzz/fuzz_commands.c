// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fuzz_commands.c - a hostile guest: any sequence of requests, with any page lists, and events for
 * what it has made. The fake HCA aborts where the daemon would use a real one wrongly; at the end
 * nothing may be left.
 */
#include <string.h>
#include <sys/socket.h>

#include "requests.h"
#include "shared-ring/vhca_event_pages.h"
#include "unit/fakes/fixture.h"

/* Things happen to one of the objects, and the guest writes something to the ring of events. */
static void next_event(struct input *in, struct fixture *fix,
		       const xen_vhca_handle_t recent[RECENT])
{
	struct xen_vhca_async_page *page = shm_page(fix->shm, FIXTURE_ASYNC_REF);
	unsigned int what = octet(in);

	fake_complete(&fix->fake, recent[what % RECENT]);
	fake_async(&fix->fake, recent[what % RECENT], what >> 4);
	if (what == 0xff)
		page->cons = (uint32_t)octet(in) << (octet(in) & 24);
	/* Whether anybody takes it or not. */
	if (fix->mads && what & 1)
		send(fix->mads, in->data, in->size < 400 ? in->size : 312, MSG_NOSIGNAL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fixture fix;
	xen_vhca_handle_t recent[RECENT] = { 0 };
	struct input in = { data, size };
	struct fixture_process p;
	unsigned int n = 0, kind = octet(&in);

	fixture_init(&fix, kind & 1, NULL);
	if (kind & 64)
		fixture_watches(&fix);
	if (kind & 2)
		fixture_events(&fix);
	if (kind & 16)
		fixture_mads(&fix);
	if (kind & 128)
		fixture_queue_dmabufs(&fix);
	else if (kind & 32)
		fixture_dmabufs(&fix);
	fix.event_bit = kind & 4 ? kind << 7 : XEN_VHCA_NO_EVENT;
	fix.shm->fail_in = octet(&in);
	fix.fake.fail_in = octet(&in);
	fixture_process(&fix, &p);
	memcpy(recent, &p, sizeof(p));
	while (in.size && n++ < 200) {
		struct xen_vhca_req req;

		next_request(&in, &req, recent);
		fix.refs[octet(&in)] = octet(&in) << 6;
		if (!fixture_do(&fix, &req) && fix.handle)
			recent[n % RECENT] = fix.handle;
		if (req.op == XEN_VHCA_OP_MR_REG && fix.cmd->rsp.u.mr.umem)
			recent[(n + RECENT / 2) % RECENT] = fix.cmd->rsp.u.mr.umem;
		if (kind & 2)
			next_event(&in, &fix, recent);
	}
	if (kind & 8)
		fixture_close_all(&fix);
	fixture_fini(&fix);
	return 0;
}
