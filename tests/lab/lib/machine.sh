# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# One emulated machine: QEMU, Xen, dom0.
# shellcheck shell=bash

readonly QEMU_MIN=11.0 # the first whose user network forwards unix sockets
readonly XEN_MIB=224   # what Xen itself takes of a machine's memory
readonly QEMU_PRELOADS=("$TOP/build/tests/lab/patient-lock.so" "$TOP/build/tests/lab/vmrun-once.so")

# The run folder of the lab that --name or LAB_NAME chose.
state_dir() { printf '%s/%s' "$RUN" "$NAME"; }

# Everything that `lab up` was asked for, kept for the commands that follow.
save_config() {
	local key
	for key in MACHINES HCAS GUESTS SPARE TYPE VCPUS KERNEL GUEST_KERNEL DOM0 MEM GUEST_MEM DOM0_VCPUS IOMMU SM USER_LANDS; do
		printf '%s=%q\n' "$key" "${!key}"
	done >"$(state_dir)/config"
}

load_config() {
	[ -e "$(state_dir)/config" ] || die "$EX_STATE" "the lab '$NAME' is not up" "start it: lab up"
	# shellcheck source=/dev/null
	. "$(state_dir)/config"
}

# is_ours PIDFILE: prints the pid if it is alive and still the process that
# wrote the file: every process of a lab has its run folder in its arguments.
is_ours() {
	local pid
	pid=$(cat "$1" 2>/dev/null) || return 1
	[ -n "$pid" ] && tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | grep -qF "$(state_dir)/" || return 1
	echo "$pid"
}

# stop_process PIDFILE: TERM, and KILL after three seconds.
stop_process() {
	local pid tries=0
	pid=$(is_ours "$1") || return 0
	kill "$pid" 2>/dev/null || true
	while kill -0 "$pid" 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries != 60 ] || kill -KILL "$pid" 2>/dev/null || true
		sleep 0.05
	done
	rm -f "$1"
}

check_qemu() {
	local version
	version=$(tool qemu-system-x86_64 --version | sed -n 's/.*version \([0-9.]*\).*/\1/p')
	[ "$(printf '%s\n' "$QEMU_MIN" "$version" | sort -V | head -n 1)" = "$QEMU_MIN" ] || die "$EX_HOST" \
		"QEMU is too old: ${version:-unknown}, and $QEMU_MIN is needed" \
		"the tools root takes it from $SUITE-backports; refresh it: lab build --refresh"
}

check_memory() {
	local need=$1 have
	have=$(awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo)
	[ "$have" -ge "$need" ] || die "$EX_HOST" \
		"not enough memory: this lab takes $need MiB, and $have MiB are available" \
		"ask for fewer machines or guests, or less with --mem and --guest-mem"
}

machine_mib() { echo $((MEM + XEN_MIB + SPARE + GUESTS * (GUEST_MEM + 16))); }

# qemu_preloads: those that are there, with colons between them. QEMU is better with them, but runs without, where nothing
# has been built yet.
qemu_preloads() {
	local library there=
	for library in "${QEMU_PRELOADS[@]}"; do
		[ ! -e "$library" ] || there+=:$library
	done
	printf '%s' "${there#:}"
}

