// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * slot.c - see slot.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hca.h"
#include "log.h"
#include "slot.h"
#include "uar.h"
#include "uverbs.h"
#include "worker.h"

#define RETRY_MS 500
#define RETRY_MOST_MS 60000

uint64_t slot_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ull + now.tv_nsec / 1000000;
}

struct slot *slot_new(const char *path, unsigned int domid, unsigned int devid)
{
	struct slot *slot = calloc(1, sizeof(*slot));

	if (!slot)
		return NULL;
	snprintf(slot->path, sizeof(slot->path), "%s", path);
	slot->domid = domid;
	slot->devid = devid;
	slot->control = slot->life = slot->bank = slot->records = -1;
	return slot;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void slot_free(struct slot *slot)
{
	close_fd(&slot->control);
	close_fd(&slot->life);
	close_fd(&slot->bank);
	close_fd(&slot->records);
	free(slot);
}

static void retry_later(struct slot *slot)
{
	uint64_t delay = RETRY_MS;
	unsigned int i;

	for (i = 0; i < slot->failures && delay < RETRY_MOST_MS; i++)
		delay *= 2;
	slot->failures++;
	slot->not_before_ms = slot_now_ms() + (delay < RETRY_MOST_MS ? delay : RETRY_MOST_MS);
}

/*
 * Bank and records belong together. If the HCA's driver has let go of it, the UARs of the old bank
 * are no more.
 */
static int open_bank(struct slot *slot, struct xs_handle *xs)
{
	char hca[UVERBS_NAME_MAX];

	if (slot->bank >= 0 && hca_bank_alive(slot->bank))
		return 0;
	close_fd(&slot->bank);
	close_fd(&slot->records);
	if (!xb_read(xs, slot->path, "hca", hca, sizeof(hca))) {
		log_error("%s has no hca", slot->path);
		return -ENOENT;
	}
	slot->bank = hca_bank_open(hca);
	if (slot->bank < 0) {
		int err = slot->bank;

		slot->bank = -1;
		log_error("HCA %s of %s: %s", hca, slot->path, strerror(-err));
		xb_write(xs, slot->path, "error", "HCA %s: %s", hca, strerror(-err));
		return err;
	}
	slot->records = memfd_create("xen-ib-uars", MFD_CLOEXEC);
	if (slot->records >= 0 && !ftruncate(slot->records, sizeof(struct uar_records)))
		return 0;
	log_error("records of UARs: %s", strerror(errno));
	close_fd(&slot->bank);
	close_fd(&slot->records);
	return -ENOMEM;
}

/* In the child. The descriptors' numbers may be in each other's way, so they are moved up first. */
static void become_worker(const struct slot *slot, int control, int life, bool verbose)
{
	const int from[] = { control, slot->bank, slot->records, life };
	char domid[16], devid[16];
	sigset_t none;
	int high[4];
	int i;

	for (i = 0; i < 4; i++) {
		high[i] = fcntl(from[i], F_DUPFD, 64);
		if (high[i] < 0)
			_exit(WORKER_FAILED);
	}
	for (i = 0; i < 4; i++)
		if (dup2(high[i], WORKER_CONTROL + i) < 0)
			_exit(WORKER_FAILED);
	close_range(WORKER_FD_END, ~0u, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	snprintf(domid, sizeof(domid), "%u", slot->domid);
	snprintf(devid, sizeof(devid), "%u", slot->devid);
	execl("/proc/self/exe", "xen-ibback", "--worker", slot->path, domid, devid,
	      verbose ? "verbose" : NULL, NULL);
	_exit(WORKER_FAILED);
}

void slot_start(struct slot *slot, struct xs_handle *xs, bool verbose)
{
	int control[2], life[2];

	if (open_bank(slot, xs)) {
		retry_later(slot);
		return;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control))
		goto err;
	if (pipe2(life, O_CLOEXEC))
		goto err_control;
	slot->pid = fork();
	if (!slot->pid)
		become_worker(slot, control[1], life[1], verbose);
	if (slot->pid < 0)
		goto err_life;
	close(control[1]);
	close(life[1]);
	slot->control = control[0];
	slot->life = life[0];
	slot->crashed = false;
	log_debug("worker %d for %s", slot->pid, slot->path);
	return;

err_life:
	slot->pid = 0;
	close(life[0]);
	close(life[1]);
err_control:
	close(control[0]);
	close(control[1]);
err:
	log_error("starting a worker for %s: %s", slot->path, strerror(errno));
	retry_later(slot);
}

int slot_domain_gone(struct slot *slot)
{
	uint64_t now = slot_now_ms();

	if (!slot->gone_ms)
		slot->gone_ms = now;
	if (!slot->pid)
		return -1;
	if (now - slot->gone_ms < SLOT_GRACE_MS)
		return SLOT_GRACE_MS - (now - slot->gone_ms);
	log_warning("worker %d of %s does not end", slot->pid, slot->path);
	kill(slot->pid, SIGKILL);
	slot->gone_ms = now;
	return SLOT_GRACE_MS;
}

/* A worker that ends by itself has said Closed. Of one that was killed the guest hears from us. */
void slot_ended(struct slot *slot, struct xs_handle *xs, int status)
{
	bool done = WIFEXITED(status) && WEXITSTATUS(status) == WORKER_DONE;

	if (WIFSIGNALED(status)) {
		slot->crashed = true;
		log_error("worker %d of %s was killed by signal %d", slot->pid, slot->path,
			  WTERMSIG(status));
		if (slot->listed)
			xb_set_state(xs, slot->path, XB_CLOSING);
	}
	slot->pid = 0;
	close_fd(&slot->control);
	if (done) {
		slot->failures = 0;
		slot->not_before_ms = 0;
	} else {
		retry_later(slot);
	}
}

void slot_released(struct slot *slot, struct xs_handle *xs)
{
	close_fd(&slot->life);
	if (slot->crashed && slot->listed)
		xb_set_state(xs, slot->path, XB_CLOSED);
	slot->crashed = false;
}
