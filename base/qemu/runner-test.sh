#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The scripts that make and run the kernels, when things go wrong: each must
# end with a non-zero status and one clear line.  Prints TAP.
#
# usage: runner-test.sh [KERNEL]

set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"

kernel=${1:-recorder}
. "$here/runner-check.sh"

# A tree that looks like Linux 6.$1.1, at path $2.
fake_tree() {
	mkdir -p "$2/kernel"
	printf 'VERSION = 6\nPATCHLEVEL = %s\nSUBLEVEL = 1\n' "$1" >"$2/Makefile"
	printf 'one\ntwo\nthree\n' >"$2/kernel/some.c"
}

# A copy of our scripts, with nothing else.
fixes=$work/repo/base/fixes
mkdir -p "$fixes" "$work/repo/base/connections"
touch "$fixes/series" "$work/repo/base/connections/series"
cp "$top"/base/*.sh "$work/repo/base/"
prepare() { env BUILD="$work/build" LINUX="$1" "$work/repo/base/prepare.sh"; }

fake_tree 11 "$work/linux-6.11"
fake_tree 12 "$work/linux-6.12"
tar -C "$work" -cf "$work/linux-6.11.tar" linux-6.11
echo nothing >"$work/junk.tar"

check 'a base tree that is not 6.12' 'is Linux 6\.11\.1, not 6\.12\.y' 1 prepare "$work/linux-6.11"
check 'a base tarball that is not 6.12' 'is Linux 6\.11\.1, not 6\.12\.y' 1 \
	prepare "$work/linux-6.11.tar"
check 'a base that is not there' \
	'^prepare\.sh: missing: .*/nowhere, needed by build/base; .*make LINUX=PATH' 1 \
	prepare "$work/nowhere"
check 'a base that is no tarball' 'cannot unpack' 1 prepare "$work/junk.tar"
check 'a base that is no kernel' 'is no Linux source tree' 1 prepare "$work/repo"
check 'a base that is 6.12' '^$' 0 prepare "$work/linux-6.12"

mkdir -p "$work/repo/kernel"
echo ours >"$work/repo/kernel/ours.c"
cat >"$fixes/some.patch" <<'PATCH'
A patch that applies.
--- a/kernel/some.c
+++ b/kernel/some.c
@@ -1,3 +1,3 @@
 one
-two
+2
 three
PATCH
check 'a patch that is in no series' \
	'^prepare\.sh: base/fixes/some\.patch is in no series; its series file has to' 1 \
	prepare "$work/linux-6.12"
echo some.patch >"$fixes/series"
check 'a patch to the base' '^$' 0 prepare "$work/linux-6.12"
n=$((n + 1))
if [ "$(cat "$work/build/linux/kernel/some.c")" = $'one\n2\nthree' ] &&
	[ -f "$work/build/linux/kernel/ours.c" ]; then
	echo "ok $n the tree has the patch and our file"
else
	echo "not ok $n the tree has the patch and our file"
fi

touch -d '2001-01-01' "$work/build/linux/kernel/some.c" "$work/build/linux/kernel/ours.c"
rm "$work/repo/kernel/ours.c"
check 'the tree made again' '^$' 0 prepare "$work/linux-6.12"
n=$((n + 1))
if [ ! "$work/build/linux/kernel/some.c" -nt "$work/build/linux/Makefile" ] &&
	[ ! -e "$work/build/linux/kernel/ours.c" ]; then
	echo "ok $n what is the same is not touched, what is gone goes"
else
	echo "not ok $n what is the same is not touched, what is gone goes"
fi

# The connections come after the fixes, whatever they are called.
sed 's/^-two/-2/; s/^+2/+zwei/' "$fixes/some.patch" >"$work/repo/base/connections/a.patch"
echo a.patch >"$work/repo/base/connections/series"
check 'a patch of what another one made' '^$' 0 prepare "$work/linux-6.12"
check 'it comes after that one' '^zwei$' 0 aloud sed -n 2p "$work/build/linux/kernel/some.c"
rm "$work/repo/base/connections/a.patch"
check 'a series that names no patch' \
	'^prepare\.sh: base/connections/series names a\.patch, which is not there$' 1 \
	prepare "$work/linux-6.12"
