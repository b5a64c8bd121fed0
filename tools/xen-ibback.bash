# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Completion of xen-ibback for bash.
# shellcheck shell=bash

complete -W '--verbose --unconfined --help --version' xen-ibback
