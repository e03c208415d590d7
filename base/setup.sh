#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Install by apt whatever is missing of the packages that something needs. Where there
# is no apt, look whether what is needed is there, and say what is not.
# LINUX names another base than the packaged one; then that is not installed.
#
# usage: setup.sh [--check|--packages] SET [NEEDED-BY]
#
# --check: install nothing, say in one line what is missing and what installs it
# --packages: leave a newer QEMU to base/qemu.sh
# SET: build (the kernels), run (to boot them, too), tests (all that make test runs),
# callers, matrix (that, and what these run), lint, bench, model, ibt, quilt, report, deb,
# deb-test (for packages already built), others or others-boot
# NEEDED-BY: whom that line names

set -euo pipefail
. "$(dirname "$0")/lib.sh"

check='' fetch=yes
case ${1:-} in
--check)	check=yes; shift ;;
--packages)	fetch=''; shift ;;
esac
set=${1:-}
target=setup-$set
case $set in
build)		groups='make build source' target=setup ;;
run)		groups='make build source boot' target=setup ;;
tests)		groups='make build source boot check docs tests model' ;;
callers|matrix)	groups="make build source boot check docs tests model $set" ;;
lint)		groups='make build source check docs' ;;
report)		groups='make report' ;;
deb-test)	groups='make build source boot deb-test' ;;
bench|quilt|others|deb)	groups="make build source $set" ;;
others-boot)	groups='make build source others others-boot' ;;
ibt)		groups='make build source boot ibt' ;;
model)		groups='make model' ;;
*)		die "no such set of packages: $set" ;;
esac
needed_by=${2:-"the set $set"}

# Group, Debian package, and what proves it is there without dpkg: programs,
# <headers>, /files, and -options that clang can link with.
packages='
make	build-essential		gcc g++ ld make <stdio.h>
build	bc			bc
build	bison			bison
build	bzip2			bzip2
build	ccache			ccache
build	cpio			cpio
build	dwarves			pahole
build	flex			flex
build	gawk			gawk
build	git			git
build	kmod			depmod kmod modprobe
build	libelf-dev		<gelf.h> <libelf.h>
build	libssl-dev		<openssl/ssl.h>
build	patch			patch
build	perl			perl
build	python3			python3
build	rsync			rsync
build	xz-utils		xz
build	zstd			zstd
boot	busybox-static		/bin/busybox
boot	iputils-ping		ping
boot	libcap2-bin		capsh
boot	procps			pgrep pkill ps sysctl
boot	qemu-system-x86		qemu-system-x86_64
boot	util-linux		chrt flock setsid taskset unshare
check	shellcheck		shellcheck
check	sparse			sparse
docs	python3-sphinx		sphinx-build
report	chromium		chromium
tests	bpftrace		bpftrace
tests	clang			clang
tests	clang-19		clang-19
tests	libbpf-dev		<bpf/libbpf.h>
tests	libclang-rt-dev		-fsanitize=fuzzer
tests	lld			ld.lld
tests	linux-perf		perf
tests	llvm-19			llvm-strip-19
tests	trace-cmd		trace-cmd
callers	libcap-dev		<sys/capability.h>
callers	libdw-dev		<dwarf.h> <elfutils/libdw.h>
callers	libtraceevent-dev	<traceevent/event-parse.h>
callers	systemtap-sdt-dev	<sys/sdt.h>
matrix	clang-16		clang-16
matrix	lld-16			ld.lld-16
matrix	llvm-16			llvm-ar-16 llvm-nm-16 llvm-objcopy-16
bench	valgrind		valgrind
deb	debhelper		dh_builddeb
deb	openssl			openssl
deb	pkg-config		pkg-config
deb	libcap-dev		<sys/capability.h>
deb	libdw-dev		<dwarf.h> <elfutils/libdw.h>
deb	libtraceevent-dev	<traceevent/event-parse.h>
deb-test	e2fsprogs		mke2fs
deb-test	mmdebstrap		mmdebstrap
deb	linux-config-6.12	/usr/src/linux-config-6.12/config.amd64_none_amd64.xz
model	spin			spin
ibt	bochs			bochs-bin
ibt	bochs-sdl		/usr/lib/x86_64-linux-gnu/bochs/plugins/libbx_sdl2_gui.so
ibt	bochsbios		/usr/share/bochs/BIOS-bochs-latest
ibt	grub-common		grub-mkrescue
ibt	grub-pc-bin		/usr/lib/grub/i386-pc/cdboot.img
ibt	mtools			mformat
ibt	vgabios			/usr/share/bochs/VGABIOS-lgpl-latest
ibt	xorriso			xorriso
quilt	quilt			quilt
others-boot	qemu-system-arm		qemu-system-aarch64
others-boot	qemu-system-x86		qemu-system-i386
others	gcc-aarch64-linux-gnu	aarch64-linux-gnu-gcc
others	gcc-arm-linux-gnueabihf	arm-linux-gnueabihf-gcc
others	gcc-mips-linux-gnu	mips-linux-gnu-gcc
others	gcc-powerpc64le-linux-gnu	powerpc64le-linux-gnu-gcc
others	gcc-riscv64-linux-gnu	riscv64-linux-gnu-gcc
others	gcc-s390x-linux-gnu	s390x-linux-gnu-gcc
source	linux-source-6.12	/usr/src/linux-source-6.12.tar.xz
'