: >"$work/repo/base/connections/series"

# What stands in for quilt pushes patches, and no more.
mkdir "$work/quilt"
cat >"$work/quilt/quilt" <<'QUILT'
#!/bin/sh
[ "$*" = 'push -a' ] || exit
cd "$QUILT_PATCHES" || exit
while read -r name; do patch -s -p1 -d .. <"$name" || exit; done <"$QUILT_SERIES"
QUILT
chmod +x "$work/quilt/quilt"
quilt() { env PATH="$work/quilt:$PATH" BUILD="$work/build" "$work/repo/base/quilt.sh"; }
prepare "$work/linux-6.12" >/dev/null
check 'a tree for quilt' '^$' 0 quilt
check 'quilt has pushed the patch in it' '^2$' 0 aloud sed -n 2p "$work/build/quilt/kernel/some.c"
check 'what quilt refreshes is that of the repository' '^some\.patch$' 0 \
	aloud grep patch "$work/build/quilt/patches/fixes/series"
check 'a tree for quilt that is there' '^quilt\.sh: build/quilt is there already: ' 1 quilt
rm -r "$work/build/quilt"
echo 'exit 1' >"$work/quilt/quilt"
check 'quilt does not push it' '^quilt\.sh: quilt cannot push all patches; ' 1 quilt
echo 'exit 0' >"$work/quilt/quilt"
check 'quilt pushes something else' \
	'^quilt\.sh: quilt makes another kernel/some\.c than build/linux has$' 1 quilt

sed -i 's/^-two/-zwei/' "$fixes/some.patch"
check 'a patch that does not apply' 'base/fixes/some\.patch does not apply to Linux 6\.12\.1' 1 \
	prepare "$work/linux-6.12"

echo ours >"$work/repo/kernel/some.c"
check 'a file of ours with the name of one of the base' \
	'^prepare\.sh: kernel/some\.c is a file of Linux 6\.12\.1; ours need ' 1 \
	prepare "$work/linux-6.12"
rm "$work/repo/kernel/some.c"

# An object that takes in a file, which then has something else of that length.
takes_in() {
	echo "$1" >"$work/image" &&
		"$top/base/cc.sh" gcc -MMD -c -o "$work/piggy.o" "$work/piggy.S" &&
		grep -q "$1" "$work/piggy.o" || echo "piggy.o has no $1" >&2
}
echo ".incbin \"$work/image\"" >"$work/piggy.S"
export CCACHE_DIR=$work/ccache
check 'an object that takes in a file' '^$' 0 takes_in 'the first image'
check 'one that takes in another' '^$' 0 takes_in 'other: an image'
unset CCACHE_DIR

check 'a series of a tree that is not there' \
	'^series\.sh: missing: build/linux, needed by the series; run make prepare$' 1 \
	env BUILD="$work/none" "$work/repo/base/series.sh"
check 'a kernel of a tree that is not there' \
	'^build\.sh: missing: build/linux, needed by the recorder kernel; run make prepare$' 1 \
	env BUILD="$work/none" "$work/repo/base/build.sh" recorder
check 'the livepatch tests of a kernel that is not there' \
	'^livepatch-tests\.sh: missing: build/some/vmlinux, needed by the livepatch tests; ' 1 \
	env BUILD="$work/none" "$work/repo/base/livepatch-tests.sh" some

