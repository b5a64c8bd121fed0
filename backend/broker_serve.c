// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * broker_serve.c - the broker's own process: see broker.h. Its requests come from a worker that may
 * be in a guest's hands, so each is checked as if it came from there.
 */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <xen/sys/gntdev.h>

#include "broker_wire.h"
#include "broker_xenstore.h"
#include "hca.h"
#include "hca_sysfs.h"
#include "log.h"
#include "rights.h"
#include "sandbox.h"
#include "status.h"
#include "uar_records.h"

#define PAGE_BYTES 4096u

/* How long dom0's daemon may take to say of what type a driver domain's guest is. */
#define TYPE_MS 5000
#define TYPE_LOOK_MS 10

struct serving {
	uint32_t domid, devid;
	int gntdev;
	bool auto_translated;
	bool known; /* what type the domain is of */
	struct rights *rights;
	uint64_t bar_frame;              /* of page 0 of the HCA's BAR */
	uint64_t first_frame, end_frame; /* of those where doorbells can be */
	int bank;
	struct uar_records *records;     /* what the guest may be let to map */
	char path[96], temporary[112];   /* of the status file */
	struct xenstore_gate gate;
};

static union {
	struct ioctl_gntdev_map_grant_ref map;
	char room[sizeof(struct ioctl_gntdev_map_grant_ref) +
		  BROKER_MOST_BYTES / 4 * sizeof(struct ioctl_gntdev_grant_ref)];
} grants;

static char body[BROKER_MOST_BYTES];

/*
 * Its type stays as it is; all that can change is that the domain is gone. That is also why a type
 * that was known is known no more.
 */
static int look_at_domain(struct serving *s)
{
	int err = rights_domain(s->rights, s->domid, &s->auto_translated);

	if (!err)
		s->known = true;
	if (!s->known)
		return err;
	return err == -ESRCH || err == -EAGAIN ? -ESRCH : 0;
}

/* In a driver domain, dom0's daemon may be about to say of what type it is. */
static void await_domain(struct serving *s)
{
	const struct timespec pause = { .tv_nsec = TYPE_LOOK_MS * 1000000l };
	unsigned int waited;

	for (waited = 0; look_at_domain(s) == -EAGAIN && waited < TYPE_MS; waited += TYPE_LOOK_MS)
		nanosleep(&pause, NULL);
}

static bool is_doorbell(const struct serving *s, uint64_t mfn)
{
	return mfn >= s->first_frame && mfn < s->end_frame;
}

static int new_uar(struct serving *s, uint32_t type, uint64_t *index)
{
	uint32_t page;
	int err;

	if (uar_records_full(s->records))
		return -ENOSPC;
	err = hca_bank_uar(s->bank, type, &page);
	if (err)
		return err;
	if (!is_doorbell(s, s->bar_frame + page))
		return -ERANGE;
	uar_records_add(s->records, page, type, s->bar_frame + page);
	*index = page;
	return 0;
}

static struct rights_frame frame_of(const struct serving *s, uint64_t mfn, uint64_t gfn)
{
	return (struct rights_frame){
		.domid = s->domid, .devid = s->devid, .mfn = mfn, .gfn = s->auto_translated ? gfn : 0,
		.auto_translated = s->auto_translated,
	};
}

/*
 * The record is written before the guest is given the right, so that whatever happens in between
 * the next worker knows of all that the guest may have seen.
 */
static int allow(struct serving *s, uint64_t mfn, uint64_t gfn)
{
	struct uar_record *record = uar_records_find(s->records, mfn);
	const struct rights_frame frame = frame_of(s, mfn, gfn);
	int err;

	if (!record)
		return -EPERM;
	record->gfn = gfn;
	record->allowed = 1;
	err = rights_allow(s->rights, &frame);
	if (err)
		record->allowed = 0;
	return err;
}

/* A domain that is dying has lost its frames by itself, and Xen complains when asked to take them. */
static int deny(struct serving *s, uint64_t mfn, uint64_t gfn)
{
	struct uar_record *record = uar_records_find(s->records, mfn);
	const struct rights_frame frame = frame_of(s, mfn, gfn);
	int err;

	if (!record)
		return -EPERM;
	if (look_at_domain(s))
		return 0;
	err = rights_deny(s->rights, &frame);
	record->allowed = 0;
	record->gfn = 0;
	return err;
}

static int map(struct serving *s, uint32_t length, uint64_t *index)
{
	uint32_t n = length / sizeof(uint32_t), i;

	if (!n || length % sizeof(uint32_t))
		return -EINVAL;
	grants.map.count = n;
	grants.map.pad = 0;
	for (i = 0; i < n; i++) {
		grants.map.refs[i].domid = s->domid;
		memcpy(&grants.map.refs[i].ref, body + i * sizeof(uint32_t), sizeof(uint32_t));
	}
	if (ioctl(s->gntdev, IOCTL_GNTDEV_MAP_GRANT_REF, &grants.map))
		return -errno;
	*index = grants.map.index;
	return 0;
}

