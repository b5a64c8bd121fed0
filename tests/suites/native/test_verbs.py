# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The programs of tests/programs/verbs in dom0, a side on each HCA.

With NATIVE=others in the environment only XRC: guests run all of them.
"""

import os

import pytest

from harness import lab, programs


def wanted(name):
    return name not in programs.NOT_LIBMLX5 and (os.environ.get("NATIVE") != "others" or name.startswith("xrc-"))


def command(program):
    return lab.run_words("dom0", f"{lab.THERE}/{program}", "--results", "-d", "mlx5_0", "-D", "mlx5_1")


@pytest.fixture(scope="module")
def batch(dom0, request):
    with programs.Batch(request, command) as batch:
        yield batch


@pytest.mark.timeout(90)
@pytest.mark.parametrize("program, case", programs.cases("verbs", *programs.VERBS, wanted=wanted, long=["xrc-send"]))
def test_verbs(batch, program, case):
    batch.run(program, case)
