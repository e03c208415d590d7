#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs in the guest: ftracetest of the tree $1 on one test case after the other, as
# guest-each.sh does.
#
# usage: guest-cases.sh TREE SECONDS REGEX TEST...

here=$(cd "$(dirname "$0")" && pwd)
tree=$1 hang=$2 alarm=$3
shift 3

cp -r "$tree/tools/testing/selftests/ftrace" /tmp/ftrace
cd /tmp/ftrace || exit
mkdir -p logs/none
ln -s none logs/latest # ftracetest wants to remove it

# shellcheck disable=SC2016 # for the other one
exec "$here/guest-each.sh" "$hang" "$alarm" 'exec ./ftracetest -K -v "test.d/$1"' "$@"
