// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * seccomp.c - seccomp: which system calls a process may still make.
 *
 * The lists are what the code, glibc, libxenstore and libxenevtchn use, which was compared with
 * what strace saw of daemons at work. A call that is on none fails with EPERM, so a glibc that
 * comes to try a new one first and falls back does no harm; nor does a library that has a socket
 * opened for a log.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <rdma/rdma_user_ioctl_cmds.h>
#include <seccomp.h>
#include <xen/xen.h>
#include <xen/event_channel.h>
#include <xen/grant_table.h>
#include <xen/sys/evtchn.h>
#include <xen/sys/gntdev.h>
#include <xen/sys/privcmd.h>

#include "modules/xen-ibgrant/xen-ibgrant.h"
#include "sandbox/sandbox.h"

#define NO_CALL (-1)

static const int common_calls[] = {
	/* descriptors that are open */
	SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(write), SCMP_SYS(writev),
	SCMP_SYS(sendto), SCMP_SYS(sendmsg), SCMP_SYS(recvfrom), SCMP_SYS(recvmsg), SCMP_SYS(close),
	SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(lseek), SCMP_SYS(poll), SCMP_SYS(ppoll),
	/* memory */
	SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise),
	/* time, and itself. In a PV domain the clock is a system call. */
	SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday), SCMP_SYS(clock_nanosleep),
	SCMP_SYS(nanosleep), SCMP_SYS(restart_syscall), SCMP_SYS(getpid), SCMP_SYS(gettid),
	SCMP_SYS(getrandom), SCMP_SYS(futex), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack), SCMP_SYS(exit), SCMP_SYS(exit_group), NO_CALL
};

static const int worker_calls[] = {
	SCMP_SYS(getdents64), SCMP_SYS(readlink), SCMP_SYS(readlinkat), /* sysfs */
	SCMP_SYS(epoll_create1), SCMP_SYS(epoll_ctl), SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait),
	SCMP_SYS(eventfd2), SCMP_SYS(pipe), SCMP_SYS(pipe2),
	/* threads */
	SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(sched_yield),
	SCMP_SYS(sched_getaffinity), SCMP_SYS(sysinfo),
	/* the mm pin */
	SCMP_SYS(pidfd_open), SCMP_SYS(setsid), SCMP_SYS(close_range),
	SCMP_SYS(seccomp), /* which can only take away more */
	NO_CALL
};

static const int broker_calls[] = { SCMP_SYS(rename),    SCMP_SYS(renameat),
				    SCMP_SYS(renameat2), SCMP_SYS(unlink),
				    SCMP_SYS(unlinkat),  SCMP_SYS(mlock),
				    SCMP_SYS(munlock),   NO_CALL };

/* Who comes here is under somebody else's control. */
static const int deadly_calls[] = { SCMP_SYS(execve),
				    SCMP_SYS(execveat),
				    SCMP_SYS(fork),
				    SCMP_SYS(vfork),
				    SCMP_SYS(ptrace),
				    SCMP_SYS(process_vm_readv),
				    SCMP_SYS(process_vm_writev),
				    SCMP_SYS(pidfd_getfd),
				    SCMP_SYS(setuid),
				    SCMP_SYS(setgid),
				    SCMP_SYS(setresuid),
				    SCMP_SYS(setresgid),
				    SCMP_SYS(setreuid),
				    SCMP_SYS(setregid),
				    SCMP_SYS(setgroups),
				    SCMP_SYS(capset),
				    SCMP_SYS(mount),
				    SCMP_SYS(umount2),
				    SCMP_SYS(pivot_root),
				    SCMP_SYS(chroot),
				    SCMP_SYS(unshare),
				    SCMP_SYS(setns),
				    SCMP_SYS(init_module),
				    SCMP_SYS(finit_module),
				    SCMP_SYS(delete_module),
				    SCMP_SYS(kexec_load),
				    SCMP_SYS(kexec_file_load),
				    SCMP_SYS(bpf),
				    SCMP_SYS(perf_event_open),
				    SCMP_SYS(userfaultfd),
				    SCMP_SYS(io_uring_setup),
				    SCMP_SYS(keyctl),
				    SCMP_SYS(add_key),
				    SCMP_SYS(request_key),
				    SCMP_SYS(reboot),
				    SCMP_SYS(iopl),
				    SCMP_SYS(ioperm),
				    NO_CALL };

static int add_calls(scmp_filter_ctx filter, uint32_t action, const int *calls)
{
	int err = 0;

	for (; !err && *calls != NO_CALL; calls++)
		err = seccomp_rule_add(filter, action, *calls, 0);
	return err;
}

/* Rules about one argument, by its number from 0. */

static int add_if(scmp_filter_ctx filter, uint32_t action, int call, struct scmp_arg_cmp argument)
{
	return seccomp_rule_add_array(filter, action, call, 1, &argument);
}

static int allow_value(scmp_filter_ctx filter, int call, unsigned int argument, uint64_t value)
{
	return add_if(filter, SCMP_ACT_ALLOW, call,
		      (struct scmp_arg_cmp){
			      .arg = argument,
			      .op = SCMP_CMP_EQ,
			      .datum_a = value,
		      });
}

