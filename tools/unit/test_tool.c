// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_tool.c - command lines of xen-ib and a daemon that answers what a test wants: what is printed, and the exit
 * status.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "admin/control.h"
#include "admin/status_read.h"
#include "check.h"
#include "json.h"
#include "tool.h"
#include "util/log.h"

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: %s\n%s\n", __FILE__, __LINE__, #condition, \
				printed); \
			abort(); \
		} \
	} while (0)

static char dir[] = "/tmp/xen-ib-tool-XXXXXX", path[64];
static char printed[1 << 20]; /* by the last command, on both outputs */
static char complained[4096]; /* on standard error alone */

/* The daemon */

#define CONNECTED \
	"vhca 5 0\ndomain guest1\nhca mlx5_0\nport 1\nstate connected\nguest connected\nonline 1\n" \
	"max-mem-bytes 1073741824\nworker 812\nfailures 0\n"
#define OFFERED \
	"vhca 5 0\ndomain guest1\nhca mlx5_0\nport 1\nstate offered\nguest initialising\nonline 1\nworker 812\n"
#define BROKEN \
	"vhca 5 0\ndomain guest1\nhca mlx5_7\nport 1\nstate closed\nguest initialising\nonline 1\n" \
	"error HCA mlx5_7: No such device\n"
#define ELSEWHERE \
	"vhca 5 0\ndomain guest1\nbackend 7\nhca mlx5_0\nport 1\nguest connected\nonline 1\nworker 0\n"
#define STATUS \
	"\tpid 812\n\tobject QP 3 4 100\n\tobject context 1 1 128\n\tbytes 1572864 2097152 1073741824\n" \
	"\tkicks 5\n\tcompletions 9\n\tcommand QP_CREATE %u\n\tlatency QP_CREATE 2 6000 5000 0 1 0 1\n" \
	"\trefused QP_CREATE E_LIMIT 1\n\tcontext 0x1 1234 ib_send_lat\n\tevent-latency 1 900 900 1\n"

static atomic_uint asked;
static _Atomic(const char *) becomes; /* what a vHCA is like after a few questions; "": gone */

/* On QPs, as it is configured; and after a few questions */
static _Atomic(const char *) imposed, in_force;

static atomic_int outdated; /* a process whose program is gone, as a worker */

static void answer(void *from, const struct control_request *req, struct control_reply *reply)
{
	unsigned int n = asked++;

	(void)from;
	if (!strcmp(req->domain, "nobody")) {
		control_fail(reply, CONTROL_NOT_FOUND, "there is no domain nobody");
		return;
	}
	switch (req->verb) {
	case CONTROL_VERSION:
		fputs("release 1.0\nprotocol 1\n", reply->body);
		break;
	case CONTROL_LIST:
		if (req->has_devid && n > 2 && !*becomes)
			control_fail(reply, CONTROL_NOT_FOUND, "domain 5 has no vHCA 0");
		else
			fputs(req->has_devid ? n > 2 ? becomes : OFFERED : CONNECTED BROKEN,
			      reply->body);
		if (!req->has_devid && outdated)
			fprintf(reply->body,
				"vhca 6 1\ndomain guest2\nstate connected\nonline 1\nworker %d\n",
				outdated);
		break;
	case CONTROL_SHOW:
		fputs(CONNECTED, reply->body);
		if (imposed)
			fprintf(reply->body, "imposed %s\n", imposed);
		fprintf(reply->body, STATUS, 2 + 100 * n);
		if (imposed)
			fprintf(reply->body, "\timposed %s\n", n > 3 ? in_force : "ud=0");
		break;
	case CONTROL_ATTACH:
		if (!strcmp(req->spec, "hca=mlx5_9"))
			control_fail(reply, CONTROL_REFUSED, "there is no HCA mlx5_9");
		else if (!strcmp(req->spec, "nonsense"))
			control_fail(reply, CONTROL_USAGE, "nonsense: not KEY=VALUE");
		else
			fputs("vhca 5 0\n", reply->body);
		break;
	case CONTROL_DETACH:
		fputs("vhca 5 0\n", reply->body);
		break;
	case CONTROL_SET:
		if (strstr(req->spec, "hca"))
			control_fail(reply, CONTROL_USAGE,
				     "'hca' is none of the keys that can change");
		else if (!strcmp(req->spec, "sl=99"))
			control_fail(reply, CONTROL_USAGE, "sl=99: a number from 0 to 15, or any");
		else
			fputs("vhca 5 0\n", reply->body);
		break;
	case CONTROL_METRICS:
		fputs("# TYPE xenib_build_info gauge\n", reply->body);
		break;
	}
}

