// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmd_attach.c - xen-ib attach, xen-ib detach: ask the daemon, then look what becomes of it.
 */
#include "check.h" /* first, as it has to be before other headers of Xen */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "util/clock.h"
#include "vhcas.h"

#define INTERVAL_US 100000
#define STATE_MAX (2 * LISTING_TEXT + 16)
#define NS_PER_S 1000000000ull

struct wait {
	const struct options *options;
	char domid[16], devid[16];
	uint64_t until_ns;
	char seen[STATE_MAX]; /* the last state that was shown */
};

static bool begin(struct wait *wait, const struct options *options, struct answer *answer)
{
	unsigned int domid, devid;
	int words;

	words = sscanf(answer->body, "vhca %u %u", &domid, &devid);
	free(answer->body);
	if (words < 2) {
		complain("unexpected response from the daemon");
		return false;
	}
	wait->options = options;
	wait->until_ns = clock_ns() + options->wait * NS_PER_S;
	wait->seen[0] = 0;
	snprintf(wait->domid, sizeof(wait->domid), "%u", domid);
	snprintf(wait->devid, sizeof(wait->devid), "%u", devid);
	return true;
}

/* Progress, for people: each state that is not the last one. */
static void show_progress(struct wait *wait, const struct listing *vhca)
{
	char now[STATE_MAX];

	if (wait->options->json)
		return;
	snprintf(now, sizeof(now), "%s, guest: %s", vhca_state(vhca), vhca->guest);
	if (!strcmp(now, wait->seen))
		return;
	fprintf(stderr, "xen-ib: vHCA %s of domain %s: %s\n", wait->devid, wait->domid, now);
	snprintf(wait->seen, sizeof(wait->seen), "%s", now);
}

static bool is_late(const struct wait *wait)
{
	return clock_ns() >= wait->until_ns;
}

/* What xen-ib check would say of the guest: for people at once, else in the result. */

static struct {
	bool json; /* and of attach */
	char text[4][512];
	unsigned int n;
} warnings;

static void take_warning(enum check_result result, const char *what, const char *todo,
			 const char *text)
{
	if (result == CHECK_OK)
		return;
	if (!warnings.json)
		fprintf(stderr, "xen-ib: warning: %s: %s\n  %s\n", what, text, todo ?: "");
	else if (warnings.n < sizeof(warnings.text) / sizeof(warnings.text[0]))
		snprintf(warnings.text[warnings.n++], sizeof(warnings.text[0]), "%s: %s", what,
			 text);
}

static void warn(const struct wait *wait)
{
	warnings.json = wait->options->json;
	warnings.n = 0;
	check_attached(wait->options, strtoul(wait->domid, NULL, 10), take_warning);
}

static void print_warnings(void)
{
	unsigned int i;

	json_open("warnings", '[');
	for (i = 0; i < warnings.n; i++)
		json_text(NULL, warnings.text[i]);
	json_close();
}

static void print_result(const struct options *options, const struct listing *vhca)
{
	char name[VHCA_NAME_MAX];

	if (options->json) {
		json_open(NULL, '{');
		vhca_json(vhca);
		if (warnings.json)
			print_warnings();
		json_close();
	} else {
		printf("%s has vHCA %u: %s port %u, %s\n", vhca_name(name, vhca), vhca->devid,
		       vhca->hca, vhca->port, vhca_state(vhca));
	}
}

/* Attaching */

static int attach_failed(const struct wait *wait, const struct listing *vhca)
{
	print_result(wait->options, vhca);
	complain("%s", vhca->error);
	hint("the vHCA stays, and the daemon tries again; to remove it: xen-ib detach %s %s",
	     wait->domid, wait->devid);
	return TOOL_FAILED;
}

static int attach_late(const struct wait *wait, const struct listing *vhca)
{
	print_result(wait->options, vhca);
	complain("the guest does not use it after %u s, but may do so later", wait->options->wait);
	if (vhca->backend && !vhca->worker)
		hint("domain %u serves it: there, see xen-ib list and journalctl -u xen-ibback",
		     vhca->backend);
	else if (!vhca->worker)
		hint("it has no worker; see journalctl -u xen-ibback");
	else if (!strcmp(vhca->state, "offered") && strcmp(vhca->guest, "connected"))
		hint("the guest's driver has not answered: in the guest, run modprobe xen-ibfront and see dmesg");
	else
		hint("see journalctl -u xen-ibback and the guest's dmesg");
	return TOOL_TIMEOUT;
}

