// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * steal [--peer HOST] [OPTION]... [CASE]...   the thief; without --peer the victim is a process beside it
 * steal serve [DEVICE]                        the victim in another guest
 */
#include <string.h>

#include "steal.h"
#include "steal_rkey.h"

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "serve"))
		return steal_serve(argc, argv);
	if (argc > 2 && !strcmp(argv[1], "--peer")) {
		steal_host = argv[2];
		argv[2] = argv[0];
		argv += 2;
		argc -= 2;
	}
	return check_main_tables(
		argc, argv,
		"Uses keys of another process's memory; with --peer HOST as the first arguments, of one in\n"
		"another guest, where \"steal serve\" runs.",
		&steal_rkey, 1);
}
