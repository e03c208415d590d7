#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Keep what a boot left in the tracing folder. ftracetest resets it, so this runs before
# ftracetest does, as early as the tests of a boot are to look.

KEPT=/run/ftrace-at-boot
TRACING=/sys/kernel/tracing

mkdir -p $KEPT/instances/boot || exit 1
echo 0 > $TRACING/tracing_on || exit 1
for f in current_tracer set_ftrace_filter set_ftrace_notrace enabled_functions trace \
	 ftraced_stats set_graph_function set_graph_notrace max_graph_depth \
	 function_tracers snapshot instances/boot/trace instances/boot/snapshot; do
	[ ! -e $TRACING/$f ] || cat $TRACING/$f > $KEPT/$f || exit 1
done
echo 1 > $TRACING/tracing_on
