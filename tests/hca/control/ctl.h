/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The control socket: what the outside may see of the functions, and break.
 *
 * A request is one line of words; hcactl --help lists them. The answer is a line "ok" or
 * "error TEXT", then tables, then an empty line. A table is a line
 *
 *	table NAME
 *
 * a line of its columns, and a line for each row, separated by tabs. A column is NAME:KIND with
 * KIND d (a number, shown in decimal), x (a number, better shown in hex) or s (text). Numbers are
 * always sent in decimal.
 *
 * A long list is made in pieces, so it is not a picture of one moment.
 */
#ifndef HCA_CTL_H
#define HCA_CTL_H

struct ctl;
struct fabric;
struct loop;

#define CTL_CLIENTS 8 /* at the same time; more are turned away */
#define CTL_LINE 512  /* longest request */

/* NULL if memory is short. loop and fabric must live longer. */
struct ctl *ctl_new(struct loop *loop, struct fabric *fabric);
void ctl_free(struct ctl *ctl);

/*
 * Listens on path, which is replaced if it is a socket; only root and the user who started the
 * model may connect. 0 or -errno.
 */
int ctl_listen(struct ctl *ctl, const char *path);
/* Serves the client at the other end of fd and takes fd over. -ENOSPC past CTL_CLIENTS. */
int ctl_adopt(struct ctl *ctl, int fd);

#endif
