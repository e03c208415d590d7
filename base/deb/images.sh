#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The system of make deb-test with one kernel, in build/debian/NAME, made anew if a
# package or what is put into it is newer.
#
# usage: images.sh sets|stock|debian
#
# sets, stock: the packages that make deb-sets and make deb-stock made; debian: Debian's
# own kernel of the same version, or the newest there is

set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"
. "$here/stamp.sh"

name=$1 out=$build/debian/$1
case $name in
sets|stock)
	need_packages "$name"
	packages=("$build/packages/$name"/*.deb) ;;
debian)
	from=$build/debian/packages
	src=$(source_of stock)
	wanted=linux-image-$(make -s -C "$src" kernelversion)+deb12-amd64
	packages=("$from/$wanted"_*.deb)
	if [ ! -f "${packages[0]}" ]; then
		if ! apt-cache show "$wanted" >/dev/null 2>&1; then
			newest=$(apt-cache depends linux-image-6.12-amd64 2>/dev/null |
				sed -n 's/^ *Depends: \(linux-image-6\..*\)/\1/p' | head -n 1) || :
			[ -z "$newest" ] || say NOTE "Debian has no $wanted any more, but $newest"
			wanted=${newest:-$wanted}
		fi
		packages=("$from/$wanted"_*.deb)
	fi
	if [ ! -f "${packages[0]}" ]; then
		# A part of it would have the name of the whole.
		rm -rf "$from"
		mkdir -p "$from/new"
		say FETCH "$wanted"
		(cd "$from/new" && apt-get download -q "$wanted" >../fetch.log 2>&1) ||
			die "apt has no $wanted: $(grep -m 1 '^E:' "$from/fetch.log" || :)" \
				"(no network? else run apt-get update)"
		mv "$from/new"/*.deb "$from/"
		packages=("$from/$wanted"_*.deb)
	fi ;;
*)	die "no such kernel: $name" ;;
esac

printf '%s\n' "${packages[@]##*/}" | cmp -s - "$out/packages" ||
	exec "$here/image.sh" "$out" "${packages[@]}"
for file in "${packages[@]}" "$here/image.sh" "$here/guest.sh" "$here/ftrace-test.service"; do
	[ "$out/packages" -nt "$file" ] || exec "$here/image.sh" "$out" "${packages[@]}"
done
