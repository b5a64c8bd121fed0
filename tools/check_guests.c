// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * check_guests.c - see check_guests.h.
 */
#include <dirent.h>
#include <libxlutil.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "check_guests.h"
#include "config/spec.h"

#define FILE_MAX 65536

static struct guest *guest_of(struct guests *guests, const char *name, int domid)
{
	struct guest *guest;
	unsigned int i;

	for (i = 0; i < guests->n; i++)
		if (!strcmp(guests->list[i].name, name))
			return &guests->list[i];
	guest = reallocarray(guests->list, guests->n + 1, sizeof(*guest));
	if (!guest)
		return NULL;
	guests->list = guest;
	guest += guests->n++;
	*guest = (struct guest){ .domid = domid };
	snprintf(guest->name, sizeof(guest->name), "%s", name);
	return guest;
}

/* What a spec lets a guest pin; one that the daemon will refuse, nothing. */
static uint64_t bytes_of(const char *spec)
{
	struct vhca_config config;
	char why[256];

	if (!spec || config_parse_spec(spec, &config, why, sizeof(why)))
		return 0;
	if (config.limit[LIMIT_MEM_BYTES].given)
		return config.limit[LIMIT_MEM_BYTES].value;
	return limit_key(LIMIT_MEM_BYTES)->value;
}

/* Of a guest that runs, what it has counts, and not what it will have. */
static void take_config(void *context, const char *path, XLU_Config *cfg)
{
	struct guests *guests = context;
	struct guest *guest;
	XLU_ConfigList *list;
	const char *name;
	uint64_t bytes = 0;
	long frames = 0;
	int n, i;

	(void)path;
	if (xlu_cfg_get_string(cfg, "name", &name, 1) ||
	    xlu_cfg_get_list(cfg, "vhca", &list, &n, 1) || !n)
		return;
	for (i = 0; i < n; i++)
		bytes += bytes_of(xlu_cfg_get_listitem(list, i));
	guest = guest_of(guests, name, -1);
	if (!guest)
		return;
	if (guest->domid < 0)
		guest->bytes = bytes;
	if (!xlu_cfg_get_long(cfg, "max_grant_frames", &frames, 1) && frames > 0)
		guest->grant_frames = frames;
}

static void print_config(void *context, const char *path, XLU_Config *cfg)
{
	static const char *const keys[] = { "name",
					    "type",
					    "memory",
					    "maxmem",
					    "vcpus",
					    "max_grant_frames",
					    "max_maptrack_frames" };
	XLU_ConfigList *list;
	const char *value;
	unsigned int i;
	int n, j;

	(void)context;
	if (xlu_cfg_get_list(cfg, "vhca", &list, &n, 1) &&
	    xlu_cfg_get_string(cfg, "name", &value, 1))
		return;
	printf("%s:\n", path);
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!xlu_cfg_get_string(cfg, keys[i], &value, 1))
			printf("  %s = %s\n", keys[i], value);
	if (xlu_cfg_get_list(cfg, "vhca", &list, &n, 1))
		return;
	for (j = 0; j < n; j++)
		printf("  vhca %d: %s\n", j, xlu_cfg_get_listitem(list, j) ?: "no string");
}

/* What is done with each configuration. */
typedef void config_take(void *context, const char *path, XLU_Config *cfg);

/* Other files lie about there as well: what cannot be read says nothing. */
static void look_into(const char *path, config_take *take, void *context)
{
	FILE *nowhere = fopen("/dev/null", "we");
	XLU_Config *cfg = nowhere ? xlu_cfg_init(nowhere, path) : NULL;
	struct stat info;

	if (cfg && !stat(path, &info) && S_ISREG(info.st_mode) && info.st_size <= FILE_MAX &&
	    !xlu_cfg_readfile(cfg, path))
		take(context, path, cfg);
	if (cfg)
		xlu_cfg_destroy(cfg);
	if (nowhere)
		fclose(nowhere);
}

static void look_through(const char *dir, config_take *take, void *context)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *folder;

	folder = opendir(dir);
	if (!folder)
		return;
	while ((entry = readdir(folder))) {
		if (entry->d_name[0] == '.' || strchr(entry->d_name, '~'))
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name) < (int)sizeof(path))
			look_into(path, take, context);
	}
	closedir(folder);
}

void guests_find(struct guests *guests, const struct listing *vhcas, unsigned int n,
		 const char *const *dirs)
{
	struct guest *guest;
	unsigned int i;

	memset(guests, 0, sizeof(*guests));
	for (i = 0; i < n; i++) {
		guest = guest_of(guests, vhcas[i].domain, vhcas[i].domid);
		if (guest && vhcas[i].online)
			guest->bytes += vhcas[i].max_mem_bytes;
	}
	for (; *dirs; dirs++)
		look_through(*dirs, take_config, guests);
}

void guests_free(struct guests *guests)
{
	free(guests->list);
	memset(guests, 0, sizeof(*guests));
}

void configs_print(const char *const *dirs)
{
	for (; *dirs; dirs++)
		look_through(*dirs, print_config, NULL);
}
