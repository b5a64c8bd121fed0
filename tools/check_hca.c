// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * check_hca.c - see check.h: the HCAs, their firmware, drivers and ports.
 */
#include "check.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "hca/dma_check.h"
#include "hca/hca.h"
#include "hca/sysfs.h"
#include "modules/xen-ibgrant/xen-ibgrant.h"
#include "modules/xen-ibgsi/xen-ibgsi.h"
#include "util/read_line.h"

#define CLASS "/sys/class/infiniband"
#define DRIVER "mlx5_core"

/* The first line of a file of the HCA; "?" if it cannot be read. */
static const char *read_attribute(const char *hca, const char *name, char *line, int size)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), CLASS "/%s/%s", hca, name);
	if (read_line(path, line, size))
		snprintf(line, size, "?");
	return line;
}

static void check_port(const char *hca, const char *port, bool managed)
{
	char name[PATH_MAX], state[64], layer[64], lid[64];

	snprintf(name, sizeof(name), "ports/%s/link_layer", port);
	read_attribute(hca, name, layer, sizeof(layer));
	snprintf(name, sizeof(name), "ports/%s/state", port);
	read_attribute(hca, name, state, sizeof(state));
	snprintf(name, sizeof(name), "ports/%s/lid", port);
	read_attribute(hca, name, lid, sizeof(lid));
	if (strcmp(layer, "InfiniBand")) {
		check_report(CHECK_WARNING, hca, "only InfiniBand ports can be given to guests",
			     "port %s is %s", port, layer);
	} else if (strstr(state, "ACTIVE")) {
		check_report(CHECK_OK, hca, NULL, "port %s is %s, LID %s", port, state, lid);
		if (managed)
			check_sa(hca, atoi(port));
	} else {
		check_report(CHECK_WARNING, hca,
			     strstr(state, "INIT") ?
				     "the subnet has no manager: start opensm on one node" :
				     "check cable and switch; see ibstat",
			     "port %s is %s", port, state);
	}
}

static void check_ports(const char *hca, bool managed)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *ports;

	snprintf(path, sizeof(path), CLASS "/%s/ports", hca);
	ports = opendir(path);
	while (ports && (entry = readdir(ports)))
		if (entry->d_name[0] != '.')
			check_port(hca, entry->d_name, managed);
	if (ports)
		closedir(ports);
}

/* By which way guests' memory is registered: the quick one takes an HCA that can, and the module. */
static void check_registration(const char *name)
{
	struct hca *hca = hca_open(name, 1, 0);
	bool dmabufs, queues;

	if (!hca)
		return; /* the driver has said so */
	dmabufs = hca->dmabufs;
	queues = hca->queue_dmabufs;
	hca->ops->close(hca);
	if (!dmabufs)
		check_report(CHECK_OK, name, NULL,
			     "memory of guests is mapped page by page: no on-demand paging");
	else if (!access(XEN_IBGRANT_DEVICE, F_OK))
		check_report(CHECK_OK, name, NULL, "memory of guests is registered as dma-bufs%s",
			     queues ? ", and their queues are made in such" : "");
	else
		check_report(CHECK_WARNING, name,
			     "modprobe xen-ibgrant, systemctl restart xen-ibback, and attach the "
			     "guests' vHCAs again",
			     "memory of guests is mapped page by page, which is slow: xen-ibgrant "
			     "is not loaded");
}

static bool check_hca(const char *hca, bool managed)
{
	char firmware[64], driver[64] = "", why[256];
	struct utsname kernel;

	if (hca_sysfs_driver(hca, driver, sizeof(driver)) || strcmp(driver, DRIVER))
		return false; /* not one that guests can have, which is no mistake */
	uname(&kernel);
	read_attribute(hca, "fw_ver", firmware, sizeof(firmware));
	check_report(CHECK_OK, hca, NULL, "firmware %s, driver %s of Linux %s", firmware, driver,
		     kernel.release);
	if (dma_check(hca, why, sizeof(why)))
		check_report(CHECK_PROBLEM, hca, "modprobe xen-ibdma", "%s", why);
	check_registration(hca);
	check_ports(hca, managed);
	return true;
}

void check_management(struct host *host)
{
	if (!host->managed[0])
		return;
	if (!access(XEN_IBGSI_DEVICE, F_OK))
		check_report(CHECK_OK, "management", NULL, "xen-ibgsi is loaded");
	else
		check_report(CHECK_WARNING, "management",
			     "modprobe xen-ibgsi, systemctl restart xen-ibback, and attach the "
			     "guest's vHCA again",
			     "guest %s has kernel=on, but xen-ibgsi is not loaded: it has no IPoIB",
			     host->managed);
}

void check_hcas(struct host *host)
{
	DIR *class = opendir(CLASS);
	struct dirent *entry;
	unsigned int n = 0;

	while (class && (entry = readdir(class)))
		if (entry->d_name[0] != '.')
			n += check_hca(entry->d_name, host->managed[0]);
	if (class)
		closedir(class);
	if (!n && host->lends)
		check_report(CHECK_OK, "HCA", NULL, "none here; driver domains have them");
	else if (!n)
		check_report(CHECK_PROBLEM, "HCA",
			     "look for the card: lspci -d 15b3: ; load its driver: modprobe mlx5_ib",
			     "no HCA is driven by " DRIVER);
}
