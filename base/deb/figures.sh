#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The figures that the guests of make deb-test gave, ours and those of the stock core, as
# comments of TAP. There are two limits: on the instructions until the login prompt, since
# what the host's clock says is too much of the host, and on the functions that are found.
#
# usage: figures.sh LOGS

set -uo pipefail
# All that a core does in a boot is some hundred million instructions.
logs=$1 limit=300
what="a boot takes at most $limit million instructions more than stock's"
found="all functions are found that stock has, but for one of a hundred"

# One nanosecond of those guests is one instruction.
instructions() { # sets|stock
	sed -n 's/^# busy: \([0-9]*\) ms.*/\1/p' "$logs/deb-$1-count.out" 2>/dev/null
}

# How many there were when all modules were there that the test wants.
functions() { # sets|stock
	sed -n 's/^# functions: \([0-9]*\), .*/\1/p' "$logs/deb-$1.out" 2>/dev/null
}

echo 1..2
for figure in boot login memory functions modules switched cyclictest stops; do
	for name in sets stock; do
		grep -H "^# $figure: " "$logs/deb-$name"{-boot,-count,,-busy}.out 2>/dev/null |
			sed 's/.*deb-\(.*\)\.out:# /# \1: /'
	done
done
status=0
# Both are numbers, and this is so of them.
result() { # NUMBER WHAT CONDITION
	if [[ $ours =~ ^[1-9][0-9]*$ && $stock =~ ^[1-9][0-9]*$ ]] && (($3)); then
		echo "ok $1 - $2"
	else
		echo "not ok $1 - $2"
		status=1
	fi
}

ours=$(instructions sets) stock=$(instructions stock)
echo "# millions of instructions until the login prompt: ${ours:-?}, stock ${stock:-?}"
result 1 "$what" 'ours <= stock + limit'
ours=$(functions sets) stock=$(functions stock)
result 2 "$found" 'ours * 100 >= stock * 99'
exit $status
