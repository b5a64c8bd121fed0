# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Completion of xen-ib for bash.
# shellcheck shell=bash

_xen_ib_domains() { xl list 2>/dev/null | awk 'NR > 1 && $2 > 0 { print $1 }'; }

# Numbers of a domain's vHCAs.
_xen_ib_devs() { xen-ib list "$1" 2>/dev/null | awk 'NR > 1 { print $3 }'; }

_xen_ib_hcas() {
	local hca
	echo auto
	for hca in /sys/class/infiniband/*; do
		[ ! -e "$hca" ] || echo "${hca##*/}"
	done
}

_xen_ib_keys() {
	local key
	for key in hca port devid backend max-{ctx,uar,pd,umem,mr,mw,cq,srq,qp,ah,mcast,mem-bytes,mr-bytes}; do
		echo "$key="
	done
	_xen_ib_imposed
}

# Those that "set" takes.
_xen_ib_imposed() {
	local key
	for key in sl qp-rate max-{rd-atomic,qp-wr} min-{timeout,rnr-timer} ud; do
		echo "$key="
	done
}

_xen_ib() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
	local words='attach detach set list show top metrics check export import report --help --version' args=() i
	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
		return
	fi
	case $prev in
	--order | -o)
		mapfile -t COMPREPLY < <(compgen -W 'commands bytes' -- "$cur")
		return
		;;
	--socket | -S)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	--wait | -w | --count | -n | --delay | -d) return ;;
	esac
	words=''
	if [[ $cur == -* ]]; then
		words='--json --help --socket'
		case $command in
		attach | set) words+=' --wait' ;;
		detach) words+=' --wait --force' ;;
		top) words+=' --count --delay --order' ;;
		check) words+=' --strict' ;;
		esac
	else
		for ((i = 2; i < COMP_CWORD; i++)); do
			[[ ${COMP_WORDS[i]} == -* || ${COMP_WORDS[i - 1]} == @(--wait|-w|--socket|-S) ]] ||
				args+=("${COMP_WORDS[i]}")
		done
		case $command,${#args[@]} in
		attach,0 | detach,0 | set,0 | list,0 | show,0 | export,0) words=$(_xen_ib_domains) ;;
		detach,1 | show,1) words=$(_xen_ib_devs "${args[0]}") ;;
		set,[12])
			compopt -o nospace
			words=$(_xen_ib_imposed | sed "s/^/${cur%"${cur##*,}"}/")
			;;
		attach,1)
			compopt -o nospace
			words=$(_xen_ib_hcas | sed s/^/hca=/)
			;;
		attach,[23])	# bash divides words at "="
			[ "$cur" != = ] || cur=''
			[ "${args[1]}" != hca ] || words=$(_xen_ib_hcas)
			;;
		esac
		if [[ $command,$cur == attach,*,* ]]; then
			compopt -o nospace
			words=$(_xen_ib_keys | sed "s/^/${cur%,*},/")
		fi
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

complete -F _xen_ib xen-ib
