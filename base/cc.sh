#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The compiler by way of ccache, but not for a source that takes in a file by .incbin:
# with CCACHE_DEPEND (see lib.sh) ccache does not look into that file. It gave a new
# bzImage the kernel of an earlier build, where both were as long when compressed.
#
# usage: cc.sh COMPILER ARGUMENT... (of kbuild, with the source as the last)

for source; do :; done
if [ -f "$source" ] && grep -q '\.incbin' "$source"; then
	exec "$@"
fi
exec ccache "$@"
