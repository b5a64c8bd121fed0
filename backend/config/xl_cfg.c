// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * xl_cfg.c - see xl_cfg.h. Files that are no configurations lie about in these folders as
 * well, so what cannot be read says nothing; xl would not have taken it either.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libxlutil.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/xl_cfg.h"
#include "config/xl_process.h"

static const char *const dirs[] = { "/etc/xen", "/etc/xen/auto", NULL };

const struct config_places config_places = { .proc = "/proc", .owner = 0, .dirs = dirs };

/* A search for one domain. */
struct search {
	const char *name;
	FILE *report; /* what the parser has to say about other files: nobody wants it */
	struct config_specs *specs;
	char found[PATH_MAX]; /* the file that has specs, "" if there is none yet */
	char *why;
	size_t size;
};

__attribute__((format(printf, 2, 3))) static int refuse(struct search *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(s->why, s->size, format, args);
	va_end(args);
	return -EINVAL;
}

void config_file_free(struct config_specs *specs)
{
	while (specs->n)
		free(specs->spec[--specs->n]);
}

static int take_specs(struct search *s, const char *path, XLU_Config *cfg,
		      struct config_specs *specs)
{
	XLU_ConfigList *list;
	const char *spec;
	int n = 0, i, err;

	specs->n = 0;
	err = xlu_cfg_get_list(cfg, "vhca", &list, &n, 1);
	if (err == ESRCH)
		return 0;
	if (err)
		return refuse(s, "%s: vhca is not a list, such as vhca = [ \"hca=mlx5_0\" ]", path);
	if (n > CONFIG_VHCAS)
		return refuse(s, "%s: more than %u vHCAs", path, CONFIG_VHCAS);
	for (i = 0; i < n; i++) {
		spec = xlu_cfg_get_listitem(list, i);
		specs->spec[i] = spec ? strdup(spec) : NULL;
		if (!specs->spec[i]) {
			config_file_free(specs);
			return refuse(s, "%s: number %d of vhca is not a string", path, i);
		}
		specs->n++;
	}
	return 0;
}

static bool are_equal(const struct config_specs *a, const struct config_specs *b)
{
	unsigned int i;

	if (a->n != b->n)
		return false;
	for (i = 0; i < a->n; i++)
		if (strcmp(a->spec[i], b->spec[i]))
			return false;
	return true;
}

/* A second file of the same name is fine as long as it says the same: a link, or a copy. */
static int compare(struct search *s, const char *path, struct config_specs *specs)
{
	bool equal;

	if (!s->found[0]) {
		snprintf(s->found, sizeof(s->found), "%s", path);
		*s->specs = *specs;
		return 0;
	}
	equal = are_equal(s->specs, specs);
	config_file_free(specs);
	return equal ? 0 :
		       refuse(s, "%s and %s name the same domain and differ in vhca", s->found,
			      path);
}

static int look_at(void *from, const char *path, const char *text, int length)
{
	struct config_specs specs;
	struct search *s = from;
	const char *name;
	XLU_Config *cfg;
	int err = 0;

	cfg = xlu_cfg_init(s->report, path);
	if (cfg && !xlu_cfg_readdata(cfg, text, length) &&
	    !xlu_cfg_get_string(cfg, "name", &name, 1) && !strcmp(name, s->name)) {
		err = take_specs(s, path, cfg, &specs);
		if (!err)
			err = compare(s, path, &specs);
	}
	if (cfg)
		xlu_cfg_destroy(cfg);
	return err;
}

static int look_into(struct search *s, const char *path)
{
	int length, err;
	char *text;

	text = config_read(path, &length, 0);
	if (!text)
		return 0;
	err = look_at(s, path, text, length);
	free(text);
	return err;
}

static bool is_candidate(const char *name)
{
	size_t length = strlen(name);

	return name[0] != '.' && name[length - 1] != '~' && strcmp(name, "xl.conf");
}

static int look_through(struct search *s, const char *dir)
{
	struct dirent *entry;
	char path[PATH_MAX];
	DIR *open_dir;
	int err = 0;

	open_dir = opendir(dir);
	if (!open_dir)
		return 0;
	while (!err && (entry = readdir(open_dir)))
		if (is_candidate(entry->d_name) &&
		    snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name) < (int)sizeof(path))
			err = look_into(s, path);
	closedir(open_dir);
	return err;
}

/*
 * What lists processes has a list from before: an xl that goes to the background ends, and goes on
 * as one that is not in it. The second list has that.
 */
static int check_commands(struct search *s, const struct config_places *places)
{
	int err;

	err = config_xl_each(places->proc, places->owner, look_at, s);
	if (err || s->found[0])
		return err;
	return config_xl_each(places->proc, places->owner, look_at, s);
}

static int begin(struct search *s)
{
	s->specs->n = 0;
	s->report = fopen("/dev/null", "we");
	return s->report ? 0 : refuse(s, "/dev/null: %s", strerror(errno));
}

static int end(struct search *s, int err)
{
	fclose(s->report);
	if (err)
		config_file_free(s->specs);
	return err;
}

int config_command_find(const struct config_places *places, const char *name,
			struct config_specs *specs, bool *found, char *why, size_t size)
{
	struct search s = { .name = name, .specs = specs, .why = why, .size = size };
	int err = begin(&s);

	if (err)
		return err;
	err = check_commands(&s, places);
	*found = s.found[0];
	return end(&s, err);
}

int config_file_find(const struct config_places *places, const char *name,
		     struct config_specs *specs, char *why, size_t size)
{
	struct search s = { .name = name, .specs = specs, .why = why, .size = size };
	const char *const *dir;
	bool in_xl;
	int err;

	err = begin(&s);
	if (err)
		return err;
	err = check_commands(&s, places);
	in_xl = s.found[0];
	for (dir = places->dirs; !err && *dir && !in_xl; dir++)
		err = look_through(&s, *dir);
	return end(&s, err);
}
