// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* hca-model: options, and the life of the process. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "bus/vfio_user.h"
#include "container.h"
#include "control/ctl.h"
#include "engine/fabric.h"
#include "hca.h"
#include "loop.h"
#include "version.h"

/* Waits are as exact as the timers of the transport need them. */
#define TIMER_SLACK_NS 1000ul

struct options {
	const char *sockets[FABRIC_PORTS];
	unsigned int functions;
	const char *control, *log;
	bool external_sm, no_odp;
	unsigned int ack_delay;
};

struct model {
	struct loop *loop;
	struct fabric *fabric;
	struct hca *hcas[FABRIC_PORTS];
	struct vfio_user *buses[FABRIC_PORTS];
	struct ctl *ctl;
	struct loop_fd signals;
};

static void usage(FILE *to)
{
	fprintf(to,
		"usage: hca-model --socket PATH [--socket PATH...] [options]\n"
		"\n"
		"Offers ConnectX-5-class InfiniBand functions, joined by a switch, to QEMU's\n"
		"vfio-user-pci devices: one function for each --socket, %d at most.\n"
		"\n"
		"  --socket PATH     listen for a machine here\n"
		"  --control PATH    listen for hcactl here\n"
		"  --external-sm     the switch is a managed one, for a subnet manager in one of the\n"
		"                    machines; by default ports come up ACTIVE, with LIDs\n"
		"  --no-odp          no function has on-demand paging, which drivers ask for\n"
		"  --ack-delay N     functions say that they may take 4.096 us * 2^N for an ACK (0 to 31);\n"
		"                    connection managers have a message repeated after that, or later\n"
		"                    (%u)\n"
		"  --log FILE        append the log to FILE instead of standard error\n"
		"  --verbose LEVEL   0: the model's own trouble, 1: and what the driver does wrong\n"
		"                    (default), 2: and what happens to functions, 3: everything\n"
		"  --version         print the version\n"
		"  --help            print this\n"
		"\n"
		"SIGTERM or SIGINT ends it.\n",
		FABRIC_PORTS, HCA_ACK_DELAY);
}

static int bad_usage(const char *what, const char *value)
{
	fprintf(stderr, "hca-model: %s%s%s\nhca-model --help tells what there is\n", what,
		value ? " " : "", value ? value : "");
	return 2;
}

static bool parse_ack_delay(const char *text, unsigned int *delay)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || value > 31)
		return false;
	*delay = value;
	return true;
}

/* -1: go on; else the exit status. */
static int parse_options(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "socket", required_argument, NULL, 's' },
		{ "control", required_argument, NULL, 'c' },
		{ "external-sm", no_argument, NULL, 'x' },
		{ "no-odp", no_argument, NULL, 'o' },
		{ "ack-delay", required_argument, NULL, 'a' },
		{ "log", required_argument, NULL, 'l' },
		{ "verbose", required_argument, NULL, 'v' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 's':
			if (o->functions == FABRIC_PORTS)
				return bad_usage("too many functions", NULL);
			o->sockets[o->functions++] = optarg;
			break;
		case 'c':
			o->control = optarg;
			break;
		case 'x':
			o->external_sm = true;
			break;
		case 'o':
			o->no_odp = true;
			break;
		case 'a':
			if (!parse_ack_delay(optarg, &o->ack_delay))
				return bad_usage("--ack-delay is 0 to 31, not", optarg);
			break;
		case 'l':
			o->log = optarg;
			break;
		case 'v':
			if (strlen(optarg) != 1 || *optarg < '0' || *optarg > '3')
				return bad_usage("--verbose is 0 to 3, not", optarg);
			hca_log_level = *optarg - '0';
			break;
		case 'V':
			puts("hca-model " HCA_VERSION);
			return 0;
		case 'h':
			usage(stdout);
			return 0;
		default:
			return bad_usage("an option was not understood", NULL);
		}
	}
	if (optind < argc)
		return bad_usage("not an option:", argv[optind]);
	if (!o->functions)
		return bad_usage("at least one --socket is needed", NULL);
	return -1;
}

