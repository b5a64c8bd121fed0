# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Reads the samples of benchmarks/counter, "WHAT X" and numbers, after lines "side native" or "side guests" that say whose the
# following are, and prints for each point and side "WHAT X SIDE", all instructions, and the numbers. Of each, one in PART samples is at
# most what is printed. Points are in the order of their first coming. Comments come first, as they are.

# What disturbs a sample, such as a timer's interrupt, adds to it. A few have less than the others: the HCA model had answered before
# dom0's CPU slept.
function low(v, n) {
	sort_up(v, n)
	return v[int((n + part - 1) / part)]
}

function of_field(point, side, field,    v, i) {
	for (i = 1; i <= count[point, side]; i++)
		v[i] = value[point, side, field, i]
	return low(v, count[point, side])
}

/^#/ {
	print
	next
}

$1 == "side" {
	side = $2
	next
}

{
	point = $1 " " $2
	if (!(point in seen)) {
		seen[point] = 1
		points[++last] = point
	}
	n = ++count[point, side]
	value[point, side, 2, n] = $3 + $4 + $5
	for (i = 3; i <= NF; i++)
		value[point, side, i, n] = $i
	fields = NF
}

END {
	split("native guests", sides)
	for (p = 1; p <= last; p++) {
		for (s = 1; s <= 2; s++) {
			if (!count[points[p], sides[s]])
				continue
			printf "%s %s", points[p], sides[s]
			for (i = 2; i <= fields; i++)
				printf " %.0f", of_field(points[p], sides[s], i)
			printf "\n"
		}
	}
}
