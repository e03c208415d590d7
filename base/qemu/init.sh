#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# First program of the guest, run by busybox from the initramfs: make the
# host's root, under a layer in memory that takes the writes, the guest's root.
# run.py puts /guest.conf beside this file.
# shellcheck disable=SC2154 # its variables

export PATH=/bin
/bin/busybox --install -s /bin

stop() {
	echo "init: $*" >/dev/ttyS0
	poweroff -f
}

mkdir -p /proc /sys /dev /host /layer /root
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev 2>/dev/null
mount -t tracefs tracefs /sys/kernel/tracing

# shellcheck source=/dev/null
. /guest.conf
# The proof that an accelerator works asks for no more than this line.
[ -z "$hello" ] || { echo "$hello" >/dev/hvc0; poweroff -f; }

# How far ftraced is, for the report of the demonstration.
sample() {
	[ -z "$keep" ] || cat /proc/uptime /sys/kernel/tracing/ftraced_stats >>/samples
}

sample
opt=trans=virtio,version=9p2000.L,msize=262144,cache=loose,ro
mount -t 9p -o $opt host /host || stop "cannot mount the host's root over 9p"
mount -t tmpfs -o size=75% layer /layer
mkdir /layer/work
mv /programs /layer/upper
mount -t overlay -o lowerdir=/host,upperdir=/layer/upper,workdir=/layer/work root /root ||
	stop "cannot lay a writable layer over the host's root"

sample
for m in proc sys dev run tmp; do mkdir -p /root/$m; done
mount --move /proc /root/proc
mount --move /sys /root/sys
mount --move /dev /root/dev
mount -t tmpfs run /root/run
# What the host keeps there is in the way of tests, but for what was built.
case $modules in
/tmp/*)	;;
*)	mount -t tmpfs -o size=75% tmp /root/tmp || stop "cannot mount a folder at /tmp" ;;
esac
cp /bin/busybox /guest.conf /root/run/
mkdir -p /root/dev/pts /root/dev/shm "/root$top"
mount -t devpts devpts /root/dev/pts
mount -t tmpfs shm /root/dev/shm
mount -t debugfs debugfs /root/sys/kernel/debug
mount -t 9p -o $opt top "/root$top" || stop "cannot mount the source tree over 9p"
if [ -n "$keep" ]; then
	cp /samples /root/run/
	mkdir -p /root/keep
	mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 keep /root/keep ||
		stop "cannot mount the folder to keep over 9p"
fi
if [ -d "/root$modules" ]; then
	mkdir -p /root/lib/modules
	mount --bind "/root$modules" /root/lib/modules
fi
hostname guest
ip link set lo up

exec switch_root /root /bin/bash "$here/guest.sh"
