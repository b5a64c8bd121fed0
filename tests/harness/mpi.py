# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""MPI jobs of the guests, one rank in each (docs/mpi.md)."""

from harness import TESTS, lab, process

# Open MPI, without a choice of what it uses
RUN = (
    "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --host guest1,guest2 --bind-to none"
    " --prtemca plm_ssh_agent 'dbclient -y -y'"
)

MPICH = f"{lab.THERE}/mpich"  # the programs for it


def make_hosts():
    """They have the programs, and guest1 may log in to both."""
    words = ["bash", "-c", '. "$0"; make_hosts "$@"', TESTS / "programs" / "mpi" / "hosts", lab.THERE, "guest1", "guest2"]
    process.check(*words, env={"LAB": lab.LAB}, merge=True)
