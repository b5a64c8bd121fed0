# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Guests with vHCAs: Xen-IB and our programs in them."""

import contextlib
import subprocess

from harness import BUILD, daemon, lab, pairs, process, programs, rdma, wait

DEVICE = "xenib0"
MLX5 = "mlx5_1"
PROGRAMS = [
    *(BUILD / "tests" / "programs" / "verbs" / name for name in (*programs.VERBS, "exhaust")),
    *(BUILD / "tests" / "programs" / "isolation" / name for name in (*programs.ISOLATION, "neighbour", "flood", "gauge", "victim", "stamps", "tables")),
]


def set_up():
    """Xen-IB on the machine and in its guests, which have a vHCA each, and our programs in them."""
    lab.lab("install")
    for guest in ("guest1", "guest2"):
        if not active(guest):
            lab.lab("attach", guest)
        put_programs(guest)


def start_again(guest):
    """A guest that was started anew is made as the others."""
    lab.lab("install", guest)
    lab.lab("attach", guest)
    put_programs(guest)


def make_anew(guest):
    """One that runs, or not, ends, and another one is made in its place."""
    process.call(lab.LAB, "guest", "stop", guest, "--kill")
    lab.lab("guest", "start", guest, merge=True)
    start_again(guest)


def put_programs(guest):
    put_pairs(guest, *PROGRAMS)


def put_pairs(guest, *programs):
    """What runs pairs inside of it, and the agent that starts servers, and other programs."""
    lab.run(guest, "mkdir", "-p", lab.THERE)
    lab.put(guest, *pairs.files(guest), *programs, to=lab.THERE)
    lab.run(guest, f"{lab.THERE}/agent", "start")


def active(guest):
    """Has it an active device?"""
    return rdma.active(guest, DEVICE)


def until_active(guest):
    __tracebackhide__ = True
    wait.until(f"{guest} has its device", lambda: active(guest))


def load_frontend(guest):
    lab.run(guest, "lsmod | grep -q xen_ibfront || insmod /lib/modules/xen-ibfront.ko")


def restore_device(guest):
    """It has its own frontend again, if it was without, and by it its device."""
    load_frontend(guest)
    until_active(guest)


def attach_mlx5(guest):
    lab.lab("attach", guest, "--dev", "1", "personality=mlx5", "max-mem-bytes=96M")


@contextlib.contextmanager
def mlx5_devices(guests=("guest1", "guest2")):
    """A second vHCA of each with personality=mlx5, MLX5."""
    for guest in guests:
        attach_mlx5(guest)
    yield
    for guest in guests:
        lab.lab("detach", guest, "--dev", "1")


def until_new_worker(guest, old):
    """Waits until another worker serves it than this one."""
    __tracebackhide__ = True
    wait.until(f"{guest} has its device again", lambda: daemon.status(guest, "pid") not in (None, old) and active(guest))


@contextlib.contextmanager
def flood(guest, what, device=DEVICE):
    """It does one thing as fast as it can, until this ends, or its input does."""
    try:
        with lab.running(guest, f"{lab.THERE}/flood", "--results", "-d", device, what, stdin=subprocess.PIPE) as program:
            program.until_says("working")
            yield program
    finally:
        lab.call(guest, "pkill -x flood")


@contextlib.contextmanager
def elsewhere(folder, *by):
    """A domain whose configuration is in a folder that the daemon does not know, named as from there. It is not started; BY are
    words by which xl runs."""
    name = "elsewhere"
    try:
        lab.run(
            "dom0",
            f"""mkdir -p {folder} && cd {folder} && sed /^vhca/d /etc/xen/guest2.cfg >x.cfg &&
            printf "%s\\n" 'name = "{name}"' 'vif = []' 'disk = []' 'vhca = [ "hca=mlx5_1,max-qp=7" ]' >>x.cfg &&
            {' '.join(by)} xl create -q -p x.cfg""",
        )
        yield name
    finally:
        lab.call("dom0", f"xl destroy {name}; rm -rf {folder}")
