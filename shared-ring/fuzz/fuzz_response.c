// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fuzz_response.c - a hostile backend: any octets as the ring's shared pages. The frontend's end
 * has every id outstanding and takes what it finds.
 */
#include <stdlib.h>
#include <string.h>

#include "vhca_check.h"
#include "vhca_ring.h"

static uint8_t shared[XEN_VHCA_PAGE_SIZE] __attribute__((aligned(4096)));

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct xen_vhca_device_attr attr;
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_CTX_OPEN };
	struct xen_vhca_rsp rsp;
	struct vhca_front front;
	unsigned int taken = 0;
	int kept;

	vhca_front_init(&front, shared, 0);
	for (req.id = 0; req.id < vhca_ring_entries(0); req.id++)
		vhca_front_put(&front, &req);
	memcpy(shared, data, size < sizeof(shared) ? size : sizeof(shared));
	while (vhca_front_next(&front, &rsp) == 1) {
		req.id = rsp.id;
		req.op = rsp.op;
		/* Every other MR's umem was to be kept. */
		req.u.mr_reg.flags =
			taken & 1 ? XEN_VHCA_MR_REG_INLINE | XEN_VHCA_MR_REG_PERSISTENT : 0;
		if (vhca_check_response(&req, &rsp))
			break;
		kept = rsp.op == XEN_VHCA_OP_MR_REG && rsp.u.mr.umem;
		if (kept != (rsp.op == XEN_VHCA_OP_MR_REG && !rsp.status && taken & 1))
			abort();
		if (vhca_status_errno(rsp.status, rsp.hca_errno) > 0)
			abort();
		taken++;
	}
	if (taken > vhca_ring_entries(0))
		abort();
	memset(&attr, 0, sizeof(attr));
	memcpy(&attr, data, size < sizeof(attr) ? size : sizeof(attr));
	vhca_check_device_attr(&attr);
	return 0;
}