static struct control *control;
static atomic_bool stop;

static void *serve(void *arg)
{
	while (!stop) {
		struct pollfd wait = { .fd = control_fd(control), .events = POLLIN };

		poll(&wait, 1, 20);
		control_service(control);
	}
	return arg;
}

/* The command */

/* From now on the output goes to a file without a name. Returns it; saved is where it went before. */
static int divert(int output, int *saved)
{
	int to = open(dir, O_RDWR | O_TMPFILE, 0600);

	CHECK(to >= 0);
	*saved = dup(output);
	dup2(to, output);
	return to;
}

static size_t restore(int output, int saved, int to, char *text, size_t size)
{
	ssize_t got;

	dup2(saved, output);
	close(saved);
	got = pread(to, text, size - 1, 0);
	close(to);
	text[got > 0 ? got : 0] = 0;
	return strlen(text);
}

/* Each key that is printed is in the documentation; counters have names of their own. */
static void check_keys(const char *text)
{
	char docs[16384] = "", key[64], quoted[72];
	FILE *file = fopen("../docs/json.md", "re");
	unsigned int counter;

	CHECK(file && fread(docs, 1, sizeof(docs) - 1, file) && feof(file) && !fclose(file));
	for (; *text; text += strcspn(text, "\n") + !!strchr(text, '\n')) {
		if (sscanf(text, " \"%63[^\"]\":", key) != 1)
			continue;
		snprintf(quoted, sizeof(quoted), "`%s`", key);
		for (counter = 0; counter < STATUS_COUNTERS; counter++)
			if (!strcmp(key, status_counter_key(counter)))
				break;
		if (counter < STATUS_COUNTERS || strstr(docs, quoted))
			continue;
		fprintf(stderr, "docs/json.md does not tell of %s\n", quoted);
		abort();
	}
}

/* Runs "xen-ib --socket ... WORDS", the words separated by '|'. Returns its exit status. */
static int run(const char *words)
{
	char *copy = strdup(words), *rest = copy, *argv[16] = { "xen-ib" };
	int argc = 1, out, err, to_out, to_err, status;
	size_t length;

	while ((argv[argc] = strsep(&rest, "|")))
		argc++;
	argv[argc++] = "--socket";
	argv[argc++] = path;
	to_out = divert(STDOUT_FILENO, &out);
	to_err = divert(STDERR_FILENO, &err);
	asked = 0;
	status = tool_run(argc, argv, "1.0");
	fflush(stdout);
	restore(STDERR_FILENO, err, to_err, complained, sizeof(complained));
	length = restore(STDOUT_FILENO, out, to_out, printed, sizeof(printed));
	if (strstr(words, "-j"))
		check_keys(printed);
	snprintf(printed + length, sizeof(printed) - length, "%s", complained);
	if (strstr(words, "-j"))
		check_keys(complained);
	free(copy);
	return status;
}

static bool says(const char *text)
{
	return strstr(printed, text);
}

