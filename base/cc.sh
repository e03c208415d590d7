#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The compiler by way of ccache, but not for a source that takes in a file by .incbin:
# with CCACHE_DEPEND (see lib.sh) ccache does not look into that file. It gave a new
# bzImage the kernel of an earlier build, where both were as long when compressed.
#
# Files of the core are compiled with $FTRACE_FLAGS, too: see build.sh. kbuild does not
# know of them, so they are always the same in one place.
#
# usage: cc.sh COMPILER ARGUMENT... (of kbuild, with the source as the last)

for source; do :; done
case $source in
*/kernel/trace/ftrace/*.c | */arch/x86/kernel/ftrace/*.c)
	# shellcheck disable=SC2086 # none, one or more
	set -- "$@" $FTRACE_FLAGS ;;
esac
if [ -f "$source" ] && grep -q '\.incbin' "$source"; then
	exec "$@"
fi
exec ccache "$@"
