#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs in the guest: what the startup tests of the base said as it booted, as
# TAP. Each tracer there is must have been tested, but blk, which has no test.

set -e
log=$(mktemp)
dmesg >"$log"
tracers=$(cat /sys/kernel/tracing/available_tracers)

# One test says "Testing NAME: " and, at once or after other messages, PASSED or
# OK; a test of the function tracer goes on to others before it is over.
awk -v tracers="$tracers" '
	function verdict(good) {
		if (name == "")
			return
		if (name ~ /^event |^all events$/) {
			events += good
			if (good) {
				name = ""
				return
			}
		}
		# What follows a "#" is no part of a name in KTAP.
		plain = name
		gsub(/#/, "", plain)
		printf "%s %d - %s\n", good ? "ok" : "not ok", ++n, plain
		seen[name] = 1
		name = ""
	}
	{
		sub(/^\[ *[0-9.]+\] /, "")
	}
	match($0, /^([a-z_]+: )?Testing [^:]*: /) {
		verdict(0)
		name = substr($0, 1, RLENGTH - 2)
		sub(/.*Testing /, "", name)
		$0 = substr($0, RLENGTH)
	}
	/^Running ring buffer tests/ { verdict(0); name = "ring buffer" }
	/^Ring buffer PASSED!/ { verdict(1) }
	/FAILED|(^| )NG: / { verdict(0); print "# " $0 }
	/(^|[ )])(PASSED|OK)$/ { verdict(1) }
	/WARNING: / { print "# " $0 }
	END {
		verdict(0)
		count = split(tracers, list, " ")
		for (i = 1; i <= count; i++)
			if (list[i] != "blk" && !(("tracer " list[i]) in seen))
				printf "not ok %d - tracer %s was not tested\n", ++n, list[i]
		if (!("ring buffer" in seen))
			printf "not ok %d - the ring buffer was not tested\n", ++n
		printf "%s %d - %d tests of events\n", events ? "ok" : "not ok", ++n, events
		print "1.." n
	}' "$log"
