# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The HCAs: one model process serves all of a lab, a socket for each HCA.
# shellcheck shell=bash

HCA_MODEL=${LAB_HCA_MODEL:-$TOP/build/tests/hca/hca-model}
HCA_CTL=${LAB_HCACTL:-$TOP/build/tests/hca/hcactl}

hca_socket() { printf '%s/hca-m%s-%s' "$(state_dir)" "$1" "$2"; }
hca_control() { printf '%s/hca-control' "$(state_dir)"; }

hca_model_ready() {
	local m h
	kill -0 "$(cat "$(state_dir)/hca.pid")" 2>/dev/null || {
		tail -n 10 "$(state_dir)/hca.log" "$(state_dir)/hca.err" 2>/dev/null | sed 's/^/    /' >&2
		die "$EX_FAIL" "the HCA model stopped at once; above is what it said"
	}
	for ((m = 1; m <= MACHINES; m++)); do
		for ((h = 0; h < HCAS; h++)); do
			[ -S "$(hca_socket "$m" "$h")" ] || return 1
		done
	done
}

start_hca_model() {
	local args=() m h dir
	dir=$(state_dir)
	[ "$HCAS" != 0 ] || return 0
	[ -x "$HCA_MODEL" ] || die "$EX_HOST" "there is no HCA model at $HCA_MODEL" \
		"build it with make, or set LAB_HCA_MODEL, or go without: lab up --hcas 0"
	for ((m = 1; m <= MACHINES; m++)); do
		for ((h = 0; h < HCAS; h++)); do
			args+=(--socket "$(hca_socket "$m" "$h")")
		done
	done
	[ -z "$SM" ] || args+=(--external-sm)
	# A connection of rdma_cm lasts eight times as long as an ACK may take when its link is away. With a kernel that
	# checks itself the outages of tests are longer.
	[ "$KERNEL" != debug ] || args+=(--ack-delay 20)
	# shellcheck disable=SC2086 # LAB_HCA_ARGS is a list of words
	setsid "$HCA_MODEL" "${args[@]}" --control "$(hca_control)" --log "$dir/hca.log" ${LAB_HCA_ARGS:-} \
		</dev/null >"$dir/hca.err" 2>&1 9>&- &
	echo $! >"$dir/hca.pid"
	wait_for "HCA model" 90 hca_model_ready ||
		die "$EX_FAIL" "the HCA model made no sockets within 90 s; see $dir/hca.err"
}

# hcas_active M: are all HCAs of a machine's dom0 ACTIVE?
hcas_active() {
	local count
	count=$(remote "$(prefix_of "$1")dom0" 'cat /sys/class/infiniband/*/ports/*/state 2>/dev/null' </dev/null | grep -c ACTIVE) || true
	[ "$count" -ge "$HCAS" ]
}

# subnet_up: the subnet manager in dom0 has set up all that it finds.
subnet_up() {
	remote dom0 '/lab/subnet-manager start' </dev/null ||
		die "$EX_FAIL" "the subnet manager in dom0 has not brought the subnet up" \
			"what it said is above, what the model said in $(state_dir)/hca.log"
}
