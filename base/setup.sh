#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Install by apt whatever is missing to build and to boot the kernels.
# LINUX names another base than the packaged one; then that is not installed.
#
# usage: setup.sh [lint|tests|matrix|bench]
# lint: also what builds the documents; tests: that and what the tests run in the
# guest; matrix: the other compiler; bench: what counts instructions of programs

set -euo pipefail
. "$(dirname "$0")/lib.sh"

packages=(
	# to build a kernel
	bc bison build-essential bzip2 ccache cpio dwarves flex gawk git kmod libelf-dev
	libssl-dev patch perl python3 rsync xz-utils zstd
	# to boot it and to test it
	busybox-static iputils-ping libcap2-bin procps qemu-system-x86 util-linux
	# to check the source
	shellcheck sparse
)
case ${1:-} in
lint)	packages+=(python3-sphinx) ;;
tests)	packages+=(bpftrace clang libbpf-dev libclang-rt-dev linux-perf python3-sphinx
		   trace-cmd) ;;
matrix)	packages+=(clang-16 lld-16 llvm-16) ;;
bench)	packages+=(valgrind) ;;
esac
[ -n "${LINUX:-}" ] || packages+=(linux-source-6.12)

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

command -v dpkg-query >/dev/null ||
	die "this is no Debian; install by hand what these Debian packages hold: ${packages[*]}"

missing=()
for p in "${packages[@]}"; do
	installed "$p" || missing+=("$p")
done
[ ${#missing[@]} -gt 0 ] || exit 0

say INSTALL "${missing[*]}"
mkdir -p "$build"
log=$build/setup.log
as_root=()
if [ "$(id -u)" -ne 0 ]; then
	command -v sudo >/dev/null ||
		die "not root and no sudo: as root, run: apt-get install ${missing[*]}"
	as_root=(sudo)
fi

apt_get() {
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
		apt-get -q -y -o DPkg::Lock::Timeout=120 "$@" >>"$log" 2>&1
}

: >"$log"
# The lists may be old or not there; only when the second try fails too is it
# worth stopping.
apt_get install --no-install-recommends "${missing[@]}" ||
	{ apt_get update && apt_get install --no-install-recommends "${missing[@]}"; } ||
	die "apt-get could not install ${missing[*]} ($(grep -m1 '^E:' "$log" || echo "see $log")); install them, then run make again"
