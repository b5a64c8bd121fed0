// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_saved.c - files of what suspended domains had: what was written is read, and nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/saved.h"
#include "unit/fakes/fixture.h"

#define UUID "4a2b2b3e-0c0f-4d0a-8e5e-0123456789ab"
#define HEAD "xen-ib-vhcas 1\nuuid " UUID "\n"

static char dir[] = "/tmp/xen-ib-saved-XXXXXX";
static char why[256], last[128];
static struct saved saved;

static const char *path_of(const char *file)
{
	snprintf(last, sizeof(last), "%s/%s", dir, file);
	return last;
}

static int parse(const char *text)
{
	return saved_parse(text, strlen(text), &saved, why, sizeof(why));
}

static void refused(const char *text, const char *words)
{
	CHECK(parse(text) == -EINVAL && !saved.specs.n);
	if (strstr(why, words))
		return;
	fprintf(stderr, "%s: '%s', not '%s'\n", text, why, words);
	abort();
}

static void test_right(void)
{
	const char *text = HEAD
		"name a b\nvhca hca=mlx5_0,port=1\nvhca hca=auto,backend=driver\nend\n";

	CHECK(!parse(text) && !strcmp(saved.uuid, UUID) && saved.specs.n == 2);
	CHECK(!strcmp(saved.name, "a_b") &&
	      !strcmp(saved.specs.spec[1], "hca=auto,backend=driver"));
	config_file_free(&saved.specs);
	CHECK(!parse(HEAD "end\n") && !saved.specs.n && !saved.name[0]);
}

static void test_wrong(void)
{
	char many[1024] = HEAD;
	unsigned int i;

	refused("", "missing");
	refused("\n", "it is not");
	refused("xen-ib-vhcas 2\nuuid " UUID "\nend\n", "line 1: it is not");
	refused(HEAD, "missing");
	refused(HEAD "vhca hca=mlx5_0\n", "missing"); /* what was cut off says less than all */
	refused(HEAD "vhca hca=mlx5_0\nend", "does not end");
	refused(HEAD "vhca hca=mlx5_0,port=0\nend\n", "line 3: port=0");
	refused(HEAD "end\nvhca hca=mlx5_0\nend\n", "line 4: something is behind");
	refused(HEAD "vhcas 3\nend\n", "line 3: not known");
	refused("xen-ib-vhcas 1\nend\n", "missing");
	refused(HEAD "uuid " UUID "\nend\n", "not the UUID");
	refused("xen-ib-vhcas 1\nuuid ../../../../etc/passwd-0123456789ab\nend\n", "not the UUID");
	refused("xen-ib-vhcas 1\nuuid 4A2b2b3e-0c0f-4d0a-8e5e-0123456789ab\nend\n", "not the UUID");
	refused("xen-ib-vhcas 1\nuuid " UUID "0\nend\n", "not the UUID");
	CHECK(saved_parse("xen-ib-vhcas 1\nuuid\0", 20, &saved, why, sizeof(why)) == -EINVAL);
	for (i = 0; i <= CONFIG_VHCAS; i++)
		strcat(many, "vhca hca=a\n");
	strcat(many, "end\n");
	refused(many, "more than 16");
}

static int load(const char *uuid)
{
	return saved_load(dir, uuid, &saved, why, sizeof(why));
}

static void put(const char *name, const char *text, mode_t mode)
{
	FILE *file = fopen(path_of(name), "w");

	CHECK(file && fputs(text, file) >= 0 && !fclose(file) && !chmod(path_of(name), mode));
}

static void test_files(void)
{
	const char *other = "4a2b2b3e-0c0f-4d0a-8e5e-0123456789ac";
	struct stat stat_of;

	CHECK(load(UUID) == -ENOENT && load("../x") == -ENOENT);
	CHECK(!parse(HEAD "vhca hca=mlx5_0\nend\n"));
	put("." UUID ".next", "left by one that was killed", 0600);
	CHECK(!saved_store(dir, &saved));
	CHECK(!stat(path_of(UUID), &stat_of) && (stat_of.st_mode & 0777) == 0600);
	CHECK(access(path_of("." UUID ".next"), F_OK));
	config_file_free(&saved.specs);
	CHECK(!load(UUID) && saved.specs.n == 1);
	config_file_free(&saved.specs);
	CHECK(!saved_store(dir, &saved)); /* in its place */
	CHECK(!load(UUID) && !saved.specs.n);

	put(other, HEAD "end\n", 0600);
	CHECK(load(other) == -EINVAL && strstr(why, "of another domain"));
	put(UUID, HEAD "vhca hca=a\nend\n", 0620);
	CHECK(load(UUID) == -EINVAL && strstr(why, "alone may write"));
	CHECK(!chmod(path_of(UUID), 0644) && !load(UUID));
	config_file_free(&saved.specs);
	CHECK(!truncate(path_of(UUID), SAVED_TEXT_MAX + 10) && load(UUID) == -EINVAL);
	put("elsewhere", HEAD "end\n", 0600);
	CHECK(!unlink(path_of(UUID)) && !symlink("elsewhere", path_of(UUID)));
	CHECK(load(UUID) == -EINVAL && strstr(why, "alone may write"));
	CHECK(!unlink(path_of(UUID)) && !mkfifo(path_of(UUID), 0600) && load(UUID) == -EINVAL);
	CHECK(!unlink(path_of(UUID)) && !unlink(path_of(other)));
}

/* The oldest one goes, and nothing that is not ours. */
static void test_many(void)
{
	const struct timespec old[] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	unsigned int i;
	char name[SAVED_UUID];

	put("something", "else", 0600);
	for (i = 0; i < SAVED_FILES; i++) {
		snprintf(name, sizeof(name), "%08x-0c0f-4d0a-8e5e-0123456789ab", i);
		put(name, "", 0600);
	}
	CHECK(!utimensat(AT_FDCWD, path_of("00000007-0c0f-4d0a-8e5e-0123456789ab"), old, 0));
	CHECK(!utimensat(AT_FDCWD, path_of("something"), old, 0));
	CHECK(!parse(HEAD "end\n") && !saved_store(dir, &saved) && !access(path_of(UUID), F_OK));
	CHECK(access(path_of("00000007-0c0f-4d0a-8e5e-0123456789ab"), F_OK));
	CHECK(!access(path_of("00000006-0c0f-4d0a-8e5e-0123456789ab"), F_OK));
	CHECK(!access(path_of("something"), F_OK));
}

int main(void)
{
	char command[128];

	CHECK(mkdtemp(dir));
	test_right();
	test_wrong();
	test_files();
	test_many();
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	CHECK(!system(command));
	return EXIT_SUCCESS;
}