# A machine where nothing is installed and apt has nothing.
mkdir "$work/bin"
printf '#!/bin/sh\nexit 1\n' >"$work/bin/dpkg-query"
printf '#!/bin/sh\necho "E: Unable to locate package $*"\nexit 100\n' >"$work/bin/apt-get"
printf '#!/bin/sh\nexec "$@"\n' >"$work/bin/sudo"
chmod +x "$work"/bin/*
setup() { env PATH="$work/bin:$PATH" BUILD="$work/setup" "$work/repo/base/setup.sh" "$@"; }
check 'a package that apt does not have' \
	'^setup\.sh: missing: build-essential .*, needed by make run; apt-get could not install' 1 \
	setup run 'make run'
check 'that apt was asked for it' 'Unable to locate package ' 0 aloud cat "$work/setup/setup.log"
rm -r "$work/setup"
# It says that it has fetched nothing, and succeeds.
cat >"$work/bin/apt-get" <<'APT'
#!/bin/sh
for word; do
	[ "$word" != update ] || { echo "W: Failed to fetch it  Could not resolve that"; exit 0; }
done
echo "E: Unable to locate package"
exit 100
APT
check 'a machine without network is called one' \
	'apt-get could not install that \(W: Failed to fetch it  Could not resolve that\)' 1 \
	setup run 'make run'
rm -r "$work/setup"
for set in build run tests callers matrix lint bench model ibt quilt report deb deb-test; do
	case $set in
	build | run)	target=setup ;;
	*)		target=setup-$set ;;
	esac
	said='^setup\.sh: missing: build-essential.*, needed by make it; make '
	check "a package that is missing, $set" "$said$target installs that\$" 1 \
		setup --check $set 'make it'
done
check 'to look for it leaves apt alone' 'No such file' fails cat "$work/setup/setup.log"
check 'a set of packages that is none' '^setup\.sh: no such set of packages: some$' 1 setup some

run() { "$here/run.py" --kernel "$kernel" --log "$work/console" "$@"; }
check 'a kernel that is not built' '^run\.py: missing: .*/none, needed by a guest; run make' 125 \
	"$here/run.py" --kernel "$work/none" true
check 'a script that succeeds' '^$' 0 run true
check 'a script that fails' '^$' 3 run 'exit 3'
check 'a guest that hangs' 'the guest hangs: no output for 40 s' 125 run --silence 40 'sleep 1000'
check 'a guest that crashes' 'the guest died: .*sysrq triggered crash' 125 \
	run 'echo c > /proc/sysrq-trigger; sleep 1000'
check 'a guest whose kernel warns' 'the kernel warned: .*WARNING: not really' 125 \
	run 'echo "WARNING: not really" >/dev/kmsg'
check 'a guest with a leak' 'the kernel warned: .*kmemleak: 1 new suspected' 125 \
	run 'echo "kmemleak: 1 new suspected memory leaks" >/dev/kmsg'
check 'a guest that ends without a word' 'ended without a result' 125 run '/run/busybox poweroff -f'

# An emulator that dies itself: of an assertion of its own, or of anything else.
mkdir -p "$work/build/qemu/usr/bin"
fake=$work/build/qemu/usr/bin/qemu-system-x86_64
fake_run() { env BUILD="$work/build" "$here/run.py" --accel icount --kernel "$fake" true; }
printf '#!/bin/sh\necho "qemu: a.c:1: f: Assertion \`0'"'"' failed." >&2\nkill -ABRT $$\n' >"$fake"
chmod +x "$fake"
check 'an emulator that fails an assertion' 'ended without a result .*Assertion' 124 fake_run
sed -i 's/kill.*/exit 1/' "$fake"
check 'an emulator that fails' 'ended without a result .*Assertion' 125 fake_run

# A machine with all programs but those of Debian's packages, and an old QEMU.
rm "$fixes/some.patch"
: >"$fixes/series"
cp "$top/Makefile" "$work/repo/"
printf '#!/bin/sh\necho it builds "$@"\n' >"$work/repo/base/build.sh"
mkdir -p "$work/repo/${here#"$top"/}" "$work/programs"
printf '#!/bin/sh\necho "it boots"\n' >"$work/repo/${here#"$top"/}/demo-run.sh"
chmod +x "$work/repo/${here#"$top"/}/demo-run.sh"
IFS=: read -ra folders <<<"$PATH:/usr/sbin:/sbin"
find -H "${folders[@]}" -maxdepth 1 ! -type d ! -name 'dpkg*' ! -name 'apt*' \
	-exec ln -s -t "$work/programs" {} + 2>/dev/null