static void test_usage(void)
{
	char words[2 * CONTROL_LINE_MAX] = "attach|guest1|hca=";
	const size_t length = strlen(words);

	CHECK(run("--help") == TOOL_OK && says("attach") && says("Exit status"));
	CHECK(run("--version") == TOOL_OK && says("xen-ib 1.0"));
	CHECK(run("list|--help") == TOOL_OK && says("usage: xen-ib list"));
	CHECK(run("nonsense") == TOOL_USAGE && says("no command 'nonsense'"));
	CHECK(run("attach|guest1") == TOOL_USAGE && says("usage: xen-ib attach"));
	CHECK(run("list|--force") == TOOL_USAGE && says("list takes no -f"));
	CHECK(run("attach|guest1|hca=x|--wait|soon") == TOOL_USAGE && says("'soon'"));
	CHECK(run("list|-x") == TOOL_USAGE && says("no option -x"));
	CHECK(run("list|--colour") == TOOL_USAGE && says("error: there is no option --colour\n"));
	CHECK(run("list|--json=no") == TOOL_USAGE && says("-j takes no value"));
	CHECK(run("top|--delay|0") == TOOL_USAGE);
	CHECK(run("top|--order|name") == TOOL_USAGE);
	CHECK(run("detach|guest1|first") == TOOL_USAGE && says("not the number"));
	CHECK(run("detach|guest1|65536") == TOOL_USAGE && says("not the number"));
	CHECK(run("attach|guest1|hca=x\nlist") == TOOL_USAGE);
	memset(words + length, 'x', sizeof(words) - length - 1);
	CHECK(run(words) == TOOL_USAGE && says("too long"));
}

static void test_attach(void)
{
	becomes = CONNECTED;
	CHECK(run("attach|guest1|hca=mlx5_0") == TOOL_OK);
	CHECK(says("offered, guest: initialising") &&
	      says("guest1 (5) has vHCA 0: mlx5_0 port 1, connected"));
	CHECK(run("attach|guest1|hca=mlx5_0|--json") == TOOL_OK && *printed == '{' &&
	      says("\"state\": \"connected\""));
	becomes = BROKEN;
	CHECK(run("attach|guest1|hca=mlx5_7") == TOOL_FAILED &&
	      says("error: HCA mlx5_7: No such device"));
	becomes = OFFERED;
	CHECK(run("attach|guest1|hca=mlx5_0|-w|1") == TOOL_TIMEOUT && says("modprobe xen-ibfront"));
	CHECK(run("attach|guest1|hca=mlx5_0|-w|0") == TOOL_OK && says("offered"));
	becomes = ELSEWHERE "state connected\n";
	CHECK(run("attach|guest1|hca=mlx5_0,backend=driver") == TOOL_OK && says("connected"));
	CHECK(run("attach|guest1|hca=mlx5_0,backend=driver|-j") == TOOL_OK &&
	      says("\"backend\": 7"));
	becomes = ELSEWHERE "state offered\n";
	CHECK(run("attach|guest1|hca=mlx5_0,backend=driver|-w|1") == TOOL_TIMEOUT &&
	      says("domain 7 serves it"));
	CHECK(run("attach|guest1|hca=mlx5_9") == TOOL_FAILED && says("no HCA mlx5_9") &&
	      says("ls /sys/class"));
	CHECK(run("attach|guest1|nonsense") == TOOL_USAGE && says("KEY=VALUE"));
	CHECK(run("attach|nobody|hca=mlx5_0") == TOOL_NOT_FOUND && says("xl list"));
}

