# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by tests of scripts: $work is a folder of theirs, $n counts the results.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0

# check WHAT PATTERN STATUS COMMAND...: COMMAND ends with STATUS ("fails" is any
# but 0) and its first line of complaint matches PATTERN.
check() {
	local what=$1 pattern=$2 want=$3 status tries
	shift 3
	n=$((n + 1))
	# 124: it was the emulator
	for ((tries = 0; tries < 4; tries++)); do
		"$@" >"$work/out" 2>"$work/err" </dev/null
		status=$?
		if [ $status -ne 124 ] || [ "$want" = 124 ]; then
			break
		fi
		echo "# acquitted: the emulator failed"
	done
	if { [ "$want" = "$status" ] || { [ "$want" = fails ] && [ $status -ne 0 ]; }; } &&
		grep -qE -- "$pattern" <<<"$(head -n 1 "$work/err")"; then
		echo "ok $n $what"
	else
		echo "# status $status; stderr:"
		head -n 5 "$work/err" | sed 's/^/# /'
		echo "not ok $n $what"
	fi
}

# Its complaint is on stdout.
aloud() { "$@" >&2; }
