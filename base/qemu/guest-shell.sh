# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # sourced by bash; from guest.conf
# What the interactive shell of "make shell" begins with.

# shellcheck source=/dev/null
. /run/guest.conf
read -r rows columns TERM <<<"$shell"
export TERM
stty rows "$rows" cols "$columns"
unset HISTFILE rows columns
cd /sys/kernel/tracing || return
PS1='guest:\w# '

echo "Linux $(uname -r) in QEMU, $(nproc) CPUs. You are in the guest's tracing folder.
The root is your file system, read-only: what you write stays in memory and is lost.
Only /keep is kept, in ${keep#"$top"/}. Try, for instance:

    echo function > current_tracer; head -20 trace
    echo vfs_read > set_graph_function; echo function_graph > current_tracer
    cat /proc/version; grep -A 12 'vfs_read() {' trace | head -30
    echo nop > current_tracer; echo > set_graph_function; cat ftraced_stats

\"exit\" ends the guest. If it hangs, end QEMU from another terminal."
