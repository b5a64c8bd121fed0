// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * check_sa.c - see check.h: whether the subnet has an SA that answers. A port stays ACTIVE when its subnet manager
 * ends, and what uses verbs alone goes on; guests' IPoIB and rdma_cm find nobody.
 */
#include "check.h"

#include <infiniband/umad.h>
#include <infiniband/umad_sa.h>
#include <stdlib.h>

/* It answers in milliseconds, or not at all; a datagram can be lost. */
#define ANSWER_MS 500
#define REPEATED 3
#define TRIES_MS (ANSWER_MS * (REPEATED + 1))

/* What the SA is asked, and all that it takes: what is it? (IBTA 13.4.8.1 and 15.2.5) */
static void fill_request(struct umad_sa_packet *packet)
{
	packet->mad_hdr.base_version = 1;
	packet->mad_hdr.mgmt_class = UMAD_CLASS_SUBN_ADM;
	packet->mad_hdr.class_version = UMAD_SA_CLASS_VERSION;
	packet->mad_hdr.method = UMAD_METHOD_GET;
	packet->mad_hdr.attr_id = htobe16(UMAD_ATTR_CLASS_PORT_INFO);
}

/* A refusal is no SA's: Linux answers so where there is none. */
static bool answers(int fd, int agent, const umad_port_t *port)
{
	int length = sizeof(struct umad_sa_packet);
	void *umad = umad_alloc(1, umad_size() + length);
	struct umad_sa_packet *packet;
	bool answered = false;

	if (!umad)
		return false;
	packet = umad_get_mad(umad);
	fill_request(packet);
	umad_set_addr(umad, port->sm_lid, 1, port->sm_sl, UMAD_QKEY);
	if (!umad_send(fd, agent, umad, length, ANSWER_MS, REPEATED))
		answered = umad_recv(fd, umad, &length, 2 * TRIES_MS) >= 0 && !umad_status(umad) &&
			   !packet->mad_hdr.status;
	umad_free(umad);
	return answered;
}

static bool is_known(const umad_port_t *port)
{
	return port->sm_lid && port->sm_lid != 0xffff;
}

static void report(const char *hca, const umad_port_t *port, bool answered)
{
	if (answered)
		check_report(CHECK_OK, hca, NULL, "port %d: the SA, at LID %u, answers",
			     port->portnum, port->sm_lid);
	else if (is_known(port))
		check_report(CHECK_WARNING, hca,
			     "look after the subnet manager there, or start opensm on a node",
			     "port %d: the SA, at LID %u, does not answer: guests' kernels find no "
			     "group and no path",
			     port->portnum, port->sm_lid);
	else
		check_report(CHECK_WARNING, hca, "start opensm on a node of the subnet",
			     "port %d knows no subnet manager: guests' kernels find no group and "
			     "no path",
			     port->portnum);
}

void check_sa(const char *hca, int number)
{
	umad_port_t port;
	int fd, agent;

	if (umad_init() < 0 || umad_get_port(hca, number, &port) < 0)
		return; /* what there is of the port was reported */
	if (!is_known(&port)) {
		report(hca, &port, false);
		goto release;
	}
	fd = umad_open_port(hca, number);
	agent = fd < 0 ? fd :
			 umad_register(fd, UMAD_CLASS_SUBN_ADM, UMAD_SA_CLASS_VERSION, 0, NULL);
	if (agent >= 0)
		report(hca, &port, answers(fd, agent, &port));
	else
		check_report(CHECK_WARNING, hca, "modprobe ib_umad",
			     "port %d: the SA cannot be asked: no access to the port's umad device",
			     number);
	if (fd >= 0)
		umad_close_port(fd);
release:
	umad_release_port(&port);
	umad_done();
}
