# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# What folders of small programs have in common; they run in the lab's machines. Before such a Makefile includes this
# file it sets
#
#   O          where the results go, unless it was given
#   PROGRAMS   their names: NAME.c with all NAME_*.c, or all of the folder NAME/
#   SHARED     what all of them have beside that, without .c; or NAME_WITH for one
#   INCLUDES   of each compilation
#   LIBS       that are linked, as far as a program needs them
#   SOURCES    other folders with what is shared
#
# and has the targets all and clean.

CC := $(if $(filter default,$(origin CC)),gcc,$(CC))

CFLAGS ?= -O2 -g
COMMON := -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -MMD -MP $(INCLUDES)

# Objects of another compiler are of no use, so each has a directory of its own.
OBJ := $(O)/obj/$(notdir $(firstword $(CC)))

Q := $(if $(V),,@)
vpath %.c $(CURDIR) $(SOURCES)

.PHONY: all clean
.SECONDARY:

all: $(PROGRAMS:%=$(O)/%)

$(OBJ)/%.o: %.c
	@mkdir -p $(@D)
	@echo '  CC  $(@F)'
	$(Q)$(CC) $(COMMON) $(CFLAGS) -c -o $@ $<

define program
$(O)/$(1): $(patsubst %.c,$(OBJ)/%.o,$(wildcard $(1).c $(1)_*.c $(1)/*.c)) \
		$(patsubst %,$(OBJ)/%.o,$(SHARED) $($(1)_WITH))
	@echo '  LD  $$(@F)'
	$$(Q)$$(CC) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$^ -Wl,--as-needed $$(LIBS)
endef
$(foreach p,$(PROGRAMS),$(eval $(call program,$(p))))

clean:
	rm -rf $(O)

-include $(wildcard $(OBJ)/*.d $(OBJ)/*/*.d)