static int write_status(const struct serving *s, uint32_t length)
{
	FILE *file;

	if (!length)
		return unlink(s->path) ? -errno : 0;
	file = fopen(s->temporary, "we");
	if (!file)
		return -errno;
	fwrite(body, 1, length, file);
	if (fclose(file) || rename(s->temporary, s->path))
		return -errno;
	return 0;
}

static struct broker_answer answer(struct serving *s, const struct broker_request *request)
{
	struct broker_answer answer = { 0 };

	switch (request->op) {
	case BROKER_DOMAIN:
		answer.err = look_at_domain(s);
		break;
	case BROKER_ALLOW:
		answer.err = allow(s, request->mfn, request->gfn);
		break;
	case BROKER_DENY:
		answer.err = deny(s, request->mfn, request->gfn);
		break;
	case BROKER_UAR:
		answer.err = new_uar(s, request->type, &answer.index);
		break;
	case BROKER_BANK:
		answer.err = hca_bank_alive(s->bank) ? 0 : -EIO;
		break;
	case BROKER_MAP:
		answer.err = map(s, request->length, &answer.index);
		break;
	case BROKER_STATUS:
		answer.err = write_status(s, request->length);
		break;
	default:
		answer.err = -ENOSYS;
	}
	answer.auto_translated = s->auto_translated;
	return answer;
}

static int serve_one(struct serving *s, int socket)
{
	struct broker_request request;
	struct broker_answer reply;
	int err;

	err = broker_receive(socket, &request, sizeof(request));
	if (err)
		return err;
	if (request.length > sizeof(body))
		return -EPROTO;
	err = broker_receive(socket, body, request.length);
	if (err)
		return err;
	reply = answer(s, &request);
	return broker_send(socket, &reply, sizeof(reply));
}

/* Until the worker is gone. Its way to xenstore may end before that, and it has to bear it. */
static void serve(struct serving *s, int socket)
{
	struct pollfd polls[] = {
		{ .fd = socket, .events = POLLIN },
		{ .fd = s->gate.worker, .events = POLLIN },
		{ .fd = s->gate.xenstore, .events = POLLIN },
	};

	for (;;) {
		if (poll(polls, 3, -1) < 0 && errno != EINTR)
			return;
		if (polls[0].revents && serve_one(s, socket))
			return;
		if ((polls[1].revents && gate_request(&s->gate)) ||
		    (polls[2].revents && gate_reply(&s->gate))) {
			shutdown(s->gate.worker, SHUT_RDWR);
			polls[1].fd = polls[2].fd = -1;
			polls[1].revents = polls[2].revents = 0;
		}
	}
}

static bool open_gate(struct serving *s, const struct broker_setup *setup, int listener)
{
	s->gate.backend = setup->backend;
	s->gate.frontend = setup->frontend;
	s->gate.xenstore = gate_open();
	if (s->gate.xenstore < 0) {
		log_error("xenstore: %s", strerror(-s->gate.xenstore));
		return false;
	}
	s->gate.worker = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	close(listener);
	return s->gate.worker >= 0;
}

static bool find_frames(struct serving *s, const char *hca)
{
	uint64_t bar0, bytes;
	int err;

	err = hca_sysfs_bar0(hca, &bar0, &bytes);
	if (err) {
		log_error("BAR 0 of %s: %s", hca, strerror(-err));
		return false;
	}
	s->bar_frame = bar0 / PAGE_BYTES;
	s->first_frame = s->bar_frame + HCA_FIRST_UAR_PAGE;
	s->end_frame = (bar0 + bytes) / PAGE_BYTES;
	return true;
}

static bool map_records(struct serving *s, int fd)
{
	s->records = mmap(NULL, sizeof(*s->records), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (s->records != MAP_FAILED && uar_records_valid(s->records))
		return true;
	log_error("records of UARs: %s", s->records == MAP_FAILED ? strerror(errno) : "senseless");
	return false;
}

static bool enter_sandbox(const struct broker_setup *setup)
{
	static const struct sandbox_path paths[] = { { STATUS_DIR, SANDBOX_REPLACE } };
	char why[128];

	if (!setup->confined || !sandbox_enter(SANDBOX_BROKER, NULL, paths, 1, why, sizeof(why)))
		return true;
	log_error("broker: %s", why);
	return false;
}

_Noreturn void broker_serve(const struct broker_setup *setup, int socket, int gntdev, int listener)
{
	struct serving s = { .domid = setup->domid, .devid = setup->devid, .gntdev = gntdev, .bank = setup->bank };

	prctl(PR_SET_NAME, "xen-ib-broker");
	snprintf(s.path, sizeof(s.path), STATUS_DIR "/%u-%u.status", setup->domid, setup->devid);
	snprintf(s.temporary, sizeof(s.temporary), "%s.new", s.path);
	s.rights = rights_open();
	if (!s.rights) {
		log_error("the hypervisor's interface: %s", strerror(errno));
		_exit(EXIT_FAILURE);
	}
	if (!map_records(&s, setup->records) || !find_frames(&s, setup->hca) || !open_gate(&s, setup, listener) ||
	    !enter_sandbox(setup))
		_exit(EXIT_FAILURE);
	await_domain(&s);
	serve(&s, socket);
	unlink(s.path);
	_exit(EXIT_SUCCESS);
}
