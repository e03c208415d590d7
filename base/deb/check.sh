#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Whether there is what make deb-test needs: packages with both cores, of the same modules
# and of what is here now, and room. Says which modules those are.

set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"
. "$here/stamp.sh"

gigabytes=25

need_room() {
	local free have=0

	[ ! -d "$build/debian" ] || have=$(du -sm "$build/debian" | cut -f 1)
	free=$(df --output=avail -m "$build" | tail -n 1)
	[ $((free + have)) -ge $((gigabytes * 1024)) ] ||
		die "no space: $build has $((free / 1024)) G left, of $((gigabytes - have / 1024)) G" \
			"that are needed; make room"
}

# All of them, or the digest of a list.
modules_of() { sed -n 's/^modules \([^ ]*\).*/\1/p' "$build/packages/$1/stamp"; }

[ "$(id -u)" -eq 0 ] ||
	die "root is needed to install packages in another system; run make deb-test as root"
say NOTE "takes $gigabytes G of disk, and up to two hours"
status=0
for name in sets stock; do
	(need_packages $name) || status=1
done
(need_room) || status=1
[ $status -eq 0 ] || exit 1
[ "$(modules_of sets)" = "$(modules_of stock)" ] ||
	die "build/packages/sets and build/packages/stock were made with unlike lists of modules;" \
		"run make deb and make deb-stock with the same LOCALMODCONFIG"
list=$(list_of sets)
what="all its modules"
[ -z "$list" ] || what="the modules of ${list#"$top"/}"
say CONFIG "Debian's, with $what"
