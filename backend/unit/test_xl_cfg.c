// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_xl_cfg.c - the configuration of a domain is found among others, and what is wrong with
 * it is said.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/xl_cfg.h"
#include "unit/fakes/fixture.h"

static char first[] = "/tmp/xen-ib-config-XXXXXX", second[] = "/tmp/xen-ib-config-XXXXXX";
static char proc[] = "/tmp/xen-ib-config-XXXXXX";
static const char *dirs[] = { first, "/nowhere", second, NULL };
static struct config_places places = { .proc = proc, .dirs = dirs };
static struct config_specs specs;
static char why[256], last[128];

static const char *path_of(const char *dir, const char *file)
{
	snprintf(last, sizeof(last), "%s/%s", dir, file);
	return last;
}

static void put(const char *dir, const char *name, const char *text)
{
	FILE *file = fopen(path_of(dir, name), "w");

	CHECK(file);
	fputs(text, file);
	CHECK(!fclose(file));
}

static int find(const char *name)
{
	return config_file_find(&places, name, &specs, why, sizeof(why));
}

static void test_found(void)
{
	put(first, "one.cfg",
	    "name = 'one'\nmemory = 512\nvif = [ 'mac=00:16:3e:00:00:01' ]\n"
	    "vhca = [ 'hca=mlx5_0,max-qp=256',\n  'hca=mlx5_1', ]\n");
	put(first, "two", "name = \"two\"\n");
	put(first, "garbage", "name = [[[\n\x01\xff");
	put(first, "list", "name = [ 'one' ]\nvhca = [ 'hca=other' ]\n");
	put(first, "empty", "");
	put(first, ".hidden", "name = 'one'\nvhca = [ 'hca=other' ]\n");
	put(first, "one.cfg~", "name = 'one'\nvhca = [ 'hca=other' ]\n");
	put(first, "xl.conf", "name = 'one'\nvhca = [ 'hca=other' ]\n");
	CHECK(!mkdir(path_of(first, "folder"), 0755) && !mkfifo(path_of(first, "fifo"), 0600));
	CHECK(!find("one") && specs.n == 2);
	CHECK(!strcmp(specs.spec[0], "hca=mlx5_0,max-qp=256") &&
	      !strcmp(specs.spec[1], "hca=mlx5_1"));
	config_file_free(&specs);
	CHECK(!find("two") && !specs.n);
	CHECK(!find("three") && !specs.n);
}

/* A link to it, as in auto/, is the same file; another one may say the same, and nothing else. */
static void test_twice(void)
{
	char target[128];

	snprintf(target, sizeof(target), "%s", path_of(first, "one.cfg"));
	CHECK(!symlink(target, path_of(second, "one.cfg")));
	CHECK(!symlink("/nowhere/at/all", path_of(second, "dangling")));
	CHECK(!find("one") && specs.n == 2);
	config_file_free(&specs);
	put(second, "copy", "name = 'one'\nvhca = [ 'hca=mlx5_0,max-qp=256' ]\n");
	CHECK(find("one") == -EINVAL && strstr(why, "differ") && !specs.n);
	put(second, "copy", "name = 'one'\n");
	CHECK(find("one") == -EINVAL && strstr(why, "differ"));
	CHECK(!unlink(path_of(second, "copy")));
}

static void test_wrong(void)
{
	char many[1024] = "name = 'wrong'\nvhca = [ ";
	unsigned int i;

	put(second, "wrong", "name = 'wrong'\nvhca = 'hca=mlx5_0'\n");
	CHECK(find("wrong") == -EINVAL && strstr(why, "not a list"));
	put(second, "wrong", "name = 'wrong'\nvhca = [ 'hca=mlx5_0', [ 'hca=mlx5_0' ] ]\n");
	CHECK(find("wrong") == -EINVAL && strstr(why, "number 1 of vhca is not a string"));
	for (i = 0; i < CONFIG_VHCAS; i++)
		strcat(many, "'hca=a', ");
	strcat(many, "]\n");
	put(second, "wrong", many);
	CHECK(!find("wrong") && specs.n == CONFIG_VHCAS);
	config_file_free(&specs);
	strcpy(strrchr(many, ']'), "'hca=a' ]\n");
	put(second, "wrong", many);
	CHECK(find("wrong") == -EINVAL && strstr(why, "more than 16"));
	put(second, "wrong", "name = 'wrong'\nvhca = [ ]\n");
	CHECK(!find("wrong") && !specs.n);
	CHECK(!truncate(path_of(second, "wrong"), 65537));
	CHECK(!find("wrong") && !specs.n);
}

static void put_strings(const char *pid, const char *name, const char *strings, size_t length)
{
	char path[160];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/%s", proc, pid, name);
	file = fopen(path, "w");
	CHECK(file && fwrite(strings, 1, length, file) == length && !fclose(file));
}

