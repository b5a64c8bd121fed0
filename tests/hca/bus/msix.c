// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* MSI-X vectors: signalling, masks, pending bits. The table itself is kept by QEMU. */
#include <unistd.h>

#include "bus/msix.h"

_Static_assert(HCA_MSIX_VECTORS <= 64, "one word of pending bits");

void msix_init(struct msix *m)
{
	*m = (struct msix){ 0 };
	for (unsigned int i = 0; i < HCA_MSIX_VECTORS; i++)
		m->fd[i] = -1;
}

void msix_fini(struct msix *m)
{
	for (unsigned int i = 0; i < HCA_MSIX_VECTORS; i++)
		msix_set_fd(m, i, -1);
	msix_init(m);
}

void msix_set_fd(struct msix *m, unsigned int vector, int fd)
{
	if (m->fd[vector] >= 0)
		close(m->fd[vector]);
	m->fd[vector] = fd;
}

static bool signal_fd(int fd)
{
	const uint64_t one = 1;

	/* A full counter means that the machine has been told often enough. */
	return fd >= 0 && write(fd, &one, sizeof(one)) == (ssize_t)sizeof(one);
}

bool msix_raise(struct msix *m, unsigned int vector)
{
	uint64_t bit;

	if (vector >= HCA_MSIX_VECTORS || !m->enabled)
		return false;
	bit = 1ull << vector;
	if (m->function_masked || (m->masked & bit)) {
		m->pending |= bit;
		return false;
	}
	return signal_fd(m->fd[vector]);
}

static void signal_pending(struct msix *m)
{
	uint64_t ready = m->pending & ~m->masked;

	if (!m->enabled || m->function_masked)
		return;
	m->pending &= ~ready;
	for (unsigned int i = 0; i < HCA_MSIX_VECTORS; i++) {
		if (ready >> i & 1)
			signal_fd(m->fd[i]);
	}
}

void msix_mask(struct msix *m, unsigned int vector, bool masked)
{
	const uint64_t bit = 1ull << vector;

	if (masked)
		m->masked |= bit;
	else
		m->masked &= ~bit;
	signal_pending(m);
}

void msix_control(struct msix *m, bool enabled, bool function_masked)
{
	m->enabled = enabled;
	m->function_masked = function_masked;
	if (!enabled)
		m->pending = 0;
	signal_pending(m);
}

void msix_reset(struct msix *m)
{
	m->masked = 0;
	m->pending = 0;
	m->enabled = false;
	m->function_masked = false;
}