static int allow_bits(scmp_filter_ctx filter, int call, unsigned int argument, uint64_t mask,
		      uint64_t bits)
{
	return add_if(filter, SCMP_ACT_ALLOW, call,
		      (struct scmp_arg_cmp){
			      .arg = argument,
			      .op = SCMP_CMP_MASKED_EQ,
			      .datum_a = mask,
			      .datum_b = bits,
		      });
}

static int allow_ioctls(scmp_filter_ctx filter, const unsigned long *requests, unsigned int n)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < n; i++)
		err = allow_value(filter, SCMP_SYS(ioctl), 1, requests[i]);
	return err;
}

static int allow_fcntls(scmp_filter_ctx filter)
{
	static const int commands[] = { F_GETFD, F_SETFD, F_GETFL, F_SETFL };
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < sizeof(commands) / sizeof(commands[0]); i++)
		err = allow_value(filter, SCMP_SYS(fcntl), 1, commands[i]);
	return err;
}

static int allow_common(scmp_filter_ctx filter)
{
	/* No memory becomes code. tgkill: abort() and the end of libxenstore's thread. */
	return add_calls(filter, SCMP_ACT_ALLOW, common_calls)                 ?:
		       allow_fcntls(filter)                                    ?:
		       allow_bits(filter, SCMP_SYS(mmap), 2, PROT_EXEC, 0)     ?:
		       allow_bits(filter, SCMP_SYS(mprotect), 2, PROT_EXEC, 0) ?:
		       allow_value(filter, SCMP_SYS(tgkill), 0, getpid());
}

#define MM_PIN (CLONE_VM | CLONE_PIDFD | SIGCHLD) /* see worker/mm_pin.c */

static int allow_worker(scmp_filter_ctx filter)
{
	static const unsigned long requests[] = {
		RDMA_VERBS_IOCTL,
		IOCTL_GNTDEV_UNMAP_GRANT_REF,
		IOCTL_EVTCHN_BIND_INTERDOMAIN,
		IOCTL_EVTCHN_UNBIND,
		IOCTL_EVTCHN_NOTIFY,
		XEN_IBGRANT_CREATE,
		XEN_IBGRANT_ADD,
		XEN_IBGRANT_RANGE,
		XEN_IBGRANT_EVENTS,
		XEN_IBGRANT_WATCH,
		XEN_IBGRANT_UNWATCH,
		XEN_IBGRANT_NOTIFY,
		XEN_IBGRANT_EVENT_STATS,
	};

	/*
	 * It opens what is there. clone3() has its flags in memory, where they cannot be seen;
	 * glibc can do without. Limits are read.
	 */
	return add_calls(filter, SCMP_ACT_ALLOW, worker_calls)                                ?:
		       allow_ioctls(filter, requests, sizeof(requests) / sizeof(requests[0])) ?:
		       allow_bits(filter, SCMP_SYS(openat), 2, O_CREAT | O_TRUNC, 0)          ?:
		       seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0)  ?:
		       allow_bits(filter, SCMP_SYS(clone), 0, CLONE_THREAD, CLONE_THREAD)     ?:
		       allow_value(filter, SCMP_SYS(clone), 0, MM_PIN)                        ?:
		       allow_value(filter, SCMP_SYS(prctl), 0, PR_SET_NAME)                   ?:
		       allow_value(filter, SCMP_SYS(prlimit64), 2, 0);
}

static int allow_broker(scmp_filter_ctx filter)
{
	static const unsigned long requests[] = {
		IOCTL_PRIVCMD_HYPERCALL,
		IOCTL_GNTDEV_MAP_GRANT_REF,
		IOCTL_GNTDEV_UNMAP_GRANT_REF,
		RDMA_VERBS_IOCTL,
	};

	return add_calls(filter, SCMP_ACT_ALLOW, broker_calls)                       ?:
		       seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 0) ?:
		       allow_ioctls(filter, requests, sizeof(requests) / sizeof(requests[0]));
}

/* A system call of another architecture, x32 too, kills: libseccomp's default. */
int sandbox_restrict_calls(enum sandbox_role role)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int err;

	if (!filter)
		return -ENOMEM;
	err = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS)       ?:
		      add_calls(filter, SCMP_ACT_KILL_PROCESS, deadly_calls)                 ?:
		      allow_common(filter)                                                   ?:
		      (role == SANDBOX_WORKER ? allow_worker(filter) : allow_broker(filter)) ?:
		      seccomp_load(filter);
	seccomp_release(filter);
	return err;
}

/* A second filter: a call must pass both. */
int sandbox_no_more_processes(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int err;

	if (!filter)
		return -ENOMEM;
	err = seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 0) ?: /* it is set, and prctl() is not there */
	      add_if(filter, SCMP_ACT_KILL_PROCESS, SCMP_SYS(clone), (struct scmp_arg_cmp){
		      .op = SCMP_CMP_MASKED_EQ, .datum_a = CLONE_THREAD,
	      }) ?:
	      seccomp_load(filter);
	seccomp_release(filter);
	return err;
}
