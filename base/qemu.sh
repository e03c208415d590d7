#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Debian 12's QEMU translates code without a lock on its page, so that a CPU can
# go on running a breakpoint that another one took away in that moment. QEMU 8.1
# mended it. Fetch a newer one from Debian's backports to build/qemu, for this
# tree alone. Without it the tests run too: a guest that dies so is started again.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

packages=(qemu-system-x86 qemu-system-common qemu-system-data seabios)
qemu=$build/qemu

command -v qemu-system-x86_64 >/dev/null || exit 0
[ ! -e "$qemu/usr" ] || exit 0
version=$(qemu-system-x86_64 --version | sed -n '1s/.*version \([0-9.]*\).*/\1/p')
dpkg --compare-versions "$version" lt 8.1 || exit 0

suite=$(. /etc/os-release && echo "$VERSION_CODENAME-backports")
log=$build/qemu.log
rm -rf "$qemu"
mkdir -p "$qemu/lists/partial" "$qemu/cache/archives/partial" "$qemu/debs"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
	"http://deb.debian.org/debian $suite main" >"$qemu/sources.list"

apt_get() {
	apt-get -q -o "Dir::Etc::sourcelist=$qemu/sources.list" -o Dir::Etc::sourceparts=- \
		-o "Dir::State::lists=$qemu/lists" -o "Dir::Cache=$qemu/cache" \
		-o APT::Sandbox::User= -o Acquire::Retries=3 "$@"
}

fetch() {
	apt_get update && cd "$qemu/debs" && apt_get download "${packages[@]/%//$suite}" || return
	for deb in *.deb; do
		dpkg-deb -x "$deb" "$qemu/root" || return
	done
	"$qemu/root/usr/bin/qemu-system-x86_64" --version
}

say FETCH "QEMU from $suite to ${qemu#"$top"/}"
if fetch >"$log" 2>&1; then
	# Only now: what is there is whole.
	mv "$qemu/root/usr" "$qemu/usr"
else
	say NOTE "without it: $(grep -m1 '^E:' "$log" || tail -n 1 "$log")"
fi
rm -rf "$qemu/sources.list" "$qemu/lists" "$qemu/cache" "$qemu/debs" "$qemu/root"
