#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# make run: boot our kernel, show the main job, and make a page of what was seen.

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"

kept=$build/run/demo
rm -f "$build/run/report.html"
say DEMO "a boot and a session in QEMU, about a minute"
# As for the tests: what an emulator ended is run again.
for ((tries = 0, status = 124; status == 124 && tries < 4; tries++)); do
	[ $tries -eq 0 ] || say NOTE "the emulator failed, not the kernel: once more"
	rm -rf "$kept"
	"$here/run.py" --kernel demo --keep "$kept" "$here/demo.sh"
	status=$?
done
if [ $status -eq 0 ]; then
	say OK "the guest saw what it should"
else
	echo "make run: the guest did not see what it should" \
		"(kernel messages: ${build#"$top"/}/run/console.log)" >&2
	exit $status
fi
"$here/report.py" "$kept" "$build/demo" "$build/run/report.html" || exit
cat <<END
  REPORT   ${build#"$top"/}/run/report.html: open it in a browser

What to try next, in "make shell":
  echo function > current_tracer; head -20 trace
  echo vfs_read > set_graph_function; echo function_graph > current_tracer; head -40 trace
  echo nop > current_tracer; echo > set_graph_function; cat ftraced_stats
END
