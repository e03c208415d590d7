# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # its variables
# Sourced by guest-caller.sh: what the base tests as it boots, and what it watches while
# it does, in a kernel with startup.config.

tracing=/sys/kernel/tracing

startup_boot() { run "$here/guest-startup.sh"; }

# The selftests of the base that recurse, one with protection by the core and one with
# its own, have left a record of it: a function, and whoever called it.
startup_recursion() {
	local file=$tracing/recursed_functions

	sed 's/^/# /' $file
	try 'the selftest of the base was seen to recurse' \
		grep -q '[[:space:]]trace_selftest_dynamic_test_func+' $file
	# Opening it is what clears it.
	: >$file
	try 'it can be cleared' \
		not grep -q '[[:space:]]trace_selftest_dynamic_test_func+' $file
}

hammered() { grep -q "Read: .*(by $1)" $tracing/trace; }

# What the base's ring_buffer_benchmark said of a round; each event that was written
# was read, is still there or was counted as lost.
round() { # HOW-IT-READ
	awk -v how="(by $1)" '
		/ ERROR!/ { exit }
		/ Read: / { mine = index($0, how) }
		/ Total: / { total = $NF }
		mine && / Hit: / { good = $NF > 0 && $NF == total; exit }
		END { exit !good }' $tracing/trace
}

# Ten seconds of events read one by one, then ten of pages, with a pause between.
startup_ring_buffer_benchmark() {
	local how

	echo nop >$tracing/current_tracer
	: >$tracing/trace
	echo 1 >$tracing/tracing_on
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

group_startup() { "startup_$name"; }
