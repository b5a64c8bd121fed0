// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * sd_notify.c - see sd_notify.h.
 */
#include <stdint.h>
#include <systemd/sd-daemon.h>

#include "supervisor/sd_notify.h"

void service_ready(void)
{
	sd_notify(0, "READY=1");
}

void service_stopping(void)
{
	sd_notify(0, "STOPPING=1\nSTATUS=Stopping");
}

void service_vhcas(unsigned int n)
{
	static unsigned int said = UINT32_MAX;

	if (n == said)
		return;
	said = n;
	sd_notifyf(0, "STATUS=Serving %u vHCAs", n);
}

/* Twice in each interval, as systemd asks for. */
int service_alive(void)
{
	uint64_t interval_us;

	if (sd_watchdog_enabled(0, &interval_us) <= 0)
		return -1;
	sd_notify(0, "WATCHDOG=1");
	return interval_us / 2000 < INT32_MAX ? (int)(interval_us / 2000) : INT32_MAX;
}