rm -f "$work/programs/qemu-system-x86_64"
printf '#!/bin/sh\necho QEMU emulator version 7.2.22\n' >"$work/programs/qemu-system-x86_64"
chmod +x "$work/programs/qemu-system-x86_64"
without_dpkg() {
	env PATH="$work/programs" BUILD="$work/without-dpkg" LINUX="$work/linux-6.12" \
		make -s -C "$work/repo" "$@"
}

check 'make prepare without dpkg' '^$' 0 without_dpkg prepare
check 'make prepare without dpkg has made the tree' '^one$' 0 \
	aloud head -n 1 "$work/without-dpkg/linux/kernel/some.c"
check 'make run without dpkg keeps the QEMU that is there' \
	'NOTE +QEMU is 7\.2\.22; no apt here' 0 aloud without_dpkg run
grep '^it ' "$work/err" | paste -sd ' ' >"$work/said"
check 'make run without dpkg goes on' '^it builds demo it boots$' 0 aloud cat "$work/said"
# shellcheck disable=SC2016 # for that script
printf '#!/bin/sh\nprintf %%s "$CMD"\n' >"$work/repo/${here#"$top"/}/shell.sh"
chmod +x "$work/repo/${here#"$top"/}/shell.sh"
# shellcheck disable=SC2016 # as somebody types it
cmd='echo $(if true; then echo "$x"; fi) '"'a'"
without_dpkg shell "CMD=$cmd" >"$work/said" 2>/dev/null
check 'make shell hands a command on as it was typed, and prints no more' '^$' 0 \
	[ "$(cat "$work/said")" = "$cmd" ]
mv "$work/programs/flex" "$work/flex"
check 'make prepare without dpkg and flex' \
	'^setup\.sh: missing: flex \(flex\), needed by make prepare; there is no apt here' \
	fails without_dpkg prepare
check 'make run without dpkg and flex' \
	'^setup\.sh: missing: flex \(flex\), needed by make run; there is no apt here' \
	fails without_dpkg run
mv "$work/flex" "$work/programs/flex"
rm "$work/programs/gcc"
printf '#!/bin/sh\nexit 1\n' >"$work/programs/gcc"
chmod +x "$work/programs/gcc"
check 'make prepare without dpkg and headers' \
	': build-essential \(<stdio\.h>\), libelf-dev \(<gelf\.h>, <libelf\.h>\), libssl-dev \(' \
	fails without_dpkg prepare

