# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The version that DKMS knows the modules by, and their sources' folders in /usr/src are named
# after. It is that of the packages.
MODULE_VERSION := $(shell sed -n '1s/.*(\(.*\)).*/\1/p' $(dir $(lastword $(MAKEFILE_LIST)))debian/changelog)
