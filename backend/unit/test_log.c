// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_log.c - lines on standard error and with fields; what does not print; the limiter.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/fakes/fixture.h"
#include "util/log.h"

static struct log_entry seen;
static char text[2048];
static bool takes;

static bool take(const struct log_entry *entry)
{
	if (!takes)
		return false;
	seen = *entry;
	snprintf(text, sizeof(text), "%s", entry->text);
	return true;
}

/* What stands on standard error after the function has run. */
static const char *printed(void (*run)(void))
{
	static char line[2048];
	int pipes[2], before = dup(STDERR_FILENO);
	ssize_t got;

	CHECK(before >= 0 && !pipe(pipes) && dup2(pipes[1], STDERR_FILENO) >= 0);
	run();
	CHECK(write(STDERR_FILENO, "", 1) == 1);
	got = read(pipes[0], line, sizeof(line));
	CHECK(dup2(before, STDERR_FILENO) >= 0 && got > 0);
	close(before);
	close(pipes[0]);
	close(pipes[1]);
	return line;
}

static void plain(void)
{
	log_info("port %u", 1);
}

static void hostile(void)
{
	log_warning("process '%s'", "a\nb\033[2J\\\xc3");
}

static void refusal(void)
{
	log_refusal("QP_CREATE", "E_LIMIT", "%s", "refused");
}

static void debug(void)
{
	log_debug("nobody wants to know");
}

static void check_text(void)
{
	CHECK(!strcmp(printed(plain), "<6>xen-ibback: vhca 5/0: port 1\n"));
	CHECK(!strcmp(printed(hostile),
		      "<4>xen-ibback: vhca 5/0: process 'a\\x0ab\\x1b[2J\\x5c\\xc3'\n"));
	CHECK(!strcmp(printed(refusal), "<4>xen-ibback: vhca 5/0: refused\n"));
	CHECK(!strcmp(printed(debug), ""));
}

/* Longer than any line: cut, and no octet beyond the buffers. */
static void check_length(void)
{
	char longest[4096];

	memset(longest, '\n', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	log_info("%s", longest);
	CHECK(strlen(text) > 500 && strlen(text) < 1024 && !strchr(text, '\n'));
}

static void check_fields(void)
{
	log_to(take);
	CHECK(!strcmp(printed(plain),
		      "<6>xen-ibback: vhca 5/0: port 1\n")); /* it did not take it */
	takes = true;
	CHECK(!strcmp(printed(plain), ""));
	CHECK(seen.level == LOG_INFO && !strcmp(text, "port 1") && !strcmp(seen.who, "vhca 5/0"));
	CHECK(!seen.domid && !seen.devid && !seen.hca && !seen.op && !seen.status);
	log_vhca(5, 0);
	log_hca("mlx5_0");
	refusal();
	CHECK(!strcmp(seen.domid, "5") && !strcmp(seen.devid, "0") && !strcmp(seen.hca, "mlx5_0"));
	CHECK(!strcmp(seen.op, "QP_CREATE") && !strcmp(seen.status, "E_LIMIT"));
	CHECK(seen.level == LOG_WARNING);
	check_length();
}

static void check_limit(void)
{
	struct log_limit limit = { 0 };
	unsigned int suppressed, i;

	for (i = 0; i < LOG_BURST; i++)
		CHECK(log_allowed(&limit, &suppressed) && !suppressed);
	CHECK(!log_allowed(&limit, &suppressed) && !log_allowed(&limit, &suppressed));
	limit.ratelimit.tat_ms -= LOG_INTERVAL_MS;
	CHECK(log_allowed(&limit, &suppressed) && suppressed == 2);
	CHECK(!log_allowed(&limit, &suppressed));
}

int main(void)
{
	log_setup("vhca 5/0", LOG_INFO);
	check_text();
	check_fields();
	check_limit();
	return EXIT_SUCCESS;
}
