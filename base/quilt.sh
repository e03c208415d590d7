#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Make build/quilt: build/linux once more, with the patches of base/fixes and
# base/connections pushed by quilt, so that "quilt refresh" writes them there.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

linux=$build/linux
base=$build/base
tree=$build/quilt
[ -f "$linux/Makefile" ] || missing build/linux build/quilt "run make prepare"
[ ! -e "$tree" ] || die "build/quilt is there already: remove it for a new one, when" \
	"quilt has refreshed what was changed in it"
list=$(hooks)
mapfile -t patches <<<"$list"
# quilt notes the last two in the tree.
export QUILTRC=$top/base/quiltrc QUILT_PATCHES=patches QUILT_SERIES=series

new=$tree.new
rm -rf "$new"
say COPY "build/linux to build/quilt"
cp -a --reflink=auto "$linux" "$new"
cd "$new"
mapfile -t files < <(cd "$top/base" && changed_by "${patches[@]}")
for f in "${files[@]}"; do
	rm -f "$f"
	[ ! -e "$base/$f" ] || cp -p "$base/$f" "$f"
done
mkdir patches
ln -s "$top"/base/{fixes,connections} patches/
echo "$list" >patches/series
log=$build/quilt.log
quilt push -a >"$log" 2>&1 ||
	die "quilt cannot push all patches; the end of $log: $(tail -n 1 "$log")"
for f in "${files[@]}"; do
	cmp -s "$f" "$linux/$f" || die "quilt makes another $f than build/linux has"
done
mv "$new" "$tree"
say READY "build/quilt; before you use quilt there: export QUILTRC=$QUILTRC"