static void test_set(void)
{
	imposed = "sl=3,qp-rate=10G";
	in_force = imposed;
	CHECK(run("set|guest1|0|sl=3,qp-rate=10G") == TOOL_OK);
	CHECK(says(
		"guest1 (5), vHCA 0: sl=3,qp-rate=10G; for QPs that are connected from now on\n"));
	CHECK(run("set|guest1|0|sl=3|--json") == TOOL_OK && *printed == '{');
	CHECK(says("\"imposed\": {\n    \"sl\": \"3\",\n    \"qp-rate\": \"10G\"\n  }"));
	CHECK(says("\"in_force\": {\n    \"sl\": \"3\""));
	in_force = "sl=4";
	CHECK(run("set|guest1|0|sl=3|-w|1") == TOOL_TIMEOUT && says("not in force after 1 s") &&
	      says("xen-ib show 5 0"));
	CHECK(run("set|guest1|0|sl=3|-w|0") == TOOL_OK);
	CHECK(run("show") == TOOL_OK && says("  imposed on QPs: sl=3,qp-rate=10G\n") &&
	      says("  not in force yet, but: ud=0\n"));
	imposed = NULL;
	CHECK(run("set|guest1|0|sl=any") == TOOL_OK && says("nothing is imposed"));
	CHECK(run("show") == TOOL_OK && !says("imposed"));
	/* Which vHCA, if there are several. */
	CHECK(run("set|guest1|sl=3") == TOOL_USAGE && says("has 2 vHCAs") && says("say which"));
	CHECK(run("set|guest1|first|sl=3") == TOOL_USAGE && says("not the number"));
	CHECK(run("set|nobody|sl=3") == TOOL_NOT_FOUND);
	CHECK(run("set|nobody|0|sl=3") == TOOL_NOT_FOUND && says("xen-ib list"));
	CHECK(run("set|guest1|0|hca=x") == TOOL_USAGE && says("min-rnr-timer") && says("detach"));
	CHECK(run("set|guest1|0|sl=99") == TOOL_USAGE && says("or any") && says("xen-ib-vhca(5)"));
	CHECK(run("set|guest1") == TOOL_USAGE && says("usage: xen-ib set"));
	CHECK(run("set|--help") == TOOL_OK && says("go on as they are"));
}

static void test_detach(void)
{
	becomes = "";
	CHECK(run("detach|guest1|0") == TOOL_OK && says("domain 5 has no vHCA 0 any more"));
	CHECK(run("detach|guest1|0|--force|--json") == TOOL_OK && says("\"gone\": true"));
	becomes = OFFERED;
	CHECK(run("detach|guest1|0|--wait|1") == TOOL_TIMEOUT && says("process 812"));
	CHECK(run("detach|nobody|0") == TOOL_NOT_FOUND);
}

static void test_looking(void)
{
	CHECK(run("list") == TOOL_OK &&
	      says("guest1   5    0  mlx5_0     1  connected     812\n") &&
	      says("HCA mlx5_7: No such device"));
	CHECK(run("list|--json") == TOOL_OK && says("\"daemon\": true"));
	CHECK(says("\"error\": \"HCA mlx5_7: No such device\""));
	CHECK(run("list|nobody") == TOOL_NOT_FOUND);
	CHECK(run("show") == TOOL_OK &&
	      says("guest1 (5), vHCA 0: mlx5_0 port 1, connected, worker 812"));
	CHECK(says("QP             3        4      100") && says("memory   1.5 MiB") &&
	      says("1234  ib_send_lat"));
	CHECK(says("QP_CREATE             2  3.0 us  2.0 us  5.0 us") &&
	      says("QP_CREATE  E_LIMIT      1"));
	CHECK(run("show|guest1|0|--json") == TOOL_OK && says("\"schema\": 1,\n  \"vhcas\": [") &&
	      says("\"histogram\": [") && says("\"reason\": \"E_LIMIT\""));
	CHECK(run("show|nobody") == TOOL_NOT_FOUND);
	CHECK(run("metrics") == TOOL_OK && !strcmp(printed, "# TYPE xenib_build_info gauge\n"));
	CHECK(run("metrics|--json") == TOOL_OK && says("gauge\\u000a"));
	CHECK(run("top|-n|2|-d|0.1") == TOOL_OK && says("CMD/S") && says("guest1") &&
	      !says("\033"));
	CHECK(run("top|-n|1|-d|0.1|-o|bytes|--json") == TOOL_OK &&
	      says("\"memory_bytes\": 1572864"));
	CHECK(!says("\"commands_per_second\": 0.000"));
}

static bool has_program(pid_t pid, const char *program)
{
	char link[64], path[128];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	length = readlink(link, path, sizeof(path) - 1);
	path[length > 0 ? length : 0] = 0;
	return !strcmp(path, program);
}

