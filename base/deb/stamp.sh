# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # build and top are lib.sh's
# Sourced by the scripts beside it: what packages were made of, in a stamp beside them.

# The kernel that packages have.
kernel_of() { # sets|stock
	case $1 in
	sets)	echo deb ;;
	stock)	echo stock-deb ;;
	*)	die "no such core: $1" ;;
	esac
}

digest() { sha256sum | cut -c 1-16; }

# What documents and tests say is in no package.
source_sums() { # KERNEL
	cat "$build/base.stamp"
	[[ $1 != stock* ]] || return 0
	grep -Ev '^(Documentation|tools/testing)/' "$build/linux.differs" |
		(cd "$build/linux" && xargs -d '\n' sha256sum)
}

stamp() { # KERNEL LIST
	if [ -n "$2" ]; then
		echo "modules $(plain "$2" | digest) $(realpath "$2")"
	else
		echo "modules all"
	fi
	echo "source $(source_sums "$1" | digest)"
	# Of these two and the source the .config is made, which may be gone.
	echo "configuration $(cat "$build/$1.under" "$top/base/config/$1.config" | digest)"
	echo "build $({ ${CC:-gcc} --version; cat "$top"/base/{build,deb/packages}.sh; } | digest)"
}

# The list of modules that packages were made with; none if all were built.
list_of() { # sets|stock
	sed -n 's/^modules [^ ]* //p' "$build/packages/$1/stamp"
}

# End if packages are not there, or not made of what is here now.
need_packages() { # sets|stock
	local folder=$build/packages/$1 kernel list changed again='run make deb'

	[ "$1" = sets ] || again+=-$1
	kernel=$(kernel_of "$1") || exit
	compgen -G "$folder/linux-image-*.deb" >/dev/null ||
		missing "build/packages/$1" "make deb-test" "$again"
	source_of "$kernel" >/dev/null || exit
	[ -f "$folder/stamp" ] || die "build/packages/$1 does not say what it was made of; $again"
	list=$(list_of "$1")
	changed=$(stamp "$kernel" "$list" 2>/dev/null | diff - "$folder/stamp" |
		sed -n 's/^[<>] \([a-z]*\) .*/\1/p' | sort -u | paste -sd ' ') || :
	[ -z "$changed" ] || die "build/packages/$1 is stale (changed since: $changed);" \
		"$again${list:+ LOCALMODCONFIG=${list#"$top"/}}"
}
