// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The vfio-user server: interrupt vectors. */
#include <errno.h>
#include <sys/eventfd.h>

#include "vfio_client.h"

static struct {
	uint32_t argsz, flags, index, start, count;
	uint8_t data[40];
} irqs;

static int set_irqs(uint32_t flags, uint32_t index, uint32_t start, uint32_t count, const int *fds,
		    unsigned int fd_count, uint32_t data_len)
{
	irqs.argsz = 20 + data_len;
	irqs.flags = flags;
	irqs.index = index;
	irqs.start = start;
	irqs.count = count;
	return call_fds(VFU_SET_IRQS, &irqs, 20 + data_len, fds, fd_count);
}

#define TRIGGER_FDS (VFIO_IRQ_SET_ACTION_TRIGGER | VFIO_IRQ_SET_DATA_EVENTFD)
#define TRIGGER (VFIO_IRQ_SET_ACTION_TRIGGER | VFIO_IRQ_SET_DATA_NONE)
#define MASK (VFIO_IRQ_SET_ACTION_MASK | VFIO_IRQ_SET_DATA_NONE)
#define UNMASK (VFIO_IRQ_SET_ACTION_UNMASK | VFIO_IRQ_SET_DATA_NONE)
#define MSIX VFIO_PCI_MSIX_IRQ_INDEX

static uint64_t count_of(int fd)
{
	uint64_t v = 0;

	return read(fd, &v, sizeof(v)) == sizeof(v) ? v : 0;
}

TEST(vectors_signal_their_eventfds)
{
	unsigned int before;
	int fds[4];

	fresh();
	hello();
	enable();
	before = open_fds();
	for (int i = 0; i < 4; i++)
		fds[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	CHECK_EQ(set_irqs(TRIGGER_FDS, MSIX, 2, 4, fds, 4, 0), 0);
	hca.msix(&hca, 2);
	CHECK_EQ(count_of(fds[0]), 0); /* not enabled */
	enable_msix(PCI_MSIX_FLAGS_ENABLE);
	hca.msix(&hca, 2);
	hca.msix(&hca, 3);
	hca.msix(&hca, 3);
	hca.msix(&hca, 9);
	hca.msix(&hca, 99);
	CHECK_EQ(count_of(fds[0]), 1);
	CHECK_EQ(count_of(fds[1]), 2);
	CHECK_EQ(hca.stats.interrupts, 3);

	CHECK_EQ(set_irqs(MASK, MSIX, 3, 1, NULL, 0, 0), 0);
	hca.msix(&hca, 3);
	CHECK_EQ(count_of(fds[1]), 0);
	{
		struct write8 pba = { { HCA_MSIX_PBA, VFIO_PCI_BAR0_REGION_INDEX, 8 }, { 0 } };

		CHECK_EQ(call(VFU_REGION_READ, &pba, sizeof(pba.access)), 0);
		CHECK_EQ(pba.data[0], 1 << 3);
		CHECK_EQ(pba.data[1], 0);
	}
	CHECK_EQ(set_irqs(UNMASK, MSIX, 3, 1, NULL, 0, 0), 0);
	CHECK_EQ(count_of(fds[1]), 1);

	enable_msix(PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
	hca.msix(&hca, 4);
	CHECK_EQ(count_of(fds[2]), 0);
	enable_msix(PCI_MSIX_FLAGS_ENABLE);
	CHECK_EQ(count_of(fds[2]), 1);

	CHECK_EQ(set_irqs(TRIGGER, MSIX, 5, 1, NULL, 0, 0), 0);
	CHECK_EQ(count_of(fds[3]), 1);
	irqs.data[0] = 0;
	irqs.data[1] = 1;
	CHECK_EQ(set_irqs(VFIO_IRQ_SET_ACTION_TRIGGER | VFIO_IRQ_SET_DATA_BOOL, MSIX, 4, 2, NULL, 0,
			  2),
		 0);
	CHECK_EQ(count_of(fds[2]), 0);
	CHECK_EQ(count_of(fds[3]), 1);

	CHECK_EQ(set_irqs(TRIGGER_FDS, MSIX, 2, 1, NULL, 0, 0), 0); /* let go */
	hca.msix(&hca, 2);
	CHECK_EQ(count_of(fds[0]), 0);
	CHECK_EQ(set_irqs(TRIGGER, MSIX, 0, 0, NULL, 0, 0), 0); /* all of them */
	hca.msix(&hca, 3);
	CHECK_EQ(count_of(fds[1]), 0);
	for (int i = 0; i < 4; i++)
		close(fds[i]);
	CHECK_EQ(open_fds(), before);
	done();
}

TEST(bad_irq_sets_are_refused)
{
	unsigned int before;
	int fds[2];

	fresh();
	hello();
	before = open_fds();
	fds[0] = eventfd(0, EFD_NONBLOCK);
	fds[1] = eventfd(0, EFD_NONBLOCK);
	CHECK_EQ(set_irqs(TRIGGER_FDS, MSIX, HCA_MSIX_VECTORS - 1, 2, fds, 2, 0), EINVAL);
	CHECK_EQ(set_irqs(TRIGGER_FDS, MSIX, UINT32_MAX, 2, fds, 2, 0), EINVAL);
	CHECK_EQ(set_irqs(TRIGGER_FDS, MSIX, 0, 3, fds, 2, 0), EINVAL);
	CHECK_EQ(set_irqs(TRIGGER_FDS, VFIO_PCI_INTX_IRQ_INDEX, 0, 1, fds, 1, 0), EINVAL);
	CHECK_EQ(set_irqs(TRIGGER_FDS, 99, 0, 1, fds, 1, 0), EINVAL);
	CHECK_EQ(set_irqs(TRIGGER, MSIX, 0, 1, fds, 1, 0), EINVAL);
	CHECK_EQ(set_irqs(TRIGGER | VFIO_IRQ_SET_ACTION_MASK, MSIX, 0, 1, NULL, 0, 0), EINVAL);
	CHECK_EQ(set_irqs(VFIO_IRQ_SET_ACTION_MASK | VFIO_IRQ_SET_DATA_EVENTFD, MSIX, 0, 1, fds, 1,
			  0),
		 EINVAL);
	CHECK_EQ(set_irqs(TRIGGER, MSIX, 0, 1, NULL, 0, 1), EINVAL);
	CHECK_EQ(set_irqs(1 << 20, MSIX, 0, 1, NULL, 0, 0), EINVAL);
	CHECK_EQ(set_irqs(TRIGGER, VFIO_PCI_INTX_IRQ_INDEX, 0, 0, NULL, 0, 0), 0);
	close(fds[0]);
	close(fds[1]);
	CHECK_EQ(open_fds(), before);
	done();
}

TEST(a_blocking_descriptor_cannot_stall_interrupts)
{
	int fd;

	fresh();
	hello();
	enable();
	enable_msix(PCI_MSIX_FLAGS_ENABLE);
	fd = eventfd(0, 0);
	CHECK_EQ(set_irqs(TRIGGER_FDS, MSIX, 0, 1, &fd, 1, 0), 0);
	{
		uint64_t full = UINT64_MAX - 1;

		CHECK_EQ(write(fd, &full, 8), 8);
	}
	hca.msix(&hca, 0);
	close(fd);
	done();
}
