# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""MPI between the guests, one rank in each. The programs of tests/programs/mpi check what they receive; that it went through the HCA is seen
there."""

import pytest

from harness import hca, lab, mpi

pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module", autouse=True)
def hosts(machine, guests):
    """The guests are hosts of MPI jobs."""
    with machine.prepared(mpi.make_hosts):
        yield


# Of the HCA's counters: messages and bytes that it must have sent at least
PROGRAMS = {
    "hello": ("", 2, 500),
    # Of the largest size alone: 4 rounds that are checked, 4 for latency, 2 windows of 16 for bandwidth
    "ping-pong": ("--most 262144 --count 20 --volume 1048576", 900, 48 * 262144),
    # 11 sizes, together 495,164 bytes, in 2 rounds from each to the other; and uneven parts, 5/7 of that
    "all-to-all": ("--most 262144", 80, 2 * 2 * 495164 * 17 // 10),
    # The 65,536 keys are spread evenly before each of 11 sorts, so about half of them move.
    "is": ("--class S", 44, 11 * 65536 * 4 * 9 // 20),
    # 32^3 points of 16 bytes, of which half move, 5 times
    "ft": ("--class T", 10, 5 * 32768 * 16 // 2),
}
QUICK = ("all-to-all",)


def run(program, options="", folder=lab.THERE):
    arguments, messages, size = PROGRAMS[program]
    sent = hca.total("messages_sent"), hca.total("bytes_sent")
    said = lab.run("guest1", f"{lab.THERE}/mpi-run {options} xenib0 guest1,guest2 {folder}/{program} {arguments}", merge=True)
    assert f"{program}: passed" in said, said
    if program == "hello":
        # Each rank's name goes to the other.
        assert "rank 0 of 2 on guest1" in said and "rank 1 of 2 on guest2" in said, said
    assert hca.total("messages_sent") - sent[0] >= messages, said
    assert hca.total("bytes_sent") - sent[1] >= size, said


@pytest.mark.parametrize("program", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.long) for name in PROGRAMS])
def test_mpi(program):
    run(program)


@pytest.mark.long
@pytest.mark.parametrize("program", PROGRAMS)
def test_mpich(program):
    run(program, "--mpich", mpi.MPICH)


@pytest.mark.long
def test_plain():
    """No options of UCX: the guests' own settings, as docs/mpi.md has them, and UCX's choice. Between guests that is not shared
    memory."""
    before = hca.total("bytes_sent")
    try:
        for guest in ("guest1", "guest2"):
            lab.run(guest, 'mkdir -p ~/.openmpi && echo "pml = ucx" >~/.openmpi/mca-params.conf')
        said = lab.run(
            "guest1",
            f"{mpi.RUN} -x UCX_LOG_LEVEL=info {lab.THERE}/all-to-all --most 65536 2>&1",
        )
    finally:
        for guest in ("guest1", "guest2"):
            lab.run(guest, "rm -f ~/.openmpi/mca-params.conf")
    assert "all-to-all: passed" in said, said
    assert any("tag(rc_verbs/xenib0:1" in line for line in said.splitlines() if "intra-node" in line), said
    assert hca.total("bytes_sent") - before >= 2 * 65536, said
