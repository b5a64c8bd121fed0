# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A figure as SVG, for gnuplot. To standard output. Given by benchmarks/bench: summary, figure, title, xname, unit, curves.
# Lines are medians, bars quartiles.

set terminal svg size 760,440 font "sans,12" background "white"
set title title
set xlabel xname
set ylabel unit
set logscale x 2
set logscale y
set format x "%.0f"
set key top left
set grid

point(side, c) = sprintf("< awk '$1 == \"%s\" && $2 == \"%s\" { print $3, $%d, $%d, $%d }' %s", figure, c, side, side + 1, side + 2, summary)

plot for [i = 1:words(curves)] point(4, word(curves, i)) using 1:2:3:4 with yerrorlines lc i pt 7 ps 0.5 title "dom0, ".word(curves, i), \
     for [i = 1:words(curves)] point(7, word(curves, i)) using 1:2:3:4 with yerrorlines lc i dt 2 pt 6 ps 0.6 title "guests, ".word(curves, i)
