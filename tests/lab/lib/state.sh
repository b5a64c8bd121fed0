# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Where a machine is that does not answer: looked at from outside, by what still
# answers. Nothing here waits for a machine longer than WAIT seconds.
# shellcheck shell=bash

# show_state: what it prints is in state.log as well, which stays with the consoles.
show_state() {
	set +e +o pipefail # what one part cannot say, others may
	local m
	state_all 2>&1 | sed -u -e 's/[[:space:]]*$//' | cut -c1-180 | tee -a "$(state_dir)/state.log"
}

state_all() {
	date
	state_host
	for ((m = 1; m <= MACHINES; m++)); do
		state_machine "$m"
	done
	if [ "$HCAS" != 0 ]; then
		state_threads "HCA model" "$(state_dir)/hca.pid"
		state_stacks "HCA model" "$(state_dir)/hca.pid"
		tail -n 5 "$(state_dir)/hca.err"
	fi
	tail -n 5 "$(state_dir)/ssh.err"
	echo "all of it: $(state_dir)/state.log"
}

# state_machine M: a QEMU that is dead or stopped is not asked.
state_machine() {
	local file
	file=$(state_dir)/$(prefix_of "$1")qemu
	echo "machine $1"
	if ! state_threads QEMU "$file.pid"; then
		tail -n 5 "$file.err"
	elif grep -q '^State:[[:space:]]*[Tt]' "/proc/$(is_ours "$file.pid")/status"; then
		echo "QEMU is stopped"
	else
		tool_words socat
		state_cpus "$1" && state_xen "$1"
		state_answers "$1"
	fi
	state_stacks QEMU "$file.pid"
	state_consoles "$1"
}

# logged: passes its input on, and has it whole in state.log, where only a part of it is printed.
logged() { tee -a "$(state_dir)/state.log"; }

# ---- the host ----

state_host() {
	echo "host: load $(cat /proc/loadavg), $(nproc) CPUs," \
		"$(awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo) MiB available"
	[ ! -e /proc/pressure/cpu ] || echo "host: CPU pressure $(head -n 1 /proc/pressure/cpu)"
}

# thread_times PID: of each thread its number, and how long it ran and waited for a CPU.
thread_times() {
	local task ran waited
	for task in "/proc/$1/task"/*; do
		read -r ran waited _ 2>/dev/null <"$task/schedstat" && echo "${task##*/} $ran $waited"
	done
}

# state_threads NAME PIDFILE: what each of its threads did within a second, and what it waits for.
state_threads() {
	local pid before tid ran waited task
	pid=$(is_ours "$2") || { echo "$1 does not run"; return 1; }
	before=$(thread_times "$pid")
	sleep 1
	echo "$1, process $pid: what its threads ran in a second, and waited for a CPU"
	thread_times "$pid" | head -n 12 | while read -r tid ran waited; do
		task=/proc/$pid/task/$tid
		awk -v tid="$tid" -v ran="$ran" -v waited="$waited" \
			'$1 == tid { printf "  %4d ms, %4d ms", (ran - $2) / 1e6, (waited - $3) / 1e6 }' <<<"$before"
		echo "  $(cat "$task/comm"): $(sed -n 's/^State:[[:space:]]*//p' "$task/status") in $(cat "$task/wchan")," \
			"system call $(cut -d' ' -f1-3 "$task/syscall")"
	done
}

# state_stacks NAME PIDFILE: the innermost functions of each thread, without those that work for disks; of QEMU the
# interrupts that CPUs do not take, too. A loader has started QEMU: it has to be named.
state_stacks() {
	local pid base program=/usr/bin/qemu-system-x86_64 symbols=()
	pid=$(is_ours "$2") || return
	base=$(awk -v program="$program" 'index($6, program) { split($1, range, "-"); print range[1]; exit }' "/proc/$pid/maps")
	[ -z "$base" ] || symbols=(-ex "add-symbol-file $program -o 0x$base" -x "$LAB_DIR/qemu/interrupts.py")
	echo "$1: stacks"
	timeout -k 1 30 bash "$LAB_DIR/lab" --name "$NAME" root tools -- \
		gdb -batch -nx -iex 'set debuginfod enabled off' -p "$pid" "${symbols[@]}" -ex 'thread apply all bt 10' </dev/null 2>/dev/null |
		logged | awk -v RS= '!/^Thread [0-9]+ .*"worker"\):/' | grep -v 'futex_abstimed\|syscall_cancel\|clone3' |
		sed -nE 's/ \(Thread 0x[0-9a-f]* \(LWP ([0-9]+)\)/ (\1/; s/0x0000([0-9a-f]+) in //; s/^(Thread|#)/  \1/p' |
		cut -c1-140 | head -n 54
}

