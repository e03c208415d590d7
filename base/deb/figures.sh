#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The figures that the guests of make deb-test gave, ours and those of the stock core, as
# comments of TAP. There is one limit, on the instructions until the login prompt: what
# the host's clock says is too much of the host.
#
# usage: figures.sh LOGS

set -uo pipefail
logs=$1 limit=1.1
what="a boot takes at most $limit times the instructions of stock's"

# One nanosecond of those guests is one instruction.
instructions() { # sets|stock
	sed -n 's/^# busy: \([0-9]*\) ms.*/\1/p' "$logs/deb-$1-count.out" 2>/dev/null
}

echo 1..1
for figure in boot login memory functions modules switched cyclictest stops; do
	for name in sets stock; do
		grep -H "^# $figure: " "$logs/deb-$name"{-boot,-count,,-busy}.out 2>/dev/null |
			sed 's/.*deb-\(.*\)\.out:# /# \1: /'
	done
done
ours=$(instructions sets) stock=$(instructions stock)
if [[ ! $ours =~ ^[1-9][0-9]*$ || ! $stock =~ ^[1-9][0-9]*$ ]]; then
	echo "# millions of instructions until the login prompt: ${ours:-?}, stock ${stock:-?}"
	echo "not ok 1 - $what"
	exit 1
fi
awk -v ours="$ours" -v stock="$stock" -v limit=$limit -v what="$what" 'BEGIN {
	ratio = ours / stock
	printf "# millions of instructions until the login prompt: %d, stock %d; %.3f times as many\n",
		ours, stock, ratio
	print (ratio > limit ? "not ok" : "ok") " 1 - " what
	exit ratio > limit
}'
