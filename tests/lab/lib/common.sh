# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Messages, errors, progress, quoting: what every part of the lab needs.
# shellcheck shell=bash

# Exit statuses of every lab command (see docs/lab.md).
readonly EX_FAIL=1      # it was tried and did not work
readonly EX_USAGE=2     # the command line is wrong
readonly EX_HOST=3      # this host lacks something; the message says what to do
readonly EX_STATE=4     # there is no such machine, or it is not up
readonly EX_TIMEOUT=124 # a time limit passed
readonly EX_CONNECT=255 # the machine does not answer

TOP=$(cd "$LAB_DIR/../.." && pwd)
CACHE=${XENIB_CACHE:-/var/cache/xen-ib}
RUN=${XENIB_RUN:-/run/xen-ib-lab}

say() { printf 'lab: %s\n' "$*" >&2; }

# die STATUS MESSAGE...: one line for what is wrong, one for each thing to do.
die() {
	local status=$1
	shift
	printf 'lab: error: %s\n' "$1" >&2
	shift
	[ $# -eq 0 ] || printf 'lab:   %s\n' "$@" >&2
	exit "$status"
}

usage_error() { die "$EX_USAGE" "$1" "see: lab $COMMAND --help"; }

need_root() {
	[ "$(id -u)" = 0 ] || die "$EX_HOST" "'lab $COMMAND' must run as root" \
		"run it through sudo, or in a root shell"
}

# quote ARG...: the arguments as words of a POSIX shell command line.
quote() {
	local arg out=
	for arg; do
		out+=" '${arg//\'/\'\\\'\'}'"
	done
	printf '%s' "${out# }"
}

now_ms() {
	local t=${EPOCHREALTIME/[.,]/}
	printf '%s' "${t%???}"
}

seconds_since() {
	local ms=$(($(now_ms) - $1))
	printf '%d.%d' $((ms / 1000)) $((ms % 1000 / 100))
}

# ticker MESSAGE: from the third second on, shows that MESSAGE goes on. On a
# terminal one line counts up; elsewhere a line is added every ten seconds.
ticker() {
	local start=$SECONDS seconds
	while sleep 1; do
		seconds=$((SECONDS - start))
		if [ -t 2 ]; then
			[ $seconds -lt 2 ] || printf '\rlab: %s ... %d s ' "$1" $seconds >&2
		elif [ $((seconds % 10)) = 0 ]; then
			say "$1 ... $seconds s"
		fi
	done
}

STEP_PID=
TICKER_PID=

# Ends what a step has running; the traps of the dispatcher call it.
step_abort() {
	[ -z "$TICKER_PID" ] || kill "$TICKER_PID" 2>/dev/null || true
	[ -z "$STEP_PID" ] || kill -TERM -- "-$STEP_PID" 2>/dev/null || true
	TICKER_PID='' STEP_PID=''
}

# step MESSAGE LOG COMMAND...: runs COMMAND in a process group of its own with
# its output in LOG, shows progress, and returns its status. COMMAND may be a
# shell function; it runs in a subshell, under errexit.
step() {
	local message=$1 log=$2 status=0 start
	shift 2
	start=$(now_ms)
	mkdir -p "$(dirname "$log")"
	set -m
	( set -eE; "$@" ) >"$log" 2>&1 </dev/null &
	STEP_PID=$!
	set +m
	ticker "$message" &
	TICKER_PID=$!
	wait "$STEP_PID" || status=$?
	STEP_PID=
	kill "$TICKER_PID" 2>/dev/null || true
	wait "$TICKER_PID" 2>/dev/null || true
	TICKER_PID=
	[ ! -t 2 ] || printf '\r\033[K' >&2
	if [ $status = 0 ]; then
		say "$message: done in $(seconds_since "$start") s"
	else
		say "$message: failed after $(seconds_since "$start") s; the end of $log:"
		tail -n 15 "$log" | sed 's/^/    /' >&2
	fi
	return $status
}

# need_space DIRECTORY MIB WHAT_FOR: fails early instead of half way.
need_space() {
	local dir=$1 need=$2 what=$3 have
	mkdir -p "$dir" || die "$EX_HOST" "cannot create $dir"
	have=$(df -Pm "$dir" | awk 'NR == 2 { print $4 }')
	[ "$have" -ge "$need" ] || die "$EX_HOST" \
		"disk full: $what needs $need MiB in $dir, and $have MiB are free" \
		"free some (lab gc removes old caches), or set XENIB_CACHE to a folder on a larger disk"
}

# need_command COMMAND PACKAGE: installs a missing host tool, and says so.
need_command() {
	command -v "$1" >/dev/null && return 0
	need_root
	say "this host has no $1: installing Debian package $2"
	apt-get install -y --no-install-recommends "$2" >"$CACHE/log/apt-$2.log" 2>&1 ||
		{ apt-get update && apt-get install -y --no-install-recommends "$2"; } \
			>"$CACHE/log/apt-$2.log" 2>&1 ||
		die "$EX_HOST" "cannot install $2 (see $CACHE/log/apt-$2.log)" "run: apt-get update && apt-get install $2"
}
