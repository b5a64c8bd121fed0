# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# What the rooms (folders with a Makefile) with unit tests and fuzzers have in common. Any
# unit/test_*.c is a test program, any fuzz/fuzz_*.c a fuzzer. Before a room includes this file it
# sets what it needs of
#
#   ROOM        its folder, as seen from here
#   FLAGS       of each compilation, beside the usual ones; HARDEN: of what is installed, beside HARDENING
#   GENERATED   headers that have to be there before anything is compiled
#   PARTS       what tests and fuzzers are linked with: objects, archives
#   LINK        flags for linking these
#   MORE_TESTS  programs that are tests too
#   FUZZ_SMOKE  inputs for each fuzzer in 'make check', FUZZ_MAX_LEN their length
#
# and has these targets then, beside its own 'all':
#
#   make check      unit tests under ASan and UBSan, then each fuzzer for FUZZ_SMOKE inputs
#   make unit       the unit tests of these
#   make list       names what check runs
#   make fuzz       each fuzzer for FUZZ_RUNS inputs (or fuzz-NAME for one), for FUZZ_SECONDS at most; -j: side by side
#   make clean
#
# V=1 shows the commands, O=DIR puts the results elsewhere, CC=clang builds with clang (the fuzzers
# always do), WERROR= lets warnings be warnings. Packages set CFLAGS, HARDENING and LDFLAGS to what
# dpkg-buildflags says.

TOP := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
RULES := $(abspath $(MAKEFILE_LIST))
O ?= $(TOP)/build/$(ROOM)
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
FUZZ_CC ?= clang
FUZZ_RUNS ?= 1000000
FUZZ_SMOKE ?= 20000
FUZZ_MAX_LEN ?= 65536
include $(TOP)/version.mk

WERROR ?= -Werror
CFLAGS ?= -O2 -g
HARDENING ?= -fstack-protector-strong -fstack-clash-protection -fcf-protection -D_FORTIFY_SOURCE=3 \
	-Wformat -Werror=format-security
LDFLAGS ?= -Wl,-z,relro -Wl,-z,now
COMMON = -std=gnu17 -D_GNU_SOURCE -Wall -Wextra $(WERROR) -iquote $(CURDIR) $(FLAGS) -MMD -MP
SANITIZE := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ := $(SANITIZE) -fsanitize=fuzzer-no-link
Q := $(if $(V),,@)

TESTS := $(basename $(notdir $(wildcard unit/test_*.c)))
FUZZERS := $(basename $(notdir $(wildcard fuzz/fuzz_*.c)))

# Objects of another compiler are of no use, so each has a directory of its own.
OBJ := $(O)/obj/$(notdir $(firstword $(CC)))
SAN := $(OBJ)-sanitized
FUZ := $(O)/obj/fuzz

.DEFAULT_GOAL := all
.PHONY: all check unit fuzz fuzz-smoke tests fuzzers list clean FORCE
.SECONDARY:

# $(1): directory of the objects, $(2): compiler, $(3): flags
define objects
$(1)/%.o: %.c $(RULES) | $(GENERATED)
	@mkdir -p $$(@D)
	@echo '  CC  $$*.o'
	$$(Q)$(2) $$(COMMON) $(3) -c -o $$@ $$<
endef
$(eval $(call objects,$(OBJ),$(CC),$$(HARDEN) $$(HARDENING) $$(CFLAGS)))
$(eval $(call objects,$(SAN),$(CC),$$(SANITIZE)))
$(eval $(call objects,$(FUZ),$(FUZZ_CC),$$(FUZZ)))

# $(1): name of the macro. Rewritten only when the version is another one, so that nothing is relinked in vain. Several makes
# may do it at once.
define version_header
$(O)/version.h: FORCE
	@mkdir -p $$(@D)
	@new=$$@.$$$$$$$$; echo '#define $(1) "$(VERSION)"' >$$$$new; \
	if cmp -s $$@ $$$$new; then rm $$$$new; else mv $$$$new $$@; fi
endef

# What a test brings itself comes before the archive, which then has to supply only the rest.
$(O)/test_%: $(SAN)/unit/test_%.o $(PARTS:%=$(SAN)/%)
	@echo '  LD  $(@F)'
	$(Q)$(CC) $(SANITIZE) $(LINK) -o $@ $(filter-out %.a,$^) $(filter %.a,$^)

$(O)/fuzz_%: $(FUZ)/fuzz/fuzz_%.o $(PARTS:%=$(FUZ)/%)
	@echo '  LD  $(@F)'
	$(Q)$(FUZZ_CC) $(SANITIZE) -fsanitize=fuzzer $(LINK) -o $@ $^

tests: $(TESTS:%=$(O)/%) $(MORE_TESTS:%=$(O)/%)
fuzzers: $(FUZZERS:%=$(O)/%)

# For tests/host/test_rooms.py
list:
	@printf 'unit %s\n' $(TESTS) $(MORE_TESTS)
	@$(if $(FUZZERS),printf 'fuzz %s\n' $(FUZZERS))

unit: tests
	@failed=; for t in $(TESTS) $(MORE_TESTS); do \
		echo "== $$t"; $(TOP)/tests/host/within 120 $(O)/$$t || failed="$$failed $$t"; \
	done; \
	if test -n "$$failed"; then echo "failed:$$failed" >&2; exit 1; fi

check: unit fuzz-smoke

# $(1): fuzzer, $(2): inputs. What it finds is kept beside its program, as NAME-crash-*, NAME-timeout-*,
# NAME-oom-*. fuzz/corpus/NAME/ has inputs that it is given first and starts from: those that have found
# something, and some that get far. Each of them is given twice, as some fuzzers then see if it ends the
# same. fuzz/fuzz_NAME.dict has words that are worth trying.
define run_fuzzer
	@mkdir -p $(O)/corpus/$(1)
	@echo "== $(1)$(if $(filter-out -1,$(2)),: $(2) inputs)$(FUZZ_SECONDS:%=, at most % s)"
	@cd $(O) && run() { ./$(1) -timeout=20 -rss_limit_mb=2048 -verbosity=0 -print_funcs=0 -print_final_stats=1 \
		-artifact_prefix=$(O)/$(1)- "$$@" >$(1).log 2>&1 || \
		{ tail -n 60 $(1).log; echo "$(1) failed: $(O)/$(1).log" >&2; exit 1; } }; \
	$(if $(call kept,$(1)),FUZZ_TWICE=1 run $(call kept,$(1))/* &&) \
	run -runs=$(2) $(FUZZ_SECONDS:%=-max_total_time=%) -max_len=$(FUZZ_MAX_LEN) $(patsubst %,-dict=%,$(wildcard $(CURDIR)/fuzz/$(1).dict)) \
		corpus/$(1) $(call kept,$(1)) && \
	echo "$(1): $$(sed -n 's/^stat::number_of_executed_units: *//p' $(1).log) inputs, nothing found"

endef
kept = $(wildcard $(CURDIR)/fuzz/corpus/$(1:fuzz_%=%))

fuzz: $(FUZZERS:fuzz_%=fuzz-%)

fuzz-smoke: fuzzers
	$(foreach f,$(FUZZERS),$(call run_fuzzer,$(f),$(FUZZ_SMOKE)))

fuzz-%: $(O)/fuzz_%
	$(call run_fuzzer,fuzz_$*,$(FUZZ_RUNS))

clean:
	rm -rf $(O)

-include $(wildcard $(O)/obj/*/*.d $(O)/obj/*/*/*.d $(O)/obj/*/*/*/*.d)
