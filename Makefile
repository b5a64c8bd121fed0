# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Everything is compiled for Debian 13, inside of the lab's tools root, which is made from
# Debian packages on first use: the result does not depend on what this machine has installed.

LAB := $(CURDIR)/tests/lab/lab
PYTEST ?= $(firstword $(shell command -v pytest-3 pytest) pytest-3)
IN_ROOT := $(LAB) root tools --

# Folders with a Makefile of their own.
ROOMS := shared-ring frontend provider backend tools tests/hca tests/lab/qemu tests/programs/verbs tests/programs/isolation tests/programs/hardware tests/programs/ktest tests/programs/mpi tests/programs/ulps benchmarks/programs benchmarks/counter
# Those of which something is installed.
SHIPPED := backend tools frontend provider
PREFIX ?= /usr/local
# What the lab's machines run: Debian's kernel (stock), one with the kernel's own checkers on (debug), Debian 12's (debian12),
# or the newest of Debian's backports (backports). The modules that we compile for another than the stock one are in
# build/KERNEL, and nothing of it is installed or packed.
KERNEL ?= stock
export KERNEL
MODULE_ROOT = $(if $(filter stock debug,$(KERNEL)),tools --kernel $(KERNEL),linux-$(KERNEL))
MODULES := frontend backend/modules/xen-ibdma backend/modules/xen-ibgrant backend/modules/xen-ibgsi tests/programs/ktest
SUITES ?= $(if $(filter stock,$(KERNEL)),unit) native guests
# Where a suite's tests are.
TESTS_unit := tests/host
TESTS_native := tests/suites/native
TESTS_guests := tests/suites/guests
TESTS_kunit := tests/suites/kunit
TESTS_OF = $(foreach suite,$(1),$(or $(TESTS_$(suite)),$(error there is no suite $(suite), but unit, native, guests and kunit)))
# Only tests that match: pytest's -k
export K
HCAS ?= 1
JOBS ?= $(shell nproc)
include version.mk

.PHONY: all modules bench stage install install-here deb deb-guest lintian demo hardware lab test test-long test-native unit kunit fuzz mutants clean distclean help $(ROOMS)

all: $(ROOMS) stage $(if $(filter stock,$(KERNEL)),,modules)

$(ROOMS): roots
	+$(IN_ROOT) $(MAKE) --no-print-directory -j$(JOBS) -C $(CURDIR)/$@ VERSION=$(VERSION)

modules: roots
	+for room in $(MODULES); do \
		$(LAB) root $(MODULE_ROOT) -- $(MAKE) --no-print-directory -C $(CURDIR)/$$room modules \
			O=$(CURDIR)/build/$(KERNEL)/$$room VERSION=$(VERSION) || exit 1; \
	done

tools: backend	# its common.a

# What the lab puts on its machines, and what the packages hold.
STAGE := $(CURDIR)/build/stage

stage: $(SHIPPED)
	@rm -rf $(STAGE)
	@+$(IN_ROOT) $(MAKE) --no-print-directory -s -C $(CURDIR) install-here DESTDIR=$(STAGE) PREFIX=/usr VERSION=$(VERSION)

# Made in the tools root, which sees nothing but the checkout, and copied from there.
install: $(SHIPPED)
	@rm -rf $(CURDIR)/build/install
	@+$(IN_ROOT) $(MAKE) --no-print-directory -s -C $(CURDIR) install-here \
		DESTDIR=$(CURDIR)/build/install PREFIX=$(PREFIX) VERSION=$(VERSION)
	mkdir -p $(DESTDIR)/
	cp -a $(CURDIR)/build/install/. $(DESTDIR)/

