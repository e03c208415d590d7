#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs in the guest: the base's selftests of livepatch, from the folder $1 where
# they and their modules have been built, as TAP.

cp -r "$1" /tmp/livepatch
cd /tmp/livepatch || exit
n=0
# Each begins its tests by this.
echo "TAP version 13"
echo "1..$(cat test-*.sh | grep -c '^start_test ')"
for script in test-*.sh; do
	"./$script" >out 2>&1
	status=$?
	before=$n
	# A script says "TEST: what ... ok" for each test; the first failure ends it.
	while IFS= read -r line; do
		case $line in
		'TEST: '*' ... ok')
			name=${line#TEST: }
			echo "ok $((n += 1)) - $script: ${name% ... ok}" ;;
		esac
	done <out
	case $status in
	0)	[ $n -gt "$before" ] || echo "not ok $((n += 1)) - $script: not one test was run" ;;
	4)	echo "ok $((n += 1)) - $script # SKIP $(tail -n 1 out)" ;;
	*)	tail -n 40 out | sed 's/^/# /'
		last=$(sed -n 's/^TEST: \(.*\) \.\.\. .*/\1/p' out | tail -n 1)
		echo "not ok $((n += 1)) - $script: $last" ;;
	esac
done
