/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mad_answer.h - what the guest hears of a MAD that was not sent.
 *
 * To ib_mad of Linux 6.12 the error of its send WR is enough. That of 7.3 waits for the answer, and
 * tries again: 15 times in 70 s with what ib_cm asks for (ib_mad_complete_send_wr()). So long the
 * end of a connection would take for those who wait for it, as NFS does while the device is to go.
 * An answer ends the wait.
 */
#ifndef XENIB_MAD_ANSWER_H
#define XENIB_MAD_ANSWER_H

#include <linux/types.h>

/**
 * xenib_mad_answer() - answers as the other end would that can do nothing. A connection manager's
 * REQ or REP is rejected, its DREQ agreed to, its SIDR_REQ refused (InfiniBand, volume 1, 12.6); of
 * what is asked of the SA, that it has no resources for it (15.2.2).
 * @mad: XEN_VHCA_MAD_SIZE octets that the guest's kernel has posted
 * @answer: as many zeros
 *
 * Return: whether there is an answer; there is none to other messages, and other classes.
 */
bool xenib_mad_answer(const u8 *mad, u8 *answer);

#endif
