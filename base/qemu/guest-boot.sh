#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs in the guest: guest-ftracetest.sh, with what a boot left behind kept in
# /run/ftrace-at-boot, because ftracetest begins by resetting it.
#
# usage: guest-boot.sh TREE TEST...

set -e
sh "$1/tools/testing/selftests/ftrace/test.d/dynamic-boot/keep.sh"

# The I/O port and the terminal by which nmi.py is talked to.
if grep -q ' guest\.nmi=' /proc/cmdline; then
	tr ' ' '\n' </proc/cmdline | sed -n 's/^guest\.nmi=//p' | tr ',' '\n' >/run/guest-nmi
fi
exec "$(dirname "$0")/guest-ftracetest.sh" "$@"
