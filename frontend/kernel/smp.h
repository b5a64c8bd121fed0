/* SPDX-License-Identifier: GPL-2.0 */
/*
 * smp.h - subnet management that does not leave the guest: a program asks for its own port
 * (ibaddr, smpquery), by its LID or by a directed route without hops. The answers are what the
 * guest's verbs say of the port.
 */
#ifndef XENIB_SMP_H
#define XENIB_SMP_H

#include <linux/types.h>

struct xenib_dev;

/**
 * xenib_smp_answer() - answers a MAD of QP 0, if it is a Get or Set for the own port. It may sleep.
 * @dlid: where it is sent to, if it is routed by LID
 * @mad: XEN_VHCA_MAD_SIZE octets
 * @answer: room for as many, which has an error in its status for attributes that are not known,
 *	for modifiers out of range, and for each Set
 *
 * Return: whether there is an answer. There is none for what would have to leave the port, and if
 * the backend does not answer.
 */
bool xenib_smp_answer(struct xenib_dev *dev, u16 dlid, const u8 *mad, u8 *answer);

#endif
