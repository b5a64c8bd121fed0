// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmd_list.c - xen-ib list: a line for each vHCA.
 */
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "table.h"
#include "vhcas.h"

static void print_json(const struct vhcas *vhcas, bool daemon)
{
	unsigned int i;

	json_open(NULL, '{');
	json_bool("daemon", daemon);
	json_open("vhcas", '[');
	for (i = 0; i < vhcas->n; i++) {
		json_open(NULL, '{');
		vhca_json(&vhcas->list[i]);
		json_close();
	}
	json_close();
	json_close();
}

/* Of others than dom0's own there may be none. */
static bool has_backends(const struct vhcas *vhcas)
{
	unsigned int i;

	for (i = 0; i < vhcas->n; i++)
		if (vhcas->list[i].backend)
			return true;
	return false;
}

static void print_text(const struct vhcas *vhcas)
{
	bool backends = has_backends(vhcas);
	struct table *table =
		table_new(backends ? "DOMAIN >ID >DEV >BACKEND HCA >PORT STATE >WORKER ERROR" :
				     "DOMAIN >ID >DEV HCA >PORT STATE >WORKER ERROR",
			  0);
	const struct listing *l;

	for (l = vhcas->list; l < vhcas->list + vhcas->n; l++) {
		table_cell(table, "%s", l->domain[0] ? l->domain : "-");
		table_cell(table, "%u", l->domid);
		table_cell(table, "%u", l->devid);
		if (backends)
			table_cell(table, "%u", l->backend);
		table_cell(table, "%s", l->hca[0] ? l->hca : "-");
		table_cell(table, "%u", l->port);
		table_cell(table, "%s", vhca_state(l));
		table_cell(table, l->worker ? "%u" : "-", l->worker);
		table_cell(table, "%s", l->error);
	}
	table_print(table);
}

int cmd_list(const struct options *options, int argc, char **argv)
{
	const char *domain = argc > 0 ? argv[0] : NULL;
	struct vhcas vhcas;
	struct answer why;
	int status;

	status = vhcas_ask(&vhcas, options->socket, "list", domain, NULL, &why);
	if (status == TOOL_NO_DAEMON) {
		answer_complain(&why);
		if (!vhcas_from_xenstore(&vhcas, domain))
			return status;
		hint("what follows is from xenstore alone");
	} else if (status != TOOL_OK) {
		return answer_complain(&why);
	}
	if (options->json)
		print_json(&vhcas, status == TOOL_OK);
	else if (vhcas.n)
		print_text(&vhcas);
	else
		puts("no vHCAs");
	vhcas_free(&vhcas);
	return status;
}
