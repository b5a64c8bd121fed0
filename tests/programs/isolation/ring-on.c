// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ring-on: a guest that keeps its mapping of a doorbell page when the page is taken away.
 *
 * Xen looks at a PV guest's right to a page of the HCA when it maps it, and not again. So here is a guest whose kernel does
 * what it likes: by /dev/xen/privcmd it maps each frame of the HCA that it may, and goes on ringing there, for all queues
 * that there could be, after the process whose page it was is gone. It must find no frames but its own; afterwards no new
 * mapping; and nobody else's queue may hear it, for as long as this domain exists (docs/backend.md, "UAR pool").
 *
 * privcmd must let it: modprobe xen-privcmd unrestricted=1.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ask.h"
#include "ring-on_map.h"

#define ROUNDS 10
#define OTHER_PROGRAM "/opt/tests/neighbour"

struct bar {
	uint64_t first;
	unsigned int pages;
};

/* The process that has doorbell pages rightly. */
struct owner {
	pid_t pid;
	int tells, told;
};

static struct bar ask_bar(void)
{
	unsigned long long first;
	struct bar bar;
	char *answer;

	answer = ask("bar");
	require(sscanf(answer, "%llu %u", &first, &bar.pages) == 2 && bar.pages,
		"the HCA's frames");
	bar.first = first;
	free(answer);
	return bar;
}

static void be_owner(int tells, int told)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct vp_pair pair;
	struct vp_dev dev;
	char c;

	vp_open(&dev, 0);
	vp_pair_make(&pair, &dev, &dev, &conf);
	vp_exchange(&pair, "the owner");
	require(write(tells, "", 1) == 1, "tell that it works");
	require(read(told, &c, 1) == 1, "wait to be killed");
}

static void owner_start(struct owner *o)
{
	int tells[2], told[2];
	char c;

	require(!pipe(tells) && !pipe(told), "make pipes");
	o->pid = check_fork();
	if (!o->pid) {
		be_owner(tells[1], told[0]);
		check_end_case();
	}
	o->tells = tells[0];
	o->told = told[1];
	require(read(o->tells, &c, 1) == 1, "the owner works");
}

static void owner_kill(struct owner *o)
{
	int status;

	kill(o->pid, SIGKILL);
	require(waitpid(o->pid, &status, 0) == o->pid, "the owner is gone");
}

/* A process beside, of this guest: it opens the device while the ringing goes on. */
static void use_device(void)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct vp_pair pair;
	struct vp_dev dev;
	int i, status;
	pid_t pid = check_fork();

	if (!pid) {
		vp_open(&dev, 0);
		vp_pair_make(&pair, &dev, &dev, &conf);
		for (i = 0; i < ROUNDS; i++)
			vp_exchange(&pair, "another process of this guest");
		vp_expect_no_async(&dev, "another process of this guest");
		vp_pair_free(&pair);
		vp_close(&dev);
		check_end_case();
	}
	require(waitpid(pid, &status, 0) == pid, "wait for the process");
	check(WIFEXITED(status) && !WEXITSTATUS(status),
	      "another process of this guest is not disturbed (status %#x)", status);
}

/* Doorbells of a page of the HCA: rung for a queue of the page, and refused. */
struct doorbell {
	unsigned int page;
	unsigned long long rung, refused;
};

struct doorbells {
	unsigned int pages;
	struct doorbell of[8192];
};

static void ask_doorbells(struct doorbells *d)
{
	char *answer = ask("uars"), *line, *rest = answer;

	d->pages = 0;
	while ((line = strsep(&rest, "\n")) && d->pages < ARRAY_SIZE(d->of))
		if (sscanf(line, "%u %llu %llu", &d->of[d->pages].page, &d->of[d->pages].rung,
			   &d->of[d->pages].refused) == 3)
			d->pages++;
	free(answer);
	require(d->pages, "the HCA has doorbell pages");
}

static const struct doorbell *on_page(const struct doorbells *d, unsigned int page)
{
	static const struct doorbell none;
	unsigned int i;

	for (i = 0; i < d->pages; i++)
		if (d->of[i].page == page)
			return &d->of[i];
	return &none;
}

