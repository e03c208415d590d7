#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# make shell: an interactive guest, or one that runs the command in $CMD, in the tracing
# folder. What either writes to /keep is in build/run/keep afterwards.
#
# usage: [CMD=...] shell.sh [KERNEL]
#
# Exits with the command's status; make shows it and exits with 2.

set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"

run=("$here/run.py" --kernel "${1:-demo}" --keep "$build/run/keep")
if [ -z "${CMD:-}" ]; then
	say BOOT "the guest, for some ten seconds"
	exec "${run[@]}" --shell
fi
# Its output is no terminal, or what has a pager would wait for a key.
exec "${run[@]}" --silence 3600 "set -o pipefail; cd /sys/kernel/tracing && { $CMD
} 2>&1 | cat"
