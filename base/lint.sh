#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Check our files: sparse and W=1; arrows.py, which file uses which; checkpatch --strict;
# kernel-doc; shellcheck, and that the programs of the benchmark compile; the length of
# files; that no file names a host; that each assertion of a guest's test can fail; that a
# test says for which boots it is; that each mutant applies; that the pictures are those of
# the figures; and the documents with Sphinx. Any finding fails.
#
# usage: lint.sh [sparse|arrows|checkpatch|kernel-doc|scripts|lengths|hosts|assertions|boots|
#                mutants|pictures|docs]...

set -euo pipefail
. "$(dirname "$0")/lib.sh"

linux=$build/linux
out=$build/lint
mkdir -p "$out"

# Our files whose name ends in one of the given endings.
ours() {
	local f end
	our_files | while IFS= read -r f; do
		for end; do
			if [[ $f == *"$end" ]]; then echo "$f"; fi
		done
	done
}

kernel_files() { ours "$@" | grep -Ev '^(tools|base|samples|scripts)/' || :; }
host_files() { ours "$@" | grep -E '^(scripts|tools|base)/' || :; }

# Lines of log $1 that speak of one of our files, or of a failure anywhere.  What
# sparse calls an error in a header of the base is not ours.
findings() {
	kernel_files .c .h .S >"$out/files"
	{
		grep -E '(warning|error):' "$1" | grep -F -f "$out/files"
		grep -E '(Error [0-9]|\*\*\*)' "$1"
		grep -E '^[^ ]+\.o: warning: objtool' "$1"
		:
	} | sed "s|$linux/||g; s|\.\./linux/||g" | sort -u
}

# Have the options of kernel $1 in $tree.
choose() {
	local config=("$top/base/config/common.config" "$top/base/config/recorder.config")
	tree=$out
	if [ "$1" != recorder ]; then
		tree=$out/$1
		config+=("$top/base/config/$1.config")
	fi
	"$top/base/configure.sh" "$linux" "$tree" "${config[@]}"
}

# Build objects or folders in $tree.  No other goal beside them: kbuild would take them
# one by one then, and prepare the tree for each.
compile() {
	make -C "$linux" O="$tree" CC="ccache gcc" HOSTCC="ccache gcc" -k -j"${JOBS:-$(nproc)}" \
		W=1 "$@"
}

# Build objects $2... with the options of kernel $1, looking at them.
look_at() {
	local which=$1 tree
	shift
	choose "$which" || return
	(cd "$tree" && rm -f "$@")
	compile C=2 CHECK=sparse "$@" >"$out/$which.log" 2>&1 || :
	! findings "$out/$which.log" | grep .
}

# Call sites are found by the recorder or by a table: what each has to itself, and
# what knows of both.
check_sparse() {
	local objects recorder table status=0
	objects=$(kernel_files .c | sed 's/\.c$/.o/')
	[ -n "$objects" ] || { echo "no kernel source of ours"; return 1; }
	mapfile -t recorder < <(grep -Ev '/table(_test)?\.o$' <<<"$objects")
	mapfile -t table < <(grep -E '/(table(_test)?|ftraced|module|boot|update|site)\.o$' \
		<<<"$objects")
	look_at recorder "${recorder[@]}" || status=1
	look_at table "${table[@]}" || status=1
	return "$status"
}

# Which of our files uses which, with the recorder and with a table.
check_arrows() {
	local which tree status=0
	for which in recorder table; do
		choose "$which" || return
		if ! compile kernel/trace/ftrace/ arch/x86/kernel/ftrace/ \
			>"$out/arrows.log" 2>&1; then
			tail "$out/arrows.log"
			return 1
		fi
		"$top/base/arrows.py" "$tree" 2>&1 || status=1
		check_untraced || status=1
	done
	return "$status"
}

