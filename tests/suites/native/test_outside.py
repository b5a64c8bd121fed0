# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Programs in dom0 that are killed, and HCAs in which something breaks: seen from outside of the machine."""

import pytest

from harness import hca, lab, pairs, rdma, wait

pytestmark = [pytest.mark.usefixtures("dom0"), pytest.mark.timeout(180)]

BOTH_HCAS = ["-d", "mlx5_0", "-D", "mlx5_1"]


@pytest.mark.long
@pytest.mark.parametrize("killed", ["client", "server", "client server"])
def test_kill(killed):
    """A program is killed in mid-traffic: nothing is left of it in the HCA."""
    # The first user of an HCA has the driver make some objects for its own use.
    pairs.run("dom0")
    before = hca.objects()
    pids = dict(zip(("server", "client"), lab.run("dom0", f"{lab.THERE}/in-dom0", "traffic", "start").split()))
    try:
        hca.until_messages(200)
        assert hca.objects() != before, "the programs have no objects"
        lab.run("dom0", "kill", "-9", *(pids[side] for side in killed.split()))
        # Who lost its peer gives up by itself, with an error.
        hca.until_objects_are("nothing is left of the programs", before)
    finally:
        lab.call("dom0", "kill", "-9", *pids.values())
    pairs.run("dom0")


def test_link_flap():
    with lab.running("dom0", f"{lab.THERE}/events", "--verbose", *BOTH_HCAS, "port-flap") as events:
        events.until_says("waiting: link down")
        with hca.link_down():
            events.until_says("waiting: link up")
        events.finish()


def test_asyncwatch():
    with lab.running("dom0", "stdbuf", "-oL", "ibv_asyncwatch", "-d", "mlx5_0") as watch:
        watch.until_says("async event FD")
        with hca.link_down():
            watch.until_says("PORT_ERR")
        watch.until_says("PORT_ACTIVE")


def integrity(max_size, *cases):
    lab.run("dom0", f"{lab.THERE}/integrity", *BOTH_HCAS, "--max-size", max_size, *cases, merge=True)


@pytest.mark.long
def test_packet_loss():
    """Two packets of a hundred are lost: reliable traffic is slower, and right."""
    with hca.faulty("drop-rate", 20):
        before = hca.total("packets_retried")
        integrity(16384, "rc-send", "rc-write", "rc-read", "rc-send-srq", "atomics", "order-pipeline")
        pairs.run("dom0")
        assert hca.total("packets_retried") > before, "no packet was sent twice: nothing was lost, and nothing tested"


@pytest.mark.long
def test_packet_delay():
    with hca.faulty("delay", 300):
        integrity(4097, "rc-send", "rc-write", "rc-read", "uc-send", "ud-send")


@pytest.mark.long
def test_failed_command():
    """The firmware refuses to make a QP: the program says so and ends, and the next one works."""
    with hca.faulty("fail-command", "CREATE_QP", "--count", 1, "--function", 0):
        result = lab.call("dom0", "ibv_rc_pingpong", "-d", "mlx5_0", merge=True)
        assert result.status != 0 and "Couldn't create QP" in result.out, str(result)
    pairs.run("dom0")


@pytest.mark.long
def test_device_fatal():
    """The firmware of the first HCA crashes: its users are told, and the driver brings it back."""
    with lab.running("dom0", f"{lab.THERE}/events", "--verbose", *BOTH_HCAS, "device-fatal") as events:
        events.until_says("waiting: device fatal")
        hca.fault("fatal", "on", "--function", 0)
        try:
            events.finish()
        finally:
            hca.fault("fatal", "off", "--function", 0)
    wait.until("the HCA is ACTIVE again", lambda: rdma.active("dom0", "mlx5_0"))
    pairs.run("dom0")
