#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs in the guest: what the startup tests of the base said as it booted, as
# TAP. Each tracer there is must have been tested, but blk, which has no test.
# Events, and systems of events, are told one by one if they fail; else there is one
# result for all of them, which says that there were any. They are tested twice.
#
# usage: guest-startup.sh [LOG TRACERS]
# LOG, TRACERS: what the kernel said, and the tracers that it has

set -e
log=${1:-}
if [ -z "$log" ]; then
	log=$(mktemp)
	dmesg >"$log"
fi
tracers=${2:-$(cat /sys/kernel/tracing/available_tracers)}

# One test says "Testing NAME: " and, at once or after other messages, PASSED or
# OK; a test of the function tracer goes on to others before it is over.
awk -v tracers="$tracers" -v again=' with the function tracer' '
	function verdict(good) {
		if (name == "")
			return
		if (name ~ /^event /) {
			kind = name ~ /^event system / ? "event systems" : "events"
			number[kind with] += good
			if (good) {
				name = ""
				return
			}
		}
		if (name ~ /event/)
			name = name with
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
	/^Running tests again, along with the function tracer/ {
		verdict(0)
		with = again
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
		for (i = split("|" again, list, "|"); i > 0; i--) {
			if (!(("all events" list[i]) in seen))
				printf "not ok %d - all events%s were not tested\n", ++n, list[i]
			for (j = split("events|event systems", kinds, "|"); j > 0; j--) {
				kind = kinds[j] list[i]
				print "# " number[kind] + 0 " " kind " passed"
				printf "%s %d - %s\n", number[kind] ? "ok" : "not ok", ++n, kind
			}
		}
		print "1.." n
	}' "$log"
