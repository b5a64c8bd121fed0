# Bringing a lab up and down.
# shellcheck shell=bash

up() {
	local dir m need start
	start=$(now_ms)
	ensure_all
	check_qemu
	dir=$(state_dir)
	[ ! -e "$dir/config" ] || die "$EX_STATE" "the lab '$NAME' is up already, or was left behind" \
		"end it first: lab --name $NAME down"
	need=$((MACHINES * $(machine_mib)))
	check_memory "$need"
	mkdir -p -m 700 "$dir" 2>/dev/null || die "$EX_HOST" "cannot create $dir" "run as root, or set XENIB_RUN"
	need_space "$dir" 64 "a lab"
	save_config
	write_ssh_config
	make_initrds "$dir"
	start_hca_model
	for ((m = 1; m <= MACHINES; m++)); do
		start_machine "$m"
	done
	for ((m = 1; m <= MACHINES; m++)); do
		wait_for "$(prefix_of "$m")dom0 boots" 180 dom0_ready "$m" || die "$EX_FAIL" \
			"$(prefix_of "$m")dom0 was not up within 180 s" "its console: $dir/$(prefix_of "$m")dom0.log"
		wait_for "$(prefix_of "$m")dom0 answers" 60 connect "$(prefix_of "$m")dom0" || die "$EX_FAIL" \
			"$(prefix_of "$m")dom0 does not answer over ssh" "see $dir/ssh.err and $dir/$(prefix_of "$m")dom0.log"
	done
	if [ "$HCAS" != 0 ]; then
		for ((m = 1; m <= MACHINES; m++)); do
			wait_for "$(prefix_of "$m")dom0: $HCAS HCA(s) ACTIVE" 60 hcas_active "$m" || die "$EX_FAIL" \
				"the HCAs of $(prefix_of "$m")dom0 are not ACTIVE after 60 s" \
				"look at: lab run $(prefix_of "$m")dom0 'dmesg | grep mlx5', and at $dir/hca.log"
		done
	fi
	say "up after $(seconds_since "$start") s"
}

down() {
	local dir m
	dir=$(state_dir)
	[ -d "$dir" ] || { say "the lab '$NAME' is not up"; return 0; }
	for m in "$dir"/*.mux; do
		[ ! -S "$m" ] || disconnect "$(basename "$m" .mux)"
	done
	for m in "$dir"/*qemu.pid; do
		stop_process "$m"
	done
	stop_process "$dir/hca.pid"
	rm -rf "$dir"
}
