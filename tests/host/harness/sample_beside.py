# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Another module, with a fixture of the same name as in sample.py, and cases of the same program."""

import pytest

from host.harness.sample import batch


@pytest.mark.timeout(1)
@pytest.mark.parametrize("program", ["cases"])
@pytest.mark.parametrize("case", ["elsewhere"])
def test_beside(batch, program, case):
    batch.run(program, case)
