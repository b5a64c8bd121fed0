// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_sd_notify.c - what systemd is told; and nothing, where there is no systemd.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "supervisor/sd_notify.h"
#include "unit/fakes/fixture.h"

static int systemd;

static bool told(const char *text)
{
	char got[128];
	ssize_t length = recv(systemd, got, sizeof(got) - 1, MSG_DONTWAIT);

	if (length < 0)
		return !*text;
	got[length] = 0;
	return !strcmp(got, text);
}

static void check_told(void)
{
	service_ready();
	CHECK(told("READY=1"));
	service_vhcas(2);
	CHECK(told("STATUS=Serving 2 vHCAs"));
	service_vhcas(2);
	CHECK(told(""));
	CHECK(service_alive() == -1 && told(""));
	CHECK(!setenv("WATCHDOG_USEC", "60000000", 1));
	CHECK(service_alive() == 30000 && told("WATCHDOG=1"));
	service_stopping();
	CHECK(told("STOPPING=1\nSTATUS=Stopping"));
}

int main(void)
{
	struct sockaddr_un where = { .sun_family = AF_UNIX };
	char dir[] = "/tmp/xen-ib-service-XXXXXX";

	CHECK(!unsetenv("NOTIFY_SOCKET") && !unsetenv("WATCHDOG_USEC"));
	service_ready();
	service_stopping();
	CHECK(service_alive() == -1);
	CHECK(mkdtemp(dir));
	snprintf(where.sun_path, sizeof(where.sun_path), "%s/socket", dir);
	systemd = socket(AF_UNIX, SOCK_DGRAM, 0);
	CHECK(systemd >= 0 && !bind(systemd, (struct sockaddr *)&where, sizeof(where)));
	CHECK(!setenv("NOTIFY_SOCKET", where.sun_path, 1));
	check_told();
	CHECK(!unlink(where.sun_path) && !rmdir(dir));
	return EXIT_SUCCESS;
}
