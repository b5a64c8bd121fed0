# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# For the other programs here: awk -f sort.awk -f ...

# v[1] to v[n], the least first.
function sort_up(v, n,    i, j, t) {
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && v[j] < v[j - 1]; j--) {
			t = v[j]
			v[j] = v[j - 1]
			v[j - 1] = t
		}
}