# A machine with apt where nothing is installed until apt is asked to.
mkdir "$work/apt"
cat >"$work/apt/dpkg-query" <<DPKG
#!/bin/sh
[ -e "$work/installed" ] || exit
shift 3 # -W -f FORMAT
printf '%s=installed ' "\$@"
DPKG
cat >"$work/apt/apt-get" <<APT
#!/bin/sh
touch "$work/installed"
APT
cp "$work/bin/sudo" "$work/apt/"
printf '#!/bin/sh\necho QEMU emulator version 9.0.0\n' >"$work/apt/qemu-system-x86_64"
chmod +x "$work"/apt/*
cp "$work/repo/${here#"$top"/}"/{demo-run,test}.sh
bare() {
	env PATH="$work/apt:$PATH" BUILD="$work/bare" LINUX="$work/linux-6.12" \
		make -s -C "$work/repo" "$@"
}
for target in prepare kernel demo stock debug kcsan startup table no-tracer shell report-test test-quick stress \
	soak debug-test kcsan-test table-test matrix mutants ibt-test model ftracetest stock-test lists-test \
	callers callers-stock fixes-test others others-boot randconfigs bench bench-smp bench-many bench-mcount-loc lint quilt series series-check \
	deb deb-stock deb-test; do
	check "make $target asks for what is missing" \
		"^setup\\.sh: missing: .*, needed by make $target; make setup.* installs that\$" \
		fails bare $target
done
check 'they have installed nothing' '^$' 0 [ ! -e "$work/installed" ]
for target in run test setup setup-build setup-run setup-tests setup-callers setup-matrix \
	setup-lint setup-bench setup-model setup-ibt setup-quilt setup-report setup-others \
	setup-others-boot setup-deb setup-deb-test; do
	rm -f "$work/installed"
	check "make $target installs it" '^  INSTALL  ' 0 aloud bare $target
done

# Debian packages, with what stands in for the programs that make them.
deb=$work/deb
mkdir -p "$deb"/{bin,repo/kernel,repo/Documentation,repo/base/{fixes,connections}}
cp "$top"/base/*.sh "$deb/repo/base/"
cp -r "$top"/base/{config,deb} "$deb/repo/base/"
touch "$deb/repo/base/"{fixes,connections}/series
echo ours | tee "$deb/repo/kernel/ours.c" >"$deb/repo/Documentation/ours.rst"
fake_tree 12 "$deb/linux"
mkdir "$deb/linux/Documentation"
echo CONFIG_MODULES=y | xz >"$deb/config.xz"
printf '# What we have.\next4\nvirtio_net\n' >"$deb/list"
cat >"$deb/bin/make" <<'MAKE'
#!/bin/sh
for word; do
	case $word in
	DESTDIR=*)	mkdir -p "${word#*=}/usr/bin" && touch "${word#*=}/usr/bin/perf" ;;
	kernelversion)	echo 6.12.1 ;;
	localmodconfig)	[ -z "$UNKNOWN" ] || echo "$UNKNOWN config not found!!" >&2 ;;
	esac
done
MAKE
cat >"$deb/bin/dpkg-deb" <<'DPKG'
#!/bin/sh
for last; do :; done
touch "$last"
DPKG
printf '#!/bin/sh\necho shlibs:Depends=libc6\n' >"$deb/bin/dpkg-shlibdeps"
printf '#!/bin/sh\n' >"$deb/bin/strip"
# In MB.
cat >"$deb/bin/df" <<'DF'
#!/bin/sh
echo "${FREE:-99999}"
DF
cat >"$deb/repo/base/build.sh" <<'BUILD'
#!/bin/sh
touch "$BUILD/linux-image-6.12.1-x_${KDEB_PKGVERSION}_amd64.deb" \
	"$BUILD/linux-headers-6.12.1-x_${KDEB_PKGVERSION}_amd64.deb"
BUILD
# shellcheck disable=SC2016 # its variable
printf '#!/bin/sh\necho "${WHO:-0}"\n' >"$deb/bin/id"
chmod +x "$deb"/bin/*
debian() { # SCRIPT ARGUMENT...
	env PATH="$deb/bin:$PATH" BUILD="$deb/build" LINUX="$deb/linux" \
		DEBIAN_CONFIG="$deb/config.xz" "$deb/repo/base/$1.sh" "${@:2}"
}
packages() { debian deb/packages "$@"; }
check 'packages of a tree that is not there' \
	'^packages\.sh: missing: build/linux, needed by the deb kernel; run make prepare$' 1 \
	packages sets
debian prepare >/dev/null
for core in sets stock; do
	LOCALMODCONFIG=$deb/none check "packages with a list that is not there, $core" \
		'^packages\.sh: no such list of modules: .*/none$' 1 packages $core
	LOCALMODCONFIG=$deb/list UNKNOWN=a_module \
		check "packages with a list that names what is no module, $core" \
		'^packages\.sh: .*/list names what is no module of this kernel: a_module' 1 packages $core
	FREE=2048 check "packages without space, $core" \
		'^packages\.sh: no space: .* has 2 G left, of 32 G that are needed; make room, or' 1 \
		packages $core
	mv "$deb/config.xz" "$deb/config"
	check "packages without Debian's configuration, $core" \
		'^packages\.sh: missing: .*, needed by make deb; make setup-deb installs it$' 1 packages $core
	mv "$deb/config" "$deb/config.xz"
