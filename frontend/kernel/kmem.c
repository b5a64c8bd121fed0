// SPDX-License-Identifier: GPL-2.0
/*
 * kmem.c - memory of the kernel's own that is granted to the backend.
 *
 * Single pages, put in a row by the page tables: each can be held alone for as long as the backend
 * has it mapped (grant.c). In a PV guest more than secrecy depends on that: a page of which
 * there is a writable mapping elsewhere cannot become a page table, and the kernel dies of it.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "umem.h"

static void free_pages_of(struct xenib_umem *umem)
{
	while (umem->count)
		put_page(umem->pages[--umem->count]);
	kvfree(umem->pages);
	umem->pages = NULL;
}

int xenib_kmem_alloc(struct xenib_umem *umem, size_t count)
{
	umem->count = 0;
	umem->pages = kvmalloc_array(count, sizeof(*umem->pages), GFP_KERNEL);
	if (!umem->pages)
		return -ENOMEM;
	while (umem->count < count) {
		struct page *page = alloc_page(GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);

		if (!page)
			goto err_free;
		umem->pages[umem->count++] = page;
	}
	umem->kva = vmap(umem->pages, count, VM_MAP, PAGE_KERNEL);
	if (!umem->kva)
		goto err_free;
	return 0;

err_free:
	free_pages_of(umem);
	return -ENOMEM;
}

void xenib_kmem_free(struct xenib_umem *umem)
{
	vunmap(umem->kva);
	umem->kva = NULL;
	free_pages_of(umem);
}
