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
kernel = "$(other_guests && echo /guest-root)/boot/vmlinux"
ramdisk = "/lab/guest.initrd"
extra = "console=hvc0 rdinit=/init panic=1 mitigations=off printk.devkmsg=on loglevel=7 lab.role=guest lab.name=${prefix}guest$2 lab.ip=$(address_of "$1" "$2")"
memory = $GUEST_MEM
maxmem = $GUEST_MEM
vcpus = $VCPUS
$([ "$VCPUS" != 1 ] || [ "$2" -gt "$DOM0_VCPUS" ] || echo "cpus = \"$(($2 - 1))\"")
tsc_mode = "native"
max_grant_frames = 1024
vif = [ "mac=00:16:3e:77:0$1:0$2,bridge=xenbr0,script=/lab/vif" ]
disk = [ $(guest_disks) ]
on_crash = "destroy"
on_reboot = "restart"
$GUEST_EXTRA
EOF
}

# guest_disks: dom0's, for xl: the root image (dom0's second one, if guests have one of their own), and each user land.
guest_disks() {
	local i first=0 disks=() letters=({a..z})
	! other_guests || first=1
	for ((i = 0; i <= $(wc -w <<<"$USER_LANDS"); i++)); do
		disks+=("\"format=raw,vdev=xvd${letters[i]},access=ro,backendtype=phy,script=/lab/block,target=/dev/vd${letters[first + i]}\"")
	done
	(IFS=,; echo "${disks[*]}")
}

guest_log() { printf '%s/%sguest%s.log' "$(state_dir)" "$(prefix_of "$1")" "$2"; }

# guest_ready M G: has it said so on its console since it was launched?
guest_ready() {
	local start
	start=$(cat "$(state_dir)/$(prefix_of "$1")guest$2.start" 2>/dev/null || echo 0)
	tail -c "+$((start + 1))" "$(guest_log "$1" "$2")" 2>/dev/null | grep -aq "lab: ready guest"
}

# launch_guests M G...: has xl create them, and notes where their logs were.
launch_guests() {
	local m=$1 g prefix names=()
	shift
	prefix=$(prefix_of "$m")
	for g; do
		names+=("guest$g")
		disconnect "${prefix}guest$g"
		stat -c %s "$(guest_log "$m" "$g")" >"$(state_dir)/${prefix}guest$g.start" 2>/dev/null || true
		guest_config "$m" "$g" | remote "${prefix}dom0" "cat >/etc/xen/guest$g.cfg" ||
			no_answer "${prefix}dom0"
	done
	remote "${prefix}dom0" "/lab/start-guests ${names[*]}" </dev/null || die "$EX_FAIL" \
		"xl could not start a guest on ${prefix}dom0; above is what it said" \
		"is there memory left: lab run ${prefix}dom0 'xl info | grep free_memory'"
}

# await_guests M G...: waits until each answers.
await_guests() {
	local m=$1 g name
	shift
	for g; do
		name=$(prefix_of "$m")guest$g
		wait_for "$name boots" 600 guest_ready "$m" "$g" || die "$EX_FAIL" \
			"$name was not up within 600 s" "its console: $(guest_log "$m" "$g")"
		wait_for "$name answers" 180 connect "$name" || no_answer "$name"
	done
}

# stop_guest M G KILL
stop_guest() {
	local dom0 name=guest$2
	dom0=$(prefix_of "$1")dom0
	[ -n "$3" ] || [ "$GUEST_KERNEL" != debug ] || remote "$(prefix_of "$1")$name" /lab/leaks </dev/null || true
	disconnect "$(prefix_of "$1")$name"
	[ -n "$3" ] || remote "$dom0" "xl shutdown $name >/dev/null" </dev/null || true
	[ -n "$3" ] || wait_for "$(prefix_of "$1")$name shuts down" 20 guest_gone "$dom0" "$name" || true
	guest_gone "$dom0" "$name" || remote "$dom0" "xl destroy $name" </dev/null ||
		die "$EX_FAIL" "xl could not destroy $name on $dom0"
}

guest_gone() { ! remote "$1" "xl domid $2 >/dev/null 2>&1" </dev/null; }

# all_up: every dom0, and the guests that run on it, each on a line.
all_up() {
	local m g prefix running
	for ((m = 1; m <= MACHINES; m++)); do
		prefix=$(prefix_of "$m")
		running=$(remote "${prefix}dom0" 'xl list' </dev/null) || no_answer "${prefix}dom0"
		echo "${prefix}dom0"
		for ((g = 1; g <= MAX_GUESTS; g++)); do
			! grep -q "^guest$g " <<<"$running" || echo "${prefix}guest$g"
		done
	done
}
