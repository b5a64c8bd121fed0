# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Bringing a lab up and down.
# shellcheck shell=bash

# up: with the settings of commands/up. When it fails, what runs already is
# ended, and the logs are left in the run folder.
up() {
	local dir
	need_root
	dir=$(state_dir)
	ensure_all
	check_qemu
	check_left_behind
	check_memory $((MACHINES * $(machine_mib)))
	rm -rf "$dir"
	mkdir -p "$RUN" && mkdir -m 700 "$dir" || die "$EX_HOST" "cannot create $dir" "run as root, or set XENIB_RUN"
	need_space "$dir" 64 "a lab"
	save_config
	write_ssh_config
	[ -n "$KEEP" ] || trap 'step_abort; stop_all; rm -f "$(state_dir)/config"' EXIT
	start_all
	trap step_abort EXIT
}

# check_left_behind: refuses when the lab is up; clears away what one that
# died with its host, or was killed, has left.
check_left_behind() {
	local file
	for file in "$(state_dir)"/*.pid; do
		is_ours "$file" >/dev/null || continue
		die "$EX_STATE" "the lab '$NAME' is up already, or half of it" "end it first: lab --name $NAME down"
	done
	[ ! -e "$(state_dir)/config" ] || say "clearing away a lab '$NAME' that no longer runs"
}

start_all() {
	local dir m dom0 start
	start=$(now_ms)
	dir=$(state_dir)
	make_initrds "$dir"
	# What machines read first, before they ask for it: on a cold host disk their
	# own small reads would take a minute.
	{
		cat "$(boot_dir)/root.img"
		! other_guests || cat "$(as_guests boot_dir)/root.img"
	} >/dev/null 9>&- &
	start_hca_model
	for ((m = 1; m <= MACHINES; m++)); do
		start_machine "$m"
	done
	for ((m = 1; m <= MACHINES; m++)); do
		dom0=$(prefix_of "$m")dom0
		wait_for "$dom0 boots" 600 dom0_ready "$m" ||
			die "$EX_FAIL" "$dom0 was not up within 600 s" "its console: $dir/$dom0.log"
		wait_for "$dom0 answers" 180 connect "$dom0" ||
			die "$EX_FAIL" "$dom0 does not answer over ssh" "see $dir/ssh.err and $dir/$dom0.log"
	done
	[ -z "$SM" ] || subnet_up
	for ((m = 1; m <= MACHINES && HCAS > 0; m++)); do
		dom0=$(prefix_of "$m")dom0
		wait_for "$HCAS HCA(s) of $dom0 ACTIVE" 240 hcas_active "$m" ||
			die "$EX_FAIL" "the HCAs of $dom0 are not ACTIVE after 240 s" \
				"what the driver said is in $dir/$dom0.log, what the model said in $dir/hca.log"
	done
	if [ "$GUESTS" != 0 ]; then
		local step numbers
		mapfile -t numbers < <(seq 1 "$GUESTS")
		for step in launch_guests await_guests; do
			for ((m = 1; m <= MACHINES; m++)); do
				"$step" "$m" "${numbers[@]}"
			done
		done
	fi
	say "up after $(seconds_since "$start") s"
}

# stop_all: every process of the lab, by its number.
stop_all() {
	local file
	for file in "$(state_dir)"/*.mux; do
		[ ! -S "$file" ] || disconnect "$(basename "$file" .mux)"
	done
	for file in "$(state_dir)"/*qemu.pid; do
		stop_process "$file"
	done
	stop_process "$(state_dir)/hca.pid"
}

down() {
	[ -d "$(state_dir)" ] || { say "the lab '$NAME' is not up"; return 0; }
	stop_all
	rm -rf "$(state_dir)"
}
