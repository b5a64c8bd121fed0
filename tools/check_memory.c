// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * check_memory.c - see check.h: what limits the memory that guests may pin, and what endangers DMA.
 */
#include "check.h"

#include <libxlutil.h>
#include <stdlib.h>
#include <string.h>

#define XL_CONF "/etc/xen/xl.conf"
#define PAGE 4096
#define GRANTS_PER_FRAME 512  /* version 1: 8 bytes each */
#define HANDLES_PER_FRAME 256 /* of maptrack: 16 bytes each */
#define OTHER_FRAMES 8        /* a guest's disks, networks, console */
#define OTHER_HANDLES 16384   /* blkback, netback and others of this domain */
#define FRAMES 64             /* defaults of Xen */
#define MAPTRACK_FRAMES 1024

static uint64_t xen_number(const struct host *host, const char *option, uint64_t otherwise)
{
	char value[32];
	uint64_t number;

	return check_xen_option(host, option, value, sizeof(value)) &&
			       parse_number(value, UINT32_MAX, &number) ?
		       number :
		       otherwise;
}

/* A copy of what xl's own configuration has, to be freed; NULL if it has nothing. */
static char *xl_setting(const char *name)
{
	FILE *nowhere = fopen("/dev/null", "we");
	XLU_Config *cfg = nowhere ? xlu_cfg_init(nowhere, XL_CONF) : NULL;
	const char *value;
	char *copy = NULL;

	if (cfg && !xlu_cfg_readfile(cfg, XL_CONF) && !xlu_cfg_get_string(cfg, name, &value, 1))
		copy = strdup(value);
	if (cfg)
		xlu_cfg_destroy(cfg);
	if (nowhere)
		fclose(nowhere);
	return copy;
}

/* Ballooning */

/* As xl reads it: by default it balloons unless dom0_mem was given. */
static bool xl_balloons(bool has_dom0_mem)
{
	char *value = xl_setting("autoballoon");
	bool balloons = !has_dom0_mem;

	if (value && (!strcmp(value, "on") || !strcmp(value, "1")))
		balloons = true;
	else if (value && (!strcmp(value, "off") || !strcmp(value, "0")))
		balloons = false;
	free(value);
	return balloons;
}

/* PV: memory that comes back from ballooning is in pieces, which the HCA's driver cannot use. */
static void check_ballooning(const struct host *host)
{
	char dom0_mem[128] = "";
	bool given = check_xen_option(host, "dom0_mem", dom0_mem, sizeof(dom0_mem));
	bool fixed = given && strstr(dom0_mem, "max:");

	if (xl_balloons(given))
		check_report(host->pv ? CHECK_PROBLEM : CHECK_WARNING, "ballooning",
			     "on Xen's command line: dom0_mem=4G,max:4G, and in " XL_CONF
			     ": autoballoon=\"off\"",
			     "xl takes memory from this domain to start guests");
	else if (!fixed)
		check_report(CHECK_WARNING, "ballooning",
			     "on Xen's command line: dom0_mem=4G,max:4G",
			     "this domain may grow, as dom0_mem=%s has no max:",
			     given ? dom0_mem : "(not given)");
	else
		check_report(CHECK_OK, "ballooning", NULL, "off, dom0_mem=%s", dom0_mem);
}

/* Grants */

/* How many frames a guest may have: what Xen says of one that runs, else what it will be given. */
static uint64_t frames_of(const struct host *host, const struct guest *guest)
{
	struct gnttab_query_size query = { .dom = guest->domid };
	uint64_t most = xen_number(host, "gnttab_max_frames", FRAMES), frames;
	char *value;

	if (guest->domid >= 0 && host->xc && !xc_gnttab_query_size(host->xc, &query) &&
	    !query.status)
		return query.max_nr_frames;
	if (guest->grant_frames)
		return guest->grant_frames;
	value = xl_setting("max_grant_frames");
	if (!value || !parse_number(value, UINT32_MAX, &frames))
		frames = most;
	free(value);
	return frames;
}