static void signal_ready(struct loop_fd *fd, uint32_t events)
{
	struct model *m = container_of(fd, struct model, signals);
	struct signalfd_siginfo info;

	(void)events;
	if (read(fd->fd, &info, sizeof(info)) == sizeof(info))
		loop_stop(m->loop);
}

static int catch_signals(struct model *m)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	m->signals.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (m->signals.fd < 0)
		return -errno;
	m->signals.handler = signal_ready;
	return loop_fd_add(m->loop, &m->signals, EPOLLIN);
}

/* Eventfds of all vectors of all functions, and some. */
static void raise_fd_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int model_function(struct model *m, unsigned int i, const struct options *o)
{
	int ret;

	m->hcas[i] = hca_new(m->loop, m->fabric, i);
	if (!m->hcas[i])
		return -ENOMEM;
	m->hcas[i]->never_odp = o->no_odp;
	m->hcas[i]->ack_delay = o->ack_delay;
	m->buses[i] = vfio_user_new(m->loop, m->hcas[i]);
	if (!m->buses[i])
		return -ENOMEM;
	ret = vfio_user_listen(m->buses[i], o->sockets[i]);
	if (ret)
		fprintf(stderr, "hca-model: cannot listen on %s: %s\n", o->sockets[i],
			strerror(-ret));
	return ret;
}

static int model_start(struct model *m, const struct options *o)
{
	int ret;

	m->signals.fd = -1;
	m->loop = loop_new();
	if (!m->loop)
		return -errno;
	ret = catch_signals(m);
	if (ret)
		return ret;
	m->fabric = fabric_new(m->loop);
	if (!m->fabric)
		return -ENOMEM;
	for (unsigned int i = 0; i < o->functions; i++) {
		ret = model_function(m, i, o);
		if (ret)
			return ret;
	}
	if (o->external_sm) {
		ret = fabric_manage(m->fabric, true);
		if (ret)
			return ret;
	}
	if (!o->control)
		return 0;
	m->ctl = ctl_new(m->loop, m->fabric);
	if (!m->ctl)
		return -ENOMEM;
	ret = ctl_listen(m->ctl, o->control);
	if (ret)
		fprintf(stderr, "hca-model: cannot listen on %s: %s\n", o->control, strerror(-ret));
	return ret;
}

/* Also of one that has only come up in part. */
static void model_stop(struct model *m)
{
	ctl_free(m->ctl);
	for (unsigned int i = FABRIC_PORTS; i-- > 0;) {
		vfio_user_free(m->buses[i]);
		if (m->hcas[i])
			hca_free(m->hcas[i]);
	}
	fabric_free(m->fabric);
	if (m->signals.fd >= 0)
		close(m->signals.fd);
	loop_free(m->loop);
}

int main(int argc, char **argv)
{
	struct options o = { .ack_delay = HCA_ACK_DELAY };
	struct model m = { 0 };
	int ret;

	hca_log_level = HCA_LOG_GUEST;
	ret = parse_options(argc, argv, &o);
	if (ret >= 0)
		return ret;
	ret = o.log ? hca_log_open(o.log) : 0;
	if (ret) {
		fprintf(stderr, "hca-model: cannot write %s: %s\n", o.log, strerror(-ret));
		return 1;
	}
	prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS, 0, 0, 0);
	raise_fd_limit();

	ret = model_start(&m, &o);
	if (!ret) {
		hca_log(NULL, HCA_LOG_INFO, "hca-model %s: %u functions", HCA_VERSION, o.functions);
		ret = loop_run(m.loop);
	}
	if (ret)
		fprintf(stderr, "hca-model: %s\n", strerror(-ret));
	model_stop(&m);
	return ret ? 1 : 0;
}
