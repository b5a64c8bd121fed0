// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * pci_assigned.c - see pci_assigned.h.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hca/family.h"
#include "xen/pci_assigned.h"
#include "xen/xenbus.h"

#define FUNCTIONS 32 /* of a domain; pciback has no room for more */
#define PAGE_SHIFT 12

/* linux/ioport.h, as sysfs shows it */
#define RESOURCE_IO 0x100ull
#define RESOURCE_MEM 0x200ull

const char *pci_assigned_sysfs = "/sys/bus/pci/devices";

static void add(struct pci_assigned *assigned, uint64_t first, uint64_t last)
{
	if (assigned->n < PCI_ASSIGNED_RANGES)
		assigned->range[assigned->n++] = (struct pci_range){ first, last };
}

static FILE *open_attribute(const char *function, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s/%s", pci_assigned_sysfs, function, name);
	return fopen(path, "re");
}

static unsigned int read_id(const char *function, const char *name)
{
	FILE *file = open_attribute(function, name);
	unsigned int id = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%x", &id) != 1)
		id = 0;
	fclose(file);
	return id;
}

/* What does not fill whole pages shares them with other functions. */
static bool read_bar0(const char *function, uint64_t *first, uint64_t *last)
{
	FILE *file = open_attribute(function, "resource");
	uint64_t start, end, flags;
	bool read;

	if (!file)
		return false;
	read = fscanf(file, "%" SCNx64 " %" SCNx64 " %" SCNx64, &start, &end, &flags) == 3;
	fclose(file);
	if (!read || !(flags & RESOURCE_MEM) || flags & RESOURCE_IO || !start || end < start)
		return false;
	if (start & 0xfff || (end & 0xfff) != 0xfff)
		return false;
	*first = start >> PAGE_SHIFT;
	*last = end >> PAGE_SHIFT;
	return true;
}

/* All that can be known of an HCA whose driver is in another domain: where no doorbell page can be. */
static void read_uars(struct pci_assigned *assigned, const char *function)
{
	const struct hca_family *family;
	uint64_t first, last;

	family = hca_family_of_pci(read_id(function, "vendor"), read_id(function, "device"));
	if (family && read_bar0(function, &first, &last) && last - first >= family->first_uar_page)
		add(assigned, first + family->first_uar_page, last);
}

/* A name as "0000:03:00.0", and no other path. */
static bool is_function(const char *name)
{
	unsigned int domain, bus, slot, function;
	int end = 0;

	return sscanf(name, "%4x:%2x:%2x.%1u%n", &domain, &bus, &slot, &function, &end) == 4 &&
	       end == 12 && !name[end];
}

/* A transaction of what is read; all in it is of one moment. */
struct reading {
	struct xs_handle *xs;
	xs_transaction_t t;
	struct pci_assigned *assigned;
};

/* To be freed; NULL: there is none. */
static char *read_node(const struct reading *r, const char *dir, const char *key)
{
	unsigned int length;
	char path[128], *text;

	snprintf(path, sizeof(path), "%s/%s", dir, key);
	text = xs_read(r->xs, r->t, path, &length);
	if (!text || strlen(text) == length)
		return text;
	free(text);
	return NULL;
}

static unsigned int count_functions(const struct reading *r, const char *dir)
{
	char *text = read_node(r, dir, "num_devs");
	unsigned int n;

	if (!text || !xb_number(text, &n) || n > FUNCTIONS)
		n = 0;
	free(text);
	return n;
}

static void read_functions(const struct reading *r, const char *dir)
{
	unsigned int n = count_functions(r, dir), i;
	char key[16], *name;

	for (i = 0; i < n; i++) {
		snprintf(key, sizeof(key), "dev-%u", i);
		name = read_node(r, dir, key);
		if (name && is_function(name))
			read_uars(r->assigned, name);
		free(name);
	}
}

void pci_assigned_read(struct pci_assigned *assigned, struct xs_handle *xs, unsigned int domid)
{
	struct reading r = { .xs = xs, .assigned = assigned };
	char dir[64], path[96], **names;
	unsigned int n, i, bus;

	assigned->n = 0;
	r.t = xs_transaction_start(xs);
	if (r.t == XBT_NULL)
		return;
	snprintf(dir, sizeof(dir), PCI_ASSIGNED_NODES "/%u", domid);
	names = xs_directory(xs, r.t, dir, &n);
	for (i = 0; names && i < n; i++) {
		if (!xb_number(names[i], &bus))
			continue;
		snprintf(path, sizeof(path), "%s/%u", dir, bus);
		read_functions(&r, path);
	}
	free(names);
	xs_transaction_end(xs, r.t, true);
}

bool pci_assigned_has(const struct pci_assigned *assigned, uint64_t frame)
{
	unsigned int i;

	for (i = 0; i < assigned->n; i++)
		if (frame >= assigned->range[i].first && frame <= assigned->range[i].last)
			return true;
	return false;
}
