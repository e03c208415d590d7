#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The data races that KCSAN reports in kernel logs, as one result of TAP. The
# base has races of its own; a report is ours if a function of ours is anywhere
# in one of its stacks, or if the log breaks off in it.
#
# usage: races.sh LOG...

set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"

ours() {
	find "$build/kcsan/kernel/trace/ftrace" "$build/kcsan/arch/x86/kernel" \
		-path '*/ftrace/*.o' -exec nm --defined-only {} + 2>/dev/null |
		awk '$2 ~ /^[tTwW]$/ { sub(/\..*/, "", $3); print $3 }' | sort -u
}

echo 1..1
names=$(ours)
if [ -z "$names" ] || ! grep -q 'kcsan: enabled early' "$@"; then
	echo "not ok 1 - KCSAN is at work on our code"
	exit
fi
awk '
	function close_report(	i) {
		inside = 0
		if (!mine) {
			others++
			return
		}
		found++
		for (i = 0; i < n; i++)
			print "# " lines[i]
	}
	NR == FNR { ours[$1] = 1; next }
	FNR == 1 && inside { mine = 1; close_report() }
	{ sub(/\r$/, ""); sub(/^\[ *[0-9.]+\] /, "") }
	/^BUG: KCSAN: / {
		if (inside) {
			mine = 1
			close_report()
		}
		inside = 1; mine = 0; n = 0
	}
	inside && /^====/ { close_report(); next }
	inside {
		lines[n++] = $0
		name = $1
		if (/^ / && sub(/[.+].*/, "", name) && name in ours)
			mine = 1
	}
	END {
		if (inside) {
			mine = 1
			close_report()
		}
		if (found)
			print "not ok 1 - no data race in our code: " found " reports"
		else
			print "ok 1 - no data race in our code (" others + 0 " in the base alone)"
	}' - "$@" <<<"$names"
