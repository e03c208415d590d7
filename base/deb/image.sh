#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Make a disk with a Debian 12 system and one kernel, both installed as anyone would, and
# what make deb-test runs there. As root.
#
# usage: image.sh OUTPUT-DIR PACKAGE.deb...
#
# In OUTPUT-DIR then are disk.img, swap.img, the kernel and initramfs of that system, as
# vmlinuz and initrd, and packages, which has the names of what was installed. The system
# without a kernel is kept in build/debian, as long as its list of packages is the same.

set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"

out=$1
shift
[ "$(id -u)" -eq 0 ] ||
	die "root is needed to install packages in another system: run make deb-test as root"
mkdir -p "$build/debian" "$out"
exec 7>"$build/debian/.lock"
flock -n 7 || die "another make deb-test is running"
# What was left by one that was killed.
rm -rf "$build"/debian/.image.* "$out"/tmp*
[ "$(df --output=avail -m "$out" | tail -n 1)" -ge 8000 ] ||
	die "no space: a system takes 8 G in $out; make room"
work=$(mktemp -d "$build/debian/.image.XXXXXX")
trap 'rm -rf "$work"' EXIT

packages=systemd-sysv,udev,dbus,kmod,initramfs-tools,linux-base,zstd,e2fsprogs,procps,iproute2
packages+=,util-linux,kexec-tools,trace-cmd,linux-perf,bpftrace,stress-ng,rt-tests
# What KernelShark shows traces with.
packages+=,libkshark2,libtracecmd1,libtracefs1,libtraceevent1

# The archives that apt has here, but nothing else of its sources.
archives() {
	# shellcheck disable=SC2016 # apt's names
	apt-get indextargets --format 'deb $(SITE) $(CODENAME) $(COMPONENT) $(ORIGIN)' \
		'Created-By: Packages' | awk '$5 == "Debian" && $3 ~ /^bookworm/ { NF = 4; print }' |
		sort -u
}

root=$build/debian/root-$(echo "$packages" | sha256sum | cut -c 1-12).tar
if [ ! -f "$root" ]; then
	archives >"$work/sources"
	[ -s "$work/sources" ] || die "apt has no archive of Debian 12 here"
	apt-config dump Acquire >"$work/apt.conf"
	say DEBIAN "12, without a kernel (3 to 15 minutes; log: build/debian/root.log)"
	# apt has a user of its own there.
	chmod 755 "$work"
	TMPDIR=$work mmdebstrap --variant=minbase --include="$packages" --aptopt="$work/apt.conf" \
		bookworm "$work/root.tar" "$work/sources" \
		>"$build/debian/root.log" 2>&1 ||
		die "mmdebstrap failed: $(grep -m 1 '^E:' "$build/debian/root.log" || :)" \
			"(no network? all of it: build/debian/root.log)"
	rm -f "$build"/debian/root-*.tar
	mv "$work/root.tar" "$root"
fi

say IMAGE "${out#"$top"/} (two minutes)"
mkdir "$work/root"
tar -xpf "$root" -C "$work/root"
echo RESUME=/dev/vdb >"$work/root/etc/initramfs-tools/conf.d/resume"
cat >"$work/root/etc/fstab" <<'END'
/dev/vda / ext4 defaults 0 1
/dev/vdb none swap sw 0 0
END
echo guest >"$work/root/etc/hostname"
# Else a reboot is a kexec where there is a link to the kernel.
mkdir -p "$work/root/etc/default/kexec.d"
echo LOAD_KEXEC=false >"$work/root/etc/default/kexec.d/ftrace-test"
rm -f "$work/root/etc/apt/apt.conf.d/99mmdebstrap"
passwd -q -R "$work/root" -d root 2>/dev/null || chroot "$work/root" passwd -q -d root
install -m 755 "$here/guest.sh" "$work/root/usr/local/sbin/ftrace-test"
install -m 644 "$here/ftrace-test.service" "$work/root/etc/systemd/system/"
ln -s ../ftrace-test.service "$work/root/etc/systemd/system/multi-user.target.wants/"
for package; do
	cp "$package" "$work/root/"
	chroot "$work/root" dpkg -i "/${package##*/}" >>"$work/dpkg.log" 2>&1 ||
		{ tail -n 5 "$work/dpkg.log" >&2
		  die "cannot install ${package##*/} (if ${root#"$top"/} is old, remove it)"; }
	rm "$work/root/${package##*/}"
done
compgen -G "$work/root/boot/initrd.img-*" >/dev/null ||
	die "${package##*/} was installed, but made no initramfs"
cp "$work"/root/boot/vmlinuz-* "$out/vmlinuz"
cp "$work"/root/boot/initrd.img-* "$out/initrd"
rm -f "$out"/*.img "$out/packages"
truncate -s 5G "$work/disk.img"
mke2fs -q -t ext4 -d "$work/root" "$work/disk.img"
truncate -s 3G "$work/swap.img"
mkswap -q "$work/swap.img" 2>/dev/null || mkswap "$work/swap.img" >/dev/null
mv "$work"/*.img "$out/"
printf '%s\n' "${@##*/}" >"$out/packages"
