#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Debian 12's QEMU translates code without locking its page, so a CPU can still run
# a breakpoint that another one has just removed. QEMU 8.1 fixed it. Fetch a newer one
# from Debian's backports to build/qemu, for this tree only. Tests also run without
# it: a guest that dies of this is started again.
#
# usage: qemu.sh [--check]
# --check: fetch nothing, say that there is none

set -euo pipefail
. "$(dirname "$0")/lib.sh"

packages=(qemu-system-x86 qemu-system-common qemu-system-data seabios)
qemu=$build/qemu

command -v qemu-system-x86_64 >/dev/null || exit 0
[ ! -e "$qemu/usr" ] || exit 0
version=$(qemu-system-x86_64 --version | sed -n '1s/.*version \([0-9.]*\).*/\1/p')
! printf '%s\n' 8.1 "$version" | sort -VC || exit 0

# shellcheck source=/etc/os-release
codename=$(. "${OS_RELEASE:-/etc/os-release}" && echo "${VERSION_CODENAME:-}")
if [ -z "$codename" ] || ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
	say NOTE "QEMU is $version; no apt here to fetch a newer one" >&2
	exit 0
fi
if [ "${1:-}" = --check ]; then
	say NOTE "QEMU is $version; make setup fetches a newer one, for this tree only" >&2
	exit 0
fi
suite=$codename-backports

# Where apt's sources name the archive of Debian, as FILE:N: line N of a *.list,
# paragraph N of a *.sources.  apt's lists say whose an archive is; where none has
# been fetched yet, the name of the suite has to do.
entries() {
	# shellcheck disable=SC2016 # for apt
	local args=(indextargets --format '$(SOURCESENTRY)'
		    'Created-By: Packages' 'Target-Of: deb' 'Component: main')
	{
		apt-get "${args[@]}" 'Origin: Debian' "Codename: $codename"
		apt-get -o APT::Get::IndexTargets::ReleaseInfo=false "${args[@]}" \
			"Release: $codename"
	} | awk '!seen[$0]++'
}

# That entry with another suite: the same address, keys and options.
backports_of() { # FILE:N
	local file=${1%:*} n=${1##*:}

	if [[ $file != *.sources ]]; then
		sed -nE "$n s/^\s*deb\s+(\[[^]]*\]\s+)?(\S+)\s.*/deb \1\2 $suite main/p" "$file"
		return
	fi
	sed '/^#/d' "$file" | awk -v RS= -v n="$n" 'NR == n' | awk -v suite="$suite" '
		/^[^ \t]/ { drop = tolower($0) ~ /^(types|suites|components):/ }
		!drop
		END { print "Types: deb\nSuites: " suite "\nComponents: main" }'
}

apt_get() {
	apt-get -q -o "Dir::Etc::sourcelist=$sources" -o Dir::Etc::sourceparts=- \
		-o "Dir::State::lists=$qemu/lists" -o "Dir::Cache=$qemu/cache" \
		-o APT::Sandbox::User= -o Acquire::Retries=3 "$@"
}

fetch_from() { # FILE:N
	local deb sources=$qemu/archive.list

	[[ ${1%:*} != *.sources ]] || sources=$qemu/archive.sources
	rm -rf "$qemu"
	mkdir -p "$qemu/lists/partial" "$qemu/cache/archives/partial" "$qemu/debs"
	backports_of "$1" >"$sources" || return
	apt_get update || return
	(cd "$qemu/debs" && apt_get download "${packages[@]/%//$suite}") || return
	for deb in "$qemu"/debs/*.deb; do
		dpkg-deb -x "$deb" "$qemu/root" || return
	done
	"$qemu/root/usr/bin/qemu-system-x86_64" --version
}

fetch() {
	local entry list

	list=$(entries) || return
	for entry in $list; do
		echo "$suite from the archive of $entry"
		if fetch_from "$entry"; then return 0; fi
	done
	echo "E: no source of apt that has $suite"
	return 1
}

log=$build/qemu.log
mkdir -p "$build"
# One at a time in one place.
exec 9>"$build/.qemu.lock"
flock 9
[ ! -e "$qemu/usr" ] || exit 0
# apt wants its files by their whole paths.
qemu=$(realpath -m "$qemu")
say FETCH "QEMU from $suite to ${qemu#"$top"/}"
if fetch >"$log" 2>&1; then
	# Only now: what is there is whole.
	mv "$qemu/root/usr" "$qemu/usr"
else
	say NOTE "without it: $(grep -m1 '^E: ' "$log" || tail -n 1 "$log")"
fi
rm -rf "$qemu"/archive.* "$qemu/lists" "$qemu/cache" "$qemu/debs" "$qemu/root"
