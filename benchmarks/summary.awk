# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Reads what benchmarks/bench measured, "FIGURE CURVE SIDE ROUND X VALUE", and prints for each point
# "FIGURE CURVE X" and for native and guests each "MEDIAN LOW HIGH" (quartiles), then the median of the ratios of
# neighbouring runs, guests to native. What one side lacks is "-". Curves are in the order of their first coming, points in that of X.

# Of sorted values; between two of them in proportion.
function quantile(v, n, q,    at, below) {
	at = 1 + (n - 1) * q
	below = int(at)
	return below == n ? v[n] : v[below] + (at - below) * (v[below + 1] - v[below])
}

function side_of(point, side,    v, n, round) {
	for (round = 1; round <= rounds; round++)
		if ((point, side, round) in value)
			v[++n] = value[point, side, round]
	if (!n)
		return "- - -"
	sort_up(v, n)
	return sprintf("%.6g %.6g %.6g", quantile(v, n, 0.5), quantile(v, n, 0.25), quantile(v, n, 0.75))
}

function ratio_of(point,    v, n, round) {
	for (round = 1; round <= rounds; round++)
		if ((point, "native", round) in value && (point, "guests", round) in value && value[point, "native", round] > 0)
			v[++n] = value[point, "guests", round] / value[point, "native", round]
	if (!n)
		return "-"
	sort_up(v, n)
	return sprintf("%.4f", quantile(v, n, 0.5))
}

{
	curve = $1 " " $2
	point = curve " " $5
	if (!(curve in points))
		curves[++count] = curve
	if (!(point in seen)) {
		seen[point] = 1
		x[curve, ++points[curve]] = $5
	}
	value[point, $3, $4] = $6
	if ($4 > rounds)
		rounds = $4
}

END {
	for (i = 1; i <= count; i++) {
		curve = curves[i]
		n = points[curve]
		for (j = 1; j <= n; j++)
			sorted[j] = x[curve, j]
		sort_up(sorted, n)
		for (j = 1; j <= n; j++) {
			point = curve " " sorted[j]
			print point, side_of(point, "native"), side_of(point, "guests"), ratio_of(point)
		}
	}
}