[ -z "${LINUX:-}" ] || groups=${groups/ source/}

# All are asked of at once, since dpkg reads its whole list each time.
states=
ask_dpkg() { # PACKAGE...
	states=" $(dpkg-query -W -f '${Package}=${db:Status-Status} ' "$@" 2>/dev/null || :)"
}
installed() { [[ $states == *" $1=installed "* ]]; }

# What is for root alone need not be in a user's PATH.
there() {
	case $1 in
	'<'*)	echo "#include $1" | gcc -E - ;;
	-*)	echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' |
			clang "$1" -x c -o "$probe" - ;;
	/*)	[ -e "$1" ] ;;
	*)	PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin command -v "$1" ;;
	esac >/dev/null 2>&1
}

# What of these is not there, as "(A, B)"
lacking() {
	local p list=

	for p; do
		there "$p" || list+=", $p"
	done
	[ -z "$list" ] || echo "(${list#, })"
}

probe=
if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
	probe=$(mktemp)
	trap 'rm -f "$probe"' EXIT
fi

wanted=()
while read -r group package _; do
	[[ -z $package || " $groups " != *" $group "* ]] || wanted+=("$package")
done <<<"$packages"
[ -n "$probe" ] || ask_dpkg "${wanted[@]}"

absent=() lacking=
while read -r group package signs; do
	[[ -n $package && " $groups " == *" $group "* ]] || continue
	if [ -z "$probe" ]; then
		installed "$package" || absent+=("$package")
		continue
	fi
	# shellcheck disable=SC2086 # words
	signs=$(lacking $signs)
	[ -z "$signs" ] || lacking+=", $package $signs"
done <<<"$packages"

[ -z "$lacking" ] || missing "${lacking#, }" "$needed_by" "there is no apt here: install these" \
	"Debian packages, or what they hold (in brackets: what was not found)"

as_root=() log=$build/setup.log
apt_get() {
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
		apt-get -q -y -o DPkg::Lock::Timeout=120 "$@" >>"$log" 2>&1
}

install_absent() {
	say INSTALL "${absent[*]} (one or two minutes)"
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null || missing "${absent[*]}" "$needed_by" \
			"not root and no sudo: as root, run: apt-get install ${absent[*]}"
		as_root=(sudo)
	fi
	mkdir -p "$build"
	: >"$log"
	# The lists may be old or not there; only when the second try fails too is it
	# worth stopping. If there is no network the first line that says so is of the
	# update, which succeeds all the same.
	apt_get install --no-install-recommends "${absent[@]}" ||
		{ : >"$log"; apt_get update &&
			apt_get install --no-install-recommends "${absent[@]}"; } ||
		missing "${absent[*]}" "$needed_by" "apt-get could not install that ($(
			grep -m1 '^W: Failed' "$log" || grep -m1 '^E:' "$log" || echo "see $log")): install" \
			"it, then run make again"
}

if [ ${#absent[@]} -gt 0 ]; then
	[ -z "$check" ] || missing "${absent[*]}" "$needed_by" "make $target installs that"
	install_absent
fi
if [[ -n $fetch && " $groups " == *" boot "* ]]; then
	"$top/base/qemu.sh" ${check:+--check}
fi