done
check 'packages that were not made leave nothing' '^$' 0 \
	[ -z "$(find "$deb/build" -name '*.deb*' ! -name .deb.lock)" ]

wanted() { debian deb/check 2>&1 | sed '/^  NOTE /d' | paste -sd '|' >&2; }
if [ -e "$top/.git" ]; then
	files() { (export GIT_TEST_ASSUME_DIFFERENT_OWNER=1; our_files | grep -qx README.md); }
	check 'the files of a clone of somebody else' '^$' 0 files
fi
WHO=1000 check 'a test without root' \
	'^check\.sh: root is needed to install packages in another system; run make deb-test as root$' \
	1 wanted
check 'a test without packages' \
	'sets, needed by make deb-test; run make deb\|.*stock, needed by make deb-test; run make deb-stock$' \
	1 wanted
check 'a system without packages' \
	'^images\.sh: missing: build/packages/sets, needed by make deb-test; run make deb$' 1 \
	debian deb/images sets
tests() { env BUILD="$deb/none" "$here/test.sh" deb | grep -E '^(not )?ok' | paste -sd '|' >&2; }
check 'make deb-test without packages tries nothing' \
	'^not ok 1 - deb: there are packages to test, and there is room$' 1 tests
for core in sets stock; do
	LOCALMODCONFIG=$deb/list check "packages with a list, $core" '^$' 0 packages $core
done
check 'packages of what is there' "^  CONFIG   Debian's, with the modules of .*/list\$" 0 wanted
FREE=2048 check 'a test without space' \
	'^check\.sh: no space: .* has 2 G left, of 25 G that are needed; make room$' 1 wanted
echo more >>"$deb/repo/Documentation/ours.rst"
debian prepare >/dev/null
check 'a document has changed since' '^  CONFIG ' 0 wanted
echo more >>"$deb/repo/kernel/ours.c"
debian prepare >/dev/null
stale() { echo "build/packages/$1 is stale \(changed since: $2\); run make $3 LOCALMODCONFIG=.*/list"; }
check 'a source of ours has changed since' "^check\.sh: $(stale sets source deb)\$" 1 wanted
check 'a system of packages that are stale' "^images\.sh: $(stale sets source deb)\$" 1 \
	debian deb/images sets
LOCALMODCONFIG=$deb/list packages sets >/dev/null
echo kvm >>"$deb/list"
check 'the list has changed since' \
	"^check\.sh: $(stale sets modules deb)\|check\.sh: $(stale stock modules deb-stock)\$" 1 wanted
LOCALMODCONFIG=$deb/list packages sets >/dev/null
LOCALMODCONFIG=$deb/list packages stock >/dev/null
echo CONFIG_FTRACE=y >>"$deb/repo/base/config/stock-deb.config"
check 'the configuration has changed since' "^check\.sh: $(stale stock configuration deb-stock)\$" 1 \
	wanted
packages stock >/dev/null
check 'packages with unlike lists' '^check\.sh: .* were made with unlike lists of modules; run' 1 wanted
packages sets >/dev/null
check 'packages with all modules' "^  CONFIG   Debian's, with all its modules\$" 0 wanted
rm "$deb/build/packages/sets/stamp"
check 'packages that do not say what of' \
	'^check\.sh: build/packages/sets does not say what it was made of; run make deb$' 1 wanted

# Where apt takes Debian's packages from, in both ways to write it down.
cat >"$work/sources.list" <<'LIST'
# Line 4 it is.
deb-src file:/mirror/debian some main
deb file:/mirror/debian some-updates main
deb [arch=amd64 signed-by=/some/key] file:/mirror/debian some main contrib # all
LIST
cat >"$work/debian.sources" <<'SOURCES'
# No paragraph.

Types: deb
URIs: file:/other/debian
Suites: other
Components: main

Types: deb deb-src
URIs: file:/mirror/debian
# Both of them.
Suites: some
 some-updates