/* Nobody heard the ringing: each doorbell on these pages was refused, and none on any other. */
static void nobody_heard(const struct frames *f, const struct bar *bar,
			 const struct doorbells *before, const struct doorbells *after,
			 const char *when)
{
	const struct doorbell *was, *is;
	unsigned int i, page;

	for (i = 0; i < f->count; i++) {
		page = f->frame[i] - bar->first;
		was = on_page(before, page);
		is = on_page(after, page);
		check(is->refused > was->refused, "%s: the HCA hears the ringing on page %u", when,
		      page);
		check(is->rung == was->rung, "%s: and refuses all of it on page %u", when, page);
	}
	for (i = 0; i < after->pages; i++) {
		is = &after->of[i];
		if (!frames_have(f, bar->first + is->page))
			check(is->refused == on_page(before, is->page)->refused,
			      "%s: nothing else was refused, on page %u", when, is->page);
	}
}

/* A program runs in the other guest, and ends well. */
static void other_guest_works(const char *command, const char *when)
{
	char question[256], *answer;

	snprintf(question, sizeof(question), "other %s", command);
	answer = ask(question);
	check(strstr(answer, "exit 0"), "%s: the other guest is not disturbed: %s", when, answer);
	free(answer);
}

/* The frames of a process that has the device open, which ends then: the mappings stay. */
static void frames_of_owner(struct frames *own, const struct bar *bar)
{
	struct owner owner;

	owner_start(&owner);
	frames_map(own, bar->first, bar->pages);
	require(own->count, "the frames of the owner can be mapped");
	frames_print(own);
	owner_kill(&owner);
}

static void run(const void *arg)
{
	static struct doorbells before, after;
	struct frames own, again;
	struct ringer r;
	struct bar bar;

	(void)arg;
	bar = ask_bar();
	frames_of_owner(&own, &bar);

	/* The mappings are there, the right is not. */
	frames_map(&again, bar.first, bar.pages);
	check(!again.count, "no frame can be mapped once its owner is gone (%u can)", again.count);
	frames_unmap(&again);

	ask_doorbells(&before);
	ring_start(&r, &own);
	ring_for(&r, 2);
	ask_doorbells(&after);
	nobody_heard(&own, &bar, &before, &after, "alone");

	/* Another guest opens the device, many times: it gets pages, and never one of these. */
	ask_doorbells(&before);
	other_guest_works(OTHER_PROGRAM " rounds", "one process");
	other_guest_works("for i in 1 2 3 4 5 6 7 8; do " OTHER_PROGRAM
			  " --count 3 rounds & done; wait",
			  "eight processes");
	ring_for(&r, 1);
	ask_doorbells(&after);
	nobody_heard(&own, &bar, &before, &after, "beside another guest");

	/* This guest may use them again, for itself: who rings there is of its own making. */
	use_device();
	other_guest_works(OTHER_PROGRAM " rounds", "beside the same guest");
	ring_stop(&r);
	frames_unmap(&own);
}

/*
 * The HCA's driver is reloaded in dom0, and so the HCA forgets whose pages those were. They are kept from everybody: what
 * is rung there is refused, and others do not get them.
 */
static void run_reload(const void *arg)
{
	static struct doorbells before, after;
	struct frames own, again;
	struct ringer r;
	struct bar bar;
	char *answer;

	(void)arg;
	bar = ask_bar();
	frames_of_owner(&own, &bar);

	answer = ask("reload");
	require(strstr(answer, "exit 0"),
		"the HCA's driver is reloaded, and both guests have their devices again: %s",
		answer);
	free(answer);
	frames_map(&again, bar.first, bar.pages);
	check(!again.count, "no frame can be mapped (%u can)", again.count);
	frames_unmap(&again);

	ask_doorbells(&before);
	ring_start(&r, &own);
	other_guest_works("for i in 1 2 3 4 5 6 7 8; do " OTHER_PROGRAM
			  " --count 3 rounds & done; wait",
			  "eight processes");
	ring_for(&r, 1);
	ask_doorbells(&after);
	nobody_heard(&own, &bar, &before, &after, "after the reload");
	use_device();
	ring_stop(&r);
	frames_unmap(&own);
}

static const struct check_case cases[] = {
	CHECK_CASE("ring-on", run, "a doorbell page that is kept reaches nobody (--answers)",
		   .seconds = 300),
	CHECK_CASE("reload", run_reload, "nor after the HCA's driver was reloaded (--answers)",
		   .seconds = 300),
};

int main(int argc, char **argv)
{
	ask_setup(&argc, argv);
	return check_main(
		argc, argv,
		"Keeps the doorbell pages of a process that is gone, and rings on. Runs in a PV guest, with\n"
		"modprobe xen-privcmd unrestricted=1, and by tests/programs/isolation/answering.",
		cases, ARRAY_SIZE(cases));
}
