# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Searching what consoles said for faults of Xen and of kernels.
# shellcheck shell=bash

# Extended regular expressions, one a line, case matters.
fault_patterns() {
	cat <<'EOF'
BUG
WARNING
Oops
[Kk]ernel panic
Bad rss
Bad page
bad pte
general protection
page fault for address
unable to handle
Call Trace
cut here
RIP: 
segfault
traps: 
stack-protector
possible .*(locking|lock inversion|lock order)
inconsistent lock state
non-static key
suspicious RCU
rcu: INFO
rcu_.*stall
soft lockup
hard LOCKUP
hung_task
blocked for more than
refcount_t
kobject.*error
Out of memory
UBSAN
ODEBUG
DMA-API
KFENCE
KASAN
kmemleak
unreferenced object
pagealloc
(list|plist)_(add|del)
Poison
swiotlb buffer is full
nobody cared
g\.e\. still pending
deferring g\.e\.
Tainted: .*[DBLW] 
lab: FAILED
\(XEN\)
EOF
}

# allowed_patterns: those of expected.txt, without its comments.
allowed_patterns() { sed -e '/^[[:space:]]*\(#\|$\)/d' "$LAB_DIR/expected.txt"; }

consoles() {
	local file
	for file in "$(state_dir)"/*.log; do
		case ${file##*/} in
		dom0.log | m*.dom0.log | guest*.log | m*.guest*.log) [ ! -s "$file" ] || basename "$file" .log ;;
		esac
	done
}

# mark WHERE TEXT: has WHERE's kernel say TEXT on its console, and waits until
# it is in the log here: then whatever it said before is there too.
mark() {
	local log
	log=$(state_dir)/$1.log
	remote "$1" "echo '<1>$2' >/dev/kmsg" </dev/null 2>/dev/null || return 1
	wait_quietly 30 grep -aqF "$2" "$log"
}

# wait_quietly LIMIT COMMAND...
wait_quietly() {
	local limit=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $limit ] || return 1
		sleep 0.05
	done
}

# has_ended PREFIX GUEST: one that is being shut down does not answer any more, and is gone soon.
has_ended() { [ "$2" != dom0 ] && wait_quietly 30 remote "${1}dom0" "! xl domid $2 >/dev/null 2>&1" </dev/null; }

# mark_one PREFIX WHERE TEXT
mark_one() {
	mark "$1$2" "$3" || has_ended "$1" "$2" || {
		say "check: $1$2 does not answer"
		return 1
	}
}

# mark_all TEXT: marks every machine that runs; says which does not answer. With LEAKS each searches for leaks before.
mark_all() {
	local m prefix names where job jobs silent=0
	for ((m = 1; m <= MACHINES; m++)); do
		prefix=$(prefix_of "$m")
		if ! names=$(remote "${prefix}dom0" 'xl list' </dev/null 2>/dev/null); then
			say "check: ${prefix}dom0 does not answer"
			silent=1
			continue
		fi
		names="dom0 $(awk '$1 ~ /^guest[1-9]$/ { print $1 }' <<<"$names")"
		jobs=()
		[ -z "$LEAKS" ] || for where in $names; do
			remote "$prefix$where" /lab/leaks </dev/null &
			jobs+=($!)
		done
		for job in "${jobs[@]}"; do
			wait "$job" || silent=1
		done
		jobs=()
		for where in $names; do
			mark_one "$prefix" "$where" "$1" &
			jobs+=($!)
		done
		for job in "${jobs[@]}"; do
			wait "$job" || silent=1
		done
	done
	return $silent
}

# scan WHERE: prints the faults that WHERE's console shows since the last scan,
# each with what surrounds it, and returns 1 if there are any. What a PV dom0's
# Xen says while it boots is skipped: the scan starts at dom0's own first line.
scan() {
	local log seen from=0 text hits
	log=$(state_dir)/$1.log
	seen=$(state_dir)/$1.seen
	[ ! -e "$seen" ] || from=$(cat "$seen")
	text=$(mktemp -p "$(state_dir)" scan.XXXXXX)
	tail -c "+$((from + 1))" "$log" | tr -d '\000\r' >"$text"
	echo $((from + $(tail -c "+$((from + 1))" "$log" | wc -c))) >"$seen"
	if [ "$from" = 0 ] && [[ $1 == *dom0 ]]; then
		sed -i '1,/Linux version/d' "$text"
	fi
	hits=$(grep -naE -f <(fault_patterns) "$text" | grep -avE -f <(allowed_patterns) | cut -d: -f1) || true
	if [ -n "$hits" ]; then
		printf '%s: faults on the console:\n' "$1"
		# Two lines before each hit and twelve after, once each.
		awk -v hits="$hits" 'BEGIN { n = split(hits, h, "\n"); for (i = 1; i <= n; i++) bad[h[i]] = 1 }
			{ line[NR] = $0 }
			END {
				for (l in bad) for (i = l - 2; i <= l + 12; i++) show[i] = 1
				for (i = 1; i <= NR; i++) if (show[i]) { if (!show[i - 1] && shown++) print "  --"; print (bad[i] ? "> " : "  ") line[i] }
			}' "$text"
	fi
	rm -f "$text"
	[ -z "$hits" ]
}

# scan_model: is the HCA model alive, and silent on its standard error, where
# only a sanitizer, an assertion or the C library would speak?
scan_model() {
	local dir seen text
	dir=$(state_dir)
	[ "$HCAS" != 0 ] || return 0
	seen=$(cat "$dir/hca.seen" 2>/dev/null || echo 0)
	text=$(tail -c "+$((seen + 1))" "$dir/hca.err")
	stat -c %s "$dir/hca.err" >"$dir/hca.seen"
	[ -z "$text" ] || printf 'the HCA model said:\n%s\n' "$text"
	is_ours "$dir/hca.pid" >/dev/null || {
		echo "the HCA model is dead"
		return 1
	}
	[ -z "$text" ]
}

check_all() {
	local status=0 where
	mark_all "lab: check $1 $$.$RANDOM" || status=1
	for where in $(consoles); do
		scan "$where" || status=1
	done
	scan_model || status=1
	return $status
}