# ---- CPUs ----

# monitor M COMMAND...: what QEMU's monitor says to each. TOOL is socat.
monitor() {
	local socket command
	socket=$(state_dir)/$(prefix_of "$1")monitor
	shift
	for command; do
		printf '%s\n' "$command"
		sleep 0.2
	done | timeout "$WAIT" "${TOOL[@]}" -t 2 - "UNIX-CONNECT:$socket" |
		tr -d '\r' | sed -e '/^(qemu)/d' -e '/^QEMU .* monitor/d' -e '/\x1b\[/d'
}

# xen_symbols: addresses and names of Xen's functions, in order. Debian's EFI file has them.
xen_symbols() {
	tool nm -n "$(root_dir target)"/boot/xen-*.efi |
		awk '$3 == "_etext" { exit } $2 ~ /^[tT]$/ && $1 ~ /^ffff82d04/ { print $1, $3 }'
}

# named: addresses of Xen's code in its input get names. awk has no such numbers: the last seven digits are what differs.
named() {
	awk '
		function number(hex, i, n) {
			for (i = 1; i <= length(hex); i++) n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
			return n
		}
		function symbol(hex, a, low, high, middle) {
			a = number(substr(hex, 10)); low = 1; high = n
			if (!n || a < at[1] || a > at[n] + 4096) return hex
			while (low < high) {
				middle = int((low + high + 1) / 2)
				if (at[middle] <= a) low = middle; else high = middle - 1
			}
			return name[low] "+" (a - at[low])
		}
		FILENAME != "-" { at[++n] = number(substr($1, 10)); name[n] = $2; next }
		{
			out = ""
			while (match($0, /ffff82d04[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]/)) {
				out = out substr($0, 1, RSTART - 1) symbol(substr($0, RSTART, RLENGTH))
				$0 = substr($0, RSTART + RLENGTH)
			}
			print out $0
		}' <(xen_symbols) -
}

# cpu_lines: of "info registers -a" a line for each CPU. The interrupt descriptor table tells whose code runs: Xen has one
# for itself and for PV guests, a PVH guest its own.
cpu_lines() {
	awk '
		/^CPU#/ { cpu = substr($1, 5) }
		/^RIP=/ { rip = substr($1, 5); flags = $2; cpl = $(NF - 4); halted = $NF }
		match($0, /RSP=[0-9a-f]*/) { rsp = substr($0, RSTART, RLENGTH) }
		/^IDT=/ { xen = $2 ~ /^ffff8[23]/ }
		/^CR0=/ {
			match($0, /CR3=[0-9a-f]*/)
			whose = !xen ? "of a PVH guest" : cpl == "CPL=0" ? "of Xen" : "of a PV guest"
			print "  CPU " cpu ": " rip " " whose ", " cpl " " halted " " flags " " substr($0, RSTART, RLENGTH) " " rsp
		}'
}

# state_cpus M: what each CPU executes, twice; its local APIC; what looks like return addresses of Xen on its stack.
state_cpus() {
	local text cpu
	text=$(monitor "$1" 'info status' 'info registers -a')
	[ -n "$text" ] || { echo "QEMU's monitor does not answer"; return 1; }
	logged <<<"$text" >/dev/null
	grep -a 'VM status' <<<"$text"
	cpu_lines <<<"$text" | named
	sleep 1
	echo "  and a second later"
	monitor "$1" 'info registers -a' | cpu_lines | named
	for ((cpu = 0; cpu < DOM0_VCPUS; cpu++)); do
		echo "  local APIC of CPU $cpu: $(monitor "$1" "info lapic $cpu" | logged |
			sed -nE 's/[[:space:]]+/ /g; /^(ISR|IRR|Timer|APR) /p' | paste -sd' ')"
		echo "  stack of CPU $cpu: $(monitor "$1" "cpu $cpu" "x /200gx \$rsp" | logged | tr ' ' '\n' |
			sed -n 's/^0x\(ffff82d04[0-9a-f]\{7\}\)$/\1/p' | named | grep -F + | head -n 14 | paste -sd' ')"
	done | fold -s -w 150
}

