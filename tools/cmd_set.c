// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmd_set.c - xen-ib set: changes what is imposed on the QPs of a vHCA, and waits until that is in force.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "util/clock.h"
#include "vhcas.h"

#define INTERVAL_US 100000
#define NS_PER_S 1000000000ull

/* Where the guest uses it, whether its worker has taken what is configured; where not, it will. */
static bool is_in_force(const struct listing *vhca)
{
	return !vhca->status || !strcmp(vhca->imposed, vhca->status->imposed);
}

static void print_result(const struct options *options, const struct listing *vhca)
{
	const char *imposed = vhca->imposed[0] ? vhca->imposed : "nothing is imposed";
	char name[VHCA_NAME_MAX];

	if (options->json) {
		json_open(NULL, '{');
		vhca_json(vhca);
		json_close();
		return;
	}
	printf("%s, vHCA %u: %s; %s\n", vhca_name(name, vhca), vhca->devid, imposed,
	       vhca->status ? "for QPs that are connected from now on" : "once the guest uses it");
}

static int late(const struct options *options, const struct listing *vhca)
{
	print_result(options, vhca);
	complain("it is not in force after %u s", options->wait);
	hint("see journalctl -u xen-ibback; what is in force: xen-ib show %u %u", vhca->domid,
	     vhca->devid);
	return TOOL_TIMEOUT;
}

static int wait_until_in_force(const struct options *options, const char *domid, const char *devid)
{
	const uint64_t until = clock_ns() + options->wait * NS_PER_S;
	struct vhcas vhcas;
	struct answer why;
	bool over, done;
	int status;

	for (;;) {
		status = vhcas_ask(&vhcas, options->socket, "show", domid, devid, &why);
		if (status != TOOL_OK || !vhcas.n)
			return answer_complain(&why);
		done = is_in_force(&vhcas.list[0]) || !options->wait;
		over = clock_ns() >= until;
		if (done)
			print_result(options, &vhcas.list[0]);
		else if (over)
			status = late(options, &vhcas.list[0]);
		vhcas_free(&vhcas);
		if (done || over)
			return status;
		usleep(INTERVAL_US);
	}
}

/* The number of the only vHCA that a domain has. */
static int find_devid(const struct options *options, const char *domain, char devid[16])
{
	struct vhcas vhcas;
	struct answer why;
	int status;

	status = vhcas_ask(&vhcas, options->socket, "list", domain, NULL, &why);
	if (status != TOOL_OK)
		return answer_complain(&why);
	if (vhcas.n == 1) {
		snprintf(devid, 16, "%u", vhcas.list[0].devid);
	} else if (vhcas.n) {
		complain("domain %s has %u vHCAs", domain, vhcas.n);
		hint("say which: xen-ib set %s DEV KEY=VALUE; their numbers: xen-ib list %s",
		     domain, domain);
		status = TOOL_USAGE;
	} else {
		complain("domain %s has no vHCA", domain);
		hint("to give it one: xen-ib attach %s hca=auto", domain);
		status = TOOL_NOT_FOUND;
	}
	vhcas_free(&vhcas);
	return status;
}

static int take_devid(const char *text, char devid[16])
{
	uint64_t number;

	if (parse_number(text, UINT16_MAX, &number)) {
		snprintf(devid, 16, "%u", (unsigned int)number);
		return TOOL_OK;
	}
	complain("'%s' is not the number of a vHCA", text);
	hint("which there are: xen-ib list");
	return TOOL_USAGE;
}

static void hint_for_set(const struct answer *answer)
{
	if (answer->status == TOOL_NOT_FOUND)
		hint("which there are: xen-ib list");
	else if (strstr(answer->why, "none of the keys"))
		hint("these are: sl, qp-rate, max-rd-atomic, max-qp-wr, min-timeout, min-rnr-timer, ud; "
		     "to change others, xen-ib detach and attach it again");
	else if (answer->status == TOOL_USAGE)
		hint("the keys are in xen-ib-vhca(5)");
}

int cmd_set(const struct options *options, int argc, char **argv)
{
	struct answer answer;
	char devid[16];
	unsigned int domid;
	char number[16];
	int status;

	status = argc > 2 ? take_devid(argv[1], devid) : find_devid(options, argv[0], devid);
	if (status != TOOL_OK)
		return status;
	ask(options->socket, &answer, "set %s %s %s", argv[0], devid, argv[argc - 1]);
	if (answer.status != TOOL_OK) {
		answer_complain(&answer);
		hint_for_set(&answer);
		return answer.status;
	}
	if (sscanf(answer.body, "vhca %u", &domid) != 1) {
		free(answer.body);
		complain("unexpected response from the daemon");
		return TOOL_FAILED;
	}
	free(answer.body);
	snprintf(number, sizeof(number), "%u", domid);
	return wait_until_in_force(options, number, devid);
}
