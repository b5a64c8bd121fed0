# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Programs that listen at a port of TCP."""

import contextlib

from harness import lab, wait


@contextlib.contextmanager
def server(where, port, command):
    """It listens at that port."""
    with lab.running(where, command) as process:
        wait.until(f"somebody listens at {port}", lambda: lab.run(where, f"ss -Hltn 'sport = :{port}'"))
        yield process