/* A worker outlives the file that it was started from. */
static void test_outdated(void)
{
	char program[64], command[128];
	int input[2];
	pid_t pid;

	CHECK(run("check") == TOOL_PROBLEMS && !says("before an upgrade"));
	snprintf(program, sizeof(program), "%s/worker", dir);
	snprintf(command, sizeof(command), "cp /bin/cat %s", program);
	CHECK(!system(command) && !pipe(input));
	pid = fork();
	if (!pid) {
		dup2(input[0], STDIN_FILENO);
		close(input[1]);
		execl(program, program, "-", NULL);
		_exit(EXIT_FAILURE);
	}
	close(input[0]);
	while (!has_program(pid, program))
		usleep(1000);
	unlink(program);
	outdated = pid;
	CHECK(run("check") == TOOL_PROBLEMS);
	CHECK(says(
		"warning  worker: vHCA 1 of domain 6 still runs the program from before an upgrade"));
	outdated = 0;
	close(input[1]); /* its end */
	CHECK(waitpid(pid, NULL, 0) == pid);
}

static void test_no_daemon(void)
{
	CHECK(run("show") == TOOL_NO_DAEMON && says("does not run") && says("systemctl start"));
	CHECK(run("top|-n|1") == TOOL_NO_DAEMON);
	CHECK(run("attach|guest1|hca=mlx5_0") == TOOL_NO_DAEMON);
	CHECK(run("list") == TOOL_NO_DAEMON);
	CHECK(run("metrics|--json") == TOOL_NO_DAEMON);
	CHECK(run("check") == TOOL_PROBLEMS && says("problem  daemon:"));
	CHECK(run("check|--json") == TOOL_PROBLEMS && says("\"ready\": false"));
	CHECK(run("check|--strict|--colour") == TOOL_USAGE);
	/* Who may not look cannot say that a host is not ready. */
	CHECK(!chmod(dir, 0777) && !seteuid(65534));
	CHECK(run("check") == TOOL_FAILED && says("cannot be checked: you are not root") &&
	      !says("problem"));
	CHECK(!seteuid(0) && !chmod(dir, 0700));
	/* What no daemon tells is missing, and the rest is there. */
	CHECK(run("report") == TOOL_OK && says("\n==== check\n") && says("problem  daemon:"));
	CHECK(says("\n==== show\nxen-ib: error: the daemon xen-ibback does not run") &&
	      says("\n==== Xen log\n"));
	CHECK(says("Linux ") && !says("cut:") && !*complained);
	CHECK(run("report|--json") == TOOL_OK && says("\"title\": \"kernel log\"") &&
	      says("\"schema\": 1"));
}

/* Standard error is this object, and nothing else. */
static bool complains(const char *error, const char *hint)
{
	char want[1024];

	snprintf(want, sizeof(want),
		 "{\n  \"schema\": 1,\n  \"error\": \"%s\",\n  \"hint\": \"%s\"\n}\n", error, hint);
	return !strcmp(complained, want);
}

#define START_IT \
	"start it: systemctl start xen-ibback; or see why it ended: journalctl -u xen-ibback"

static void test_json_no_daemon(void)
{
	CHECK(run("show|--json") == TOOL_NO_DAEMON &&
	      complains("the daemon xen-ibback does not run", START_IT));
	CHECK(!strcmp(printed, complained));
	CHECK(run("top|-j|-n|1") == TOOL_NO_DAEMON &&
	      complains("the daemon xen-ibback does not run", START_IT));
	CHECK(run("list|--json") == TOOL_NO_DAEMON &&
	      complains("the daemon xen-ibback does not run", START_IT));
	/* What it finds is its result, and no failure of its own. */
	CHECK(run("check|--json") == TOOL_PROBLEMS && !strstr(complained, "\"error\""));
}

