# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The cached things that machines are made of: the two roots, and the boot
# files made from them and a kernel. Each has a folder named after a hash of all that it is
# made from; a folder is built under another name and renamed when complete.
# shellcheck shell=bash

SUITE=trixie # of a root that is being made, perhaps another
readonly CACHE_MIB=6000
# qemu-plugin.h of QEMU 11.1, as the source's signature is not looked at.
readonly PLUGIN_HEADER_SHA256=335d4e472067e914add598b60d1f7cf0dc029cd48f62f66656d6a88c54d8d9f9

packages_of() { sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$LAB_DIR/packages/$1" | tr -d ' \t'; }

short_hash() { sha256sum | cut -c1-12; }

suite_of() {
	case $1 in
	linux-debian12 | user-debian12) echo bookworm ;;
	user-sid) echo sid ;;
	*) echo trixie ;;
	esac
}

# The key of a root: its packages, and the functions that make it.
root_key() {
	{
		echo "$(suite_of "$1") amd64"
		packages_of "$1"
		declare -f make_root
		[ "$1" != tools ] || declare -f keep_checkpatch keep_plugin_header
		[ "$1" != user-pyverbs ] || declare -f keep_pyverbs_tests
	} | short_hash
}

# The key of the boot files: both roots as they are now, the kernel unless it is the stock one, and what makes them.
boot_key() {
	{
		cat "$(root_dir tools)/.lab-stamp" "$(root_dir target)/.lab-stamp"
		echo "$INITRD_MODULES"
		[ "$KERNEL" = stock ] || kernel_key "$KERNEL"
		declare -f make_boot make_modules make_vmlinux make_initrd_base
	} | short_hash
}

root_dir() { printf '%s/%s-%s' "$CACHE" "$1" "$(root_key "$1")"; }
boot_dir() { printf '%s/boot-%s' "$CACHE" "$(boot_key)"; }

# The Debian mirror: $MIRROR, or the one that this host's apt uses.
find_mirror() {
	local uri=${MIRROR:-}
	# shellcheck disable=SC2016 # apt expands it
	[ -n "$uri" ] || uri=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN)' 'Created-By: Packages' 2>/dev/null |
		awk '$2 == "Debian" && $1 !~ /security/ { print $1; exit }')
	[ -n "$uri" ] || die "$EX_HOST" "cannot tell which Debian mirror to use" \
		"run apt-get update, or set MIRROR to the address of a Debian mirror"
	printf '%s' "${uri%/}"
}

check_mirror() {
	local probe
	probe=$(mktemp)
	/usr/lib/apt/apt-helper download-file "$1/dists/$SUITE/InRelease" "$probe" >/dev/null 2>&1 || {
		rm -f "$probe"
		die "$EX_HOST" "no network: cannot fetch $1/dists/$SUITE/InRelease" \
			"check this host's network and its apt proxy settings, or set MIRROR to a Debian mirror that can be reached"
	}
	rm -f "$probe"
}

# make_root NAME DESTINATION MIRROR
make_root() {
	local include
	include=$(packages_of "$1" | paste -sd,)
	# INITRD=No: nothing ever boots the initramfs that the kernel package makes.
	INITRD=No mmdebstrap --mode=root --variant=apt --format=directory \
		--aptopt='APT::Install-Recommends "false"' \
		--aptopt='Acquire::Languages "none"' \
		--aptopt='Acquire::Retries "3"' \
		--dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		--include="$include" \
		"$SUITE" "$2" \
		"deb $3 $SUITE main" "deb $3 $SUITE-backports main"
	{ echo "$1"; chroot "$2" dpkg-query -W; } >"$2/.lab-stamp"
}

# keep_checkpatch ROOT: of the kernel's source, which is large, nothing but checkpatch stays.
keep_checkpatch() {
	chroot "$1" sh -c 'cd /usr/src && mkdir checkpatch && tar -xJf linux-source-*.tar.xz -C checkpatch \
		--strip-components=2 --wildcards "*/scripts/checkpatch.pl" "*/scripts/spelling.txt" "*/scripts/const_structs.checkpatch" &&
		rm linux-source-*'
}