static void start_in(const char *folder, const char *pid, const char *command, size_t length)
{
	char dir[128], path[160];

	snprintf(dir, sizeof(dir), "%s/%s", proc, pid);
	CHECK(!mkdir(dir, 0755));
	snprintf(path, sizeof(path), "%s/cwd", dir);
	CHECK(!symlink(folder, path));
	put_strings(pid, "cmdline", command, length);
}

/* A process with this command line, whose working folder is second. */
static void start(const char *pid, const char *command, size_t length)
{
	start_in(second, pid, command, length);
}

#define START(pid, command) start(pid, command, sizeof(command))

/* What xl was given counts, wherever it is; with its settings; and only of the right owner. */
static void test_told(void)
{
	put(first, "told.cfg", "name = 'told'\nvhca = [ 'hca=other' ]\n");
	put(second, "told.cfg", "name = 'told'\nvhca = [ 'hca=mlx5_0' ]\n");
	CHECK(find("told") == -EINVAL);
	START("17", "/usr/sbin/xl\0-v\0create\0-c\0told.cfg");
	START("18", "xl\0cr\0told.cfg\0name='two'\0vhca=['hca=mlx5_7']\0memory=3");
	START("19", "xl\0list\0told.cfg");
	START("20", "cat\0create\0told.cfg");
	START("21", "xl\0create\0/nowhere/at/all\0name='two'");
	START("22", "xl\0create");
	START("23", "xl");
	start("24", "xl\0create\0told.cfg", 18); /* cut off */
	start("25", "", 0);
	CHECK(!find("told") && specs.n == 1 && !strcmp(specs.spec[0], "hca=mlx5_0"));
	config_file_free(&specs);
	CHECK(!find("two") && specs.n == 1 && !strcmp(specs.spec[0], "hca=mlx5_7"));
	config_file_free(&specs);
	places.owner++;
	CHECK(find("told") == -EINVAL && !find("two") && !specs.n);
	places.owner--;
}

/* Whether xl creates a domain now is another question than what it is to have. */
static void test_created(void)
{
	bool found;

	CHECK(!config_command_find(&places, "told", &specs, &found, why, sizeof(why)));
	CHECK(found && specs.n == 1);
	config_file_free(&specs);
	CHECK(!config_command_find(&places, "one", &specs, &found, why, sizeof(why)));
	CHECK(!found && !specs.n);
}

/* One that stays behind is in another folder than it was started in. */
static void test_stays(void)
{
	static const char command[] = "xl\0create\0stays.cfg";
	char before[] = "HOME=/root\0OLDPWD=/nowhere", strings[256];
	size_t length = sizeof(before);

	put(second, "stays.cfg", "name = 'stays'\nvhca = [ 'hca=mlx5_3' ]\n");
	dirs[2] = NULL; /* where it would be found anyway */
	start_in("/", "30", command, sizeof(command));
	CHECK(!find("stays") && !specs.n);
	put_strings("30", "environ", before, length);
	CHECK(!find("stays") && !specs.n);
	memcpy(strings, before, length);
	length += snprintf(strings + length, sizeof(strings) - length, "PWD=%s", second) + 1;
	put_strings("30", "environ", strings, length - 1); /* cut off */
	CHECK(!find("stays") && !specs.n);
	put_strings("30", "environ", strings, length);
	CHECK(!find("stays") && specs.n == 1 && !strcmp(specs.spec[0], "hca=mlx5_3"));
	config_file_free(&specs);
	dirs[2] = second;
}

/* Ends the first process while it is looked at, when the second is there, which is not listed yet. */
static void *go_on(void *command_fifo)
{
	static const char command[] = "xl\0create\0moves.cfg";
	int fd;

	fd = open(command_fifo, O_WRONLY);
	CHECK(fd >= 0);
	start("41", command, sizeof(command));
	CHECK(!unlink(command_fifo) && !close(fd));
	return NULL;
}

/* One that goes to the background goes on as another process. */
static void test_moves(void)
{
	static char command_fifo[64];
	pthread_t thread;

	put(second, "moves.cfg", "name = 'moves'\nvhca = [ 'hca=mlx5_4' ]\n");
	dirs[2] = NULL;
	start_in("/", "40", "", 0);
	snprintf(command_fifo, sizeof(command_fifo), "%s/40/cmdline", proc);
	CHECK(!unlink(command_fifo) && !mkfifo(command_fifo, 0600));
	CHECK(!pthread_create(&thread, NULL, go_on, command_fifo));
	CHECK(!find("moves") && specs.n == 1 && !strcmp(specs.spec[0], "hca=mlx5_4"));
	CHECK(!pthread_join(thread, NULL));
	config_file_free(&specs);
	dirs[2] = second;
}

static void remove_all(const char *dir)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	CHECK(!system(command));
}

int main(void)
{
	CHECK(mkdtemp(first) && mkdtemp(second) && mkdtemp(proc));
	places.owner = geteuid();
	test_found();
	test_twice();
	test_wrong();
	test_told();
	test_created();
	test_stays();
	test_moves();
	remove_all(proc);
	remove_all(first);
	remove_all(second);
	return EXIT_SUCCESS;
}