static int look_at_attached(struct wait *wait, const struct listing *vhca, bool *again)
{
	*again = false;
	if (vhca_works(vhca) || !wait->options->wait) {
		print_result(wait->options, vhca);
		return TOOL_OK;
	}
	if (vhca->error[0])
		return attach_failed(wait, vhca);
	if (is_late(wait))
		return attach_late(wait, vhca);
	show_progress(wait, vhca);
	*again = true;
	return TOOL_OK;
}

static int wait_for_guest(struct wait *wait)
{
	struct vhcas vhcas;
	struct answer why;
	bool again;
	int status;

	for (;;) {
		status = vhcas_ask(&vhcas, wait->options->socket, "list", wait->domid, wait->devid,
				   &why);
		if (status != TOOL_OK || !vhcas.n)
			return answer_complain(&why);
		status = look_at_attached(wait, &vhcas.list[0], &again);
		vhcas_free(&vhcas);
		if (!again)
			return status;
		usleep(INTERVAL_US);
	}
}

static void hint_for_attach(const struct answer *answer)
{
	if (answer->status == TOOL_NOT_FOUND)
		hint("which domains there are: xl list");
	else if (strstr(answer->why, "no HCA"))
		hint("which HCAs there are: ls /sys/class/infiniband; their state: xen-ib check");
	else if (answer->status == TOOL_USAGE)
		hint("the keys of a vHCA are in xen-ib(8)");
}

int cmd_attach(const struct options *options, int argc, char **argv)
{
	struct answer answer;
	struct wait wait;

	(void)argc;
	ask(options->socket, &answer, "attach %s %s", argv[0], argv[1]);
	if (answer.status != TOOL_OK) {
		answer_complain(&answer);
		hint_for_attach(&answer);
		return answer.status;
	}
	if (!begin(&wait, options, &answer))
		return TOOL_FAILED;
	warn(&wait);
	return wait_for_guest(&wait);
}

/* Detaching */

static int detach_done(const struct wait *wait)
{
	if (wait->options->json) {
		json_open(NULL, '{');
		json_number("domid", strtoul(wait->domid, NULL, 10));
		json_number("devid", strtoul(wait->devid, NULL, 10));
		json_bool("gone", true);
		json_close();
	} else {
		printf("domain %s has no vHCA %s any more\n", wait->domid, wait->devid);
	}
	return TOOL_OK;
}

static int detach_late(const struct wait *wait, const struct listing *vhca)
{
	print_result(wait->options, vhca);
	complain("it is not released after %u s, but will be as soon as possible",
		 wait->options->wait);
	if (vhca->worker)
		hint("its worker still runs, process %u: journalctl -u xen-ibback", vhca->worker);
	else if (!wait->options->force)
		hint("the guest has not released the device; not to wait for it: xen-ib detach --force %s %s",
		     wait->domid, wait->devid);
	return TOOL_TIMEOUT;
}

static int wait_until_gone(struct wait *wait)
{
	struct vhcas vhcas;
	struct answer why;
	int status;

	for (;;) {
		status = vhcas_ask(&vhcas, wait->options->socket, "list", wait->domid, wait->devid,
				   &why);
		if (status == TOOL_NOT_FOUND)
			return detach_done(wait);
		if (status != TOOL_OK || !vhcas.n)
			return answer_complain(&why);
		if (!wait->options->wait)
			print_result(wait->options, &vhcas.list[0]);
		else if (is_late(wait))
			status = detach_late(wait, &vhcas.list[0]);
		else
			show_progress(wait, &vhcas.list[0]);
		vhcas_free(&vhcas);
		if (!wait->options->wait || status != TOOL_OK)
			return status;
		usleep(INTERVAL_US);
	}
}

int cmd_detach(const struct options *options, int argc, char **argv)
{
	struct answer answer;
	uint64_t devid;
	struct wait wait;

	(void)argc;
	if (!parse_number(argv[1], 0xffff, &devid)) {
		complain("'%s' is not the number of a vHCA", argv[1]);
		hint("which there are: xen-ib list %s", argv[0]);
		return TOOL_USAGE;
	}
	ask(options->socket, &answer, "detach %s %s%s", argv[0], argv[1],
	    options->force ? " force" : "");
	if (answer.status != TOOL_OK) {
		answer_complain(&answer);
		if (answer.status == TOOL_NOT_FOUND)
			hint("which there are: xen-ib list");
		return answer.status;
	}
	return begin(&wait, options, &answer) ? wait_until_gone(&wait) : TOOL_FAILED;
}