PAGES := README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md $(wildcard docs/*.md)

# Without the tools root, for those who are in it, or have all it takes.
install-here:
	+for room in $(SHIPPED); do $(MAKE) -C $$room install DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) || exit 1; done
	$(if $(PAGES),install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/doc/xen-ib $(filter-out docs/%,$(PAGES)))
	$(if $(PAGES),install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/doc/xen-ib/docs $(filter docs/%,$(PAGES)))

# The source package is a copy of the sources, so that nothing which was built here gets in, and rdma-core's headers
# beside the provider. The others are made of it, without a network.
DEB := $(CURDIR)/build/deb

deb: provider
	@rm -rf $(DEB)
	$(call source_package,$(DEB))
	+cd $(DEB)/xen-ib && $(IN_ROOT) unshare --net dpkg-buildpackage -us -uc --no-check-builddeps
	@rm -rf $(DEB)/xen-ib
	@ls $(DEB)/*.dsc $(DEB)/*.deb

# Those of guests for another release of Debian: USER_LAND=debian12 or sid, in that one's root. What its rdma-core shares
# the interface of providers with has the headers, too; else they are fetched.
DEB_GUEST := $(DEB)-$(USER_LAND)
IN_USER_LAND := $(LAB) root user-$(USER_LAND) --

deb-guest: provider
	@[ -n "$(USER_LAND)" ] || { echo 'For which release? make deb-guest USER_LAND=debian12, or sid' >&2; exit 2; }
	@rm -rf $(DEB_GUEST)
	$(call source_package,$(DEB_GUEST))
	@cd $(DEB_GUEST)/xen-ib/provider && { $(IN_USER_LAND) ./fetch-rdma-core rdma-core 2>/dev/null || \
		{ rm -r rdma-core && $(IN_USER_LAND) ./fetch-rdma-core rdma-core && touch rdma-core/embedded; }; }
	+cd $(DEB_GUEST)/xen-ib && $(IN_USER_LAND) unshare --net \
		dpkg-buildpackage -b -us -uc --no-check-builddeps --build-profiles=pkg.xen-ib.guest
	@rm -rf $(DEB_GUEST)/xen-ib
	@ls $(DEB_GUEST)/*.deb

# $(1): where to
define source_package
	@mkdir -p $(1)/xen-ib
	git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t $(1)/xen-ib
	cp -r $(CURDIR)/build/rdma-core $(1)/xen-ib/provider/
	touch $(1)/xen-ib/provider/rdma-core/embedded
endef

# Fetches lintian into the tools root's overlay, which forgets it afterwards.
lintian: deb
	$(IN_ROOT) $(CURDIR)/tests/host/packages/lintian $(DEB)/xen-ib_*.changes

.PHONY: roots
roots:
	$(LAB) build

demo: all
	$(CURDIR)/benchmarks/demo --hcas $(HCAS)

bench: all
	$(CURDIR)/benchmarks/bench $(if $(QUICK),--quick)

# On real machines, reached by ssh: docs/hardware.md.
hardware: tests/programs/verbs tests/programs/isolation tests/programs/hardware benchmarks/programs
	$(CURDIR)/tests/programs/hardware/run --host '$(HOST)' --guests '$(GUESTS)' $(if $(BARE),--bare '$(BARE)') $(HARDWARE)

lab: tests/hca tests/lab/qemu
	$(LAB) up --hcas 2
	@echo
	@echo 'The lab is up: Xen, a Debian dom0, two HCAs. Try:'
	@echo '  tests/lab/lab run dom0 ibv_devinfo'
	@echo '  tests/lab/lab console dom0'
	@echo '  tests/lab/lab down'

# In dom0 alone what it sees of its HCAs, and XRC; what guests run, too, is in test-native.
test: export NATIVE ?= others
test: have-pytest all
	@$(call run_pytest,not long,$(call TESTS_OF,$(SUITES)))

# The rest: what takes long, or is there to be repeated. It goes on where it was broken off.
test-long: have-pytest all
	@$(call run_pytest,long,--resume $(call TESTS_OF,$(SUITES)))

test-native: have-pytest tests/hca tests/lab/qemu tests/programs/verbs backend
	@$(call run_pytest,not long,$(TESTS_native))

unit: have-pytest tests/hca stage
	@$(call run_pytest,not long,$(TESTS_unit))

# $(1): of these marks, $(2): where
run_pytest = $(PYTEST) -v -m '$(1)' $(if $(K),-k "$$K") --durations 20 --durations-min 5 --junitxml build/tests/results.xml $(2)

# The C files as .clang-format wants them
.PHONY: format
format: roots
	git ls-files -z '*.c' '*.h' | xargs -0 $(IN_ROOT) clang-format -i

.PHONY: have-pytest
have-pytest:
	@$(PYTEST) --markers >/dev/null || \
		{ echo 'The tests need pytest and pytest-timeout: apt-get install python3-pytest python3-pytest-timeout' >&2; exit 1; }

# KUnit cases of the frontend, in a kernel with KASAN, which is compiled on first use.
kunit: have-pytest roots
	@$(LAB) root tools --kernel kunit -- true
	@$(call run_pytest,not long,$(TESTS_kunit))

# FUZZ_RUNS inputs for each fuzzer, and FUZZ_SECONDS at most; one that finds something does not end the others.
FUZZ_RUNS ?= 1000000
FUZZ_SECONDS ?= 120
fuzz: roots
	+failed=; for room in shared-ring provider backend tests/hca; do \
		$(IN_ROOT) $(MAKE) --no-print-directory -k -j$(JOBS) -C $(CURDIR)/$$room fuzz \
			FUZZ_RUNS=$(FUZZ_RUNS) FUZZ_SECONDS=$(FUZZ_SECONDS) || failed=1; \
	done; test -z "$$failed"

# Is each of some hundred faults noticed by a unit test? Minutes on two quiet cores.
mutants: provider
	$(IN_ROOT) $(CURDIR)/tests/mutants/run $(MUTANTS)

clean:
	rm -rf $(CURDIR)/build

distclean: clean
	$(LAB) gc --all

help:
	@echo 'make              build everything (the first time: makes the root file systems, ~3 minutes)'
	@echo 'make demo         Xen with two guests that share an HCA, measured beside dom0 (HCAS=2: two HCAs)'
	@echo 'make bench        guests beside dom0, figure by figure: table and plots (QUICK=1: a few minutes)'
	@echo 'make hardware     HOST=dom0 GUESTS="a b" [BARE=c]: on machines with a real card (docs/hardware.md)'
	@echo 'make install      into DESTDIR, below PREFIX ($(PREFIX)); what that is: docs/install.md'
	@echo 'make deb          Debian packages, and their source package, in build/deb'
	@echo 'make deb-guest    USER_LAND=debian12|sid: those of guests for that release, in build/deb-NAME'
	@echo 'make lintian      what lintian says of them (fetches it)'
	@echo 'make lab          start Xen with a Debian dom0 and two HCAs on this machine'
	@echo 'make test         the gate:' $(SUITES) '(a little of it in dom0 alone; NATIVE=all: there what guests run, too;'
	@echo '                  SUITES="unit guests": these alone; K=EXPR: what matches, as by "pytest -k"; KERNEL=debug: on a kernel'
	@echo '                  with lockdep, kmemleak and the like, without unit; the first time it is compiled, ~6 minutes)'
	@echo 'make test-long    the rest: what takes long, or is there to be repeated'
	@echo 'make test-native  what stock software does on the HCAs in dom0: the native baseline'
	@echo 'make unit         unit tests, fuzzers for a moment, packages: no machine started'
	@echo '                  JOBS=N: compile so many files at once'
	@echo 'make kunit        KUnit cases of the frontend, in a kernel with KASAN (compiled on first use, ~6 minutes)'
	@echo 'make fuzz         every fuzzer, FUZZ_RUNS=$(FUZZ_RUNS) inputs, no longer than FUZZ_SECONDS=$(FUZZ_SECONDS) each'
	@echo 'make mutants      breaks the code in one place at a time: do unit tests notice? (MUTANTS="backend/admin/control.c tools": these)'
	@echo 'make format       lays out the C files as .clang-format says'
	@echo 'make clean        remove build/;  make distclean: the cached root file systems as well'
	@echo
	@echo 'Needs root, and a Debian package mirror (MIRROR=..., or the one apt is configured with); tests need python3-pytest and'
	@echo 'python3-pytest-timeout.'
	@echo 'tests/lab/lab --help and docs/testing.md tell more.'
