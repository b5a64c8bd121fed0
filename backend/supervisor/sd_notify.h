/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * sd_notify.h - what the supervisor tells systemd. Without systemd (no NOTIFY_SOCKET) all of it does
 * nothing.
 */
#ifndef XEN_IB_SUPERVISOR_SD_NOTIFY_H
#define XEN_IB_SUPERVISOR_SD_NOTIFY_H

/* service_ready - it serves; service_stopping - it has begun to end. */
void service_ready(void);
void service_stopping(void);

/* service_vhcas - how many there are, for "systemctl status"; said when it is another number. */
void service_vhcas(unsigned int n);

/*
 * service_alive - to be called in each round of the loop, for the watchdog. Returns in how many
 * milliseconds to call it again at the latest, or -1.
 */
int service_alive(void);

#endif
