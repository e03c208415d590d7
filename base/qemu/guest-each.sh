#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs in the guest: one test after the other, each with its own run of a program,
# so that what one leaves behind is not the next one's. Lines that begin with @ are
# for cases.py; what is between is KTAP.
#
# usage: guest-each.sh SECONDS REGEX COMMAND TEST...
#
# REGEX, of Perl's kind: what the kernel may not say. COMMAND: of bash; $1 in it is
# the test.

hang=$1 alarm=$2 command=$3
shift 3

# Tells what the kernel may not say, if the log has it since the last look; the first
# one begins at the boot. What comes between two tests is told with the second. Fails
# if the log no longer has the place of the last look.
mark=
look() {
	local since=$mark

	mark=$(cat /proc/sys/kernel/random/uuid)
	echo "$mark" >/dev/kmsg
	dmesg | sed "/$mark/,\$d" >/tmp/said
	if [ -n "$since" ]; then
		grep -q "$since" /tmp/said || return
		sed -i "1,/$since/d" /tmp/said
	fi
	grep -P -- "$alarm" /tmp/said | head -n 20 | sed 's/^/@warned /'
}

for t; do
	echo "@begin $t"
	timeout -s KILL "$hang" bash -c "$command" bash "$t" 2>&1 | cut -c-400
	status=${PIPESTATUS[0]}
	lost=
	look || lost=yes
	if [ "$status" -eq 137 ]; then
		# It may have left anything behind.
		echo "@hung $t"
		exit 0
	fi
	if [ -z "$lost" ]; then
		echo "@end $status $t"
	else
		echo "@lost $t"
	fi
done
# What the last one sets off may take a while. What guest-end.sh finds it puts into
# the log.
sleep 2
"$(dirname "$0")/guest-end.sh"
look || echo "@warned the kernel's log is longer than its buffer"
echo "@all"
