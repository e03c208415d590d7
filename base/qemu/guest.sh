#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Process 1 of the guest once its root is there: run the script that run.py was
# asked to run, look what it left, say how it ended, power off.

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/root TERM=${TERM:-vt100} LC_ALL=C
# shellcheck source=/dev/null
. /run/guest.conf
# shellcheck disable=SC2154 # from guest.conf
cd "$top" || exit

# For guest-end.sh, should a test lock the kernel down.
stats=/sys/kernel/tracing/ftraced_stats
[ ! -e $stats ] || exec 9<$stats

# What run.py waits for.
echo "guest.sh: up" >/dev/ttyS0
if [ -n "$shell" ]; then
	# shellcheck disable=SC2016,SC2154 # for the inner shell; from guest.conf
	/run/busybox setsid bash -c 'exec bash --rcfile "$0" -i </dev/hvc0 >/dev/hvc0 2>&1' \
		"$here/guest-shell.sh"
	/run/busybox poweroff -f
else
	# shellcheck disable=SC2154 # from guest.conf
	/run/busybox setsid bash -c "$script" </dev/null >/dev/hvc0 2>&1 9<&-
	status=$?
	# shellcheck disable=SC2154 # from guest.conf
	"$here/guest-end.sh" </dev/null >/dev/hvc0 2>&1
fi
# A line of its own, also when the script's last one has no end.
printf '\n@guest-exit %d@\n' "$status" >/dev/hvc0
/run/busybox poweroff -f
