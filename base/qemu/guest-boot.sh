#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs in the guest: guest-ftracetest.sh, with what a boot left behind kept in
# /run/ftrace-at-boot, because ftracetest begins by resetting it.
#
# usage: guest-boot.sh TREE TEST...

set -e
kept=/run/ftrace-at-boot
mkdir -p "$kept"
echo 0 >/sys/kernel/tracing/tracing_on
for f in current_tracer set_ftrace_filter set_ftrace_notrace enabled_functions trace \
	 ftraced_stats set_graph_function set_graph_notrace max_graph_depth \
	 function_tracers snapshot instances/boot/trace instances/boot/snapshot; do
	if [ -e "/sys/kernel/tracing/$f" ]; then
		mkdir -p "$kept/$(dirname "$f")"
		cat "/sys/kernel/tracing/$f" >"$kept/$f"
	fi
done
echo 1 >/sys/kernel/tracing/tracing_on

# The I/O port and the terminal by which nmi.py is talked to.
if grep -q ' guest\.nmi=' /proc/cmdline; then
	tr ' ' '\n' </proc/cmdline | sed -n 's/^guest\.nmi=//p' | tr ',' '\n' >/run/guest-nmi
fi
exec "$(dirname "$0")/guest-ftracetest.sh" "$@"
