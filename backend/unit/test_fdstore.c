// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_fdstore.c - what is stored is what the next program finds, each under its name; what systemd would refuse without a
 * word is refused. Each life of the daemon is a process of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/fdstore.h"
#include "unit/fakes/fake_fdstore.h"
#include "unit/fakes/fixture.h"

#define MOST 8

static int memory(char byte)
{
	int fd = memfd_create("stored", MFD_CLOEXEC);

	CHECK(fd >= 0 && write(fd, &byte, 1) == 1);
	return fd;
}

static void put(const char *name, char byte)
{
	int fd = memory(byte);

	CHECK(!fdstore_put(name, fd));
	close(fd);
}

static char found[16][512], bytes[16];
static unsigned int n_found;

static void note(void *to, const char *name, int fd)
{
	CHECK(to == found && n_found < 16 && strlen(name) < sizeof(found[0]));
	CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC && pread(fd, &bytes[n_found], 1, 0) == 1);
	strcpy(found[n_found++], name);
	close(fd);
}

static char byte_of(const char *name)
{
	unsigned int i;

	for (i = 0; i < n_found; i++)
		if (!strcmp(found[i], name))
			return bytes[i];
	return 0;
}

/* life - a daemon that does this and ends */
static void life(void (*run)(void), unsigned int most)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		CHECK(!fake_fdstore_pass(most) && !fdstore_load(note, found));
		CHECK(!getenv("LISTEN_FDS") &&
		      !getenv("LISTEN_FDNAMES")); /* workers are not given it */
		run();
		_exit(EXIT_SUCCESS);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status));
	CHECK(!fake_fdstore_receive());
}

static void first(void)
{
	CHECK(fdstore_exists() && !n_found);
	put("file-1", 'a');
	put("table-1,5-0,mlx5_0", 'b');
	put("file-2", 'c');
}

static void second(void)
{
	CHECK(n_found == 3 && byte_of("file-1") == 'a' && byte_of("table-1,5-0,mlx5_0") == 'b' &&
	      byte_of("file-2") == 'c');
	fdstore_remove("file-1");
	put("file-3", 'd');
}

/* systemd would store these as "stored", or not at all. What was there before counts. */
static void refused(void)
{
	char many[300] = { 0 };
	int fd = memory('x');
	unsigned int i;

	CHECK(n_found == 3 && !byte_of("file-1") && byte_of("file-3") == 'd');
	memset(many, 'n', sizeof(many) - 1);
	CHECK(fdstore_put("a:b", fd) == -EINVAL && fdstore_put("a\nb", fd) == -EINVAL &&
	      fdstore_put("", fd) == -EINVAL && fdstore_put("\303\244", fd) == -EINVAL &&
	      fdstore_put(many, fd) == -EINVAL);
	for (i = n_found; i < MOST; i++) {
		many[4] = 0;
		snprintf(many, sizeof(many), "n-%u", i);
		put(many, 'y');
	}
	CHECK(fdstore_put("more", fd) == -ENOSPC);
	fdstore_remove("file-3");
	CHECK(!fdstore_put("more", fd) && fdstore_put("still more", fd) == -ENOSPC);
	close(fd);
}

/* All names have to fit into one variable. */
static void names(void)
{
	char name[256] = { 0 };
	int fd = memory('n');
	unsigned int i;

	memset(name, 'n', sizeof(name) - 1);
	for (i = 0; i < 120 * 1024 / sizeof(name) - 1; i++) {
		CHECK(!fdstore_put(name, fd));
		CHECK(!fake_fdstore_receive());
	}
	CHECK(fdstore_put(name, fd) == -ENOSPC && !fdstore_put("short", fd));
	close(fd);
}

static void without(void)
{
	CHECK(!fdstore_exists() && !fdstore_put("file-1", STDERR_FILENO));
	fdstore_remove("file-1");
}

int main(void)
{
	char dir[] = "/tmp/xen-ib-fdstore-XXXXXX", path[64];

	CHECK(!unsetenv("LISTEN_FDS") && !unsetenv("LISTEN_PID") && mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/socket", dir);
	CHECK(fake_fdstore_open(path) >= 0);
	life(first, MOST);
	CHECK(fake_fdstore_count() == 3);
	life(second, MOST);
	CHECK(fake_fdstore_count() == 3 && fake_fdstore_find("file-1") < 0 &&
	      fake_fdstore_find("file-3") >= 0);
	life(refused, MOST);
	CHECK(fake_fdstore_count() == MOST && fake_fdstore_find("more") >= 0);
	life(names, 1000000);
	life(without, 0);
	CHECK(!unlink(path) && !rmdir(dir));
	return EXIT_SUCCESS;
}
