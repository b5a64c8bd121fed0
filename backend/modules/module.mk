# SPDX-License-Identifier: GPL-2.0
#
# What the Makefiles of the modules share. They set NAME, and SOURCES, what Kbuild compiles and what that includes.
#
#   make [all]   builds it in O, against the kernel headers in KDIR
#   make sparse  the same, with sparse
#   make dkms    a source tree for DKMS in $(DESTDIR)/usr/src
#   make clean

include ../../../version.mk

O ?= $(abspath $(CURDIR)/../../../build/backend/modules/$(NAME))
KDIR ?= $(lastword $(sort $(wildcard /usr/src/linux-headers-*-amd64)))
Q := $(if $(V),,@)

DKMS_DIR := $(DESTDIR)/usr/src/$(NAME)-$(PACKAGE_VERSION)

.PHONY: all modules sparse dkms clean

# Kbuild leaves its results beside the sources, so it is given links to them in a folder of its own.
all:
	@test -n "$(KDIR)" || { echo 'No kernel headers: install linux-headers-amd64, or give KDIR=DIR' >&2; exit 1; }
	@mkdir -p $(O)
	@for file in $(abspath Kbuild $(SOURCES)); do ln -sf $$file $(O)/; done
	@echo '  KMOD $(NAME).ko'
	$(Q)$(MAKE) --no-print-directory -s -C $(KDIR) M=$(O) O=$(KDIR) $(if $(filter sparse,$(MAKECMDGOALS)),C=2 CF="-D__CHECK_ENDIAN__ -Wsparse-error") W=1 KCFLAGS=-Werror RELEASE=$(VERSION) modules

modules sparse: all

dkms:
	install -d $(DKMS_DIR)
	install -m 644 Kbuild $(SOURCES) $(DKMS_DIR)
	sed 's/#VERSION#/$(PACKAGE_VERSION)/' dkms.conf >$(DKMS_DIR)/dkms.conf

clean:
	rm -rf $(O)
