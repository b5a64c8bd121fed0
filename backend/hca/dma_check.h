/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * dma_check.h - is it safe to register guest memory with this HCA?
 *
 * On a PV dom0 it is only with the module xen-ibdma, which limits DMA segments to a page. Without
 * it the HCA is given bounce buffers instead of the guest's pages: transfers report success, and
 * the data is not there. So the daemon refuses to serve.
 */
#ifndef XEN_IB_HCA_DMA_CHECK_H
#define XEN_IB_HCA_DMA_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* dma_domain_is_pv - this is a PV domain, or that cannot be told. */
bool dma_domain_is_pv(void);

/*
 * dma_check - 0 if it is safe; else -EPERM (or -errno), and why says what to do.
 * @ibdev: name of the RDMA device
 */
int dma_check(const char *ibdev, char *why, size_t size);

#endif
