#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Run a command while base/qemu.sh fetches a newer QEMU. Whatever ends the command early
# ends both.
#
# usage: while-fetching.sh COMMAND...

set -uo pipefail
here=$(dirname "$0")

# Each in a process group of its own: what is in the background without that is deaf to ^C.
set -m
"$here/qemu.sh" &
fetch=$!
"$@" </dev/null &
work=$!
set +m

stop() {
	kill -- -"$fetch" -"$work" 2>/dev/null
	wait
}
trap 'stop; exit 130' INT TERM HUP

status=0
wait "$work" || status=$?
if [ $status -eq 0 ]; then
	wait "$fetch"
else
	stop
fi
exit $status
