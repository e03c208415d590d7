#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs in each guest when its script is done: is the log whole, does the core know of
# no more bad call sites than the log told of, and are there leaks, if the kernel
# can look for them? What is found goes into the log, where run.py sees it.

shopt -s extglob
alarm() { echo "WARNING: guest-end: $*" >/dev/kmsg; }

dmesg >/run/guest-log
grep -q 'Linux version' /run/guest-log || alarm "the log has lost its beginning"

tracing=/sys/kernel/tracing
stats=$tracing/ftraced_stats
# The core of the base lists functions as well.
if [ -e $stats ] || { [ -e $tracing/available_filter_functions ] &&
		      zcat /proc/config.gz | grep -qx CONFIG_FTRACE_SETS=y; }; then
	# A case that writes over a call site says so with "provokes:"; whatever else
	# is reported run.py takes for an alarm. What is not even reported is lost.
	# Under lockdown only a file that was opened before can be read.
	if { true <&9; } 2>/dev/null; then
		bad=$(sed -n 's/^bad: //p' <&9)
	else
		bad=$(sed -n 's/^bad: //p' $stats)
	fi
	reported=$(grep -c ' ftrace: call site .* it is left alone' /run/guest-log)
	if [[ $bad != +([0-9]) ]] || [ "$bad" -gt "$reported" ]; then
		alarm "bad: ${bad:-missing}, $reported reported"
	fi
fi

leaks=/sys/kernel/debug/kmemleak
if [ ! -e $leaks ]; then
	! zcat /proc/config.gz 2>/dev/null | grep -qx CONFIG_DEBUG_KMEMLEAK=y ||
		alarm "kmemleak does not work"
	exit 0
fi
# A test may have locked the kernel down. Any other error shall be seen below.
[[ $({ true <$leaks; } 2>&1) != *': Operation not permitted' ]] || exit 0

# What is younger than 5 s is left out, and what changed since the scan before.
for _ in 1 2; do
	sleep 6
	echo scan >$leaks
done
sed 's/^/# /' $leaks
