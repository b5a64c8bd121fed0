// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * xl_process.c - see xl_process.h.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/xl_process.h"

#define COMMAND_MAX 8192 /* bytes of a command line */
#define ENVIRONMENT_MAX 65536

/* What "xl create" was told; pointers into the command line. */
struct told {
	const char *file;
	char extra[COMMAND_MAX]; /* settings, a line each */
	int extra_length;
};

/* Into memory, so that nothing changes between looking at it and parsing it. */
char *config_read(const char *path, int *length, int extra)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *text = NULL;
	struct stat stat;
	ssize_t got = -1;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &stat) && S_ISREG(stat.st_mode) && stat.st_size <= CONFIG_TEXT_MAX)
		text = malloc(CONFIG_TEXT_MAX + extra);
	if (text)
		got = read(fd, text, CONFIG_TEXT_MAX);
	close(fd);
	*length = got;
	if (got >= 0)
		return text;
	free(text);
	return NULL;
}

static bool is_of(const char *path, uid_t owner)
{
	struct stat stat;

	return !lstat(path, &stat) && S_ISDIR(stat.st_mode) && stat.st_uid == owner;
}

/* Of a process, strings with a 0 at the end of each. Returns their length; 0: they cannot be read, or are too long. */
static int read_strings(const char *process, const char *file, char *strings, size_t size)
{
	char path[2 * PATH_MAX];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", process, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	got = read(fd, strings, size);
	close(fd);
	return got > 0 && (size_t)got < size && !strings[got - 1] ? got : 0;
}

/* The next argument; NULL behind the last. */
static const char *next(const char *command, int length, const char *arg)
{
	arg += strlen(arg) + 1;
	return arg < command + length ? arg : NULL;
}

static bool is_xl(const char *program)
{
	const char *slash = strrchr(program, '/');

	return !strcmp(slash ? slash + 1 : program, "xl");
}

/* xl takes the beginning of a command for the command. */
static bool is_create(const char *arg)
{
	size_t length = strlen(arg);

	return length >= 2 && !strncmp(arg, "create", length);
}

/* As main_create() in Xen's tools/xl/xl_vmcontrol.c: what has a "=" is a setting, the first other one the file. */
static bool understand(const char *command, int length, struct told *told)
{
	const char *arg = command;

	memset(told, 0, sizeof(*told));
	if (!is_xl(arg))
		return false;
	do
		arg = next(command, length, arg);
	while (arg && arg[0] == '-');
	if (!arg || !is_create(arg))
		return false;
	while ((arg = next(command, length, arg))) {
		if (arg[0] == '-')
			continue;
		if (!strchr(arg, '='))
			told->file = told->file ?: arg;
		else
			told->extra_length += snprintf(told->extra + told->extra_length,
						       sizeof(told->extra) - told->extra_length,
						       "\n%s", arg);
	}
	return told->file;
}

/* The folder in which a shell started that process. NULL if it is not known. */
static const char *first_folder(const char *process)
{
	static char strings[ENVIRONMENT_MAX];
	int length = read_strings(process, "environ", strings, sizeof(strings));
	const char *at;

	for (at = length ? strings : NULL; at; at = next(strings, length, at))
		if (!strncmp(at, "PWD=/", 5))
			return at + 4;
	return NULL;
}

/*
 * The file as that process sees it, which may be in another place for us. An xl that stays behind to
 * start its domain again has changed its folder to "/".
 */
static char *read_file(const char *process, const struct told *told, int *length)
{
	const int extra = told->extra_length + 1;
	bool absolute = told->file[0] == '/';
	char path[3 * PATH_MAX];
	const char *folder;
	char *text;

	snprintf(path, sizeof(path), "%s/%s/%s", process, absolute ? "root" : "cwd", told->file);
	text = config_read(path, length, extra);
	if (text || absolute)
		return text ?: config_read(told->file, length, extra);
	folder = first_folder(process);
	if (!folder ||
	    snprintf(path, sizeof(path), "%s/%s", folder, told->file) >= (int)sizeof(path))
		return NULL;
	return config_read(path, length, extra);
}

static char *read_told(const char *process, const struct told *told, int *length)
{
	char *text = read_file(process, told, length);

	if (!text)
		return NULL;
	memcpy(text + *length, told->extra, told->extra_length);
	*length += told->extra_length;
	text[(*length)++] = '\n';
	return text;
}

static int look_at(const char *process, uid_t owner, config_text_fn *fn, void *to)
{
	static struct told told;
	static char command[COMMAND_MAX];
	int length, result;
	char *text;

	if (!is_of(process, owner))
		return 0;
	length = read_strings(process, "cmdline", command, sizeof(command));
	if (!length || !understand(command, length, &told))
		return 0;
	text = read_told(process, &told, &length);
	if (!text)
		return 0;
	result = fn(to, told.file, text, length);
	free(text);
	return result;
}

int config_xl_each(const char *proc, uid_t owner, config_text_fn *fn, void *to)
{
	char process[PATH_MAX];
	struct dirent *entry;
	int result = 0;
	DIR *open_dir;

	open_dir = opendir(proc);
	if (!open_dir)
		return 0;
	while (!result && (entry = readdir(open_dir))) {
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		snprintf(process, sizeof(process), "%s/%s", proc, entry->d_name);
		result = look_at(process, owner, fn, to);
	}
	closedir(open_dir);
	return result;
}
