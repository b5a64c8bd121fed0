// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mm_pin.c - see mm_pin.h.
 *
 * The mm pin runs in the memory of a process that goes on, so it must not touch what belongs to
 * that process's threads: no libc function that sets errno, locks or allocates. It makes system
 * calls, by hand, and nothing else, on a stack of its own. Without a signal handler of the worker's
 * it cannot be made to run anything else either: it blocks all signals before anything can be sent
 * to it, and the handlers' table is a copy.
 *
 * A worker that a guest has taken over can write to the mm pin's stack, and so make it run what it
 * likes. That is why the mm pin can wait and end, and make no other system call, before the worker
 * goes on: it cannot start a process, let go of life, or do anything that outlives it.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "worker/mm_pin.h"

#define STACK_BYTES 65536

struct mm_pin {
	int worker; /* pidfd */
	int life;
	atomic_bool confined; /* it is at its work */
};

static struct mm_pin mm_pin;

static long raw_call(long number, long a, long b, long c)
{
	register long fourth __asm__("r10") = 0, fifth __asm__("r8") = 0;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth)
			 : "rcx", "r11", "memory");
	return result;
}

static void close_between(int above, int below)
{
	if (above + 1 <= below - 1)
		raw_call(SYS_close_range, above + 1, below - 1, 0);
}

/* All but the two. close_range() takes unsigned numbers; no descriptor reaches 2^30. */
static void close_others(void)
{
	int low = mm_pin.worker, high = mm_pin.life;

	if (high < low) {
		high = mm_pin.worker;
		low = mm_pin.life;
	}
	close_between(-1, low);
	close_between(low, high);
	close_between(high, 1 << 30);
}

/* All but these kill it. The restart is of poll(), for an mm pin that was stopped and goes on. */
static long confine(void)
{
	static struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_poll, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_restart_syscall, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	static struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	/* In the sandbox this is refused, as it is so already. */
	raw_call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0);
	return raw_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&program);
}

/* There is no way to return: the stack above is not ours. */
static int keep(void *unused)
{
	struct pollfd worker = { .fd = mm_pin.worker, .events = POLLIN };

	(void)unused;
	raw_call(SYS_setsid, 0, 0, 0); /* no signals from a terminal */
	raw_call(SYS_prctl, PR_SET_NAME, (long)"xen-ib-mm-pin", 0);
	close_others();
	if (confine())
		raw_call(SYS_exit_group, 1, 0, 0);
	atomic_store(&mm_pin.confined, true);
	while (raw_call(SYS_poll, (long)&worker, 1, -1) != 1)
		;
	raw_call(SYS_exit_group, 0, 0, 0);
	return 0;
}

/* Before that nothing may be given to a guest. False: it has ended. */
static bool await_confined(int pidfd)
{
	struct pollfd end = { .fd = pidfd, .events = POLLIN };

	while (!atomic_load(&mm_pin.confined))
		if (poll(&end, 1, 1) == 1)
			return false;
	return true;
}

int mm_pin_start(int life)
{
	sigset_t all, before;
	void *stack;
	int pidfd = -1, err = 0;

	mm_pin.life = life;
	atomic_store(&mm_pin.confined, false);
	mm_pin.worker = syscall(SYS_pidfd_open, getpid(), 0);
	if (mm_pin.worker < 0)
		return -errno;
	stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED) {
		err = -errno;
		goto out;
	}
	/* Inherited: the mm pin is born with all signals blocked. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	if (clone(keep, (char *)stack + STACK_BYTES, CLONE_VM | CLONE_PIDFD | SIGCHLD, NULL,
		  &pidfd) < 0)
		err = -errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (!err && !await_confined(pidfd)) {
		close(pidfd);
		err = -EPERM;
	}
	if (err)
		munmap(stack, STACK_BYTES);
out:
	close(mm_pin.worker);
	return err ? err : pidfd;
}
