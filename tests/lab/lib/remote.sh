# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Commands and files to and from machines, over ssh. Each machine is reached
# through a unix socket of its QEMU, and one connection to it is kept open, so
# that a command costs little more than itself.
# shellcheck shell=bash

# What dropbear gives is not all that Xen's tools need.
REMOTE_PATH="export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin"

ssh_config() { printf '%s/ssh_config' "$(state_dir)"; }

write_ssh_config() {
	local dir
	dir=$(state_dir)
	tool_words socat
	cat >"$(ssh_config)" <<EOF
User root
IdentityFile $(boot_dir)/keys/user
IdentitiesOnly yes
BatchMode yes
LogLevel ERROR
# Nobody else can stand at the other end of a socket in our own folder.
StrictHostKeyChecking no
UserKnownHostsFile /dev/null
# Cheap under emulation; nothing here is secret.
KexAlgorithms curve25519-sha256
ConnectTimeout 10
# Notices within seconds that a guest was started anew, and bears two minutes
# of a machine that is only slow.
ServerAliveInterval 5
ServerAliveCountMax 24
ControlMaster no
ControlPath $dir/%h.mux
ProxyCommand ${TOOL[*]} STDIO UNIX-CONNECT:$dir/%h.ssh
EOF
}

# connect WHERE: opens the kept connection, if it is not open. One at a time:
# of two that are opened at once, one would stay without a use.
connect() {
	ssh -F "$(ssh_config)" -O check "$1" 2>/dev/null && return 0
	(
		flock 8
		ssh -F "$(ssh_config)" -O check "$1" 2>/dev/null && exit 0
		ssh -F "$(ssh_config)" -o ControlMaster=yes -fN "$1" </dev/null >/dev/null 2>>"$(state_dir)/ssh.err" 8>&- 9>&-
	) 8>>"$(state_dir)/$1.lock"
}

disconnect() { ssh -F "$(ssh_config)" -O exit "$1" >/dev/null 2>&1 || true; }

# remote WHERE COMMAND: for the lab's own use: a POSIX shell command line that is
# quick; status, stdin, stdout and stderr are its own. A machine that hangs
# counts as one that does not answer.
remote() {
	connect "$1" || return "$EX_CONNECT"
	timeout --foreground 180 ssh -F "$(ssh_config)" "$1" "$REMOTE_PATH; $2"
}

no_answer() {
	die "$EX_CONNECT" "$1 does not answer" "is it there: lab status" "what it said last: lab console --log $1"
}

# kill_job WHERE JOB: ends every process that carries the job's mark in its
# environment, whatever session it has moved to.
kill_job() {
	remote "$1" "
		left() {
			grep -lz '^LAB_JOB=$2\$' /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3
		}
		for signal in TERM KILL; do
			pids=\$(left)
			[ -n \"\$pids\" ] || break
			kill -\$signal \$pids 2>/dev/null
			for wait in 1 2 3 4 5 6 7 8 9 10; do
				[ -n \"\$(left)\" ] || break
				sleep 0.1
			done
		done" </dev/null >/dev/null 2>&1 || true
}

# run_remote WHERE TIMEOUT COMMAND: like remote, but the command ends with us:
# on a signal, or after TIMEOUT seconds (0: never).
run_remote() {
	local where=$1 limit=$2 job status=0 pid
	job=$NAME.$$.$RANDOM
	connect "$where" || no_answer "$where"
	timeout --foreground --kill-after=1 "$limit" \
		ssh -F "$(ssh_config)" "$where" \
		"$REMOTE_PATH LAB_JOB=$job; $3" <&0 &
	pid=$!
	# shellcheck disable=SC2064 # now, not later
	trap "kill $pid 2>/dev/null || true; kill_job '$where' '$job'; exit 130" INT
	# shellcheck disable=SC2064
	trap "kill $pid 2>/dev/null || true; kill_job '$where' '$job'; exit 143" TERM
	wait $pid || status=$?
	trap - INT TERM
	if [ "$status" = 124 ] && [ "$limit" != 0 ]; then
		say "timeout: '$3' on $where took longer than $limit s; ending it"
		kill_job "$where" "$job"
	fi
	return "$status"
}

# put_files WHERE SOURCE... DESTINATION, as with cp -a. In one stream: every
# process that is started over there costs.
put_files() {
	local where=$1 destination=${*: -1} source args=()
	shift
	local sources=("${@:1:$#-1}")
	for source in "${sources[@]}"; do
		[ -e "$source" ] || die "$EX_FAIL" "there is no $source"
		args+=(-C "$(realpath "$(dirname "$source")")" "$(basename "$source")")
	done
	local many=0
	[ ${#sources[@]} = 1 ] || many=1
	tar -cf - "${args[@]}" |
		run_remote "$where" 0 "$(receive_script "$destination" "$(basename "${sources[0]}")" $many)"
}

# get_files WHERE SOURCE... DESTINATION, as with cp -a.
get_files() {
	local where=$1 destination=${*: -1} source many=0
	shift
	local sources=("${@:1:$#-1}")
	[ ${#sources[@]} = 1 ] || many=1
	for source in "${sources[@]}"; do
		run_remote "$where" 0 "tar -C $(quote "$(dirname "$source")") -cf - $(quote "$(basename "$source")")" </dev/null |
			sh -c "$(receive_script "$destination" "$(basename "$source")" $many)" || return
	done
}

# receive_script DESTINATION NAME MANY: a script that unpacks the tar stream on
# its stdin, which holds NAME, to DESTINATION.
receive_script() {
	local to name
	to=$(quote "$1")
	name=$(quote "$2")
	cat <<EOF
set -e
to=$to
if [ -d "\$to" ]; then
	exec tar -C "\$to" --no-same-owner --warning=no-timestamp -xf -
elif [ $3 = 1 ]; then
	echo "lab: error: \$to is not a directory" >&2
	exit 1
fi
mkdir -p "\$(dirname "\$to")"
new=\$(mktemp -d "\$(dirname "\$to")/.lab.XXXXXX")
tar -C "\$new" --no-same-owner --warning=no-timestamp -xf -
mv -f "\$new/"$name "\$to"
rmdir "\$new"
EOF
}
