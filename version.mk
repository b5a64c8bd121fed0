# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The one source of the version is the first line of debian/changelog.
#
#   PACKAGE_VERSION  the packages' and DKMS's, after which the folders in /usr/src are named
#   VERSION          what programs and modules report. Packages set it to PACKAGE_VERSION. A build
#                    from a checkout adds its commit, unless that is the one with the release's tag

VERSION_DIR := $(dir $(abspath $(lastword $(MAKEFILE_LIST))))
PACKAGE_VERSION := $(shell sed -n '1s/.*(\(.*\)).*/\1/p' $(VERSION_DIR)debian/changelog)

ifndef VERSION
COMMIT := $(shell git -C $(VERSION_DIR) describe --always --dirty --match 'v$(PACKAGE_VERSION)' 2>/dev/null)
VERSION := $(PACKAGE_VERSION)$(addprefix +,$(patsubst v$(PACKAGE_VERSION)-%,%,$(filter-out v$(PACKAGE_VERSION),$(COMMIT))))
endif