# ---- connections ----

# machines_seen M: those of one machine that have said something.
machines_seen() { consoles | grep "^$(prefix_of "$1")[dg]"; }

# state_answers M: does each machine answer to the connection kept, to a new one, and to dom0's ping?
state_answers() {
	local where
	for where in $(machines_seen "$1"); do
		state_answer "$(prefix_of "$1")" "$where" &
	done
	answer "$(prefix_of "$1")dom0" new "$REMOTE_PATH; xl list" | head -n 12
	wait
}

# answer WHERE kept|new COMMAND
answer() {
	local path=()
	[ "$2" = kept ] || path=(-o ControlPath=none)
	timeout -k 1 "$WAIT" ssh -F "$(ssh_config)" "${path[@]}" "$1" "$3" </dev/null
}

# state_answer PREFIX WHERE
state_answer() {
	local kept=none new=silent ping=''
	if ssh -F "$(ssh_config)" -O check "$2"; then
		kept=silent
		! answer "$2" kept true || kept=answers
	fi
	! answer "$2" new true || new=answers
	if [ "$2" != "$1dom0" ]; then
		ping=", ping of dom0: no answer"
		! answer "$1dom0" new "ping -c 1 -W 5 ${2#"$1"}" >/dev/null || ping=", ping of dom0: answers"
	fi
	echo "  $2: connection kept: $kept, a new one: $new$ping"
} 2>/dev/null

# ---- Xen ----

# until_said LOG FROM: waits until a console has said something, and then nothing for two seconds.
until_said() {
	local size=$2 limit=$((SECONDS + WAIT))
	while sleep 2 && [ $SECONDS -lt $limit ]; do
		[ "$size" = "$2" ] || [ "$size" != "$(stat -c %s "$1")" ] || break
		size=$(stat -c %s "$1")
	done
}

# xen_key M KEY: what Xen says to a debug key, on dom0's console. Three times Ctrl-A give it the console, and take it away.
# TOOL is socat, which has to read what it does not need: else the console stops.
xen_key() {
	local console log from
	console=$(state_dir)/$(prefix_of "$1")console
	log=$(state_dir)/$(prefix_of "$1")dom0.log
	from=$(stat -c %s "$log")
	{
		printf '\001\001\001%s' "$2"
		until_said "$log" "$from"
		printf '\001\001\001'
	} | timeout $((WAIT + 2)) "${TOOL[@]}" - "UNIX-CONNECT:$console" >/dev/null
	tail -c "+$((from + 1))" "$log" | tr -d '\000\r' | sed -n 's/^(XEN) //p' | logged
}

# state_xen M: run queues, vCPUs, timers, event channels. None of these keys stops a CPU, or waits for one. What Xen says is
# no fault: the next search of the console begins behind it.
state_xen() {
	local log
	log=$(state_dir)/$(prefix_of "$1")dom0
	echo "Xen, run queues"
	xen_key "$1" r | grep -E '^NOW|^CPU\[|\]( pri|: pri)| pri=' | cut -c1-100 | head -n 18
	echo "Xen, vCPUs"
	xen_key "$1" q | awk '
		/^General information/ { domain = $NF }
		/dying=/ { dying = $2 }
		/VCPU[0-9]+:/ { line = $0 }
		/pause_flags=/ { sub(/^ +/, "", line); sub(/^ +/, ""); print "  domain " domain, dying, line, $0 }' | head -n 16
	echo "Xen, timers"
	xen_key "$1" a | head -n 24
	echo "Xen, event channels that are pending, with port, pending/masked"
	xen_key "$1" e | awk '/^Event channel information/ { domain = $NF } /\[1\// { print "  domain " domain $0 }' | cut -c1-100 | head -n 16
	stat -c %s "$log.log" >"$log.seen"
}

# state_consoles M: the end of each.
state_consoles() {
	local where
	for where in $(machines_seen "$1"); do
		echo "$where: the end of its console"
		tr -d '\000\r' <"$(state_dir)/$where.log" | grep -av '^(X*EN)' | tail -n 4 | sed 's/^/  /'
	done
}
