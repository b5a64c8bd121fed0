// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Bytes into the control socket, with a few objects to list. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bus/dma.h"
#include "control/ctl.h"
#include "engine/fabric.h"
#include "firmware/cmd.h"
#include "hca.h"
#include "objects/qp.h"

#define OBJECTS 300

static struct loop *loop;
static struct fabric *fabric;
static struct hca hcas[2];
static struct ctl *ctl;
static struct obj pds[OBJECTS];

/* Doubles for the parts behind it: objects exist as PDs only. */
__attribute__((weak)) struct obj *obj_next(const struct obj_table *t, uint32_t id)
{
	return t && id < OBJECTS ? &pds[id] : NULL;
}

__attribute__((weak)) void obj_each(struct obj_table *t, void (*fn)(struct obj *, void *),
				    void *arg)
{
	(void)t;
	(void)fn;
	(void)arg;
}

__attribute__((weak)) struct obj *obj_find(const struct obj_table *t, uint32_t id)
{
	(void)t;
	(void)id;
	return NULL;
}

__attribute__((weak)) void qp_engine_packet(struct qp *qp, struct packet *p)
{
	(void)qp;
	(void)p;
}

__attribute__((weak)) const char *qp_state_name(enum qp_state state)
{
	(void)state;
	return "";
}

__attribute__((weak)) const char *qp_transport_name(enum qp_transport transport)
{
	(void)transport;
	return "";
}

__attribute__((weak)) uint16_t cmd_opcode(const char *name)
{
	return strcmp(name, "NOP") ? 0 : 0x80d;
}

__attribute__((weak)) const char *cmd_name(uint16_t opcode)
{
	return opcode == 0x80d ? "NOP" : NULL;
}

__attribute__((weak)) void hca_set_link(struct hca *hca, bool up)
{
	hca->faults.link_down = !up;
}

__attribute__((weak)) void port_managed(struct hca *hca, bool external_sm)
{
	(void)hca;
	(void)external_sm;
}

__attribute__((weak)) void port_retrain(struct hca *hca)
{
	(void)hca;
}

__attribute__((weak)) void hca_set_fatal(struct hca *hca, bool fatal)
{
	hca->faults.fatal = fatal;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	hca_log_level = -1;
	loop = loop_new();
	fabric = fabric_new(loop);
	for (unsigned int i = 0; i < 2; i++) {
		hcas[i].index = i;
		hcas[i].loop = loop;
		hcas[i].fabric = fabric;
		hcas[i].dma = dma_space_new();
		if (fabric_join(fabric, &hcas[i]))
			abort();
	}
	for (uint32_t i = 0; i < OBJECTS; i++)
		pds[i].id = i;
	hcas[0].objs[OBJ_PD] = (struct obj_table *)pds; /* only its being there counts */
	ctl = ctl_new(loop, fabric);
	if (!ctl)
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static char sink[65536];
	size_t half = len / 2;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds))
		abort();
	if (ctl_adopt(ctl, fds[1]))
		abort();
	if (send(fds[0], data, half, MSG_NOSIGNAL) >= 0) {
		loop_turn(loop, 0);
		loop_turn(loop, 0);
		send(fds[0], data + half, len - half, MSG_NOSIGNAL);
	}
	for (unsigned int i = 0; i < 200; i++) {
		ssize_t n = recv(fds[0], sink, sizeof(sink), MSG_DONTWAIT);

		if (!n || (!loop_turn(loop, 0) && n < 0))
			break;
	}
	close(fds[0]);
	for (unsigned int i = 0; i < 4; i++)
		loop_turn(loop, 0);
	return 0;
}