static void check_guest(const struct host *host, const struct guest *guest)
{
	uint64_t need =
		(guest->bytes / PAGE + GRANTS_PER_FRAME - 1) / GRANTS_PER_FRAME + OTHER_FRAMES;
	uint64_t have = frames_of(host, guest);
	char bytes[TEXT_MAX], most[TEXT_MAX], todo[200];

	text_of_bytes(bytes, guest->bytes);
	text_of_bytes(most, have * GRANTS_PER_FRAME * PAGE);
	if (have >= need) {
		check_report(CHECK_OK, "grants", NULL, "%s may pin %s, and has %llu grant frames",
			     guest->name, bytes, (unsigned long long)have);
		return;
	}
	snprintf(todo, sizeof(todo),
		 "in its configuration: max_grant_frames=%llu; or lower its max-mem-bytes",
		 (unsigned long long)need);
	check_report(CHECK_WARNING, "grants", todo,
		     "%s may pin %s, but with %llu grant frames no more than %s", guest->name,
		     bytes, (unsigned long long)have, most);
}

/* A PV domain uses two handles for a page that it maps: one for the kernel's, one for the program's address. */
static void check_maptrack(const struct host *host)
{
	uint64_t frames = xen_number(host, "gnttab_max_maptrack_frames", MAPTRACK_FRAMES), need = 0,
		 have;
	unsigned int a_page = host->pv ? 2 : 1, i;
	char bytes[TEXT_MAX], most[TEXT_MAX], todo[120];

	for (i = 0; i < host->guests.n; i++)
		need += host->guests.list[i].bytes;
	have = frames * HANDLES_PER_FRAME;
	have = (have > OTHER_HANDLES ? have - OTHER_HANDLES : 0) / a_page * PAGE;
	text_of_bytes(bytes, need);
	text_of_bytes(most, have);
	if (have >= need) {
		check_report(CHECK_OK, "maptrack", NULL,
			     "all guests together may pin %s, of %s that can be mapped", bytes,
			     most);
		return;
	}
	snprintf(todo, sizeof(todo), "on Xen's command line: gnttab_max_maptrack_frames=%llu",
		 (unsigned long long)((need / PAGE * a_page + OTHER_HANDLES + HANDLES_PER_FRAME -
				       1) /
				      HANDLES_PER_FRAME));
	check_report(CHECK_WARNING, "maptrack", todo,
		     "all guests together may pin %s, but this domain can map %s", bytes, most);
}

static void check_grants(const struct host *host)
{
	unsigned int i;

	for (i = 0; i < host->guests.n; i++)
		check_guest(host, &host->guests.list[i]);
	if (!host->guests.n)
		check_report(CHECK_OK, "grants", NULL, "no guest has or is configured for a vHCA");
	check_maptrack(host);
}

/* What an IOMMU does here: nothing for guests, as they have no device; dom0's HCA may be kept to dom0's memory. */
static void check_iommu(const struct host *host)
{
	xc_physinfo_t info = { 0 };
	char iommu[64] = "(not given)", dom0[64] = "(not given)";

	if (!host->xc || xc_physinfo(host->xc, &info)) {
		check_report(CHECK_WARNING, "IOMMU", NULL, "Xen does not tell");
		return;
	}
	check_xen_option(host, "iommu", iommu, sizeof(iommu));
	check_xen_option(host, "dom0-iommu", dom0, sizeof(dom0));
	if (info.capabilities & XEN_SYSCTL_PHYSCAP_directio)
		check_report(CHECK_OK, "IOMMU", NULL, "on; iommu=%s, dom0-iommu=%s", iommu, dom0);
	else if (host->pv)
		check_report(CHECK_OK, "IOMMU", NULL,
			     "none, or off (iommu=%s): a PV domain does without one; it is the "
			     "HCA that keeps guests apart",
			     iommu);
	else
		check_report(
			CHECK_PROBLEM, "IOMMU",
			"switch it on in the firmware's setup; no iommu=off on Xen's command line",
			"none, or off (iommu=%s), and this domain is not PV", iommu);
}

void check_memory_of(struct host *host, unsigned int domid)
{
	unsigned int i;

	if (host->own)
		return;
	for (i = 0; i < host->guests.n; i++)
		if (host->guests.list[i].domid == (int)domid)
			check_guest(host, &host->guests.list[i]);
	check_maptrack(host);
}

/* Who has no privileges sees nothing of this. */
void check_memory(struct host *host)
{
	if (host->own) {
		check_report(CHECK_OK, "memory", NULL,
			     "ballooning, grants and the IOMMU are dom0's: there, xen-ib check");
		return;
	}
	check_ballooning(host);
	check_grants(host);
	check_iommu(host);
}
