# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The initramfs of dom0 and guests: busybox, the few modules that find the root
# image, and everything under guest/. It is made afresh for each machine, so a
# change in guest/ needs no new root image.
# shellcheck shell=bash

# Some kernels have some of them built in, or not at all.
readonly INITRD_MODULES="crc32c_generic crc32c-intel virtio_pci virtio_console virtio_blk xen-blkfront ext4 overlay"

# make_initrd_base DESTINATION STAGE KERNEL_VERSION: the part that depends on
# the cached roots only.
make_initrd_base() {
	local out=$1 stage=$2 version=$3 module file
	mkdir -p "$out"/{bin,proc,sys,dev,modules,lab}
	cp "$stage/usr/bin/busybox" "$out/bin/busybox"
	ln -s busybox "$out/bin/sh"
	for file in mount insmod usleep mkdir cp switch_root poweroff; do
		ln -s busybox "$out/bin/$file"
	done
	: >"$out/modules/order"
	for module in $INITRD_MODULES; do
		chroot "$stage" modprobe -S "$version" --show-depends "$module"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r file; do
		cp "$stage$file" "$out/modules/"
		echo "${file##*/}" >>"$out/modules/order"
	done
}

pack_initrd() { (cd "$1" && find . | tool cpio -o -H newc --quiet) >"$2"; }

# unpacked_initrd DESTINATION KEYS: the kernel's modules that find the root image, and guest/.
unpacked_initrd() {
	rm -rf "$1"
	cp -a "$(boot_dir)/initrd" "$1"
	cp -p "$LAB_DIR"/guest/* "$1/lab/"
	mv "$1/lab/initramfs" "$1/init"
	cp "$2/host" "$1/lab/host-key"
	cp "$2/user.pub" "$1/lab/authorized_keys"
	hosts_file >"$1/lab/hosts"
	chmod 600 "$1/lab/host-key" "$1/lab/authorized_keys"
}

# make_initrds DESTINATION: guest.initrd, and dom0.initrd that holds it, so
# that dom0 can start guests. All machines have the keys of dom0's boot files.
make_initrds() {
	local out=$1 work=$1/initrd keys
	keys=$(boot_dir)/keys
	as_guests unpacked_initrd "$work" "$keys"
	pack_initrd "$work" "$out/guest.initrd"
	! other_guests || unpacked_initrd "$work" "$keys"
	cp "$out/guest.initrd" "$work/lab/guest.initrd"
	pack_initrd "$work" "$out/dom0.initrd"
	rm -rf "$work"
}