Components: main
Signed-By: /some/key
SOURCES
cat >"$work/bin/apt-get" <<'APT'
#!/bin/sh
for last; do :; done
case " $* " in
*" indextargets "*)
	echo "$ENTRY" ;;
*)
	sed -n 's/^/apt reads: /p' $(echo "$*" | grep -o '[^=]*/archive\.[a-z]*')
	echo "E: no $last today"
	exit 100 ;;
esac
APT
printf '#!/bin/sh\nexit 1\n' >"$work/bin/dpkg-deb"
cp "$work/programs/qemu-system-x86_64" "$work/bin/"
chmod +x "$work"/bin/*
echo 'VERSION_CODENAME=some' >"$work/os-release"
fetch_qemu() {
	rm -rf "$work/fetch"
	env PATH="$work/bin:$PATH" BUILD="$work/fetch" OS_RELEASE="$work/os-release" ENTRY="$1" \
		"$work/repo/base/qemu.sh" | sed -n 's/^  NOTE *//p'
	sed -n 's/^apt reads: //p' "$work/fetch/qemu.log" | paste -sd '|'
}
check 'an archive that cannot be reached is said' 'without it: E: no update today' 0 \
	aloud fetch_qemu "$work/sources.list:4"
check 'the archive of a .list' \
	'^deb \[arch=amd64 signed-by=/some/key\] file:/mirror/debian some-backports main$' \
	0 aloud eval "fetch_qemu '$work/sources.list:4' | tail -n 1"
check 'the archive of a .sources' \
	'^URIs: file:/mirror/debian\|Signed-By: /some/key\|Types: deb\|Suites: some-backports\|Components: main$' \
	0 aloud eval "fetch_qemu '$work/debian.sources:2' | tail -n 1"
check 'to look for a newer QEMU fetches none' 'NOTE +QEMU is 7\.2\.22; make setup fetches' 0 \
	aloud env PATH="$work/bin:$PATH" BUILD="$work/look" OS_RELEASE="$work/os-release" \
	"$work/repo/base/qemu.sh" --check
check 'it leaves nothing' '^$' 0 [ ! -e "$work/look" ]

lint() { env BUILD="$work/lint" "$work/repo/base/lint.sh" "$@"; }
cat >"$work/repo/kernel/text" <<'TEXT'
see https://docs.kernel.org/x, section 16.3.1.2; it listens on 127.0.0.1 and 0.0.0.0
Cc: one@mirror.org, two <two@mirror.some.de>
 M:	Three <three@mirror.org>
some 1.2.3 and v1.2.3.4, version 1.2.3.4; 1.2.3.4.5; @some.list
TEXT
check 'a tree that names no host' '^  CLEAN +hosts$' 0 aloud lint hosts
printf 'from %s://%s/debian\n' http some-mirror >>"$work/repo/kernel/text"
check 'a tree with the address of a host' 'kernel/text:5:http:..some-mirror$' 1 aloud lint hosts
printf 'from %s.%s\n' mirror.some org >"$work/repo/kernel/text"
check 'a tree with the name of a host' 'kernel/text:1:mirror\.some\.org$' 1 aloud lint hosts
printf 'from build@%s.%s:/srv\n' mirror.some org >"$work/repo/kernel/text"
check 'a tree with the host of a user' 'kernel/text:1:mirror\.some\.org$' 1 aloud lint hosts
printf 'x@%s.%s\n' mirror.example de >"$work/repo/kernel/text"
check 'a tree with the host of a user, of any domain' 'kernel/text:1:mirror\.example\.de$' \
	1 aloud lint hosts
printf 'Cc: %s://%s/x@y\n' http some-mirror >"$work/repo/kernel/text"
check 'a tree with the address of a host in a line of mail' 'kernel/text:1:http:..some-mirror$' \
	1 aloud lint hosts
printf 'proxy=10.%s:3128.\n' 1.2.3 >"$work/repo/kernel/text"
check 'a tree with the number of a host' 'kernel/text:1:10\.1\.2\.3$' 1 aloud lint hosts

echo "1..$n"