static void test_json_errors(void)
{
	CHECK(run("attach|nobody|hca=x|--json") == TOOL_NOT_FOUND &&
	      complains("there is no domain nobody", "which domains there are: xl list"));
	CHECK(!strcmp(printed, complained));
	CHECK(run("attach|guest1|nonsense|--json") == TOOL_USAGE &&
	      complains("nonsense: not KEY=VALUE", "the keys of a vHCA are in xen-ib(8)"));
	/* What there is of a result is on standard output nevertheless. */
	becomes = BROKEN;
	CHECK(run("attach|guest1|hca=mlx5_7|--json") == TOOL_FAILED &&
	      complains(
		      "HCA mlx5_7: No such device",
		      "the vHCA stays, and the daemon tries again; to remove it: xen-ib detach 5 0"));
	CHECK(*printed == '{' && says("\"state\": \"closed\""));
	becomes = OFFERED;
	CHECK(run("detach|guest1|0|-w|1|-j") == TOOL_TIMEOUT && *printed == '{' &&
	      says("\"worker\": 812") && strstr(complained, "not released after 1 s"));
	/* Wrong usage, wherever --json stands; and no octet of it gets out as it is. */
	CHECK(run("colour|--json") == TOOL_USAGE &&
	      complains("there is no command 'colour'", "see: xen-ib --help"));
	CHECK(run("co\"l\033|-j") == TOOL_USAGE &&
	      complains("there is no command 'co\\\"l\\u001b'", "see: xen-ib --help"));
	CHECK(run("attach|guest1|--json") == TOOL_USAGE &&
	      complains("usage: xen-ib attach [OPTION]... DOMAIN SPEC", ""));
	CHECK(run("list|--colour|--json") == TOOL_USAGE &&
	      complains("there is no option --colour", "see: xen-ib list --help"));
	CHECK(run("list|--force|--json") == TOOL_USAGE &&
	      complains("list takes no -f", "see: xen-ib list --help"));
	CHECK(run("detach|guest1|first|--json") == TOOL_USAGE &&
	      complains("'first' is not the number of a vHCA",
			"which there are: xen-ib list guest1"));
	CHECK(run("list|nobody|--js") == TOOL_NOT_FOUND &&
	      complains("there is no domain nobody", ""));
	/* Not asked for, or only looking so. */
	CHECK(run("list|nobody") == TOOL_NOT_FOUND &&
	      !strcmp(complained, "xen-ib: error: there is no domain nobody\n"));
	CHECK(run("colour|--|--json") == TOOL_USAGE && !strncmp(complained, "xen-ib: error: ", 15));
	/* All is well. */
	CHECK(run("list|--json") == TOOL_OK && !*complained);
}

/* Parts */

static void test_texts(void)
{
	char text[TEXT_MAX];
	uint64_t n;

	CHECK(!strcmp(text_of_bytes(text, 1023), "1023 B") &&
	      !strcmp(text_of_bytes(text, 1536), "1.5 KiB"));
	CHECK(!strcmp(text_of_bytes(text, UINT64_MAX), "16.0 EiB"));
	CHECK(!strcmp(text_of_ns(text, 900), "0.9 us") &&
	      !strcmp(text_of_ns(text, 25000), "25 us"));
	CHECK(!strcmp(text_of_ns(text, 2500000), "2.5 ms") &&
	      !strcmp(text_of_ns(text, 1500000000), "1.5 s"));
	CHECK(parse_number("18446744073709551615", UINT64_MAX, &n) && n == UINT64_MAX);
	CHECK(!parse_number("18446744073709551616", UINT64_MAX, &n) && !parse_number("-1", 9, &n) &&
	      !parse_number("1x", 9, &n) && !parse_number("", 9, &n) && !parse_number("10", 9, &n));
}

static void test_xen_options(void)
{
	struct host host = {
		.command_line =
			"  dom0_mem=1G,max:1G  iommu gnttab_max_frames=64 x=1 gnttab_max_frames=128",
	};
	char value[16];

	CHECK(check_xen_option(&host, "dom0_mem", value, sizeof(value)) &&
	      !strcmp(value, "1G,max:1G"));
	CHECK(check_xen_option(&host, "gnttab_max_frames", value, sizeof(value)) &&
	      !strcmp(value, "128"));
	CHECK(!check_xen_option(&host, "iommu", value, sizeof(value)));
	CHECK(!check_xen_option(&host, "max_frames", value, sizeof(value)));
}

