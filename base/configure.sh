#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Make the .config of one kernel: tinyconfig, or the whole configuration in $UNDER, then
# the fragments.  Fails if a line of a fragment did not survive.
#
# usage: [UNDER=CONFIG] configure.sh SOURCE-TREE OUTPUT-DIR FRAGMENT...

set -euo pipefail
. "$(dirname "$0")/lib.sh"

src=$1 out=$2
shift 2

mkdir -p "$out"
work=$(mktemp -d "$out/.config.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Nothing to do when neither a fragment nor a Kconfig file nor the compiler
# changed since the last time.
state=$({
	cat ${UNDER:+"$UNDER"} "$@" "$0"
	${CC:-gcc} --version
	echo "${LLVM:-}"
	find "$src" -name 'Kconfig*' -type f -printf '%p %s %T@\n' | sort
} | sha256sum)
if [ -s "$out/.config" ] && [ "$state" = "$(cat "$out/.config.state" 2>/dev/null)" ]; then
	exit 0
fi

kconfig() {
	if ! make -s -C "$src" O="$work" "$@" >"$work/log" 2>&1; then
		tail -n 20 "$work/log" >&2
		die "make $* failed in $src (the lines above say why)"
	fi
}

say CONFIG "${out##*/}"
if [ -n "${UNDER:-}" ]; then
	cp "$UNDER" "$work/.config"
else
	kconfig tinyconfig
fi
# It has its temporary files where it runs.
(cd "$work" && "$src/scripts/kconfig/merge_config.sh" -m -Q -O "$work" "$work/.config" "$@") \
	>"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; die "cannot merge $*"; }
kconfig olddefconfig

# What a fragment says must have come true, unless a later one says otherwise: a line
# "X=y" as it stands, and after "# X is not set" X may not be anything.
lost=$(awk '
	FNR == 1 { file++ }
	/^CONFIG_[^=]*=/ { name = substr($0, 1, index($0, "=") - 1); value = $0 }
	/^# CONFIG_[^ ]* is not set$/ { name = $2; value = "" }
	!/^(# )?CONFIG_/ { next }
	file == ARGC - 1 { is[name] = value; next }
	{ wanted[name] = value }
	END {
		for (name in wanted)
			if (wanted[name] != is[name])
				print wanted[name] == "" ? is[name] : wanted[name]
	}' "$@" "$work/.config" | sort | tr '\n' ' ')
[ -z "$lost" ] ||
	die "${out##*/}: this base does not take these options as wanted: $lost"

cmp -s "$work/.config" "$out/.config" || cp "$work/.config" "$out/.config"
echo "$state" >"$out/.config.state"
