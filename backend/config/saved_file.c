// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * saved_file.c - see saved.h: the files.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/saved.h"

/* It is the owner's alone: nobody else says what a domain gets. */
static bool is_trusted(int fd)
{
	struct stat stat;

	return !fstat(fd, &stat) && S_ISREG(stat.st_mode) && stat.st_uid == geteuid() &&
	       !(stat.st_mode & (S_IWGRP | S_IWOTH));
}

static ssize_t read_all(int fd, char *text, size_t size)
{
	size_t length = 0;
	ssize_t got;

	while (length < size && (got = read(fd, text + length, size - length))) {
		if (got < 0)
			return -errno;
		length += got;
	}
	return length;
}

int saved_load(const char *dir, const char *uuid, struct saved *saved, char *why, size_t size)
{
	char path[PATH_MAX], text[SAVED_TEXT_MAX + 1];
	ssize_t length;
	int fd, err;

	memset(saved, 0, sizeof(*saved));
	if (!saved_uuid(uuid))
		return -ENOENT;
	snprintf(path, sizeof(path), "%s/%s", dir, uuid);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT)
		return -ENOENT;
	if (fd < 0 || !is_trusted(fd)) {
		snprintf(why, size, "%s: not a file that its owner alone may write", path);
		if (fd >= 0)
			close(fd);
		return -EINVAL;
	}
	length = read_all(fd, text, sizeof(text));
	close(fd);
	if (length < 0) {
		snprintf(why, size, "%s: %s", path, strerror(-length));
		return -EINVAL;
	}
	err = saved_parse(text, length, saved, why, size);
	if (err || !strcmp(saved->uuid, uuid))
		return err;
	snprintf(why, size, "%s: it is of another domain", path);
	config_file_free(&saved->specs);
	return -EINVAL;
}

/* Files of ours in the folder; the oldest of them, for which the caller has room. */
static unsigned int count(const char *dir, char oldest[SAVED_UUID])
{
	struct dirent *entry;
	unsigned int n = 0;
	struct stat stat;
	time_t when = 0;
	DIR *open_dir;

	open_dir = opendir(dir);
	if (!open_dir)
		return 0;
	while ((entry = readdir(open_dir))) {
		if (!saved_uuid(entry->d_name) ||
		    fstatat(dirfd(open_dir), entry->d_name, &stat, AT_SYMLINK_NOFOLLOW))
			continue;
		if (!n++ || stat.st_mtime < when) {
			when = stat.st_mtime;
			memcpy(oldest, entry->d_name, SAVED_UUID);
		}
	}
	closedir(open_dir);
	return n;
}

static void make_room(const char *dir)
{
	char path[PATH_MAX], oldest[SAVED_UUID];
	unsigned int n;

	for (n = count(dir, oldest); n > SAVED_FILES; n--) {
		snprintf(path, sizeof(path), "%s/%s", dir, oldest);
		if (unlink(path))
			return;
		count(dir, oldest);
	}
}

/* For the name to last as long as what it names. */
static void sync_folder(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

static int write_file(int fd, const struct saved *saved)
{
	FILE *file = fdopen(fd, "w");
	int err = 0;

	if (!file) {
		err = -errno;
		close(fd);
		return err;
	}
	saved_print(file, saved);
	if (fflush(file) || fsync(fd))
		err = -errno;
	if (fclose(file) && !err)
		err = -errno;
	return err;
}

int saved_store(const char *dir, const struct saved *saved)
{
	char path[PATH_MAX], next[PATH_MAX];
	int fd, err;

	if (mkdir(dir, 0700) && errno != EEXIST)
		return -errno;
	snprintf(path, sizeof(path), "%s/%s", dir, saved->uuid);
	/* The next one in its place is one that was not finished. */
	snprintf(next, sizeof(next), "%s/.%s.next", dir, saved->uuid);
	unlink(next);
	fd = open(next, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	err = write_file(fd, saved);
	if (!err && rename(next, path))
		err = -errno;
	if (err) {
		unlink(next);
		return err;
	}
	sync_folder(dir);
	make_room(dir);
	return 0;
}
