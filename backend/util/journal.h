/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * journal.h - the log goes to the journal, with fields, if that is where standard error goes.
 *
 * Fields beside the usual ones: XENIB_DOMID, XENIB_DEVID, XENIB_HCA, and of a refused command
 * XENIB_OP and XENIB_STATUS; so "journalctl XENIB_DOMID=5" shows what is about one guest.
 */
#ifndef XEN_IB_UTIL_JOURNAL_H
#define XEN_IB_UTIL_JOURNAL_H

/*
 * journal_setup - after log_setup(). It opens what it needs, so a sandbox may follow. Does nothing
 * if standard error goes elsewhere.
 */
void journal_setup(void);

#endif
