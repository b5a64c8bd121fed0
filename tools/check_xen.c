// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * check_xen.c - see check.h: Xen, this domain's modules, the daemon.
 */
#include "check.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TESTED_MAJOR 4
#define TESTED_MINOR 20

/* Such a domain makes no hypercalls that would tell more. */
static void check_driver_domain(const struct host *host)
{
	check_report(CHECK_OK, "Xen", NULL, "this is domain %u, a driver domain, %s", host->own,
		     host->pv ? "PV" : "HVM");
	if (!host->pv)
		check_report(CHECK_WARNING, "Xen", "make it a PV domain",
			     "driver domains that are not PV were never tried");
}

static void check_version(const struct host *host)
{
	int version = host->xc ? xc_version(host->xc, XENVER_version, NULL) : -1;
	xen_extraversion_t extra = "";
	int major, minor;

	if (version < 0) {
		check_report(CHECK_PROBLEM, "Xen",
			     "run this as root, in the domain that has the HCA, under Xen",
			     "no access to the hypervisor");
		return;
	}
	xc_version(host->xc, XENVER_extraversion, extra);
	extra[sizeof(extra) - 1] = 0;
	major = version >> 16;
	minor = version & 0xffff;
	if (major == TESTED_MAJOR && minor == TESTED_MINOR)
		check_report(CHECK_OK, "Xen", NULL, "%d.%d%s; this is a %s domain", major, minor,
			     extra, host->pv ? "PV" : "PVH");
	else
		check_report(CHECK_WARNING, "Xen", "Xen-IB is built for, and tested with, Xen 4.20",
			     "%d.%d%s", major, minor, extra);
}

/* Xen finds out by shadow paging what a PV guest writes while it is copied. Of a PVH guest the processor tells. */
static void check_migration(const struct host *host)
{
	xc_physinfo_t info = { 0 };

	if (!host->xc || xc_physinfo(host->xc, &info))
		return;
	check_report(
		CHECK_OK, "migration", NULL, "%s",
		info.capabilities & XEN_SYSCTL_PHYSCAP_shadow ?
			"xl migrate moves guests while they run" :
			"xl migrate moves PVH guests while they run; PV guests can be saved and restored "
			"only, as Xen has no shadow paging");
}

struct module {
	const char *name, *path; /* which is there when it is loaded, or built in */
	bool pv_only, dom0_only;
	const char *what_for;
};

static void check_modules(const struct host *host)
{
	static const struct module modules[] = {
		{ "xen-gntdev", "/dev/xen/gntdev", false, false, "maps guest memory" },
		{ "xen-evtchn", "/dev/xen/evtchn", false, false, "talks to guests" },
		{ "xen-privcmd", "/dev/xen/privcmd", false, true, "talks to Xen" },
		{ "ib_uverbs", "/sys/class/infiniband_verbs", false, false,
		  "gives programs the HCA" },
		{ "mlx5_ib", "/sys/module/mlx5_ib", false, false, "drives the HCA" },
		{ "xen-ibdma", "/sys/module/xen_ibdma", true, false,
		  "keeps DMA to guests right, on PV" },
	};
	const struct module *m;
	char todo[80];

	for (m = modules; m < modules + sizeof(modules) / sizeof(modules[0]); m++) {
		if ((m->pv_only && !host->pv) || (m->dom0_only && host->own))
			continue;
		snprintf(todo, sizeof(todo), "modprobe %s", m->name);
		if (!access(m->path, F_OK))
			check_report(CHECK_OK, "module", NULL, "%s", m->name);
		else
			check_report(CHECK_PROBLEM, "module", todo, "%s is not loaded: it %s",
				     m->name, m->what_for);
	}
}

static void check_daemon(const struct host *host)
{
	struct answer answer;

	ask(host->options->socket, &answer, "version");
	if (answer.status == TOOL_OK)
		check_report(CHECK_OK, "daemon", NULL, "xen-ibback runs, %.*s",
			     (int)strcspn(answer.body, "\n"), answer.body);
	else
		check_report(CHECK_PROBLEM, "daemon",
			     "systemctl start xen-ibback; why it ended: journalctl -u xen-ibback",
			     "%s", answer.why);
	free(answer.body);
}

/* A worker outlives an upgrade, with the program that it is: of that there is no file any more. */
static bool is_outdated(unsigned int pid)
{
	static const char gone[] = " (deleted)";
	char path[64], program[PATH_MAX];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	length = readlink(path, program, sizeof(program));
	return length >= (ssize_t)sizeof(gone) && length < (ssize_t)sizeof(program) &&
	       !memcmp(program + length - (sizeof(gone) - 1), gone, sizeof(gone) - 1);
}

static void check_workers(const struct host *host)
{
	const struct listing *l;
	struct vhcas vhcas;
	char todo[128];

	if (vhcas_ask(&vhcas, host->options->socket, "list", NULL, NULL, NULL) != TOOL_OK)
		return;
	for (l = vhcas.list; l < vhcas.list + vhcas.n; l++) {
		if (!l->worker || !is_outdated(l->worker))
			continue;
		snprintf(todo, sizeof(todo),
			 "kill %u, when the guest can bear to lose its vHCA for a moment",
			 l->worker);
		check_report(CHECK_WARNING, "worker", todo,
			     "vHCA %u of domain %u still runs the program from before an upgrade",
			     l->devid, l->domid);
	}
	vhcas_free(&vhcas);
}

void check_xen(struct host *host)
{
	if (host->own)
		check_driver_domain(host);
	else
		check_version(host);
	check_migration(host);
	check_modules(host);
	check_daemon(host);
	check_workers(host);
}
