# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Running commands inside a root, and QEMU and socat out of it.
# shellcheck shell=bash

# enter ROOT [--bind DIR]... -- COMMAND...: runs COMMAND in ROOT, in a mount
# namespace of its own, so that no mount is ever seen, or left, outside. The
# checkout and each DIR are there under their own paths; whatever else the
# command writes goes to an overlay in memory and is gone afterwards. The
# working directory is kept when it exists inside.
enter() {
	local root=$1 binds=("$TOP")
	shift
	while [ "$1" = --bind ]; do
		binds+=("$2")
		shift 2
	done
	[ "$1" != -- ] || shift
	need_root
	LAB_ROOT=$root LAB_SCRATCH=$CACHE/mnt LAB_CWD=$PWD LAB_BINDS=$(printf '%s\n' "${binds[@]}") \
		unshare --mount --propagation private -- bash "$LAB_DIR/lib/enter-inner" "$@"
}

in_tools() { enter "$(root_dir tools)" "$@"; }

# tool_words PROGRAM: sets TOOL to the words that run a program of the tools
# root on the host, through that root's own loader and libraries: no chroot, so
# no root and no mounts, and no matter how old the host's own libraries are.
# TOOL_PRELOAD may name libraries that go before all others, with colons between them.
tool_words() {
	local root
	root=$(root_dir tools)
	TOOL=("$root/usr/lib64/ld-linux-x86-64.so.2" ${TOOL_PRELOAD:+--preload "$TOOL_PRELOAD"}
		--library-path "$root/usr/lib/x86_64-linux-gnu" "$root/usr/bin/$1")
}

# tool PROGRAM ARG...
tool() {
	tool_words "$1"
	shift
	"${TOOL[@]}" "$@"
}
