// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmd_report.c - xen-ib report: what a bug report needs of this host, in one text.
 *
 * Each section is a process of its own, which has some seconds and may say so much: whatever hangs on a host in trouble,
 * the rest is reported. Of guests' configurations only what is about vHCAs is taken, of the kernel's log only what is
 * about HCAs, Xen and faults: there may be passwords in the rest.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check_guests.h"
#include "config/xl_cfg.h"
#include "json.h"
#include "tool.h"
#include "util/clock.h"

#define SECTION_S 20
#define SECTION_MAX (512 << 10)

struct section {
	const char *title;
	const char *script; /* for sh; NULL: a command of xen-ib, named like the section */
};

static const struct section sections[] = {
	{ "check", NULL },
	{ "list", NULL },
	{ "show", NULL },
	{ "system", "date -u; uname -a; uptime; cat /etc/os-release" },
	{ "packages",
	  "dpkg-query -W 'xen-ib*' 'ibverbs-*' 'libibverbs*' rdma-core 'libxen*' 'xen-*' 'linux-image-*' dkms; dkms status" },
	{ "Xen", "xl info; xl list" },
	{ "configurations", NULL },
	{ "HCAs",
	  "lspci -nnk -d 15b3:; cd /sys/class/infiniband && grep -s . */fw_ver */board_id */hca_type */node_guid"
	  " */ports/*/state */ports/*/phys_state */ports/*/link_layer */ports/*/rate */ports/*/lid */ports/*/sm_lid" },
	{ "modules",
	  "for m in xen_ibdma mlx5_core mlx5_ib ib_uverbs xen_gntdev; do"
	  " modinfo -F filename $m; grep -s . /sys/module/$m/version /sys/module/$m/parameters/*; done" },
	{ "service",
	  "systemctl --no-pager --full status xen-ibback; systemctl --no-pager cat xen-ibback" },
	{ "journal",
	  "journalctl --no-pager --boot --unit=xen-ibback --output=short-iso --lines=3000" },
	{ "status files", "tail -n +1 /run/xen-ib/*.status" },
	{ "xenstore", "xenstore-ls -f | grep -E '/vhca(-frames)?(/|$| )'" },
	{ "kernel log",
	  "dmesg | grep -iE 'mlx5|infiniband|uverbs|ib_|xen|iommu|dmar|amd-vi|bug|warn|oops|call trace|rip:' |"
	  " grep -vi 'command line' | tail -n 2000" },
	{ "Xen log", "xl dmesg | tail -n 1000" },
	{ 0 },
};

/* In the child. */
static int run_section(const struct section *section, const struct options *options)
{
	char *own[] = { "xen-ib", (char *)section->title, "--socket", (char *)options->socket,
			NULL };

	if (section->script) {
		execl("/bin/sh", "sh", "-c", section->script, NULL);
		return TOOL_FAILED;
	}
	if (strcmp(section->title, "configurations"))
		return tool_run(4, own, options->release);
	configs_print(config_places.dirs);
	return TOOL_OK;
}

static pid_t start_section(const struct section *section, const struct options *options, int *from)
{
	int ends[2];
	pid_t pid;

	fflush(stdout);
	if (pipe(ends))
		return -1;
	pid = fork();
	if (!pid) {
		int status;

		setpgid(0, 0); /* with what it starts */
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		status = run_section(section, options);
		fflush(stdout);
		_exit(status);
	}
	close(ends[1]);
	*from = ends[0];
	if (pid < 0)
		close(ends[0]);
	else
		setpgid(pid, pid);
	return pid;
}

/* Returns why it did not come to its end, NULL if it did. */
static const char *read_section(int from, char *text, size_t size)
{
	const uint64_t until = clock_ns() + SECTION_S * 1000000000ull;
	struct pollfd wait = { .fd = from, .events = POLLIN };
	size_t length = 0;
	ssize_t got = 1;
	uint64_t now;

	text[0] = 0;
	while (got > 0) {
		now = clock_ns();
		if (now >= until)
			return "it did not end";
		if (length == size - 1)
			return "there is more";
		if (poll(&wait, 1, (until - now) / 1000000 + 1) <= 0)
			continue;
		got = read(from, text + length, size - 1 - length);
		length += got > 0 ? got : 0;
		text[length] = 0;
	}
	return NULL;
}

/* What does not print is not for the reader's terminal. */
static void make_plain(char *text)
{
	for (; *text; text++)
		if (((unsigned char)*text < ' ' && *text != '\n' && *text != '\t') || *text == 0x7f)
			*text = '?';
}

static void print_section(const struct section *section, const char *text, const char *cut,
			  bool json)
{
	if (json) {
		json_open(NULL, '{');
		json_text("title", section->title);
		json_text("text", text);
		json_text("cut", cut ?: "");
		json_close();
	} else {
		printf("\n==== %s\n%s%s%s%s", section->title, text, cut ? "\n(cut: " : "",
		       cut ?: "", cut ? ")\n" : "");
	}
}

static void report_section(const struct section *section, const struct options *options, char *text)
{
	const char *cut = "it could not be started";
	int from;
	pid_t pid = start_section(section, options, &from);

	text[0] = 0;
	if (pid > 0) {
		cut = read_section(from, text, SECTION_MAX);
		close(from);
		kill(-pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	make_plain(text);
	print_section(section, text, cut, options->json);
}

static void print_head(const struct options *options)
{
	if (options->json) {
		json_open(NULL, '{');
		json_text("release", options->release);
		json_open("sections", '[');
		return;
	}
	printf("xen-ib %s: report on this host%s\n"
	       "It contains names of guests and of their processes, addresses and GUIDs. Read it before you send it.\n",
	       options->release, geteuid() ? ", not by root, so much is missing" : "");
}

int cmd_report(const struct options *options, int argc, char **argv)
{
	const struct section *section;
	char *text = malloc(SECTION_MAX);

	(void)argc;
	(void)argv;
	if (!text) {
		complain("no memory");
		return TOOL_FAILED;
	}
	print_head(options);
	for (section = sections; section->title; section++)
		report_section(section, options, text);
	if (options->json) {
		json_close();
		json_close();
	}
	free(text);
	return TOOL_OK;
}
