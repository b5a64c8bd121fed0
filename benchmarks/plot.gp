# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A figure as SVG, for gnuplot, which was told where to. Given by benchmarks/bench: summary, figure, title, xname, unit, and curves:
# those with several points. They are lines; without any, each curve is a bar. Lines and bars are medians, the marks quartiles.

reset
set terminal svg size 760,440 font "sans,12" background "white"
set title title noenhanced
set ylabel unit
set logscale y
set grid

rows(wanted, columns) = sprintf("< awk '$1 == \"%s\" && %s { gsub(/ -/, \" NaN\"); print %s }' %s", figure, wanted, columns, summary)
point(side, c) = rows(sprintf("$2 == \"%s\"", c), sprintf("$3, $%d, $%d, $%d", side, side + 1, side + 2))

if (words(curves)) {
	set xlabel xname
	set logscale x 2
	set format x "%.0f"
	set key top left noenhanced
	plot for [i = 1:words(curves)] point(4, word(curves, i)) using 1:2:3:4 with yerrorlines lc i pt 7 ps 0.5 title "dom0, ".word(curves, i), \
	     for [i = 1:words(curves)] point(7, word(curves, i)) using 1:2:3:4 with yerrorlines lc i dt 2 pt 6 ps 0.6 title "guests, ".word(curves, i)
} else {
	set style data histograms
	set style histogram errorbars gap 1
	set style fill solid 0.6
	set xtics rotate by -40 noenhanced
	set key top right
	plot rows("1", "$2, $4, $5, $6, $7, $8, $9") using 2:3:4:xtic(1) title "dom0", "" using 5:6:7 title "guests"
}
