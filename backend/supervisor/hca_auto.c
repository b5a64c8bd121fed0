// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * hca_auto.c - see hca_auto.h.
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "config/spec.h"
#include "hca/dma_check.h"
#include "hca/family.h"
#include "supervisor/hca_auto.h"
#include "util/read_line.h"

const char *hca_auto_class = "/sys/class/infiniband";

struct offer {
	char name[CONFIG_NAME_MAX];
	bool active;
	unsigned int load;
};

/* Whether the port's attribute has this word. */
static bool port_says(const char *hca, unsigned int port, const char *attribute, const char *word)
{
	char path[PATH_MAX], line[64];

	snprintf(path, sizeof(path), "%s/%s/ports/%u/%s", hca_auto_class, hca, port, attribute);
	return !read_line(path, line, sizeof(line)) && strstr(line, word);
}

static bool can_serve(const char *hca, unsigned int port)
{
	char why[256];
	int err;

	return strlen(hca) < CONFIG_NAME_MAX && port_says(hca, port, "link_layer", "InfiniBand") &&
	       hca_family(hca, &err) && !dma_check(hca, why, sizeof(why));
}

static bool is_better(const struct offer *a, const struct offer *b)
{
	if (a->active != b->active)
		return a->active;
	if (a->load != b->load)
		return a->load < b->load;
	return strcmp(a->name, b->name) < 0;
}

bool hca_auto(unsigned int port, hca_load *load, void *from, char *name, size_t size)
{
	DIR *class = opendir(hca_auto_class);
	struct offer best = { 0 }, offer;
	struct dirent *entry;

	while (class && (entry = readdir(class))) {
		if (entry->d_name[0] == '.' || !can_serve(entry->d_name, port))
			continue;
		snprintf(offer.name, sizeof(offer.name), "%.*s", CONFIG_NAME_MAX - 1,
			 entry->d_name);
		offer.active = port_says(offer.name, port, "state", "ACTIVE");
		offer.load = load(from, offer.name);
		if (!best.name[0] || is_better(&offer, &best))
			best = offer;
	}
	if (class)
		closedir(class);
	snprintf(name, size, "%s", best.name);
	return best.name[0];
}
