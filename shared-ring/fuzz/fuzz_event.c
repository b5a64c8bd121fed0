// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fuzz_event.c - a hostile peer at the pages of events: any octets in them, again and again while
 * either end works. The frontend's end takes no more than a ring full at a time; the backend's end
 * puts where it wants, and what it has put stays in order.
 */
#include <stdlib.h>
#include <string.h>

#include "vhca_event.h"

#define PROMISE(condition) \
	do { \
		if (!(condition)) \
			abort(); \
	} while (0)

static uint8_t shared[XEN_VHCA_PAGE_SIZE] __attribute__((aligned(4096)));

static void hostile_backend(struct vhca_async_front *front)
{
	struct xen_vhca_async_event event;
	unsigned int taken = 0, word;
	int got;

	while ((got = vhca_async_take(front, &event)) > 0) {
		PROMISE(vhca_async_kind(event.type) <= VHCA_ASYNC_DEVICE);
		PROMISE(++taken <= XEN_VHCA_ASYNC_EVENTS);
	}
	if (got < 0) /* the device is closed; the next one has a new page */
		front->cons = front->page->prod;
	for (word = 0; word < VHCA_EVENT_WORDS; word++)
		vhca_bits_take(shared, word);
	for (word = 0; word < VHCA_EVENT_WORDS; word++)
		PROMISE(!vhca_bits_take(shared, word));
}

static void hostile_frontend(struct vhca_async_back *back)
{
	struct xen_vhca_async_event event = { .type = 1, .handle = back->prod };
	unsigned int put = 0;

	while (vhca_async_put(back, &event)) {
		PROMISE(!memcmp(&back->page->ring[(back->prod - 1) % XEN_VHCA_ASYNC_EVENTS], &event,
				sizeof(event)));
		PROMISE(back->page->prod == back->prod);
		PROMISE(++put <= XEN_VHCA_ASYNC_EVENTS);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vhca_async_front front;
	struct vhca_async_back back;

	memset(shared, 0, sizeof(shared));
	vhca_async_front_init(&front, shared);
	vhca_async_back_init(&back, shared);
	while (size >= 4) {
		size_t where = (data[0] | data[1] << 8) % sizeof(shared), n = data[2];

		if (n > size - 4)
			n = size - 4;
		if (n > sizeof(shared) - where)
			n = sizeof(shared) - where;
		memcpy(shared + where, data + 4, n);
		if (data[3] & 1)
			hostile_backend(&front);
		else
			hostile_frontend(&back);
		data += 4 + n;
		size -= 4 + n;
	}
	return 0;
}
