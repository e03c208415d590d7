# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # its variables
# Sourced by guest-caller.sh: what the base tests as it boots, and what it watches while
# it does, in a kernel with startup.config.

recursed=/sys/kernel/tracing/recursed_functions

startup_boot() { run "$here/guest-startup.sh"; }

# A selftest of the base has a callback that calls the function which it traces, and
# leaves it to the core that it is not called again. That is recorded. The call is the
# callback's last, so the caller is a function of the core, which differs.
recursion_seen() {
	awk '$1 ~ /^[a-z]/ && $2 ~ /^trace_selftest_dynamic_test_func\+/ { seen = 1 }
		END { exit !seen }' $recursed
}

startup_recursion() {
	try 'the selftest of the base was seen to recurse' recursion_seen
	sed 's/^/# /' $recursed
	# Opening it is what clears it.
	: >$recursed
	try 'it can be read' cat $recursed
	try 'that is forgotten when it is cleared' not recursion_seen
}

group_startup() { "startup_$name"; }
