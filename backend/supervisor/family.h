/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * family.h - the processes of one vHCA: worker, broker and mm pin. All hold its life open for writing
 * (device.h), and the latter two cannot let go of it, so that is how they are found, whoever is their
 * parent, and whatever a worker that was taken over has done to hide them.
 */
#ifndef XEN_IB_SUPERVISOR_FAMILY_H
#define XEN_IB_SUPERVISOR_FAMILY_H

/*
 * family_kill - kills those that are left, by pidfd. An mm pin is killed only when it is the last one,
 * as it has to outlive the others (worker/mm_pin.h): so this is to be called again until life has come to
 * its end. Returns how many were killed.
 * @life: path of the pipe
 */
unsigned int family_kill(const char *life);

#endif