# start_machine M: returns when QEMU runs; Xen boots on from there.
start_machine() {
	local m=$1 dir boot mib prefix g forwards xen linux root
	dir=$(state_dir)
	boot=$(boot_dir)
	mib=$(machine_mib)
	prefix=$(prefix_of "$m")

	forwards="hostfwd=unix:$dir/${prefix}dom0.ssh-$(address_of "$m" 0):22"
	for ((g = 1; g <= MAX_GUESTS; g++)); do
		forwards+=",hostfwd=unix:$dir/${prefix}guest$g.ssh-$(address_of "$m" "$g"):22"
	done
	xen="dom0_mem=${MEM}M,max:${MEM}M dom0_max_vcpus=$DOM0_VCPUS console=com1 com1=115200,8n1"
	xen+=" loglvl=warning guest_loglvl=warning spec-ctrl=no,eager-fpu sched=credit bootscrub=0 conring_size=256k"
	xen+=" gnttab_max_maptrack_frames=16384 $XEN_ARGS"
	linux="console=hvc0 rdinit=/init panic=1 mitigations=off printk.devkmsg=on loglevel=7"
	! other_guests || linux+=" lab.guest_root=/dev/vdb"
	linux+=" xen_blkback.feature_persistent=0 lab.role=dom0 lab.name=${prefix}dom0 lab.ip=$(address_of "$m" 0) $DOM0_ARGS"

	local virtio='' iommu=()
	if [ "$DOM0" = pvh ]; then
		# Xen runs a PVH dom0 behind an IOMMU only, and virtio must use it. QEMU
		# tells a device so only if the IOMMU is there first.
		xen+=" dom0=pvh"
		iommu=(-device "intel-iommu,intremap=off")
		virtio=,iommu_platform=on,disable-legacy=on
	fi
	if [ -n "$IOMMU" ]; then
		xen+=" dom0-iommu=passthrough"
		iommu=(-device "intel-iommu,intremap=off,caching-mode=on")
	fi
	# shellcheck disable=SC2054,SC2206 # QEMU's commas; LAB_QEMU_ARGS is a list of words
	local args=(
		"${iommu[@]}"
		-name "xen-ib-$NAME-m$m" -nodefaults -no-reboot -display none
		-machine q35,memory-backend=mem0 -accel tcg -cpu "max,-rdtscp,-erms,-fsrm${LAB_CPU:+,$LAB_CPU}" -smp "$DOM0_VCPUS"
		-m "$mib" -object "memory-backend-memfd,id=mem0,size=${mib}M,share=on"
		-chardev "socket,id=console,path=$dir/${prefix}console,server=on,wait=off,logfile=$dir/${prefix}dom0.log"
		-serial chardev:console
		-monitor "unix:$dir/${prefix}monitor,server=on,wait=off"
		-drive "if=none,id=root,file=$boot/root.img,format=raw,readonly=on,file.locking=off"
		-device "virtio-blk-pci,drive=root$virtio"
		-device "virtio-serial-pci$virtio"
		-netdev "user,id=host,net=10.77.0.0/16,host=10.77.$m.254,dns=10.77.$m.253,ipv6=off,restrict=on,$forwards"
		-device "virtio-net-pci,netdev=host,mac=52:54:00:77:0$m:01,romfile=$virtio"
		-kernel "$boot/xen" -append "$xen"
		-initrd "$boot/vmlinux $linux,$dir/dom0.initrd"
		${LAB_QEMU_ARGS:-}
	)
	! other_guests || args+=(
		-drive "if=none,id=guest-root,file=$(as_guests boot_dir)/root.img,format=raw,readonly=on,file.locking=off"
		-device "virtio-blk-pci,drive=guest-root$virtio")
	for root in $USER_LANDS; do
		args+=(-drive "if=none,id=$root,file=$(user_land_image "$root"),format=raw,readonly=on,file.locking=off"
			-device "virtio-blk-pci,drive=$root$virtio")
	done
	for ((g = 1; g <= MAX_GUESTS; g++)); do
		args+=(-chardev "file,id=guest$g,path=$dir/${prefix}guest$g.log,append=on"
			-device "virtserialport,chardev=guest$g,nr=$g,name=guest$g")
	done
	if [ "$MACHINES" = 2 ]; then
		args+=(-netdev "dgram,id=link,local.type=unix,local.path=$dir/link$m,remote.type=unix,remote.path=$dir/link$((3 - m))"
			-device "virtio-net-pci,netdev=link,mac=52:54:00:77:0$m:02,romfile=$virtio")
	fi
	for ((g = 0; g < HCAS; g++)); do
		args+=(-device "pcie-root-port,id=rp$g,slot=$((g + 1))"
			-device '{"driver":"vfio-user-pci","bus":"rp'"$g"'","socket":{"type":"unix","path":"'"$(hca_socket "$m" "$g")"'"}}')
	done
	root=$(root_dir tools)
	local TOOL_PRELOAD
	TOOL_PRELOAD=$(qemu_preloads)
	tool qemu-system-x86_64 -L "$root/usr/share/qemu" -L "$root/usr/share/seabios" \
		-daemonize -pidfile "$dir/${prefix}qemu.pid" "${args[@]}" 9>&- 2>"$dir/${prefix}qemu.err" || {
		sed 's/^/    /' "$dir/${prefix}qemu.err" >&2
		die "$EX_FAIL" "QEMU did not start machine $m"
	}
	grep '^vmrun-once: ' "$dir/${prefix}qemu.err" >&2 || true
}

# machine_ready M ROLE: did dom0 say that it is up? Dies when QEMU is gone.
dom0_ready() {
	local prefix log
	prefix=$(prefix_of "$1")
	log=$(state_dir)/${prefix}dom0.log
	if grep -aq 'lab: ready dom0' "$log" 2>/dev/null; then return 0; fi
	is_ours "$(state_dir)/${prefix}qemu.pid" >/dev/null || {
		tail -n 20 "$log" | sed 's/^/    /' >&2
		die "$EX_FAIL" "machine $1 stopped while it booted; above is the end of its console, $log"
	}
	return 1
}

# wait_for MESSAGE LIMIT COMMAND...: polls COMMAND until it is true.
wait_for() {
	local message=$1 limit=$2 start status=0
	shift 2
	start=$(now_ms)
	ticker "$message" &
	TICKER_PID=$!
	until "$@"; do
		[ $(($(now_ms) - start)) -lt $((limit * 1000)) ] || { status=1; break; }
		sleep 0.1
	done
	kill "$TICKER_PID" 2>/dev/null || true
	wait "$TICKER_PID" 2>/dev/null || true
	TICKER_PID=
	[ ! -t 2 ] || printf '\r\033[K' >&2
	[ $status != 0 ] || say "$message: $(seconds_since "$start") s"
	return $status
}