# A function of ours that can be traced is one that tracing it comes back to. Only what
# generates trampolines may be, and what the tests trace.
check_untraced() {
	local traced
	traced=$(cd "$tree" && find kernel/trace/ftrace arch/x86/kernel/ftrace -name '*.o' \
		! -path '*/test/*' -exec readelf -rW {} + 2>/dev/null |
		awk '/^File: / { file = $2 } /PLT32.* __fentry__/ && !had[file]++ { print file }' |
		sort | tr '\n' ' ')
	[ "$traced" = "arch/x86/kernel/ftrace/trampoline.o kernel/trace/ftrace/kunit/twin.o \
kernel/trace/ftrace/kunit/victim.o " ] || { echo "can be traced: $traced"; return 1; }
}

check_checkpatch() {
	local files host bad=0
	cd "$top"
	mapfile -t host < <(host_files .c .h .S)
	mapfile -t files < <(comm -23 <(ours .c .h .S) <(host_files .c .h .S))
	[ ${#files[@]} -gt 0 ] || { echo "no source of ours"; return 1; }
	checkpatch "$checkpatch_ignore" -f "${files[@]}" || bad=1
	[ ${#host[@]} -eq 0 ] ||
		checkpatch "$checkpatch_ignore,$checkpatch_ignore_host" -f "${host[@]}" || bad=1
	# What it notes of the names in <linux/*.h>.
	rm -f .checkpatch-camelcase.*
	return "$bad"
}

check_kernel_doc() {
	local files
	mapfile -t files < <(kernel_files .c .h; ours .c .h | grep '^scripts/')
	[ ${#files[@]} -gt 0 ] || { echo "no kernel source of ours"; return 1; }
	! { perl "$linux/scripts/kernel-doc" -none "${files[@]}" 2>&1 || :; } | grep .
}

check_scripts() {
	local f bad=0
	while IFS= read -r f; do
		bash -n "$f" || bad=1
		shellcheck "$f" || bad=1
	done < <(ours .sh .ci/run)
	while IFS= read -r f; do
		python3 -c 'import sys; compile(open(sys.argv[1]).read(), sys.argv[1], "exec")' "$f" || bad=1
	done < <(ours .py)
	# Those of make bench-many and bench-smp, which make test does not run.
	while IFS= read -r f; do
		gcc -O2 -Wall -Wextra -Werror -c -o /dev/null "$f" || bad=1
	done < <(ours .c | grep '^base/bench/')
	return "$bad"
}

# A file of more than 500 lines has more than one subject. A model cannot be cut.
check_lengths() {
	local files long
	cd "$top"
	mapfile -t files < <(ours .c .h .S .py .sh .tc)
	[ ${#files[@]} -gt 0 ] || { echo "no file of ours"; return 1; }
	long=$(wc -l -- "${files[@]}" | awk '$1 > 500 && $2 != "total"') || return
	[ -z "$long" ] || { echo "$long"; return 1; }
	# As checkpatch asks of what "make series" makes of them.
	long=$(awk 'FNR == 1 { head = 1 } /^--- / { head = 0 }
		head && !/^Subject:/ && length > 75 { print FILENAME ":" FNR ": " $0 }' \
		base/fixes/*.patch base/connections/*.patch) || return
	[ -z "$long" ] || { echo "$long"; return 1; }
}

# Where things are fetched from is for the machine to say: no file of ours has the
# address of a host in it, but for the license, where the kernel and its documents are, and
# the mail addresses of a patch, of MAINTAINERS and of the ABI. That of a name space is only
# a name.
check_hosts() {
	local files found
	local space=' xmlns="http:/{2}www\.w3\.org/[\w/]+"'
	local mail='^[ +-]*([\w-]+-by|Cc|From|Contact|[MRL]):([^@:/]*@[\w.-]+)+'
	local name='[a-z][a-z+]*://\w[\w.-]*|(?<![\w./-])([\w-]+\.)+(org|com|net|io)\b'
	local at='(?<=\S@)([\w-]+\.)+[a-z]{2,}\b'
	# Not 127.*, and neither a version nor a section of a manual.
	local quad='(?<![\w.])(?<!version |section )(?!127\.|0\.0\.0\.0)\d{1,3}(\.\d{1,3}){3}(?!\.?\w)'

	mapfile -t files < <(ours '' | grep -vx COPYING)
	[ ${#files[@]} -gt 0 ] || { echo "no file of ours"; return 1; }
	cd "$top"
	found=$(grep -nHoP "(?:$mail|$space)(*SKIP)(*F)|$name|$at|$quad" -- "${files[@]}") ||
		[ $? -eq 1 ] || return
	found=$(grep -vP '(^|:(((https?|git)://)?(www|docs|git)\.kernel\.org))$' <<<"$found") ||
		return 0
	echo "$found"
	return 1
}

# The check is proved by a sample of what it is to refuse each time it is used.
check_assertions() {
	local files
	cd "$top"
	mapfile -t files < <(ours .tc .sh | grep '^tools/testing/selftests/ftrace/test\.d/')
	[ ${#files[@]} -gt 0 ] || { echo "no test of ours"; return 1; }
	"$top/base/assertions.py" --self-test && "$top/base/assertions.py" "${files[@]}"
}

# A test says for which boots it is, for those who have no list of boots: each of them is in
# a list here, and there is none besides. A test that reads the command line says one.
check_boots() {
	local dir=tools/testing/selftests/ftrace/test.d t name status=0
	cd "$top"
	{
		plain base/qemu/boots.list | awk -F ' *[|] *' '{ print $4 "|" $2 }'
		plain base/qemu/matrix.list | awk -F ' *[|] *' '{ print $3 "|" $4 }'
	} | awk -F '|' 'NF == 2 && $2 != "" { n = split($1, t, " ")
		for (i = 1; i <= n; i++) print t[i] "|" $2 }' | sed 's/ *$//' | sort -u >"$out/boots"
	[ -s "$out/boots" ] || { echo "no boot in the lists"; return 1; }
	for t in "$dir"/dynamic-boot/*.tc; do
		name=${t#"$dir"/}
		sed -n "s|^# boot: |$name\||p" "$t" | sort >"$out/said"
		if [ -s "$out/said" ]; then
			grep "^$name|" "$out/boots" | diff - "$out/said" || status=1
		elif grep -q /proc/cmdline "$t"; then
			echo "$name does not say for which boot it is"
			status=1
		fi
	done
	return "$status"
}

# That each mutant is a patch of this source.
check_mutants() { "$top/base/mutants.sh" --check; }

check_pictures() { "$top/base/bench/plot.py" --check; }

# The documents of a folder are built as a whole, since they refer to each other,
# and anew, since of what has not changed Sphinx does not complain again.
check_docs() {
	local f dirs
	ours .rst | grep '^Documentation/' >"$out/documents" ||
		{ echo "no document of ours"; return 1; }
	dirs=$(sed 's|^Documentation/||; s|/[^/]*$||' "$out/documents" | sort -u | tr '\n' ' ')
	rm -rf "$out/doc/Documentation/output"
	if ! make -C "$linux" O="$out/doc" SPHINXDIRS="${dirs% }" htmldocs \
		>"$out/docs.log" 2>&1; then
		tail "$out/docs.log"
		return 1
	fi
	while IFS= read -r f; do
		f=${f#Documentation/}
		[ -f "$out/doc/Documentation/output/${f%.rst}.html" ] ||
			{ echo "$f was not built"; return 1; }
	done <"$out/documents"
	! grep -E '(WARNING|ERROR|SEVERE):' "$out/docs.log" | grep -F -f "$out/documents"
}

[ $# -gt 0 ] || set -- sparse arrows checkpatch kernel-doc scripts lengths hosts assertions boots \
	mutants pictures docs
status=0
for check; do
	if [[ $check != @(scripts|hosts|assertions|boots|mutants|pictures) && ! -f $linux/Makefile ]]; then
		missing build/linux "the check $check" "run make prepare"
	fi
	if (check_"${check//-/_}"); then
		say CLEAN "$check"
	else
		say FOUND "$check: see above"
		status=1
	fi
done
exit $status
