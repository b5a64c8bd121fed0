# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What tests have in common: calling commands, the lab, its machine, its consoles, C programs."""

import os
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
TESTS = TOP / "tests"
BUILD = TOP / "build"

# What machines run: Debian's kernel, or one with the kernel's own checkers (docs/lab.md).
KERNEL = os.environ.get("KERNEL") or "stock"
GUEST_KERNEL = os.environ.get("GUEST_KERNEL") or KERNEL

# What time limits are multiplied by. They find what hangs, on busy machines too: no test is about time.
PATIENCE = int(os.environ.get("PATIENCE") or (12 if KERNEL == "debug" else 3))

# The lab's name, also for programs that call the lab by themselves.
LAB_NAME = os.environ.setdefault("LAB_NAME", "tests")
