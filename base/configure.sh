#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Make the .config of one kernel: tinyconfig, then common.config, then the
# fragment of its own.  Fails if a line of a fragment did not survive.
#
# usage: configure.sh SOURCE-TREE OUTPUT-DIR FRAGMENT...

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
	cat "$@" "$0"
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
kconfig tinyconfig
"$src/scripts/kconfig/merge_config.sh" -m -Q -O "$work" "$work/.config" "$@" \
	>"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; die "cannot merge $*"; }
kconfig olddefconfig

# A fragment line "X=y" must be there as it stands; "# X is not set" must not
# have become anything else.
lost=
while IFS= read -r want; do
	case $want in
	CONFIG_*=*)
		# a later fragment may say otherwise
		last=$(cat "$@" | grep -E "^(# )?${want%%=*}( is not set|=)" | tail -n 1)
		[ "$last" = "$want" ] || continue
		grep -qxF -- "$want" "$work/.config" || lost+=" $want"
		;;
	'# CONFIG_'*' is not set')
		name=${want#\# } name=${name% is not set}
		last=$(cat "$@" | grep -E "^(# )?$name( is not set|=)" | tail -n 1)
		[ "$last" = "$want" ] || continue
		if grep -q "^$name=" "$work/.config"; then lost+=" $name=n"; fi
		;;
	esac
done < <(cat "$@")
[ -z "$lost" ] ||
	die "${out##*/}: this base does not take these options as wanted:$lost"

cmp -s "$work/.config" "$out/.config" || cp "$work/.config" "$out/.config"
echo "$state" >"$out/.config.state"
