# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Checks of option values, and the settings of a lab with their defaults.
# shellcheck shell=bash

MACHINES=1 HCAS=1 GUESTS=0 SPARE=0 TYPE=pv VCPUS=1 GUEST_MEM=384
# As the environment says, or stock; dom0's, and guests' if that is another one.
KERNEL=${KERNEL:-stock}
GUEST_KERNEL=${GUEST_KERNEL:-$KERNEL}
DOM0=pv DOM0_VCPUS='' MEM=1024 XEN_ARGS='' DOM0_ARGS='' GUEST_EXTRA='' KEEP='' IOMMU='' SM='' USER_LANDS=''

# number OPTION VALUE LOW HIGH
number() {
	[[ $2 =~ ^[0-9]{1,6}$ ]] && [ "$2" -ge "$3" ] && [ "$2" -le "$4" ] ||
		usage_error "$1 wants a number from $3 to $4, not '$2'"
	printf '%d' "$2"
}

# one_of OPTION VALUE CHOICE...
one_of() {
	local option=$1 value=$2 choice
	shift 2
	for choice; do
		[ "$value" != "$choice" ] || { printf '%s' "$value"; return; }
	done
	usage_error "$option wants one of: $*; not '$value'"
}
