/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * control.h - the socket by which "xen-ib" asks the daemon: its protocol and its server.
 *
 * A client sends a line and gets an answer, as often as it likes:
 *
 *   version
 *   list [DOMAIN [DEVID]]        the vHCAs, see listing.h; DOMAIN is a name or number
 *   show [DOMAIN [DEVID]]        the same, each with its status file, whose lines begin with a tab
 *   attach DOMAIN SPEC           SPEC as in a domain's configuration: "hca=mlx5_0,max-qp=256";
 *                                answered with "vhca DOMID DEVID", and in a second line "backend DOMID" if
 *                                that is another domain, whose daemon tells what becomes of it
 *   detach DOMAIN DEVID [force]  as well
 *   set DOMAIN DEVID LIMITS      imposes these on QPs from now on: "sl=3,qp-rate=10G"; answered as attach is
 *   metrics                      all counters, in Prometheus' text format
 *
 *   ok LENGTH\n  and then that many bytes, or
 *   error WORD TEXT\n            WORD: refused, usage, not-found
 *
 * attach, detach and set answer when they have begun; what becomes of them "list" tells.
 *
 * The server never waits. Each client has one request at work at most, and nothing more is read of it until
 * it has taken its answer; when there are too many clients, the one that was quiet for longest is hung up.
 */
#ifndef XEN_IB_ADMIN_CONTROL_H
#define XEN_IB_ADMIN_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define CONTROL_SOCKET "/run/xen-ib/control.sock"
#define CONTROL_NAME_MAX 64
#define CONTROL_SPEC_MAX 1024
#define CONTROL_LINE_MAX (CONTROL_SPEC_MAX + 2 * CONTROL_NAME_MAX)
#define CONTROL_CLIENTS 16
#define CONTROL_BODY_MAX (16l << 20)

enum control_verb {
	CONTROL_VERSION,
	CONTROL_LIST,
	CONTROL_SHOW,
	CONTROL_ATTACH,
	CONTROL_DETACH,
	CONTROL_METRICS,
	CONTROL_SET
};

struct control_request {
	enum control_verb verb;
	char domain[CONTROL_NAME_MAX]; /* name or number; "": none was given */
	bool has_devid, force;
	unsigned int devid;
	char spec[CONTROL_SPEC_MAX];
};

/* control_parse - a line without its end, which is written to. False: it is no request. */
bool control_parse(struct control_request *req, char *line);

enum control_error { CONTROL_OK, CONTROL_REFUSED, CONTROL_USAGE, CONTROL_NOT_FOUND };

/* The word of an error: "not-found". */
const char *control_error_word(enum control_error error);

/* What the daemon has to say: into body, or an error and why. */
struct control_reply {
	FILE *body;
	enum control_error error;
	char why[256];
};

/* control_fail - sets error and why. */
__attribute__((format(printf, 3, 4))) void
control_fail(struct control_reply *reply, enum control_error error, const char *why, ...);

typedef void control_request_fn(void *from, const struct control_request *req,
				struct control_reply *reply);

struct control;

/*
 * control_open - listens at path, which is removed first if it is there: the caller knows that no other daemon
 * runs. Only the user that the daemon runs as is served. NULL, with errno.
 */
struct control *control_open(const char *path, control_request_fn *answer, void *from);

/* control_close - hangs up, and removes the socket. NULL is fine. */
void control_close(struct control *control);

/* control_fd - readable when control_service() has something to do; -1 of NULL. */
int control_fd(const struct control *control);

/* control_service - does what there is to do, up to one request of each client; NULL is fine. */
void control_service(struct control *control);

/* control_adopt - serves a connected socket, which is ours from now on. For tests. */
void control_adopt(struct control *control, int fd);

#endif