static void put(const char *name, const char *text)
{
	char file[96];
	FILE *to;

	snprintf(file, sizeof(file), "%s/%s", dir, name);
	to = fopen(file, "w");
	CHECK(to);
	fputs(text, to);
	fclose(to);
}

/* All that is found of memory goes to printed. */
static void look_at_memory(struct host *host)
{
	int out, to = divert(STDOUT_FILENO, &out);

	check_memory(host);
	fflush(stdout);
	restore(STDOUT_FILENO, out, to, printed, sizeof(printed));
}

#define MIB (1ull << 20)

/* Xen's defaults: 64 grant frames of 2 MiB, 8 of them for other devices. */
static void test_grants(void)
{
	struct guest guests[5] = { { .name = "guest1", .domid = -1, .bytes = 112 * MIB } };
	struct host host = { .pv = true, .guests = { guests, 1 } };
	char file[96];
	unsigned int i;

	run("check"); /* from now on in text */
	look_at_memory(&host);
	CHECK(says("ok       grants: guest1 may pin 112.0 MiB, and has 64 grant frames\n"));
	guests[0].bytes += 4096;
	look_at_memory(&host);
	CHECK(says("warning  grants: guest1 may pin") && says("no more than 128.0 MiB\n") &&
	      says("max_grant_frames=65;"));
	guests[0].grant_frames = 65;
	look_at_memory(&host);
	CHECK(says("ok       grants: guest1") && !says("warning  grants"));
	/* What this domain can map: 262,144 handles, 16,384 of them for others, and two for a page if it is PV. */
	guests[0].bytes = 480 * MIB;
	look_at_memory(&host);
	CHECK(says(
		"ok       maptrack: all guests together may pin 480.0 MiB, of 480.0 MiB that can be mapped\n"));
	guests[0].bytes += 4096;
	look_at_memory(&host);
	CHECK(says("warning  maptrack:") && says("gnttab_max_maptrack_frames=1025\n"));
	host.pv = false;
	look_at_memory(&host);
	CHECK(says(
		"ok       maptrack: all guests together may pin 480.0 MiB, of 960.0 MiB that can be mapped\n"));
	host.pv = true;
	snprintf(host.command_line, sizeof(host.command_line), "gnttab_max_maptrack_frames=1025");
	look_at_memory(&host);
	CHECK(says("ok       maptrack:"));
	snprintf(host.command_line, sizeof(host.command_line), "gnttab_max_maptrack_frames=1");
	look_at_memory(&host);
	CHECK(says("but this domain can map 0 B"));
	/* Several guests with nothing but defaults. */
	put("defaults", "name = 'a'\nvhca = [ 'hca=auto' ]\n");
	host.command_line[0] = 0;
	guests_find(&host.guests, NULL, 0, (const char *const[]){ dir, NULL });
	CHECK(host.guests.n == 1);
	for (i = 0; i < 5; i++)
		guests[i] = host.guests.list[0];
	guests_free(&host.guests);
	host.guests = (struct guests){ guests, 5 };
	look_at_memory(&host);
	CHECK(says("ok       grants: a may pin 96.0 MiB") && says("ok       maptrack:") &&
	      !says("warning  grants"));
	guests[4].bytes += 4096;
	look_at_memory(&host);
	CHECK(says("warning  maptrack: all guests together"));
	snprintf(file, sizeof(file), "%s/defaults", dir);
	unlink(file);
}

