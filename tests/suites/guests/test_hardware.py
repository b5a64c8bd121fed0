# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The program for people with a real card (docs/hardware.md), on the lab."""

import re

import pytest

from harness import TESTS, hca, lab, process

pytestmark = [pytest.mark.usefixtures("guests"), pytest.mark.timeout(300), pytest.mark.long]


class Report:
    """What the program says, and its report."""

    def __init__(self, folder, *options):
        file = folder / "report"
        places = ["--host", "dom0", "--guests", "guest1 guest2", "--bare", "dom0", "--bare-device", "mlx5_1", "--output", file]
        self.said = process.check(TESTS / "programs" / "hardware" / "run", *places, *options, env={"REACH": f"{lab.LAB} run"}, merge=True)
        self.written = file.read_text()

    def result(self, name):
        """Of a check, which has to be the same in both."""
        said = re.search(rf"^(\S+)  *{name} ", self.said, re.MULTILINE)
        written = re.search(rf"^=== (\S+) {name}: ", self.written, re.MULTILINE)
        assert said and written and said[1] == written[1], f"{name}:\n{self.said}\n{self.written}"
        return said[1]


def test_short(tmp_path):
    """What is true of the model is found, what it has not is found missing. Figures may say what they like."""
    report = Report(tmp_path, "--short")
    for name in "ready family cqe-version doorbell-page umr windows guest-programs bare-pairs".split():
        assert report.result(name) == "holds", report.said
    assert report.result("dma-bufs") == ("holds" if hca.has_odp() else "FAILS"), report.said
    assert report.result("odp") == report.result("static-rates") == "FAILS", report.said
    for name in "blueflame loopback write-latency write-bandwidth".split():
        assert re.search(rf"^(holds|FAILS) +{name} ", report.said, re.MULTILINE), report.said
    # On a busy host perftest may have no times.
    figures = re.search(r"^=== .* write-latency.*\n(.*\n)?(.*\n)?", report.written, re.MULTILINE)[0]
    assert re.search(r"^ +2 +[0-9.]+ +[0-9.]+ +[0-9.]+$|^no results", figures, re.MULTILINE), report.written


def test_unknown(tmp_path):
    """What cannot be asked is unknown."""
    report = Report(tmp_path, "--device", "nonesuch", "--only", "family", "--only", "mkey-by-name")
    assert (report.result("family"), report.result("mkey-by-name")) == ("FAILS", "unknown"), report.said
