// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * main.c - xen-ibback: gives guests a share of an InfiniBand HCA.
 *
 * The daemon runs in the domain that has the HCA. Its supervisor looks for vHCAs in xenstore and
 * keeps one worker process for each, so that no guest can disturb another through a bug in the
 * daemon, and none through its own mistakes.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "sandbox/sandbox.h"
#include "shared-ring/vhca.h"
#include "supervisor/supervisor.h"
#include "util/journal.h"
#include "util/log.h"
#include "worker/worker.h"

#ifndef XEN_IB_RELEASE
#define XEN_IB_RELEASE "unknown"
#endif

static void usage(FILE *to)
{
	fputs("usage: xen-ibback [-v] [--unconfined]\n"
	      "\n"
	      "Serve InfiniBand devices (vHCAs) to Xen guests, in the foreground; log to standard\n"
	      "error. The devices are in xenstore, /local/domain/<own>/backend/vhca/<domid>/<devid>.\n"
	      "Keys of such a directory: hca (RDMA device, \"mlx5_0\"), port (1), kernel (\"on\", \"verbs\",\n"
	      "\"off\"), personality (\"xenib\", \"mlx5\"), and the limits max-ctx, max-uar, max-pd, max-umem, max-mr, max-mw, max-cq,\n"
	      "max-srq, max-qp, max-ah, max-mcast, max-mem-bytes, max-mr-bytes, and those that are imposed on QPs: sl,\n"
	      "qp-rate, max-rd-atomic, max-qp-wr, min-timeout, min-rnr-timer, ud.\n"
	      "\n"
	      "  -v, --verbose   log more\n"
	      "  --unconfined    workers stay root, without a sandbox\n"
	      "  -h, --help      print this text\n"
	      "  -V, --version   print the version\n"
	      "\n"
	      "Statistics of each vHCA are in /run/xen-ib/<domid>-<devid>.status.\n",
	      to);
}

/* How the supervisor starts it: --worker PATH DOMID DEVID [verbose] */
static int start_worker(int argc, char **argv)
{
	unsigned int domid, devid;
	char name[32];

	if (argc < 5 || sscanf(argv[3], "%u", &domid) != 1 || sscanf(argv[4], "%u", &devid) != 1)
		return WORKER_FAILED;
	snprintf(name, sizeof(name), "vhca %u/%u", domid, devid);
	log_setup(name, argc > 5 ? LOG_DEBUG : LOG_INFO);
	prctl(PR_SET_NAME, "xen-ibback"); /* exec by /proc/self/exe calls it "exe" */
	log_vhca(domid, devid);
	journal_setup();
	return worker_main(argv[2], domid, devid);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "unconfined", no_argument, NULL, 'u' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	bool verbose = false, unconfined = false;
	int option;

	if (argc > 1 && !strcmp(argv[1], "--worker"))
		return start_worker(argc, argv);
	while ((option = getopt_long(argc, argv, "hvV", options, NULL)) != -1) {
		switch (option) {
		case 'h':
			usage(stdout);
			return EXIT_SUCCESS;
		case 'V':
			printf("xen-ibback %s, protocol %u\n", XEN_IB_RELEASE, XEN_VHCA_VERSION);
			return EXIT_SUCCESS;
		case 'u':
			unconfined = true;
			break;
		case 'v':
			verbose = true;
			break;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "xen-ibback: unexpected argument %s\n", argv[optind]);
		return 2;
	}
	log_setup("supervisor", verbose ? LOG_DEBUG : LOG_INFO);
	journal_setup();
	return sandbox_prepare(unconfined) ? supervisor_main(verbose) : EXIT_FAILURE;
}
