# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Other people's programs for verbs and rdma_cm, beside perftest and those of rdma-core: from the user lands of other releases, with our
provider, server in guest1, client in guest2. The server goes on until it is ended, or has served one client."""

import pytest

from harness import cm, ipoib, lab, tcp, ulps
from harness.user_land import UserLand

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("interfaces"), pytest.mark.timeout(300)]

SERVER, CLIENT = "guest1", "guest2"
ADDRESS = ipoib.ADDRESS[SERVER]

# Its tests by transport; "ver" are those that look at what has come.
QPERF = {
    "rc": "rc_lat rc_bw rc_bi_bw",
    "rc-rdma": "rc_rdma_read_lat rc_rdma_read_bw rc_rdma_write_lat rc_rdma_write_bw rc_rdma_write_poll_lat",
    "atomics": "rc_compare_swap_mr rc_fetch_add_mr ver_rc_compare_swap ver_rc_fetch_add",
    "uc": "uc_lat uc_bw uc_bi_bw uc_rdma_write_lat uc_rdma_write_bw uc_rdma_write_poll_lat",
    "ud": "ud_lat ud_bw ud_bi_bw",
}
FIO = ["read", "write"]  # the verb by which the client moves its data; with "send" it stops if the other has no buffer in time
LIBFABRIC = {"msg": "verbs", "rdm": "verbs;ofi_rxm"}  # a kind of endpoint, and a provider that has it


@pytest.fixture(scope="module")
def interfaces(user_lands):
    with ipoib.reaching([(CLIENT, SERVER)]):
        yield


@pytest.fixture(scope="module", params=["debian12", "sid"])
def land(interfaces, request):
    land = UserLand(request.param, ours=True)
    land.install_provider(SERVER, CLIENT)
    return land


@pytest.mark.parametrize("tests", QPERF.values(), ids=QPERF)
def test_qperf(land, tests):
    port = next(cm.PORTS)
    with tcp.server(SERVER, port, land.line(f"qperf -lp {port}")):
        said = lab.run(CLIENT, land.line(f"qperf -lp {port} -t 2 -m 4096 -i xenib0 {ADDRESS} {tests}"), merge=True)
    for name in tests.split():
        assert f"{name}:" in said, said


@pytest.mark.parametrize("verb", FIO)
def test_fio(land, verb):
    port = next(cm.PORTS)
    both = f"fio --name={verb} --ioengine=rdma --port={port} --bs=64k --size=4m"
    with cm.listening(SERVER, port, land.line(f"{both} --rw=read --iodepth=16")) as server, ulps.sending(4 * ulps.MIB):
        lab.run(CLIENT, land.line(f"{both} --rw=write --hostname={ADDRESS} --verb={verb} --iodepth=4"), merge=True)
        server.finish()


@pytest.mark.parametrize("endpoint", LIBFABRIC)
def test_libfabric(land, endpoint):
    words = f"fi_pingpong -p '{LIBFABRIC[endpoint]}' -e {endpoint} -c -I 20"
    with tcp.server(SERVER, 47592, land.line(words)) as server:
        lab.run(CLIENT, land.line(f"{words} {ADDRESS}"), merge=True)
        server.finish()
