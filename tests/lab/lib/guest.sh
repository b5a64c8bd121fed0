# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Guests of machines that are up.
# shellcheck shell=bash

# guest_config M G: an xl configuration. Everything about a guest that a test
# may want otherwise is a line that GUEST_EXTRA can repeat: xl takes the last.
guest_config() {
	local prefix
	prefix=$(prefix_of "$1")
	cat <<EOF
name = "guest$2"
type = "$TYPE"
kernel = "/boot/vmlinux"
ramdisk = "/lab/guest.initrd"
extra = "console=hvc0 rdinit=/init panic=1 mitigations=off printk.devkmsg=on loglevel=7 lab.role=guest lab.name=${prefix}guest$2 lab.ip=$(address_of "$1" "$2")"
memory = $GUEST_MEM
maxmem = $GUEST_MEM
vcpus = $VCPUS
max_grant_frames = 1024
vif = [ "mac=00:16:3e:77:0$1:0$2,bridge=xenbr0,script=/lab/vif" ]
disk = [ "format=raw,vdev=xvda,access=ro,backendtype=phy,script=/lab/block,target=/dev/vda" ]
on_crash = "destroy"
on_reboot = "restart"
$GUEST_EXTRA
EOF
}

guest_log() { printf '%s/%sguest%s.log' "$(state_dir)" "$(prefix_of "$1")" "$2"; }

# guest_ready M G OFFSET: has it said so on its console after OFFSET bytes?
guest_ready() {
	tail -c "+$(($3 + 1))" "$(guest_log "$1" "$2")" 2>/dev/null | grep -aq 'lab: ready guest'
}

# start_guests M G...: starts them at once and waits for all.
start_guests() {
	local m=$1 g names=() offsets=() prefix i=0
	shift
	prefix=$(prefix_of "$m")
	for g; do
		names+=("guest$g")
		offsets+=("$(stat -c %s "$(guest_log "$m" "$g")" 2>/dev/null || echo 0)")
		disconnect "${prefix}guest$g"
		guest_config "$m" "$g" | remote "${prefix}dom0" "cat >/etc/xen/guest$g.cfg" ||
			die "$EX_CONNECT" "${prefix}dom0 does not answer"
	done
	remote "${prefix}dom0" "/lab/start-guests ${names[*]}" </dev/null || die "$EX_FAIL" \
		"xl could not start a guest on ${prefix}dom0; above is what it said" \
		"is there memory left: lab run ${prefix}dom0 'xl info | grep free_memory'"
	for g; do
		wait_for "$prefix${names[$i]} boots" 120 guest_ready "$m" "$g" "${offsets[$i]}" || die "$EX_FAIL" \
			"$prefix${names[$i]} was not up within 120 s" "its console: lab console --log $prefix${names[$i]}"
		wait_for "$prefix${names[$i]} answers" 30 connect "$prefix${names[$i]}" ||
			no_answer "$prefix${names[$i]}"
		i=$((i + 1))
	done
}

# stop_guest M G KILL
stop_guest() {
	local dom0 name=guest$2
	dom0=$(prefix_of "$1")dom0
	disconnect "$(prefix_of "$1")$name"
	[ -n "$3" ] || remote "$dom0" "xl shutdown $name >&2" </dev/null || true
	[ -n "$3" ] || wait_for "$(prefix_of "$1")$name shuts down" 20 guest_gone "$dom0" "$name" || true
	guest_gone "$dom0" "$name" || remote "$dom0" "xl destroy $name" </dev/null ||
		die "$EX_FAIL" "xl could not destroy $name on $dom0"
}

guest_gone() { ! remote "$1" "xl domid $2 >/dev/null 2>&1" </dev/null; }
