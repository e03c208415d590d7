#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# make deb-sets, make deb-stock: Debian packages of a kernel, its headers and perf, in
# build/packages, with a stamp that says what they were made of. The configuration is that
# of Debian's own package, but for the core. A run that was cut off goes on where it was.
#
# usage: [LOCALMODCONFIG=LIST] packages.sh sets|stock
#
# LIST: modules, one per line (base/deb/guest.list is one); others are not built

set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"
. "$here/stamp.sh"

list=${LOCALMODCONFIG:-}
[ -z "$list" ] || [ -f "$list" ] || die "no such list of modules: $list"
which=$(kernel_of "$1")
suffix=-stock
[ "$1" = stock ] || suffix=-ftrace-sets
src=$(source_of "$which")
out=$build/$which packages=$build/packages/$1
jobs=${JOBS:-$(nproc)}

# Debian's configuration, less the modules that are not in the list.
debian_config() { # OUTPUT
	local packed=${DEBIAN_CONFIG:-/usr/src/linux-config-6.12/config.amd64_none_amd64.xz}

	[ -f "$packed" ] || missing "$packed" "make deb" "make setup-deb installs it"
	xz -dc "$packed" >"$1"
	[ -n "$list" ] || return 0
	mkdir "$work/o"
	cp "$1" "$work/o/.config"
	# As lsmod prints it.
	plain "$list" | awk 'BEGIN { print "Module Size Used by" } { print $1, 0, 0 }' >"$work/lsmod"
	# In the same order each time.
	yes '' | PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0 make -C "$src" O="$work/o" \
		LSMOD="$work/lsmod" localmodconfig >"$work/log" 2>&1 ||
		[ "${PIPESTATUS[1]}" -eq 0 ] ||
		{ tail -n 5 "$work/log" >&2; die "cannot choose the modules of $list"; }
	unknown=$(sed -n 's/ config not found!*.*//p' "$work/log" | tr '\n' ' ')
	[ -z "$unknown" ] || die "$list names what is no module of this kernel: $unknown"
	cp "$work/o/.config" "$1"
}

# What a first build needs, of which most may be there already.
announce() {
	local gigabytes=32 cost=420 free have=0 less=', or take LOCALMODCONFIG=base/deb/guest.list'

	[ -z "$list" ] || gigabytes=9 cost=150 less=
	[ ! -d "$out" ] || have=$(du -sm "$out" | cut -f 1)
	[ ! -e "$out/vmlinux" ] || say NOTE "most of it is there already"
	say NOTE "all of it takes $gigabytes G of disk, and some $((cost / jobs)) minutes with $jobs CPUs"
	free=$(df --output=avail -m "$build" | tail -n 1)
	[ $((free + have)) -ge $((gigabytes * 1024)) ] ||
		die "no space: $build has $((free / 1024)) G left, of $((gigabytes - have / 1024)) G" \
			"that are needed; make room$less"
}

perf_package() { # VERSION DIRECTORY
	local root=$work/perf name=perf$suffix log=$out-perf.log needs

	say BUILD "$name (log: ${log#"$top"/})"
	mkdir -p "$out-perf" "$root/DEBIAN"
	# No more libraries than the guest has, whatever is installed here.
	make -C "$src/tools/perf" O="$out-perf" -j"$jobs" prefix=/usr DESTDIR="$root" \
		NO_LIBPYTHON=1 NO_LIBPERL=1 NO_JVMTI=1 NO_SHELLCHECK=1 NO_LIBLLVM=1 \
		BUILD_BPF_SKEL=0 NO_LIBUNWIND=1 NO_SLANG=1 NO_LIBNUMA=1 NO_LIBBABELTRACE=1 \
		NO_LIBPFM4=1 NO_LIBDEBUGINFOD=1 NO_CAPSTONE=1 NO_LIBAUDIT=1 install-bin \
		>"$log" 2>&1 ||
		{ grep -E 'error:|Error [0-9]|No space left|\*\*\*' "$log" | head -n 5 >&2 || :
		  die "building perf failed; the whole log is $log"; }
	strip --strip-debug "$root/usr/bin/perf"
	needs=$(libraries "$root/usr/bin/perf") || die "which libraries perf needs is not known"
	cat >"$root/DEBIAN/control" <<-END
	Package: $name
	Version: $1
	Architecture: amd64
	Maintainer: ftrace <ftrace@build>
	Depends: $needs
	Conflicts: linux-perf
	Replaces: linux-perf
	Provides: linux-perf
	Section: devel
	Priority: optional
	Description: perf, of the source of the kernel that comes with it
	END
	dpkg-deb --root-owner-group --build "$root" "$2/${name}_$1_amd64.deb" >/dev/null
}

# The packages that have the libraries of a program, as Depends takes them.
libraries() { # PROGRAM
	mkdir -p "$work/shlibs/debian"
	: >"$work/shlibs/debian/control"
	(cd "$work/shlibs" && dpkg-shlibdeps -O "$1" 2>"$work/log") | sed 's/^shlibs:Depends=//'
}

# One at a time, since kbuild leaves packages in build/.
exec 8>"$build/.deb.lock"
flock -n 8 || die "another make deb is running"
rm -rf "$build"/.deb.??????
work=$(mktemp -d "$build/.deb.XXXXXX")
clean() {
	rm -rf "$work" "$build"/linux-{image,headers,libc-dev}[-_]*.deb \
		"$build"/linux-ftrace-sets_*.{changes,buildinfo}
}
trap clean EXIT
# What one that was killed has left is not of this kernel, perhaps.
rm -f "$build"/linux-{image,headers,libc-dev}[-_]*.deb
announce
debian_config "$work/debian.config"
UNDER=$build/$which.under
cmp -s "$work/debian.config" "$UNDER" || cp "$work/debian.config" "$UNDER"
export UNDER
version=$(make -s -C "$src" kernelversion)-1
mkdir "$work/packages"
stamp "$which" "$list" >"$work/packages/stamp"
perf_package "$version" "$work/packages"
KDEB_PKGVERSION=$version "$here/../build.sh" "$which"
mv "$build"/linux-{image,headers}-*_"$version"_amd64.deb "$work/packages/"
rm -rf "$packages"
mkdir -p "$build/packages"
mv "$work/packages" "$packages"
for package in "$packages"/*.deb; do
	say READY "${package#"$top"/} ($(du -h "$package" | cut -f 1))"
done
