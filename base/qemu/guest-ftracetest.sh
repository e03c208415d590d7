#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs in the guest: ftracetest of the tree $1 with the test cases that follow
# (paths below test.d).  The output is KTAP with the logs of what failed.

set -e -o pipefail
tree=$1
shift

# Some of the base's tests look for their PID in a whole trace, where a short one
# is sooner or later a part of a time stamp.
if [ -e /proc/sys/kernel/ns_last_pid ]; then
	echo 4194304 >/proc/sys/kernel/pid_max
	echo 1234567 >/proc/sys/kernel/ns_last_pid
fi

cp -r "$tree/tools/testing/selftests/ftrace" /tmp/ftrace
ln -s "$tree/Documentation/trace" /tmp/ftrace/Documentation
ln -s "$tree/scripts" /tmp/ftrace/scripts
cd /tmp/ftrace
cases=()
for t; do
	cases+=("test.d/$t")
	# Whoever watches the log wants to know which case provokes an alarm.
	sed -i "1a echo 'ftracetest: case $t' > /dev/kmsg" "test.d/$t"
done
mkdir -p logs/none
ln -s none logs/latest # ftracetest wants to remove it
: >counts
export FTRACETEST_COUNTS=$PWD/counts
# The result of each case is in what it prints; of a log, the end is enough, of
# what its cleaning up says (under lockdown it may do nothing) the beginning. What
# a case leaves in the file counts is told after its result.
status=0
./ftracetest -K -v "${cases[@]}" 2>&1 | awk '
	function flush_log(i) {
		for (i = n > 40 ? n - 40 : 0; i < n; i++)
			print lines[i]
		n = 0
	}
	function tell_counts(line, at) {
		while ((getline line <"counts") > 0)
			if (++at > told)
				print "# " line
		told = at
		close("counts")
	}
	/^# / { lines[n++] = $0; next }
	!/^(not )?ok |^1\.\.|^TAP/ && ++said > 40 { next }
	{ flush_log(); print; tell_counts(); fflush() }
	END { flush_log() }' || status=$?
echo 'ftracetest: case none' >/dev/kmsg
exit $status
