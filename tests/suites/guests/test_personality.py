# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A second vHCA of each guest with personality=mlx5, beside the first: programs use it by the stock libmlx5."""

import re

import pytest

from harness import guest, lab, mpi, pairs, programs

pytestmark = pytest.mark.timeout(300)

DEVICE = guest.MLX5
MESSAGES = {"mlx5-context", "mlx5-length", "mlx5-field", "mlx5-page", "mlx5-page-in-use", "mlx5-object", "mlx5-mmap"}
STEAL_PORT = 18790  # as steal.h has it

QUICK = {"pingpong/rc", "latency/send-rc-srq", "mlx5-field"}


@pytest.fixture(scope="module")
def devices(guests):
    with guest.mlx5_devices():
        yield


def test_device(devices):
    """It has the HCA's vendor, also where UCX looks for it; xen-ib shows what it is; the first vHCA is what it was."""
    said = lab.run("guest1", f"ibv_devinfo -d {DEVICE}; cd /sys/class/infiniband/{DEVICE}/device; cat vendor device")
    assert re.search(r"vendor_id:\s+0x02c9", said) and re.search(r"^0x15b3\n0x\w{4}$", said, re.MULTILINE), said
    assert "personality: mlx5" in lab.run("dom0", "xen-ib show guest1 1")
    said = lab.run("guest1", "ibv_devinfo -d xenib0")
    assert re.search(r"vendor_id:\s+0x163e", said), said


def test_without_provider(devices):
    """libmlx5 is what binds to it: the provider is as if it were not installed."""
    said = lab.run("guest1", "unshare -m sh -c 'mount --bind /dev/null /etc/libibverbs.d/xenib.driver && ibv_devices'", merge=True)
    assert DEVICE in said and "xenib0" not in re.sub("(?m)^.*Warning.*$", "", said), said


@pytest.fixture(scope="module")
def mpi_hosts(machine, devices):
    with machine.prepared(mpi.make_hosts):
        yield


@pytest.mark.long
@pytest.mark.parametrize("asked, taken", [("rc_x", "rc_mlx5"), ("ud_x", "ud_mlx5")])
def test_ucx(mpi_hosts, asked, taken):
    """UCX has data paths of its own for these, on libmlx5's queues."""
    ucx = f"UCX_NET_DEVICES={DEVICE}:1 UCX_TLS={asked},self UCX_LOG_LEVEL=info"
    options = "--mca pml ucx -x UCX_NET_DEVICES -x UCX_TLS -x UCX_LOG_LEVEL"
    said = lab.run("guest1", f"{ucx} {mpi.RUN} {options} {lab.THERE}/all-to-all --most 65536", merge=True)
    assert f"({taken}/{DEVICE}:1)" in said and "all-to-all: passed" in said, said


# ---- pairs of stock programs, with no option for the device's sake ----


@pytest.fixture(scope="module")
def batch(devices, request):
    def command(group):
        return lab.run_words("guest2", "env", f"DEVICE={DEVICE}", f"{lab.THERE}/{pairs.runner('guest2')}", group)

    with programs.Batch(request, command) as batch:
        yield batch


@pytest.mark.parametrize("program, case", pairs.params(pairs.in_guests, lambda name: name not in QUICK))
def test_pair(batch, program, case):
    batch.run(program, case)


# ---- programs of our own ----


def command(guest, program, *options):
    return lab.run_words(guest, f"{lab.THERE}/{program}", *options, "--results", "-d", DEVICE)


@pytest.fixture(scope="module")
def batches(devices, request):
    """By program. The guests work at once."""
    in_guest1 = programs.Batch(request, lambda program: command("guest1", program, "-D", DEVICE))
    in_guest2 = programs.Batch(request, lambda program: command("guest2", program, "-D", DEVICE))
    with in_guest1, in_guest2:
        in_guest2.begin("integrity")
        yield {"violate": in_guest1, "events": in_guest1, "multicast": in_guest1, "forge": in_guest1, "integrity": in_guest2, "steal": in_guest2}


@pytest.mark.long
@pytest.mark.parametrize("program, case", programs.cases("verbs", *programs.VERBS, wanted=lambda name: name not in programs.NOT_LIBMLX5))
def test_verbs(batches, program, case):
    batches[program].run(program, case)


@pytest.mark.long
@pytest.mark.parametrize("program, case", programs.cases("isolation", "forge", "steal", wanted=lambda name: not name.startswith("mlx5-")))
def test_processes(batches, program, case):
    batches[program].run(program, case)


@pytest.mark.parametrize("program, case", programs.cases("isolation", "forge", wanted=lambda name: name.startswith("mlx5-"), long=MESSAGES - QUICK))
def test_messages(batches, program, case):
    batches[program].run(program, case)


@pytest.fixture(scope="module")
def from_guest(devices, request):
    with lab.running("guest2", f"{lab.THERE}/steal", "serve", DEVICE):
        lab.run("guest2", f"{lab.THERE}/agent", "await", STEAL_PORT)
        with programs.Batch(request, lambda program: command("guest1", program, "--peer", "guest2")) as batch:
            yield batch


@pytest.mark.long
@pytest.mark.parametrize("program, case", programs.cases("isolation", "steal"))
def test_steal_from_guest(from_guest, program, case):
    from_guest.run(program, case)
