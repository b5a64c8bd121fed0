# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Names and addresses of machines. Everything is one flat network, 10.77.0.0/16:
# machine M has 10.77.M.*, its dom0 is .1, its guest N is .(10 + N).
# shellcheck shell=bash

readonly MAX_MACHINES=2
readonly MAX_GUESTS=8

address_of() { # MACHINE GUEST (0 is dom0)
	if [ "$2" = 0 ]; then echo "10.77.$1.1"; else echo "10.77.$1.$((10 + $2))"; fi
}

hosts_file() {
	local m g name
	echo "127.0.0.1 localhost"
	for ((m = 1; m <= MAX_MACHINES; m++)); do
		for ((g = 0; g <= MAX_GUESTS; g++)); do
			name=guest$g
			[ $g != 0 ] || name=dom0
			[ $m != 1 ] || name="$name m1.$name"
			[ $m = 1 ] || name=m$m.$name
			echo "$(address_of $m $g) $name"
		done
	done
}

# split_where WHERE: sets M and G from "dom0", "guest2", "m2.dom0", "m2.guest1".
split_where() {
	local rest=$1
	M=1
	if [[ $rest =~ ^m([0-9]+)\.(.*)$ ]]; then
		M=${BASH_REMATCH[1]}
		rest=${BASH_REMATCH[2]}
	fi
	if [ "$rest" = dom0 ]; then
		G=0
	elif [[ $rest =~ ^guest([1-9][0-9]*)$ ]]; then
		G=${BASH_REMATCH[1]}
	else
		die "$EX_USAGE" "no machine is called '$1'" "names are dom0, guest1 ..., m2.dom0, m2.guest1 ..."
	fi
}

# canonical WHERE: the one name under which WHERE's sockets are kept; dies when
# the lab has no such machine.
canonical() {
	split_where "$1"
	[ "$M" -ge 1 ] && [ "$M" -le "$MACHINES" ] && [ "$G" -le $MAX_GUESTS ] ||
		die "$EX_STATE" "the lab '$NAME' has no $1" "see: lab status"
	if [ "$G" = 0 ]; then
		printf '%sdom0' "$(prefix_of "$M")"
	else
		printf '%sguest%s' "$(prefix_of "$M")" "$G"
	fi
}

# prefix_of M: what names of machine M begin with.
prefix_of() { [ "$1" = 1 ] || printf 'm%s.' "$1"; }
