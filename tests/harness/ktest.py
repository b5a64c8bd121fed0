# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""xenib-ktest.ko in a guest: a kernel module that uses xenib0 (tests/programs/ktest)."""

import contextlib

from harness import BUILD, GUEST_KERNEL, daemon, guest, lab, wait

MODULE = (BUILD if GUEST_KERNEL == "stock" else BUILD / GUEST_KERNEL) / "tests" / "programs" / "ktest" / "xenib-ktest.ko"
TRAFFIC = ["rc-send", "rc-event", "rc-list", "ud-send", "drain", "outside", "many", "srq", "coherent", "lie-length", "grow"]
LATE = ["late-rc", "late-read"]
REGIONS = ["reg-list", "reg-pieces", "reg-remote-inv", "reg-access", "reg-stale", "reg-pd"]
CASES = TRAFFIC + LATE + REGIONS
MORE = ["reg-local", "late-region", "late-sent-on", "late-srq", "late-ud"]  # of what these show, in other ways


def load(name, *options):
    """It has its frontend with these options."""
    lab.run(name, f"! lsmod | grep -q xen_ibfront || rmmod xen-ibfront; insmod /lib/modules/xen-ibfront.ko {' '.join(options)}")


def reload(name, *options):
    """It has its frontend with these options, and its device."""
    load(name, *options)
    wait.until(f"{name} has its device", lambda: guest.active(name))


@contextlib.contextmanager
def loaded(name, *options):
    """With the frontend's options, and again without any at the end."""
    reload(name, *options)
    try:
        lab.put(name, MODULE, to=lab.THERE)
        lab.run(name, f"insmod {lab.THERE}/{MODULE.name}")
        yield
    finally:
        lab.call(name, "rmmod xenib-ktest")
        reload(name)


def call(name, case):
    """Its result and what the kernel has said."""
    write = f"echo {case} >/sys/module/xenib_ktest/parameters/run"
    return lab.call(name, f"dmesg -C; {write}; status=$?; dmesg | grep ktest: >&2; exit $status")


def set(name, module, **parameters):
    """Parameters of a module that is loaded."""
    for parameter, value in parameters.items():
        lab.run(name, f"echo {value} >/sys/module/{module}/parameters/{parameter}")


def run(name, case):
    __tracebackhide__ = True
    result = call(name, case)
    assert result.status == 0, str(result)


def run_all(name, cases):
    """These; and the module goes on when the worker is killed."""
    __tracebackhide__ = True
    for case in cases:
        run(name, case)
    run(name, "death")
    guest.until_new_worker(name, daemon.kill_worker(name))
    run(name, "rc-event")


def log(name):
    return lab.run(name, "dmesg | grep ktest: || true")
