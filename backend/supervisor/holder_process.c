// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * holder_process.c - the process of holder.h, and how the supervisor comes to it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "supervisor/holder.h"
#include "util/log.h"
#include "xen/iomem.h"

static const struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = HOLDER_SOCKET };

static bool domain_exists(void *from, unsigned int domid)
{
	bool unused;

	return iomem_domain(from, domid, &unused) != -ESRCH; /* who cannot know keeps what it has */
}

/* SIGTERM is for the supervisor; what this one has must stay. */
int holder_main(void)
{
	struct rlimit files = { 16384, 16384 };
	struct iomem *iomem;

	prctl(PR_SET_NAME, "xen-ib-holder");
	setsid();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	setrlimit(RLIMIT_NOFILE, &files);
	iomem = iomem_open();
	if (!iomem) {
		log_error("the hypervisor's interface: %s", strerror(errno));
		return EXIT_FAILURE;
	}
	holder_run(HOLDER_LISTENER, domain_exists, iomem);
	iomem_close(iomem);
	return EXIT_SUCCESS;
}

int holder_connect(void)
{
	struct timeval timeout = { .tv_sec = HOLDER_TIMEOUT_S };
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), err;

	if (sock < 0)
		return -errno;
	setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	if (!connect(sock, (const struct sockaddr *)&address, sizeof(address)))
		return sock;
	err = -errno;
	close(sock);
	return err;
}

/* For root alone from the first moment on. What is left of an older one is in the way. */
static int listen_at_socket(void)
{
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), err;
	mode_t mask;

	if (sock < 0)
		return -errno;
	unlink(HOLDER_SOCKET);
	mask = umask(0177);
	err = bind(sock, (const struct sockaddr *)&address, sizeof(address)) || listen(sock, 4) ?
		-errno : 0;
	umask(mask);
	if (!err)
		return sock;
	close(sock);
	return err;
}

static void become_holder(int listener)
{
	sigset_t none;

	if (listener == HOLDER_LISTENER ? fcntl(listener, F_SETFD, 0) : dup2(listener, HOLDER_LISTENER) < 0)
		_exit(EXIT_FAILURE);
	close_range(HOLDER_LISTENER + 1, ~0u, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execl("/proc/self/exe", "xen-ibback", "--holder", NULL);
	_exit(EXIT_FAILURE);
}

int holder_start(void)
{
	int listener = listen_at_socket(), sock;
	pid_t pid;

	if (listener < 0)
		return listener;
	pid = fork();
	if (!pid)
		become_holder(listener);
	sock = pid < 0 ? -errno : holder_connect();
	close(listener);
	return sock;
}