# keep_plugin_header ROOT MIRROR: what plugins of QEMU are compiled with is nowhere but in its source. Releases of a series have the
# same header; a mirror need not have the source of the very one that the root has. Without it all works but benchmarks/cost.
keep_plugin_header() {
	local version series patch archive=$1/tmp/qemu.tar.xz headers=$1/usr/src/qemu
	# shellcheck disable=SC2016 # for dpkg-query
	version=$(chroot "$1" dpkg-query -W -f '${source:Upstream-Version}' qemu-system-x86)
	series=${version%.*}
	patch=${version#"$series."}
	for ((patch = ${patch%%+*}; patch >= 0; patch--)); do
		/usr/lib/apt/apt-helper download-file "$2/pool/main/q/qemu/qemu_$series.$patch+ds.orig.tar.xz" "$archive" && break
	done
	mkdir -p "$headers"
	tar -xJf "$archive" -C "$headers" --strip-components=3 --wildcards '*/include/plugins/qemu-plugin.h' &&
		echo "$PLUGIN_HEADER_SHA256  $headers/qemu-plugin.h" | sha256sum -c ||
		rm -rf "$headers"
	rm -f "$archive"
}

# keep_pyverbs_tests ROOT MIRROR: the tests are among the documentation of a package, which roots are without.
keep_pyverbs_tests() {
	local version archive=$1/tmp/pyverbs.deb folder=$1/tmp/pyverbs
	# shellcheck disable=SC2016 # for dpkg-query
	version=$(chroot "$1" dpkg-query -W -f '${Version}' python3-pyverbs)
	/usr/lib/apt/apt-helper download-file "$2/pool/main/r/rdma-core/python3-pyverbs_${version#*:}_amd64.deb" "$archive" &&
		dpkg-deb -x "$archive" "$folder" &&
		mv "$folder/usr/share/doc/rdma-core/tests" "$1/opt/pyverbs" &&
		find "$1/opt/pyverbs" -name '*.gz' -exec gunzip {} + &&
		rm -rf "$archive" "$folder"
}

# make_whole_root NAME DESTINATION MIRROR
make_whole_root() {
	if [ "$SUITE" = sid ]; then
		make_unstable_root "$@"
	else
		make_root "$@"
	fi
	[ "$1" != user-pyverbs ] || keep_pyverbs_tests "$2" "$3"
	[ "$1" = tools ] || return 0
	keep_checkpatch "$2"
	keep_plugin_header "$2" "$3"
}

# ensure_root NAME
ensure_root() {
	local name=$1 dir partial uri SUITE
	SUITE=$(suite_of "$name")
	dir=$(root_dir "$name")
	[ -z "${REFRESH:-}" ] && [ -e "$dir/.lab-stamp" ] && return 0
	need_space "$CACHE" "$CACHE_MIB" "building the lab"
	need_command mmdebstrap mmdebstrap
	uri=$(find_mirror)
	check_mirror "$uri"
	partial=$CACHE/partial-$name.$$
	step "making the $name root ($SUITE, $(packages_of "$name" | wc -l) packages and what they need)" \
		"$CACHE/log/$name.log" make_whole_root "$name" "$partial" "$uri" ||
		die "$EX_HOST" "the $name root could not be made" \
			"the whole log is $CACHE/log/$name.log" "try again; nothing half-made is kept"
	rm -rf "$dir"
	mv "$partial" "$dir"
}

# make_vmlinux BZIMAGE OUT: the kernel as a plain ELF file. Unpacking it here
# spares every boot under emulation several seconds. The boot protocol's header
# says where the payload lies, which is compressed by zstd or xz.
make_vmlinux() {
	local sectors offset length
	sectors=$(od -An -tu1 -j $((0x1f1)) -N1 "$1")
	offset=$(od -An -tu4 -j $((0x248)) -N4 "$1")
	length=$(od -An -tu4 -j $((0x24c)) -N4 "$1")
	# The payload's last four bytes are its unpacked size, not compressed data.
	tail -c +$(((sectors + 1) * 512 + offset + 1)) "$1" | head -c $((length - 4)) >"$2.payload"
	if [ "$(head -c 6 "$2.payload" | tail -c 5)" = 7zXZ ]; then
		tool xz -dc <"$2.payload" >"$2"
	else
		tool zstd -dqf "$2.payload" -o "$2"
	fi
	rm -f "$2.payload"
	[ "$(head -c 4 "$2" | tail -c 3)" = ELF ]
}

# make_modules KERNEL_VERSION FROM TO: the modules a virtual machine can use,
# unpacked, because unpacking them under emulation is slow.
make_modules() {
	local from=$2 to=$3
	mkdir -p "$to"
	(cd "$from" && tar -cf - \
		--exclude=./kernel/sound \
		--exclude=./kernel/drivers/{gpu,media,iio,hwmon,usb,input,staging,hid,comedi,bluetooth,leds,mtd,power,isdn,thunderbolt,platform,video,i2c,spi,mfd,rtc,mmc,regulator,watchdog,ata,ssb,w1,gnss,accel} \
		--exclude=./kernel/drivers/net/{wireless,usb,can,wwan,phy,hamradio,plip,slip,arcnet,fddi,ieee802154} \
		--exclude=./kernel/drivers/infiniband/hw/{bnxt_re,cxgb4,efa,erdma,hfi1,irdma,mana,mthca,ocrdma,qedr,qib,usnic,vmw_pvrdma,hns} \
		--exclude=./build --exclude=./source .) | tar -C "$to" -xf -
	find "$from/kernel/drivers/net/ethernet" -mindepth 1 -maxdepth 1 -type d ! -name mellanox -printf '%f\n' |
		while read -r vendor; do rm -rf "$to/kernel/drivers/net/ethernet/$vendor"; done
	tool_words xz
	find "$to" -name '*.ko.xz' -print0 | xargs -0 -r -P "$(nproc)" -n 50 "${TOOL[@]}" -d
	[ -n "$(find "$to" -name mlx5_core.ko)" ]
}

# make_boot DESTINATION: vmlinux, xen, and root.img from the two roots.
make_boot() {
	local out=$1 tools target stage version modules
	tools=$(root_dir tools)
	target=$(root_dir target)
	stage=$out/stage
	mkdir -p "$out"
	modules=$tools/usr/lib/modules
	[ "$KERNEL" = stock ] || modules=$(kernel_dir "$KERNEL")/lib/modules
	! is_packaged "$KERNEL" || tools=$(kernel_dir "$KERNEL")
	version=$(ls "$modules")
	[ "$(wc -l <<<"$version")" = 1 ]
	echo "$version" >"$out/kernel-version"
	if [ "$KERNEL" = stock ] || is_packaged "$KERNEL"; then
		[ -d "$tools/usr/src/linux-headers-$version" ]
		make_vmlinux "$tools/boot/vmlinuz-$version" "$out/vmlinux"
	else
		cp "$(kernel_dir "$KERNEL")/vmlinux" "$out/vmlinux"
	fi
	zcat "$target"/boot/xen-4.20-amd64.gz >"$out/xen"

	# Hard links: files of the target root are replaced below, never edited.
	cp -al "$target" "$stage"
	rm -rf "${stage:?}"/boot/* "$stage"/var/lib/apt/lists/* "$stage"/var/cache/apt/* "$stage/.lab-stamp"
	# UCX's package depends on compilers for GPUs, which nothing opens that runs here.
	rm -f "$stage"/usr/lib/x86_64-linux-gnu/lib{LLVM-17,amd_comgr,amdhip64,z3}.so*
	make_modules "$version" "$modules/$version" "$stage/usr/lib/modules/$version"
	chroot "$stage" depmod "$version"
	make_initrd_base "$out/initrd" "$stage" "$version"
	cp "$out/vmlinux" "$stage/boot/vmlinux"
	mkdir -p "$stage/lab" "$stage/root/.ssh" "$stage/usr/local/sbin"
	# Xen's tools without the wrapper that looks for the running version.
	local tool
	for tool in "$stage"/usr/lib/xen-4.20/bin/*; do
		ln -sf "/usr/lib/xen-4.20/bin/${tool##*/}" "$stage/usr/local/sbin/${tool##*/}"
	done
	for tool in poweroff reboot halt; do
		[ -e "$stage/usr/sbin/$tool" ] || ln -s /usr/bin/busybox "$stage/usr/sbin/$tool"
	done
	# dash as root's shell: it starts several times faster than bash.
	sed 's,^\(root:.*\):/bin/bash$,\1:/bin/sh,' "$stage/etc/passwd" >"$out/passwd"
	rm -f "$stage/etc/passwd"
	mv "$out/passwd" "$stage/etc/passwd"
	rm -f "$stage/etc/hosts" "$stage/etc/hostname" "$stage/etc/resolv.conf"
	ln -s /lab/hosts "$stage/etc/hosts"

	local size
	size=$(du -sm "$stage" | cut -f1)
	in_tools --bind "$out" -- mke2fs -q -t ext4 -O ^has_journal -m 0 -L xen-ib -d "$stage" \
		"$out/root.img" "$((size + size / 10 + 64))M"
	rm -rf "$stage"
	make_keys "$out/keys"
}

# make_keys DIRECTORY: the ssh keys of the lab: one for the machines, one for
# whoever may use this cache folder.
make_keys() {
	mkdir -p -m 700 "$1"
	ssh-keygen -q -t ed25519 -N '' -C lab -f "$1/user"
	enter "$(root_dir target)" --bind "$1" -- dropbearkey -t ed25519 -f "$1/host"
}

ensure_boot() {
	local dir partial
	dir=$(boot_dir)
	[ -e "$dir/root.img" ] && return 0
	need_command ssh-keygen openssh-client
	need_space "$CACHE" 3000 "the machines' root image"
	partial=$CACHE/partial-boot.$$
	step "making $KERNEL kernel, Xen and root image" "$CACHE/log/boot.log" make_boot "$partial" ||
		die "$EX_HOST" "the boot files could not be made" "the whole log is $CACHE/log/boot.log"
	mv "$partial" "$dir"
}

# with_cache_lock COMMAND...: one builder at a time.
with_cache_lock() {
	mkdir -p "$CACHE/log" 2>/dev/null || true
	[ -w "$CACHE" ] || die "$EX_HOST" "cannot write to the cache folder $CACHE" "run as root, or set XENIB_CACHE"
	exec 9>"$CACHE/lock"
	if ! flock -n 9; then
		say "another lab is building in $CACHE; waiting for it"
		flock 9
	fi
	"$@"
	exec 9>&-
}

remove_partial() {
	local dir
	for dir in "$CACHE"/partial-*; do
		[ -d "$dir" ] || continue
		rm -rf --one-file-system "$dir"
	done
}

build_root() {
	remove_partial
	ensure_root "$1"
}

build_boot() {
	remove_partial
	ensure_root tools
	ensure_root target
	ensure_kernel "$KERNEL"
	ensure_boot
	! other_guests || {
		ensure_kernel "$GUEST_KERNEL"
		as_guests ensure_boot
	}
	local name
	for name in $USER_LANDS; do
		ensure_user_land "$name"
	done
}

# ensure_root_quickly NAME, ensure_all: nothing but a look when all is there.
ensure_root_quickly() {
	[ ! -e "$(root_dir "$1")/.lab-stamp" ] || return 0
	need_root
	with_cache_lock build_root "$1"
}

ensure_all() {
	[ -e "$(root_dir tools)/.lab-stamp" ] && [ -e "$(root_dir target)/.lab-stamp" ] &&
		kernel_there "$KERNEL" && user_lands_there &&
		[ -e "$(boot_dir)/root.img" ] && kernel_there "$GUEST_KERNEL" &&
		[ -e "$(as_guests boot_dir)/root.img" ] && return 0
	need_root
	with_cache_lock build_boot
}
