#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Make a tree of the base with the patches of base/fixes alone, to compare with: what else
# would differ is not for our core to answer for.
#
# usage: fixed-base.sh FOLDER

set -euo pipefail
. "$(dirname "$0")/lib.sh"

fixed=${1:?}
fixes=$(hooks | grep '^fixes/')
rm -rf "$fixed"
cp -al "$build/base" "$fixed"
while IFS= read -r fix; do
	changed_by "$top/base/$fix" | while IFS= read -r f; do
		# The base has the same inode.
		cp -p "$fixed/$f" "$fixed.file"
		mv "$fixed.file" "$fixed/$f"
	done
	patch -d "$fixed" -p1 --fuzz=0 --no-backup-if-mismatch --batch --silent <"$top/base/$fix"
done <<<"$fixes"
