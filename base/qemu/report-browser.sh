#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Open the page that make run made in a real browser: it shows its pictures, and
# complains of nothing. A screenshot is left beside it. Prints TAP.

set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"
. "$here/runner-check.sh"

page=$build/run/report.html
shot=$build/run/report.png
[ -e "$build/run/demo/samples" ] || missing "build/run/demo" "make report-test" "make run keeps it"
# As the program is now, not as it was at that time.
"$here/report.py" "$build/run/demo" "$build/demo" "$page" || exit

browse() {
	timeout -s KILL 120 chromium --headless --no-sandbox --disable-gpu --enable-logging=stderr \
		--user-data-dir="$work/profile" --window-size=1000,2600 "$@" "file://$page"
}

# How wide each picture is once it is laid out, from a copy of the page that asks.
sed 's|</html>|<script>document.title = [...document.querySelectorAll("svg")].map(svg =>\
	svg.getBoundingClientRect().width > 500 \&\&\
	svg.getBoundingClientRect().height > 50 ? "drawn" : "empty").join(" ")</script></html>|' \
	"$page" >"$work/page.html"
drawn() {
	page=$work/page.html browse --dump-dom 2>"$work/log" | grep -o '<title>[^<]*' >&2
}

rm -f "$shot"
{
check 'the browser draws all pictures' '^<title>drawn drawn drawn drawn( drawn)*$' 0 drawn
check 'it has a screenshot' '' 0 browse --screenshot="$shot"
check 'the screenshot is there' '' 0 [ -s "$shot" ]
check 'the page has it complain of nothing' '^$' fails aloud grep CONSOLE "$work/log"
sed 's|</html>|<script>no_such_function()</script></html>|' "$page" >"$work/bad.html"
complaint() {
	page=$work/bad.html browse --dump-dom 2>&1 >"$work/dom" | grep CONSOLE >&2
}
check 'it would complain of what is wrong' 'CONSOLE.*no_such_function' 0 complaint
} | tee "$work/results"
! grep -q '^not ok' "$work/results"
