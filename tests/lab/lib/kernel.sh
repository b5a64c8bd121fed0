# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Kernels beside the stock one. Those that come as packages have a root of their own, in which modules are compiled
# for them. Others are compiled here, by Debian's source and a configuration in kernel/: "debug", which machines can
# run, and "kunit". All are cached as the roots are, and made when they are asked for.
# shellcheck shell=bash

readonly PACKAGED_KERNELS=(debian12 backports)
readonly KERNELS=(stock debug "${PACKAGED_KERNELS[@]}") # that machines run
readonly KERNEL_MIB=4000 # while one is compiled

# is_packaged KERNEL
is_packaged() { [[ " ${PACKAGED_KERNELS[*]} " = *" $1 "* ]]; }

# The key of a kernel: the source and the compilers (the root's stamp has their versions), the patches, the
# configuration, and what makes it.
kernel_key() {
	! is_packaged "$1" || { root_key "linux-$1"; return; }
	{
		cat "$(root_dir kernel)/.lab-stamp" "$LAB_DIR/kernel/$1.config" "$LAB_DIR"/kernel/{make,*.patch}
		declare -f make_kernel
	} | short_hash
}

kernel_dir() { printf '%s/linux-%s-%s' "$CACHE" "$1" "$(kernel_key "$1")"; }

# as_guests COMMAND...: with the guests' kernel instead of dom0's
as_guests() {
	local KERNEL=$GUEST_KERNEL
	"$@"
}

# other_guests: have guests another kernel than dom0, and so another root image?
other_guests() { [ "$GUEST_KERNEL" != "$KERNEL" ]; }

# The stock kernel is in the tools root.
kernel_there() {
	[ "$1" != stock ] || return 0
	! is_packaged "$1" || { [ -e "$(kernel_dir "$1")/.lab-stamp" ]; return; }
	[ -e "$(root_dir kernel)/.lab-stamp" ] && [ -e "$(kernel_dir "$1")/vmlinux" ]
}

# make_kernel NAME DESTINATION
make_kernel() {
	local targets=(vmlinux modules)
	[ "$1" = debug ] || targets=(bzImage modules)
	mkdir -p "$2"
	enter "$(root_dir kernel)" --bind "$2" -- nice "$LAB_DIR/kernel/make" "$LAB_DIR/kernel/$1.config" "$2" "${targets[@]}"
}

# ensure_kernel NAME
ensure_kernel() {
	local dir partial
	! is_packaged "$1" || { ensure_root "linux-$1"; return; }
	[ "$1" = stock ] || ensure_root kernel
	! kernel_there "$1" || return 0
	dir=$(kernel_dir "$1")
	need_space "$CACHE" "$KERNEL_MIB" "compiling a kernel"
	partial=$CACHE/partial-linux-$1.$$
	step "compiling the $1 kernel (six minutes on two cores)" "$CACHE/log/linux-$1.log" make_kernel "$1" "$partial" ||
		die "$EX_HOST" "the $1 kernel could not be made" "the whole log is $CACHE/log/linux-$1.log"
	mv "$partial" "$dir"
}

# ensure_kernel_quickly NAME: nothing but a look when it is there
ensure_kernel_quickly() {
	! kernel_there "$1" || return 0
	need_root
	with_cache_lock build_kernel "$1"
}

build_kernel() {
	remove_partial
	ensure_kernel "$1"
}
