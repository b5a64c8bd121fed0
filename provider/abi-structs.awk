# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Reads a kernel user ABI header and writes each of its top-level structures once more, as a macro
# _STRUCT_<name> that is an anonymous structure with the same members. infiniband/kern-abi.h
# puts these side by side into one command, the core's part and the driver's part.

BEGIN { depth = 0 }

{
	gsub(/\/\*([^*]|\*[^\/])*\*\//, "")
	sub(/\/\/.*$/, "")
	sub(/^[ \t]+/, "")
	sub(/[ \t]+$/, "")
}

# Comments of several lines.
/^\/\*/ { comment = 1 }
comment { if (/\*\//) comment = 0; next }

!depth && /^(struct|union)[ \t]+[a-zA-Z0-9_]+[ \t]*\{$/ {
	printf "#define _STRUCT_%s %s { \\\n", $2, $1
	depth = 1
	next
}

!depth { next }

/\{$/ { depth++ }
/^\}/ && --depth == 0 { print "}\n"; next }
{ if (length($0)) print "\t" $0 " \\" }
