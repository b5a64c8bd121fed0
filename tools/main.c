// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * main.c - xen-ib: what an administrator does with virtual HCAs.
 */
#include "tool.h"
#include "util/log.h"

int main(int argc, char **argv)
{
	log_setup("xen-ib", LOG_ERROR);
	return tool_run(argc, argv, XEN_IB_RELEASE);
}
