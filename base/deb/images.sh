#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The system of make deb-test with one kernel, in build/debian/NAME, made anew if a
# package or what is put into it is newer.
#
# usage: images.sh sets|stock
#
# sets: the packages that make deb made; stock: Debian's own kernel of the same version

set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"

name=$1 out=$build/debian/$1
case $name in
sets)
	packages=("$build"/packages/*.deb)
	[ -f "${packages[0]}" ] || missing "build/packages" "make deb-test" "run make deb" ;;
stock)
	from=$build/debian/packages
	wanted=linux-image-$(make -s -C "$(source_of stock)" kernelversion)+deb12-amd64
	packages=("$from/$wanted"_*.deb)
	if [ ! -f "${packages[0]}" ]; then
		mkdir -p "$from"
		say FETCH "$wanted"
		(cd "$from" && apt-get download -q "$wanted" >fetch.log 2>&1) ||
			die "apt has no $wanted: $(grep -m 1 '^E:' "$from/fetch.log" || :)"
		packages=("$from/$wanted"_*.deb)
	fi ;;
*)	die "no such kernel: $name" ;;
esac

printf '%s\n' "${packages[@]##*/}" | cmp -s - "$out/packages" ||
	exec "$here/image.sh" "$out" "${packages[@]}"
for file in "${packages[@]}" "$here/image.sh" "$here/guest.sh" "$here/ftrace-test.service"; do
	[ "$out/packages" -nt "$file" ] || exec "$here/image.sh" "$out" "${packages[@]}"
done
