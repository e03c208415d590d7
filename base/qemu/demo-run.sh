#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# make run: boot our kernel and show the main job.

here=$(cd "$(dirname "$0")" && pwd)

if "$here/run.py" "$here/demo.sh"; then
	echo "  OK       the guest saw what it should"
else
	status=$?
	echo "make run: the guest did not see what it should" \
		"(kernel messages: build/run/console.log)" >&2
	exit $status
fi
