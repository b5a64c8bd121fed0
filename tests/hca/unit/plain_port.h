/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Doubles for tests in which no agent answers datagrams, each GID is a port's, and no link trains. */
#ifndef UNIT_PLAIN_PORT_H
#define UNIT_PLAIN_PORT_H

#include "engine/agent.h"
#include "engine/fabric.h"
#include "hca.h"

__attribute__((weak)) bool agent_answers(struct hca *hca, const struct packet *p)
{
	(void)hca;
	(void)p;
	return false;
}

__attribute__((weak)) bool port_has_gid(const struct hca *hca, const uint8_t gid[16])
{
	(void)hca;
	(void)gid;
	return true;
}

static int managed_set = -1; /* what port_managed() was told last */

__attribute__((weak)) void port_managed(struct hca *hca, bool external_sm)
{
	(void)hca;
	managed_set = external_sm;
}

__attribute__((weak)) void port_retrain(struct hca *hca)
{
	(void)hca;
}

#endif
