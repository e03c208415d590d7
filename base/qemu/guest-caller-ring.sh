# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # its variables
# Sourced by guest-caller.sh: the base's tests of its ring buffer.

tracing=/sys/kernel/tracing

# ring_buffer_benchmark has said all of a round.
hammered() { # HOW-IT-READ
	awk -v how="(by $1)" '
		/ Read: / { mine = index($0, how) }
		mine && / Hit: / { whole = 1 }
		END { exit !whole }' $tracing/trace
}

# It found no error, and each event that it wrote was read, is still there or was counted
# as lost.
round() { # HOW-IT-READ
	awk -v how="(by $1)" '
		/ ERROR!/ { bad = 1 }
		/ Read: / { mine = index($0, how) }
		/ Total: / { total = $NF }
		mine && / Hit: / { good = $NF > 0 && $NF == total; mine = 0 }
		END { exit bad || !good }' $tracing/trace
}

# Ten seconds in which one thread writes and another one reads events, then ten in which
# it reads pages, with a pause between.
ring_buffer_benchmark() {
	local how

	echo nop >$tracing/current_tracer
	: >$tracing/trace
	listen
	try 'it is loaded' modprobe ring_buffer_benchmark
	for how in events pages; do
		try "there is a round by $how" eventually hammered $how
		try "no event of it is missing" round $how
	done
	try 'it is unloaded' modprobe -r ring_buffer_benchmark
	try 'it warned of nothing' not said 'WARNING: CPU'
	sed -n 's/.*: ring_buffer_producer[a-z_]*: /# /p' $tracing/trace
}

group_ring-buffer() {
	echo 1 >$tracing/tracing_on
	case $name in
	ring_buffer_benchmark)	ring_buffer_benchmark ;;
	*)			run "$tools/ring-buffer/$name" ;;
	esac
}
