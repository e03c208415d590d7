#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Make the two source trees:
#
#   build/base   the base as it is (LINUX: a 6.12.y tree or tarball; default is
#                Debian's linux-source-6.12)
#   build/linux  the base with the patches of base/fixes and base/connections applied,
#                and with our folders beside
#
# A file changes (and so is compiled again) only when its content does, and a
# file that we drop gives way to the base's own.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

base=$build/base
linux=$build/linux
mkdir -p "$build"
work=$(mktemp -d "$build/.prepare.XXXXXX")
second='' # process that unpacks the base once more, into $work/linux
clean_up() {
	[ -z "$second" ] || { kill "$second" && wait "$second"; } 2>/dev/null || :
	rm -rf "$work"
}
trap clean_up EXIT

# --- build/base

named=${LINUX:-/usr/src/linux-source-6.12.tar.xz}
from=$(realpath -e "$named" 2>/dev/null) || missing "$named" build/base \
	"make setup installs Debian's, make LINUX=PATH takes another 6.12.y tree or tarball"

# "6.12.117" of the tree $1, or nothing
version_of() {
	[ -f "$1/Makefile" ] && awk -F' *= *' '
		$1 == "VERSION" { v = $2 } $1 == "PATCHLEVEL" { p = $2 } $1 == "SUBLEVEL" { s = $2 }
		END { if (v != "") print v "." p "." s }' "$1/Makefile"
}

check_version() {
	local v
	v=$(version_of "$1") || v=
	case $v in
	6.12.*) ;;
	'') die "$from is no Linux source tree; name a 6.12.y tree or tarball with make LINUX=PATH" ;;
	*) die "$from is Linux $v, not 6.12.y; name a 6.12.y tree or tarball with make LINUX=PATH" ;;
	esac
}

# Two trees, of which each takes some 11 times as much as the tarball of Debian.
room_for() { # TARBALL
	local free wanted times=22
	[[ $1 != *.tar ]] || times=2
	wanted=$(($(stat -c %s "$1") * times / 1048576))
	free=$(df --output=avail -m "$build" | tail -n 1)
	[ "$free" -ge $wanted ] ||
		die "no space: $build has $free M left, of $wanted M that the source takes;" \
			"make room"
}

# no -t: what changes gets the time of now, so that make sees it
sync_tree() { rsync -rlp --checksum --delete "$@"; }

if [ -d "$from" ]; then
	check_version "$from"
	# Leave out what a build in that tree made.
	(cd "$from" && if [ -e .git ] && in_git rev-parse HEAD >/dev/null 2>&1; then
		in_git ls-files -z | while IFS= read -r -d '' f; do
			[ ! -e "$f" ] && [ ! -L "$f" ] || printf '%s\0' "$f"
		done
	else
		find . \( -path ./debian -o -path ./include/config -o -path './arch/*/include/generated' \
			-o -path ./include/generated \) -prune -o \
			\( -type f -o -type l \) ! -name '*.o' ! -name '*.ko' ! -name '*.a' \
			! -name '*.cmd' ! -path ./.config -print0
	fi) >"$work/files"
	stamp="$from $(cd "$from" && xargs -0 stat -c '%n %s %Y' -- <"$work/files" | sha256sum)"
else
	stamp="$from $(stat -c '%s %Y' "$from")"
fi

if [ ! -f "$base/Makefile" ] || [ "$stamp" != "$(cat "$build/base.stamp" 2>/dev/null)" ]; then
	if [ -f "$from" ] && [ ! -d "$base" ]; then
		room_for "$from"
	fi
	say UNPACK "$from (half a minute)"
	mkdir "$work/base"
	if [ -d "$from" ]; then
		rsync -a --from0 --files-from="$work/files" "$from/" "$work/base/"
	else
		# What is to be build/linux: to copy it afterwards takes longer.
		if [ "${1:-}" != --base-only ] && [ ! -d "$base" ] && [ ! -d "$linux" ]; then
			mkdir "$work/linux"
			tar -xf "$from" -C "$work/linux" --strip-components=1 2>/dev/null &
			second=$!
		fi
		tar -xf "$from" -C "$work/base" --strip-components=1 2>"$work/log" ||
			die "cannot unpack $from: $(tail -n 1 "$work/log")"
		check_version "$work/base"
	fi
	rm -f "$build/base.stamp"
	if [ -d "$base" ]; then
		sync_tree "$work/base/" "$base/"
	else
		mv "$work/base" "$base"
	fi
	rm -rf "$work/base"
	echo "$stamp" >"$build/base.stamp"
	rm -f "$build/linux.stamp"
fi
[ "${1:-}" != --base-only ] || exit 0
version=$(version_of "$base")

# --- what differs between the two: our files, hooked files

stage=$work/stage
mkdir "$stage"
# Our files: those in the folders that are the kernel's own.
cd "$top"
our_files | while IFS= read -r f; do
	[[ $f == */* && -d $base/${f%%/*} ]] || continue
	[ ! -e "$base/$f" ] || die "$f is a file of Linux $version; ours need names of their own"
	echo "$f"
done >"$work/ours"
rsync -rlp --files-from="$work/ours" ./ "$stage/"

hooks >"$work/hooks"
while IFS= read -r hook; do
	hook=base/$hook
	changed_by "$hook" | while IFS= read -r f; do
		if [ -e "$stage/$f" ] || [ ! -f "$base/$f" ]; then continue; fi
		mkdir -p "$stage/$(dirname "$f")"
		cp -p "$base/$f" "$stage/$f"
	done
	# Lines may have moved in another point release, but not changed.
	patch -d "$stage" -p1 --fuzz=0 --no-backup-if-mismatch --batch --silent \
		--reject-file=- <"$hook" >"$work/log" 2>&1 ||
		die "$hook does not apply to Linux $version ($(grep -m1 -iE 'failed|can.t find|malformed|previously' "$work/log" || head -n 1 "$work/log")); bring it up to date"
done <"$work/hooks"

(cd "$stage" && find . \( -type f -o -type l \) -printf '%P\n') | sort >"$work/differs"

# --- build/linux

if [ ! -f "$build/linux.stamp" ]; then
	say COPY "build/linux (Linux $version; some 20 seconds)"
	sed 's|^|/|' "$work/differs" >"$work/exclude"
	if [ -d "$linux" ]; then
		sync_tree --exclude-from="$work/exclude" "$base/" "$linux/"
	else
		# If that fails, no part of it is taken for the whole.
		if [ -z "$second" ] || ! wait "$second"; then
			rm -rf "$work/linux"
			cp -a "$base" "$work/linux"
		fi
		second=''
		mv "$work/linux" "$linux"
	fi
elif [ -f "$build/linux.differs" ]; then
	# What no longer differs goes back to what the base has.
	comm -23 "$build/linux.differs" "$work/differs" | while IFS= read -r f; do
		rm -f "$linux/$f"
		if [ -e "$base/$f" ]; then
			rsync -lp "$base/$f" "$linux/$f"
		else
			rmdir -p --ignore-fail-on-non-empty "$linux/$(dirname "$f")" 2>/dev/null || :
		fi
	done
fi
rsync -rlp --checksum "$stage/" "$linux/"
cp "$work/differs" "$build/linux.differs"
echo "$version" >"$build/linux.stamp"