static void test_guests(void)
{
	const char *const dirs[] = { dir, "/nowhere", NULL };
	struct listing runs[] = {
		{ .domid = 5, .domain = "guest1", .online = true, .max_mem_bytes = 1 << 20 },
		{ .domid = 5,
		  .devid = 1,
		  .domain = "guest1",
		  .online = true,
		  .max_mem_bytes = 2 << 20 },
	};
	struct guests guests;
	int to, out;

	put("guest1.cfg", "name = 'guest1'\nmax_grant_frames = 99\nvhca = [ 'hca=mlx5_0' ]\n");
	put("guest2.cfg",
	    "name = 'guest2'\nvhca = [ 'hca=mlx5_0,max-mem-bytes=2G', 'hca=mlx5_1', 'nonsense' ]\n");
	put("guest3.cfg", "name = 'guest3'\n");
	put("guest4.cfg~", "name = 'guest4'\nvhca = [ 'hca=mlx5_0' ]\n");
	put("notes", "vhca = [ this is none\n");
	guests_find(&guests, runs, 2, dirs);
	CHECK(guests.n == 2);
	CHECK(!strcmp(guests.list[0].name, "guest1") && guests.list[0].domid == 5 &&
	      guests.list[0].bytes == 3 << 20 && guests.list[0].grant_frames == 99);
	CHECK(!strcmp(guests.list[1].name, "guest2") && guests.list[1].domid == -1 &&
	      guests.list[1].bytes == (2ull << 30) + 96 * MIB);
	guests_free(&guests);

	/* Of the files themselves only what is about vHCAs. */
	put("guest1.cfg",
	    "name = 'guest1'; vncpasswd = 'secret'\nvhca = [ 'hca=mlx5_0' ]\nvfb = [ 'vncpasswd=secret' ]\n");
	to = divert(STDOUT_FILENO, &out);
	configs_print(dirs);
	fflush(stdout);
	restore(STDOUT_FILENO, out, to, printed, sizeof(printed));
	CHECK(says("guest1.cfg:\n  name = guest1\n  vhca 0: hca=mlx5_0\n") && !says("secret"));
}

static void clean_up(void)
{
	static const char *const names[] = { "guest1.cfg", "guest2.cfg", "guest3.cfg",
					     "guest4.cfg~", "notes" };
	char file[96];
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(file, sizeof(file), "%s/%s", dir, names[i]);
		unlink(file);
	}
	CHECK(!rmdir(dir));
}

/* What is not such a text is refused before anything is written. */
static void import(const char *text, const char *words)
{
	const int before = dup(STDIN_FILENO);
	int ends[2];

	CHECK(before >= 0 && !pipe(ends) && dup2(ends[0], STDIN_FILENO) >= 0);
	CHECK(write(ends[1], text, strlen(text)) == (ssize_t)strlen(text));
	close(ends[0]);
	close(ends[1]);
	clearerr(stdin);
	CHECK(run("import") == TOOL_FAILED && says(words) && says("xen-ib export"));
	CHECK(dup2(before, STDIN_FILENO) >= 0 && !close(before));
	clearerr(stdin);
}

static void test_export(void)
{
	CHECK(run("export") == TOOL_USAGE && run("import|guest1") == TOOL_USAGE);
	CHECK(run("export|4a2b2b3e-0c0f-4d0a-8e5e-0123456789ab") == TOOL_NOT_FOUND &&
	      says("nothing is known of"));
	import("", "the end");
	import("vhca hca=mlx5_0\n", "line 1");
	import("xen-ib-vhcas 1\nuuid 4a2b2b3e-0c0f-4d0a-8e5e-0123456789ab\nvhca hca=a,port=0\nend\n",
	       "line 3: port=0");
}

int main(void)
{
	pthread_t thread;

	log_setup("test", 0);
	CHECK(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/socket", dir);
	test_no_daemon();
	test_json_no_daemon();
	becomes = CONNECTED;
	control = control_open(path, answer, NULL);
	CHECK(control && !pthread_create(&thread, NULL, serve, NULL));
	test_usage();
	test_attach();
	test_set();
	test_detach();
	test_looking();
	test_outdated();
	test_json_errors();
	stop = true;
	pthread_join(thread, NULL);
	control_close(control);
	test_texts();
	test_xen_options();
	test_grants();
	test_guests();
	test_export();
	clean_up();
	return EXIT_SUCCESS;
}
