#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs in the guest: ftracetest of the tree $1 on one test case after the other,
# each with its own run, so that what one leaves behind is not the next one's.
# Lines that begin with @ are for ftracetest.py; what is between is KTAP.
#
# usage: guest-cases.sh TREE SECONDS REGEX TEST...
#
# REGEX, of Perl's kind: what the kernel may not say.

tree=$1 hang=$2 alarm=$3
shift 3

cp -r "$tree/tools/testing/selftests/ftrace" /tmp/ftrace
cd /tmp/ftrace || exit
mkdir -p logs/none
ln -s none logs/latest # ftracetest wants to remove it

for t; do
	echo "@begin $t"
	mark=$(cat /proc/sys/kernel/random/uuid)
	echo "$mark" >/dev/kmsg
	timeout -s KILL "$hang" ./ftracetest -K -v "test.d/$t" 2>&1 | cut -c-400
	status=${PIPESTATUS[0]}
	dmesg >/tmp/said
	sed "1,/$mark/d" /tmp/said | grep -P -- "$alarm" | head -n 3 | sed 's/^/@warned /'
	if [ "$status" -eq 137 ]; then
		# It may have left anything behind.
		echo "@hung $t"
		exit 0
	fi
	if grep -q "$mark" /tmp/said; then
		echo "@end $status $t"
	else
		echo "@lost $t"
	fi
done
echo "@all"
